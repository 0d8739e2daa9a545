// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <prismfield/make_operator.hpp>

#include "compute/operator_plan.hpp"
#include "compute/vector_functors.hpp"
#include "parallel/collectives.hpp"
#include "sensitivity/host_operator.hpp"
#include "sensitivity/write_rows.hpp"

/// The bodies of make_host_operator_on; instantiated in one source file a space.
namespace prismfield {

template <class ExecutionSpace>
class HostOperatorOnSpace final : public HostOperator::Implementation {
public:
  HostOperatorOnSpace(const ExecutionSpace& space, const PrismSource& prisms, const Points& points,
                      const Request& request, const StorageSettings* settings, const Communicator& communicator,
                      StorageChoice* choice)
      : m_space(space), m_ranks(split(communicator, 0)) {
    const Kokkos::Timer timer;
    if (settings != nullptr) {
      m_operator = make_operator(m_space, prisms, points, request, *settings, communicator, choice);
    } else {
      m_operator = std::make_unique<DirectOperator<ExecutionSpace>>(m_space, prisms, points, request, communicator);
    }
    m_space.fence("prismfield: operator made");
    m_build_seconds = slowest(timer.seconds());
    on_all_ranks(m_ranks, [&] {
      allocate_or_fail([&] {
        m_densities = Vector(view_label("densities"), static_cast<std::size_t>(m_operator->columns()));
        m_fields = Vector(view_label("fields"), static_cast<std::size_t>(m_operator->rows()));
      });
    });
  }

  void apply(std::span<const double> density, std::span<double> fields) override {
    check("density", density.size(), m_operator->columns(), "fields", fields.size(), m_operator->rows());
    copy_in(m_space, density, m_densities);
    m_operator->apply(m_space, m_densities, m_fields);
    copy_out(m_space, m_fields, fields);
  }
  void apply_transpose(std::span<const double> fields, std::span<double> density) override {
    check("fields", fields.size(), m_operator->rows(), "density", density.size(), m_operator->columns());
    copy_in(m_space, fields, m_fields);
    m_operator->apply_transpose(m_space, m_fields, m_densities);
    copy_out(m_space, m_densities, density);
  }
  void diagonal(std::span<const double> weights, std::span<double> diagonal) override {
    check("weights", weights.size(), m_operator->rows(), "diagonal", diagonal.size(), m_operator->columns());
    copy_in(m_space, weights, m_fields);
    m_operator->diagonal(m_space, m_fields, m_densities);
    copy_out(m_space, m_densities, diagonal);
  }
  void entries(IndexRange points, std::span<double> entries) override {
    check_range(points, m_operator->points().size());
    const std::int64_t n_fields = m_operator->fields().size();
    check_length("entries", entries.size(), n_fields * points.size() * m_operator->columns());
    const typename Operator<ExecutionSpace>::Entries there("prismfield::entries", n_fields, points.size(),
                                                           m_operator->columns());
    m_operator->entries(m_space, points, there);
    copy_out(m_space, Vector(there.data(), there.size()), entries);
  }
  double dot_fields(std::span<const double> a, std::span<const double> b) override {
    check("a", a.size(), m_operator->rows(), "b", b.size(), m_operator->rows());
    copy_in(m_space, a, m_fields);
    copy_in(m_space, b, another(m_more_fields, m_fields));
    return m_operator->dot_fields(m_space, m_fields, m_more_fields);
  }
  double dot_densities(std::span<const double> a, std::span<const double> b) override {
    check("a", a.size(), m_operator->columns(), "b", b.size(), m_operator->columns());
    copy_in(m_space, a, m_densities);
    copy_in(m_space, b, another(m_more_densities, m_densities));
    return m_operator->dot_densities(m_space, m_densities, m_more_densities);
  }
  [[nodiscard]] ProductSeconds product_seconds() override {
    Kokkos::deep_copy(m_space, m_densities, 1.0);
    Kokkos::deep_copy(m_space, m_fields, 1.0);
    ProductSeconds seconds;
    seconds.apply = fastest([&] { m_operator->apply(m_space, m_densities, m_fields); });
    seconds.transpose = fastest([&] { m_operator->apply_transpose(m_space, m_fields, m_densities); });
    return seconds;
  }
  void write(RowSink& sink) override {
    on_all_ranks(m_ranks, [&] { write_rows(m_space, *m_operator, sink); });
  }
  [[nodiscard]] double build_seconds() const noexcept override { return m_build_seconds; }
  [[nodiscard]] FieldList fields() const noexcept override { return m_operator->fields(); }
  [[nodiscard]] IndexRange points() const noexcept override { return m_operator->points(); }
  [[nodiscard]] IndexRange prisms() const noexcept override { return m_operator->prisms(); }
  [[nodiscard]] const Plan& plan() const noexcept override { return m_operator->plan(); }
  [[nodiscard]] double error_bound() const noexcept override { return m_operator->error_bound(); }

private:
  using Vector = typename Operator<ExecutionSpace>::Vector;

  /// Throws on all ranks when a length is wrong on any.
  void check(const char* key, std::size_t length, std::int64_t needed, const char* other_key, std::size_t other_length,
             std::int64_t other_needed) const {
    on_all_ranks(m_ranks, [&] {
      check_length(key, length, needed);
      check_length(other_key, other_length, other_needed);
    });
  }

  /// A second vector, made where it is first needed. On all ranks.
  const Vector& another(Vector& vector, const Vector& like) const {
    on_all_ranks(m_ranks, [&] {
      if (vector.extent(0) == like.extent(0)) return;
      allocate_or_fail([&] { vector = Vector(like.label(), like.extent(0)); });
    });
    return vector;
  }

  [[nodiscard]] double slowest(double seconds) const {
    const std::vector<double> all = gather_everywhere(m_ranks, seconds);
    return *std::max_element(all.begin(), all.end());
  }

  /// Every rank makes as many calls, for about half a second.
  template <class F>
  double fastest(const F& f) {
    constexpr double enough = 0.5;
    constexpr int most_calls = 20;
    double least = 0, all = 0;
    for (int call = 0; call < most_calls && all < enough; ++call) {
      m_space.fence("prismfield: before what is timed");
      barrier(m_ranks);
      const Kokkos::Timer timer;
      f();
      m_space.fence("prismfield: timed");
      const double seconds = std::max(slowest(timer.seconds()), 1e-9);
      least = call == 0 ? seconds : std::min(least, seconds);
      all += seconds;
    }
    return least;
  }

  ExecutionSpace m_space;
  Communicator m_ranks;
  double m_build_seconds = 0;
  std::unique_ptr<Operator<ExecutionSpace>> m_operator;
  Vector m_densities, m_more_densities, m_fields, m_more_fields;
};

template <class ExecutionSpace>
std::unique_ptr<HostOperator::Implementation> make_host_operator_on(
    const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
    const StorageSettings* settings, const Communicator& communicator, StorageChoice* choice) {
  return std::make_unique<HostOperatorOnSpace<ExecutionSpace>>(space, prisms, points, request, settings, communicator,
                                                               choice);
}

}  // namespace prismfield
