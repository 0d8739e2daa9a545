// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/invert_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/human_text.hpp"
#include "case/output_check.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "model/storage.hpp"
#include "sensitivity/stored_bytes.hpp"

namespace prismfield {
namespace {

std::string cells_text(const ActiveCells& cells) {
  const auto [nx, ny, nz] = cells.counts();
  const std::int64_t inactive = cells.total() - cells.size();
  return fmt::format("{} x {} x {} cells, {} active{}", nx, ny, nz, grouped(cells.size()),
                     inactive > 0 ? fmt::format(", {} above the topography", grouped(inactive)) : "");
}

std::string weighting_text(const Weighting& weighting) {
  switch (weighting.kind) {
    case WeightingKind::sensitivity: return "by sensitivity";
    case WeightingKind::depth: return "by depth";
    case WeightingKind::distance: return "by distance";
    case WeightingKind::none: break;
  }
  return "none";
}

std::string settings_text(const InversionSettings& settings) {
  const auto& norm = settings.norm;
  const bool is_one = std::all_of(norm.begin(), norm.end(), [&](double p) { return p == norm[0]; });
  const std::vector<double> norms(norm.begin(), is_one ? norm.begin() + 1 : norm.end());
  std::string text = fmt::format("target chi {:g}, weighting {}, norm {:g}", settings.target_misfit,
                                 weighting_text(settings.weighting), fmt::join(norms, " "));
  if (settings.beta) text += fmt::format(", beta {:g}", *settings.beta);
  if (settings.bounds) text += fmt::format(", bounds {:g} to {:g} kg/m3", settings.bounds->min, settings.bounds->max);
  if (settings.trend != Trend::none) text += settings.trend == Trend::linear ? ", linear trend" : ", constant trend";
  return text;
}

/// Contrasts below it, kg/m3, are not worth a model; those above the other are more than any metal.
constexpr double least_density = 1, most_density = 30'000;

Range range_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

bool are_tiny(const Range& densities) {
  const double largest = std::max(std::abs(densities.min), std::abs(densities.max));
  return largest > 0 && largest < least_density;
}

bool are_huge(const Range& densities) {
  return std::max(std::abs(densities.min), std::abs(densities.max)) > most_density;
}

std::string density_range_text(const Range& densities) {
  return densities.min == densities.max ? fmt::format("{:.4g} kg/m3", densities.min)
                                        : fmt::format("{:.4g} to {:.4g} kg/m3", densities.min, densities.max);
}

/// RMS of one field of a data set over sigma; where a trend is solved for, of what a constant leaves.
double signal_to_sigma(const DataSet& data, std::size_t field, bool without_mean) {
  const auto n = static_cast<std::size_t>(data.points.size());
  double weights = 0, mean = 0, sum = 0;
  for (std::size_t i = field * n; i < (field + 1) * n; ++i) {
    const double weight = 1 / (data.sigma[i] * data.sigma[i]);
    weights += weight;
    mean += weight * data.values[i];
  }
  mean = without_mean ? mean / weights : 0;
  for (std::size_t i = field * n; i < (field + 1) * n; ++i) {
    const double part = (data.values[i] - mean) / data.sigma[i];
    sum += part * part;
  }
  return std::sqrt(sum / static_cast<double>(n));
}

/// Where sigma and data can hardly belong to each other.
std::vector<std::string> signal_warnings(const DataSet& data, Trend trend) {
  constexpr double most_sigmas = 1000;
  std::vector<std::string> warnings;
  std::size_t f = 0;
  for (const FieldInfo& field : field_infos) {
    if (!data.fields.contains(field.field)) continue;
    const double ratio = signal_to_sigma(data, f++, trend != Trend::none);
    if (ratio < 1) {
      warnings.push_back(fmt::format(
          "{}: {} is {:.2g} times its sigma (RMS), so it may hold noise alone; sigma is in {}: is it too large?",
          shown(data.name), field.name, ratio, field.unit));
    } else if (ratio > most_sigmas) {
      warnings.push_back(fmt::format(
          "{}: {} is {:.2g} times its sigma (RMS), more than surveys reach: are both in {}, is it an anomaly and not "
          "the whole field of the Earth, and does sigma hold the noise?",
          shown(data.name), field.name, ratio, field.unit));
    }
  }
  return warnings;
}

/// RMS of residuals over sigma.
double normalized_rms(const PredictedData& data, std::size_t field) {
  const auto n = static_cast<std::size_t>(data.points.size());
  double sum = 0;
  for (std::size_t i = field * n; i < (field + 1) * n; ++i) {
    const double residual = (data.values[i] - data.predicted[i]) / data.sigma[i];
    sum += residual * residual;
  }
  return std::sqrt(sum / static_cast<double>(n));
}

}  // namespace

std::string inversion_heading(const Case& run, const InversionInputs& inputs) {
  std::string text = shown(run.title) + "\n";
  text += fmt::format("model: {}; {}\n", cells_text(*inputs.cells), extent_text(inputs.cells->bounds()));
  for (const DataSet& data : inputs.data) {
    text += fmt::format("data: {}: {}, {}; {}\n", shown(data.name), counted(data.points.size(), "station"),
                        fmt::join(names_of(data.fields), ", "), extent_text(bounds_of(data.points)));
  }
  return text + settings_text(run.inversion->settings) + "\n";
}

std::string convergence_header() {
  return fmt::format("{:<7} {:>9} {:>9} {:>7} {:>9} {:>8} {:>8} {:>8} {:>7}\n", "stage", "beta", "phi_d", "chi",
                     "phi_m", "products", "min", "max", "seconds");
}

std::string convergence_line(const ConvergenceRow& row) {
  return fmt::format("{:<7} {:>9.3e} {:>9.4g} {:>7.3g} {:>9.3e} {:>8} {:>8.4g} {:>8.4g} {:>7.2f}\n", row.stage,
                     row.beta, row.phi_d, row.chi, row.phi_m, row.products, row.minimum, row.maximum, row.seconds);
}

std::string inversion_sizes(const Case& run, const InversionInputs& inputs, int ranks, const std::string& ranks_text,
                            double seconds) {
  std::int64_t rows = 0;
  for (const DataSet& data : inputs.data) rows += data.size();
  const std::int64_t mine = (rows + ranks - 1) / ranks;
  const std::int64_t columns = inputs.cells->size();
  std::string text;
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("ranks", ranks_text);
  row("G", fmt::format("{} x {}", grouped(rows), grouped(columns)));
  for (const auto& [word, precision] : stored_precision_choices) {
    row(fmt::format("as {}", word).c_str(), size_text(stored_bytes(precision, mine, columns)) + " a rank, if stored");
  }
  // neighbours, weights and the vectors of the solver
  constexpr std::int64_t bytes_of_cell = 24 + 10 * 8 + 14 * 8;
  row("vectors", size_text(columns * bytes_of_cell) + " a rank");
  row("model", fmt::format("{}, about {}", output_file(run).string(), size_text(model_bytes(run, inputs))));
  row("estimated time", duration_text(seconds) + " to compute G once; hundreds of products with it follow");
  return text;
}

std::int64_t model_bytes(const Case& run, const InversionInputs& inputs) {
  const InversionSettings& settings = run.inversion->settings;
  const std::int64_t fields =
      1 + (settings.uncertainty.samples > 0 ? 1 : 0) + (settings.depth_of_investigation ? 1 : 0);
  std::int64_t rows = 0;
  for (const DataSet& data : inputs.data) rows += data.size();
  constexpr std::int64_t columns_of_data = 7, others = 100'000;
  return 8 * (fields * inputs.cells->total() + columns_of_data * rows) + others;
}

std::vector<std::string> inversion_warnings(const Case& run, const InversionInputs& inputs) {
  std::vector<std::string> warnings;
  const InversionSettings& settings = run.inversion->settings;
  if (settings.bounds && are_tiny(*settings.bounds)) {
    warnings.push_back(fmt::format("inversion.bounds are {}; are they g/cm3? 1 g/cm3 is 1000 kg/m3: write kg/m3",
                                   density_range_text(*settings.bounds)));
  }
  const Range reference = range_of(inputs.reference);
  if (are_tiny(reference)) {
    warnings.push_back(fmt::format(
        "inversion.reference is {}; is it g/cm3? Densities in the case are kg/m3, density_unit: g/cm3 beside "
        "a file says what is in it",
        density_range_text(reference)));
  } else if (are_huge(reference)) {
    warnings.push_back(fmt::format("inversion.reference is {}, more than any metal; is its unit right?",
                                   density_range_text(reference)));
  }
  for (const DataSet& data : inputs.data) {
    for (std::string& warning : signal_warnings(data, settings.trend)) warnings.push_back(std::move(warning));
  }
  return warnings;
}

std::vector<std::string> outcome_warnings(const Case& run, const InversionOutcome& outcome) {
  const Range found = range_of(outcome.model.density);
  const std::optional<Range>& bounds = run.inversion->settings.bounds;
  if (are_huge(found)) {
    return {
        fmt::format("densities of {} were found, more than any metal; check the units of the data and sigma, or "
                    "give inversion.bounds",
                    density_range_text(found))};
  }
  if (!are_tiny(found) || (bounds && are_tiny(*bounds))) return {};
  return {fmt::format("no density above {:.4g} kg/m3 was found; check the units of the data and sigma",
                      std::max(std::abs(found.min), std::abs(found.max)))};
}

std::string inversion_resume_text(const std::string& file, const InversionState* state) {
  const std::string name = shown(file);
  if (state == nullptr) return fmt::format("{}: no checkpoint yet, the inversion begins at its start\n", name);
  return fmt::format("{}: goes on after {}{}\n", name,
                     counted(static_cast<std::int64_t>(state->rows.size()), "solution"),
                     state->samples > 0 ? fmt::format(" and {}", counted(state->samples, "sample")) : "");
}

std::string inversion_summary(const Case& run, const InversionOutcome& outcome, double seconds) {
  const InvertedModel& model = outcome.model;
  std::string text;
  for (const PredictedData& data : model.data) {
    std::size_t f = 0;
    for (const FieldInfo& field : field_infos) {
      if (!data.fields.contains(field.field)) continue;
      text += fmt::format("{}, {}: RMS of residuals over sigma {:.3f}\n", shown(data.name), field.name,
                          normalized_rms(data, f++));
    }
  }
  const auto [least, most] = std::minmax_element(model.density.begin(), model.density.end());
  text += fmt::format("density: {:.4g} to {:.4g} kg/m3", *least, *most);
  if (!model.density_sigma.empty()) {
    const auto [low, high] = std::minmax_element(model.density_sigma.begin(), model.density_sigma.end());
    text += fmt::format("; standard deviation {:.3g} to {:.3g} kg/m3, from {} each known to {:.0f} %", *low, *high,
                        counted(model.samples, "sample"), 100 / std::sqrt(2.0 * static_cast<double>(model.samples)));
  }
  if (model.resolution_trace) {
    text += fmt::format("\nparameters that the data decide (trace of the resolution): {:.4g} +- {:.2g} of {}",
                        *model.resolution_trace, model.resolution_trace_error.value_or(0),
                        grouped(static_cast<std::int64_t>(model.density.size())));
  }
  const std::int64_t products = model.convergence.empty() ? 0 : model.convergence.back().products;
  return text + fmt::format("\n{}: {}, {} in {}\n", shown(output_file(run).string()),
                            counted(static_cast<std::int64_t>(model.convergence.size()), "solution"),
                            counted(products, "product"), duration_text(seconds));
}

}  // namespace prismfield
