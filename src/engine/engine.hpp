// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

#include "kernel/contact.hpp"
#include "kernel/field_rows.hpp"

namespace prismfield {

/// Bytes that an engine takes, for planning before it exists.
struct EngineMemory {
  /// of the space that computes, a point and slot of scratch
  std::int64_t per_slot_point = 0;
  /// a point, and a prism of a chunk without and with a shape of its own
  std::int64_t per_point = 0;
  std::int64_t per_prism = 0;
  std::int64_t per_shape = 0;
  /// on the host beside a device: a point and a prism of a chunk
  std::int64_t host_per_point = 0;
  std::int64_t host_per_prism = 0;
};

/// What a space offers.
struct EngineTraits {
  std::string device;
  int threads = 1;
  /// points that one thread works on side by side
  int lanes = 1;
  bool is_device = false;
  std::int64_t max_block = 1;
  /// bytes that are free now, for all processes
  std::int64_t free_memory = 0;
  EngineMemory memory;
};

/// Everything that a launch needs to know, decided by the plan.
struct EngineSettings {
  FieldSet set = FieldSet::all;
  /// of operators only: the rows of their products
  kernel::FieldRows rows;
  KernelKind kernel = KernelKind::automatic;
  /// the papers' by-point scheme: one parallel region a prism
  bool launch_per_prism = false;
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t block = 1;
  std::int64_t tile_points = 0;
  /// what single precision subtracts from every coordinate in double
  std::array<double, 3> origin{};
  /// how far points and faces that are meant to be at one place may be apart, metres, beside 4 ulp
  std::array<double, 3> rounding{};
  /// of magnetic fields, see share_inside()
  std::array<double, 3> inside{1, 1, 1};
  /// truncation error allowed to a multipole, relative to the pair's gradient tensor; below the precision's least that
  /// is taken
  double truncation = default_truncation;
};

/// The space cannot allocate what the settings ask for; a smaller plan may fit.
class AllocationFailure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Time in which a slot (or, slot -1, a whole device) was busy, nanoseconds of the steady clock.
struct BusyInterval {
  std::int64_t slot = -1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Fields of prisms at one tile of points after another, in one execution space and precision: the tile's result grows
/// by a chunk of prisms at a time. Scratch is allocated at construction, which throws AllocationFailure.
class FieldEngine {
public:
  virtual ~FieldEngine() = default;
  /// Points of the next tile, metres, and what its result already holds: values (field, point) for G = 1 and
  /// contact (point, n_contact_columns) as kernel/contact.hpp describes it.
  virtual void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                          const double* values, const double* contact) = 0;
  /// Adds a block of prisms whose first batch is number `first_batch` of the run to the slots. On a device the work may
  /// still be under way when this returns; it ends before the next call's work starts.
  virtual void add(const PrismBlock& block, std::int64_t first_batch) = 0;
  /// Adds the slots in their order to the tile's result and empties them. May return before that is done.
  virtual void end_chunk() = 0;
  /// Waits and copies the tile's result as of the last end_chunk(), in the shapes of start_tile.
  virtual void read_tile(double* values, double* contact) = 0;
  /// Pairs by form since construction; waits.
  [[nodiscard]] virtual std::array<std::int64_t, n_forms> pairs() = 0;
  /// When the slots or the device were busy since construction, gaps below a millisecond left out; waits.
  [[nodiscard]] virtual std::vector<BusyInterval> busy() = 0;
};

/// What a space offers for a run of this precision and fields. Throws InputError for a space that was not built or has
/// no device.
[[nodiscard]] EngineTraits engine_traits(Space space, Precision precision, FieldList fields, KernelKind kernel);
/// The engine of a space and precision for the products of sets_of(fields); values have the fields of the first one
/// first. Kokkos must be initialised. `settings.set` is not used.
[[nodiscard]] std::unique_ptr<FieldEngine> make_engine(Space space, Precision precision, FieldList fields,
                                                       const EngineSettings& settings);
/// The spaces that were built, the default one first.
[[nodiscard]] std::vector<Space> built_spaces();

/// Runs a small kernel whose result is known in every execution space that was built, through the same Views, team
/// policy and prism code as a run, and throws RunError when a result is wrong: some combinations of compiler and Kokkos
/// build without a word kernels that do nothing (nvcc 12.9 and later with C++20, Kokkos pull request 8615).
void check_start();

}  // namespace prismfield
