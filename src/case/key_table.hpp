// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "case/yaml_tree.hpp"

namespace prismfield {

enum class CaseUse;

/// Commands that read a case, one bit each.
using Commands = unsigned;
namespace case_commands {
inline constexpr Commands none = 0, run = 1, invert = 2, sensitivity = 4, all = run | invert | sensitivity;
}  // namespace case_commands
/// The command of a CaseUse.
[[nodiscard]] constexpr Commands command_of(CaseUse use) noexcept { return 1U << static_cast<unsigned>(use); }

/// What depends on a key. By default a key changes every result: an omitted entry can refuse a valid checkpoint but
/// never accept a wrong one.
struct KeyEffects {
  /// Commands whose result depends on the value; for `run`, the fields before units and axes are applied. For a
  /// section: on its presence, since its keys have their own rows.
  Commands changes_result = case_commands::all;
  /// Commands that use the key and all keys below it.
  Commands used_by = case_commands::all;
  /// Whether the value names an input file or a list of them.
  bool names_input = false;
};

/// The numbers that the type of a key allows.
struct NumberRange {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  /// for messages, such as "a whole number from 1 to 512"
  std::string words = "a number";
};

/// A row of docs/case.md about a key. Help, completion, the keys that readers accept, the identity of a case and its
/// input files follow from it.
struct KeyRow {
  /// such as model.voxels.easting; `spheres[].center` stands for each map in a list, FIELD for the name of any field
  std::string path;
  std::string type;
  /// "required"; a value in backticks; words; or empty: without the key nothing happens
  std::string default_value;
  /// empty: no number, or a number without unit
  std::string unit;
  /// one to three sentences, with limits
  std::string meaning;
  /// YAML lines with the sections around the key, as in a file
  std::string example;
  KeyEffects effects = {};
  NumberRange numbers = {};
};

/// A section with the keys of another one.
struct SectionLike {
  std::string path, other;
};

/// The keys of one section.
struct KeySection {
  std::string path;
  std::vector<std::string> keys;
};

/// The text of docs/case.md, part of the program: all keys of cases and studies.
[[nodiscard]] std::string key_page();

/// Rows of keys, by their paths in a case.
class KeyTable {
public:
  explicit KeyTable(std::vector<KeyRow> rows);

  /// The rows in the order of the page, sections before their own keys.
  [[nodiscard]] const std::vector<KeyRow>& rows() const noexcept { return m_rows; }
  /// The row of a key; list elements have numbers, such as model.voxels.spheres.0.radius. Null for an unknown key.
  [[nodiscard]] const KeyRow* find(const std::string& path) const;
  /// The keys of a section, by a path as for find(). Throws std::logic_error for an unknown section.
  [[nodiscard]] const std::vector<std::string>& keys_of(const std::string& section) const;
  /// The document and its sections of at most two levels, the candidates for a misplaced key.
  [[nodiscard]] std::vector<const KeySection*> upper_sections() const;

private:
  std::vector<KeyRow> m_rows;
  std::vector<KeySection> m_sections;
  /// with the name of every field in place of FIELD
  std::unordered_map<std::string, std::size_t> m_index;
  std::unordered_map<std::string, std::size_t> m_section_index;
};

/// The keys of a case.
[[nodiscard]] const KeyTable& case_key_table();
/// Sections of a case that have the keys of another section in the table.
[[nodiscard]] const std::vector<SectionLike>& sections_alike();
/// The keys of a study.
[[nodiscard]] const KeyTable& study_key_table();

/// "model.voxels" for "model.voxels.easting"; "" for a key of the document.
[[nodiscard]] std::string parent_of(const std::string& path);
/// "model.voxels.spheres.radius" for "model.voxels.spheres[].radius" and "model.voxels.spheres.0.radius".
[[nodiscard]] std::string without_lists(const std::string& path);
/// "easting" for "model.voxels.easting", "data" for "inversion.data[]".
[[nodiscard]] std::string last_part_of(const std::string& path);

/// A value of a case that names an input file.
struct InputPath {
  /// path of the key, such as model.prisms.file
  std::string key;
  YamlNode* value = nullptr;
};

/// Every value that names an input file, for any use of the case. Results point into `root`.
[[nodiscard]] std::vector<InputPath> input_paths(YamlNode& root);

/// The case as YAML, keys in alphabetical order, without keys that the table marks as without effect on the result of
/// `use`. Unknown keys stay.
[[nodiscard]] std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table = case_key_table());

}  // namespace prismfield
