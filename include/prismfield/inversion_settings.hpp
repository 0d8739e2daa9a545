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

/// The unit of an unknown as text.
[[nodiscard]] constexpr const char* unit(Unknown unknown) noexcept {
  if (unknown == Unknown::density) return "kg/m3";
  return unknown == Unknown::susceptibility ? "SI" : "A/m";
}
/// How many numbers the unknown has per cell.
[[nodiscard]] constexpr std::int64_t components(Unknown unknown) noexcept {
  return unknown == Unknown::magnetization ? 3 : 1;
}
/// Those fields of `list` that depend on the unknown; data of an inversion can be these.
[[nodiscard]] constexpr FieldList fields_of(Unknown unknown, FieldList list = FieldList::every()) noexcept {
  return unknown == Unknown::density ? list.of_density() : list.of_magnetisation();
}

/// The first field of a list that needs the inducing field, if there is one.
[[nodiscard]] constexpr std::optional<Field> first_along_inducing_field(FieldList list) noexcept {
  for (const FieldInfo& field : list) {
    if (field.rule == FieldRule::along_inducing_field || field.rule == FieldRule::exact_anomaly) return field.field;
  }
  return std::nullopt;
}

/// The fields that an operator needs as rows for these data: the components of B for its magnitudes.
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

/// What the regularisation uses to give deep or distant cells less weight.
enum class WeightingKind { sensitivity, depth, distance, none };
struct Weighting {
  WeightingKind kind = WeightingKind::sensitivity;
  /// depth, distance: the weight of the square falls as distance^-power; unset: 2, but 3 where all data are of the
  /// gradient tensor or magnetic, 4 where all are magnetic gradients
  std::optional<double> power;
  /// metres added to the depth below the mesh's top (depth) or to the distance (distance); unset: fitted
  std::optional<double> z0;
};

/// Unknowns besides the cells: a regional field per data set and field, a polynomial in easting and northing.
enum class Trend { none, constant, linear, quadratic };
/// The number of coefficients per field.
[[nodiscard]] constexpr std::size_t coefficients(Trend trend) noexcept {
  constexpr std::size_t of_trend[] = {0, 1, 3, 6};
  return of_trend[static_cast<std::size_t>(trend)];
}
[[nodiscard]] constexpr const char* name(Trend trend) noexcept {
  constexpr const char* names[] = {"none", "constant", "linear", "quadratic"};
  return names[static_cast<std::size_t>(trend)];
}

/// The most samples; they give standard deviations to 0.07 %.
inline constexpr std::int64_t most_samples = 1'000'000;
/// The largest rank; memory and time grow with its square.
inline constexpr std::int64_t most_rank = 10'000;

/// How to estimate posterior standard deviations: by samples of the posterior, or by a low rank of the data term.
struct Uncertainty {
  /// 0: none
  std::int64_t samples = 0;
  std::uint64_t seed = 1;
  /// 0: samples are used
  std::int64_t rank = 0;
};

/// How an inversion chooses beta where settings give no number: target misfit or, where sigma is unknown, generalized
/// cross-validation or the corner of the L-curve.
enum class BetaChoice { target, gcv, l_curve };

/// How residuals over sigma count: by squares, or by Huber's norm, linear for large residuals.
enum class DataNorm { squares, huber };

/// What an inversion minimises, phi_d + beta phi_m, and how. docs/inversion.md has the formulas.
struct InversionSettings {
  /// bounds, references and models have its unit
  Unknown unknown = Unknown::density;
  /// minimum and maximum of every cell, or of every component of a magnetisation; one of them is infinite for one-sided
  /// bounds; unset: no bounds
  std::optional<Range> bounds;
  /// the largest magnitude of a cell's magnetisation, A/m, above 0; unset: no limit
  std::optional<double> most_amplitude;
  /// allowed values, rising and disjoint, within `bounds`, not for a magnetisation; empty: all values within bounds
  std::vector<Range> intervals;
  double smallness = 1;
  /// lengths along easting, northing, upward, in shortest edges of the mesh; unset: `smoothing_lengths`
  std::optional<std::array<double, 3>> smoothness;
  /// the same in metres; unset like `smoothness`: the mesh's median edge in each direction
  std::optional<std::array<double, 3>> smoothing_lengths;
  /// whether differences are those of model minus reference
  bool reference_in_smoothness = false;
  Weighting weighting;
  /// p of smallness and of the three smoothness terms; compact below 2
  std::array<double, 4> norm{2, 2, 2, 2};
  /// unset: the inversion searches for it
  std::optional<double> beta;
  BetaChoice beta_choice = BetaChoice::target;
  DataNorm data_norm = DataNorm::squares;
  Trend trend = Trend::none;
  Uncertainty uncertainty;
  /// whether to compute, per cell, how far the model follows the reference
  bool depth_of_investigation = false;
  /// weight of the change between epochs, relative to a `smallness` of 1; 0: epochs are independent except for beta
  double change = 1;
  /// chi factor
  double target_misfit = 1;
  /// whether to keep the model of every solution or only of the last
  bool keep_all = false;
  /// the most solutions in the search for beta, and again in the compact steps
  std::int64_t max_iterations = 30;

  [[nodiscard]] bool is_compact() const noexcept {
    for (const double p : norm) {
      if (p < 2) return true;
    }
    return false;
  }
};

}  // namespace prismfield
