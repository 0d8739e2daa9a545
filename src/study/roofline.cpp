// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/roofline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "study/operation_table.hpp"

namespace prismfield {
namespace {

/// Place of a precision's word in the table; -1 for another word.
int precision_index(std::string_view precision) {
  constexpr std::array<std::string_view, 3> words{"double", "mixed", "single"};
  const auto* const found = std::find(words.begin(), words.end(), precision);
  return found == words.end() ? -1 : static_cast<int>(found - words.begin());
}

}  // namespace

Operations operations_of_pair(Form form, FieldSet set, std::string_view precision) {
  const int p = precision_index(precision);
  if (p < 0) return {not_known, not_known};
  const OperationCount& count =
      operation_table[static_cast<std::size_t>(p)][static_cast<std::size_t>(set)][static_cast<std::size_t>(form)];
  return {static_cast<double>(count.in_double), static_cast<double>(count.in_float)};
}

double bytes_of_pair(FieldSet set, std::string_view precision, std::int64_t batch) {
  const int p = precision_index(precision);
  if (p < 0 || batch <= 0) return not_known;
  // coordinates and sums are floats in single precision alone
  const int bytes = precision == "single" ? 4 : 8;
  return static_cast<double>(bytes * (3 + 2 * fields_of(set).size())) / static_cast<double>(batch);
}

Roofline roofline_of(const StudyPoint& point, FieldSet set, const SpacePeak* peak) {
  Roofline roofline;
  double in_double = 0, in_float = 0;
  for (int f = 0; f < n_forms; ++f) {
    const auto form = static_cast<Form>(f);
    const std::int64_t pairs = point.pairs_by_form[static_cast<std::size_t>(f)];
    if (pairs < 0) return roofline;
    const Operations of_pair = operations_of_pair(form, set, point.precision);
    in_double += of_pair.in_double * static_cast<double>(pairs);
    in_float += of_pair.in_float * static_cast<double>(pairs);
  }
  const double seconds = point.field_seconds.median.value;
  const double operations = in_double + in_float;
  roofline.double_operations = in_double;
  roofline.single_operations = in_float;
  roofline.arithmetic_rate = operations / seconds;
  roofline.intensity =
      operations / (bytes_of_pair(set, point.precision, point.batch) * static_cast<double>(point.pairs));
  const std::int64_t workers = point.workers();
  if (peak == nullptr || workers <= 0) return roofline;
  // every device has its own peak; threads share that of their machine
  const double share = point.devices > 0
                           ? static_cast<double>(workers)
                           : std::min(1.0, static_cast<double>(workers) / static_cast<double>(peak->threads));
  double least_seconds = 0;
  if (in_double > 0) least_seconds += in_double / (peak->peak_double * share);
  if (in_float > 0) least_seconds += in_float / (peak->peak_single * share);
  roofline.fraction_of_peak = least_seconds / seconds;
  // arithmetic is the bound where memory would allow more than it
  const double bytes_seconds = operations / roofline.intensity / (peak->bandwidth * share);
  if (!std::isnan(least_seconds) && !std::isnan(bytes_seconds)) {
    roofline.bound = least_seconds < bytes_seconds ? "memory" : "arithmetic";
  }
  return roofline;
}

}  // namespace prismfield
