// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/invert.hpp>

namespace prismfield {

/// Throws InputError, by key, with every error of what an inversion is made from. A case's inputs have none: their
/// reader names files and lines.
void check_input(const InversionInput& input);

}  // namespace prismfield
