// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/distribution.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

bool contains(IndexRange range, std::int64_t value) noexcept { return range.begin <= value && value < range.end; }

/// no rank of its own: every value comes from the lowest rank that holds it
constexpr int nobody = -1;

}  // namespace

std::vector<Supply> supplies(const std::vector<IndexRange>& held, IndexRange wanted, int rank) {
  const IndexRange own = rank == nobody ? IndexRange{} : held[static_cast<std::size_t>(rank)];
  std::vector<Supply> found;
  for (std::int64_t at = wanted.begin; at < wanted.end;) {
    Supply next;
    if (contains(own, at)) {
      next = {rank, {at, std::min(own.end, wanted.end)}};
    } else {
      const auto holder = std::find_if(held.begin(), held.end(), [at](IndexRange r) { return contains(r, at); });
      if (holder == held.end()) throw RunError("no rank holds prism " + std::to_string(at));
      next = {static_cast<int>(holder - held.begin()), {at, std::min(holder->end, wanted.end)}};
      if (own.begin > at && own.begin < own.end) next.range.end = std::min(next.range.end, own.begin);
    }
    at = next.range.end;
    found.push_back(next);
  }
  return found;
}

DistributedColumns::DistributedColumns(std::vector<std::vector<double>*> columns, IndexRange held)
    : m_columns(std::move(columns)), m_held(held) {}

void DistributedColumns::hold(IndexRange wanted, const Communicator& communicator) {
  if (wanted.size() <= 0) wanted = {wanted.begin, wanted.begin};
  const std::vector<IndexRange> held = gather_everywhere(communicator, m_held);
  const std::vector<IndexRange> asked = gather_everywhere(communicator, wanted);
  const bool settled = m_held == wanted;
  if (!any(communicator, !settled)) return;

  const int me = communicator.rank();
  const bool all_alike = std::all_of(asked.begin(), asked.end(), [&](IndexRange r) { return r == wanted; });
  // What all want goes along MPI's tree rather than from one rank to each.
  const std::vector<Supply> mine = supplies(held, wanted, all_alike ? nobody : me);
  struct Delivery {
    int to;
    IndexRange range;
  };
  std::vector<Delivery> deliveries;
  for (int to = 0; !all_alike && to < communicator.size(); ++to) {
    const IndexRange theirs = asked[static_cast<std::size_t>(to)];
    if (to == me || common(theirs, m_held).size() == 0) continue;
    for (const Supply& supply : supplies(held, theirs, to)) {
      if (supply.from == me) deliveries.push_back({to, supply.range});
    }
  }

  for (std::vector<double>* column : m_columns) {
    std::vector<double> moved;
    agree(communicator, [&] {
      if (!settled) moved.resize(static_cast<std::size_t>(wanted.size()));
    });
    std::vector<double>& target = settled ? *column : moved;
    const auto source_of = [&](IndexRange range) { return column->data() + (range.begin - m_held.begin); };
    const auto target_of = [&](IndexRange range) { return target.data() + (range.begin - wanted.begin); };
    const auto copy_own = [&](IndexRange range) {
      if (!settled) std::copy_n(source_of(range), range.size(), target_of(range));
    };
    if (all_alike) {
      for (const Supply& supply : mine) {
        if (supply.from == me) copy_own(supply.range);
        broadcast_bytes(communicator, target_of(supply.range),
                        supply.range.size() * static_cast<std::int64_t>(sizeof(double)), supply.from);
      }
    } else {
      std::vector<Outgoing> sends;
      std::vector<Incoming> receives;
      for (const Delivery& d : deliveries) sends.push_back({d.to, source_of(d.range), d.range.size()});
      for (const Supply& s : mine) {
        if (s.from == me) {
          copy_own(s.range);
        } else {
          receives.push_back({s.from, target_of(s.range), s.range.size()});
        }
      }
      exchange(communicator, sends, receives);
    }
    if (!settled) column->swap(moved);
  }
  m_held = wanted;
}

}  // namespace prismfield
