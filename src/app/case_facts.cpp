// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/case_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "case/key_table.hpp"
#include "case/make_model.hpp"
#include "io/hdf5_file.hpp"
#include "io/point_fields.hpp"
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

/// Points of a result, one value each, in the order of its fields.
struct Places {
  std::vector<double> easting, northing, upward;
};

Places places_in(const Hdf5File& file) {
  Places places{file.read("easting"), file.read("northing"), file.read("upward")};
  const std::size_t n = places.upward.size();
  if (places.easting.size() == n && places.northing.size() == n) return places;
  const std::vector<double> easting = std::move(places.easting), northing = std::move(places.northing);
  if (easting.size() * northing.size() != n) throw RunError("its heights lie at other points than it has");
  places.easting.clear();
  places.northing.clear();
  for (const double y : northing) {
    for (const double x : easting) {
      places.easting.push_back(x);
      places.northing.push_back(y);
    }
  }
  return places;
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

std::vector<double> densities_at(const std::filesystem::path& result, const PrismSource& prisms) {
  const Places places = places_in(open_result(result));
  // rounding of a grid's points and a mesh's faces, against the size of a prism
  constexpr double near = 1e-9;
  const std::size_t n = places.easting.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return places.easting[a] < places.easting[b]; });
  std::vector<double> densities(n, 0);
  constexpr std::int64_t at_once = 65536;
  PrismBlock block;
  for (std::int64_t begin = 0; begin < prisms.size(); begin += at_once) {
    prisms.read({begin, std::min(begin + at_once, prisms.size())}, block);
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      const std::array low = {block.west[i], block.south[i], block.bottom[i]};
      const std::array high = {block.east[i], block.north[i], block.top[i]};
      std::array<double, 3> margin{};
      for (std::size_t d = 0; d < 3; ++d) margin[d] = near * (high[d] - low[d]);
      const auto first = std::partition_point(order.begin(), order.end(),
                                              [&](std::size_t p) { return places.easting[p] < low[0] - margin[0]; });
      for (auto at = first; at != order.end() && places.easting[*at] <= high[0] + margin[0]; ++at) {
        const std::array point = {places.easting[*at], places.northing[*at], places.upward[*at]};
        bool is_in = true, is_on = false;
        for (std::size_t d = 0; d < 3; ++d) {
          is_in = is_in && point[d] >= low[d] - margin[d] && point[d] <= high[d] + margin[d];
          is_on = is_on || std::fabs(point[d] - low[d]) <= margin[d] || std::fabs(point[d] - high[d]) <= margin[d];
        }
        if (is_in) densities[*at] += is_on ? std::numeric_limits<double>::quiet_NaN() : block.density[i];
      }
    }
  }
  return densities;
}

}  // namespace prismfield
