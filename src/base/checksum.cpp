// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace prismfield {

struct Checksum::State {
  XXH3_state_t xxh3;
};

namespace {

Digest digest_of(XXH128_hash_t hash) noexcept { return {hash.low64, hash.high64}; }

}  // namespace

Checksum::Checksum() : m_state(std::make_unique<State>()) { XXH3_128bits_reset(&m_state->xxh3); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::add_bytes(const void* bytes, std::size_t n) noexcept {
  if (n > 0) XXH3_128bits_update(&m_state->xxh3, bytes, n);
}

void Checksum::add(std::string_view text) noexcept {
  add(static_cast<std::int64_t>(text.size()));
  add_bytes(text.data(), text.size());
}

void Checksum::add(std::int64_t value) noexcept { add_bytes(&value, sizeof value); }

void Checksum::add(double value) noexcept { add_bytes(&value, sizeof value); }

void Checksum::add(const Digest& digest) noexcept { add_bytes(&digest, sizeof digest); }

void Checksum::add(std::span<const double> values) noexcept {
  add(static_cast<std::int64_t>(values.size()));
  add_bytes(values.data(), values.size_bytes());
}

Digest Checksum::digest() const noexcept { return digest_of(XXH3_128bits_digest(&m_state->xxh3)); }

Digest digest_of(const void* bytes, std::size_t n) noexcept { return digest_of(XXH3_128bits(bytes, n)); }

std::string hex(const Digest& digest) { return fmt::format("{:016x}{:016x}", digest.high, digest.low); }

}  // namespace prismfield
