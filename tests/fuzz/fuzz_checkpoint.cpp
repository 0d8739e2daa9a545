// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Checkpoints. After i the bytes are a number of cells and what an inversion's checkpoint holds behind its header,
// which is signed so that it is not the checksums that refuse it; after I the whole file of one; after any other the
// files of ranks 0 and 1 of a forward run, parted by a mark, whose checksums let nothing pass that a run did not write.
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/plan.hpp>

#include "compute/checkpoint.hpp"
#include "fuzz_input.hpp"
#include "io/inversion_files.hpp"

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
    ends_clearly([&, rank = rank, n_ranks = n_ranks] {
      const std::unique_ptr<RankWork> work = method_of(plan).work(plan, rank);
      require(read_checkpoint(file, case_hash, *work, n_ranks).has_value(), "a checkpoint that is not there");
    });
  }
}

/// The header of io/inversion_files.cpp.
struct InversionHeader {
  std::array<char, 16> mark = {'p', 'r', 'i', 's', 'm', 'f', 'i', 'e', 'l', 'd', ' ', 'i', 'n', 'v', '\r', '\n'};
  std::int64_t version = inversion_checkpoint_version, content_bytes = 0;
  Digest case_hash = fuzz::case_hash, content, header;
};

void go_on_with_inversion(const fs::path& file, std::string_view content, std::int64_t n_cells, bool is_whole) {
  std::ofstream out(file, std::ios::binary);
  if (!is_whole) {
    InversionHeader header;
    header.content_bytes = static_cast<std::int64_t>(content.size());
    header.content = digest_of(content.data(), content.size());
    header.header = digest_of(&header, sizeof header - sizeof(Digest));
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
  }
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  ends_clearly([&] {
    const std::optional<InversionState> state = read_inversion_checkpoint(file, case_hash, n_cells);
    require(state.has_value(), "a checkpoint that is not there");
    const auto n = static_cast<std::size_t>(n_cells);
    require(state->model.size() == n, "densities of another number than the cells");
    for (const std::vector<double>* values : {&state->weights_model, &state->squares, &state->depth_of_investigation}) {
      require(values->empty() || values->size() == n, "values of another number than the cells");
    }
    // what was read is written as it was
    write_inversion_checkpoint(file, case_hash, *state);
    std::ifstream in(file, std::ios::binary);
    const std::string again{std::istreambuf_iterator<char>(in), {}};
    if (!is_whole) require(again.substr(sizeof(InversionHeader)) == content, "other bytes than those that were read");
  });
}

void run(Bytes bytes) {
  static const fs::path file = Folder::file("c.h5");
  std::error_code ignored;
  for (const int rank : {0, 1}) fs::remove(rank_file(file, rank), ignored);
  const unsigned kind = bytes.byte();
  if (kind == 'i' || kind == 'I') {
    const auto n_cells = static_cast<std::int64_t>(bytes.byte());
    go_on_with_inversion(file, bytes.rest(), n_cells, kind == 'I');
  } else {
    write_files(file, bytes);
    resume(file);
  }
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
