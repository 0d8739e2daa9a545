// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <span>

#include "engine/staged_prisms.hpp"

/// What operators and inversions do with vectors.
namespace prismfield {

/// Numbers on the host as a View.
template <class T>
using OnHost = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Starts to copy numbers from the host to a vector of equal length; they must stay until the space is fenced.
template <class Space>
void copy_in(const Space& space, std::span<const double> from,
             const Kokkos::View<double*, typename Space::memory_space>& to) {
  Kokkos::deep_copy(space, to, OnHost<const double>(from.data(), from.size()));
}

/// Copies a vector to as many numbers on the host and waits.
template <class Space>
void copy_out(const Space& space, const Kokkos::View<const double*, typename Space::memory_space>& from,
              std::span<double> to) {
  Kokkos::deep_copy(space, OnHost<double>(to.data(), to.size()), from);
  space.fence("prismfield: values on the host");
}

/// Lets `fill` write n numbers in the space's memory, and copies them to the host, where they are when it returns.
template <class Space, class Fill>
void fill_on_host(const Space& space, double* numbers, std::int64_t n, const Fill& fill) {
  if constexpr (is_device_space<Space>) {
    Kokkos::View<double*, typename Space::memory_space> there;
    allocate_or_fail([&] { there = decltype(there)(view_label("numbers_of_points"), static_cast<std::size_t>(n)); });
    fill(there.data());
    Kokkos::deep_copy(space, OnHost<double>(numbers, there.size()), there);
  } else {
    fill(numbers);
  }
  space.fence("prismfield: numbers on the host");
}

// Of KokkosBlas, compiled once for a space (direct_operator.cpp).

/// y = a x + b y; y is not read with b = 0.
template <class Space>
void add_vectors(const Space& space, double a, const Kokkos::View<const double*, typename Space::memory_space>& x,
                 double b, const Kokkos::View<double*, typename Space::memory_space>& y);

/// The inner product; waits. Its last bits depend on the number of threads.
template <class Space>
double inner_product(const Space& space, const Kokkos::View<const double*, typename Space::memory_space>& a,
                     const Kokkos::View<const double*, typename Space::memory_space>& b);

}  // namespace prismfield
