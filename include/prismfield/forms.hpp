// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// The forms of the prism field that kernels choose from. Results count pairs by form.
enum class Form : int {
  compact,
  difference_free,
  multipole_12,
  multipole_10,
  multipole_8,
  multipole_6,
  multipole_4,
  multipole_2,
  multipole_0,
  corners
};
inline constexpr int n_forms = static_cast<int>(Form::corners) + 1;

/// Truncation error of a multipole relative to the prism's gradient tensor, in double precision: the default, and the
/// least that a request can ask for, which is below rounding.
inline constexpr double default_truncation = 9.8e-13, least_truncation = 1e-15;

/// The name of a form in /performance and tables.
[[nodiscard]] constexpr const char* name(Form form) noexcept {
  switch (form) {
    case Form::compact: return "compact";
    case Form::difference_free: return "difference_free";
    case Form::multipole_12: return "multipole_12";
    case Form::multipole_10: return "multipole_10";
    case Form::multipole_8: return "multipole_8";
    case Form::multipole_6: return "multipole_6";
    case Form::multipole_4: return "multipole_4";
    case Form::multipole_2: return "multipole_2";
    case Form::multipole_0: return "multipole_0";
    case Form::corners: break;
  }
  return "corners";
}

}  // namespace prismfield
