// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/finish_result.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <prismfield/error.hpp>

#include "app/figure.hpp"
#include "app/terminal.hpp"
#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/statistics.hpp"
#include "base/temporary_file.hpp"
#include "case/output_check.hpp"
#include "inversion/outcome.hpp"
#include "readers/cell_file.hpp"
#include "writers/inversion_files.hpp"
#include "writers/write_content.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// What would be written to one disk.
struct Demand {
  std::string key;
  std::string what;
  fs::path folder;
  std::int64_t bytes = 0;
};

/// Throws InputError where a disk has less room than is asked of it.
void check_demands(const Case& run, const std::vector<Demand>& demands) {
  ProblemList problems;
  for (const auto& [key, what, where, bytes] : demands) {
    const std::optional<std::int64_t> room = free_bytes(where);
    if (!room || *room >= bytes) continue;
    problems.add(run.where(key), key,
                 fmt::format("{} about {}, and the disk of {} has {} free; make room or name a folder on another disk",
                             what, size_text(bytes), where.string(), size_text(*room)));
  }
  problems.throw_if_any();
}

/// Widths of names and of a number, and its digits, with room for sign, point and exponent.
struct StatisticsShape {
  int names = 10;
  int width = 15;
  int digits = 7;
};

/// `longest`: of the names. `columns`: of the terminal; 0: no limit.
StatisticsShape statistics_shape(std::size_t longest, std::size_t columns) {
  constexpr int units = 9, least = 9, around = 6;
  constexpr std::size_t most_columns = 1000;
  StatisticsShape shape;
  shape.names = std::max(shape.names, static_cast<int>(std::min(longest, most_columns)));
  if (columns == 0) return shape;
  const int room = (static_cast<int>(std::min(columns, most_columns)) - shape.names - units) / 3 - 1;
  shape.width = std::clamp(room, least, shape.width);
  shape.digits = std::min(shape.digits, shape.width - around);
  return shape;
}

std::string statistics_header(const StatisticsShape& shape) {
  return fmt::format("{:<{}} {:<8} {:>{}} {:>{}} {:>{}}\n", "field", shape.names, "unit", "minimum", shape.width,
                     "maximum", shape.width, "RMS", shape.width);
}

std::string statistics_row(std::string_view name, std::string_view unit, const std::vector<double>& values,
                           const StatisticsShape& shape) {
  const auto [minimum, maximum] = range_of(values);
  const std::string row = fmt::format("{:<{}} {:<8}", name, shape.names, unit);
  const int w = shape.width;
  const int d = shape.digits;
  if (minimum > maximum) return fmt::format("{} {:>{}} {:>{}} {:>{}}\n", row, "-", w, "-", w, "-", w);
  return fmt::format("{} {:>{}.{}g} {:>{}.{}g} {:>{}.{}g}\n", row, minimum, w, d, maximum, w, d,
                     root_mean_square(values), w, d);
}

/// The last line of a command. `seconds`: since its start; `figure`: what draw_and_tell() says.
std::string run_summary(const Inputs& inputs, const Fields& result, double seconds, const std::string& figure) {
  const double rate = result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0;
  return fmt::format("{}: {} in {}, {} pairs/s (fields {}){}\n", shown(output_file(inputs.run).string()),
                     pairs_text(result.plan) + (result.pairs == 1 ? " pair" : " pairs"), duration_text(seconds),
                     short_number(rate), duration_text(result.field_seconds), figure);
}

/// The solutions whose models are kept, at most: of the search for beta, and with compact norms of their steps and of
/// the search after them.
std::int64_t solutions_kept(const InversionSettings& settings) {
  if (!settings.keep_all) return 0;
  const std::int64_t search = settings.beta ? 1 : settings.max_iterations;
  return settings.is_compact() ? 2 * search + compact_falls + settings.max_iterations : search;
}

/// Values that a model beside the file has for each cell: what was found, and what was asked for beside it, of all
/// epochs.
std::int64_t values_of_a_cell(const Case& run) {
  const InversionSettings& settings = run.inversion->settings;
  const bool is_uncertain = settings.uncertainty.samples > 0 || settings.uncertainty.rank > 0;
  const std::int64_t n = components(settings.unknown), with_amplitude = n > 1 ? n + 1 : n;
  return run.inversion->n_epochs *
         (with_amplitude + (is_uncertain ? n : 0) + (settings.depth_of_investigation ? 1 : 0));
}

/// About as many bytes as a file of this format takes.
std::int64_t bytes_of(FileFormat format, const Case& run, const InversionInputs& inputs) {
  const auto [nx, ny, nz] = inputs.cells->counts();
  const std::int64_t active = inputs.cells->size();
  const std::int64_t inactive = inputs.cells->total() - active;
  // a number that reads as the same double, and the 0 of an inactive cell, each with what parts it from the next
  constexpr std::int64_t number = 20, zero = 2, mark = 5, header = 1500;
  switch (format) {
    case FileFormat::ubc_mesh: return header + number * (nx + ny + nz);
    case FileFormat::ubc_model: return number * active + zero * inactive;
    case FileFormat::ubc_vectors: return 3 * (number * active + mark * inactive);
    // eight corners of three numbers, their indices, an offset, a type and the density
    case FileFormat::vtu: return header + active * (8 * 24 + 8 * 8 + 8 + 1 + 8);
    default: {
      const std::int64_t marks = inactive > 0 ? inputs.cells->total() : 0;
      return header + values_of_a_cell(run) * 8 * inputs.cells->total() + marks + 8 * (nx + ny + nz + 3);
    }
  }
}

/// For a format of one number a cell that of the unknown, of a magnetisation its magnitude.
CellModel cell_model(const Case& run, const InvertedModel& model, FileFormat format) {
  CellModel cells{model.edges, {}, inducing_field_of(run.magnetic.inducing_field)};
  const bool one_alone = format != FileFormat::vtr && format != FileFormat::ubc_vectors;
  const auto add = [&](const std::string& name, const char* unit, const std::vector<double>& values) {
    if (!values.empty()) add_values(cells, {name, unit, on_all_cells(model, values)}, std::ssize(model.epochs));
  };
  const Unknown unknown = model.unknown;
  const auto n = std::ssize(model.cells);
  const bool is_vector = components(unknown) > 1;
  if (is_vector) add("amplitude", unit(unknown), amplitude_of(model.values, unknown, n));
  for (std::int64_t c = 0; c < components(unknown); ++c) {
    const std::string name = component_name(unknown, c);
    if (!one_alone || !is_vector) add(name, unit(unknown), component_of(model.values, unknown, c, n));
    if (!one_alone) add(name + "_sigma", unit(unknown), component_of(model.sigma, unknown, c, n));
  }
  if (!one_alone) add("depth_of_investigation", "1", model.depth_of_investigation);
  return cells;
}

/// Whether a UBC mesh of the model is there: written too, or what the model was read from.
bool has_ubc_mesh(const Case& run) {
  if (const auto* mesh = std::get_if<MeshSpec>(&run.model); mesh != nullptr && mesh->ubc) return true;
  const auto& also = run.output.also;
  return std::any_of(also.begin(), also.end(),
                     [](const auto& file) { return model_format(file) == FileFormat::ubc_mesh; });
}

/// Bytes of the model's file, about.
std::int64_t model_bytes(const Case& run, const InversionInputs& inputs) {
  std::int64_t rows = 0;
  for (const DataSet& data : inputs.data) rows += data.size();
  constexpr std::int64_t columns_of_data = 7, others = 115'000;
  const std::int64_t values = values_of_a_cell(run) + run.inversion->n_epochs *
                                                          components(run.inversion->settings.unknown) *
                                                          solutions_kept(run.inversion->settings);
  return 8 * (values * inputs.cells->total() + columns_of_data * rows) + others;
}

}  // namespace

void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes) {
  const ResultHeader header = header_of(inputs);
  const fs::path folder = folder_of(followed(header.file));
  std::vector<Demand> demands{
      {"output.file", "the result takes", folder, result_bytes(header, inputs.points, inputs.run.fields)}};
  if (inputs.run.output.checkpoint) {
    const fs::path file = followed(inputs.run.output.checkpoint->file);
    // the next one is written beside the last
    std::error_code error;
    const std::int64_t beside = fs::exists(file, error) ? 0 : checkpoint_bytes;
    if (on_one_disk(folder, folder_of(file))) {
      demands[0].bytes = beside + std::max(demands[0].bytes, checkpoint_bytes);
      demands[0].what = "the result and its checkpoint take";
    } else {
      demands.push_back({"output.checkpoint.file",
                         beside > 0 ? "two checkpoints, of which one replaces the other, take" : "the checkpoint takes",
                         folder_of(file), beside + checkpoint_bytes});
    }
  }
  check_demands(inputs.run, demands);
}

void check_model_disks(const Case& run, const std::vector<ModelFileSize>& files) {
  std::vector<Demand> demands;
  for (const auto& [key, file, bytes] : files) {
    const fs::path folder = folder_of(followed(file));
    const auto same = std::find_if(demands.begin(), demands.end(),
                                   [&](const Demand& demand) { return on_one_disk(demand.folder, folder); });
    if (same == demands.end()) {
      demands.push_back({key, key == "output.file" ? "the model takes" : "the file takes", folder, bytes});
    } else {
      same->bytes += bytes;
      same->what = same->key == "output.file" ? "the model and the files beside it take" : "these files take";
    }
  }
  check_demands(run, demands);
}

void write_computed(const std::optional<fs::path>& checkpoint, const std::function<void()>& write) {
  try {
    write();
  } catch (const RunError& failure) {
    if (std::error_code error; !checkpoint || !fs::exists(*checkpoint, error)) throw;
    throw RunError(
        fmt::format("{}; {} holds what was done, --resume goes on from it", failure.what(), checkpoint->string()));
  }
}

std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns) {
  std::size_t longest = 0;
  for (const PointVariable& variable : header.variables) longest = std::max(longest, variable.name.size());
  const StatisticsShape shape = statistics_shape(longest, columns);
  std::string out = statistics_header(shape);
  for (const FieldInfo& field : result.fields) {
    out += statistics_row(field.name, field.unit, output_values(header, result, field.field), shape);
  }
  const std::int64_t n_points = static_cast<std::int64_t>(result.values.size()) / std::max(1, result.fields.size());
  for (const PointVariable& variable : header.variables) {
    out += statistics_row(variable.name, variable.unit, values_of(variable, n_points), shape);
  }
  return out;
}

ResultHeader header_of(const Inputs& inputs) {
  ResultHeader header = result_header(inputs.run);
  header.program = program_facts();
  header.model_bounds = inputs.model->source().bounds();
  if (!inputs.stations.names.empty()) header.stations = &inputs.stations;
  return header;
}

void end_with_result(const Inputs& inputs, const ResultEnd& end, const Fields& result, bool quiet, Moment begin) {
  std::vector<std::string> notes;
  const RunTimes times{end.setup_seconds, seconds_since(begin)};
  write_computed(end.checkpoint, [&] { notes = write_result(end.header, inputs.points, result, times); });
  if (!quiet) {
    std::cout << end.heading << '\n'
              << field_statistics(end.header, result, terminal_columns(STDOUT_FILENO)) << '\n'
              << std::flush;
  }
  for (const std::string& note : notes) warn(note);
  const Magnetic& magnetic = inputs.run.magnetic;
  const auto of_points = [&] { return point_warnings(inputs.points, result, magnetic, inputs.model->terrain()); };
  for (const std::string& warning : diagnosed("which points lie inside", of_points)) warn(warning);
  const auto of_bodies = [&] { return linearity_warnings(result, magnetic); };
  for (const std::string& warning : diagnosed("how strong the anomalies are", of_bodies)) warn(warning);
  const double seconds = seconds_since(begin);
  const OutputSpec& output = inputs.run.output;
  const std::string drawn = draw_and_tell(output, quiet, [&] {
    return draw_result(end.header, inputs.points, result, *output.figure, output.figure_style);
  });
  if (!quiet) std::cout << run_summary(inputs, result, seconds, drawn) << std::flush;
}

std::vector<ModelFileSize> model_file_sizes(const Case& run, const InversionInputs& inputs) {
  std::vector<ModelFileSize> sizes{{"output.file", output_file(run), model_bytes(run, inputs)}};
  for (AlsoFile& also : also_files(run)) {
    const std::int64_t bytes = bytes_of(model_format(also.file).value(), run, inputs);
    sizes.push_back({std::move(also.key), std::move(also.file), bytes});
  }
  return sizes;
}

ExportedModel export_model(const Case& run, const InvertedModel& model) {
  ExportedModel exported;
  const std::string own = output_file(run).string();
  // convert puts the epoch that is named first and takes the others where a format holds them
  const std::string epoch = model.n_epochs() > 1 ? fmt::format(" --field {}_1", component_name(model.unknown, 0)) : "";
  for (const AlsoFile& also : also_files(run)) {
    const std::string name = also.file.string();
    WriteSpec spec;
    spec.file = also.file;
    spec.format = model_format(also.file).value();
    spec.format_said_by = also.key;
    spec.title = run.title;
    spec.command = "prismfield invert " + run.file.string();
    try {
      WrittenFile written = write_content(spec, cell_model(run, model, spec.format));
      exported.lines.push_back(
          fmt::format("{}: {}, {}; {}", shown(name), info(spec.format).long_name, written.what, written.how));
      if (spec.format == FileFormat::ubc_model || spec.format == FileFormat::ubc_vectors) {
        // in the words of convert, which knows of no mesh beside
        written.notes.clear();
        if (!has_ubc_mesh(run)) {
          written.notes.push_back(fmt::format("the numbers belong to a UBC mesh, which prismfield convert {} {} writes",
                                              own,
                                              std::filesystem::path(also.file).replace_extension(".msh").string()));
        }
      }
      for (const std::string& note : written.notes) exported.notes.push_back(fmt::format("{}: {}", name, note));
    } catch (const InputError& error) {
      exported.failures.push_back(
          fmt::format("{}: the file is not written: {}; {} is complete", name, error.what(), own));
    } catch (const RunError& error) {
      exported.failures.push_back(fmt::format("{}; {} is complete, and prismfield convert {} {}{} writes it",
                                              error.what(), own, own, name, epoch));
    }
  }
  return exported;
}

}  // namespace prismfield
