// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "operators/host_operator.hpp"

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/make_operator.hpp>

#include "compute/operator_plan.hpp"
#include "compute/vector_functors.hpp"
#include "engine/with_space.hpp"
#include "operators/stored/file_operator.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

namespace {

template <class ExecutionSpace>
class HostOperatorOnSpace final : public HostOperator::Implementation {
public:
  HostOperatorOnSpace(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
                      const Request& request, const StorageSettings* settings, const Communicator& communicator)
      : m_space(space), m_ranks(split(communicator, 0)) {
    const Kokkos::Timer timer;
    m_operator = settings != nullptr
                     ? make_operator(m_space, prisms, points, request, *settings, communicator, &facts.choice)
                     : make_direct_operator(m_space, prisms, points, request, communicator);
    m_space.fence("prismfield: operator made");
    facts = {m_operator->fields(),      m_operator->points(),  m_operator->prisms(),
             m_operator->rows(),        m_operator->columns(), m_operator->plan(),
             m_operator->error_bound(), facts.choice,          slowest(timer.seconds())};
    on_all_ranks(m_ranks, [&] { make_room(1); });
    note_memory();
  }

  void multiply(Product product, double alpha, std::span<const double> in, double beta, std::span<double> out,
                std::int64_t n) override {
    const std::pair<const char*, const char*> keys = keys_of(product);
    const bool to_fields = product == Product::apply;
    on_all_ranks(m_ranks, [&] {
      check_length(keys.first, in.size(), n * (to_fields ? facts.columns : facts.rows));
      check_length(keys.second, out.size(), n * (to_fields ? facts.rows : facts.columns));
      make_room(n);
    });
    const auto vectors = static_cast<std::size_t>(n);
    const Vectors density(m_densities.data(), static_cast<std::size_t>(facts.columns), vectors);
    const Vectors of_fields(m_fields.data(), static_cast<std::size_t>(facts.rows), vectors);
    const Vectors& from = to_fields ? density : of_fields;
    const Vectors& to = to_fields ? of_fields : density;
    copy_in(m_space, in, flat(from));
    if (beta != 0) copy_in(m_space, out, flat(to));
    switch (product) {
      case Product::apply: m_operator->apply(m_space, alpha, from, beta, to); break;
      case Product::transpose: m_operator->apply_transpose(m_space, alpha, from, beta, to); break;
      case Product::diagonal: m_operator->diagonal(m_space, alpha, from, beta, to); break;
    }
    copy_out(m_space, flat(to), out);
    note_memory();
  }
  void entries(IndexRange points, std::span<double> entries) override {
    check_range(points, facts.points.size());
    check_length("entries", entries.size(), facts.fields.size() * points.size() * facts.columns);
    using Entries = typename Operator<ExecutionSpace>::Entries;
    if constexpr (is_device_space<ExecutionSpace>) {
      const Entries there(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("entries")), facts.fields.size(),
                          points.size(), facts.columns);
      m_operator->entries(m_space, points, there);
      copy_out(m_space, Vector(there.data(), there.size()), entries);
    } else {
      m_operator->entries(m_space, points, Entries(entries.data(), facts.fields.size(), points.size(), facts.columns));
      m_space.fence("prismfield: entries computed");
    }
  }
  double dot_fields(std::span<const double> a, std::span<const double> b) override {
    const auto [x, y] = pair_of(m_fields, facts.rows, a, b);
    return m_operator->dot_fields(m_space, x, y);
  }
  double dot_densities(std::span<const double> a, std::span<const double> b) override {
    const auto [x, y] = pair_of(m_densities, facts.columns, a, b);
    return m_operator->dot_densities(m_space, x, y);
  }
  [[nodiscard]] ProductSeconds product_seconds() override {
    // a product for which there was no memory has left none
    on_all_ranks(m_ranks, [&] { make_room(1); });
    Kokkos::deep_copy(m_space, m_densities, 1.0);
    Kokkos::deep_copy(m_space, m_fields, 1.0);
    ProductSeconds seconds;
    const Vector density(m_densities.data(), static_cast<std::size_t>(facts.columns));
    const Vector of_fields(m_fields.data(), static_cast<std::size_t>(facts.rows));
    seconds.apply = fastest([&] { m_operator->apply(m_space, density, of_fields); });
    seconds.transpose = fastest([&] { m_operator->apply_transpose(m_space, of_fields, density); });
    return seconds;
  }
  void write(RowSink& sink) override {
    on_all_ranks(m_ranks, [&] { write_rows(m_space, *m_operator, sink); });
  }

private:
  using Vector = typename Operator<ExecutionSpace>::Vector;
  using Vectors = typename Operator<ExecutionSpace>::Vectors;

  /// What a product's vectors are called.
  [[nodiscard]] static std::pair<const char*, const char*> keys_of(Product product) {
    if (product == Product::apply) return {"density", "fields"};
    return product == Product::transpose ? std::pair{"fields", "density"} : std::pair{"weights", "diagonal"};
  }
  [[nodiscard]] static Vector flat(const Vectors& vectors) { return Vector(vectors.data(), vectors.size()); }

  /// For n vectors on both sides. Throws AllocationFailure.
  void make_room(std::int64_t n) {
    grow(m_densities, "densities", n * facts.columns);
    grow(m_fields, "fields", n * facts.rows);
  }
  /// Of the operator as it is now, with its vectors here.
  void note_memory() noexcept {
    memory_of_space(facts.plan) = memory_of_space(m_operator->plan()) +
                                  static_cast<std::int64_t>((m_densities.size() + m_fields.size()) * sizeof(double));
  }
  static void grow(Vector& vector, const char* label, std::int64_t length) {
    if (static_cast<std::int64_t>(vector.size()) >= length) return;
    allocate_or_fail([&] {
      vector = Vector();
      vector = Vector(view_label(label), static_cast<std::size_t>(length));
    });
  }

  /// Two vectors of this length in the space's memory, in `room`. Throws on all ranks when a length is wrong on any.
  std::pair<Vector, Vector> pair_of(Vector& room, std::int64_t length, std::span<const double> a,
                                    std::span<const double> b) const {
    on_all_ranks(m_ranks, [&] {
      check_length("a", a.size(), length);
      check_length("b", b.size(), length);
      grow(room, "vectors", 2 * length);
    });
    const std::pair<Vector, Vector> both{Vector(room.data(), a.size()), Vector(room.data() + a.size(), b.size())};
    copy_in(m_space, a, both.first);
    copy_in(m_space, b, both.second);
    return both;
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
  std::unique_ptr<Operator<ExecutionSpace>> m_operator;
  /// of as many vectors as there were at most
  Vector m_densities, m_fields;
};

std::unique_ptr<HostOperator::Implementation> make(const PrismSource& prisms, const PointColumns& points,
                                                   const Request& request, const StorageSettings* settings,
                                                   const Communicator& communicator) {
  return with_space(request.execution.space, [&](const auto& space) -> std::unique_ptr<HostOperator::Implementation> {
    return std::make_unique<HostOperatorOnSpace<std::decay_t<decltype(space)>>>(space, prisms, points, request,
                                                                                settings, communicator);
  });
}

}  // namespace

HostOperator::HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
                           const Communicator& communicator)
    : m_implementation(make(prisms, points, request, nullptr, communicator)) {}
HostOperator::HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
                           const StorageSettings& settings, const Communicator& communicator, StorageChoice* choice)
    : m_implementation(make(prisms, points, request, &settings, communicator)) {
  if (choice != nullptr) *choice = m_implementation->facts.choice;
}
HostOperator::~HostOperator() = default;
HostOperator::HostOperator(HostOperator&&) noexcept = default;
HostOperator& HostOperator::operator=(HostOperator&&) noexcept = default;

FieldList HostOperator::fields() const noexcept { return m_implementation->facts.fields; }
IndexRange HostOperator::points() const noexcept { return m_implementation->facts.points; }
IndexRange HostOperator::prisms() const noexcept { return m_implementation->facts.prisms; }
std::int64_t HostOperator::rows() const noexcept { return m_implementation->facts.rows; }
std::int64_t HostOperator::columns() const noexcept { return m_implementation->facts.columns; }
void HostOperator::apply(double alpha, std::span<const double> density, double beta, std::span<double> fields,
                         std::int64_t n) {
  m_implementation->multiply(Implementation::Product::apply, alpha, density, beta, fields, n);
}
void HostOperator::apply_transpose(double alpha, std::span<const double> fields, double beta, std::span<double> density,
                                   std::int64_t n) {
  m_implementation->multiply(Implementation::Product::transpose, alpha, fields, beta, density, n);
}
void HostOperator::diagonal(std::span<const double> weights, std::span<double> diagonal, std::int64_t n) {
  m_implementation->multiply(Implementation::Product::diagonal, 1, weights, 0, diagonal, n);
}
void HostOperator::entries(IndexRange points, std::span<double> entries) { m_implementation->entries(points, entries); }
double HostOperator::dot_fields(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_fields(a, b);
}
double HostOperator::dot_densities(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_densities(a, b);
}
double HostOperator::error_bound() const noexcept { return m_implementation->facts.error_bound; }
const Plan& HostOperator::plan() const noexcept { return m_implementation->facts.plan; }

}  // namespace prismfield
