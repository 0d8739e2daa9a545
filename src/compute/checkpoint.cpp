// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <numeric>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "compute/partition.hpp"
#include "engine/engine.hpp"
#include "io/hdf5_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Changes with every change of what the files hold.
constexpr std::int64_t format_version = 1;
constexpr const char* format_name = "prismfield_checkpoint";

/// FNV-1a, 64 bits.
class Hash {
public:
  void add(std::string_view bytes) noexcept {
    for (const char byte : bytes) {
      m_value ^= static_cast<unsigned char>(byte);
      m_value *= 0x100000001b3U;
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return m_value; }

private:
  std::uint64_t m_value = 0xcbf29ce484222325U;
};

void add_file(Hash& hash, const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  if (!in.eof()) throw InputError(file.string(), "", "cannot be read");
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

// Integers are kept as text: HDF5's numbers would come back as doubles.

std::string share_text(const RankState& state) {
  std::string text =
      fmt::format("{} {} {} {} {}", state.slots, state.batch, state.tile_points, state.chunk_prisms, state.work.size());
  for (const WorkItem& item : state.work) {
    text += fmt::format(" {} {} {} {} {} {}", item.prisms.begin, item.prisms.end, item.points.begin, item.points.end,
                        item.ordered.begin, item.ordered.end);
  }
  return text;
}

std::string layout_text(const CheckpointLayout& layout) {
  std::string text = fmt::format("{}", layout.ranks.size());
  for (const RankState& rank : layout.ranks) text += "\n" + share_text(rank);
  return text;
}

/// Reads integers from a text; any that is missing makes ok() false.
class Integers {
public:
  explicit Integers(const std::string& text) : m_in(text) {}
  std::int64_t next() {
    std::int64_t value = 0;
    m_in >> value;
    return value;
  }
  IndexRange next_range() {
    const std::int64_t begin = next();
    return {begin, next()};
  }
  [[nodiscard]] bool ok() const { return !m_in.fail(); }

private:
  std::istringstream m_in;
};

/// The points from the first to the last that the items touch.
IndexRange points_of(const std::vector<WorkItem>& work) {
  if (work.empty()) return {};
  IndexRange all = work.front().points;
  for (const WorkItem& item : work) {
    all = {std::min(all.begin, item.points.begin), std::max(all.end, item.points.end)};
  }
  return all;
}

std::vector<RankState> parse_layout(const std::string& text) {
  Integers in(text);
  const std::int64_t n_ranks = in.next();
  std::vector<RankState> ranks;
  for (std::int64_t r = 0; r < n_ranks && in.ok(); ++r) {
    RankState& state = ranks.emplace_back();
    state.slots = in.next();
    state.batch = in.next();
    state.tile_points = in.next();
    state.chunk_prisms = in.next();
    const std::int64_t n_items = in.next();
    for (std::int64_t i = 0; i < n_items && in.ok(); ++i) {
      WorkItem item;
      item.prisms = in.next_range();
      item.points = in.next_range();
      item.ordered = in.next_range();
      state.work.push_back(item);
    }
    state.points = points_of(state.work);
    if (state.slots < 1 || state.batch < 1 || state.tile_points < 0 || state.chunk_prisms < 1) ranks.clear();
  }
  if (!in.ok() || static_cast<std::int64_t>(ranks.size()) != n_ranks) ranks.clear();
  return ranks;
}

void write_state(Hdf5File& file, const std::string& group, const RankState& state) {
  file.make_group(group);
  // a device without memory makes the plan smaller after the layout was fixed: these are what the state was made with
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {}", state.slots, state.batch, state.tile_points, state.chunk_prisms,
                  state.item, state.tile, state.prisms, state.points.begin, state.points.end);
  for (const std::int64_t pairs : state.pairs_by_form) text += fmt::format(" {}", pairs);
  file.write_text(group + "/progress", text);
  const std::int64_t n_points = state.points.size();
  if (n_points == 0 || state.values.empty()) return;
  const auto n_fields = static_cast<std::int64_t>(state.values.size()) / n_points;
  file.write(group + "/values", {n_fields, n_points}, state.values.data());
  file.write(group + "/contact", {n_points, n_contact_columns}, state.contact.data());
}

/// Adds to a state what a file holds of it.
void read_state(const Hdf5File& file, const std::string& group, bool with_values, RankState& state) {
  Integers in(file.read_text(group + "/progress"));
  state.slots = in.next();
  state.batch = in.next();
  state.tile_points = in.next();
  state.chunk_prisms = in.next();
  state.item = in.next();
  state.tile = in.next();
  state.prisms = in.next();
  state.points = in.next_range();
  for (std::int64_t& pairs : state.pairs_by_form) pairs = in.next();
  if (!in.ok() || state.points.size() < 0) throw RunError(group + "/progress is damaged");
  if (!with_values || !file.has(group + "/values")) return;
  state.values = file.read(group + "/values");
  state.contact = file.read(group + "/contact");
  const auto n_points = static_cast<std::size_t>(state.points.size());
  if (state.values.empty() || state.values.size() % n_points != 0 ||
      state.contact.size() != n_points * n_contact_columns) {
    throw RunError(group + " is damaged");
  }
}

void write_complete(const fs::path& file, const std::function<void(Hdf5File&)>& fill) {
  const fs::path target = followed(file);
  const FileSizeSignalIgnored ignored;
  TemporaryFile temporary(temporary_name(target));
  try {
    Hdf5File out = Hdf5File::create(temporary.name());
    out.write_attribute("/", format_name, format_version);
    fill(out);
    out.close();
    temporary.move_to(target);
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: the checkpoint is not written: {}", target.string(), error.what()));
  }
}

/// Adds `from` to `to`, which holds all points that `from` does.
void add_state(const RankState& from, RankState& to) {
  const auto mine = static_cast<std::size_t>(from.points.size());
  const auto all = static_cast<std::size_t>(to.points.size());
  for (std::size_t f = 0; f < n_forms; ++f) to.pairs_by_form[f] += from.pairs_by_form[f];
  if (mine == 0 || from.values.empty()) return;
  const auto offset = static_cast<std::size_t>(from.points.begin - to.points.begin);
  const std::size_t n_fields = from.values.size() / mine;
  if (to.values.empty()) {
    to.values.resize(n_fields * all);
    to.contact.resize(n_contact_columns * all);
  }
  for (std::size_t f = 0; f < n_fields; ++f) {
    for (std::size_t p = 0; p < mine; ++p) to.values[f * all + offset + p] += from.values[f * mine + p];
  }
  for (std::size_t i = 0; i < from.contact.size(); ++i) to.contact[n_contact_columns * offset + i] += from.contact[i];
}

double pairs_in(const std::vector<WorkItem>& work) {
  return std::accumulate(work.begin(), work.end(), 0.0, [](double sum, const WorkItem& item) {
    return sum + static_cast<double>(item.prisms.size()) * static_cast<double>(item.ordered.size());
  });
}

}  // namespace

std::uint64_t case_hash(const Case& run) {
  Hash hash;
  hash.add(run.identity);
  for (const fs::path& file : run.input_files()) {
    if (file != run.file) add_file(hash, file);
  }
  return hash.value();
}

std::uint64_t CheckpointLayout::id() const {
  Hash hash;
  hash.add(hex(case_hash));
  hash.add(layout_text(*this));
  return hash.value();
}

std::uint64_t Checkpoint::id() const {
  Hash hash;
  hash.add(hex(layout.id()));
  for (const RankState& state : states) {
    hash.add(fmt::format("{} {} {} {} {}\n", state.tile_points, state.item, state.tile, state.prisms, state.slots));
  }
  return hash.value();
}

std::vector<WorkItem> remaining_work(const std::vector<RankState>& states) {
  std::vector<WorkItem> left;
  const auto add = [&](const WorkItem& item) {
    if (item.prisms.size() > 0 && item.ordered.size() > 0) left.push_back(item);
  };
  for (const RankState& state : states) {
    for (std::size_t i = static_cast<std::size_t>(state.item); i < state.work.size(); ++i) {
      WorkItem rest = state.work[i];
      if (static_cast<std::int64_t>(i) == state.item) {
        rest.ordered.begin += state.tile;
        if (state.prisms > 0) {
          // the tile in which the rank was
          WorkItem tile = rest;
          tile.ordered.end = std::min(rest.ordered.begin + state.tile_points, rest.ordered.end);
          tile.prisms.begin += state.prisms;
          add(tile);
          rest.ordered.begin = tile.ordered.end;
        }
      }
      add(rest);
    }
  }
  return left;
}

std::vector<WorkItem> part_of_work(const std::vector<WorkItem>& work, std::int64_t part, std::int64_t parts) {
  std::vector<WorkItem> mine = work;
  for (WorkItem& item : mine) {
    const IndexRange share = balanced_part(item.prisms.size(), part, parts);
    item.prisms = {item.prisms.begin + share.begin, item.prisms.begin + share.end};
  }
  return mine;
}

fs::path rank_file(const fs::path& checkpoint, int rank) {
  if (rank == 0) return checkpoint;
  fs::path file = checkpoint;
  file += fmt::format(".rank{}", rank);
  return file;
}

void write_checkpoint(const fs::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state) {
  write_complete(file, [&](Hdf5File& out) {
    out.write_attribute("/", "case_hash", hex(layout.case_hash));
    out.write_attribute("/", "layout_id", hex(layout.id()));
    out.write_text("/layout", layout_text(layout));
    if (!before.values.empty()) write_state(out, "/before", before);
    write_state(out, "/rank", state);
  });
}

void write_rank_state(const fs::path& file, int rank, std::uint64_t layout_id, const RankState& state) {
  write_complete(rank_file(file, rank), [&](Hdf5File& out) {
    out.write_attribute("/", "layout_id", hex(layout_id));
    write_state(out, "/rank", state);
  });
}

std::optional<Checkpoint> read_checkpoint(const fs::path& file, std::uint64_t hash, const std::string& where, int rank,
                                          int n_ranks) {
  const std::string key = "output.checkpoint.file";
  if (std::error_code error; !fs::exists(file, error)) return std::nullopt;
  const auto fail = [&](const fs::path& about, const std::string& what) {
    return InputError(where, key,
                      fmt::format("{} {}; without --resume the run begins anew and replaces it", about.string(), what));
  };
  Checkpoint checkpoint;
  fs::path at = file;
  try {
    const Hdf5File in = Hdf5File::open(file);
    if (!in.has_attribute("/", format_name)) throw fail(file, "is no checkpoint of prismfield");
    if (static_cast<std::int64_t>(in.read_attribute("/", format_name)) != format_version) {
      throw fail(file, "was written by another version of prismfield");
    }
    if (in.read_text_attribute("/", "case_hash") != hex(hash)) {
      throw fail(file, "is of another case: the model, the observations, the fields or a file that they name differ");
    }
    checkpoint.layout.case_hash = hash;
    checkpoint.layout.ranks = parse_layout(in.read_text("/layout"));
    const std::string id = hex(checkpoint.layout.id());
    if (checkpoint.layout.ranks.empty() || in.read_text_attribute("/", "layout_id") != id) {
      throw fail(file, "is damaged");
    }
    if (in.has("/before")) read_state(in, "/before", rank == 0, checkpoint.before);
    checkpoint.states = checkpoint.layout.ranks;
    const int n_states = static_cast<int>(checkpoint.states.size());
    const auto wanted = [&](int state) { return n_states == n_ranks ? state == rank : rank == 0; };
    const auto merge = [&](RankState& state) {
      if (n_states == n_ranks || rank != 0) return;
      if (checkpoint.before.points.size() == 0) {
        for (const RankState& any : checkpoint.layout.ranks) {
          checkpoint.before.points.end = std::max(checkpoint.before.points.end, any.points.end);
        }
      }
      add_state(state, checkpoint.before);
      state.values = {};
      state.contact = {};
    };
    read_state(in, "/rank", wanted(0), checkpoint.states.front());
    merge(checkpoint.states.front());
    for (int other = 1; other < n_states; ++other) {
      at = rank_file(file, other);
      // a rank that has kept nothing of this layout begins at its start
      if (std::error_code error; !fs::exists(at, error)) continue;
      const Hdf5File rank_in = Hdf5File::open(at);
      if (!rank_in.has_attribute("/", format_name) || rank_in.read_text_attribute("/", "layout_id") != id) continue;
      read_state(rank_in, "/rank", wanted(other), checkpoint.states[static_cast<std::size_t>(other)]);
      merge(checkpoint.states[static_cast<std::size_t>(other)]);
    }
  } catch (const RunError& error) {
    throw fail(at, fmt::format("cannot be read as a checkpoint ({})", error.what()));
  }
  return checkpoint;
}

void remove_checkpoint(const fs::path& file) {
  const fs::path target = followed(file);
  std::error_code error;
  fs::remove(target, error);
  // also what a kill left half-written
  const std::regex of_rank(R"(\.?(.*?)(\.rank[0-9]+)?(\.part-[0-9]+)?)");
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(folder_of(target), error)) {
    const std::string name = entry.path().filename().string();
    const std::string bare = target.filename().string();
    std::smatch parts;
    if (!std::regex_match(name, parts, of_rank) || parts[1] != bare) continue;
    const bool is_temporary = name.front() == '.' && parts[3].matched;
    if (is_temporary || (name.front() != '.' && parts[2].matched && !parts[3].matched)) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, error);
}

CheckpointGuard::CheckpointGuard(const Case& run, const Plan& plan, std::uint64_t hash,
                                 const Communicator& communicator)
    : m_file(run.output.checkpoint->file),
      m_every_seconds(run.output.checkpoint->every_seconds),
      m_communicator(communicator),
      m_prisms{plan.prism_begin, plan.prism_end},
      m_last(std::chrono::steady_clock::now()) {
  m_layout.case_hash = hash;
  RankState mine;
  mine.work = work_of(plan);
  mine.points = points_of(mine.work);
  mine.slots = plan.slots;
  mine.batch = plan.batch;
  mine.tile_points = plan.tile_points;
  mine.chunk_prisms = plan.chunk_prisms;
  const auto n_fields = fields_of(plan.set).size();
  mine.values.resize(static_cast<std::size_t>(n_fields * mine.points.size()));
  mine.contact.resize(static_cast<std::size_t>(n_contact_columns * mine.points.size()));
  set_layout(mine);
  m_begin = std::move(mine);
}

void CheckpointGuard::set_layout(const RankState& mine) {
  // every rank has as many items
  std::vector<std::int64_t> numbers = {mine.slots, mine.batch, mine.tile_points, mine.chunk_prisms};
  for (const WorkItem& item : mine.work) {
    for (const IndexRange& range : {item.prisms, item.points, item.ordered}) {
      numbers.push_back(range.begin);
      numbers.push_back(range.end);
    }
  }
  m_layout.ranks.assign(static_cast<std::size_t>(m_communicator.size()), RankState());
  std::vector<std::vector<std::int64_t>> columns;
  for (const std::int64_t number : numbers) columns.push_back(m_communicator.gather(number));
  if (m_communicator.rank() == 0) {
    for (std::size_t r = 0; r < m_layout.ranks.size(); ++r) {
      RankState& rank = m_layout.ranks[r];
      rank.slots = columns[0][r];
      rank.batch = columns[1][r];
      rank.tile_points = columns[2][r];
      rank.chunk_prisms = columns[3][r];
      for (std::size_t c = 4; c < columns.size(); c += 6) {
        rank.work.push_back({{columns[c][r], columns[c + 1][r]},
                             {columns[c + 2][r], columns[c + 3][r]},
                             {columns[c + 4][r], columns[c + 5][r]}});
      }
      rank.points = points_of(rank.work);
    }
  }
  m_layout_id = m_layout.id();
  broadcast(m_communicator, m_layout_id);
}

void CheckpointGuard::resume(Checkpoint checkpoint, const Plan& plan) {
  const auto n_fields = fields_of(plan.set).size();
  const auto allocate = [&](RankState& state) {
    if (!state.values.empty()) return;
    state.values.resize(static_cast<std::size_t>(n_fields * state.points.size()));
    state.contact.resize(static_cast<std::size_t>(n_contact_columns * state.points.size()));
  };
  m_resumed = true;
  m_begin.reset();
  const std::vector<WorkItem> left = remaining_work(checkpoint.states);
  const double all = static_cast<double>(plan.n_prisms) * static_cast<double>(plan.n_points);
  m_done_fraction = all > 0 ? 1 - pairs_in(left) / all : 0;
  m_before = std::move(checkpoint.before);
  RankState mine;
  const auto n_ranks = static_cast<std::size_t>(m_communicator.size());
  if (checkpoint.states.size() == n_ranks) {
    mine = std::move(checkpoint.states[static_cast<std::size_t>(m_communicator.rank())]);
    allocate(mine);
    m_layout = std::move(checkpoint.layout);
    m_layout_id = m_layout.id();
  } else {
    mine.work = part_of_work(left, m_communicator.rank(), m_communicator.size());
    mine.points = points_of(mine.work);
    mine.slots = plan.slots;
    mine.batch = plan.batch;
    mine.tile_points = std::max<std::int64_t>(plan.tile_points, 1);
    mine.chunk_prisms = plan.chunk_prisms;
    allocate(mine);
    set_layout(mine);
    // before any rank keeps a state of the new layout, whose file may have been one of the old
    if (m_communicator.rank() == 0) write_checkpoint(m_file, m_layout, m_before, mine);
    m_communicator.barrier();
  }
  m_prisms = {};
  for (const WorkItem& item : mine.work) {
    m_prisms = m_prisms.size() == 0
                   ? item.prisms
                   : IndexRange{std::min(m_prisms.begin, item.prisms.begin), std::max(m_prisms.end, item.prisms.end)};
  }
  m_begin = std::move(mine);
}

IndexRange CheckpointGuard::prisms() const { return m_prisms; }

std::optional<RankState> CheckpointGuard::begin() {
  m_last = std::chrono::steady_clock::now();
  if (m_begin && !m_resumed && m_communicator.rank() == 0) {
    // the other ranks' states are worth nothing without the layout, and this rank may be the last to keep one
    RankState nothing_done = m_layout.ranks.front();
    keep(nothing_done);
  }
  return std::exchange(m_begin, std::nullopt);
}

bool CheckpointGuard::wants_state() {
  if (wants_stop()) return true;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_last).count() >= m_every_seconds;
}

bool CheckpointGuard::wants_stop() {
  if (m_stopping) return true;
  if (interrupted()) {
    m_communicator.announce_stop();
    m_stopping = true;
  } else if (m_communicator.stop_announced()) {
    m_stopping = true;
  }
  return m_stopping;
}

void CheckpointGuard::keep(const RankState& state) {
  try {
    if (m_communicator.rank() == 0) {
      write_checkpoint(m_file, m_layout, m_before, state);
    } else {
      write_rank_state(m_file, m_communicator.rank(), m_layout_id, state);
    }
    m_failure.clear();
  } catch (const RunError& error) {
    // the run itself may still come to its end
    m_failure = error.what();
  }
  m_last = std::chrono::steady_clock::now();
}

const RankState* CheckpointGuard::done_before() const { return m_before.values.empty() ? nullptr : &m_before; }

}  // namespace prismfield
