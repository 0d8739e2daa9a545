// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/same_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

#include "base/checksum.hpp"
#include "io/input_file.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/rank_consistency.hpp"

namespace prismfield {
namespace {

/// What the file system says of a file: two ranks with the same numbers see one file, on different nodes too, where
/// alone its device may have another number. All 0: there is none.
using FileFacts = std::array<std::int64_t, 4>;

FileFacts facts_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
          static_cast<std::int64_t>(status.st_mtim.tv_sec), static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
}

/// 0 for a file that cannot be read.
std::uint64_t hash_of(const std::filesystem::path& file) {
  Checksum sum;
  std::ifstream in(file, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    sum.add_bytes(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  return in.eof() ? sum.digest().low : 0;
}

/// The ranks for which `file` is another than for rank 0, rising, on every rank. Collective.
std::vector<int> ranks_with_other_file(const std::filesystem::path& file, const Communicator& communicator) {
  const FileFacts mine = facts_of(file);
  const std::vector<std::int64_t> all =
      gather_everywhere(communicator, std::vector<std::int64_t>(mine.begin(), mine.end()));
  const auto as_root = [&](std::size_t rank) {
    return std::equal(mine.size() * rank + all.begin(), mine.size() * (rank + 1) + all.begin(), all.begin());
  };
  bool one_file = true;
  for (std::size_t rank = 1; rank < all.size() / mine.size(); ++rank) one_file = one_file && as_root(rank);
  if (one_file) return {};
  const auto number = static_cast<std::size_t>(communicator.rank());
  std::uint64_t hash = 0;
  agree(communicator, [&] {
    if (number == 0 || !as_root(number)) hash = hash_of(file);
  });
  std::uint64_t of_root = hash;
  broadcast(communicator, of_root);
  return ranks_unlike_root(number > 0 && as_root(number) ? of_root : hash, communicator);
}

}  // namespace

void check_same_file(const InputFile& file, const Communicator& communicator) {
  const std::vector<int> others = ranks_with_other_file(file.path, communicator);
  if (others.empty()) return;
  throw file.error(
      fmt::format("is not the same for all ranks: for {} it is another file than for rank 0, or none; put it "
                  "where all nodes see it, or the same copy on every node",
                  ranks_text(others)));
}

}  // namespace prismfield
