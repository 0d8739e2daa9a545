// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include <prismfield/points.hpp>
#include <prismfield/ranges.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// What RowStore needs to know of G in a file. Columns are the prisms in order.
struct RowFile {
  std::filesystem::path file;
  /// the points of all ranks
  PointColumns points;
  Request request;
  /// double or float
  StoredPrecision precision = StoredPrecision::double_;
};

/// Reads rows of G from a complete file.
class RowSource {
public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual StoredPrecision precision() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// Bytes of all entries.
  [[nodiscard]] virtual std::int64_t bytes() const noexcept = 0;
  /// The factor from entries of field number `field` to SI, z up.
  [[nodiscard]] virtual double to_si(std::int64_t field) const noexcept = 0;
  /// Reads entries of field number `field` at `points` of all ranks, in the file's precision: (points, columns()). One
  /// thread at a time may call. Throws RunError for entries that are unreadable or damaged.
  virtual void read(std::int64_t field, IndexRange points, std::span<std::byte> to) const = 0;
};

/// Writes a file of rows. Without complete() the file is removed.
class RowSink {
public:
  virtual ~RowSink() = default;
  /// Writes entries, SI units, z up, of field number `field` at `points` of all ranks: (points, columns). Each rank
  /// writes its own rows. Throws RunError.
  virtual void write(std::int64_t field, IndexRange points, std::span<const double> entries) = 0;
  /// Gives the file its name. Throws as write() does; AgreedFailure on several ranks. Collective.
  virtual void complete() = 0;
};

/// Keeps G in files for make_operator(); writers/sensitivity_file.hpp has one for HDF5.
class RowStore {
public:
  virtual ~RowStore() = default;
  /// The rows in the file; null where there is no such file. Throws InputError, by the key sensitivity.file, for a
  /// damaged file or one with other contents. Collective.
  [[nodiscard]] virtual std::unique_ptr<RowSource> open(const RowFile& rows) = 0;
  /// Throws RunError (AgreedFailure on several ranks). Collective.
  [[nodiscard]] virtual std::unique_ptr<RowSink> create(const RowFile& rows) = 0;
};

}  // namespace prismfield
