// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prismfield {

class Communicator;

/// Where one rank runs.
struct RankPlace {
  /// a number that the ranks of one node share
  std::int64_t node = 0;
  /// numbers of the cores (hardware threads) that the rank may run on, rising
  std::vector<int> cores;
  /// cores that the node has
  std::int64_t node_cores = 1;
  /// host threads that compute
  std::int64_t threads = 1;
  /// which device computes: 0 for none, else a number that no other device has; and devices that the rank may use
  std::int64_t device = 0;
  std::int64_t devices = 0;
};

/// Cores and nodes of all ranks, on all ranks; before OpenMP starts, which may bind this thread to one core.
/// Collective.
[[nodiscard]] std::vector<RankPlace> gather_places(const Communicator& communicator);

/// Adds what is known once Kokkos runs: every rank's threads, device and number of devices. Collective.
void gather_workers(const Communicator& communicator, std::int64_t threads, std::int64_t device, std::int64_t devices,
                    std::vector<RankPlace>& places);

/// Ranks of this rank's node that may run on one of its cores, itself included: those share its cores.
[[nodiscard]] int ranks_sharing(const std::vector<RankPlace>& places, int rank);

/// What slows a run down and how to start it instead, at most one sentence about cores and one about devices: a rank
/// with more threads than cores, else ranks of a node with more threads than cores together; more ranks than devices.
[[nodiscard]] std::vector<std::string> placement_warnings(const std::vector<RankPlace>& places);

/// What a run leaves unused, and how to start it instead: cores of a node that no rank may run on, devices that no rank
/// uses.
[[nodiscard]] std::vector<std::string> placement_advice(const std::vector<RankPlace>& places);

/// "4 ranks x 2 threads on 1 node"; "3 ranks, 5 threads on 2 nodes" where ranks differ.
[[nodiscard]] std::string placement_text(const std::vector<RankPlace>& places);

/// Core numbers as "0-3,8".
[[nodiscard]] std::string core_list(const std::vector<int>& cores);

/// One line a rank: node, cores, threads, device; then warnings and advice.
[[nodiscard]] std::string placement_table(const std::vector<RankPlace>& places);

}  // namespace prismfield
