// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <prismfield/error.hpp>

namespace prismfield {

struct YamlEntry;

/// One value of a YAML document with the place where it was written. Aliases are expanded: every node owns what is
/// below it, so that a change in one place changes nothing elsewhere.
struct YamlNode {
  /// `removed`: taken out by an option (`--set key=null`), so that a misspelt key is still noticed
  enum class Kind { null, removed, scalar, list, map };
  Kind kind = Kind::null;
  /// a scalar in quotes or a block: text, never a number
  bool quoted = false;
  /// a list or map written in brackets
  bool flow = false;
  /// line in the file, from 1
  std::int32_t line = 1;
  /// the option that wrote this value, e.g. "--set"; null when the file did
  const char* option = nullptr;
  std::string text;
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;

  /// The value of a map's key, or null.
  [[nodiscard]] const YamlNode* find(std::string_view key) const noexcept;
  [[nodiscard]] YamlNode* find(std::string_view key) noexcept;
};

struct YamlEntry {
  std::string key;
  std::int32_t key_line = 1;
  YamlNode value;
};

/// `parent.child`, or the child alone at the root.
[[nodiscard]] std::string join_key(const std::string& parent, const std::string& child);

/// The parts of a text between separators, one more than these: the words of a key path, the lines of a text.
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

/// Where a node, or the key before it in `line`, was written: "file:line", or the option's name.
[[nodiscard]] std::string where_of(const YamlNode& node, const std::string& file, std::int32_t line);

/// Content of a text file of at most 16 MiB in UTF-8. Throws InputError when it cannot be read, is larger, or holds
/// bytes that are not text.
[[nodiscard]] std::string read_yaml_text(const std::filesystem::path& file);

/// The single document in `text`; `file` names it in messages. Repeated keys, tags and keys that are no plain words
/// are added to `problems`; the first of repeated keys counts. Throws InputError for what is no YAML.
[[nodiscard]] YamlNode parse_yaml(const std::string& text, const std::string& file, ProblemList& problems);

/// Applies `key.path=value` to a document: the value is YAML, missing parents are made, a list's element is named
/// by its number from 0, and null takes the key out. What cannot be applied is added to `problems`.
void apply_override(YamlNode& root, const std::string& assignment, ProblemList& problems);

/// Puts a value at a key path as apply_override() does; `option` names its place, such as "study.yaml:7". Its nodes
/// keep their own places.
void set_value(YamlNode& root, const std::string& key, YamlNode value, const char* option, ProblemList& problems);

/// Sets one text value as `option` of the command line did, making missing parents.
void set_text(YamlNode& root, const std::string& key, const std::string& text, const char* option,
              ProblemList& problems);

/// The document as YAML text, without what was removed; reads back as the same tree.
[[nodiscard]] std::string to_yaml(const YamlNode& root);

}  // namespace prismfield
