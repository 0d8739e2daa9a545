// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "sensitivity/compression_report.hpp"
#include "sensitivity/storage_choice.hpp"

namespace prismfield {

/// G as a hierarchical matrix of blocks, for host spaces: dense ones of floats where cells and points are near each
/// other, factors of floats elsewhere, by adaptive cross approximation and singular values. Sums are double, in an
/// order that does not change with the number of threads; all functions are those of one matrix, so that transposed
/// products are those of the transposed, to rounding.
template <class ExecutionSpace>
class CompressedOperator final : public Operator<ExecutionSpace> {
public:
  using typename Operator<ExecutionSpace>::Vector;
  using typename Operator<ExecutionSpace>::ConstVector;
  using typename Operator<ExecutionSpace>::Entries;

  /// Builds it until rows, computed anew at some points of every rank, differ by less than `tolerance` of their norm,
  /// field by field, in themselves and in products with a random and a smooth density. As DirectOperator's;
  /// request.execution.partition is taken as points, and entries are computed in double. `prisms` need not outlive it.
  /// Throws InputError, by the key sensitivity.compression, for a tolerance that is not within the limits above;
  /// RunError when memory does not suffice. Collective.
  CompressedOperator(const ExecutionSpace& space, const PrismSource& prisms, const Points& points,
                     const Request& request, double tolerance, const Communicator& communicator,
                     CompressionReport& report);
  ~CompressedOperator() override;

  /// What it would be for this rank's points, by building it for a sixteenth of them that lie together, with all cells.
  /// Throws as the constructor. Not collective.
  [[nodiscard]] static CompressionSample sample(const ExecutionSpace& space, const PrismSource& prisms,
                                                const Points& points, Request request, double tolerance);

  [[nodiscard]] FieldList fields() const noexcept override;
  [[nodiscard]] IndexRange points() const noexcept override;
  [[nodiscard]] IndexRange prisms() const noexcept override;
  void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) override;
  void apply_transpose(const ExecutionSpace& space, const ConstVector& fields, const Vector& density) override;
  void diagonal(const ExecutionSpace& space, const ConstVector& weights, const Vector& diagonal) override;
  /// Of the compressed matrix.
  void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override;
  [[nodiscard]] double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  [[nodiscard]] double dot_densities(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  /// The tolerance: of products relative to their norm.
  [[nodiscard]] double error_bound() const noexcept override;
  [[nodiscard]] const Plan& plan() const noexcept override;
  /// What this rank's blocks take.
  [[nodiscard]] std::int64_t bytes() const noexcept;

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

/// The operator of a space; for a device InputError, by the key sensitivity.compression. Collective.
template <class S>
[[nodiscard]] std::unique_ptr<Operator<S>> make_compressed_operator(const S& space, const PrismSource& prisms,
                                                                    const Points& points, const Request& request,
                                                                    double tolerance, const Communicator& communicator,
                                                                    CompressionReport& report) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename S::memory_space>::accessible) {
    return std::make_unique<CompressedOperator<S>>(space, prisms, points, request, tolerance, communicator, report);
  } else {
    throw InputError("", "sensitivity.compression",
                     "works in host spaces only in this version: take execution.space: openmp, or compression: none");
  }
}

}  // namespace prismfield
