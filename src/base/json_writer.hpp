// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prismfield {

/// Writes JSON as people read it, two blanks a level. Keys belong to values of objects, and are left out for those of
/// lists.
class JsonWriter {
public:
  void begin_object(std::string_view key = {});
  void end_object() { end('}'); }
  void begin_list(std::string_view key = {});
  void end_list() { end(']'); }

  void text(std::string_view key, std::string_view value);
  /// shortest digits that read back as the same double; null for what is not finite
  void number(std::string_view key, double value);
  void number(std::string_view key, std::int64_t value);
  void truth(std::string_view key, bool value);
  /// null
  void nothing(std::string_view key);
  /// a value that is JSON already
  void raw(std::string_view key, std::string_view json);

  /// The text, once everything that was begun has ended.
  [[nodiscard]] std::string take();

private:
  void begin_value(std::string_view key);
  void begin(std::string_view key, char bracket);
  void end(char bracket);
  void new_line();

  std::string m_text;
  /// of each object or list that is open: whether it holds a value
  std::vector<bool> m_open;
};

/// Text in quotes as JSON has it; bytes that are no UTF-8 become '?'.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace prismfield
