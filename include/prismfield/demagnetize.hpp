// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// The result of demagnetize().
struct SelfConsistentMagnetization {
  /// (prism), along easting, northing, upward, A/m; MagnetizedPrisms takes it
  std::array<std::vector<double>, 3> magnetization;
  /// number of products with the prisms' fields, and the residual relative to the right side
  std::int64_t products = 0;
  double residual = 0;
  /// relative error of the magnetisation due to the residual and the products' tolerance; the inverse of the equation,
  /// as solved, has a norm of at most 1 + chi/3
  double error = 0;
};

/// Finds the magnetisation M of prisms in their own fields: M = M0 + chi H. M0 is the magnetisation of `prisms`,
/// induced and remanent, and H the field strength of all prisms at their centres. GMRES solves for M to a residual of
/// 1e-10 or, where that is larger, execution.tolerance/(10 (1 + chi/3)); its products are forward runs by
/// request.execution. `susceptibility`: (prism), SI, not negative. M is one vector per prism, so the result for a
/// sphere of 2,000 cells is off by a tenth of a percent for chi up to 1 and by some percent for chi 10.
///
/// Every rank must be able to read all prisms and gets all of M. Throws as forward() does; InputError for
/// susceptibilities of another number, negative or not finite; RunError where 300 products do not suffice. Collective.
/// See docs/magnetics.md.
[[nodiscard]] SelfConsistentMagnetization demagnetize(const PrismSource& prisms, std::span<const double> susceptibility,
                                                      const Request& request, const Communicator& communicator = {},
                                                      Observer* observer = nullptr);

}  // namespace prismfield
