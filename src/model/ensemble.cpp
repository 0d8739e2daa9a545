// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/ensemble.hpp"

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "io/prisms.hpp"
#include "model/cells.hpp"
#include "model/mesh.hpp"
#include "model/voxels.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {

void Ensemble::hold(IndexRange, const Communicator&) {}

Ensemble::HoldMemory Ensemble::memory_to_hold(IndexRange) const noexcept { return {memory_bytes(), memory_bytes()}; }

namespace {

bool names_file(const DensitySpec& density) { return std::holds_alternative<DensityFile>(density); }

/// True when the cells of a model cannot be made from the case alone.
bool names_file(const ModelSpec& model) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&model)) return names_file(voxels->density);
  const auto* mesh = std::get_if<MeshSpec>(&model);
  if (mesh == nullptr) return false;
  const auto edges_in_file = [](const EdgesSpec& edges) { return std::holds_alternative<EdgesFile>(edges); };
  return mesh->ubc || names_file(mesh->density) || edges_in_file(mesh->easting) || edges_in_file(mesh->northing) ||
         edges_in_file(mesh->upward);
}

}  // namespace

std::unique_ptr<Ensemble> make_ensemble(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) return make_voxels(run, *voxels);
  if (const auto* prisms = std::get_if<PrismsSpec>(&run.model)) return make_prisms(run, *prisms);
  if (const auto* mesh = std::get_if<MeshSpec>(&run.model)) return make_mesh(run, *mesh);
  throw InputError(run.where("model"), "model", "is missing; prisms, voxels or mesh is needed");
}

std::unique_ptr<Ensemble> make_ensemble(const Case& run, const Communicator& communicator) {
  if (const auto* prisms = std::get_if<PrismsSpec>(&run.model)) return make_prisms(run, *prisms, communicator);
  // What is computed from the case alone is made by each rank for itself.
  const bool read_by_root = names_file(run.model);
  std::unique_ptr<Ensemble> ensemble;
  agree_on_input(communicator, [&] {
    if (!read_by_root || communicator.rank() == 0) ensemble = make_ensemble(run);
  });
  return read_by_root ? share_cells(std::move(ensemble), communicator) : std::move(ensemble);
}

}  // namespace prismfield
