// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "operators/stored/storage_choice.hpp"

namespace prismfield {

/// G as a hierarchical matrix of blocks, for host spaces: dense ones of floats where cells and points are near each
/// other, factors of floats elsewhere, by adaptive cross approximation and singular values. Sums are double, in an
/// order that does not change with the number of threads; all functions are those of one matrix, so that transposed
/// products are those of the transposed, to rounding, and entries those of the compressed matrix. Its error bound is
/// the tolerance: of products relative to their norm.
///
/// It is built until rows, computed anew at some points of every rank, differ by less than `tolerance` of their norm,
/// field by field, in themselves and in products with a random and a smooth density. As make_direct_operator();
/// request.execution.partition is taken as points, and entries are computed in double. `prisms` need not outlive it.
/// Throws InputError, by the key sensitivity.compression, for a tolerance that is not within the limits above; RunError
/// when memory does not suffice. Collective.
template <class Space>
[[nodiscard]] std::unique_ptr<Operator<Space>> make_compressed_operator(const Space& space, const PrismSource& prisms,
                                                                        const PointColumns& points,
                                                                        const Request& request, double tolerance,
                                                                        const Communicator& communicator,
                                                                        CompressionReport& report);

/// What it would be for the first `n_points` points, by building it for a sixteenth of them that lie together, with all
/// cells. Throws as make_compressed_operator(). For host spaces. Not collective.
template <class Space>
[[nodiscard]] CompressionSample sample_compression(const Space& space, const PrismSource& prisms,
                                                   const PointColumns& points, std::int64_t n_points, Request request,
                                                   double tolerance);

}  // namespace prismfield
