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

#include "io/density_file.hpp"
#include "io/observed_data.hpp"
#include "model/axis.hpp"
#include "model/inversion_settings.hpp"

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
  /// kg/m3 everywhere, or a density file on the mesh
  std::variant<double, DensityFile> reference = 0.0;
  std::optional<TopographySpec> topography;
  InversionSettings settings;
};

}  // namespace prismfield
