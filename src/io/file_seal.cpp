// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/file_seal.hpp"

#include <algorithm>
#include <fstream>
#include <ios>
#include <string_view>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

constexpr std::string_view mark = "prismfield seal\n";
constexpr std::int64_t number_bytes = sizeof(std::int64_t), pair_bytes = 2 * number_bytes;
/// pairs, their number, the length without the seal, the digest, the mark
constexpr std::int64_t bytes_without_pairs =
    2 * number_bytes + std::int64_t{sizeof(Digest)} + std::int64_t{mark.size()};
constexpr std::int64_t most_pairs = 16;

template <class Value>
void append(std::string& to, const Value& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The seal that belongs to `file`, of `length` bytes before it, in which the pairs are left out.
std::string expected_seal(std::ifstream& in, std::int64_t length, const std::vector<std::int64_t>& pairs) {
  FileSeal seal;
  std::vector<char> piece(std::size_t{1} << 20);
  std::int64_t at = 0;
  in.clear();
  in.seekg(0);
  const auto add_until = [&](std::int64_t end) {
    while (at < end && in) {
      in.read(piece.data(), std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), end - at));
      seal.add(piece.data(), static_cast<std::size_t>(in.gcount()));
      at += in.gcount();
    }
  };
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] < at || pairs[i] > length || pairs[i + 1] < 0 || pairs[i + 1] > length - pairs[i]) return {};
    add_until(pairs[i]);
    seal.leave_out(pairs[i + 1]);
    at += pairs[i + 1];
    in.seekg(at);
  }
  add_until(length);
  return seal.bytes();
}

}  // namespace

void FileSeal::add(const void* bytes, std::size_t n) noexcept {
  m_checksum.add_bytes(bytes, n);
  m_length += static_cast<std::int64_t>(n);
}

void FileSeal::leave_out(std::int64_t n) {
  m_left_out.insert(m_left_out.end(), {m_length, n});
  m_length += n;
}

std::string FileSeal::bytes() {
  std::string seal;
  for (const std::int64_t number : m_left_out) append(seal, number);
  append(seal, static_cast<std::int64_t>(m_left_out.size() / 2));
  append(seal, m_length);
  m_checksum.add_bytes(seal.data(), seal.size());
  append(seal, m_checksum.digest());
  return seal.append(mark);
}

void check_seal(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::int64_t size = in.seekg(0, std::ios::end).tellg();
  std::string found(static_cast<std::size_t>(bytes_without_pairs), '\0');
  if (!in.seekg(size - bytes_without_pairs).read(found.data(), bytes_without_pairs)) return;
  if (!found.ends_with(mark)) return;
  std::int64_t n_pairs = 0;
  found.copy(reinterpret_cast<char*>(&n_pairs), sizeof n_pairs);
  if (n_pairs >= 0 && n_pairs <= most_pairs && size >= bytes_without_pairs + n_pairs * pair_bytes) {
    std::vector<std::int64_t> pairs(static_cast<std::size_t>(2 * n_pairs));
    size -= bytes_without_pairs + n_pairs * pair_bytes;
    in.seekg(size).read(reinterpret_cast<char*>(pairs.data()), n_pairs * pair_bytes);
    found.insert(0, reinterpret_cast<const char*>(pairs.data()), static_cast<std::size_t>(n_pairs * pair_bytes));
    if (in && expected_seal(in, size, pairs) == found) return;
  }
  throw RunError(file.string() +
                 ": its bytes are not those that were written (checksum); take the file from a copy or make it again");
}

}  // namespace prismfield
