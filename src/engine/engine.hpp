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

/// Bytes that an engine takes; plans use it before the engine exists.
struct EngineMemory {
  /// per point and slot of scratch, in the space that computes
  std::int64_t per_slot_point = 0;
  /// per point, and per prism of a chunk that shares a shape or has its own
  std::int64_t per_point = 0;
  std::int64_t per_prism = 0;
  std::int64_t per_shape = 0;
  /// on the host of a device: per point, and per prism of a chunk
  std::int64_t host_per_point = 0;
  std::int64_t host_per_prism = 0;
};

/// What a space offers; engine_traits() makes it, plans use it.
struct EngineTraits {
  std::string device;
  int threads = 1;
  /// points per thread side by side
  int lanes = 1;
  bool is_device = false;
  std::int64_t max_block = 1;
  /// free memory now, for all processes, bytes
  std::int64_t free_memory = 0;
  EngineMemory memory;
};

/// All parameters of launches, which engine_settings() takes from a plan.
struct EngineSettings {
  FieldSet set = FieldSet::all;
  /// operators only: the rows of their products
  kernel::FieldRows rows;
  KernelKind kernel = KernelKind::automatic;
  /// one parallel region per prism, the by-point scheme of the papers
  bool launch_per_prism = false;
  std::int64_t slots = 1;
  std::int64_t batch = 1;
  std::int64_t block = 1;
  std::int64_t tile_points = 0;
  /// subtracted in double from every coordinate in single precision
  std::array<double, 3> origin{};
  /// distance, metres, in addition to 4 ulp, within which a point lies on a face
  std::array<double, 3> rounding{};
  /// for magnetic fields, see share_inside()
  std::array<double, 3> inside{1, 1, 1};
  /// allowed truncation error of a multipole relative to the pair's gradient tensor; the precision's least is the floor
  double truncation = default_truncation;
};

/// The space cannot allocate what the settings need; a smaller plan may fit.
class AllocationFailure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// When a slot was busy, nanoseconds of the steady clock; slot -1 is a whole device.
struct BusyInterval {
  std::int64_t slot = -1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Computes fields of prisms for the direct method, tile of points by tile, in one space and precision. A tile's result
/// grows by a chunk of prisms at a time. The constructor allocates scratch and throws AllocationFailure.
class FieldEngine {
public:
  virtual ~FieldEngine() = default;
  /// Starts a tile with its points, metres, and its result so far, for G = 1: values (field, point) and contact (point,
  /// n_contact_columns), see kernel/contact.hpp.
  virtual void start_tile(const double* easting, const double* northing, const double* upward, std::int64_t n_points,
                          const double* values, const double* contact) = 0;
  /// Adds a block of prisms to the slots; `first_batch` is the run's number of its first batch. On a device it may
  /// return before the work ends; the next call's work waits for it.
  virtual void add(const PrismBlock& block, std::int64_t first_batch) = 0;
  /// Adds the slots in order to the tile's result and empties them. May return before the work ends.
  virtual void end_chunk() = 0;
  /// Waits, then copies the tile's result at the last end_chunk(), in the shapes of start_tile().
  virtual void read_tile(double* values, double* contact) = 0;
  /// Waits; returns pairs by form since construction.
  [[nodiscard]] virtual std::array<std::int64_t, n_forms> pairs() = 0;
  /// Waits; returns when slots or the device were busy since construction, without gaps below a millisecond.
  [[nodiscard]] virtual std::vector<BusyInterval> busy() = 0;
};

/// What a space offers for this precision and these fields. Throws InputError for a space that was not built or has no
/// device.
[[nodiscard]] EngineTraits engine_traits(Space space, Precision precision, FieldList fields, KernelKind kernel);
/// Makes the engine of a space and precision for the products of sets_of(fields), whose values follow one another in
/// that order. Kokkos must run. `settings.set` is not used.
[[nodiscard]] std::unique_ptr<FieldEngine> make_engine(Space space, Precision precision, FieldList fields,
                                                       const EngineSettings& settings);
/// The spaces that were built, the default one first.
[[nodiscard]] std::vector<Space> built_spaces();

/// Runs a small kernel with a known result in every space that was built, with the Views, team policy and prism code of
/// a run. Throws RunError for a wrong result: some compilers build kernels with Kokkos that silently do nothing (nvcc
/// 12.9 and later with C++20, Kokkos pull request 8615).
void check_start();

}  // namespace prismfield
