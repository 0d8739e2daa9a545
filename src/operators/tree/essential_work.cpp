// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/tree/essential_work.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "model/points.hpp"
#include "operators/tree/evaluate_trees.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"

namespace prismfield::fast {
namespace {

using Lists = std::vector<std::vector<double>>;

PlacedItem item_of(const PointColumns& points, std::int64_t number) {
  const auto i = static_cast<std::size_t>(number);
  return {{points.easting[i], points.northing[i], points.upward[i]}, number};
}

/// `first`: the number of the block's first prism.
PlacedItem item_of(const PrismBlock& b, std::int64_t first, std::int64_t number) {
  const auto i = static_cast<std::size_t>(number - first);
  return {{0.5 * (b.west[i] + b.east[i]), 0.5 * (b.south[i] + b.north[i]), 0.5 * (b.bottom[i] + b.top[i])}, number};
}

/// Those that the fields of a set need.
std::vector<std::vector<double>*> columns_of(PrismBlock& b, FieldList fields) {
  std::vector<std::vector<double>*> columns = {&b.west, &b.east, &b.south, &b.north, &b.bottom, &b.top, &b.density};
  if (!has_magnetic(fields)) return columns;
  for (std::vector<double>& component : b.magnetization) columns.push_back(&component);
  return columns;
}

/// Prisms by the ranks that get them, a number of each column, in their order. Empties the block.
Lists lists_of(PrismBlock& block, FieldList fields, std::int64_t first, const SpaceParts& parts, int ranks) {
  std::vector<int> part;
  std::vector<std::size_t> count(static_cast<std::size_t>(ranks), 0);
  for (std::int64_t number = first; number < first + block.size(); ++number) {
    part.push_back(parts.part_of(item_of(block, first, number)));
    ++count[static_cast<std::size_t>(part.back())];
  }
  Lists lists(count.size());
  const auto columns = columns_of(block, fields);
  for (std::size_t p = 0; p < count.size(); ++p) lists[p].reserve(columns.size() * count[p]);
  for (std::size_t i = 0; i < part.size(); ++i) {
    std::vector<double>& list = lists[static_cast<std::size_t>(part[i])];
    for (const std::vector<double>* column : columns) list.push_back((*column)[i]);
  }
  block = PrismBlock();
  return lists;
}

/// Empties the lists.
PrismBlock block_of(Lists& lists, FieldList fields) {
  PrismBlock block;
  const auto columns = columns_of(block, fields);
  const std::size_t numbers = columns.size();
  std::size_t n = 0, next = 0;
  for (const std::vector<double>& list : lists) n += list.size() / numbers;
  for (std::vector<double>* column : columns) column->resize(n);
  for (std::vector<double>& list : lists) {
    for (std::size_t i = 0; i < list.size(); i += numbers, ++next) {
      for (std::size_t c = 0; c < numbers; ++c) (*columns[c])[next] = list[i + c];
    }
    list = std::vector<double>();
  }
  return block;
}

}  // namespace

void EssentialWork::share_out_points(int ranks) {
  std::vector<PlacedItem> sample;
  for (const std::int64_t number :
       sampled_numbers({0, m_points.size()}, sample_of_rank(m_points.size(), ranks) * ranks)) {
    sample.push_back(item_of(m_points, number));
  }
  const SpaceParts& parts = m_parts_of_points = SpaceParts(std::move(sample), ranks);
  std::vector<int> part;
  std::vector<std::int64_t> next(static_cast<std::size_t>(ranks) + 1, 0), mine;
  for (std::int64_t i = 0; i < m_points.size(); ++i) {
    part.push_back(parts.part_of(item_of(m_points, i)));
    ++next[static_cast<std::size_t>(part.back()) + 1];
    if (part.back() == m_rank) mine.push_back(i);
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  m_places = {next[static_cast<std::size_t>(m_rank)], next[static_cast<std::size_t>(m_rank) + 1]};
  m_mine = chosen_points(m_points, mine);
  if (m_rank > 0) return;
  m_order.resize(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    m_order[static_cast<std::size_t>(next[static_cast<std::size_t>(part[i])]++)] = static_cast<std::int64_t>(i);
  }
}

PrismBlock EssentialWork::fetch_prisms(const PrismSource& prisms, const Communicator& communicator) {
  const int ranks = communicator.size();
  const IndexRange range = m_plan.prisms();
  PrismBlock block;
  std::vector<PlacedItem> sample;
  on_all_ranks(communicator, [&] {
    prisms.read(range, block);
    for (const std::int64_t number : sampled_numbers(range, sample_of_rank(m_plan.n_prisms, ranks))) {
      sample.push_back(item_of(block, range.begin, number));
    }
  });
  sample = gather_everywhere(communicator, sample);
  Lists lists;
  on_all_ranks(communicator, [&] {
    lists =
        lists_of(block, m_plan.computed, range.begin, SpaceParts(std::move(sample), ranks, &m_parts_of_points), ranks);
  });
  lists = exchange_lists(std::move(lists), communicator);
  on_all_ranks(communicator, [&] { block = block_of(lists, m_plan.computed); });
  return block;
}

void EssentialWork::prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) {
  m_points = points;
  on_all_ranks(communicator, [&] { share_out_points(communicator.size()); });
  PrismBlock block = fetch_prisms(prisms, communicator);
  on_all_ranks(communicator, [&] { make_room(m_mine.size()); });
  for_each_operator([&](const Plan& plan) {
    const bool is_last = plan.computed == fields_of(sets_of(m_plan.computed).back());
    PrismBlock mine;
    on_all_ranks(communicator, [&] { mine = is_last ? std::move(block) : block; });
    m_operators.push_back(evaluate_trees({plan, m_sizes, prisms, m_points, m_mine}, std::move(mine), communicator));
  });
}

WorkDone EssentialWork::take() {
  WorkDone done = OperatorWork::take();
  done.mine.points = m_places;
  done.order = std::move(m_order);
  done.as_planned = false;
  return done;
}

}  // namespace prismfield::fast
