// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/key_table.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <prismfield/fields.hpp>

#include "base/number_text.hpp"
#include "case/case.hpp"

namespace prismfield {
namespace {

static_assert(command_of(CaseUse::forward) == case_commands::run &&
              command_of(CaseUse::inversion) == case_commands::invert &&
              command_of(CaseUse::sensitivity) == case_commands::sensitivity);

struct KeyPage {
  std::vector<KeyRow> of_case, of_study;
  std::vector<SectionLike> alike;
};

/// The commands of "run, sensitivity"; none of "no command". Throws std::logic_error for other words.
Commands commands_in(const std::string& list) {
  static const std::vector<std::pair<std::string, Commands>> names = {{"run", case_commands::run},
                                                                      {"sensitivity", case_commands::sensitivity},
                                                                      {"invert", case_commands::invert},
                                                                      {"no command", case_commands::none}};
  Commands commands = case_commands::none;
  for (const std::string& word : split(list, ',')) {
    const std::string command = word.substr(word.find_first_not_of(' '));
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == command; });
    if (found == names.end()) throw std::logic_error("docs/case.md: " + command + " is no command");
    commands |= found->second;
  }
  return commands;
}

/// The numbers of a type such as "auto or a whole number from 1 to 512".
NumberRange range_of_type(const std::string& type) {
  static const std::string digits = "(-?[0-9][0-9e.+-]*(?:,[0-9]{3})*)";
  static const std::regex form("(whole )?numbers?((?: (from|of at least|above) " + digits +
                               ")?(?: (to|and below|below) " + digits + ")?)");
  NumberRange range;
  std::smatch found;
  if (!std::regex_search(type, found, form)) return range;
  const auto bound = [&](std::size_t relation, const char* open, double& to, double beyond) {
    std::string number = found[relation + 1];
    std::erase(number, ',');
    if (parse_number(number, to) == NumberStatus::ok && found.str(relation).ends_with(open)) {
      to = std::nextafter(to, beyond);
    }
  };
  bound(3, "above", range.least, HUGE_VAL);
  bound(5, "below", range.most, -HUGE_VAL);
  // auto or a whole number
  const std::size_t other = found.prefix().str().find(" or a ");
  range.words = other == std::string::npos ? "" : type.substr(0, other + 4);
  range.words += (found[1].matched ? "a whole number" : "a number") + found.str(2);
  return range;
}

/// Puts a line of a key's list where it belongs. False for a line of other text.
bool take_fact(const std::string& line, KeyRow& key) {
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("- ") || colon == std::string::npos) return false;
  const std::string name = line.substr(2, colon - 2), fact = line.substr(colon + 2);
  if (name == "type") {
    key.type = fact;
    key.numbers = range_of_type(fact);
  } else if (name == "default") {
    key.default_value = fact;
  } else if (name == "unit") {
    key.unit = fact;
  } else if (name == "used by") {
    key.effects.used_by = commands_in(fact);
  } else if (name == "changes results of") {
    key.effects.changes_result = commands_in(fact);
  } else if (name == "names" && fact == "an input") {
    key.effects.names_input = true;
  } else {
    return false;
  }
  return true;
}

/// Takes the keys of a page: a heading each, below it a list of what is said of it in a word or two, its meaning in
/// some lines, and its example as code.
KeyPage parsed_page(const std::string& text) {
  const std::string study = "study: ";
  KeyPage page;
  // beside `key`: what stands above the first key, and below headings that are none
  KeyRow no_key, *key = &no_key;
  bool is_example = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      is_example = !is_example;
    } else if (is_example) {
      key->example += line + "\n";
    } else if (line == "## Sections alike") {
      key = &no_key;
    } else if (line.starts_with("## ") || line.starts_with("### ")) {
      const std::string heading = line.substr(line.find(' ') + 1);
      const bool of_study = heading.starts_with(study);
      key = &(of_study ? page.of_study : page.of_case).emplace_back();
      key->path = heading.substr(of_study ? study.size() : 0);
    } else if (line.starts_with("- `")) {
      const std::vector<std::string> parts = split(line, '`');
      page.alike.push_back({parts.at(1), parts.at(3)});
    } else if (!line.empty() && !take_fact(line, *key)) {
      key->meaning += (key->meaning.empty() ? "" : " ") + line;
    }
  }
  return page;
}

const KeyPage& page_of_keys() {
  static const KeyPage page = parsed_page(key_page());
  return page;
}

/// The path, which is without lists, below the section by whose name the table has the keys.
std::string among_alike(std::string path) {
  for (const SectionLike& alike : sections_alike()) {
    const std::string section = without_lists(alike.path);
    const bool is_below = path.starts_with(section + ".");
    if (is_below || path == section) path.replace(0, section.size(), alike.other);
  }
  return path;
}

void collect(YamlNode& node, const std::string& path, bool names_input, std::vector<InputPath>& paths) {
  if (names_input && node.kind == YamlNode::Kind::scalar) paths.push_back({path, &node});
  for (YamlEntry& entry : node.entries) {
    const std::string key = join_key(path, entry.key);
    const KeyRow* const row = case_key_table().find(key);
    collect(entry.value, key, row != nullptr && row->effects.names_input, paths);
  }
  if (!names_input && (node.items.empty() || node.items.front().kind != YamlNode::Kind::map)) return;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    collect(node.items[i], join_key(path, std::to_string(i)), names_input, paths);
  }
}

bool has_keys(const YamlNode& node) {
  return !node.entries.empty() || std::any_of(node.items.begin(), node.items.end(), has_keys);
}

/// Takes out of a node what the result of a command does not depend on, and puts keys in alphabetical order. Sections
/// that do not count themselves are kept for the keys in them that do.
void keep_dependencies(YamlNode& node, const std::string& path, const KeyTable& table, Commands command) {
  for (YamlEntry& entry : node.entries) keep_dependencies(entry.value, join_key(path, entry.key), table, command);
  std::erase_if(node.entries, [&](const YamlEntry& entry) {
    const KeyRow* const row = table.find(join_key(path, entry.key));
    const KeyEffects effects = row != nullptr ? row->effects : KeyEffects();
    if (entry.value.kind == YamlNode::Kind::removed || (effects.used_by & command) == 0) return true;
    return (effects.changes_result & command) == 0 && !has_keys(entry.value);
  });
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (has_keys(node.items[i])) keep_dependencies(node.items[i], join_key(path, std::to_string(i)), table, command);
  }
}

}  // namespace

KeyTable::KeyTable(std::vector<KeyRow> rows) : m_rows(std::move(rows)) {
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const std::string parent = parent_of(m_rows[i].path), last = last_part_of(m_rows[i].path);
    const auto [section, is_new] = m_section_index.try_emplace(without_lists(parent), m_sections.size());
    if (is_new) m_sections.push_back({parent, {}});
    const auto add = [&, at = section->second](const std::string& key) {
      m_sections[at].keys.push_back(key);
      m_index[without_lists(join_key(parent, key))] = i;
    };
    if (last != "FIELD") {
      add(last);
      continue;
    }
    for (const FieldInfo& field : field_infos) add(std::string(field.name));
  }
}

const KeyRow* KeyTable::find(const std::string& path) const {
  const std::string key = without_lists(path);
  for (const std::string& name : {key, among_alike(key)}) {
    if (const auto found = m_index.find(name); found != m_index.end()) return &m_rows[found->second];
  }
  return nullptr;
}

const std::vector<std::string>& KeyTable::keys_of(const std::string& section) const {
  const auto found = m_section_index.find(among_alike(without_lists(section)));
  if (found == m_section_index.end()) throw std::logic_error("the table of keys has no section " + section);
  return m_sections[found->second].keys;
}

std::vector<const KeySection*> KeyTable::upper_sections() const {
  std::vector<const KeySection*> upper;
  for (const KeySection& section : m_sections) {
    if (std::count(section.path.begin(), section.path.end(), '.') <= 1) upper.push_back(&section);
  }
  return upper;
}

const KeyTable& case_key_table() {
  static const KeyTable all(page_of_keys().of_case);
  return all;
}

const std::vector<SectionLike>& sections_alike() { return page_of_keys().alike; }

const KeyTable& study_key_table() {
  static const KeyTable all(page_of_keys().of_study);
  return all;
}

std::vector<InputPath> input_paths(YamlNode& root) {
  std::vector<InputPath> paths;
  collect(root, "", false, paths);
  return paths;
}

std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table) {
  keep_dependencies(root, "", table, command_of(use));
  return to_yaml(root);
}

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string without_lists(const std::string& path) {
  std::string result;
  for (std::string part : split(path, '.')) {
    if (part.ends_with("[]")) part.resize(part.size() - 2);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) result += join_key(result, part).substr(result.size());
  }
  return result;
}

std::string last_part_of(const std::string& path) {
  std::string last = path.substr(path.rfind('.') + 1);
  if (last.ends_with("[]")) last.resize(last.size() - 2);
  return last;
}

}  // namespace prismfield
