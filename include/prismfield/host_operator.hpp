// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <prismfield/communicator.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// An operator for callers that keep their vectors on the host and need not include Kokkos: computed in
/// request.execution.space, vectors copied there and back, every function done when it returns. Kokkos must run,
/// started by a Runtime or by the program. Shapes, units, ranks and errors as those of Operator.
class HostOperator {
public:
  /// A DirectOperator: G is computed anew in every product. On several ranks each has the rectangle of G that
  /// request.execution.partition says.
  HostOperator(const PrismSource& prisms, const Points& points, const Request& request,
               const Communicator& communicator = {});
  /// What make_operator() makes by these settings: G may be stored. Every rank has all columns and its part of the
  /// rows. `choice`, unless null: what was chosen, of this rank.
  HostOperator(const PrismSource& prisms, const Points& points, const Request& request, const StorageSettings& settings,
               const Communicator& communicator = {}, StorageChoice* choice = nullptr);
  ~HostOperator();
  HostOperator(HostOperator&&) noexcept;
  HostOperator& operator=(HostOperator&&) noexcept;

  [[nodiscard]] FieldList fields() const noexcept;
  [[nodiscard]] IndexRange points() const noexcept;
  [[nodiscard]] IndexRange prisms() const noexcept;
  [[nodiscard]] std::int64_t rows() const noexcept;
  [[nodiscard]] std::int64_t columns() const noexcept;
  /// fields = G density: (columns()) to (rows()). Collective, as the next two.
  void apply(std::span<const double> density, std::span<double> fields);
  /// density = G' fields: (rows()) to (columns()).
  void apply_transpose(std::span<const double> fields, std::span<double> density);
  /// The diagonal of G' diag(weights) G: (rows()) to (columns()).
  void diagonal(std::span<const double> weights, std::span<double> diagonal);
  /// Rows of G at some of this rank's points, numbered from 0: (fields().size(), points, columns()). Not collective.
  void entries(IndexRange points, std::span<double> entries);
  /// Inner products over all ranks, the same on each. Collective.
  [[nodiscard]] double dot_fields(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double dot_densities(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double error_bound() const noexcept;
  [[nodiscard]] const Plan& plan() const noexcept;

  /// One execution space's; for the library itself.
  struct Implementation;

private:
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace prismfield
