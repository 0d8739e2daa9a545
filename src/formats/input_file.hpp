// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/error.hpp>

#include "formats/hdf5_file.hpp"
#include "formats/netcdf_classic.hpp"

namespace prismfield {

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

/// True when a readable file begins as a grid of Surfer: DSAA, DSBB, DSRB.
[[nodiscard]] bool is_surfer_grid(const std::filesystem::path& path);

/// Throws InputError where a file that begins with `start` is no text, or one of another format: with its name and a
/// remedy. Surfaces in text pass, since those who read them read lines too.
void check_is_text(const InputFile& file, std::string_view start);

/// Throws InputError, with its name and a remedy, for a regular file of a foreign format, surfaces too.
void refuse_foreign(const InputFile& file);

/// By what a file is known to have stayed as it was: its number, its size and when it was last written. Two ranks with
/// one stamp see one file, on different nodes too. Pipes and devices are always the same.
using FileStamp = std::array<std::int64_t, 4>;
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& path) noexcept;

/// Throws InputError when a file is not as it was before it was read.
void check_unchanged(const InputFile& file, const FileStamp& before);

/// Throws InputError unless the file exists, is no folder and can be opened.
void check_readable(const InputFile& file);

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
