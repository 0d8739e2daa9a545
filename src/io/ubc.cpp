// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/ubc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/text_table.hpp"
#include "model/edges.hpp"

namespace prismfield {
namespace {

/// Words of a UBC file one by one, with the line of each.
class UbcWords {
public:
  explicit UbcWords(const InputFile& file) : m_file(file), m_reader(file) {}

  /// The next word; empty at the end of the file.
  std::string_view next() {
    for (;;) {
      const std::size_t begin = m_line.find_first_not_of(" \t,");
      if (begin != std::string_view::npos && m_line[begin] != '!') {
        m_line.remove_prefix(begin);
        const std::string_view word = m_line.substr(0, m_line.find_first_of(" \t,!"));
        m_line.remove_prefix(word.size());
        return word;
      }
      if (!m_reader.next(m_line)) return {};
    }
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(line_of(m_file, std::max<std::int64_t>(m_reader.number(), 1)), key, what);
  }

  double number(const std::string& what) {
    const std::string_view word = next();
    if (word.empty()) fail(what, "the file ends here");
    return number_in(word, what);
  }

  std::int64_t count(const std::string& what) {
    const std::string_view word = next();
    if (word.empty()) fail(what, "the file ends here");
    return count_in(word, what);
  }

  double number_in(std::string_view word, const std::string& what) const {
    double value = 0;
    if (parse_number(word, value) != NumberStatus::ok || !std::isfinite(value)) {
      fail(what, excerpt(word) + " is no finite number");
    }
    return value;
  }

  std::int64_t count_in(std::string_view word, const std::string& what) const {
    std::int64_t value = 0;
    if (parse_integer(word, value) != NumberStatus::ok || value < 1 || value > most_cells_in_a_direction) {
      fail(what, fmt::format("{} is no number of cells, 1 to {}", excerpt(word), most_cells_in_a_direction));
    }
    return value;
  }

private:
  const InputFile& m_file;
  LineReader m_reader;
  std::string_view m_line;
};

}  // namespace

CellEdges read_ubc_mesh(const InputFile& file) {
  UbcWords words(file);
  CellCounts counts{};
  std::array<double, 3> corner{};
  const std::array<const char*, 3> count_names = {"nE", "nN", "nZ"};
  const std::array<const char*, 3> corner_names = {"E0", "N0", "Ztop"};
  for (std::size_t d = 0; d < 3; ++d) counts[d] = words.count(count_names[d]);
  for (std::size_t d = 0; d < 3; ++d) corner[d] = words.number(corner_names[d]);
  CellEdges edges;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string what = std::string("widths along ") + direction_names[d];
    std::vector<double> widths;
    const auto n = static_cast<std::size_t>(counts[d]);
    while (widths.size() < n) {
      const std::string_view word = words.next();
      if (word.empty()) words.fail(what, fmt::format("the file ends after {} of {} widths", widths.size(), n));
      const std::size_t star = word.find('*');
      const std::int64_t repeats = star == std::string_view::npos ? 1 : words.count_in(word.substr(0, star), what);
      const double width = words.number_in(star == std::string_view::npos ? word : word.substr(star + 1), what);
      if (!(width > 0)) words.fail(what, fmt::format("a width of {}; widths must be above 0", width));
      if (static_cast<std::size_t>(repeats) > n - widths.size()) {
        words.fail(what, fmt::format("{} brings {} widths to {}, but there are {} cells", excerpt(word), widths.size(),
                                     widths.size() + static_cast<std::size_t>(repeats), n));
      }
      widths.insert(widths.end(), static_cast<std::size_t>(repeats), width);
    }
    if (d == 2) std::transform(widths.begin(), widths.end(), widths.begin(), std::negate<>());
    edges[d] = edges_from_widths(corner[d], widths);
    if (d == 2) std::reverse(edges[d].begin(), edges[d].end());
    if (std::adjacent_find(edges[d].begin(), edges[d].end(), std::greater_equal<>()) != edges[d].end() ||
        !std::isfinite(edges[d].back() - edges[d].front())) {
      words.fail(what, "the widths are too small or too large beside the corner for double precision");
    }
  }
  const std::string_view rest = words.next();
  if (!rest.empty()) words.fail("", excerpt(rest) + " behind the last width");
  return edges;
}

std::vector<double> read_ubc_densities(const InputFile& file, double to_si, const CellCounts& counts) {
  NumbersRequest request;
  request.comment = "!";
  request.count = counts[0] * counts[1] * counts[2];
  request.what = "density";
  const std::vector<double> values =
      read_values(file, request,
                  fmt::format("the mesh of {} x {} x {} has {} cells", counts[0], counts[1], counts[2], request.count));
  std::vector<double> densities(values.size());
  std::size_t read = 0;
  for (std::int64_t j = 0; j < counts[1]; ++j) {
    for (std::int64_t i = 0; i < counts[0]; ++i) {
      for (std::int64_t k = counts[2] - 1; k >= 0; --k) {
        const double density = values[read++] * to_si;
        if (!std::isfinite(density)) throw file.error("holds densities too large for double precision in kg/m3");
        densities[static_cast<std::size_t>((k * counts[1] + j) * counts[0] + i)] = density;
      }
    }
  }
  return densities;
}

}  // namespace prismfield
