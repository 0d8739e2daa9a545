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

/// G as a file is to keep it. Who keeps it knows the prisms; columns are in their order.
struct RowFile {
  std::filesystem::path file;
  /// all points, of every rank
  PointColumns points;
  Request request;
  /// double or float
  StoredPrecision precision = StoredPrecision::double_;
};

/// Rows of G in a file that is complete.
class RowSource {
public:
  virtual ~RowSource() = default;
  [[nodiscard]] virtual StoredPrecision precision() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t columns() const noexcept = 0;
  /// Bytes of all entries.
  [[nodiscard]] virtual std::int64_t bytes() const noexcept = 0;
  /// What entries of field number `field` are multiplied by to be SI, z up.
  [[nodiscard]] virtual double to_si(std::int64_t field) const noexcept = 0;
  /// Entries of field number `field` at `points` of all as the file has them, doubles or floats: (points, columns()).
  /// By one thread at a time, whichever. Throws RunError where they cannot be read or are not what was written.
  virtual void read(std::int64_t field, IndexRange points, std::span<std::byte> to) const = 0;
};

/// A file of rows that is being made; it is gone unless it is completed.
class RowSink {
public:
  virtual ~RowSink() = default;
  /// Keeps entries, SI units, z up, of field number `field` at `points` of all: (points, columns). Each rank writes its
  /// own rows. Throws RunError.
  virtual void write(std::int64_t field, IndexRange points, std::span<const double> entries) = 0;
  /// Gives the file its name. Throws as write(), AgreedFailure on several ranks. Collective.
  virtual void complete() = 0;
};

/// Where G is kept in files.
class RowStore {
public:
  virtual ~RowStore() = default;
  /// The rows that are there; null where there is no such file. Throws InputError, by the key sensitivity.file, for a
  /// file of anything else and for a damaged one. Collective.
  [[nodiscard]] virtual std::unique_ptr<RowSource> open(const RowFile& rows) = 0;
  /// Throws RunError (AgreedFailure on several ranks). Collective.
  [[nodiscard]] virtual std::unique_ptr<RowSink> create(const RowFile& rows) = 0;
};

}  // namespace prismfield
