// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Tables and lists of numbers in text. The first letter says which (p prisms, s stations, e edges, d densities,
// h heights, c what is converted, g heights of a surface, t a terrain, o observed data), the next how they are read, up
// to the end of that line; the file follows.
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <prismfield/points.hpp>

#include "fuzz_input.hpp"
#include "readers/cell_file.hpp"
#include "readers/prism_file.hpp"
#include "readers/read_content.hpp"
#include "readers/station_file.hpp"
#include "survey_files.hpp"
#include "writers/write_content.hpp"

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

/// Stations, and what a result carries of their file: as many rows as stations, of the same places.
void read_station_list(const InputFile& file, unsigned how) {
  StationsFile spec(file.path);
  if ((how & 1U) != 0) spec.columns = {"x", "-", "y", "Z [km]"};
  if ((how & 2U) != 0) spec.length_to_si = 1000;
  if ((how & 4U) != 0) spec.z_down = (how & 8U) != 0;
  if ((how & 16U) != 0) spec.upward = 80.0;
  std::vector<std::string> notes;
  StationColumns own;
  const Points points = read_stations(file, spec, notes, &own);
  const auto n = static_cast<std::size_t>(points.size());
  require(n > 0 && points.northing.size() == n && points.upward.size() == n, "stations without places");
  for (const double north : points.northing) require(!std::isnan(north), "a place that is none");
  if (own.names.empty()) return;
  std::size_t rows = 0;
  own.text.each([&](std::size_t, const std::vector<std::string_view>& fields) {
    require(fields.size() == own.names.size(), "a row of other columns");
    ++rows;
  });
  require(rows == n, "the rows are not those of the stations");
}

void read_edges_list(const InputFile& file) {
  ProblemList problems;
  const std::vector<double> edges = read_edges(file, "easting", problems);
  problems.throw_if_any();
  require_finite(edges);
}

/// Finite places, and as many values as there are places or cells.
void require_whole(const FileContent& content) {
  if (const auto* points = std::get_if<PointFields>(&content)) {
    for (const auto* column : {&points->points.easting, &points->points.northing, &points->points.upward}) {
      require(static_cast<std::int64_t>(column->size()) == points->points.size(), "coordinates are missing");
      require_finite(*column);
    }
    require(static_cast<int>(points->values.size()) == points->fields.size() &&
                points->values.size() == points->sigma.size(),
            "fields are missing");
    for (const auto& values : points->values) {
      require(static_cast<std::int64_t>(values.size()) == points->points.size(), "values of points are missing");
    }
  }
  if (const auto* model = std::get_if<CellModel>(&content)) {
    const CellCounts counts = counts_of(model->edges);
    for (const auto& edges : model->edges) {
      for (std::size_t i = 1; i < edges.size(); ++i) require(edges[i] > edges[i - 1], "edges that do not rise");
    }
    for (const CellValues& values : model->values) {
      require(static_cast<std::int64_t>(values.values.size()) == counts[0] * counts[1] * counts[2],
              "values of cells are missing");
    }
  }
}

/// What `convert` reads from text without a mesh; what it writes of it reads as the same again.
void convert(const InputFile& file, unsigned how) {
  constexpr std::array formats{FileFormat::csv,      FileFormat::xyz,           FileFormat::ubc_mesh,
                               FileFormat::ubc_data, FileFormat::tomofast_grid, FileFormat::tomofast_data};
  ReadSpec spec;
  spec.file = file;
  spec.format = formats[how % formats.size()];
  if ((how & 64U) != 0) spec.format.reset();
  if ((how & 8U) != 0) spec.field = "gz";
  const ReadFile read = read_content(spec);
  require_whole(read.content);
  require(!describe(read.content).empty(), "nothing to say");
  if (const auto* model = std::get_if<CellModel>(&read.content)) {
    WriteSpec write;
    write.file = Folder::file("written.msh");
    write.format = FileFormat::ubc_mesh;
    (void)write_content(write, read.content);
    ReadSpec again;
    again.file = {write.file, "", ""};
    // far edges a few ulp apart may fall together
    (void)ends_clearly([&] {
      const ReadFile mesh = read_content(again);
      require(counts_of(std::get<CellModel>(mesh.content).edges) == counts_of(model->edges), "cells were lost");
    });
  }
}

void run(Bytes bytes) {
  static InputBytes bytes_in_file("input");
  static InputBytes bytes_in_observations("input.obs");
  const unsigned kind = bytes.byte();
  const unsigned how = bytes.byte();
  (void)bytes.before("\n");
  const bool as_observations = (kind == 'o' || kind == 's') && (how & 32U) != 0;
  const InputFile file = (as_observations ? bytes_in_observations : bytes_in_file).input(bytes.rest());
  const auto few = static_cast<std::int64_t>(how % 4 + 1);
  ends_clearly([&] {
    switch (kind) {
      case 'p': read_prism_list(file, how); break;
      case 's': read_station_list(file, how); break;
      case 'e': read_edges_list(file); break;
      case 'd': {
        std::vector<double> easting(static_cast<std::size_t>(few) + 1);
        std::iota(easting.begin(), easting.end(), 0);
        const std::vector<double> densities = read_densities(file, {file.path, "", 1}, {easting, {0, 1, 2}, {0, 1}});
        require(static_cast<std::int64_t>(densities.size()) == few * 2, "densities are missing");
        require_finite(densities);
        break;
      }
      case 'h': require_finite(read_draped(file)); break;
      case 'g': read_surface(file, how); break;
      case 't': read_terrain(file); break;
      case 'o': read_measurements(file, how); break;
      case 'c': convert(file, how); break;
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
