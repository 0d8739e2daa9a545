// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>

#include "base/random.hpp"
#include "list_ensemble.hpp"

/// Magnetised prisms for the tests of fast methods.
namespace prismfield::testing {

/// How the magnetisations of prisms lie.
enum class Directions { alike, random };

/// Prisms with magnetisations of up to a thousandth of their density, A/m.
class Magnets : public ListEnsemble {
public:
  explicit Magnets(const std::vector<Prism>& prisms, Directions directions = Directions::random)
      : ListEnsemble(prisms), m_directions(directions) {}

  void read(IndexRange range, PrismBlock& out) const override {
    ListEnsemble::read(range, out);
    out.magnetize(range.size());
    for (std::size_t i = 0; i < out.density.size(); ++i) {
      for (std::size_t d = 0; d < 3; ++d) {
        const auto number = static_cast<std::uint64_t>(3 * (range.begin + static_cast<std::int64_t>(i))) + d;
        constexpr std::array<double, 3> along = {0.3, -0.5, 0.8};
        const double part = m_directions == Directions::alike
                                ? along[d]
                                : random_uniform(-1, 1, 77, RandomStream::cell_density, number);
        out.magnetization[d][i] = 1e-3 * out.density[i] * part;
      }
    }
  }
  [[nodiscard]] bool is_magnetized() const noexcept override { return true; }

private:
  Directions m_directions;
};

/// Fields of which tests of fast methods are made: of gravity, magnetic, gradients of these, or several.
struct KindOfFields {
  const char* name;
  FieldList fields;
};
inline std::array<KindOfFields, 5> kinds_of_fields() {
  FieldList both = FieldList::gravity();
  both.add(FieldList::magnetic());
  return {{{"gravity", FieldList::gravity()},
           {"magnetic", FieldList::magnetic()},
           {"gradient", FieldList::magnetic_gradient()},
           {"both", both},
           {"every", FieldList::every()}}};
}

/// All that an operator of magnetised prisms may have of B.
inline const FieldList linear_magnetic = {Field::bx, Field::by, Field::bz, Field::tmi};

/// T.
inline constexpr std::array<double, 3> inducing_field_of_tests = {1e-5, 2e-5, -4e-5};

}  // namespace prismfield::testing
