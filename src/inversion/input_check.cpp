// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/inverter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "model/points.hpp"

namespace prismfield {
namespace {

bool is_finite(double x) { return std::isfinite(x); }
bool is_above_0(double x) { return std::isfinite(x) && x > 0; }
bool is_not_negative(double x) { return std::isfinite(x) && x >= 0; }
/// Whether it can be a bound on this side, perhaps none.
bool is_lower(double x) { return x < std::numeric_limits<double>::infinity(); }
bool is_upper(double x) { return x > -std::numeric_limits<double>::infinity(); }

class InputCheck {
public:
  explicit InputCheck(const InversionInput& input) : m_input(input), m_settings(input.settings) {}

  void run() {
    check_settings();
    check_data();
    check_cells();
    m_problems.throw_if_any();
  }

private:
  void add(const std::string& key, std::string what) { m_problems.add("", key, std::move(what)); }
  void check_settings() {
    const InversionSettings& s = m_settings;
    const auto lengths = s.smoothness ? *s.smoothness : s.smoothing_lengths.value_or(std::array<double, 3>{1, 1, 1});
    const bool are_weights = is_not_negative(s.smallness) && is_not_negative(s.change) &&
                             std::all_of(lengths.begin(), lengths.end(), is_not_negative);
    const double sum = s.smallness + lengths[0] + lengths[1] + lengths[2];
    if (!are_weights || !(sum > 0)) {
      add("inversion.smallness",
          "smallness, lengths of smoothing and change must be finite, at least 0, not all of them 0");
    }
    for (const double p : s.norm) {
      if (!(p >= 0 && p <= 2)) add("inversion.norm", fmt::format("is {}; numbers from 0 to 2 are expected", p));
    }
    if (s.beta && !is_above_0(*s.beta)) add("inversion.beta", "must be above 0");
    if (!is_above_0(s.target_misfit)) add("inversion.target_misfit", "must be above 0");
    if (s.max_iterations < 1) add("inversion.max_iterations", "must be at least 1");
    const auto [power, z0] = std::pair(s.weighting.power.value_or(1), s.weighting.z0.value_or(0));
    if (!is_above_0(power)) add("inversion.weighting.power", fmt::format("is {}; a number above 0 is expected", power));
    if (!is_not_negative(z0))
      add("inversion.weighting.z0", fmt::format("is {}; a number of at least 0 is expected", z0));
    check_count("inversion.uncertainty.samples", s.uncertainty.samples, most_samples);
    check_count("inversion.uncertainty.rank", s.uncertainty.rank, most_rank);
    if (s.uncertainty.rank > 0 && !(s.smallness > 0)) {
      add("inversion.uncertainty.rank", "needs variances of the prior: smallness has to be above 0");
    }
    if (s.uncertainty.rank > 0 && m_input.n_epochs() > 1) add("inversion.uncertainty.rank", "is for one epoch alone");
    if (s.most_amplitude && !(is_above_0(*s.most_amplitude) && components(s.unknown) > 1)) {
      add("inversion.bounds.amplitude", "must be above 0, and is for a magnetization alone");
    }
    if (!s.intervals.empty() && components(s.unknown) > 1) {
      add("inversion.bounds", "has intervals, which are not for a magnetization");
    }
    if (s.unknown == Unknown::susceptibility) check_inducing_field("inversion.unknown is susceptibility, which");
    double last = -std::numeric_limits<double>::infinity();
    for (const Range& interval : s.intervals) {
      if (!(interval.min <= interval.max) || !(interval.min > last)) {
        add("inversion.bounds", "has intervals that do not rise or that meet");
      }
      last = interval.max;
    }
    if (!s.intervals.empty() && !s.bounds && m_input.lower.empty())
      add("inversion.bounds", "must be set around the intervals");
  }
  void check_count(const std::string& key, std::int64_t n, std::int64_t most) {
    if (n < 0 || n > most) add(key, fmt::format("is {}; a whole number from 0 to {} is expected", n, most));
  }
  void check_inducing_field(const std::string& what) {
    if (m_input.request.magnetic.inducing_field == std::array<double, 3>{}) {
      add("magnetic.inducing_field", what + " needs the inducing field");
    }
  }
  void check_data() {
    const auto epochs = static_cast<std::size_t>(m_input.n_epochs());
    if (m_input.data.empty()) return add("data", "is empty; one data set or more are needed");
    if (m_input.data.size() % epochs != 0) {
      return add("data",
                 fmt::format("has {} sets for {} epochs; each epoch needs as many", m_input.data.size(), epochs));
    }
    for (std::size_t i = 0; i < m_input.data.size(); ++i) {
      const std::string key = fmt::format("data[{}]", i);
      check_set(key, m_input.data[i]);
      const DataSet& first = m_input.data[i - i % epochs];
      if (m_input.data[i].fields != first.fields || m_input.data[i].points.size() != first.points.size()) {
        add(key, "has other points or fields than the first epoch");
      }
    }
  }
  /// The unknowns that a field is a linear one of.
  static std::string remedy(const FieldInfo& field) {
    if (fields_of(Unknown::density).contains(field.field)) return "; set inversion.unknown to density";
    if (!fields_of(Unknown::magnetization).contains(field.field)) return "";
    return "; set inversion.unknown to susceptibility or magnetization";
  }
  void check_set(const std::string& key, const DataSet& set) {
    try {
      check_points(set.points, key + ".points");
    } catch (const InputError& error) {
      return m_problems.add(error);
    }
    if (set.size() == 0) return add(key, "has no points or no fields");
    for (const FieldInfo& field : set.fields) {
      if (!field.is_linear() && m_input.n_epochs() > 1) {
        add(key + ".fields", fmt::format("has {}, which is for one epoch alone", field.name));
      }
      if (!fields_of(m_settings.unknown).contains(field.field)) {
        add(key + ".fields",
            fmt::format("has {}, which is no field of a {}{}", field.name, name(m_settings.unknown), remedy(field)));
      }
    }
    if (const auto field = first_along_inducing_field(set.fields)) {
      check_inducing_field(fmt::format("{} has {}, which", key, info(*field).name));
    }
    const auto n = static_cast<std::size_t>(set.size());
    check_values(key + ".values", set.values, n, "a finite number", is_finite);
    check_values(key + ".sigma", set.sigma, n, "a finite number above 0", is_above_0);
  }
  void check_cells() {
    if (m_input.cells == nullptr) return add("cells", "is null; the cells to be inverted for are needed");
    const auto n = static_cast<std::size_t>(m_input.cells->size());
    if (n == 0) return add("cells", "has no active cell");
    const std::size_t n_unknowns = n * static_cast<std::size_t>(components(m_settings.unknown));
    check_bounds(n_unknowns);
    if (!m_input.reference.empty())
      check_values("reference", m_input.reference, n_unknowns, "a finite number", is_finite);
    if (!m_input.start.empty()) check_values("start", m_input.start, n_unknowns, "a finite number", is_finite);
    if (!m_input.cell_weights.empty()) {
      check_values("cell_weights", m_input.cell_weights, n, "a finite number above 0", is_above_0);
    }
  }
  void check_bounds(std::size_t n) {
    if (m_input.lower.empty() && m_input.upper.empty()) {
      if (!m_settings.bounds) return;
      const auto [min, max] = *m_settings.bounds;
      if (!(min <= max) || !is_lower(min) || !is_upper(max)) {
        add("inversion.bounds", fmt::format("is {} and {}; a minimum and a maximum that is not below it are expected, "
                                            "-inf and inf where there is none",
                                            min, max));
      }
      return;
    }
    check_values("lower", m_input.lower, n, "a number, or -inf for no bound,", is_lower);
    check_values("upper", m_input.upper, n, "a number, or inf for no bound,", is_upper);
    if (m_input.lower.size() != n || m_input.upper.size() != n) return;
    for (std::size_t j = 0; j < n; ++j) {
      if (m_input.lower[j] > m_input.upper[j]) return add("lower", fmt::format("is above upper at number {}", j));
    }
  }
  /// Adds a problem unless there are n values, or none, and all of them are right.
  template <class IsRight>
  void check_values(const std::string& key, const std::vector<double>& values, std::size_t n, const char* expected,
                    const IsRight& is_right) {
    if (values.size() != n) return add(key, fmt::format("has {} values, {} are expected", values.size(), n));
    const auto wrong = std::find_if_not(values.begin(), values.end(), is_right);
    if (wrong == values.end()) return;
    add(key, fmt::format("is {} at number {}; {} is expected", *wrong, wrong - values.begin(), expected));
  }

  const InversionInput& m_input;
  const InversionSettings& m_settings;
  ProblemList m_problems;
};

}  // namespace

void check_input(const InversionInput& input) { InputCheck(input).run(); }

}  // namespace prismfield
