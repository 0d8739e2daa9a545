// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/inverter.hpp"

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
#include <prismfield/make_operator.hpp>

#include "engine/with_space.hpp"
#include "inversion/beta_search.hpp"
#include "inversion/bound_solver.hpp"
#include "inversion/cell_weights.hpp"
#include "inversion/data_rows.hpp"
#include "inversion/data_term.hpp"
#include "inversion/interval_pull.hpp"
#include "inversion/low_rank_uncertainty.hpp"
#include "inversion/outcome.hpp"
#include "inversion/regularization.hpp"
#include "operators/stored/available_memory.hpp"
#include "operators/stored/storage_choice.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// The inversion as a sequence of solutions, each for one beta and one set of weights. All ranks take the same steps.
template <class ExecutionSpace>
class InverterOnSpace {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;

  InverterOnSpace(const ExecutionSpace& space, const InversionInput& input, const Communicator& communicator,
                  InversionObserver& observer)
      : m_input(input),
        m_settings(input.settings),
        m_communicator(communicator),
        m_observer(observer),
        m_columns(*input.cells, unit_magnetizations(input.settings.unknown, input.request.magnetic)),
        m_n(input.n_epochs() * components(input.settings.unknown) * input.cells->size()),
        m_math(space) {}

  InversionOutcome run(const InversionState* resume) {
    const Moment begin = m_begin;
    prepare(resume);
    m_begin = std::chrono::steady_clock::now();
    m_outcome.setup_seconds = std::chrono::duration<double>(m_begin - begin).count();
    start(resume);
    if (m_state.phase == "cool") cool();
    if (m_state.phase == "compact") compact();
    if (m_state.phase == "intervals") keep_to_intervals();
    if (m_state.phase == "flips") {
      flip_cells();
      next_phase("beta");
    }
    if (m_state.phase == "beta") find_last_beta();
    draw_samples();
    find_low_rank();
    finish();
    m_outcome.message = m_state.message;
    m_outcome.on_target = m_state.message.empty();
    m_outcome.inversion_seconds = seconds();
    return std::move(m_outcome);
  }

private:
  using Moment = std::chrono::steady_clock::time_point;
  using Solver = BoundSolver<ExecutionSpace>;
  /// The gradient of phi at the end of a solution over that of phi_d alone: far from the target and in steps with new
  /// weights, near the target, and for a beta that was given. phi_d is then off by at most about twice as much. It
  /// depends neither on the model that a solution begins at nor on the size of sigma.
  static constexpr double coarse = 0.1, fine = 0.01, exact = 1e-5;
  /// Of chi beside the target, where weights or bounds change it.
  static constexpr double near_target = 0.05;

  void prepare(const InversionState* resume) {
    std::vector<DataRows<ExecutionSpace>> rows;
    std::vector<std::string> storage;
    // with G and with its transposed
    const std::int64_t likely = 2 * usual_products(m_settings);
    const auto epochs = static_cast<std::size_t>(m_input.n_epochs());
    const std::size_t n_sets = m_input.data.size() / epochs;
    for (std::size_t i = 0; i < n_sets; ++i) {
      const DataSet& set = m_input.data[i * epochs];
      Request request = m_input.request;
      request.fields = row_fields(set.fields);
      request.execution.partition = Partition::points;
      StorageChoice choice;
      StorageSettings storage_settings = storage_of_set(i, resume, request.execution.method);
      storage_settings.likely = {likely, m_input.n_epochs()};
      rows.emplace_back(
          m_math,
          make_operator(m_math.space(), m_columns, set.points, request, storage_settings, m_communicator, &choice),
          set.fields, m_input.request.magnetic.inducing_field);
      m_state.stored.push_back(kept_as(choice));
      for (const std::int64_t bytes : gather_everywhere(m_communicator, choice.bytes)) m_outcome.stored_bytes += bytes;
      storage.push_back(choice.why);
      if (!choice.warning.empty()) storage.push_back(choice.warning);
    }
    m_observer.prepared(storage);
    m_data =
        std::make_unique<DataTerm<ExecutionSpace>>(m_math, m_input.data, std::move(rows), m_settings, m_communicator);
    m_model = m_math.zeros("model", m_n);
    if (!is_quadratic()) m_last_model = m_math.zeros("last_model", m_n);
    m_pull = m_math.zeros("pull", m_n);
    m_gradient = m_math.zeros("gradient_of_data", m_n);
    m_diagonal = m_math.zeros("diagonal", m_n);
    m_right_side = m_math.zeros("right_side", m_n);
    m_data_diagonal = m_math.zeros("data_diagonal", m_n);
    m_reference = of_all_epochs("reference", m_input.reference);
    m_data->diagonal(m_data_diagonal);
    m_data->pull(m_pull);
    m_regularization = std::make_unique<Regularization<ExecutionSpace>>(
        m_math, *m_input.cells, m_input.n_epochs(), m_settings, weights(m_data_diagonal), m_reference);
    set_bounds();
    check_low_rank_memory();
  }
  [[nodiscard]] static std::int64_t kept_as(const StorageChoice& choice) {
    if (choice.is_compressed) return stored_compressed;
    if (choice.bytes > 0) return stored_whole;
    return choice.method == Method::tree ? by_tree : choice.method == Method::fft ? by_fft : stored_not;
  }
  /// `method`: by which G is computed where it is not kept.
  [[nodiscard]] StorageSettings storage_of_set(std::size_t set, const InversionState* resume, Method& method) const {
    StorageSettings settings = m_input.storage;
    settings.file = file_of_set(settings.file, set);
    if (settings.store != Store::automatic) return settings;
    const auto epochs = static_cast<std::size_t>(m_input.n_epochs());
    if (resume != nullptr && resume->stored.size() * epochs == m_input.data.size()) {
      // what was measured once: another choice now would round otherwise
      constexpr Store kept = Math::on_host ? Store::memory : Store::device;
      const std::int64_t stored = resume->stored[set];
      if (stored != stored_compressed) {
        settings.store = stored == stored_whole ? kept : Store::none;
        method = stored == by_tree ? Method::tree : stored == by_fft ? Method::fft : Method::direct;
      } else if (!settings.compression) {
        settings.compression = auto_compression;
      }
      return settings;
    }
    // what compression changes of the predictions has to stay far below sigma
    constexpr double part_of_sigma = 0.1;
    for (std::size_t e = 0; e < epochs; ++e) {
      if (signal_to_noise(m_input.data[set * epochs + e]) * auto_compression > part_of_sigma) {
        settings.never_compressed = true;
      }
    }
    return settings;
  }
  /// w of the regularisation, one a cell.
  [[nodiscard]] std::vector<double> weights(const Vector& diagonal_of_data) {
    std::vector<double> weights = weights_by_kind(diagonal_of_data);
    for (std::size_t i = 0; i < m_input.cell_weights.size(); ++i) weights[i] *= m_input.cell_weights[i];
    return weights;
  }
  [[nodiscard]] std::vector<double> weights_by_kind(const Vector& diagonal_of_data) {
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
        // all epochs and components are weighted alike: by the columns of a cell together
        const auto n = static_cast<std::size_t>(cells.size());
        std::vector<double> sums = m_math.to_host(diagonal_of_data);
        for (std::size_t k = n; k < sums.size(); ++k) sums[k % n] += sums[k];
        sums.resize(n);
        return sensitivity_weights(cells, sums);
      }
    }
    return std::vector<double>(static_cast<std::size_t>(cells.size()), 1.0);
  }
  [[nodiscard]] double first_beta() {
    if (m_settings.beta) return *m_settings.beta;
    const double of_data =
        largest_eigenvalue([&](const ConstVector& p, const Vector& out) { m_data->normal_product(p, out); });
    const double of_model =
        largest_eigenvalue([&](const ConstVector& p, const Vector& out) { m_regularization->add(1, p, out); });
    constexpr double above = 10;
    return above * of_data / of_model;
  }
  [[nodiscard]] double largest_eigenvalue(const std::function<void(const ConstVector&, const Vector&)>& product) {
    // the first beta needs no more than a digit
    constexpr int steps = 5;
    std::vector<double> start(static_cast<std::size_t>(m_n));
    fill_uniform(-1, 1, 1, RandomStream::power_iteration, 0, m_n, start.data());
    const Vector x = m_math.from_host("eigenvector", start);
    const Vector y = m_math.zeros("eigenvector", m_n);
    double value = 0;
    for (int step = 0; step < steps; ++step) {
      const double size = std::sqrt(m_math.dot(x, x));
      if (!(size > 0)) return 0;
      m_math.add(0, x, 1 / size, x);
      m_math.fill(y, 0);
      product(x, y);
      value = m_math.dot(x, y);
      m_math.copy(x, y);
    }
    return value;
  }

  void start(const InversionState* resume) {
    if (resume != nullptr) {
      m_state = *resume;
      m_seconds_before = resume->seconds;
      m_math.copy_in(m_state.model, m_model);
      for (const ConvergenceRow& row : m_state.rows) m_observer.row(row);
      if (!m_state.weights_model.empty()) {
        m_regularization->reweight(m_math.from_host("weights_model", m_state.weights_model), m_state.epsilon);
      }
      if (!m_state.lower.empty()) {
        m_math.copy_in(m_state.lower, m_low);
        m_math.copy_in(m_state.upper, m_high);
      }
      find_misfit();
      m_data->set_products(resume->products);
      return;
    }
    if (m_input.start.empty()) {
      m_math.copy(m_model, m_reference);
    } else {
      m_model = of_all_epochs("model", m_input.start);
    }
    m_solver->clip(m_model);
    // by the weights of squares: most data are far from the reference
    m_misfit = m_data->misfit(m_model, m_gradient, true);
    m_state.beta = first_beta();
    if (m_settings.data_norm == DataNorm::huber) find_misfit();
  }
  void set_bounds() {
    const auto n = static_cast<std::size_t>(m_n / m_input.n_epochs());
    if (!m_input.lower.empty()) {
      m_low = of_all_epochs("lower_bounds", m_input.lower);
      m_high = of_all_epochs("upper_bounds", m_input.upper);
    } else if (m_settings.bounds) {
      m_low = of_all_epochs("lower_bounds", std::vector<double>(n, m_settings.bounds->min));
      m_high = of_all_epochs("upper_bounds", std::vector<double>(n, m_settings.bounds->max));
    }
    m_solver = std::make_unique<Solver>(m_math, m_n, m_low, m_high);
  }
  void cool() {
    if (m_settings.beta) {
      solve_and_tell(*m_settings.beta, exact);
    } else if (is_beta_fixed()) {
      choose_beta();
    } else if (m_state.search.empty() && m_misfit.chi_sum <= target() && m_input.start.empty()) {
      // the reference itself: no beta would bring the model nearer to it
      m_state.message = reference_fits_message(m_settings);
      solve_for(m_state.beta, coarse);
      add_row("cool", m_state.beta);
    } else {
      constexpr double cooling = 4;
      search_beta("cool", cooling, true);
    }
    m_state.search.clear();
    find_depth_of_investigation();
    next_phase(m_settings.is_compact() && m_state.message.empty() ? "compact" : "intervals");
  }
  /// By generalized cross-validation or the L-curve.
  void choose_beta() {
    const bool by_gcv = m_settings.beta_choice == BetaChoice::gcv;
    while (static_cast<std::int64_t>(m_state.search.size()) < m_settings.max_iterations) {
      const bool is_settled = solve_for(m_state.beta, fine);
      add_row(by_gcv ? "gcv" : "l_curve", m_state.beta);
      // where the data are followed altogether, rounding decides
      constexpr double least_part = 0.01;
      const double part = by_gcv ? part_not_followed(m_state.beta) : 1;
      if (part < least_part && !m_state.search.empty()) break;
      const double score = by_gcv ? std::log(m_misfit.squares / (part * part)) : 0;
      m_state.search.push_back({std::log(m_state.beta), score});
      if (!by_gcv) bend_of_l_curve(m_state.rows, m_state.search);
      // both ends of the L-curve count as straight
      if (!is_settled || is_past_minimum(m_state.search, by_gcv ? 2 : 3)) break;
      constexpr double cooling = 4;
      m_state.beta /= cooling;
      keep_state();
    }
    // nearer than the last model, which follows the noise
    m_math.copy(m_model, m_reference);
    m_solver->clip(m_model);
    find_misfit();
    solve_and_tell(std::exp(place_of_minimum(m_state.search)), fine);
  }
  /// For a beta that is not searched by the target.
  void solve_and_tell(double beta, double tolerance) {
    const bool is_settled = solve_for(beta, tolerance);
    add_row("beta", beta);
    if (!is_settled) m_state.message = gave_up_message(m_state.rows, m_low.extent(0) > 0);
  }
  /// An estimate of the part of the data that the model for this beta does not follow: of the trace of
  /// I - W G C G'W, C = H^-1, by the same probes for every beta.
  [[nodiscard]] double part_not_followed(double beta) {
    constexpr std::int64_t probes = 4;
    constexpr double tolerance = 1e-3;
    Solver solver(m_math, m_n);
    const Vector x = m_math.zeros("answer", m_n);
    const Vector right_side = m_math.zeros("probe", m_n);
    set_diagonal(beta);
    double followed = 0, all = 0;
    for (std::int64_t k = 0; k < probes; ++k) {
      std::vector<double> rows = m_data->normals(RandomStream::posterior_data, 1, k);
      m_math.fill(right_side, 0);
      all += m_data->project_rows(rows);
      m_data->add_weighted_transpose(rows, right_side);
      solver.solve(product_of(beta), right_side, m_diagonal, tolerance, x);
      followed += m_math.dot(right_side, x);
    }
    return 1 - followed / all;
  }
  void compact() {
    // falling faster, the models of published cases were worse: docs/inversion.md
    constexpr double last_epsilon = 0.1, settling = 0.03;
    if (m_state.compact_steps == 0) {
      const double largest = m_regularization->largest(m_model)[0];
      const std::array<double, 3> edges = median_edges(m_input.cells->edges());
      m_state.first_epsilon = {largest, largest / edges[0], largest / edges[1], largest / edges[2]};
    }
    while (m_state.compact_steps < compact_falls + m_settings.max_iterations && !is_spent()) {
      const bool has_fallen = m_state.compact_steps >= compact_falls;
      const double fallen = static_cast<double>(m_state.compact_steps) / static_cast<double>(compact_falls);
      for (std::size_t t = 0; t < 4; ++t) {
        m_state.epsilon[t] = m_state.first_epsilon[t] * std::pow(last_epsilon, std::min(fallen, 1.0));
      }
      m_state.weights_model = m_math.to_host(m_model);
      m_regularization->reweight(m_model, m_state.epsilon);
      solve_for(m_state.beta, has_fallen ? settling : coarse);
      add_row("compact", m_state.beta);
      const double phi_m = m_state.rows.back().phi_m;
      const double off = target() / m_misfit.chi_sum;
      const bool still = has_fallen && has_settled(m_state.last_phi_m, phi_m);
      m_state.last_phi_m = phi_m;
      ++m_state.compact_steps;
      if (still && std::abs(1 / off - 1) <= near_target) break;
      adjust_beta();
      keep_state();
    }
    next_phase("intervals");
  }
  /// Brings the model into the allowed intervals, whose one or the other bounds each cell from then on, or below the
  /// largest amplitude that is allowed.
  void keep_to_intervals() {
    const bool has_intervals = !m_settings.intervals.empty();
    if ((has_intervals || m_settings.most_amplitude) && m_state.message.empty()) {
      pull_into_allowed();
      if (has_intervals) {
        m_interval_pull->find_bounds(m_model, m_low, m_high);
        m_state.lower = m_math.to_host(m_low);
        m_state.upper = m_math.to_host(m_high);
        m_solver->clip(m_model);
      } else {
        m_interval_pull->copy_allowed(m_model);
      }
      m_interval_pull.reset();
      find_misfit();
      if (!has_intervals) add_row("bounds", m_state.beta);
      if (!has_intervals && !is_beta_fixed() && std::abs(m_misfit.chi_sum / target() - 1) > near_target) {
        m_state.message = off_target_message(BetaSearch::Status::slow, m_state.rows, true, m_settings);
      }
    }
    // another beta would bring amplitudes above the largest
    const bool needs_beta = m_settings.is_compact() && !m_settings.most_amplitude;
    const char* const next = has_intervals ? "flips" : needs_beta ? "beta" : "samples";
    next_phase(m_state.message.empty() ? next : "samples");
  }
  /// Lets cells change over to the interval beside theirs as long as that lowers phi; false where it never does.
  bool flip_cells() {
    constexpr int most_rounds = 20;
    double share = 0.5;
    bool has_flipped = false;
    solve_for(m_state.beta, coarse);
    for (int round = 0; round < most_rounds && !is_spent(); ++round) {
      set_diagonal(m_state.beta);
      find_gradient(m_state.beta);
      const double last_phi = phi(m_state.beta);
      const std::vector<double> model = m_math.to_host(m_model);
      const std::vector<Flip> flips = find_flips(m_settings.intervals, model, m_state.lower, m_state.upper,
                                                 m_math.to_host(m_right_side), m_math.to_host(m_diagonal));
      const auto n = static_cast<std::size_t>(std::ceil(share * static_cast<double>(flips.size())));
      if (n == 0) break;
      std::vector<double> lower = m_state.lower, upper = m_state.upper;
      for (std::size_t i = 0; i < n; ++i) {
        lower[flips[i].cell] = flips[i].to.min;
        upper[flips[i].cell] = flips[i].to.max;
      }
      m_math.copy_in(lower, m_low);
      m_math.copy_in(upper, m_high);
      m_solver->clip(m_model);
      find_misfit();
      solve_for(m_state.beta, coarse);
      if (phi(m_state.beta) < last_phi) {
        m_state.lower = lower;
        m_state.upper = upper;
        add_row("flip", m_state.beta);
        has_flipped = true;
        continue;
      }
      // too many at once
      share /= 4;
      m_math.copy_in(m_state.lower, m_low);
      m_math.copy_in(m_state.upper, m_high);
      m_math.copy_in(model, m_model);
      find_misfit();
      if (n == 1) break;
    }
    return has_flipped;
  }
  /// Steps of alternating directions.
  void pull_into_allowed() {
    // of the diagonal of R; from 0.03 to 0.3 models are alike, 1 keeps cells where they began
    constexpr double first_penalty = 0.1;
    const std::int64_t steps = m_settings.most_amplitude ? 60 : 25;
    const Vector penalty = m_math.zeros("penalty", m_n);
    m_regularization->diagonal(m_right_side);
    m_math.add(first_penalty, m_right_side, 0, penalty);
    m_interval_pull = std::make_unique<IntervalPull<ExecutionSpace>>(m_math, m_settings.intervals, penalty,
                                                                     m_state.interval_steps, m_state.interval_dual);
    while (m_state.interval_steps < steps && !is_spent()) {
      if (m_settings.most_amplitude) {
        m_interval_pull->step(m_model, *m_settings.most_amplitude, m_input.cells->size());
      } else {
        m_interval_pull->step(m_model);
      }
      solve_for(m_state.beta, m_settings.most_amplitude ? fine : coarse);
      add_row(m_settings.most_amplitude ? "bounds" : "interval", m_state.beta);
      const bool is_near = std::abs(m_misfit.chi_sum / target() - 1) <= BetaSearch::tolerance || is_beta_fixed();
      adjust_beta();
      ++m_state.interval_steps;
      m_state.interval_dual = m_interval_pull->dual();
      keep_state();
      constexpr double settled = 1e-3;
      if (m_settings.most_amplitude && is_near &&
          m_interval_pull->largest_miss(m_model) <= settled * *m_settings.most_amplitude) {
        break;
      }
    }
  }
  /// With weights and bounds as they are then.
  void find_last_beta() {
    if (is_beta_fixed()) {
      solve_and_tell(m_state.beta, fine);
    } else {
      constexpr double most = 2.5;
      while (true) {
        search_beta("beta", most, false);
        m_state.search.clear();
        // with other cells on either side of a gap the target may be there
        const bool may_flip = !m_state.message.empty() && !m_settings.intervals.empty() && !is_spent();
        if (!may_flip || !flip_cells()) break;
        m_state.message.clear();
      }
    }
    next_phase("samples");
  }
  /// Between steps whose weights change: towards the target.
  void adjust_beta() {
    constexpr double slowest = 0.4, fastest = 2.5;
    const double off = target() / m_misfit.chi_sum;
    if (is_beta_fixed() || std::abs(1 / off - 1) <= BetaSearch::tolerance) return;
    m_state.beta *= std::clamp(std::sqrt(off), slowest, fastest);
  }
  /// Searches the beta of the target with the weights as they are, by the steps of BetaSearch.
  void search_beta(const char* stage, double step, bool cools) {
    // compact steps go on with another beta
    constexpr double roughly = 0.2;
    constexpr int solutions_of_an_accuracy = 5;
    BetaSearch search(m_state.beta, target(), step, cools,
                      cools && m_settings.is_compact() ? roughly : BetaSearch::tolerance);
    search.go_on(m_state.search);
    const auto is_done = [&] {
      return static_cast<std::int64_t>(search.solutions().size()) >= m_settings.max_iterations;
    };
    while (search.status() == BetaSearch::Status::searching && m_state.message.empty()) {
      const char* const name = search.has_bracket() ? "target" : stage;
      // a bracket that does not lead to the target has ends that are not accurate enough
      const double accurate = fine * std::pow(0.1, search.bracketed() / solutions_of_an_accuracy);
      bool is_settled = solve_for(search.beta(), search.needs_accuracy() ? accurate : coarse);
      if (!search.needs_accuracy() && search.needs_accuracy(m_misfit.chi_sum)) {
        is_settled = solve_for(search.beta(), fine);
      }
      add_row(name, search.beta());
      // below the target another beta is easier to solve for
      search.add(m_misfit.chi_sum, !is_settled && (m_misfit.chi_sum > target() || is_spent()));
      m_state.search = search.solutions();
      if (search.status() != BetaSearch::Status::on_target &&
          (search.status() != BetaSearch::Status::searching || is_done())) {
        m_state.message = off_target_message(search.status(), m_state.rows, m_low.extent(0) > 0, m_settings);
      }
      keep_state();
    }
  }
  /// m_diagonal = the diagonal of H for this beta
  void set_diagonal(double beta) {
    m_regularization->diagonal(m_right_side);
    if (m_interval_pull) m_interval_pull->add_diagonal(m_right_side);
    m_math.copy(m_diagonal, m_data_diagonal);
    m_math.add(beta, m_right_side, 1, m_diagonal);
  }
  /// H = G'WWG + beta R, and beta P while the model is pulled into intervals
  [[nodiscard]] typename Solver::Product product_of(double beta) {
    return [this, beta](const ConstVector& p, const Vector& out) {
      m_data->normal_product(p, out);
      m_observer.product();
      m_regularization->add(beta, p, out);
      if (m_interval_pull) m_interval_pull->add(beta, p, out);
    };
  }
  /// m_misfit and m_gradient of m_model
  void find_misfit() { m_misfit = m_data->misfit(m_model, m_gradient); }
  /// m_right_side = half the gradient of phi at m_model
  void find_gradient(double beta) {
    // of phi_m for the reference, which phi_m does not take as another model
    m_math.fill(m_right_side, 0);
    m_regularization->add_pull(-beta, m_reference, m_right_side);
    m_regularization->add(beta, m_model, m_right_side);
    m_math.add(1, m_gradient, 1, m_right_side);
    if (m_interval_pull) m_interval_pull->add_gradient(beta, m_model, m_right_side);
  }
  /// Whether phi is a square of the model: one round of the solver then is near the end.
  [[nodiscard]] bool is_quadratic() const { return m_data->is_linear() && m_settings.data_norm == DataNorm::squares; }
  /// A round of the solver, until the gradient is this part of that of phi_d; then m_misfit and m_gradient.
  typename Solver::Outcome step(double beta, double tolerance) {
    find_gradient(beta);
    if (!is_quadratic()) m_math.copy(m_last_model, m_model);
    const double last_phi = is_quadratic() ? 0 : phi(beta);
    constexpr double rounding = 1e-13;
    const typename Solver::Outcome outcome =
        m_solver->improve(product_of(beta), m_right_side, m_gradient, m_diagonal, tolerance,
                          rounding * m_solver->norm(m_pull, m_diagonal),
                          std::min(most_products_of_solution, most_products - m_data->products()), m_model);
    if (outcome == Solver::Outcome::was_settled) return outcome;
    find_misfit();
    return is_quadratic() || shorten_step(beta, last_phi) ? outcome : Solver::Outcome::gave_up;
  }
  /// Goes back towards the last model until phi is not above what it was there; false where it always is.
  bool shorten_step(double beta, double last_phi) {
    constexpr int most_halvings = 10;
    constexpr double rounding = 1e-12;
    for (int halving = 0; phi(beta) > (1 + rounding) * last_phi; ++halving) {
      if (halving == most_halvings) return false;
      m_math.add(0.5, m_last_model, 0.5, m_model);
      find_misfit();
    }
    return true;
  }
  /// Improves m_model for this beta until the gradient is this part of that of phi_d; false when the solver gave up.
  /// Where phi is no square of the model the steps are those of Gauss and Newton.
  bool solve_for(double beta, double tolerance) {
    set_diagonal(beta);
    // the gradient of phi_d falls as beta at most: the first pass is enough where the second finds nothing to do
    double falls_to = m_state.rows.empty() ? 1 : std::min(beta / m_state.rows.back().beta, 1.0);
    // chi is without what outliers have of phi_d
    if (m_settings.data_norm == DataNorm::huber) tolerance *= 0.1;
    constexpr int most_steps = 100;
    const int most_passes = is_quadratic() ? 5 : most_steps;
    for (int pass = 0; pass < most_passes; ++pass) {
      const typename Solver::Outcome outcome = step(beta, tolerance * falls_to);
      if (outcome != Solver::Outcome::settled) return outcome == Solver::Outcome::was_settled;
      falls_to = 1;
    }
    return is_quadratic();
  }
  /// Of m_model; what pulls into intervals left out
  [[nodiscard]] double phi(double beta) { return m_misfit.phi_d + beta * m_regularization->value(m_model); }
  /// Adds a line to the table.
  void add_row(const char* stage, double beta) {
    m_state.beta = beta;
    ConvergenceRow row;
    row.stage = stage;
    row.beta = beta;
    row.phi_d = m_misfit.phi_d;
    row.chi = m_misfit.chi_sum / static_cast<double>(m_data->size());
    row.phi_m = m_regularization->value(m_model);
    row.products = m_data->products();
    const std::vector<double> sizes = amplitude_of(m_math.to_host(m_model), m_settings.unknown, m_input.cells->size());
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    row.minimum = *least;
    row.maximum = *most;
    row.seconds = seconds();
    m_state.rows.push_back(row);
    if (m_settings.keep_all) m_state.kept.push_back(m_math.to_host(m_model));
    m_observer.row(row);
  }
  /// What of a step of the reference everywhere comes back in the model, without bounds and compact norms.
  void find_depth_of_investigation() {
    if (!m_settings.depth_of_investigation || !m_state.depth_of_investigation.empty()) return;
    const Vector ones = m_math.from_host("step_of_reference", std::vector<double>(static_cast<std::size_t>(m_n), 1.0));
    const Vector right_side = m_math.zeros("pull_of_step", m_n);
    m_regularization->add_pull(m_state.beta, ones, right_side);
    const Vector difference = m_math.zeros("difference_of_models", m_n);
    Solver solver(m_math, m_n);
    set_diagonal(m_state.beta);
    constexpr double tolerance = 1e-4;
    solver.solve(product_of(m_state.beta), right_side, m_diagonal, tolerance, difference);
    m_state.depth_of_investigation = m_math.to_host(difference);
  }
  void draw_samples() {
    const Uncertainty& uncertainty = m_settings.uncertainty;
    // of a model that misses its target they would say nothing
    if (uncertainty.samples == 0 || !m_state.message.empty()) return;
    if (m_state.squares.empty()) m_state.squares.assign(static_cast<std::size_t>(m_n), 0.0);
    const Vector squares = m_math.from_host("squares", m_state.squares);
    const Vector x = m_math.zeros("sample", m_n);
    const Vector right_side = m_math.zeros("sample_right_side", m_n);
    // the posterior of the quadratic problem: no bounds
    Solver solver(m_math, m_n);
    set_diagonal(m_state.beta);
    const auto product = product_of(m_state.beta);
    while (m_state.samples < uncertainty.samples) {
      m_math.fill(right_side, 0);
      m_data->add_weighted_transpose(m_data->normals(RandomStream::posterior_data, uncertainty.seed, m_state.samples),
                                     right_side);
      m_regularization->add_sample(m_state.beta, uncertainty.seed, m_state.samples, right_side);
      // a hundredth of what the samples themselves are good for
      constexpr double tolerance = 1e-3;
      solver.solve(product, right_side, m_diagonal, tolerance, x);
      m_math.multiply(1, x, x, 1, squares);
      const double trace = m_data->weighted_size(x);
      m_state.trace += trace;
      m_state.trace_squared += trace * trace;
      ++m_state.samples;
      m_observer.step("samples", m_state.samples, uncertainty.samples);
      m_state.squares = m_math.to_host(squares);
      keep_state();
    }
  }
  /// Standard deviations by a low rank of the data term.
  void find_low_rank() {
    const std::int64_t rank = m_settings.uncertainty.rank;
    if (rank == 0 || !m_state.message.empty()) return;
    const std::array<double, 3> lengths = smoothing_lengths(m_settings, m_input.cells->edges());
    set_diagonal(m_state.beta);
    // the case has one epoch
    LowRankUncertainty<ExecutionSpace> uncertainty(m_math, *m_data, *m_regularization, *m_input.cells, m_communicator);
    // one that was stopped here begins this part anew, and finds the same
    const auto tell = [this](const char* what, std::int64_t done, std::int64_t all) {
      m_observer.step(what, done, all);
      keep_state();
    };
    uncertainty.find(m_state.beta, rank, lengths, m_diagonal, tell, m_outcome.model);
  }
  /// Throws on all ranks if the columns of the low rank do not fit one. Collective.
  void check_low_rank_memory() {
    const std::int64_t columns = subspace_size(m_settings.uncertainty.rank, m_data->size());
    if (columns == 0) return;
    const std::int64_t needed = low_rank_bytes(m_n, columns);
    const std::int64_t available = available_memory<ExecutionSpace>(m_communicator);
    if (any(m_communicator, needed > available)) {
      throw InputError("", "inversion.uncertainty.rank", low_rank_shortage(needed, available));
    }
  }
  void next_phase(const char* phase) {
    m_state.phase = phase;
    keep_state();
  }
  void keep_state() {
    m_state.model = m_math.to_host(m_model);
    m_state.products = m_data->products();
    m_state.seconds = seconds();
    m_observer.state(m_state);
  }
  [[nodiscard]] double seconds() const {
    return m_seconds_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count();
  }
  void finish() {
    InvertedModel& model = m_outcome.model;
    model.edges = m_input.cells->edges();
    model.cells = m_input.cells->cells();
    model.unknown = m_settings.unknown;
    model.epochs = m_input.epochs;
    model.values = m_math.to_host(m_model);
    model.convergence = m_state.rows;
    model.solutions = m_state.kept;
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
  [[nodiscard]] double target() const { return m_settings.target_misfit * static_cast<double>(m_data->size()); }
  /// No products are left.
  [[nodiscard]] bool is_spent() const { return m_data->products() >= most_products; }
  /// No search for the target: beta is given, or chosen without it.
  [[nodiscard]] bool is_beta_fixed() const {
    return m_settings.beta.has_value() || m_settings.beta_choice != BetaChoice::target;
  }
  /// Values of an epoch's unknowns as those of all.
  [[nodiscard]] Vector of_all_epochs(const char* label, const std::vector<double>& of_one) const {
    std::vector<double> all;
    for (std::int64_t e = 0; e < m_input.n_epochs(); ++e) all.insert(all.end(), of_one.begin(), of_one.end());
    return m_math.from_host(label, all);
  }

  const InversionInput& m_input;
  const InversionSettings& m_settings;
  const Communicator& m_communicator;
  InversionObserver& m_observer;
  /// the prisms of the columns of G
  MagnetizedPrisms m_columns;
  /// unknowns: epochs times components times cells
  std::int64_t m_n;
  Math m_math;
  std::unique_ptr<DataTerm<ExecutionSpace>> m_data;
  std::unique_ptr<Regularization<ExecutionSpace>> m_regularization;
  std::unique_ptr<Solver> m_solver;
  /// (epoch, component, cell)
  Vector m_model, m_reference, m_pull, m_data_diagonal, m_diagonal, m_right_side;
  /// that a step began at; empty where phi is quadratic
  Vector m_last_model;
  /// half of that of phi_d at m_model
  Vector m_gradient;
  /// bounds; empty where there are none
  Vector m_low, m_high;
  /// null: not under way
  std::unique_ptr<IntervalPull<ExecutionSpace>> m_interval_pull;
  /// of m_model
  Misfit m_misfit;
  InversionState m_state;
  InversionOutcome m_outcome;
  Moment m_begin = std::chrono::steady_clock::now();
  double m_seconds_before = 0;
};

}  // namespace

InversionOutcome invert(const InversionInput& input, const Communicator& communicator, InversionObserver* observer,
                        const InversionState* resume) {
  agree_on_input(communicator, [&] { check_input(input); });
  InversionInput filled;
  const bool is_filled = input.reference.empty();
  if (is_filled) {
    filled = input;
    filled.reference.assign(static_cast<std::size_t>(components(input.settings.unknown) * input.cells->size()), 0);
  }
  InversionObserver nobody;
  InversionObserver& told = observer != nullptr ? *observer : nobody;
  return with_space(input.request.execution.space, [&](const auto& space) {
    return InverterOnSpace(space, is_filled ? filled : input, communicator, told).run(resume);
  });
}

}  // namespace prismfield
