// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace prismfield::test_checksum {
namespace {

TEST(Checksum, IsXxh3Of128Bits) {
  // of no bytes, as the library's own specification has it
  EXPECT_EQ(Checksum().digest(), (Digest{0x6001c324468d497f, 0x99aa06d3014798d8}));
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(i * 37 % 251));
  const Digest whole = digest_of(bytes.data(), bytes.size());
  for (const std::size_t piece : {1U, 7U, 64U, 256U, 1024U, 4999U}) {
    Checksum checksum;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      checksum.add_bytes(bytes.data() + at, std::min(piece, bytes.size() - at));
    }
    EXPECT_EQ(checksum.digest(), whole) << piece;
  }
  for (const std::size_t at : {0U, 17U, 2500U, 4999U}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(digest_of(changed.data(), changed.size()), whole) << at;
  }
}

TEST(Checksum, TellsTextsApartThatJoinToTheSame) {
  Checksum first, second;
  first.add("ab");
  first.add("c");
  second.add("a");
  second.add("bc");
  EXPECT_NE(first.digest(), second.digest());
}

TEST(Checksum, GoesOnAfterADigest) {
  Checksum checksum;
  checksum.add(std::int64_t{1});
  const Digest one = checksum.digest();
  EXPECT_EQ(checksum.digest(), one);
  checksum.add(2.0);
  EXPECT_NE(checksum.digest(), one);
}

}  // namespace
}  // namespace prismfield::test_checksum
