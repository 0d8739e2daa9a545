// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/prisms.hpp>

namespace prismfield {

class Communicator;
struct Case;

/// The ensemble that a run computes. Under MPI a rank may hold only a range of a listed one; everything but read()
/// tells of the whole on every rank. Cells of density 0 and prisms of zero size are left out of the numbering.
class Ensemble : public PrismSource {
public:
  /// Makes `range` the prisms that this rank holds: listed ones move between ranks, one column after the other.
  /// Collective; ranges may overlap or be empty. Throws AgreedFailure everywhere when a rank has no memory for its own.
  virtual void hold(IndexRange range, const Communicator& communicator);
  /// Host memory that the ensemble itself occupies, bytes.
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept = 0;
  /// Host memory that it occupies once this rank holds `range`, and at most on the way there, bytes.
  struct HoldMemory {
    std::int64_t after = 0, during = 0;
  };
  [[nodiscard]] virtual HoldMemory memory_to_hold(IndexRange range) const noexcept;
  /// Host memory while it was being made, bytes: reading and checking files takes more than what stays.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept { return std::max(m_peak_bytes, memory_bytes()); }
  /// One line for --dry-run and the terminal, e.g. "voxels 700 x 700 x 50, 251946 prisms with density".
  [[nodiscard]] virtual std::string description() const = 0;
  /// What the user should be told though the run goes on (prisms of zero size left out, ...).
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

protected:
  std::vector<std::string> m_warnings;
  std::int64_t m_peak_bytes = 0;
};

/// The ensemble that a case's model describes; reads and validates the files that it names.
/// Throws InputError with every mistake found.
[[nodiscard]] std::unique_ptr<Ensemble> make_ensemble(const Case& run);

/// The same for ranks that compute together: every file is read once, by rank 0, or a list in HDF5 by all ranks, each a
/// part, where the library is parallel. hold() then gives each rank its prisms. Throws InputError with every mistake,
/// the same on every rank, and AgreedFailure for failures. Collective.
[[nodiscard]] std::unique_ptr<Ensemble> make_ensemble(const Case& run, const Communicator& communicator);

}  // namespace prismfield
