// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "ensemble.hpp"

#include "case.hpp"
#include "error.hpp"
#include "mesh.hpp"
#include "prisms.hpp"
#include "voxels.hpp"

namespace prismfield {

void PrismBlock::resize(std::int64_t n) {
  for (auto* column : {&west, &east, &south, &north, &bottom, &top, &density}) {
    column->resize(static_cast<std::size_t>(n));
  }
}

std::unique_ptr<Ensemble> make_ensemble(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) return make_voxels(run, *voxels);
  if (const auto* prisms = std::get_if<PrismsSpec>(&run.model)) return make_prisms(run, *prisms);
  if (const auto* mesh = std::get_if<MeshSpec>(&run.model)) return make_mesh(run, *mesh);
  throw InputError(run.where("model"), "model", "is missing; prisms, voxels or mesh is needed");
}

}  // namespace prismfield
