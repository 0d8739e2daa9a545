// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/calibration.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/machine.hpp"
#include "engine/devices.hpp"
#include "engine/staged_prisms.hpp"
#include "engine/with_space.hpp"
#include "kernel/multiply_adds.hpp"

namespace prismfield {
namespace {

constexpr int repeats = 7;
/// Time that one repeat of the arithmetic takes at least.
constexpr double least_seconds = 0.02;

template <class T, class Space>
struct MultiplyAdds {
  std::int64_t rounds;
  Kokkos::View<T*, Space> results;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const T start = static_cast<T>(i % 7);
    if constexpr (!is_device_space<Space>) {
      KOKKOS_IF_ON_HOST(results(i) = kernel::multiply_adds_on_host<T>(rounds, start);)
    } else {
      results(i) = kernel::multiply_adds<T>(rounds, start);
    }
  }
};

template <class Space>
struct Triad {
  Kokkos::View<double*, Space> a, b, c;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { a(i) = b(i) + 3.0 * c(i); }
};

/// Seconds of one launch of a functor on items [0, n).
template <class Space, class Functor>
double seconds_of(const Space& space, const char* label, std::int64_t n, const Functor& functor) {
  space.fence("prismfield: calibration");
  const Kokkos::Timer timer;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n), functor);
  space.fence("prismfield: calibration");
  return timer.seconds();
}

template <class T, class Space>
double peak_of(const Space& space, std::int64_t threads) {
  constexpr const char* label = "prismfield: multiply-adds";
  MultiplyAdds<T, Space> work{256, Kokkos::View<T*, Space>("prismfield: results", static_cast<std::size_t>(threads))};
  double least = seconds_of(space, label, threads, work);
  while (least < least_seconds) {
    work.rounds *= 2;
    least = seconds_of(space, label, threads, work);
  }
  for (int repeat = 0; repeat < repeats; ++repeat) least = std::min(least, seconds_of(space, label, threads, work));
  const int lanes = is_device_space<Space> ? 1 : kernel::host_lanes_of<T>();
  const double per_round = 2.0 * kernel::multiply_add_chains * lanes * static_cast<double>(threads);
  return per_round * static_cast<double>(work.rounds) / least;
}

/// Of arrays of 256 MiB each, less where memory is short.
template <class Space>
double bandwidth_of(const Space& space, std::int64_t free_memory) {
  constexpr std::int64_t largest = std::int64_t{1} << 25, smallest = std::int64_t{1} << 20;
  constexpr std::int64_t bytes = 3 * sizeof(double);
  const std::int64_t n = std::min(largest, free_memory / (4 * bytes));
  if (n < smallest) return std::numeric_limits<double>::quiet_NaN();
  try {
    const auto array = [n](const char* label) {
      return Kokkos::View<double*, Space>(std::string(label), static_cast<std::size_t>(n));
    };
    const Triad<Space> work{array("prismfield: a"), array("prismfield: b"), array("prismfield: c")};
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat <= repeats; ++repeat) {
      const double seconds = seconds_of(space, "prismfield: triad", n, work);
      // the first one warms up
      if (repeat > 0) least = std::min(least, seconds);
    }
    return static_cast<double>(bytes * n) / least;
  } catch (const std::runtime_error&) {
    // somebody else has taken the memory meanwhile
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

Calibration calibrate(Space space) {
  return with_space(space, [](auto exec) {
    using Exec = decltype(exec);
    Calibration result;
    std::int64_t free_memory = 0;
    if constexpr (!is_device_space<Exec>) {
      result.device = "host";
      result.threads = exec.concurrency();
      free_memory = available_memory();
    } else {
      const ChosenDevice device = chosen_device();
      result.device = device.name;
      free_memory = device.free_memory;
    }
    // a device is full of threads
    const std::int64_t threads = exec.concurrency();
    result.peak_double = peak_of<double>(exec, threads);
    result.peak_single = peak_of<float>(exec, threads);
    result.bandwidth = bandwidth_of(exec, free_memory);
    return result;
  });
}

}  // namespace prismfield
