// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "io/hdf5_file.hpp"

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
  /// A numeric variable as doubles, row-major; _FillValue and missing_value become NaN, scale_factor and add_offset
  /// are applied.
  [[nodiscard]] std::vector<double> read(const std::string& variable) const;

private:
  struct Dimension {
    std::string name;
    std::int64_t length = 0;
  };
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;
  struct Variable {
    std::vector<std::size_t> dimensions;
    Attributes attributes;

    /// The value of an attribute of this type; null where there is none.
    template <class T>
    [[nodiscard]] const T* attribute(const std::string& name) const {
      for (const auto& [its_name, value] : attributes) {
        if (its_name == name) return std::get_if<T>(&value);
      }
      return nullptr;
    }

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
};

/// A file that a case names, and where the case does so: that is where errors about the file as a whole are reported.
struct InputFile {
  std::filesystem::path path;
  /// "case.yaml:12"
  std::string where;
  /// "model.prisms.file"
  std::string key;

  /// The error that the file as a whole makes; `what` follows the path.
  [[nodiscard]] InputError error(const std::string& what) const;
  /// The key of the case that stands beside the file's own, "observations.stations.columns"; "" where no case names it.
  [[nodiscard]] std::string key_beside(const std::string& name) const;
};

/// The first `n` bytes of a file, fewer where there are no more, none where it cannot be read.
[[nodiscard]] std::string start_of_file(const std::filesystem::path& path, std::size_t n);

/// By what a file is known to have stayed as it was: its number, its size and when it was last written. Two ranks with
/// one stamp see one file, on different nodes too. Pipes and devices are always the same.
using FileStamp = std::array<std::int64_t, 4>;
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& path) noexcept;

/// Throws InputError when a file is not as it was before it was read.
void check_unchanged(const InputFile& file, const FileStamp& before);

/// Throws InputError unless the file exists, is no folder and can be opened.
void check_readable(const InputFile& file);

/// Throws InputError, with its name and a remedy, for a regular file of a format that is not read, or as a surface
/// alone, see foreign_format().
void refuse_foreign(const InputFile& file);

/// True when a readable file begins as HDF5, netCDF-4 or classic netCDF do. Throws InputError for a name that promises
/// one of them (.h5, .hdf5, .nc, .nc4) when the content is something else, but for a surface's, and for a geoh5
/// workspace.
[[nodiscard]] bool is_array_file(const InputFile& file);

/// An HDF5 or netCDF file, of the classic formats too, as input: what RunError says becomes InputError.
class ArrayFile {
public:
  /// Throws InputError when the file is damaged.
  explicit ArrayFile(const InputFile& file);

  /// False for the classic netCDF formats.
  [[nodiscard]] bool is_hdf5() const noexcept { return std::holds_alternative<Hdf5File>(m_content); }
  [[nodiscard]] bool has(const std::string& path) const;
  /// Names of the datasets directly in `group`. Throws InputError when there is no such group.
  [[nodiscard]] std::vector<std::string> dataset_names(const std::string& group) const;
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// A numeric dataset, row-major, as doubles, netCDF's missing values as NaN. Throws InputError when it holds anything
  /// but numbers, or when the file was changed since it was opened.
  [[nodiscard]] std::vector<double> read(const std::string& dataset) const;
  /// Names of a dataset's netCDF dimensions, slowest first, "" where there is none.
  [[nodiscard]] std::vector<std::string> dimension_names(const std::string& dataset) const;
  [[nodiscard]] bool has_attribute(const std::string& dataset, const std::string& name) const;
  /// A dataset's attribute of text; nothing where there is none of that name. Throws InputError when it is no text.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& dataset, const std::string& name) const;
  /// Names and values of a dataset's attributes of numbers or one text.
  [[nodiscard]] std::vector<std::pair<std::string, AttributeValue>> attributes(const std::string& dataset) const;
  /// The root's attribute of one number; nothing where there is none of that name, and in classic netCDF.
  [[nodiscard]] std::optional<double> root_number(const std::string& name) const;

private:
  using Content = std::variant<Hdf5File, NetcdfClassic>;

  /// ask(content); a failure is an error of the file.
  template <class Ask>
  auto ask(const Ask& ask) const {
    try {
      return std::visit(ask, m_content);
    } catch (const RunError& error) {
      throw InputError(m_file.where, m_file.key, error.what());
    }
  }
  static Content opened(const InputFile& file);

  InputFile m_file;
  FileStamp m_stamp;
  Content m_content;
};

/// "(50, 700, 700)"
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace prismfield
