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

/// A file that a case names, and the place in the case, where errors of the file as a whole are reported.
struct InputFile {
  std::filesystem::path path;
  /// "case.yaml:12"
  std::string where;
  /// "model.prisms.file"
  std::string key;

  /// The error of the file as a whole; `what` follows the path.
  [[nodiscard]] InputError error(const std::string& what) const;
  /// The key next to the file's own, "observations.stations.columns"; "" where no case names the file.
  [[nodiscard]] std::string key_beside(const std::string& name) const;
};

/// The first `n` bytes of a file, or all of a shorter one; "" where it cannot be read.
[[nodiscard]] std::string start_of_file(const std::filesystem::path& path, std::size_t n);

/// Throws InputError where a file that begins with `start` is no text, or one of another format: with its name and a
/// remedy. Surfaces in text pass, since those who read them read lines too.
void check_is_text(const InputFile& file, std::string_view start);

/// Throws InputError, with the format and a remedy, for a regular file of a foreign format, surfaces included.
void refuse_foreign(const InputFile& file);

/// Identifies a file's state: its number, size and time of writing. Equal stamps on two ranks, on any nodes, mean one
/// file. Pipes and devices have a constant stamp.
using FileStamp = std::array<std::int64_t, 4>;
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& path) noexcept;

/// Throws InputError when a file has changed since `before`.
void check_unchanged(const InputFile& file, const FileStamp& before);

/// Throws InputError for a folder and for a file that is missing or cannot be opened.
void check_readable(const InputFile& file);

/// Whether a readable file begins like HDF5, netCDF-4 or classic netCDF. Throws InputError for a geoh5 workspace, and
/// for another content under a name of these formats (.h5, .hdf5, .nc, .nc4) unless it is a surface.
[[nodiscard]] bool is_array_file(const InputFile& file);

/// An HDF5, netCDF-4 or classic netCDF file as input for readers. It turns RunError into InputError.
class ArrayFile {
public:
  /// Throws InputError for a damaged file.
  explicit ArrayFile(const InputFile& file);

  /// Null for the classic netCDF formats.
  [[nodiscard]] const Hdf5File* hdf5() const noexcept { return std::get_if<Hdf5File>(&m_content); }
  [[nodiscard]] bool has(const std::string& path) const;
  /// What is strange in a classic netCDF file, see NetcdfClassic; "" for nothing.
  [[nodiscard]] std::string doubt() const {
    const auto* const classic = std::get_if<NetcdfClassic>(&m_content);
    return classic == nullptr ? "" : classic->doubt();
  }
  /// Names of the datasets in `group`, without subgroups. Throws InputError when the group is missing.
  [[nodiscard]] std::vector<std::string> dataset_names(const std::string& group) const;
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// A numeric dataset, row-major, as doubles, with NaN for netCDF's missing values. Throws InputError for anything but
  /// numbers and for a file that changed since it was opened.
  [[nodiscard]] std::vector<double> read(const std::string& dataset) const;
  /// Names of a dataset's netCDF dimensions, slowest first; "" for a dimension without one.
  [[nodiscard]] std::vector<std::string> dimension_names(const std::string& dataset) const;
  [[nodiscard]] bool has_attribute(const std::string& dataset, const std::string& name) const;
  /// A dataset's text attribute, if it has it. Throws InputError for an attribute that is no text.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& dataset, const std::string& name) const;
  /// Names and values of a dataset's attributes that are numbers or one text.
  [[nodiscard]] std::vector<std::pair<std::string, AttributeValue>> attributes(const std::string& dataset) const;
  /// The root's attribute of one number, if the file is HDF5 and has it.
  [[nodiscard]] std::optional<double> root_number(const std::string& name) const;

private:
  using Content = std::variant<Hdf5File, NetcdfClassic>;

  /// ask(content); turns a failure into an error of the file.
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
