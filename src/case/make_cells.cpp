// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_cells.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/prisms.hpp>

#include "case/places.hpp"
#include "io/cell_file.hpp"
#include "io/exchange_files.hpp"
#include "model/edges.hpp"
#include "model/prism_check.hpp"
#include "model/voxels.hpp"

namespace prismfield {
namespace {

std::vector<double> edges_of(const Case& run, const EdgesSpec& spec, std::size_t direction, ProblemList& problems) {
  const auto make = [&](const auto& edges) {
    using Spec = std::decay_t<decltype(edges)>;
    if constexpr (std::is_same_v<Spec, EdgesFile>) {
      const std::string name = direction_names[direction];
      return read_edges(input_file(run, edges.file, "model.mesh." + name + ".file"), name, problems);
    } else {
      return make_edges(edges, direction, problems);
    }
  };
  return std::visit(make, spec);
}

CellGrid unchecked_grid(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) {
    CellGrid grid{voxel_edges(*voxels), {}};
    grid.rounding = rounding_of_voxels(grid.edges);
    return grid;
  }
  const auto* mesh = std::get_if<MeshSpec>(&run.model);
  if (mesh == nullptr) throw InputError("", "model", "is missing; voxels or mesh is needed");
  if (!mesh->ubc) return mesh_grid(run, *mesh);
  return {read_ubc_mesh(input_file(run, mesh->ubc->mesh, "model.mesh.ubc.mesh")), {}};
}

}  // namespace

bool edges_in_files(const ModelSpec& model) {
  const auto* mesh = std::get_if<MeshSpec>(&model);
  if (mesh == nullptr) return false;
  const auto in_file = [](const EdgesSpec& edges) { return std::holds_alternative<EdgesFile>(edges); };
  return mesh->ubc || in_file(mesh->easting) || in_file(mesh->northing) || in_file(mesh->upward);
}

CellGrid mesh_grid(const Case& run, const MeshSpec& spec) {
  ProblemList problems;
  CellGrid grid;
  const std::array<const EdgesSpec*, 3> specs = {&spec.easting, &spec.northing, &spec.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    try {
      grid.edges[d] = edges_of(run, *specs[d], d, problems);
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  for (std::size_t d = 0; d < 3; ++d) {
    if (std::holds_alternative<Axis>(*specs[d])) grid.rounding[d] = rounding_of_edges(grid.edges[d]);
  }
  return grid;
}

CellGrid make_cell_grid(const Case& run) {
  CellGrid grid = unchecked_grid(run);
  const std::string key = std::holds_alternative<VoxelsSpec>(run.model) ? "model.voxels" : "model.mesh";
  check_cell_counts(counts_of(grid.edges), key);
  ProblemList problems;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = grid.edges[d];
    if (std::max(std::abs(edges.front()), std::abs(edges.back())) <= max_coordinate) continue;
    problems.add("", key + "." + direction_names[d], beyond_coordinates());
  }
  problems.throw_if_any();
  return grid;
}

}  // namespace prismfield
