// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <span>

#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

namespace prismfield {

/// forward_into() of at most `few_pairs` pairs (engine/few_pairs.hpp), in double and in the calling thread, without a
/// plan. Only fields, pairs, points_inside and singular_points of the result are set. Prisms have to be checked; throws
/// InputError for points that are not finite.
Fields forward_of_few(std::span<double> values, const PrismColumns& prisms, const PointColumns& points,
                      const Request& request);

}  // namespace prismfield
