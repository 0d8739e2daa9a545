// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Checkpoints. After i the bytes are, behind how many integers, the integers and doubles that an inversion's checkpoint
// holds, in a file whose checksums are right, so that it is not these that refuse it; after any other the files of
// ranks 0 and 1, parted by a mark, whose checksums let nothing pass that no run or inversion wrote.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/inversion_state.hpp>
#include <prismfield/plan.hpp>

#include "compute/checkpoint.hpp"
#include "fuzz_input.hpp"

namespace prismfield::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr Digest case_hash = {42, 7};
constexpr std::string_view part_mark = "<rank>";

void write_files(const fs::path& file, Bytes& bytes) {
  std::ofstream(file, std::ios::binary) << bytes.before(part_mark);
  if (!bytes.rest().empty()) std::ofstream(rank_file(file, 1), std::ios::binary) << bytes.rest();
}

/// Goes on from what the file holds, as one rank of one or two.
void resume(const fs::path& file) {
  Plan plan;
  plan.n_prisms = 100;
  plan.n_points = 7;
  plan.prism_end = 100;
  plan.point_end = 7;
  for (const auto& [rank, n_ranks] : {std::pair{1, 2}, std::pair{0, 2}, std::pair{0, 1}}) {
    plan.prism_parts = n_ranks;
    ends_clearly([&, rank = rank] {
      const std::unique_ptr<RankWork> work = method_of(plan).work(plan, rank);
      require(read_checkpoint(file, case_hash, *work).has_value(), "a checkpoint that is not there");
    });
  }
}

/// The same of an inversion.
void go_on_with_inversion(const fs::path& file) {
  ends_clearly([&] {
    InversionState state, again;
    require(read_checkpoint(file, case_hash, state).has_value(), "a checkpoint that is not there");
    // what was read is written as it was
    write_checkpoint(file, case_hash, state);
    require(read_checkpoint(file, case_hash, again).has_value(), "a checkpoint that is lost");
    require(again.model.size() == state.model.size() && again.rows.size() == state.rows.size(), "another state");
  });
}

/// The first numbers of bytes, as many as there are up to n; moves behind them.
template <class T>
std::vector<T> numbers(std::string_view& bytes, std::size_t n) {
  std::vector<T> found(std::min(n, bytes.size() / sizeof(T)));
  if (!found.empty()) std::memcpy(found.data(), bytes.data(), found.size() * sizeof(T));
  bytes.remove_prefix(found.size() * sizeof(T));
  return found;
}

void write_inversion(const fs::path& file, Bytes& bytes) {
  const std::size_t n_integers = bytes.byte();
  std::string_view rest = bytes.rest();
  WorkState state;
  state.numbers = numbers<std::int64_t>(rest, n_integers);
  const std::vector<double> doubles = numbers<double>(rest, rest.size());
  state.sums = {doubles};
  write_checkpoint(file, {"inversion", case_hash, {}}, 0, state);
}

void run(Bytes bytes) {
  static const fs::path file = Folder::file("c.h5");
  std::error_code ignored;
  for (const int rank : {0, 1}) fs::remove(rank_file(file, rank), ignored);
  if (bytes.byte() == 'i') {
    write_inversion(file, bytes);
  } else {
    write_files(file, bytes);
  }
  resume(file);
  go_on_with_inversion(file);
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
