// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "io/result_file.hpp"

namespace prismfield {

/// Has a script that begins with drawing.py draw a file into `figure`, as draw_figure does.
[[nodiscard]] std::string draw_by_script(std::string_view text, const std::filesystem::path& file,
                                         const std::filesystem::path& figure);

/// Draws every field of the result into `figure` by the first of $PRISMFIELD_PYTHON, python3, /usr/bin/python3
/// that can import xarray and matplotlib. Returns "" or the warning that says why there is no figure; a figure of that
/// name from before is replaced only by a complete one. Throws nothing for a figure that cannot be drawn.
[[nodiscard]] std::string draw_figure(const std::filesystem::path& result, const std::filesystem::path& figure);

/// Draws a result that was written already, likewise: from its own file, or, when that is a table, which does not say
/// what a figure has to, from one in netCDF beside the figure that is gone afterwards.
[[nodiscard]] std::string draw_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const std::filesystem::path& figure);

}  // namespace prismfield
