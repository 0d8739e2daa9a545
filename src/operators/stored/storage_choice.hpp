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

/// Columns of a tile of a stored G; the width of the last tile is a multiple of stored_step.
inline constexpr int stored_tile = 512;
inline constexpr int stored_step = 32;
/// The least number of rows in a part; products with columns sum each part separately.
inline constexpr std::int64_t least_rows_of_part = 128;
/// The most vectors that kernels take at once: their parts of a tile fit the nearest cache, or registers.
inline constexpr int most_vectors = 4;

/// Bytes that a product of a StoredOperator with so many rows and columns reads, padding included.
[[nodiscard]] std::int64_t stored_bytes(StoredPrecision precision, std::int64_t rows, std::int64_t columns) noexcept;

/// The result of compression over all ranks.
struct CompressionReport {
  /// the requested error, and the largest one over the fields in rows computed anew
  double tolerance = 0, error = 0;
  /// bytes of the blocks, and the ratio of G in double to them
  std::int64_t bytes = 0;
  double ratio = 0;
  /// pairs of a point and a cell: all, and those computed to build it, without rows of the check
  std::int64_t pairs = 0, evaluated_pairs = 0;
  double seconds = 0;
};

/// A rank's compressed matrix, estimated from a sample.
struct CompressionSample {
  /// 0: no sample was made
  std::int64_t bytes = 0;
  /// to make the matrix, and of a product of one vector with it or its transpose
  double seconds_to_make = 0, product_seconds = 0;
  /// of an entry of all fields that is kept unchanged
  double seconds_per_entry = 0;
  /// scratch of products per vector
  std::int64_t bytes_of_vector = 0;
};

/// The requested error. Throws InputError, by the key sensitivity.compression, for an error that compression does not
/// offer.
[[nodiscard]] double checked_compression(double error);

/// The precision in `settings`; float where they have none.
[[nodiscard]] StoredPrecision stored_precision(const StorageSettings& settings) noexcept;

/// The largest relative error that storage adds to an entry.
[[nodiscard]] double storage_error(StoredPrecision precision) noexcept;

/// The number of points whose entries are computed at once when G is made: about 32 MiB, at least one point.
[[nodiscard]] std::int64_t points_at_once(std::int64_t n_fields, std::int64_t columns, std::int64_t n_points) noexcept;

/// An upper bound of the bytes for a rank's part of G, with entries of a block of points while it is made, and scratch
/// of products with so many vectors at once.
[[nodiscard]] std::int64_t bytes_to_store(StoredPrecision precision, std::int64_t n_fields, std::int64_t n_points,
                                          std::int64_t columns, std::int64_t vectors = 1) noexcept;

/// The error, with its remedy, where a rank needs more than is available; "" where it fits.
[[nodiscard]] std::string storage_shortage(std::int64_t needed, std::int64_t available, StoredPrecision precision);

/// The smaller of available bytes and a limit.
[[nodiscard]] std::int64_t within_limit(std::int64_t available, const std::optional<std::int64_t>& limit) noexcept;
/// The error where an H-matrix exceeds its limit; "" where it does not.
[[nodiscard]] std::string beyond_limit(std::int64_t bytes, const std::optional<std::int64_t>& limit);

/// Throws InputError, by key, for settings that this space or version does not support.
void check_storage(const StorageSettings& settings);

/// What choose_storage() knows of one rank.
struct StorageFacts {
  std::int64_t n_fields = 1, n_points = 0, columns = 0;
  /// bytes for the rank with the least memory
  std::int64_t available = 0;
  /// to compute a pair of a point and a prism, for one vector
  double seconds_per_pair = 0;
  /// rate at which a product reads stored entries
  double bytes_per_second = 0;
  /// vectors per product: computed one after another, read for most_vectors at once
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
