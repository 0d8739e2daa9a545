// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/prism_file.hpp"

namespace prismfield {

/// Where an HDF5 or netCDF file holds the columns.
struct PrismDatasets {
  /// one a column; "" for a column that is missing or mistaken
  std::vector<std::string> datasets;
  /// prisms in the file
  std::int64_t length = 0;
};

/// Finds the columns and checks their shapes; errors are added to `problems`. Throws InputError, by its key, for a
/// group that the file lacks.
[[nodiscard]] PrismDatasets find_prisms(const ArrayFile& arrays, const InputFile& file, const PrismsSpec& spec,
                                        ProblemList& problems);

/// Numbers of `n` prisms of which the first has index `first` in the file.
[[nodiscard]] std::vector<std::int64_t> prism_indices(std::int64_t first, std::int64_t n);

/// The prisms of an HDF5 or netCDF file as it holds them, numbered by indices. Throws InputError with every error
/// found.
[[nodiscard]] RawPrisms read_prism_arrays(const InputFile& file, const PrismsSpec& spec);

}  // namespace prismfield
