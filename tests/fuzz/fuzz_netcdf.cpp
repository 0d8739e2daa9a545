// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// netCDF of the classic formats: every variable, and the readers that take such a file.
#include <cstdint>
#include <string>
#include <vector>

#include "formats/input_file.hpp"
#include "fuzz_input.hpp"
#include "readers/cell_file.hpp"
#include "survey_files.hpp"

namespace prismfield::fuzz {
namespace {

void read_variables(const std::filesystem::path& path) {
  const NetcdfClassic file(path);
  for (const std::string& name : file.dataset_names()) {
    ends_clearly([&] { (void)file.text_attribute(name, "units"); });
    ends_clearly([&] {
      const std::vector<std::int64_t> shape = file.shape(name);
      require(file.dimension_names(name).size() == shape.size(), "dimensions are missing");
      const std::vector<double> values = file.read(name);
      std::int64_t size = 1;
      for (const std::int64_t n : shape) size *= n;
      require(static_cast<std::int64_t>(values.size()) == size, "a variable of another size than its shape");
    });
  }
}

void run(std::string_view content) {
  static InputBytes bytes_in_file("input");
  const InputFile file = bytes_in_file.input(content);
  ends_clearly([&] { read_variables(file.path); });
  ends_clearly([&] { read_surface(file, 0); });
  ends_clearly([&] { read_terrain(file); });
  ends_clearly([&] { read_measurements(file, 16); });
  ends_clearly([&] { require(read_draped(file).size() == 6, "heights of another number than the grid's points"); });
  ends_clearly([&] {
    require(read_densities(file, {file.path, "density", 1}, few_cells()).size() == 12,
            "densities of another number than the cells");
  });
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
