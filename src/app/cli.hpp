// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>

#include "case/case.hpp"
#include "io/compare_results.hpp"
#include "io/file_content.hpp"

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

}  // namespace prismfield
