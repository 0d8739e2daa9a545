// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include <prismfield/communicator.hpp>

#include "app/start.hpp"
#include "base/human_text.hpp"
#include "base/version.hpp"
#include "engine/calibration.hpp"
#include "engine/engine.hpp"
#include "engine/kokkos_facts.hpp"
#include "io/hdf5_file.hpp"
#include "parallel/agreement.hpp"
#include "parallel/placement.hpp"

namespace prismfield {
namespace {

std::string info_text(const KokkosFacts& facts) {
  std::string text;
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("{:<18}{}\n", label, content);
  };
  row("prismfield", fmt::format("{} (git {}), {} build", version, git_hash, PRISMFIELD_BUILD_TYPE));
  row("compiler", facts.compiler);
  row("Kokkos", facts.kokkos_version);
  row("Kokkos Kernels", facts.kokkos_kernels_version);
  row("MPI", mpi_library_version());
  row("HDF5", fmt::format("{}, {}", hdf5_version(), hdf5_is_parallel() ? "parallel" : "serial"));
  row("execution spaces", fmt::format("{}; default {}{}{}", fmt::join(facts.spaces, ", "), facts.default_space,
                                      facts.spaces_not_compiled.empty() ? "" : "; not compiled: ",
                                      fmt::join(facts.spaces_not_compiled, ", ")));
  row("host", fmt::format("{}, {} of double ({})", counted(facts.host_threads, "thread"),
                          counted(facts.simd_doubles, "SIMD lane"), facts.host_vector_instructions));
  if (facts.devices.empty()) row("devices", "none");
  for (const std::string& device : facts.devices) row("device", device);
  return text;
}

/// {"openmp": {"device": "host", "threads": 2, "peak_double": ..., "peak_single": ..., "bandwidth": ...}, ...}
std::string calibration_json() {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Space space : built_spaces()) {
    const Calibration measured = calibrate(space);
    // what is not known is null
    json[name(space)] = {{"device", measured.device},
                         {"threads", measured.threads},
                         {"peak_double", measured.peak_double},
                         {"peak_single", measured.peak_single},
                         {"bandwidth", measured.bandwidth}};
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void info_command(const InfoOptions& options, const std::vector<std::string>& kokkos_options,
                  const Communicator& communicator) {
  std::vector<RankPlace> places = gather_places(communicator);
  const std::unique_ptr<Runtime> runtime = start_runtime(kokkos_options, places, communicator);
  if (options.calibrate) {
    agree(communicator, [&] {
      if (communicator.rank() == 0) std::cout << calibration_json() << std::flush;
    });
    return;
  }
  const KokkosFacts facts = kokkos_facts();
  gather_workers(communicator, facts.host_threads, facts.device_key, static_cast<std::int64_t>(facts.devices.size()),
                 places);
  if (communicator.rank() == 0) std::cout << info_text(facts) << placement_table(places);
}

}  // namespace prismfield
