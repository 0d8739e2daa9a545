// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/cf_attributes.hpp"
#include "io/file_content.hpp"
#include "io/hdf5_file.hpp"

// What points carry beside fields, in tables and in files of arrays.

namespace prismfield {

/// The comment of a table that says along which z its fields point.
[[nodiscard]] std::string axes_comment(Axes axes);

/// The axes that a comment says, as axes_comment() writes it; nothing for any other.
[[nodiscard]] std::optional<Axes> axes_in_comment(std::string_view comment);

/// Whether readers would take a column of this name, `gz [mGal]`, `GZ_sigma` or `singular`, for what a run computed.
[[nodiscard]] bool is_field_name(std::string_view column);

/// Whether a run calls a variable so that it writes beside the fields.
[[nodiscard]] bool is_variable_of_run(std::string_view name);

/// A field of a table as the text of a column: without quotes around it and without control characters.
[[nodiscard]] std::string carried_text(std::string_view text);

/// A field of a carried column as a number, NaN for a dummy; false for text, and for digits that are a label: 0017.
[[nodiscard]] bool parse_carried(std::string_view text, double& value);

/// A column of a table by its header's word, "line no [m]", without values.
[[nodiscard]] PointColumn named_column(std::string_view text);

/// A variable at the points of a result; nothing where it is neither numbers nor a list of texts.
[[nodiscard]] std::optional<PointColumn> read_point_column(const Hdf5File& file, const std::string& name);

/// Writes a column as a variable on the points: float64, or text, of stations alone. Its name is cleaned for netCDF,
/// and ends in `_file` where it is a field's or the file has a variable of the name; the file's name is in long_name.
/// Throws RunError.
void write_point_column(Hdf5File& out, const PointLayout& layout, const PointColumn& column);

}  // namespace prismfield
