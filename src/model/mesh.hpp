// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "case/case.hpp"
#include "model/ensemble.hpp"

namespace prismfield {

/// The ensemble that model.mesh describes, never held as a list: rectilinear cells whose edges are listed, drawn at
/// random or read from files, UBC's mesh and density files among them. Cells of density 0 are left out. Throws
/// InputError with every mistake found.
[[nodiscard]] std::unique_ptr<Ensemble> make_mesh(const Case& run, const MeshSpec& spec);

}  // namespace prismfield
