// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "case/case.hpp"
#include "case/reader.hpp"

namespace prismfield {

/// A section of a case each; errors go to the list of `values`, and what has one keeps its default.
[[nodiscard]] ModelSpec read_model(const CaseReader& values, const Value& value, CaseUse use);
/// The fields of `run` must have been read.
void read_observations(const CaseReader& values, const Value& value, Case& run);
[[nodiscard]] FieldList read_fields(const CaseReader& values, const Value& value);
[[nodiscard]] InversionSpec read_inversion(const CaseReader& values, const Value& value);

}  // namespace prismfield
