// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/counts.hpp"
#include "kernel/contact.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

double pairs_in(const WorkItem& item) {
  return static_cast<double>(item.prisms.size()) * static_cast<double>(item.ordered.size());
}

IndexRange hull(const std::vector<WorkItem>& work, IndexRange WorkItem::*range) {
  if (work.empty()) return {};
  IndexRange all = work.front().*range;
  for (const WorkItem& item : work) {
    all = {std::min(all.begin, (item.*range).begin), std::max(all.end, (item.*range).end)};
  }
  return all;
}

/// Makes one item of neighbours that are alike but for `range` and touch in it. The items must be sorted so that such
/// neighbours follow each other.
void join(std::vector<WorkItem>& work, IndexRange WorkItem::*range) {
  std::vector<WorkItem> joined;
  for (const WorkItem& item : work) {
    if (!joined.empty() && (joined.back().*range).end == (item.*range).begin) {
      WorkItem both = joined.back();
      both.*range = item.*range;
      if (both == item) {
        (joined.back().*range).end = (item.*range).end;
        continue;
      }
    }
    joined.push_back(item);
  }
  work = std::move(joined);
}

auto key(IndexRange range) { return std::pair(range.begin, range.end); }

/// A place in a list of items: everything before is before prism `prism` of item `item`.
struct Cut {
  std::size_t item = 0;
  std::int64_t prism = 0;
};

/// Where part `part` of `parts` begins.
Cut cut_of(const std::vector<WorkItem>& work, std::int64_t part, std::int64_t parts) {
  if (part == parts) return {work.size(), 0};
  double before = prismfield::pairs_in(work) / static_cast<double>(parts) * static_cast<double>(part);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const WorkItem& item = work[i];
    const double pairs = pairs_in(item);
    if (before < pairs) {
      const double prisms = std::round(before / static_cast<double>(item.ordered.size()));
      return {i,
              item.prisms.begin + std::clamp<std::int64_t>(static_cast<std::int64_t>(prisms), 0, item.prisms.size())};
    }
    before -= pairs;
  }
  return {work.size(), 0};
}

/// Takes the next of the numbers that are left.
std::int64_t next(std::span<const std::int64_t>& left) {
  const std::int64_t number = left.front();
  left = left.subspan(1);
  return number;
}

/// Passes the numbers of a layout's settings, of an item and of a state to f in the order of the file.
template <class Layout, class F>
void each_setting(Layout& layout, const F& f) {
  for (auto* number : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms}) f(*number);
}
template <class Item, class F>
void each_end(Item& item, const F& f) {
  for (auto* range : {&item.prisms, &item.points, &item.ordered}) {
    f(range->begin);
    f(range->end);
  }
}
/// A device without memory makes the plan smaller after the layout was fixed: these settings are what the state was
/// made with.
template <class State, class F>
void each_number(State& state, const F& f) {
  auto& [layout, progress, payload] = state;
  each_setting(layout, f);
  for (auto* number : {&layout.points.begin, &layout.points.end, &progress.item, &progress.tile, &progress.prisms}) {
    f(*number);
  }
  for (auto& pairs : progress.pairs_by_form) f(pairs);
}

/// Reads what numbers_of() made of a layout.
std::vector<WorkLayout> take_layout(std::span<const std::int64_t> in) {
  const auto take = [&](std::int64_t& number) { number = next(in); };
  std::vector<WorkLayout> ranks(static_cast<std::size_t>(next(in)));
  for (WorkLayout& layout : ranks) {
    each_setting(layout, take);
    layout.work.resize(static_cast<std::size_t>(next(in)));
    for (WorkItem& item : layout.work) each_end(item, take);
    layout.points = points_of(layout.work);
  }
  return ranks;
}

/// Reads a state's numbers; the work of its layout stays. Whether it has a payload.
bool take_numbers(std::span<const std::int64_t>& in, RankState& state) {
  each_number(state, [&](std::int64_t& number) { number = next(in); });
  return next(in) != 0;
}

/// Throws Unusable for a state that would take far more scratch than the plan.
void require_scratch(const WorkLayout& layout, const Plan& plan) {
  // what so many threads have, or a device that has much to do with few points
  constexpr double most_slots = 512, always = 512.0 * 1024 * 1024;
  const auto scratch = [&](double slots, std::int64_t tile) {
    return slots * static_cast<double>(tile) * static_cast<double>(plan.direct.slot_point_bytes);
  };
  const double most = std::max(
      static_cast<double>(plan.direct.scratch_bytes),
      std::min(static_cast<double>(plan.memory_limit), std::max(always, scratch(most_slots, plan.direct.tile_points))));
  if (scratch(static_cast<double>(layout.slots), layout.tile_points) <= most) return;
  throw Unusable(
      fmt::format("asks for {} slots of {} points, more than execution.memory_limit and this machine allow; go on with "
                  "more memory or on another number of ranks",
                  layout.slots, layout.tile_points));
}

/// Reads sums into states that have a payload.
void take_sums(KeptRun& kept, const std::vector<RankState*>& states, std::int64_t n_fields) {
  std::vector<std::vector<double>*> sums;
  for (RankState* state : states) {
    state->payload = empty_payload(n_fields, state->layout.points.size());
    sums.push_back(&state->payload.values);
    sums.push_back(&state->payload.contact);
  }
  kept.read_sums(sums);
}

}  // namespace

std::vector<WorkItem> work_of(const Plan& plan) { return {{plan.prisms(), plan.points(), {0, plan.points().size()}}}; }

IndexRange points_of(const std::vector<WorkItem>& work) { return hull(work, &WorkItem::points); }

IndexRange prisms_of(const std::vector<WorkItem>& work) { return hull(work, &WorkItem::prisms); }

double pairs_in(const std::vector<WorkItem>& work) {
  return std::accumulate(work.begin(), work.end(), 0.0,
                         [](double sum, const WorkItem& item) { return sum + pairs_in(item); });
}

WorkPayload empty_payload(std::int64_t n_fields, std::int64_t n_points) {
  return {std::vector<double>(static_cast<std::size_t>(n_fields * n_points)),
          std::vector<double>(static_cast<std::size_t>(n_contact_columns * n_points))};
}

void add_state(const RankState& from, RankState& to) {
  for (std::size_t f = 0; f < n_forms; ++f) {
    to.progress.pairs_by_form[f] = sum_or_most(to.progress.pairs_by_form[f], from.progress.pairs_by_form[f]);
  }
  if (from.payload.empty()) return;
  const std::int64_t n_fields = static_cast<std::int64_t>(from.payload.values.size()) / from.layout.points.size();
  const std::int64_t n_points = to.layout.points.size();
  if (to.payload.empty()) to.payload = empty_payload(n_fields, n_points);
  const std::int64_t begin = from.layout.points.begin - to.layout.points.begin;
  const IndexRange points{begin, begin + from.layout.points.size()};
  add_part(from.payload.values, n_fields, n_points, points, to.payload.values);
  // a point's contacts lie side by side
  add_part(from.payload.contact, 1, n_contact_columns * n_points,
           {n_contact_columns * points.begin, n_contact_columns * points.end}, to.payload.contact);
}

std::vector<WorkItem> remaining_work(const std::vector<RankState>& states) {
  std::vector<WorkItem> left;
  const auto add = [&](const WorkItem& item) {
    if (item.prisms.size() > 0 && item.ordered.size() > 0) left.push_back(item);
  };
  for (const auto& [layout, progress, payload] : states) {
    for (std::size_t i = static_cast<std::size_t>(progress.item); i < layout.work.size(); ++i) {
      WorkItem rest = layout.work[i];
      if (static_cast<std::int64_t>(i) == progress.item) {
        rest.ordered.begin += progress.tile;
        if (progress.prisms > 0) {
          // the tile in which the rank was
          WorkItem tile = rest;
          tile.ordered.end = std::min(rest.ordered.begin + layout.tile_points, rest.ordered.end);
          tile.prisms.begin += progress.prisms;
          add(tile);
          rest.ordered.begin = tile.ordered.end;
        }
      }
      add(rest);
    }
  }
  const auto sort_by = [&](auto&& order) {
    std::sort(left.begin(), left.end(), [&](const WorkItem& a, const WorkItem& b) { return order(a) < order(b); });
  };
  sort_by([](const WorkItem& i) { return std::tuple(key(i.points), key(i.ordered), key(i.prisms)); });
  join(left, &WorkItem::prisms);
  sort_by([](const WorkItem& i) { return std::tuple(key(i.points), key(i.prisms), key(i.ordered)); });
  join(left, &WorkItem::ordered);
  return left;
}

std::vector<WorkItem> share_of_work(const std::vector<WorkItem>& work, std::int64_t part, std::int64_t parts) {
  const Cut begin = cut_of(work, part, parts);
  const Cut end = cut_of(work, part + 1, parts);
  std::vector<WorkItem> share;
  for (std::size_t i = begin.item; i < work.size() && i <= end.item; ++i) {
    WorkItem item = work[i];
    if (i == begin.item) item.prisms.begin = begin.prism;
    if (i == end.item) item.prisms.end = end.prism;
    if (item.prisms.size() > 0) share.push_back(item);
  }
  // what is finished soon leaves no rest behind
  std::stable_sort(share.begin(), share.end(),
                   [](const WorkItem& a, const WorkItem& b) { return pairs_in(a) < pairs_in(b); });
  return share;
}

std::int64_t payload_bytes(std::int64_t n_fields, std::int64_t n_points) {
  return (n_fields + n_contact_columns) * n_points * static_cast<std::int64_t>(sizeof(double));
}

std::vector<std::int64_t> numbers_of(const std::vector<WorkLayout>& ranks) {
  std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(ranks.size())};
  const auto append = [&](std::int64_t number) { numbers.push_back(number); };
  for (const WorkLayout& layout : ranks) {
    each_setting(layout, append);
    append(static_cast<std::int64_t>(layout.work.size()));
    for (const WorkItem& item : layout.work) each_end(item, append);
  }
  return numbers;
}

WorkState kept_state(const RankState& mine, const RankState* before) {
  WorkState kept;
  for (const RankState* state : {&mine, before}) {
    if (state == nullptr) continue;
    each_number(*state, [&](std::int64_t number) { kept.numbers.push_back(number); });
    kept.numbers.push_back(state->payload.empty() ? 0 : 1);
    kept.sums.insert(kept.sums.end(), {state->payload.values, state->payload.contact});
  }
  return kept;
}

KeptStates read_states(KeptRun& kept, const Plan& plan, int rank, int n_ranks) {
  KeptStates all;
  const std::int64_t n_fields = plan.computed.size();
  for (WorkLayout& layout : take_layout(kept.layout())) all.states.push_back({std::move(layout), {}, {}});
  const bool same_ranks = all.states.size() == static_cast<std::size_t>(n_ranks);
  for (int other = 0; other < static_cast<int>(all.states.size()); ++other) {
    // a rank that has kept nothing of this layout begins at its start
    if (!kept.open(other)) continue;
    RankState& state = all.states[static_cast<std::size_t>(other)];
    const std::vector<std::int64_t> numbers = kept.numbers();
    std::span<const std::int64_t> in(numbers);
    std::vector<RankState*> with_payload;
    if (take_numbers(in, state)) with_payload.push_back(&state);
    if (other == 0) {
      if (take_numbers(in, all.before)) with_payload.push_back(&all.before);
      all.before.layout.points = {0, plan.n_points};
    }
    if (same_ranks ? other != rank : rank != 0) continue;
    take_sums(kept, with_payload, n_fields);
    if (same_ranks) continue;
    add_state(state, all.before);
    state.payload = {};
  }
  if (same_ranks) require_scratch(all.states[static_cast<std::size_t>(rank)].layout, plan);
  return all;
}

}  // namespace prismfield
