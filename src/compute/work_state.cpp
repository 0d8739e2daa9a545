// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/work_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
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

}  // namespace prismfield
