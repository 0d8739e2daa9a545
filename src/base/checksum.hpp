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

/// What a checksum comes to: 128 bits.
struct Digest {
  std::uint64_t low = 0, high = 0;

  bool operator==(const Digest&) const noexcept = default;
};

/// XXH3, 128 bits, of what is added bit by bit: tells files and settings apart, not against forgery. Not
/// part of prismfield::core.
class Checksum {
public:
  /// Throws std::bad_alloc.
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  /// Bytes as they are: where one addition ends and the next begins makes no difference.
  void add_bytes(const void* bytes, std::size_t n) noexcept;
  /// The number of bytes, then these.
  void add(std::string_view text) noexcept;
  void add(std::int64_t value) noexcept;
  void add(double value) noexcept;
  void add(const Digest& digest) noexcept;
  /// The number of values, then these.
  void add(std::span<const double> values) noexcept;

  /// Of all that was added until now.
  [[nodiscard]] Digest digest() const noexcept;

private:
  struct State;
  std::unique_ptr<State> m_state;
};

/// Of these bytes alone.
[[nodiscard]] Digest digest_of(const void* bytes, std::size_t n) noexcept;

/// Its 32 hexadecimal digits, the highest first, as xxhsum writes them.
[[nodiscard]] std::string hex(const Digest& digest);

}  // namespace prismfield
