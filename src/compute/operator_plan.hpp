// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "engine/engine.hpp"

namespace prismfield {

/// Prisms of one launch, numbered from the rank's first.
struct OperatorBlock {
  IndexRange prisms;
  /// whether slots are reduced after it
  bool ends_chunk = false;

  bool operator==(const OperatorBlock&) const noexcept = default;
};

/// How a rank computes an operator's products, in the order of forward(). plan_operator() makes it.
struct OperatorPlan {
  Plan plan;
  EngineTraits traits;
  FieldList fields;
  /// see Request::constant()
  double constant = 0;
  bool uniform_shape = false;
  /// numbers of the rank's points, from 0, in the order of work; the points in that order, and in the caller's order
  std::vector<std::int64_t> order;
  Points ordered, unordered;
  std::vector<OperatorBlock> blocks;
  /// whether every block stays in the space's memory; otherwise each product stages blocks anew
  bool keeps_blocks = false;

  [[nodiscard]] std::int64_t n_points() const noexcept { return plan.points().size(); }
  [[nodiscard]] std::int64_t n_prisms() const noexcept { return plan.prisms().size(); }
  /// Cuts the blocks, keeps all where they fit the memory limit, and adds to the plan's bytes what an operator holds
  /// beyond a forward run.
  void choose_blocks();
  /// Cuts blocks of so many prisms, which end where chunks do.
  void cut_blocks(std::int64_t block_prisms);
};

/// An operator's request for one space and the direct method. Throws InputError for settings that operators lack.
[[nodiscard]] Request request_in(Space space, Request request);

/// The plan of an operator in this space. Throws and is collective as make_direct_operator().
[[nodiscard]] OperatorPlan plan_operator(Space space, const PrismSource& prisms, const PointColumns& points,
                                         const Request& request, const Communicator& communicator);

/// Runs a step on all ranks. A single rank throws the step's error, several throw AgreedFailure when any failed; lack
/// of memory becomes RunError. Collective.
void on_all_ranks(const Communicator& ranks, const std::function<void()>& step);

/// The plan's bytes in the memory of the space that computes.
template <class APlan>
[[nodiscard]] auto& memory_of_space(APlan& plan) noexcept {
  return is_device(plan.space) ? plan.device_bytes : plan.host_bytes;
}

/// See Operator::error_bound().
[[nodiscard]] double error_bound_of(Precision precision) noexcept;

/// Throws InputError, by key, for a View of another length than needed.
void check_length(std::string_view key, std::size_t length, std::int64_t needed);
/// Throws InputError, by the key of the output, for an output that overlaps the input of a product.
void check_apart(std::string_view key, const double* output, std::size_t n_output, const double* input,
                 std::size_t n_input);
/// Throws InputError for points outside the rank's `n_points`.
void check_range(IndexRange points, std::int64_t n_points);

/// Throws InputError, by the key of a View, for another number of vectors than in the other View.
void check_vectors(std::string_view key, std::size_t vectors, std::string_view other_key, std::size_t others);

}  // namespace prismfield
