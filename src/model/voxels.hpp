// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "case/case.hpp"
#include "model/ensemble.hpp"

namespace prismfield {

/// The ensemble that model.voxels describes, never held as a list: equal cells, with spheres and then boxes painted
/// over the background, later ones over earlier ones. A cell belongs to a sphere when its centre is within the radius,
/// to a box when min <= centre < max. Cells of density 0 are left out. Throws InputError with every mistake found.
[[nodiscard]] std::unique_ptr<Ensemble> make_voxels(const Case& run, const VoxelsSpec& spec);

}  // namespace prismfield
