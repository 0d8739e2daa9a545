// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/random.hpp"
#include "io/text_table.hpp"
#include "model/axis.hpp"
#include "model/cells.hpp"

namespace prismfield {
namespace {

constexpr std::array<const char*, 3> direction_names = {"easting", "northing", "upward"};
constexpr std::array<RandomStream, 3> width_streams = {
    RandomStream::mesh_width_easting, RandomStream::mesh_width_northing, RandomStream::mesh_width_upward};

/// Adds a problem for each edge that is not finite or not above the one before; `where` gives an edge's "file:line".
template <class Where>
void check_edges(const std::vector<double>& edges, const std::string& file, const std::string& key, const Where& where,
                 ProblemList& problems) {
  LimitedProblems limited(problems, file);
  if (edges.size() < 2) {
    limited.add("edges", [&] {
      return Problem{file, key,
                     fmt::format("{} edge{}; two or more are needed", edges.size(), edges.size() == 1 ? "" : "s")};
    });
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i])) {
      limited.add("edges that are not finite", [&] {
        return Problem{where(i), key, fmt::format("edge {} is not finite", i)};
      });
    } else if (i > 0 && !(edges[i] > edges[i - 1])) {
      limited.add("edges that do not increase", [&] {
        return Problem{where(i), key,
                       fmt::format("edge {}, {}, is not above the one before, {}; edges must increase", i, edges[i],
                                   edges[i - 1])};
      });
    }
  }
  limited.finish();
}

std::vector<double> edges_from_widths(double origin, const std::vector<double>& widths) {
  std::vector<double> edges{origin};
  edges.reserve(widths.size() + 1);
  for (const double width : widths) edges.push_back(edges.back() + width);
  return edges;
}

std::vector<double> random_edges(const EdgesRandom& spec, RandomStream stream) {
  std::vector<double> widths(static_cast<std::size_t>(spec.cells), spec.widths.min);
  if (spec.widths.min < spec.widths.max) {
    fill_uniform(spec.widths.min, spec.widths.max, spec.seed, stream, 0, spec.cells, widths.data());
  }
  if (!spec.top) return edges_from_widths(spec.origin, widths);
  std::vector<double> edges(widths.size() + 1, *spec.top);
  for (std::size_t i = widths.size(); i-- > 0;) edges[i] = edges[i + 1] - widths[i];
  return edges;
}

/// Edges of one direction as the case describes them; mistakes are added to `problems`.
class EdgesReader {
public:
  EdgesReader(const Case& run, std::size_t direction, ProblemList& problems)
      : m_run(run),
        m_direction(direction),
        m_key(std::string("model.mesh.") + direction_names[direction]),
        m_problems(problems) {}

  std::vector<double> operator()(const EdgesList& spec) const {
    check(spec.edges, m_key + ".edges");
    return spec.edges;
  }

  std::vector<double> operator()(const EdgesWidths& spec) const {
    const std::string key = m_key + ".widths";
    LimitedProblems limited(m_problems, m_run.where(key));
    bool good = true;
    for (std::size_t i = 0; i < spec.widths.size(); ++i) {
      if (spec.widths[i] > 0 && std::isfinite(spec.widths[i])) continue;
      good = false;
      limited.add("widths that are not positive", [&] {
        return Problem{m_run.where(key), key, fmt::format("width {}, {}, must be above 0", i, spec.widths[i])};
      });
    }
    limited.finish();
    std::vector<double> edges = edges_from_widths(spec.origin, spec.widths);
    if (good) check(edges, key);
    return edges;
  }

  std::vector<double> operator()(const Axis& spec) const {
    if (!counted(spec.count, m_key)) return {};
    std::vector<double> edges = cell_edges(spec);
    check(edges, m_key);
    return edges;
  }

  std::vector<double> operator()(const EdgesFile& spec) const {
    const InputFile file = input_file(m_run, spec.file, m_key + ".file");
    if (is_array_file(file))
      throw file.error("is HDF5 or netCDF; edges are read from text, numbers separated by blanks, commas or line ends");
    NumbersRequest request;
    request.several_a_line = true;
    request.what = direction_names[m_direction];
    const std::size_t before = m_problems.size();
    Numbers numbers = read_numbers(file, request, m_problems);
    // text that was read as 0 would be reported twice
    if (m_problems.size() == before) {
      check_edges(
          numbers.values, file.path.string(), direction_names[m_direction],
          [&](std::size_t i) { return line_of(file, numbers.lines[i]); }, m_problems);
    }
    return std::move(numbers.values);
  }

  std::vector<double> operator()(const EdgesRandom& spec) const {
    if (!counted(spec.cells, m_key + ".cells")) return {};
    const std::string key = m_key + ".random_widths";
    if (!(spec.widths.min > 0 && spec.widths.min <= spec.widths.max && std::isfinite(spec.widths.max))) {
      m_problems.add(
          m_run.where(key), key,
          fmt::format("[{}, {}]; 0 < least width <= greatest width is needed", spec.widths.min, spec.widths.max));
      return {};
    }
    std::vector<double> edges = random_edges(spec, width_streams[m_direction]);
    check(edges, key);
    return edges;
  }

private:
  [[nodiscard]] bool counted(std::int64_t cells, const std::string& key) const {
    if (cells >= 1 && cells <= most_cells_in_a_direction) return true;
    m_problems.add(m_run.where(key), key,
                   fmt::format("{} cells; 1 to {} are allowed in one direction", cells, most_cells_in_a_direction));
    return false;
  }

  void check(const std::vector<double>& edges, const std::string& key) const {
    check_edges(
        edges, m_run.where(key), key, [&](std::size_t) { return m_run.where(key); }, m_problems);
  }

  const Case& m_run;
  std::size_t m_direction;
  std::string m_key;
  ProblemList& m_problems;
};

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
    const char* at = word.data();
    const char* const end = at + word.size();
    if (parse_number(at, end, value) != NumberStatus::ok || at != end || !std::isfinite(value)) {
      fail(what, excerpt(word) + " is no finite number");
    }
    return value;
  }

  std::int64_t count_in(std::string_view word, const std::string& what) const {
    std::int64_t value = 0;
    const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || at != word.data() + word.size() || value < 1 || value > most_cells_in_a_direction) {
      fail(what, fmt::format("{} is no number of cells, 1 to {}", excerpt(word), most_cells_in_a_direction));
    }
    return value;
  }

private:
  const InputFile& m_file;
  LineReader m_reader;
  std::string_view m_line;
};

/// Cell edges of a UBC mesh file: counts, the top south-west corner, widths towards east and north and downwards.
CellEdges ubc_edges(const InputFile& file) {
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
    if (d < 2) {
      edges[d] = edges_from_widths(corner[d], widths);
    } else {
      edges[d].assign(n + 1, corner[d]);
      for (std::size_t i = 0; i < n; ++i) edges[d][n - 1 - i] = edges[d][n - i] - widths[i];
    }
    if (std::adjacent_find(edges[d].begin(), edges[d].end(), std::greater_equal<>()) != edges[d].end() ||
        !std::isfinite(edges[d].back() - edges[d].front())) {
      words.fail(what, "the widths are too small or too large beside the corner for double precision");
    }
  }
  const std::string_view rest = words.next();
  if (!rest.empty()) words.fail("", excerpt(rest) + " behind the last width");
  return edges;
}

/// Densities of a UBC file, depth fastest, then easting, then northing, in the order of cells here.
CellBackground ubc_densities(const InputFile& file, double to_si, const CellCounts& counts) {
  ProblemList problems;
  NumbersRequest request;
  request.comment = "!";
  request.count = counts[0] * counts[1] * counts[2];
  request.what = "density";
  const Numbers numbers = read_numbers(file, request, problems);
  if (numbers.found != request.count) {
    problems.add(
        file.where, file.key,
        fmt::format("'{}' holds {} value{}, the mesh of {} x {} x {} has {} cells", file.path.string(), numbers.found,
                    numbers.found == 1 ? "" : "s", counts[0], counts[1], counts[2], request.count));
  }
  problems.throw_if_any();
  CellBackground background;
  background.kind = CellBackground::Kind::listed;
  background.densities.resize(numbers.values.size());
  std::size_t read = 0;
  for (std::int64_t j = 0; j < counts[1]; ++j) {
    for (std::int64_t i = 0; i < counts[0]; ++i) {
      for (std::int64_t k = counts[2] - 1; k >= 0; --k) {
        const double density = numbers.values[read++] * to_si;
        if (!std::isfinite(density)) throw file.error("holds densities too large for double precision in kg/m3");
        background.densities[static_cast<std::size_t>((k * counts[1] + j) * counts[0] + i)] = density;
      }
    }
  }
  return background;
}

CellCounts counts_of(const CellEdges& edges) {
  CellCounts counts{};
  for (std::size_t d = 0; d < 3; ++d) counts[d] = static_cast<std::int64_t>(edges[d].size()) - 1;
  return counts;
}

}  // namespace

std::unique_ptr<Ensemble> make_mesh(const Case& run, const MeshSpec& spec) {
  const std::string key = "model.mesh";
  CellEdges edges;
  CellBackground background;
  if (spec.ubc) {
    const InputFile mesh = input_file(run, spec.ubc->mesh, key + ".ubc.mesh");
    const InputFile density = input_file(run, spec.ubc->density, key + ".ubc.density");
    ProblemList problems;
    for (const InputFile* file : {&mesh, &density}) {
      try {
        check_readable(*file);
      } catch (const InputError& error) {
        problems.add(error);
      }
    }
    problems.throw_if_any();
    edges = ubc_edges(mesh);
    check_cell_counts(counts_of(edges), run.where(mesh.key), mesh.key);
    background = ubc_densities(density, spec.ubc->density_to_si, counts_of(edges));
  } else {
    ProblemList problems;
    const std::array<const EdgesSpec*, 3> specs = {&spec.easting, &spec.northing, &spec.upward};
    for (std::size_t d = 0; d < 3; ++d) {
      try {
        edges[d] = std::visit(EdgesReader(run, d, problems), *specs[d]);
      } catch (const InputError& error) {
        problems.add(error);
      }
    }
    problems.throw_if_any();
    check_cell_counts(counts_of(edges), run.where(key), key);
    background = cell_background(run, key + ".density", spec.density, counts_of(edges));
  }
  const std::size_t cell_total = background.densities.size();
  std::unique_ptr<Cells> cells = CellsBuilder("mesh", std::move(edges), std::move(background)).build();
  // file order and cell order, held side by side
  if (spec.ubc) cells->note_peak(static_cast<std::int64_t>(2 * cell_total * sizeof(double)));
  if (cells->size() == 0) {
    throw InputError(run.where(key), key, "the density of every cell is 0; at least one must have a density");
  }
  return cells;
}

}  // namespace prismfield
