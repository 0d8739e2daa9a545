// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

namespace prismfield {
namespace {

namespace fs = std::filesystem;

void require(bool right, const char* what) {
  if (!right) throw Unusable(fmt::format("is damaged: {} cannot be", what));
}

bool is_range(IndexRange range, std::int64_t size) {
  return 0 <= range.begin && range.begin <= range.end && range.end <= size;
}

InputError error(const fs::path& file, const Unusable& why) {
  const char* const remedy = why.kind == CheckpointKind::foreign
                                 ? "it is not replaced; move it away, or give the checkpoint another name"
                                 : "without --resume the run begins anew and replaces it";
  return {"", "output.checkpoint.file", fmt::format("{} {}; {}", file.string(), why.what(), remedy)};
}

/// Slots, batches and their products are counts, as in a request.
constexpr std::int64_t most_of_a_setting = 1'000'000'000;

void require_settings(const WorkLayout& layout, std::int64_t n_points) {
  for (const std::int64_t n : {layout.slots, layout.batch}) {
    require(1 <= n && n <= most_of_a_setting, "slots or batch");
  }
  require(1 <= layout.chunk_prisms && layout.chunk_prisms % layout.batch == 0, "chunks");
  const bool has_points =
      std::any_of(layout.work.begin(), layout.work.end(), [](const WorkItem& item) { return item.ordered.size() > 0; });
  require((has_points ? 1 : 0) <= layout.tile_points && layout.tile_points <= n_points, "tiles");
}

std::vector<std::int64_t> numbers_of(const CheckpointLayout& layout) {
  std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(layout.ranks.size())};
  for (const WorkLayout& rank : layout.ranks) append(rank, numbers);
  return numbers;
}

/// What numbers_of() made of it, checked against the plan.
std::vector<WorkLayout> layout_of(const std::vector<std::int64_t>& numbers, const Plan& plan) {
  NumberReader in(numbers);
  std::vector<WorkLayout> ranks;
  const std::int64_t n_ranks = in.next();
  require(n_ranks >= 1, "the number of ranks");
  for (std::int64_t rank = 0; rank < n_ranks; ++rank) {
    const WorkLayout& layout = ranks.emplace_back(in.layout());
    for (const WorkItem& item : layout.work) {
      require(is_range(item.prisms, plan.n_prisms) && is_range(item.points, plan.n_points) &&
                  is_range(item.ordered, item.points.size()),
              "a range of the layout");
    }
    require_settings(layout, plan.n_points);
  }
  require(in.is_at_end(), "the layout");
  return ranks;
}

/// Passes the numbers of a state to f in the order of the file. A device without memory makes the plan smaller after
/// the layout was fixed: these settings are what the state was made with.
template <class State, class F>
void each_number(State& state, const F& f) {
  auto& [layout, progress, payload] = state;
  for (auto* number : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms, &layout.points.begin,
                       &layout.points.end, &progress.item, &progress.tile, &progress.prisms}) {
    f(*number);
  }
  for (auto& pairs : progress.pairs_by_form) f(pairs);
}

std::vector<std::int64_t> numbers_of(const RankState& state) {
  std::vector<std::int64_t> numbers;
  each_number(state, [&](std::int64_t number) { numbers.push_back(number); });
  numbers.push_back(state.payload.empty() ? 0 : 1);
  return numbers;
}

/// Checks how far a rank of a layout has come.
void require_progress(const RankState& state) {
  const auto& [layout, progress, payload] = state;
  require(0 <= progress.item && progress.item <= static_cast<std::int64_t>(layout.work.size()), "progress");
  if (state.finished()) {
    require(progress.tile == 0 && progress.prisms == 0, "progress");
    return;
  }
  const WorkItem& item = layout.work[static_cast<std::size_t>(progress.item)];
  require(0 <= progress.tile && progress.tile <= item.ordered.size(), "progress");
  require(0 <= progress.prisms && progress.prisms <= item.prisms.size(), "progress");
  // kept at the end of a chunk
  require(progress.prisms % layout.chunk_prisms == 0 || progress.prisms == item.prisms.size(), "progress");
}

/// Pairs are counted exactly, and compared as doubles.
constexpr double rounding = 1e-12;

double all_pairs(const Plan& plan) { return static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points); }

double pairs_done(const RankState& state) {
  double pairs = 0;
  for (const std::int64_t of_form : state.progress.pairs_by_form) pairs += static_cast<double>(of_form);
  return pairs;
}

/// Reads a state's numbers; the work of its layout stays. Whether it has a payload. Throws Unusable.
bool take_numbers(NumberReader& in, const Plan& plan, RankState& state) {
  each_number(state, [&](std::int64_t& number) { number = in.next(); });
  const bool has_payload = in.next() != 0;
  const auto& [layout, progress, payload] = state;
  require(is_range(layout.points, plan.n_points), "a range of points");
  require(has_payload || layout.points.size() == 0 || progress == WorkProgress(), "progress without values");
  for (const std::int64_t of_form : progress.pairs_by_form) require(of_form >= 0, "the number of pairs");
  require(pairs_done(state) <= all_pairs(plan) * (1 + rounding), "the number of pairs");
  return has_payload;
}

void require_pairs_complete(const Checkpoint& checkpoint, const Plan& plan) {
  double pairs = pairs_done(checkpoint.before);
  for (const WorkLayout& layout : checkpoint.layout.ranks) pairs += pairs_in(layout.work);
  const double all = all_pairs(plan);
  require(all * (1 - rounding) <= pairs && pairs <= all * (1 + rounding), "the work of all ranks together");
}

/// Throws Unusable for a state that would take far more scratch than the plan.
void require_scratch(const WorkLayout& layout, const Plan& plan) {
  // what so many threads have, or a device that has much to do with few points
  constexpr double most_slots = 512, always = 512.0 * 1024 * 1024;
  const auto scratch = [&](double slots, std::int64_t tile) {
    return slots * static_cast<double>(tile) * static_cast<double>(plan.slot_point_bytes);
  };
  const double most = std::max(
      static_cast<double>(plan.scratch_bytes),
      std::min(static_cast<double>(plan.memory_limit), std::max(always, scratch(most_slots, plan.tile_points))));
  if (scratch(static_cast<double>(layout.slots), layout.tile_points) <= most) return;
  throw Unusable(
      fmt::format("asks for {} slots of {} points, more than execution.memory_limit and this machine allow; go on with "
                  "more memory or on another number of ranks",
                  layout.slots, layout.tile_points));
}

/// Reads a file's sums into states that have a payload, all at once or not at all. Throws Unusable.
void take_sums(CheckpointReader& reader, const std::vector<RankState*>& states, std::int64_t n_fields, bool wanted) {
  std::int64_t n_points = 0;
  for (const RankState* state : states) n_points += state->layout.points.size();
  require(reader.header().sums.bytes == payload_bytes(n_fields, n_points), "the number of values");
  if (!wanted) return;
  std::vector<std::vector<double>*> sums;
  for (RankState* state : states) {
    state->payload = empty_payload(n_fields, state->layout.points.size());
    sums.push_back(&state->payload.values);
    sums.push_back(&state->payload.contact);
  }
  reader.read_sums(sums);
  for (const std::vector<double>* part : sums) {
    require(std::all_of(part->begin(), part->end(), [](double value) { return std::isfinite(value); }),
            "a value that is not finite");
  }
}

/// Reads a checkpoint file by file. Throws Unusable, for the file at().
class Reading {
public:
  Reading(const fs::path& file, const Digest& case_hash, const Plan& plan, int rank, int n_ranks)
      : m_file(file), m_at(rank_file(file, 0)), m_plan(plan), m_rank(rank), m_n_ranks(n_ranks) {
    m_checkpoint.layout.case_hash = case_hash;
  }

  [[nodiscard]] const fs::path& at() const noexcept { return m_at; }

  std::optional<Checkpoint> read() {
    CheckpointReader first(m_at);
    if (first.kind() == CheckpointKind::absent) return std::nullopt;
    first.require_replaceable(&m_checkpoint.layout.case_hash);
    first.require_ours();
    m_checkpoint.layout.ranks = layout_of(first.layout(), m_plan);
    for (const WorkLayout& layout : m_checkpoint.layout.ranks) m_checkpoint.states.push_back({layout, {}, {}});
    take(first, 0);
    for (int other = 1; other < static_cast<int>(m_checkpoint.states.size()); ++other) {
      m_at = rank_file(m_file, other);
      CheckpointReader reader(m_at);
      // a rank that has kept nothing of this layout begins at its start
      if (reader.kind() == CheckpointKind::absent) continue;
      reader.require_ours();
      if (!reader.is_of(m_checkpoint.layout.case_hash) || reader.header().layout.digest != m_layout_id) continue;
      require(reader.header().layout.bytes == 0, "the layout");
      take(reader, other);
    }
    if (has_same_ranks()) require_scratch(state_of(m_rank).layout, m_plan);
    return std::move(m_checkpoint);
  }

private:
  [[nodiscard]] RankState& state_of(int rank) { return m_checkpoint.states[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool has_same_ranks() const {
    return m_checkpoint.states.size() == static_cast<std::size_t>(m_n_ranks);
  }

  /// State and sums of a rank; in the file of rank 0 also what was done before.
  void take(CheckpointReader& reader, int rank) {
    RankState& state = state_of(rank);
    RankState& before = m_checkpoint.before;
    require(reader.header().rank == rank, "the state of another rank");
    const std::vector<std::int64_t> numbers = reader.state();
    NumberReader in(numbers);
    std::vector<RankState*> with_payload;
    const IndexRange points = state.layout.points;
    if (take_numbers(in, m_plan, state)) with_payload.push_back(&state);
    require(state.layout.points == points, "the points of a state");
    require_settings(state.layout, m_plan.n_points);
    require_progress(state);
    if (rank == 0) {
      const IndexRange all{0, m_plan.n_points};
      const bool has_before = take_numbers(in, m_plan, before);
      require(!has_before || before.layout.points == all, "the points of earlier work");
      before.layout.points = all;
      if (has_before) with_payload.push_back(&before);
      require_pairs_complete(m_checkpoint, m_plan);
      m_layout_id = reader.header().layout.digest;
    }
    require(in.is_at_end(), "the state");
    const bool wanted = has_same_ranks() ? rank == m_rank : m_rank == 0;
    take_sums(reader, with_payload, fields_of(m_plan.set).size(), wanted);
    if (has_same_ranks() || !wanted) return;
    add_state(state, before);
    state.payload = {};
  }

  const fs::path m_file;
  fs::path m_at;
  const Plan& m_plan;
  int m_rank, m_n_ranks;
  Digest m_layout_id;
  Checkpoint m_checkpoint;
};

std::vector<std::span<const double>> sums_of(const RankState& state) {
  return {state.payload.values, state.payload.contact};
}

}  // namespace

void append(const WorkLayout& layout, std::vector<std::int64_t>& numbers) {
  numbers.insert(numbers.end(), {layout.slots, layout.batch, layout.tile_points, layout.chunk_prisms,
                                 static_cast<std::int64_t>(layout.work.size())});
  for (const WorkItem& item : layout.work) {
    for (const IndexRange range : {item.prisms, item.points, item.ordered}) {
      numbers.insert(numbers.end(), {range.begin, range.end});
    }
  }
}

std::int64_t NumberReader::next() {
  require(!m_left.empty(), "a number that is missing");
  const std::int64_t number = m_left.front();
  m_left = m_left.subspan(1);
  return number;
}

WorkLayout NumberReader::layout() {
  WorkLayout layout;
  for (std::int64_t* number : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms})
    *number = next();
  for (std::int64_t n_items = next(); n_items > 0; --n_items) {
    WorkItem& item = layout.work.emplace_back();
    for (IndexRange* range : {&item.prisms, &item.points, &item.ordered}) {
      range->begin = next();
      range->end = next();
    }
  }
  layout.points = points_of(layout.work);
  return layout;
}

Digest CheckpointLayout::id() const {
  const std::vector<std::int64_t> numbers = numbers_of(*this);
  return digest_of(numbers.data(), numbers.size() * sizeof(std::int64_t));
}

Digest Checkpoint::id() const {
  Checksum checksum;
  checksum.add(layout.id());
  for (const auto& [of_rank, progress, payload] : states) {
    for (const std::int64_t n : {of_rank.tile_points, progress.item, progress.tile, progress.prisms, of_rank.slots}) {
      checksum.add(n);
    }
  }
  return checksum.digest();
}

void check_checkpoint_place(const fs::path& checkpoint, int n_ranks, const Digest* case_hash) {
  ProblemList problems;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const fs::path file = rank_file(checkpoint, rank);
    try {
      CheckpointReader(file).require_replaceable(case_hash);
    } catch (const Unusable& why) {
      problems.add(error(file, why));
    }
  }
  problems.throw_if_any();
}

void write_checkpoint(const fs::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state) {
  std::vector<std::int64_t> numbers = numbers_of(state);
  std::vector<std::span<const double>> sums = sums_of(state);
  const std::vector<std::int64_t> of_before = numbers_of(before);
  numbers.insert(numbers.end(), of_before.begin(), of_before.end());
  for (const std::span<const double> part : sums_of(before)) sums.push_back(part);
  write_checkpoint_file(rank_file(file, 0), layout.case_hash, 0, layout.id(), numbers_of(layout), numbers, sums);
}

void write_rank_state(const fs::path& file, int rank, const CheckpointLayout& layout, const Digest& layout_id,
                      const RankState& state) {
  write_checkpoint_file(rank_file(file, rank), layout.case_hash, rank, layout_id, {}, numbers_of(state),
                        sums_of(state));
}

std::optional<Checkpoint> read_checkpoint(const fs::path& file, const Digest& case_hash, const Plan& plan, int rank,
                                          int n_ranks) {
  Reading reading(file, case_hash, plan, rank, n_ranks);
  try {
    return reading.read();
  } catch (const Unusable& why) {
    throw error(reading.at(), why);
  }
}

}  // namespace prismfield
