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
constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

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
/// Words with a blank between them, and what they are in metres; some say what they are measured from, too. Those that
/// contain `metre` stand as spelled() has them.
constexpr std::array<std::pair<std::string_view, double>, 6> length_words = {
    {{"m mt mts msnm masl mamsl mahd msm mslm mtr mtrs mtrn \xd0\xbc", 1},
     {"km \xd0\xba\xd0\xbc klmtr klmtrs klmtrn qlmtr qlmtrs chlmtr", 1000},
     {"ft foot feet", foot},
     {"usft ftus", survey_foot},
     {"cm cntmtr cntmtrs", 0.01},
     {"mm mllmtr mllmtrs mlmtr mlmtrs", 0.001}}};
/// Units that are not read, and words that make another unit of the one beside them.
constexpr std::string_view other_units =
    "mi mile miles nmi nm nautical league leagues yd yds yard yards inch inches fathom fathoms furlong furlongs chain "
    "chains dm dcmtr dcmtrs hm hctmtr hctmtrs um mcrmtr mcrmtrs nnmtr nnmtrs pie pies pied pieds vara varas fuss "
    "fu\xc3\x9f fu\xdf kft thousand thousands hundred hundreds tenth tenths hundredth hundredths kilo square sq cubic "
    "squared cubed per milli centi deci deca deka hecto micro ms twt";
/// Of whom a foot may be that is not read; elsewhere they are ellipsoids.
constexpr std::string_view of_other_feet = "clarke clarkes clarke's indian sears cape";
/// What stands before a unit that the numbers have no longer, and beside one that they may have no longer.
constexpr std::string_view before_old_units =
    "was were from not ex old orig original originally former formerly previously ehemals antes";
constexpr std::string_view of_conversions = "converted conversion multiplied divided scaled times";
constexpr std::string_view angles =
    "deg degree degrees dd dms rad radian radians arc arcsec arcmin arcsecond arcseconds \xc2\xb0 \xb0";

/// A word that contains `metre` in any language and encoding without vowels and accents, so that kilometres,
/// KILOMETERS and kilometros with and without an accent are alike; other words unchanged.
std::string spelled(const std::string& word) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 128; };
  if (word.find("met") == std::string::npos && std::all_of(word.begin(), word.end(), is_ascii)) return word;
  std::string consonants = word;
  std::erase_if(consonants, [&](char c) { return !is_ascii(c) || std::string_view("aeiou").find(c) < 5; });
  return consonants.find("mtr") == std::string::npos ? word : consonants;
}

std::optional<double> metres_in_word(const std::string& word) {
  const std::string plain = spelled(word);
  for (const auto& [words, metres] : length_words) {
    if (is_one_of(words, plain)) return metres;
  }
  return std::nullopt;
}

/// What coordinates and heights refer to, and where they come from: no part of a name.
constexpr std::string_view references =
    "utm zone mga mga94 mga2020 gda gda94 gda2020 wgs wgs84 nad nad27 nad83 etrs etrs89 sirgas sirgas2000 psad56 "
    "sad69 tm gk lcc mercator lambert nztm nzvd2016 osgb osgb36 bng odn sweref99 itrf itrf2014 grs80 rh2000 clarke "
    "bessel epsg ahd ahd71 "
    "navd navd88 ngvd ngvd29 nap nhn msl amsl asl above mean sea level egm96 egm2008 "
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

/// Whether a word is a unit with a number or a power, or one that is not read: 100m, ft3, yd.
bool is_odd_unit(std::string word) {
  const std::string whole = word;
  word.erase(0, std::min(word.find_first_not_of("0123456789"), word.size()));
  word.erase(word.find_last_not_of("0123456789") + 1);
  // kmeters, Dezimeter, but not what measures: barometer, altimeter
  constexpr std::string_view other_meters = "ltmtr brmtr grvmtr grvtymtr mgntmtr prmtr dmtr tchymtr";
  const std::string plain = spelled(word);
  const bool has_metre = plain.ends_with("mtr") || plain.ends_with("mtrs") || plain.ends_with("mtrn");
  if (has_metre && !metres_in_word(word)) return !is_one_of(other_meters, plain);
  return (word != whole && metres_in_word(word)) || is_one_of(other_units, plain);
}

/// The words of a unit, also between signs beside a reference: NAD83/UTM; nothing for a quotient, product or power of
/// units, such as m/s2.
std::optional<Words> words_of_unit(std::string_view text) {
  constexpr std::string_view signs = "/*^";
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '=', ' ');
  for (const char* const product : {"\xc2\xb7", "\xc3\x97"}) {
    for (auto at = plain.find(product); at != std::string::npos; at = plain.find(product)) plain.replace(at, 2, "*");
  }
  const auto is_sign = [&](char c) { return signs.find(c) != std::string_view::npos; };
  std::string joined;
  for (const char c : plain) {
    while (is_sign(c) && joined.ends_with(' ')) joined.pop_back();
    if (!is_blank(c) || joined.empty() || !is_sign(joined.back())) joined += c;
  }
  Words words;
  for (const std::string& word : words_of(joined)) {
    Words parts;
    for (std::size_t begin = 0; begin < word.size();
         begin = std::min(word.find_first_of(signs, begin), word.size()) + 1) {
      parts.push_back(word.substr(begin, word.find_first_of(signs, begin) - begin));
    }
    std::erase(parts, "");
    const bool refers = std::any_of(parts.begin(), parts.end(), is_reference);
    const auto is_unit = [](const std::string& part) { return metres_in_word(part) || is_odd_unit(part); };
    if (parts != Words{word} && !refers && std::any_of(parts.begin(), parts.end(), is_unit)) return std::nullopt;
    if (!refers) parts = {word};
    words.insert(words.end(), parts.begin(), parts.end());
  }
  constexpr std::string_view before_units = "in en unit units";
  while (words.size() > 1 && is_one_of(before_units, words.front())) words.erase(words.begin());
  return words;
}

bool is_number(const std::string& word) {
  const bool has_sign = word.size() > 1 && std::string_view("xe*").find(word.front()) < 3 && is_digit(word[1]);
  return is_digit(word.front()) || has_sign;
}

/// Whether the number `at` makes another unit of the length at `length`, as in 1000 m and m s-2; that of a zone, of a
/// reference system or a year does not.
bool is_factor(const Words& words, std::size_t at, std::size_t length, double metres) {
  const std::string& word = words[at];
  const bool follows_reference = at > 0 && is_reference(words[at - 1]);
  const std::size_t one = word.find('1');
  const bool is_power_of_ten = one + 1 < word.size() && word.find_first_not_of('0', one + 1) == std::string::npos;
  const bool follows_times = at > 0 && (words[at - 1] == "x" || words[at - 1] == "by");
  const bool is_decimal = word.size() > 1 && word.front() == '0' && !follows_reference;
  // 1e-3, e3
  const std::size_t exponent = word.find('e');
  const bool is_power = exponent != std::string::npos &&
                        word.find_first_not_of("0123456789+", exponent + 1) == std::string::npos &&
                        word.find_first_not_of("0123456789") == exponent;
  if (follows_times || is_decimal || (is_power && !follows_reference)) return true;
  if (is_power_of_ten) return word.size() > 2 || !follows_reference;
  if (follows_reference || (is_number_of_zone(word) && !is_digit(word.back()))) return false;
  return at < length ? metres != 1 || words.size() == 2 : word.size() == 1;
}

/// What a text in brackets says.
struct Meaning {
  /// of a known length
  std::optional<double> metres = std::nullopt;
  bool is_angle = false;
  /// known or not; otherwise the text is a remark
  bool is_unit = false;
};

/// The words without lengths that belong to another word, as in 10m DEM.
Words without_sizes(Words words) {
  constexpr std::string_view of_heights =
      "unit units step steps of elevation elevations elev height heights altitude depth above";
  const auto is_other = [&](const std::string& word) {
    return (word == "grid" || !is_reference(word)) && !is_number(word) && !metres_in_word(word) && !is_odd_unit(word) &&
           !is_one_of(of_heights, word) && word.size() > 1;
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_of_zone = i > 0 && is_reference(words[i - 1]);
    if (!is_digit(words[i].front()) || is_of_zone) continue;
    const std::size_t n = metres_in_word(words[i + 1]) ? 2 : is_odd_unit(words[i]) ? 1 : 0;
    if (n == 0 || i + n >= words.size() || !is_other(words[i + n])) continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, at + static_cast<std::ptrdiff_t>(n));
  }
  return words;
}

Meaning meaning_of_words(std::string_view text) {
  const std::optional<Words> found = words_of_unit(text);
  if (!found) return {std::nullopt, false, true};
  const Words words = without_sizes(*found);
  std::optional<double> metres;
  std::size_t length = 0;
  bool is_odd = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<double> factor = metres_in_word(words[i]);
    // 3-degree zones
    const bool is_angle = is_one_of(angles, words[i]) && (i == 0 || !is_number(words[i - 1]));
    if (is_angle && !metres) return {std::nullopt, true, true};
    is_odd = is_odd || is_odd_unit(words[i]) || (factor && factor != metres.value_or(*factor));
    if (factor && !metres) length = i;
    if (factor) metres = factor;
  }
  for (std::size_t i = 0; metres && i < words.size(); ++i) {
    is_odd = is_odd || (is_number(words[i]) && is_factor(words, i, length, *metres)) ||
             (metres == foot && is_one_of(of_other_feet, words[i])) ||
             (i > length && *metres != 1 && is_one_of(of_conversions, words[i]));
  }
  if (is_odd || (metres && length > 0 && is_one_of(before_old_units, words[length - 1]))) {
    return {std::nullopt, false, true};
  }
  const bool is_survey =
      std::find(words.begin(), words.end(), "us") != words.end() || (length > 0 && words[length - 1] == "survey");
  if (metres) return {is_survey && *metres == foot ? survey_foot : *metres, false, true};
  constexpr std::size_t longest = 6;
  const bool is_short = found->size() == 1 && words[0].size() <= longest && !is_reference(words[0]) &&
                        std::none_of(words[0].begin(), words[0].end(), is_digit);
  return {std::nullopt, false, is_short};
}

/// Whether what follows metres says nothing of their size: of its units each has a number or an older unit's word
/// before it, or a word behind it; its numbers are no factors.
bool is_remark(std::string_view text) {
  const Words words = words_of(text);
  const auto is_length = [](const std::string& word) { return metres_in_word(word) || is_odd_unit(word); };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& before = i > 0 ? words[i - 1] : words[i];
    const bool is_last = i + 1 == words.size() || is_length(words[i + 1]);
    if (before == "x" || before == "by" || text.find_first_of("*^=") != std::string_view::npos) return false;
    if (is_number(words[i]) ? i == 0 && is_last && !is_length(words.back())
                            : is_length(words[i]) && is_last && metres_in_word(words[i]) != 1 && !is_number(before) &&
                                  !is_one_of(before_old_units, before)) {
      return false;
    }
  }
  return true;
}

Meaning meaning_of(std::string_view text) {
  // (m, 1 cm accuracy)
  const std::size_t end = std::min({text.find_first_of(",;"), text.find(" - "), text.find(" converted"), text.size()});
  const bool is_in_metres = end < text.size() && meaning_of_words(text.substr(0, end)).metres == 1.0;
  return meaning_of_words(is_in_metres && is_remark(text.substr(end)) ? text.substr(0, end) : text);
}

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

std::optional<double> metres_in(std::string_view unit) { return meaning_of(unit).metres; }
bool is_angle(std::string_view unit) { return meaning_of(unit).is_angle; }
bool looks_like_unit(std::string_view text) { return meaning_of(text).is_unit; }

std::string unit_in_comment(std::string_view comment) {
  constexpr std::string_view of_units = "unit units einheit einheiten unidad unidades";
  constexpr std::string_view of_places =
      "coordinates coords coordinate lengths distances edges x y z xy xyz easting northing upward elevation elevations "
      "elev height heights altitude altitudes depth depths west east south north bottom top";
  constexpr std::string_view between = "in en are is all and us survey";
  std::string text(comment);
  std::replace(text.begin(), text.end(), '=', ' ');
  std::erase_if(text, [](char c) { return std::string_view("#%!/").find(c) != std::string_view::npos; });
  // km-grid
  for (std::size_t begin = 0, i = 0; i + 1 < text.size(); ++i) {
    const bool joins = text[i] == '-' && is_letter(text[i + 1]);
    if (joins && metres_in_word(lower_case(text.substr(begin, i - begin)))) text.erase(i, 1);
    if (!is_letter(text[i])) begin = i + 1;
  }
  const Words words = words_of(text);
  const auto is_other = [](const std::string& word) { return metres_in_word(word).value_or(1) != 1; };
  const auto is_length = [](const std::string& word) { return metres_in_word(word).has_value(); };
  // a line of units alone
  const auto behind = std::find_if_not(words.begin(), words.end(), is_length);
  if (behind - words.begin() > 1 || (behind == words.end() && !words.empty())) {
    const auto other = std::find_if(words.begin(), behind, is_other);
    return other == behind ? "" : *other;
  }
  const auto refers = [&](std::size_t i) {
    return is_reference(words[i]) || (i > 0 && is_number(words[i]) && is_reference(words[i - 1]));
  };
  // feet were converted to m
  const auto is_converted = [&](std::size_t i) {
    while (i + 2 < words.size() && words[i + 1] != "to") ++i;
    return i + 2 < words.size() && metres_in_word(words[i + 2]) == 1;
  };
  bool says_unit = false, says_place = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool follows_number = i > 0 && is_number(words[i - 1]) && !refers(i - 1);
    if ((says_unit || says_place) && is_length(words[i]) && !follows_number) {
      const bool is_survey = i > 0 && words[i - 1] == "survey";
      if (is_other(words[i])) return is_converted(i) ? "" : (is_survey ? "US survey " : "") + words[i];
      // x [m] y [m] z [ft]
      if (says_unit) return "";
    }
    says_unit = says_unit || is_one_of(of_units, words[i]);
    says_place = is_one_of(of_places, words[i]) || (says_place && (is_one_of(between, words[i]) || refers(i)));
  }
  return "";
}

std::string unit_within(std::string_view heading) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  std::string text;
  for (const char c : heading) {
    if (is_letter(c) && !is_small(c) && !text.empty() && is_small(text.back())) text += ' ';
    text += c == '/' || c == '=' ? ' ' : c;
  }
  Words words = words_of(text);
  while (!words.empty() && is_reference(words.back())) words.pop_back();
  return words.empty() || metres_in_word(words.back()).value_or(1) == 1 ? "" : words.back();
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
  // a comma parts a name from its unit as brackets do: also Elevation ft (NAVD88)
  if (words.size() > 1 && !looks_like_unit(unit)) {
    const auto length = std::find_if(words.begin() + 1, words.end(), metres_in_word);
    if (length != words.end()) {
      for (auto word = words.begin() + 1; word != words.end(); ++word) unit += (unit.empty() ? "" : " ") + *word;
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
