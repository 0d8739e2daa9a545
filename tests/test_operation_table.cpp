// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "counted_lane.hpp"
#include "force_form.hpp"
// the kernels, compiled for counted lanes
#include "kernel/tile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace prismfield::test_operation_table {
namespace {

using kernel::Counted;
using kernel::OperationsOn;

/// Lanes of one counted point.
template <class A>
struct CountedLanes {
  using Arithmetic = A;
  using Real = Counted<typename A::Real>;
  using Coordinate = Counted<typename A::Real>;
  using Sum = Counted<typename A::Real>;
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

/// Operations in double and in float of one pair of a prism and a point beside it, as add_prisms() computes it.
template <class A, FieldSet set>
std::pair<std::int64_t, std::int64_t> count_pair(Form form) {
  using Lanes = CountedLanes<A>;
  using Coordinate = typename Lanes::Real;
  using C = typename A::Real;
  constexpr double face[3][2] = {{0, 100}, {0, 80}, {-60, 0}};
  constexpr double edge[3] = {100, 80, 60};
  constexpr double no_origin[3] = {0, 0, 0};
  kernel::PrismShape<A> shape{};
  kernel::FarPrism<A, 16> far{};
  kernel::NearPrism<A> near{};
  kernel::WeightOf<A, set> weight{};
  kernel::prepare_shape<A>(kernel::multipole_tables(), edge, shape);
  force(form, shape);
  kernel::prepare_prism<A>(shape, 0, face, no_origin, far, near);
  kernel::prepare_weight<A>(shape, face, 300.0, weight);
  if constexpr (has_magnetic(set)) static_cast<kernel::PrismMagnetization<A>&>(weight) = {{2, -1, 3}};
  const Kokkos::Array<C, 3> rounding{};
  Coordinate px(C(170)), py(C(133)), pz(C(155));
  kernel::FieldValues<set, typename Lanes::Real> sums;
  sums.clear();
  kernel::FormCounts counts;

  clear_counts();
  if (form == Form::corners) {
    kernel::move_onto_prism(near, rounding, px, py, pz);
    const auto faces = kernel::faces_seen<Lanes>(near, shape.inverse_unit, px, py, pz);
    auto fields = kernel::composed<set, typename Lanes::Real, A>(
        kernel::corners_form<kernel::gravity_of(set)>(faces, typename Lanes::Real(shape.unit)),
        kernel::third_of<set>(faces), weight);
    if constexpr (has_magnetic(set)) kernel::add_inside(weight, kernel::part_inside(faces), fields);
    kernel::add_where<Lanes, set>(true, fields, weight.density, shape.unit, sums);
    (void)kernel::gap_squared(faces);
    counts.add(form, 1);
  } else {
    kernel::add_prism<Lanes, set, kernel::Pass::all>(shape, far, near, weight, px, py, pz, rounding, 1, sums, counts,
                                                     [](int, const auto&) {});
  }
  EXPECT_EQ(counts.count[static_cast<int>(form)], 1) << name(form);
  using Real = typename A::Real;
  std::pair count{OperationsOn<double>::operations, OperationsOn<float>::operations};
  std::int64_t& of_real = sizeof(Real) == 8 ? count.first : count.second;
  const std::int64_t logarithms = OperationsOn<Real>::logarithms;
  const std::int64_t arctangents = OperationsOn<Real>::arctangents;
  of_real += logarithms * operations_of_logarithm<Real>() + arctangents * operations_of_arctangent<Real>();
  return count;
}

template <class A, FieldSet set>
std::string counted_set(const char* name) {
  std::string forms;
  for (int form = 0; form < n_forms; ++form) {
    const auto [in_double, in_float] = static_cast<Form>(form) == Form::corners
                                           ? count_pair<A, kernel::corners_set(set)>(Form::corners)
                                           : count_pair<A, set>(static_cast<Form>(form));
    forms += (form > 0 ? ", [" : "[") + std::to_string(in_double) + ", " + std::to_string(in_float) + "]";
  }
  return std::string("  \"") + name + "\": [" + forms + "]";
}

template <class A, std::size_t... set>
std::string counted_sets(const char* name, std::index_sequence<set...>) {
  constexpr std::array names = {"gz", "vector", "tensor", "vector_tensor", "all", "magnetic", "magnetic_gradient"};
  static_assert(names.size() == every_set.size());
  std::string sets;
  ((sets += (set > 0 ? ",\n" : "") + counted_set<A, every_set[set]>(names[set])), ...);
  return std::string(" \"") + name + "\": {\n" + sets + "\n }";
}

TEST(OperationTable, IsWhatTheKernelsDo) {
  constexpr std::make_index_sequence<every_set.size()> sets;
  const std::string counted = "{\n" + counted_sets<kernel::DoubleArithmetic>("double", sets) + ",\n" +
                              counted_sets<kernel::SingleArithmetic>("single", sets) + "\n}\n";
  std::ifstream file(PRISMFIELD_SOURCE_DIR "/python/prismfield/study/operations.json");
  const std::string table{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(table, counted) << "python/prismfield/study/operations.json should hold\n" << counted;
}

}  // namespace
}  // namespace prismfield::test_operation_table
