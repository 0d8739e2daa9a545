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

/// A magnetisation that agrees with the fields of all prisms on each other.
struct SelfConsistentMagnetization {
  /// (prism) along easting, northing, upward, A/m; MagnetizedPrisms takes it
  std::array<std::vector<double>, 3> magnetization;
  /// products with the prisms' fields, and what is left of the equation, relative to its right side
  std::int64_t products = 0;
  double residual = 0;
  /// by which the magnetisation may be wrong, relative, for what is left and for the tolerance of the products: the
  /// inverse of the equation, as it is solved, is at most 1 + chi/3
  double error = 0;
};

/// The magnetisation M of prisms in their own fields: M = M0 + chi H, with M0 what `prisms` are magnetised to, by an
/// inducing field and remanence, and H the field strength that all of them make at their centres. Solved by GMRES,
/// whose products are forward runs by request.execution at the centres, to a residual of 1e-10 or, where that is
/// larger, execution.tolerance/(10 (1 + chi/3)). `susceptibility`: (prism), SI, not negative. Of a body's own
/// demagnetisation this is a tenth of a percent for a sphere of 2,000 cells and chi up to 1, some percent for chi 10: M
/// is one vector a prism.
///
/// Every rank must be able to read all prisms and gets all of M. Throws InputError for susceptibilities of another
/// number, that are negative or not finite, and as forward() does; RunError where 300 products do not suffice.
/// Collective. docs/magnetics.md.
[[nodiscard]] SelfConsistentMagnetization demagnetize(const PrismSource& prisms, std::span<const double> susceptibility,
                                                      const Request& request, const Communicator& communicator = {},
                                                      Observer* observer = nullptr);

}  // namespace prismfield
