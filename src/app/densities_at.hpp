// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// The density of the prisms at each point of a result, kg/m3, in the order of its fields: 0 outside of all, the sum
/// where prisms overlap, NaN on their faces to rounding. Throws InputError, RunError for a file without points.
[[nodiscard]] std::vector<double> densities_at(const std::filesystem::path& result, const PrismSource& prisms);

}  // namespace prismfield
