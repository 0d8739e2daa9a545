// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

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
/// finds none; what `prisms` and `observer` throw. The last three may be thrown on one rank alone while the others
/// wait. Collective over `communicator`, every rank with the same points and request; each rank must be able to read
/// all prisms.
[[nodiscard]] Fields forward(const PrismSource& prisms, const Points& points, const Request& request,
                             const Communicator& communicator = {}, Observer* observer = nullptr);

}  // namespace prismfield
