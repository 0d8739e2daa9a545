// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/edges_file.hpp"

#include <utility>

#include "io/text_table.hpp"
#include "model/cells.hpp"
#include "model/edges.hpp"

namespace prismfield {

std::vector<double> read_edges(const InputFile& file, const std::string& name, ProblemList& problems) {
  if (is_array_file(file))
    throw file.error("is HDF5 or netCDF; edges are read from text, numbers separated by blanks, commas or line ends");
  NumbersRequest request;
  request.several_a_line = true;
  request.what = name;
  // one more than there may be is enough to be refused
  request.count = most_cells_in_a_direction + 2;
  const std::size_t before = problems.size();
  Numbers numbers = read_numbers(file, request, problems);
  // text that was read as 0 would be reported twice
  if (problems.size() == before) {
    check_edges(
        numbers.values, file.path.string(), name, [&](std::size_t i) { return line_of(file, numbers.lines[i]); },
        problems);
  }
  return std::move(numbers.values);
}

}  // namespace prismfield
