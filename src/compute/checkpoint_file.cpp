// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"
#include "compute/checkpoint_header.hpp"
#include "io/hdf5_file.hpp"
#include "kernel/contact.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Hands out integers in the order in which they were kept.
class Integers {
public:
  explicit Integers(std::vector<std::int64_t> values) : m_values(std::move(values)) {}
  /// Throws Unusable at the end.
  std::int64_t next() {
    if (left() == 0) throw Unusable("is damaged: numbers are missing");
    return m_values[m_next++];
  }
  IndexRange next_range() {
    const std::int64_t begin = next();
    return {begin, next()};
  }
  [[nodiscard]] std::int64_t left() const { return static_cast<std::int64_t>(m_values.size() - m_next); }

private:
  std::vector<std::int64_t> m_values;
  std::size_t m_next = 0;
};

void require(bool right, const char* what) {
  if (!right) throw Unusable(fmt::format("is damaged: {} cannot be", what));
}

bool is_range(IndexRange range, std::int64_t size) {
  return 0 <= range.begin && range.begin <= range.end && range.end <= size;
}

InputError mistake(const fs::path& file, const std::string& what, CheckpointKind kind) {
  const char* const remedy = kind == CheckpointKind::foreign
                                 ? "it is not replaced; move it away, or give the checkpoint another name"
                                 : "without --resume the run begins anew and replaces it";
  return {"", "output.checkpoint.file", fmt::format("{} {}; {}", file.string(), what, remedy)};
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

std::vector<std::int64_t> settings_of(const WorkLayout& layout) {
  return {layout.slots, layout.batch, layout.tile_points, layout.chunk_prisms};
}

/// A layout as integers: of each rank its settings and its items.
std::vector<std::int64_t> numbers_of(const CheckpointLayout& layout) {
  std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(layout.ranks.size())};
  for (const WorkLayout& rank : layout.ranks) {
    for (const std::int64_t n : settings_of(rank)) numbers.push_back(n);
    numbers.push_back(static_cast<std::int64_t>(rank.work.size()));
    for (const WorkItem& item : rank.work) {
      for (const IndexRange range : {item.prisms, item.points, item.ordered}) {
        numbers.push_back(range.begin);
        numbers.push_back(range.end);
      }
    }
  }
  return numbers;
}

/// What numbers_of() made of it, checked against the plan.
std::vector<WorkLayout> layout_of(std::vector<std::int64_t> numbers, const Plan& plan) {
  Integers in(std::move(numbers));
  std::vector<WorkLayout> ranks;
  const std::int64_t n_ranks = in.next();
  require(n_ranks >= 1, "the number of ranks");
  for (std::int64_t rank = 0; rank < n_ranks; ++rank) {
    WorkLayout& layout = ranks.emplace_back();
    for (std::int64_t* n : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms}) *n = in.next();
    const std::int64_t n_items = in.next();
    for (std::int64_t i = 0; i < n_items; ++i) {
      WorkItem item;
      for (IndexRange* range : {&item.prisms, &item.points, &item.ordered}) *range = in.next_range();
      require(is_range(item.prisms, plan.n_prisms) && is_range(item.points, plan.n_points) &&
                  is_range(item.ordered, item.points.size()),
              "a range of the layout");
      layout.work.push_back(item);
    }
    layout.points = points_of(layout.work);
    require_settings(layout, plan.n_points);
  }
  require(in.left() == 0, "the layout");
  return ranks;
}

KeptNumbers kept_numbers(const RankState& state) {
  const auto& [layout, progress, payload] = state;
  return {layout.slots,      layout.batch,  layout.tile_points, layout.chunk_prisms, layout.points.begin,
          layout.points.end, progress.item, progress.tile,      progress.prisms,     progress.pairs_by_form};
}

/// Reads a state's numbers; the work of its layout stays. Throws Unusable.
void take_numbers(const KeptNumbers& numbers, const Plan& plan, RankState& state) {
  auto& [layout, progress, payload] = state;
  layout.slots = numbers.slots;
  layout.batch = numbers.batch;
  layout.tile_points = numbers.tile_points;
  layout.chunk_prisms = numbers.chunk_prisms;
  layout.points = {numbers.points_begin, numbers.points_end};
  progress = {numbers.item, numbers.tile, numbers.prisms, numbers.pairs_by_form};
  require(is_range(layout.points, plan.n_points), "a range of points");
  const double all_pairs = static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points);
  double pairs = 0;
  for (const std::int64_t of_form : progress.pairs_by_form) {
    require(of_form >= 0, "the number of pairs");
    pairs += static_cast<double>(of_form);
  }
  constexpr double rounding = 1e-12;
  require(pairs <= all_pairs * (1 + rounding), "the number of pairs");
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

/// Where the payload of a state lies in a file.
struct PayloadPlace {
  KeptArray values, contact;

  [[nodiscard]] bool empty() const noexcept { return values.count == 0 && contact.count == 0; }
};

/// Checks that a payload is there when there has to be one, and of the size that the plan wants.
void require_payload(const PayloadPlace& place, const RankState& state, std::int64_t n_fields) {
  const std::int64_t n_points = state.layout.points.size();
  if (place.empty()) {
    require(n_points == 0 || state.progress == WorkProgress(), "progress without values");
    return;
  }
  require(
      n_points > 0 && place.values.count == n_fields * n_points && place.contact.count == n_contact_columns * n_points,
      "the number of values");
}

/// Throws Unusable for what is not to be replaced: what is no checkpoint, and one of another case than `case_hash`.
void require_replaceable(const CheckpointReader& there, const Digest* case_hash) {
  if (there.kind() == CheckpointKind::foreign) throw Unusable(there.what(), CheckpointKind::foreign);
  if (case_hash == nullptr || !there.is_of_another(*case_hash)) return;
  throw Unusable("is of another case: the model, the observations, the fields or a file that they name differ",
                 CheckpointKind::foreign);
}

/// A checkpoint's file that can be read, or a reason why not. Throws Unusable.
void require_ours(const CheckpointReader& file) {
  if (file.kind() != CheckpointKind::ours) throw Unusable(file.what(), file.kind());
}

std::int64_t n_fields_of(const Plan& plan) { return fields_of(plan.set).size(); }

/// Bounds what reading takes before any memory is taken: a file has room for its arrays and what HDF5 needs beside.
void require_bounded(const CheckpointHeader& header, const Plan& plan) {
  constexpr std::int64_t number = 8;
  constexpr std::int64_t most_beside = std::int64_t{1} << 20;
  constexpr std::int64_t most_of_layout = std::int64_t{1} << 24;
  const std::int64_t of_point = n_fields_of(plan) + n_contact_columns;
  std::int64_t count = 0;
  for (const KeptArray& array :
       {header.values, header.contact, header.before_values, header.before_contact, header.layout}) {
    require(0 <= array.count && array.count <= most_of_layout + of_point * plan.n_points, "the number of values");
    count += array.count;
  }
  require(header.layout.count <= most_of_layout, "the layout");
  require(header.file_bytes <= number * count + most_beside, "the size of the file");
}

void require_pairs_complete(const Checkpoint& checkpoint, const Plan& plan) {
  double pairs = 0;
  for (const WorkLayout& layout : checkpoint.layout.ranks) pairs += pairs_in(layout.work);
  for (const std::int64_t of_form : checkpoint.before.progress.pairs_by_form) pairs += static_cast<double>(of_form);
  const double all = static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points);
  constexpr double rounding = 1e-12;
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

/// Adds a state to what was done before, at all points, and forgets its payload.
void merge(RankState& state, RankState& before) {
  add_state(state, before);
  state.payload = {};
}

/// Reads a checkpoint for a rank; file() is the one that is being read. Throws Unusable.
class Reading {
public:
  Reading(const fs::path& file, const Digest& case_hash, const Plan& plan, int rank, int n_ranks)
      : m_file(file),
        m_at(rank_file(file, 0)),
        m_case_hash(case_hash),
        m_plan(plan),
        m_rank(rank),
        m_n_ranks(n_ranks) {}

  [[nodiscard]] const fs::path& file() const noexcept { return m_at; }

  std::optional<Checkpoint> read() {
    const CheckpointReader first(m_at);
    if (first.kind() == CheckpointKind::absent) return std::nullopt;
    require_replaceable(first, &m_case_hash);
    require_ours(first);
    read_layout(first);
    m_same_ranks = m_checkpoint.states.size() == static_cast<std::size_t>(m_n_ranks);
    read_first(first);
    for (int other = 0; other < static_cast<int>(m_checkpoint.states.size()); ++other) {
      if (other > 0) read_other(other);
      if (!m_same_ranks && m_rank == 0)
        merge(m_checkpoint.states[static_cast<std::size_t>(other)], m_checkpoint.before);
    }
    if (m_same_ranks) require_scratch(m_checkpoint.states[static_cast<std::size_t>(m_rank)].layout, m_plan);
    return std::move(m_checkpoint);
  }

private:
  /// Whether this rank needs the payload of `other`.
  [[nodiscard]] bool wants_payload(int other) const { return m_same_ranks ? other == m_rank : m_rank == 0; }

  void read_layout(const CheckpointReader& first) {
    const CheckpointHeader& header = first.header();
    require_bounded(header, m_plan);
    m_checkpoint.layout = {m_case_hash, layout_of(first.read(header.layout), m_plan)};
    m_id = m_checkpoint.layout.id();
    // also tells whether the layout's numbers are those that were written
    require(header.layout_id == m_id && header.rank == 0 &&
                header.n_ranks == static_cast<std::int64_t>(m_checkpoint.layout.ranks.size()),
            "the layout");
    for (const WorkLayout& layout : m_checkpoint.layout.ranks) m_checkpoint.states.push_back({layout, {}, {}});
  }

  void take(const CheckpointHeader& header, RankState& state) const {
    const IndexRange points = state.layout.points;
    take_numbers(header.state, m_plan, state);
    require(state.layout.points == points, "the points of a state");
    require_settings(state.layout, m_plan.n_points);
    require_progress(state);
    require_payload({header.values, header.contact}, state, n_fields_of(m_plan));
  }

  /// Rank 0's file: its state, and what was done before.
  void read_first(const CheckpointReader& first) {
    const CheckpointHeader& header = first.header();
    RankState& state = m_checkpoint.states[0];
    RankState& before = m_checkpoint.before;
    take(header, state);
    if (header.has_before != 0) {
      take_numbers(header.before, m_plan, before);
      require(before.layout.points == IndexRange{0, m_plan.n_points}, "the points of earlier work");
      require_payload({header.before_values, header.before_contact}, before, n_fields_of(m_plan));
    }
    require_pairs_complete(m_checkpoint, m_plan);
    std::vector<std::pair<KeptArray, std::vector<double>*>> arrays;
    if (wants_payload(0)) {
      arrays = {{header.values, &state.payload.values}, {header.contact, &state.payload.contact}};
    }
    if (m_rank == 0) {
      arrays.emplace_back(header.before_values, &before.payload.values);
      arrays.emplace_back(header.before_contact, &before.payload.contact);
    }
    if (!arrays.empty()) first.read_checked(arrays);
    if (header.has_before == 0) before.layout.points = {0, m_plan.n_points};
  }

  void read_other(int other) {
    m_at = rank_file(m_file, other);
    const CheckpointReader reader(m_at);
    // a rank that has kept nothing of this layout begins at its start
    if (reader.kind() == CheckpointKind::absent) return;
    require_ours(reader);
    const CheckpointHeader& header = reader.header();
    if (header.layout_id != m_id) return;
    require(header.rank == other && header.case_hash == m_case_hash, "the state of another rank");
    require_bounded(header, m_plan);
    RankState& state = m_checkpoint.states[static_cast<std::size_t>(other)];
    take(header, state);
    if (!wants_payload(other)) return;
    reader.read_checked({{header.values, &state.payload.values}, {header.contact, &state.payload.contact}});
  }

  const fs::path m_file;
  fs::path m_at;
  Digest m_case_hash;
  const Plan& m_plan;
  int m_rank, m_n_ranks;
  bool m_same_ranks = false;
  Digest m_id;
  Checkpoint m_checkpoint;
};

/// Writes numbers for people who look into the file; where they lie in it is told by the header.
template <class Value>
KeptArray write_array(Hdf5File& file, const std::string& dataset, const std::vector<std::int64_t>& shape,
                      const std::vector<Value>& values) {
  static_assert(sizeof(Value) == 8);
  if (values.empty()) return {};
  file.write(dataset, shape, values.data());
  return {static_cast<std::int64_t>(sizeof(CheckpointHeader)) + file.offset(dataset),
          static_cast<std::int64_t>(values.size())};
}

PayloadPlace write_state(Hdf5File& file, const std::string& group, const RankState& state) {
  const auto& [layout, progress, payload] = state;
  file.make_group(group);
  // a device without memory makes the plan smaller after the layout was fixed: these are what the state was made with
  std::vector<std::int64_t> numbers = settings_of(layout);
  for (const std::int64_t n : {layout.points.begin, layout.points.end, progress.item, progress.tile, progress.prisms}) {
    numbers.push_back(n);
  }
  numbers.insert(numbers.end(), progress.pairs_by_form.begin(), progress.pairs_by_form.end());
  file.write(group + "/progress", {static_cast<std::int64_t>(numbers.size())}, numbers.data());
  const std::int64_t n_points = layout.points.size();
  if (n_points == 0 || payload.empty()) return {};
  const auto n_fields = static_cast<std::int64_t>(payload.values.size()) / n_points;
  return {write_array(file, group + "/values", {n_fields, n_points}, payload.values),
          write_array(file, group + "/contact", {n_points, n_contact_columns}, payload.contact)};
}

/// Writes what `fill` puts into a file behind the header that it completes.
void write_complete(const fs::path& target, CheckpointHeader header,
                    const std::function<void(Hdf5File&, CheckpointHeader&)>& fill) {
  const FileSizeSignalIgnored ignored;
  try {
    require_replaceable(CheckpointReader(target), &header.case_hash);
    Hdf5File out = Hdf5File::create_in_memory(target);
    out.write_attribute("/", "prismfield_checkpoint", checkpoint_version);
    out.write_attribute("/", "rank", header.rank);
    fill(out, header);
    const std::string_view image = out.image();
    sign(header, image.data(), image.size());
    TemporaryFile temporary(target);
    temporary.write(&header, sizeof header);
    temporary.write(image.data(), image.size());
    temporary.move_to_target();
  } catch (const Unusable& why) {
    throw RunError(fmt::format("{}: the checkpoint is not written: what is there {}", target.string(), why.what()));
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: the checkpoint is not written: {}", target.string(), error.what()));
  }
}

void put_state(Hdf5File& out, const RankState& state, CheckpointHeader& header) {
  header.state = kept_numbers(state);
  const auto [values, contact] = write_state(out, "/rank", state);
  header.values = values;
  header.contact = contact;
}

/// Removes a file that is a checkpoint of this case, or empty where that was to become one.
void remove_ours(const fs::path& file, const Digest& case_hash, bool or_empty) {
  const CheckpointReader reader(file);
  std::error_code error;
  const bool empty = or_empty && fs::is_regular_file(fs::symlink_status(file, error)) && fs::is_empty(file, error);
  if ((reader.is_of(case_hash) || empty) && reader.is_still_at(file)) ::unlink(file.c_str());
}

}  // namespace

Digest CheckpointLayout::id() const {
  Checksum checksum;
  checksum.add(case_hash);
  for (const std::int64_t number : numbers_of(*this)) checksum.add(number);
  return checksum.digest();
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

fs::path rank_file(const fs::path& checkpoint, int rank) {
  fs::path file = followed(checkpoint);
  if (rank > 0) file += fmt::format(".rank{}", rank);
  return file;
}

void check_checkpoint_place(const fs::path& checkpoint, int n_ranks, const Digest* case_hash) {
  ProblemList problems;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const fs::path file = rank_file(checkpoint, rank);
    try {
      require_replaceable(CheckpointReader(file), case_hash);
    } catch (const Unusable& why) {
      problems.add(mistake(file, why.what(), why.kind()));
    }
  }
  problems.throw_if_any();
}

void write_checkpoint(const fs::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state) {
  CheckpointHeader header;
  header.case_hash = layout.case_hash;
  header.layout_id = layout.id();
  header.n_ranks = static_cast<std::int64_t>(layout.ranks.size());
  write_complete(rank_file(file, 0), header, [&](Hdf5File& out, CheckpointHeader& made) {
    const std::vector<std::int64_t> numbers = numbers_of(layout);
    made.layout = write_array(out, "/layout", {static_cast<std::int64_t>(numbers.size())}, numbers);
    if (!before.payload.empty()) {
      made.has_before = 1;
      made.before = kept_numbers(before);
      const auto [values, contact] = write_state(out, "/before", before);
      made.before_values = values;
      made.before_contact = contact;
    }
    put_state(out, state, made);
  });
}

void write_rank_state(const fs::path& file, int rank, const CheckpointLayout& layout, const Digest& layout_id,
                      const RankState& state) {
  CheckpointHeader header;
  header.case_hash = layout.case_hash;
  header.layout_id = layout_id;
  header.n_ranks = static_cast<std::int64_t>(layout.ranks.size());
  header.rank = rank;
  write_complete(rank_file(file, rank), header,
                 [&](Hdf5File& out, CheckpointHeader& made) { put_state(out, state, made); });
}

std::optional<Checkpoint> read_checkpoint(const fs::path& file, const Digest& case_hash, const Plan& plan, int rank,
                                          int n_ranks) {
  Reading reading(file, case_hash, plan, rank, n_ranks);
  try {
    return reading.read();
  } catch (const Unusable& why) {
    throw mistake(reading.file(), why.what(), why.kind());
  }
}

void remove_checkpoint(const fs::path& file, const Digest& case_hash) {
  const fs::path target = followed(file);
  const std::string bare = target.filename().string();
  const std::regex of_rank(R"(\.rank[1-9][0-9]*)");
  std::vector<fs::path> others;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(target), error)) {
    const std::string name = entry.path().filename().string();
    const auto is_of_rank = [&](std::string_view of) {
      return of.starts_with(bare) &&
             (of.size() == bare.size() || std::regex_match(std::string(of.substr(bare.size())), of_rank));
    };
    // a file of its own or, behind a dot, one that was to become such a file
    const std::size_t part = name.rfind(".part-");
    const bool temporary = part != std::string::npos && part > 0 && is_temporary_of(name, name.substr(1, part - 1));
    if (is_of_rank(name) || (temporary && is_of_rank(std::string_view(name).substr(1, part - 1)))) {
      others.push_back(entry.path());
    }
  }
  for (const fs::path& other : others) remove_ours(other, case_hash, other.filename().string().front() == '.');
}

}  // namespace prismfield
