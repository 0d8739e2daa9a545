// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "model/storage.hpp"
#include "sensitivity/storage_choice.hpp"

namespace prismfield {

/// The operator that `settings` ask for: a DirectOperator, a StoredOperator, what `auto` finds faster of these by
/// measured rates and free memory, or a CompressedOperator. Parallel over points: every rank has all columns and its
/// part of the rows (Partition::points). `prisms` must outlive it. `likely`: how often it will be applied, for `auto`.
/// Throws as DirectOperator does, InputError, by keys such as sensitivity.store, for what this space or version cannot
/// do, and RunError where memory does not suffice. Where settings.precision is unset it is float. Collective.
/// Instantiated in one source file a space.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_operator(
    const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
    const StorageSettings& settings, const LikelyProducts& likely, const Communicator& communicator,
    StorageChoice& choice);

}  // namespace prismfield
