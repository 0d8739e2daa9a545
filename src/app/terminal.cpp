// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"

namespace prismfield {
namespace {

/// $COLUMNS, 0 where it is no number of columns.
std::size_t columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  std::int64_t columns = 0;
  constexpr std::int64_t most = 10'000;
  if (text == nullptr || parse_integer(std::string_view(text), columns) != NumberStatus::ok) return 0;
  return columns > 0 && columns <= most ? static_cast<std::size_t>(columns) : 0;
}

/// What the terminal itself says.
std::size_t columns_of_window(int descriptor) {
  winsize size{};
  constexpr int least = 4;
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= least ? size.ws_col : 0;
}

/// A label stands in the first columns of its line.
constexpr std::size_t most_label = 36;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// For a terminal: nothing from the cursor to the end of the line.
constexpr const char* erase_rest = "\x1b[K";

/// "[######------------] ", "" where there is no room for a bar beside the text.
std::string bar(double done_fraction, std::size_t room) {
  constexpr std::size_t widest = 30, narrowest = 8, around = 3;
  if (room < narrowest + around) return "";
  const std::size_t width = std::min(widest, room - around);
  const auto done = static_cast<std::size_t>(std::clamp(done_fraction, 0.0, 1.0) * static_cast<double>(width) + 1e-9);
  return "[" + std::string(done, '#') + std::string(width - done, '-') + "] ";
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  if (::isatty(descriptor) == 0) return 0;
  const std::size_t columns = columns_of_window(descriptor);
  return columns > 0 ? columns : columns_of_environment();
}

std::size_t help_columns() {
  constexpr std::size_t least = 40, usual = 80;
  std::size_t columns = terminal_columns(STDOUT_FILENO);
  if (columns == 0) columns = columns_of_environment();
  return columns == 0 ? usual : std::max(columns, least);
}

std::size_t WrappingBuffer::hanging() const {
  // So little room beside a label would set words below each other.
  constexpr std::size_t least_room = 22;
  if (m_asked_hanging) return *m_asked_hanging;
  return m_hanging + least_room > m_columns ? std::min<std::size_t>(2, m_columns / 4) : m_hanging;
}

void WrappingBuffer::end_word() {
  if (m_word.empty()) return;
  const std::size_t width = width_of(m_word);
  constexpr std::size_t label_gap = 2;
  if (m_is_empty && !m_is_broken) {
    constexpr std::size_t deep = 8;
    m_hanging = m_blanks + (m_blanks >= deep ? 0 : 2);
  } else if (m_has_label && m_blanks >= label_gap && m_column + m_blanks <= most_label) {
    m_hanging = m_column + m_blanks;
    m_has_label = false;
  }
  if (!m_is_empty && m_column + m_blanks + width > m_columns && m_column > hanging()) {
    m_to.sputc('\n');
    m_blanks = hanging();
    m_column = 0;
    m_is_broken = true;
  }
  const std::string text = std::string(m_blanks, ' ') + m_word;
  m_to.sputn(text.data(), static_cast<std::streamsize>(text.size()));
  m_column += m_blanks + width;
  if (m_is_empty) m_has_label = true;
  m_is_empty = false;
  m_blanks = 0;
  m_word.clear();
}

void WrappingBuffer::put(char character) {
  if (character == '\n') {
    end_word();
    m_to.sputc('\n');
    m_column = m_blanks = 0;
    m_hanging = 2;
    m_is_raw = m_has_label = m_is_broken = false;
    m_is_empty = true;
  } else if (character == '\r') {
    end_word();
    m_to.sputc(character);
    m_column = 0;
    m_is_raw = m_is_at_begin = true;
  } else if (m_is_raw) {
    m_to.sputc(character);
    m_is_at_begin = false;
  } else if (character == ' ') {
    end_word();
    ++m_blanks;
  } else {
    m_word += character;
  }
}

int WrappingBuffer::overflow(int character) {
  if (character != traits_type::eof()) put(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int WrappingBuffer::sync() {
  // A stream that is flushed after each part, as standard error is, must not have its words broken apart.
  if (m_is_raw && m_is_at_begin) {
    // what was written over is gone, and a line begins
    m_is_raw = m_has_label = m_is_broken = false;
    m_is_empty = true;
    m_blanks = 0;
  }
  return m_to.pubsync();
}

std::string wrapped(const std::string& text, std::size_t columns, std::optional<std::size_t> hanging) {
  std::stringbuf out;
  WrappingBuffer buffer(out, columns, hanging);
  buffer.sputn(text.data(), static_cast<std::streamsize>(text.size()));
  buffer.finish();
  return out.str();
}

FittedStream::FittedStream(std::ostream& stream, int descriptor) : m_stream(stream), m_before(stream.rdbuf()) {
  const std::size_t columns = terminal_columns(descriptor);
  if (columns == 0) return;
  m_buffer = std::make_unique<WrappingBuffer>(*m_before, columns);
  m_stream.rdbuf(m_buffer.get());
}

FittedStream::~FittedStream() {
  if (m_buffer == nullptr) return;
  m_buffer->finish();
  m_stream.flush();
  m_stream.rdbuf(m_before);
}

namespace {

/// Columns that a line may take that is written over on standard error: one less than the terminal has, as some begin a
/// new line in the last; 79 where it does not say.
std::size_t rewritten_columns() {
  constexpr std::size_t usual = 80;
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  return (columns > 0 ? columns : usual) - 1;
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::silent;
  return ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::line : ProgressStyle::log;
}

Progress::Progress(ProgressStyle style, std::ostream& out)
    : Progress(style, out, steady_seconds, rewritten_columns()) {}

Progress::Progress(ProgressStyle style, std::ostream& out, Clock clock, std::size_t columns)
    : m_style(style),
      m_out(out),
      m_clock(std::move(clock)),
      m_columns(columns),
      m_begin(m_clock()),
      m_last_written(m_begin) {}

Progress::~Progress() {
  if (!m_has_line) return;
  // nothing can be reported when this stream fails
  try {
    m_out << std::string("\r") + erase_rest + "\r" << std::flush;
  } catch (const std::ios_base::failure&) {
    m_has_line = false;
  }
}

std::string Progress::state(double done_fraction, std::int64_t pairs_done, double seconds) const {
  std::string text = fmt::format("{:3.0f} %", 100 * done_fraction);
  if (seconds <= 0 || done_fraction <= 0) return text;
  text += fmt::format(", {} pairs/s", short_number(static_cast<double>(pairs_done) / seconds));
  if (done_fraction < 1) text += fmt::format(", {} left", duration_text(seconds * (1 - done_fraction) / done_fraction));
  return text;
}

void Progress::update(double done_fraction, std::int64_t pairs_done) {
  show(done_fraction, [&] { return state(std::clamp(done_fraction, 0.0, 1.0), pairs_done, m_clock() - m_begin); });
}

void Progress::show(double done_fraction, const std::function<std::string()>& text) {
  if (m_style == ProgressStyle::silent) return;
  if (m_style == ProgressStyle::log) {
    // Half a percent of rounding in the sum of pairs must not hide the last line.
    const int tenth = static_cast<int>(std::clamp(done_fraction, 0.0, 1.0) * 10 + 1e-9);
    if (tenth <= m_last_tenth) return;
    m_last_tenth = tenth;
    m_out << "progress: " << text() << std::endl;
    return;
  }
  constexpr double shortest_interval = 0.1;
  const double now = m_clock();
  if (now - m_last_written < shortest_interval) return;
  m_last_written = now;
  const std::string line = text();
  // Beside words that change in length the bar keeps its own.
  constexpr std::size_t usual_text = 44;
  const std::size_t beside = std::max(usual_text, width_of(line));
  rewrite(bar(done_fraction, m_columns > beside ? m_columns - beside : 0) + line);
}

void Progress::note(const std::string& text) {
  if (m_style == ProgressStyle::line) rewrite(text);
}

void Progress::rewrite(std::string line) {
  constexpr std::size_t dots = 3;
  line = shown(line);
  if (width_of(line) > m_columns) line = shown(line, m_columns > dots ? m_columns - dots : 0);
  m_has_line = true;
  // in one piece: standard error is flushed after each, and a WrappingBuffer takes what comes next for a new line
  m_out << "\r" + line + erase_rest << std::flush;
}

}  // namespace prismfield
