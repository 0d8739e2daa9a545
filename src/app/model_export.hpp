// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <prismfield/inverted_model.hpp>

#include "case/case.hpp"
#include "case/make_inversion.hpp"

namespace prismfield {

/// A file that an inversion writes, and about how long it will be.
struct ModelFileSize {
  std::string key;
  std::filesystem::path file;
  std::int64_t bytes = 0;
};

/// The model's own file first, then those of output.also.
[[nodiscard]] std::vector<ModelFileSize> model_file_sizes(const Case& run, const InversionInputs& inputs);

/// What became of the files of output.also.
struct ExportedModel {
  /// a line a file that was written: format, cells, units, order, inactive cells
  std::vector<std::string> lines;
  std::vector<std::string> notes;
  /// a line a file that was not, with the command that makes it from the model's own file
  std::vector<std::string> failures;
};

/// Writes a model to the files of output.also as `prismfield convert` would from the model's own file, which is there:
/// each under a temporary name, renamed when complete; one that cannot be written leaves the others alone.
[[nodiscard]] ExportedModel export_model(const Case& run, const InvertedModel& model);

}  // namespace prismfield
