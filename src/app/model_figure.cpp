// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/model_figure.hpp"

#include "app/figure.hpp"

namespace prismfield {

std::string draw_model(const std::filesystem::path& model, const std::filesystem::path& figure,
                       const FigureStyle& style) {
  return draw_by_tool("figures.model", model, figure, style);
}

}  // namespace prismfield
