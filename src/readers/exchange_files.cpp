// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/exchange_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/text_lines.hpp"
#include "formats/text_table.hpp"
#include "model/choices.hpp"
#include "model/edges.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"
#include "model/properties.hpp"
#include "readers/find_format.hpp"
#include "readers/point_fields.hpp"

namespace prismfield {
namespace {

constexpr std::string_view blanks = " \t,";

/// Words of a UBC mesh, with the line of each.
class UbcWords {
public:
  explicit UbcWords(const InputFile& file) : m_file(file) {
    LineReader reader(file);
    std::string_view line;
    while (reader.next(line)) {
      const std::string_view comment = line.substr(std::min(line.find('!'), line.size()));
      if (const std::string fault = fault_of_comment(comment); !fault.empty()) {
        throw InputError(reader.where(), "", fault);
      }
      const std::string text = closed_up(line.substr(0, line.find('!')));
      if (const std::string_view word = word_with_comma(text); !word.empty()) {
        throw InputError(reader.where(), "", excerpt(word) + " is not a number" + comma_remedy(word));
      }
      std::string_view rest = text;
      for (std::string_view word = take_word(rest, blanks); !word.empty(); word = take_word(rest, blanks)) {
        m_words.push_back({std::string(word), reader.number()});
      }
    }
    m_last_line = std::max<std::int64_t>(reader.number(), 1);
  }

  /// The next word; empty at the end of the file.
  std::string_view next() {
    m_at_end = m_next == m_words.size();
    return m_at_end ? std::string_view() : std::string_view(m_words[m_next++].text);
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(line_of(m_file, m_at_end || m_next == 0 ? m_last_line : m_words[m_next - 1].line), key, what);
  }

  /// The next word, which has to be there.
  std::string_view needed(const std::string& what) {
    const std::string_view word = next();
    if (word.empty()) fail(what, "the file ends here");
    return word;
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

  /// Throws InputError for the first line of widths that does not fit the counts, in a mesh whose counts and corner
  /// have a line each, as UBC's programs write it. A direction may go on over lines, and a line may hold several
  /// directions; one that ends a direction and begins the next misses or has a width, unless all lines are equally
  /// long. Where each direction has a line, it has to have as many as there are cells if reading `failed`.
  void check_lines(const CellCounts& counts, bool failed = true) const {
    struct Line {
      std::int64_t number = 0, words = 0, widths = 0;
    };
    constexpr std::size_t head = 2;
    std::vector<Line> lines;
    for (const auto& [text, number] : m_words) {
      if (lines.empty() || lines.back().number != number) lines.push_back({number});
      std::int64_t repeats = 1;
      const std::size_t star = text.find('*');
      if (star != std::string::npos && parse_integer(text.substr(0, star), repeats) != NumberStatus::ok) return;
      ++lines.back().words;
      lines.back().widths += std::clamp<std::int64_t>(repeats, 0, most_cells_in_a_direction);
    }
    if (lines.size() < head + 3 || lines[0].words != 3 || lines[1].words != 3) return;
    lines.erase(lines.begin(), lines.begin() + head);
    const auto divided = std::find_if(lines.begin(), lines.end(), [&, end = std::int64_t{0}](const Line& line) mutable {
      const std::int64_t begin = std::exchange(end, end + line.widths);
      const std::int64_t first = counts[0], second = first + counts[1], last = second + counts[2];
      const auto is_within = [&](std::int64_t edge) { return begin < edge && edge < end; };
      return (is_within(first) && (begin > 0 || end < second)) || (is_within(second) && (begin > first || end < last));
    });
    if (divided == lines.end() && !failed) return;
    if (lines.size() > 3) {
      const bool are_wrapped = std::all_of(lines.begin(), lines.end() - 1,
                                           [&](const Line& line) { return line.words == lines.front().words; });
      if (failed || are_wrapped) return;
      throw InputError(
          line_of(m_file, divided->number), "",
          fmt::format("by nE nN nZ = {} {} {}, this line ends the widths of one direction and begins those "
                      "of the next; begin each on a line of its own, with as many widths as cells",
                      counts[0], counts[1], counts[2]));
    }
    for (std::size_t d = 0; d < 3; ++d) {
      const Line& line = lines[d];
      if (line.widths == counts[d]) continue;
      throw InputError(
          line_of(m_file, line.number), std::string("widths along ") + direction_names[d],
          fmt::format("{} on this line, but there are {}", counted(line.widths, "width"), counted(counts[d], "cell")));
    }
  }

private:
  struct Word {
    std::string text;
    std::int64_t line;
  };

  /// A line without the blanks that Fortran's programs leave round a star: 3 * 50 is 3*50.
  static std::string closed_up(std::string_view line) {
    std::string text;
    for (const char c : line) {
      const bool is_blank = c == ' ' || c == '\t';
      if (is_blank && text.ends_with('*')) continue;
      if (c == '*') text.resize(text.find_last_not_of(" \t") + 1);
      text += c;
    }
    return text;
  }

  const InputFile& m_file;
  std::vector<Word> m_words;
  std::size_t m_next = 0;
  bool m_at_end = false;
  std::int64_t m_last_line = 1;
};

/// Whether a text holds a number a line, as UBC models do: several lines do.
bool looks_like_ubc_model(const InputFile& file) {
  constexpr std::size_t enough = 8;
  const auto rows = first_rows(file, enough);
  return !rows.empty() &&
         std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.size() == 1 && are_numbers(row); });
}

/// The remedy where mesh and model were named in each other's place; `file` is one of them.
std::string swap_text(const InputFile& file) {
  if (file.key.empty() || file.key == "--mesh") return "swap IN and --mesh";
  return file.key.starts_with("model.mesh.ubc.") ? "swap mesh and density of model.mesh.ubc" : "name the model";
}

CellEdges read_edges_of(const InputFile& file) {
  UbcWords words(file);
  CellCounts counts{};
  std::array<double, 3> corner{};
  const std::array<const char*, 3> count_names = {"nE", "nN", "nZ"};
  const std::array<const char*, 3> corner_names = {"E0", "N0", "Ztop"};
  for (std::size_t d = 0; d < 3; ++d) counts[d] = words.count_in(words.needed(count_names[d]), count_names[d]);
  for (std::size_t d = 0; d < 3; ++d) corner[d] = words.number_in(words.needed(corner_names[d]), corner_names[d]);
  CellEdges edges;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string what = std::string("widths along ") + direction_names[d];
    std::vector<double> widths;
    const auto n = static_cast<std::size_t>(counts[d]);
    while (widths.size() < n) {
      const std::string_view word = words.next();
      if (word.empty()) {
        words.check_lines(counts);
        words.fail(what, fmt::format("the file ends after {} of {} widths", widths.size(), n));
      }
      const std::size_t star = word.find('*');
      const std::int64_t repeats = star == std::string_view::npos ? 1 : words.count_in(word.substr(0, star), what);
      const double width = words.number_in(star == std::string_view::npos ? word : word.substr(star + 1), what);
      if (!(width > 0)) words.fail(what, fmt::format("a width of {}; widths must be above 0", width));
      if (static_cast<std::size_t>(repeats) > n - widths.size()) {
        words.check_lines(counts);
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
  if (!rest.empty()) {
    words.check_lines(counts);
    words.fail("", excerpt(rest) + " behind the last width");
  }
  words.check_lines(counts, false);
  if (const std::string error = error_in_total(counts); !error.empty()) throw file.error("has " + error);
  return edges;
}

/// Adds a row's values to as many lists: one number a cell, or a vector, whose third component is down in the file.
void add_values(std::vector<std::vector<double>>& lists, const double* values, std::size_t n) {
  lists.resize(n);
  for (std::size_t c = 0; c < n; ++c) lists[c].push_back(c == 2 ? other_way(values[c]) : values[c]);
}

/// Multiplies the values of a row; says where one is too large.
void to_unit(NumberRows& rows, double* values, std::size_t n, double to_si, const char* unit = "kg/m3") {
  for (std::size_t c = 0; c < n; ++c) {
    values[c] *= to_si;
    if (!std::isfinite(values[c]))
      rows.refuse("values that are too large", fmt::format("the value is too large in {}", unit));
  }
}

/// What stands behind the places of data.
struct DataColumns {
  FieldList fields;
  bool has_sigma = false;
};

/// Adds data below their number: places, then values of fields and, of one field, its standard deviation, the same
/// columns in all lines. layout(columns) says which, nothing for another number; wrong(columns, columns before) says
/// what is wrong with such a line. Throws InputError for places that stand for none.
template <class Layout, class Wrong>
void read_rows(const InputFile& file, NumberRows& rows, PointFields& result, const Layout& layout, const Wrong& wrong) {
  static_cast<void>(rows.read_count());
  std::vector<double> row;
  std::size_t columns = 0;
  std::optional<DataColumns> known;
  while (rows.next(row)) {
    if (columns == 0) {
      columns = row.size();
      known = layout(columns);
      if (known) result.fields = known->fields;
      result.values.resize(static_cast<std::size_t>(result.fields.size()));
      result.sigma.resize(result.values.size());
    }
    if (row.size() != columns || !known) {
      rows.refuse("lines with another number of columns", wrong(row.size(), columns));
      continue;
    }
    if (known->has_sigma && row[4] < 0) {
      rows.refuse("standard deviations below 0", fmt::format("a standard deviation of {}; it is at least 0", row[4]));
    }
    result.points.easting.push_back(row[0]);
    result.points.northing.push_back(row[1]);
    result.points.upward.push_back(row[2]);
    for (std::size_t f = 0; f < result.values.size(); ++f) result.values[f].push_back(row[3 + f]);
    if (known->has_sigma) result.sigma[0].push_back(row[4]);
  }
  const Points& points = result.points;
  const std::array<const std::vector<double>*, 3> coordinates{&points.easting, &points.northing, &points.upward};
  const DummyPlaces places = find_dummy_places(coordinates);
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const std::vector<bool>& none = places.found[d];
    if (none.empty()) continue;
    const auto first = static_cast<std::size_t>(std::find(none.begin(), none.end(), true) - none.begin());
    throw file.error(
        fmt::format("has {} as a place, which looks like a dummy, a number that stands for none, in {}; take "
                    "out such rows and correct the number above them",
                    number_text((*coordinates[d])[first]), counted(std::count(none.begin(), none.end(), true), "row")));
  }
  if (!places.doubt.empty()) result.notes.push_back(fmt::format("'{}': {}", file.path.string(), places.doubt));
}

/// Throws InputError where cells of an octree, by their lines, overlap.
void check_octree(const InputFile& file, const PrismBlock& cells, const std::vector<std::int64_t>& lines) {
  constexpr std::size_t most_named = 20;
  const auto pairs = find_overlaps(cells, overlap_tolerance, most_named).pairs;
  ProblemList problems;
  for (const auto& [first, second] : pairs) {
    problems.add(line_of(file, lines[static_cast<std::size_t>(second)]), "",
                 fmt::format("this cell overlaps that of line {}; the cells of an octree lie beside each other",
                             lines[static_cast<std::size_t>(first)]));
  }
  problems.throw_if_any();
}

}  // namespace

CellEdges read_ubc_mesh(const InputFile& file) {
  refuse_foreign(file);
  const UbcMesh kind = ubc_mesh_in(file);
  if (kind == UbcMesh::octree) {
    throw file.error(
        "is a UBC OcTree mesh, whose cells differ in size, and a tensor mesh is needed; prismfield convert MODEL "
        "OUT.csv "
        "--mesh with this mesh makes prisms of it, which model.prisms takes");
  }
  if (kind == UbcMesh::two_dimensional) {
    throw file.error(
        "is a 2-D mesh of UBC (as DCIP2D's: numbers of segments, their ends and cells), and one of three dimensions is "
        "needed: nE nN nZ, the top south-west corner, widths");
  }
  try {
    return read_edges_of(file);
  } catch (const InputError&) {
    if (!looks_like_ubc_model(file)) throw;
  }
  throw file.error(fmt::format(
      "looks like a UBC model (a number a line), and a UBC mesh begins with nE nN nZ; {}",
      file.key.empty() ? "if it is a model, say --from ubc-model, and by --mesh its mesh" : swap_text(file)));
}

PrismBlock read_ubc_octree(const InputFile& file, std::vector<std::string>& notes) {
  ProblemList problems;
  NumberRows rows(file, "cell", problems);
  std::array<std::vector<double>, 3> head;
  for (std::vector<double>& line : head) {
    const bool is_there = rows.next(line);
    problems.throw_if_any();
    if (is_there && line.size() == 3) continue;
    throw InputError(rows.where(), "", "three numbers are needed: counts, the top south-west corner, edges");
  }
  const auto& [counts, corner, edge] = head;
  static_cast<void>(rows.read_count());
  PrismBlock cells;
  std::vector<std::int64_t> lines;
  double volume = 0;
  std::vector<double> row;
  while (rows.next(row)) {
    const bool is_cell = row.size() == 4 && std::all_of(row.begin(), row.end(), [](double number) {
                           return number >= 1 && number == std::floor(number);
                         });
    if (is_cell &&
        std::any_of(row.begin(), row.end() - 1, [&](double first) { return std::fmod(first - 1, row[3]) != 0; })) {
      rows.refuse(
          "cells off the places of their size",
          fmt::format("a cell of size {0} at {1}, {2}, {3}; such cells begin at 1, {4}, ... along each direction",
                      row[3], row[0], row[1], row[2], row[3] + 1));
      continue;
    }
    std::array<double, 3> first{}, last{};
    bool is_within = is_cell;
    for (std::size_t d = 0; d < 3 && is_within; ++d) {
      const double begin = row[d] - 1, end = begin + row[3];
      first[d] = d == 2 ? corner[d] - end * edge[d] : corner[d] + begin * edge[d];
      last[d] = d == 2 ? corner[d] - begin * edge[d] : corner[d] + end * edge[d];
      is_within = end <= counts[d] && first[d] < last[d] && std::isfinite(last[d] - first[d]);
    }
    if (is_within) {
      add_prism(cells, {first[0], last[0], first[1], last[1], first[2], last[2], 0});
      lines.push_back(rows.line());
      volume += row[3] * row[3] * row[3];
    } else {
      rows.refuse("lines that are no cell",
                  fmt::format("no cell within {} x {} x {}; i, j, k (from 1, k downwards) and its size are needed",
                              counts[0], counts[1], counts[2]));
    }
  }
  problems.throw_if_any();
  check_octree(file, cells, lines);
  if (const double whole = counts[0] * counts[1] * counts[2]; volume != whole) {
    notes.push_back(
        fmt::format("{}: the cells fill {:.15g} of its {} x {} x {} = {:.15g} smallest cells, and between them there "
                    "will be no prism: are cells missing?",
                    file.path.string(), volume, counts[0], counts[1], counts[2], whole));
  }
  return cells;
}

std::vector<double> read_ubc_values(const InputFile& file, double to_si, std::int64_t cells, const std::string& mesh,
                                    const std::string& what) {
  NumbersRequest request;
  request.comment = "!";
  request.count = cells;
  request.what = what;
  std::vector<double> values;
  try {
    values = read_values(file, request, fmt::format("{} has {} cells", mesh, cells));
  } catch (const InputError&) {
    if (ubc_mesh_in(file) == UbcMesh::none) throw;
    throw file.error("looks like a UBC mesh (nE nN nZ, a corner, widths), and a UBC model is a number a line; " +
                     swap_text(file));
  }
  for (double& value : values) {
    value *= to_si;
    if (!std::isfinite(value)) throw file.error("holds densities too large for double precision in kg/m3");
  }
  return values;
}

std::vector<double> read_ubc_densities(const InputFile& file, double to_si, const CellCounts& counts,
                                       const std::string& what) {
  const std::string mesh = fmt::format("the mesh of {} x {} x {}", counts[0], counts[1], counts[2]);
  return in_cell_order(CellOrder::ubc, counts,
                       read_ubc_values(file, to_si, counts[0] * counts[1] * counts[2], mesh, what));
}

std::array<std::vector<double>, 3> read_ubc_vectors(const InputFile& file, double to_si, const CellCounts& counts) {
  ProblemList problems;
  NumberRows rows(file, "vector", problems);
  std::vector<std::vector<double>> vectors(3);
  std::vector<double> row;
  while (rows.next(row)) {
    if (row.size() != vectors.size()) {
      rows.refuse("lines without a vector", "three numbers a line are needed: along easting, northing and downwards");
    }
    row.resize(vectors.size());
    to_unit(rows, row.data(), row.size(), to_si, "A/m");
    add_values(vectors, row.data(), row.size());
  }
  problems.throw_if_any();
  const std::int64_t found = std::ssize(vectors[0]), needed = counts[0] * counts[1] * counts[2];
  if (found != needed) {
    throw file.error(fmt::format("holds {}, but the mesh of {} x {} x {} needs one for each of its {}",
                                 counted(found, "vector"), counts[0], counts[1], counts[2], counted(needed, "cell")));
  }
  std::array<std::vector<double>, 3> in_order;
  for (std::size_t d = 0; d < 3; ++d) in_order[d] = in_cell_order(CellOrder::ubc, counts, vectors[d]);
  return in_order;
}

namespace {

bool is_one_direction(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) <= inducing_field_rounding;
}

/// Sets what the first two lines of magnetic data say; returns the field.
Field read_magnetic_header(NumberRows& rows, PointFields& data) {
  std::vector<double> first, second;
  const auto fail = [&](const std::string& what) { throw InputError(rows.where(), "", what); };
  const auto check_angles = [&](const std::vector<double>& line) {
    if (std::fabs(line[0]) > 90 || std::fabs(line[1]) > 360) {
      fail(fmt::format("an inclination of {} and a declination of {}; -90 to 90 and -360 to 360 degrees are allowed",
                       line[0], line[1]));
    }
  };
  if (!rows.next(first) || first.size() != 3) fail("inclination, declination and intensity are three finite numbers");
  check_angles(first);
  if (const std::string error = intensity_error(first[2]); !error.empty()) fail("the inducing field " + error);
  data.inducing_field = InducingField{first[0], first[1], first[2]};
  if (!rows.next(second) || second.size() != 3) fail("inclination, declination and 0, 1 or 2 are three finite numbers");
  check_angles(second);
  if (second[2] == no_direction) return Field::amplitude;
  if (second[2] != each_direction && second[2] != one_direction) {
    fail(fmt::format("{} behind the anomaly's direction; 1, of two: 0, or 2, of amplitudes, are known", second[2]));
  }
  const std::array<double, 3> along = vector_of(second[0], second[1], 1);
  if (is_one_direction(along, vector_of(first[0], first[1], 1))) return Field::tmi;
  for (const Projection& projection : projections) {
    if (!is_one_direction(along, vector_of(projection.inclination, projection.declination, 1))) continue;
    data.axes = projection.axes;
    return projection.field;
  }
  fail(
      fmt::format("the anomaly is along inclination {}, declination {}: neither along the inducing field, as tmi, nor "
                  "along easting (0 90), northing (0 0) or the vertical (90 0), as bx, by, bz, which are read; if that "
                  "is the direction of the magnetisation, as MAG3D 6 has it, write that of the first line",
                  second[0], second[1]));
  return Field::tmi;
}

}  // namespace

PointFields read_ubc_data(const InputFile& file, std::optional<Field> field, std::optional<Axes> axes) {
  ProblemList problems;
  NumberRows rows(file, "station", problems);
  PointFields data;
  data.axes = axes.value_or(Axes::z_down);
  Field read = field.value_or(Field::gz);
  const bool is_magnetic = begins_as_ubc_magnetic(start_of_text(file, 3));
  if (is_magnetic) {
    read = read_magnetic_header(rows, data);
    if (field && *field != read) {
      throw InputError("--field", "",
                       fmt::format("is {}, but '{}' holds {}; leave the option out", info(*field).name,
                                   file.path.string(), info(read).name));
    }
    if (axes && *axes != data.axes) {
      throw InputError("--axes", "",
                       fmt::format("is {}, but '{}' says itself that its axes are {}; leave the option out",
                                   name(*axes), file.path.string(), name(data.axes)));
    }
  } else if (is_ubc_magnetic(file.path)) {
    throw file.error(
        "does not begin as UBC's magnetic data do: inclination, declination and intensity (nT) of the inducing field, "
        "inclination and declination of the anomaly and 1, the number of stations, on three lines");
  }
  const auto layout = [&](std::size_t columns) -> std::optional<DataColumns> {
    if (columns < 3 || columns > 5) return std::nullopt;
    return columns == 3 ? DataColumns{} : DataColumns{{read}, columns == 5};
  };
  read_rows(file, rows, data, layout, [&](std::size_t columns, std::size_t before) {
    if (before >= 3 && before <= 5) return fmt::format("{} columns, but {} before", columns, before);
    const std::string own = is_magnetic && (columns == 6 || columns == 7)
                                ? "; directions of single stations are not read: write a table whose header names the "
                                  "columns, such as easting, northing, upward, bx, by, bz"
                                : "";
    return fmt::format(
        "{} columns; E, N, elevation, value and standard deviation are at most five and at least three{}", columns,
        own);
  });
  problems.throw_if_any();
  return data;
}

namespace {

/// Indices i, j, k of a row, from 1; false when these are no such numbers.
bool indices_of(const double* from, std::array<std::int64_t, 3>& indices) {
  for (std::size_t d = 0; d < 3; ++d) {
    const double value = from[d];
    if (!(value >= 1 && value <= static_cast<double>(most_cells_in_a_direction)) || value != std::floor(value)) {
      return false;
    }
    indices[d] = static_cast<std::int64_t>(value);
  }
  return true;
}

/// Puts the rows of a grid together.
class GridRows {
public:
  /// `values`: so many
  void add(const double* box, const double* values, std::size_t n, const std::array<std::int64_t, 3>& indices) {
    add_prism(m_grid.cells, {box[0], box[1], box[2], box[3], other_way(box[5]), other_way(box[4]), 0});
    add_values(m_grid.values, values, n);
    m_indices.push_back(indices);
  }

  /// Throws InputError unless every cell of i x j x k is there once.
  TomofastGrid finish(const InputFile& file) {
    for (const auto& indices : m_indices) {
      for (std::size_t d = 0; d < 3; ++d) m_counts[d] = std::max(m_counts[d], indices[d]);
    }
    const auto rows = static_cast<std::int64_t>(m_indices.size());
    // divided, because the product may be too large to count
    const bool fits = rows % m_counts[0] == 0 && rows / m_counts[0] % m_counts[1] == 0 &&
                      rows / m_counts[0] / m_counts[1] == m_counts[2];
    if (!fits) {
      throw file.error(fmt::format("has {} for i to {}, j to {}, k to {}; a row for each cell is needed",
                                   counted(rows, "row"), m_counts[0], m_counts[1], m_counts[2]));
    }
    check_each_once(file);
    // edges and cells where the boxes are those of a rectilinear grid, whatever the indices count along; the file
    // rounds
    constexpr double part = 1e-3;
    if (auto grid = grid_of(m_grid.cells, part, rows)) {
      m_grid.cell_of_row = std::move(grid->cells);
      m_grid.edges = std::move(grid->edges);
    }
    return std::move(m_grid);
  }

private:
  void check_each_once(const InputFile& file) const {
    std::vector<bool> seen(m_indices.size());
    for (const auto& [i, j, k] : m_indices) {
      const auto place = static_cast<std::size_t>(((k - 1) * m_counts[1] + j - 1) * m_counts[0] + i - 1);
      if (seen[place]) throw file.error(fmt::format("has the cell i = {}, j = {}, k = {} twice", i, j, k));
      seen[place] = true;
    }
  }

  TomofastGrid m_grid;
  std::vector<std::array<std::int64_t, 3>> m_indices;
  /// of i, j and k
  CellCounts m_counts{1, 1, 1};
};

}  // namespace

std::optional<BoxGrid> grid_of(const PrismBlock& boxes, double part, std::int64_t most) {
  BoxGrid grid;
  grid.cells.resize(boxes.west.size());
  const auto columns = columns_of(boxes);
  std::int64_t left = most, total = 1;
  for (std::size_t d = 3; d-- > 0;) {
    const std::vector<double>&lower = *columns[2 * d], &upper = *columns[2 * d + 1];
    double narrowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < lower.size(); ++i) narrowest = std::min(narrowest, upper[i] - lower[i]);
    std::vector<double> faces = lower, &edges = grid.edges[d];
    faces.insert(faces.end(), upper.begin(), upper.end());
    std::sort(faces.begin(), faces.end());
    for (const double face : faces) {
      if (edges.empty() || face - edges.back() > part * narrowest) edges.push_back(face);
    }
    const std::int64_t n = std::ssize(edges) - 1;
    left = n > 0 ? left / n : 0;
    if (left == 0) return std::nullopt;
    total *= n;
    const auto place = [&](double face) {
      return std::upper_bound(edges.begin(), edges.end(), face) - edges.begin() - 1;
    };
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const std::int64_t at = place(lower[i]);
      if (place(upper[i]) != at + 1) return std::nullopt;
      grid.cells[i] = grid.cells[i] * n + at;
    }
  }
  std::vector<bool> taken(static_cast<std::size_t>(total));
  for (const std::int64_t cell : grid.cells) {
    if (taken[static_cast<std::size_t>(cell)]) return std::nullopt;
    taken[static_cast<std::size_t>(cell)] = true;
  }
  return grid;
}

TomofastGrid read_tomofast_grid(const InputFile& file, double to_si) {
  ProblemList problems;
  NumberRows rows(file, "cell", problems);
  static_cast<void>(rows.read_count());
  GridRows grid;
  std::vector<double> row;
  std::size_t columns = 0;
  while (rows.next(row)) {
    if (columns == 0) columns = row.size();
    if (row.size() != columns || (columns != 9 && columns != 10 && columns != 12)) {
      rows.refuse(
          "lines with another number of columns",
          fmt::format(
              "{} columns; X1 X2 Y1 Y2 Z1 Z2 i j k, or a value or three before i, are needed, in all lines alike",
              row.size()));
      continue;
    }
    std::array<std::int64_t, 3> indices{};
    if (!indices_of(row.data() + columns - 3, indices)) {
      rows.refuse("indices that are none", fmt::format("i, j, k are {}, {}, {}; whole numbers from 1 are needed",
                                                       row[columns - 3], row[columns - 2], row[columns - 1]));
      continue;
    }
    if (!(row[0] < row[1] && row[2] < row[3] && row[4] < row[5])) {
      rows.refuse("cells without size", "X2, Y2 or Z2 is not above X1, Y1 or Z1; Z is the depth, Z1 the cell's top");
      continue;
    }
    const std::size_t n_values = columns - 9;
    to_unit(rows, row.data() + 6, n_values, to_si);
    grid.add(row.data(), row.data() + 6, n_values, indices);
  }
  problems.throw_if_any();
  return grid.finish(file);
}

std::vector<std::vector<double>> read_tomofast_values(const InputFile& file, double to_si, std::int64_t cells) {
  ProblemList problems;
  NumberRows rows(file, "value", problems);
  const std::int64_t count = rows.read_count();
  if (count != cells) {
    throw InputError(rows.where(), "",
                     fmt::format("{}, but the grid has {}; name the grid that they belong to by --mesh",
                                 counted(count, "value"), counted(cells, "cell")));
  }
  std::vector<std::vector<double>> values;
  std::vector<double> row;
  while (rows.next(row)) {
    if (values.empty() && (row.size() == 1 || row.size() == 3)) values.resize(row.size());
    if (row.size() != values.size()) {
      rows.refuse("lines with another number of values",
                  fmt::format("{} numbers; one, or three of a magnetisation, a line are needed, in all lines alike",
                              row.size()));
      continue;
    }
    to_unit(rows, row.data(), row.size(), to_si);
    add_values(values, row.data(), row.size());
  }
  problems.throw_if_any();
  return values;
}

std::vector<double> in_cell_order(CellOrder order, const CellCounts& counts, const std::vector<double>& of_file) {
  std::vector<double> values(of_file.size());
  std::size_t read = 0;
  each_cell(order, counts, [&](std::size_t cell) { values[cell] = of_file[read++]; });
  return values;
}

std::vector<double> in_cell_order(const TomofastGrid& grid, const std::vector<double>& of_rows) {
  std::vector<double> values(of_rows.size());
  for (std::size_t row = 0; row < of_rows.size(); ++row) {
    values[static_cast<std::size_t>(grid.cell_of_row[row])] = of_rows[row];
  }
  return values;
}

PointFields read_tomofast_data(const InputFile& file, Field field, Axes axes) {
  ProblemList problems;
  NumberRows rows(file, "station", problems);
  PointFields data;
  data.axes = axes;
  const auto layout = [&](std::size_t columns) -> std::optional<DataColumns> {
    switch (columns) {
      case 3: return DataColumns{};
      case 4: return DataColumns{{field}};
      case 6: return DataColumns{fields_of(FieldSet::magnetic)};
      default: return std::nullopt;
    }
  };
  read_rows(file, rows, data, layout, [&](std::size_t columns, std::size_t) {
    return fmt::format("{} columns; X, Y, Z and {}, or bx, by, bz, are needed, in all lines alike", columns,
                       info(field).name);
  });
  problems.throw_if_any();
  for (double& z : data.points.upward) z = other_way(z);
  if (data.fields == FieldList{Field::gz}) {
    std::vector<double>& values = data.values.front();
    const std::vector<bool> dummies = find_dummies(values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= dummies.empty() || !dummies[i] ? milligals : 1;
  }
  return data;
}

}  // namespace prismfield
