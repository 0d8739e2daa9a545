// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>

#include "app/model_export.hpp"
#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "io/result_file.hpp"

namespace prismfield {

/// A header of a file beside the results of fields, with what each says of the case, the program and the machine.
template <class Header>
[[nodiscard]] Header header_for(const Case& run, const std::string& command, int ranks) {
  Header header;
  header.title = run.title;
  header.command = "prismfield " + command + " " + run.file.string();
  header.axes = run.axes;
  header.crs = run.crs;
  header.case_text = run.text;
  header.program = program_facts();
  header.use = machine_use(header.program, run.execution.space, ranks);
  return header;
}

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

/// Throws InputError, before anything is computed, when the disks of the result and the checkpoint have less room than
/// these take. `checkpoint_bytes`: of all ranks together. For rank 0.
void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes);

/// The same for an inversion: the files that it writes.
void check_model_disks(const Case& run, const std::vector<ModelFileSize>& files);

/// Writes what was computed. Throws RunError, which names the checkpoint where there is one: it holds what was done.
void write_computed(const std::optional<std::filesystem::path>& checkpoint, const std::function<void()>& write);

/// Minimum, maximum and RMS of each field as the table that the terminal shows, aligned, in fewer digits where 67
/// columns are not there: down to three digits in 50 columns; 0: no limit. Values that are not numbers are left out.
[[nodiscard]] std::string field_statistics(const FieldTable& table, std::int64_t n_points, std::size_t columns = 0);

/// The same for the values that write_result writes, one field in memory at a time.
[[nodiscard]] std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns = 0);

}  // namespace prismfield
