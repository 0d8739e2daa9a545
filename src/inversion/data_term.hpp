// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/data_set.hpp>
#include <prismfield/inversion_settings.hpp>

#include "base/random.hpp"
#include "inversion/data_rows.hpp"
#include "inversion/trend_basis.hpp"
#include "inversion/vector_math.hpp"
#include "model/station_neighbors.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

/// Huber's norm of residuals over sigma, h(r) = r^2 to its limit and 2 limit |r| - limit^2 beyond, by reweighted
/// squares. Source: Huber, Robust Statistics (1981), 95 % efficient for normal errors.
///
/// In chi a residual is cut at the limit, so that outliers hardly raise it. That alone would pass by whole anomalies:
/// what other stations bear out of a residual beyond the limit counts by its square.
struct HuberNorm {
  static constexpr double limit = 1.345;
  /// mean of min(r^2, limit^2) for normal errors
  static constexpr double mean_of_clipped = 0.71016454826905;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION static double weight(double r) {
    return Kokkos::abs(r) > limit ? limit / Kokkos::abs(r) : 1;
  }
  [[nodiscard]] static double value(double r) {
    const double size = std::abs(r);
    return size > limit ? limit * (2 * size - limit) : r * r;
  }
  /// Its mean is 1 for normal errors. `borne_out`: see StationNeighbors.
  [[nodiscard]] static double counted(double r, double borne_out) {
    return std::min(r * r, limit * limit) / mean_of_clipped + std::max(borne_out * borne_out - limit * limit, 0.0);
  }
};

/// Sums over residuals.
struct Misfit {
  /// with the weights that normal_product() has, which are those of the last misfit()
  double squares = 0;
  double phi_d = 0;
  /// 1 per datum on average where sigma is right; compared with the target
  double chi_sum = 0;
};

/// relative(i) = the root of Huber's weight of the residual over sigma; inverse_sigma(i) by it, and weights(i) as the
/// second derivative has them
template <class Memory>
struct WeighByHuber {
  Kokkos::View<const double*, Memory> residual, of_squares;
  Kokkos::View<double*, Memory> relative, inverse_sigma, weights;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    relative(i) = Kokkos::sqrt(HuberNorm::weight(residual(i) / relative(i)));
    inverse_sigma(i) = of_squares(i) * relative(i);
    weights(i) = relative(i) < 1 ? 0 : of_squares(i) * of_squares(i);
  }
};

/// phi_d = sum ((G m - d) / sigma)^2 of several data sets. Where a trend is unknown too, it is taken out exactly: the
/// residuals over sigma are projected off the functions that it is made of, W T, so that cells alone remain as
/// unknowns: phi_d(m) = min over c of |W (G m + T c - d)|^2. Of several epochs it is the sum over them; models and what
/// else is one a cell are (epoch, cell) then, and one product with G serves all epochs.
template <class ExecutionSpace>
class DataTerm {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  using Rows = DataRows<ExecutionSpace>;

  /// The rows of each data set, for all its epochs; `data`: set by set, epoch by epoch.
  DataTerm(Math& math, const std::vector<DataSet>& data, std::vector<Rows> rows, const InversionSettings& settings,
           const Communicator& communicator)
      : m_math(math), m_data(data), m_settings(settings), m_communicator(communicator) {
    const std::size_t epochs = data.size() / rows.size();
    m_epochs = static_cast<std::int64_t>(epochs);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      make_set(std::span(data).subspan(i * epochs, epochs), std::move(rows[i]));
    }
  }

  /// of all data
  [[nodiscard]] std::int64_t size() const noexcept { return m_size; }
  [[nodiscard]] std::int64_t products() const noexcept { return m_products; }
  void set_products(std::int64_t products) noexcept { m_products = products; }
  /// Otherwise G is the derivative of the data by the model that misfit() had last.
  [[nodiscard]] bool is_linear() const noexcept {
    return std::all_of(m_sets.begin(), m_sets.end(), [](const Set& set) { return set.g.is_linear(); });
  }

  /// out = G'WWG p, W = 1/sigma. Collective, as all below.
  void normal_product(const ConstVector& p, const Vector& out) {
    ++m_products;
    m_math.fill(out, 0);
    for (Set& set : m_sets) {
      const bool is_plain = set.bases.front().orthonormal.empty();
      if (is_plain && set.g.add_normal(of_epochs(set.weights), of_epochs(p), of_epochs(out))) continue;
      apply(set, p);
      weigh(set);
      add_transposed(set, out);
    }
  }
  /// out = G'WW d
  void pull(const Vector& out) {
    m_math.fill(out, 0);
    for (Set& set : m_sets) {
      m_math.copy(set.fields, set.observed);
      weigh(set);
      add_transposed(set, out);
    }
  }
  /// out = the diagonal of G'WWG; without the trend's projection.
  void diagonal(const Vector& out) {
    m_math.fill(out, 0);
    for (Set& set : m_sets) set.g.add_diagonal(of_epochs(set.weights), of_epochs(out));
  }
  /// gradient = G'WW (G m - d) at the model, off the trend; one product. Huber's norm weighs the data by what this
  /// model leaves of them, which depends on the model alone, unless the weights are to be `kept`.
  [[nodiscard]] Misfit misfit(const ConstVector& model, const Vector& gradient, bool kept = false) {
    ++m_products;
    Misfit misfit;
    m_math.fill(gradient, 0);
    for (std::size_t s = 0; s < m_sets.size(); ++s) {
      Set& set = m_sets[s];
      set.g.evaluate(of_epochs(model), of_epochs(set.of_model));
      const bool is_huber = m_settings.data_norm == DataNorm::huber;
      if (is_huber && !kept) reweigh(set, std::span(m_data).subspan(s * epochs(), epochs()));
      find_residuals(set);
      const double squares = dot(set.fields, set.fields);
      misfit.squares += squares;
      if (is_huber) {
        add_huber(set, misfit);
      } else {
        misfit.phi_d += squares;
        misfit.chi_sum += squares;
      }
      add_transposed(set, gradient);
    }
    return misfit;
  }
  /// Of all epochs: |W G x|^2, a sample's part of the trace of the resolution matrix.
  [[nodiscard]] double weighted_size(const ConstVector& x) {
    double sum = 0;
    for (Set& set : m_sets) {
      apply(set, x);
      weigh(set);
      sum += dot(set.fields, set.fields);
    }
    return sum;
  }
  /// P W G x, P off the trend: this rank's rows of every data set and epoch, one after the other.
  [[nodiscard]] std::vector<double> weighted_fields(const ConstVector& x) {
    std::vector<double> all;
    for (Set& set : m_sets) {
      apply(set, x);
      weigh(set);
      const std::vector<double> of_set = m_math.to_host(set.fields);
      all.insert(all.end(), of_set.begin(), of_set.end());
    }
    return all;
  }
  /// Takes the trend off such rows; returns the sum of their squares, every rank's.
  double project_rows(std::vector<double>& rows_of_all) {
    double squares = 0;
    each_projected(std::span(rows_of_all), [&](Set& set, std::span<double> part) {
      squares += dot(set.fields, set.fields);
      copy_out(m_math.space(), ConstVector(set.fields), part);
    });
    return squares;
  }
  /// out += G'W P e of such rows; with a call of weighted_fields() one product.
  void add_weighted_transpose(const std::vector<double>& rows_of_all, const Vector& out) {
    ++m_products;
    each_projected(std::span(rows_of_all), [&](Set& set, const auto&) { add_transposed(set, out); });
  }
  /// Such rows of standard normal deviates; a function of stream, seed and sample alone.
  [[nodiscard]] std::vector<double> normals(RandomStream stream, std::uint64_t seed, std::int64_t sample) const {
    std::vector<double> all;
    auto first = static_cast<std::uint64_t>(sample) * static_cast<std::uint64_t>(m_size);
    for (const Set& set : m_sets) {
      for (std::int64_t epoch = 0; epoch < m_epochs; ++epoch) {
        for (std::int64_t row = 0; row < set.g.rows(); ++row) {
          const auto index = first + static_cast<std::uint64_t>(number_of_row(set, row));
          all.push_back(random_normal(seed, stream, index));
        }
        first += static_cast<std::uint64_t>(set.g.fields().size() * set.n_points);
      }
    }
    return all;
  }
  /// Of a data set, by its number among all with their epochs, every rank's: (field, point), SI units, the trend
  /// included, and the trend's coefficients, three a field.
  [[nodiscard]] std::vector<double> predicted(std::size_t index, const ConstVector& model, std::vector<double>& trend) {
    const auto epochs = static_cast<std::size_t>(m_epochs);
    Set& set = m_sets[index / epochs];
    const std::size_t epoch = index % epochs;
    const auto n_cells = static_cast<std::size_t>(set.g.columns());
    const Vector fields = of_epoch(set, set.fields, epoch);
    using Columns = Kokkos::View<const double**, Kokkos::LayoutLeft, Memory>;
    set.g.evaluate(Columns(model.data() + epoch * n_cells, n_cells, 1),
                   typename Rows::Vectors(fields.data(), fields.extent(0), 1));
    std::vector<double> all = gathered(set, m_math.to_host(fields));
    std::vector<double> residual = m_data[index].values;
    for (std::size_t i = 0; i < all.size(); ++i) residual[i] -= all[i];
    trend = set.bases[epoch].coefficients(residual);
    set.bases[epoch].add(trend, all);
    return all;
  }

private:
  struct Set {
    explicit Set(Rows rows) : g(std::move(rows)) {}

    Rows g;
    /// (epoch, row), of this rank's points; the last two of Huber's norm only
    Vector observed, inverse_sigma, weights, of_model, fields, of_squares, relative;
    /// of each epoch
    std::vector<TrendBasis> bases;
    std::vector<std::vector<Vector>> functions;
    /// number of a field's first point in the whole set
    std::int64_t n_points = 0;
    /// null: not for this norm
    std::unique_ptr<StationNeighbors> neighbors;
  };
  void make_set(std::span<const DataSet> epochs, Rows g) {
    Set set(std::move(g));
    set.n_points = epochs.front().points.size();
    std::vector<double> observed, inverse_sigma;
    for (const DataSet& data : epochs) {
      for (const double value : rows_of(set, data.values)) observed.push_back(value);
      for (const double sigma : rows_of(set, data.sigma)) inverse_sigma.push_back(1 / sigma);
      m_size += data.size();
    }
    make_trends(set, epochs);
    set.observed = m_math.from_host("observed", observed);
    set.inverse_sigma = m_math.from_host("inverse_sigma", inverse_sigma);
    set.of_model = m_math.zeros("fields_of_model", rows(set));
    set.fields = m_math.zeros("fields", rows(set));
    set.weights = m_math.zeros("weights", rows(set));
    m_math.multiply(1, set.inverse_sigma, set.inverse_sigma, 0, set.weights);
    if (m_settings.data_norm == DataNorm::huber) {
      set.of_squares = m_math.from_host("inverse_sigma", inverse_sigma);
      set.relative = m_math.zeros("relative_weights", rows(set));
      m_math.fill(set.relative, 1);
      set.neighbors = std::make_unique<StationNeighbors>(epochs.front().points);
    }
    m_sets.push_back(std::move(set));
  }
  /// Huber's weights of what set.of_model leaves of the data.
  void reweigh(Set& set, std::span<const DataSet> data) {
    // from the weights of squares on; a trend that is least off in the new weights changes what is left
    m_math.fill(set.relative, 1);
    m_math.copy(set.inverse_sigma, set.of_squares);
    const bool has_trend = m_settings.trend != Trend::none;
    if (has_trend) make_trends(set, data);
    const int passes = has_trend ? 5 : 1;
    for (int pass = 0; pass < passes; ++pass) {
      find_residuals(set);
      m_math.each("weigh_by_huber", rows(set),
                  WeighByHuber<Memory>{set.fields, set.of_squares, set.relative, set.inverse_sigma, set.weights});
      if (has_trend) make_trends(set, weighed(set, data));
    }
  }
  void make_trends(Set& set, std::span<const DataSet> epochs) {
    set.bases.clear();
    set.functions.clear();
    for (const DataSet& data : epochs) {
      set.bases.push_back(make_trend_basis(data, m_settings.trend));
      std::vector<Vector> functions;
      for (const std::vector<double>& function : set.bases.back().orthonormal) {
        functions.push_back(m_math.from_host("trend", rows_of(set, function)));
      }
      set.functions.push_back(std::move(functions));
    }
  }
  /// The data with standard deviations as the weights have them now. Collective.
  [[nodiscard]] std::vector<DataSet> weighed(const Set& set, std::span<const DataSet> epochs) const {
    std::vector<DataSet> data(epochs.begin(), epochs.end());
    for (std::size_t e = 0; e < data.size(); ++e) {
      const std::vector<double> all = gathered(set, m_math.to_host(of_epoch(set, set.inverse_sigma, e)));
      for (std::size_t i = 0; i < all.size(); ++i) data[e].sigma[i] = 1 / all[i];
    }
    return data;
  }
  /// Of the residuals in set.fields, by Huber's norm. Collective.
  void add_huber(const Set& set, Misfit& misfit) const {
    const auto n = static_cast<std::size_t>(set.n_points);
    for (std::size_t e = 0; e < static_cast<std::size_t>(m_epochs); ++e) {
      std::vector<double> mine = m_math.to_host(of_epoch(set, set.fields, e));
      const std::vector<double> relative = m_math.to_host(of_epoch(set, set.relative, e));
      for (std::size_t row = 0; row < mine.size(); ++row) mine[row] /= relative[row];
      const std::vector<double> residuals = gathered(set, mine);
      for (std::size_t first = 0; first < residuals.size(); first += n) {
        const std::span<const double> of_field = std::span(residuals).subspan(first, n);
        const std::vector<double> borne_out = set.neighbors->borne_out(of_field);
        for (std::size_t i = 0; i < n; ++i) {
          misfit.phi_d += HuberNorm::value(of_field[i]);
          misfit.chi_sum += HuberNorm::counted(of_field[i], borne_out[i]);
        }
      }
    }
  }
  /// Values of all ranks' rows of an epoch, (field, point), out of those of this rank's. Collective.
  [[nodiscard]] std::vector<double> gathered(const Set& set, const std::vector<double>& mine) const {
    // other ranks' are 0 here
    std::vector<double> all(static_cast<std::size_t>(set.g.fields().size() * set.n_points));
    for (std::size_t row = 0; row < mine.size(); ++row) {
      all[static_cast<std::size_t>(number_of_row(set, static_cast<std::int64_t>(row)))] = mine[row];
    }
    sum_everywhere(m_communicator, all.data(), static_cast<std::int64_t>(all.size()));
    return all;
  }
  /// Values of this rank's rows out of those of all.
  [[nodiscard]] std::vector<double> rows_of(const Set& set, const std::vector<double>& all) const {
    std::vector<double> values;
    for (std::int64_t row = 0; row < set.g.rows(); ++row) {
      values.push_back(all[static_cast<std::size_t>(number_of_row(set, row))]);
    }
    return values;
  }
  /// Values of all epochs as vectors, one an epoch.
  template <class View>
  [[nodiscard]] auto of_epochs(const View& values) const {
    using Columns = Kokkos::View<typename View::value_type**, Kokkos::LayoutLeft, Memory>;
    const auto epochs = static_cast<std::size_t>(m_epochs);
    return Columns(values.data(), values.extent(0) / epochs, epochs);
  }
  /// fields = G model
  void apply(Set& set, const ConstVector& model) const { set.g.apply(of_epochs(model), of_epochs(set.fields)); }
  [[nodiscard]] std::size_t epochs() const { return static_cast<std::size_t>(m_epochs); }
  /// fields = what the model of set.of_model leaves of the data, over sigma, off the trend
  void find_residuals(Set& set) {
    m_math.copy(set.fields, set.of_model);
    m_math.add(-1, set.observed, 1, set.fields);
    m_math.multiply(1, set.inverse_sigma, set.fields, 0, set.fields);
    project(set);
  }
  /// Rows of all epochs, and those of one.
  [[nodiscard]] std::int64_t rows(const Set& set) const { return m_epochs * set.g.rows(); }
  [[nodiscard]] static Vector of_epoch(const Set& set, const Vector& values, std::size_t epoch) {
    const auto n = static_cast<std::size_t>(set.g.rows());
    return Vector(values.data() + epoch * n, n);
  }
  [[nodiscard]] std::int64_t number_of_row(const Set& set, std::int64_t row) const {
    const std::int64_t n = set.g.points().size();
    return row / n * set.n_points + set.g.points().begin + row % n;
  }
  /// Inner product over all ranks, each with its own points; its order does not depend on the number of threads.
  [[nodiscard]] double dot(const ConstVector& a, const ConstVector& b) const {
    double sum = m_math.dot(a, b);
    sum_everywhere(m_communicator, &sum, 1);
    return sum;
  }
  void project(Set& set) {
    for (std::size_t e = 0; e < set.functions.size(); ++e) {
      const Vector fields = of_epoch(set, set.fields, e);
      for (const Vector& function : set.functions[e]) {
        const double c = dot(function, fields);
        m_math.add(-c, function, 1, fields);
      }
    }
  }
  /// f(set, its part of the rows of all), with that part as its fields, off the trend.
  template <class Rows, class F>
  void each_projected(Rows rows_of_all, const F& f) {
    for (Set& set : m_sets) {
      const auto part = rows_of_all.first(static_cast<std::size_t>(rows(set)));
      rows_of_all = rows_of_all.subspan(part.size());
      m_math.copy_in(part, set.fields);
      project(set);
      f(set, part);
    }
  }
  /// fields = W (fields), projected
  void weigh(Set& set) {
    m_math.multiply(1, set.inverse_sigma, set.fields, 0, set.fields);
    project(set);
  }
  /// out += G' (W fields)
  void add_transposed(Set& set, const Vector& out) {
    m_math.multiply(1, set.inverse_sigma, set.fields, 0, set.fields);
    set.g.add_transposed(of_epochs(set.fields), of_epochs(out));
  }

  Math& m_math;
  const std::vector<DataSet>& m_data;
  const InversionSettings& m_settings;
  const Communicator& m_communicator;
  std::vector<Set> m_sets;
  std::int64_t m_epochs = 1;
  std::int64_t m_size = 0;
  std::int64_t m_products = 0;
};

}  // namespace prismfield
