// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include "compute/operator_plan.hpp"
#include "parallel/collectives.hpp"

/// Sums over ranks that operators share.
namespace prismfield {

template <class Memory>
struct MultiplyPair {
  Kokkos::View<const double*, Memory> a, b;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += a(i) * b(i); }
};

/// Adds up the values of `ranks`, the same sums on each; waits where there are several. Collective over `ranks`.
template <class ExecutionSpace>
void sum_over_ranks(const ExecutionSpace& space, const Communicator& ranks,
                    const Kokkos::View<double*, typename ExecutionSpace::memory_space>& values) {
  if (ranks.size() == 1) return;
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), values);
  Kokkos::deep_copy(space, host, values);
  space.fence("prismfield: values on the host");
  sum_everywhere(ranks, host.data(), static_cast<std::int64_t>(host.size()));
  Kokkos::deep_copy(space, values, host);
  space.fence("prismfield: sums in place");
}

/// The inner product of vectors of this length, summed over `ranks`; rank 0's value on all ranks, since groups of ranks
/// may add with other numbers of threads. Throws InputError for another length. Collective over `all_ranks`.
template <class ExecutionSpace>
double dot_over_ranks(const ExecutionSpace& space, const Communicator& all_ranks, const Communicator& ranks,
                      const Kokkos::View<const double*, typename ExecutionSpace::memory_space>& a,
                      const Kokkos::View<const double*, typename ExecutionSpace::memory_space>& b,
                      std::int64_t length) {
  using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  double sum = 0;
  on_all_ranks(all_ranks, [&] {
    check_length("a", a.extent(0), length);
    check_length("b", b.extent(0), length);
    Kokkos::parallel_reduce("prismfield::dot", Policy(space, 0, length),
                            MultiplyPair<typename ExecutionSpace::memory_space>{a, b}, sum);
  });
  sum_everywhere(ranks, &sum, 1);
  broadcast(all_ranks, sum);
  return sum;
}

}  // namespace prismfield
