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
#include <prismfield/storage.hpp>

namespace prismfield {

/// The operator that `settings` ask for: one that computes G anew, a DirectOperator; one whose entries are kept as
/// numbers in the memory of `space` or in a file; an H-matrix, on hosts alone; or what is fastest of these. Parallel
/// over points: every rank has all columns and its part of the rows, whatever request.execution.partition says.
///
/// prismfield::core reads and writes no files: with Store::file a RowStore of the caller's (row_store.hpp) does, and
/// must outlive the operator, as `prisms` must. `choice`, unless null: what was chosen, of this rank.
///
/// Throws as DirectOperator does, InputError, by keys such as sensitivity.store, for what this space or version cannot
/// do, and RunError where memory or settings.memory_limit does not suffice (AgreedFailure on several ranks).
/// Collective. For the spaces that Kokkos was built with.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_operator(
    const ExecutionSpace& space, const PrismSource& prisms, const Points& points, const Request& request,
    const StorageSettings& settings = {}, const Communicator& communicator = {}, StorageChoice* choice = nullptr);

}  // namespace prismfield
