// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <span>

#include <prismfield/communicator.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/row_store.hpp>
#include <prismfield/storage.hpp>

#include "sensitivity/host_operator.hpp"

namespace prismfield {

/// A HostOperator that measures itself and writes its rows, for the command `sensitivity`.
class SensitivityMatrix {
public:
  /// Made in request.execution.space; Kokkos must run. As make_operator(). Collective, as what follows.
  SensitivityMatrix(const PrismSource& prisms, const Points& points, const Request& request,
                    const StorageSettings& settings, const Communicator& communicator)
      : m_operator(make_host_operator(prisms, points, request, &settings, communicator, &m_choice)) {}

  /// How G is kept, and what it took to make it.
  [[nodiscard]] const StorageChoice& choice() const noexcept { return m_choice; }
  [[nodiscard]] double build_seconds() const noexcept { return m_operator->build_seconds(); }
  [[nodiscard]] const Plan& plan() const noexcept { return m_operator->plan(); }
  [[nodiscard]] double error_bound() const noexcept { return m_operator->error_bound(); }

  /// fields = G density: all columns to this rank's rows, as Operator has them.
  void apply(std::span<const double> density, std::span<double> fields) { m_operator->apply(density, fields); }
  /// density = G' fields.
  void apply_transpose(std::span<const double> fields, std::span<double> density) {
    m_operator->apply_transpose(fields, density);
  }
  /// Of a few products of each kind the fastest, vectors being in the space's memory; where one takes long there is
  /// one. The same on every rank.
  [[nodiscard]] ProductSeconds product_seconds() { return m_operator->product_seconds(); }
  /// Hands this rank's rows to a sink.
  void write(RowSink& sink) { m_operator->write(sink); }

private:
  StorageChoice m_choice;
  std::unique_ptr<HostOperator::Implementation> m_operator;
};

}  // namespace prismfield
