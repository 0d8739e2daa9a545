// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/ranges.hpp>

namespace prismfield {

/// The linear map G from the densities of prisms, kg/m3, to their fields at points, SI units, z up, the gravitational
/// constant included: fields = G density. On several ranks each holds a rectangle of G: the rows of its points and the
/// columns of its prisms. Ranks with the same points hold the same fields, ranks with the same prisms the same
/// densities, bit for bit.
///
/// Of magnetic fields, T, "densities" are amounts: a column is the field of a prism with its own magnetisation, which
/// its amount multiplies. MagnetizedPrisms has those of an unknown (unit_magnetizations()): amounts are then
/// susceptibilities, SI, or components of the magnetisation, A/m, in blocks of all prisms: easting, northing, upward. A
/// block is computed and kept as further prisms are: three take three times the bytes and the time.
///
/// Vectors are Views of the execution space's memory: of one vector of rank 1, of n vectors of rank 2, LayoutLeft, a
/// vector a column. Densities have columns() numbers, in the order of prisms(). Fields have rows(): row
/// f * points().size() + i is field number f of fields(), in the order of Field, at point number i of points().
/// An operator made of others may have rows and columns of another kind; it says what they are.
///
/// Products: out = alpha A in + beta out. With beta = 0, or without factors, `out` is not read. A vector of several
/// has the bits that it has alone.
///
/// Work is put on the space instance that a function is given, of the device that Kokkos was started for; it may still
/// be under way when the function returns: fence before the host looks, and before another instance is given. Functions
/// of one operator must not run side by side. Views of another length or another number of vectors, and output that
/// overlaps the input: InputError. No memory: RunError. On several ranks what fails on one is thrown on all, as
/// AgreedFailure. Collective, with the same factors and number of vectors, unless a function says otherwise; so is the
/// end of an operator.
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

  /// This rank's rows and columns: the lengths of its vectors. The queries are not collective.
  [[nodiscard]] virtual std::int64_t rows() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// What G is of: fields, and this rank's points and prisms, of all.
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
  /// product = G' diag(weights) G density in one pass over G, where that is faster than apply() and apply_transpose():
  /// weights: (rows()), the others (columns()), each vector by its own weights. False, on all ranks alike and with
  /// nothing done, where it is not.
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

  /// Inner products over all ranks, the same on each. (rows()) and (columns()).
  [[nodiscard]] virtual double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) = 0;
  [[nodiscard]] virtual double dot_densities(const ExecutionSpace& space, const ConstVector& a,
                                             const ConstVector& b) = 0;

  /// Largest error of an entry of G, relative to the magnitude of the potential, vector or tensor that it belongs to,
  /// for prisms whose edges differ by a factor of at most 100; in single precision, for coordinates that are rounded to
  /// floats relative to the middle of the ensemble. Products of one operator take an entry by one form or another
  /// within that bound: apply() by points side by side, entries() in the caller's order. Not collective.
  [[nodiscard]] virtual double error_bound() const noexcept = 0;
  /// What is kept of this rank's G, which products read; 0: it is computed anew. Not collective.
  [[nodiscard]] virtual std::int64_t bytes() const noexcept { return 0; }
  /// How this rank computes. Not collective.
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;

protected:
  Operator() = default;

  // The products, of any number of vectors.
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
  /// A View of one vector as one of vectors.
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
