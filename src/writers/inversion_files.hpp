// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <prismfield/fields.hpp>
#include <prismfield/inverted_model.hpp>

#include "base/program_facts.hpp"
#include "formats/cf_attributes.hpp"

namespace prismfield {

/// What a model's file says of the inversion that made it.
struct ModelHeader : FileHeader {
  std::filesystem::path file;
  MachineUse use;
  /// how sensitivities were kept, one line a data set
  std::string sensitivities;
  /// bytes of G as it is kept, of all ranks and data sets; 0: it is computed anew
  std::int64_t stored_bytes = 0;
  double setup_seconds = 0, inversion_seconds = 0, total_seconds = 0;
};

/// The name of what a model's file has of each cell: density, magnetization_easting; and its words.
[[nodiscard]] std::string component_name(Unknown unknown, std::int64_t component);
[[nodiscard]] std::string component_words(Unknown unknown, std::int64_t component);

/// Writes the model as netCDF-4 (HDF5) that xarray, GMT and ParaView open: dimensions upward, northing, easting with
/// cell centres and CF bounds; `density` (upward, northing, easting) kg/m3, NaN in inactive cells, or `susceptibility`,
/// or `magnetization_easting`, `magnetization_northing`, `magnetization_upward` and `amplitude`, A/m; and, where there
/// are, `density_sigma`, `depth_of_investigation`, `resolution_trace` and its error as attributes; `density_solutions`
/// (solution, upward, northing, easting) where every solution was kept; group `convergence` (stage, beta, phi_d, chi,
/// phi_m, products, minimum, maximum, seconds); a group `data_1`, `data_2`, ... a data set: easting, northing, upward,
/// and per field <field>, <field>_sigma, <field>_predicted, <field>_residual (observed - predicted, over sigma), in
/// units and axes of the output, with the set's name as an attribute. Of several epochs values on cells are (epoch,
/// upward, northing, easting), `epoch` being the epochs' names, and each epoch of a data set has a group, with its
/// epoch as an attribute. Under a temporary name in the same folder, renamed when complete. Throws RunError,
/// leaving neither a half-written file nor a changed old one.
void write_model(const ModelHeader& header, const InvertedModel& model);

}  // namespace prismfield
