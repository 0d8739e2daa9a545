// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "model/points.hpp"
#include "operators/stored/storage_choice.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::string milliseconds(double seconds) { return short_number(seconds * 1e3) + " ms"; }

}  // namespace

std::int64_t stored_bytes(StoredPrecision precision, std::int64_t rows, std::int64_t columns) noexcept {
  const std::int64_t padded = (columns + stored_step - 1) / stored_step * stored_step;
  const std::int64_t tiles = (columns + stored_tile - 1) / stored_tile;
  switch (precision) {
    case StoredPrecision::double_: return rows * padded * 8;
    case StoredPrecision::float_: return rows * padded * 4;
    case StoredPrecision::float16: return rows * (padded * 2 + tiles * 8);
  }
  return 0;
}

double checked_compression(double error) {
  if (error >= least_compression && error <= most_compression) return error;
  throw InputError(
      "", "sensitivity.compression",
      fmt::format("is {}; an error from {} to {} is expected, since factors are floats; below it take none", error,
                  least_compression, most_compression));
}

StoredPrecision stored_precision(const StorageSettings& settings) noexcept {
  return settings.precision.value_or(StoredPrecision::float_);
}

double storage_error(StoredPrecision precision) noexcept {
  switch (precision) {
    case StoredPrecision::double_: return 0;
    case StoredPrecision::float_: return 0x1p-24;
    case StoredPrecision::float16: return 0x1p-11;
  }
  return 0;
}

std::int64_t points_at_once(std::int64_t n_fields, std::int64_t columns, std::int64_t n_points) noexcept {
  constexpr std::int64_t most_bytes = 32 * mebibyte;
  // whole vectors of points
  constexpr std::int64_t lanes = 16;
  std::int64_t n = most_bytes / std::max<std::int64_t>(8 * n_fields * columns, 1);
  if (n > lanes) n -= n % lanes;
  return std::clamp<std::int64_t>(n, 1, std::max<std::int64_t>(n_points, 1));
}

std::int64_t bytes_to_store(StoredPrecision precision, std::int64_t n_fields, std::int64_t n_points,
                            std::int64_t columns, std::int64_t vectors) noexcept {
  const std::int64_t rows = n_fields * n_points;
  const std::int64_t tiles = (columns + stored_tile - 1) / stored_tile;
  // of vectors that kernels take at once densities, sums of tiles and of parts of the rows; of all the product
  const std::int64_t parts = (rows + least_rows_of_part - 1) / least_rows_of_part;
  const std::int64_t of_vector = (1 + parts) * tiles * stored_tile + tiles * rows;
  const std::int64_t scratch =
      8 * (std::min<std::int64_t>(vectors, most_vectors) * of_vector + vectors * std::max(rows, columns));
  return stored_bytes(precision, rows, columns) + scratch + mebibyte +
         8 * n_fields * columns * points_at_once(n_fields, columns, n_points);
}

std::string storage_shortage(std::int64_t needed, std::int64_t available, StoredPrecision precision) {
  if (needed <= available) return "";
  std::string smaller;
  if (precision == StoredPrecision::double_) smaller = "set sensitivity.precision to float or float16, ";
  if (precision == StoredPrecision::float_) smaller = "set sensitivity.precision to float16, ";
  return fmt::format(
      "keeping the sensitivities as {} takes {} of memory, but there are {}; {}set sensitivity.store to none, or start "
      "more ranks on more nodes",
      name(precision), size_text(needed), size_text(available), smaller);
}

std::int64_t within_limit(std::int64_t available, const std::optional<std::int64_t>& limit) noexcept {
  return std::min(available, limit.value_or(available));
}

std::string beyond_limit(std::int64_t bytes, const std::optional<std::int64_t>& limit) {
  if (!limit || bytes <= *limit) return "";
  return fmt::format(
      "the compressed sensitivities take {} a rank, but the limit is {}; set a larger "
      "sensitivity.compression, or sensitivity.store to none",
      size_text(bytes), size_text(*limit));
}

void check_storage(const StorageSettings& settings) {
  ProblemList problems;
  if (settings.memory_limit.value_or(1) <= 0) {
    problems.add("", "sensitivity.memory_limit", "must be above 0 bytes, or unset for what is free");
  }
  if (settings.store == Store::file) {
    if (settings.rows == nullptr) {
      problems.add("", "sensitivity.store",
                   "is file, but this program keeps no sensitivities in files; set it to memory or none");
    }
    if (settings.file.empty()) problems.add("", "sensitivity.file", "names no file; write file: G.h5");
    if (stored_precision(settings) == StoredPrecision::float16) {
      problems.add("", "sensitivity.precision", "is float16, which files do not hold; write float or double");
    }
  }
  problems.throw_if_any();
}

namespace {

/// A product computed anew, and one that reads what is stored; seconds, of all vectors.
struct WayTimes {
  double computing = 0, reading = 0;
};

WayTimes way_times(const StorageFacts& facts, StoredPrecision precision) {
  const auto vectors = static_cast<double>(facts.vectors);
  const auto bytes = static_cast<double>(stored_bytes(precision, facts.n_fields * facts.n_points, facts.columns));
  const auto pairs = static_cast<double>(facts.n_points) * static_cast<double>(facts.columns);
  return {vectors * pairs * facts.seconds_per_pair, std::ceil(vectors / most_vectors) * bytes / facts.bytes_per_second};
}

/// An H-matrix where it is faster in all than `choice`, else that.
StorageChoice compressed_or(StorageChoice choice, const StorageFacts& facts, const WayTimes& times,
                            std::int64_t likely_products) {
  const CompressionSample& sample = facts.compressed;
  // factors are double while they are made
  const std::int64_t needed = sample.bytes + std::max(sample.bytes, facts.vectors * sample.bytes_of_vector);
  if (sample.bytes == 0 || needed > facts.available) return choice;
  const bool is_stored = choice.store != Store::none;
  const double product = is_stored ? times.reading : times.computing;
  const double making = is_stored ? sample.seconds_per_entry * static_cast<double>(facts.n_points * facts.columns) : 0;
  const double compressed =
      static_cast<double>(facts.vectors) *
      std::max(sample.product_seconds, static_cast<double>(sample.bytes) / facts.bytes_per_second);
  const auto products = static_cast<double>(likely_products);
  const double seconds = sample.seconds_to_make + products * compressed;
  if (seconds >= making + products * product) return choice;
  const std::string why =
      fmt::format("a product takes {} instead of {}", milliseconds(compressed), milliseconds(product));
  return {Store::memory, StoredPrecision::float_, sample.bytes, why, "", false, true, Method::direct, seconds};
}

/// G as it is, or computed anew.
StorageChoice choose_uncompressed(const StorageFacts& facts, const WayTimes& times, StoredPrecision precision,
                                  Store where, std::int64_t likely_products) {
  StorageChoice choice{
      where, precision, stored_bytes(precision, facts.n_fields * facts.n_points, facts.columns), "", "", false, false};
  const auto vectors = static_cast<double>(facts.vectors);
  const auto [computing, reading] = times;
  const double x = reading / computing;
  const std::string figures =
      fmt::format("a product reads it in {}, computing anew takes {}", milliseconds(reading), milliseconds(computing));
  const std::int64_t needed = bytes_to_store(precision, facts.n_fields, facts.n_points, facts.columns, facts.vectors);
  const auto products = static_cast<double>(likely_products);
  const StorageChoice anew{Store::none, precision, 0, "", "", false, false, Method::direct, products * computing};
  // made as by a product of one vector
  choice.seconds = computing / vectors + products * reading;
  const auto because = [&](StorageChoice of, const std::string& why) {
    of.why = storage_text(of) + ": " + why;
    return of;
  };
  const std::string size = fmt::format("{} as {}", size_text(choice.bytes), name(precision));
  if (!(x < 1)) {
    return because(anew, fmt::format("{} would be read in {}, computing takes {}", size, milliseconds(reading),
                                     milliseconds(computing)));
  }
  if (needed > facts.available) {
    return because(
        anew, fmt::format("{} need {} of memory, there are {}", size, size_text(needed), size_text(facts.available)));
  }
  const double repaid = 1 / (vectors * (1 - x));
  if (!(repaid < products)) {
    return because(anew, fmt::format("{} would be repaid after {} products, {} are likely", size, short_number(repaid),
                                     likely_products));
  }
  return because(choice, figures);
}

}  // namespace

StorageChoice choose_storage(const StorageFacts& facts, StoredPrecision precision, Store where,
                             std::int64_t likely_products) {
  const WayTimes times = way_times(facts, precision);
  return compressed_or(choose_uncompressed(facts, times, precision, where, likely_products), facts, times,
                       likely_products);
}

StorageChoice faster_choice(const StorageChoice& slower, Method method, double tolerance, double product,
                            double seconds) {
  StorageChoice choice{Store::none, slower.precision, 0, "", "", false, false, method, seconds};
  choice.why =
      fmt::format("{}, to {:g}: a product takes {}, all about {}; {}: {}", storage_text(choice), tolerance,
                  milliseconds(product), duration_text(seconds), storage_text(slower), duration_text(slower.seconds));
  return choice;
}

std::string storage_text(const StorageChoice& choice) {
  if (choice.store == Store::none) {
    const bool is_direct = choice.method == Method::direct;
    return std::string("computed anew in every product") + (is_direct ? "" : std::string(" by ") + name(choice.method));
  }
  return fmt::format("stored {} as {}, {}", choice.store == Store::device ? "on the device" : "in memory",
                     name(choice.precision), size_text(choice.bytes));
}

std::filesystem::path file_of_set(const std::filesystem::path& file, std::size_t set) {
  if (file.empty() || set == 0) return file;
  return file.parent_path() / fmt::format("{}-{}{}", file.stem().string(), set + 1, file.extension().string());
}

std::string file_text(const std::string& file, StoredPrecision precision, std::int64_t bytes, bool used_again,
                      double seconds) {
  return fmt::format("stored in {} as {}, {} a rank, {}", file, name(precision), size_text(bytes),
                     used_again ? "which was there already" : "written in " + duration_text(seconds));
}

std::string compression_text(const CompressionReport& report) {
  const double share =
      static_cast<double>(report.evaluated_pairs) / static_cast<double>(std::max<std::int64_t>(report.pairs, 1));
  return fmt::format(
      "compressed in memory, {} in all, {} times less than as double: off by {} of the norm of G, {:.3g} % of the "
      "entries computed, in {}",
      size_text(report.bytes), short_number(report.ratio), short_number(report.error), 100 * share,
      duration_text(report.seconds));
}

std::string compression_warning(const CompressionReport& report) {
  if (report.error <= report.tolerance) return "";
  return fmt::format(
      "warning: compressed sensitivities are off by {} of the norm of G, {} were asked for; floats give no more here: "
      "take a larger error, or compression: none",
      short_number(report.error), short_number(report.tolerance));
}

std::vector<std::int64_t> spread_numbers(std::int64_t n, std::int64_t wanted) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < std::min(n, wanted); ++k) numbers.push_back(k * n / std::min(n, wanted));
  return numbers;
}

Points sample_of(const PointColumns& points, std::int64_t n) {
  return chosen_points(points, spread_numbers(points.size(), n));
}

}  // namespace prismfield
