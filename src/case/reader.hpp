// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "case/key_table.hpp"
#include "case/yaml_tree.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"
#include "readers/cell_file.hpp"

namespace prismfield {

using Words = std::vector<std::string>;

/// Words with commas between them.
[[nodiscard]] std::string joined(const Words& words);
/// The end of a message about a word that is none of `names`.
[[nodiscard]] std::string allowed(const std::string& word, const Words& names, const std::string& other_form = "");
/// What kind of value a node is, for messages: "a list", "'7'".
[[nodiscard]] std::string kind_name(const YamlNode& node);

/// A value with its key path and where it was written.
struct Value {
  const YamlNode* node;
  std::string path;
  std::string where;
};

/// Whether a value is this word.
[[nodiscard]] inline bool is_word(const Value& value, const char* word) {
  return value.node->kind == YamlNode::Kind::scalar && value.node->text == word;
}

/// A choice of one key among several, with the keys that go with it.
struct Alternative {
  std::string key;
  Words companions;
};

class CaseReader;

/// A map whose keys are checked when it is entered. Asking for a key that is none of them throws std::logic_error.
class Section {
public:
  /// The keys of a case's section, which the table of keys has.
  Section(CaseReader& reader, Value map);
  /// Other keys, which must outlive the section.
  Section(CaseReader& reader, Value map, const Words& known);
  [[nodiscard]] explicit operator bool() const noexcept { return m_is_map; }
  [[nodiscard]] const Value& map() const noexcept { return m_map; }

  /// True when the key was written, with or without a value.
  [[nodiscard]] bool has(const std::string& key) const;
  /// The value of a key, if it is there; a key without a value is an error.
  [[nodiscard]] std::optional<Value> find(const std::string& key) const;
  /// True when an unknown key was written and reported to which this one is the nearest.
  [[nodiscard]] bool has_misspelt(const std::string& key) const;
  /// As find, and a missing key is an error, unless it was misspelt; `expected` says what belongs there.
  [[nodiscard]] std::optional<Value> need(const std::string& key, const std::string& expected) const;
  /// The one alternative that was written; none, several and keys that go with another one are errors.
  [[nodiscard]] std::string one_of(const std::vector<Alternative>& alternatives) const;

private:
  CaseReader& m_reader;
  Value m_map;
  const Words& m_known;
  bool m_is_map = false;
  /// the keys that unknown ones are nearest to
  Words m_misspelt;
};

inline constexpr std::array z_choices{Choice<bool>{"up", false}, Choice<bool>{"down", true}};

/// Reads values of a case's tree; every error goes into one list and reading goes on: a value with one is not there.
class CaseReader {
public:
  using Kind = YamlNode::Kind;
  static constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

  /// `problems` must outlive the reader and its copies.
  CaseReader(const std::filesystem::path& file, ProblemList& problems)
      : m_file(file.string()), m_folder(file.parent_path()), m_problems(problems) {}

  /// "file:line", or the option that wrote the node.
  [[nodiscard]] std::string place(const YamlNode& node, std::int32_t key_line) const {
    return where_of(node, m_file, key_line);
  }
  void problem_at(std::string where, std::string key, std::string what) {
    m_problems.add(std::move(where), std::move(key), std::move(what));
  }
  /// The value is not there: what its reader returns then.
  std::nullopt_t problem(const Value& value, std::string what) {
    m_problems.add(value.where, value.path, std::move(what));
    return std::nullopt;
  }
  /// Whether a further problem would only be counted, so that no message need be made; counts it then.
  bool only_counted() {
    if (m_problems.is_full()) m_problems.count_more(1);
    return m_problems.is_full();
  }
  /// Adds the problem of a key that is none of `known`.
  void unknown_key(const Value& map, const YamlEntry& entry, const Words& known);

  /// Element i of a list.
  [[nodiscard]] Value item(const Value& list, std::size_t i) const {
    const YamlNode& node = list.node->items[i];
    return {&node, join_key(list.path, std::to_string(i)), place(node, node.line)};
  }

  // Each adds a problem that says what is expected, and returns nothing or false, where the value is something else.

  std::nullopt_t expects(const Value& value, const std::string& expected, const std::string& more = "");
  bool is_plain(const Value& value, const std::string& expected);
  // `expected` says what else than a number may stand there; "": nothing.

  /// a number that the type of the key allows, by the table of keys
  std::optional<double> number(const Value& value, const std::string& expected = "");
  std::optional<std::int64_t> whole(const Value& value, const std::string& expected = "");
  std::optional<std::uint64_t> seed(const Value& value);
  std::optional<bool> truth(const Value& value);
  std::optional<std::string> words(const Value& value, const char* expected);
  /// of an input, as the table of keys says, relative to the case's folder
  std::optional<std::filesystem::path> path(const Value& value);
  [[nodiscard]] std::filesystem::path in_folder(const std::filesystem::path& file) const { return m_folder / file; }
  std::optional<double> with_unit(const Value& value, const std::vector<std::pair<std::string, double>>& units,
                                  const char* example);
  template <class T, std::size_t n>
  std::optional<T> choice(const Value& value, const std::array<Choice<T>, n>& choices,
                          const std::string& other_form = "");
  /// the factor to kg/m3 of the unit that `density_unit` names; nothing without the key
  std::optional<double> density_factor(const Section& section);
  /// the factor to metres of the unit that `length_unit` names, one of m, km and ft; nothing without the key
  std::optional<double> length_factor(const Section& section);
  /// the keys file, dataset and, where its numbers have a unit, density_unit; `what` the file is, without a file an
  /// error
  DensityFile density_file(const Section& section, const std::string& what, bool has_unit = true);
  /// Of the keys inclination and declination, `length` long.
  std::array<double, 3> vector_along(const Section& section, double length);
  /// the names of a file's columns, "-" for one that is passed over
  std::vector<std::string> column_names(const Value& value);

  // What a value says, where it belongs; with an error that stays as it is.

  void read(const Value& value, double& to) { to = number(value).value_or(to); }
  void read(const Value& value, std::int64_t& to) { to = whole(value).value_or(to); }
  void read(const Value& value, std::uint64_t& to) { to = seed(value).value_or(to); }
  void read(const Value& value, bool& to) { to = truth(value).value_or(to); }
  void read(const Value& value, std::filesystem::path& to) { to = path(value).value_or(to); }
  template <class T, std::size_t n>
  void read(const Value& value, T& to, const std::array<Choice<T>, n>& choices) {
    to = choice(value, choices).value_or(to);
  }
  template <class T, class... Choices>
  void read(const Value& value, std::optional<T>& to, const Choices&... choices) {
    read(value, to.emplace(), choices...);
  }
  /// the value of a key, where it is there
  template <class T, class... Choices>
  void take(const Section& section, const std::string& key, T& to, const Choices&... choices) {
    if (const auto value = section.find(key)) read(*value, to, choices...);
  }
  void take_words(const Section& section, const std::string& key, const char* expected, std::string& to) {
    if (const auto value = section.find(key)) to = words(*value, expected).value_or(to);
  }
  /// of a key that has to be there; `expected` says what belongs there
  template <class T>
  void need(const Section& section, const std::string& key, const std::string& expected, T& to) {
    if (const auto value = section.need(key, expected)) read(*value, to);
  }

  bool is_list(const Value& value, const std::string& form);
  bool is_list_of(const Value& value, std::size_t n, const std::string& form);
  /// Calls read(element) for each element of a list.
  template <class Read>
  void each(const Value& list, const std::string& form, const Read& read);
  std::optional<std::vector<double>> numbers(const Value& value, const std::string& form);
  /// as many numbers, each as the type of the key allows; where one has an error it stays as it is
  template <std::size_t n>
  bool fixed_numbers(const Value& value, const std::string& form, std::array<double, n>& to) {
    if (!is_list_of(value, n, form)) return false;
    for (std::size_t i = 0; i < n; ++i) read(item(value, i), to[i]);
    return true;
  }
  std::optional<Range> range(const Value& value, bool may_be_equal);
  /// [min, max, cells], or [min, max, points], where one point has min equal to max
  std::optional<Axis> axis(const Value& value, bool of_cells);
  /// false where min is not below max, or equal to it where it may be
  bool rises(const Value& value, double min, double max, bool may_be_equal = false);
  /// false when the product of `counts` passes the largest count
  bool countable(const Value& value, std::initializer_list<std::int64_t> counts);

private:
  std::optional<double> number_in(const Value& value, const NumberRange& range);
  std::optional<std::int64_t> whole_in(const Value& value, const NumberRange& range);

  std::string m_file;
  std::filesystem::path m_folder;
  ProblemList& m_problems;
};

template <class Read>
void CaseReader::each(const Value& list, const std::string& form, const Read& read) {
  if (!is_list(list, form)) return;
  for (std::size_t i = 0; i < list.node->items.size(); ++i) read(item(list, i));
}

template <class T, std::size_t n>
std::optional<T> CaseReader::choice(const Value& value, const std::array<Choice<T>, n>& choices,
                                    const std::string& other_form) {
  Words names;
  for (const auto& [name, result] : choices) {
    if (value.node->kind == Kind::scalar && value.node->text == name) return result;
    names.push_back(name);
  }
  if (only_counted()) return std::nullopt;
  return problem(value, "is " + kind_name(*value.node) + allowed(value.node->text, names, other_form));
}

/// A section of a case each; errors go to the list of `values`, and what has one keeps its default.
[[nodiscard]] ModelSpec read_model(const CaseReader& values, const Value& value, CaseUse use);
[[nodiscard]] InversionSpec read_inversion(const CaseReader& values, const Value& value);
[[nodiscard]] FieldList read_fields(const CaseReader& values, const Value& value);

}  // namespace prismfield
