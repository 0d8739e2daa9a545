// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "inversion/vector_math.hpp"
#include "model/axis.hpp"

namespace prismfield {

/// out(i) = in(i) where cell i is free, else 0
template <class Memory>
struct KeepFree {
  Kokkos::View<const double*, Memory> free, in;
  double sign;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = sign * free(i) * in(i); }
};

/// free(i) = 0 where cell i is on a bound that the gradient presses it against, else 1
template <class Memory>
struct FindFree {
  Kokkos::View<const double*, Memory> model, gradient;
  double low, high;
  Kokkos::View<double*, Memory> free;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool bound = (model(i) <= low && gradient(i) > 0) || (model(i) >= high && gradient(i) < 0);
    free(i) = bound ? 0.0 : 1.0;
  }
};

/// out(i) = clip(m(i) + t s(i)) - m(i)
template <class Memory>
struct ClippedStep {
  Kokkos::View<const double*, Memory> model, step;
  double t, low, high;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    out(i) = Kokkos::min(Kokkos::max(model(i) + t * step(i), low), high) - model(i);
  }
};

template <class Memory>
struct Clip {
  Kokkos::View<double*, Memory> model;
  double low, high;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { model(i) = Kokkos::min(Kokkos::max(model(i), low), high); }
};

/// m(i) = clip(m(i) + d(i)): the step once more, so that bounds are met exactly
template <class Memory>
struct TakeStep {
  Kokkos::View<const double*, Memory> step;
  double low, high;
  Kokkos::View<double*, Memory> model;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    model(i) = Kokkos::min(Kokkos::max(model(i) + step(i), low), high);
  }
};

/// free(i) g(i)^2 / d(i)
template <class Memory>
struct ScaledSquare {
  Kokkos::View<const double*, Memory> free, g, diagonal;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return free(i) * g(i) * g(i) / diagonal(i); }
};

/// out(i) = r(i) / d(i)
template <class Memory>
struct DivideBy {
  Kokkos::View<const double*, Memory> r, diagonal;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = r(i) / diagonal(i); }
};

/// p(i) = z(i) + b p(i)
template <class Memory>
struct NextDirection {
  Kokkos::View<const double*, Memory> z;
  double b;
  Kokkos::View<double*, Memory> p;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { p(i) = z(i) + b * p(i); }
};

/// Steps of a conjugate-gradient iteration: s += a p, hs += a q, r -= a free q
template <class Memory>
struct ConjugateStep {
  double a;
  Kokkos::View<const double*, Memory> p, q, free;
  Kokkos::View<double*, Memory> s, hs, r;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    s(i) += a * p(i);
    hs(i) += a * q(i);
    r(i) -= a * free(i) * q(i);
  }
};

/// Minimises m'Hm/2 - b'm for a symmetric positive definite H, within bounds: conjugate gradients with Jacobi's or a
/// given preconditioner on the cells that no bound holds, steps clipped to the bounds and halved until they gain
/// enough. Source: projected Newton method of Bertsekas, SIAM J. Control Optim. 20 (1982), with inner conjugate
/// gradients; see docs/inversion.md. The steps are computed by every rank alike.
template <class ExecutionSpace>
class BoundSolver {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  /// out = H p
  using Product = std::function<void(const ConstVector& p, const Vector& out)>;
  /// z = M^-1 r, M symmetric and positive definite
  using Preconditioner = std::function<void(const ConstVector& r, const Vector& z)>;

  BoundSolver(Math& math, std::int64_t n, const std::optional<Range>& bounds)
      : m_math(math),
        m_n(n),
        m_bounds(bounds),
        m_gradient(math.zeros("gradient", n)),
        m_free(math.zeros("free", n)),
        m_step(math.zeros("step", n)),
        m_step_product(math.zeros("step_product", n)),
        m_trial(math.zeros("trial", n)),
        m_residual(math.zeros("residual", n)),
        m_direction(math.zeros("direction", n)),
        m_product(math.zeros("product", n)) {}

  /// Instead of Jacobi's, from the next solution on. Of the free cells' part of M^-1 alone use is made.
  void set_preconditioner(Preconditioner preconditioner) { m_preconditioner = std::move(preconditioner); }

  /// Improves `model` until the gradient of the free cells is `tolerance` of what it was, in the norm of the inverse
  /// `diagonal` of H, or the smaller of 1e-4 and tolerance / 100 of that of b.
  void solve(const Product& product, const ConstVector& b, const ConstVector& diagonal, double tolerance,
             const Vector& model);

private:
  static constexpr int most_rounds = 30;
  static constexpr int most_iterations = 2000;

  [[nodiscard]] double size(const ConstVector& g, const ConstVector& diagonal) {
    return std::sqrt(m_math.sum("gradient_size", m_n, ScaledSquare<Memory>{m_free, g, diagonal}));
  }
  /// m_trial = what stands before H, of m_residual, which is 0 where a bound holds
  void precondition(const ConstVector& diagonal) {
    if (!m_preconditioner) {
      m_math.each("precondition", m_n, DivideBy<Memory>{m_residual, diagonal, m_trial});
      return;
    }
    m_preconditioner(m_residual, m_trial);
    m_math.each("precondition", m_n, KeepFree<Memory>{m_free, m_trial, 1, m_trial});
  }
  /// The residual in the norm of the inverse diagonal, whatever the preconditioner; `rz`: its product with m_trial.
  [[nodiscard]] double residual_size(double rz, const ConstVector& diagonal) {
    return m_preconditioner ? size(m_residual, diagonal) : std::sqrt(rz);
  }
  /// Conjugate gradients from the gradient g = m_gradient on the free cells: m_step and H m_step.
  void conjugate_gradients(const Product& product, const ConstVector& diagonal, double target);
  /// Clips, halves and takes the step; false when nothing was gained.
  bool take_step(const Product& product);

  Math& m_math;
  std::int64_t m_n;
  std::optional<Range> m_bounds;
  Preconditioner m_preconditioner;
  Vector m_gradient, m_free, m_step, m_step_product, m_trial, m_residual, m_direction, m_product;
  Vector m_model;
};

template <class ExecutionSpace>
void BoundSolver<ExecutionSpace>::conjugate_gradients(const Product& product, const ConstVector& diagonal,
                                                      double target) {
  m_math.fill(m_step, 0);
  m_math.fill(m_step_product, 0);
  m_math.each("residual", m_n, KeepFree<Memory>{m_free, m_gradient, -1, m_residual});
  precondition(diagonal);
  m_math.copy(m_direction, m_trial);
  double rz = m_math.dot(m_residual, m_trial);
  for (int iteration = 0; iteration < most_iterations && residual_size(rz, diagonal) > target; ++iteration) {
    product(m_direction, m_product);
    const double curvature = m_math.dot(m_direction, m_product);
    if (!(curvature > 0)) break;
    const double a = rz / curvature;
    m_math.each("conjugate_step", m_n,
                ConjugateStep<Memory>{a, m_direction, m_product, m_free, m_step, m_step_product, m_residual});
    precondition(diagonal);
    const double next = m_math.dot(m_residual, m_trial);
    m_math.each("next_direction", m_n, NextDirection<Memory>{m_trial, next / rz, m_direction});
    rz = next;
  }
}

template <class ExecutionSpace>
bool BoundSolver<ExecutionSpace>::take_step(const Product& product) {
  if (!m_bounds) {
    m_math.each("take_step", m_n, AddScaled<Memory>{1, m_step, m_model});
    m_math.each("take_step", m_n, AddScaled<Memory>{1, m_step_product, m_gradient});
    return true;
  }
  const auto& [low, high] = *m_bounds;
  constexpr int most_halvings = 40;
  constexpr double least_gain = 1e-4;
  double t = 1;
  for (int halving = 0; halving < most_halvings; ++halving, t /= 2) {
    m_math.each("clipped_step", m_n, ClippedStep<Memory>{m_model, m_step, t, low, high, m_trial});
    const double slope = m_math.dot(m_gradient, m_trial);
    if (!(slope < 0)) continue;
    product(m_trial, m_product);
    const double gain = slope + m_math.dot(m_trial, m_product) / 2;
    if (gain > least_gain * slope) continue;
    m_math.each("take_step", m_n, TakeStep<Memory>{m_trial, low, high, m_model});
    m_math.each("take_step", m_n, AddScaled<Memory>{1, m_product, m_gradient});
    return true;
  }
  return false;
}

template <class ExecutionSpace>
void BoundSolver<ExecutionSpace>::solve(const Product& product, const ConstVector& b, const ConstVector& diagonal,
                                        double tolerance, const Vector& model) {
  m_model = model;
  if (m_bounds) m_math.each("clip", m_n, Clip<Memory>{model, m_bounds->min, m_bounds->max});
  m_math.fill(m_free, 1);
  constexpr double most_floor = 1e-4;
  const double floor = std::min(most_floor, tolerance / 100) * size(b, diagonal);
  product(model, m_gradient);
  m_math.each("gradient", m_n, AddScaled<Memory>{-1, b, m_gradient});
  double first = -1;
  for (int round = 0; round < most_rounds; ++round) {
    if (m_bounds) {
      m_math.each("find_free", m_n, FindFree<Memory>{model, m_gradient, m_bounds->min, m_bounds->max, m_free});
    }
    const double now = size(m_gradient, diagonal);
    if (first < 0) first = now;
    const double target = std::max(tolerance * first, floor);
    if (!(now > target)) return;
    constexpr double loose = 0.1, tight = 0.03;
    constexpr int loose_rounds = 2;
    const double inner = round < loose_rounds ? loose : tight;
    conjugate_gradients(product, diagonal, m_bounds ? std::max(inner * now, target / 2) : target);
    if (!take_step(product)) return;
    if (!m_bounds) return;
  }
}

}  // namespace prismfield
