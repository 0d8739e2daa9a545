// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Checkpoints. After the letter n the bytes are the numbers of a checkpoint, written as such; after i a number of cells
// and what an inversion's checkpoint holds behind its header, after I the whole file of one; after any other they are
// the files of ranks 0 and 1, parted by a mark. All but whole files are signed anew so that it is not the checksums
// that refuse them. What is read, a run goes on from.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/plan.hpp>

#include "compute/checkpoint.hpp"
#include "fuzz_input.hpp"
#include "io/inversion_files.hpp"
#include "kept_direct_runs.hpp"
#include "kernel/contact.hpp"
#include "signed_checkpoint.hpp"

namespace prismfield::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr Digest case_hash = {42, 7};
constexpr std::string_view part_mark = "<rank>";
constexpr std::int64_t most_points = 64;

/// A small number from a byte, or any one from eight more.
std::int64_t number(Bytes& bytes) {
  constexpr unsigned largest_small = 250;
  const unsigned first = bytes.byte();
  if (first <= largest_small) return static_cast<std::int64_t>(first);
  std::uint64_t any = 0;
  for (unsigned i = 0; i < sizeof any; ++i) any = any << 8U | bytes.byte();
  return static_cast<std::int64_t>(any);
}

IndexRange range(Bytes& bytes) {
  const std::int64_t begin = number(bytes);
  return {begin, number(bytes)};
}

RankState state(Bytes& bytes) {
  RankState made;
  auto& [layout, progress, payload] = made;
  for (std::int64_t* n : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms}) *n = number(bytes);
  for (unsigned items = bytes.byte() % 4; items > 0; --items) {
    WorkItem item;
    item.prisms = range(bytes);
    item.points = range(bytes);
    item.ordered = range(bytes);
    layout.work.push_back(item);
  }
  const IndexRange points = range(bytes);
  // a range that is written has a size
  constexpr std::int64_t most = std::int64_t{1} << 61;
  layout.points = {std::clamp(points.begin, -most, most), std::clamp(points.end, -most, most)};
  for (std::int64_t* n : {&progress.item, &progress.tile, &progress.prisms}) *n = number(bytes);
  for (std::int64_t& pairs : progress.pairs_by_form) pairs = number(bytes);
  const unsigned n_fields = bytes.byte() % 11;
  const bool few = layout.points.begin >= 0 && layout.points.begin < layout.points.end &&
                   layout.points.end - layout.points.begin <= most_points;
  if (few && n_fields > 0) payload = empty_payload(n_fields, layout.points.size());
  return made;
}

void write_numbers(const fs::path& file, Bytes& bytes) {
  testing::CheckpointLayout layout;
  layout.case_hash = case_hash;
  std::vector<RankState> states;
  for (unsigned ranks = bytes.byte() % 3 + 1; ranks > 0; --ranks) {
    states.push_back(state(bytes));
    layout.ranks.push_back(states.back().layout);
  }
  const RankState before = bytes.byte() % 2 == 0 ? RankState{} : state(bytes);
  testing::write_checkpoint(file, layout, before, states[0]);
  for (std::size_t rank = 1; rank < states.size(); ++rank) {
    testing::write_rank(file, static_cast<int>(rank), layout, states[rank]);
  }
}

/// Writes one file as it is but for the case, lengths and checksums.
CheckpointHeader write_signed(const fs::path& file, std::string_view of, const Digest* layout_id) {
  std::string bytes(of);
  bytes.resize(std::max(bytes.size(), sizeof(CheckpointHeader)));
  std::memcpy(bytes.data() + offsetof(CheckpointHeader, case_hash), &case_hash, sizeof case_hash);
  constexpr std::array<char, sizeof CheckpointHeader::method> method = {'d', 'i', 'r', 'e', 'c', 't'};
  std::memcpy(bytes.data() + offsetof(CheckpointHeader, method), &method, sizeof method);
  const CheckpointHeader header = testing::sign_bytes(bytes, layout_id);
  std::ofstream(file, std::ios::binary) << bytes;
  return header;
}

void write_files(const fs::path& file, Bytes& bytes) {
  const CheckpointHeader first = write_signed(file, bytes.before(part_mark), nullptr);
  if (!bytes.rest().empty()) write_signed(rank_file(file, 1), bytes.rest(), &first.layout.digest);
}

/// Goes on from what the file holds, as one rank of one or two.
void resume(const fs::path& file) {
  Plan plan;
  plan.n_prisms = 100;
  plan.n_points = 7;
  plan.prism_end = 100;
  plan.point_end = 7;
  plan.direct.batch = 64;
  plan.direct.chunk_prisms = 128;
  plan.direct.tile_points = 7;
  plan.direct.slot_point_bytes = 80;
  plan.direct.scratch_bytes = 1 << 20;
  plan.memory_limit = 1 << 30;
  for (const auto& [rank, n_ranks] : {std::pair{1, 2}, std::pair{0, 2}, std::pair{0, 1}}) {
    ends_clearly([&, rank = rank, n_ranks = n_ranks] {
      const std::optional<KeptStates> kept = testing::read_checkpoint(file, case_hash, plan, rank, n_ranks);
      require(kept.has_value(), "a checkpoint that is not there");
      for (const RankState& state : kept->states) {
        const std::size_t size = state.payload.values.size();
        require(size == 0 || size == 10 * static_cast<std::size_t>(state.layout.points.size()),
                "values of another number than the points");
      }
      if (n_ranks > 1) return;
      const Communicator alone;
      const std::unique_ptr<RankWork> work = make_work(plan, alone);
      CheckpointGuard guard({file, 600}, case_hash, alone);
      require(guard.read(*work), "a checkpoint that is not there");
      (void)guard.id();
      guard.settle(*work);
      (void)work->prisms();
      guard.begin(*work);
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
  for (const int rank : {0, 1, 2}) fs::remove(rank_file(file, rank), ignored);
  const unsigned kind = bytes.byte();
  if (kind == 'i' || kind == 'I') {
    const auto n_cells = static_cast<std::int64_t>(bytes.byte());
    go_on_with_inversion(file, bytes.rest(), n_cells, kind == 'I');
  } else if (kind != 'n') {
    write_files(file, bytes);
    resume(file);
  } else if (ends_clearly([&] { write_numbers(file, bytes); })) {
    resume(file);
  }
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
