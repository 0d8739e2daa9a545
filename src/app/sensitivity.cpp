// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/error.hpp>

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
#include "compute/operator_plan.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "operators/host_operator.hpp"
#include "operators/model_products.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/placement.hpp"
#include "writers/result_file.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A case's matrix: every cell of its box, the empty ones too.
struct SensitivityCase {
  Inputs inputs;
  std::unique_ptr<ActiveCells> cells;
  Unknown unknown = Unknown::density;
  /// those of the unknown
  std::unique_ptr<MagnetizedPrisms> columns;
  /// (column)
  std::vector<double> amounts;

  [[nodiscard]] ModelProblem problem() const {
    return {inputs.model->source(), *columns, inputs.points, inputs.run.request()};
  }
  [[nodiscard]] double entries() const {
    return static_cast<double>(inputs.run.fields.size()) * static_cast<double>(inputs.points.size()) *
           static_cast<double>(columns->size());
  }
};

/// What G multiplies: by magnetic fields the susceptibility, where the model has a remanent magnetisation all of its
/// magnetisation. Throws InputError for fields that no G has, and for a model without what they are of.
Unknown unknown_of(const Case& run, const PropertyRanges& model) {
  static_cast<void>(request_in(run.execution.space, run.request()));
  if (run.fields.of_magnetisation().empty()) return Unknown::density;
  if (!model.is_magnetic()) {
    throw InputError("", "fields",
                     fmt::format("has {}, but no cell of the model has a susceptibility or magnetization",
                                 (*run.fields.of_magnetisation().begin()).name));
  }
  return model.remanence.max > 0 ? Unknown::magnetization : Unknown::susceptibility;
}

/// Collective.
SensitivityCase read_all(const SensitivityOptions& options, const Communicator& communicator) {
  SensitivityCase all;
  all.inputs = read_inputs(options, communicator, CaseUse::sensitivity);
  Case& run = all.inputs.run;
  if (!run.sensitivity.precision) run.sensitivity.precision = StoredPrecision::double_;
  agree(communicator, [&] {
    const Cells& prisms = *all.inputs.model->cells();
    all.unknown = at_places_of(run, [&] { return unknown_of(run, prisms.ranges()); });
    all.cells = std::make_unique<ActiveCells>(prisms.content().edges, prisms.content().rounding);
    all.columns = std::make_unique<MagnetizedPrisms>(*all.cells, unit_magnetizations(all.unknown, run.magnetic));
    all.amounts = amounts_of(prisms, *all.cells, all.unknown);
  });
  return all;
}

std::string milliseconds(double seconds) { return short_number(seconds * 1e3) + " ms"; }

/// The lines with which the command begins: model, points, shape of G.
std::string sensitivity_heading(const SensitivityCase& all) {
  const Inputs& inputs = all.inputs;
  const auto [nx, ny, nz] = all.cells->counts();
  const PropertyRanges ranges = inputs.model->ranges();
  return fmt::format("{}\nmodel: {} x {} x {} cells, {} with {}; {}\n{}; {}\nfields: {}\nG: {} x {}, {} entries\n",
                     shown(inputs.run.title), nx, ny, nz, grouped(inputs.model->source().size()), ranges.names(),
                     extent_text(all.cells->bounds()), counted(inputs.points.size(), "point"),
                     extent_text(bounds_of(inputs.points)), fields_text(inputs.run.fields),
                     grouped(inputs.run.fields.size() * inputs.points.size()), grouped(all.columns->size()),
                     short_number(all.entries()));
}

/// What --dry-run prints behind the heading: bytes of G by precision for so many ranks, of memory that is free, of
/// files.
std::string sensitivity_sizes(const SensitivityCase& all, int ranks, const std::string& ranks_text) {
  const Inputs& inputs = all.inputs;
  const std::int64_t n_fields = inputs.run.fields.size(), columns = all.columns->size();
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

/// How G is kept, how long making it and its products take and how often these must be wanted for storing to pay.
std::string sensitivity_report(const SensitivityCase& all, const StorageChoice& choice, const ProductTimes& times) {
  std::string text = fmt::format("\nsensitivities: {}\n", shown(choice.why));
  if (!choice.warning.empty()) text += shown(choice.warning) + "\n";
  const bool kept = choice.store != Store::none;
  if (choice.was_there) {
    text += fmt::format("opened in {}\n", duration_text(times.build_seconds));
  } else if (kept) {
    text += fmt::format("made in {}, {} entries/s\n", duration_text(times.build_seconds),
                        short_number(all.entries() / std::max(times.build_seconds, 1e-9)));
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

std::string difference_text(FieldList fields, const DirectComparison& comparison) {
  if (comparison.differences.empty()) return "";
  std::vector<std::string> parts;
  for (const std::string& name : names_of(fields)) {
    parts.push_back(fmt::format("{} {:.1e}", name, comparison.differences[parts.size()]));
  }
  return fmt::format("largest difference from the direct fields at {}, over the largest value: {}\n",
                     counted(comparison.n_points, "point"), fmt::join(parts, ", "));
}

RowFile file_of(const Inputs& inputs) {
  const StorageSettings& settings = inputs.run.sensitivity;
  return {settings.file, inputs.points, inputs.run.request(), *settings.precision};
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
    if (tells) {
      std::cout << fmt::format("{}: G is written, in {}\n", shown(settings.file.string()),
                               duration_text(seconds_since(begin)))
                << std::flush;
    }
  }
  if (communicator.rank() != 0) return;
  for (const std::string& warning : files.warnings()) warn(warning);
}

/// What the result's /performance says of G: seconds of products and, where it is stored, its bytes. Collective.
std::vector<std::pair<std::string, double>> performance_of(const HostOperator& matrix, const ProductTimes& times,
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

/// Collective.
void compute_and_write(const SensitivityOptions& options, SensitivityCase& all, const Communicator& communicator,
                       Moment begin) {
  const Case& run = all.inputs.run;
  const ModelProblem problem = all.problem();
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  auto header = header_for<SensitivityHeader>(run, "sensitivity", communicator.size());
  header.cells = all.cells.get();
  header.unknown = all.unknown;
  header.model = all.amounts;
  SensitivityFiles files(std::move(header), communicator);
  StorageSettings settings = run.sensitivity;
  settings.rows = &files;
  const auto matrix = made_together(communicator, [&] {
    return at_places_of(run, [&] {
      if (!settings.file.empty() && settings.store != Store::file) files.check_place(file_of(all.inputs));
      return std::make_unique<HostOperator>(*all.columns, all.inputs.points, run.request(), settings, communicator);
    });
  });
  agree(communicator, throw_if_interrupted);
  ProductTimes times{matrix->implementation().facts.build_seconds, matrix->implementation().product_seconds(), {}};
  if (matrix->implementation().facts.choice.store != Store::none) times.anew = seconds_anew(problem, communicator);
  agree(communicator, throw_if_interrupted);
  if (tells) std::cout << sensitivity_report(all, matrix->implementation().facts.choice, times) << std::flush;
  write_matrix(all, *matrix, files, tells, communicator);
  const Fields result = fields_of_model(problem, all.amounts, *matrix, times, communicator);
  const std::string differences = difference_text(run.fields, compare_directly(problem, result, communicator));
  const std::vector<std::pair<std::string, double>> performance = performance_of(*matrix, times, communicator);
  agree(communicator, [&] {
    throw_if_interrupted();
    if (!is_root) return;
    ResultEnd end{header_of(all.inputs), 0, {}, differences};
    end.header.performance = performance;
    end.header.command = "prismfield sensitivity " + run.file.string();
    end_with_result(all.inputs, end, result, options.quiet, begin);
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
  if (tells) std::cout << sensitivity_heading(all) << std::flush;
  if (options.dry_run) {
    if (tells) {
      std::cout << sensitivity_sizes(all, communicator.size(), placement_text(started.places)) << std::flush;
    }
    return {};
  }
  agree(communicator, [&] {
    if (is_root) check_disk(inputs, 0);
  });
  stop_between_products(tells, communicator.size() == 1);
  compute_and_write(options, all, communicator, begin);
  return {};
}

}  // namespace prismfield
