// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/make_operator.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "compute/method.hpp"
#include "compute/operator_plan.hpp"
#include "compute/rank_operator.hpp"
#include "engine/with_space.hpp"
#include "model/points.hpp"
#include "operators/tree/evaluate_trees.hpp"
#include "operators/tree/leaf_sizes.hpp"
#include "operators/tree/make_tree_operator.hpp"
#include "operators/tree/tree_products.hpp"
#include "parallel/agreement.hpp"

/// The products of trees as an operator of any densities, and of those that prisms have: in one source, since both have
/// the same kernels.
namespace prismfield::fast {
namespace {

/// Points at which the sizes of fields are asked for.
inline constexpr std::int64_t points_of_sizes = 32;

/// Sums over prisms of |entry|, of one field at one point.
template <class Entries>
struct SumOfSizes {
  Entries entries;
  int field;
  KOKKOS_FUNCTION void operator()(std::int64_t p, double& sum) const { sum += Kokkos::abs(entries(field, 0, p)); }
};

/// The tree's products as an operator: see make_tree_operator().
template <class ExecutionSpace>
class TreeOperator final : public RankOperator<ExecutionSpace> {
public:
  using Base = RankOperator<ExecutionSpace>;
  using typename Base::ConstVectors;
  using typename Base::Entries;
  using typename Base::Vectors;

  TreeOperator(const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points,
               const Request& request, const Communicator& communicator)
      : TreeOperator(space, prisms, request,
                     plan_operator(key_of(space, request.execution.space), prisms, points, request, communicator),
                     communicator) {}

private:
  TreeOperator(const ExecutionSpace& space, const PrismSource& prisms, const Request& request, OperatorPlan plan,
               const Communicator& communicator)
      : Base(communicator, plan.fields, plan.plan, request.execution.tolerance),
        m_work(std::move(plan)),
        m_exact(request) {
    m_exact.execution = {};
    m_exact.execution.space = m_work.plan.space;
    this->m_plan.method = Method::tree;
    on_all_ranks(this->m_all_ranks, [&] { prepare(space, prisms, request.execution.tolerance); });
  }

  void multiply_rows(const ExecutionSpace& space, const ConstVectors& density, const Vectors& fields) override {
    if (!m_products) return Kokkos::deep_copy(space, fields, 0.0);
    for (std::size_t v = 0; v < density.extent(1); ++v) {
      m_products->multiply(space, Kokkos::subview(density, Kokkos::ALL, v), m_work.constant,
                           &fields.data()[v * fields.extent(0)]);
    }
  }
  void multiply_columns(const ExecutionSpace& space, const ConstVectors& fields, const Vectors& density) override {
    if (!m_products) return Kokkos::deep_copy(space, density, 0.0);
    for (std::size_t v = 0; v < density.extent(1); ++v) {
      m_products->multiply_transposed(space, &fields.data()[v * fields.extent(0)], m_work.constant,
                                      &density.data()[v * density.extent(0)]);
    }
  }
  void sum_squares(const ExecutionSpace& space, const ConstVectors& weights, const Vectors& diagonal) override {
    if (!m_products) return Kokkos::deep_copy(space, diagonal, 0.0);
    const double g = m_work.constant;
    for (std::size_t v = 0; v < diagonal.extent(1); ++v) {
      m_products->sum_squares(space, &weights.data()[v * weights.extent(0)], g * g,
                              &diagonal.data()[v * diagonal.extent(0)]);
    }
  }
  void read_entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override {
    direct_at(space, chosen(points.begin, points.size(), 1), m_exact)->entries(space, {0, points.size()}, entries);
  }

  void prepare(const ExecutionSpace& space, const PrismSource& prisms, double tolerance) {
    if (m_work.n_points() == 0 || m_work.n_prisms() == 0) return;
    prisms.read(m_work.plan.prisms(), m_block);
    // masses are volumes
    std::fill(m_block.density.begin(), m_block.density.end(), 1.0);
    m_prisms = std::make_unique<PrismList>(m_block.columns());
    TreeSettings settings = tree_settings(smallest_set(m_work.plan.computed), m_work.fields, tolerance,
                                          sizes_of_fields(space), m_work.plan.inducing_direction);
    settings.inside = share_inside(m_work.plan.inside);
    const LeafSizes leaves =
        leaf_sizes(is_device_space<ExecutionSpace>, points_per_prism(prisms, m_work.unordered), m_work.n_prisms());
    settings.leaf_prisms = leaves.prisms;
    settings.leaf_points = leaves.points;
    settings.any_density = true;
    for (std::size_t d = 0; d < 3; ++d) settings.rounding[d] = prisms.rounding()[d] + m_work.unordered.rounding[d];
    m_products = std::make_unique<TreeProducts<ExecutionSpace>>(space, *m_prisms, IndexRange{0, m_work.n_prisms()},
                                                                m_work.unordered, settings);
    m_work.ordered = {};
  }

  /// What prisms of density, or amount, 1 or -1 make at most of a field's smallest component, by some of the points.
  [[nodiscard]] FieldSizes sizes_of_fields(const ExecutionSpace& space) const {
    const std::int64_t n = std::min(m_work.n_points(), points_of_sizes);
    Request unit = m_exact;
    const FieldList asked = unit.fields = m_work.fields.natives();
    unit.gravitational_constant = 1;
    const auto direct = direct_at(space, chosen(0, n, m_work.n_points() / n), unit);
    const Entries entries = new_view<Entries>("entries_of_sizes", asked.size(), 1, m_work.n_prisms());
    std::vector<double> most(static_cast<std::size_t>(asked.size()));
    for (std::int64_t point = 0; point < n; ++point) {
      direct->entries(space, {point, point + 1}, entries);
      for (int f = 0; f < asked.size(); ++f) {
        double sum = 0;
        Kokkos::parallel_reduce("prismfield::sum_of_sizes", typename Base::Indices(space, 0, m_work.n_prisms()),
                                SumOfSizes<Entries>{entries, f}, sum);
        most[static_cast<std::size_t>(f)] = std::max(most[static_cast<std::size_t>(f)], sum);
      }
    }
    FieldSizes sizes = no_sizes;
    for (const FieldInfo& field : asked) {
      const auto q = static_cast<std::size_t>(order_of_size(field));
      const double of_unit =
          most[static_cast<std::size_t>(asked.index_of(field.field))] / unit.constant(field.is_magnetic);
      sizes[q] = std::min(sizes[q], of_unit);
    }
    return sizes;
  }

  /// n of the rank's points, by their numbers from `first` on.
  [[nodiscard]] Points chosen(std::int64_t first, std::int64_t n, std::int64_t stride) const {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < n; ++i) numbers.push_back(first + i * stride);
    return chosen_points(m_work.unordered, numbers);
  }
  /// The direct operator of this rank's prisms at some points.
  [[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> direct_at(const ExecutionSpace& space, const Points& points,
                                                                    const Request& request) const {
    return make_direct_operator(space, *m_prisms, points, request);
  }

  OperatorPlan m_work;
  /// of the direct operator, of this rank alone
  Request m_exact;
  /// this rank's prisms, as columns and as an ensemble
  PrismBlock m_block;
  std::unique_ptr<PrismList> m_prisms;
  std::unique_ptr<TreeProducts<ExecutionSpace>> m_products;
};

TreeSettings settings_of(const RankProblem& problem) {
  const Plan& plan = problem.plan;
  TreeSettings settings = tree_settings(smallest_set(plan.computed), plan.computed, plan.tolerance, problem.sizes);
  settings.leaf_prisms = plan.tree.leaf_prisms;
  settings.leaf_points = plan.tree.leaf_points;
  settings.inside = share_inside(plan.inside);
  settings.transposes = false;
  for (std::size_t d = 0; d < 3; ++d) settings.rounding[d] = problem.prisms.rounding()[d] + problem.points.rounding[d];
  return settings;
}

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<Operator<ExecutionSpace>> make_tree_operator(const ExecutionSpace& space, const PrismSource& prisms,
                                                             const PointColumns& points, const Request& request,
                                                             const Communicator& communicator) {
  agree_on_input(communicator, [&] {
    ProblemSize problem;
    tree_method.check(request, prisms, points, problem);
  });
  return std::make_unique<TreeOperator<ExecutionSpace>>(space, prisms, points, request, communicator);
}

Evaluate evaluate_trees(const RankProblem& problem) {
  return with_space(problem.plan.space, [&](const auto& space) -> Evaluate {
    const auto trees = std::make_shared<TreeProducts<std::decay_t<decltype(space)>>>(
        space, problem.prisms, problem.plan.prisms(), problem.points, settings_of(problem));
    const std::int64_t n_values = problem.plan.computed.size() * problem.points.size();
    return [space, trees, n_values](RankFields& fields, const ApplyContext& context) {
      fill_on_host(space, fields.values, n_values,
                   [&](double* to) { trees->multiply_own(space, context.pause, 1, to); });
      fields.contact = trees->contacts(space);
      fields.pairs_by_form = trees->pairs_by_form();
    };
  });
}

#define PRISMFIELD_TREE_OPERATORS(Space)                                                                              \
  template std::unique_ptr<Operator<Space>> make_tree_operator(const Space&, const PrismSource&, const PointColumns&, \
                                                               const Request&, const Communicator&);
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_TREE_OPERATORS)

}  // namespace prismfield::fast
