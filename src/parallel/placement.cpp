// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/placement.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/human_text.hpp"
#include "base/machine.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// The largest number of cores that ranks report to each other; higher core numbers wrap around.
constexpr int most_cores = 2048;
constexpr int bits_a_word = 32;

/// The ranks of each node, in the order of nodes.
std::map<std::int64_t, std::vector<std::size_t>> ranks_by_node(const std::vector<RankPlace>& places) {
  std::map<std::int64_t, std::vector<std::size_t>> nodes;
  for (std::size_t rank = 0; rank < places.size(); ++rank) nodes[places[rank].node].push_back(rank);
  return nodes;
}

/// Ranks whose work is done by threads of the host.
bool on_host(const RankPlace& place) { return place.device == 0; }

std::int64_t count(const std::vector<int>& cores) { return static_cast<std::int64_t>(cores.size()); }

std::set<int> cores_of(const std::vector<RankPlace>& places, const std::vector<std::size_t>& ranks) {
  std::set<int> cores;
  for (const std::size_t rank : ranks) cores.insert(places[rank].cores.begin(), places[rank].cores.end());
  return cores;
}

std::string crowded_rank(const std::vector<RankPlace>& places) {
  std::int64_t crowded = 0;
  std::size_t worst = 0;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    if (!on_host(place) || place.threads <= count(place.cores)) continue;
    if (crowded++ == 0) worst = rank;
  }
  if (crowded == 0) return "";
  const RankPlace& place = places[worst];
  const std::int64_t cores = count(place.cores);
  const std::string shared =
      fmt::format("{} share {}", counted(place.threads, "thread"), counted(cores, "usable core"));
  if (places.size() == 1) return fmt::format("{}; set OMP_NUM_THREADS={}", shared, cores);
  const std::string who =
      crowded == 1 ? fmt::format("rank {}", worst) : fmt::format("rank {} and {} more", worst, crowded - 1);
  return fmt::format(
      "{}: {}; start with mpirun --bind-to none or --map-by slot:PE={} (Slurm: srun --cpus-per-task={}), or set "
      "OMP_NUM_THREADS={}",
      who, shared, place.threads, place.threads, cores);
}

std::string crowded_node(const std::vector<RankPlace>& places) {
  for (const auto& [node, ranks] : ranks_by_node(places)) {
    std::int64_t threads = 0;
    std::vector<std::size_t> computing;
    for (const std::size_t rank : ranks) {
      if (!on_host(places[rank])) continue;
      computing.push_back(rank);
      threads += places[rank].threads;
    }
    const auto cores = static_cast<std::int64_t>(cores_of(places, computing).size());
    const auto n = static_cast<std::int64_t>(computing.size());
    if (n < 2 || threads <= cores) continue;
    const std::string fix = n > cores ? fmt::format("start at most {} a node", counted(cores, "rank"))
                                      : fmt::format(
                                            "set OMP_NUM_THREADS={}, or start with mpirun --bind-to none if "
                                            "the node has more cores",
                                            std::max<std::int64_t>(1, cores / n));
    return fmt::format("{} of one node run {} on {}; {}", counted(n, "rank"), counted(threads, "thread"),
                       counted(cores, "usable core"), fix);
  }
  return "";
}

std::string crowded_device(const std::vector<RankPlace>& places) {
  for (const auto& [node, ranks] : ranks_by_node(places)) {
    std::set<std::int64_t> used;
    std::int64_t computing = 0;
    std::int64_t visible = 0;
    for (const std::size_t rank : ranks) {
      if (places[rank].device == 0) continue;
      used.insert(places[rank].device);
      visible = std::max(visible, places[rank].devices);
      ++computing;
    }
    if (static_cast<std::int64_t>(used.size()) >= computing) continue;
    const std::int64_t devices = std::max(visible, static_cast<std::int64_t>(used.size()));
    return fmt::format(
        "{} of one node share {}, and those on one take turns; start one rank a device: mpirun --map-by ppr:{}:node "
        "(Slurm: srun --ntasks-per-node={})",
        counted(computing, "rank"), counted(static_cast<std::int64_t>(used.size()), "device"), devices, devices);
  }
  return "";
}

}  // namespace

std::vector<RankPlace> gather_places(const Communicator& communicator) {
  constexpr std::size_t words = most_cores / bits_a_word;
  std::vector<std::int64_t> own(words + 2, 0);
  for (const int number : usable_cores()) {
    const int core = number % most_cores;
    own[static_cast<std::size_t>(core / bits_a_word)] |= std::int64_t{1} << (core % bits_a_word);
  }
  own[words] = node_of(communicator);
  own[words + 1] = std::max<std::int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
  const std::vector<std::int64_t> all = gather_everywhere(communicator, own);
  std::vector<RankPlace> places(all.size() / own.size());
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const std::int64_t* const row = &all[rank * own.size()];
    for (int core = 0; core < most_cores; ++core) {
      if ((row[core / bits_a_word] >> (core % bits_a_word) & 1) != 0) places[rank].cores.push_back(core);
    }
    places[rank].node = row[words];
    places[rank].node_cores = row[words + 1];
  }
  return places;
}

void gather_workers(const Communicator& communicator, std::int64_t threads, std::int64_t device, std::int64_t devices,
                    std::vector<RankPlace>& places) {
  const auto all = gather_everywhere(communicator, std::array{threads, device, devices});
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    places[rank].threads = all[rank][0];
    places[rank].device = all[rank][1];
    places[rank].devices = all[rank][2];
  }
}

int ranks_sharing(const std::vector<RankPlace>& places, int rank) {
  const RankPlace& own = places[static_cast<std::size_t>(rank)];
  return static_cast<int>(std::count_if(places.begin(), places.end(), [&](const RankPlace& other) {
    return other.node == own.node && std::find_first_of(own.cores.begin(), own.cores.end(), other.cores.begin(),
                                                        other.cores.end()) != own.cores.end();
  }));
}

std::vector<std::string> placement_warnings(const std::vector<RankPlace>& places) {
  std::vector<std::string> warnings;
  std::string about_cores = crowded_rank(places);
  if (about_cores.empty()) about_cores = crowded_node(places);
  if (!about_cores.empty()) warnings.push_back(std::move(about_cores));
  std::string about_devices = crowded_device(places);
  if (!about_devices.empty()) warnings.push_back(std::move(about_devices));
  return warnings;
}

std::vector<std::string> placement_advice(const std::vector<RankPlace>& places) {
  std::vector<std::string> advice;
  const auto nodes = ranks_by_node(places);
  for (const auto& [node, ranks] : nodes) {
    const bool computes = std::any_of(ranks.begin(), ranks.end(), [&](std::size_t r) { return on_host(places[r]); });
    const auto cores = static_cast<std::int64_t>(cores_of(places, ranks).size());
    const std::int64_t there = places[ranks.front()].node_cores;
    if (!computes || cores >= there) continue;
    const auto n = static_cast<std::int64_t>(ranks.size());
    std::string text =
        fmt::format("{} may run on {} of a node's {}", counted(n, "rank"), cores, counted(there, "core"));
    if (places.size() == 1) {
      text += "; the binding of mpirun (--bind-to none lifts it), a batch system or taskset left out the others";
    } else {
      text += fmt::format("; if the others are yours too, start with mpirun --bind-to none or --map-by slot:PE={}",
                          std::max<std::int64_t>(1, there / n));
    }
    advice.push_back(std::move(text));
    break;
  }
  for (const auto& [node, ranks] : nodes) {
    std::set<std::int64_t> used;
    std::int64_t visible = 0;
    bool one_list = true;
    for (const std::size_t rank : ranks) {
      if (places[rank].device != 0) used.insert(places[rank].device);
      one_list = one_list && (visible == 0 || places[rank].devices == visible);
      visible = std::max(visible, places[rank].devices);
    }
    // where each rank is shown one device of its own, how many there are is not known
    if (!one_list || used.empty() || static_cast<std::int64_t>(used.size()) >= visible) continue;
    advice.push_back(fmt::format("{} of a node's {} {} used; start one rank a device: mpirun -n {}", used.size(),
                                 counted(visible, "device"), used.size() == 1 ? "is" : "are", visible));
    break;
  }
  return advice;
}

std::string placement_text(const std::vector<RankPlace>& places) {
  const auto ranks = static_cast<std::int64_t>(places.size());
  const auto nodes = static_cast<std::int64_t>(ranks_by_node(places).size());
  std::int64_t threads = 0;
  for (const RankPlace& place : places) threads += place.threads;
  const bool alike = std::all_of(places.begin(), places.end(),
                                 [&](const RankPlace& place) { return place.threads == places.front().threads; });
  if (alike) {
    return fmt::format("{} x {} on {}", counted(ranks, "rank"), counted(places.front().threads, "thread"),
                       counted(nodes, "node"));
  }
  return fmt::format("{}, {} on {}", counted(ranks, "rank"), counted(threads, "thread"), counted(nodes, "node"));
}

std::string core_list(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += last == i ? fmt::format("{}", cores[i]) : fmt::format("{}-{}", cores[i], cores[last]);
    i = last + 1;
  }
  return text;
}

std::string placement_table(const std::vector<RankPlace>& places) {
  std::string text;
  const auto row = [&](const std::string& label, const std::string& content) {
    text += fmt::format("{:<18}{}\n", label, content);
  };
  std::map<std::int64_t, std::int64_t> node_number;
  std::map<std::int64_t, std::int64_t> device_number;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    const auto node = node_number.try_emplace(place.node, static_cast<std::int64_t>(node_number.size())).first->second;
    std::string line = fmt::format("node {}, {} on {} of {} ({})", node, counted(place.threads, "thread"),
                                   count(place.cores), counted(place.node_cores, "core"), core_list(place.cores));
    if (place.device != 0) {
      const auto device =
          device_number.try_emplace(place.device, static_cast<std::int64_t>(device_number.size())).first->second;
      line += fmt::format(", device {}", device);
    }
    row(places.size() == 1 ? "binding" : fmt::format("rank {}", rank), line);
  }
  std::vector<std::string> advice = placement_warnings(places);
  for (std::string& more : placement_advice(places)) advice.push_back(std::move(more));
  if (advice.empty()) advice.emplace_back("none: every thread has a core of its own");
  for (const std::string& line : advice) row("advice", line);
  return text;
}

}  // namespace prismfield
