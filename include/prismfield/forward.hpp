// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

namespace prismfield {

/// Told between launches how far a run is, on each rank by itself.
class Observer {
public:
  virtual ~Observer() = default;
  /// Fraction of the pairs of this run that are done, and their number; may throw Stopped.
  virtual void progress(double done_fraction, std::int64_t pairs_done) = 0;
};

/// Gravity fields of an ensemble at points, G included: (field, point) in SI units, z up, complete on rank 0. Potential
/// and vector are exact everywhere; the tensor on a face is the mean of both sides, on edges and corners its finite
/// part. A Runtime must live. Throws InputError for points that are not finite or columns of different lengths, for a
/// request that the machine cannot serve, and RunError when even the smallest plan finds no memory. Collective over
/// `communicator`, every rank with the same points and request; each rank must be able to read all prisms.
[[nodiscard]] Fields forward(const PrismSource& prisms, const Points& points, const Request& request,
                             const Communicator& communicator = {}, Observer* observer = nullptr);

}  // namespace prismfield
