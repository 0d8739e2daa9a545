// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "operators/convolution/convolution_layout.hpp"

namespace prismfield {

/// Finds the contacts, (point, n_contact_columns) as kernel/contact.hpp describes them, that the direct method finds of
/// the prisms and the points of a layout: at each point those of the cells around it alone. `contact` stays empty where
/// no point touches a prism. `points`: those that the layout was found for. `set`: of the product.
void add_contacts(const ConvolutionLayout& layout, const PrismSource& prisms, const PointColumns& points, FieldSet set,
                  std::vector<double>& contact);

}  // namespace prismfield
