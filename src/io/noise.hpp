// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <map>

#include <prismfield/fields.hpp>

namespace prismfield {

/// Noise of a result: its standard deviation per field in output units.
struct NoiseSpec {
  std::map<Field, double> sigma;
  std::uint64_t seed = 1;
};

}  // namespace prismfield
