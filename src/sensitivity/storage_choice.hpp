// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/points.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// Columns of a tile of a stored G, and what the width of the last tile is a multiple of.
inline constexpr int stored_tile = 512;
inline constexpr int stored_step = 32;
/// Rows at least of a part whose products with columns are summed by themselves.
inline constexpr std::int64_t least_rows_of_part = 128;
/// Vectors that kernels take at once: their parts of a tile fit the nearest cache, or registers.
inline constexpr int most_vectors = 4;

/// Bytes that a StoredOperator of so many rows and columns keeps, padding included: what a product reads.
[[nodiscard]] std::int64_t stored_bytes(StoredPrecision precision, std::int64_t rows, std::int64_t columns) noexcept;

/// What compression came to, over all ranks.
struct CompressionReport {
  /// what was asked for, and what rows computed anew show: the largest over the fields
  double tolerance = 0, error = 0;
  /// bytes of the blocks, and how many times as many G takes in double
  std::int64_t bytes = 0;
  double ratio = 0;
  /// pairs of a point and a cell: all, and those that were computed to build it, rows of the check left out
  std::int64_t pairs = 0, evaluated_pairs = 0;
  double seconds = 0;
};

/// A compressed matrix of a rank, as a sample of it shows.
struct CompressionSample {
  /// 0: no sample was made
  std::int64_t bytes = 0;
  /// to make it, and of a product of one vector with it or with its transposed
  double seconds_to_make = 0, product_seconds = 0;
  /// of an entry of all fields that is kept as it is
  double seconds_per_entry = 0;
  /// scratch of products, a vector
  std::int64_t bytes_of_vector = 0;
};

/// The error as it was asked for. Throws InputError, by the key sensitivity.compression, beyond what compression
/// offers.
[[nodiscard]] double checked_compression(double error);

/// Precision that `settings` ask for; float where they leave it open.
[[nodiscard]] StoredPrecision stored_precision(const StorageSettings& settings) noexcept;

/// Largest relative error that keeping an entry adds.
[[nodiscard]] double storage_error(StoredPrecision precision) noexcept;

/// Points whose entries are computed at once when G is made: about 32 MiB, a point at least.
[[nodiscard]] std::int64_t points_at_once(std::int64_t n_fields, std::int64_t columns, std::int64_t n_points) noexcept;

/// Bytes that a rank takes for its part of G, at most: the entries of a block of points while it is made and scratch of
/// products with so many vectors at once included.
[[nodiscard]] std::int64_t bytes_to_store(StoredPrecision precision, std::int64_t n_fields, std::int64_t n_points,
                                          std::int64_t columns, std::int64_t vectors = 1) noexcept;

/// What a user is told, with the remedy, when that is more than is available; "" when it fits.
[[nodiscard]] std::string storage_shortage(std::int64_t needed, std::int64_t available, StoredPrecision precision);

/// The lesser of what is available and of a limit, bytes.
[[nodiscard]] std::int64_t within_limit(std::int64_t available, const std::optional<std::int64_t>& limit) noexcept;
/// That an H-matrix takes more than its limit; "" when it does not.
[[nodiscard]] std::string beyond_limit(std::int64_t bytes, const std::optional<std::int64_t>& limit);

/// Throws InputError, by key, for settings that this space, or this version, does not have.
void check_storage(const StorageSettings& settings);

/// What `auto` goes by, of one rank.
struct StorageFacts {
  std::int64_t n_fields = 1, n_points = 0, columns = 0;
  /// bytes that the rank with the least memory may take
  std::int64_t available = 0;
  /// a pair of a point and a prism computed anew, for one vector
  double seconds_per_pair = 0;
  /// of stored entries in a product
  double bytes_per_second = 0;
  /// multiplied in one product: computed anew one after the other, read for most_vectors at once
  std::int64_t vectors = 1;
  CompressionSample compressed;
};

/// The faster way by x, the ratio of a product that reads to one that computes anew: G is stored when x < 1, it fits
/// and it is repaid before `likely_products`, of one vector after 1/(1-x) of them. An H-matrix is taken in its place
/// where there is a sample of it, it fits, and making it and all products take less time. `where`: memory or device.
[[nodiscard]] StorageChoice choose_storage(const StorageFacts& facts, StoredPrecision precision, Store where,
                                           std::int64_t likely_products);

/// G computed anew by a method that takes so long, a product and all that are likely, in place of a slower choice.
[[nodiscard]] StorageChoice faster_choice(const StorageChoice& slower, Method method, double tolerance, double product,
                                          double seconds);

/// "stored in memory as float, 53 MiB", "computed anew in every product", "computed anew in every product by tree"
[[nodiscard]] std::string storage_text(const StorageChoice& choice);

/// Where G of data set number `set`, from 0, is kept: the file itself, then G-2.h5, G-3.h5 beside it.
[[nodiscard]] std::filesystem::path file_of_set(const std::filesystem::path& file, std::size_t set);

/// "stored in G.h5 as double, 53 MiB a rank, written in 3 s", "..., which was there already"
[[nodiscard]] std::string file_text(const std::string& file, StoredPrecision precision, std::int64_t bytes,
                                    bool used_again, double seconds);

/// "compressed in memory, 10 MiB in all, 20 times less than as double: off by 3.1e-5 of the norm of G, 12 % of the
/// entries computed, in 3 s"
[[nodiscard]] std::string compression_text(const CompressionReport& report);
/// That an H-matrix is further off than was asked for; "" when it is not.
[[nodiscard]] std::string compression_warning(const CompressionReport& report);

/// Numbers of `wanted` of n points, all where there are fewer, evenly spread.
[[nodiscard]] std::vector<std::int64_t> spread_numbers(std::int64_t n, std::int64_t wanted);
/// These points.
[[nodiscard]] Points sample_of(const PointColumns& points, std::int64_t n);

}  // namespace prismfield
