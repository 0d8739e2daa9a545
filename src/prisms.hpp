// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include "case.hpp"
#include "ensemble.hpp"

namespace prismfield {

/// The ensemble of a prism file, CSV or HDF5, in the file's order. NaN, infinity, inverted prisms and, unless
/// allowed, overlapping prisms are mistakes; prisms of zero size are left out with one warning.
/// Throws InputError with every mistake found, at most 20 of one kind named.
[[nodiscard]] std::unique_ptr<Ensemble> make_prisms(const Case& run, const PrismsSpec& spec);

}  // namespace prismfield
