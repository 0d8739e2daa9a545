// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/result_file.hpp"

namespace prismfield {

/// Minimum, maximum and RMS of each field as the table that the terminal shows, aligned, in fewer digits where 67
/// columns are not there: down to three digits in 50 columns; 0: no limit. Values that are not numbers are left out.
[[nodiscard]] std::string field_statistics(const FieldTable& table, std::int64_t n_points, std::size_t columns = 0);

/// The same for the values that write_result writes, one field in memory at a time.
[[nodiscard]] std::string field_statistics(const ResultHeader& header, const Fields& result, std::size_t columns = 0);

}  // namespace prismfield
