// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/communicator.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>
#include <prismfield/row_store.hpp>

#include "base/program_facts.hpp"
#include "formats/cf_attributes.hpp"

namespace prismfield {

/// What G.h5 says beside G, and what its columns are.
struct SensitivityHeader : FileHeader {
  MachineUse use;
  /// column j of G is active cell j, of a magnetisation in three blocks; must outlive what uses the header
  const ActiveCells* cells = nullptr;
  Unknown unknown = Unknown::density;
  /// one a column, for the dataset `model`; empty: none
  std::vector<double> model;

  [[nodiscard]] std::int64_t blocks() const noexcept { return unknown == Unknown::magnetization ? 3 : 1; }
  [[nodiscard]] std::int64_t columns() const noexcept { return blocks() * cells->size(); }
};

/// All that G depends on, as named words: two files are of one G when all of them are the same.
using SensitivityIdentity = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] SensitivityIdentity identity_of(const SensitivityHeader& header, const RowFile& rows);
/// Its checksum, 32 hexadecimal digits.
[[nodiscard]] std::string hash_of(const SensitivityIdentity& identity);

/// Bytes of G.h5, about.
[[nodiscard]] std::int64_t sensitivity_file_bytes(std::int64_t n_fields, std::int64_t n_points, std::int64_t columns,
                                                  StoredPrecision precision);

/// Opens a file as the rows that `identity` asks for, `rows` having `columns` of them. Throws InputError, by the key
/// sensitivity.file, for a file of anything else and for a damaged one. `model_hash`: of the file's `model`, "" where
/// it has none.
[[nodiscard]] std::unique_ptr<RowSource> open_sensitivity_file(const RowFile& rows, std::int64_t columns, Axes axes,
                                                               const SensitivityIdentity& identity,
                                                               std::string& model_hash);

/// G in HDF5 files that netCDF-4 programs open: dataset G (field, point, cell) in units and axes of the output per
/// kg/m3, SI or A/m, doubles or floats, with `model`, coordinates of points, edges of cells, the hash of all that G
/// depends on and a checksum a row. Of a magnetisation (field, point, column): blocks of all cells, easting, northing,
/// upward. It is never held whole: each rank writes its rows to their place in a temporary file in the same
/// folder, which is renamed when complete.
class SensitivityFiles final : public RowStore {
public:
  /// Of the cells of `header`. The communicator must outlive it.
  SensitivityFiles(SensitivityHeader header, const Communicator& communicator)
      : m_header(std::move(header)), m_ranks(communicator) {}

  /// Throws InputError for precision float16 too, which files do not hold.
  [[nodiscard]] std::unique_ptr<RowSource> open(const RowFile& rows) override;
  /// Throws InputError as open() does when something is there that is not of these rows and must not be replaced.
  /// Collective.
  void check_place(const RowFile& rows) const;
  /// Throws as check_place() too.
  [[nodiscard]] std::unique_ptr<RowSink> create(const RowFile& rows) override;
  /// Warnings about opened files with other densities than the header's.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

private:
  SensitivityHeader m_header;
  const Communicator& m_ranks;
  std::vector<std::string> m_warnings;
};

}  // namespace prismfield
