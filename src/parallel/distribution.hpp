// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield {

class Communicator;

/// Values [range.begin, range.end) of a column that come from rank `from`.
struct Supply {
  int from = 0;
  IndexRange range;
};

/// From which ranks one rank gets the values of `wanted`, in ascending order: from itself what it holds, the rest from
/// the lowest rank that holds it. `held`: of every rank. Throws RunError when nobody holds a value.
[[nodiscard]] std::vector<Supply> supplies(const std::vector<IndexRange>& held, IndexRange wanted, int rank);

/// Columns of which each rank holds a range, all of one length.
class DistributedColumns {
public:
  /// Columns of which this rank holds the values of `held`; they must outlive this object.
  DistributedColumns(std::vector<std::vector<double>*> columns, IndexRange held);

  [[nodiscard]] IndexRange held() const noexcept { return m_held; }
  /// Moves values between ranks so that this one holds `wanted`, one column after the other: beside the columns, memory
  /// for one new column is needed. Nothing is copied on a rank that holds `wanted` already. Collective. Throws
  /// AgreedFailure on every rank when one has no memory for its values.
  void hold(IndexRange wanted, const Communicator& communicator);

private:
  std::vector<std::vector<double>*> m_columns;
  IndexRange m_held;
};

}  // namespace prismfield
