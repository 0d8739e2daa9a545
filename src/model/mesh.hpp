// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>
#include <string>

#include "model/cells.hpp"

namespace prismfield {

/// An ensemble of rectilinear cells between `edges`, never held as a list. Cells of density 0 are left out.
/// Throws InputError by key, `edges_key` for numbers of cells that cannot be.
[[nodiscard]] std::unique_ptr<Cells> make_mesh(CellEdges edges, const std::string& edges_key,
                                               const MakeBackground& background);

}  // namespace prismfield
