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

}  // namespace prismfield
