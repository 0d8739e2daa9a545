// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

/// Coordinates that differ by less than this part of the largest one differ by rounding only.
constexpr double coordinate_tolerance = 1e-12;

/// Pairs of point numbers that are the same place in A and B; `identical` stands for every number with itself.
struct Matches {
  bool identical = false;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

/// A point's coordinates as a key: equal places, equal keys.
struct PlaceHash {
  std::size_t operator()(const std::array<double, 3>& place) const noexcept {
    std::size_t hash = 0;
    for (const double value : place) {
      // + 0.0: -0 and 0 are one place
      hash = hash * 1000003U ^ std::hash<double>{}(value + 0.0);
    }
    return hash;
  }
};

/// Largest difference of coordinates of points with equal numbers, by direction, and whether rounding explains it.
struct CoordinateDifference {
  std::array<double, 3> largest{};
  bool rounding_only = true;
  /// the same of easting and northing alone
  bool same_horizontally = true;
};

CoordinateDifference difference_of_coordinates(const Survey& a, const Survey& b, bool with_upward) {
  CoordinateDifference difference;
  std::array<double, 3> scale{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto p = a.point(i);
    const auto q = b.point(i);
    for (std::size_t d = 0; d < (with_upward ? 3U : 2U); ++d) {
      scale[d] = std::max({scale[d], std::fabs(p[d]), std::fabs(q[d])});
      // written so that NaN counts as different
      const double step = std::fabs(p[d] - q[d]);
      if (!(step <= difference.largest[d])) difference.largest[d] = step;
    }
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (difference.largest[d] <= coordinate_tolerance * scale[d]) continue;
    difference.rounding_only = false;
    if (d < 2) difference.same_horizontally = false;
  }
  return difference;
}

/// The place that a point is matched by.
std::array<double, 3> place_of(const Survey& survey, std::size_t i, bool with_upward) {
  auto place = survey.point(i);
  if (!with_upward) place[2] = 0;
  return place;
}

/// A point whose easting and northing another point of the survey has; its size when there is none.
std::size_t repeated_place(const Survey& survey) {
  std::unordered_set<std::array<double, 3>, PlaceHash> places;
  places.reserve(survey.size());
  std::size_t i = 0;
  while (i < survey.size() && places.insert(place_of(survey, i, false)).second) ++i;
  return i;
}

/// Pairs of equal coordinates, with upward or without.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const Survey& a, const Survey& b, bool with_upward) {
  // Stations may stand at one place more than once; each is taken once, in order.
  std::unordered_map<std::array<double, 3>, std::vector<std::size_t>, PlaceHash> places;
  places.reserve(b.size());
  for (std::size_t i = b.size(); i-- > 0;) places[place_of(b, i, with_upward)].push_back(i);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = places.find(place_of(a, i, with_upward));
    if (found == places.end() || found->second.empty()) continue;
    pairs.emplace_back(i, found->second.back());
    found->second.pop_back();
  }
  return pairs;
}

/// Matches points by easting and northing alone, and says how far their heights differ.
Matches match_horizontally(const Survey& a, const Survey& b, Comparison& comparison) {
  for (const auto& [name, survey] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    const std::size_t i = repeated_place(*survey);
    if (i == survey->size()) continue;
    const auto place = survey->point(i);
    throw InputError("--horizontal", "",
                     fmt::format("{} has two points at easting {}, northing {}, and heights alone tell which is which; "
                                 "leave the option out",
                                 name, place[0], place[1]));
  }
  Matches matches;
  matches.identical = a.size() == b.size() && difference_of_coordinates(a, b, false).same_horizontally;
  if (!matches.identical) matches.pairs = pairs_of(a, b, false);
  const std::size_t n = matches.identical ? a.size() : matches.pairs.size();
  double largest = 0;
  if (!a.upward.empty() && !b.upward.empty()) {
    for (std::size_t k = 0; k < n; ++k) {
      const auto [i, j] = matches.identical ? std::pair{k, k} : matches.pairs[k];
      const double step = std::fabs(a.upward[i] - b.upward[j]);
      if (!(step <= largest)) largest = step;
    }
  }
  comparison.heights = fmt::format("matched by easting and northing alone: upward differs by up to {:.6g} m", largest);
  return matches;
}

/// Matches points and adds to the comparison what has no partner.
Matches match_points(const Survey& a, const Survey& b, PointMatch match, Comparison& comparison) {
  std::vector<std::string>& disagreements = comparison.disagreements;
  const bool horizontal = match == PointMatch::horizontal;
  const bool with_upward = !horizontal && !a.upward.empty() && !b.upward.empty();
  if (!horizontal && a.upward.empty() != b.upward.empty()) {
    disagreements.push_back(fmt::format("upward is missing in {}", a.upward.empty() ? "A" : "B"));
  }
  Matches matches;
  CoordinateDifference difference;
  if (horizontal) {
    matches = match_horizontally(a, b, comparison);
    if (matches.identical) return matches;
  } else if (a.size() == b.size()) {
    difference = difference_of_coordinates(a, b, with_upward);
    matches.identical = difference.rounding_only;
    if (matches.identical) return matches;
  }
  if (!horizontal) matches.pairs = pairs_of(a, b, with_upward);

  const std::size_t n = matches.pairs.size();
  if (n == a.size() && n == b.size()) return matches;
  std::string heights;
  if (with_upward && a.size() == b.size() && difference.same_horizontally && repeated_place(a) == a.size() &&
      repeated_place(b) == b.size()) {
    heights =
        fmt::format("only heights differ, by up to {:.6g} m: --horizontal matches points by easting and northing alone",
                    difference.largest[2]);
  }
  if (2 * n < std::max(a.size(), b.size())) {
    comparison.too_little = n == 0 ? fmt::format("{} and {} have no point in common, nothing was compared",
                                                 a.file.string(), b.file.string())
                                   : fmt::format("{} and {} have {} of {} and {} points in common, less than half",
                                                 a.file.string(), b.file.string(), n, a.size(), b.size());
    if (!heights.empty()) comparison.too_little += "; " + heights;
  }
  if (!horizontal && a.size() == b.size() && n == 0) {
    const auto widest = static_cast<std::size_t>(
        std::max_element(difference.largest.begin(), difference.largest.end()) - difference.largest.begin());
    disagreements.push_back(fmt::format(
        "different coordinates: no point in common, {}",
        heights.empty()
            ? fmt::format("{} differs by up to {:.6g} m", direction_names[widest], difference.largest[widest])
            : heights));
    return matches;
  }
  if (n < a.size())
    disagreements.push_back(fmt::format("{} of A's {} points are missing in B", a.size() - n, a.size()));
  if (n < b.size())
    disagreements.push_back(fmt::format("{} of B's {} points are missing in A", b.size() - n, b.size()));
  if (!heights.empty()) disagreements.push_back(heights);
  return matches;
}

FieldComparison compare_values(Field field, const Survey& a, const Matches& matches,
                               const std::vector<double>& values_a, const std::vector<double>& values_b) {
  FieldComparison result;
  result.field = field;
  long double squares = 0;
  const std::size_t n = matches.identical ? values_a.size() : matches.pairs.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto [i, j] = matches.identical ? std::pair{k, k} : matches.pairs[k];
    const double x = values_a[i];
    const double y = values_b[j];
    if (std::isnan(x) || std::isnan(y)) {
      (std::isnan(x) && std::isnan(y) ? result.both_nan : result.one_nan) += 1;
      continue;
    }
    // Equal infinities differ by nothing, not by NaN.
    const double difference = x == y ? 0.0 : std::fabs(x - y);
    if (result.compared == 0 || difference > result.largest_difference) {
      result.largest_difference = difference;
      result.where = a.point(i);
    }
    // An infinite reference would make every difference small.
    if (std::isfinite(y)) result.largest_reference = std::max(result.largest_reference, std::fabs(y));
    squares += static_cast<long double>(difference) * difference;
    result.histogram.add(x, y);
    ++result.compared;
  }
  if (result.compared > 0) {
    result.rms_difference = static_cast<double>(std::sqrt(squares / static_cast<long double>(result.compared)));
  }
  if (result.largest_difference > 0) result.relative = result.largest_difference / result.largest_reference;
  return result;
}

std::string decade_label(std::size_t decade, char sign) {
  if (decade == 0) return fmt::format("{} below 1e{}", sign, RelativeHistogram::lowest);
  const int from = RelativeHistogram::lowest + static_cast<int>(decade) - 1;
  if (decade + 1 == RelativeHistogram::n_decades) return fmt::format("{} 1e{} and above", sign, from);
  return fmt::format("{} 1e{} to 1e{}", sign, from, from + 1);
}

std::string histogram_text(const std::vector<FieldComparison>& fields) {
  /// one line of the histogram: a decade, its count in every field
  struct Row {
    std::string label;
    std::vector<std::int64_t> counts;
    std::int64_t total = 0;
  };
  std::vector<Row> rows;
  const auto add_row = [&](std::string label, auto count_of) {
    Row row{std::move(label), {}, 0};
    for (const FieldComparison& field : fields) {
      row.counts.push_back(count_of(field.histogram));
      row.total += row.counts.back();
    }
    rows.push_back(std::move(row));
  };
  for (std::size_t i = RelativeHistogram::n_decades; i-- > 0;) {
    add_row(decade_label(i, '-'), [i](const RelativeHistogram& h) { return h.negative[i]; });
  }
  add_row("equal", [](const RelativeHistogram& h) { return h.equal; });
  for (std::size_t i = 0; i < RelativeHistogram::n_decades; ++i) {
    add_row(decade_label(i, '+'), [i](const RelativeHistogram& h) { return h.positive[i]; });
  }
  // From the largest negative difference to the largest positive one.
  const auto used = [](const Row& row) { return row.total > 0; };
  rows.erase(std::find_if(rows.rbegin(), rows.rend(), used).base(), rows.end());
  rows.erase(rows.begin(), std::find_if(rows.begin(), rows.end(), used));
  if (rows.empty()) return "";

  std::int64_t most = 1;
  for (const Row& row : rows) most = std::max(most, row.total);
  // the potential's name is longer than its numbers need
  const auto label = [](Field field) { return field == Field::potential ? "V" : info(field).name; };
  std::size_t width = std::max<std::size_t>(5, std::to_string(most).size());
  for (const FieldComparison& field : fields) width = std::max(width, label(field.field).size());
  ++width;
  constexpr std::int64_t bar_length = 30;

  std::string out = fmt::format("\nvalues by relative difference (a - b) / |b|\n{:<18}", "");
  for (const FieldComparison& field : fields) out += fmt::format("{:>{}}", label(field.field), width);
  out += fmt::format("{:>{}}\n", "all", width + 1);
  for (auto row_at = rows.begin(); row_at != rows.end(); ++row_at) {
    const auto next_used = std::find_if(row_at, rows.end(), used);
    if (next_used - row_at > 2) {
      out += "  ...\n";
      row_at = next_used;
    }
    const Row& row = *row_at;
    out += fmt::format("{:<18}", row.label);
    for (const std::int64_t count : row.counts) {
      out += count == 0 ? fmt::format("{:>{}}", ".", width) : fmt::format("{:>{}}", count, width);
    }
    // A decade with few values still shows.
    const auto bar = row.total == 0 ? 0 : std::max<std::int64_t>(1, row.total * bar_length / most);
    out += fmt::format("{:>{}}  {}\n", row.total, width + 1, std::string(static_cast<std::size_t>(bar), '#'));
    while (out[out.size() - 2] == ' ') out.erase(out.size() - 2, 1);
  }
  return out;
}

bool field_within(const FieldComparison& field, double tolerance) {
  return field.one_nan == 0 && field.relative <= tolerance;
}

}  // namespace

void RelativeHistogram::add(double a, double b) {
  if (a == b) {
    ++equal;
    return;
  }
  std::size_t decade = n_decades - 1;
  const double relative = std::fabs(a - b) / std::fabs(b);
  if (std::isfinite(relative)) {
    // a quotient that underflowed is smaller than every decade
    const double size = relative > 0 ? std::floor(std::log10(relative)) : lowest - 1;
    decade = static_cast<std::size_t>(std::clamp<double>(size, lowest - 1, highest) - (lowest - 1));
  }
  (a < b ? negative : positive)[decade] += 1;
}

std::array<double, 3> Survey::point(std::size_t i) const {
  const double height = upward.empty() ? 0.0 : upward[i];
  if (!is_grid) return {easting[i], northing[i], height};
  return {easting[i % easting.size()], northing[i / easting.size()], height};
}

Comparison compare(const Survey& a, const Survey& b, PointMatch match) {
  Comparison comparison;
  comparison.a = a.file;
  comparison.b = b.file;
  for (const Survey* survey : {&a, &b}) {
    comparison.notes.insert(comparison.notes.end(), survey->notes.begin(), survey->notes.end());
  }
  const Matches matches = match_points(a, b, match, comparison);
  comparison.points = static_cast<std::int64_t>(matches.identical ? a.size() : matches.pairs.size());

  for (const FieldInfo& field : field_infos) {
    const bool in_a = a.fields.contains(field.field), in_b = b.fields.contains(field.field);
    if (in_a != in_b) {
      comparison.disagreements.push_back(fmt::format("{} is missing in {}", field.name, in_a ? "B" : "A"));
    }
    if (!in_a || !in_b) continue;
    const SurveyField of_a = a.read(field.field), of_b = b.read(field.field);
    for (const std::string& note : {of_a.note, of_b.note}) {
      if (!note.empty()) comparison.notes.push_back(note);
    }
    const auto check_alike = [&](const char* what, const std::string& said_a, const std::string& said_b) {
      // Files of other programs need not say; two that contradict each other cannot be compared.
      if (said_a.empty() || said_b.empty() || said_a == said_b) return;
      comparison.disagreements.push_back(fmt::format("{}: {} are {} in A, {} in B", field.name, what,
                                                     shown(said_a, longest_name), shown(said_b, longest_name)));
    };
    check_alike("units", of_a.unit, of_b.unit);
    check_alike("axes", of_a.axes, of_b.axes);
    FieldComparison result = compare_values(field.field, a, matches, of_a.values, of_b.values);
    result.unit = of_b.unit;
    if (result.one_nan > 0) {
      comparison.disagreements.push_back(
          fmt::format("{}: {} points are NaN in one file only", field.name, result.one_nan));
    }
    comparison.fields.push_back(std::move(result));
  }
  if (comparison.too_little.empty() && (comparison.points == 0 || comparison.fields.empty())) {
    comparison.too_little = fmt::format("{} and {} have no {} in common, nothing was compared", a.file.string(),
                                        b.file.string(), comparison.points == 0 ? "point" : "field");
  }
  if (comparison.too_little.empty() && std::all_of(comparison.fields.begin(), comparison.fields.end(),
                                                   [](const FieldComparison& field) { return field.compared == 0; })) {
    comparison.too_little = fmt::format("{} and {} have no value at the same point, only NaN, nothing was compared",
                                        a.file.string(), b.file.string());
  }
  return comparison;
}

bool within(const Comparison& comparison, double tolerance) {
  return comparison.disagreements.empty() &&
         std::all_of(comparison.fields.begin(), comparison.fields.end(),
                     [tolerance](const FieldComparison& field) { return field_within(field, tolerance); });
}

std::string report(const Comparison& comparison, std::optional<double> tolerance) {
  std::string out = fmt::format("A  {}\nB  {}  (the reference)\n{} points compared\n\n", shown(comparison.a.string()),
                                shown(comparison.b.string()), comparison.points);
  out += fmt::format("{:<10} {:<7} {:>12} {:>12} {:>12} {:>12}  {}\n", "field", "unit", "RMS(a-b)", "max|a-b|",
                     "max|b|", "relative", "largest at easting, northing, upward");
  for (const FieldComparison& field : comparison.fields) {
    out += fmt::format("{:<10} {:<7}", info(field.field).name, shown(field.unit, longest_name));
    if (field.compared == 0) {
      out += fmt::format(" {:>12} {:>12} {:>12} {:>12}", "-", "-", "-", "-");
    } else {
      out += fmt::format(" {:>12.4e} {:>12.4e} {:>12.4e} {:>12.4e}", field.rms_difference, field.largest_difference,
                         field.largest_reference, field.relative);
      if (field.largest_difference > 0) {
        out += fmt::format("  {:.8g}, {:.8g}, {:.8g}", field.where[0], field.where[1], field.where[2]);
      } else {
        out += "  equal everywhere";
      }
    }
    if (field.both_nan > 0) out += fmt::format("  (NaN in both at {} points)", field.both_nan);
    if (tolerance && !field_within(field, *tolerance)) out += "  OUTSIDE";
    out += '\n';
  }
  out += histogram_text(comparison.fields);
  if (!comparison.heights.empty()) out += fmt::format("\n{}\n", comparison.heights);
  for (const std::string& note : comparison.notes) out += fmt::format("\nnote: {}\n", note);
  if (!comparison.disagreements.empty()) {
    out += '\n';
    for (const std::string& line : comparison.disagreements) out += fmt::format("differs: {}\n", line);
  }
  if (tolerance) {
    const bool is_missing = !comparison.disagreements.empty() &&
                            std::all_of(comparison.fields.begin(), comparison.fields.end(),
                                        [&](const FieldComparison& field) { return field_within(field, *tolerance); });
    out += fmt::format("\n{} the tolerance {:g}{}\n", within(comparison, *tolerance) ? "within" : "OUTSIDE", *tolerance,
                       is_missing ? ", only because the two differ in what is said above" : "");
  }
  return out;
}

}  // namespace prismfield
