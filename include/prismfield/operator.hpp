// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/ranges.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// The linear map G from the densities of prisms, kg/m3, to their fields at points, SI units, z up, the gravitational
/// constant included: fields = G density. On several ranks each holds a rectangle of G: the rows of its points and the
/// columns of its prisms. Ranks with the same points hold the same fields, ranks with the same prisms the same
/// densities, bit for bit.
///
/// Vectors are Views of the execution space's memory. Densities are (columns()), in the order of prisms(). Fields are
/// (rows()), row f * points().size() + i being field number f of fields(), in the order of Field, at point number i of
/// points(). Work is put on the space instance that a function is given, of the device that Kokkos was started for; it
/// may still be under way when the function returns: fence before the host looks, and before another instance is given.
/// Functions of one operator must not run side by side. Views of another length, and output that overlaps the input:
/// InputError. No memory: RunError. On several ranks what fails on one is thrown on all, as AgreedFailure. Collective,
/// unless a function says otherwise; so is the end of an operator.
template <class ExecutionSpace>
class Operator {
public:
  using Memory = typename ExecutionSpace::memory_space;
  using Vector = Kokkos::View<double*, Memory>;
  using ConstVector = Kokkos::View<const double*, Memory>;
  /// (fields().size(), points, columns())
  using Entries = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;

  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// The queries below are not collective.
  [[nodiscard]] virtual FieldList fields() const noexcept = 0;
  /// This rank's points and prisms, of all.
  [[nodiscard]] virtual IndexRange points() const noexcept = 0;
  [[nodiscard]] virtual IndexRange prisms() const noexcept = 0;
  /// This rank's rows and columns.
  [[nodiscard]] std::int64_t rows() const noexcept { return fields().size() * points().size(); }
  [[nodiscard]] std::int64_t columns() const noexcept { return prisms().size(); }

  /// fields = G density.
  virtual void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) = 0;
  /// density = G' fields.
  virtual void apply_transpose(const ExecutionSpace& space, const ConstVector& fields, const Vector& density) = 0;
  /// The diagonal of G' diag(weights) G, (columns()); weights: (rows()).
  virtual void diagonal(const ExecutionSpace& space, const ConstVector& weights, const Vector& diagonal) = 0;
  /// product = G' diag(weights) G density in one pass over G, where that is faster than apply() and apply_transpose():
  /// weights: (rows()), the others (columns()). False, on all ranks alike and with nothing done, where it is not.
  virtual bool apply_normal(const ExecutionSpace& space, const ConstVector& weights, const ConstVector& density,
                            const Vector& product) {
    static_cast<void>(space), static_cast<void>(weights), static_cast<void>(density), static_cast<void>(product);
    return false;
  }

  // The same for n vectors at once, n >= 1, one behind another in one View: of n columns() and n rows() numbers. By
  // default one after another; in one pass over G where that saves reading it again.

  /// fields = G density.
  virtual void apply_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& density,
                          const Vector& fields) {
    for (std::int64_t v = 0; v < n; ++v) {
      apply(space, one_of(density, n, v, columns()), one_of(fields, n, v, rows()));
    }
  }
  /// density = G' fields.
  virtual void apply_transpose_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& fields,
                                    const Vector& density) {
    for (std::int64_t v = 0; v < n; ++v) {
      apply_transpose(space, one_of(fields, n, v, rows()), one_of(density, n, v, columns()));
    }
  }
  /// The diagonals of G' diag(weights) G.
  virtual void diagonal_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& weights,
                             const Vector& diagonal) {
    for (std::int64_t v = 0; v < n; ++v) {
      this->diagonal(space, one_of(weights, n, v, rows()), one_of(diagonal, n, v, columns()));
    }
  }
  /// product = G' diag(weights) G density, each by its own weights; as apply_normal().
  virtual bool apply_normal_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& weights,
                                 const ConstVector& density, const Vector& product) {
    for (std::int64_t v = 0; v < n; ++v) {
      const bool done = apply_normal(space, one_of(weights, n, v, rows()), one_of(density, n, v, columns()),
                                     one_of(product, n, v, columns()));
      if (!done) return false;
    }
    return true;
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
  /// How this rank computes. Not collective.
  [[nodiscard]] virtual const Plan& plan() const noexcept = 0;

protected:
  Operator() = default;

  /// Vector number v of n in a View of all. The last is what is left, so that a View of another length is noticed where
  /// vectors of one are.
  template <class View>
  [[nodiscard]] static View one_of(const View& all, std::int64_t n, std::int64_t v, std::int64_t length) {
    const auto size = static_cast<std::int64_t>(all.extent(0));
    const std::int64_t begin = v * length < size ? v * length : size;
    const std::int64_t end = v + 1 < n && begin + length < size ? begin + length : size;
    return Kokkos::subview(all, std::make_pair(begin, end));
  }
};

/// G computed anew from closed forms and multipoles in every product. The prisms' geometry is prepared once and kept in
/// the space's memory when all of it fits execution.memory_limit, else prepared anew in each product. apply() adds in
/// the order of forward(): by the same plan the fields of the same densities are the same, bit for bit.
template <class ExecutionSpace>
class DirectOperator final : public Operator<ExecutionSpace> {
public:
  using typename Operator<ExecutionSpace>::Vector;
  using typename Operator<ExecutionSpace>::ConstVector;
  using typename Operator<ExecutionSpace>::Entries;

  /// `prisms`, whose own densities are not looked at, must outlive the operator; each rank must be able to read its
  /// part. Kokkos must run. Throws InputError, by key, for points that are not finite or columns of different lengths,
  /// for kernel corners, for a space that is not this one and for all that forward() refuses; RunError when even the
  /// smallest plan finds no memory. Collective over `communicator`, which may end before the operator. With balance:
  /// cost the prisms are cut by their cost at all points.
  DirectOperator(const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
                 const Communicator& communicator = {});
  ~DirectOperator() override;

  [[nodiscard]] FieldList fields() const noexcept override;
  [[nodiscard]] IndexRange points() const noexcept override;
  [[nodiscard]] IndexRange prisms() const noexcept override;
  void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) override;
  void apply_transpose(const ExecutionSpace& space, const ConstVector& fields, const Vector& density) override;
  void diagonal(const ExecutionSpace& space, const ConstVector& weights, const Vector& diagonal) override;
  void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override;
  [[nodiscard]] double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  [[nodiscard]] double dot_densities(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  [[nodiscard]] double error_bound() const noexcept override;
  [[nodiscard]] const Plan& plan() const noexcept override;

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

}  // namespace prismfield
