// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/checksum.hpp"

namespace prismfield {

/// What follows the last byte of an HDF5 file that this program wrote: a checksum, XXH3, of the whole file. By it a
/// reader knows that a byte has changed before HDF5 parses any, whatever the byte belongs to: values, names, units or
/// the index of the chunks. HDF5 reads past it, and cuts it off when it changes the file. Its numbers are in this
/// machine's order of bytes.
class FileSeal {
public:
  /// Bytes that follow those added before.
  void add(const void* bytes, std::size_t n) noexcept;
  /// Bytes that follow too, but are written by others and have checksums of their own.
  void leave_out(std::int64_t n);
  /// What is to be written after all that was added.
  [[nodiscard]] std::string bytes();

private:
  Checksum m_checksum;
  std::int64_t m_length = 0;
  /// pairs of offset and length
  std::vector<std::int64_t> m_left_out;
};

/// Throws RunError where a file has a seal that is not that of its bytes.
void check_seal(const std::filesystem::path& file);

}  // namespace prismfield
