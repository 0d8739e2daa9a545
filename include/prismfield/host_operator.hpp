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

/// An operator for callers with vectors on the host, who need not include Kokkos. It computes in
/// request.execution.space and copies vectors there and back; each function is done when it returns. Kokkos must run,
/// started by a Runtime or the program. Units, ranks, factors and errors are those of Operator; n vectors lie one after
/// another.
class HostOperator {
public:
  /// Wraps make_direct_operator(): every product computes G anew. Each rank has the rectangle of G that
  /// request.execution.partition assigns.
  HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
               const Communicator& communicator = {});
  /// Wraps make_operator(): G may be stored. Every rank has all columns and its part of the rows. `choice`, unless
  /// null, receives the choice on this rank.
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
  /// fields = G density, from n times (columns()) to n times (rows()). Collective, as are the functions below.
  void apply(std::span<const double> density, std::span<double> fields, std::int64_t n = 1) {
    apply(1, density, 0, fields, n);
  }
  /// fields = alpha G density + beta fields
  void apply(double alpha, std::span<const double> density, double beta, std::span<double> fields, std::int64_t n = 1);
  /// density = G' fields, from n times (rows()) to n times (columns()).
  void apply_transpose(std::span<const double> fields, std::span<double> density, std::int64_t n = 1) {
    apply_transpose(1, fields, 0, density, n);
  }
  /// density = alpha G' fields + beta density
  void apply_transpose(double alpha, std::span<const double> fields, double beta, std::span<double> density,
                       std::int64_t n = 1);
  /// The diagonal of G' diag(weights) G, from n times (rows()) to n times (columns()).
  void diagonal(std::span<const double> weights, std::span<double> diagonal, std::int64_t n = 1);
  /// Rows of G at some of this rank's points, numbered from 0: (fields().size(), points, columns()). Not collective.
  void entries(IndexRange points, std::span<double> entries);
  /// Inner products over all ranks, equal on each. Collective.
  [[nodiscard]] double dot_fields(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double dot_densities(std::span<const double> a, std::span<const double> b);
  [[nodiscard]] double error_bound() const noexcept;
  [[nodiscard]] const Plan& plan() const noexcept;

  /// The operator of one execution space; only the library and its program use it.
  struct Implementation;
  [[nodiscard]] Implementation& implementation() const noexcept { return *m_implementation; }

private:
  std::unique_ptr<Implementation> m_implementation;
};

}  // namespace prismfield
