// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/yaml_tree.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

using Kind = YamlNode::Kind;
using Words = std::vector<std::string>;
constexpr std::int64_t largest_count = std::numeric_limits<std::int64_t>::max();

const Words case_keys = {"title",        "gravitational_constant",
                         "axes",         "model",
                         "observations", "fields",
                         "execution",    "output",
                         "sensitivity",  "inversion"};
const Words model_keys = {"voxels", "prisms", "mesh"};
const Words voxels_keys = {"easting", "northing", "upward", "density", "spheres", "boxes"};
const Words prisms_keys = {"file", "group", "columns", "axis_z", "length_unit", "density_unit", "allow_overlap"};
const Words mesh_keys = {"easting", "northing", "upward", "density", "ubc"};
const Words edges_keys = {"edges", "origin", "widths", "file", "random_widths", "cells", "top", "seed"};
const Words density_keys = {"random", "seed", "file", "dataset", "density_unit"};
const Words ubc_keys = {"mesh", "density", "density_unit"};
const Words sphere_keys = {"center", "radius", "density"};
const Words box_keys = {"easting", "northing", "upward", "density"};
const Words observations_keys = {"grid", "stations", "noise"};
const Words grid_keys = {"easting", "northing", "upward"};
const Words height_keys = {"file"};
const Words stations_keys = {"file", "random", "easting", "northing", "upward", "seed"};
const Words execution_keys = {"space", "partition", "balance", "kernel",       "precision", "lanes",    "batch",
                              "slots", "block",     "chunk",   "memory_limit", "method",    "tolerance"};
const Words partition_keys = {"ranks"};
const Words output_keys = {"file", "figure", "checkpoint"};
const Words checkpoint_keys = {"every", "file"};

/// Where a key belongs that stands at the wrong level, which is what wrong indentation leads to.
const std::vector<std::pair<std::string, const Words*>> homes = {{"", &case_keys},
                                                                 {"model", &model_keys},
                                                                 {"model.voxels", &voxels_keys},
                                                                 {"model.prisms", &prisms_keys},
                                                                 {"model.mesh", &mesh_keys},
                                                                 {"observations", &observations_keys},
                                                                 {"observations.grid", &grid_keys},
                                                                 {"execution", &execution_keys},
                                                                 {"output", &output_keys},
                                                                 {"output.checkpoint", &checkpoint_keys}};

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// The end of a message about a word that is none of `names`.
std::string allowed(const std::string& word, const Words& names, const std::string& other_form = "") {
  const std::string nearest = nearest_spelling(word, names);
  const std::string all = joined(names) + (other_form.empty() ? "" : ", " + other_form);
  return nearest.empty() ? "; allowed: " + all : "; did you mean " + nearest + "? Allowed: " + all;
}

std::string kind_name(const YamlNode& node) {
  switch (node.kind) {
    case Kind::list: return "a list";
    case Kind::map: return "a map";
    case Kind::scalar: return (node.quoted ? "the text " : "") + excerpt(node.text);
    case Kind::null:
    case Kind::removed: break;
  }
  return "empty";
}

/// A value with its key path and where it was written.
struct Value {
  const YamlNode* node;
  std::string path;
  std::string where;
};

/// A choice of one key among several, with the keys that go with it.
struct Alternative {
  std::string key;
  Words companions;
};

/// Turns the tree into a Case; every mistake goes into one list and reading goes on.
class CaseReader {
public:
  CaseReader(std::filesystem::path file, ProblemList& problems)
      : m_file(file.string()), m_folder(file.parent_path()), m_problems(problems) {}

  void read(const YamlNode& root, Case& run);

private:
  /// A map whose keys are checked when it is entered.
  class Section {
  public:
    Section(CaseReader& reader, Value map, const Words& known) : m_reader(reader), m_map(std::move(map)) {
      if (m_map.node->kind != Kind::map) {
        m_reader.problem(
            m_map, fmt::format("is {}; a map with the keys {} is expected", kind_name(*m_map.node), joined(known)));
        return;
      }
      m_is_map = true;
      for (const YamlEntry& entry : m_map.node->entries) {
        if (std::find(known.begin(), known.end(), entry.key) == known.end()) m_reader.unknown_key(m_map, entry, known);
      }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return m_is_map; }
    [[nodiscard]] const Value& map() const noexcept { return m_map; }

    /// True when the key was written, with or without a value.
    [[nodiscard]] bool has(const std::string& key) const {
      const YamlNode* node = m_is_map ? m_map.node->find(key) : nullptr;
      return node != nullptr && node->kind != Kind::removed;
    }

    /// The value of a key, if it is there; a key without a value is a mistake.
    [[nodiscard]] std::optional<Value> find(const std::string& key) const {
      if (!has(key)) return std::nullopt;
      const auto& entries = m_map.node->entries;
      const auto entry = std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& e) { return e.key == key; });
      Value value{&entry->value, join_key(m_map.path, key), m_reader.place(entry->value, entry->key_line)};
      if (value.node->kind == Kind::null) {
        m_reader.problem(value, "has no value; write one or leave the key out");
        return std::nullopt;
      }
      return value;
    }

    /// As find, and a missing key is a mistake; `expected` says what belongs there.
    [[nodiscard]] std::optional<Value> need(const std::string& key, const std::string& expected) const {
      if (m_is_map && !has(key)) {
        m_reader.m_problems.add(m_map.where, join_key(m_map.path, key), "is missing; " + expected + " is expected");
      }
      return find(key);
    }

    /// The one alternative that was written; none, several and keys that go with another one are mistakes.
    [[nodiscard]] std::string one_of(const std::vector<Alternative>& alternatives) const {
      if (!m_is_map) return {};
      Words names, written;
      for (const Alternative& a : alternatives) {
        names.push_back(a.key);
        if (has(a.key)) written.push_back(a.key);
      }
      if (written.empty()) {
        m_reader.problem(m_map, "one of the keys " + joined(names) + " is missing");
        return {};
      }
      if (written.size() > 1) {
        m_reader.problem(
            m_map, fmt::format("has {}; exactly one of {} is allowed", fmt::join(written, " and "), joined(names)));
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

  private:
    CaseReader& m_reader;
    Value m_map;
    bool m_is_map = false;
  };

  [[nodiscard]] std::string place(const YamlNode& node, std::int32_t key_line) const {
    return node.option != nullptr ? std::string(node.option) : fmt::format("{}:{}", m_file, key_line);
  }
  void problem(const Value& value, std::string what) { m_problems.add(value.where, value.path, std::move(what)); }
  void unknown_key(const Value& map, const YamlEntry& entry, const Words& known);

  [[nodiscard]] Value item(const Value& list, std::size_t i) const {
    const YamlNode& node = list.node->items[i];
    return {&node, join_key(list.path, std::to_string(i)), place(node, node.line)};
  }

  bool is_plain(const Value& value, const std::string& expected);
  std::optional<double> number(const Value& value, const std::string& expected = "a number");
  std::optional<double> positive(const Value& value);
  std::optional<std::int64_t> whole(const Value& value, std::int64_t least, std::int64_t most = largest_count,
                                    const std::string& expected = "a whole number");
  std::optional<std::uint64_t> seed(const Value& value);
  std::optional<bool> truth(const Value& value);
  std::optional<std::string> words(const Value& value, const char* expected);
  std::optional<std::filesystem::path> path(const Value& value);
  std::optional<std::filesystem::path> input(const Value& value);
  std::optional<double> with_unit(const Value& value, const std::vector<std::pair<std::string, double>>& units,
                                  const char* example);
  template <class T, std::size_t n>
  std::optional<T> choice(const Value& value, const std::array<Choice<T>, n>& choices,
                          const std::string& other_form = "");
  double unit_factor(const Section& section, const std::string& key, const char* si, const char* other, double factor);

  bool is_list(const Value& value, const std::string& form);
  bool is_list_of(const Value& value, std::size_t n, const std::string& form);
  std::optional<std::vector<double>> numbers(const Value& value, const std::string& form);
  std::optional<Range> range(const Value& value, bool may_be_equal);
  std::optional<Axis> cells(const Value& value);
  std::optional<Axis> grid_axis(const Value& value);
  bool countable(const Value& value, std::initializer_list<std::int64_t> counts);

  DensitySpec density(const Value& value);
  std::optional<EdgesSpec> edges(const Value& value, bool is_upward);
  void sphere(const Value& value, VoxelsSpec& voxels);
  void box(const Value& value, VoxelsSpec& voxels);
  VoxelsSpec voxels(const Value& value);
  PrismsSpec prisms(const Value& value);
  void prism_columns(const Value& value, PrismsSpec& prisms);
  MeshSpec mesh(const Value& value);
  ModelSpec model(const Value& value);
  GridSpec grid(const Value& value);
  PointsSpec stations(const Value& value);
  void observations(const Value& value, Case& run);
  NoiseSpec noise(const Value& value, FieldList fields);
  FieldList fields(const Value& value);
  void add_field(const Value& value, FieldList& list);
  Execution execution(const Value& value);
  void partition(const Value& value, Execution& spec);
  OutputSpec output(const Value& value);

  std::string m_file;
  std::filesystem::path m_folder;
  ProblemList& m_problems;
};

void CaseReader::unknown_key(const Value& map, const YamlEntry& entry, const Words& known) {
  Words elsewhere;
  for (const auto& [home, keys] : homes) {
    if (std::find(keys->begin(), keys->end(), entry.key) != keys->end()) {
      elsewhere.push_back(home.empty() ? "the top level" : home);
    }
  }
  std::string what = "is no known key";
  if (!elsewhere.empty() && nearest_spelling(entry.key, known).empty()) {
    what += fmt::format(" here, but in {}{}", fmt::join(elsewhere, ", "),
                        entry.value.option == nullptr ? " (look at the indentation)" : "");
  }
  m_problems.add(place(entry.value, entry.key_line), join_key(map.path, entry.key), what + allowed(entry.key, known));
}

bool CaseReader::is_plain(const Value& value, const std::string& expected) {
  if (value.node->kind == Kind::scalar && !value.node->quoted) return true;
  problem(value, fmt::format("is {}{}; {} is expected", kind_name(*value.node),
                             value.node->kind == Kind::scalar ? " in quotes" : "", expected));
  return false;
}

std::optional<double> CaseReader::number(const Value& value, const std::string& expected) {
  if (!is_plain(value, expected)) return std::nullopt;
  std::string_view text = value.node->text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double result = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), result);
  const bool whole_text = end == text.data() + text.size() && !text.starts_with('+');
  if (whole_text && status == std::errc::result_out_of_range) {
    problem(value, fmt::format("is {}, beyond what a double can hold", kind_name(*value.node)));
    return std::nullopt;
  }
  std::string name = value.node->text;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool yaml_infinity = name.ends_with(".inf") || name == ".nan";
  if (yaml_infinity || (whole_text && status == std::errc{} && !std::isfinite(result))) {
    problem(value, fmt::format("is {}; a finite number is expected", kind_name(*value.node)));
    return std::nullopt;
  }
  if (!whole_text || status != std::errc{}) {
    const bool comma = text.find(',') != std::string_view::npos;
    problem(value, fmt::format("is {}; {} is expected{}", kind_name(*value.node), expected,
                               comma ? ", with a decimal point and without commas" : ""));
    return std::nullopt;
  }
  return result;
}

std::optional<double> CaseReader::positive(const Value& value) {
  const auto result = number(value);
  if (!result || *result > 0) return result;
  problem(value, fmt::format("is {}; a number above 0 is expected", kind_name(*value.node)));
  return std::nullopt;
}

std::optional<std::int64_t> CaseReader::whole(const Value& value, std::int64_t least, std::int64_t most,
                                              const std::string& expected) {
  if (!is_plain(value, expected)) return std::nullopt;
  const auto refuse = [&](const std::string& what) {
    problem(value, "is " + kind_name(*value.node) + what);
    return std::nullopt;
  };
  std::string_view text = value.node->text;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t result = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (status == std::errc::result_out_of_range) return refuse(", too large for a count");
  if (status != std::errc{} || end != text.data() + text.size()) {
    // 1e6 and 150.0 are whole numbers too.
    const auto as_double = number(value, expected);
    if (!as_double) return std::nullopt;
    if (*as_double != std::floor(*as_double)) return refuse("; " + expected + " is expected");
    constexpr double exact = 9007199254740992.0;
    if (std::abs(*as_double) > exact) return refuse(", too large for a count");
    result = static_cast<std::int64_t>(*as_double);
  }
  if (result >= least && result <= most) return result;
  return refuse(most < largest_count ? fmt::format("; {} from {} to {} is expected", expected, least, most)
                                     : fmt::format("; {} of at least {} is expected", expected, least));
}

std::optional<std::uint64_t> CaseReader::seed(const Value& value) {
  if (!is_plain(value, "a whole number")) return std::nullopt;
  const std::string& text = value.node->text;
  std::uint64_t result = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (status == std::errc{} && end == text.data() + text.size()) return result;
  problem(value, fmt::format("is {}; a whole number from 0 to {} is expected", kind_name(*value.node),
                             std::numeric_limits<std::uint64_t>::max()));
  return std::nullopt;
}

std::optional<bool> CaseReader::truth(const Value& value) {
  return choice(value, std::array{Choice<bool>{"true", true}, Choice<bool>{"false", false}});
}

std::optional<std::string> CaseReader::words(const Value& value, const char* expected) {
  if (value.node->kind != Kind::scalar) {
    problem(value, fmt::format("is {}; {} is expected", kind_name(*value.node), expected));
    return std::nullopt;
  }
  if (value.node->text.empty()) {
    problem(value, fmt::format("is empty; {} is expected", expected));
    return std::nullopt;
  }
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::any_of(value.node->text.begin(), value.node->text.end(), is_control)) {
    problem(value, fmt::format("is {}, with line ends or other control characters; {} is expected",
                               kind_name(*value.node), expected));
    return std::nullopt;
  }
  return value.node->text;
}

std::optional<std::filesystem::path> CaseReader::path(const Value& value) {
  const auto text = words(value, "the name of a file");
  if (!text) return std::nullopt;
  return std::filesystem::path(*text);
}

std::optional<std::filesystem::path> CaseReader::input(const Value& value) {
  const auto file = path(value);
  if (!file) return std::nullopt;
  return m_folder / *file;
}

std::optional<double> CaseReader::with_unit(const Value& value,
                                            const std::vector<std::pair<std::string, double>>& units,
                                            const char* example) {
  Words names;
  for (const auto& unit : units) names.push_back(unit.first);
  if (!is_plain(value, example)) return std::nullopt;
  const std::string& text = value.node->text;
  double amount = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t begin = rest.find_first_not_of(' ');
  const std::string unit(begin == std::string_view::npos ? std::string_view() : rest.substr(begin));
  if (status != std::errc{} || !std::isfinite(amount) || amount <= 0) {
    problem(value, fmt::format("is {}; a number above 0 with a unit ({}) is expected, such as {}",
                               kind_name(*value.node), joined(names), example));
    return std::nullopt;
  }
  for (const auto& [name, factor] : units) {
    if (name == unit) return amount * factor;
  }
  problem(value, fmt::format("is {}, {} unit{}", kind_name(*value.node), unit.empty() ? "without a" : "with an unknown",
                             allowed(unit, names)));
  return std::nullopt;
}

template <class T, std::size_t n>
std::optional<T> CaseReader::choice(const Value& value, const std::array<Choice<T>, n>& choices,
                                    const std::string& other_form) {
  Words names;
  for (const auto& [name, result] : choices) {
    if (value.node->kind == Kind::scalar && value.node->text == name) return result;
    names.push_back(name);
  }
  problem(value, "is " + kind_name(*value.node) + allowed(value.node->text, names, other_form));
  return std::nullopt;
}

double CaseReader::unit_factor(const Section& section, const std::string& key, const char* si, const char* other,
                               double factor) {
  const auto value = section.find(key);
  if (!value) return 1;
  return choice(*value, std::array{Choice<double>{si, 1}, Choice<double>{other, factor}}).value_or(1);
}

bool CaseReader::is_list(const Value& value, const std::string& form) {
  if (value.node->kind == Kind::list) return true;
  problem(value, fmt::format("is {}; {} is expected", kind_name(*value.node), form));
  return false;
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
    if (const auto x = number(item(value, i))) result.push_back(*x);
    if (m_problems.size() >= before + most_reported) break;
  }
  if (m_problems.size() != before) return std::nullopt;
  return result;
}

std::optional<Range> CaseReader::range(const Value& value, bool may_be_equal) {
  static const std::string form = "[min, max]";
  if (!is_list_of(value, 2, form)) return std::nullopt;
  const auto min = number(item(value, 0));
  const auto max = number(item(value, 1));
  if (!min || !max) return std::nullopt;
  if (*min > *max || (*min == *max && !may_be_equal)) {
    problem(value, fmt::format("has min {} and max {}; min must be {} max", *min, *max,
                               may_be_equal ? "at most" : "less than"));
    return std::nullopt;
  }
  return Range{*min, *max};
}

std::optional<Axis> CaseReader::cells(const Value& value) {
  if (!is_list_of(value, 3, "[min, max, cells]")) return std::nullopt;
  const auto min = number(item(value, 0));
  const auto max = number(item(value, 1));
  const auto count = whole(item(value, 2), 1);
  if (min && max && !(*min < *max)) {
    problem(value, fmt::format("has min {} and max {}; min must be less than max", *min, *max));
    return std::nullopt;
  }
  if (!min || !max || !count) return std::nullopt;
  return Axis{*min, *max, *count};
}

std::optional<Axis> CaseReader::grid_axis(const Value& value) {
  if (!is_list_of(value, 3, "[min, max, points]")) return std::nullopt;
  const auto min = number(item(value, 0));
  const auto max = number(item(value, 1));
  const auto count = whole(item(value, 2), 1);
  if (!min || !max || !count) return std::nullopt;
  if (*count == 1 && *min != *max) {
    problem(value,
            fmt::format("has 1 point from {} to {}, but both ends are included; write two points or more, or min "
                        "equal to max",
                        *min, *max));
    return std::nullopt;
  }
  if (*count > 1 && !(*min < *max)) {
    problem(value, fmt::format("has min {} and max {}; min must be less than max", *min, *max));
    return std::nullopt;
  }
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

DensitySpec CaseReader::density(const Value& value) {
  if (value.node->kind != Kind::map) {
    if (value.node->kind == Kind::list) {
      problem(value, "is a list; a number, {random: [min, max], seed: 1} or {file: name} is expected");
      return ConstantDensity{};
    }
    return ConstantDensity{number(value).value_or(0)};
  }
  const Section section(*this, value, density_keys);
  const std::string chosen = section.one_of({{"random", {"seed"}}, {"file", {"dataset", "density_unit"}}});
  if (chosen == "random") {
    RandomDensity random;
    if (const auto v = section.find("random")) random.range = range(*v, true).value_or(Range{});
    if (const auto v = section.find("seed")) random.seed = seed(*v).value_or(random.seed);
    return random;
  }
  DensityFile file;
  if (const auto v = section.find("file")) file.file = input(*v).value_or("");
  if (const auto v = section.find("dataset")) file.dataset = words(*v, "the name of a dataset").value_or("");
  file.to_si = unit_factor(section, "density_unit", "kg/m3", "g/cm3", 1000);
  return file;
}

std::optional<EdgesSpec> CaseReader::edges(const Value& value, bool is_upward) {
  if (value.node->kind == Kind::list) {
    if (const auto axis = cells(value)) return *axis;
    return std::nullopt;
  }
  if (value.node->kind != Kind::map) {
    problem(value,
            fmt::format("is {}; [min, max, cells], {{edges: [...]}}, {{origin: 0, widths: [...]}}, {{file: name}} "
                        "or {{random_widths: [min, max], cells: 10}} is expected",
                        kind_name(*value.node)));
    return std::nullopt;
  }
  const Section section(*this, value, edges_keys);
  const std::string chosen = section.one_of(
      {{"edges", {}}, {"widths", {"origin"}}, {"file", {}}, {"random_widths", {"cells", "origin", "top", "seed"}}});
  if (chosen == "edges") {
    const auto v = section.find("edges");
    const auto list = v ? numbers(*v, "a list of cell edges") : std::nullopt;
    if (!list) return std::nullopt;
    if (list->size() < 2) problem(*v, fmt::format("has {} values; two edges or more are expected", list->size()));
    for (std::size_t i = 1; i < list->size(); ++i) {
      if ((*list)[i] > (*list)[i - 1]) continue;
      problem(item(*v, i), fmt::format("is {} after {}; edges must increase", (*list)[i], (*list)[i - 1]));
      break;
    }
    return EdgesList{*list};
  }
  if (chosen == "widths") {
    EdgesWidths widths;
    if (const auto v = section.need("origin", "where the first cell begins")) widths.origin = number(*v).value_or(0);
    const auto v = section.find("widths");
    const auto list = v ? numbers(*v, "a list of cell widths") : std::nullopt;
    if (!list) return std::nullopt;
    if (list->empty()) problem(*v, "is an empty list; one width or more is expected");
    for (std::size_t i = 0; i < list->size(); ++i) {
      if ((*list)[i] > 0) continue;
      problem(item(*v, i), fmt::format("is {}; a width above 0 is expected", (*list)[i]));
      break;
    }
    widths.widths = *list;
    return widths;
  }
  if (chosen == "file") {
    const auto v = section.find("file");
    return EdgesFile{v ? input(*v).value_or("") : std::filesystem::path()};
  }
  if (chosen != "random_widths") return std::nullopt;
  EdgesRandom random;
  if (const auto v = section.find("random_widths")) {
    if (const auto widths = range(*v, true)) {
      random.widths = *widths;
      if (!(widths->min > 0)) problem(*v, fmt::format("has min {}; widths must be above 0", widths->min));
    }
  }
  if (const auto v = section.need("cells", "the number of cells")) random.cells = whole(*v, 1).value_or(1);
  if (const auto v = section.find("origin")) random.origin = number(*v).value_or(0);
  if (const auto v = section.find("seed")) random.seed = seed(*v).value_or(random.seed);
  if (const auto v = section.find("top")) {
    random.top = number(*v);
    if (!is_upward) problem(*v, "is for upward only; write origin");
    if (section.has("origin")) problem(*v, "is written beside origin; exactly one of the two is allowed");
  }
  return random;
}

void CaseReader::sphere(const Value& value, VoxelsSpec& voxels) {
  const Section section(*this, value, sphere_keys);
  Sphere sphere;
  if (const auto v = section.need("center", "[easting, northing, upward]")) {
    if (is_list_of(*v, 3, "[easting, northing, upward]")) {
      for (std::size_t i = 0; i < 3; ++i) sphere.center[i] = number(item(*v, i)).value_or(0);
    }
  }
  if (const auto v = section.need("radius", "a length above 0")) sphere.radius = positive(*v).value_or(1);
  if (const auto v = section.need("density", "a number in kg/m3")) sphere.density = number(*v).value_or(0);
  voxels.spheres.push_back(sphere);
}

void CaseReader::box(const Value& value, VoxelsSpec& voxels) {
  const Section section(*this, value, box_keys);
  Box box;
  if (const auto v = section.need("easting", "[min, max]")) box.easting = range(*v, false).value_or(Range{});
  if (const auto v = section.need("northing", "[min, max]")) box.northing = range(*v, false).value_or(Range{});
  if (const auto v = section.need("upward", "[min, max]")) box.upward = range(*v, false).value_or(Range{});
  if (const auto v = section.need("density", "a number in kg/m3")) box.density = number(*v).value_or(0);
  voxels.boxes.push_back(box);
}

VoxelsSpec CaseReader::voxels(const Value& value) {
  const Section section(*this, value, voxels_keys);
  VoxelsSpec result;
  if (const auto v = section.need("easting", "[min, max, cells]")) result.easting = cells(*v).value_or(Axis{});
  if (const auto v = section.need("northing", "[min, max, cells]")) result.northing = cells(*v).value_or(Axis{});
  if (const auto v = section.need("upward", "[min, max, cells]")) result.upward = cells(*v).value_or(Axis{});
  countable(value, {result.easting.count, result.northing.count, result.upward.count});
  if (const auto v = section.find("density")) result.density = density(*v);
  if (const auto v = section.find("spheres")) {
    if (is_list(*v, "a list of {center: [...], radius: ..., density: ...}")) {
      for (std::size_t i = 0; i < v->node->items.size(); ++i) sphere(item(*v, i), result);
    }
  }
  if (const auto v = section.find("boxes")) {
    if (is_list(*v, "a list of {easting: [...], northing: [...], upward: [...], density: ...}")) {
      for (std::size_t i = 0; i < v->node->items.size(); ++i) box(item(*v, i), result);
    }
  }
  return result;
}

void CaseReader::prism_columns(const Value& value, PrismsSpec& prisms) {
  // Each quantity under its own name and the papers'.
  static const std::vector<std::pair<std::string, std::string>> quantities = {
      {"west", "x1"},   {"east", "x2"}, {"south", "y1"},       {"north", "y2"},
      {"bottom", "z1"}, {"top", "z2"},  {"density", "density"}};
  static const std::string form =
      "a list of the seven columns west, east, south, north, bottom, top, density (or x1, x2, "
      "y1, y2, z1, z2, density) in the file's order";
  if (!is_list(value, form)) return;
  Words known;
  for (const auto& [name, papers_name] : quantities) {
    known.push_back(name);
    if (papers_name != name) known.push_back(papers_name);
  }
  std::vector<bool> seen(quantities.size(), false);
  bool all_known = true;
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    const Value column = item(value, i);
    const auto name = words(column, "the name of a column");
    if (!name) {
      all_known = false;
      continue;
    }
    const auto found = std::find_if(quantities.begin(), quantities.end(),
                                    [&](const auto& q) { return q.first == *name || q.second == *name; });
    if (found == quantities.end()) {
      problem(column, fmt::format("is {}, no known column{}", excerpt(*name), allowed(*name, known)));
      all_known = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(found - quantities.begin());
    if (seen[index]) problem(column, fmt::format("is {}, which an earlier column holds already", excerpt(*name)));
    seen[index] = true;
    prisms.columns.push_back(*name);
  }
  for (std::size_t i = 0; all_known && i < quantities.size(); ++i) {
    if (!seen[i]) problem(value, fmt::format("lacks {}; {} is expected", quantities[i].first, form));
  }
}

PrismsSpec CaseReader::prisms(const Value& value) {
  const Section section(*this, value, prisms_keys);
  PrismsSpec result;
  if (const auto v = section.need("file", "the name of a CSV or HDF5 file")) result.file = input(*v).value_or("");
  if (const auto v = section.find("group")) result.group = words(*v, "the name of an HDF5 group").value_or("/");
  if (const auto v = section.find("columns")) prism_columns(*v, result);
  if (const auto v = section.find("axis_z")) {
    result.z_down = choice(*v, std::array{Choice<bool>{"up", false}, Choice<bool>{"down", true}}).value_or(false);
  }
  result.length_to_si = unit_factor(section, "length_unit", "m", "km", 1000);
  result.density_to_si = unit_factor(section, "density_unit", "kg/m3", "g/cm3", 1000);
  if (const auto v = section.find("allow_overlap")) result.allow_overlap = truth(*v).value_or(false);
  return result;
}

MeshSpec CaseReader::mesh(const Value& value) {
  const Section section(*this, value, mesh_keys);
  MeshSpec result;
  if (const auto ubc = section.find("ubc")) {
    const Section files(*this, *ubc, ubc_keys);
    result.ubc.emplace();
    if (const auto v = files.need("mesh", "the name of a UBC mesh file")) result.ubc->mesh = input(*v).value_or("");
    if (const auto v = files.need("density", "the name of a UBC density file")) {
      result.ubc->density = input(*v).value_or("");
    }
    result.ubc->density_to_si = unit_factor(files, "density_unit", "kg/m3", "g/cm3", 1000);
    for (const std::string key : {"easting", "northing", "upward", "density"}) {
      if (const auto v = section.find(key)) problem(*v, "is written beside ubc, which holds it already");
    }
    return result;
  }
  static const std::string form = "[min, max, cells] or a map of edges or widths";
  if (const auto v = section.need("easting", form)) result.easting = edges(*v, false).value_or(EdgesSpec{});
  if (const auto v = section.need("northing", form)) result.northing = edges(*v, false).value_or(EdgesSpec{});
  if (const auto v = section.need("upward", form)) result.upward = edges(*v, true).value_or(EdgesSpec{});
  if (const auto v = section.need("density", "a number, {random: [min, max]} or {file: name}")) {
    result.density = density(*v);
  }
  return result;
}

ModelSpec CaseReader::model(const Value& value) {
  const Section section(*this, value, model_keys);
  const std::string chosen = section.one_of({{"voxels", {}}, {"prisms", {}}, {"mesh", {}}});
  const auto v = chosen.empty() ? std::nullopt : section.find(chosen);
  if (!v) return {};
  if (chosen == "voxels") return voxels(*v);
  if (chosen == "prisms") return prisms(*v);
  return mesh(*v);
}

GridSpec CaseReader::grid(const Value& value) {
  const Section section(*this, value, grid_keys);
  GridSpec result;
  if (const auto v = section.need("easting", "[min, max, points]")) result.easting = grid_axis(*v).value_or(Axis{});
  if (const auto v = section.need("northing", "[min, max, points]")) result.northing = grid_axis(*v).value_or(Axis{});
  countable(value, {result.easting.count, result.northing.count});
  const auto v = section.need("upward", "a height, or {file: name},");
  if (!v) return result;
  if (v->node->kind == Kind::map) {
    const Section file(*this, *v, height_keys);
    if (const auto name = file.need("file", "the name of a netCDF or CSV file"))
      result.upward = input(*name).value_or("");
  } else if (v->node->kind == Kind::list) {
    problem(*v, "is a list; a height or {file: name} is expected");
  } else {
    result.upward = number(*v).value_or(0);
  }
  return result;
}

PointsSpec CaseReader::stations(const Value& value) {
  const Section section(*this, value, stations_keys);
  const std::string chosen = section.one_of({{"file", {}}, {"random", {"easting", "northing", "upward", "seed"}}});
  if (chosen == "file") {
    const auto v = section.find("file");
    return StationsFile{v ? input(*v).value_or("") : std::filesystem::path()};
  }
  StationsRandom random;
  if (chosen.empty()) return random;
  if (const auto v = section.find("random")) random.count = whole(*v, 1).value_or(1);
  if (const auto v = section.find("easting")) random.easting = range(*v, true);
  if (const auto v = section.find("northing")) random.northing = range(*v, true);
  if (const auto v = section.find("upward")) random.upward = range(*v, true);
  if (const auto v = section.find("seed")) random.seed = seed(*v).value_or(random.seed);
  return random;
}

NoiseSpec CaseReader::noise(const Value& value, FieldList fields) {
  Words known;
  for (const FieldInfo& field : field_infos) known.emplace_back(field.name);
  known.emplace_back("seed");
  const Section section(*this, value, known);
  NoiseSpec result;
  for (const FieldInfo& field : field_infos) {
    const auto v = section.find(std::string(field.name));
    if (!v) continue;
    if (const auto sigma = positive(*v)) result.sigma[field.field] = *sigma;
    if (!fields.contains(field.field)) problem(*v, "is no field of this run; add it to fields or take its noise out");
  }
  if (const auto v = section.find("seed")) result.seed = seed(*v).value_or(result.seed);
  return result;
}

void CaseReader::observations(const Value& value, Case& run) {
  const Section section(*this, value, observations_keys);
  const std::string chosen = section.one_of({{"grid", {}}, {"stations", {}}});
  if (const auto v = chosen.empty() ? std::nullopt : section.find(chosen)) {
    if (chosen == "grid") {
      run.observations = grid(*v);
    } else {
      run.observations = stations(*v);
    }
  }
  if (const auto v = section.find("noise")) run.noise = noise(*v, run.fields);
}

void CaseReader::add_field(const Value& value, FieldList& list) {
  static const std::vector<std::pair<std::string, FieldList>> groups = {
      {"all", FieldList::all()}, {"vector", FieldList::vector()}, {"tensor", FieldList::tensor()}};
  Words known;
  FieldList added;
  for (const auto& [name, group] : groups) {
    known.push_back(name);
    if (value.node->kind == Kind::scalar && value.node->text == name) added = group;
  }
  for (const FieldInfo& field : field_infos) {
    known.emplace_back(field.name);
    if (value.node->kind == Kind::scalar && value.node->text == field.name) added = {field.field};
  }
  if (added.empty()) {
    problem(value, fmt::format("is {}, no known field{}", kind_name(*value.node), allowed(value.node->text, known)));
    return;
  }
  Words repeated;
  for (const FieldInfo& field : field_infos) {
    if (added.contains(field.field) && list.contains(field.field)) repeated.emplace_back(field.name);
  }
  if (!repeated.empty()) {
    problem(value, fmt::format("repeats {}, which an earlier name of the list holds already", joined(repeated)));
  }
  list.add(added);
}

FieldList CaseReader::fields(const Value& value) {
  FieldList list;
  if (value.node->kind == Kind::list) {
    if (value.node->items.empty()) problem(value, "is an empty list; a field or more is expected, or all");
    for (std::size_t i = 0; i < value.node->items.size(); ++i) add_field(item(value, i), list);
  } else {
    add_field(value, list);
  }
  return list.empty() ? FieldList::all() : list;
}

void CaseReader::partition(const Value& value, Execution& spec) {
  if (value.node->kind == Kind::map) {
    const Section section(*this, value, partition_keys);
    spec.partition = Partition::rank_grid;
    static const std::string form = "[parts of prisms, parts of points]";
    const auto v = section.need("ranks", form);
    if (!v || !is_list_of(*v, 2, form)) return;
    constexpr std::int64_t most_ranks = std::numeric_limits<int>::max();
    std::int64_t product = 1;
    for (std::size_t i = 0; i < 2; ++i) {
      spec.rank_grid[i] = static_cast<int>(whole(item(*v, i), 1, most_ranks).value_or(1));
      product *= spec.rank_grid[i];
    }
    if (product > most_ranks) problem(*v, fmt::format("asks for {} ranks, more than MPI can have", product));
    return;
  }
  if (value.node->kind == Kind::list) {
    problem(value, "is a list; write {ranks: [parts of prisms, parts of points]}");
    return;
  }
  spec.partition = choice(value, partition_choices, "{ranks: [4, 2]}").value_or(Partition::automatic);
}

Execution CaseReader::execution(const Value& value) {
  const Section section(*this, value, execution_keys);
  Execution spec;
  if (const auto v = section.find("space")) spec.space = choice(*v, space_choices).value_or(spec.space);
  if (const auto v = section.find("partition")) partition(*v, spec);
  if (const auto v = section.find("balance")) spec.balance = choice(*v, balance_choices).value_or(spec.balance);
  if (const auto v = section.find("kernel")) spec.kernel = choice(*v, kernel_choices).value_or(spec.kernel);
  if (const auto v = section.find("precision")) spec.precision = choice(*v, precision_choices).value_or(spec.precision);
  if (const auto v = section.find("lanes")) {
    spec.scalar_lanes =
        choice(*v, std::array{Choice<bool>{"auto", false}, Choice<bool>{"scalar", true}}).value_or(false);
  }
  if (const auto v = section.find("method")) {
    spec.method = choice(*v, method_choices).value_or(spec.method);
    if (spec.method != Method::automatic && spec.method != Method::direct) {
      problem(*v,
              fmt::format("is {}, which this version does not have: it computes every pair directly. Allowed: auto, "
                          "direct",
                          kind_name(*v->node)));
    }
  }
  if (const auto v = section.find("tolerance")) {
    spec.tolerance = positive(*v).value_or(spec.tolerance);
    if (spec.tolerance >= 1) problem(*v, fmt::format("is {}; a number between 0 and 1 is expected", spec.tolerance));
  }
  const auto automatic_or = [&](const std::string& key, std::int64_t most) -> std::optional<std::int64_t> {
    const auto v = section.find(key);
    if (!v || (v->node->kind == Kind::scalar && v->node->text == "auto")) return std::nullopt;
    return whole(*v, 1, most, "auto or a whole number");
  };
  // the product of the two is still a count
  constexpr std::int64_t most = 1000000000;
  spec.batch = automatic_or("batch", most);
  spec.chunk = automatic_or("chunk", most);
  spec.slots = automatic_or("slots", most);
  // for which the kernels are compiled: see TileFunctor
  spec.block = automatic_or("block", 512);
  if (const auto v = section.find("memory_limit"); v && v->node->text != "auto") {
    constexpr double kib = 1024;
    const auto bytes = with_unit(*v, {{"B", 1}, {"KiB", kib}, {"MiB", kib * kib}, {"GiB", kib * kib * kib}}, "2 GiB");
    constexpr double most_bytes = 9e18;
    if (bytes && (*bytes < 1 || *bytes > most_bytes)) {
      problem(*v, fmt::format("is {}; a size from 1 B to 8e9 GiB is expected", kind_name(*v->node)));
    } else if (bytes) {
      spec.memory_limit = static_cast<std::int64_t>(*bytes);
    }
  }
  return spec;
}

OutputSpec CaseReader::output(const Value& value) {
  const Section section(*this, value, output_keys);
  OutputSpec result;
  if (const auto v = section.find("file")) result.file = path(*v).value_or("");
  if (const auto v = section.find("figure")) result.figure = path(*v);
  if (const auto checkpoint = section.find("checkpoint")) {
    const Section parts(*this, *checkpoint, checkpoint_keys);
    result.checkpoint.emplace();
    if (const auto v = parts.find("every")) {
      result.checkpoint->every_seconds =
          with_unit(*v, {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}, "10 min").value_or(600);
    }
    if (const auto v = parts.need("file", "the name of a file")) result.checkpoint->file = path(*v).value_or("");
  }
  return result;
}

void CaseReader::read(const YamlNode& root, Case& run) {
  const Value document{&root, "", where_of(root, m_file)};
  const Section section(*this, document, case_keys);
  if (const auto v = section.find("title")) run.title = words(*v, "a line of text").value_or("");
  if (const auto v = section.find("gravitational_constant")) {
    run.gravitational_constant = positive(*v).value_or(run.gravitational_constant);
  }
  if (const auto v = section.find("axes")) {
    run.axes = choice(*v, axes_choices).value_or(run.axes);
  }
  if (const auto v = section.find("fields")) run.fields = fields(*v);
  if (const auto v = section.need("model", "a map with voxels, prisms or mesh")) run.model = model(*v);
  if (const auto v = section.need("observations", "a map with grid or stations")) observations(*v, run);
  if (const auto v = section.find("execution")) run.execution = execution(*v);
  if (const auto v = section.find("output")) run.output = output(*v);
}

/// Key path -> place, of every key and of every map in a list.
void collect_locations(const YamlNode& node, const std::string& path, const std::string& file,
                       std::map<std::string, std::string>& locations) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind == Kind::removed) continue;
    const std::string key = join_key(path, entry.key);
    locations[key] =
        entry.value.option != nullptr ? std::string(entry.value.option) : fmt::format("{}:{}", file, entry.key_line);
    collect_locations(entry.value, key, file, locations);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.items[i].kind != Kind::map && node.items[i].kind != Kind::list) continue;
    const std::string key = join_key(path, std::to_string(i));
    locations[key] = where_of(node.items[i], file);
    collect_locations(node.items[i], key, file, locations);
  }
}

}  // namespace

std::vector<std::filesystem::path> Case::input_files() const {
  namespace fs = std::filesystem;
  std::vector<fs::path> files{file};
  const auto add_density = [&](const DensitySpec& density) {
    if (const auto* array = std::get_if<DensityFile>(&density)) files.push_back(array->file);
  };
  if (const auto* prisms = std::get_if<PrismsSpec>(&model)) files.push_back(prisms->file);
  if (const auto* voxels = std::get_if<VoxelsSpec>(&model)) add_density(voxels->density);
  if (const auto* mesh = std::get_if<MeshSpec>(&model)) {
    add_density(mesh->density);
    for (const EdgesSpec* edges : {&mesh->easting, &mesh->northing, &mesh->upward}) {
      if (const auto* list = std::get_if<EdgesFile>(edges)) files.push_back(list->file);
    }
    if (mesh->ubc) {
      files.push_back(mesh->ubc->mesh);
      files.push_back(mesh->ubc->density);
    }
  }
  if (const auto* grid = std::get_if<GridSpec>(&observations)) {
    if (const auto* heights = std::get_if<fs::path>(&grid->upward)) files.push_back(*heights);
  }
  if (const auto* stations = std::get_if<StationsFile>(&observations)) files.push_back(stations->file);
  return files;
}

std::string Case::where(const std::string& key) const {
  for (std::string path = key; !path.empty();) {
    if (const auto found = locations.find(path); found != locations.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    path = dot == std::string::npos ? std::string() : path.substr(0, dot);
  }
  const auto found = locations.find("");
  return found != locations.end() ? found->second : file.string();
}

namespace {

void sort_keys(YamlNode& node) {
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (YamlEntry& entry : node.entries) sort_keys(entry.value);
  for (YamlNode& item : node.items) sort_keys(item);
}

/// The case without what no field depends on.
std::string identity_of(YamlNode root) {
  std::erase_if(root.entries, [](const YamlEntry& e) {
    const Words kept = {"model", "observations", "fields", "gravitational_constant", "execution"};
    return std::find(kept.begin(), kept.end(), e.key) == kept.end();
  });
  if (YamlNode* observations = root.find("observations")) {
    std::erase_if(observations->entries, [](const YamlEntry& e) { return e.key == "noise"; });
  }
  if (YamlNode* execution = root.find("execution")) {
    std::erase_if(execution->entries, [](const YamlEntry& e) {
      const Words kept = {"kernel", "precision", "method", "tolerance"};
      return std::find(kept.begin(), kept.end(), e.key) == kept.end();
    });
    if (execution->entries.empty())
      std::erase_if(root.entries, [](const YamlEntry& e) { return e.key == "execution"; });
  }
  sort_keys(root);
  return to_yaml(root);
}

}  // namespace

Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
               const std::filesystem::path& output) {
  const std::string name = file.string();
  ProblemList problems;
  Case run;
  run.file = file;
  run.title = file.stem().string();
  run.text = read_yaml_text(file);
  YamlNode root = parse_yaml(run.text, name, problems);
  if (root.kind == Kind::null)
    throw InputError(name + ":1", "", "is empty; a case has at least model and observations");
  if (root.kind != Kind::map) {
    throw InputError(where_of(root, name), "",
                     fmt::format("is {}; a case is a map with the keys {}", kind_name(root), joined(case_keys)));
  }
  for (const std::string& assignment : overrides) apply_override(root, assignment, problems);
  if (!output.empty()) set_text(root, "output.file", output.string(), "--output", problems);
  if (!overrides.empty() || !output.empty()) run.text = to_yaml(root);
  run.locations[""] = where_of(root, name);
  collect_locations(root, "", name, run.locations);
  CaseReader(file, problems).read(root, run);
  problems.sort_by_line();
  problems.throw_if_any();
  run.identity = identity_of(std::move(root));
  return run;
}

}  // namespace prismfield
