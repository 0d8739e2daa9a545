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
/// The command that a case is read for.
[[nodiscard]] constexpr Commands command_of(CaseUse use) noexcept { return 1U << static_cast<unsigned>(use); }

/// What depends on a key. A key of which nothing is said changes every result: whoever forgets to say more refuses a
/// good checkpoint, and never takes a wrong one.
struct KeyEffects {
  /// Commands whose result depends on the value, the fields of `run` before units and axes are applied. Of a section:
  /// on its presence, since its keys have rows of their own.
  Commands changes_result = case_commands::all;
  /// Commands that use the key and all that is below it.
  Commands used_by = case_commands::all;
  /// The value names a file that is read, or a list of such files.
  bool names_input = false;
};

/// The numbers that a key's type allows.
struct NumberRange {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  /// for messages, such as "a whole number from 1 to 512"
  std::string words = "a number";
};

/// All that is known of a key, as docs/case.md has it: help, completion, the keys that a reader accepts, the identity
/// of a case and its input files follow from it.
struct KeyRow {
  /// as model.voxels.easting; `spheres[].center` is of each map in a list, FIELD stands for any field's
  /// name
  std::string path;
  std::string type;
  /// "required"; a value as it could be written, in backticks; words; or empty: without the key nothing is done
  std::string default_value;
  /// empty: a number without unit, or no number
  std::string unit;
  /// one to three sentences, limits included
  std::string meaning;
  /// YAML lines with the sections around the key, as they stand in a file
  std::string example;
  KeyEffects effects = {};
  NumberRange numbers = {};
};

/// A section that has the keys of another one.
struct SectionLike {
  std::string path, other;
};

/// The keys of one section.
struct KeySection {
  std::string path;
  std::vector<std::string> keys;
};

/// docs/case.md, which the program has in it: all keys of cases and studies.
[[nodiscard]] std::string key_page();

/// Rows, found by the paths that keys have in a case.
class KeyTable {
public:
  explicit KeyTable(std::vector<KeyRow> rows);

  /// In the order of the file, sections before their own keys.
  [[nodiscard]] const std::vector<KeyRow>& rows() const noexcept { return m_rows; }
  /// The row of a key, elements of lists by their numbers, such as model.voxels.spheres.0.radius; null where the table
  /// has none.
  [[nodiscard]] const KeyRow* find(const std::string& path) const;
  /// The keys of a section, by a path as of find(); throws std::logic_error where the table has none.
  [[nodiscard]] const std::vector<std::string>& keys_of(const std::string& section) const;
  /// The document and its sections of at most two levels, where a key at a wrong place may belong.
  [[nodiscard]] std::vector<const KeySection*> upper_sections() const;

private:
  std::vector<KeyRow> m_rows;
  std::vector<KeySection> m_sections;
  /// every field's name in the place of FIELD
  std::unordered_map<std::string, std::size_t> m_index;
  std::unordered_map<std::string, std::size_t> m_section_index;
};

/// The keys of a case.
[[nodiscard]] const KeyTable& case_key_table();
/// Sections of a case whose keys the table has under another section's name.
[[nodiscard]] const std::vector<SectionLike>& sections_alike();
/// The keys of a study.
[[nodiscard]] const KeyTable& study_key_table();

/// "model.voxels" of "model.voxels.easting"; "" of a key of the document.
[[nodiscard]] std::string parent_of(const std::string& path);
/// "model.voxels.spheres.radius" of "model.voxels.spheres[].radius" and "model.voxels.spheres.0.radius".
[[nodiscard]] std::string without_lists(const std::string& path);
/// "easting" of "model.voxels.easting", "data" of "inversion.data[]".
[[nodiscard]] std::string last_part_of(const std::string& path);

/// A value of a case that names a file to be read.
struct InputPath {
  /// the key path, such as model.prisms.file
  std::string key;
  YamlNode* value = nullptr;
};

/// Every value that names an input file, whatever the case is used for. They point into `root`.
[[nodiscard]] std::vector<InputPath> input_paths(YamlNode& root);

/// The case without the keys that the result of its use does not depend on, by the table of keys, in alphabetical
/// order, as YAML. A key that the table does not have stays.
[[nodiscard]] std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table = case_key_table());

}  // namespace prismfield
