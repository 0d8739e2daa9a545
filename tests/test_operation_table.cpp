// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "counted_lane.hpp"
#include "force_form.hpp"
// the kernels, compiled for counted lanes
#include "kernel/tile.hpp"
#include "study/operation_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace prismfield {
namespace {

using kernel::Counted;
using kernel::OperationsOn;

/// Lanes of one counted point.
template <class A>
struct CountedLanes {
  using Arithmetic = A;
  using Real = Counted<typename A::Real>;
  using Coordinate = Counted<typename A::Coordinate>;
  using Sum = Counted<typename A::Sum>;
  static constexpr int width = 1;
};

void clear_counts() {
  OperationsOn<double>::clear();
  OperationsOn<float>::clear();
}

/// What the kernel's own logarithm and arctangent take, for which the papers' sum calls the library.
template <class T>
std::int64_t operations_of_logarithm() {
  OperationsOn<T>::clear();
  (void)kernel::log1p_quotient(Counted<T>(T(0.3)), Counted<T>(T(2)));
  return OperationsOn<T>::operations;
}
template <class T>
std::int64_t operations_of_arctangent() {
  OperationsOn<T>::clear();
  (void)kernel::atan2(Counted<T>(T(0.3)), Counted<T>(T(2)));
  return OperationsOn<T>::operations;
}

/// Counts one pair of a prism and a point beside it, as add_prisms() computes it.
template <class A, FieldSet set>
OperationCount count_pair(Form form) {
  using Lanes = CountedLanes<A>;
  using Coordinate = typename Lanes::Coordinate;
  using C = typename A::Coordinate;
  constexpr double face[3][2] = {{0, 100}, {0, 80}, {-60, 0}};
  constexpr double edge[3] = {100, 80, 60};
  constexpr double no_origin[3] = {0, 0, 0};
  kernel::PrismShape<A> shape{};
  kernel::FarPrism<A, 16> far{};
  kernel::NearPrism<A> near{};
  kernel::PrismWeight<A> weight{};
  kernel::prepare_shape<A>(kernel::multipole_tables(), edge, shape);
  force(form, shape);
  kernel::prepare_prism<A>(shape, 0, face, no_origin, far, near);
  kernel::prepare_weight<A>(shape, face, 300.0, weight);
  const Kokkos::Array<C, 3> rounding{};
  Coordinate px(C(170)), py(C(133)), pz(C(155));
  kernel::FieldValues<set, typename Lanes::Sum> sums;
  sums.clear();
  kernel::FormCounts counts;

  clear_counts();
  if (form == Form::corners) {
    kernel::move_onto_prism(near, rounding, px, py, pz);
    const auto faces = kernel::faces_seen<Lanes>(near, shape.inverse_unit, px, py, pz);
    kernel::add_where<Lanes, set>(true, kernel::corners_form<set>(faces, typename Lanes::Real(shape.unit)),
                                  weight.density, shape.unit, sums);
    (void)kernel::gap_squared(faces);
    counts.add(form, 1);
  } else {
    kernel::add_prism<Lanes, set, kernel::Pass::all>(shape, far, near, weight, px, py, pz, rounding, 1, sums, counts,
                                                     [](int, const auto&) {});
  }
  EXPECT_EQ(counts.count[static_cast<int>(form)], 1) << name(form);
  using Real = typename A::Real;
  OperationCount count{OperationsOn<double>::operations, OperationsOn<float>::operations};
  std::int64_t& of_real = sizeof(Real) == 8 ? count.in_double : count.in_float;
  const std::int64_t logarithms = OperationsOn<Real>::logarithms;
  const std::int64_t arctangents = OperationsOn<Real>::arctangents;
  of_real += logarithms * operations_of_logarithm<Real>() + arctangents * operations_of_arctangent<Real>();
  return count;
}

template <class A, FieldSet set>
void count_forms(std::array<OperationCount, n_forms>& row) {
  for (int form = 0; form < n_forms; ++form) {
    row[static_cast<std::size_t>(form)] = count_pair<A, set>(static_cast<Form>(form));
  }
}

template <class A>
void count_sets(std::array<std::array<OperationCount, n_forms>, n_field_sets>& rows) {
  count_forms<A, FieldSet::gz>(rows[0]);
  count_forms<A, FieldSet::vector>(rows[1]);
  count_forms<A, FieldSet::tensor>(rows[2]);
  count_forms<A, FieldSet::vector_tensor>(rows[3]);
  count_forms<A, FieldSet::all>(rows[4]);
}

TEST(OperationTable, IsWhatTheKernelsDo) {
  auto counted = operation_table;
  count_sets<kernel::DoubleArithmetic>(counted[0]);
  count_sets<kernel::MixedArithmetic>(counted[1]);
  count_sets<kernel::SingleArithmetic>(counted[2]);
  std::string text;
  for (const auto& sets : counted) {
    text += "  {{\n";
    for (const auto& forms : sets) {
      text += "    {{";
      for (const OperationCount& count : forms) {
        text += '{';
        text += std::to_string(count.in_double);
        text += ", ";
        text += std::to_string(count.in_float);
        text += "}, ";
      }
      text.replace(text.size() - 2, 2, "}},\n");
    }
    text += "  }},\n";
  }
  EXPECT_TRUE(counted == operation_table) << "src/study/operation_table.hpp should hold\n" << text;
}

TEST(OperationTable, GrowsWithTheFieldsAndTheOrder) {
  for (const auto& sets : operation_table) {
    const auto total = [](const OperationCount& count) { return count.in_double + count.in_float; };
    for (std::size_t form = 0; form < n_forms; ++form) {
      const auto of = [&](FieldSet set) { return total(sets[static_cast<std::size_t>(set)][form]); };
      EXPECT_LT(of(FieldSet::gz), of(FieldSet::vector));
      EXPECT_LT(of(FieldSet::vector), of(FieldSet::vector_tensor));
      EXPECT_LT(of(FieldSet::tensor), of(FieldSet::vector_tensor));
      EXPECT_LT(of(FieldSet::vector_tensor), of(FieldSet::all));
    }
    for (const auto& forms : sets) {
      for (auto form = static_cast<std::size_t>(Form::multipole_8); form + 1 < static_cast<std::size_t>(Form::corners);
           ++form) {
        EXPECT_GT(total(forms[form]), total(forms[form + 1]));
      }
    }
  }
}

TEST(OperationTable, KeepsDoublesOutOfSinglePrecision) {
  for (const auto& forms : operation_table[0]) {
    for (const OperationCount& count : forms) EXPECT_EQ(count.in_float, 0);
  }
  for (const auto& forms : operation_table[2]) {
    for (const OperationCount& count : forms) EXPECT_EQ(count.in_double, 0);
  }
}

}  // namespace
}  // namespace prismfield
