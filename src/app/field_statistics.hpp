// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>

#include "io/result_file.hpp"

namespace prismfield {

/// Minimum, maximum and RMS of each field as the table that the terminal shows. Values that are not numbers are left
/// out.
[[nodiscard]] std::string field_statistics(const FieldTable& table, std::int64_t n_points);

/// The same for the values that write_result writes, one field in memory at a time.
[[nodiscard]] std::string field_statistics(const ResultHeader& header, const Fields& result);

}  // namespace prismfield
