// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/inversion_settings.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// The names of the fields, in the order of the list.
[[nodiscard]] std::vector<std::string> names_of(FieldList fields);

/// What a column's or variable's name means.
struct FieldWord {
  Field field{};
  bool is_sigma = false;
};
/// The field that a name means, or its standard deviation: gz, Gz, g_z, tmi-exact, gz_sigma, sigma_gz. Case, blanks,
/// `_`, `-` and `.` do not matter. A name with a unit, or any other word, gives nothing.
[[nodiscard]] std::optional<FieldWord> field_meant(std::string_view name);

/// The factor from a unit to the field's unit in the output; nothing for an unknown unit, 1 for "". Spellings are those
/// of people and UDUNITS: mGal, MGAL, m/s2, um s^-2, gu, E, 1e-9 s-2, nanotesla.
[[nodiscard]] std::optional<double> unit_factor(Field field, std::string_view unit);
/// The error for a unit without such a factor: "is in 'mm'; mGal, Gal, uGal, m/s2, um/s2 (gu) or nm/s2 is expected:
/// change the numbers and the unit".
[[nodiscard]] std::string unit_error(Field field, std::string_view unit);

/// A word in cases and its meaning.
template <class T>
struct Choice {
  const char* word;
  T meaning;
};

inline constexpr std::array axes_choices = {Choice<Axes>{"z_down", Axes::z_down}, Choice<Axes>{"z_up", Axes::z_up}};
inline constexpr std::array space_choices = {
    Choice<Space>{"default", Space::automatic}, Choice<Space>{"serial", Space::serial},
    Choice<Space>{"openmp", Space::openmp}, Choice<Space>{"cuda", Space::cuda}, Choice<Space>{"hip", Space::hip}};
inline constexpr std::array partition_choices = {
    Choice<Partition>{"auto", Partition::automatic}, Choice<Partition>{"prisms", Partition::prisms},
    Choice<Partition>{"points", Partition::points}, Choice<Partition>{"points_per_prism", Partition::points_per_prism}};
inline constexpr std::array kernel_choices = {Choice<KernelKind>{"auto", KernelKind::automatic},
                                              Choice<KernelKind>{"corners", KernelKind::corners}};
inline constexpr std::array precision_choices = {Choice<Precision>{"double", Precision::double_},
                                                 Choice<Precision>{"single", Precision::single}};
inline constexpr std::array method_choices = {
    Choice<Method>{"auto", Method::automatic}, Choice<Method>{"direct", Method::direct},
    Choice<Method>{"mesh", Method::mesh}, Choice<Method>{"fft", Method::fft}, Choice<Method>{"tree", Method::tree}};
/// The methods of this version; compute/method.hpp declares them.
inline constexpr std::array built_methods = {Method::direct, Method::tree, Method::fft};
inline constexpr std::array inside_choices = {
    Choice<Inside>{"B", Inside::flux_density}, Choice<Inside>{"H", Inside::field_strength},
    Choice<Inside>{"nan", Inside::nan}, Choice<Inside>{"cavity", Inside::cavity},
    Choice<Inside>{"borehole", Inside::borehole}};
inline constexpr std::array unknown_choices = {Choice<Unknown>{"density", Unknown::density},
                                               Choice<Unknown>{"susceptibility", Unknown::susceptibility},
                                               Choice<Unknown>{"magnetization", Unknown::magnetization}};
inline constexpr std::array store_choices = {
    Choice<Store>{"auto", Store::automatic}, Choice<Store>{"memory", Store::memory},
    Choice<Store>{"device", Store::device}, Choice<Store>{"file", Store::file}, Choice<Store>{"none", Store::none}};
inline constexpr std::array trend_choices = {
    Choice<Trend>{"none", Trend::none}, Choice<Trend>{"constant", Trend::constant},
    Choice<Trend>{"linear", Trend::linear}, Choice<Trend>{"quadratic", Trend::quadratic}};
inline constexpr std::array weighting_choices = {Choice<WeightingKind>{"sensitivity", WeightingKind::sensitivity},
                                                 Choice<WeightingKind>{"depth", WeightingKind::depth},
                                                 Choice<WeightingKind>{"distance", WeightingKind::distance},
                                                 Choice<WeightingKind>{"none", WeightingKind::none}};
inline constexpr std::array stored_precision_choices = {Choice<StoredPrecision>{"double", StoredPrecision::double_},
                                                        Choice<StoredPrecision>{"float", StoredPrecision::float_},
                                                        Choice<StoredPrecision>{"float16", StoredPrecision::float16}};

/// The remedy in messages about a missing inducing field.
inline constexpr const char* inducing_field_remedy =
    "write magnetic: {inducing_field: {inclination: -62.5, declination: 11.25, intensity: 48250}} with the Earth's "
    "field at the survey (degrees, nT)";

/// The error of magnetic operators for Inside::nan.
inline constexpr const char* no_nan_in_products =
    "is nan, which leaves no number to invert or to multiply; use B, H, cavity or borehole";

/// The error for a method that this version lacks, to follow "is METHOD, "; "" for other methods and auto.
[[nodiscard]] std::string method_problem(Method method);

/// The axes that a word names, if it does.
[[nodiscard]] std::optional<Axes> axes_named(std::string_view word) noexcept;

}  // namespace prismfield
