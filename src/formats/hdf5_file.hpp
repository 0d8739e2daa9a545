// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/packed_values.hpp"

namespace prismfield {

/// Why `count` values of `bytes` each cannot be held in the memory that is free now, "" when they can: a file of a few
/// bytes can claim any size, and not every system refuses memory that it does not have.
[[nodiscard]] std::string why_no_room(std::uint64_t count, std::size_t bytes);

/// `count` values, all 0. Calls fail(why), which does not return, when there is no memory for them.
template <class Value, class Fail>
[[nodiscard]] std::vector<Value> room_for(std::uint64_t count, const Fail& fail) {
  if (const std::string why = why_no_room(count, sizeof(Value)); !why.empty()) fail(why);
  std::vector<Value> values;
  try {
    values.resize(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    fail("its " + std::to_string(count) + " values do not fit into memory");
  }
  return values;
}

/// In which order names are listed.
enum class NameOrder { sorted, as_made };

/// Numbers that lie in a file one after the other, in this machine's order of bytes.
struct NumberPlace {
  enum class Type { float_, double_, integer };
  Type type = Type::double_;
  /// of the first, and of all together
  std::int64_t offset = 0, bytes = 0;
};
/// Bytes of one: an integer has 64 bits.
[[nodiscard]] constexpr std::int64_t bytes_of(NumberPlace::Type type) noexcept {
  return type == NumberPlace::Type::float_ ? 4 : 8;
}

/// An HDF5 (or netCDF-4) file, closed when it goes out of scope. Every HDF5 call is checked; a failure throws
/// RunError with the file's name, the object and HDF5's own reason. HDF5 prints nothing itself.
/// No call is collective: under MPI one rank writes, and each reads by itself, with a serial or a parallel build of
/// HDF5.
class Hdf5File {
public:
  /// Opens an existing file to read. Throws RunError when it does not exist, is no HDF5 file, or has a seal that is not
  /// that of its bytes.
  [[nodiscard]] static Hdf5File open(const std::filesystem::path& file);
  /// Makes a new file in memory alone, which image() hands over; `name` is for messages. HDF5 does not survive a full
  /// disk: after a failed write it crashes when the program ends.
  [[nodiscard]] static Hdf5File create_in_memory(const std::filesystem::path& name);
  /// Makes a new file in which reserve() keeps room for numbers that are too many to be held: holes that take no
  /// memory. write_around() hands over all but these; `name` is for messages. `about_bytes`: how long it will be, at
  /// most about, so that a limit on the size of files is met before HDF5 meets it. Throws RunError.
  [[nodiscard]] static Hdf5File create_with_room(const std::filesystem::path& name, std::int64_t about_bytes);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  /// True when `path` ("/group/name") names a dataset or group. What netCDF-4 puts into a file for a dimension without
  /// a variable is neither, there and in dataset_names().
  [[nodiscard]] bool has(const std::string& path) const;
  [[nodiscard]] bool has_attribute(const std::string& path, const std::string& name) const;
  /// Names of the datasets directly in `group`, sorted, or in the order in which they were made where the file knows
  /// it.
  [[nodiscard]] std::vector<std::string> dataset_names(const std::string& group = "/",
                                                       NameOrder order = NameOrder::sorted) const;
  /// Extent of a dataset in each dimension; empty for a scalar.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& dataset) const;
  /// Names of a dataset's netCDF-4 dimensions, or HDF5's labels of them, slowest first, "" where it has none; its own
  /// name for a dimension.
  [[nodiscard]] std::vector<std::string> dimension_names(const std::string& dataset) const;
  /// A numeric dataset of any type and shape as doubles, row-major, as unpack() makes them.
  [[nodiscard]] std::vector<double> read(const std::string& dataset) const;
  /// A dataset of integers of any shape, row-major, exact: fill values and scales are not looked at. Throws RunError
  /// for numbers that are no integers or beyond 64 bits.
  [[nodiscard]] std::vector<std::int64_t> read_integers(const std::string& dataset) const;
  [[nodiscard]] bool is_text(const std::string& dataset) const;
  /// A dataset of one string, or of one dimension of strings, of fixed or variable length.
  [[nodiscard]] std::vector<std::string> read_texts(const std::string& dataset) const;
  /// A numeric attribute of one value.
  [[nodiscard]] double read_attribute(const std::string& path, const std::string& name) const;
  /// A text attribute of one string, of fixed or variable length.
  [[nodiscard]] std::string read_text_attribute(const std::string& path, const std::string& name) const;
  /// The same; nothing where there is none of that name.
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& path, const std::string& name) const;
  /// Names and values of a dataset's attributes of numbers or one text, in the order in which they were made where the
  /// file knows it; without those that netCDF-4 and dimension scales keep for themselves.
  [[nodiscard]] std::vector<std::pair<std::string, AttributeValue>> attributes(const std::string& dataset) const;

  void make_group(const std::string& group);
  void write(const std::string& dataset, const std::vector<std::int64_t>& shape, const double* values);
  void write(const std::string& dataset, const std::vector<std::int64_t>& shape, const std::int64_t* values);
  /// The widest integers that CF 1.8 knows.
  void write(const std::string& dataset, const std::vector<std::int64_t>& shape, const std::int32_t* values);
  void write_text(const std::string& dataset, const std::string& value);
  /// A dataset of one dimension, a text each.
  void write_texts(const std::string& dataset, const std::vector<std::string>& values);
  /// Turns a one-dimensional dataset into a netCDF-4 dimension scale of its own name.
  void make_dimension(const std::string& dataset);
  /// Makes a dimension of `length` without coordinate values, as netCDF-4 does.
  void make_dimension_without_values(const std::string& name, std::int64_t length);
  /// Attaches dimension scales to a dataset, one a dimension, slowest first.
  void attach_dimensions(const std::string& dataset, const std::vector<std::string>& dimensions);
  /// Writes an attribute, replacing one of that name. Text is of fixed length, the only kind that every netCDF program
  /// reads (ncview, NCO and Fortran programs pass over strings of variable length).
  void write_attribute(const std::string& path, const std::string& name, const AttributeValue& value);
  /// Hands over the bytes of a new file, one piece after the other, and behind them their seal, which
  /// open() checks.
  void write_sealed(const std::function<void(const void*, std::size_t)>& write) const;
  /// The bytes of a new file, until the next call.
  [[nodiscard]] std::string_view image() const;
  /// Makes a dataset, not an empty one, with a place for its numbers but without them; of create_with_room(). Returns
  /// the place.
  NumberPlace reserve(const std::string& dataset, const std::vector<std::int64_t>& shape, NumberPlace::Type type);
  /// Where a dataset's numbers lie: each of them, as they are, in this file. Throws RunError for chunks, filters, other
  /// types and places beyond the file's end.
  [[nodiscard]] NumberPlace place(const std::string& dataset) const;
  /// Closes a file of create_with_room() and hands its bytes to `write` (offset, bytes, n), the reserved places left
  /// out, and behind them their seal; returns how long the file is. Throws RunError, and what `write` throws.
  std::int64_t write_around(const std::function<void(std::int64_t, const void*, std::size_t)>& write);

private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  /// In memory; `room`: a file there, whose descriptor it takes, or -1.
  [[nodiscard]] static Hdf5File create_new(const std::filesystem::path& file, int room);
  std::unique_ptr<Impl> m_impl;
};

/// "1.10.8"
[[nodiscard]] std::string hdf5_version();

}  // namespace prismfield
