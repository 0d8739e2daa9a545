// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "writers/result_file.hpp"

namespace prismfield {

/// Draws every field of the result into `figure` by the first of $PRISMFIELD_PYTHON, python3, /usr/bin/python3
/// that can import matplotlib and h5py. Returns "" or the warning that says why there is no figure; a figure
/// of that name from before is replaced only by a complete one. Throws nothing for a figure that cannot be drawn.
[[nodiscard]] std::string draw_figure(const std::filesystem::path& result, const std::filesystem::path& figure,
                                      const FigureStyle& style = {});

/// Draws a result that was written already, likewise: from its own file, or, when that is a table, which does not say
/// what a figure has to, from one in netCDF beside the figure that is gone afterwards.
[[nodiscard]] std::string draw_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const std::filesystem::path& figure, const FigureStyle& style = {});

/// Draws a model as write_model writes it into `figure`, by the Python that draw_figure takes: sections through its
/// largest density, standard deviation and depth of investigation where they are, data with what the model gives,
/// L-curve and convergence. Returns "" or the warning that says why there is no figure; a figure of that name from
/// before is replaced only by a complete one. Throws nothing for a figure that cannot be drawn.
[[nodiscard]] std::string draw_model(const std::filesystem::path& model, const std::filesystem::path& figure,
                                     const FigureStyle& style = {});

/// What a style is to the drawing tools: their third argument, as JSON with the keys that they know.
[[nodiscard]] std::string style_json(const FigureStyle& style);

/// Why there is no colour map of this name, with near spellings; "" for a valid name, for no name, and where there is
/// no Python to ask.
[[nodiscard]] std::string colour_map_problem(const std::string& colour_map);

/// Names of what figures of results draw, as variables are called.
[[nodiscard]] const std::vector<std::string>& drawn_field_names();

/// Returns what `draw` returns, which is "" or a warning, as of those above; says on a terminal meanwhile that it
/// draws, unless quiet.
[[nodiscard]] std::string draw_telling(const std::filesystem::path& figure, bool quiet,
                                       const std::function<std::string()>& draw);

/// The same for the figure that a case asks for, if it does; warns where there is none. Returns what a command's last
/// line, which names the result, says of it: "; a.png drawn in 3.1 s", or nothing.
[[nodiscard]] std::string draw_and_tell(const OutputSpec& output, bool quiet, const std::function<std::string()>& draw);

}  // namespace prismfield
