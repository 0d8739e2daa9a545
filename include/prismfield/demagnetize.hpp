// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// Prisms of another source, which must outlive it, with magnetisations, A/m, in the place of theirs: (prism) along
/// easting, northing, upward.
class RemagnetizedPrisms final : public PrismSource {
public:
  RemagnetizedPrisms(const PrismSource& prisms, std::array<std::vector<double>, 3> magnetization)
      : m_prisms(prisms), m_magnetization(std::move(magnetization)) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return m_prisms.size(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_prisms.bounds(); }
  void read(IndexRange range, PrismBlock& out) const override {
    m_prisms.read(range, out);
    for (std::size_t d = 0; d < 3; ++d) {
      const auto first = m_magnetization[d].begin();
      out.magnetization[d].assign(first + range.begin, first + range.end);
    }
  }
  [[nodiscard]] IndexRange readable() const noexcept override { return m_prisms.readable(); }
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_prisms.rounding(); }
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_prisms.uniform_shape(); }
  [[nodiscard]] bool is_magnetized() const noexcept override { return true; }

private:
  const PrismSource& m_prisms;
  std::array<std::vector<double>, 3> m_magnetization;
};

/// A magnetisation that agrees with the fields of all prisms on each other.
struct SelfConsistentMagnetization {
  /// (prism) along easting, northing, upward, A/m
  std::array<std::vector<double>, 3> magnetization;
  /// products with the prisms' fields, and what is left of the equation, relative to its right side
  std::int64_t products = 0;
  double residual = 0;
};

/// The magnetisation M of prisms in their own fields: M = M0 + chi H, with M0 what `prisms` are magnetised to, by an
/// inducing field and remanence, and H the field strength that all of them make at their centres. Solved by GMRES,
/// whose products are forward runs by request.execution at the centres, to a residual of 1e-10 or, where that is
/// larger, execution.tolerance. `susceptibility`: (prism), SI, not negative. Of a body's own demagnetisation this is a
/// tenth of a percent for a sphere of 2,000 cells and chi up to 1, some percent for chi 10: M is one vector a prism.
///
/// Every rank must be able to read all prisms and gets all of M. Throws InputError for susceptibilities of another
/// number, that are negative or not finite, and as forward() does; RunError where 300 products do not suffice.
/// Collective. docs/magnetics.md.
[[nodiscard]] SelfConsistentMagnetization demagnetize(const PrismSource& prisms, std::span<const double> susceptibility,
                                                      const Request& request, const Communicator& communicator = {},
                                                      Observer* observer = nullptr);

}  // namespace prismfield
