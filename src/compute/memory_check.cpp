// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/human_text.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// How much of what there is a need takes.
double tightness(const MemoryNeed& need) {
  return static_cast<double>(need.needed) / static_cast<double>(std::max<std::int64_t>(need.available, 1));
}

std::string remedy(const MemoryNeed& need) {
  switch (need.bound) {
    case MemoryBound::machine: return "or ranks on more nodes";
    case MemoryBound::control_group: return "or ask for more memory (Slurm: --mem, Docker: --memory)";
    case MemoryBound::address_space: return "or raise ulimit -v";
    case MemoryBound::data: return "or raise ulimit -d";
  }
  return "";
}

}  // namespace

MemoryNeed tightest_need(const std::vector<RankMemory>& ranks) {
  // a bound of one rank alone has that rank's number, from 1 on
  using Key = std::tuple<std::int64_t, MemoryBound, std::int64_t, std::size_t>;
  std::map<Key, MemoryNeed> needs;
  std::map<Key, std::int64_t> held;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankMemory& memory = ranks[rank];
    for (const MemoryLimit& limit : memory.limits) {
      const Key key = {memory.node, limit.bound, limit.group, limit.group == 0 ? rank + 1 : 0};
      MemoryNeed& need =
          needs.try_emplace(key, MemoryNeed{limit.bound, 0, limit.bytes, static_cast<int>(rank), 0}).first->second;
      ++need.ranks;
      need.needed += memory.held + memory.to_come;
      // what is left, as the rank saw it that asked last
      need.available = std::min(need.available, limit.bytes);
      held[key] += memory.held;
    }
  }
  MemoryNeed tightest;
  for (auto& [key, need] : needs) {
    need.available += held[key];
    if (tightest.ranks == 0 || tightness(need) > tightness(tightest)) tightest = need;
  }
  return tightest;
}

MemoryNeed tightest_need(const Plan& plan, const Communicator& communicator) {
  std::vector<double> numbers = {static_cast<double>(node_of(communicator)), static_cast<double>(plan.host_bytes_held),
                                 static_cast<double>(plan.host_bytes_to_come)};
  for (const MemoryLimit& limit : memory_limits()) {
    numbers.insert(numbers.end(), {static_cast<double>(limit.bound), static_cast<double>(limit.bytes),
                                   static_cast<double>(limit.group)});
  }
  std::vector<RankMemory> ranks;
  for (const std::vector<double>& told : gather(communicator, numbers)) {
    RankMemory memory{
        static_cast<std::int64_t>(told[0]), static_cast<std::int64_t>(told[1]), static_cast<std::int64_t>(told[2]), {}};
    for (std::size_t i = 3; i + 2 < told.size(); i += 3) {
      memory.limits.push_back({static_cast<MemoryBound>(static_cast<int>(told[i])),
                               static_cast<std::int64_t>(told[i + 1]), static_cast<std::int64_t>(told[i + 2])});
    }
    ranks.push_back(std::move(memory));
  }
  return tightest_need(ranks);
}

std::string available_text(const MemoryNeed& need, int all_ranks) {
  std::string text = fmt::format("{}, {}", size_text(need.available), description(need.bound));
  if (all_ranks > 1) {
    text += need.ranks == 1 ? fmt::format(", for rank {}", need.first_rank) : fmt::format(", for {} ranks", need.ranks);
  }
  return text;
}

std::string memory_shortage(const MemoryNeed& need, int all_ranks, bool limit_given) {
  if (need.fits()) return "";
  std::string who = "the run takes";
  if (all_ranks > 1) {
    who = need.ranks == 1 ? fmt::format("rank {} takes", need.first_rank)
                          : fmt::format("{} ranks of one node take", need.ranks);
  }
  std::string text = fmt::format("{} {} of memory, but there are {} ({}); compute fewer points in a run", who,
                                 size_text(need.needed), size_text(need.available), description(need.bound));
  if (limit_given) text += ", make execution.memory_limit smaller";
  if (need.ranks > 1) text += ", start fewer ranks on a node";
  return text + ", " + remedy(need);
}

}  // namespace prismfield
