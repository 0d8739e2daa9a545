// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "app/commands.hpp"
#include "app/finish_result.hpp"
#include "app/run_inputs.hpp"
#include "app/start.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/memory_limits.hpp"
#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/output_check.hpp"
#include "compute/method.hpp"
#include "io/result_file.hpp"
#include "io/sensitivity_file.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/placement.hpp"
#include "sensitivity/host_operator.hpp"
#include "sensitivity/storage_choice.hpp"
#include "sensitivity/stored_bytes.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// What was measured.
struct SensitivityTimes {
  double build_seconds = 0;
  ProductSeconds kept;
  /// computed anew; 0: not measured
  ProductSeconds anew;
};

double entries_of(const Inputs& inputs, const ActiveCells& cells) {
  return static_cast<double>(inputs.run.fields.size()) * static_cast<double>(inputs.points.size()) *
         static_cast<double>(cells.size());
}

std::string milliseconds(double seconds) { return short_number(seconds * 1e3) + " ms"; }

/// The lines with which the command begins: model, points, shape of G.
std::string sensitivity_heading(const Inputs& inputs, const ActiveCells& cells) {
  const auto [nx, ny, nz] = cells.counts();
  return fmt::format("{}\nmodel: {} x {} x {} cells, {} with density; {}\n{}; {}\nfields: {}\nG: {} x {}, {} entries\n",
                     shown(inputs.run.title), nx, ny, nz, grouped(inputs.model->source().size()),
                     extent_text(cells.bounds()), counted(inputs.points.size(), "point"),
                     extent_text(bounds_of(inputs.points)), fields_text(inputs.run.fields),
                     grouped(inputs.run.fields.size() * inputs.points.size()), grouped(cells.size()),
                     short_number(entries_of(inputs, cells)));
}

/// What --dry-run prints behind the heading: bytes of G by precision for so many ranks, of memory that is free, of
/// files.
std::string sensitivity_sizes(const Inputs& inputs, const ActiveCells& cells, int ranks,
                              const std::string& ranks_text) {
  const std::int64_t n_fields = inputs.run.fields.size(), columns = cells.size();
  const std::int64_t mine = (inputs.points.size() + ranks - 1) / ranks;
  const StorageSettings& settings = inputs.run.sensitivity;
  std::string text;
  const auto row = [&](const std::string& label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("ranks", ranks_text);
  row("store", settings.compression ? fmt::format("compressed to {:g}", *settings.compression) : name(settings.store));
  for (const auto& [word, precision] : stored_precision_choices) {
    row(fmt::format("as {}", word),
        fmt::format("{} a rank, {} while it is made", size_text(stored_bytes(precision, n_fields * mine, columns)),
                    size_text(bytes_to_store(precision, n_fields, mine, columns))));
  }
  row("free memory", fmt::format("{} a rank", size_text(share_of(memory_limits(), ranks))));
  if (!settings.file.empty()) {
    row("file of G",
        fmt::format("{}, about {}", settings.file.string(),
                    size_text(sensitivity_file_bytes(n_fields, inputs.points.size(), columns, *settings.precision))));
  }
  const ResultHeader header = header_of(inputs);
  row("result", fmt::format("{}, about {}", header.file.string(),
                            size_text(result_bytes(header, inputs.points, inputs.run.fields))));
  return text;
}

/// Products, of G and of its transposed alike, after which storing has paid; nothing where it does not, or where G was
/// not made or not measured.
std::optional<std::int64_t> products_that_pay(const StorageChoice& choice, const SensitivityTimes& times) {
  if (choice.store == Store::none || choice.was_there || times.anew.apply <= 0) return std::nullopt;
  const double saved = (times.anew.apply + times.anew.transpose - times.kept.apply - times.kept.transpose) / 2;
  if (!(saved > 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::min(std::ceil(times.build_seconds / saved), 1e15));
}

/// How G is kept, how long making it and its products take and how often these must be wanted for storing to pay.
std::string sensitivity_report(const Inputs& inputs, const ActiveCells& cells, const StorageChoice& choice,
                               const SensitivityTimes& times) {
  std::string text = fmt::format("\nsensitivities: {}\n", shown(choice.why));
  if (!choice.warning.empty()) text += shown(choice.warning) + "\n";
  const bool kept = choice.store != Store::none;
  if (choice.was_there) {
    text += fmt::format("opened in {}\n", duration_text(times.build_seconds));
  } else if (kept) {
    text += fmt::format("made in {}, {} entries/s\n", duration_text(times.build_seconds),
                        short_number(entries_of(inputs, cells) / std::max(times.build_seconds, 1e-9)));
  }
  const bool compared = kept && times.anew.apply > 0;
  text +=
      fmt::format("{:<8}{:>12}{}\n", "product", kept ? "kept" : "anew", compared ? fmt::format("{:>12}", "anew") : "");
  const auto row = [&](const char* label, double mine, double anew) {
    text += fmt::format("{:<8}{:>12}{}\n", label, milliseconds(mine),
                        compared ? fmt::format("{:>12}", milliseconds(anew)) : "");
  };
  row("G m", times.kept.apply, times.anew.apply);
  row("G' d", times.kept.transpose, times.anew.transpose);
  if (!compared || choice.was_there) return text;
  if (const auto products = products_that_pay(choice, times)) {
    return text + fmt::format("storing pays after {}\n", counted(*products, "product"));
  }
  return text + "storing does not pay: products computed anew are as fast\n";
}

/// That G is in its file.
std::string written_text(const std::string& file, double seconds) {
  return fmt::format("{}: G is written, in {}\n", shown(file), duration_text(seconds));
}

/// Largest differences of G m from fields that were computed directly at `n_points` points, relative to the largest
/// value of each field: `differences` in the order of `fields`.
std::string difference_text(FieldList fields, const std::vector<double>& differences, std::int64_t n_points) {
  std::vector<std::string> parts;
  const std::vector<std::string> names = names_of(fields);
  for (std::size_t f = 0; f < differences.size(); ++f)
    parts.push_back(fmt::format("{} {:.1e}", names[f], differences[f]));
  return fmt::format("largest difference from the direct fields at {}, over the largest value: {}\n",
                     counted(n_points, "point"), fmt::join(parts, ", "));
}

/// A case's matrix: every cell of its box, those without density too.
struct SensitivityCase {
  Inputs inputs;
  std::unique_ptr<ActiveCells> cells;
  /// (cell), kg/m3
  std::vector<double> densities;
};

/// Densities of all cells out of those that are prisms.
std::vector<double> densities_of(const Cells& prisms, const ActiveCells& cells) {
  std::vector<double> densities(static_cast<std::size_t>(cells.size()), 0.0);
  const CellCounts counts = cells.counts();
  const auto place = [&](std::size_t direction, double edge) {
    const std::vector<double>& edges = cells.edges()[direction];
    return std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin();
  };
  constexpr std::int64_t at_once = 100'000;
  PrismBlock block;
  for (std::int64_t first = 0; first < prisms.size(); first += at_once) {
    prisms.read({first, std::min(first + at_once, prisms.size())}, block);
    for (std::size_t i = 0; i < block.west.size(); ++i) {
      const std::int64_t cell =
          (place(2, block.bottom[i]) * counts[1] + place(1, block.south[i])) * counts[0] + place(0, block.west[i]);
      densities.at(static_cast<std::size_t>(cell)) = block.density[i];
    }
  }
  return densities;
}

/// Collective.
SensitivityCase read_all(const SensitivityOptions& options, const Communicator& communicator) {
  SensitivityCase all;
  all.inputs = read_inputs(options, communicator, CaseUse::sensitivity);
  Case& run = all.inputs.run;
  if (!run.sensitivity.precision) run.sensitivity.precision = StoredPrecision::double_;
  agree(communicator, [&] {
    const Cells& prisms = *all.inputs.model->cells();
    all.cells = std::make_unique<ActiveCells>(prisms.content().edges, prisms.content().rounding);
    all.densities = densities_of(prisms, *all.cells);
  });
  return all;
}

/// Some of the points, by number.
Points points_of(const Points& all, const std::vector<std::int64_t>& numbers) {
  Points some;
  some.rounding = all.rounding;
  for (const std::int64_t number : numbers) {
    const auto i = static_cast<std::size_t>(number);
    some.easting.push_back(all.easting[i]);
    some.northing.push_back(all.northing[i]);
    some.upward.push_back(all.upward[i]);
  }
  return some;
}

/// About `wanted` of n numbers, evenly spread.
std::vector<std::int64_t> spread(std::int64_t n, std::int64_t wanted) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < std::min(n, wanted); ++k) numbers.push_back(k * n / std::min(n, wanted));
  return numbers;
}

/// How many points `pairs` pairs of a point and a prism are.
std::int64_t points_for(double pairs, std::int64_t n_prisms) {
  return static_cast<std::int64_t>(pairs / static_cast<double>(std::max<std::int64_t>(n_prisms, 1)));
}

/// Tells which points are in and on prisms: these few are computed, the others are outside of all. Collective.
void find_points_inside(const SensitivityCase& all, const Communicator& communicator, Fields& result) {
  const Bounds b = all.cells->bounds();
  const Points& points = all.inputs.points;
  std::vector<std::int64_t> within;
  for (std::int64_t number = 0; number < points.size(); ++number) {
    const auto i = static_cast<std::size_t>(number);
    const double x = points.easting[i], y = points.northing[i], z = points.upward[i];
    if (x >= b.west && x <= b.east && y >= b.south && y <= b.north && z >= b.bottom && z <= b.top) {
      within.push_back(number);
    }
  }
  const PrismSource& source = all.inputs.model->source();
  if (within.empty() || source.size() == 0) return;
  const Fields there = forward(source, points_of(points, within), all.inputs.run.request(), communicator);
  result.points_inside = there.points_inside;
  for (const std::int64_t i : there.singular_points) {
    result.singular_points.push_back(within[static_cast<std::size_t>(i)]);
  }
}

/// G m at all points, on rank 0. Collective.
Fields fields_of_model(const SensitivityCase& all, HostOperator& matrix, const SensitivityTimes& times,
                       const Communicator& communicator) {
  const Plan& plan = matrix.plan();
  Fields result;
  result.fields = all.inputs.run.fields;
  const std::int64_t n_fields = result.fields.size(), n_points = all.inputs.points.size();
  std::vector<double> mine(static_cast<std::size_t>(n_fields * plan.points().size()));
  matrix.apply(all.densities, mine);
  if (communicator.rank() == 0) result.values.assign(static_cast<std::size_t>(n_fields * n_points), 0.0);
  add_parts_to_root(communicator, std::move(mine), n_fields, n_points, plan.points(), 1, result.values);
  result.plan = plan;
  result.method_numbers = method_of(plan).text(plan).numbers;
  result.pairs = result.pairs_now = n_points * all.cells->size();
  result.rank_pairs = gather(communicator, plan.points().size() * all.cells->size());
  result.field_seconds = times.kept.apply;
  result.setup_seconds = times.build_seconds;
  find_points_inside(all, communicator, result);
  return result;
}

/// Compares G m with direct sums at some points; empty where these would take long. Collective, complete on rank 0.
std::string compare_directly(const SensitivityCase& all, const Fields& result, const Communicator& communicator) {
  constexpr double most_pairs = 5e8;
  constexpr std::int64_t most_points = 50;
  const PrismSource& source = all.inputs.model->source();
  const std::int64_t n = all.inputs.points.size();
  const std::vector<std::int64_t> numbers = spread(n, std::min(most_points, points_for(most_pairs, source.size())));
  if (numbers.empty() || source.size() == 0) return "";
  const Fields direct = forward(source, points_of(all.inputs.points, numbers), all.inputs.run.request(), communicator);
  if (communicator.rank() != 0) return "";
  std::vector<double> differences;
  for (std::int64_t f = 0; f < result.fields.size(); ++f) {
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double expected = direct.values[static_cast<std::size_t>(f) * numbers.size() + k];
      largest = std::max(largest, std::abs(expected));
      difference =
          std::max(difference, std::abs(expected - result.values[static_cast<std::size_t>(f * n + numbers[k])]));
    }
    differences.push_back(largest > 0 ? difference / largest : difference);
  }
  return difference_text(result.fields, differences, static_cast<std::int64_t>(numbers.size()));
}

/// Products computed anew, measured at some of the points and scaled to all. Collective.
ProductSeconds seconds_anew(const SensitivityCase& all, const Communicator& communicator) {
  constexpr double most_pairs = 2e8;
  constexpr std::int64_t least_points = 64;
  const std::int64_t n = all.inputs.points.size();
  const std::int64_t wanted = std::max(points_for(most_pairs, all.cells->size()), least_points * communicator.size());
  const Points sample = points_of(all.inputs.points, spread(n, wanted));
  StorageSettings settings;
  settings.store = Store::none;
  HostOperator direct(*all.cells, sample, all.inputs.run.request(), settings, communicator);
  ProductSeconds seconds = direct.implementation().product_seconds();
  const double scale = static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(sample.size(), 1));
  seconds.apply *= scale;
  seconds.transpose *= scale;
  return seconds;
}

RowFile file_of(const Inputs& inputs) {
  const StorageSettings& settings = inputs.run.sensitivity;
  return {settings.file, &inputs.points, inputs.run.request(), *settings.precision};
}

/// Writes G where it is not in its file already. Collective.
void write_matrix(const SensitivityCase& all, HostOperator& matrix, SensitivityFiles& files, bool tells,
                  const Communicator& communicator) {
  const StorageSettings& settings = all.inputs.run.sensitivity;
  if (settings.file.empty()) return;
  if (matrix.implementation().facts.choice.store != Store::file) {
    const Moment begin = std::chrono::steady_clock::now();
    const auto sink = files.create(file_of(all.inputs));
    matrix.implementation().write(*sink);
    sink->complete();
    barrier(communicator);
    if (tells) std::cout << written_text(settings.file.string(), seconds_since(begin)) << std::flush;
  }
  if (communicator.rank() != 0) return;
  for (const std::string& warning : files.warnings()) warn(warning);
}

/// What the result's /performance says of G: seconds of products and, where it is stored, its bytes. Collective.
std::vector<std::pair<std::string, double>> performance_of(const HostOperator& matrix, const SensitivityTimes& times,
                                                           const Communicator& communicator) {
  const StorageChoice& choice = matrix.implementation().facts.choice;
  std::int64_t bytes = choice.bytes;
  sum_to_root(communicator, &bytes, 1);
  std::vector<std::pair<std::string, double>> values{{"transposed_seconds", times.kept.transpose}};
  if (choice.store == Store::none) return values;
  values.emplace_back("stored_bytes", static_cast<double>(bytes));
  values.emplace_back("anew_seconds", times.anew.apply);
  values.emplace_back("anew_transposed_seconds", times.anew.transpose);
  if (const auto products = products_that_pay(choice, times)) {
    values.emplace_back("pays_after", static_cast<double>(*products));
  }
  return values;
}

/// Writes, shows and draws the fields; on rank 0 only.
void finish(const Inputs& inputs, const Fields& result, std::vector<std::pair<std::string, double>> performance,
            const std::string& differences, bool quiet, Moment begin) {
  ResultEnd end{header_of(inputs), 0, {}, differences};
  end.header.performance = std::move(performance);
  end.header.command = "prismfield sensitivity " + inputs.run.file.string();
  end_with_result(inputs, end, result, quiet, begin);
}

/// What `make` returns; of errors, which all ranks find alike, rank 0 tells. Collective.
template <class Make>
auto made_together(const Communicator& communicator, const Make& make) {
  decltype(make()) made;
  std::exception_ptr error;
  try {
    made = make();
  } catch (const InputError&) {
    error = std::current_exception();
  }
  agree(communicator, [&] {
    if (error) std::rethrow_exception(error);
  });
  return made;
}

/// Collective.
void compute_and_write(const SensitivityOptions& options, SensitivityCase& all, const Communicator& communicator,
                       Moment begin) {
  const Case& run = all.inputs.run;
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  auto header = header_for<SensitivityHeader>(run, "sensitivity", communicator.size());
  header.cells = all.cells.get();
  header.model = all.densities;
  SensitivityFiles files(std::move(header), communicator);
  StorageSettings settings = run.sensitivity;
  settings.rows = &files;
  const auto matrix = made_together(communicator, [&] {
    return at_places_of(run, [&] {
      if (!settings.file.empty() && settings.store != Store::file) files.check_place(file_of(all.inputs));
      return std::make_unique<HostOperator>(*all.cells, all.inputs.points, run.request(), settings, communicator);
    });
  });
  agree(communicator, throw_if_interrupted);
  SensitivityTimes times{matrix->implementation().facts.build_seconds, matrix->implementation().product_seconds(), {}};
  if (matrix->implementation().facts.choice.store != Store::none) times.anew = seconds_anew(all, communicator);
  agree(communicator, throw_if_interrupted);
  if (tells)
    std::cout << sensitivity_report(all.inputs, *all.cells, matrix->implementation().facts.choice, times) << std::flush;
  write_matrix(all, *matrix, files, tells, communicator);
  const Fields result = fields_of_model(all, *matrix, times, communicator);
  const std::string differences = compare_directly(all, result, communicator);
  const std::vector<std::pair<std::string, double>> performance = performance_of(*matrix, times, communicator);
  agree(communicator, [&] {
    throw_if_interrupted();
    if (is_root) finish(all.inputs, result, performance, differences, options.quiet, begin);
  });
}

}  // namespace

ProgramEnd execute(const SensitivityOptions& options, const std::vector<std::string>& kokkos_options,
                   const Communicator& communicator) {
  const Moment begin = std::chrono::steady_clock::now();
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  catch_interrupts();

  SensitivityCase all = read_all(options, communicator);
  const Inputs& inputs = all.inputs;
  if (is_root) tell_inputs(options, inputs);
  if (options.check && !options.dry_run) {
    if (tells) std::cout << shown(options.file.string()) << ": no errors found\n";
    return {};
  }
  const StartedRanks started = start_ranks(kokkos_options, communicator);
  if (tells) std::cout << sensitivity_heading(inputs, *all.cells) << std::flush;
  if (options.dry_run) {
    if (tells) {
      std::cout << sensitivity_sizes(inputs, *all.cells, communicator.size(), placement_text(started.places))
                << std::flush;
    }
    return {};
  }
  agree(communicator, [&] {
    if (is_root) check_disk(inputs, 0);
  });
  compute_and_write(options, all, communicator, begin);
  return {};
}

}  // namespace prismfield
