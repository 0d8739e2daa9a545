// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/invert_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <prismfield/storage.hpp>

#include "app/model_export.hpp"
#include "base/human_text.hpp"
#include "case/output_check.hpp"
#include "inversion/low_rank_algebra.hpp"
#include "inversion/outcome.hpp"
#include "inversion/trend_basis.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "sensitivity/stored_bytes.hpp"

namespace prismfield {
namespace {

std::string cells_text(const ActiveCells& cells) {
  const auto [nx, ny, nz] = cells.counts();
  const std::int64_t inactive = cells.total() - cells.size();
  return fmt::format("{} x {} x {} cells, {} active{}", nx, ny, nz, grouped(cells.size()),
                     inactive > 0 ? fmt::format(", {} inactive", grouped(inactive)) : "");
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

/// How beta is found.
std::string beta_text(const InversionSettings& settings) {
  if (settings.beta) return fmt::format("beta {:g}", *settings.beta);
  if (settings.beta_choice == BetaChoice::gcv) return "beta by generalized cross-validation";
  if (settings.beta_choice == BetaChoice::l_curve) return "beta at the corner of the L-curve";
  return fmt::format("target chi {:g}", settings.target_misfit);
}

std::string bounds_in_words(const InversionSpec& spec) {
  if (spec.bounds) return fmt::format(", bounds of {}", shown(spec.bounds->file.filename().string()));
  const InversionSettings& settings = spec.settings;
  if (!settings.bounds) return "";
  if (std::isinf(settings.bounds->min)) return fmt::format(", bounds up to {:g} kg/m3", settings.bounds->max);
  if (std::isinf(settings.bounds->max)) return fmt::format(", bounds from {:g} kg/m3", settings.bounds->min);
  const std::vector<Range> whole{*settings.bounds};
  std::string text;
  for (const Range& interval : settings.intervals.empty() ? whole : settings.intervals) {
    text += fmt::format("{}{:g} to {:g}", text.empty() ? ", bounds " : " or ", interval.min, interval.max);
  }
  return text + " kg/m3";
}

std::string settings_text(const InversionSpec& spec) {
  const InversionSettings& settings = spec.settings;
  const auto& norm = settings.norm;
  const bool is_one = std::all_of(norm.begin(), norm.end(), [&](double p) { return p == norm[0]; });
  const std::vector<double> norms(norm.begin(), is_one ? norm.begin() + 1 : norm.end());
  std::string text = fmt::format("{}, weighting {}, norm {:g}", beta_text(settings), weighting_text(settings.weighting),
                                 fmt::join(norms, " "));
  if (settings.data_norm == DataNorm::huber) text += ", Huber's norm of the data";
  if (settings.preconditioner_rank > 0)
    text += fmt::format(", preconditioner of rank {}", settings.preconditioner_rank);
  text += bounds_in_words(spec);
  if (settings.trend != Trend::none) text += settings.trend == Trend::linear ? ", linear trend" : ", constant trend";
  return text;
}

/// Contrasts below it, kg/m3, are not worth a model; those above the next are rare among rocks, and those above the
/// last more than any metal.
constexpr double least_density = 1, most_contrast = 1'000, most_density = 30'000;

Range range_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

/// Of the finite ones of both, and 0.
Range finite_range_of(const std::vector<double>& lower, const std::vector<double>& upper) {
  Range range;
  for (const auto* values : {&lower, &upper}) {
    for (const double value : *values) {
      if (std::isfinite(value)) range = {std::min(range.min, value), std::max(range.max, value)};
    }
  }
  return range;
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
  if (data.sigma_is_unknown) return warnings;
  std::size_t f = 0;
  for (const FieldInfo& field : data.fields) {
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

/// How much larger the mean and slope of each field of a data set are than what it scatters about them (RMS over
/// sigma).
std::vector<double> regional_parts(const DataSet& data) {
  const TrendBasis basis = make_trend_basis(data, Trend::linear);
  std::vector<double> plane(data.values.size(), 0.0), parts;
  basis.add(basis.coefficients(data.values), plane);
  const auto n = static_cast<std::size_t>(data.points.size());
  for (std::size_t first = 0; first < plane.size(); first += n) {
    double of_plane = 0, of_rest = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      const double part = plane[i] / data.sigma[i], rest = (data.values[i] - plane[i]) / data.sigma[i];
      of_plane += part * part;
      of_rest += rest * rest;
    }
    parts.push_back(of_rest > 0 ? std::sqrt(of_plane / of_rest) : 0);
  }
  return parts;
}

/// Names data that a regional field may have been left in, where no trend is solved for; "" otherwise.
std::string regional_field(const InversionOutcome& outcome, const InversionSettings& settings) {
  // an anomaly in the middle of its survey has 1, about
  constexpr double suspicious = 3;
  if (settings.trend != Trend::none) return "";
  for (const PredictedData& data : outcome.model.data) {
    const std::vector<double> parts = regional_parts(data);
    const std::vector<std::string> names = names_of(data.fields);
    for (std::size_t f = 0; f < parts.size(); ++f) {
      if (parts[f] <= suspicious) continue;
      return fmt::format(
          "mean and slope of {} in {} are {:.2g} times its scatter about them (RMS): is there a regional "
          "field, which inversion.trend: constant or linear takes out?",
          names[f], shown(data.name), parts[f]);
    }
  }
  return "";
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

/// Vectors of a float a cell that the low ranks keep.
std::int64_t low_rank_columns(const InversionSettings& settings, std::int64_t rows) {
  return subspace_size(settings.uncertainty.rank, rows) + std::min(settings.preconditioner_rank, rows);
}

/// What the standard deviations are from, and how good they are.
std::string uncertainty_text(const InvertedModel& model) {
  if (model.rank == 0) {
    return fmt::format("from {} each known to {:.0f} %", counted(model.samples, "sample"),
                       100 / std::sqrt(2.0 * static_cast<double>(model.samples)));
  }
  return fmt::format("from {} of the data, the prior's part good to {:.2g} %", counted(model.rank, "direction"),
                     100 * model.density_sigma_error);
}

/// How much of it the low rank holds; what it leaves out would lower the standard deviations.
std::string least_trace_text(const InvertedModel& model) {
  constexpr double most_of_it = 0.8;
  const bool is_short = *model.resolution_trace_least < most_of_it * *model.resolution_trace;
  return fmt::format("; {:.4g} of them in these directions{}", *model.resolution_trace_least,
                     is_short ? ": a larger rank may lower the standard deviations" : "");
}

}  // namespace

std::string inversion_heading(const Case& run, const InversionInputs& inputs) {
  std::string text = shown(run.title) + "\n";
  text += fmt::format("model: {}; active cells {}\n", cells_text(*inputs.cells), extent_text(inputs.cells->bounds()));
  for (const DataSet& data : inputs.data) {
    text += fmt::format("data: {}: {}, {}; {}\n", shown(data.name), counted(data.points.size(), "station"),
                        fmt::join(names_of(data.fields), ", "), extent_text(bounds_of(data.points)));
  }
  text += settings_text(*run.inversion) + "\n";
  if (inputs.epochs.empty()) return text;
  std::vector<std::string> names;
  for (const std::string& epoch : inputs.epochs) names.push_back(shown(epoch));
  return text + fmt::format("epochs: {}: {}; change {:g}\n", names.size(), fmt::join(names, ", "),
                            run.inversion->settings.change);
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
  const std::int64_t epochs = inputs.n_epochs();
  std::int64_t rows = 0;
  for (const DataSet& data : inputs.data) rows += data.size();
  // G serves all epochs
  rows /= epochs;
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
  constexpr std::int64_t bytes_of_cell = 24 + 10 * 8, bytes_of_unknown = 14 * 8;
  row("vectors", size_text(columns * (bytes_of_cell + epochs * bytes_of_unknown)) + " a rank");
  if (const std::int64_t of_low_rank = low_rank_columns(run.inversion->settings, epochs * rows); of_low_rank > 0) {
    row("low rank", size_text(epochs * columns * of_low_rank * static_cast<std::int64_t>(sizeof(float))) + " a rank");
  }
  for (const ModelFileSize& file : model_file_sizes(run, inputs)) {
    const bool own = file.key == "output.file";
    const std::string kind = own ? "" : fmt::format("{}, ", info(model_format(file.file).value()).long_name);
    row(own ? "model" : "also", fmt::format("{}, {}about {}", file.file.string(), kind, size_text(file.bytes)));
  }
  row("estimated time", duration_text(seconds) + " to compute G once; hundreds of products with it follow");
  return text;
}

std::vector<std::string> inversion_warnings(const Case& run, const InversionInputs& inputs) {
  std::vector<std::string> warnings = constant_warnings(run.gravitational_constant);
  const InversionSettings& settings = run.inversion->settings;
  if (settings.bounds && are_tiny(*settings.bounds)) {
    warnings.push_back(fmt::format("inversion.bounds are {}; are they g/cm3? 1 g/cm3 is 1000 kg/m3: write kg/m3",
                                   density_range_text(*settings.bounds)));
  }
  if (const Range limits = finite_range_of(inputs.lower, inputs.upper); are_tiny(limits)) {
    warnings.push_back(
        fmt::format("inversion.bounds.file has bounds of {}; are they g/cm3? density_unit: g/cm3 beside "
                    "the file says so",
                    density_range_text(limits)));
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
  const InversionSettings& settings = run.inversion->settings;
  std::vector<std::string> warnings;
  if (const std::string unsettled = unsettled_message(outcome.model.convergence, settings); !unsettled.empty()) {
    warnings.push_back(unsettled);
  }
  const Range found = range_of(outcome.model.density);
  const bool are_doubtful = std::max(std::abs(found.min), std::abs(found.max)) > most_contrast;
  const std::string regional = are_doubtful || !outcome.on_target ? regional_field(outcome, settings) : "";
  if (are_huge(found)) {
    warnings.push_back(fmt::format("densities of {} were found, more than any metal; {}", density_range_text(found),
                                   !regional.empty() ? regional
                                                     : "check the units of the data and sigma, or give "
                                                       "inversion.bounds"));
  } else if (!regional.empty()) {
    warnings.push_back(fmt::format("densities of {} were found; {}", density_range_text(found), regional));
  } else if (are_tiny(found) && !(settings.bounds && are_tiny(*settings.bounds))) {
    warnings.push_back(fmt::format("no density above {:.4g} kg/m3 was found; check the units of the data and sigma",
                                   std::max(std::abs(found.min), std::abs(found.max))));
  }
  return warnings;
}

std::string inversion_resume_text(const std::string& file, const InversionState* state) {
  const std::string name = shown(file);
  if (state == nullptr) return fmt::format("{}: no checkpoint yet, the inversion begins at its start\n", name);
  return fmt::format("{}: goes on after {}{}\n", name,
                     counted(static_cast<std::int64_t>(state->rows.size()), "solution"),
                     state->samples > 0 ? fmt::format(" and {}", counted(state->samples, "sample")) : "");
}

std::string inversion_summary(const Case& run, const InversionOutcome& outcome, double seconds,
                              const std::string& figure) {
  const InvertedModel& model = outcome.model;
  std::string text;
  for (const PredictedData& data : model.data) {
    std::size_t f = 0;
    for (const FieldInfo& field : data.fields) {
      const double rms = normalized_rms(data, f++);
      text += data.sigma_is_unknown
                  ? fmt::format(
                        "{}, {}: RMS of residuals {:.4g} {}; sigma is unknown, chi of no "
                        "meaning\n",
                        shown(data.name), field.name, rms, field.unit)
                  : fmt::format("{}, {}: RMS of residuals over sigma {:.3f}\n", shown(data.name), field.name, rms);
    }
  }
  const auto [least, most] = std::minmax_element(model.density.begin(), model.density.end());
  text += fmt::format("density: {:.4g} to {:.4g} kg/m3", *least, *most);
  if (!model.density_sigma.empty()) {
    const auto [low, high] = std::minmax_element(model.density_sigma.begin(), model.density_sigma.end());
    text += fmt::format("\nstandard deviation: {:.3g} to {:.3g} kg/m3, {}", *low, *high, uncertainty_text(model));
  }
  if (model.resolution_trace) {
    text +=
        fmt::format("\ntrace of the resolution matrix: {:.4g} +- {:.2g} of {} parameters", *model.resolution_trace,
                    model.resolution_trace_error.value_or(0), grouped(static_cast<std::int64_t>(model.density.size())));
    if (model.resolution_trace_least) text += least_trace_text(model);
  }
  const std::int64_t products = model.convergence.empty() ? 0 : model.convergence.back().products;
  return text + fmt::format("\n{}: {}, {} in {}{}\n", shown(output_file(run).string()),
                            counted(static_cast<std::int64_t>(model.convergence.size()), "solution"),
                            counted(products, "product"), duration_text(seconds), figure);
}

}  // namespace prismfield
