// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <prismfield/operator.hpp>

#include "base/interrupt.hpp"
#include "compute/apply_context.hpp"
#include "compute/operator_plan.hpp"
#include "compute/vector_functors.hpp"
#include "engine/staged_prisms.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

/// What the operators of the library share: rectangles of G over ranks, checks of Views, factors, sums over ranks and
/// inner products; and the fields of the prisms as they are. An operator itself multiplies this rank's rectangle.
template <class ExecutionSpace>
class RankOperator : public Operator<ExecutionSpace> {
public:
  using Base = Operator<ExecutionSpace>;
  using typename Base::ConstVector;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Memory;
  using typename Base::Vector;
  using typename Base::Vectors;

  [[nodiscard]] std::int64_t rows() const noexcept final { return m_fields.size() * points().size(); }
  [[nodiscard]] std::int64_t columns() const noexcept final { return prisms().size(); }
  [[nodiscard]] FieldList fields() const noexcept final { return m_fields; }
  [[nodiscard]] IndexRange points() const noexcept final { return m_plan.points(); }
  [[nodiscard]] IndexRange prisms() const noexcept final { return m_plan.prisms(); }
  [[nodiscard]] double error_bound() const noexcept final { return m_error_bound; }
  [[nodiscard]] const Plan& plan() const noexcept final { return m_plan; }

  void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) final {
    check_range(points, this->points().size());
    check_length("entries, fields", entries.extent(0), m_fields.size());
    check_length("entries, points", entries.extent(1), points.size());
    check_length("entries, prisms", entries.extent(2), columns());
    if (entries.size() > 0) read_entries(space, points, entries);
  }

  [[nodiscard]] double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) final {
    return dot(space, m_same_prisms, a, b, rows());
  }
  [[nodiscard]] double dot_densities(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) final {
    return dot(space, m_same_points, a, b, columns());
  }

  /// The fields of this rank's part of the prisms, with the densities that they have or, for magnetic fields, all with
  /// the amount 1, without those of other ranks. `prisms`: of which the operator was made. Each rank by itself; waits.
  /// Throws AllocationFailure and what the context's pause throws.
  void evaluate(const ExecutionSpace& space, const PrismSource& prisms, RankFields& fields,
                const ApplyContext& context) {
    find_touching(fields.contact);
    m_pause = context.pause;
    const Vector amounts = amounts_as_they_are(space, prisms);
    fill_on_host(space, fields.values, rows(), [&](double* to) {
      multiply_rows(space, ConstVectors(amounts.data(), amounts.size(), 1), Vectors(to, rows(), 1));
    });
    m_pause = nullptr;
  }

protected:
  using Indices = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  /// `plan`: of this rank; grows in what it says of memory. Collective.
  RankOperator(const Communicator& communicator, FieldList fields, const Plan& plan, double error_bound)
      : m_fields(fields),
        m_plan(plan),
        m_error_bound(error_bound),
        m_all_ranks(split(communicator, 0)),
        m_same_points(split(communicator, communicator.rank() / plan.prism_parts)),
        m_same_prisms(split(communicator, communicator.rank() % plan.prism_parts)) {}

  // Of this rank's rectangle. Vectors are of the lengths and numbers that they need to have, one behind another; the
  // output is defined by the product alone.

  /// fields = G density
  virtual void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) = 0;
  /// density = G' fields
  virtual void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) = 0;
  /// diagonal of G' diag(weights) G
  virtual void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) = 0;
  /// Bytes that the operator itself holds for products, in the space's memory, of as many vectors as there were at
  /// most.
  [[nodiscard]] virtual std::int64_t scratch_bytes() const noexcept { return 0; }
  /// See RankFields::contact.
  virtual void find_touching(std::vector<double>& /*contact*/) const {}
  /// Called by products between launches, with the fraction that is done; may throw.
  void pause(double done_fraction) const {
    if (m_pause) return m_pause(done_fraction);
    throw_between_launches();
  }
  /// At least one of them.
  virtual void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) = 0;

  void multiply(const ExecutionSpace& space, double alpha, const ConstVectors& density, double beta,
                const Vectors& fields) final {
    product(space, alpha, {"density", density, columns()}, beta, {"fields", fields, rows()}, m_same_points,
            [&](const ConstVectors& in, const Vectors& out) { multiply_rows(space, in, out); });
  }
  void multiply_transposed(const ExecutionSpace& space, double alpha, const ConstVectors& fields, double beta,
                           const Vectors& density) final {
    product(space, alpha, {"fields", fields, rows()}, beta, {"density", density, columns()}, m_same_prisms,
            [&](const ConstVectors& in, const Vectors& out) { multiply_columns(space, in, out); });
  }
  void add_diagonal(const ExecutionSpace& space, double alpha, const ConstVectors& weights, double beta,
                    const Vectors& diagonal) final {
    product(space, alpha, {"weights", weights, rows()}, beta, {"diagonal", diagonal, columns()}, m_same_prisms,
            [&](const ConstVectors& in, const Vectors& out) { sum_squares(space, in, out); });
  }

  /// Views of a product, what messages call them, and the length that they need.
  template <class View>
  struct Named {
    const char* key;
    const View& vectors;
    std::int64_t length;
    void check() const { check_length(key, vectors.extent(0), length); }
    void check_apart_from(const ConstVectors& input) const {
      check_apart(key, vectors.data(), reach(vectors), input.data(), reach(input));
    }
  };

  /// out = alpha (the sum over `ranks` of what f(in, product) makes) + beta out. Collective.
  template <class F>
  void product(const ExecutionSpace& space, double alpha, const Named<ConstVectors>& in, double beta,
               const Named<Vectors>& out, const Communicator& ranks, const F& f) {
    const bool in_place = alpha == 1 && beta == 0 && out.vectors.span_is_contiguous();
    Vectors product = out.vectors;
    HostMirror on_host;
    on_all_ranks(m_all_ranks, [&] {
      in.check();
      out.check();
      check_vectors(out.key, out.vectors.extent(1), in.key, in.vectors.extent(1));
      out.check_apart_from(in.vectors);
      throw_between_launches();
      if (!in_place) product = scratch(m_product, out.vectors);
      ConstVectors from = in.vectors;
      if (!from.span_is_contiguous()) {
        const Vectors copy = scratch(m_input, from);
        Kokkos::deep_copy(space, copy, from);
        from = copy;
      }
      f(from, product);
      count_scratch();
      // what fails between the ranks' messages would leave the others waiting
      if (ranks.size() > 1) {
        allocate_or_fail([&] { on_host = Kokkos::create_mirror_view(Kokkos::HostSpace(), flat(product)); });
      }
    });
    sum_over_ranks(space, ranks, flat(product), on_host);
    if (in_place) return;
    for (std::size_t v = 0; v < product.extent(1); ++v) {
      add_vectors<ExecutionSpace>(space, alpha, Kokkos::subview(product, Kokkos::ALL, v), beta,
                                  Kokkos::subview(out.vectors, Kokkos::ALL, v));
    }
  }

  /// Updates the plan's memory to the present scratch of products.
  void count_scratch() noexcept {
    const std::int64_t now =
        scratch_bytes() + static_cast<std::int64_t>((m_product.size() + m_input.size()) * sizeof(double));
    memory_of_space(m_plan) += now - m_counted;
    m_counted = now;
  }

  /// Numbers from the first to the last one of these vectors, what lies between them included.
  template <class View>
  [[nodiscard]] static std::size_t reach(const View& vectors) {
    return vectors.size() == 0 ? 0 : (vectors.extent(1) - 1) * vectors.stride(1) + vectors.extent(0);
  }

  /// Vectors that lie one behind another, as one.
  [[nodiscard]] static Vector flat(const Vectors& vectors) { return Vector(vectors.data(), vectors.size()); }

  FieldList m_fields;
  Plan m_plan;
  double m_error_bound;
  /// all ranks; those of the same points, whose fields add up; those of the same prisms, whose densities do
  Communicator m_all_ranks, m_same_points, m_same_prisms;

private:
  using HostMirror = decltype(Kokkos::create_mirror_view(Kokkos::HostSpace(), Vector()));

  /// As many numbers as `like` has, out of `room`, which grows. Throws AllocationFailure.
  template <class View>
  static Vectors scratch(Vector& room, const View& like) {
    if (room.size() < like.size()) {
      allocate_or_fail([&] {
        room = Vector();
        room = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("product")), like.size());
      });
    }
    return Vectors(room.data(), like.extent(0), like.extent(1));
  }

  /// (columns())
  [[nodiscard]] Vector amounts_as_they_are(const ExecutionSpace& space, const PrismSource& prisms) const {
    constexpr std::int64_t at_once = 65536;
    Vector amounts;
    allocate_or_fail([&] {
      amounts = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("amounts")),
                       static_cast<std::size_t>(columns()));
    });
    if (has_magnetic(m_fields)) {
      Kokkos::deep_copy(space, amounts, 1.0);
      return amounts;
    }
    PrismBlock block;
    for (IndexRange part = this->prisms(); part.size() > 0; part.begin += block.size()) {
      prisms.read({part.begin, std::min(part.begin + at_once, part.end)}, block);
      const auto first = static_cast<std::size_t>(part.begin - this->prisms().begin);
      copy_in(space, block.density, Kokkos::subview(amounts, std::make_pair(first, first + block.density.size())));
      space.fence("prismfield: densities copied");
    }
    return amounts;
  }

  /// Adds up the values of `ranks`, the same sums on each; waits where there are several. `host`: as many numbers.
  /// Collective over `ranks`.
  static void sum_over_ranks(const ExecutionSpace& space, const Communicator& ranks, const Vector& values,
                             const HostMirror& host) {
    if (ranks.size() == 1) return;
    Kokkos::deep_copy(space, host, values);
    space.fence("prismfield: values on the host");
    sum_everywhere(ranks, host.data(), static_cast<std::int64_t>(host.size()));
    Kokkos::deep_copy(space, values, host);
    space.fence("prismfield: sums in place");
  }

  /// The inner product of vectors of this length, summed over `ranks`; rank 0's value on all ranks, since groups of
  /// ranks may add with other numbers of threads. Collective.
  double dot(const ExecutionSpace& space, const Communicator& ranks, const ConstVector& a, const ConstVector& b,
             std::int64_t length) const {
    double sum = 0;
    on_all_ranks(m_all_ranks, [&] {
      check_length("a", a.extent(0), length);
      check_length("b", b.extent(0), length);
      sum = inner_product(space, a, b);
    });
    sum_everywhere(ranks, &sum, 1);
    broadcast(m_all_ranks, sum);
    return sum;
  }

  Vector m_product, m_input;
  std::function<void(double)> m_pause;
  /// bytes of scratch that the plan tells already
  std::int64_t m_counted = 0;
};

}  // namespace prismfield
