// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>

#include "case/case.hpp"
#include "case/yaml_tree.hpp"
#include "study/sweep.hpp"

namespace prismfield {

/// The order in which the runs of a repeat are made; a repeat begins when the one before it is done.
enum class RunOrder { random, as_written };

/// What a figure of a study shows.
struct StudyFigure {
  /// the axis along x, and what is drawn: field_seconds, pairs_per_second, speed_up, ...
  std::string x, y;
  /// axes whose values have a curve each
  std::vector<std::string> curves;
  bool log_x = false, log_y = false;
};

/// A curve of a paper: values at values of an axis.
struct PaperCurve {
  /// "" for the only one
  std::string name;
  std::vector<std::pair<std::string, double>> values;
};

/// What a paper shows in the place of a study.
struct PaperValues {
  std::string paper, figure, note;
  /// the quantity or table that the values belong to; "": that of the first figure
  std::string y;
  std::vector<PaperCurve> curves;
};

/// "study.yaml:7" by line.
using PlaceNames = std::map<std::int32_t, std::string>;

/// A study as the user described it. Nothing that it names was read but its base.
struct StudySpec {
  std::filesystem::path file;
  std::string title;
  /// the command that each run is
  CaseUse use = CaseUse::forward;
  /// the case that is varied, what --set and `reduced` change in it done
  YamlNode base;
  /// by which its errors are told; its inputs are relative to this file's folder
  std::filesystem::path base_file;
  std::vector<SweepAxis> axes;
  /// timed runs a point, and runs before them that are not counted
  int repeats = 5, warmup = 1;
  /// seconds; no run begins that will not end within them
  std::optional<double> time_budget;
  /// seconds after which a run is ended
  double run_limit = 3600;
  RunOrder order = RunOrder::random;
  std::uint64_t seed = 1;
  /// largest max|a-b| / max|b| of a field against the reference
  double tolerance = 1e-9;
  /// of the reference run of each problem, in the place of the points' own execution
  AxisValue reference;
  /// words with {ranks}, {threads} and {program}; empty: chosen for the machine
  std::vector<std::string> launcher;
  bool oversubscribe = false;
  /// the point that speed-ups refer to: axis and label
  std::vector<std::pair<std::string, std::string>> baseline;
  /// threads, ranks or devices: along which laws of scaling are fitted; "" where none is swept, none: nothing is
  std::string scaling;
  bool weak = false;
  bool keep_results = false, trace = false, histogram = false, busy = false;
  FieldList maps;
  /// as asked for; none: chosen by the axes
  std::vector<StudyFigure> figures;
  std::vector<PaperValues> compare_with;
  /// the folder that takes everything, relative to the working folder
  std::filesystem::path report;
  bool reduced = false;
  /// the study as it is run: what --set and `reduced` change in it done
  YamlNode tree;
  /// to which the values of the trees and settings refer
  std::shared_ptr<const PlaceNames> places;

  /// Whether the results of a point's first timed run and the references are kept.
  [[nodiscard]] bool keeps_results() const noexcept { return keep_results || trace || histogram || !maps.empty(); }
};

/// What the command line says of a study.
struct StudyOverrides {
  /// key.path=value, in the order given; keys of a case change the base
  std::vector<std::string> assignments;
  /// the folder of the report, "" for the study's own
  std::filesystem::path report;
  bool reduced = false;
};

/// What a command is called in a study and on the command line.
[[nodiscard]] const char* command_name(CaseUse use) noexcept;

/// The keys of a study.
[[nodiscard]] const Words& study_keys();
/// What a figure of a command's study can draw.
[[nodiscard]] Words figure_quantities(CaseUse use);

/// Reads and validates STUDY.yaml and the YAML of its base. Throws InputError with every error.
[[nodiscard]] StudySpec read_study_file(const std::filesystem::path& file, const StudyOverrides& overrides);

}  // namespace prismfield
