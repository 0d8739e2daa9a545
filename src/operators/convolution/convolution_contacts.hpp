// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "operators/convolution/convolution_layout.hpp"

namespace prismfield {

/// Adds to `contact`, (point, n_contact_columns) as kernel/contact.hpp describes it, what the direct method adds for
/// the prisms and the points of a layout: at each point for the prisms of the cells around it alone. `points`: those
/// that the layout was found for. `set`: of the product.
void add_contacts(const ConvolutionLayout& layout, const PrismSource& prisms, const PointColumns& points, FieldSet set,
                  double* contact);

}  // namespace prismfield
