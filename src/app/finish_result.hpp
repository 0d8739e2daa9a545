// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>

#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "io/result_file.hpp"

namespace prismfield {

/// What a command knows of its result, besides the fields.
struct ResultEnd {
  ResultHeader header;
  /// before the fields were computed
  double setup_seconds = 0;
  /// holds what was done, once it is there
  std::optional<std::filesystem::path> checkpoint;
  /// said above the statistics
  std::string heading;
};

/// A header with what every command writes: the case, the program and the model's bounds.
[[nodiscard]] ResultHeader header_of(const Inputs& inputs);

/// Writes the fields, shows their statistics and warnings, draws the figure that the case asks for, and says what the
/// command took since `begin`; on rank 0 only. Throws RunError.
void end_with_result(const Inputs& inputs, const ResultEnd& end, const Fields& result, bool quiet, Moment begin);

}  // namespace prismfield
