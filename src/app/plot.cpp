// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/commands.hpp"
#include "app/figure.hpp"
#include "app/start.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "case/output_check.hpp"
#include "formats/input_file.hpp"
#include "formats/text_table.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"
#include "model/prism_check.hpp"
#include "parallel/agreement.hpp"
#include "readers/find_format.hpp"
#include "readers/point_fields.hpp"
#include "readers/read_content.hpp"
#include "writers/inversion_files.hpp"
#include "writers/write_content.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// draw_figure or draw_model
using Draw = decltype(&draw_model);

fs::path figure_of(const PlotOptions& options) {
  return options.output.empty() ? fs::path(options.file.stem().string() + ".png") : options.output;
}

/// Throws InputError, before anything is read, where the figure cannot be made as asked for.
void check_figure(const PlotOptions& options) {
  ProblemList problems;
  const fs::path figure = figure_of(options);
  if (const std::string why = why_no_figure(figure); !why.empty()) problems.add("--output", "", why);
  if (const std::string why = why_not_writable(figure); !why.empty()) problems.add("--output", "", why);
  if (same_file(figure, options.file)) problems.add("--output", "", "would replace RESULT; choose another name");
  if (const std::string why = colour_map_problem(options.style.colour_map); !why.empty()) {
    problems.add("--colour-map", "", why);
  }
  problems.throw_if_any();
}

bool is_drawn_field(const std::string& name) {
  const std::vector<std::string>& drawn = drawn_field_names();
  return std::find(drawn.begin(), drawn.end(), name) != drawn.end();
}

/// Of RESULT.
[[noreturn]] void refuse(const PlotOptions& options, const std::string& what) {
  throw InputError(options.file.string(), "", what);
}

/// Throws InputError for fields that are asked for and are not `there`, where none are, and for sections.
void check_fields(const PlotOptions& options, const std::vector<std::string>& there) {
  const std::string file = options.file.string();
  if (there.empty()) {
    refuse(options, "holds neither fields of a result nor a model of an inversion, so there is nothing to draw");
  }
  for (const std::string& name : options.style.fields) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    const bool is_drawn = is_drawn_field(name);
    const std::string nearest = is_drawn ? "" : nearest_spelling(name, there);
    const std::string what = is_drawn
                                 ? fmt::format("{} holds no {}; it holds", shown(file), name)
                                 : fmt::format("{} is no field that plot draws{}; {} holds", excerpt(name),
                                               nearest.empty() ? "" : ", did you mean " + nearest + "?", shown(file));
    throw InputError("--field", "", fmt::format("{} {}", what, fmt::join(there, ", ")));
  }
  for (std::size_t k = 0; k < options.style.cut.size(); ++k) {
    if (!options.style.cut[k]) continue;
    throw InputError(fmt::format("--{}", direction_names[k]), "",
                     fmt::format("{} holds fields at points; sections are those of models", shown(file)));
  }
}

void refuse_fields_of_model(const PlotOptions& options) {
  if (options.style.fields.empty()) return;
  throw InputError("--field", "", fmt::format("{} is a model, which is drawn whole", shown(options.file.string())));
}

/// By what an HDF5 file holds.
Draw drawing_of(const PlotOptions& options, const ArrayFile& file) {
  const bool is_model = std::any_of(unknown_choices.begin(), unknown_choices.end(),
                                    [&](const auto& choice) { return file.has(component_name(choice.meaning, 0)); });
  if (is_model && file.has("easting_bounds")) {
    refuse_fields_of_model(options);
    return draw_model;
  }
  std::vector<std::string> names = drawn_field_names();
  std::erase_if(names, [&](const std::string& name) { return !file.has(name); });
  check_fields(options, names);
  return draw_figure;
}

/// Throws InputError for a column that is drawn as a field is and holds words.
void check_numbers(const PlotOptions& options, const PointFields& points) {
  ProblemList problems;
  for (const PointColumn& column : points.columns) {
    if (column.is_text && is_drawn_field(column.name)) {
      problems.add(options.file.string(), "",
                   fmt::format("column {} has text where numbers belong; correct or rename it", column.name));
    }
  }
  problems.throw_if_any();
}

/// Draws a file of another format by way of a netCDF file beside the figure that is gone afterwards.
std::string draw_content(const PlotOptions& options, FileContent& content) {
  if (std::holds_alternative<ListedPrisms>(content)) {
    refuse(options,
           "holds prisms, which are no result; prismfield run computes their fields, and convert writes .vtu "
           "for ParaView");
  }
  Draw drawing = draw_model;
  if (auto* points = std::get_if<PointFields>(&content)) {
    drawing = draw_figure;
    std::vector<std::string> names = names_of(points->fields);
    check_numbers(options, *points);
    bool has_lines = false;
    for (const PointColumn& column : points->columns) {
      const std::string name = plain_name(column.name);
      has_lines = has_lines || name == "line" || name == "segment";
      if (is_drawn_field(column.name)) names.push_back(column.name);
    }
    check_fields(options, names);
    if (!has_lines) find_grid(points->points);
  } else {
    if (std::get<CellModel>(content).values.empty()) {
      refuse(options,
             "holds a mesh alone, so there is nothing to draw; prismfield convert makes a model of it and a "
             "file of densities");
    }
    refuse_fields_of_model(options);
  }
  const TemporaryFile gone_afterwards(figure_of(options));
  WriteSpec write;
  write.file = gone_afterwards.name();
  write.title = options.file.stem().string();
  write.command = "prismfield plot " + options.file.string();
  static_cast<void>(write_content(write, content));
  return drawing(write.file, figure_of(options), options.style);
}

/// Throws InputError for a format whose numbers belong to a mesh in another file.
void refuse_values_alone(const PlotOptions& options, FileFormat format) {
  const bool is_ubc = format == FileFormat::ubc_model || format == FileFormat::ubc_vectors;
  if (!is_ubc && format != FileFormat::tomofast_values) return;
  const std::string mesh = is_ubc ? fs::path(options.file).replace_extension(".msh").string() : std::string("GRID");
  refuse(options, fmt::format("holds numbers without a mesh; prismfield convert {} {} --mesh {} makes a model that "
                              "plot draws",
                              options.file.string(), fs::path(options.file).replace_extension(".h5").string(), mesh));
}

void plot(const PlotOptions& options) {
  end_at_interrupts();
  check_figure(options);
  const InputFile file{options.file, "", ""};
  std::function<std::string()> draw;
  ReadFile read;
  const std::vector<FileFormat> fits = formats_of(file);
  if (fits.size() > 1) {
    refuse(options,
           "begins with the number of its rows, as several formats do; prismfield convert, whose --from says "
           "which, makes a table of it");
  }
  const FileFormat format = one_format(file, fits);
  refuse_values_alone(options, format);
  std::optional<ArrayFile> arrays;
  if (format == FileFormat::hdf5) arrays.emplace(file);
  if (arrays && arrays->hdf5() != nullptr) {
    draw = [&, drawing = drawing_of(options, *arrays)] {
      return drawing(options.file, figure_of(options), options.style);
    };
  } else {
    ReadSpec spec;
    spec.file = file;
    read = read_content(spec);
    draw = [&] { return draw_content(options, read.content); };
  }
  const Moment begin = std::chrono::steady_clock::now();
  const std::string why = draw_telling(figure_of(options), options.quiet, draw);
  if (!why.empty()) throw RunError(why);
  if (!options.quiet) {
    std::cout << fmt::format("wrote {} in {}\n", shown(figure_of(options).string()),
                             duration_text(seconds_since(begin)))
              << std::flush;
  }
}

}  // namespace

ProgramEnd execute(const PlotOptions& options, const std::vector<std::string>& /*kokkos_options*/,
                   const Communicator& communicator) {
  agree(communicator, [&] {
    if (communicator.rank() == 0) plot(options);
  });
  return {};
}

}  // namespace prismfield
