// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>

#include <prismfield/fields.hpp>
#include <prismfield/forms.hpp>

namespace prismfield {

/// Floating-point operations of one pair in double and in float.
struct OperationCount {
  std::int64_t in_double = 0, in_float = 0;

  constexpr bool operator==(const OperationCount&) const noexcept = default;
};

inline constexpr std::size_t n_field_sets = static_cast<std::size_t>(FieldSet::all) + 1;

/// By precision (double, mixed, single), field set and form: tests/test_operation_table.cpp counts them by the kernel's
/// own source and prints this table where it says something else.
// clang-format off
inline constexpr std::array<std::array<std::array<OperationCount, n_forms>, n_field_sets>, 3> operation_table{{
  {{
    {{{789, 0}, {645, 0}, {96, 0}, {66, 0}, {46, 0}, {34, 0}, {28, 0}, {1145, 0}}},
    {{{1197, 0}, {1147, 0}, {180, 0}, {110, 0}, {66, 0}, {42, 0}, {32, 0}, {2237, 0}}},
    {{{1131, 0}, {886, 0}, {353, 0}, {207, 0}, {121, 0}, {79, 0}, {69, 0}, {2171, 0}}},
    {{{1269, 0}, {1165, 0}, {359, 0}, {213, 0}, {127, 0}, {85, 0}, {75, 0}, {2345, 0}}},
    {{{1374, 0}, {1342, 0}, {429, 0}, {253, 0}, {147, 0}, {93, 0}, {77, 0}, {2507, 0}}},
  }},
  {{
    {{{14, 616}, {14, 544}, {7, 93}, {7, 63}, {7, 43}, {7, 31}, {7, 25}, {19, 844}}},
    {{{18, 972}, {18, 958}, {9, 177}, {9, 107}, {9, 63}, {9, 39}, {9, 29}, {21, 1646}}},
    {{{24, 900}, {24, 763}, {12, 350}, {12, 204}, {12, 118}, {12, 76}, {12, 66}, {24, 1577}}},
    {{{30, 1032}, {30, 964}, {15, 356}, {15, 210}, {15, 124}, {15, 82}, {15, 72}, {27, 1748}}},
    {{{32, 1135}, {32, 1103}, {16, 426}, {16, 250}, {16, 144}, {16, 90}, {16, 74}, {28, 1909}}},
  }},
  {{
    {{{0, 630}, {0, 558}, {0, 100}, {0, 70}, {0, 50}, {0, 38}, {0, 32}, {0, 863}}},
    {{{0, 990}, {0, 976}, {0, 186}, {0, 116}, {0, 72}, {0, 48}, {0, 38}, {0, 1667}}},
    {{{0, 924}, {0, 787}, {0, 362}, {0, 216}, {0, 130}, {0, 88}, {0, 78}, {0, 1601}}},
    {{{0, 1062}, {0, 994}, {0, 371}, {0, 225}, {0, 139}, {0, 97}, {0, 87}, {0, 1775}}},
    {{{0, 1167}, {0, 1135}, {0, 442}, {0, 266}, {0, 160}, {0, 106}, {0, 90}, {0, 1937}}},
  }},
}};
// clang-format on

}  // namespace prismfield
