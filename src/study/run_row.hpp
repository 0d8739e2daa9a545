// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <prismfield/forms.hpp>

namespace prismfield {

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

enum class RunKind { reference, warmup, timed };

enum class RunStatus {
  ok,
  /// this machine cannot run it
  not_run,
  /// it ended with an error or a failure
  failed,
  /// its fields differ from the reference by more than the study's tolerance: it has no speed
  wrong,
  /// it was ended at the study's limit of a run
  too_slow,
  /// the study's time was spent before its turn came
  out_of_budget
};

/// What the commands sensitivity and invert tell beside times and memory.
enum class Measure {
  stored_bytes,
  transposed_seconds,
  anew_seconds,
  pays_after,
  chi,
  residual_rms,
  solutions,
  products,
};

struct MeasureInfo {
  /// column of runs.csv, key of study.json and `y` of figures
  const char* name;
  const char* unit;
  /// in tables, of the value times `factor`
  const char* heading;
  double factor;
};

inline constexpr std::array measure_infos = {
    MeasureInfo{"stored_bytes", "byte", "G (MB)", 1e-6},
    MeasureInfo{"transposed_seconds", "s", "G' d (s)", 1},
    MeasureInfo{"anew_seconds", "s", "G m anew (s)", 1},
    MeasureInfo{"pays_after", "1", "pays after", 1},
    MeasureInfo{"chi", "1", "chi", 1},
    MeasureInfo{"residual_rms", "1", "RMS residual / sigma", 1},
    MeasureInfo{"solutions", "1", "solutions", 1},
    MeasureInfo{"products", "1", "products", 1},
};
inline constexpr std::size_t n_measures = measure_infos.size();

/// One value a measure, NaN where it is not known.
using Measures = std::array<double, n_measures>;
inline constexpr Measures no_measures = [] {
  Measures values{};
  values.fill(not_known);
  return values;
}();

/// One run of a study, a line of runs.csv. Times are in seconds; NaN, -1 or "": not known.
struct RunRow {
  std::int64_t run = 0;
  std::int64_t point = 0;
  /// from 1, warm-ups counted for themselves
  int repeat = 1;
  RunKind kind = RunKind::timed;
  RunStatus status = RunStatus::ok;
  std::string why;
  /// UTC, ISO 8601
  std::string started;
  /// hash of all that the fields depend on, but for how they are computed
  std::string problem;
  /// one text an axis, in the study's order of axes
  std::vector<std::string> values;

  // as the result's /performance states them
  std::string space, device, partition, precision, kernel, method;
  std::int64_t ranks = -1, threads = -1, slots = -1, batch = -1, block = -1;
  /// of the grids of a rank's slots, in the memory of its space
  std::int64_t scratch_bytes = -1;
  std::int64_t pairs = -1;
  std::array<std::int64_t, n_forms> pairs_by_form{-1, -1, -1, -1, -1, -1, -1, -1};
  /// field_seconds: of the command sensitivity a product G m as G is kept, of invert the inversion without its setup
  double setup_seconds = not_known, field_seconds = not_known, output_seconds = not_known, total_seconds = not_known;
  double pairs_per_second = not_known;
  /// least and largest busy time of a rank
  double busy_least = not_known, busy_most = not_known;

  // as the process showed them
  /// from start to end of the process, and the processor time of all its threads and children
  double process_seconds = not_known, processor_seconds = not_known;
  std::int64_t peak_memory_bytes = -1;
  double energy_joules = not_known;
  /// the machine's load average of a minute before the run began
  double load = not_known;
  /// more ranks x threads than cores
  bool oversubscribed = false;
  /// largest max|a-b| / max|b| of a field against the reference
  double largest_error = not_known;
  /// told by sensitivity and invert alone
  Measures measures = no_measures;
};

/// The words of runs.csv.
[[nodiscard]] const char* name(RunKind kind) noexcept;
[[nodiscard]] const char* name(RunStatus status) noexcept;

}  // namespace prismfield
