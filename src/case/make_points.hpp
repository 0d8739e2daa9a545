// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "base/checksum.hpp"

namespace prismfield {

class Communicator;
class Model;
class Terrain;
struct AboveTerrain;
struct Case;
struct StationColumns;

/// What the points of a case lie above; null when they have heights of their own.
[[nodiscard]] const AboveTerrain* above_terrain(const Case& run);
/// True when the points lie above model.terrain and cannot be made without it.
[[nodiscard]] bool points_need_terrain(const Case& run);
/// True when the points cannot be made from the case alone.
[[nodiscard]] bool points_from_files(const Case& run);

/// The points that a case's observations describe, the same on every rank; rank 0 alone reads and validates the files
/// that they name. `bounds` of the model give the default ranges of random stations, `terrain` is the model when it is
/// one: heights above it count from its water where that is higher, unless the case has a sea level of its own for
/// them. What users should know of the files is added to rank 0's `notes`; its
/// `columns`, when they are wanted, get what a station file has beside the places. Throws InputError with every error
/// found, the same on every rank, and AgreedFailure for failures. Collective.
[[nodiscard]] Points make_points(const Case& run, const Bounds& bounds, const Communicator& communicator,
                                 std::vector<std::string>& notes, const Terrain* terrain = nullptr,
                                 StationColumns* columns = nullptr);

/// Of all that a case's fields depend on: its identity and what was read from its files, model and points as they are
/// computed with. The same on every rank, for any number of ranks.
[[nodiscard]] Digest case_hash(const Case& run, const Model& model, const Points& points);

}  // namespace prismfield
