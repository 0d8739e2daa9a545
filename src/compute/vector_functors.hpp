// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <span>

/// What operators and inversions do with vectors.
namespace prismfield {

/// Numbers of the host, as a View.
template <class T>
using OnHost = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Begins to copy numbers of the host, which have to stay until the space is fenced, to a vector as long.
template <class Space>
void copy_in(const Space& space, std::span<const double> from,
             const Kokkos::View<double*, typename Space::memory_space>& to) {
  Kokkos::deep_copy(space, to, OnHost<const double>(from.data(), from.size()));
}

/// Copies a vector to numbers of the host, as many, which are there when it returns.
template <class Space>
void copy_out(const Space& space, const Kokkos::View<const double*, typename Space::memory_space>& from,
              std::span<double> to) {
  Kokkos::deep_copy(space, OnHost<double>(to.data(), to.size()), from);
  space.fence("prismfield: values on the host");
}

// Of KokkosBlas, compiled once for a space (direct_operator.cpp).

/// y = a x + b y; with b = 0 y is not read.
template <class Space>
void add_vectors(const Space& space, double a, const Kokkos::View<const double*, typename Space::memory_space>& x,
                 double b, const Kokkos::View<double*, typename Space::memory_space>& y);

/// The inner product, whose last bits change with the number of threads; waits for it.
template <class Space>
double inner_product(const Space& space, const Kokkos::View<const double*, typename Space::memory_space>& a,
                     const Kokkos::View<const double*, typename Space::memory_space>& b);

}  // namespace prismfield
