// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include "inversion/vector_math.hpp"

namespace prismfield {

/// Bounds of every cell, (cell).
template <class Memory>
struct CellBounds {
  Kokkos::View<const double*, Memory> low, high;

  [[nodiscard]] KOKKOS_FUNCTION double clip(std::int64_t i, double x) const {
    return Kokkos::min(Kokkos::max(x, low(i)), high(i));
  }
};

/// free(i) = 1 where cell i is inside its bounds, and where it is on one that the gradient presses it off
template <class Memory>
struct FindFree {
  Kokkos::View<const double*, Memory> model, gradient;
  CellBounds<Memory> bounds;
  /// whether of these the first, and the second, are free
  bool inside, pressed_off;
  Kokkos::View<double*, Memory> free;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool is_low = model(i) <= bounds.low(i), is_high = model(i) >= bounds.high(i);
    const bool is_held = (is_low && gradient(i) > 0) || (is_high && gradient(i) < 0);
    free(i) = (is_low || is_high ? pressed_off && !is_held : inside) ? 1.0 : 0.0;
  }
};

/// 1 where a step takes a free cell out of its bounds
template <class Memory>
struct LeavesBounds {
  Kokkos::View<const double*, Memory> model, step, free;
  CellBounds<Memory> bounds;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    const double x = model(i) + step(i);
    return free(i) * (x < bounds.low(i) || x > bounds.high(i) ? 1.0 : 0.0);
  }
};

/// out(i) = clip(m(i) + t s(i)) - m(i)
template <class Memory>
struct ClippedStep {
  Kokkos::View<const double*, Memory> model, step;
  double t;
  CellBounds<Memory> bounds;
  Kokkos::View<double*, Memory> out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = bounds.clip(i, model(i) + t * step(i)) - model(i); }
};

template <class Memory>
struct Clip {
  Kokkos::View<double*, Memory> model;
  CellBounds<Memory> bounds;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { model(i) = bounds.clip(i, model(i)); }
};

/// m(i) = clip(m(i) + d(i)): the step once more, so that bounds are met exactly
template <class Memory>
struct TakeStep {
  Kokkos::View<const double*, Memory> step;
  CellBounds<Memory> bounds;
  Kokkos::View<double*, Memory> model;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { model(i) = bounds.clip(i, model(i) + step(i)); }
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

/// Minimises phi = m'Hm - 2 b'm for a symmetric positive definite H, within bounds: conjugate gradients with Jacobi's
/// preconditioner on the free cells, left off where the step takes too many of them out of their bounds, clipped and
/// halved until it gains enough. Free are the cells inside their bounds; those on a bound are let go only when they are
/// pressed off it by more than what is left to gain inside: the large common modes of G press all cells off their
/// bounds as long as the free ones have not met them. Sources: two-metric projection of Bertsekas, SIAM J. Control
/// Optim. 20 (1982); proportioning of Dostal, SIAM J. Optim. 7 (1997); see docs/inversion.md. The steps are computed by
/// every rank alike.
template <class ExecutionSpace>
class BoundSolver {
public:
  using Math = VectorMath<ExecutionSpace>;
  using Memory = typename Math::Memory;
  using Vector = typename Math::Vector;
  using ConstVector = typename Math::ConstVector;
  /// out = H p
  using Product = std::function<void(const ConstVector& p, const Vector& out)>;

  enum class Outcome {
    /// the model was good enough before
    was_settled,
    settled,
    /// after as many products as were allowed
    gave_up
  };

  /// Without bounds.
  BoundSolver(Math& math, std::int64_t n) : BoundSolver(math, n, {}, {}) {}
  /// Bounds: one a cell, infinite where there is none; or empty.
  BoundSolver(Math& math, std::int64_t n, const Vector& low, const Vector& high)
      : m_math(math),
        m_n(n),
        m_is_bounded(low.extent(0) > 0),
        m_bounds{low, high},
        m_gradient(math.zeros("gradient", n)),
        m_free(math.zeros("free", n)),
        m_step(math.zeros("step", n)),
        m_step_product(math.zeros("step_product", n)),
        m_trial(math.zeros("trial", n)),
        m_residual(math.zeros("residual", n)),
        m_direction(math.zeros("direction", n)),
        m_product(math.zeros("product", n)) {}

  /// Into the bounds, where there are some.
  void clip(const Vector& model) const {
    if (m_is_bounded) m_math.each("clip", m_n, Clip<Memory>{model, m_bounds});
  }
  /// Improves `model`, which keeps the bounds, until the gradient of the cells that no bound holds is at most
  /// `tolerance` times that of `yardstick` there, or `least`, in the norm of the inverse diagonal of H.
  /// `gradient`: H m - b at the model; `diagonal`: of H, or near it.
  Outcome improve(const Product& product, const ConstVector& gradient, const ConstVector& yardstick,
                  const ConstVector& diagonal, double tolerance, double least, std::int64_t most_products,
                  const Vector& model) {
    m_model = model;
    m_products_left = most_products;
    m_math.copy(m_gradient, gradient);
    double target = -1;
    bool is_stuck = false;
    for (int round = 0; m_products_left > 0; ++round) {
      const double inside = m_is_bounded ? size_of_free(true, false, diagonal) : 0;
      const double pressed_off = m_is_bounded ? size_of_free(false, true, diagonal) : 0;
      const bool are_let_go = is_stuck || pressed_off > inside;
      const double now = m_is_bounded ? std::hypot(inside, pressed_off) : norm(m_gradient, diagonal);
      if (round == 0) {
        if (m_is_bounded) find_free(true, true);
        target = std::max(tolerance * size(yardstick, diagonal), least);
      }
      if (!(now > target)) return round == 0 ? Outcome::was_settled : Outcome::settled;
      double inner = target;
      if (m_is_bounded) {
        find_free(true, are_let_go);
        constexpr double part = 0.1, part_of_pressed_off = 0.3;
        inner = std::max(part * (are_let_go ? now : inside), target / 2);
        if (!are_let_go) inner = std::max(inner, part_of_pressed_off * pressed_off);
      }
      conjugate_gradients(product, diagonal, inner);
      const bool gains = take_step(product);
      // otherwise no direction is left along which phi falls
      if ((!gains && are_let_go) || (!m_is_bounded && m_products_left > 0)) return Outcome::settled;
      is_stuck = !gains;
    }
    return Outcome::gave_up;
  }
  /// Solves H x = b from 0, until the gradient is this part of b.
  void solve(const Product& product, const ConstVector& b, const ConstVector& diagonal, double tolerance,
             const Vector& x) {
    constexpr std::int64_t most_products = 10'000;
    m_math.fill(x, 0);
    m_math.add(-1, b, 0, m_trial);
    improve(product, m_trial, b, diagonal, tolerance, 0, most_products, x);
  }
  /// The norm of the inverse diagonal, of all cells.
  [[nodiscard]] double norm(const ConstVector& g, const ConstVector& diagonal) {
    m_math.fill(m_free, 1);
    return size(g, diagonal);
  }

private:
  void find_free(bool inside, bool pressed_off) {
    m_math.each("find_free", m_n, FindFree<Memory>{m_model, m_gradient, m_bounds, inside, pressed_off, m_free});
  }
  [[nodiscard]] double size_of_free(bool inside, bool pressed_off, const ConstVector& diagonal) {
    find_free(inside, pressed_off);
    return size(m_gradient, diagonal);
  }
  [[nodiscard]] double size(const ConstVector& g, const ConstVector& diagonal) {
    return std::sqrt(m_math.sum("gradient_size", m_n, ScaledSquare<Memory>{m_free, g, diagonal}));
  }
  /// m_trial = m_residual, which is 0 where a bound holds, over the diagonal
  void precondition(const ConstVector& diagonal) {
    m_math.each("precondition", m_n, DivideBy<Memory>{m_residual, diagonal, m_trial});
  }
  void multiply(const Product& product, const ConstVector& p, const Vector& out) {
    product(p, out);
    --m_products_left;
  }
  /// Conjugate gradients from the gradient g = m_gradient on the free cells: m_step and H m_step; m_leaving cells leave
  /// their bounds.
  void conjugate_gradients(const Product& product, const ConstVector& diagonal, double target) {
    m_math.fill(m_step, 0);
    m_math.fill(m_step_product, 0);
    m_math.multiply(-1, m_free, m_gradient, 0, m_residual);
    precondition(diagonal);
    m_math.copy(m_direction, m_trial);
    double rz = m_math.dot(m_residual, m_trial);
    constexpr double most_leaving = 0.05;
    const double most = m_is_bounded ? most_leaving * m_math.dot(m_free, m_free) : 0;
    m_leaving = 0;
    while (m_products_left > 0 && m_leaving <= most && std::sqrt(rz) > target) {
      multiply(product, m_direction, m_product);
      const double curvature = m_math.dot(m_direction, m_product);
      if (!(curvature > 0)) break;
      const double a = rz / curvature;
      m_math.each("conjugate_step", m_n,
                  ConjugateStep<Memory>{a, m_direction, m_product, m_free, m_step, m_step_product, m_residual});
      precondition(diagonal);
      const double next = m_math.dot(m_residual, m_trial);
      m_math.add(1, m_trial, next / rz, m_direction);
      rz = next;
      if (m_is_bounded) {
        m_leaving = m_math.sum("leaves_bounds", m_n, LeavesBounds<Memory>{m_model, m_step, m_free, m_bounds});
      }
    }
  }
  /// Clips, halves and takes the step; false when nothing was gained.
  bool take_step(const Product& product) {
    if (m_leaving == 0) {
      if (m_is_bounded && !(m_math.dot(m_gradient, m_step) < 0)) return false;
      m_math.add(1, m_step, 1, m_model);
      m_math.add(1, m_step_product, 1, m_gradient);
      // bounds are met exactly where the sum is rounded beyond them
      clip(m_model);
      return true;
    }
    constexpr int most_halvings = 40;
    constexpr double least_gain = 1e-4;
    double t = 1;
    for (int halving = 0; halving < most_halvings; ++halving, t /= 2) {
      m_math.each("clipped_step", m_n, ClippedStep<Memory>{m_model, m_step, t, m_bounds, m_trial});
      const double slope = m_math.dot(m_gradient, m_trial);
      if (!(slope < 0)) continue;
      multiply(product, m_trial, m_product);
      const double gain = slope + m_math.dot(m_trial, m_product) / 2;
      if (gain > least_gain * slope) continue;
      m_math.each("take_step", m_n, TakeStep<Memory>{m_trial, m_bounds, m_model});
      m_math.add(1, m_product, 1, m_gradient);
      return true;
    }
    return false;
  }

  Math& m_math;
  std::int64_t m_n;
  bool m_is_bounded;
  CellBounds<Memory> m_bounds;
  Vector m_gradient, m_free, m_step, m_step_product, m_trial, m_residual, m_direction, m_product;
  Vector m_model;
  std::int64_t m_products_left = 0;
  double m_leaving = 0;
};

}  // namespace prismfield
