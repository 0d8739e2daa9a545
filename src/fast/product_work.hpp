// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/method.hpp"

/// Forward runs of methods that compute a rank's share in one product.
namespace prismfield::fast {

/// A rank's prisms and points.
struct ProductShare {
  /// the run's, with the fields of the product
  const Plan& plan;
  /// see RankWork::expect()
  FieldSizes sizes;
  const PrismSource& prisms;
  /// all points and those of the share, which outlive the product
  const PointColumns& all_points;
  PointColumns points;
};

/// Receives the fraction done, between launches; throws where the product has to end.
using Pause = std::function<void(double done_fraction)>;

/// The product of a rank's share in the space that computes, made from a share with prisms and points. It keeps only
/// what compute() needs. Constructor and compute() throw AllocationFailure.
class ShareProduct {
public:
  virtual ~ShareProduct() = default;
  /// Computes once. values: (field that the plan computes, point), G = 1; contact: (point, n_contact_columns), see
  /// kernel/contact.hpp. Both are 0 before.
  virtual void compute(const Pause& pause, double* values, double* contact) = 0;
  /// Pairs computed one by one, after compute().
  [[nodiscard]] virtual std::array<std::int64_t, n_forms> pairs_by_form() const { return {}; }
};

/// A rank's work as one product of its share, or one each for gravity and magnetic fields. It has no state for
/// checkpoints.
class ProductWork : public RankWork {
public:
  using Make = std::unique_ptr<ShareProduct> (*)(const ProductShare& share);

  ProductWork(const Plan& plan, int rank, Make make) : RankWork(plan, rank), m_make(make) {}

  void expect(const FieldSizes& sizes) override { m_sizes = sizes; }
  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  void compute(const Communicator& communicator, Observer* observer, RunGuard* guard) override;
  [[nodiscard]] bool is_finished() const override { return m_is_finished; }
  [[nodiscard]] WorkDone take() override;

protected:
  /// Runs on all ranks a step that may lack memory. Collective; throws as prepare().
  void on_all_ranks(const Communicator& communicator, const std::function<void()>& step) const;
  /// Allocates the results for so many points.
  void make_room(std::int64_t n_points);
  /// Calls f(plan) with the plan of each product.
  void for_each_product(const std::function<void(const Plan&)>& f) const;

  FieldSizes m_sizes = no_sizes;
  /// all points of the run
  PointColumns m_points;
  std::vector<std::unique_ptr<ShareProduct>> m_products;

private:
  /// Runs a step that may lack memory. Throws RunError.
  void with_memory(const std::function<void()>& step) const;
  [[nodiscard]] std::int64_t n_pairs() const;
  /// Writes the fields of product `number` from `values` on; returns where those of the next one begin.
  double* compute_one(std::size_t number, const Pause& pause, double* values);

  Make m_make;
  std::vector<double> m_values, m_contact;
  std::array<std::int64_t, n_forms> m_pairs_by_form{};
  BusyInterval m_busy;
  bool m_is_finished = false;
};

}  // namespace prismfield::fast
