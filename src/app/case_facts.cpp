// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/case_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "app/densities_at.hpp"
#include "case/case.hpp"
#include "case/key_table.hpp"
#include "case/make_model.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::array uses = {Choice<CaseUse>{"run", CaseUse::forward},
                             Choice<CaseUse>{"sensitivity", CaseUse::sensitivity},
                             Choice<CaseUse>{"invert", CaseUse::inversion}};

Json facts_of(const std::string& text, const fs::path& file, CaseUse use, const std::string& densities_of) {
  Json inputs = Json::array();
  try {
    ProblemList problems;
    YamlNode tree = parse_yaml(text, file.string(), problems);
    problems.throw_if_any();
    for (const InputPath& input : input_paths(tree)) inputs.push_back(input.key);
    const Case run = read_case(std::move(tree), file, use);
    const bool has_grid = run.execution.partition == Partition::rank_grid;
    Json facts = {{"space", name(run.execution.space)},
                  {"precision", name(run.execution.precision)},
                  {"fields", names_of(run.fields)},
                  {"rank_grid", has_grid ? Json(run.execution.rank_grid) : Json()},
                  {"partition_where", run.where("execution.partition")},
                  {"inputs", inputs},
                  {"gravitational_constant", run.gravitational_constant}};
    if (!densities_of.empty()) facts["densities"] = densities_at(densities_of, make_model(run).source());
    return facts;
  } catch (const InputError& error) {
    Json problems = Json::array();
    for (const Problem& problem : error.problems()) problems.push_back({problem.where, problem.key, problem.what});
    return {{"problems", problems}, {"inputs", inputs}};
  }
}

}  // namespace

std::string case_facts_json(const fs::path& file) {
  std::ifstream stream(file);
  const Json request = Json::parse(stream, nullptr, false);
  const auto bad = [&](const char* what) { return InputError(file.string(), "", what); };
  if (!request.is_object() || !request.contains("cases")) {
    throw bad("holds no JSON object with the keys file, command and cases");
  }
  try {
    const std::string word = request.value("command", "run");
    const auto* const use = std::find_if(uses.begin(), uses.end(), [&](const auto& one) { return one.word == word; });
    if (use == uses.end()) throw bad("has a command that is none of run, sensitivity and invert");
    const fs::path named = request.value("file", file.string());
    std::string densities_of = request.value("densities_at", "");
    Json facts = Json::array();
    for (const Json& text : request.at("cases")) {
      facts.push_back(facts_of(text.get<std::string>(), named, use->meaning, std::exchange(densities_of, "")));
    }
    // what is not known is NaN, for which dump() writes null
    return facts.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  } catch (const Json::exception&) {
    throw bad("has a value of another type than file, command and cases have");
  }
}

}  // namespace prismfield
