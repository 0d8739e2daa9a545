// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/model_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/output_check.hpp"
#include "inversion/outcome.hpp"
#include "io/cell_file.hpp"
#include "io/file_content.hpp"

namespace prismfield {
namespace {

constexpr const char* density_unit = "kg/m3";

/// The solutions whose models are kept, at most: of the search for beta, and with compact norms of their steps and of
/// the search after them.
std::int64_t solutions_kept(const InversionSettings& settings) {
  if (!settings.keep_all) return 0;
  const std::int64_t search = settings.beta ? 1 : settings.max_iterations;
  return settings.is_compact() ? 2 * search + std::min(settings.max_iterations, most_compact_steps) : search;
}

/// Values that a model beside the file has for each cell: its density, and what was asked for beside it, of all epochs.
std::int64_t values_of_a_cell(const Case& run) {
  const InversionSettings& settings = run.inversion->settings;
  const bool is_uncertain = settings.uncertainty.samples > 0 || settings.uncertainty.rank > 0;
  return run.inversion->n_epochs * (1 + (is_uncertain ? 1 : 0) + (settings.depth_of_investigation ? 1 : 0));
}

/// About as many bytes as a file of this format takes.
std::int64_t bytes_of(FileFormat format, const Case& run, const InversionInputs& inputs) {
  const auto [nx, ny, nz] = inputs.cells->counts();
  const std::int64_t active = inputs.cells->size();
  const std::int64_t inactive = inputs.cells->total() - active;
  // a number that reads as the same double, and the 0 of an inactive cell, each with what parts it from the next
  constexpr std::int64_t number = 20, zero = 2, header = 1500;
  switch (format) {
    case FileFormat::ubc_mesh: return header + number * (nx + ny + nz);
    case FileFormat::ubc_model: return number * active + zero * inactive;
    // eight corners of three numbers, their indices, an offset, a type and the density
    case FileFormat::vtu: return header + active * (8 * 24 + 8 * 8 + 8 + 1 + 8);
    default: {
      const std::int64_t marks = inactive > 0 ? inputs.cells->total() : 0;
      return header + values_of_a_cell(run) * 8 * inputs.cells->total() + marks + 8 * (nx + ny + nz + 3);
    }
  }
}

CellModel cell_model(const InvertedModel& model, bool density_alone) {
  CellModel cells{model.edges, {}};
  const auto add = [&](const char* name, const char* unit, const std::vector<double>& values) {
    if (!values.empty()) add_values(cells, {name, unit, on_all_cells(model, values)}, std::ssize(model.epochs));
  };
  add("density", density_unit, model.density);
  if (density_alone) return cells;
  add("density_sigma", density_unit, model.density_sigma);
  add("depth_of_investigation", "1", model.depth_of_investigation);
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
  const std::int64_t values = values_of_a_cell(run) + run.inversion->n_epochs * solutions_kept(run.inversion->settings);
  return 8 * (values * inputs.cells->total() + columns_of_data * rows) + others;
}

}  // namespace

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
  const std::string epoch = model.n_epochs() > 1 ? " --field density_1" : "";
  for (const AlsoFile& also : also_files(run)) {
    const std::string name = also.file.string();
    WriteSpec spec;
    spec.file = also.file;
    spec.format = model_format(also.file).value();
    spec.title = run.title;
    spec.command = "prismfield invert " + run.file.string();
    try {
      WrittenFile written = write_content(spec, cell_model(model, spec.format != FileFormat::vtr));
      exported.lines.push_back(
          fmt::format("{}: {}, {}; {}", shown(name), info(spec.format).long_name, written.what, written.how));
      if (spec.format == FileFormat::ubc_model) {
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
