// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/commands.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "case/output_check.hpp"
#include "model/extents.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"
#include "parallel/agreement.hpp"
#include "readers/read_content.hpp"
#include "writers/write_content.hpp"

namespace prismfield {
namespace {

/// What OUT is to be. Throws InputError, before anything is read, where it cannot be made.
FileFormat check_output_of(const ConvertOptions& options) {
  ProblemList problems;
  const std::optional<FileFormat> format = options.to ? options.to : format_of_suffix(options.out);
  if (!format) {
    problems.add("OUT", "",
                 fmt::format("{} has no suffix that says what to write ({}); or say it by --to: {}",
                             excerpt(options.out.string()), known_suffixes(), fmt::join(format_names(false), ", ")));
  }
  if (const std::string why = why_not_writable(options.out); !why.empty()) problems.add("OUT", "", why);
  for (const auto& [name, input] : {std::pair{"IN", options.in}, std::pair{"--mesh", options.mesh}}) {
    if (!input.empty() && same_file(options.out, input)) {
      problems.add("OUT", "", fmt::format("would replace {}, which is read; choose another name", name));
    }
  }
  problems.throw_if_any();
  return *format;
}

/// Whether OUT has a place for a column beside the fields.
bool has_place_for(const PointColumn& column, FileFormat format) {
  const bool is_table = format == FileFormat::csv || format == FileFormat::xyz;
  return is_table || format == FileFormat::hdf5 || (format == FileFormat::vtp && !column.is_text);
}

/// What was read and has no place in OUT, in one note; nothing where all has.
std::vector<std::string> not_carried(const ReadFile& in, FileFormat format) {
  std::vector<std::string> names, columns = in.unread;
  const bool is_array_file = format == FileFormat::hdf5 || format == FileFormat::hdf5_prisms;
  if (in.crs && !is_array_file) names.emplace_back("crs");
  if (const auto* points = std::get_if<PointFields>(&in.content)) {
    for (const PointColumn& column : points->columns) {
      if (!has_place_for(column, format)) columns.push_back(column.name);
    }
  }
  if (!columns.empty()) {
    names.push_back(fmt::format("column{} {}", columns.size() > 1 ? "s" : "", shown_list(columns)));
  }
  if (names.empty()) return {};
  return {fmt::format("not carried: {}", fmt::join(names, ", "))};
}

/// A remark on units of IN that differ from those of the report; "" where all are equal.
std::string units_in(const ReadFile& in) {
  const auto* points = std::get_if<PointFields>(&in.content);
  if (in.format == FileFormat::tomofast_data && points != nullptr && points->fields == FieldList{Field::gz}) {
    return "; gz in m/s2 in the file";
  }
  if (in.format == FileFormat::ubc_vectors) return "; effective susceptibilities in the file";
  const auto* model = std::get_if<CellModel>(&in.content);
  const bool has_densities = model != nullptr ? !model->values.empty() && is_density(model->values[0].name)
                                              : std::holds_alternative<ListedPrisms>(in.content);
  return has_densities && in.density_to_si != 1 ? "; g/cm3 in the file" : "";
}

Bounds bounds_of(const FileContent& content) {
  if (const auto* points = std::get_if<PointFields>(&content)) return bounds_of(points->points);
  if (const auto* prisms = std::get_if<ListedPrisms>(&content)) return bounds_of(prisms->columns());
  const auto& [x, y, z] = std::get<CellModel>(content).edges;
  return {x.front(), x.back(), y.front(), y.back(), z.front(), z.back()};
}

/// Places and fields that can hardly be in their unit, as where a format was taken for another.
std::vector<std::string> doubts_of(const ReadFile& in) {
  std::vector<std::string> doubts;
  const Bounds places = bounds_of(in.content);
  if (std::string doubt = degrees_doubt(places, places).text; !doubt.empty()) doubts.push_back(std::move(doubt));
  const auto* points = std::get_if<PointFields>(&in.content);
  if (points == nullptr) return doubts;
  if (std::string doubt = point_height_warning(places); !doubt.empty()) {
    doubts.push_back(std::move(doubt));
  }
  for (const FieldInfo& field : points->fields) {
    double largest = 0;
    for (const double value : points->values[static_cast<std::size_t>(points->fields.index_of(field.field))]) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    if (std::string doubt = field_warning(field.field, largest); !doubt.empty()) {
      doubts.push_back(doubt + "; --from and --field say what a file holds");
    }
  }
  return doubts;
}

void convert(const ConvertOptions& options) {
  end_at_interrupts();
  WriteSpec write;
  write.format = check_output_of(options);
  ReadSpec read;
  read.file = {options.in, "", ""};
  read.format = options.from;
  if (!options.mesh.empty()) read.mesh = InputFile{options.mesh, "", "--mesh"};
  read.density_to_si = options.density_to_si;
  read.axes = options.axes;
  read.field = options.field;
  read.inducing_field = options.inducing_field;
  read.inactive = options.inactive;
  ReadFile in = read_content(read);

  write.file = options.out;
  write.format_said_by = options.to ? "--to" : "OUT";
  write.crs = in.crs;
  write.density_to_si = options.output_density_to_si;
  write.axes = options.output_axes;
  write.field = options.field;
  write.inactive = options.output_inactive ? options.output_inactive : options.inactive;
  // 0 means no density, not inactive, unless inactive cells must be distinguished from others
  if (!options.output_inactive && options.inactive) write.inactive_said_by = "--inactive";
  if (options.output_inactive && *options.output_inactive != 0) write.inactive_said_by = "--output-inactive";
  write.title = options.in.stem().string();
  write.command = fmt::format("prismfield convert {} {}", options.in.string(), options.out.string());
  const std::string content = describe(in.content) + units_in(in);
  // the report says which were taken
  if (auto* points = std::get_if<PointFields>(&in.content)) points->axes_are_stated = true;
  const WrittenFile out = write_content(write, in.content);

  const std::vector<std::string> lost = not_carried(in, write.format), doubts = doubts_of(in);
  std::vector<std::string> notes = in.notes;
  for (const auto* more : {&doubts, &lost, &out.notes}) {
    std::copy_if(more->begin(), more->end(), std::back_inserter(notes),
                 [&](const std::string& note) { return std::find(notes.begin(), notes.end(), note) == notes.end(); });
  }
  for (const std::string& note : notes) std::cerr << "note: " << shown(note) << '\n';
  std::cerr << std::flush;
  if (options.quiet) return;
  std::cout << fmt::format("read    {}: {}, {}\nwritten {}: {}, {}; {}\n", shown(options.in.string()),
                           info(in.format).long_name, content, shown(options.out.string()),
                           info(write.format).long_name, out.what, out.how)
            << std::flush;
}

}  // namespace

ProgramEnd execute(const ConvertOptions& options, const std::vector<std::string>& /*kokkos_options*/,
                   const Communicator& communicator) {
  agree(communicator, [&] {
    if (communicator.rank() == 0) convert(options);
  });
  return {};
}

}  // namespace prismfield
