// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/edges.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/limited_problems.hpp"
#include "base/random.hpp"

namespace prismfield {

void check_edges(const std::vector<double>& edges, const std::string& file, const std::string& key,
                 const std::function<std::string(std::size_t)>& where, ProblemList& problems) {
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
  double sum = origin, lost = 0;
  for (const double width : widths) {
    const double next = sum + width;
    const double part = next - sum;
    lost += (sum - (next - part)) + (width - part);
    sum = next;
    // at infinity there is nothing to make good
    edges.push_back(std::isfinite(lost) ? sum + lost : sum);
  }
  return edges;
}

namespace {

constexpr std::array<RandomStream, 3> width_streams = {
    RandomStream::mesh_width_easting, RandomStream::mesh_width_northing, RandomStream::mesh_width_upward};

std::vector<double> random_edges(const EdgesRandom& spec, RandomStream stream) {
  std::vector<double> widths(static_cast<std::size_t>(spec.cells), spec.widths.min);
  if (spec.widths.min < spec.widths.max) {
    fill_uniform(spec.widths.min, spec.widths.max, spec.seed, stream, 0, spec.cells, widths.data());
  }
  std::vector<double> edges(widths.size() + 1, spec.top.value_or(spec.origin));
  if (!spec.top) {
    for (std::size_t i = 0; i < widths.size(); ++i) edges[i + 1] = edges[i] + widths[i];
    return edges;
  }
  for (std::size_t i = widths.size(); i-- > 0;) edges[i] = edges[i + 1] - widths[i];
  return edges;
}

/// Edges of one direction by each of the rules; errors are added to `problems`.
class EdgesMaker {
public:
  EdgesMaker(std::size_t direction, ProblemList& problems)
      : m_direction(direction), m_key(std::string("model.mesh.") + direction_names[direction]), m_problems(problems) {}

  std::vector<double> operator()(const EdgesList& spec) const {
    check(spec.edges, m_key + ".edges");
    return spec.edges;
  }

  std::vector<double> operator()(const EdgesWidths& spec) const {
    const std::string key = m_key + ".widths";
    LimitedProblems limited(m_problems, "");
    bool good = true;
    for (std::size_t i = 0; i < spec.widths.size(); ++i) {
      if (spec.widths[i] > 0 && std::isfinite(spec.widths[i])) continue;
      good = false;
      limited.add("widths that are not positive", [&] {
        return Problem{"", key, fmt::format("width {}, {}, must be above 0", i, spec.widths[i])};
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

  std::vector<double> operator()(const EdgesRandom& spec) const {
    if (!counted(spec.cells, m_key + ".cells")) return {};
    const std::string key = m_key + ".random_widths";
    if (!(spec.widths.min > 0 && spec.widths.min <= spec.widths.max && std::isfinite(spec.widths.max))) {
      m_problems.add(
          "", key,
          fmt::format("[{}, {}]; 0 < least width <= greatest width is needed", spec.widths.min, spec.widths.max));
      return {};
    }
    std::vector<double> edges = random_edges(spec, width_streams[m_direction]);
    check(edges, key);
    return edges;
  }

private:
  [[nodiscard]] bool counted(std::int64_t cells, const std::string& key) const {
    const std::string error = error_in_direction(cells);
    if (!error.empty()) m_problems.add("", key, error);
    return error.empty();
  }

  void check(const std::vector<double>& edges, const std::string& key) const {
    check_edges(
        edges, "", key, [](std::size_t) { return std::string(); }, m_problems);
  }

  std::size_t m_direction;
  std::string m_key;
  ProblemList& m_problems;
};

}  // namespace

std::vector<double> make_edges(const EdgesRule& rule, std::size_t direction, ProblemList& problems) {
  return std::visit(EdgesMaker(direction, problems), rule);
}

std::unique_ptr<Cells> make_mesh(CellEdges edges, const std::string& edges_key, const MakeBackground& background) {
  check_cell_counts(counts_of(edges), edges_key);
  CellBackground filled = background(edges);
  std::unique_ptr<Cells> cells = CellsBuilder("mesh", std::move(edges), std::move(filled)).build();
  if (cells->size() == 0) {
    throw InputError("", "model.mesh",
                     "every cell has a density of 0; at least one needs a density, susceptibility or magnetization");
  }
  return cells;
}

}  // namespace prismfield
