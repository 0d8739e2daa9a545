// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string_view>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string allowed(const std::string& word, const Words& names, const std::string& other_form) {
  const std::string nearest = nearest_spelling(word, names);
  const std::string all = joined(names) + (other_form.empty() ? "" : ", " + other_form);
  return nearest.empty() ? "; allowed: " + all : "; did you mean " + nearest + "? Allowed: " + all;
}

std::string kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::list: return "a list";
    case YamlNode::Kind::map: return "a map";
    case YamlNode::Kind::scalar: return (node.quoted ? "the text " : "") + excerpt(node.text);
    case YamlNode::Kind::null:
    case YamlNode::Kind::removed: break;
  }
  return "empty";
}

Section::Section(CaseReader& reader, Value map) : Section(reader, map, case_key_table().keys_of(map.path)) {}

Section::Section(CaseReader& reader, Value map, const Words& known)
    : m_reader(reader), m_map(std::move(map)), m_known(known) {
  if (m_map.node->kind != YamlNode::Kind::map) {
    m_reader.expects(m_map, "a map with the keys " + joined(known));
    return;
  }
  m_is_map = true;
  for (const YamlEntry& entry : m_map.node->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    m_reader.unknown_key(m_map, entry, known);
    if (std::string near = nearest_spelling(entry.key, known); !near.empty()) m_misspelt.push_back(std::move(near));
  }
}

bool Section::has(const std::string& key) const {
  if (std::find(m_known.begin(), m_known.end(), key) == m_known.end()) {
    throw std::logic_error("the table of keys has no " + join_key(m_map.path, key));
  }
  const YamlNode* node = m_is_map ? m_map.node->find(key) : nullptr;
  return node != nullptr && node->kind != YamlNode::Kind::removed;
}

bool Section::has_misspelt(const std::string& key) const {
  return std::find(m_misspelt.begin(), m_misspelt.end(), key) != m_misspelt.end();
}

std::optional<Value> Section::find(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const auto& entries = m_map.node->entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& e) { return e.key == key; });
  Value value{&entry->value, join_key(m_map.path, key), m_reader.place(entry->value, entry->key_line)};
  if (value.node->kind == YamlNode::Kind::null) {
    m_reader.problem(value, "has no value; write one or leave the key out");
    return std::nullopt;
  }
  return value;
}

std::optional<Value> Section::need(const std::string& key, const std::string& expected) const {
  if (m_is_map && !has(key) && !has_misspelt(key)) {
    m_reader.problem_at(m_map.where, join_key(m_map.path, key), "is missing; " + expected + " is expected");
  }
  return find(key);
}

std::string Section::one_of(const std::vector<Alternative>& alternatives) const {
  if (!m_is_map) return {};
  Words names, written;
  for (const Alternative& a : alternatives) {
    names.push_back(a.key);
    if (has(a.key)) written.push_back(a.key);
  }
  if (written.empty()) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return has_misspelt(name); })) return {};
    m_reader.problem(m_map, "one of the keys " + joined(names) + " is missing");
    return {};
  }
  if (written.size() > 1) {
    m_reader.problem(m_map,
                     fmt::format("has {}; exactly one of {} is allowed", fmt::join(written, " and "), joined(names)));
    return {};
  }
  const std::string& chosen = written.front();
  std::map<std::string, Words> owners;
  for (const Alternative& a : alternatives) {
    for (const std::string& companion : a.companions) owners[companion].push_back(a.key);
  }
  for (const auto& [companion, keys] : owners) {
    if (std::find(keys.begin(), keys.end(), chosen) != keys.end()) continue;
    if (const auto value = find(companion)) {
      m_reader.problem(*value, fmt::format("goes with {}, not with {}", fmt::join(keys, " or "), chosen));
    }
  }
  return chosen;
}

void CaseReader::unknown_key(const Value& map, const YamlEntry& entry, const Words& known) {
  if (only_counted()) return;
  Words elsewhere;
  for (const KeySection* const home : case_key_table().upper_sections()) {
    if (std::find(home->keys.begin(), home->keys.end(), entry.key) != home->keys.end()) {
      elsewhere.push_back(home->path.empty() ? "the top level" : home->path);
    }
  }
  std::string what = "is no known key";
  if (!elsewhere.empty() && nearest_spelling(entry.key, known).empty()) {
    what += fmt::format(" here, but in {}{}", fmt::join(elsewhere, ", "),
                        entry.value.option == nullptr ? " (look at the indentation)" : "");
  }
  m_problems.add(place(entry.value, entry.key_line), join_key(map.path, entry.key), what + allowed(entry.key, known));
}

std::nullopt_t CaseReader::expects(const Value& value, const std::string& expected, const std::string& more) {
  return problem(value, fmt::format("is {}; {} is expected{}", kind_name(*value.node), expected, more));
}

bool CaseReader::is_plain(const Value& value, const std::string& expected) {
  if (value.node->kind == Kind::scalar && !value.node->quoted) return true;
  problem(value, fmt::format("is {}{}; {} is expected", kind_name(*value.node),
                             value.node->kind == Kind::scalar ? " in quotes" : "", expected));
  return false;
}

namespace {

/// What the key of a value allows, `expected` for messages where it is not "".
NumberRange allowed_numbers(const Value& value, const std::string& expected) {
  NumberRange range;
  if (const KeyRow* const row = case_key_table().find(value.path)) {
    range = row->numbers;
    const bool is_of_unit = !row->unit.empty() && row->unit.find_first_of(" ;,") == std::string::npos;
    if (is_of_unit && range.words.find("a whole") == std::string::npos) range.words += " in " + row->unit;
  }
  if (!expected.empty()) range.words = expected;
  return range;
}

}  // namespace

std::optional<double> CaseReader::number(const Value& value, const std::string& expected) {
  return number_in(value, allowed_numbers(value, expected));
}

std::optional<std::int64_t> CaseReader::whole(const Value& value, const std::string& expected) {
  return whole_in(value, allowed_numbers(value, expected));
}

std::optional<double> CaseReader::number_in(const Value& value, const NumberRange& range) {
  if (!is_plain(value, range.words)) return std::nullopt;
  const std::string& text = value.node->text;
  double result = 0;
  const NumberStatus status = parse_number(text, result);
  if (status == NumberStatus::too_large) {
    return problem(value, fmt::format("is {}, beyond what a double can hold", kind_name(*value.node)));
  }
  const std::string name = lower_case(text);
  const bool yaml_infinity = name.ends_with(".inf") || name == ".nan";
  if (yaml_infinity || (status == NumberStatus::ok && !std::isfinite(result))) {
    return expects(value, "a finite number");
  }
  if (status != NumberStatus::ok) {
    const bool comma = text.find(',') != std::string::npos;
    return expects(value, range.words, comma ? ", with a decimal point and without commas" : "");
  }
  if (result < range.least || result > range.most) return expects(value, range.words);
  return result;
}

std::optional<std::int64_t> CaseReader::whole_in(const Value& value, const NumberRange& range) {
  if (!is_plain(value, range.words)) return std::nullopt;
  const auto refuse = [&](const std::string& what) { return problem(value, "is " + kind_name(*value.node) + what); };
  std::int64_t result = 0;
  const NumberStatus status = parse_integer(value.node->text, result);
  if (status == NumberStatus::too_large) return refuse(", too large for a count");
  if (status != NumberStatus::ok) {
    // 1e6 and 150.0 are whole numbers too.
    const auto as_double = number_in(value, {.words = range.words});
    if (!as_double) return std::nullopt;
    if (*as_double != std::floor(*as_double)) return expects(value, range.words);
    constexpr double exact = 9007199254740992.0;
    if (std::abs(*as_double) > exact) return refuse(", too large for a count");
    result = static_cast<std::int64_t>(*as_double);
  }
  const auto number = static_cast<double>(result);
  if (number < range.least || number > range.most) return expects(value, range.words);
  return result;
}

std::optional<std::uint64_t> CaseReader::seed(const Value& value) {
  if (!is_plain(value, "a whole number")) return std::nullopt;
  std::uint64_t result = 0;
  if (parse_integer(value.node->text, result) == NumberStatus::ok) return result;
  return expects(value, fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
}

std::optional<bool> CaseReader::truth(const Value& value) {
  return choice(value, std::array{Choice<bool>{"true", true}, Choice<bool>{"false", false}});
}

std::optional<std::string> CaseReader::words(const Value& value, const char* expected) {
  if (value.node->kind != Kind::scalar) return expects(value, expected);
  if (value.node->text.empty()) return problem(value, fmt::format("is empty; {} is expected", expected));
  if (shown(value.node->text) != value.node->text) {
    return problem(value, fmt::format("is {}, with line ends or other control characters; {} is expected",
                                      kind_name(*value.node), expected));
  }
  return value.node->text;
}

std::optional<std::filesystem::path> CaseReader::path(const Value& value) {
  const auto text = words(value, "the name of a file");
  if (!text) return std::nullopt;
  const KeyRow* const row = case_key_table().find(value.path);
  return row != nullptr && row->effects.names_input ? in_folder(*text) : std::filesystem::path(*text);
}

std::optional<double> CaseReader::with_unit(const Value& value,
                                            const std::vector<std::pair<std::string, double>>& units,
                                            const char* example) {
  Words names;
  for (const auto& unit : units) names.push_back(unit.first);
  if (!is_plain(value, example)) return std::nullopt;
  const std::string& text = value.node->text;
  double amount = 0;
  const char* at = text.data();
  const NumberStatus status = parse_number(at, text.data() + text.size(), amount);
  const std::string_view rest(at, static_cast<std::size_t>(text.data() + text.size() - at));
  const std::size_t begin = rest.find_first_not_of(' ');
  const std::string unit(begin == std::string_view::npos ? std::string_view() : rest.substr(begin));
  if (status != NumberStatus::ok || !std::isfinite(amount) || amount <= 0) {
    return expects(value, fmt::format("a number above 0 with a unit ({})", joined(names)),
                   fmt::format(", such as {}", example));
  }
  for (const auto& [name, factor] : units) {
    if (name == unit) return amount * factor;
  }
  return problem(value, fmt::format("is {}, {} unit{}", kind_name(*value.node),
                                    unit.empty() ? "without a" : "with an unknown", allowed(unit, names)));
}

std::optional<double> CaseReader::density_factor(const Section& section) {
  std::optional<double> factor;
  take(section, "density_unit", factor, std::array{Choice<double>{"kg/m3", 1}, Choice<double>{"g/cm3", 1000}});
  return factor;
}

std::optional<double> CaseReader::length_factor(const Section& section) {
  std::optional<double> factor;
  take(section, "length_unit", factor,
       std::array{Choice<double>{"m", 1}, Choice<double>{"km", 1000}, Choice<double>{"ft", foot}});
  return factor;
}

DensityFile CaseReader::density_file(const Section& section, const std::string& what, bool has_unit) {
  DensityFile file;
  need(section, "file", "the name of a file of " + what, file.file);
  take_words(section, "dataset", "the name of a dataset", file.dataset);
  if (has_unit) file.to_si = density_factor(section);
  return file;
}

std::array<double, 3> CaseReader::vector_along(const Section& section, double length) {
  double inclination = 0, declination = 0;
  need(section, "inclination", "an angle in degrees, down positive,", inclination);
  need(section, "declination", "an angle in degrees, east of grid north,", declination);
  return vector_of(inclination, declination, length);
}

std::vector<std::string> CaseReader::column_names(const Value& value) {
  std::vector<std::string> names;
  each(value, "a list of the file's columns in their order", [&](const Value& column) {
    if (const auto name = words(column, "the name of a column")) names.push_back(*name);
  });
  if (value.node->kind == Kind::list && value.node->items.empty()) {
    problem(value, "is an empty list; the file's columns in their order are expected");
  }
  return names;
}

bool CaseReader::is_list(const Value& value, const std::string& form) {
  if (value.node->kind != Kind::list) expects(value, form);
  return value.node->kind == Kind::list;
}

bool CaseReader::is_list_of(const Value& value, std::size_t n, const std::string& form) {
  if (!is_list(value, form)) return false;
  if (value.node->items.size() == n) return true;
  problem(value, fmt::format("has {} values; {} is expected", value.node->items.size(), form));
  return false;
}

std::optional<std::vector<double>> CaseReader::numbers(const Value& value, const std::string& form) {
  if (!is_list(value, form)) return std::nullopt;
  // A file's worth of wrong values would bury everything else.
  constexpr std::size_t most_reported = 10;
  const std::size_t before = m_problems.size();
  std::vector<double> result;
  result.reserve(value.node->items.size());
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    if (const auto x = number_in(item(value, i), {})) result.push_back(*x);
    if (m_problems.size() >= before + most_reported) break;
  }
  if (m_problems.size() != before) return std::nullopt;
  return result;
}

std::optional<Range> CaseReader::range(const Value& value, bool may_be_equal) {
  static const std::string form = "[min, max]";
  if (!is_list_of(value, 2, form)) return std::nullopt;
  const auto min = number_in(item(value, 0), {}), max = number_in(item(value, 1), {});
  if (!min || !max || !rises(value, *min, *max, may_be_equal)) return std::nullopt;
  return Range{*min, *max};
}

bool CaseReader::rises(const Value& value, double min, double max, bool may_be_equal) {
  if (min < max || (may_be_equal && min == max)) return true;
  problem(value,
          fmt::format("has min {} and max {}; min must be {} max", min, max, may_be_equal ? "at most" : "less than"));
  return false;
}

std::optional<Axis> CaseReader::axis(const Value& value, bool of_cells) {
  if (!is_list_of(value, 3, of_cells ? "[min, max, cells]" : "[min, max, points]")) return std::nullopt;
  const auto min = number_in(item(value, 0), {}), max = number_in(item(value, 1), {});
  const auto count = whole_in(item(value, 2), {.least = 1, .words = "a whole number from 1"});
  const bool is_point = !of_cells && count && *count == 1;
  if (min && max && is_point && *min != *max) {
    return problem(value, fmt::format("has 1 point from {} to {}, but both ends are included; write two points or "
                                      "more, or min equal to max",
                                      *min, *max));
  }
  if (min && max && !is_point && !rises(value, *min, *max)) return std::nullopt;
  if (!min || !max || !count) return std::nullopt;
  return Axis{*min, *max, *count};
}

bool CaseReader::countable(const Value& value, std::initializer_list<std::int64_t> counts) {
  std::int64_t product = 1;
  for (const std::int64_t n : counts) {
    if (n > 0 && product > largest_count / n) {
      problem(value, fmt::format("has {} elements, more than can be counted", fmt::join(counts, " x ")));
      return false;
    }
    product *= n;
  }
  return true;
}

}  // namespace prismfield
