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

/// Computes gravity and magnetic fields of prisms at points: (field, point), SI units, z up, complete on rank 0.
/// Potential and gravity vector are exact everywhere; the tensor is the mean of both sides on a face, its finite part
/// on edges and corners; Magnetic::inside says what B is inside. Kokkos must run, started by a Runtime or the program.
/// `points`: Points, or the caller's columns, which are not copied. Throws InputError, on every rank, for points that
/// are not finite, for columns of different lengths and, by the case's key, for a request that no run, this machine or
/// its memory can serve; RunError when even the smallest plan finds no memory; what `prisms` and `observer` throw. Any
/// other error on one rank is thrown on all as AgreedFailure, once their launches have ended. Collective over
/// `communicator` with equal points and request; each rank must be able to read all prisms.
[[nodiscard]] Fields forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
                             const Communicator& communicator = {}, Observer* observer = nullptr);

/// Like forward(), but writes the fields to the caller's host memory and leaves Fields::values empty. `values`:
/// (request.fields.size(), points), row by row, on rank 0, unused elsewhere; undefined after an error. Throws
/// InputError, on every rank, for another length.
Fields forward_into(std::span<double> values, const PrismSource& prisms, const PointColumns& points,
                    const Request& request, const Communicator& communicator = {}, Observer* observer = nullptr);

}  // namespace prismfield
