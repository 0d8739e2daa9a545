// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string_view>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/result.hpp>

#include "io/result_values.hpp"
#include "model/terrain.hpp"

namespace prismfield {

/// Variables beside gz in the result of a terrain.
inline constexpr int n_terrain_variables = 3;
/// Whether a variable of this name is one of these.
[[nodiscard]] bool is_terrain_variable(std::string_view variable);
/// Whether a variable of this name has the sign of gz, which turns with the axes.
[[nodiscard]] bool turns_with_gz(std::string_view variable);

/// What a result of a terrain has beside its gz, which is the terrain's whole effect: `terrain_height` (m, below the
/// point, NaN outside the terrain), `bouguer_slab` (mGal, sign and axes as gz: the infinite slab between reference and
/// that height, with water where the terrain has it) and `terrain_correction` (mGal: the attraction, at the point, of
/// the same slab cut at the DEM's edges minus gz, without noise). They refer to all arguments but the header, which
/// must outlive them; the result must have gz.
[[nodiscard]] std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points,
                                                           const Fields& result, const Terrain& terrain);

}  // namespace prismfield
