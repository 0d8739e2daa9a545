// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include "kernel/simd.hpp"

/// Workers for an item of work. On a host a thread has several cells or prisms in its lanes; on a device the threads of
/// a team share the terms of one after another.
namespace prismfield::fast {
inline namespace PRISMFIELD_LANES {

/// A thread by itself.
struct Alone {
  static constexpr bool is_alone = true;
  static constexpr int rank() { return 0; }
  static constexpr int size() { return 1; }
  PRISMFIELD_INLINE_FUNCTION void wait() const {}
  /// The sum of the values of the threads before this one, and of all.
  PRISMFIELD_INLINE_FUNCTION std::int64_t sum_before(std::int64_t value, std::int64_t& all) const {
    all = value;
    return 0;
  }
};

/// A thread of a team of Kokkos.
template <class Member>
struct InTeam {
  static constexpr bool is_alone = false;
  const Member& member;
  PRISMFIELD_INLINE_FUNCTION int rank() const { return member.team_rank(); }
  PRISMFIELD_INLINE_FUNCTION int size() const { return member.team_size(); }
  /// For what the others wrote, and until they have read what is written next.
  PRISMFIELD_INLINE_FUNCTION void wait() const { member.team_barrier(); }
  PRISMFIELD_INLINE_FUNCTION std::int64_t sum_before(std::int64_t value, std::int64_t& all) const {
    const std::int64_t before = member.team_scan(value);
    all = before + value;
    member.team_broadcast(all, member.team_size() - 1);
    return before;
  }
};

/// Calls f(i) for this worker's share of 0 ... n - 1, then waits.
template <class Worker, class F>
PRISMFIELD_INLINE_FUNCTION void share(const Worker& worker, int n, const F& f) {
  for (int i = worker.rank(); i < n; i += worker.size()) f(i);
  worker.wait();
}

/// Lane i of an array of lanes, as numbers: i * lanes_v<L> numbers from its beginning.
template <class L>
PRISMFIELD_INLINE_FUNCTION L lane(const double* array, int i) {
  return kernel::load<L>(array + i * kernel::lanes_v<L>);
}
template <class L>
PRISMFIELD_INLINE_FUNCTION void put(const L& value, double* array, int i) {
  kernel::store(value, array + i * kernel::lanes_v<L>);
}

/// Real and imaginary parts of an expansion's terms in lanes.
template <class L>
struct Terms {
  double* re;
  double* im;
  PRISMFIELD_INLINE_FUNCTION void set(int i, const L& a, const L& b) const {
    put(a, re, i);
    put(b, im, i);
  }
  PRISMFIELD_INLINE_FUNCTION L real(int i) const { return lane<L>(re, i); }
  PRISMFIELD_INLINE_FUNCTION L imag(int i) const { return lane<L>(im, i); }
};

/// So many numbers that what follows them is aligned as they are.
PRISMFIELD_INLINE_FUNCTION constexpr int aligned(int n) { return (n + 7) / 8 * 8; }

/// Memory from which the arrays of an item are cut.
template <class L>
struct Room {
  double* next;
  PRISMFIELD_INLINE_FUNCTION double* lanes(int n) { return numbers(n * kernel::lanes_v<L>); }
  PRISMFIELD_INLINE_FUNCTION double* numbers(int n) {
    double* const array = next;
    next += kernel::lanes_v<L> == 1 ? n : aligned(n);
    return array;
  }
  PRISMFIELD_INLINE_FUNCTION Terms<L> terms(int n) {
    double* const re = lanes(n);
    return {re, lanes(n)};
  }
};

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::fast
