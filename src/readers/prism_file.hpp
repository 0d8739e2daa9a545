// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/prisms.hpp>

#include "base/checksum.hpp"
#include "formats/input_file.hpp"
#include "model/prism_check.hpp"

namespace prismfield {

class Communicator;

/// Prisms of a file, held as they were listed.
class ListedSource final : public PrismSource {
public:
  /// `peak_bytes`: host memory that reading and checking took.
  ListedSource(ListedPrisms prisms, std::vector<std::string> warnings, std::int64_t peak_bytes);

  [[nodiscard]] std::int64_t size() const noexcept override { return m_prisms.size(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_is_one_shape; }
  [[nodiscard]] bool is_magnetized() const noexcept override { return m_ranges.is_magnetic(); }

  /// Its columns; those that the list has not are empty.
  [[nodiscard]] const ListedPrisms& listed() const noexcept { return m_prisms; }
  /// What a susceptibility of 1 SI is magnetised to, A/m.
  void set_induced(const std::array<double, 3>& induced) noexcept { m_induced = induced; }

  /// Of all columns.
  [[nodiscard]] Digest digest() const;

  /// Host memory that the list occupies, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The same while it was being made: reading and checking files takes more than what stays.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept { return std::max(m_peak_bytes, memory_bytes()); }
  [[nodiscard]] const PropertyRanges& ranges() const noexcept { return m_ranges; }
  /// One line, e.g. "251946 prisms".
  [[nodiscard]] std::string description() const;
  /// Warnings for the user: prisms of zero size that were left out, columns that were ignored.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

private:
  ListedPrisms m_prisms;
  Bounds m_bounds;
  PropertyRanges m_ranges;
  bool m_is_one_shape = false;
  std::array<double, 3> m_induced{};
  std::vector<std::string> m_warnings;
  std::int64_t m_peak_bytes = 0;
};

/// A file that lists prisms, CSV or HDF5 (or netCDF), and what its numbers mean.
struct PrismsSpec : PrismUnits {
  std::filesystem::path file;
  std::string group = "/";
  /// names of the columns in the file's order, canonical or the papers' (x1, y1, z1, x2, y2, z2); empty: the file's
  /// header or the default order
  std::vector<std::string> columns;
  bool allow_overlap = false;
};

/// The ensemble of a prism file, CSV or HDF5, in the file's order; `file` is spec.file. Beside its faces a prism has a
/// density or, by columns of their names, a susceptibility and a remanent magnetisation. NaN, infinity, inverted prisms
/// and, unless allowed, overlapping prisms are errors; prisms of zero size are left out with one warning.
/// Throws InputError with every error found, at most 20 of one kind named.
[[nodiscard]] std::unique_ptr<ListedSource> read_prisms(const InputFile& file, const PrismsSpec& spec);

/// The same for ranks that compute together: rank 0 reads the file, and each rank holds all prisms. Throws
/// AgreedFailure for failures. Collective.
[[nodiscard]] std::unique_ptr<ListedSource> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                                        const Communicator& communicator);

}  // namespace prismfield
