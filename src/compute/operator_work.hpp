// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/apply_context.hpp"
#include "compute/method.hpp"

namespace prismfield {

/// What an operator of a run is made of.
struct RankProblem {
  /// the run's, with the fields of the operator
  const Plan& plan;
  /// see RankWork::expect()
  FieldSizes sizes;
  const PrismSource& prisms;
  /// those of this rank, which outlive the operator
  PointColumns points;
};

/// A rank's work by an operator, G = 1, or one each for gravity and magnetic fields. It keeps no state for checkpoints.
class OperatorWork final : public RankWork {
public:
  /// Makes the operator of a rank that has prisms and points. It and what it makes throw AllocationFailure.
  using Make = Evaluate (*)(const RankProblem& problem);

  OperatorWork(const Plan& plan, int rank, Make make) : RankWork(plan, rank), m_make(make) {}

  void expect(const FieldSizes& sizes) override { m_sizes = sizes; }
  void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) override;
  void compute(const Communicator& communicator, Observer* observer, RunGuard* guard) override;
  [[nodiscard]] bool is_finished() const override { return m_is_finished; }
  [[nodiscard]] WorkDone take() override;

private:
  /// Does what may find no memory. Throws RunError.
  void with_memory(const std::function<void()>& step) const;
  [[nodiscard]] std::int64_t n_pairs() const;
  /// Writes the fields of operator `number` from `values` on; where those of the next one begin.
  double* evaluate(std::size_t number, const ApplyContext& context, double* values);

  Make m_make;
  FieldSizes m_sizes = no_sizes;
  std::vector<Evaluate> m_operators;
  std::vector<double> m_values, m_contact;
  std::array<std::int64_t, n_forms> m_pairs_by_form{};
  BusyInterval m_busy;
  bool m_is_finished = false;
};

}  // namespace prismfield
