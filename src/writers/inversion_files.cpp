// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "writers/inversion_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/output_file.hpp"
#include "model/axis.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// The unit as CF writes it.
const char* unit_of_files(Unknown unknown) noexcept {
  if (unknown == Unknown::density) return "kg m-3";
  return unknown == Unknown::susceptibility ? "1" : "A m-1";
}

/// Shape and dimensions of what lies on the cells.
std::vector<std::string> cell_dimensions(const InvertedModel& model) {
  std::vector<std::string> names{"upward", "northing", "easting"};
  if (!model.epochs.empty()) names.insert(names.begin(), "epoch");
  return names;
}

std::vector<std::int64_t> cell_shape(const InvertedModel& model) {
  const CellCounts counts = counts_of(model.edges);
  std::vector<std::int64_t> shape{counts[2], counts[1], counts[0]};
  if (!model.epochs.empty()) shape.insert(shape.begin(), model.n_epochs());
  return shape;
}

/// Throws RunError where the parts of a model do not belong together, before anything is written.
void check_sizes(const InvertedModel& model) {
  const auto require = [](bool condition, const std::string& what) {
    if (!condition) throw RunError("the model's " + what + "; this is a bug in the program that made it");
  };
  const CellCounts counts = counts_of(model.edges);
  const std::int64_t n_cells = counts[0] * counts[1] * counts[2];
  const std::size_t n_active = model.cells.size() * static_cast<std::size_t>(model.n_epochs());
  const std::size_t n = n_active * static_cast<std::size_t>(components(model.unknown));
  require(std::all_of(model.cells.begin(), model.cells.end(), [&](std::int64_t c) { return c >= 0 && c < n_cells; }),
          "cells lie outside its edges");
  require(model.values.size() == n, "values are not one a cell and epoch");
  require(model.sigma.empty() || model.sigma.size() == n, "deviations are not one a cell");
  require(model.depth_of_investigation.empty() || model.depth_of_investigation.size() == n_active,
          "depths of investigation are not one a cell");
  require(model.data.size() % static_cast<std::size_t>(model.n_epochs()) == 0, "data are not there for every epoch");
  require(std::all_of(model.solutions.begin(), model.solutions.end(), [&](const auto& one) { return one.size() == n; }),
          "solutions are not one a cell and epoch");
  for (const PredictedData& data : model.data) {
    const auto values = static_cast<std::size_t>(data.size());
    require(data.values.size() == values && data.sigma.size() == values && data.predicted.size() == values,
            "data are not one a field and point");
  }
}

void write_epochs(Hdf5File& file, const InvertedModel& model) {
  if (model.epochs.empty()) return;
  file.write_texts("epoch", model.epochs);
  file.make_dimension("epoch");
  file.write_attribute("epoch", "long_name", "epoch");
}

void describe_cell_values(Hdf5File& file, const std::string& name, const std::vector<std::string>& dimensions,
                          const std::string& long_name, const std::string& unit) {
  file.attach_dimensions(name, dimensions);
  file.write_attribute(name, "_FillValue", std::numeric_limits<double>::quiet_NaN());
  file.write_attribute(name, "units", unit);
  file.write_attribute(name, "long_name", long_name);
  refer_to_crs(file, name);
}

/// Values of the active cells, of every epoch; NaN in the others.
void write_cell_values(Hdf5File& file, const InvertedModel& model, const std::string& name,
                       const std::string& long_name, const std::string& unit, const std::vector<double>& values) {
  file.write(name, cell_shape(model), on_all_cells(model, values).data());
  describe_cell_values(file, name, cell_dimensions(model), long_name, unit);
  write_range(file, name, values.data(), static_cast<std::int64_t>(values.size()));
}

/// One component of the unknown, with its standard deviation and what `ancillary` names beside it.
void write_component(Hdf5File& file, const InvertedModel& model, std::int64_t component, std::string ancillary) {
  const auto n = std::ssize(model.cells);
  const std::string name = component_name(model.unknown, component);
  const std::string words = component_words(model.unknown, component), unit = unit_of_files(model.unknown);
  write_cell_values(file, model, name, words, unit, component_of(model.values, model.unknown, component, n));
  if (!model.sigma.empty()) {
    const std::string sigma = name + "_sigma";
    write_cell_values(file, model, sigma, "posterior standard deviation of the " + words, unit,
                      component_of(model.sigma, model.unknown, component, n));
    if (model.rank > 0) {
      file.write_attribute(sigma, "rank", model.rank);
      file.write_attribute(sigma, "relative_error", model.sigma_error);
    } else {
      file.write_attribute(sigma, "samples", model.samples);
    }
    ancillary = ancillary.empty() ? sigma : sigma + " " + ancillary;
  }
  if (!ancillary.empty()) file.write_attribute(name, "ancillary_variables", ancillary);
}

void write_unknowns(Hdf5File& file, const InvertedModel& model) {
  const char* const depth = model.depth_of_investigation.empty() ? "" : "depth_of_investigation";
  for (std::int64_t c = 0; c < components(model.unknown); ++c) write_component(file, model, c, depth);
  if (components(model.unknown) > 1) {
    write_cell_values(file, model, "amplitude", fmt::format("magnitude of the {}", name(model.unknown)),
                      unit_of_files(model.unknown), amplitude_of(model.values, model.unknown, std::ssize(model.cells)));
  }
  if (model.depth_of_investigation.empty()) return;
  write_cell_values(file, model, depth,
                    fmt::format("depth of investigation: 0 where the data determine the {}, 1 where the reference does",
                                name(model.unknown)),
                    "1", model.depth_of_investigation);
}

/// The values of every solution that was kept.
void write_solutions(Hdf5File& file, const InvertedModel& model) {
  if (model.solutions.empty()) return;
  const auto n = static_cast<std::int64_t>(model.solutions.size());
  std::vector<std::int64_t> numbers(model.solutions.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{1});
  file.write("solution", {n}, numbers.data());
  file.make_dimension("solution");
  file.write_attribute("solution", "long_name", "solution for one beta, from 1: iteration of the group convergence");
  std::vector<std::int64_t> shape = cell_shape(model);
  std::vector<std::string> dimensions = cell_dimensions(model);
  shape.insert(shape.begin(), n);
  dimensions.insert(dimensions.begin(), "solution");
  for (std::int64_t c = 0; c < components(model.unknown); ++c) {
    std::vector<double> all;
    for (const std::vector<double>& one : model.solutions) {
      const std::vector<double> values =
          on_all_cells(model, component_of(one, model.unknown, c, std::ssize(model.cells)));
      all.insert(all.end(), values.begin(), values.end());
    }
    const std::string dataset = component_name(model.unknown, c) + "_solutions";
    file.write(dataset, shape, all.data());
    describe_cell_values(file, dataset, dimensions, component_words(model.unknown, c) + " of each solution",
                         unit_of_files(model.unknown));
  }
}

void write_root_attributes(Hdf5File& file, const ModelHeader& header, const InvertedModel& model) {
  write_header(file, header);
  // GMT's word for values that belong to cells
  file.write_attribute("/", "node_offset", std::int64_t{1});
  file.write_attribute("/", "unknown", std::string(name(model.unknown)));
  file.write_attribute("/", "gravitational_constant", header.gravitational_constant);
  if (header.magnetic) write_magnetic(file, *header.magnetic);
  file.write_attribute("/", "active_cells", static_cast<std::int64_t>(model.cells.size()));
  file.write_attribute("/", "data_sets", static_cast<std::int64_t>(model.data.size()));
  if (model.resolution_trace) file.write_attribute("/", "resolution_trace", *model.resolution_trace);
  if (model.resolution_trace_error) file.write_attribute("/", "resolution_trace_error", *model.resolution_trace_error);
  if (model.resolution_trace_least) file.write_attribute("/", "resolution_trace_least", *model.resolution_trace_least);
}

/// Stages as numbers and what these mean, for programs that read no text.
void write_stages(Hdf5File& file, const std::string& group, const std::vector<ConvergenceRow>& rows) {
  std::vector<std::string> meanings{"cool", "target", "compact", "beta"};
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  for (const ConvergenceRow& row : rows) {
    const auto at = std::find(meanings.begin(), meanings.end(), row.stage);
    numbers.push_back(at - meanings.begin());
    if (at == meanings.end()) meanings.push_back(row.stage);
    texts.push_back(row.stage);
  }
  std::vector<std::int64_t> flags;
  std::string words;
  for (const std::string& meaning : meanings) {
    flags.push_back(static_cast<std::int64_t>(flags.size()));
    words += (words.empty() ? "" : " ") + meaning;
  }
  const std::string stage = group + "/stage";
  write_list(file, stage, group + "/iteration", numbers, "", "stage of the inversion");
  file.write_attribute(stage, "flag_values", flags);
  file.write_attribute(stage, "flag_meanings", words);
  file.write_texts(group + "/stage_name", texts);
  file.attach_dimensions(group + "/stage_name", {group + "/iteration"});
  file.write_attribute(group + "/stage_name", "long_name", "stage of the inversion");
}

void write_convergence(Hdf5File& file, const std::vector<ConvergenceRow>& rows, Unknown unknown) {
  const std::string group = "/convergence";
  file.make_group(group);
  // netCDF takes a dimension of length 0 for one without an end.
  if (rows.empty()) return;
  const auto n = static_cast<std::int64_t>(rows.size());
  std::vector<std::int64_t> numbers(rows.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{1});
  const std::string iteration = group + "/iteration";
  file.write(iteration, {n}, numbers.data());
  file.make_dimension(iteration);
  file.write_attribute(iteration, "long_name", "solution for one beta, from 1");
  write_stages(file, group, rows);
  // The regularisation's unit follows from its weights and norms: none is stated.
  const auto write = [&](const std::string& name, const char* unit, const std::string& long_name, const auto& member) {
    write_list(file, group + "/" + name, iteration, rows, unit, long_name, member);
  };
  using Row = ConvergenceRow;
  write("beta", "", "factor of the regularisation", [](const Row& r) { return r.beta; });
  write("phi_d", "1", "sum of squares of the residuals over their sigma", [](const Row& r) { return r.phi_d; });
  write("chi", "1", "phi_d over the number of data", [](const Row& r) { return r.chi; });
  write("phi_m", "", "regularisation", [](const Row& r) { return r.phi_m; });
  write("products", "1", "products with G'WG since the start", [](const Row& r) { return r.products; });
  const std::string what = fmt::format("{}{}", components(unknown) > 1 ? "magnitude of the " : "", name(unknown));
  write("minimum", unit_of_files(unknown), "least " + what, [](const Row& r) { return r.minimum; });
  write("maximum", unit_of_files(unknown), "greatest " + what, [](const Row& r) { return r.maximum; });
  write("seconds", "s", "time since the start, earlier runs of a resumed inversion included",
        [](const Row& r) { return r.seconds; });
}

/// One field of a data set: what was measured beside what the model gives.
void write_data_field(Hdf5File& file, const PointLayout& layout, const PredictedData& data, Field field, Axes axes) {
  const std::int64_t n = data.points.size();
  const auto first = static_cast<std::ptrdiff_t>(data.fields.index_of(field) * n);
  const double factor = output_factor(field, axes);
  const std::string name(info(field).name);
  const std::string unit(info(field).unit);
  const auto scaled = [&](const std::vector<double>& values, double by) {
    std::vector<double> out(values.begin() + first, values.begin() + first + n);
    // Adding 0 turns the -0 of a flipped sign into 0.
    for (double& value : out) value = value * by + 0.0;
    return out;
  };
  const std::vector<double> observed = scaled(data.values, factor);
  const std::vector<double> sigma = scaled(data.sigma, std::abs(factor));
  const std::vector<double> predicted = scaled(data.predicted, factor);
  std::vector<double> residual(observed.size());
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = (observed[i] - predicted[i]) / sigma[i];
  write_point_values(file, layout, name, std::string(info(field).long_name) + ", observed", unit, axes,
                     observed.data());
  write_point_values(file, layout, name + "_sigma", "standard deviation of the observed " + name, unit, axes,
                     sigma.data());
  write_point_values(file, layout, name + "_predicted", name + " of the model", unit, axes, predicted.data());
  write_point_values(file, layout, name + "_residual", name + ", observed less predicted, over its standard deviation",
                     "1", axes, residual.data());
  file.write_attribute(path_in(layout.group, name), "ancillary_variables", name + "_sigma");
}

void write_data(Hdf5File& file, const ModelHeader& header, const InvertedModel& model, std::size_t k) {
  const PredictedData& data = model.data[k];
  const std::string group = "/data_" + std::to_string(k + 1);
  file.make_group(group);
  file.write_attribute(group, "name", data.name);
  if (!model.epochs.empty()) {
    const std::size_t n = model.epochs.size();
    file.write_attribute(group, "epoch", model.epochs[k % n]);
    file.write_attribute(group, "data_set", static_cast<std::int64_t>(k / n) + 1);
  }
  // programs that open this group alone do not see the root's
  write_crs(file, header.crs, path_in(group, "crs"));
  const PointLayout layout = write_points(file, group, data.points);
  const std::vector<double> none;
  const std::vector<double>& trend = k < model.trend.size() ? model.trend[k] : none;
  const std::size_t a_field = trend.size() / static_cast<std::size_t>(std::max(1, data.fields.size()));
  for (const FieldInfo& field : data.fields) {
    write_data_field(file, layout, data, field.field, header.axes);
    if (a_field == 0) continue;
    const auto first = trend.begin() + static_cast<std::ptrdiff_t>(
                                           static_cast<std::size_t>(data.fields.index_of(field.field)) * a_field);
    std::vector<double> coefficients(first, first + static_cast<std::ptrdiff_t>(a_field));
    for (double& coefficient : coefficients) coefficient *= output_factor(field.field, header.axes);
    const std::string predicted = path_in(group, std::string(field.name) + "_predicted");
    file.write_attribute(predicted, "trend", coefficients);
    constexpr std::array<const char*, 6> per{"", " m-1", " m-1", " m-2", " m-2", " m-2"};
    std::string units;
    for (std::size_t i = 0; i < a_field; ++i) units += fmt::format("{}{}{}", i > 0 ? ", " : "", field.unit, per.at(i));
    file.write_attribute(predicted, "trend_units", units);
  }
}

void write_performance(Hdf5File& file, const ModelHeader& header, const InvertedModel& model) {
  const std::string group = "/performance";
  file.make_group(group);
  write_machine(file, group, header.program, header.use);
  file.write_attribute(group, "sensitivities", header.sensitivities);
  std::int64_t data = 0;
  for (const PredictedData& set : model.data) data += set.size();
  file.write_attribute(group, "data", data);
  // G serves all epochs
  file.write_attribute(group, "rows", data / model.n_epochs());
  file.write_attribute(group, "stored_bytes", header.stored_bytes);
  file.write_attribute(group, "setup_seconds", header.setup_seconds);
  file.write_attribute(group, "inversion_seconds", header.inversion_seconds);
}

void write_file(const TemporaryFile& temporary, const fs::path& target, const ModelHeader& header,
                const InvertedModel& model) {
  const auto begin = std::chrono::steady_clock::now();
  Hdf5File file = Hdf5File::create_in_memory(target);
  write_root_attributes(file, header, model);
  write_epochs(file, model);
  write_cell_coordinates(file, model.edges, "bounds");
  write_unknowns(file, model);
  write_solutions(file, model);
  write_convergence(file, model.convergence, model.unknown);
  for (std::size_t k = 0; k < model.data.size(); ++k) write_data(file, header, model, k);
  write_performance(file, header, model);
  // The time that the file itself can hold; bringing it to the disk follows.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  file.write_attribute("/performance", "output_seconds", elapsed.count());
  file.write_attribute("/performance", "total_seconds", header.total_seconds + elapsed.count());
  file.write_sealed([&](const void* bytes, std::size_t n) { temporary.write(bytes, n); });
}

}  // namespace

std::string component_name(Unknown unknown, std::int64_t component) {
  if (components(unknown) == 1) return name(unknown);
  return fmt::format("{}_{}", name(unknown), direction_names[static_cast<std::size_t>(component)]);
}

std::string component_words(Unknown unknown, std::int64_t component) {
  if (components(unknown) == 1) return name(unknown);
  return fmt::format("{}, {} component", name(unknown), direction_names[static_cast<std::size_t>(component)]);
}

void write_model(const ModelHeader& header, const InvertedModel& model) {
  write_complete_file(header.file, "the model", [&](TemporaryFile& temporary, const fs::path& target) {
    check_sizes(model);
    write_file(temporary, target, header, model);
  });
}

}  // namespace prismfield
