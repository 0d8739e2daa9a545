// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>

#include "engine/engine.hpp"

namespace prismfield {

/// The products of an operator between one tile of points and blocks of prisms that it keeps, in one execution space;
/// whichever the precision. Fields are those of the settings' set, rows theirs, for G = 1. Work is put on the space
/// that a function is given and may still be under way when it returns.
template <class ExecutionSpace>
class OperatorEngine {
public:
  using Memory = typename ExecutionSpace::memory_space;
  /// (prism of the block), kg/m3
  using Densities = Kokkos::View<double*, Memory>;
  using ConstDensities = Kokkos::View<const double*, Kokkos::LayoutStride, Memory>;
  /// (field of the set, padded point)
  using TileFields = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  /// (asked field, point of the tile, prism of the block)
  using Entries = Kokkos::View<double***, Kokkos::LayoutStride, Memory>;

  virtual ~OperatorEngine() = default;

  /// The tile's points, metres, on the host; waits.
  virtual void start_tile(const ExecutionSpace& space, const double* easting, const double* northing,
                          const double* upward, std::int64_t n_points) = 0;
  /// Empties slots and result.
  virtual void empty_tile(const ExecutionSpace& space) = 0;
  /// Puts a block's geometry at place `at`, 0, 1, ..., instead of what is there; waits. `keeps`: the place will not be
  /// staged again soon. Throws AllocationFailure.
  virtual void stage(const ExecutionSpace& space, std::size_t at, const PrismBlock& block, bool keeps) = 0;
  /// Frees every block.
  virtual void drop_blocks() = 0;
  /// Adds a block of these densities, whose first batch is number `first_batch` of the run, to the slots.
  virtual void add(const ExecutionSpace& space, std::size_t at, const ConstDensities& density,
                   std::int64_t first_batch) = 0;
  /// Adds the slots in their order to the result and empties them.
  virtual void end_chunk(const ExecutionSpace& space) = 0;
  [[nodiscard]] virtual TileFields result() const = 0;
  /// Takes the tile's factors of products, (row, padded point); zero for padding.
  virtual void set_factors(const ExecutionSpace& space, const TileFields& factors) = 0;
  /// Adds, for every prism p of a block, scale times the sum over f, i of factors(f, i) G(f, i, p), or of its square,
  /// to out(p). Throws AllocationFailure.
  virtual void add_products(const ExecutionSpace& space, std::size_t at, double scale, const Densities& out) = 0;
  virtual void add_squares(const ExecutionSpace& space, std::size_t at, double scale, const Densities& out) = 0;
  /// Writes scale * G(f, i, p) of every asked field.
  virtual void store_entries(const ExecutionSpace& space, std::size_t at, double scale, const Entries& entries) = 0;
};

/// The engine of an execution space and arithmetic; throws AllocationFailure. Defined in kokkos_operator_engine.hpp and
/// instantiated beside the engine of forward runs.
template <class ExecutionSpace, class Arithmetic>
[[nodiscard]] std::unique_ptr<OperatorEngine<ExecutionSpace>> make_operator_engine(const EngineSettings& settings);

}  // namespace prismfield
