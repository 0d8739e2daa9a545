// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "base/human_text.hpp"
#include "engine/devices.hpp"
#include "kernel/contact.hpp"
#include "model/choices.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// m3 kg-1 s-2; with it the largest densities and prisms still give finite results
constexpr double max_constant = 1e100;

/// Bytes that a run's host arrays take beside their numbers. An allocator maps each large one in whole pages, its own
/// header among them, and a run holds up to 32 at a time; of what was freed it keeps as much again, by default 128 KiB.
constexpr std::int64_t allocator_bytes = 2 * std::int64_t{32} * 4096;

/// Bytes of the program by itself: its code and its libraries', and among other ranks MPI's room for messages.
constexpr std::int64_t program_bytes_alone = std::int64_t{32} << 20, program_bytes_of_rank = std::int64_t{44} << 20;

void check_rank_grid(const Execution& wanted, ProblemList& problems) {
  if (wanted.partition != Partition::rank_grid) return;
  const auto [prism_parts, point_parts] = wanted.rank_grid;
  const std::string key = "execution.partition";
  if (prism_parts < 1 || point_parts < 1) {
    problems.add("", key, fmt::format("is {} x {} ranks; at least 1 x 1 is expected", prism_parts, point_parts));
    return;
  }
  const std::int64_t ranks = std::int64_t{prism_parts} * point_parts;
  if (ranks > std::numeric_limits<int>::max()) {
    problems.add("", key, fmt::format("asks for {} ranks, more than MPI can have", ranks));
  }
}

void check_magnetic(const Request& request, ProblemList& problems) {
  const Magnetic& magnetic = request.magnetic;
  double squares = 0;
  for (const double component : magnetic.inducing_field) squares += component * component;
  // beyond what any magnet makes
  constexpr double most = 1e6;
  if (!(squares <= most * most)) {
    problems.add("", "magnetic.inducing_field", fmt::format("is not finite, or of more than {:g} T", most));
  }
  for (const FieldInfo& field : request.fields) {
    if (squares > 0 || (field.rule != FieldRule::along_inducing_field && field.rule != FieldRule::exact_anomaly))
      continue;
    problems.add("", "magnetic.inducing_field",
                 fmt::format("is missing; {} is computed along it: {}", field.name, inducing_field_remedy));
    break;
  }
  // any other is an error of input; with a far smaller one M = chi F0/mu0 would overflow a float
  if (!(1e-7 < magnetic.vacuum_permeability && magnetic.vacuum_permeability < 1e-5)) {
    problems.add("", "magnetic.vacuum_permeability",
                 fmt::format("is {} N A-2; about 1.2566e-6 is expected", magnetic.vacuum_permeability));
  }
}

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

void check_request(const Request& request) {
  const Execution& wanted = request.execution;
  ProblemList problems;
  if (request.fields.empty()) problems.add("", "fields", "is empty; at least one field is expected");
  if (!std::isfinite(request.gravitational_constant)) {
    problems.add("", "gravitational_constant", "is NaN or infinite");
  } else if (std::abs(request.gravitational_constant) > max_constant) {
    problems.add("", "gravitational_constant",
                 fmt::format("is {}; at most {:g} m3 kg-1 s-2 keep results finite", request.gravitational_constant,
                             max_constant));
  }
  check_magnetic(request, problems);
  check_rank_grid(wanted, problems);
  const auto within = [&](const char* key, std::optional<std::int64_t> value, std::int64_t most) {
    if (!value || (1 <= *value && *value <= most)) return;
    problems.add("", std::string("execution.") + key,
                 fmt::format("is {}; unset or a whole number from 1 to {} is expected", *value, most));
  };
  // the product of slots and batch is still a count
  constexpr std::int64_t most = 1'000'000'000;
  within("batch", wanted.batch, most);
  within("slots", wanted.slots, most);
  // for which the kernels are compiled: see TileFunctor
  within("block", wanted.block, 512);
  within("chunk", wanted.chunk, most);
  within("memory_limit", wanted.memory_limit, std::numeric_limits<std::int64_t>::max());
  const std::string missing = method_problem(wanted.method);
  if (!missing.empty()) problems.add("", "execution.method", fmt::format("is {}, {}", name(wanted.method), missing));
  if (!(0 < wanted.tolerance && wanted.tolerance < 1)) {
    problems.add("", "execution.tolerance",
                 fmt::format("is {}; a number between 0 and 1 is expected", wanted.tolerance));
  }
  if (wanted.check_points < least_check_points || wanted.check_points > most_check_points) {
    problems.add("", "execution.check_points",
                 fmt::format("is {}; a whole number from {} to {} is expected", wanted.check_points, least_check_points,
                             most_check_points));
  }
  problems.throw_if_any();
}

void check_request(const Request& request, const PrismSource& prisms) {
  check_request(request);
  const FieldList magnetic = request.fields.of_magnetisation();
  if (magnetic.empty() || prisms.is_magnetized() || prisms.size() == 0) return;
  throw InputError("", "model",
                   fmt::format("has no magnetization, which {} needs; give its prisms a susceptibility, with "
                               "magnetic.inducing_field, or a magnetization",
                               (*magnetic.begin()).name));
}

void count_memory(Plan& plan, const ProblemSize& problem, const MethodMemory& method, std::int64_t n_asked, int rank) {
  const std::int64_t my_points = plan.points().size();
  const std::int64_t n_computed = plan.computed.size();
  const std::int64_t all_points = plan.n_points * 3 * 8;
  // the model, the points, the rank's points in their order, fields and contacts
  const std::int64_t always = problem.model.now + all_points + my_points * 4 * 8 +
                              my_points * (n_computed + n_contact_columns) * 8 + allocator_bytes + method.always;
  // rank 0 holds the whole beside its part and one that has arrived, other ranks their part on its way
  const bool alone = plan.prism_parts * plan.point_parts == 1;
  // a point that touches prisms, as all may, is given by its number and its contacts
  const std::int64_t a_point = (n_asked + 1 + n_contact_columns) * 8;
  const std::int64_t on_its_way = alone ? 0 : my_points * a_point;
  const std::int64_t whole = rank == 0 ? plan.n_points * a_point : 0;
  const std::int64_t from_now = always + std::max(method.while_computing, whole + on_its_way);
  const std::int64_t program_bytes = alone ? program_bytes_alone : program_bytes_of_rank;
  plan.device_bytes = method.on_device;
  plan.host_bytes = program_bytes + std::max(from_now, problem.model.peak);
  plan.host_bytes_held = program_bytes + problem.model.now + all_points;
  plan.host_bytes_to_come = program_bytes + from_now - plan.host_bytes_held;
}

Machine machine_here(const Request& request, const Communicator& communicator) {
  const Execution& wanted = request.execution;
  Machine machine;
  machine.space = wanted.space == Space::automatic ? built_spaces().front() : wanted.space;
  machine.engine = engine_traits(machine.space, wanted.precision, request.fields, wanted.kernel);
  machine.ranks = communicator.size();
  machine.rank = communicator.rank();
  machine.ranks_on_node = communicator.local_size();
  machine.devices = device_count();
  machine.host_memory = share_of(memory_limits(), machine.ranks_on_node);
  return machine;
}

ProblemSize problem_size(const PrismSource& prisms, const PointColumns& points) {
  return {prisms.size(), points.size(), prisms.uniform_shape()};
}

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
  const auto of_ranks = gather(
      communicator, std::array{std::int64_t{node_of(communicator)}, plan.host_bytes_held, plan.host_bytes_to_come});
  const auto limits = gather(communicator, memory_limits());
  std::vector<RankMemory> ranks;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    const auto [node, held, to_come] = of_ranks[rank];
    ranks.push_back({node, held, to_come, limits[rank]});
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

std::string memory_shortage(const MemoryNeed& need, int all_ranks, bool limit_given, const std::string& methods) {
  if (need.fits()) return "";
  std::string who = "the run takes";
  if (all_ranks > 1) {
    who = need.ranks == 1 ? fmt::format("rank {} takes", need.first_rank)
                          : fmt::format("{} ranks of one node take", need.ranks);
  }
  std::string text = fmt::format("{} {} of memory, but there are {} ({}); ", who, size_text(need.needed),
                                 size_text(need.available), description(need.bound));
  if (!methods.empty()) text += fmt::format("use execution.method: {}, ", methods);
  text += "compute fewer points in a run";
  if (limit_given) text += ", make execution.memory_limit smaller";
  if (need.ranks > 1) text += ", start fewer ranks on a node";
  return text + ", " + remedy(need);
}

}  // namespace prismfield
