// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>

#include "model/figure_style.hpp"

namespace prismfield {

/// Draws a model as write_model writes it into `figure`, by the Python that draw_figure takes: sections through its
/// largest density, standard deviation and depth of investigation where they are, data with what the model gives,
/// L-curve and convergence. Returns "" or the warning that says why there is no figure; a figure of that name from
/// before is replaced only by a complete one. Throws nothing for a figure that cannot be drawn.
[[nodiscard]] std::string draw_model(const std::filesystem::path& model, const std::filesystem::path& figure,
                                     const FigureStyle& style = {});

}  // namespace prismfield
