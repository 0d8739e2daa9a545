// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>

#include "case/case.hpp"
#include "readers/compare_results.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// The options of commands that compute a case.
struct CaseOptions {
  std::filesystem::path file;
  /// key.path=value, in the order given
  std::vector<std::string> overrides;
  /// replaces output.file; empty: not given
  std::filesystem::path output;
  bool check = false;
  bool dry_run = false;
  bool resume = false;
  bool quiet = false;
};

/// prismfield run
struct RunOptions : CaseOptions {};

/// prismfield sensitivity
struct SensitivityOptions : CaseOptions {};

/// prismfield invert
struct InvertOptions : CaseOptions {};

/// prismfield compare
struct CompareOptions {
  std::filesystem::path a, b;
  PointMatch match = PointMatch::places;
  std::optional<double> tolerance;
  bool quiet = false;
};

/// prismfield study
struct StudyOptions {
  std::filesystem::path file;
  /// key.path=value, in the order given
  std::vector<std::string> overrides;
  /// the report's folder; empty: not given
  std::filesystem::path output;
  /// folders of reports that become one; empty: a study is run
  std::vector<std::filesystem::path> join;
  /// what the machine is called; empty: as its host
  std::string machine;
  bool reduced = false;
  bool check = false;
  bool dry_run = false;
  bool resume = false;
  bool quiet = false;
};

/// prismfield convert
struct ConvertOptions {
  std::filesystem::path in, out;
  /// unset: by suffix and content
  std::optional<FileFormat> from, to;
  /// empty: not given
  std::filesystem::path mesh;
  /// factors to kg/m3 of what is read and what is written; unset: as usual for the format
  std::optional<double> density_to_si, output_density_to_si;
  std::optional<Axes> axes, output_axes;
  /// "": not given
  std::string field;
  std::optional<InducingField> inducing_field;
  std::optional<double> inactive, output_inactive;
  bool quiet = false;
};

/// prismfield plot
struct PlotOptions {
  std::filesystem::path file;
  /// the figure; empty: not given
  std::filesystem::path output;
  FigureStyle style;
  bool quiet = false;
};

/// prismfield info
struct InfoOptions {
  bool calibrate = false;
  bool json = false;
  /// of case_facts_json(); empty: not given
  std::filesystem::path cases;
};

/// Text that was asked for by --help or --version.
struct HelpText {
  std::string text;
};

/// What the command line asks for.
struct CommandLine {
  std::variant<HelpText, RunOptions, SensitivityOptions, InvertOptions, CompareOptions, StudyOptions, ConvertOptions,
               PlotOptions, InfoOptions>
      command;
  /// Kokkos' own options, passed through as they are
  std::vector<std::string> kokkos_options;
};

/// Reads the arguments that follow the program's name. Throws InputError for an unknown command or option, with the
/// nearest spelling, and for missing or surplus arguments.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

/// The same for every command.
enum ExitCode : int { exit_done = 0, exit_failure = 1, exit_input = 2, exit_outside = 3, exit_stopped = 130 };

[[nodiscard]] constexpr ExitCode exit_code(ErrorKind kind) noexcept {
  return kind == ErrorKind::stopped ? exit_stopped : kind == ErrorKind::input ? exit_input : exit_failure;
}

/// What the program's exit codes mean.
inline constexpr std::pair<const char*, const char*> exit_codes[] = {
    {"0", "done"},
    {"1", "a failure while running, or an inversion that cannot reach its target"},
    {"2", "an error in the input or the arguments, and nothing was written"},
    {"3", "compare: outside its tolerance, or too little in common"},
    {"130", "stopped by a signal, with nothing half-written; --resume goes on from the checkpoint where there is one"}};

}  // namespace prismfield
