// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/demagnetize.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas1_scal.hpp>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>

#include "base/human_text.hpp"
#include "model/points.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

using Host = Kokkos::HostSpace;
using Vector = Kokkos::View<double*, Host>;
using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Host>;

constexpr double least_residual = 1e-10;
/// Of a run's tolerance.
constexpr double share_of_residual = 0.1;
/// Products between two restarts (each keeps a vector), and in all.
constexpr int products_of_a_cycle = 30, most_products = 300;

std::array<std::vector<double>, 3> components_of(const Vector& all) {
  const std::size_t n = all.extent(0) / 3;
  std::array<std::vector<double>, 3> components;
  for (std::size_t d = 0; d < 3; ++d) components[d].assign(all.data() + d * n, all.data() + (d + 1) * n);
  return components;
}

Points centres_of(const PrismBlock& block) {
  const auto middle = [](const std::vector<double>& low, const std::vector<double>& high) {
    std::vector<double> place(low.size());
    std::transform(low.begin(), low.end(), high.begin(), place.begin(),
                   [](double a, double b) { return a + 0.5 * (b - a); });
    return place;
  };
  Points points;
  points.easting = middle(block.west, block.east);
  points.northing = middle(block.south, block.north);
  points.upward = middle(block.bottom, block.top);
  return points;
}

/// The system (1 + chi/3)^-1 (M - chi H(M)) = (1 + chi/3)^-1 M0: of a cube alone, whose own H is -M/3, it is M = M0.
class System {
public:
  /// `tolerance`: of products.
  System(const PrismSource& prisms, std::span<const double> susceptibility, const Request& request, double tolerance,
         const Communicator& communicator, Observer* observer)
      : m_prisms(prisms),
        m_susceptibility(susceptibility),
        m_request(request),
        m_communicator(communicator),
        m_observer(observer),
        m_right_side("prismfield::magnetization", 3 * susceptibility.size()),
        m_field(3 * susceptibility.size()) {
    PrismBlock block;
    prisms.read({0, prisms.size()}, block);
    m_centres = centres_of(block);
    const std::size_t n = susceptibility.size();
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < n; ++i) m_right_side(d * n + i) = scaled(block.magnetization[d][i], i);
    }
    m_request.fields = {Field::bx, Field::by, Field::bz};
    m_request.magnetic.inside = Inside::field_strength;
    m_request.execution.tolerance = tolerance;
  }

  /// (easting, northing and upward of all prisms)
  [[nodiscard]] const Vector& right_side() const noexcept { return m_right_side; }

  /// to = A from. Collective.
  void multiply(const Vector& from, const Vector& to) {
    const MagnetizedPrisms magnets(m_prisms, components_of(from));
    const bool is_root = m_communicator.rank() == 0;
    static_cast<void>(forward_into(is_root ? std::span<double>(m_field) : std::span<double>(), magnets, m_centres,
                                   m_request, m_communicator, m_observer));
    broadcast(m_communicator, m_field);
    ++m_products;
    const std::size_t n = m_susceptibility.size();
    for (std::size_t k = 0; k < 3 * n; ++k) {
      const std::size_t i = k % n;
      const double strength = m_field[k] / m_request.magnetic.vacuum_permeability;
      to(k) = scaled(from(k) - m_susceptibility[i] * strength, i);
    }
  }

  [[nodiscard]] int products() const noexcept { return m_products; }

  /// Rank 0's length, by which all decide: a rank with another number of threads has others in the last bits.
  [[nodiscard]] double agreed(double length) const {
    broadcast(m_communicator, length);
    return length;
  }

private:
  [[nodiscard]] double scaled(double value, std::size_t prism) const {
    return value / (1 + m_susceptibility[prism] / 3);
  }

  const PrismSource& m_prisms;
  std::span<const double> m_susceptibility;
  Request m_request;
  const Communicator& m_communicator;
  Observer* m_observer;
  Points m_centres;
  Vector m_right_side;
  /// mu0 H of the last product
  std::vector<double> m_field;
  int m_products = 0;
};

/// What is known of the least residual in the space of some vectors: R of the QR of the Hessenberg matrix by Givens
/// rotations, and the right side turned with it.
struct LeastSquares {
  double r[products_of_a_cycle][products_of_a_cycle] = {};
  double cosine[products_of_a_cycle] = {}, sine[products_of_a_cycle] = {};
  double right[products_of_a_cycle + 1] = {};

  /// Takes column k, (k + 2); what is left of the system afterwards.
  double add_column(int k, double* column) {
    for (int i = 0; i < k; ++i) turn(i, column[i], column[i + 1]);
    const double length = std::hypot(column[k], column[k + 1]);
    cosine[k] = length > 0 ? column[k] / length : 1;
    sine[k] = length > 0 ? column[k + 1] / length : 0;
    turn(k, column[k], column[k + 1]);
    turn(k, right[k], right[k + 1]);
    for (int i = 0; i <= k; ++i) r[i][k] = column[i];
    return std::abs(right[k + 1]);
  }
  /// The factors of the first n vectors.
  void solve(int n, double* factors) const {
    for (int i = n - 1; i >= 0; --i) {
      factors[i] = right[i];
      for (int j = i + 1; j < n; ++j) factors[i] -= r[i][j] * factors[j];
      factors[i] /= r[i][i];
    }
  }

private:
  void turn(int i, double& a, double& b) const {
    const double turned = cosine[i] * a + sine[i] * b;
    b = cosine[i] * b - sine[i] * a;
    a = turned;
  }
};

/// One cycle of GMRES from x on: the residual's length that is left. Saad and Schultz 1986.
double improve(System& system, const Vector& right_side, double wanted, const Vector& x) {
  const std::size_t n = x.extent(0);
  const Vectors basis("prismfield::basis", n, products_of_a_cycle + 1);
  const auto vector = [&](int k) { return Vector(Kokkos::subview(basis, Kokkos::ALL, k)); };
  system.multiply(x, vector(0));
  KokkosBlas::axpby(1.0, right_side, -1.0, vector(0));
  double left = system.agreed(KokkosBlas::nrm2(vector(0)));
  if (left <= wanted) return left;
  KokkosBlas::scal(vector(0), 1 / left, vector(0));
  LeastSquares least;
  least.right[0] = left;
  int k = 0;
  while (k < products_of_a_cycle && left > wanted && system.products() < most_products) {
    system.multiply(vector(k), vector(k + 1));
    double column[products_of_a_cycle + 1] = {};
    // twice: once leaves rounding that grows
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i <= k; ++i) {
        const double projection = KokkosBlas::dot(vector(i), vector(k + 1));
        KokkosBlas::axpby(-projection, vector(i), 1.0, vector(k + 1));
        column[i] += projection;
      }
    }
    column[k + 1] = KokkosBlas::nrm2(vector(k + 1));
    if (column[k + 1] > 0) KokkosBlas::scal(vector(k + 1), 1 / column[k + 1], vector(k + 1));
    left = system.agreed(least.add_column(k, column));
    ++k;
  }
  double factors[products_of_a_cycle] = {};
  least.solve(k, factors);
  for (int i = 0; i < k; ++i) KokkosBlas::axpby(factors[i], vector(i), 1.0, x);
  return left;
}

void check(const PrismSource& prisms, std::span<const double> susceptibility) {
  if (std::ssize(susceptibility) != prisms.size()) {
    throw InputError(
        "", "susceptibility",
        "has " + std::to_string(susceptibility.size()) + " values for " + std::to_string(prisms.size()) + " prisms");
  }
  const auto wrong = std::find_if(susceptibility.begin(), susceptibility.end(),
                                  [](double chi) { return !(chi >= 0 && std::isfinite(chi)); });
  if (wrong != susceptibility.end()) {
    throw InputError("", "magnetic.demagnetization",
                     "needs susceptibilities from 0 on; that of prism " +
                         std::to_string(wrong - susceptibility.begin()) + " is " + short_number(*wrong));
  }
  if (!prisms.is_magnetized()) throw InputError("", "magnetization", "is missing: nothing is magnetized");
}

}  // namespace

SelfConsistentMagnetization demagnetize(const PrismSource& prisms, std::span<const double> susceptibility,
                                        const Request& request, const Communicator& communicator, Observer* observer) {
  agree_on_input(communicator, [&] { check(prisms, susceptibility); });
  double largest = 0;
  for (const double chi : susceptibility) largest = std::max(largest, chi);
  // what is left of the equation is as much of the magnetisation, times at most this
  const double growth = 1 + largest / 3;
  const double wanted = std::max(least_residual, share_of_residual * request.execution.tolerance / growth);
  // checked products keep to a fifth of their tolerance
  const double tolerance = request.execution.tolerance > default_tolerance ? wanted : default_tolerance;
  System system(prisms, susceptibility, request, tolerance, communicator, observer);
  const Vector& right_side = system.right_side();
  const double size = system.agreed(KokkosBlas::nrm2(right_side));
  const Vector x("prismfield::magnetization", right_side.extent(0));
  Kokkos::deep_copy(x, right_side);
  SelfConsistentMagnetization found;
  double left = size;
  while (size > 0 && left > wanted * size) {
    left = improve(system, right_side, wanted * size, x);
    if (left > wanted * size && system.products() >= most_products) {
      throw RunError("the magnetization in the masses' own fields is not found after " +
                     std::to_string(system.products()) + " products: " + short_number(left / size) +
                     " of the equation is left; susceptibilities far above 10 need finer cells");
    }
  }
  found.products = system.products();
  found.residual = size > 0 ? left / size : 0;
  found.error = growth * (found.residual + tolerance);
  found.magnetization = components_of(x);
  return found;
}

}  // namespace prismfield
