// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>

#include <prismfield/fields.hpp>

namespace prismfield {

class RowStore;

/// Where sensitivities are kept; `none`: computed anew in every product.
enum class Store { automatic, memory, device, file, none };
/// What they are kept as; `float16`: halves, scaled by row and by the cells of a tile.
enum class StoredPrecision { double_, float_, float16 };

/// The words that users write for these choices.
[[nodiscard]] const char* name(Store store) noexcept;
[[nodiscard]] const char* name(StoredPrecision precision) noexcept;

/// Errors that compression offers: factors are floats.
inline constexpr double least_compression = 1e-6;
inline constexpr double most_compression = 0.5;
/// The error of an H-matrix that `auto` may take by itself: at the same beta it moved no cell of SimPEG's tutorial and
/// the ellipsoid by more than 2.2e-4 of the largest value, 1e-5 RMS.
inline constexpr double auto_compression = 1e-4;

/// The section `sensitivity` of a case.
struct StorageSettings {
  Store store = Store::automatic;
  /// unset: double for the command sensitivity, float for inversions
  std::optional<StoredPrecision> precision;
  /// error of G relative to its norm that an H-matrix may have; unset: not compressed, unless `auto` finds it faster
  std::optional<double> compression;
  /// `auto` does not compress: none was asked for
  bool never_compressed = false;
  /// G.h5; empty: not written
  std::filesystem::path file;
  /// who reads and writes it; null: G cannot be in a file
  RowStore* rows = nullptr;
};

}  // namespace prismfield
