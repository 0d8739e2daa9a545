// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>

#include "io/hdf5_file.hpp"

namespace prismfield {

/// easting, northing, upward and the fields of a result's table.
struct ResultTable {
  struct Column {
    /// "" where the table does not say
    std::string unit;
    std::vector<double> values;
  };
  std::map<std::string, Column> columns;
  /// what a comment above the rows says
  std::optional<Axes> axes;
};

/// A result to read, of any kind: HDF5 (or netCDF-4), or a table of prismfield's or of another program with such
/// columns, with or without units in brackets. A table's columns are variables of one dimension whose attributes are
/// the unit and, of a field that depends on them, the axes of a comment; of two columns of one field, as when a result
/// was the station file of another, the last counts. It is held in memory.
class ResultReader {
public:
  /// Opens a file whose name ends in .csv or .xyz as a table, unless it is HDF5 inside. Throws RunError, InputError.
  [[nodiscard]] static ResultReader open(const std::filesystem::path& file);

  [[nodiscard]] bool has(const std::string& variable) const;
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable) const;
  [[nodiscard]] std::vector<double> read(const std::string& variable) const;
  [[nodiscard]] bool has_attribute(const std::string& variable, const std::string& name) const;
  /// `units` as fields name theirs: Eotvos.
  [[nodiscard]] std::string read_text_attribute(const std::string& variable, const std::string& name) const;

private:
  using Content = std::variant<Hdf5File, ResultTable>;
  explicit ResultReader(Content content) : m_content(std::move(content)) {}

  Content m_content;
};

}  // namespace prismfield
