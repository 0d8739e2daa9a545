// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// `prismfield info --cases FILE`: reads and validates cases, and says as JSON what other programs, such as studies,
/// have to know of them. FILE is JSON:
///
///     {"file": "folder/base.yaml", "command": "run", "cases": ["model: ...", ...], "densities_at": "result.h5"}
///
/// `file` names the cases in messages, and inputs are relative to its folder; `command` is run, sensitivity or invert.
/// Each case becomes {"problems": [[where, key, what], ...], "inputs"} or {"space", "precision", "fields", "rank_grid",
/// "partition_where", "inputs", "gravitational_constant"}. With `densities_at`, whose fields lie at the points of the
/// result, the first also has the density at each point, null on faces of prisms. Throws InputError, RunError.
[[nodiscard]] std::string case_facts_json(const std::filesystem::path& file);

/// The density of the prisms at each point of a result, kg/m3, in the order of its fields: 0 outside of all, the sum
/// where prisms overlap, NaN on their faces to rounding. Throws InputError, RunError for a file without points.
[[nodiscard]] std::vector<double> densities_at(const std::filesystem::path& result, const PrismSource& prisms);

}  // namespace prismfield
