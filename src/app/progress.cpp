// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include "app/terminal.hpp"
#include "base/human_text.hpp"

namespace prismfield {
namespace {

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
  // A stream that fails here has nothing left to tell.
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
