// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace prismfield {

/// A checksum of 128 bits.
struct Digest {
  std::uint64_t low = 0, high = 0;

  bool operator==(const Digest&) const noexcept = default;
};

/// XXH3 with 128 bits over everything added. It detects different files and settings but not forgery. It is not part of
/// prismfield::core.
class Checksum {
public:
  /// Throws std::bad_alloc.
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  /// Adds bytes alone; how they are divided into calls has no effect.
  void add_bytes(const void* bytes, std::size_t n) noexcept;
  /// Adds the number of bytes, then the bytes.
  void add(std::string_view text) noexcept;
  void add(std::int64_t value) noexcept;
  void add(double value) noexcept;
  void add(const Digest& digest) noexcept;
  /// Adds the number of values, then the values.
  void add(std::span<const double> values) noexcept;

  /// The checksum of everything added so far.
  [[nodiscard]] Digest digest() const noexcept;

private:
  struct State;
  std::unique_ptr<State> m_state;
};

/// The checksum of these bytes.
[[nodiscard]] Digest digest_of(const void* bytes, std::size_t n) noexcept;

/// The digest as 32 hexadecimal digits, highest first, as xxhsum writes them.
[[nodiscard]] std::string hex(const Digest& digest);

}  // namespace prismfield
