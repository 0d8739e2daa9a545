// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <span>

#include <prismfield/host_operator.hpp>

namespace prismfield {

class RowSink;

/// Seconds of a product with G and of one with its transposed, of the slowest rank.
struct ProductSeconds {
  double apply = 0, transpose = 0;
};

/// A HostOperator in one execution space.
struct HostOperator::Implementation {
  virtual ~Implementation() = default;
  virtual void apply(std::span<const double> density, std::span<double> fields) = 0;
  virtual void apply_transpose(std::span<const double> fields, std::span<double> density) = 0;
  virtual void diagonal(std::span<const double> weights, std::span<double> diagonal) = 0;
  virtual void entries(IndexRange points, std::span<double> entries) = 0;
  virtual double dot_fields(std::span<const double> a, std::span<const double> b) = 0;
  virtual double dot_densities(std::span<const double> a, std::span<const double> b) = 0;
  /// Of a few products of each kind the fastest, vectors being in the space's memory; where one takes long there is
  /// one. The same on every rank. Collective.
  [[nodiscard]] virtual ProductSeconds product_seconds() = 0;
  /// Hands this rank's rows to a sink. Collective.
  virtual void write(RowSink& sink) = 0;
  /// What it took to make G, of the slowest rank.
  [[nodiscard]] virtual double build_seconds() const noexcept = 0;
  [[nodiscard]] virtual FieldList fields() const noexcept = 0;
  [[nodiscard]] virtual IndexRange points() const noexcept = 0;
  [[nodiscard]] virtual IndexRange prisms() const noexcept = 0;
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;
  [[nodiscard]] virtual double error_bound() const noexcept = 0;
};

/// In request.execution.space; without `settings` a DirectOperator, cut as the request says. Kokkos must run.
/// Collective.
[[nodiscard]] std::unique_ptr<HostOperator::Implementation> make_host_operator(
    const PrismSource& prisms, const Points& points, const Request& request, const StorageSettings* settings,
    const Communicator& communicator, StorageChoice* choice);

/// The same in one execution space that was built; instantiated in one source file a space.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<HostOperator::Implementation> make_host_operator_on(
    const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
    const StorageSettings* settings, const Communicator& communicator, StorageChoice* choice);

}  // namespace prismfield
