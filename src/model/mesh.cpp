// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/mesh.hpp"

#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {

std::unique_ptr<Cells> make_mesh(CellEdges edges, const std::string& edges_key, const MakeBackground& background) {
  const CellCounts counts = counts_of(edges);
  check_cell_counts(counts, edges_key);
  std::unique_ptr<Cells> cells = CellsBuilder("mesh", std::move(edges), background(counts)).build();
  if (cells->size() == 0) {
    throw InputError("", "model.mesh", "the density of every cell is 0; at least one must have a density");
  }
  return cells;
}

}  // namespace prismfield
