// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "counted_lane.hpp"
#include "force_form.hpp"
// the kernels, compiled for counted lanes
#include "kernel/tile.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

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

/// Operations in double and in float of one pair of a prism and a point beside it, as add_prisms() computes it.
template <class A, FieldSet set>
std::pair<std::int64_t, std::int64_t> count_pair(Form form) {
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
    const auto [in_double, in_float] = count_pair<A, set>(static_cast<Form>(form));
    forms += (form > 0 ? ", [" : "[") + std::to_string(in_double) + ", " + std::to_string(in_float) + "]";
  }
  return std::string("  \"") + name + "\": [" + forms + "]";
}

template <class A>
std::string counted_sets(const char* name) {
  return std::string(" \"") + name + "\": {\n" + counted_set<A, FieldSet::gz>("gz") + ",\n" +
         counted_set<A, FieldSet::vector>("vector") + ",\n" + counted_set<A, FieldSet::tensor>("tensor") + ",\n" +
         counted_set<A, FieldSet::vector_tensor>("vector_tensor") + ",\n" + counted_set<A, FieldSet::all>("all") +
         "\n }";
}

TEST(OperationTable, IsWhatTheKernelsDo) {
  const std::string counted = "{\n" + counted_sets<kernel::DoubleArithmetic>("double") + ",\n" +
                              counted_sets<kernel::MixedArithmetic>("mixed") + ",\n" +
                              counted_sets<kernel::SingleArithmetic>("single") + "\n}\n";
  std::ifstream file(PRISMFIELD_SOURCE_DIR "/python/prismfield/study/operations.json");
  const std::string table{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(table, counted) << "python/prismfield/study/operations.json should hold\n" << counted;
}

}  // namespace
}  // namespace prismfield
