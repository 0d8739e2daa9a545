// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Tables and lists of numbers in text. The first letter says which (p prisms, s stations, e edges, d densities,
// h heights), the next how they are read, up to the end of that line; the file follows.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/points.hpp>

#include "fuzz_input.hpp"
#include "io/density_file.hpp"
#include "io/edges_file.hpp"
#include "io/height_file.hpp"
#include "io/prisms.hpp"
#include "io/station_file.hpp"

namespace prismfield::fuzz {
namespace {

void require_finite(const std::vector<double>& values) {
  for (const double value : values) require(std::isfinite(value), "a number that is none was read");
}

void read_prism_list(const InputFile& file, unsigned how) {
  PrismsSpec spec;
  spec.file = file.path;
  spec.z_down = (how & 1U) != 0;
  spec.allow_overlap = (how & 2U) != 0;
  if ((how & 4U) != 0) spec.columns = {"west", "east", "south", "north", "bottom", "top", "density"};
  if ((how & 8U) != 0) spec.columns = {"density", "x1", "x2", "y1", "y2", "z1", "z2"};
  if ((how & 16U) != 0) spec.length_to_si = 1000;
  const auto prisms = read_prisms(file, spec);
  PrismBlock block;
  prisms->read({0, prisms->size()}, block);
  require(block.size() == prisms->size(), "prisms are missing");
  for (std::size_t i = 0; i < block.west.size(); ++i) {
    require(block.west[i] < block.east[i] && block.south[i] < block.north[i] && block.bottom[i] < block.top[i] &&
                std::isfinite(block.density[i]),
            "a prism that cannot be");
  }
}

void read_edges_list(const InputFile& file) {
  ProblemList problems;
  const std::vector<double> edges = read_edges(file, "easting", problems);
  problems.throw_if_any();
  require_finite(edges);
}

void run(Bytes bytes) {
  static InputBytes bytes_in_file("input");
  const unsigned kind = bytes.byte();
  const unsigned how = bytes.byte();
  (void)bytes.before("\n");
  const InputFile file = bytes_in_file.input(bytes.rest());
  const auto few = static_cast<std::int64_t>(how % 4 + 1);
  ends_clearly([&] {
    switch (kind) {
      case 'p': read_prism_list(file, how); break;
      case 's': {
        const Points points = read_stations(file);
        for (const auto* column : {&points.easting, &points.northing, &points.upward}) require_finite(*column);
        break;
      }
      case 'e': read_edges_list(file); break;
      case 'd': {
        const std::vector<double> densities = read_densities(file, {file.path, "", 1}, {few, 2, 1});
        require(static_cast<std::int64_t>(densities.size()) == few * 2, "densities are missing");
        require_finite(densities);
        break;
      }
      case 'h': require_finite(read_heights(file, {0, 1, 2}, {0, 100})); break;
      default: break;
    }
  });
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
