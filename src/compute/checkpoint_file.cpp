// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/hash.hpp"
#include "base/temporary_file.hpp"
#include "io/hdf5_file.hpp"
#include "kernel/contact.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Changes with every change of what the files hold.
constexpr std::int64_t format_version = 2;
constexpr std::string_view format_name = "prismfield_checkpoint";

/// What follows HDF5's own bytes: a damaged file is known before HDF5, which may crash on one, sees it.
struct Seal {
  std::array<char, 8> mark;
  std::uint64_t sum = 0;
};
constexpr std::array<char, 8> seal_mark = {'\x89', 'P', 'F', 's', 'e', 'a', 'l', '\n'};

/// Adds to a sum of bytes, eight at a time: any change of one of them changes it.
std::uint64_t added(std::uint64_t sum, const char* bytes, std::size_t n) {
  for (std::size_t i = 0; i < n; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof word, n - i));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    sum ^= sum >> 32U;
  }
  return sum;
}

/// Sum of the first n bytes of a file. Throws RunError when it has fewer.
std::uint64_t sum_of(const fs::path& file, std::uintmax_t n) {
  std::ifstream in(file, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  std::uint64_t sum = n;
  while (n > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uintmax_t>(buffer.size(), n));
    if (!in.read(buffer.data(), static_cast<std::streamsize>(wanted))) {
      throw RunError(fmt::format("{}: cannot be read", file.string()));
    }
    sum = added(sum, buffer.data(), wanted);
    n -= wanted;
  }
  return sum;
}

void seal(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) throw RunError(fmt::format("{}: cannot be read: {}", file.string(), error.message()));
  const Seal made{seal_mark, sum_of(file, size)};
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(&made), sizeof made);
  out.close();
  if (!out) throw RunError(fmt::format("{}: cannot write: {}", file.string(), std::strerror(errno)));
}

enum class SealState { none, broken, whole };

SealState look_at_seal(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || size < sizeof(Seal)) return SealState::none;
  Seal found{};
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(size - sizeof found));
  if (!in.read(reinterpret_cast<char*>(&found), sizeof found) || found.mark != seal_mark) return SealState::none;
  return sum_of(file, size - sizeof found) == found.sum ? SealState::whole : SealState::broken;
}

/// Whether a file says of itself at its beginning, where HDF5 keeps the root's attributes, that it is a checkpoint.
bool names_itself_checkpoint(const fs::path& file) {
  std::string head(std::size_t{1} << 16, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find(format_name) != std::string::npos;
}

/// What keeps a run from going on from a file.
class Unusable : public std::exception {
public:
  explicit Unusable(std::string what) : m_what(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override { return m_what.c_str(); }

private:
  std::string m_what;
};

/// Opens a checkpoint's file when it is whole, one of ours, and of this version. Throws Unusable, RunError.
Hdf5File open_whole(const fs::path& file) {
  const SealState state = look_at_seal(file);
  if (state == SealState::broken) throw Unusable("is damaged");
  if (state == SealState::none && names_itself_checkpoint(file)) {
    throw Unusable("is damaged, or was written by another version of prismfield");
  }
  Hdf5File in = Hdf5File::open(file);
  const std::string name(format_name);
  if (!in.has_attribute("/", name)) throw Unusable("is no checkpoint of prismfield");
  if (in.read_integer_attribute("/", name) != format_version) {
    throw Unusable("was written by another version of prismfield");
  }
  return in;
}

/// Hands out integers in the order in which they were kept.
class Integers {
public:
  explicit Integers(std::vector<std::int64_t> values) : m_values(std::move(values)) {}
  /// Throws RunError at the end.
  std::int64_t next() {
    if (at_end()) throw RunError("numbers are missing");
    return m_values[m_next++];
  }
  IndexRange next_range() {
    const std::int64_t begin = next();
    return {begin, next()};
  }
  [[nodiscard]] bool at_end() const { return m_next == m_values.size(); }

private:
  std::vector<std::int64_t> m_values;
  std::size_t m_next = 0;
};

void require(bool right, const char* what) {
  if (!right) throw RunError(fmt::format("{} cannot be", what));
}

bool is_range(IndexRange range) { return 0 <= range.begin && range.begin <= range.end; }

void add_settings(const WorkLayout& layout, std::vector<std::int64_t>& numbers) {
  for (const std::int64_t n : {layout.slots, layout.batch, layout.tile_points, layout.chunk_prisms}) {
    numbers.push_back(n);
  }
}

void read_settings(Integers& in, WorkLayout& layout) {
  for (std::int64_t* n : {&layout.slots, &layout.batch, &layout.tile_points, &layout.chunk_prisms}) *n = in.next();
}

void require_settings(const WorkLayout& layout) {
  require(layout.slots >= 1 && layout.batch >= 1 && layout.tile_points >= 0 && layout.chunk_prisms >= 1,
          "slots, batch, tile or chunk");
}

/// A layout as integers: of each rank its settings and its items.
std::vector<std::int64_t> numbers_of(const CheckpointLayout& layout) {
  std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(layout.ranks.size())};
  for (const WorkLayout& rank : layout.ranks) {
    add_settings(rank, numbers);
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

std::vector<WorkLayout> read_layout(const Hdf5File& file) {
  Integers in(file.read_integers("/layout"));
  std::vector<WorkLayout> ranks;
  for (std::int64_t n_ranks = in.next(); n_ranks > 0; --n_ranks) {
    WorkLayout& rank = ranks.emplace_back();
    read_settings(in, rank);
    require_settings(rank);
    for (std::int64_t n_items = in.next(); n_items > 0; --n_items) {
      WorkItem item;
      for (IndexRange* range : {&item.prisms, &item.points, &item.ordered}) {
        *range = in.next_range();
        require(is_range(*range), "a range of the layout");
      }
      require(item.ordered.end <= item.points.size(), "points of the layout");
      rank.work.push_back(item);
    }
    rank.points = points_of(rank.work);
  }
  require(!ranks.empty() && in.at_end(), "the layout");
  return ranks;
}

void write_state(Hdf5File& file, const std::string& group, const RankState& state) {
  const auto& [layout, progress, payload] = state;
  file.make_group(group);
  // a device without memory makes the plan smaller after the layout was fixed: these are what the state was made with
  std::vector<std::int64_t> numbers;
  add_settings(layout, numbers);
  for (const std::int64_t n : {layout.points.begin, layout.points.end, progress.item, progress.tile, progress.prisms}) {
    numbers.push_back(n);
  }
  numbers.insert(numbers.end(), progress.pairs_by_form.begin(), progress.pairs_by_form.end());
  file.write(group + "/progress", {static_cast<std::int64_t>(numbers.size())}, numbers.data());
  const std::int64_t n_points = layout.points.size();
  if (n_points == 0 || payload.empty()) return;
  const auto n_fields = static_cast<std::int64_t>(payload.values.size()) / n_points;
  file.write(group + "/values", {n_fields, n_points}, payload.values.data());
  file.write(group + "/contact", {n_points, n_contact_columns}, payload.contact.data());
}

/// Adds to a state what a file holds of it: its settings and points too.
void read_state(const Hdf5File& file, const std::string& group, bool with_payload, RankState& state) {
  auto& [layout, progress, payload] = state;
  Integers in(file.read_integers(group + "/progress"));
  read_settings(in, layout);
  layout.points = in.next_range();
  for (std::int64_t* n : {&progress.item, &progress.tile, &progress.prisms}) {
    *n = in.next();
    require(*n >= 0, "progress");
  }
  for (std::int64_t& pairs : progress.pairs_by_form) pairs = in.next();
  require(in.at_end() && is_range(layout.points), "progress");
  if (!with_payload || !file.has(group + "/values")) return;
  payload.values = file.read(group + "/values");
  payload.contact = file.read(group + "/contact");
  const auto n_points = static_cast<std::size_t>(layout.points.size());
  require(n_points > 0 && !payload.values.empty() && payload.values.size() % n_points == 0 &&
              payload.contact.size() % n_contact_columns == 0 && payload.contact.size() / n_contact_columns == n_points,
          "the number of values");
}

/// Reads what a rank of a layout has kept into `state`, which is at its start.
void read_rank_state(const Hdf5File& file, bool with_payload, RankState& state) {
  const IndexRange points = state.layout.points;
  read_state(file, "/rank", with_payload, state);
  const auto& [layout, progress, payload] = state;
  require_settings(layout);
  require(layout.points == points && progress.item <= static_cast<std::int64_t>(layout.work.size()), "progress");
  if (state.finished()) return;
  const WorkItem& item = layout.work[static_cast<std::size_t>(progress.item)];
  require(progress.tile <= item.ordered.size() && progress.prisms <= item.prisms.size(), "progress");
}

void write_complete(const fs::path& file, const std::function<void(Hdf5File&)>& fill) {
  const fs::path target = followed(file);
  const FileSizeSignalIgnored ignored;
  TemporaryFile temporary(temporary_name(target));
  try {
    Hdf5File out = Hdf5File::create(temporary.name());
    out.write_attribute("/", std::string(format_name), format_version);
    fill(out);
    out.close();
    seal(temporary.name());
    temporary.move_to(target);
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: the checkpoint is not written: {}", target.string(), error.what()));
  }
}

void write_number(Hdf5File& file, const char* name, std::uint64_t number) {
  file.write_attribute("/", name, static_cast<std::int64_t>(number));
}

std::uint64_t read_number(const Hdf5File& file, const char* name) {
  return static_cast<std::uint64_t>(file.read_integer_attribute("/", name));
}

/// Adds a state to what was done before and forgets its payload.
void merge(RankState& state, RankState& before) {
  if (!before.payload.empty() && !state.payload.empty()) {
    require(before.layout.points.contains(state.layout.points) &&
                before.payload.values.size() / static_cast<std::size_t>(before.layout.points.size()) ==
                    state.payload.values.size() / static_cast<std::size_t>(state.layout.points.size()),
            "the points or fields of a state");
  }
  add_state(state, before);
  state.payload = {};
}

/// Reads a checkpoint; `at` is the file that is being read. Throws Unusable, RunError.
Checkpoint read_files(const fs::path& file, std::uint64_t case_hash, int rank, int n_ranks, fs::path& at) {
  Checkpoint checkpoint;
  const Hdf5File in = open_whole(file);
  if (read_number(in, "case_hash") != case_hash) {
    throw Unusable("is of another case: the model, the observations, the fields or a file that they name differ");
  }
  checkpoint.layout.case_hash = case_hash;
  checkpoint.layout.ranks = read_layout(in);
  const std::uint64_t id = checkpoint.layout.id();
  if (read_number(in, "layout_id") != id) throw Unusable("is damaged");
  if (in.has("/before")) read_state(in, "/before", rank == 0, checkpoint.before);
  for (const WorkLayout& layout : checkpoint.layout.ranks) checkpoint.states.push_back({layout, {}, {}});

  const int n_states = static_cast<int>(checkpoint.states.size());
  const bool same_ranks = n_states == n_ranks;
  if (!same_ranks && rank == 0 && checkpoint.before.layout.points.size() == 0) {
    for (const WorkLayout& any : checkpoint.layout.ranks) {
      std::int64_t& end = checkpoint.before.layout.points.end;
      end = std::max(end, any.points.end);
    }
  }
  for (int other = 0; other < n_states; ++other) {
    RankState& state = checkpoint.states[static_cast<std::size_t>(other)];
    const bool with_payload = same_ranks ? other == rank : rank == 0;
    if (other == 0) {
      read_rank_state(in, with_payload, state);
    } else {
      at = rank_file(file, other);
      // a rank that has kept nothing of this layout begins at its start
      if (std::error_code error; !fs::exists(at, error)) continue;
      const Hdf5File rank_in = open_whole(at);
      if (read_number(rank_in, "layout_id") != id) continue;
      require(rank_in.read_integer_attribute("/", "rank") == other, "the state of another rank");
      read_rank_state(rank_in, with_payload, state);
    }
    if (!same_ranks && rank == 0) merge(state, checkpoint.before);
  }
  return checkpoint;
}

}  // namespace

std::uint64_t CheckpointLayout::id() const {
  Hash hash;
  hash.add(static_cast<std::int64_t>(case_hash));
  for (const std::int64_t number : numbers_of(*this)) hash.add(number);
  return hash.value();
}

std::uint64_t Checkpoint::id() const {
  Hash hash;
  hash.add(static_cast<std::int64_t>(layout.id()));
  for (const auto& [of_rank, progress, payload] : states) {
    for (const std::int64_t n : {of_rank.tile_points, progress.item, progress.tile, progress.prisms, of_rank.slots}) {
      hash.add(n);
    }
  }
  return hash.value();
}

fs::path rank_file(const fs::path& checkpoint, int rank) {
  fs::path file = followed(checkpoint);
  if (rank > 0) file += fmt::format(".rank{}", rank);
  return file;
}

void write_checkpoint(const fs::path& file, const CheckpointLayout& layout, const RankState& before,
                      const RankState& state) {
  write_complete(file, [&](Hdf5File& out) {
    write_number(out, "case_hash", layout.case_hash);
    write_number(out, "layout_id", layout.id());
    const std::vector<std::int64_t> numbers = numbers_of(layout);
    out.write("/layout", {static_cast<std::int64_t>(numbers.size())}, numbers.data());
    if (!before.payload.empty()) write_state(out, "/before", before);
    write_state(out, "/rank", state);
  });
}

void write_rank_state(const fs::path& file, int rank, std::uint64_t layout_id, const RankState& state) {
  write_complete(rank_file(file, rank), [&](Hdf5File& out) {
    write_number(out, "layout_id", layout_id);
    out.write_attribute("/", "rank", std::int64_t{rank});
    write_state(out, "/rank", state);
  });
}

std::optional<Checkpoint> read_checkpoint(const fs::path& file, std::uint64_t case_hash, int rank, int n_ranks) {
  if (std::error_code error; !fs::exists(file, error)) return std::nullopt;
  fs::path at = file;
  const auto fail = [&](const std::string& what) {
    return InputError("", "output.checkpoint.file",
                      fmt::format("{} {}; without --resume the run begins anew and replaces it", at.string(), what));
  };
  try {
    return read_files(file, case_hash, rank, n_ranks, at);
  } catch (const Unusable& why) {
    throw fail(why.what());
  } catch (const RunError& error) {
    throw fail(fmt::format("cannot be read as a checkpoint ({})", error.what()));
  }
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

}  // namespace prismfield
