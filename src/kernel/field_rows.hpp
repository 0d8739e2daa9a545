// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include <prismfield/fields.hpp>

namespace prismfield::kernel {

/// The rows that kernels make of a pair's fields: the fields of a set, then the asked fields that are sums of them.
struct FieldRows {
  /// of gravity or of the magnetisation, which no operator has together: tmi and its three derivatives
  static constexpr int most_sums = 4, most = n_gravity_fields + most_sums;
  int n_native = 0, n_sums = 0;
  /// (sum, field of the set)
  double weight[most_sums][n_gravity_fields] = {};
  /// which of the asked fields a row is; -1: not asked for
  int asked[most] = {};

  /// A row's value, of field(f) for number f of the set.
  template <class Get>
  [[nodiscard]] constexpr double value(int row, const Get& field) const {
    if (row < n_native) return field(row);
    double sum = 0;
    for (int f = 0; f < n_native; ++f) sum += weight[row - n_native][f] * field(f);
    return sum;
  }
};

/// The weight of a native field in one that is linear. `along`: the direction of the inducing field.
[[nodiscard]] constexpr double weight_in(const FieldInfo& field, Field native, const std::array<double, 3>& along) {
  const auto i = static_cast<std::size_t>(native);
  const bool is_along = field.rule == FieldRule::along_inducing_field && field.weights[i] != 0;
  return is_along ? along[field.component[i]] : field.weights[i];
}

/// Of fields that are all linear. `along`: the direction of the inducing field.
[[nodiscard]] constexpr FieldRows field_rows(FieldSet set, FieldList asked, const std::array<double, 3>& along = {}) {
  const FieldList computed = fields_of(set);
  FieldRows rows;
  rows.n_native = computed.size();
  std::fill(std::begin(rows.asked), std::end(rows.asked), -1);
  for (const FieldInfo& field : asked) {
    if (is_native(field.field)) {
      rows.asked[computed.index_of(field.field)] = asked.index_of(field.field);
      continue;
    }
    for (const FieldInfo& of : computed) {
      rows.weight[rows.n_sums][computed.index_of(of.field)] = weight_in(field, of.field, along);
    }
    rows.asked[rows.n_native + rows.n_sums++] = asked.index_of(field.field);
  }
  return rows;
}

}  // namespace prismfield::kernel
