// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include <prismfield/forms.hpp>

namespace prismfield {

/// Where an operator puts the fields of its sources as they are, on the host.
struct RankFields {
  /// (field of the operator, point of this rank), in the operator's units; zeros before
  double* values = nullptr;
  /// (point of this rank, n_contact_columns), see kernel/contact.hpp; empty where no point touches a prism
  std::vector<double> contact = {};
  /// pairs that were computed one by one
  std::array<std::int64_t, n_forms> pairs_by_form{};
};

/// What a run passes to an operator beside vectors.
struct ApplyContext {
  /// Called between launches with the fraction that is done; throws where the operator has to stop.
  std::function<void(double done_fraction)> pause;
};

/// An operator's evaluate() in its space, once.
using Evaluate = std::function<void(RankFields& fields, const ApplyContext& context)>;

}  // namespace prismfield
