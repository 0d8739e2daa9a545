// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <prismfield/request.hpp>
#include <prismfield/value_range.hpp>

namespace prismfield {

/// The unit of an unknown, in words.
[[nodiscard]] constexpr const char* unit(Unknown unknown) noexcept {
  if (unknown == Unknown::density) return "kg/m3";
  return unknown == Unknown::susceptibility ? "SI" : "A/m";
}
/// Numbers that a cell has of it.
[[nodiscard]] constexpr std::int64_t components(Unknown unknown) noexcept {
  return unknown == Unknown::magnetization ? 3 : 1;
}
/// The fields that depend on it, of which data can be; those of a list.
[[nodiscard]] constexpr FieldList fields_of(Unknown unknown, FieldList list = FieldList::every()) noexcept {
  return unknown == Unknown::density ? list.of_density() : list.of_magnetisation();
}

/// The first field of a list that needs the inducing field, being along it or beside it; none: it has none of them.
[[nodiscard]] constexpr std::optional<Field> first_along_inducing_field(FieldList list) noexcept {
  for (const FieldInfo& field : list) {
    if (field.rule == FieldRule::along_inducing_field || field.rule == FieldRule::exact_anomaly) return field.field;
  }
  return std::nullopt;
}

/// The fields of which an operator needs rows for data of these: magnitudes of B are made of its components.
[[nodiscard]] constexpr FieldList row_fields(FieldList data) noexcept {
  FieldList fields;
  for (const FieldInfo& field : data) {
    if (field.is_linear()) {
      fields.add(field.field);
    } else {
      fields.add(FieldList{Field::bx, Field::by, Field::bz});
    }
  }
  return fields;
}

/// What makes deep or distant cells count less in the regularisation.
enum class WeightingKind { sensitivity, depth, distance, none };
struct Weighting {
  WeightingKind kind = WeightingKind::sensitivity;
  /// depth, distance: of the weight of the square, which falls as distance^-power; unset: 2, where all data are of
  /// the gradient tensor or magnetic 3, where all are of magnetic gradients 4
  std::optional<double> power;
  /// depth: metres added to the depth below the mesh's top; distance: to the distance; unset: fitted
  std::optional<double> z0;
};

/// Unknowns beside the cells: a regional field of each data set and field, a polynomial of easting and northing.
enum class Trend { none, constant, linear, quadratic };
/// Its coefficients, of each field.
[[nodiscard]] constexpr std::size_t coefficients(Trend trend) noexcept {
  constexpr std::size_t of_trend[] = {0, 1, 3, 6};
  return of_trend[static_cast<std::size_t>(trend)];
}
[[nodiscard]] constexpr const char* name(Trend trend) noexcept {
  constexpr const char* names[] = {"none", "constant", "linear", "quadratic"};
  return names[static_cast<std::size_t>(trend)];
}

/// Samples at most; their standard deviation is known to 0.07 % then.
inline constexpr std::int64_t most_samples = 1'000'000;
/// Of a low rank at most: what it takes grows with its square.
inline constexpr std::int64_t most_rank = 10'000;

/// Posterior standard deviations, by samples of the posterior or by a low rank of the data term.
struct Uncertainty {
  /// 0: none
  std::int64_t samples = 0;
  std::uint64_t seed = 1;
  /// 0: by samples
  std::int64_t rank = 0;
};

/// How beta is chosen where no number is given: for the target misfit, or, where sigma is not known, by generalized
/// cross-validation or at the corner of the L-curve.
enum class BetaChoice { target, gcv, l_curve };

/// How residuals over sigma count: by their squares, or by Huber's norm, which is linear for large ones.
enum class DataNorm { squares, huber };

/// What an inversion minimises and how: phi_d + beta phi_m (docs/inversion.md has the formulas).
struct InversionSettings {
  /// whose unit bounds, references and models have
  Unknown unknown = Unknown::density;
  /// minimum and maximum of every cell, of a magnetisation those of each component, one of them infinite where bounds
  /// are one-sided; unset: no bounds
  std::optional<Range> bounds;
  /// of a magnetisation: the largest magnitude of a cell, A/m, above 0; unset: any
  std::optional<double> most_amplitude;
  /// allowed values, rising and disjoint, within `bounds`, of no magnetisation; empty: all within bounds
  std::vector<Range> intervals;
  double smallness = 1;
  /// lengths towards easting, northing, upward, in shortest edges of the mesh; unset: `smoothing_lengths`
  std::optional<std::array<double, 3>> smoothness;
  /// the same in metres; unset, as `smoothness` is: the median edge of the mesh in each direction
  std::optional<std::array<double, 3>> smoothing_lengths;
  /// differences are those of the model less the reference
  bool reference_in_smoothness = false;
  Weighting weighting;
  /// p of smallness and of the three terms of smoothness; below 2 compact
  std::array<double, 4> norm{2, 2, 2, 2};
  /// unset: searched for
  std::optional<double> beta;
  BetaChoice beta_choice = BetaChoice::target;
  DataNorm data_norm = DataNorm::squares;
  Trend trend = Trend::none;
  Uncertainty uncertainty;
  /// how much of the reference comes back in the model, cell by cell
  bool depth_of_investigation = false;
  /// of several epochs: weight of the change from one to the next, beside a `smallness` of 1; 0: none, epochs are
  /// independent but for beta
  double change = 1;
  /// chi factor
  double target_misfit = 1;
  /// the model of every solution is kept, not only the last one
  bool keep_all = false;
  /// solutions for a beta at most, in the search for beta and again in the compact steps
  std::int64_t max_iterations = 30;

  [[nodiscard]] bool is_compact() const noexcept {
    for (const double p : norm) {
      if (p < 2) return true;
    }
    return false;
  }
};

}  // namespace prismfield
