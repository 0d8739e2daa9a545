// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/storage.hpp>

#include "app/commands.hpp"
#include "app/figure.hpp"
#include "app/finish_result.hpp"
#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "app/terminal.hpp"
#include "base/checksum.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/statistics.hpp"
#include "case/case.hpp"
#include "case/make_inversion.hpp"
#include "case/make_model.hpp"
#include "case/output_check.hpp"
#include "compute/checkpoint.hpp"
#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "inversion/low_rank_algebra.hpp"
#include "inversion/outcome.hpp"
#include "inversion/trend_basis.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "model/plausible.hpp"
#include "model/station_neighbors.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/placement.hpp"
#include "readers/file_content.hpp"
#include "writers/inversion_files.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

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
  if (settings.most_amplitude) return fmt::format(", amplitudes up to {:g} A/m", *settings.most_amplitude);
  if (!settings.bounds) return "";
  const std::string in_unit =
      fmt::format(" {}{}", unit(settings.unknown), components(settings.unknown) > 1 ? " of each component" : "");
  if (std::isinf(settings.bounds->min)) return fmt::format(", bounds up to {:g}", settings.bounds->max) + in_unit;
  if (std::isinf(settings.bounds->max)) return fmt::format(", bounds from {:g}", settings.bounds->min) + in_unit;
  const std::vector<Range> whole{*settings.bounds};
  std::string text;
  for (const Range& interval : settings.intervals.empty() ? whole : settings.intervals) {
    text += fmt::format("{}{:g} to {:g}", text.empty() ? ", bounds " : " or ", interval.min, interval.max);
  }
  return text + in_unit;
}

std::string settings_text(const InversionSpec& spec) {
  const InversionSettings& settings = spec.settings;
  const auto& norm = settings.norm;
  const bool is_one = std::all_of(norm.begin(), norm.end(), [&](double p) { return p == norm[0]; });
  const std::vector<double> norms(norm.begin(), is_one ? norm.begin() + 1 : norm.end());
  std::string text = settings.unknown == Unknown::density ? "" : fmt::format("unknown {}, ", name(settings.unknown));
  text += fmt::format("{}, weighting {}, norm {:g}", beta_text(settings), weighting_text(settings.weighting),
                      fmt::join(norms, " "));
  if (settings.data_norm == DataNorm::huber) text += ", Huber's norm of the data";
  text += bounds_in_words(spec);
  if (settings.trend != Trend::none) text += fmt::format(", {} trend", name(settings.trend));
  return text;
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

/// Of the magnitude of a magnetisation.
Range range_of_model(const InvertedModel& model) {
  return range_of(amplitude_of(model.values, model.unknown, std::ssize(model.cells)));
}

std::string model_range_text(const Range& values, Unknown unknown) {
  return values.min == values.max ? fmt::format("{:.4g} {}", values.min, unit(unknown))
                                  : fmt::format("{:.4g} to {:.4g} {}", values.min, values.max, unit(unknown));
}

/// RMS of what `part` makes of the values of one field, by their numbers.
template <class Part>
double rms_of(const DataSet& data, std::size_t field, const Part& part) {
  const auto n = static_cast<std::size_t>(data.points.size());
  double sum = 0;
  for (std::size_t i = field * n; i < (field + 1) * n; ++i) sum += part(i) * part(i);
  return std::sqrt(sum / static_cast<double>(n));
}

/// RMS of one field of a data set over sigma; where a trend is solved for, of what a constant leaves.
double signal_to_sigma(const DataSet& data, std::size_t field, bool without_mean) {
  double weights = 0, mean = 0;
  const auto n = static_cast<std::size_t>(data.points.size());
  for (std::size_t i = field * n; without_mean && i < (field + 1) * n; ++i) {
    const double weight = 1 / (data.sigma[i] * data.sigma[i]);
    weights += weight;
    mean += weight * data.values[i];
  }
  if (without_mean) mean /= weights;
  return rms_of(data, field, [&](std::size_t i) { return (data.values[i] - mean) / data.sigma[i]; });
}

/// Names a constant that the stations at the margin of a survey have in common, where anomalies have mostly died out;
/// "" otherwise.
std::string constant_warning(const DataSet& data, std::size_t f, const FieldInfo& field) {
  // margin: the outer tenth on each side; what falls as slowly as gz is left out, it reaches further. Anomalies alone
  // have medians of 0.2 to 0.45 of their scatter there
  constexpr double inner = 0.8, suspicious = 0.6, many_sigmas = 3;
  constexpr std::size_t least_stations = 8;
  if (!field.is_magnetic && field.unit != "Eotvos") return "";
  const Bounds area = bounds_of(data.points);
  const auto is_outside = [](double at, double least, double most) {
    return std::abs(2 * at - least - most) > inner * (most - least);
  };
  std::vector<double> values, sigmas, scatter;
  const std::size_t first = f * static_cast<std::size_t>(data.points.size());
  for (std::size_t i = 0; i < data.points.easting.size(); ++i) {
    if (!is_outside(data.points.easting[i], area.west, area.east) &&
        !is_outside(data.points.northing[i], area.south, area.north)) {
      continue;
    }
    values.push_back(data.values[first + i] * field.scale);
    sigmas.push_back(data.sigma[first + i] * field.scale);
  }
  if (values.size() < least_stations) return "";
  const double constant = median(values), sigma = median(sigmas);
  for (const double value : values) scatter.push_back(std::abs(value - constant));
  // of normal errors the median of their sizes is 0.6745 sigma
  const double usual = median(scatter) / 0.6745;
  if (std::abs(constant) <= std::max(suspicious * usual, many_sigmas * sigma)) return "";
  return fmt::format(
      "{}: {} at the margin of the survey is {:.3g} {} (median of {}, which scatter by {:.3g}), {:.2g} times its "
      "sigma: is it a constant that no cells explain, as regional fields and base levels leave? inversion.trend: "
      "constant takes it out",
      shown(data.name), field.name, constant, field.unit, counted(std::ssize(values), "station"), usual,
      std::abs(constant) / sigma);
}

/// Where data and sigma can hardly be in their unit, or belong to each other.
std::vector<std::string> signal_warnings(const DataSet& data, Trend trend) {
  constexpr double most_sigmas = 1000;
  std::vector<std::string> warnings;
  std::size_t f = 0;
  for (const FieldInfo& field : data.fields) {
    const std::size_t number = f++;
    double largest = 0;
    const auto n = static_cast<std::size_t>(data.points.size());
    for (std::size_t i = number * n; i < (number + 1) * n; ++i) largest = std::max(largest, std::abs(data.values[i]));
    if (const std::string doubt = field_warning(field.field, largest * field.scale); !doubt.empty()) {
      warnings.push_back(shown(data.name) + ": " + doubt);
      continue;
    }
    if (data.sigma_is_unknown) continue;
    const double ratio = signal_to_sigma(data, number, trend != Trend::none);
    const std::string constant = trend == Trend::none ? constant_warning(data, number, field) : "";
    if (!constant.empty()) warnings.push_back(constant);
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

/// The trend of the data themselves.
std::vector<double> fitted_trend(const DataSet& data, Trend trend) {
  const TrendBasis basis = make_trend_basis(data, trend);
  std::vector<double> values(data.values.size(), 0.0);
  basis.add(basis.coefficients(data.values), values);
  return values;
}

/// How much larger what a `further` trend takes out of each field of a data set is than what it leaves (RMS over
/// sigma).
std::vector<double> regional_parts(const DataSet& data, Trend trend, Trend further) {
  std::vector<double> parts;
  const auto n_fields = static_cast<std::size_t>(data.fields.size());
  // as many coefficients as stations fit anything
  constexpr std::size_t stations_a_coefficient = 3;
  if (data.values.size() < stations_a_coefficient * n_fields * coefficients(further)) return parts;
  const std::vector<double> out = fitted_trend(data, trend), further_out = fitted_trend(data, further);
  for (std::size_t f = 0; f < n_fields; ++f) {
    const double rest =
        rms_of(data, f, [&](std::size_t i) { return (data.values[i] - further_out[i]) / data.sigma[i]; });
    const double part = rms_of(data, f, [&](std::size_t i) { return (further_out[i] - out[i]) / data.sigma[i]; });
    parts.push_back(rest > 0 ? part / rest : 0);
  }
  return parts;
}

/// Names data that a regional field may have been left in beyond the trend that is solved for; "" otherwise.
std::string regional_field(const InversionOutcome& outcome, Trend trend) {
  struct Words {
    Trend further;
    const char *left, *verb, *remedy;
  };
  static constexpr Words of_trend[] = {{Trend::linear, "mean and slope", "are", "constant or linear"},
                                       {Trend::linear, "the slope", "is", "linear"},
                                       {Trend::quadratic, "the curvature", "is", "quadratic"}};
  // an anomaly in the middle of its survey has 1, about
  constexpr double suspicious = 3;
  if (trend == Trend::quadratic) return "";
  const Words& words = of_trend[static_cast<std::size_t>(trend)];
  for (const PredictedData& data : outcome.model.data) {
    const std::vector<double> parts = regional_parts(data, trend, words.further);
    const std::vector<std::string> names = names_of(data.fields);
    for (std::size_t f = 0; f < parts.size(); ++f) {
      if (parts[f] <= suspicious) continue;
      return fmt::format(
          "{} of {} in {} {} {:.2g} times its scatter about {} (RMS): is there a regional field, which "
          "inversion.trend: {} takes out?",
          words.left, names[f], shown(data.name), words.verb, parts[f], trend == Trend::none ? "them" : "it",
          words.remedy);
    }
  }
  return "";
}

/// What the standard deviations are from, and how good they are.
std::string uncertainty_text(const InvertedModel& model) {
  if (model.rank == 0) {
    return fmt::format("from {} each known to {:.0f} %", counted(model.samples, "sample"),
                       100 / std::sqrt(2.0 * static_cast<double>(model.samples)));
  }
  return fmt::format("from {} of the data, the prior's part good to {:.2g} %", counted(model.rank, "direction"),
                     100 * model.sigma_error);
}

/// How much of it the low rank holds; what it leaves out would lower the standard deviations.
std::string least_trace_text(const InvertedModel& model) {
  constexpr double most_of_it = 0.8;
  const bool is_short = *model.resolution_trace_least < most_of_it * *model.resolution_trace;
  return fmt::format("; {:.4g} of them in these directions{}", *model.resolution_trace_least,
                     is_short ? ": a larger rank may lower the standard deviations" : "");
}

/// The lines with which an inversion begins: cells, data, settings.
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

/// The names of the table's columns, and a row of it: at most 80 columns wide.
std::string convergence_header() {
  return fmt::format("{:<7} {:>9} {:>9} {:>7} {:>9} {:>8} {:>8} {:>8} {:>7}\n", "stage", "beta", "phi_d", "chi",
                     "phi_m", "products", "min", "max", "seconds");
}

std::string convergence_line(const ConvergenceRow& row) {
  return fmt::format("{:<7} {:>9.3e} {:>9.4g} {:>7.3g} {:>9.3e} {:>8} {:>8.4g} {:>8.4g} {:>7.2f}\n", row.stage,
                     row.beta, row.phi_d, row.chi, row.phi_m, row.products, row.minimum, row.maximum, row.seconds);
}

/// What --dry-run prints beside the heading: bytes of G by precision for so many ranks, of vectors, of the model and
/// the files beside it.
std::string inversion_sizes(const Case& run, const InversionInputs& inputs, int ranks, const std::string& ranks_text) {
  const std::int64_t epochs = inputs.n_epochs();
  std::int64_t rows = 0;
  for (const DataSet& data : inputs.data) rows += row_fields(data.fields).size() * data.points.size();
  // G serves all epochs
  rows /= epochs;
  const std::int64_t mine = (rows + ranks - 1) / ranks;
  const InversionSettings& settings = run.inversion->settings;
  const std::int64_t columns = components(settings.unknown) * inputs.cells->size();
  std::string text;
  const auto row = [&](const char* label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("ranks", ranks_text);
  row("G", fmt::format("{} x {}", grouped(rows), grouped(columns)));
  for (const auto& [word, precision] : stored_precision_choices) {
    row(fmt::format("as {}", word).c_str(), size_text(stored_bytes(precision, mine, columns)) + " a rank, if stored");
  }
  const bool is_bounded = settings.bounds || !inputs.lower.empty();
  row("vectors", size_text(vector_bytes(settings, is_bounded, inputs.cells->size(), epochs, mine)) + " a rank");
  if (const std::int64_t of_low_rank = subspace_size(settings.uncertainty.rank, epochs * rows); of_low_rank > 0) {
    row("low rank", size_text(epochs * columns * of_low_rank * static_cast<std::int64_t>(sizeof(float))) + " a rank");
  }
  for (const ModelFileSize& file : model_file_sizes(run, inputs)) {
    const bool own = file.key == "output.file";
    const std::string kind = own ? "" : fmt::format("{}, ", info(model_format(file.file).value()).long_name);
    row(own ? "model" : "also", fmt::format("{}, {}about {}", file.file.string(), kind, size_text(file.bytes)));
  }
  return text;
}

/// Seconds of the slowest rank: to compute and keep G once, and of a product with G'WG.
struct InversionSeconds {
  double setup = 0, product = 0;
};

/// The last line of --dry-run.
std::string time_line(const std::optional<InversionSeconds>& estimate, const InversionSettings& settings) {
  if (!estimate) return fmt::format("  {:<18}not known\n", "estimated time");
  const InversionSeconds& seconds = *estimate;
  const std::int64_t products = usual_products(settings);
  return fmt::format("  {:<18}{}: {} to compute G once, {} for each of about {} with it\n", "estimated time",
                     duration_text(seconds.setup + static_cast<double>(products) * seconds.product),
                     duration_text(seconds.setup), duration_text(seconds.product), counted(products, "product"));
}

/// Warnings for densities, bounds or a reference that suggest another unit.
std::vector<std::string> density_warnings(const Case& run, const InversionInputs& inputs) {
  std::vector<std::string> warnings = constant_warnings(run.gravitational_constant);
  const InversionSettings& settings = run.inversion->settings;
  const PlausibleRange& contrast = plausible(Quantity::contrast);
  const auto range_text = [](const Range& values) { return model_range_text(values, Unknown::density); };
  if (settings.bounds && are_tiny(*settings.bounds, contrast)) {
    warnings.push_back(fmt::format("inversion.bounds are {}; are they g/cm3? 1 g/cm3 is 1000 kg/m3: write kg/m3",
                                   range_text(*settings.bounds)));
  }
  if (const Range limits = finite_range_of(inputs.lower, inputs.upper); are_tiny(limits, contrast)) {
    warnings.push_back(
        fmt::format("inversion.bounds.file has bounds of {}; are they g/cm3? density_unit: g/cm3 beside "
                    "the file says so",
                    range_text(limits)));
  }
  const Range reference = range_of(inputs.reference);
  if (are_tiny(reference, contrast)) {
    warnings.push_back(fmt::format(
        "inversion.reference is {}; is it g/cm3? Densities in the case are kg/m3, density_unit: g/cm3 beside "
        "a file says what is in it",
        range_text(reference)));
  } else if (largest_of(reference) > contrast.most) {
    warnings.push_back(
        fmt::format("inversion.reference is {}, {}; is its unit right?", range_text(reference), contrast.beyond));
  }
  return warnings;
}

/// The same, and of data whose sigma can hardly be theirs.
std::vector<std::string> inversion_warnings(const Case& run, const InversionInputs& inputs) {
  const InversionSettings& settings = run.inversion->settings;
  std::vector<std::string> warnings;
  if (settings.unknown == Unknown::density) warnings = density_warnings(run, inputs);
  for (const DataSet& data : inputs.data) {
    for (std::string& warning : signal_warnings(data, settings.trend)) warnings.push_back(std::move(warning));
  }
  return warnings;
}

/// What a model leaves of one field of its data, over sigma.
std::vector<double> residuals_of(const PredictedData& data, std::size_t field) {
  const auto n = static_cast<std::size_t>(data.points.size());
  std::vector<double> residuals;
  for (std::size_t i = field * n; i < (field + 1) * n; ++i) {
    residuals.push_back((data.values[i] - data.predicted[i]) / data.sigma[i]);
  }
  return residuals;
}

/// Warnings for data where Huber's norm may treat an anomaly as outliers.
std::vector<std::string> borne_out_warnings(const InversionOutcome& outcome, DataNorm norm) {
  std::vector<std::string> warnings;
  if (norm == DataNorm::squares) return warnings;
  constexpr double large = 3, suspicious = 0.005;
  for (const PredictedData& data : outcome.model.data) {
    const StationNeighbors neighbors(data.points);
    const std::vector<std::string> names = names_of(data.fields);
    for (std::size_t f = 0; f < names.size(); ++f) {
      const std::vector<double> sizes = neighbors.borne_out(residuals_of(data, f));
      const auto n = std::count_if(sizes.begin(), sizes.end(), [](double size) { return size > large; });
      if (static_cast<double>(n) <= suspicious * static_cast<double>(sizes.size())) continue;
      warnings.push_back(fmt::format(
          "{}: the residuals of {} are beyond 3 sigma at {} whose neighbours have such too: an anomaly may be left in "
          "them; compare with inversion.data_norm: 2, or lower inversion.target_misfit",
          shown(data.name), names[f], counted(n, "station")));
    }
  }
  return warnings;
}

/// The warning where most of a model lies outside the survey, seen from above; "" otherwise, and for too few stations.
std::string beside_survey(const InvertedModel& model) {
  constexpr std::size_t fewest = StationNeighbors::count + 1;
  std::vector<double> eastings, northings;
  for (const PredictedData& data : model.data) {
    eastings.insert(eastings.end(), data.points.easting.begin(), data.points.easting.end());
    northings.insert(northings.end(), data.points.northing.begin(), data.points.northing.end());
  }
  if (eastings.size() < fewest) return "";
  const Range east = range_of(eastings), north = range_of(northings);
  const std::vector<double> sizes = amplitude_of(model.values, model.unknown, std::ssize(model.cells));
  const CellCounts counts = counts_of(model.edges);
  double all = 0, beside = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t cell = model.cells[i % model.cells.size()];
    const std::array<std::int64_t, 3> at = {cell % counts[0], cell / counts[0] % counts[1],
                                            cell / counts[0] / counts[1]};
    double amount = std::abs(sizes[i]);
    std::array<double, 3> center{};
    for (std::size_t d = 0; d < 3; ++d) {
      const double* const edge = &model.edges[d][static_cast<std::size_t>(at[d])];
      amount *= edge[1] - edge[0];
      center[d] = edge[0] + (edge[1] - edge[0]) / 2;
    }
    all += amount;
    const auto is_beside = [](double x, const Range& range) { return x < range.min || x > range.max; };
    if (is_beside(center[0], east) || is_beside(center[1], north)) beside += amount;
  }
  constexpr double most_of_it = 0.8;
  if (!(beside > most_of_it * all)) return "";
  return fmt::format(
      "{:.0f} % of the model ({} times volume) lies beside the survey, seen from above, where data hardly see it: is "
      "there a regional field, which inversion.trend takes out?",
      100 * beside / all, name(model.unknown));
}

std::vector<std::string> outcome_warnings(const Case& run, const InversionOutcome& outcome) {
  const InversionSettings& settings = run.inversion->settings;
  std::vector<std::string> warnings = borne_out_warnings(outcome, settings.data_norm);
  if (std::string beside = beside_survey(outcome.model); !beside.empty()) warnings.push_back(std::move(beside));
  if (const std::string unsettled = unsettled_message(outcome.model.convergence, settings); !unsettled.empty()) {
    warnings.push_back(unsettled);
  }
  const Unknown unknown = settings.unknown;
  const PlausibleRange& usual = plausible(unknown);
  const Range found = range_of_model(outcome.model);
  const std::string found_text = fmt::format("{} of {} was found", name(unknown), model_range_text(found, unknown));
  const bool are_doubtful = largest_of(found) > usual.common;
  // a trend was thought of, and is not enough
  const bool has_trend = settings.trend != Trend::none;
  const std::string regional =
      are_doubtful || has_trend || !outcome.on_target ? regional_field(outcome, settings.trend) : "";
  if (largest_of(found) > usual.most) {
    warnings.push_back(fmt::format("{}, {}; {}", found_text, usual.beyond,
                                   !regional.empty() ? regional
                                                     : "check the units of the data and sigma, or give "
                                                       "inversion.bounds"));
  } else if (!regional.empty()) {
    warnings.push_back(fmt::format("{}; {}", found_text, regional));
  } else if (are_tiny(found, usual) && !(settings.bounds && are_tiny(*settings.bounds, usual))) {
    warnings.push_back(fmt::format("no {} above {:.4g} {} was found; check the units of the data and sigma",
                                   name(unknown), largest_of(found), unit(unknown)));
  }
  return warnings;
}

/// Whether residuals are alike from station to station; "" where too few stations say nothing.
std::string whiteness_text(const MoransI& found) {
  if (!(found.deviation > 0)) return "";
  constexpr double surely = 3, noticeable = 0.3;
  const bool is_alike = found.value > std::max(found.expected + surely * found.deviation, noticeable);
  return fmt::format("  Moran's I of the residuals {:.2f}, of white noise 0 +- {:.2f}{}\n", found.value,
                     found.deviation, is_alike ? ": smooth noise or an anomaly is left" : "");
}

/// The last lines: misfit by data set and field, what was found, uncertainty. `figure`: what draw_and_tell() says.
std::string inversion_summary(const Case& run, const InversionOutcome& outcome, double seconds,
                              const std::string& figure) {
  const InvertedModel& model = outcome.model;
  std::string text;
  for (const PredictedData& data : model.data) {
    const StationNeighbors neighbors(data.points);
    std::size_t f = 0;
    for (const FieldInfo& field : data.fields) {
      const std::vector<double> residuals = residuals_of(data, f++);
      const double squares = std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0);
      const double rms = std::sqrt(squares / static_cast<double>(residuals.size()));
      text += data.sigma_is_unknown
                  ? fmt::format(
                        "{}, {}: RMS of residuals {:.4g} {}; sigma is unknown, chi of no "
                        "meaning\n",
                        shown(data.name), field.name, rms, field.unit)
                  : fmt::format("{}, {}: RMS of residuals over sigma {:.3f}\n", shown(data.name), field.name, rms);
      text += whiteness_text(neighbors.morans_i(residuals));
    }
  }
  const Range found = range_of_model(model);
  text += fmt::format("{}: {:.4g} to {:.4g} {}", name(model.unknown), found.min, found.max, unit(model.unknown));
  if (!model.sigma.empty()) {
    const auto [low, high] = std::minmax_element(model.sigma.begin(), model.sigma.end());
    const bool is_bounded = run.inversion->settings.bounds || run.inversion->bounds;
    text += fmt::format("\nstandard deviation{}: {:.3g} to {:.3g} {}, {}", is_bounded ? " without bounds" : "", *low,
                        *high, unit(model.unknown), uncertainty_text(model));
  }
  if (model.resolution_trace) {
    text +=
        fmt::format("\ntrace of the resolution matrix: {:.4g} +- {:.2g} of {} parameters", *model.resolution_trace,
                    model.resolution_trace_error.value_or(0), grouped(static_cast<std::int64_t>(model.values.size())));
    if (model.resolution_trace_least) text += least_trace_text(model);
  }
  const std::int64_t products = model.convergence.empty() ? 0 : model.convergence.back().products;
  return text + fmt::format("\n{}: {}, {} in {}{}\n", shown(output_file(run).string()),
                            counted(static_cast<std::int64_t>(model.convergence.size()), "solution"),
                            counted(products, "product"), duration_text(seconds), figure);
}

/// What the model depends on: a checkpoint of anything else is not gone on from.
Digest inversion_hash(const Case& run, const InversionInputs& inputs) {
  Checksum checksum;
  checksum.add(std::string_view(run.identity));
  for (const std::vector<double>& edges : inputs.cells->edges()) checksum.add(edges);
  for (const std::int64_t cell : inputs.cells->cells()) checksum.add(cell);
  for (const auto* values : {&inputs.reference, &inputs.lower, &inputs.upper, &inputs.cell_weights, &inputs.start}) {
    checksum.add(static_cast<std::int64_t>(values->size()));
    checksum.add(*values);
  }
  for (const DataSet& data : inputs.data) {
    for (const auto* values :
         {&data.points.easting, &data.points.northing, &data.points.upward, &data.values, &data.sigma}) {
      checksum.add(*values);
    }
  }
  return checksum.digest();
}

/// Prints the table while it grows, shows the progress of samples, and keeps checkpoints.
class InvertObserver final : public InversionObserver {
public:
  InvertObserver(const InvertOptions& options, const Case& run, const Digest& hash, const Communicator& communicator)
      : m_run(run),
        m_hash(hash),
        m_communicator(communicator),
        m_tells(communicator.rank() == 0 && !options.quiet),
        m_style(communicator.rank() == 0 ? progress_style(options.quiet) : ProgressStyle::silent) {}

  void prepared(const std::vector<std::string>& storage) override {
    m_storage = storage;
    if (!m_tells) return;
    for (const std::string& line : storage) std::cout << "sensitivities: " << line << '\n';
    std::cout << '\n' << convergence_header() << std::flush;
  }
  void row(const ConvergenceRow& row) override {
    if (m_tells) std::cout << convergence_line(row) << std::flush;
  }
  void step(const char* what, std::int64_t done, std::int64_t all) override {
    if (m_what != what) m_progress.emplace(m_style, std::cerr);
    m_what = what;
    m_progress->show(static_cast<double>(done) / static_cast<double>(all),
                     [&] { return std::string(what) + " " + std::to_string(done) + " of " + std::to_string(all); });
  }
  void product() override {
    if (any(m_communicator, interrupted())) throw Stopped();
  }
  void state(const InversionState& state) override {
    if (m_run.output.checkpoint) {
      m_state = state;
      double since = seconds_since(m_last);
      broadcast(m_communicator, since);
      if (since >= m_run.output.checkpoint->every_seconds) keep(state);
    }
    product();
  }
  /// Keeps the last state of an inversion that was stopped; what Stopped says. Collective.
  [[nodiscard]] std::string keep_stopped() {
    if (!m_state) return "";
    keep(*m_state);
    return m_failure.empty() ? m_run.output.checkpoint->file.string() + " holds what was done, --resume goes on from it"
                             : "";
  }
  [[nodiscard]] const std::vector<std::string>& storage() const noexcept { return m_storage; }

private:
  void keep(const InversionState& state) {
    m_last = std::chrono::steady_clock::now();
    if (m_communicator.rank() == 0) {
      m_failure.clear();
      try {
        write_checkpoint(m_run.output.checkpoint->file, m_hash, state);
      } catch (const RunError& error) {
        m_failure = error.what();
        warn(m_failure + "; the inversion goes on without it");
      }
    }
    broadcast(m_communicator, m_failure);
  }

  const Case& m_run;
  Digest m_hash;
  const Communicator& m_communicator;
  bool m_tells;
  ProgressStyle m_style;
  /// of the part that `m_what` names
  std::optional<Progress> m_progress;
  std::string m_what;
  std::vector<std::string> m_storage;
  /// the last one, where checkpoints are kept
  std::optional<InversionState> m_state;
  std::string m_failure;
  Moment m_last = std::chrono::steady_clock::now();
};

/// Where the inversion goes on. Collective.
std::optional<InversionState> state_to_go_on(const InvertOptions& options, const Case& run, const Digest& hash,
                                             const Communicator& communicator) {
  if (!run.output.checkpoint) return std::nullopt;
  const fs::path& file = run.output.checkpoint->file;
  InversionState state;
  const bool found = go_on(options, run, hash, 1, communicator, [&] { return read_checkpoint(file, hash, state); });
  if (communicator.rank() == 0) {
    tell_checkpoint(
        options, file,
        !found ? "no checkpoint yet, the inversion begins at its start"
               : fmt::format("goes on after {}{}", counted(static_cast<std::int64_t>(state.rows.size()), "solution"),
                             state.samples > 0 ? " and " + counted(state.samples, "sample") : ""));
  }
  return found ? std::optional(std::move(state)) : std::nullopt;
}

ModelHeader model_header(const Case& run, const std::vector<std::string>& storage, const InversionOutcome& outcome,
                         int ranks, Moment begin) {
  auto header = header_for<ModelHeader>(run, "invert", ranks);
  header.file = output_file(run);
  header.gravitational_constant = run.gravitational_constant;
  if (run.inversion->settings.unknown != Unknown::density) header.magnetic = run.magnetic;
  for (const std::string& line : storage) header.sensitivities += (header.sensitivities.empty() ? "" : "\n") + line;
  header.stored_bytes = outcome.stored_bytes;
  header.setup_seconds = outcome.setup_seconds;
  header.inversion_seconds = outcome.inversion_seconds;
  header.total_seconds = seconds_since(begin);
  return header;
}

/// Writes, draws and sums up, and returns why files beside the model were not written; on rank 0 only.
std::vector<std::string> finish(const InvertOptions& options, const Case& run, const ModelHeader& header,
                                const InversionOutcome& outcome, Moment begin) {
  std::optional<fs::path> checkpoint;
  if (run.output.checkpoint) checkpoint = run.output.checkpoint->file;
  write_computed(checkpoint, [&] { write_model(header, outcome.model); });
  const ExportedModel exported = export_model(run, outcome.model);
  // the model is on the disk: nothing below may lose it
  for (const std::string& warning :
       diagnosed("what the model leaves of the data", [&] { return outcome_warnings(run, outcome); })) {
    warn(warning);
  }
  const double seconds = seconds_since(begin);
  const std::string drawn = draw_and_tell(
      run.output, options.quiet, [&] { return draw_model(header.file, *run.output.figure, run.output.figure_style); });
  if (!options.quiet) {
    std::cout << '\n' << diagnosed("the misfit", [&] { return inversion_summary(run, outcome, seconds, drawn); });
    for (const std::string& line : exported.lines) std::cout << line << '\n';
    std::cout << std::flush;
    for (const std::string& note : exported.notes) std::cerr << "note: " << shown(note) << std::endl;
  }
  return exported.failures;
}

void tell_inputs(const InvertOptions& options, const Case& run, const InversionInputs& inputs) {
  for (const std::string& warning : inputs.warnings) warn(warning);
  for (const std::string& warning :
       diagnosed("whether units are plausible", [&] { return inversion_warnings(run, inputs); })) {
    warn(warning);
  }
  tell_notes(options, run, inputs.notes);
}

/// Of one data set, or its first epoch: measured on a sample of the stations with G stored, or, where it does not fit,
/// as the plan has a product. Collective.
InversionSeconds estimated_seconds_of(const Case& run, const PrismSource& columns, const DataSet& data,
                                      const Communicator& communicator) {
  Request request = run.request();
  request.fields = row_fields(data.fields);
  request.execution.partition = Partition::points;
  const Machine machine = machine_here(request, communicator);
  constexpr std::int64_t pairs_of_sample = 4'000'000, least_points = 4;
  const std::int64_t mine = (data.points.size() + communicator.size() - 1) / communicator.size();
  const std::int64_t sampled =
      std::min(mine, std::max(pairs_of_sample / (columns.size() * request.fields.size()), least_points));
  StorageSettings storage = run.sensitivity;
  const std::int64_t needed = bytes_to_store(stored_precision(storage), request.fields.size(), mine, columns.size());
  const std::int64_t available = machine.engine.is_device ? machine.engine.free_memory : machine.host_memory;
  if (any(communicator, needed > within_limit(available, storage.memory_limit))) {
    const Plan plan = make_plan(request, problem_size(columns, data.points), machine);
    return {0, 2 * estimated_seconds(request, columns, data.points, plan, communicator)};
  }
  storage.store = machine.engine.is_device ? Store::device : Store::memory;
  storage.compression.reset();
  const Moment begin = std::chrono::steady_clock::now();
  HostOperator g(columns, sample_of(data.points, sampled * communicator.size()), request, storage, communicator);
  const double setup = seconds_since(begin);
  std::vector<double> density(static_cast<std::size_t>(g.columns())), fields(static_cast<std::size_t>(g.rows()));
  // the first product allocates
  Moment made{};
  for (int product = 0; product < 2; ++product) {
    made = std::chrono::steady_clock::now();
    g.apply(density, fields);
    g.apply_transpose(fields, density);
  }
  InversionSeconds slowest;
  for (const double seconds : gather_everywhere(communicator, setup)) slowest.setup = std::max(slowest.setup, seconds);
  for (const double seconds : gather_everywhere(communicator, seconds_since(made))) {
    slowest.product = std::max(slowest.product, seconds);
  }
  const double factor = static_cast<double>(mine) / static_cast<double>(sampled);
  return {factor * slowest.setup, factor * slowest.product};
}

/// Of all data sets. Collective.
InversionSeconds estimated_seconds_of(const Case& run, const InversionInputs& inputs,
                                      const Communicator& communicator) {
  const MagnetizedPrisms columns(*inputs.cells, unit_magnetizations(run.inversion->settings.unknown, run.magnetic));
  InversionSeconds all;
  for (std::size_t i = 0; i < inputs.data.size(); i += static_cast<std::size_t>(inputs.n_epochs())) {
    const InversionSeconds one = estimated_seconds_of(run, columns, inputs.data[i], communicator);
    all.setup += one.setup;
    all.product += one.product * static_cast<double>(inputs.n_epochs());
  }
  return all;
}

/// Inverts, writes, and removes the checkpoint. Collective.
void invert_and_write(const InvertOptions& options, const Case& run, InversionInputs& inputs,
                      const Communicator& communicator, Moment begin) {
  const bool is_root = communicator.rank() == 0;
  std::unique_ptr<CheckpointLock> lock;
  agree(communicator, [&] {
    if (!is_root || !run.output.checkpoint) return;
    lock = at_places_of(run, [&] { return std::make_unique<CheckpointLock>(run.output.checkpoint->file); });
  });
  const Digest hash = inversion_hash(run, inputs);
  const std::optional<InversionState> state = state_to_go_on(options, run, hash, communicator);
  auto header = header_for<SensitivityHeader>(run, "invert", communicator.size());
  header.cells = inputs.cells.get();
  header.unknown = run.inversion->settings.unknown;
  SensitivityFiles files(std::move(header), communicator);
  InversionInput input;
  input.request = run.request();
  input.storage = run.sensitivity;
  input.storage.rows = &files;
  input.settings = run.inversion->settings;
  input.cells = inputs.cells.get();
  input.epochs = std::move(inputs.epochs);
  input.data = std::move(inputs.data);
  input.reference = std::move(inputs.reference);
  input.lower = std::move(inputs.lower);
  input.upper = std::move(inputs.upper);
  input.cell_weights = std::move(inputs.cell_weights);
  input.start = std::move(inputs.start);
  InvertObserver observer(options, run, hash, communicator);
  const InversionOutcome outcome = made_together(communicator, [&] {
    return at_places_of(run, [&] {
      try {
        return invert(input, communicator, &observer, state ? &*state : nullptr);
      } catch (const Stopped&) {
        throw Stopped(observer.keep_stopped());
      }
    });
  });
  agree(communicator, [&] {
    if (!is_root) return;
    const std::vector<std::string> failures = finish(
        options, run, model_header(run, observer.storage(), outcome, communicator.size(), begin), outcome, begin);
    if (run.output.checkpoint) remove_checkpoint(run.output.checkpoint->file, hash);
    if (!failures.empty()) {
      if (!outcome.on_target) warn(outcome.message);
      throw RunError(fmt::format("{}", fmt::join(failures, "\nerror: ")));
    }
    if (!outcome.on_target) {
      throw RunError(outcome.message + " (" + output_file(run).string() + " holds the last model)");
    }
  });
}

}  // namespace

ProgramEnd execute(const InvertOptions& options, const std::vector<std::string>& kokkos_options,
                   const Communicator& communicator) {
  const Moment begin = std::chrono::steady_clock::now();
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  catch_interrupts();

  Case run;
  InversionInputs inputs;
  {
    const NothingToLose reading;
    ProblemList problems;
    run = read_checked_case(options, CaseUse::inversion, communicator, problems);
    agree(communicator, [&] { problems.throw_if_any(); });
    inputs = make_inversion(run, communicator);
    agree(communicator, throw_if_interrupted);
  }
  if (is_root) tell_inputs(options, run, inputs);
  if (options.check && !options.dry_run) {
    if (tells) std::cout << shown(options.file.string()) << ": no errors found\n";
    return {};
  }
  const StartedRanks started = start_ranks(kokkos_options, communicator);
  if (tells) std::cout << inversion_heading(run, inputs) << std::flush;
  if (options.dry_run) {
    const std::string sizes = inversion_sizes(run, inputs, communicator.size(), placement_text(started.places));
    const auto seconds = diagnosed_together(communicator, "the time", [&] {
      return std::optional(at_places_of(run, [&] { return estimated_seconds_of(run, inputs, communicator); }));
    });
    if (tells) std::cout << sizes << time_line(seconds, run.inversion->settings) << std::flush;
    return {};
  }
  agree(communicator, [&] {
    if (is_root) check_model_disks(run, model_file_sizes(run, inputs));
  });
  stop_between_products(tells, communicator.size() == 1);
  invert_and_write(options, run, inputs, communicator, begin);
  return {};
}

}  // namespace prismfield
