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
#include <prismfield/inverted_model.hpp>

#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "case/make_inversion.hpp"
#include "writers/result_file.hpp"

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

/// A file that an inversion writes, and about how long it will be.
struct ModelFileSize {
  std::string key;
  std::filesystem::path file;
  std::int64_t bytes = 0;
};

/// The model's own file first, then those of output.also.
[[nodiscard]] std::vector<ModelFileSize> model_file_sizes(const Case& run, const InversionInputs& inputs);

/// Throws InputError, before anything is computed, when the disks of the result and the checkpoint have less room than
/// these take. `checkpoint_bytes`: of all ranks together. For rank 0.
void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes);

/// The same for an inversion: the files that it writes.
void check_model_disks(const Case& run, const std::vector<ModelFileSize>& files);

/// Writes what was computed. Throws RunError, which names the checkpoint where there is one: it holds what was done.
void write_computed(const std::optional<std::filesystem::path>& checkpoint, const std::function<void()>& write);

/// Minimum, maximum and RMS of the values that write_result writes, one field in memory at a time, as the table that
/// the terminal shows, aligned, in fewer digits where 67 columns are not there: down to three digits in 50 columns; 0:
/// no limit. Values that are not numbers are left out.
[[nodiscard]] std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns = 0);

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
