// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <prismfield/request.hpp>

namespace prismfield {

class RowStore;

/// Where G is kept. automatic: the fastest by measured rates and free memory; memory, device: the memory of the space
/// that computes; none: nowhere, every product computes G anew.
enum class Store { automatic, memory, device, file, none };
/// The type of stored entries. float16: half precision, scaled by row and by the cells of a tile.
enum class StoredPrecision { double_, float_, float16 };

/// The words for these choices in cases.
[[nodiscard]] const char* name(Store store) noexcept;
[[nodiscard]] const char* name(StoredPrecision precision) noexcept;

/// Limits of the error that compression offers; its factors are floats.
inline constexpr double least_compression = 1e-6;
inline constexpr double most_compression = 0.5;
/// The error of an H-matrix that `auto` may choose: at the same beta it moved no cell of SimPEG's tutorial and the
/// ellipsoid by more than 2.2e-4 of the largest value, 1e-5 RMS.
inline constexpr double auto_compression = 1e-4;

/// About how often an operator will be applied with G and its transpose, and to how many vectors each time.
struct LikelyProducts {
  /// the number for a short inversion
  std::int64_t count = 100;
  std::int64_t vectors = 1;
};

/// How make_operator() keeps G; the section `sensitivity` of a case.
struct StorageSettings {
  Store store = Store::automatic;
  /// unset: float, but double for the command sensitivity
  std::optional<StoredPrecision> precision;
  /// allowed error of an H-matrix relative to the norm of G; unset: no compression unless `auto` finds it faster
  std::optional<double> compression;
  /// whether `auto` may not compress because the case says none
  bool never_compressed = false;
  /// G.h5; empty: not written
  std::filesystem::path file;
  /// reads and writes the file; null: G cannot be in a file
  RowStore* rows = nullptr;
  /// the most bytes of G on a rank, limited by free memory; unset: free memory. Files do not count.
  std::optional<std::int64_t> memory_limit;
  /// `automatic` chooses by it
  LikelyProducts likely;
};

/// How make_operator() keeps G, and why.
struct StorageChoice {
  Store store = Store::none;
  StoredPrecision precision = StoredPrecision::double_;
  /// bytes that a product reads on this rank; 0: G is not stored
  std::int64_t bytes = 0;
  /// one line for users: "stored in memory as float, 53 MiB: a product reads it in 2.5 ms, computing anew takes 40 ms"
  std::string why;
  /// a warning for users about a G that is usable; otherwise ""
  std::string warning;
  /// whether G came from its file
  bool was_there = false;
  /// whether G is an H-matrix
  bool is_compressed = false;
  /// computes G where it is not kept
  Method method = Method::direct;
  /// estimate of `automatic` for making G and all likely products; 0: nothing was measured
  double seconds = 0;
};

}  // namespace prismfield
