// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/inversion_settings.hpp>

#include "io/cell_file.hpp"
#include "io/observed_data.hpp"
#include "model/axis.hpp"

namespace prismfield {

/// inversion.topography
struct TopographySpec {
  std::filesystem::path file;
  /// of a table without header
  std::vector<std::string> columns;
};

/// The section `inversion` of a case, as its keys say it.
struct InversionSpec {
  /// data set by data set, each epoch by epoch
  std::vector<ObservedDataFile> data;
  /// the key that names each file, such as inversion.data.0.file
  std::vector<std::string> data_keys;
  /// of every data set; 1 where there are no epochs
  std::int64_t n_epochs = 1;
  /// names of the epochs; empty: those of the first data set's files
  std::vector<std::string> epoch_labels;
  std::optional<SigmaRule> sigma;
  /// a number was written as sigma, which is for data of one field; `sigma` has it for every field
  bool sigma_is_of_one_field = false;
  /// kg/m3 everywhere, or a density file on the mesh
  std::variant<double, DensityFile> reference = 0.0;
  /// the same; unset: the reference
  std::optional<std::variant<double, DensityFile>> start;
  /// the file with the datasets lower and upper
  std::optional<DensityFile> bounds;
  std::optional<DensityFile> cell_weights, active;
  std::optional<TopographySpec> topography;
  InversionSettings settings;
};

/// Bounds as a case writes them: "[0, null]".
[[nodiscard]] std::string bounds_text(const Range& bounds);

}  // namespace prismfield
