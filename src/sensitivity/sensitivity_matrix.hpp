// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <prismfield/communicator.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/row_store.hpp>
#include <prismfield/storage.hpp>

#include "sensitivity/storage_choice.hpp"

namespace prismfield {

/// Seconds of a product with G and of one with its transposed, of the slowest rank.
struct ProductSeconds {
  double apply = 0, transpose = 0;
};

/// The operator that make_operator() makes, for callers that know nothing of Kokkos: vectors are the host's.
class SensitivityMatrix {
public:
  virtual ~SensitivityMatrix() = default;

  /// How G is kept, and what it took to make it.
  [[nodiscard]] const StorageChoice& choice() const noexcept { return m_choice; }
  [[nodiscard]] double build_seconds() const noexcept { return m_build_seconds; }
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;
  [[nodiscard]] virtual double error_bound() const noexcept = 0;

  /// fields = G density: all columns to this rank's rows, as Operator has them. Collective.
  virtual void apply(std::span<const double> density, std::span<double> fields) = 0;
  /// density = G' fields. Collective.
  virtual void apply_transpose(std::span<const double> fields, std::span<double> density) = 0;
  /// Of a few products of each kind the fastest, vectors being in the space's memory; where one takes long there is
  /// one. The same on every rank. Collective.
  [[nodiscard]] virtual ProductSeconds product_seconds() = 0;
  /// Hands this rank's rows to a sink. Collective.
  virtual void write(RowSink& sink) = 0;

protected:
  StorageChoice m_choice;
  double m_build_seconds = 0;
};

/// Makes it in request.execution.space; Kokkos must run. As make_operator(). Collective.
[[nodiscard]] std::unique_ptr<SensitivityMatrix> make_sensitivity_matrix(const PrismSource& prisms,
                                                                         const Points& points, const Request& request,
                                                                         const StorageSettings& settings,
                                                                         const Communicator& communicator);

/// The same in one execution space; instantiated in one source file a space.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<SensitivityMatrix> make_sensitivity_matrix_on(const PrismSource& prisms,
                                                                            const Points& points,
                                                                            const Request& request,
                                                                            const StorageSettings& settings,
                                                                            const Communicator& communicator);

}  // namespace prismfield
