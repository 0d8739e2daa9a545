// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace prismfield {

/// How a run tells how far it is.
enum class ProgressStyle {
  silent,
  /// one line with a bar, rewritten, for a terminal
  line,
  /// one line per 10 %, for a log file
  log,
};

/// The style for standard error: a line on a terminal, a log elsewhere, silent when asked for.
[[nodiscard]] ProgressStyle progress_style(bool quiet);

/// Tells how far a run is, its rate and the time left.
class Progress {
public:
  /// Seconds from any fixed moment, never decreasing.
  using Clock = std::function<double()>;

  /// Writes to `out`, which must outlive this object. The time runs from here. `columns`: the most that a rewritten
  /// line takes, as it could not be rewritten once it is broken.
  Progress(ProgressStyle style, std::ostream& out);
  Progress(ProgressStyle style, std::ostream& out, Clock clock, std::size_t columns);
  /// Takes the line off the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done_fraction` of the work, from 0 to 1, and the pairs that it holds are done.
  void update(double done_fraction, std::int64_t pairs_done);
  /// The same in other words, as `text` returns them where they are shown.
  void show(double done_fraction, const std::function<std::string()>& text);
  /// What is done now that tells no progress, on a terminal alone.
  void note(const std::string& text);

private:
  [[nodiscard]] std::string state(double done_fraction, std::int64_t pairs_done, double seconds) const;
  void rewrite(std::string line);

  ProgressStyle m_style;
  std::ostream& m_out;
  Clock m_clock;
  std::size_t m_columns;
  double m_begin = 0;
  double m_last_written = 0;
  int m_last_tenth = 0;
  bool m_has_line = false;
};

}  // namespace prismfield
