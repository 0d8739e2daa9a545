// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <span>

#include <prismfield/host_operator.hpp>

namespace prismfield {

/// A HostOperator in one execution space.
struct HostOperator::Implementation {
  virtual ~Implementation() = default;
  virtual void apply(std::span<const double> density, std::span<double> fields) = 0;
  virtual void apply_transpose(std::span<const double> fields, std::span<double> density) = 0;
  virtual void diagonal(std::span<const double> weights, std::span<double> diagonal) = 0;
  virtual void entries(IndexRange points, std::span<double> entries) = 0;
  virtual double dot_fields(std::span<const double> a, std::span<const double> b) = 0;
  virtual double dot_densities(std::span<const double> a, std::span<const double> b) = 0;
  [[nodiscard]] virtual FieldList fields() const noexcept = 0;
  [[nodiscard]] virtual IndexRange points() const noexcept = 0;
  [[nodiscard]] virtual IndexRange prisms() const noexcept = 0;
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;
  [[nodiscard]] virtual double error_bound() const noexcept = 0;
};

/// In an execution space that was built; without `settings` a DirectOperator, cut as the request says. Instantiated in
/// one source file a space.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<HostOperator::Implementation> make_host_operator(
    const PrismSource& prisms, const Points& points, const Request& request, const StorageSettings* settings,
    const Communicator& communicator, StorageChoice* choice);

}  // namespace prismfield
