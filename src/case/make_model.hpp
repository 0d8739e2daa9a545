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

/// The ensemble of a case, with its description and warnings; make_model() makes it, the commands use it. Every rank
/// has all of it. Cells with all properties 0 and prisms of zero size are not numbered.
class Model {
public:
  explicit Model(std::unique_ptr<Cells> cells) : m_prisms(std::move(cells)) {}
  explicit Model(std::unique_ptr<ListedSource> list) : m_prisms(std::move(list)) {}
  explicit Model(std::unique_ptr<Terrain> terrain) : m_prisms(std::move(terrain)) {}

  [[nodiscard]] const PrismSource& source() const noexcept;
  /// The cells; null for a list of prisms or a terrain.
  [[nodiscard]] const Cells* cells() const noexcept;
  /// The terrain; null for other models.
  [[nodiscard]] const Terrain* terrain() const noexcept;
  /// One line for --dry-run and the terminal, e.g. "voxels 700 x 700 x 50, 251946 prisms with density".
  [[nodiscard]] std::string description() const;
  /// The ranges of all properties; for random ones, the range that they are drawn from.
  [[nodiscard]] PropertyRanges ranges() const noexcept;
  /// Warnings for the user (prisms of zero size left out, ...); the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  /// Remarks for the user that are no errors (inactive cells).
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Host memory of the ensemble now and at its peak while it was made, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept;
  /// A checksum of all its numbers that may come from files, in the units of computation. Later changes of the files
  /// have no effect. Equal on every rank, for any number of ranks.
  [[nodiscard]] Digest digest() const;

  /// (prism), SI; empty: the model has none.
  [[nodiscard]] std::vector<double> susceptibilities() const;
  /// Sets the magnetisation of a susceptibility of 1 SI, F0/mu0, A/m.
  void set_induced(const std::array<double, 3>& induced) noexcept;

private:
  std::variant<std::unique_ptr<Cells>, std::unique_ptr<ListedSource>, std::unique_ptr<Terrain>> m_prisms;
};

/// Whether the densities of a case's model come from files.
[[nodiscard]] bool densities_of_file(const Case& run);

/// Makes the ensemble of a case's model. Rank 0 reads and validates each file once. Throws InputError with every error
/// found, the same on every rank; AgreedFailure for failures. Collective.
[[nodiscard]] Model make_model(const Case& run, const Communicator& communicator);

/// The cells of a case's model without their properties.
struct CellGrid {
  CellEdges edges;
  /// rounding of the edges, see PrismSource::rounding()
  std::array<double, 3> rounding{};
};

/// Makes the cells of voxels or a mesh from the case and files of edges, without files of properties. Throws InputError
/// with every error found, among them impossible numbers of cells and coordinates beyond max_coordinate.
[[nodiscard]] CellGrid make_cell_grid(const Case& run);

/// The magnetisation of cells, A/m, along easting, northing and upward, that a file has: a dataset of three components
/// or UBC's vectors in |F0|/mu0. 0 where the file marks inactive cells, which a note counts. Throws InputError.
[[nodiscard]] std::array<std::vector<double>, 3> read_cell_magnetizations(const Case& run, const InputFile& file,
                                                                          const DensityFile& spec,
                                                                          const CellEdges& edges,
                                                                          std::vector<std::string>& notes);

/// Copies rank 0's values and their numbers to all ranks. Collective.
template <class... Values>
void broadcast_all(const Communicator& communicator, Values&... values) {
  (broadcast(communicator, values), ...);
}

}  // namespace prismfield
