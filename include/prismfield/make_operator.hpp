// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// G computed anew from closed forms and multipoles in every product, on several ranks cut into rectangles as
/// request.execution.partition says. The prisms' geometry is prepared once and kept in the space's memory when all of
/// it fits execution.memory_limit, else prepared anew in each product. apply() adds in the order of forward(): by the
/// same plan the fields of the same densities are the same, bit for bit.
///
/// `prisms`, whose own densities are not looked at, must outlive the operator; each rank must be able to read its part.
/// Kokkos must run. Throws InputError, by key, for points that are not finite or columns of different lengths, for
/// kernel corners, for a space that is not this one, for fields that are not linear, for fields of density and of the
/// magnetisation together, for magnetic.inside: nan and for all that forward() refuses; RunError when even the smallest
/// plan finds no memory. Collective over `communicator`, which may end before the operator. For the spaces that Kokkos
/// was built with, as the next.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_direct_operator(const ExecutionSpace& space,
                                                                             const PrismSource& prisms,
                                                                             const PointColumns& points,
                                                                             const Request& request,
                                                                             const Communicator& communicator = {});

/// The operator that `settings` ask for: one that computes G anew; one whose entries are kept as
/// numbers in the memory of `space` or in a file; an H-matrix, on hosts alone; or what is fastest of these. Parallel
/// over points: every rank has all columns and its part of the rows, whatever request.execution.partition says.
///
/// prismfield::core reads and writes no files: with Store::file a RowStore of the caller's (row_store.hpp) does, and
/// must outlive the operator, as `prisms` must. `choice`, unless null: what was chosen, of this rank.
///
/// Throws as make_direct_operator() does, InputError, by keys such as sensitivity.store, for what this space or version
/// cannot do, and RunError where memory or settings.memory_limit does not suffice (AgreedFailure on several ranks).
/// Collective.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_operator(
    const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points, const Request& request,
    const StorageSettings& settings = {}, const Communicator& communicator = {}, StorageChoice* choice = nullptr);

}  // namespace prismfield
