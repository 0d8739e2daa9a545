// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/packed_values.hpp"

namespace prismfield {

/// A netCDF file of the classic formats (CDF-1, CDF-2, CDF-5) opened to read: what GMT writes by default. Failures
/// throw RunError with the file's name. Source of the layout: Unidata, NetCDF Classic Format Specification.
class NetcdfClassic {
public:
  /// Reads the header. Throws RunError when the file is damaged or none of these formats.
  explicit NetcdfClassic(std::filesystem::path file);

  /// Variables go by their bare names or, as in HDF5's root, with a slash before them.
  [[nodiscard]] bool has(const std::string& variable) const;
  /// Of all variables, whatever `group`: there are none.
  [[nodiscard]] std::vector<std::string> dataset_names(const std::string& group = "/") const;
  /// Extent of a variable in each dimension; empty for a scalar.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable) const;
  [[nodiscard]] std::vector<std::string> dimension_names(const std::string& variable) const;
  [[nodiscard]] bool has_attribute(const std::string& variable, const std::string& name) const;
  /// A variable's attribute of text; nothing where there is none of that name.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& variable, const std::string& name) const;
  /// Names and values of a variable's attributes, in the order of the file.
  [[nodiscard]] const std::vector<std::pair<std::string, AttributeValue>>& attributes(
      const std::string& variable) const;
  /// A numeric variable as doubles, row-major, as unpack() makes them.
  [[nodiscard]] std::vector<double> read(const std::string& variable) const;
  /// What is strange in the file, which is read all the same; "" for nothing.
  [[nodiscard]] const std::string& doubt() const noexcept { return m_doubt; }

private:
  struct Dimension {
    std::string name;
    std::int64_t length = 0;
  };
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;
  struct Variable {
    /// Nothing where there is none of that name.
    [[nodiscard]] std::optional<StoredAttribute> attribute(const std::string& name) const;

    std::vector<std::size_t> dimensions;
    Attributes attributes;
    /// of each attribute
    std::vector<std::uint32_t> attribute_types;
    std::uint32_t type = 0;
    std::uint64_t begin = 0;
    /// the first dimension is the record dimension: one slab a record
    bool in_records = false;
    /// bytes of the variable, of one slab when in_records
    std::uint64_t bytes = 0;
  };
  class HeaderReader;

  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] const Variable& variable(const std::string& name) const;

  std::filesystem::path m_path;
  std::vector<Dimension> m_dimensions;
  std::map<std::string, Variable> m_variables;
  std::uint64_t m_file_bytes = 0;
  /// bytes from a record to the next
  std::uint64_t m_record_bytes = 0;
  std::string m_doubt;
};

}  // namespace prismfield
