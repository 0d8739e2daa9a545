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

/// What every rank knows of a list, whatever part of it it holds.
struct ListFacts {
  std::int64_t size = 0;
  Bounds bounds;
  PropertyRanges ranges;
  /// which columns it has beside faces and density
  bool has_susceptibility = false, has_magnetization = false;
  bool is_one_shape = false;

  [[nodiscard]] std::int64_t bytes_a_prism() const noexcept {
    constexpr std::size_t n_always = n_face_columns + 1;
    const std::size_t n = n_always + (has_susceptibility ? 1 : 0) + (has_magnetization ? 3 : 0);
    return static_cast<std::int64_t>(n * sizeof(double));
  }
};

/// Prisms held as they were listed, on several ranks each a range of them; size() and bounds() tell of the whole.
class DistributedPrisms final : public PrismSource {
public:
  /// The prisms `held` of a list; `peak_bytes`: host memory that reading and checking took.
  DistributedPrisms(ListedPrisms prisms, IndexRange held, const ListFacts& facts, std::vector<std::string> warnings,
                    std::int64_t peak_bytes);

  [[nodiscard]] std::int64_t size() const noexcept override { return m_facts.size; }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_facts.bounds; }
  [[nodiscard]] IndexRange readable() const noexcept override { return m_held; }
  void read(IndexRange range, PrismBlock& out) const override;
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_facts.is_one_shape; }
  [[nodiscard]] bool is_magnetized() const noexcept override { return m_facts.ranges.is_magnetic(); }

  /// Writes the susceptibilities of prisms that are held, SI, to out, resized to them.
  void read_susceptibilities(IndexRange range, std::vector<double>& out) const;
  /// What a susceptibility of 1 SI is magnetised to, A/m.
  void set_induced(const std::array<double, 3>& induced) noexcept { m_induced = induced; }

  /// Makes `range` the prisms that this rank holds: they move between ranks, one column after the other. Collective;
  /// ranges may overlap or be empty. Throws AgreedFailure everywhere when a rank has no memory for its own.
  void hold(IndexRange range, const Communicator& communicator);

  /// Of all prisms with their numbers, the same for any number of ranks that each hold a part of them and nothing
  /// twice. Collective.
  [[nodiscard]] Digest digest(const Communicator& communicator) const;

  /// Host memory that the list occupies here, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The same once this rank holds `range`, and at most on the way there.
  struct HoldMemory {
    std::int64_t after = 0, during = 0;
  };
  [[nodiscard]] HoldMemory memory_to_hold(IndexRange range) const noexcept;
  /// The same while it was being made: reading and checking files takes more than what stays.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept { return std::max(m_peak_bytes, memory_bytes()); }
  [[nodiscard]] const PropertyRanges& ranges() const noexcept { return m_facts.ranges; }
  [[nodiscard]] const ListFacts& facts() const noexcept { return m_facts; }
  /// One line, e.g. "251946 prisms".
  [[nodiscard]] std::string description() const;
  /// What the user should be told though the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

private:
  /// Those that the list has.
  [[nodiscard]] std::vector<std::vector<double>*> columns();
  /// Where prisms that are held begin in the columns. Throws RunError for others.
  [[nodiscard]] std::ptrdiff_t place_of(IndexRange range) const;

  ListedPrisms m_prisms;
  IndexRange m_held;
  ListFacts m_facts;
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
[[nodiscard]] std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec);

/// The same for ranks that compute together: the file is read once, by rank 0, or a list in HDF5 by all ranks, each a
/// part. The prisms are those of the file in its order whatever the number of ranks, and
/// so are the errors and warnings. Overlaps are looked for by rank 0, which for that holds the boxes of all prisms:
/// with allow_overlap no rank holds more than its part of an HDF5 list. Throws AgreedFailure for failures. Collective.
[[nodiscard]] std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                                             const Communicator& communicator);

}  // namespace prismfield
