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

/// Where G is kept: what is faster by measured rates and free memory; the memory of the space that computes, for which
/// `memory` and `device` are two words; a file; or nowhere, `none`: it is computed anew in every product.
enum class Store { automatic, memory, device, file, none };
/// What its entries are kept as; `float16`: halves, scaled by row and by the cells of a tile.
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

/// How often an operator will be applied, about, with G and with its transposed, and to how many vectors each time.
struct LikelyProducts {
  /// as many as a short inversion takes
  std::int64_t count = 100;
  std::int64_t vectors = 1;
};

/// How G is to be kept: the section `sensitivity` of a case.
struct StorageSettings {
  Store store = Store::automatic;
  /// unset: float, for the command sensitivity double
  std::optional<StoredPrecision> precision;
  /// error of G relative to its norm that an H-matrix may have; unset: not compressed, unless `auto` finds it faster
  std::optional<double> compression;
  /// `auto` does not compress: none was asked for
  bool never_compressed = false;
  /// G.h5; empty: not written
  std::filesystem::path file;
  /// who reads and writes it; null: G cannot be in a file
  RowStore* rows = nullptr;
  /// bytes that a rank may keep G in, at most what is free; unset: what is free. Of no effect on files.
  std::optional<std::int64_t> memory_limit;
  /// what `automatic` goes by
  LikelyProducts likely;
};

/// How G is kept, and why.
struct StorageChoice {
  Store store = Store::none;
  StoredPrecision precision = StoredPrecision::double_;
  /// what the products of this rank read, bytes; 0: nothing is stored
  std::int64_t bytes = 0;
  /// one line for people: "stored in memory as float, 53 MiB: a product reads it in 2.5 ms, computing anew takes 40 ms"
  std::string why;
  /// what users should be told though G can be used; "" for nothing
  std::string warning;
  /// G was in its file already: it was not made
  bool was_there = false;
  /// an H-matrix
  bool is_compressed = false;
  /// by which it is computed anew where it is not kept
  Method method = Method::direct;
  /// that making it and all likely products take by what `automatic` measured; 0: nothing was measured
  double seconds = 0;
};

}  // namespace prismfield
