// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// [min, max] in the unit of the quantity.
struct Range {
  double min = 0;
  double max = 0;
};

}  // namespace prismfield
