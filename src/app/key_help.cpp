// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/key_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>

#include "app/terminal.hpp"
#include "base/human_text.hpp"
#include "case/key_table.hpp"

namespace prismfield {
namespace {

/// Longer lines of prose are hard to read.
constexpr std::size_t most_prose = 100;
const std::string of_a_study = "study.";
const std::string any_field = "FIELD";

/// A key and the name that it is asked for by.
struct Entry {
  std::string name;
  const KeyRow* key;
  bool of_study;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> result;
    for (const KeyRow& key : case_key_table().rows()) result.push_back({key.path, &key, false});
    for (const KeyRow& key : study_key_table().rows()) result.push_back({of_a_study + key.path, &key, true});
    return result;
  }();
  return all;
}

/// The path under which the reference has what a user asks for.
std::string canonical(const std::string& asked) {
  std::string path = without_lists(asked);
  for (const SectionLike& alike : sections_alike()) {
    const std::string section = without_lists(alike.path) + ".";
    if (path.starts_with(section)) path = without_lists(alike.other) + "." + path.substr(section.size());
  }
  return path;
}

/// Whether `asked` ends the path part by part; FIELD stands for each field.
bool ends_with(const std::string& path, const std::string& asked) {
  const std::vector<std::string> all = split(without_lists(path), '.'), wanted = split(asked, '.');
  if (wanted.size() > all.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), all.end() - std::ptrdiff_t(wanted.size()),
                    [](const std::string& word, const std::string& part) {
                      return word == part || (part == any_field && field_named(word));
                    });
}

struct Found {
  /// by their full names, and by the last parts of theirs
  std::vector<const Entry*> whole, ends;
};

Found find(const std::string& asked) {
  const std::string path = canonical(asked);
  Found found;
  for (const Entry& entry : entries()) {
    if (path.empty() || !ends_with(entry.name, path)) continue;
    const bool is_whole = split(without_lists(entry.name), '.').size() == split(path, '.').size();
    (is_whole ? found.whole : found.ends).push_back(&entry);
  }
  return found;
}

/// Lines of a paragraph, of at most `columns` characters, each behind `indent` blanks.
std::string paragraph(const std::string& text, std::size_t columns, std::size_t indent) {
  return text.empty() ? "" : wrapped(std::string(indent, ' ') + text + "\n", columns, indent);
}

/// A default as it is shown: values without their backticks.
std::string default_text(const KeyRow& key) {
  const std::string& text = key.default_value;
  if (text.starts_with('`')) return text.substr(1, text.size() - 2);
  return text.empty() ? "none" : text;
}

/// Key, type, default and unit, and what stands below them.
struct Row {
  std::array<std::string, 4> cells;
  std::string below;
};
using Widths = std::array<std::size_t, 4>;

/// Widths of a table's columns in so many columns of the terminal: texts are broken between words where they must be,
/// the widest first; nothing where a table does not fit.
std::optional<Widths> table_widths(const std::vector<Row>& rows, std::size_t columns) {
  constexpr std::size_t least_text = 16, gap = 2;
  Widths widths{}, least{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
      for (const std::string& word : split(wrapped(row.cells[i], 1, 0), '\n'))
        least[i] = std::max(least[i], word.size());
    }
  }
  for (std::size_t i = 0; i < widths.size(); ++i) least[i] = std::min(widths[i], std::max(least[i], least_text));
  const auto all = [](const Widths& some) { return std::accumulate(some.begin(), some.end(), gap * some.size()); };
  if (all(least) > columns) return std::nullopt;
  while (all(widths) > columns) {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool is_breakable = widths[i] > least[i];
      if (is_breakable && (widths[widest] == least[widest] || widths[i] > widths[widest])) widest = i;
    }
    --widths[widest];
  }
  return widths;
}

/// What stands below a row.
std::string below_row(const Row& row, std::size_t columns) {
  return paragraph(row.below, std::min(columns, most_prose), 6);
}

/// Rows below each other: the key, and below it what is said of it.
std::string stacked(const std::vector<Row>& rows, std::size_t columns) {
  std::string text;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& [name, type, default_value, unit] = rows[i].cells;
    const bool is_sentence = default_value.find("needed") == 0 || default_value.find("required") == 0;
    std::string said = type + (is_sentence ? "; " : "; default ") + default_value;
    if (!unit.empty()) said += "; unit " + unit;
    text += "  " + name + "\n" + paragraph(said, columns, 6) + below_row(rows[i], columns);
  }
  return text;
}

/// A table on the terminal, its first row the heads of its columns; rows below each other where it is too narrow.
std::string table(const std::vector<Row>& rows, std::size_t columns) {
  const std::optional<Widths> widths = table_widths(rows, columns);
  if (!widths) return stacked(rows, columns);
  std::string text;
  for (const Row& row : rows) {
    std::array<std::vector<std::string>, 4> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = split(wrapped(row.cells[i], (*widths)[i], 0), '\n');
      height = std::max(height, cells[i].size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        line += fmt::format("  {:<{}}", at < cells[i].size() ? cells[i][at] : "", (*widths)[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    text += below_row(row, columns);
  }
  return text;
}

const Row table_head = {{"key", "type", "default", "unit"}, ""};

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

Row table_row(const std::string& name, const KeyRow& key) {
  return {{name, key.type, default_text(key), key.unit}, first_sentence(key.meaning)};
}

/// A label of two blanks and a word, and a text that hangs behind it.
std::string labelled(const std::string& label, const std::string& text, std::size_t columns) {
  constexpr std::size_t hanging = 11;
  return wrapped(fmt::format("  {:<{}}{}\n", label, hanging - 2, text), columns, hanging);
}

const std::vector<KeyRow>& reference_of(const Entry& entry) {
  return entry.of_study ? study_key_table().rows() : case_key_table().rows();
}

/// The section whose keys stand below this one.
std::string home_of_keys(const Entry& entry) {
  for (const SectionLike& alike : sections_alike()) {
    if (!entry.of_study && alike.path == entry.key->path) return alike.other;
  }
  return entry.key->path;
}

/// The path on the command line of a key of a list's first element.
std::string with_first_elements(std::string path) {
  for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) path.replace(at, 2, ".0");
  return path;
}

/// The value of --set that sets the key as its example does; "" where it is more than one line.
std::string assignment(const Entry& entry) {
  const std::string lead = last_part_of(entry.key->path) + ": ";
  const std::vector<std::string> lines = split(entry.key->example, '\n');
  const auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& text) {
    return text.find(lead) == text.find_first_not_of(" -") && !text.empty();
  });
  if (line == lines.end() || entry.key->path.find(any_field) != std::string::npos) return "";
  const std::string value = line->substr(line->find(lead) + lead.size());
  const std::string text = with_first_elements(entry.key->path) + "=" + value;
  const bool is_plain = text.find_first_of(" []{}'|") == std::string::npos;
  if (text.find('\'') != std::string::npos) return "--set \"" + text + "\"";
  return is_plain ? "--set " + text : "--set '" + text + "'";
}

/// Indents each line of `text`, which ends with a line end.
std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  for (const std::string& line : split(text.substr(0, text.size() - 1), '\n')) result += indent + line + "\n";
  return result;
}

std::string described(const Entry& entry, std::size_t columns) {
  const KeyRow& key = *entry.key;
  std::string text = fmt::format("{}{}\n", key.path, entry.of_study ? " (of a study)" : "");
  text += labelled("type", key.type, columns) + labelled("default", default_text(key), columns);
  if (!key.unit.empty()) text += labelled("unit", key.unit, columns);
  text += "\n" + paragraph(key.meaning, std::min(columns, most_prose), 2);
  const std::string home = home_of_keys(entry);
  std::vector<Row> rows = {table_head};
  for (const KeyRow& below : reference_of(entry)) {
    const std::string parent = parent_of(below.path);
    if (parent == home || parent == home + "[]") rows.push_back(table_row(last_part_of(below.path), below));
  }
  if (rows.size() > 1) text += fmt::format("\nKeys of {}:\n{}", key.path, table(rows, columns));
  text += "\nExample:\n" + indented(key.example, "  ");
  const std::string set = assignment(entry);
  if (!set.empty()) text += "\nOn the command line:\n  " + set + "\n";
  return text;
}

std::string listed(const std::vector<const Entry*>& found, std::size_t columns) {
  std::vector<Row> rows = {table_head};
  for (const Entry* entry : found) rows.push_back(table_row(entry->name, *entry->key));
  return table(rows, columns);
}

/// What a field is; "" for a word that is none.
std::string field_text(const std::string& word) {
  const auto field = field_named(word);
  if (!field) return "";
  const FieldInfo& of = info(*field);
  return fmt::format("{} is a field: {}, {}. prismfield help fields tells of all.\n\n", of.name, of.long_name, of.unit);
}

[[noreturn]] void refuse(const std::string& asked) {
  std::vector<std::string> names, last_parts, near;
  const std::string path = canonical(asked);
  for (const Entry& entry : entries()) {
    names.push_back(without_lists(entry.name));
    last_parts.push_back(last_part_of(entry.name));
  }
  const std::string whole = nearest_spelling(path, names);
  if (path == "points") near = {"observations.stations", "observations.grid"};
  if (!whole.empty()) near.push_back(whole);
  const std::string last = nearest_spelling(last_part_of(path), last_parts);
  for (std::size_t i = 0; i < names.size() && !last.empty(); ++i) {
    if (last_parts[i] == last && names[i] != whole) near.push_back(names[i]);
  }
  constexpr std::size_t most = 6;
  if (near.size() > most) near.resize(most);
  const std::string meant = near.empty() ? "; " : "; did you mean " + fmt::format("{}", fmt::join(near, " or ")) + "? ";
  throw InputError("", "",
                   excerpt(asked) + " is no key of a case or a study" + meant + "prismfield help --keys lists all");
}

}  // namespace

bool is_documented_key(const std::string& key) {
  const Found found = find(key);
  return !found.whole.empty() || !found.ends.empty();
}

std::string key_help(const std::string& key, std::size_t columns) {
  const Found found = find(key);
  std::vector<const Entry*> all = found.whole;
  all.insert(all.end(), found.ends.begin(), found.ends.end());
  if (all.empty()) refuse(key);
  if (found.whole.size() != 1 && all.size() != 1)
    return wrapped(field_text(key), columns, 0) + fmt::format("{} may be:\n{}", shown(key), listed(all, columns));
  std::string text = described(*all.front(), columns);
  if (all.size() > 1) text += "\nOther keys of this name:\n" + listed({all.begin() + 1, all.end()}, columns);
  return text;
}

std::string key_paths(bool of_study) {
  std::string text;
  const auto add = [&](const std::string& path) {
    const std::size_t field = path.rfind(any_field);
    if (field == std::string::npos) {
      text += path + "\n";
      return;
    }
    for (const FieldInfo& info : field_infos) text += path.substr(0, field) + std::string(info.name) + "\n";
  };
  if (of_study) {
    for (const KeyRow& key : study_key_table().rows()) add(with_first_elements(key.path));
    return text;
  }
  for (const KeyRow& key : case_key_table().rows()) {
    add(with_first_elements(key.path));
    for (const SectionLike& alike : sections_alike()) {
      const std::string below = alike.other + ".";
      if (key.path.starts_with(below)) add(with_first_elements(alike.path + "." + key.path.substr(below.size())));
    }
  }
  return text;
}

}  // namespace prismfield
