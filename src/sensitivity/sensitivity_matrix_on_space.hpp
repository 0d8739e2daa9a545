// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include <prismfield/make_operator.hpp>

#include "compute/operator_plan.hpp"
#include "compute/vector_functors.hpp"
#include "sensitivity/sensitivity_matrix.hpp"
#include "sensitivity/write_rows.hpp"

/// The body of make_sensitivity_matrix_on; instantiated in one source file a space.
namespace prismfield {

template <class Space>
class SensitivityMatrixOnSpace final : public SensitivityMatrix {
public:
  SensitivityMatrixOnSpace(const PrismSource& prisms, const Points& points, const Request& request,
                           const StorageSettings& settings, const Communicator& communicator)
      : m_ranks(communicator.split(0)) {
    const Kokkos::Timer timer;
    m_operator = make_operator(m_space, prisms, points, request, settings, communicator, &m_choice);
    m_space.fence("prismfield: sensitivities made");
    m_build_seconds = slowest(timer.seconds());
    on_all_ranks(m_ranks, [&] {
      allocate_or_fail([&] {
        m_density = Vector(view_label("densities"), static_cast<std::size_t>(m_operator->columns()));
        m_fields = Vector(view_label("fields"), static_cast<std::size_t>(m_operator->rows()));
      });
    });
  }

  [[nodiscard]] const Plan& plan() const noexcept override { return m_operator->plan(); }
  [[nodiscard]] double error_bound() const noexcept override { return m_operator->error_bound(); }

  void apply(std::span<const double> density, std::span<double> fields) override {
    check(density.size(), fields.size());
    copy_in(m_space, density, m_density);
    m_operator->apply(m_space, m_density, m_fields);
    copy_out(m_space, m_fields, fields);
  }
  void apply_transpose(std::span<const double> fields, std::span<double> density) override {
    check(density.size(), fields.size());
    copy_in(m_space, fields, m_fields);
    m_operator->apply_transpose(m_space, m_fields, m_density);
    copy_out(m_space, m_density, density);
  }

  [[nodiscard]] ProductSeconds product_seconds() override {
    Kokkos::deep_copy(m_space, m_density, 1.0);
    Kokkos::deep_copy(m_space, m_fields, 1.0);
    ProductSeconds seconds;
    seconds.apply = least_seconds([&] { m_operator->apply(m_space, m_density, m_fields); });
    seconds.transpose = least_seconds([&] { m_operator->apply_transpose(m_space, m_fields, m_density); });
    return seconds;
  }

  void write(RowSink& sink) override {
    on_all_ranks(m_ranks, [&] { write_rows(m_space, *m_operator, sink); });
  }

private:
  using Vector = typename Operator<Space>::Vector;

  [[nodiscard]] double slowest(double seconds) const {
    const std::vector<double> all = m_ranks.gather_everywhere(seconds);
    return *std::max_element(all.begin(), all.end());
  }

  /// Every rank makes as many calls, for about half a second.
  template <class F>
  double least_seconds(const F& f) {
    constexpr double enough = 0.5;
    constexpr int most_calls = 20;
    double least = 0, all = 0;
    for (int call = 0; call < most_calls && all < enough; ++call) {
      m_space.fence("prismfield: before what is timed");
      m_ranks.barrier();
      const Kokkos::Timer timer;
      f();
      m_space.fence("prismfield: timed");
      const double seconds = std::max(slowest(timer.seconds()), 1e-9);
      least = call == 0 ? seconds : std::min(least, seconds);
      all += seconds;
    }
    return least;
  }

  void check(std::size_t n_densities, std::size_t n_fields) const {
    on_all_ranks(m_ranks, [&] {
      check_length("density", n_densities, m_operator->columns());
      check_length("fields", n_fields, m_operator->rows());
    });
  }

  Space m_space;
  Communicator m_ranks;
  std::unique_ptr<Operator<Space>> m_operator;
  Vector m_density, m_fields;
};

template <class ExecutionSpace>
std::unique_ptr<SensitivityMatrix> make_sensitivity_matrix_on(const PrismSource& prisms, const Points& points,
                                                              const Request& request, const StorageSettings& settings,
                                                              const Communicator& communicator) {
  return std::make_unique<SensitivityMatrixOnSpace<ExecutionSpace>>(prisms, points, request, settings, communicator);
}

}  // namespace prismfield
