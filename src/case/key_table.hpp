// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

/// What users are told of a key: by `prismfield help KEY`, docs/case.md and completion.
struct KeyReference {
  /// as model.voxels.easting; `spheres[].center` is of each map in a list, FIELD stands for any of the ten fields'
  /// names
  std::string path;
  std::string type;
  /// "required"; a value as it could be written; "(in words)"; or empty: without the key nothing is done
  std::string default_value;
  /// empty: a number without unit, or no number
  std::string unit;
  /// one to three sentences, limits included
  std::string meaning;
  /// YAML lines as they stand in the key's section, the key among them
  std::string example;
};

/// A section that has the keys of another one.
struct SectionLike {
  std::string path, other;
};

/// The keys of a case, sections before their own keys.
[[nodiscard]] const std::vector<KeyReference>& case_key_reference();
/// Sections of a case whose keys the reference has under another section's name.
[[nodiscard]] const std::vector<SectionLike>& sections_alike();
/// The keys of a study.
[[nodiscard]] const std::vector<KeyReference>& study_key_reference();

/// "model.voxels" of "model.voxels.easting"; "" of a key of the document.
[[nodiscard]] std::string parent_of(const std::string& path);
/// "easting" of "model.voxels.easting", "data" of "inversion.data[]".
[[nodiscard]] std::string last_part_of(const std::string& path);

/// Whether the reference has keys below this one.
[[nodiscard]] bool is_section(const std::vector<KeyReference>& reference, const std::string& path);

/// The example of a key with the sections around it, as it stands in a file.
[[nodiscard]] std::string whole_example(const KeyReference& key);

}  // namespace prismfield
