// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string_view>

namespace prismfield {

/// FNV-1a, 64 bits: tells files and settings apart, not against forgery.
class Hash {
public:
  void add(std::string_view bytes) noexcept {
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
  }
  /// Its eight bytes, lowest first: the same on every machine.
  void add(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(bits >> shift));
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return m_value; }

private:
  void add_byte(unsigned char byte) noexcept {
    m_value ^= byte;
    m_value *= 0x100000001b3U;
  }

  std::uint64_t m_value = 0xcbf29ce484222325U;
};

}  // namespace prismfield
