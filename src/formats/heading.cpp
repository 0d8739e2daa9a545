// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/heading.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Whether a word is one of some with a blank between them.
bool is_one_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) return true;
    words.remove_prefix(std::min(first.size() + 1, words.size()));
  }
  return false;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

constexpr double survey_foot = 1200.0 / 3937.0;
/// Words with a blank between them, and what they are in metres; some say what they are measured from, too.
constexpr std::array<std::pair<std::string_view, double>, 6> length_words = {
    {{"m metre metres meter meters mt mts metros msnm masl mamsl mahd", 1},
     {"km kilometre kilometres kilometer kilometers", 1000},
     {"ft foot feet", foot},
     {"usft ftus", survey_foot},
     {"cm", 0.01},
     {"mm", 0.001}}};

std::optional<double> metres_in_word(std::string_view word) {
  for (const auto& [words, metres] : length_words) {
    if (is_one_of(words, word)) return metres;
  }
  return std::nullopt;
}

/// What coordinates and heights refer to, and where they come from: no part of a name.
constexpr std::string_view references =
    "utm zone mga mga94 mga2020 gda gda94 gda2020 wgs wgs84 nad nad27 nad83 etrs etrs89 sirgas sirgas2000 psad56 "
    "sad69 tm gk lcc mercator epsg ahd ahd71 navd navd88 ngvd29 nap msl amsl asl above mean sea level egm96 egm2008 "
    "geoid ell ellipsoid ellipsoidal ellips ortho orthometric datum grid local map proj projected projection coord "
    "coords coordinate point position gps dgps rtk station survey";

/// A number of a zone or of a reference system: 33n, 28355.
bool is_number_of_zone(const std::string& word) {
  const std::size_t digits = word.find_first_not_of("0123456789");
  const bool has_letter = digits != std::string::npos && digits > 0 && digits + 1 == word.size() &&
                          (word[digits] == 'n' || word[digits] == 's');
  constexpr std::size_t least_of_system = 4;
  return has_letter || (digits == std::string::npos && word.size() >= least_of_system);
}

bool is_reference(const std::string& word) {
  // utm33, zone19s
  const bool has_number = word.starts_with("utm") || word.starts_with("mga") || word.starts_with("zone");
  const std::size_t digit = word.find_first_of("0123456789");
  return is_one_of(references, word) || is_number_of_zone(word) || (has_number && digit != std::string::npos);
}

constexpr std::string_view angles = "deg degree degrees dd dms rad radians \xc2\xb0 \xb0";

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  Words words{""};
  for (const char c : lower_case(text)) {
    if (c == '.') continue;
    if (std::string_view(" \t_-,;:[]()").find(c) == std::string_view::npos) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) noexcept {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

std::optional<double> metres_in(std::string_view unit) {
  Words words = words_of(unit);
  if (!words.empty() && words.front() == "in") words.erase(words.begin());
  const bool is_survey = words.size() > 1 && (words.front() == "us" || words.front() == "survey");
  while (words.size() > 1 && (words.front() == "us" || words.front() == "survey")) words.erase(words.begin());
  if (words.empty()) return std::nullopt;
  const std::optional<double> metres = metres_in_word(words.front());
  // m s-2 is no length
  const bool is_power =
      std::any_of(words.begin() + 1, words.end(), [](const std::string& word) { return word.size() < 2; });
  if (!metres || is_power) return std::nullopt;
  if (!is_survey) return metres;
  return *metres == foot ? std::optional(survey_foot) : std::nullopt;
}

bool is_angle(std::string_view unit) {
  const Words words = words_of(unit);
  return !words.empty() && is_one_of(angles, words.front());
}

bool looks_like_unit(std::string_view text) {
  constexpr std::size_t longest = 6;
  constexpr std::string_view longer =
      "fathom fathoms furlong furlongs nautical decimetre decimetres decimeter decimeters";
  const Words words = words_of(text);
  if (metres_in(text) || is_angle(text)) return true;
  if (words.empty() || is_reference(words.front())) return false;
  if (is_one_of(longer, words.front())) return true;
  return words.size() == 1 && words.front().size() <= longest &&
         std::none_of(words.front().begin(), words.front().end(), is_digit);
}

std::pair<std::string, std::string> name_and_unit(std::string_view text) {
  text = trimmed(text);
  const std::size_t bracket = text.find_first_of("[(");
  if (bracket == std::string_view::npos || text.back() != (text[bracket] == '[' ? ']' : ')')) {
    return {std::string(text), ""};
  }
  std::string unit(trimmed(text.substr(bracket + 1, text.size() - bracket - 2)));
  // blanks of an xyz file's names
  std::replace(unit.begin(), unit.end(), '_', ' ');
  std::string_view name = trimmed(text.substr(0, bracket));
  if (name.ends_with('_')) name.remove_suffix(1);
  return {std::string(name), unit};
}

std::string plain_name(std::string_view text) {
  std::string name = lower_case(name_and_unit(unquoted(text)).first);
  std::erase_if(name, [](char c) { return is_blank(c) || c == '_' || c == '-' || c == '.'; });
  return name;
}

PlaceHeading place_heading(std::string_view text) {
  PlaceHeading heading;
  heading.plain = plain_name(text);
  auto [name, unit] = name_and_unit(unquoted(text));
  heading.remark = plain_name(unit);
  Words words = words_of(name);
  // a comma parts a name from its unit as brackets do
  if (unit.empty() && words.size() > 1) {
    const auto length = std::find_if(words.begin() + 1, words.end(), metres_in_word);
    if (length != words.end()) {
      const bool is_survey = *(length - 1) == "us" || *(length - 1) == "survey";
      unit = is_survey ? "US survey " + *length : *length;
      words.erase(length);
      std::erase(words, "us");
    }
  }
  heading.unit = std::move(unit);
  heading.without_unit = joined(words);
  std::erase_if(words, is_reference);
  heading.bare = joined(words);
  return heading;
}

}  // namespace prismfield
