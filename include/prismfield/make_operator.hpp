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

/// Makes an operator that computes G from closed forms and multipoles in every product. On several ranks
/// request.execution.partition cuts G into rectangles. The operator prepares the prisms' geometry once where all of it
/// fits into execution.memory_limit in the space's memory, otherwise in each product. apply() adds in the order of
/// forward(): with the same plan and densities the fields are equal bit for bit.
///
/// `prisms` must outlive the operator; their densities are not read. Each rank must be able to read its part. Kokkos
/// must run. Throws InputError, by key, for points that are not finite, columns of different lengths, kernel corners,
/// another space than this, fields that are not linear, gravity and magnetic fields together, magnetic.inside: nan, and
/// all that forward() refuses; RunError when even the smallest plan finds no memory. Collective over `communicator`,
/// which may end before the operator. Instantiated, as is make_operator(), for the spaces that Kokkos was built with.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_direct_operator(const ExecutionSpace& space,
                                                                             const PrismSource& prisms,
                                                                             const PointColumns& points,
                                                                             const Request& request,
                                                                             const Communicator& communicator = {});

/// Makes the operator that `settings` ask for: one that computes G anew, one with entries stored in the memory of
/// `space` or in a file, an H-matrix (hosts only), or the fastest of these. It is parallel over points: every rank has
/// all columns and its part of the rows, whatever request.execution.partition says.
///
/// With Store::file the caller's RowStore (row_store.hpp) reads and writes the file; like `prisms` it must outlive the
/// operator. `choice`, unless null, receives the choice on this rank.
///
/// Throws as make_direct_operator(); InputError, by keys such as sensitivity.store, for what this space or version
/// cannot do; RunError where memory or settings.memory_limit does not suffice (AgreedFailure on several ranks).
/// Collective.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_operator(
    const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points, const Request& request,
    const StorageSettings& settings = {}, const Communicator& communicator = {}, StorageChoice* choice = nullptr);

}  // namespace prismfield
