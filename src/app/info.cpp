// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/commands.hpp"
#include "app/start.hpp"
#include "base/human_text.hpp"
#include "case/case.hpp"
#include "case/key_table.hpp"
#include "case/make_model.hpp"
#include "engine/calibration.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "formats/cf_attributes.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "parallel/agreement.hpp"
#include "parallel/placement.hpp"
#include "readers/point_fields.hpp"
#include "writers/result_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string info_text(const ProgramFacts& facts) {
  std::string text;
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("{:<18}{}\n", label, content);
  };
  row("prismfield", fmt::format("{} (git {}), {} build", facts.version, facts.git_hash, facts.build_type));
  row("compiler", facts.compiler);
  row("Kokkos", facts.kokkos);
  row("Kokkos Kernels", facts.kokkos_kernels);
  row("MPI", facts.mpi);
  row("HDF5", facts.hdf5);
  row("PROJ", facts.proj.empty() ? "not built in" : facts.proj);
  row("GDAL", facts.gdal.empty() ? "not built in" : facts.gdal);
  row("execution spaces", fmt::format("{}; default {}{}{}", fmt::join(facts.spaces, ", "), facts.default_space,
                                      facts.spaces_not_compiled.empty() ? "" : "; not compiled: ",
                                      fmt::join(facts.spaces_not_compiled, ", ")));
  row("processor", facts.processor);
  row("host", fmt::format("{}, {}", counted(facts.host_threads, "thread"), facts.simd));
  if (facts.devices.empty()) row("devices", "none");
  for (const std::string& device : facts.devices) row("device", device);
  return text;
}

/// Text for programs: what is no UTF-8 is replaced, what is not known is null.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// What the program says of itself.
Json program_json(const ProgramFacts& program) {
  return {{"simd", program.simd},
          {"compiler", program.compiler},
          {"build_type", program.build_type},
          {"kokkos", program.kokkos},
          {"kokkos_kernels", program.kokkos_kernels},
          {"kokkos_configuration", program.kokkos_configuration},
          {"mpi", program.mpi},
          {"hdf5", program.hdf5},
          {"proj", program.proj},
          {"gdal", program.gdal},
          {"spaces", program.spaces},
          {"default_space", program.default_space},
          {"version", program.version},
          {"git", program.git_hash}};
}

/// Paths of a case's keys on the upper two levels.
Json case_keys() {
  Json keys = Json::array();
  for (const KeySection* const section : case_key_table().upper_sections()) {
    for (const std::string& key : section->keys) keys.push_back(join_key(section->path, key));
  }
  return keys;
}

/// {"host": ..., "processor": ..., ..., "ranks": [{"rank": 0, "node": 0, "cores": [0, 1], ...}], "warnings": [], ...}
std::string info_json(const ProgramFacts& facts, const std::vector<RankPlace>& places) {
  Json json = {{"host", facts.host}, {"processor", facts.processor}};
  json.update(program_json(facts));
  json["source"] = source_line();
  json["spaces_not_compiled"] = facts.spaces_not_compiled;
  json["host_threads"] = facts.host_threads;
  json["devices"] = facts.devices;
  json["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    json["ranks"].push_back({{"rank", rank},
                             {"node", place.node},
                             {"cores", place.cores},
                             {"node_cores", place.node_cores},
                             {"threads", place.threads},
                             {"devices", place.devices}});
  }
  json["warnings"] = placement_warnings(places);
  json["advice"] = placement_advice(places);
  json["case_keys"] = case_keys();
  return text_of(json);
}

/// {"openmp": {"device": "host", "threads": 2, "peak_double": ..., "peak_single": ..., "bandwidth": ...}, ...}
std::string calibration_json() {
  Json json = Json::object();
  for (const Space space : built_spaces()) {
    const Calibration measured = calibrate(space);
    // what is not known is null
    json[name(space)] = {{"device", measured.device},
                         {"threads", measured.threads},
                         {"peak_double", measured.peak_double},
                         {"peak_single", measured.peak_single},
                         {"bandwidth", measured.bandwidth}};
  }
  return text_of(json);
}

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
    if (!densities_of.empty()) {
      const Model model = make_model(run, Communicator());
      facts["densities"] = densities_at(read_array_points({densities_of, "", ""}), model.source());
    }
    return facts;
  } catch (const InputError& error) {
    Json problems = Json::array();
    for (const Problem& problem : error.problems()) problems.push_back({problem.where, problem.key, problem.what});
    return {{"problems", problems}, {"inputs", inputs}};
  }
}

/// What `prismfield info --cases FILE` prints: reads and validates cases, and says as JSON what other programs, such as
/// studies, have to know of them. FILE is JSON:
///
///     {"file": "folder/base.yaml", "command": "run", "cases": ["model: ...", ...], "densities_at": "result.h5"}
///
/// `file` names the cases in messages, and inputs are relative to its folder; `command` is run, sensitivity or invert.
/// Each case becomes {"problems": [[where, key, what], ...], "inputs"} or {"space", "precision", "fields", "rank_grid",
/// "partition_where", "inputs", "gravitational_constant"}. With `densities_at`, whose fields lie at the points of the
/// result, the first also has the density at each point, null on faces of prisms. Throws InputError, RunError.
std::string case_facts_json(const fs::path& file) {
  std::ifstream stream(file);
  const Json request = Json::parse(stream, nullptr, false);
  const auto bad = [&](const char* what) { return InputError(file.string(), "", what); };
  if (!request.is_object() || !request.contains("cases")) {
    throw bad("holds no JSON object with the keys file, command and cases");
  }
  try {
    const std::string word = request.value("command", "run");
    const auto* const use =
        std::find_if(case_uses.begin(), case_uses.end(), [&](const auto& one) { return one.word == word; });
    if (use == case_uses.end()) throw bad("has a command that is none of run, sensitivity and invert");
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

}  // namespace

ProgramEnd execute(const InfoOptions& options, const std::vector<std::string>& kokkos_options,
                   const Communicator& communicator) {
  const auto print = [&](const std::function<std::string()>& text) {
    agree(communicator, [&] {
      if (communicator.rank() == 0) std::cout << text() << std::flush;
    });
    return ProgramEnd();
  };
  if (!options.cases.empty()) return print([&] { return case_facts_json(options.cases); });
  std::vector<RankPlace> places = gather_places(communicator);
  const std::unique_ptr<Runtime> runtime = start_runtime(kokkos_options, places, communicator);
  if (options.calibrate) return print(calibration_json);
  const KokkosFacts facts = kokkos_facts();
  gather_workers(communicator, facts.host_threads, facts.device_key, static_cast<std::int64_t>(facts.devices.size()),
                 places);
  return print([&] {
    const ProgramFacts program = program_facts(kokkos_options);
    return options.json ? info_json(program, places) : info_text(program) + placement_table(places);
  });
}

}  // namespace prismfield
