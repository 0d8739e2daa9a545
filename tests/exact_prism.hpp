// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>

/// The fields of a prism in more digits than doubles have, fast enough for a search over many pairs. Like
/// tests/reference/prism_oracle.py, with which test_reference compares it.
namespace prismfield::testing {

/// Whether this compiler and processor have the numbers: 113 bits for the eight corners, 64 bits far away.
[[nodiscard]] bool has_exact_fields();

/// V, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz for density 1 and G = 1, z up, to about 1e-17 of |V|, |g| and the norm
/// of T; `faces`: west, east, south, north, bottom, top. Coordinates are the exact numbers that they are. The point
/// must not lie on an edge or a corner.
[[nodiscard]] std::array<double, 10> exact_fields(const std::array<double, 6>& faces,
                                                  const std::array<double, 3>& point);

/// The point, moved onto the prism's faces where it lies on them to 4 ulp: docs/numerics.md, Faces, edges and corners.
[[nodiscard]] std::array<double, 3> on_faces(const std::array<double, 6>& faces, const std::array<double, 3>& point);

}  // namespace prismfield::testing
