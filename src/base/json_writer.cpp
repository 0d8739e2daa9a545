// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/human_text.hpp"

namespace prismfield {

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : shown_lines(text)) {
    if (c == '\n') {
      result += "\\n";
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + '"';
}

void JsonWriter::new_line() {
  m_text += '\n';
  m_text.append(2 * m_open.size(), ' ');
}

void JsonWriter::begin_value(std::string_view key) {
  if (!m_open.empty()) {
    if (m_open.back()) m_text += ',';
    m_open.back() = true;
    new_line();
  }
  if (!key.empty()) m_text += json_text(key) + ": ";
}

void JsonWriter::begin(std::string_view key, char bracket) {
  begin_value(key);
  m_text += bracket;
  m_open.push_back(false);
}

void JsonWriter::end(char bracket) {
  const bool holds_values = m_open.back();
  m_open.pop_back();
  if (holds_values) new_line();
  m_text += bracket;
}

void JsonWriter::begin_object(std::string_view key) { begin(key, '{'); }
void JsonWriter::begin_list(std::string_view key) { begin(key, '['); }

void JsonWriter::raw(std::string_view key, std::string_view json) {
  begin_value(key);
  m_text += json;
}

void JsonWriter::text(std::string_view key, std::string_view value) { raw(key, json_text(value)); }
void JsonWriter::number(std::string_view key, double value) {
  raw(key, std::isfinite(value) ? fmt::format("{}", value) : "null");
}
void JsonWriter::number(std::string_view key, std::int64_t value) { raw(key, fmt::format("{}", value)); }
void JsonWriter::truth(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
void JsonWriter::nothing(std::string_view key) { raw(key, "null"); }

std::string JsonWriter::take() { return std::exchange(m_text, {}) + '\n'; }

}  // namespace prismfield
