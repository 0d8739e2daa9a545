// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>

namespace prismfield {

/// Columns of the terminal that a descriptor is: what the terminal says, else $COLUMNS; 0 where neither says it, and
/// for files and pipes, whose lines are never broken, so that scripts find whole messages.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// Columns of a help text on standard output: those of the terminal, else $COLUMNS, else 80, also in a file or pipe; at
/// least 40.
[[nodiscard]] std::size_t help_columns();

/// Breaks lines between words so that none is wider than `columns`, and hands them on. What follows hangs two columns
/// deeper than its line, or below the second column where a line is a label and its text, or as deep as `hanging`.
/// Words wider than that, such as names of files, stay whole, and so does a line that begins with a carriage return.
class WrappingBuffer final : public std::streambuf {
public:
  /// `to` must outlive this; `columns` at least 1
  WrappingBuffer(std::streambuf& to, std::size_t columns, std::optional<std::size_t> hanging = {})
      : m_to(to), m_columns(columns), m_asked_hanging(hanging) {}

  /// Hands on the last word of a line that does not end.
  void finish() { end_word(); }

protected:
  int overflow(int character) override;
  int sync() override;

private:
  void put(char character);
  void end_word();
  [[nodiscard]] std::size_t hanging() const;

  std::streambuf& m_to;
  std::size_t m_columns;
  std::optional<std::size_t> m_asked_hanging;
  std::string m_word;
  /// blanks that stand before the word
  std::size_t m_blanks = 0;
  /// characters of the line that are out, and where its next lines begin
  std::size_t m_column = 0;
  std::size_t m_hanging = 2;
  /// the line began with a carriage return, and nothing came after it yet
  bool m_is_raw = false, m_is_at_begin = false;
  /// the line has only blanks so far; it has had one word; it was broken before
  bool m_is_empty = true;
  bool m_has_label = false;
  bool m_is_broken = false;
};

/// The text as a WrappingBuffer hands it on.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t columns,
                                  std::optional<std::size_t> hanging = {});

/// While it lives, all that goes to a stream fits into the terminal that `descriptor` is; nothing is done for others.
class FittedStream {
public:
  FittedStream(std::ostream& stream, int descriptor);
  ~FittedStream();
  FittedStream(const FittedStream&) = delete;
  FittedStream& operator=(const FittedStream&) = delete;

private:
  std::ostream& m_stream;
  std::streambuf* m_before;
  std::unique_ptr<WrappingBuffer> m_buffer;
};

/// How a run shows its progress.
enum class ProgressStyle {
  silent,
  /// one line with a bar, rewritten, for a terminal
  line,
  /// one line per 10 %, for a log file
  log,
};

/// The style for standard error: a line on a terminal, a log elsewhere, silent when asked for.
[[nodiscard]] ProgressStyle progress_style(bool quiet);

/// Shows progress, rate and remaining time of a run.
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
  /// Shows the present step where there is no progress to show; on a terminal only.
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
