// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "model/axis.hpp"
#include "model/cells.hpp"

namespace prismfield {

/// Cell edges of one direction, each as the user wrote it, metres.
struct EdgesList {
  std::vector<double> edges;
};
struct EdgesWidths {
  double origin = 0;
  std::vector<double> widths;
};
/// Widths uniform on [widths.min, widths.max) m; upward from `origin`, or downward from `top` when it is given.
struct EdgesRandom {
  Range widths;
  std::int64_t cells = 0;
  double origin = 0;
  std::optional<double> top;
  std::uint64_t seed = 1;
};
using EdgesRule = std::variant<EdgesList, EdgesWidths, Axis, EdgesRandom>;

/// Edges of direction 0, 1 or 2 of a mesh, metres, strictly increasing. Errors are added to `problems`, by keys such
/// as model.mesh.easting.widths; what comes back is of use only when there were none.
[[nodiscard]] std::vector<double> make_edges(const EdgesRule& rule, std::size_t direction, ProblemList& problems);

/// Each edge the width's length above the one before, the first at `origin`, metres; downward with negative widths.
/// What the sum rounds off at an edge is not lost at the next: each is the sum of all widths before it to 2 ulp.
[[nodiscard]] std::vector<double> edges_from_widths(double origin, const std::vector<double>& widths);

/// Adds a problem, by `key`, for each edge that is not finite or not above the one before; `where` gives an edge's
/// "file:line", `file` is for those of the list as a whole.
void check_edges(const std::vector<double>& edges, const std::string& file, const std::string& key,
                 const std::function<std::string(std::size_t)>& where, ProblemList& problems);

/// An ensemble of rectilinear cells between `edges`, never held as a list. Cells whose properties are all 0
/// are left out.
/// Throws InputError by key, `edges_key` for numbers of cells that cannot be.
[[nodiscard]] std::unique_ptr<Cells> make_mesh(CellEdges edges, const std::string& edges_key,
                                               const MakeBackground& background);

}  // namespace prismfield
