// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/host_threads.hpp"

#include <Kokkos_Core.hpp>
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

int default_host_threads(std::size_t cores, int sharing) noexcept {
  const auto most = static_cast<std::size_t>(most_host_threads());
  return static_cast<int>(std::clamp<std::size_t>(cores / static_cast<std::size_t>(std::max(1, sharing)), 1, most));
}

std::string expected_threads(std::string_view text) {
  const Count count = judge(text);
  if (count == Count::right) return "";
  if (most_host_threads() == std::numeric_limits<int>::max()) return "a whole number of at least 1 is expected";
  const std::string expected = "a whole number from 1 to " + std::to_string(most_host_threads()) + " is expected";
  return count == Count::none ? expected
                              : expected + "; for more threads start several ranks, each with a part of them";
}

void check_openmp_threads(const char* text, bool decides) {
  if (text == nullptr || *text == '\0') return;
  const std::string_view number = outermost(text);
  if (judge(number) == Count::too_large && !decides) return;
  const std::string expected = expected_threads(number);
  if (!expected.empty()) throw InputError("OMP_NUM_THREADS", "", "is " + excerpt(text) + "; " + expected);
}

}  // namespace prismfield
