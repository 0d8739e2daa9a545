// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
// Written by generate_tables.py: do not edit.
// clang-format off
#pragma once

#include <array>

namespace prismfield::kernel {

/// largest error relative to the function: 6.0e-21
inline constexpr std::array<double, 9> log_tail_double = {
    6.6666666666666667e-1,
    3.9999999999999889e-1,
    2.8571428571501003e-1,
    2.2222222204125623e-1,
    1.8181820443537019e-1,
    1.5384456924232626e-1,
    1.3339832652348609e-1,
    1.1610374561707337e-1,
    1.2470102704843321e-1,
};

/// largest error relative to the function: 1.1e-8
inline constexpr std::array<float, 3> log_tail_float = {
    6.6666717e-1f,
    3.99779287e-1f,
    2.99915592e-1f,
};

/// largest error relative to the function: 4.7e-18
inline constexpr std::array<double, 11> atan_tail_double = {
    -3.333333333333333e-1,
    1.9999999999995517e-1,
    -1.4285714284665681e-1,
    1.1111111015187019e-1,
    -9.0909045753064891e-2,
    7.6921831253768921e-2,
    -6.6645105255089366e-2,
    5.8581409048663283e-2,
    -5.0854078345894843e-2,
    3.9230447784793095e-2,
    -1.9175404711104934e-2,
};

/// largest error relative to the function: 2.4e-9
inline constexpr std::array<float, 5> atan_tail_float = {
    -3.33333318e-1f,
    1.99995403e-1f,
    -1.42639498e-1f,
    1.07436683e-1f,
    -6.45171887e-2f,
};

}  // namespace prismfield::kernel
