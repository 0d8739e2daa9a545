// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/start.hpp"

#include <iostream>

#include <prismfield/communicator.hpp>

#include "base/human_text.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {

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

}  // namespace prismfield
