// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/distribution.hpp"

#include <algorithm>
#include <utility>

#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
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
  for (std::vector<double>* column : m_columns) {
    std::vector<double> moved;
    agree(communicator, [&] {
      if (!settled) moved.resize(static_cast<std::size_t>(wanted.size()));
    });
    std::vector<double>& target = settled ? *column : moved;
    const auto source_of = [&](IndexRange range) { return column->data() + (range.begin - m_held.begin); };
    const auto target_of = [&](IndexRange range) { return target.data() + (range.begin - wanted.begin); };
    std::vector<Outgoing> sends;
    std::vector<Incoming> receives;
    for (int rank = 0; rank < communicator.size(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const IndexRange from = common(held[r], wanted), to = common(m_held, asked[r]);
      if (rank == me && !settled && from.size() > 0) std::copy_n(source_of(from), from.size(), target_of(from));
      if (all_alike) {
        // along MPI's tree rather than from one rank to each
        const std::int64_t bytes = from.size() * static_cast<std::int64_t>(sizeof(double));
        if (bytes > 0) broadcast_bytes(communicator, target_of(from), bytes, rank);
      } else if (rank != me) {
        if (to.size() > 0) sends.push_back({rank, source_of(to), to.size()});
        if (from.size() > 0) receives.push_back({rank, target_of(from), from.size()});
      }
    }
    if (!all_alike) exchange(communicator, sends, receives);
    if (!settled) column->swap(moved);
  }
  m_held = wanted;
}

std::vector<std::vector<double>> exchange_lists(std::vector<std::vector<double>> lists,
                                                const Communicator& communicator) {
  const auto me = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<double>> received(lists.size());
  // lengths are whole numbers, exact as doubles
  std::vector<double> sizes(lists.size()), lengths(lists.size());
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  const auto for_others = [&](const auto& f) {
    sends.clear();
    receives.clear();
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
      if (rank != me) f(rank, static_cast<int>(rank));
    }
    exchange(communicator, sends, receives);
  };
  for_others([&](std::size_t i, int rank) {
    sizes[i] = static_cast<double>(lists[i].size());
    sends.push_back({rank, &sizes[i], 1});
    receives.push_back({rank, &lengths[i], 1});
  });
  agree(communicator, [&] {
    for (std::size_t i = 0; i < lists.size(); ++i) received[i].resize(static_cast<std::size_t>(lengths[i]));
  });
  for_others([&](std::size_t i, int rank) {
    sends.push_back({rank, lists[i].data(), static_cast<std::int64_t>(lists[i].size())});
    receives.push_back({rank, received[i].data(), static_cast<std::int64_t>(received[i].size())});
  });
  received[me] = std::move(lists[me]);
  return received;
}

}  // namespace prismfield
