// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// A mesh of UBC's programs and, behind a line "---", its densities: the model is made from both.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/prisms.hpp>

#include "fuzz_input.hpp"
#include "model/edges.hpp"
#include "model/properties.hpp"
#include "readers/exchange_files.hpp"

namespace prismfield::fuzz {
namespace {

void run(Bytes bytes) {
  static InputBytes mesh("mesh");
  static InputBytes density("density");
  const std::string_view mesh_text = bytes.before("\n---\n");
  const std::string_view model_text = bytes.rest();
  ends_clearly([&] {
    const auto cells = make_mesh(read_ubc_mesh(mesh.input(mesh_text)), "mesh", [&](const CellEdges& edges) {
      const CellCounts counts = counts_of(edges);
      CellBackground background;
      background[density_property].kind = PropertyFill::Kind::listed;
      background[density_property].values = read_ubc_densities(density.input(model_text), 1000, counts);
      require(
          static_cast<std::int64_t>(background[density_property].values.size()) == counts[0] * counts[1] * counts[2],
          "densities are missing");
      return background;
    });
    PrismBlock block;
    cells->read({0, cells->size()}, block);
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      require(block.west[i] < block.east[i] && block.south[i] < block.north[i] && block.bottom[i] < block.top[i],
              "a cell that cannot be");
    }
  });
  ends_clearly([&] {
    std::vector<std::string> notes;
    const PrismBlock cells = read_ubc_octree(mesh.input(mesh_text), notes);
    for (std::size_t i = 0; i < cells.west.size(); ++i) {
      require(cells.west[i] < cells.east[i] && cells.south[i] < cells.north[i] && cells.bottom[i] < cells.top[i],
              "a cell of an octree that cannot be");
    }
    const std::vector<double> values =
        read_ubc_values(density.input(model_text), 1, cells.size(), "the mesh", "density");
    require(static_cast<std::int64_t>(values.size()) == cells.size(), "densities of an octree are missing");
    for (const std::size_t property : {density_property, susceptibility_property}) {
      if (const auto air = find_air_mark(values, property, 1)) require(!air->text.empty(), "a mark without a text");
    }
  });
  ends_clearly([&] {
    const CellCounts counts = counts_of(read_ubc_mesh(mesh.input(mesh_text)));
    for (const std::vector<double>& component : read_ubc_vectors(density.input(model_text), 40, counts)) {
      require(static_cast<std::int64_t>(component.size()) == counts[0] * counts[1] * counts[2],
              "components are missing");
    }
  });
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
