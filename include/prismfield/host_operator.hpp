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
/// started by a Runtime or by the program. Units, ranks, factors and errors as those of Operator; n vectors lie one
/// behind another.
class HostOperator {
public:
  /// What make_direct_operator() makes: G is computed anew in every product. On several ranks each has the rectangle of
  /// G that request.execution.partition says.
  HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
               const Communicator& communicator = {});
  /// What make_operator() makes by these settings: G may be stored. Every rank has all columns and its part of the
  /// rows. `choice`, unless null: what was chosen, of this rank.
  HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
               const StorageSettings& settings, const Communicator& communicator = {}, StorageChoice* choice = nullptr);
  ~HostOperator();
  HostOperator(HostOperator&&) noexcept;
  HostOperator& operator=(HostOperator&&) noexcept;

  [[nodiscard]] FieldList fields() const noexcept;
  [[nodiscard]] IndexRange points() const noexcept;
  [[nodiscard]] IndexRange prisms() const noexcept;
  [[nodiscard]] std::int64_t rows() const noexcept;
  [[nodiscard]] std::int64_t columns() const noexcept;
  /// fields = G density: n times (columns()) to n times (rows()). Collective, as what follows.
  void apply(std::span<const double> density, std::span<double> fields, std::int64_t n = 1) {
    apply(1, density, 0, fields, n);
  }
  /// fields = alpha G density + beta fields
  void apply(double alpha, std::span<const double> density, double beta, std::span<double> fields, std::int64_t n = 1);
  /// density = G' fields: n times (rows()) to n times (columns()).
  void apply_transpose(std::span<const double> fields, std::span<double> density, std::int64_t n = 1) {
    apply_transpose(1, fields, 0, density, n);
  }
  /// density = alpha G' fields + beta density
  void apply_transpose(double alpha, std::span<const double> fields, double beta, std::span<double> density,
                       std::int64_t n = 1);
  /// The diagonal of G' diag(weights) G: n times (rows()) to n times (columns()).
  void diagonal(std::span<const double> weights, std::span<double> diagonal, std::int64_t n = 1);
  /// Rows of G at some of this rank's points, numbered from 0: (fields().size(), points, columns()). Not collective.
  void entries(IndexRange points, std::span<double> entries);
  /// Inner products over all ranks, the same on each. Collective.
  [[nodiscard]] double dot_fields(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double dot_densities(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double error_bound() const noexcept;
  [[nodiscard]] const Plan& plan() const noexcept;

  /// One execution space's; for the library and its program.
  struct Implementation;
  [[nodiscard]] Implementation& implementation() const noexcept { return *m_implementation; }

private:
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace prismfield
