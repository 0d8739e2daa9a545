// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/ascii_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/text_table.hpp"
#include "io/value_memory.hpp"
#include "model/cells.hpp"

namespace prismfield {
namespace {

constexpr std::string_view blanks = " \t,;";

/// Takes the first word off a line; "" when there is none.
std::string_view take_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

/// Reads one file.
class AsciiGrid {
public:
  explicit AsciiGrid(const InputFile& file) : m_file(file), m_reader(file) {}

  GridVariable read() {
    std::string_view line = read_header();
    GridVariable grid;
    const auto n_easting = count("ncols"), n_northing = count("nrows");
    grid.easting = nodes('x', n_easting);
    grid.northing = nodes('y', n_northing);
    grid.easting_name = "x";
    grid.northing_name = "y";
    read_values(line, n_easting, n_northing, grid.values);
    return grid;
  }

private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(line_of(m_file, std::max<std::int64_t>(m_reader.number(), 1)), key, what);
  }

  /// Lines that begin with a name; returns the first line of values, which stays valid.
  std::string_view read_header() {
    static const std::vector<std::string> names = {"ncols",     "nrows",    "xllcorner", "yllcorner", "xllcenter",
                                                   "yllcenter", "cellsize", "dx",        "dy",        "nodata_value"};
    std::string_view line;
    while (m_reader.next(line)) {
      std::string_view rest = line;
      const std::string_view first = take_word(rest);
      if (first.empty()) continue;
      double number = 0;
      if (parse_number(first, number) == NumberStatus::ok) return line;
      const std::string name = lower_case(first);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail("", fmt::format("{} is no word of the header of an ESRI ASCII grid", excerpt(std::string(first))));
      }
      const std::string_view value = take_word(rest);
      if (parse_number(value, number) != NumberStatus::ok || (!std::isfinite(number) && name != "nodata_value")) {
        fail(name, fmt::format("{} is no number", excerpt(std::string(value))));
      }
      if (!m_header.emplace(name, number).second) fail(name, "is given twice");
    }
    return {};
  }

  [[nodiscard]] std::optional<double> find(const std::string& name) const {
    const auto found = m_header.find(name);
    return found == m_header.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::size_t count(const std::string& name) const {
    const std::optional<double> value = find(name);
    if (!value) throw m_file.error(fmt::format("lacks {} in its header", name));
    if (*value < 1 || *value > static_cast<double>(most_cells_in_a_direction) || *value != std::floor(*value)) {
      throw m_file.error(
          fmt::format("has {} {:g}; a whole number of 1 to {} is needed", name, *value, most_cells_in_a_direction));
    }
    return static_cast<std::size_t>(*value);
  }

  /// Centres of the cells along x or y, ascending.
  [[nodiscard]] std::vector<double> nodes(char direction, std::size_t n) const {
    const std::string first(1, direction);
    const std::optional<double> size = find("cellsize") ? find("cellsize") : find("d" + first);
    if (!size || !(*size > 0)) {
      throw m_file.error(fmt::format("{}; cellsize, or dx and dy, above 0 are needed in its header",
                                     size ? fmt::format("has a cell size of {:g}", *size) : "lacks cellsize"));
    }
    const std::optional<double> corner = find(first + "llcorner"), centre = find(first + "llcenter");
    if (corner.has_value() == centre.has_value()) {
      throw m_file.error(fmt::format("{0} {1}llcorner {2} {1}llcenter in its header; one of the two is needed",
                                     corner ? "has both" : "has neither", first, corner ? "and" : "nor"));
    }
    const double half = corner ? 0.5 : 0.0;
    std::vector<double> places(n);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = (corner ? *corner : *centre) + (static_cast<double>(i) + half) * *size;
    }
    return places;
  }

  void check_room(std::size_t values) const {
    std::error_code code;
    const std::uintmax_t bytes = std::filesystem::file_size(m_file.path, code);
    // a digit and a blank a value
    if (!code && values > bytes / 2 + 1) {
      throw m_file.error(fmt::format("is cut short: {} cannot hold {}", size_text(static_cast<std::int64_t>(bytes)),
                                     counted(static_cast<std::int64_t>(values), "value")));
    }
    if (const std::string why = why_no_room(values, sizeof(double)); !why.empty()) throw m_file.error(why);
  }

  void read_values(std::string_view line, std::size_t n_easting, std::size_t n_northing, std::vector<double>& values) {
    const std::size_t n = n_easting * n_northing;
    check_room(n);
    values.resize(n);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), usual = -9999;
    const double nodata = find("nodata_value").value_or(usual);
    // written with as many digits as each writer likes
    const double near = std::abs(nodata) > 1e30 ? 1e-5 * std::abs(nodata) : 0;
    std::size_t found = 0, n_lines = 0, of_a_line = 0;
    bool are_alike = true;
    do {
      const std::size_t before = found;
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        double value = 0;
        const NumberStatus status = parse_number(word, value);
        if (status != NumberStatus::ok) {
          fail("", fmt::format("{} {}", excerpt(std::string(word)),
                               status == NumberStatus::too_large ? "is too large" : "is not a number"));
        }
        if (found == n) fail("", fmt::format("has more values than {} x {}", n_easting, n_northing));
        const bool none = !std::isfinite(value) || value == nodata || std::abs(value - nodata) < near;
        const std::size_t row = n_northing - 1 - found / n_easting;
        values[row * n_easting + found % n_easting] = none ? nan : value;
        ++found;
      }
      if (found == before) continue;
      if (n_lines++ == 0) of_a_line = found;
      are_alike = are_alike && found - before == of_a_line;
    } while (m_reader.next(line));
    if (are_alike && n_lines > 1 && n_easting != n_northing && of_a_line == n_northing && n_lines == n_easting) {
      throw m_file.error(fmt::format("has ncols {} and nrows {}, but {} lines of {}: the two are swapped", n_easting,
                                     n_northing, n_lines, counted(static_cast<std::int64_t>(of_a_line), "value")));
    }
    if (found < n) {
      throw m_file.error(fmt::format("is cut short: it has {} of {} x {} = {}",
                                     counted(static_cast<std::int64_t>(found), "value"), n_easting, n_northing, n));
    }
  }

  const InputFile& m_file;
  LineReader m_reader;
  std::map<std::string, double> m_header;
};

}  // namespace

bool is_ascii_grid(const InputFile& file) {
  LineReader reader(file);
  std::string_view line;
  while (reader.next(line)) {
    const std::string first = lower_case(take_word(line));
    if (!first.empty()) return first == "ncols" || first == "nrows";
  }
  return false;
}

GridVariable read_ascii_grid(const InputFile& file) { return AsciiGrid(file).read(); }

}  // namespace prismfield
