// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include "engine/staged_prisms.hpp"
#include "operators/tree/expansion_numbers.hpp"

namespace prismfield::fast {

template <class Memory>
struct ExpansionTables {
  template <class T>
  using Array = Kokkos::View<const T*, Memory>;
  /// (term): n and m, for work that goes by terms
  Array<std::int32_t> degree_of, order_of;
  /// (term): N_n^m, 1/N_n^m, and 1/(n^2 - m^2), 0 where n = m
  Array<double> norm, inverse_norm, regular;
  /// (n), n <= 2 max_degree: n! and 1/n!
  Array<double> factorial, inverse_factorial;
  /// (swap_row(n, m) + l): what swapping x and z makes of terms (n, l) for (n, m): for the real part where n - m - l is
  /// even, for the imaginary part where it is odd; the others vanish
  Array<double> swap;
  /// A_n^m of a box of unit mass about its own centre, n and m even, is the sum of coefficient times X^i Y^j Z^k, X, Y,
  /// Z the squared half edges, i + j + k = n/2: (box_coefficients(n/2) + m/2 n_monomials(n/2) + place of (i, j), i
  /// slowest)
  Array<double> box;
};

/// The tables in a space's memory; waits. Throws AllocationFailure.
template <class Space>
[[nodiscard]] ExpansionTables<typename Space::memory_space> expansion_tables(const Space& space) {
  ExpansionTables<typename Space::memory_space> tables;
  const ExpansionNumbers& numbers = expansion_numbers();
  const auto copy = [&](auto& to, const auto& from) {
    using Value = typename std::remove_reference_t<decltype(from)>::value_type;
    allocate_or_fail([&] {
      const Kokkos::View<Value*, typename Space::memory_space> made(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("expansion_table")), from.size());
      Kokkos::deep_copy(
          space, made,
          Kokkos::View<const Value*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
      to = made;
    });
  };
  copy(tables.degree_of, numbers.degree_of);
  copy(tables.order_of, numbers.order_of);
  copy(tables.norm, numbers.norm);
  copy(tables.inverse_norm, numbers.inverse_norm);
  copy(tables.regular, numbers.regular);
  copy(tables.factorial, numbers.factorial);
  copy(tables.inverse_factorial, numbers.inverse_factorial);
  copy(tables.swap, numbers.swap);
  copy(tables.box, numbers.box);
  space.fence("prismfield: expansion tables copied");
  return tables;
}

}  // namespace prismfield::fast
