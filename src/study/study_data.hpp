// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case/yaml_tree.hpp"
#include "study/run_row.hpp"
#include "study/statistics.hpp"

namespace prismfield {

/// What a small kernel reached on a machine, by execution space: `prismfield info --calibrate`. NaN: not known.
struct SpacePeak {
  /// operations per second, a fused multiply-add counting two
  double peak_double = not_known, peak_single = not_known;
  /// bytes per second of a + s b -> c
  double bandwidth = not_known;
  /// threads that reached it; 1 for a device
  std::int64_t threads = 1;
};

/// A machine's record.
struct StudyMachine {
  /// what its curves are called
  std::string name;
  std::string version, git;
  std::map<std::string, SpacePeak> peaks;
  /// machine.json as it was read
  std::string json = "{}";
};

/// Keys and texts.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// One axis of the sweep.
struct StudyAxis {
  std::string name;
  /// labels of the points, in the order of the study
  std::vector<std::string> values;
  /// key paths, or threads, ranks, devices, bind, that its values set: its own name unless they are maps
  std::vector<std::string> keys;
  /// what each value sets
  std::vector<Settings> settings;

  [[nodiscard]] bool sets(std::string_view key) const;
};

/// What the study asked for and kept.
struct StudyRules {
  /// run, sensitivity or invert
  std::string command = "run";
  double tolerance = 1e-9;
  std::int64_t repeats = 5, warmup = 1;
  std::string order = "random";
  std::uint64_t seed = 1;
  /// threads, ranks or devices; "": the first of them that is swept
  std::string scaling;
  bool weak = false;
  /// key and label of the point that speed-ups are relative to; empty: the one with the fewest workers
  Settings baseline;
  bool budget_forbade = false;
  std::vector<std::string> notes;
};

/// Of the first timed run of a point against the reference.
struct FieldError {
  std::int64_t point = 0;
  std::string field, unit;
  double rms_difference = not_known, largest_difference = not_known, largest_reference = not_known;
  double relative = not_known;
};

/// Relative differences by decade, as RelativeHistogram has them.
struct FieldHistogram {
  std::int64_t point = 0;
  std::string field;
  /// sizes below 10^lowest share the first decade
  std::int64_t lowest = 0, equal = 0;
  std::vector<std::int64_t> negative, positive;
};

/// gxx + gyy + gzz against 0 outside and -4 pi G rho inside.
struct TraceError {
  std::int64_t point = 0;
  std::string where;
  std::int64_t n = 0;
  double rms = not_known, largest = not_known, scale = not_known;
};

/// A result that stays for surface plots.
struct FieldMap {
  std::int64_t point = 0;
  std::string file;
  std::vector<std::string> fields;
};

/// When a slot, or -1, a whole device, was busy; seconds after the ranks' common start.
struct BusyRow {
  std::int64_t point = 0, rank = 0, slot = -1;
  double begin = 0, end = 0;
};

/// The timed runs of a point: median with its interval, and all of them.
struct Sample {
  Estimate median;
  std::vector<double> all;
};

/// Where a point stands between arithmetic and memory.
struct Roofline {
  /// operations of all pairs by the forms that they took, in double and in float
  double double_operations = not_known, single_operations = not_known;
  /// operations per second
  double arithmetic_rate = not_known;
  /// of the time that the operations need at the measured peak
  double fraction_of_peak = not_known;
  /// operations per byte that the kernel moves at most
  double intensity = not_known;
  /// arithmetic, memory or ""
  std::string bound;
};

/// A point of the sweep with what its runs came to. -1, NaN, "": not known.
struct StudyPoint {
  std::int64_t id = 0;
  /// index in StudyData::machines
  std::size_t machine = 0;
  /// one an axis
  std::vector<std::string> labels;
  RunStatus status = RunStatus::ok;
  std::string why;
  bool oversubscribed = false;
  std::string problem;
  std::string space, device, partition, precision, kernel;
  std::int64_t ranks = -1, threads = -1, devices = -1, slots = -1, batch = -1, block = -1, pairs = -1;
  std::array<std::int64_t, n_forms> pairs_by_form{-1, -1, -1, -1, -1, -1, -1, -1};
  Sample field_seconds, total_seconds, process_seconds, processor_seconds, pairs_per_second;
  double setup_seconds = not_known, output_seconds = not_known;
  double memory_bytes = not_known, scratch_bytes = not_known, energy_joules = not_known, largest_error = not_known,
         load = not_known;
  double busy_least = not_known, busy_most = not_known;
  /// medians
  Measures measures = no_measures;
  /// id of the point that speed-up and efficiency are relative to, -1 without one
  std::int64_t baseline = -1;
  Estimate speed_up, efficiency, karp_flatt;
  Roofline roofline;
  /// workers times the time from start to end of the process
  double core_seconds = not_known;

  /// devices, or else ranks x threads; -1: not known
  [[nodiscard]] std::int64_t workers() const;
};

/// Serial fractions of points that differ in one axis alone.
struct StudyFit {
  /// the axis, and threads, ranks or devices
  std::string along, key;
  std::size_t machine = 0;
  /// axis and label of all others
  Settings group;
  Estimate amdahl, gustafson;
  double seconds_of_one = not_known;
  std::vector<std::int64_t> points;
};

/// One way to compute a problem on every platform.
struct Portability {
  std::string problem;
  /// axis and label of what stays the same on all of them
  Settings kept;
  struct Platform {
    std::string name;
    /// fastest point, -1 where none ran
    std::int64_t point = -1;
    double architectural = not_known, application = not_known;
  };
  std::vector<Platform> platforms;
  double architectural = not_known, application = not_known;
};

/// A report folder, or several joined, and what was made of it.
struct StudyData {
  std::filesystem::path folder;
  std::string title, hash, started, ended;
  bool reduced = false;
  bool joined = false;
  StudyRules rules;
  std::vector<StudyMachine> machines;
  std::vector<StudyAxis> axes;
  std::vector<RunRow> runs;
  /// index in machines of each run
  std::vector<std::size_t> run_machines;
  std::vector<FieldError> errors;
  std::vector<FieldHistogram> histograms;
  std::vector<TraceError> traces;
  std::vector<FieldMap> maps;
  std::vector<BusyRow> busy;
  /// as the study wrote them
  std::vector<YamlNode> figures, compare_with;

  // made by analyse()
  std::vector<StudyPoint> points;
  std::vector<StudyFit> fits;
  std::vector<Portability> portability;
};

/// The words of runs.csv.
[[nodiscard]] const char* name(RunKind kind) noexcept;
[[nodiscard]] const char* name(RunStatus status) noexcept;

/// The label of a value of an axis.
[[nodiscard]] std::string label_of(const YamlNode& node);

/// What a label of an axis sets; nothing where the study does not say.
[[nodiscard]] Settings settings_of(const StudyAxis& axis, const std::string& label);

}  // namespace prismfield
