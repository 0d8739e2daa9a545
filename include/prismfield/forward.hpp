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
/// part. A Runtime must live. Throws InputError for points that are not finite or columns of different lengths, for a
/// request that the machine cannot serve, and RunError when even the smallest plan finds no memory. Collective over
/// `communicator`, every rank with the same points and request; each rank must be able to read all prisms.
[[nodiscard]] Fields forward(const PrismSource& prisms, const Points& points, const Request& request,
                             const Communicator& communicator = {}, Observer* observer = nullptr);

}  // namespace prismfield
