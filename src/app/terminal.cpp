// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <string_view>

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

std::size_t rewritten_columns() {
  constexpr std::size_t usual = 80;
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  return (columns > 0 ? columns : usual) - 1;
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

}  // namespace prismfield
