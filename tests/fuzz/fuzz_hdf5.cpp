// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// HDF5 and netCDF-4. The first letter says who reads: p prisms, d densities, h heights, g heights of a surface, t a
// terrain, o observed data, r those with standard deviations by a rule, s sensitivities, any other everything there is;
// the file follows.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/hdf5_file.hpp"
#include "fuzz_input.hpp"
#include "readers/cell_file.hpp"
#include "readers/prism_file.hpp"
#include "survey_files.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield::fuzz {
namespace {

void read_everything(const std::filesystem::path& path) {
  const Hdf5File file = Hdf5File::open(path);
  for (const char* group : {"/", "/group"}) {
    std::vector<std::string> names;
    ends_clearly([&] { names = file.dataset_names(group); });
    for (const std::string& name : names) {
      const std::string dataset = std::string(group) == "/" ? "/" + name : std::string(group) + "/" + name;
      ends_clearly([&] {
        require(file.shape(dataset).size() == file.dimension_names(dataset).size(), "dimensions are missing");
      });
      ends_clearly([&] { (void)file.read(dataset); });
      ends_clearly([&] { (void)file.read_integers(dataset); });
      ends_clearly([&] { (void)file.read_texts(dataset); });
      for (const char* attribute : {"units", "CLASS"}) {
        ends_clearly([&] { (void)file.read_text_attribute(dataset, attribute); });
      }
    }
  }
  for (const char* attribute : {"number", "text"}) {
    ends_clearly([&] { (void)file.read_attribute("/", attribute); });
    ends_clearly([&] { (void)file.read_text_attribute("/", attribute); });
  }
}

void read_prism_list(const InputFile& file) {
  PrismsSpec spec;
  spec.file = file.path;
  const auto prisms = read_prisms(file, spec);
  PrismBlock block;
  prisms->read({0, prisms->size()}, block);
  require(block.size() == prisms->size(), "prisms are missing");
}

void read_sensitivities(const InputFile& file) {
  const ActiveCells cells(CellEdges{{{0, 1, 2}, {0, 1}, {-1, 0}}});
  Points points;
  points.easting = {0, 1};
  points.northing = {0, 0};
  points.upward = {1, 1};
  SensitivityHeader header;
  header.cells = &cells;
  RowFile rows{file.path, points, {}, StoredPrecision::double_};
  rows.request.fields = {Field::potential};
  std::string model_hash;
  const auto source = open_sensitivity_file(rows, cells.size(), header.axes, identity_of(header, rows), model_hash);
  std::vector<double> values(4);
  source->read(0, {0, 2}, std::as_writable_bytes(std::span(values)));
  require(values == std::vector<double>{1, 2, 3, 4}, "rows that nobody wrote");
}

void run(Bytes bytes) {
  static InputBytes bytes_in_file("input");
  const unsigned kind = bytes.byte();
  const InputFile file = bytes_in_file.input(bytes.rest());
  ends_clearly([&] {
    switch (kind) {
      case 'p': read_prism_list(file); break;
      case 'd':
        require(read_densities(file, {file.path, "", 1}, few_cells()).size() == 12,
                "densities of another number than the cells");
        break;
      case 'h': require(read_draped(file).size() == 6, "heights of another number than the grid's points"); break;
      case 'g': read_surface(file, 0); break;
      case 't': read_terrain(file); break;
      case 'o': read_measurements(file, 0); break;
      case 'r': read_measurements(file, 16); break;
      case 's': read_sensitivities(file); break;
      default: read_everything(file.path);
    }
  });
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
