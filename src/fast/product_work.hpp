// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
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

/// Forward runs by methods that compute a rank's share in one product.
namespace prismfield::fast {

/// What a rank computes: prisms at points.
struct ProductShare {
  const Plan& plan;
  /// see RankWork::expect()
  FieldSizes sizes;
  const PrismSource& prisms;
  /// all points, and those of the share; they outlive the product
  const PointColumns& all_points;
  PointColumns points;
};

/// Told between launches which fraction is done; throws where the product is to be left.
using Pause = std::function<void(double done_fraction)>;

/// The product of a rank's share, in the space that computes. Made of a share that has prisms and points; what is not
/// needed any more after that is not kept. Both throw AllocationFailure.
class ShareProduct {
public:
  virtual ~ShareProduct() = default;
  /// Once. values: (field of the plan's set, point), G = 1; contact: (point, n_contact_columns), see
  /// kernel/contact.hpp. Both are zeros before.
  virtual void compute(const Pause& pause, double* values, double* contact) = 0;
  /// Pairs that were computed one by one; after compute().
  [[nodiscard]] virtual std::array<std::int64_t, n_forms> pairs_by_form() const { return {}; }
};

/// A rank's work that is one product of its share. It keeps no state for checkpoints.
class ProductWork : public RankWork {
public:
  using Make = std::unique_ptr<ShareProduct> (*)(const ProductShare& share);

  ProductWork(const Plan& plan, int rank, Make make) : RankWork(plan, rank), m_make(make) {}

  [[nodiscard]] IndexRange prisms() const override { return m_plan.prisms(); }
  void expect(const FieldSizes& sizes) override { m_sizes = sizes; }
  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  void compute(const Communicator& communicator, Observer* observer, RunGuard* guard) override;
  [[nodiscard]] bool is_finished() const override { return m_is_finished; }
  [[nodiscard]] WorkDone take() override;

protected:
  /// Does on all ranks what may find no memory. Collective; throws as prepare().
  void on_all_ranks(const Communicator& communicator, const std::function<void()>& step) const;
  /// Makes room for what is computed at so many points.
  void make_room(std::int64_t n_points);

  FieldSizes m_sizes = no_sizes;
  /// all of the run
  PointColumns m_points;
  std::unique_ptr<ShareProduct> m_product;

private:
  /// Does what may find no memory. Throws RunError.
  void with_memory(const std::function<void()>& step) const;
  [[nodiscard]] std::int64_t n_pairs() const;

  Make m_make;
  std::vector<double> m_values, m_contact;
  BusyInterval m_busy;
  bool m_is_finished = false;
};

}  // namespace prismfield::fast
