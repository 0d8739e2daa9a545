// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/inactive_mark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/value_range.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "model/properties.hpp"

namespace prismfield {

std::optional<AirMark> find_air_mark(const std::vector<double>& values, std::size_t property, double to_si) {
  const bool is_density = property == density_property;
  // kg/m3: no contrast is below the first, the heaviest metals have 22,600
  const Range known = is_density ? Range{-10'000, 30'000} : Range{susceptibility_limits.min, susceptibility_limits.max};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // most models have nothing below 0 and nothing beyond
  double low = 0, high = 0;
  for (const double value : values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  if (low >= 0 && high <= known.max) return std::nullopt;
  double least = infinity, next = infinity, most = -infinity, beyond = 0;
  std::int64_t n_least = 0, n_beyond = 0, n_known = 0;
  bool is_one = true;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    if (value == least) {
      ++n_least;
    } else if (value < least) {
      next = std::exchange(least, value);
      n_least = 1;
    } else {
      next = std::min(next, value);
    }
    most = std::max(most, value);
    if (value == 0) continue;
    if (value >= known.min && value <= known.max) {
      ++n_known;
      continue;
    }
    is_one = is_one && (n_beyond == 0 || value == beyond);
    beyond = value;
    ++n_beyond;
  }
  const auto cells = std::ssize(values);
  const auto mark = [&](double value, std::int64_t n, bool is_certain, const std::string& how) {
    const char* const unit = !is_density ? "" : to_si == 1 ? " kg/m3" : " g/cm3";
    return AirMark{value, is_certain,
                   fmt::format("has {}{}, {}, in {} of its {}", number_text(in_unit(value, to_si)), unit, how,
                               grouped(n), counted(cells, "cell"))};
  };
  if (!is_density && least < known.min) return mark(least, n_least, true, "no susceptibility");
  if (n_beyond > 0) {
    // a body of one density in another unit is no air
    const bool is_air = is_one && n_beyond > 1 && n_beyond < cells && (beyond < 0 || n_known > 0);
    return is_density && is_air ? std::optional(mark(beyond, n_beyond, true, "beyond any rock")) : std::nullopt;
  }
  // One value far below all others: no contrast beside contrasts, negative beside densities, no rock's susceptibility.
  constexpr double contrast = 5000, rock = 1000, of_rock = -0.1, least_part = 0.01;
  const bool is_apart = least < 0 && next - least > most - next && n_least > 1 &&
                        static_cast<double>(n_least) > least_part * static_cast<double>(cells);
  const bool is_none =
      is_density ? (least <= -contrast && next >= -contrast && most <= contrast) || next >= rock : least < of_rock;
  if (!is_apart || !is_none) return std::nullopt;
  return mark(least, n_least, false,
              fmt::format("far below its other values ({:.6g} to {:.6g})", in_unit(next, to_si), in_unit(most, to_si)));
}

std::vector<CellNumbers> numbers_of(std::span<const std::vector<double>> columns, double to_si) {
  std::vector<CellNumbers> numbers;
  for (const std::vector<double>& column : columns) {
    numbers.push_back({&column, numbers.size() == 2 ? -to_si : to_si});
  }
  return numbers;
}

std::string dummies_in(const CellNumbers& column) {
  const Range range = range_of(*column.values);
  const double low = std::min(range.min, 0.0), high = std::max(range.max, 0.0);
  // most models have none, and their units cost nothing then
  if (!looks_like_dummy(in_unit(low, column.to_si)) && !looks_like_dummy(in_unit(high, column.to_si))) return "";
  std::vector<double> numbers;
  for (const double value : *column.values) {
    if (!std::isnan(value)) numbers.push_back(in_unit(value, column.to_si));
  }
  const std::vector<bool> found = find_dummies(numbers);
  if (found.empty()) return "";
  const double first = numbers[static_cast<std::size_t>(std::find(found.begin(), found.end(), true) - found.begin())];
  return fmt::format("has {} in {} of its {}: {}", number_text(first),
                     grouped(std::count(numbers.begin(), numbers.end(), first)),
                     counted(std::ssize(*column.values), "cell"), dummy_text(first));
}

namespace {
bool has_mark(const std::vector<CellNumbers>& columns, std::size_t cell, double mark) {
  const auto is_mark = [&](const CellNumbers& column) { return (*column.values)[cell] == mark * column.to_si; };
  // a dummy leaves no vector, 0 may be one of its components
  return looks_like_dummy(mark) ? std::any_of(columns.begin(), columns.end(), is_mark)
                                : std::all_of(columns.begin(), columns.end(), is_mark);
}
}  // namespace

std::int64_t count_mark(const std::vector<CellNumbers>& columns, double mark) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < columns.front().values->size(); ++i) count += has_mark(columns, i, mark) ? 1 : 0;
  return count;
}

std::int64_t replace_mark(std::span<std::vector<double>> columns, double mark, double to_si, double replacement) {
  const std::vector<CellNumbers> numbers = numbers_of(columns, to_si);
  std::int64_t replaced = 0;
  for (std::size_t i = 0; i < columns.front().size(); ++i) {
    if (!has_mark(numbers, i, mark)) continue;
    for (std::vector<double>& column : columns) column[i] = replacement;
    ++replaced;
  }
  return replaced;
}

std::string check_mark(const std::vector<CellNumbers>& columns, double mark, const std::string& option) {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < columns.front().values->size(); ++i) {
    std::size_t equal_here = 0;
    for (const CellNumbers& column : columns) {
      const double value = (*column.values)[i];
      if (std::isnan(value)) continue;
      const double number = in_unit(value, column.to_si);
      least = std::min(least, number);
      greatest = std::max(greatest, number);
      equal_here += number == mark ? 1 : 0;
    }
    equal += equal_here == columns.size() ? 1 : 0;
  }
  if (equal > 0) {
    throw InputError(
        option, "",
        fmt::format("is {}, which {} {} as a value; choose a number that no active cell has, such as -99999",
                    number_text(mark), counted(equal, "active cell"), equal == 1 ? "has" : "have"));
  }
  if (!(mark > least && mark < greatest)) return "";
  return fmt::format(
      "{}: {} lies within the range of the active cells' values, {:.6g} to {:.6g}; make sure that it marks inactive "
      "cells only, or write a number outside, such as -99999",
      option, number_text(mark), least, greatest);
}

}  // namespace prismfield
