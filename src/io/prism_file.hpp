// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/input_file.hpp"
#include "model/prism_check.hpp"

namespace prismfield {

/// A file that lists prisms, CSV or HDF5 (or netCDF), and what its numbers mean.
struct PrismsSpec : PrismUnits {
  std::filesystem::path file;
  std::string group = "/";
  /// names of the columns in the file's order, canonical or the papers' (x1, y1, z1, x2, y2, z2); empty: the file's
  /// header or the default order
  std::vector<std::string> columns;
  bool allow_overlap = false;
};

/// Prisms as a file holds them.
struct RawPrisms : NumberedPrisms {
  std::vector<std::string> warnings;
};

/// The papers' names of columns, (x1, west) and so on; which of z1 and z2 is the bottom depends on where z points.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> prism_aliases(bool z_down);

/// Prisms of a text file go by their lines, those of HDF5 by their indices.
class FilePrismNames final : public PrismNames {
public:
  FilePrismNames(const InputFile& file, bool is_text) : m_file(file), m_is_text(is_text) {}
  [[nodiscard]] std::string list() const override { return m_file.path.string(); }
  [[nodiscard]] std::string where(std::int64_t number) const override;
  [[nodiscard]] std::string key(std::int64_t number) const override;
  [[nodiscard]] std::string key(std::int64_t number, const char* column) const override;
  [[nodiscard]] std::string reference(std::int64_t number) const override;

private:
  const InputFile& m_file;
  bool m_is_text;
};

/// The warning about prisms of zero size, if there are any.
void add_warning(const ZeroSize& zero, const PrismNames& names, std::vector<std::string>& warnings);

}  // namespace prismfield
