// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

namespace prismfield {

/// The linear map G from densities of prisms, kg/m3, to their fields at points, SI units, z up, with the gravitational
/// constant: fields = G density. make_direct_operator() and make_operator() make it; invert() and HostOperator use it.
/// Each rank holds a rectangle of G, the rows of its points and the columns of its prisms. Ranks with the same points
/// hold the same fields, ranks with the same prisms the same densities, bit for bit.
///
/// For magnetic fields, T, "densities" are amounts: column j is the field of prism j with its own magnetisation, which
/// amount j multiplies. With MagnetizedPrisms and unit_magnetizations() amounts are susceptibilities, SI, or components
/// of the magnetisation, A/m, in three blocks of all prisms: easting, northing, upward. A block costs the memory and
/// time of as many further prisms.
///
/// Vectors are Views in the execution space's memory: rank 1 for one vector, rank 2 and LayoutLeft, a vector per
/// column, for several. Densities have columns() numbers in the order of prisms(). Fields have rows() numbers. Their
/// row f * points().size() + i is field number f of fields(), in the order of Field, at point number i of points(). An
/// operator made of others may define its rows and columns differently.
///
/// Products: out = alpha A in + beta out. `out` is not read with beta = 0 or without factors. A vector among several
/// gets the bits that it gets alone.
///
/// Functions queue work on the space instance that they receive, which must be of the device that Kokkos was started
/// for, and may return before it ends: fence before the host reads results and before another instance is used.
/// Functions of one operator must not run concurrently. Throws InputError for Views of another length or number of
/// vectors and for output that overlaps the input; RunError when memory runs out. On several ranks an error on one is
/// thrown on all, as AgreedFailure. Functions and the destructor are collective, with equal factors and numbers of
/// vectors, unless noted.
template <class ExecutionSpace>
class Operator {
public:
  using Memory = typename ExecutionSpace::memory_space;
  using Vector = Kokkos::View<double*, Memory>;
  using ConstVector = Kokkos::View<const double*, Memory>;
  /// (length, vector)
  using Vectors = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
  using ConstVectors = Kokkos::View<const double**, Kokkos::LayoutLeft, Memory>;
  /// (fields().size(), points, columns())
  using Entries = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;

  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// The lengths of this rank's vectors. Queries are not collective.
  [[nodiscard]] virtual std::int64_t rows() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// The fields that G has rows for, and this rank's range of all points and of all prisms.
  [[nodiscard]] virtual FieldList fields() const noexcept = 0;
  [[nodiscard]] virtual IndexRange points() const noexcept = 0;
  [[nodiscard]] virtual IndexRange prisms() const noexcept = 0;

  /// fields = G density.
  template <class In, class Out>
  void apply(const ExecutionSpace& space, double alpha, const In& density, double beta, const Out& fields) {
    multiply(space, alpha, columns_of(density), beta, columns_of(fields));
  }
  template <class In, class Out>
  void apply(const ExecutionSpace& space, const In& density, const Out& fields) {
    apply(space, 1, density, 0, fields);
  }
  /// density = G' fields.
  template <class In, class Out>
  void apply_transpose(const ExecutionSpace& space, double alpha, const In& fields, double beta, const Out& density) {
    multiply_transposed(space, alpha, columns_of(fields), beta, columns_of(density));
  }
  template <class In, class Out>
  void apply_transpose(const ExecutionSpace& space, const In& fields, const Out& density) {
    apply_transpose(space, 1, fields, 0, density);
  }
  /// The diagonal of G' diag(weights) G, (columns()); weights: (rows()).
  template <class In, class Out>
  void diagonal(const ExecutionSpace& space, double alpha, const In& weights, double beta, const Out& diagonal) {
    add_diagonal(space, alpha, columns_of(weights), beta, columns_of(diagonal));
  }
  template <class In, class Out>
  void diagonal(const ExecutionSpace& space, const In& weights, const Out& diagonal) {
    this->diagonal(space, 1, weights, 0, diagonal);
  }
  /// product = G' diag(weights) G density in one pass over G, where that is faster than apply() and apply_transpose();
  /// otherwise returns false on all ranks and does nothing. weights: (rows()), others: (columns()); each vector has its
  /// own weights.
  template <class Weights, class In, class Out>
  bool apply_normal(const ExecutionSpace& space, double alpha, const Weights& weights, const In& density, double beta,
                    const Out& product) {
    return multiply_normal(space, alpha, columns_of(weights), columns_of(density), beta, columns_of(product));
  }
  template <class Weights, class In, class Out>
  bool apply_normal(const ExecutionSpace& space, const Weights& weights, const In& density, const Out& product) {
    return apply_normal(space, 1, weights, density, 0, product);
  }

  /// Rows of G at some of this rank's points, numbered from 0: entries(f, i, p). Not collective.
  virtual void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) = 0;

  /// Inner products of (rows()) and of (columns()) over all ranks, equal on each.
  [[nodiscard]] virtual double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) = 0;
  [[nodiscard]] virtual double dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                             const ConstVector& b) = 0;

  /// The largest error of an entry of G relative to the magnitude of its potential, vector or tensor. It holds for
  /// prisms with edges within a factor of 100 of each other and, in single precision, for coordinates rounded to floats
  /// relative to the middle of the ensemble. Within this bound apply() and entries() may compute an entry by different
  /// forms, since they group points differently. Not collective.
  [[nodiscard]] virtual double error_bound() const noexcept = 0;
  /// Bytes of this rank's stored G that a product reads; 0: G is computed anew. Not collective.
  [[nodiscard]] virtual std::int64_t bytes() const noexcept { return 0; }
  /// How this rank computes. Not collective.
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;

protected:
  Operator() = default;

  // The products above for any number of vectors.
  virtual void multiply(const ExecutionSpace& space, double alpha, const ConstVectors& density, double beta,
                        const Vectors& fields) = 0;
  virtual void multiply_transposed(const ExecutionSpace& space, double alpha, const ConstVectors& fields, double beta,
                                   const Vectors& density) = 0;
  virtual void add_diagonal(const ExecutionSpace& space, double alpha, const ConstVectors& weights, double beta,
                            const Vectors& diagonal) = 0;
  virtual bool multiply_normal(const ExecutionSpace& /*space*/, double /*alpha*/, const ConstVectors& /*weights*/,
                               const ConstVectors& /*density*/, double /*beta*/, const Vectors& /*product*/) {
    return false;
  }

private:
  /// A View of one vector as a View of vectors.
  template <class View>
  static auto columns_of(const View& vectors) {
    using Value = typename View::value_type;
    using Columns = Kokkos::View<Value**, Kokkos::LayoutLeft, Memory>;
    if constexpr (View::rank() == 1) {
      const Kokkos::View<Value*, Memory> vector = vectors;
      return Columns(vector.data(), vector.extent(0), 1);
    } else {
      return Columns(vectors);
    }
  }
};

}  // namespace prismfield
