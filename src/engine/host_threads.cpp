// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/host_threads.hpp"

#include <Kokkos_Core.hpp>
#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif
#include <algorithm>
#include <charconv>
#include <limits>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

enum class Count { right, too_large, none };

Count judge(std::string_view text) {
  int number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = end == text.data() + text.size() && !text.starts_with('-');
  if (is_whole && status == std::errc::result_out_of_range) return Count::too_large;
  if (!is_whole || status != std::errc{} || number < 1) return Count::none;
  return number <= most_host_threads() ? Count::right : Count::too_large;
}

/// The first of the numbers that OpenMP takes, one a level of nested regions: there is one level here.
std::string_view outermost(std::string_view list) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  list = list.substr(0, list.find(','));
  list.remove_prefix(std::min(list.find_first_not_of(blanks), list.size()));
  return list.substr(0, list.find_last_not_of(blanks) + 1);
}

}  // namespace

int most_host_threads() noexcept {
#if defined(KOKKOS_ENABLE_OPENMP)
  return Kokkos::Impl::OpenMPTraits::MAX_THREAD_COUNT;
#else
  return std::numeric_limits<int>::max();
#endif
}

int openmp_thread_limit() noexcept {
#if defined(KOKKOS_ENABLE_OPENMP)
  return omp_get_thread_limit();
#else
  return std::numeric_limits<int>::max();
#endif
}

void start_all_threads() noexcept {
#if defined(KOKKOS_ENABLE_OPENMP)
  omp_set_dynamic(0);
#endif
}

int default_host_threads(std::size_t cores, int sharing) noexcept {
  const auto most = static_cast<std::size_t>(std::min(most_host_threads(), openmp_thread_limit()));
  return static_cast<int>(std::clamp<std::size_t>(cores / static_cast<std::size_t>(std::max(1, sharing)), 1, most));
}

std::string expected_threads(std::string_view text, int limit) {
  const Count count = judge(text);
  if (count == Count::right) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number <= limit
               ? ""
               : "OMP_THREAD_LIMIT allows " + std::to_string(limit) + ": raise it, or ask for fewer threads";
  }
  if (most_host_threads() == std::numeric_limits<int>::max()) return "a whole number of at least 1 is expected";
  const std::string expected = "a whole number from 1 to " + std::to_string(most_host_threads()) + " is expected";
  return count == Count::none ? expected
                              : expected + "; for more threads start several ranks, each with a part of them";
}

void check_openmp_threads(const char* text, bool decides) {
  if (text == nullptr || *text == '\0') return;
  const std::string_view number = outermost(text);
  if (judge(number) == Count::too_large && !decides) return;
  // where OpenMP itself is asked it starts as many as it allows
  const std::string expected = expected_threads(number, std::numeric_limits<int>::max());
  if (!expected.empty()) throw InputError("OMP_NUM_THREADS", "", "is " + excerpt(text) + "; " + expected);
}

}  // namespace prismfield
