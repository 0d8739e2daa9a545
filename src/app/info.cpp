// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include <prismfield/communicator.hpp>

#include "app/case_facts.hpp"
#include "app/commands.hpp"
#include "app/start.hpp"
#include "base/human_text.hpp"
#include "case/key_table.hpp"
#include "engine/calibration.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "io/cf_attributes.hpp"
#include "io/result_file.hpp"
#include "parallel/agreement.hpp"
#include "parallel/placement.hpp"

namespace prismfield {
namespace {

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
