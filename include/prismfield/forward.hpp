// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <span>

#include <prismfield/communicator.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

namespace prismfield {

/// Gravity fields of an ensemble at points, G included: (field, point) in SI units, z up, complete on rank 0. Potential
/// and vector are exact everywhere; the tensor on a face is the mean of both sides, on edges and corners its finite
/// part. Kokkos must run, started by a Runtime or by the program. Throws InputError, on every rank, for points that are
/// not finite or columns of different lengths and, by the key of a case that says the same, for a request that no run
/// or not this machine can serve, or one that takes more memory than there is; RunError when even the smallest plan
/// finds none; what `prisms` and `observer` throw. On several ranks what else fails on one is thrown on all, as
/// AgreedFailure, once the others have ended their launches. Collective over `communicator`, every rank with the same
/// points and request; each rank must be able to read all prisms. `points`: Points, or the caller's own columns, which
/// are not copied.
[[nodiscard]] Fields forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
                             const Communicator& communicator = {}, Observer* observer = nullptr);

/// As forward(), with the fields in memory of the caller's: Fields::values stays empty. `values`, in the memory of the
/// host: (request.fields.size(), points), row by row, on rank 0; not looked at elsewhere. What it holds is replaced,
/// and undefined after an error. Throws InputError, on every rank, for another length.
Fields forward_into(std::span<double> values, const PrismSource& prisms, const PointColumns& points,
                    const Request& request, const Communicator& communicator = {}, Observer* observer = nullptr);

}  // namespace prismfield
