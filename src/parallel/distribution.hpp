// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield {

class Communicator;

/// Columns of which each rank holds a range, all of one length.
class DistributedColumns {
public:
  /// Columns of which this rank holds the values of `held`; they must outlive this object.
  DistributedColumns(std::vector<std::vector<double>*> columns, IndexRange held);

  [[nodiscard]] IndexRange held() const noexcept { return m_held; }
  /// Moves values between ranks so that this one holds `wanted`, one column after the other: beside the columns, memory
  /// for one new column is needed. No two ranks hold the same values before, nobody wants what none holds. Nothing is
  /// copied on a rank that holds `wanted` already. Collective. Throws AgreedFailure on every rank when one has no
  /// memory for its values.
  void hold(IndexRange wanted, const Communicator& communicator);

private:
  std::vector<std::vector<double>*> m_columns;
  IndexRange m_held;
};

/// Every rank's list for this one, by ranks; `lists`: this rank's for each, its own included. Collective. Throws
/// AgreedFailure on every rank when one has no memory for what it gets.
[[nodiscard]] std::vector<std::vector<double>> exchange_lists(std::vector<std::vector<double>> lists,
                                                              const Communicator& communicator);

}  // namespace prismfield
