// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace prismfield {

/// Vectors of an inversion in a space's memory, and what is done with them elementwise. Sums have one fixed order,
/// whatever the number of threads, so that ranks agree and a resumed inversion repeats itself bit for bit.
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
    Kokkos::deep_copy(m_space, vector, OnHost<const double>(values.data(), values.size()));
    m_space.fence("prismfield: vector copied");
  }
  [[nodiscard]] std::vector<double> to_host(const ConstVector& vector) const {
    std::vector<double> values(vector.extent(0));
    Kokkos::deep_copy(m_space, OnHost<double>(values.data(), values.size()), vector);
    m_space.fence("prismfield: vector on the host");
    return values;
  }
  void copy(const Vector& to, const ConstVector& from) const { Kokkos::deep_copy(m_space, to, from); }
  void fill(const Vector& vector, double value) const { Kokkos::deep_copy(m_space, vector, value); }

  /// Runs f(i) for i of [0, n).
  template <class F>
  void each(const char* label, std::int64_t n, const F& f) const {
    Kokkos::parallel_for(std::string("prismfield::") + label, Indices(m_space, 0, n), f);
  }
  /// The sum of f(i) for i of [0, n), in one fixed order.
  template <class F>
  [[nodiscard]] double sum(const char* label, std::int64_t n, const F& f);
  /// Least and greatest.
  [[nodiscard]] double least(const ConstVector& a) const;
  [[nodiscard]] double greatest(const ConstVector& a) const;

  [[nodiscard]] double dot(const ConstVector& a, const ConstVector& b);

private:
  template <class T>
  using OnHost = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  ExecutionSpace m_space;
  /// (block of terms)
  Vector m_sums;
};

inline constexpr std::int64_t terms_of_a_block = 2048;

/// The sums of f over blocks of terms, each by one thread, eight sums side by side.
template <class F, class Memory>
struct SumBlocks {
  F f;
  std::int64_t n;
  Kokkos::View<double*, Memory> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    constexpr int n_lanes = 8;
    const std::int64_t begin = block * terms_of_a_block;
    const std::int64_t end = Kokkos::min(begin + terms_of_a_block, n);
    double lane[n_lanes] = {};
    std::int64_t i = begin;
    for (; i + n_lanes <= end; i += n_lanes) {
      for (int k = 0; k < n_lanes; ++k) lane[k] += f(i + k);
    }
    for (int k = 0; i < end; ++i, ++k) lane[k] += f(i);
    double sum = 0;
    for (const double value : lane) sum += value;
    sums(block) = sum;
  }
};

/// The same by a team of a device, whose threads read side by side.
template <class F, class Space>
struct SumBlocksByTeams {
  using Policy = Kokkos::TeamPolicy<Space>;
  static constexpr int team_size = 128;
  F f;
  std::int64_t n;
  Kokkos::View<double*, typename Space::memory_space> sums;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const std::int64_t begin = team.league_rank() * terms_of_a_block;
    const std::int64_t end = Kokkos::min(begin + terms_of_a_block, n);
    double sum = 0;
    for (std::int64_t i = begin + team.team_rank(); i < end; i += team.team_size()) sum += f(i);
    team.team_reduce(Kokkos::Sum<double>(sum));
    Kokkos::single(Kokkos::PerTeam(team), [&]() { sums(team.league_rank()) = sum; });
  }
};

/// y(i) += a x(i)
template <class Memory>
struct AddScaled {
  double a;
  Kokkos::View<const double*, Memory> x;
  Kokkos::View<double*, Memory> y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) += a * x(i); }
};

/// y(i) += x(i)^2
template <class Memory>
struct AddSquares {
  Kokkos::View<const double*, Memory> x;
  Kokkos::View<double*, Memory> y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) += x(i) * x(i); }
};

template <class Memory>
struct ProductTerm {
  Kokkos::View<const double*, Memory> a, b;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return a(i) * b(i); }
};

template <class ExecutionSpace>
template <class F>
double VectorMath<ExecutionSpace>::sum(const char* label, std::int64_t n, const F& f) {
  const std::int64_t n_blocks = (n + terms_of_a_block - 1) / terms_of_a_block;
  if (n_blocks == 0) return 0;
  if (m_sums.extent(0) < static_cast<std::size_t>(n_blocks)) m_sums = zeros("sums", n_blocks);
  const std::string name = std::string("prismfield::") + label;
  if constexpr (on_host) {
    Kokkos::parallel_for(name, Indices(m_space, 0, n_blocks), SumBlocks<F, Memory>{f, n, m_sums});
  } else {
    using Teams = SumBlocksByTeams<F, ExecutionSpace>;
    Kokkos::parallel_for(name, typename Teams::Policy(m_space, static_cast<int>(n_blocks), Teams::team_size),
                         Teams{f, n, m_sums});
  }
  const std::vector<double> sums = to_host(Kokkos::subview(m_sums, std::make_pair(std::int64_t{0}, n_blocks)));
  double sum = 0;
  for (const double value : sums) sum += value;
  return sum;
}

template <class ExecutionSpace>
double VectorMath<ExecutionSpace>::dot(const ConstVector& a, const ConstVector& b) {
  return sum("dot", static_cast<std::int64_t>(a.extent(0)), ProductTerm<Memory>{a, b});
}

template <class Memory>
struct LeastOf {
  Kokkos::View<const double*, Memory> a;
  double sign;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& least) const { least = Kokkos::min(least, sign * a(i)); }
};

template <class ExecutionSpace>
double VectorMath<ExecutionSpace>::least(const ConstVector& a) const {
  double value = 0;
  Kokkos::parallel_reduce("prismfield::least", Indices(m_space, 0, static_cast<std::int64_t>(a.extent(0))),
                          LeastOf<Memory>{a, 1}, Kokkos::Min<double>(value));
  return value;
}

template <class ExecutionSpace>
double VectorMath<ExecutionSpace>::greatest(const ConstVector& a) const {
  double value = 0;
  Kokkos::parallel_reduce("prismfield::greatest", Indices(m_space, 0, static_cast<std::int64_t>(a.extent(0))),
                          LeastOf<Memory>{a, -1}, Kokkos::Min<double>(value));
  return -value;
}

}  // namespace prismfield
