// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "inversion/beta_search.hpp"
#include "inversion/bound_solver.hpp"
#include "inversion/cell_weights.hpp"
#include "inversion/data_term.hpp"
#include "inversion/epoch_regularization.hpp"
#include "inversion/inverter.hpp"
#include "inversion/low_rank_preconditioner.hpp"
#include "inversion/low_rank_uncertainty.hpp"
#include "inversion/outcome.hpp"
#include "inversion/regularization.hpp"
#include "sensitivity/available_memory.hpp"
#include "sensitivity/make_operator.hpp"

/// The inversion in one execution space; instantiated in one source file a space.
namespace prismfield {

/// The inversion as a sequence of solutions, each for one beta and one set of weights. All ranks take the same steps.
template <class ExecutionSpace>
class InverterOnSpace {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  InverterOnSpace(const InversionInput& input, const Communicator& communicator, InversionObserver& observer)
      : m_input(input),
        m_settings(input.settings),
        m_communicator(communicator),
        m_observer(observer),
        m_n(input.n_epochs() * input.cells->size()) {}

  InversionOutcome run(const InversionState* resume);

private:
  using Moment = std::chrono::steady_clock::time_point;
  /// Of a solution's gradient: of those on the way to the target, of the last, and of compact steps.
  static constexpr double loose_tolerance = 1e-2, fine_tolerance = 1e-3, compact_tolerance = 3e-2,
                          exact_tolerance = 1e-6;

  void prepare(const InversionState* resume);
  [[nodiscard]] std::vector<double> weights(const Vector& diagonal_of_data);
  [[nodiscard]] double first_beta();
  [[nodiscard]] double largest_eigenvalue(const std::function<void(const ConstVector&, const Vector&)>& product);

  void start(const InversionState* resume);
  void cool();
  void compact();
  /// Searches beta from `search` on with the weights as they are.
  void search_beta(BetaSearch& search, const char* stage, double tolerance);
  /// m_diagonal = the diagonal of H for this beta
  void set_diagonal(double beta);
  /// H = G'WWG + beta R
  [[nodiscard]] typename BoundSolver<ExecutionSpace>::Product product_of(double beta) {
    return [this, beta](const ConstVector& p, const Vector& out) {
      m_data->normal_product(p, out);
      m_regularization->add(beta, p, out);
    };
  }
  /// Solves and notes what it comes to; returns phi_d.
  double solve_and_tell(const char* stage, double beta, double tolerance);
  /// What of a step of the reference everywhere comes back in the model, without bounds and compact norms.
  void find_depth_of_investigation();
  void draw_samples();
  /// Standard deviations by a low rank of the data term.
  void find_low_rank();
  /// Throws on all ranks where so many columns of cells do not fit one. Collective.
  void check_low_rank_memory(const char* key, std::int64_t columns);
  void make_preconditioner();
  /// Of `solver`, for the beta and weights that set_diagonal() was last told.
  void precondition(BoundSolver<ExecutionSpace>& solver) {
    if (!m_preconditioner) return;
    solver.set_preconditioner([this](const ConstVector& r, const Vector& z) { m_preconditioner->apply(r, z); });
  }
  void next_phase(const char* phase) {
    m_state.phase = phase;
    keep_state();
  }
  void keep_state();
  [[nodiscard]] double seconds() const {
    return m_seconds_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
  }
  void finish();
  [[nodiscard]] double target() const { return m_settings.target_misfit * static_cast<double>(m_data->size()); }

  const InversionInput& m_input;
  const InversionSettings& m_settings;
  const Communicator& m_communicator;
  InversionObserver& m_observer;
  /// unknowns: cells times epochs
  std::int64_t m_n;
  Math m_math{ExecutionSpace()};
  std::unique_ptr<DataTerm<ExecutionSpace>> m_data;
  std::unique_ptr<EpochRegularization<ExecutionSpace>> m_regularization;
  std::unique_ptr<BoundSolver<ExecutionSpace>> m_solver;
  /// null: Jacobi's
  std::unique_ptr<LowRankPreconditioner<ExecutionSpace>> m_preconditioner;
  /// (epoch, cell)
  Vector m_model, m_reference, m_pull, m_data_diagonal, m_diagonal, m_right_side;
  InversionState m_state;
  InversionOutcome m_outcome;
  Moment m_begin = std::chrono::steady_clock::now();
  double m_seconds_before = 0;
};

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::prepare(const InversionState* resume) {
  std::vector<std::unique_ptr<Operator<ExecutionSpace>>> operators;
  std::vector<std::string> storage;
  const std::int64_t likely = 100 + (m_settings.is_compact() ? 600 : 0) + 30 * m_settings.uncertainty.samples +
                              2 * m_settings.uncertainty.rank + m_settings.preconditioner_rank;
  const auto epochs = static_cast<std::size_t>(m_input.n_epochs());
  const std::size_t n_sets = m_input.data.size() / epochs;
  for (std::size_t i = 0; i < n_sets; ++i) {
    const DataSet& set = m_input.data[i * epochs];
    Request request = m_input.request;
    request.fields = set.fields;
    request.execution.partition = Partition::points;
    StorageSettings settings = m_input.storage;
    settings.file = file_of_set(settings.file, operators.size());
    if (settings.store == Store::automatic && resume != nullptr && resume->stored.size() == n_sets) {
      // what was measured once: another choice now would round otherwise
      constexpr Store kept = Math::on_host ? Store::memory : Store::device;
      const std::int64_t stored = resume->stored[operators.size()];
      if (stored == stored_compressed) {
        if (!settings.compression) settings.compression = auto_compression;
      } else {
        settings.store = stored == stored_whole ? kept : Store::none;
      }
    }
    StorageChoice choice;
    operators.push_back(make_operator(m_math.space(), *m_input.cells, set.points, request, settings,
                                      {likely, m_input.n_epochs()}, m_communicator, choice));
    m_state.stored.push_back(choice.is_compressed ? stored_compressed : choice.bytes > 0 ? stored_whole : stored_not);
    for (const std::int64_t bytes : m_communicator.gather_everywhere(choice.bytes)) m_outcome.stored_bytes += bytes;
    storage.push_back(choice.why);
    if (!choice.warning.empty()) storage.push_back(choice.warning);
  }
  m_observer.prepared(storage);
  m_data = std::make_unique<DataTerm<ExecutionSpace>>(m_math, m_input.data, std::move(operators), m_settings.trend,
                                                      m_communicator);
  m_model = m_math.zeros("model", m_n);
  m_pull = m_math.zeros("pull", m_n);
  m_diagonal = m_math.zeros("diagonal", m_n);
  m_right_side = m_math.zeros("right_side", m_n);
  m_data_diagonal = m_math.zeros("data_diagonal", m_n);
  std::vector<double> reference;
  for (std::size_t e = 0; e < epochs; ++e) {
    reference.insert(reference.end(), m_input.reference.begin(), m_input.reference.end());
  }
  m_reference = m_math.from_host("reference", reference);
  m_data->diagonal(m_data_diagonal);
  m_data->pull(m_pull);
  const ConstVector of_cells = Kokkos::subview(m_reference, std::make_pair(std::size_t{0}, m_input.reference.size()));
  m_regularization = std::make_unique<EpochRegularization<ExecutionSpace>>(
      m_math, *m_input.cells, m_input.n_epochs(), m_settings, weights(m_data_diagonal), of_cells);
  m_solver = std::make_unique<BoundSolver<ExecutionSpace>>(m_math, m_n, m_settings.bounds);
  check_low_rank_memory("inversion.preconditioner", std::min(m_settings.preconditioner_rank, m_data->size()));
  check_low_rank_memory("inversion.uncertainty.rank", subspace_size(m_settings.uncertainty.rank, m_data->size()));
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::check_low_rank_memory(const char* key, std::int64_t columns) {
  if (columns == 0) return;
  const std::int64_t needed = low_rank_bytes(m_n, columns);
  const std::int64_t available = available_memory<ExecutionSpace>(m_communicator);
  if (m_communicator.any(needed > available)) throw InputError("", key, low_rank_shortage(needed, available));
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::make_preconditioner() {
  if (m_settings.preconditioner_rank == 0) return;
  m_regularization->diagonal(m_right_side);
  if (!(m_math.least(m_right_side) > 0)) {
    throw InputError("", "inversion.preconditioner",
                     "is of a low rank, which needs every cell in the regularisation: smallness is 0 and a cell has no "
                     "neighbour; write smallness: 1e-3 or another number above 0, or preconditioner: jacobi");
  }
  m_preconditioner = std::make_unique<LowRankPreconditioner<ExecutionSpace>>(
      m_math, *m_data, m_communicator, m_right_side, m_settings.preconditioner_rank,
      [this](std::int64_t done, std::int64_t all) { m_observer.step("directions of the preconditioner", done, all); });
  precondition(*m_solver);
}

template <class ExecutionSpace>
std::vector<double> InverterOnSpace<ExecutionSpace>::weights(const Vector& diagonal_of_data) {
  const ActiveCells& cells = *m_input.cells;
  const Weighting& weighting = m_settings.weighting;
  const double power = weighting.power.value_or(usual_power(m_input.data));
  switch (weighting.kind) {
    case WeightingKind::none: break;
    case WeightingKind::depth:
      return depth_weights(cells, power, weighting.z0 ? *weighting.z0 : fitted_z0(cells, m_input.data));
    case WeightingKind::distance:
      return distance_weights(cells, all_stations(m_input.data), power,
                              weighting.z0.value_or(shortest_edge(cells.edges()) / 4));
    case WeightingKind::sensitivity: {
      // all epochs are weighted alike: by their data together
      const auto n = static_cast<std::size_t>(cells.size());
      std::vector<double> sums = m_math.to_host(diagonal_of_data);
      for (std::size_t k = n; k < sums.size(); ++k) sums[k % n] += sums[k];
      sums.resize(n);
      return sensitivity_weights(cells, sums);
    }
  }
  return std::vector<double>(static_cast<std::size_t>(cells.size()), 1.0);
}

template <class ExecutionSpace>
double InverterOnSpace<ExecutionSpace>::largest_eigenvalue(
    const std::function<void(const ConstVector&, const Vector&)>& product) {
  constexpr int steps = 10;
  std::vector<double> start(static_cast<std::size_t>(m_n));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = random_normal(1, RandomStream::power_iteration, i);
  const Vector x = m_math.from_host("eigenvector", start);
  const Vector y = m_math.zeros("eigenvector", m_n);
  double value = 0;
  for (int step = 0; step < steps; ++step) {
    const double size = std::sqrt(m_math.dot(x, x));
    if (!(size > 0)) return 0;
    m_math.fill(y, 0);
    m_math.each("normalize", m_n, AddScaled<typename Math::Memory>{1 / size, x, y});
    m_math.copy(x, y);
    m_math.fill(y, 0);
    product(x, y);
    value = m_math.dot(x, y);
    m_math.copy(x, y);
  }
  return value;
}

template <class ExecutionSpace>
double InverterOnSpace<ExecutionSpace>::first_beta() {
  if (m_settings.beta) return *m_settings.beta;
  const double of_data =
      largest_eigenvalue([&](const ConstVector& p, const Vector& out) { m_data->normal_product(p, out); });
  const double of_model =
      largest_eigenvalue([&](const ConstVector& p, const Vector& out) { m_regularization->add(1, p, out); });
  constexpr double above = 10;
  return above * of_data / of_model;
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::start(const InversionState* resume) {
  if (resume != nullptr) {
    m_state = *resume;
    m_seconds_before = resume->seconds;
    m_data->set_products(resume->products);
    m_math.copy_in(m_state.model, m_model);
    for (const ConvergenceRow& row : m_state.rows) m_observer.row(row);
    if (!m_state.weights_model.empty()) {
      m_regularization->reweight(m_math.from_host("weights_model", m_state.weights_model), m_state.epsilon);
    }
    return;
  }
  m_math.copy(m_model, m_reference);
  m_state.beta = first_beta();
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::keep_state() {
  m_state.model = m_math.to_host(m_model);
  m_state.products = m_data->products();
  m_state.seconds = seconds();
  m_observer.state(m_state);
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::set_diagonal(double beta) {
  m_regularization->diagonal(m_right_side);
  m_math.copy(m_diagonal, m_data_diagonal);
  m_math.each("diagonal", m_n, AddScaled<typename Math::Memory>{beta, m_right_side, m_diagonal});
  if (m_preconditioner) m_preconditioner->set(beta, m_right_side);
}

template <class ExecutionSpace>
double InverterOnSpace<ExecutionSpace>::solve_and_tell(const char* stage, double beta, double tolerance) {
  set_diagonal(beta);
  m_math.copy(m_right_side, m_pull);
  m_regularization->add_pull(beta, m_reference, m_right_side);
  m_solver->solve(product_of(beta), m_right_side, m_diagonal, tolerance, m_model);
  m_state.beta = beta;
  ConvergenceRow row;
  row.stage = stage;
  row.beta = beta;
  row.phi_d = m_data->misfit(m_model);
  row.chi = row.phi_d / static_cast<double>(m_data->size());
  row.phi_m = m_regularization->value(m_model);
  row.products = m_data->products();
  row.minimum = m_math.least(m_model);
  row.maximum = m_math.greatest(m_model);
  row.seconds = seconds();
  m_state.rows.push_back(row);
  m_observer.row(row);
  return row.phi_d;
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::search_beta(BetaSearch& search, const char* stage, double tolerance) {
  std::int64_t left = m_settings.max_iterations - static_cast<std::int64_t>(search.solutions().size());
  while (search.status() == BetaSearch::Status::searching && left-- > 0) {
    const double beta = search.beta();
    const double phi_d = solve_and_tell(search.has_bracket() ? "target" : stage, beta, tolerance);
    search.add(phi_d);
    m_state.search = search.solutions();
    keep_state();
  }
  if (search.status() == BetaSearch::Status::on_target) return;
  const double phi_d = m_state.rows.back().phi_d;
  m_state.message = off_target_message(search.status(), phi_d, target(), m_data->size(), m_settings);
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::cool() {
  if (m_settings.beta) {
    solve_and_tell("beta", *m_settings.beta, exact_tolerance);
  } else if (m_state.search.empty() && m_data->misfit(m_model) <= target()) {
    // the reference itself: no beta would bring the model nearer to it
    m_state.message = reference_fits_message(target(), m_data->size());
    solve_and_tell("cool", m_state.beta, loose_tolerance);
  } else {
    constexpr double coolings = 4;
    BetaSearch search(m_state.beta, target(), coolings, true);
    search.go_on(m_state.search);
    search_beta(search, "cool", loose_tolerance);
    if (m_state.message.empty() && !m_settings.is_compact()) {
      solve_and_tell("target", m_state.beta, fine_tolerance);
    }
  }
  m_state.search.clear();
  find_depth_of_investigation();
  next_phase(m_settings.is_compact() && m_state.message.empty() ? "compact" : "samples");
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::compact() {
  constexpr double epsilon_falls_by = 1.2, epsilon_falls_to = 0.1;
  constexpr double near_target = 0.05, on_target = 0.02;
  if (m_state.compact_steps == 0) {
    const double largest = m_regularization->largest(m_model)[0];
    const double of_gradient = largest / shortest_edge(m_input.cells->edges());
    m_state.first_epsilon = {largest, of_gradient, of_gradient, of_gradient};
    m_state.epsilon = m_state.first_epsilon;
  }
  const std::int64_t steps = std::min(most_compact_steps, m_settings.max_iterations);
  while (m_state.compact_steps < steps) {
    if (m_state.compact_steps > 0) {
      for (std::size_t t = 0; t < 4; ++t) {
        m_state.epsilon[t] =
            std::max(m_state.epsilon[t] / epsilon_falls_by, epsilon_falls_to * m_state.first_epsilon[t]);
      }
    }
    m_state.weights_model = m_math.to_host(m_model);
    m_regularization->reweight(m_model, m_state.epsilon);
    const double phi_d = solve_and_tell("compact", m_state.beta, compact_tolerance);
    const double phi_m = m_state.rows.back().phi_m;
    const double off = target() / phi_d;
    const bool still = has_settled(m_state.last_phi_m, phi_m);
    m_state.last_phi_m = phi_m;
    ++m_state.compact_steps;
    if (still && std::abs(1 / off - 1) <= near_target) break;
    constexpr double slowest = 0.4, fastest = 2.5;
    if (!m_settings.beta && std::abs(1 / off - 1) > on_target) {
      m_state.beta *= std::clamp(std::sqrt(off), slowest, fastest);
    }
    keep_state();
  }
  next_phase(m_settings.beta ? "samples" : "beta");
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::find_depth_of_investigation() {
  if (!m_settings.depth_of_investigation || !m_state.depth_of_investigation.empty()) return;
  const Vector ones = m_math.from_host("step_of_reference", std::vector<double>(static_cast<std::size_t>(m_n), 1.0));
  const Vector right_side = m_math.zeros("pull_of_step", m_n);
  m_regularization->add_pull(m_state.beta, ones, right_side);
  const Vector difference = m_math.zeros("difference_of_models", m_n);
  BoundSolver<ExecutionSpace> solver(m_math, m_n, {});
  precondition(solver);
  set_diagonal(m_state.beta);
  constexpr double tolerance = 1e-4;
  solver.solve(product_of(m_state.beta), right_side, m_diagonal, tolerance, difference);
  m_state.depth_of_investigation = m_math.to_host(difference);
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::draw_samples() {
  const Uncertainty& uncertainty = m_settings.uncertainty;
  // of a model that misses its target they would say nothing
  if (uncertainty.samples == 0 || !m_state.message.empty()) return;
  if (m_state.squares.empty()) m_state.squares.assign(static_cast<std::size_t>(m_n), 0.0);
  const Vector squares = m_math.from_host("squares", m_state.squares);
  const Vector x = m_math.zeros("sample", m_n);
  const Vector right_side = m_math.zeros("sample_right_side", m_n);
  // the posterior of the quadratic problem: no bounds
  BoundSolver<ExecutionSpace> solver(m_math, m_n, {});
  precondition(solver);
  set_diagonal(m_state.beta);
  const auto product = product_of(m_state.beta);
  while (m_state.samples < uncertainty.samples) {
    m_math.fill(right_side, 0);
    m_math.fill(x, 0);
    m_data->add_weighted_transpose(m_data->normals(RandomStream::posterior_data, uncertainty.seed, m_state.samples),
                                   right_side);
    m_regularization->add_sample(m_state.beta, uncertainty.seed, m_state.samples, right_side);
    // a hundredth of what the samples themselves are good for
    constexpr double tolerance = 1e-3;
    solver.solve(product, right_side, m_diagonal, tolerance, x);
    m_math.each("add_squares", m_n, AddSquares<typename Math::Memory>{x, squares});
    const double trace = m_data->weighted_size(x);
    m_state.trace += trace;
    m_state.trace_squared += trace * trace;
    ++m_state.samples;
    m_observer.step("samples", m_state.samples, uncertainty.samples);
    m_state.squares = m_math.to_host(squares);
    keep_state();
  }
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::find_low_rank() {
  const std::int64_t rank = m_settings.uncertainty.rank;
  if (rank == 0 || !m_state.message.empty()) return;
  std::array<double, 3> lengths = m_settings.smoothness;
  for (double& length : lengths) length *= shortest_edge(m_input.cells->edges());
  set_diagonal(m_state.beta);
  // the case has one epoch
  LowRankUncertainty<ExecutionSpace> uncertainty(m_math, *m_data, m_regularization->of_first_epoch(), *m_input.cells,
                                                 m_communicator);
  // one that was stopped here begins this part anew, and finds the same
  const auto tell = [this](const char* what, std::int64_t done, std::int64_t all) {
    m_observer.step(what, done, all);
    keep_state();
  };
  uncertainty.find(m_state.beta, rank, lengths, m_diagonal, tell, m_outcome.model);
}

template <class ExecutionSpace>
void InverterOnSpace<ExecutionSpace>::finish() {
  InvertedModel& model = m_outcome.model;
  model.edges = m_input.cells->edges();
  model.cells = m_input.cells->cells();
  model.epochs = m_input.epochs;
  model.density = m_math.to_host(m_model);
  model.convergence = m_state.rows;
  add_uncertainty(m_state, model);
  add_depth_of_investigation(m_state, model);
  for (std::size_t i = 0; i < m_input.data.size(); ++i) {
    PredictedData data;
    static_cast<DataSet&>(data) = m_input.data[i];
    std::vector<double> trend;
    data.predicted = m_data->predicted(i, m_model, trend);
    model.data.push_back(std::move(data));
    model.trend.push_back(std::move(trend));
  }
}

template <class ExecutionSpace>
InversionOutcome InverterOnSpace<ExecutionSpace>::run(const InversionState* resume) {
  const Moment begin = m_begin;
  if (m_settings.uncertainty.rank > 0 && !(m_settings.smallness > 0)) {
    throw InputError("", "inversion.uncertainty.rank", "needs variances of the prior: smallness has to be above 0");
  }
  if (m_settings.uncertainty.rank > 0 && m_input.n_epochs() > 1) {
    throw InputError("", "inversion.uncertainty.rank", "is for one epoch alone");
  }
  prepare(resume);
  m_begin = std::chrono::steady_clock::now();
  m_outcome.setup_seconds = std::chrono::duration<double>(m_begin - begin).count();
  make_preconditioner();
  start(resume);
  if (m_state.phase == "cool") cool();
  if (m_state.phase == "compact") compact();
  if (m_state.phase == "beta") {
    constexpr double most = 2.5;
    BetaSearch search(m_state.beta, target(), most, false);
    if (m_state.search.empty()) search.add(m_state.rows.back().phi_d);
    search.go_on(m_state.search);
    // betas differ by little there: a looser solver would not move
    search_beta(search, "beta", fine_tolerance);
    m_state.search.clear();
    next_phase("samples");
  }
  draw_samples();
  find_low_rank();
  finish();
  m_outcome.message = m_state.message;
  m_outcome.on_target = m_state.message.empty();
  m_outcome.inversion_seconds = seconds();
  return std::move(m_outcome);
}

template <class ExecutionSpace>
InversionOutcome invert_on(const InversionInput& input, const Communicator& communicator, InversionObserver& observer,
                           const InversionState* resume) {
  return InverterOnSpace<ExecutionSpace>(input, communicator, observer).run(resume);
}

}  // namespace prismfield
