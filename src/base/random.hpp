// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>

namespace prismfield {

/// Sequences of random values; different streams are independent at equal seed and index. The numbers define what a
/// seed means: never change one.
enum class RandomStream : std::uint32_t {
  cell_density = 1,
  mesh_width_easting = 2,
  mesh_width_northing = 3,
  mesh_width_upward = 4,
  station_easting = 5,
  station_northing = 6,
  station_upward = 7,
  cell_susceptibility = 8,
  /// native gravity field f has the stream noise + f, guv the stream noise + 10
  noise = 16,
  /// draws of a study's bootstrap
  bootstrap = 32,
  /// samples of an inversion's posterior, and the start of its power iterations
  posterior_cells = 33,
  posterior_data = 34,
  power_iteration = 35,
  /// samples of the change between an inversion's epochs
  posterior_change = 36,
  /// the start of an inversion's low rank, and the signs of its probes
  low_rank = 40,
  probe = 41,
  /// points at which a tolerance is checked
  check_point = 48,
  /// every other Field f has the stream other_noise + f
  other_noise = 64,
};

/// The generator Philox4x32 with ten rounds, similar to a block cipher: 128 random bits from a counter and a key.
/// Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC11, section 3.3.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

/// 64 random bits each for the indices 2 block and 2 block + 1, the halves of one Philox block.
[[nodiscard]] constexpr std::array<std::uint64_t, 2> random_bit_pair(std::uint64_t seed, RandomStream stream,
                                                                     std::uint64_t block) noexcept {
  const auto words = philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                                 static_cast<std::uint32_t>(stream), 0},
                                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {std::uint64_t{words[1]} << 32 | words[0], std::uint64_t{words[3]} << 32 | words[2]};
}

/// 64 random bits, which depend on seed, stream and index only.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, RandomStream stream,
                                                  std::uint64_t index) noexcept {
  return random_bit_pair(seed, stream, index / 2)[index % 2];
}

/// Uniform on [0, 1), a multiple of 2^-53; depends on seed, stream and index only, on every machine alike.
[[nodiscard]] constexpr double random_uniform(std::uint64_t seed, RandomStream stream, std::uint64_t index) noexcept {
  return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/// Uniform on [min, max), min < max; depends on its arguments only, on every machine alike.
[[nodiscard]] double random_uniform(double min, double max, std::uint64_t seed, RandomStream stream,
                                    std::uint64_t index) noexcept;

/// Writes out[i] = random_uniform(min, max, seed, stream, first + i) for i < count, faster than one by one.
void fill_uniform(double min, double max, std::uint64_t seed, RandomStream stream, std::uint64_t first,
                  std::int64_t count, double* out) noexcept;

/// Standard normal deviate, at most 8.3 in magnitude; depends on seed, stream and index only, bit for bit on every
/// machine.
[[nodiscard]] double random_normal(std::uint64_t seed, RandomStream stream, std::uint64_t index) noexcept;

/// Quantile of the standard normal distribution at p in (0, 1), with a relative error of about 1e-15, bit for bit on
/// every machine. Source: Wichura, Algorithm AS 241, Applied Statistics 37 (1988), routine PPND16.
[[nodiscard]] double normal_quantile(double p) noexcept;

}  // namespace prismfield
