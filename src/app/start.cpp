// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include <prismfield/communicator.hpp>

#include "base/human_text.hpp"
#include "base/machine.hpp"
#include "base/version.hpp"
#include "engine/kokkos_facts.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/grid_formats.hpp"
#include "formats/hdf5_file.hpp"
#include "parallel/mpi_session.hpp"

namespace prismfield {

double seconds_since(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void warn(const std::string& message) { std::cerr << "warning: " << shown(message) << std::endl; }

std::unique_ptr<Runtime> start_runtime(const std::vector<std::string>& kokkos_options,
                                       const std::vector<RankPlace>& places, const Communicator& communicator) {
  std::unique_ptr<Runtime> runtime;
  agree(communicator, [&] {
    RuntimeOptions wanted;
    wanted.local_rank = communicator.local_rank();
    wanted.sharing = ranks_sharing(places, communicator.rank());
    wanted.kokkos_options = kokkos_options;
    runtime = std::make_unique<Runtime>(wanted);
  });
  return runtime;
}

StartedRanks start_ranks(const std::vector<std::string>& kokkos_options, const Communicator& communicator) {
  StartedRanks started;
  started.places = gather_places(communicator);
  started.runtime = start_runtime(kokkos_options, started.places, communicator);
  const KokkosFacts facts = kokkos_facts();
  gather_workers(communicator, facts.host_threads, facts.device_key, static_cast<std::int64_t>(facts.devices.size()),
                 started.places);
  if (communicator.rank() == 0) {
    for (const std::string& warning : placement_warnings(started.places)) warn(warning);
  }
  return started;
}

ProgramFacts program_facts(const std::vector<std::string>& kokkos_options) {
  const KokkosFacts kokkos = kokkos_facts();
  ProgramFacts facts;
  facts.version = version;
  facts.git_hash = git_hash;
  facts.compiler = kokkos.compiler;
  facts.build_type = PRISMFIELD_BUILD_TYPE;
  facts.kokkos = kokkos.kokkos_version;
  facts.kokkos_kernels = kokkos.kokkos_kernels_version;
  facts.kokkos_configuration = fmt::format("{}{}{}", fmt::join(kokkos.spaces, ", "),
                                           kokkos.architecture.empty() ? "" : "; ", kokkos.architecture);
  facts.mpi = mpi_library_version();
  facts.hdf5 = hdf5_version();
  facts.proj = proj_version();
  facts.gdal = gdal_version();
  facts.host = host_name();
  facts.processor = processor_name();
  facts.simd = fmt::format("{}, {} of double", kokkos.host_vector_instructions, counted(kokkos.simd_doubles, "lane"));
  facts.spaces = kokkos.spaces;
  facts.spaces_not_compiled = kokkos.spaces_not_compiled;
  facts.default_space = kokkos.default_space;
  facts.devices = kokkos.devices;
  facts.host_threads = kokkos.host_threads;
  facts.kokkos_options = kokkos_options;
  facts.has_mpi = facts.mpi != "not built in";
  return facts;
}

MachineUse machine_use(const ProgramFacts& facts, Space space, std::int64_t ranks) {
  MachineUse use;
  use.space = space == Space::automatic ? facts.default_space : name(space);
  const bool on_device = use.space == name(Space::cuda) || use.space == name(Space::hip);
  if (on_device && !facts.devices.empty()) use.device = facts.devices.front();
  use.ranks = ranks;
  use.threads = facts.host_threads;
  return use;
}

}  // namespace prismfield
