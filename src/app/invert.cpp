// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/invert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/invert.hpp>
#include <prismfield/plan.hpp>

#include "app/disk_space.hpp"
#include "app/figure.hpp"
#include "app/invert_text.hpp"
#include "app/model_export.hpp"
#include "app/model_figure.hpp"
#include "app/program_facts.hpp"
#include "app/progress.hpp"
#include "app/run_inputs.hpp"
#include "app/run_text.hpp"
#include "app/start.hpp"
#include "base/checksum.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "case/make_inversion.hpp"
#include "case/output_check.hpp"
#include "case/places.hpp"
#include "compute/checkpoint.hpp"
#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "io/inversion_files.hpp"
#include "io/sensitivity_file.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/placement.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// The case, checked as far as it can be before its files are read. Collective.
Case read_inversion_case(const InvertOptions& options, const Communicator& communicator) {
  Case run;
  agree(communicator, [&] {
    run = read_case(options.file, options.overrides, options.output, CaseUse::inversion);
    ProblemList problems;
    const auto check_place = [](const fs::path& file) { check_inversion_checkpoint_place(file); };
    check_before_reading(run, options.resume, check_place, communicator.rank(), problems);
    problems.throw_if_any();
    throw_if_interrupted();
  });
  return run;
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
  void state(const InversionState& state) override {
    const bool stops = any(m_communicator, interrupted());
    if (m_run.output.checkpoint) {
      double since = seconds_since(m_last);
      broadcast(m_communicator, since);
      if (stops || since >= m_run.output.checkpoint->every_seconds) keep(state);
    }
    if (!stops) return;
    const bool kept = m_run.output.checkpoint && m_failure.empty();
    throw Stopped(kept ? m_run.output.checkpoint->file.string() + " holds what was done, --resume goes on from it"
                       : "");
  }
  [[nodiscard]] const std::vector<std::string>& storage() const noexcept { return m_storage; }

private:
  void keep(const InversionState& state) {
    m_last = std::chrono::steady_clock::now();
    if (m_communicator.rank() == 0) {
      m_failure.clear();
      try {
        write_inversion_checkpoint(m_run.output.checkpoint->file, m_hash, state);
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
  std::string m_failure;
  Moment m_last = std::chrono::steady_clock::now();
};

/// Where the inversion goes on. Collective.
std::optional<InversionState> state_to_go_on(const InvertOptions& options, const Case& run, const Digest& hash,
                                             std::int64_t n_values, const Communicator& communicator) {
  std::optional<InversionState> state;
  if (!run.output.checkpoint) return state;
  const fs::path& file = run.output.checkpoint->file;
  agree(communicator, [&] {
    at_places_of(run, [&] {
      check_inversion_checkpoint_place(file, &hash);
      if (options.resume) state = read_inversion_checkpoint(file, hash, n_values);
    });
  });
  if (any(communicator, state.has_value()) != !any(communicator, !state.has_value())) {
    agree(communicator, [&] {
      throw InputError(run.where("output.checkpoint.file"), "output.checkpoint.file",
                       file.string() + " is not there for all ranks; it has to be in a folder that all nodes share");
    });
  }
  if (communicator.rank() != 0 || options.quiet) return state;
  std::error_code error;
  if (!options.resume && fs::exists(file, error)) {
    warn(file.string() + " exists and will be replaced; --resume goes on from it");
  }
  if (options.resume) std::cout << inversion_resume_text(file.string(), state ? &*state : nullptr) << std::flush;
  return state;
}

ModelHeader model_header(const Case& run, const std::vector<std::string>& storage, const InversionOutcome& outcome,
                         int ranks, Moment begin) {
  ModelHeader header;
  header.file = output_file(run);
  header.title = run.title;
  header.command = "prismfield invert " + run.file.string();
  header.axes = run.axes;
  header.crs = run.crs;
  header.gravitational_constant = run.gravitational_constant;
  header.case_text = run.text;
  header.program = program_facts();
  header.use = machine_use(header.program, run.execution.space, ranks);
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
  for (const std::string& warning : outcome_warnings(run, outcome)) warn(warning);
  const double seconds = seconds_since(begin);
  std::optional<DrawnFigure> drawn;
  if (const auto& figure = run.output.figure) {
    drawn = draw_and_tell(*figure, options.quiet,
                          [&] { return draw_model(header.file, *figure, run.output.figure_style); });
  }
  if (!options.quiet) {
    std::cout << '\n' << inversion_summary(run, outcome, seconds, drawn_text(drawn));
    for (const std::string& line : exported.lines) std::cout << line << '\n';
    std::cout << std::flush;
    for (const std::string& note : exported.notes) std::cerr << "note: " << shown(note) << std::endl;
  }
  return exported.failures;
}

void tell_inputs(const InvertOptions& options, const Case& run, const InversionInputs& inputs) {
  for (const std::string& warning : inputs.warnings) warn(warning);
  for (const std::string& warning : inversion_warnings(run, inputs)) warn(warning);
  tell_notes(options, run, inputs.notes);
}

/// About how long computing all of G takes. Collective.
double seconds_of_sensitivities(const Case& run, const InversionInputs& inputs, const Communicator& communicator) {
  double seconds = 0;
  for (std::size_t i = 0; i < inputs.data.size(); i += static_cast<std::size_t>(inputs.n_epochs())) {
    const DataSet& data = inputs.data[i];
    Request request = run.request();
    request.fields = data.fields;
    request.execution.partition = Partition::points;
    Plan plan;
    agree(communicator, [&] {
      const Machine machine = at_places_of(run, [&] { return machine_here(request, communicator); });
      plan = make_plan(request, problem_size(*inputs.cells, data.points), machine);
    });
    seconds += estimated_seconds(request, *inputs.cells, data.points, plan, communicator);
  }
  return seconds;
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
  const std::int64_t n_values = inputs.n_epochs() * inputs.cells->size();
  const std::optional<InversionState> state = state_to_go_on(options, run, hash, n_values, communicator);
  InversionInput input;
  input.request = run.request();
  input.storage = run.sensitivity;
  SensitivityHeader header;
  header.title = run.title;
  header.command = "prismfield invert " + run.file.string();
  header.axes = run.axes;
  header.crs = run.crs;
  header.case_text = run.text;
  header.program = program_facts();
  header.use = machine_use(header.program, run.execution.space, communicator.size());
  header.cells = inputs.cells.get();
  SensitivityFiles files(std::move(header), communicator);
  input.storage.rows = &files;
  input.settings = run.inversion->settings;
  input.cells = inputs.cells.get();
  input.epochs = inputs.epochs;
  input.data = inputs.data;
  input.reference = inputs.reference;
  input.lower = inputs.lower;
  input.upper = inputs.upper;
  input.cell_weights = inputs.cell_weights;
  input.start = inputs.start;
  InvertObserver observer(options, run, hash, communicator);
  InversionOutcome outcome;
  // thrown by every rank alike: they end in order, not by an abort
  std::exception_ptr of_all;
  try {
    outcome = at_places_of(run, [&] { return invert(input, communicator, &observer, state ? &*state : nullptr); });
  } catch (const Stopped&) {
    of_all = std::current_exception();
  } catch (const InputError&) {
    of_all = std::current_exception();
  }
  agree(communicator, [&] {
    if (of_all) std::rethrow_exception(of_all);
    if (!is_root) return;
    const std::vector<std::string> failures = finish(
        options, run, model_header(run, observer.storage(), outcome, communicator.size(), begin), outcome, begin);
    if (run.output.checkpoint) remove_inversion_checkpoint(run.output.checkpoint->file, hash);
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

void invert_command(const InvertOptions& options, const std::vector<std::string>& kokkos_options,
                    const Communicator& communicator) {
  const Moment begin = std::chrono::steady_clock::now();
  const bool is_root = communicator.rank() == 0;
  const bool tells = is_root && !options.quiet;
  catch_interrupts();

  Case run;
  InversionInputs inputs;
  {
    const NothingToLose reading;
    run = read_inversion_case(options, communicator);
    inputs = make_inversion(run, communicator);
    agree(communicator, throw_if_interrupted);
  }
  if (is_root) tell_inputs(options, run, inputs);
  if (options.check && !options.dry_run) {
    if (tells) std::cout << shown(options.file.string()) << ": no errors found\n";
    return;
  }
  const StartedRanks started = start_ranks(kokkos_options, communicator);
  if (tells) std::cout << inversion_heading(run, inputs) << std::flush;
  if (options.dry_run) {
    const double seconds = seconds_of_sensitivities(run, inputs, communicator);
    if (tells) {
      std::cout << inversion_sizes(run, inputs, communicator.size(), placement_text(started.places), seconds)
                << std::flush;
    }
    return;
  }
  agree(communicator, [&] {
    if (is_root) check_model_disks(run, model_file_sizes(run, inputs));
  });
  invert_and_write(options, run, inputs, communicator, begin);
}

}  // namespace prismfield
