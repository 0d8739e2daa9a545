// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

/// The section inversion.
class InversionReader : public CaseReader {
public:
  explicit InversionReader(const CaseReader& values) : CaseReader(values) {}

  InversionSpec inversion(const Value& value) {
    const Section section(*this, value);
    InversionSpec result;
    InversionSettings& settings = result.settings;
    if (!section) return result;
    take(section, "unknown", settings.unknown, unknown_choices);
    if (const auto v = section.need("data", "the name of a file of measurements, {file: name} or a list of these")) {
      data(*v, result);
    }
    if (const auto v = section.find("sigma")) sigma(*v, result);
    take(section, "data_norm", settings.data_norm,
         std::array{Choice<DataNorm>{"2", DataNorm::squares}, Choice<DataNorm>{"huber", DataNorm::huber}});
    if (const auto v = section.find("reference")) result.reference = model(*v, settings.unknown);
    if (const auto v = section.find("start")) result.start = model(*v, settings.unknown);
    model_terms(section, result);
    if (const auto* one = std::get_if<double>(&result.reference)) check_model(section, "reference", *one, result);
    if (const auto* one = result.start ? std::get_if<double>(&*result.start) : nullptr) {
      check_model(section, "start", *one, result);
    }
    if (const auto v = section.find("topography")) result.topography = topography(*v);
    if (const auto v = section.find("active")) result.active = cell_values(*v, "active");
    if (const auto v = section.find("beta")) beta(section, *v, settings);
    take(section, "trend", settings.trend, trend_choices);
    ways(section, settings);
    check_rank(section, settings, result.n_epochs);
    if (const auto v = section.find("change")) {
      settings.change = number(*v).value_or(settings.change);
      if (result.n_epochs == 1) {
        problem(*v, "is for several epochs; write data: {epochs: [2021.csv, 2022.csv]}, or leave change out");
      }
    }
    return result;
  }

private:
  /// Names of the epochs, which are those of every data set.
  void epoch_labels(const Value& value, std::int64_t n_epochs, InversionSpec& spec) {
    std::vector<std::string> labels;
    bool has_error = value.node->kind != Kind::list;
    each(value, "a list of the epochs' names", [&](const Value& name) {
      const auto label = words(name, "the name of an epoch");
      const bool is_repeated = label && std::find(labels.begin(), labels.end(), *label) != labels.end();
      if (is_repeated) {
        problem(name, fmt::format("is {} once more; every epoch needs a name of its own", kind_name(*name.node)));
      }
      has_error = has_error || !label || is_repeated;
      labels.push_back(label.value_or(""));
    });
    if (has_error) return;
    if (static_cast<std::int64_t>(labels.size()) != n_epochs) {
      problem(value, fmt::format("has {} names for {}", labels.size(), counted(n_epochs, "epoch")));
      return;
    }
    if (!spec.epoch_labels.empty() && spec.epoch_labels != labels) {
      problem(value, "differs from the labels of a data set before it; write them beside one of them");
      return;
    }
    spec.epoch_labels = std::move(labels);
  }

  std::int64_t epochs(const Section& section, const ObservedDataFile& of_all, InversionSpec& spec) {
    const auto files = section.find("epochs");
    if (!files || !is_list(*files, "a list of the names of files, one an epoch,")) return 0;
    const std::size_t n = files->node->items.size();
    if (n == 0) problem(*files, "is an empty list; the names of files, one an epoch, are expected");
    if (n == 1) problem(*files, "has one file; name two or more, or write file: for data of one time");
    for (std::size_t i = 0; i < n; ++i) {
      const Value name = item(*files, i);
      ObservedDataFile epoch = of_all;
      epoch.file = path(name).value_or("");
      spec.data.push_back(epoch);
      spec.data_keys.push_back(name.path);
    }
    if (const auto v = section.find("labels")) epoch_labels(*v, static_cast<std::int64_t>(n), spec);
    return static_cast<std::int64_t>(n);
  }

  /// Returns the number of its epochs, 0 where there is an error.
  std::int64_t data_set(const Value& value, InversionSpec& spec) {
    ObservedDataFile result;
    if (value.node->kind == Kind::scalar) {
      result.file = path(value).value_or("");
      spec.data.push_back(result);
      spec.data_keys.push_back(value.path);
      return 1;
    }
    if (value.node->kind != Kind::map) {
      expects(value, "the name of a file or {file: name}");
      return 0;
    }
    const Section section(*this, value);
    const bool has_epochs = section.has("epochs");
    if (has_epochs || section.has("labels")) static_cast<void>(section.one_of({{"file", {}}, {"epochs", {"labels"}}}));
    if (const auto v = section.find("columns")) result.columns = column_names(*v);
    take(section, "axes", result.axes, axes_choices);
    if (const auto v = section.find("fields")) result.fields = read_fields(*this, *v);
    take(section, "underground", result.is_underground);
    result.length_to_si = length_factor(section);
    if (has_epochs) return epochs(section, result, spec);
    need(section, "file", "the name of a file", result.file);
    spec.data.push_back(result);
    spec.data_keys.push_back(join_key(value.path, "file"));
    return 1;
  }

  void data(const Value& value, InversionSpec& spec) {
    if (value.node->kind != Kind::list) {
      spec.n_epochs = std::max<std::int64_t>(data_set(value, spec), 1);
      return;
    }
    if (value.node->items.empty()) problem(value, "is an empty list; the name of a file or more are expected");
    std::int64_t first = 0;
    for (std::size_t i = 0; i < value.node->items.size(); ++i) {
      const std::int64_t n = data_set(item(value, i), spec);
      if (n == 0) continue;
      if (first == 0) first = n;
      if (n == first) continue;
      problem(item(value, i), fmt::format("has {}, a data set before it {}; all need the same epochs",
                                          counted(n, "epoch"), grouped(first)));
    }
    spec.n_epochs = std::max<std::int64_t>(first, 1);
  }

  /// {gz: 0.05, gzz: 1}; false when a key of it has an error.
  bool add_sigma(const Value& value, std::map<Field, double>& sigmas) {
    const Section section(*this, value);
    for (const FieldInfo& field : field_infos) {
      const auto v = section.find(std::string(field.name));
      if (!v) continue;
      if (const auto sigma = number(*v)) sigmas[field.field] = *sigma;
    }
    return sigmas.size() == value.node->entries.size();
  }

  void sigma(const Value& value, InversionSpec& spec) {
    SigmaRule& rule = spec.sigma.emplace();
    if (value.node->kind == Kind::scalar) {
      spec.sigma_is_of_one_field = true;
      const auto all = number(value, "a number above 0, or {relative: 0.02, floor: {gz: 0.05}}");
      for (const FieldInfo& field : field_infos) rule.floor[field.field] = all.value_or(1);
      return;
    }
    const Section section(*this, value);
    bool has_error = !section;
    if (const auto v = section.find("relative")) {
      if (v->node->kind == Kind::map) {
        has_error = !add_sigma(*v, rule.relative);
      } else if (const auto all = number(*v)) {
        for (const FieldInfo& field : field_infos) rule.relative[field.field] = *all;
      } else {
        has_error = true;
      }
    }
    if (const auto v = section.find("floor")) {
      if (v->node->kind == Kind::map) {
        has_error = !add_sigma(*v, rule.floor) || has_error;
      } else {
        problem(*v,
                fmt::format("is {}; fields have units of their own: write {{gz: 0.05}}, in mGal, Eotvos, nT and nT/m",
                            kind_name(*v->node)));
        has_error = true;
      }
    }
    const auto is_above_0 = [](const auto& sigma) { return sigma.second > 0; };
    if (!has_error && std::none_of(rule.relative.begin(), rule.relative.end(), is_above_0) &&
        std::none_of(rule.floor.begin(), rule.floor.end(), is_above_0)) {
      problem(value, "has nothing above 0; write relative: 0.02, floor: {gz: 0.05} or both");
    }
  }

  /// One number for all cells, of a magnetisation three, or a file of one a cell.
  CellModelSpec model(const Value& value, Unknown unknown) {
    if (components(unknown) > 1 && value.node->kind != Kind::map) {
      std::array<double, 3> all{};
      fixed_numbers(value, "[easting, northing, upward] in A/m or {file: name}", all);
      return all;
    }
    if (value.node->kind != Kind::map) {
      return number(value, fmt::format("a {} in {} or {{file: name}}", name(unknown), unit(unknown))).value_or(0);
    }
    const bool is_density = unknown == Unknown::density;
    const Section section(*this, value);
    const char* const what = is_density                           ? "densities"
                             : unknown == Unknown::susceptibility ? "susceptibilities"
                                                                  : "magnetizations";
    DensityFile file = density_file(section, what, is_density);
    if (const auto v = section.find("density_unit"); v && !is_density) {
      problem(*v, fmt::format("is for densities; {} are in {}", what, unit(unknown)));
    }
    file.what = name(unknown);
    return file;
  }

  /// A file of one number a cell, which has no unit.
  DensityFile cell_values(const Value& value, const char* what) {
    DensityFile file = density_file(Section(*this, value), "one value per cell", false);
    file.what = what;
    return file;
  }

  std::optional<double> bound(const Value& value, double none) {
    if (value.node->kind == Kind::null) return none;
    return number(value, "a number, or null for no bound on this side,");
  }

  void bounds(const Value& value, InversionSpec& spec) {
    if (is_word(value, "none")) return;
    if (value.node->kind == Kind::map) {
      const Section section(*this, value);
      const Unknown unknown = spec.settings.unknown;
      const bool is_density = unknown == Unknown::density;
      const std::string chosen = section.one_of(
          {{"file", is_density ? Words{"density_unit"} : Words{}}, {"intervals", {}}, {"amplitude", {}}});
      const auto v = chosen.empty() ? std::nullopt : section.find(chosen);
      if (!v) return;
      const bool is_vector = components(unknown) > 1;
      if (chosen == (is_vector ? "intervals" : "amplitude")) {
        problem(*v, fmt::format("is not for unknown: {}; write [min, max]{}, or leave bounds out", name(unknown),
                                is_vector ? " of each component, {amplitude: 5}" : ""));
        return;
      }
      if (chosen == "intervals") return intervals(*v, spec.settings);
      if (chosen == "amplitude") return take(section, chosen, spec.settings.most_amplitude);
      DensityFile& file = spec.bounds.emplace();
      take(section, chosen, file.file);
      file.what = name(unknown);
      if (is_density) file.to_si = density_factor(section);
      return;
    }
    if (!is_list_of(value, 2,
                    "[min, max], where null is no bound, {file: name} or {intervals: [[0, 50], [300, 400]]}")) {
      return;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto min = bound(item(value, 0), -infinity), max = bound(item(value, 1), infinity);
    if (!min || !max) return;
    if (std::isinf(*min) && std::isinf(*max)) {
      problem(value, "has no bound on either side; write bounds: none, or leave it out");
    } else if (rises(value, *min, *max)) {
      spec.settings.bounds = Range{*min, *max};
    }
  }

  void intervals(const Value& value, InversionSettings& settings) {
    const std::string form = "a list of two or more intervals, such as [[0, 50], [300, 400]],";
    if (!is_list(value, form)) return;
    std::vector<Range> found;
    each(value, form, [&](const Value& one) {
      if (const auto interval = range(one, false)) found.push_back(*interval);
    });
    if (value.node->items.size() < 2) {
      problem(value, fmt::format("has {}; {} is expected; one interval is bounds: [min, max]",
                                 counted(static_cast<std::int64_t>(value.node->items.size()), "interval"), form));
    }
    if (found.size() < 2 || found.size() != value.node->items.size()) return;
    std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.min < b.min; });
    for (std::size_t i = 1; i < found.size(); ++i) {
      if (found[i].min > found[i - 1].max) continue;
      problem(value, fmt::format("has [{}, {}] and [{}, {}], which meet; write them as one interval", found[i - 1].min,
                                 found[i - 1].max, found[i].min, found[i].max));
      return;
    }
    settings.bounds = Range{found.front().min, found.back().max};
    settings.intervals = std::move(found);
  }

  TopographySpec topography(const Value& value) {
    const Section section(*this, value);
    TopographySpec result;
    need(section, "file", "the name of a file of heights", result.file);
    if (const auto v = section.find("columns")) result.columns = column_names(*v);
    return result;
  }

  /// One length for all directions, or three.
  std::optional<std::array<double, 3>> lengths(const Value& value) {
    std::array<double, 3> result{};
    result.fill(1);
    if (value.node->kind != Kind::list) {
      const auto all = number(value);
      if (!all) return std::nullopt;
      result.fill(*all);
      return result;
    }
    if (!fixed_numbers(value, "a number, or [easting, northing, upward],", result)) return std::nullopt;
    return result;
  }

  void smoothness(const Value& value, InversionSettings& settings) {
    if (value.node->kind != Kind::map) {
      settings.smoothness = lengths(value);
      return;
    }
    const Section section(*this, value);
    if (const auto v = section.need("lengths", "a length in metres, or [easting, northing, upward],")) {
      settings.smoothing_lengths = lengths(*v);
    }
  }

  Weighting weighting(const Value& value) {
    Weighting result;
    if (value.node->kind != Kind::map) {
      result.kind = choice(value, weighting_choices, "{depth: {power: 2, z0: 10}}").value_or(result.kind);
      return result;
    }
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"depth", {}}, {"distance", {}}});
    const auto v = chosen.empty() ? std::nullopt : section.find(chosen);
    if (!v) return result;
    result.kind = chosen == "depth" ? WeightingKind::depth : WeightingKind::distance;
    const Section parts(*this, *v);
    take(parts, "power", result.power);
    take(parts, "z0", result.z0);
    return result;
  }

  void norm(const Value& value, InversionSettings& settings) {
    if (value.node->kind != Kind::list) {
      if (const auto all = number(value)) settings.norm.fill(*all);
      return;
    }
    fixed_numbers(value, "a number, or [smallness, easting, northing, upward],", settings.norm);
  }

  Uncertainty uncertainty(const Value& value) {
    constexpr std::int64_t samples_by_default = 100;
    Uncertainty result;
    if (is_word(value, "none")) return result;
    if (is_word(value, "samples")) {
      result.samples = samples_by_default;
      return result;
    }
    if (value.node->kind != Kind::map) {
      expects(value, fmt::format("none, {{samples: {}}} or {{rank: 50}}", samples_by_default));
      return result;
    }
    const Section section(*this, value);
    if (section.has("rank")) {
      static_cast<void>(section.one_of({{"samples", {"seed"}}, {"rank", {}}}));
      take(section, "rank", result.rank);
      return result;
    }
    result.samples = samples_by_default;
    take(section, "samples", result.samples);
    take(section, "seed", result.seed);
    return result;
  }

  /// A low rank begins with the variances of the prior, one epoch's. Without smallness the prior lets every constant
  /// through and has none.
  void check_rank(const Section& section, const InversionSettings& settings, std::int64_t n_epochs) {
    if (settings.uncertainty.rank == 0) return;
    if (!(settings.smallness > 0)) {
      problem(*section.find("uncertainty"),
              "is by rank, which needs variances of the prior: with smallness 0 there are none; write smallness: 1e-3 "
              "or another number above 0, or uncertainty: {samples: 100}");
    }
    if (n_epochs > 1) {
      problem(*section.find("uncertainty"),
              "is by rank, which is for one epoch alone; write uncertainty: {samples: 100}");
    }
  }

  /// The keys of phi_m.
  void model_terms(const Section& section, InversionSpec& spec) {
    InversionSettings& settings = spec.settings;
    take(section, "reference_in_smoothness", settings.reference_in_smoothness);
    if (const auto v = section.find("bounds")) bounds(*v, spec);
    take(section, "smallness", settings.smallness);
    if (const auto v = section.find("smoothness")) smoothness(*v, settings);
    constexpr std::array<double, 3> none{};
    if (settings.smallness == 0 && (settings.smoothness == none || settings.smoothing_lengths == none)) {
      problem(section.map(),
              "has smallness 0 and smoothness 0: nothing chooses among the models that fit the data; one "
              "of them must be above 0");
    }
    if (const auto v = section.find("cell_weights")) spec.cell_weights = cell_values(*v, "cell_weights");
    if (const auto v = section.find("weighting")) {
      settings.weighting = weighting(*v);
      const bool is_blind =
          settings.weighting.kind == WeightingKind::depth || settings.weighting.kind == WeightingKind::none;
      if (is_blind && std::any_of(spec.data.begin(), spec.data.end(),
                                  [](const ObservedDataFile& file) { return file.is_underground; })) {
        problem(*v,
                "does not look at where stations are, so masses would gather around those underground; write "
                "weighting: sensitivity or distance");
      }
    }
    if (const auto v = section.find("norm")) norm(*v, settings);
  }

  /// A number for all cells, which needs no file to be judged.
  void check_model(const Section& section, const std::string& key, double value, const InversionSpec& spec) {
    if (!spec.settings.bounds) return;
    const Range& bounds = *spec.settings.bounds;
    if (value >= bounds.min && value <= bounds.max) return;
    if (const auto v = section.find(key)) {
      problem(*v, fmt::format("is {}, outside bounds, {}; change one of the two", value, bounds_text(bounds)));
    } else if (const auto limits = section.find("bounds")) {
      problem(*limits, fmt::format("do not hold {}, which is the reference where none is written; write reference: {}",
                                   value, value < bounds.min ? bounds.min : bounds.max));
    }
  }

  void beta(const Section& section, const Value& value, InversionSettings& settings) {
    if (is_word(value, "auto")) return;
    if (is_word(value, "gcv")) settings.beta_choice = BetaChoice::gcv;
    if (is_word(value, "l_curve")) settings.beta_choice = BetaChoice::l_curve;
    if (settings.beta_choice == BetaChoice::target) {
      settings.beta = number(value);
    } else if (const auto target = section.find("target_misfit")) {
      problem(*target, fmt::format("is for a known sigma, and beta: {} is for an unknown one; leave out one of the two",
                                   value.node->text));
    }
  }

  /// The keys of the search, which say nothing of what is minimised, and of what comes with the model.
  void ways(const Section& section, InversionSettings& settings) {
    take(section, "depth_of_investigation", settings.depth_of_investigation);
    take(section, "target_misfit", settings.target_misfit);
    take(section, "max_iterations", settings.max_iterations);
    take(section, "keep", settings.keep_all, std::array{Choice<bool>{"last", false}, Choice<bool>{"all", true}});
    if (const auto v = section.find("uncertainty")) settings.uncertainty = uncertainty(*v);
  }
};

}  // namespace

std::string bounds_text(const Range& bounds) {
  const auto text = [](double bound) { return std::isinf(bound) ? std::string("null") : fmt::format("{}", bound); };
  return fmt::format("[{}, {}]", text(bounds.min), text(bounds.max));
}

InversionSpec read_inversion(const CaseReader& values, const Value& value) {
  return InversionReader(values).inversion(value);
}

}  // namespace prismfield
