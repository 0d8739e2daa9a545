// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <KokkosBlas1_mult.hpp>

#include "compute/vector_functors.hpp"

namespace prismfield {

template <class Memory>
struct RangeOf {
  Kokkos::View<const double*, Memory> a;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Kokkos::MinMaxScalar<double>& range) const {
    range.min_val = Kokkos::min(range.min_val, a(i));
    range.max_val = Kokkos::max(range.max_val, a(i));
  }
};

inline constexpr std::int64_t terms_of_a_block = 2048;

/// sums(item) = the sum of f(i, id) over a block of terms i, by one thread, eight sums side by side; item = block *
/// n_sums + id.
template <class F, class Memory>
struct SumBlocks {
  F f;
  std::int64_t n, first_block, n_sums;
  Kokkos::View<double*, Memory> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    constexpr int n_lanes = 8;
    const std::int64_t id = item % n_sums;
    const std::int64_t begin = (first_block + item / n_sums) * terms_of_a_block;
    const std::int64_t end = Kokkos::min(begin + terms_of_a_block, n);
    double lane[n_lanes] = {};
    std::int64_t i = begin;
    for (; i + n_lanes <= end; i += n_lanes) {
      for (int k = 0; k < n_lanes; ++k) lane[k] += f(i + k, id);
    }
    for (int k = 0; i < end; ++i, ++k) lane[k] += f(i, id);
    double sum = 0;
    for (const double value : lane) sum += value;
    sums(item) = sum;
  }
};

/// The same by a team of a device for each item, whose threads read side by side.
template <class F, class Space>
struct SumBlocksByTeams {
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int team_size = 128;
  F f;
  std::int64_t n, first_block, n_sums;
  Kokkos::View<double*, typename Space::memory_space> sums;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t item = team.league_rank();
    const std::int64_t id = item % n_sums;
    const std::int64_t begin = (first_block + item / n_sums) * terms_of_a_block;
    const std::int64_t end = Kokkos::min(begin + terms_of_a_block, n);
    double sum = 0;
    for (std::int64_t i = begin + team.team_rank(); i < end; i += team.team_size()) sum += f(i, id);
    team.team_reduce(Kokkos::Sum<double>(sum));
    Kokkos::single(Kokkos::PerTeam(team), [&]() { sums(item) = sum; });
  }
};

/// f(i) as the terms of the only sum
template <class F>
struct OnlySum {
  F f;
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t) const { return f(i); }
};

template <class Memory>
struct ProductTerm {
  Kokkos::View<const double*, Memory> a, b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return a(i) * b(i); }
};

/// Vectors of an inversion in a space's memory, and what is done with them elementwise. Sums have one fixed order,
/// whatever the number of threads, so that ranks agree and a resumed inversion repeats itself bit for bit; those of
/// KokkosBlas change with the threads.
template <class ExecutionSpace>
class VectorMath {
public:
  using Memory = typename ExecutionSpace::memory_space;
  using Vector = Kokkos::View<double*, Memory>;
  using ConstVector = Kokkos::View<const double*, Memory>;
  using Indices = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;

  explicit VectorMath(const ExecutionSpace& space) : m_space(space) {}

  [[nodiscard]] const ExecutionSpace& space() const noexcept { return m_space; }
  /// Zeros.
  [[nodiscard]] Vector zeros(const char* label, std::int64_t n) const {
    return Vector(std::string("prismfield::") + label, static_cast<std::size_t>(n));
  }
  [[nodiscard]] Vector from_host(const char* label, std::span<const double> values) const {
    Vector vector = zeros(label, static_cast<std::int64_t>(values.size()));
    copy_in(values, vector);
    return vector;
  }
  void copy_in(std::span<const double> values, const Vector& vector) const {
    prismfield::copy_in(m_space, values, vector);
    m_space.fence("prismfield: vector copied");
  }
  [[nodiscard]] std::vector<double> to_host(const ConstVector& vector) const {
    std::vector<double> values(vector.extent(0));
    copy_out(m_space, vector, values);
    return values;
  }
  void copy(const Vector& to, const ConstVector& from) const { Kokkos::deep_copy(m_space, to, from); }
  void fill(const Vector& vector, double value) const { Kokkos::deep_copy(m_space, vector, value); }

  /// y = a x + b y; with b = 0 y is not read, here and below.
  void add(double a, const ConstVector& x, double b, const Vector& y) const { add_vectors(m_space, a, x, b, y); }
  /// z = a x y + b z, elementwise
  void multiply(double a, const ConstVector& x, const ConstVector& y, double b, const Vector& z) const {
    KokkosBlas::mult(m_space, b, z, a, x, y);
  }

  /// Runs f(i) for i of [0, n).
  template <class F>
  void each(const char* label, std::int64_t n, const F& f) const {
    Kokkos::parallel_for(std::string("prismfield::") + label, Indices(m_space, 0, n), f);
  }
  /// The sum of f(i) for i of [0, n), in one fixed order.
  template <class F>
  [[nodiscard]] double sum(const char* label, std::int64_t n, const F& f) {
    return sums(label, n, 1, OnlySum<F>{f}).front();
  }
  /// The sums of f(i, id) for i of [0, n), for each id of [0, n_sums).
  template <class F>
  [[nodiscard]] std::vector<double> sums(const char* label, std::int64_t n, std::int64_t n_sums, const F& f) {
    std::vector<double> all(static_cast<std::size_t>(n_sums), 0.0);
    const std::int64_t blocks = (n + terms_of_a_block - 1) / terms_of_a_block;
    if (blocks == 0 || n_sums == 0) return all;
    constexpr std::int64_t most_items = std::int64_t{1} << 20;
    const std::int64_t at_once = std::clamp<std::int64_t>(most_items / n_sums, 1, blocks);
    if (static_cast<std::int64_t>(m_sums.extent(0)) < at_once * n_sums) m_sums = zeros("sums", at_once * n_sums);
    for (std::int64_t first = 0; first < blocks; first += at_once) {
      const std::int64_t items = std::min(at_once, blocks - first) * n_sums;
      if constexpr (on_host) {
        each(label, items, SumBlocks<F, Memory>{f, n, first, n_sums, m_sums});
      } else {
        using Teams = SumBlocksByTeams<F, ExecutionSpace>;
        Kokkos::parallel_for(std::string("prismfield::") + label,
                             typename Teams::Policy(m_space, static_cast<int>(items), Teams::team_size),
                             Teams{f, n, first, n_sums, m_sums});
      }
      const std::vector<double> parts = to_host(Kokkos::subview(m_sums, std::make_pair(std::int64_t{0}, items)));
      for (std::size_t i = 0; i < parts.size(); ++i) all[i % all.size()] += parts[i];
    }
    return all;
  }
  /// Least and greatest.
  [[nodiscard]] Kokkos::MinMaxScalar<double> range(const ConstVector& a) const {
    Kokkos::MinMaxScalar<double> range;
    Kokkos::parallel_reduce("prismfield::range", Indices(m_space, 0, static_cast<std::int64_t>(a.extent(0))),
                            RangeOf<Memory>{a}, Kokkos::MinMax<double>(range));
    return range;
  }
  [[nodiscard]] double dot(const ConstVector& a, const ConstVector& b) {
    return sum("dot", static_cast<std::int64_t>(a.extent(0)), ProductTerm<Memory>{a, b});
  }

private:
  ExecutionSpace m_space;
  /// (block of terms, sum)
  Vector m_sums;
};

}  // namespace prismfield
