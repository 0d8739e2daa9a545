// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/start.hpp"

#include <iostream>

#include <prismfield/communicator.hpp>

#include "base/human_text.hpp"
#include "engine/kokkos_facts.hpp"
#include "parallel/agreement.hpp"

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

}  // namespace prismfield
