// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/figure.hpp"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include <prismfield/error.hpp>

#include "app/python_tool.hpp"
#include "app/start.hpp"
#include "app/terminal.hpp"
#include "base/human_text.hpp"
#include "base/temporary_file.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

constexpr const char* fields_tool = "figures.fields";

PythonTool drawing_tool(const std::string& name) {
  return {name, "matplotlib and h5py", "python3-h5py and python3-matplotlib"};
}

/// Has a tool draw a file into `figure`, as draw_figure does.
std::string draw_by_tool(const std::string& name, const std::filesystem::path& file,
                         const std::filesystem::path& figure, const FigureStyle& style) {
  const std::filesystem::path target = followed(figure);
  // what is drawn may have such a name itself, in the place of a file that is locked
  if (!is_temporary_of(file.filename().string(), target.filename().string())) remove_leftovers(target);
  const std::string why = run_python_tool(drawing_tool(name), {file.string(), target.string(), style_json(style)}).why;
  return why.empty() ? "" : fmt::format("no figure {}: {}", figure.string(), why);
}

}  // namespace

std::string style_json(const FigureStyle& style) {
  nlohmann::json json = nlohmann::json::object();
  if (style.contours) std::visit([&](const auto& contours) { json["contours"] = contours; }, *style.contours);
  if (!style.colour_map.empty()) json["colour_map"] = style.colour_map;
  if (style.dpi) json["dpi"] = *style.dpi;
  if (!style.model_outline) json["model_outline"] = false;
  if (!style.annotations) json["annotations"] = false;
  if (!style.fields.empty()) json["fields"] = style.fields;
  for (std::size_t k = 0; k < style.cut.size(); ++k) {
    if (style.cut[k]) json["cut"][direction_names[k]] = *style.cut[k];
  }
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string draw_figure(const std::filesystem::path& result, const std::filesystem::path& figure,
                        const FigureStyle& style) {
  return draw_by_tool(fields_tool, result, figure, style);
}

std::string draw_model(const std::filesystem::path& model, const std::filesystem::path& figure,
                       const FigureStyle& style) {
  return draw_by_tool("figures.model", model, figure, style);
}

std::string draw_result(const ResultHeader& header, const Points& points, const Fields& result,
                        const std::filesystem::path& figure, const FigureStyle& style) {
  if (result_kind(header.file) == ResultKind::hdf5) return draw_figure(header.file, figure, style);
  try {
    const TemporaryFile gone_afterwards(figure);
    ResultHeader as_netcdf = header;
    as_netcdf.file = gone_afterwards.name();
    static_cast<void>(write_result(as_netcdf, points, result, {}));
    return draw_figure(as_netcdf.file, figure, style);
  } catch (const RunError& error) {
    return fmt::format("no figure {}: {}", figure.string(), error.what());
  }
}

std::string colour_map_problem(const std::string& colour_map) {
  if (colour_map.empty()) return "";
  FigureStyle style;
  style.colour_map = colour_map;
  // Without names of files it looks at the style alone.
  const std::string why = run_python_tool(drawing_tool(fields_tool), {"", "", style_json(style)}).why;
  const std::string begin = "ValueError: ";
  return why.starts_with(begin + "'") ? why.substr(begin.size()) : "";
}

const std::vector<std::string>& drawn_field_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = names_of(FieldList::every());
    all.insert(all.end(), {"bouguer_slab", "terrain_correction"});
    return all;
  }();
  return names;
}

std::string draw_telling(const std::filesystem::path& figure, bool quiet, const std::function<std::string()>& draw) {
  Progress progress(progress_style(quiet), std::cerr);
  progress.note("drawing " + figure.string());
  return draw();
}

std::string draw_and_tell(const OutputSpec& output, bool quiet, const std::function<std::string()>& draw) {
  if (!output.figure) return "";
  const Moment begin = std::chrono::steady_clock::now();
  if (const std::string warning = draw_telling(*output.figure, quiet, draw); !warning.empty()) {
    warn(warning);
    return "";
  }
  return fmt::format("; {} drawn in {}", shown(output.figure->string()), duration_text(seconds_since(begin)));
}

}  // namespace prismfield
