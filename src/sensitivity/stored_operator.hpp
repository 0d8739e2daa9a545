// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <prismfield/operator.hpp>
#include <prismfield/storage.hpp>

#include "sensitivity/stored_bytes.hpp"

namespace prismfield {

/// G whose entries are computed once and kept in the space's memory, in tiles of columns. Products add in an order that
/// does not change with the number of threads; entries are those of DirectOperator::entries, rounded to the precision,
/// sums are double.
template <class ExecutionSpace>
class StoredOperator final : public Operator<ExecutionSpace> {
public:
  using typename Operator<ExecutionSpace>::Vector;
  using typename Operator<ExecutionSpace>::ConstVector;
  using typename Operator<ExecutionSpace>::Entries;

  /// Computes every entry. As DirectOperator's; request.execution.partition is taken as points. Throws RunError when
  /// memory, or `memory_limit` in bytes, does not suffice, with the remedy (AgreedFailure on several ranks).
  /// Collective.
  StoredOperator(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
                 StoredPrecision precision, const Communicator& communicator = {},
                 const std::optional<std::int64_t>& memory_limit = std::nullopt);
  ~StoredOperator() override;

  [[nodiscard]] FieldList fields() const noexcept override;
  [[nodiscard]] IndexRange points() const noexcept override;
  [[nodiscard]] IndexRange prisms() const noexcept override;
  void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) override;
  void apply_transpose(const ExecutionSpace& space, const ConstVector& fields, const Vector& density) override;
  void diagonal(const ExecutionSpace& space, const ConstVector& weights, const Vector& diagonal) override;
  /// In one pass over G for every four vectors, each as it is alone.
  void apply_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& density,
                  const Vector& fields) override;
  void apply_transpose_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& fields,
                            const Vector& density) override;
  void diagonal_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& weights,
                     const Vector& diagonal) override;
  void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override;
  [[nodiscard]] double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  [[nodiscard]] double dot_densities(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  /// Of the direct operator and of rounding together. float16 has more where an entry is below 2^-18 of the largest of
  /// its row within its tile of columns: 2^-29 of that.
  [[nodiscard]] double error_bound() const noexcept override;
  [[nodiscard]] const Plan& plan() const noexcept override;
  /// What is kept of this rank's G.
  [[nodiscard]] std::int64_t bytes() const noexcept;

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

}  // namespace prismfield
