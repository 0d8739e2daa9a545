// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <prismfield/prisms.hpp>

#include "base/checksum.hpp"
#include "model/cells.hpp"
#include "model/terrain.hpp"
#include "parallel/collectives.hpp"
#include "readers/cell_file.hpp"
#include "readers/prism_file.hpp"

namespace prismfield {

class Communicator;
struct Case;

/// The ensemble that a run computes, with its description and its warnings. Every rank holds all of it. Cells whose
/// properties are all 0 and prisms of zero size have no number.
class Model {
public:
  explicit Model(std::unique_ptr<Cells> cells) : m_prisms(std::move(cells)) {}
  explicit Model(std::unique_ptr<ListedSource> list) : m_prisms(std::move(list)) {}
  explicit Model(std::unique_ptr<Terrain> terrain) : m_prisms(std::move(terrain)) {}

  [[nodiscard]] const PrismSource& source() const noexcept;
  /// Its cells; null for a list of prisms and for a terrain.
  [[nodiscard]] const Cells* cells() const noexcept;
  /// The terrain that it is; null for others.
  [[nodiscard]] const Terrain* terrain() const noexcept;
  /// One line for --dry-run and the terminal, e.g. "voxels 700 x 700 x 50, 251946 prisms with density".
  [[nodiscard]] std::string description() const;
  /// What its prisms are made of; of random properties the range that they are drawn from.
  [[nodiscard]] PropertyRanges ranges() const noexcept;
  /// What the user should be told though the run goes on (prisms of zero size left out, ...).
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  /// What users should see that is no error (inactive cells).
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Host memory that the ensemble itself occupies, and at most while it was being made, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept;
  /// Of all numbers of it that files may have brought, in the units that are computed with: whatever happens to the
  /// files after they were read, it is of what was read. The same on every rank, for any number of ranks.
  [[nodiscard]] Digest digest() const;

  /// (prism) SI; empty: the model has none.
  [[nodiscard]] std::vector<double> susceptibilities() const;
  /// What a susceptibility of 1 SI is magnetised to, A/m: F0/mu0.
  void set_induced(const std::array<double, 3>& induced) noexcept;

private:
  std::variant<std::unique_ptr<Cells>, std::unique_ptr<ListedSource>, std::unique_ptr<Terrain>> m_prisms;
};

/// Whether files say the densities of a case's model, not the case itself.
[[nodiscard]] bool densities_of_file(const Case& run);

/// The ensemble that a case's model describes; reads and validates the files that it names, each once, by rank 0.
/// Throws InputError with every error found, the same on every rank, and AgreedFailure for failures. Collective.
[[nodiscard]] Model make_model(const Case& run, const Communicator& communicator);

/// The cells of a case's model, whatever fills them.
struct CellGrid {
  CellEdges edges;
  /// of the edges, see PrismSource::rounding()
  std::array<double, 3> rounding{};
};

/// The cells of voxels or any mesh; reads the files that their edges name, not those of densities. Throws InputError
/// with every error found: numbers of cells that cannot be and coordinates beyond max_coordinate too.
[[nodiscard]] CellGrid make_cell_grid(const Case& run);

/// The magnetisation of cells, A/m, along easting, northing and upward, that a file has: a dataset of three components
/// or UBC's vectors in |F0|/mu0. 0 where the file marks inactive cells, which a note counts. Throws InputError.
[[nodiscard]] std::array<std::vector<double>, 3> read_cell_magnetizations(const Case& run, const InputFile& file,
                                                                          const DensityFile& spec,
                                                                          const CellEdges& edges,
                                                                          std::vector<std::string>& notes);

/// Makes rank 0's values everybody's, their numbers too. Collective.
template <class... Values>
void broadcast_all(const Communicator& communicator, Values&... values) {
  (broadcast(communicator, values), ...);
}

}  // namespace prismfield
