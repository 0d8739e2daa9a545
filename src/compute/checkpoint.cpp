// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>
#include <prismfield/inverted_model.hpp>
#include <prismfield/request.hpp>

#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 16> our_mark = {'\x89', 'P', 'F', 'c', 'h', 'e',  'c',  'k',
                                           'p',    'o', 'i', 'n', 't', '\r', '\n', '\x1a'};

Digest digest_of(const CheckpointHeader& header) { return digest_of(&header, offsetof(CheckpointHeader, header)); }

std::array<char, 16> filled_up(const std::string& method) {
  std::array<char, 16> text{};
  std::strncpy(text.data(), method.c_str(), text.size() - 1);
  return text;
}

/// What a file that is no regular one is.
const char* special(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink: return "is a symbolic link";
    case fs::file_type::directory: return "is a folder";
    case fs::file_type::fifo: return "is a pipe";
    default: return "is a device";
  }
}

/// Whether a name is the checkpoint's own or that of a rank's file beside it.
bool is_of_rank(std::string_view name, std::string_view checkpoint) {
  constexpr std::string_view rank = ".rank";
  if (!name.starts_with(checkpoint)) return false;
  name.remove_prefix(checkpoint.size());
  if (name.empty()) return true;
  if (!name.starts_with(rank)) return false;
  name.remove_prefix(rank.size());
  return !name.empty() && name.front() != '0' && name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What a file at a checkpoint's place is.
enum class Kind {
  /// there is none
  absent,
  /// whole as far as its header says, and of this version
  ours,
  /// a checkpoint of prismfield that no run can go on from: damaged, or of another version
  useless,
  /// something else, which is not ours to replace or remove
  foreign
};

/// A file at a checkpoint's place. Neither waits for a pipe nor opens a device or what a symbolic link leads to.
class RankFile {
public:
  explicit RankFile(const fs::path& file) : m_what(look(file)) {}

  [[nodiscard]] bool is_absent() const noexcept { return m_kind == Kind::absent; }
  [[nodiscard]] const CheckpointHeader& header() const noexcept { return m_header; }
  /// Whether it is a checkpoint of this case, or the whole beginning of one.
  [[nodiscard]] bool is_of(const Digest& case_hash) const noexcept {
    return m_is_signed && m_header.case_hash == case_hash;
  }
  /// Throws Unusable for what is not to be replaced: what is no checkpoint, and one of another case.
  void require_replaceable(const Digest* case_hash) const {
    if (m_kind == Kind::foreign) require_ours();
    if (case_hash == nullptr || !m_is_signed || is_of(*case_hash)) return;
    throw Unusable(
        "is of another case: the model, the observations, the fields, the inversion or a file that they name differ",
        true);
  }
  void require_ours() const {
    if (m_kind != Kind::ours) throw Unusable(m_what, m_kind == Kind::foreign);
  }

  /// The numbers of a section; sections are read in the order of the file. Throws Unusable for other bytes than those
  /// that were written.
  template <class T>
  [[nodiscard]] std::vector<T> all(const CheckpointSection& section) {
    std::vector<T> numbers(static_cast<std::size_t>(section.bytes) / sizeof(T));
    read<T>(section, {&numbers});
    return numbers;
  }
  /// Fills vectors, which must have the section's length together.
  template <class T>
  void read(const CheckpointSection& section, const std::vector<std::vector<T>*>& parts) {
    Checksum checksum;
    for (std::vector<T>* part : parts) {
      const std::size_t n = part->size() * sizeof(T);
      m_in.read(reinterpret_cast<char*>(part->data()), static_cast<std::streamsize>(n));
      checksum.add_bytes(part->data(), n);
    }
    if (!m_in || checksum.digest() != section.digest) throw Unusable("is damaged");
  }

private:
  /// What the file is, following its name: "is a folder", "is damaged"; of kind `ours` "".
  [[nodiscard]] std::string look(const fs::path& file) {
    std::error_code error;
    // opening some devices does something to them
    const fs::file_type type = fs::symlink_status(file, error).type();
    if (type == fs::file_type::not_found) {
      m_kind = Kind::absent;
      return "is not there";
    }
    if (type == fs::file_type::none) return "cannot be read: " + error.message();
    if (type != fs::file_type::regular) return special(type);
    m_in.open(file, std::ios::binary);
    const std::uintmax_t size = m_in ? fs::file_size(file, error) : 0;
    if (!m_in || error) return fmt::format("cannot be read: {}", std::strerror(errno));
    CheckpointHeader header;
    m_in.read(reinterpret_cast<char*>(&header), sizeof header);
    if (header.mark != our_mark) return "is no checkpoint of prismfield";
    m_kind = Kind::useless;
    if (!m_in) return "is damaged";
    if (header.version != checkpoint_version) return "was written by another version of prismfield";
    if (header.header != digest_of(header)) return "is damaged";
    m_header = header;
    m_is_signed = true;
    const std::int64_t sections = header.layout.bytes + header.state.bytes + header.sums.bytes;
    if (size != sizeof header + static_cast<std::uintmax_t>(sections)) return "is damaged";
    m_kind = Kind::ours;
    return "";
  }

  std::ifstream m_in;
  CheckpointHeader m_header;
  Kind m_kind = Kind::foreign;
  bool m_is_signed = false;
  std::string m_what;
};

/// Reads a run's files. Throws Unusable, for the file at().
class KeptFiles final : public KeptRun {
public:
  /// `run`: its method and case.
  KeptFiles(fs::path checkpoint, CheckpointRun run) : m_checkpoint(std::move(checkpoint)), m_run(std::move(run)) {}

  /// Whether there is a checkpoint; reads the layout.
  [[nodiscard]] bool exist() {
    go_to(0);
    if (m_file->is_absent()) return false;
    m_file->require_replaceable(&m_run.case_hash);
    m_file->require_ours();
    if (header().method != filled_up(m_run.method)) {
      const std::string_view method(header().method.data(), ::strnlen(header().method.data(), header().method.size()));
      throw Unusable(fmt::format("was computed by method {}, this run's is {}", method, m_run.method));
    }
    m_run.layout = m_file->all<std::int64_t>(header().layout);
    m_layout_id = header().layout.digest;
    m_id = header().header;
    return true;
  }
  [[nodiscard]] const CheckpointRun& run() const noexcept { return m_run; }
  [[nodiscard]] const fs::path& at() const noexcept { return m_at; }
  /// Identifies the state of rank 0; earlier and later states of the run have others.
  [[nodiscard]] Digest id() const noexcept { return m_id; }

  [[nodiscard]] std::vector<std::int64_t> layout() override { return m_run.layout; }
  [[nodiscard]] bool open(int rank) override {
    if (rank > 0) {
      go_to(rank);
      if (m_file->is_absent()) return false;
      m_file->require_ours();
      if (!m_file->is_of(m_run.case_hash) || header().layout.digest != m_layout_id) return false;
    }
    if (header().rank != rank) throw Unusable("is damaged: the state of another rank cannot be");
    return true;
  }
  [[nodiscard]] std::vector<std::int64_t> numbers() override { return m_file->all<std::int64_t>(header().state); }
  void read_sums(const std::vector<std::vector<double>*>& sums) override { m_file->read(header().sums, sums); }
  [[nodiscard]] std::vector<double> all_sums() { return m_file->all<double>(header().sums); }

private:
  void go_to(int rank) {
    m_at = rank_file(m_checkpoint, rank);
    m_file.emplace(m_at);
  }
  [[nodiscard]] const CheckpointHeader& header() const { return m_file->header(); }

  fs::path m_checkpoint, m_at;
  CheckpointRun m_run;
  Digest m_layout_id, m_id;
  std::optional<RankFile> m_file;
};

/// `noun`: what begins anew.
InputError error(const fs::path& file, const Unusable& why, const char* noun = "run") {
  std::string remedy = why.remedy;
  if (remedy.empty()) {
    remedy = why.is_foreign ? "it is not replaced; move it away, or give the checkpoint another name"
                            : fmt::format("without --resume the {} begins anew and replaces it", noun);
  }
  return {"", "output.checkpoint.file", fmt::format("{} {}; {}", file.string(), why.what(), remedy)};
}

/// What `restore` finds in a run's files.
template <class Restore>
std::optional<FoundCheckpoint> read_files(const fs::path& checkpoint, CheckpointRun run, const char* noun,
                                          const Restore& restore) {
  KeptFiles files(checkpoint, std::move(run));
  try {
    if (!files.exist()) return std::nullopt;
    restore(files);
    return FoundCheckpoint{files.run(), files.id()};
  } catch (const Unusable& why) {
    throw error(files.at(), why, noun);
  }
}

constexpr const char* inversion = "inversion";

/// Passes every number of an inversion's state, or of a part of it, to f, in the order of the file: doubles, and
/// integers for all else, which are characters and, before what they count, numbers of elements. f may set them.
template <class Part, class F>
void each_kept_number(Part& part, const F& f) {
  using Type = std::remove_const_t<Part>;
  const auto of_each = [&](auto&... parts) { (each_kept_number(parts, f), ...); };
  if constexpr (std::is_arithmetic_v<Type>) {
    f(part);
  } else if constexpr (std::is_same_v<Type, InversionState>) {
    of_each(part.phase, part.rows, part.stored, part.model, part.beta, part.message, part.products, part.seconds);
    of_each(part.kept, part.search, part.weights_model, part.epsilon, part.first_epsilon, part.compact_steps);
    of_each(part.last_phi_m, part.interval_steps, part.interval_dual, part.lower, part.upper);
    of_each(part.samples, part.squares, part.trace, part.trace_squared, part.depth_of_investigation);
  } else if constexpr (std::is_same_v<Type, ConvergenceRow>) {
    of_each(part.stage, part.beta, part.phi_d, part.chi, part.phi_m, part.products);
    of_each(part.minimum, part.maximum, part.seconds);
  } else {
    std::int64_t count = std::ssize(part);
    f(count);
    if constexpr (requires { part.clear(); }) {
      part.clear();
      // one by one: a count may be anything, but the numbers of a file end
      while (std::ssize(part) < count) {
        part.push_back({});
        each_kept_number(part.back(), f);
      }
    } else {
      for (auto& element : part) each_kept_number(element, f);
    }
  }
}

template <class T>
T take_first(std::span<const T>& numbers) {
  if (numbers.empty()) throw Unusable("is damaged");
  const T first = numbers.front();
  numbers = numbers.subspan(1);
  return first;
}

}  // namespace

void sign(CheckpointHeader& header) {
  header.mark = our_mark;
  header.version = checkpoint_version;
  header.header = digest_of(header);
}

void write_checkpoint(const fs::path& checkpoint, const CheckpointRun& run, int rank, const WorkState& state) {
  const fs::path file = rank_file(checkpoint, rank);
  const std::span<const std::int64_t> layout(run.layout);
  const std::span<const std::int64_t> numbers(state.numbers);
  CheckpointHeader header;
  header.rank = rank;
  header.case_hash = run.case_hash;
  header.layout = {rank == 0 ? static_cast<std::int64_t>(layout.size_bytes()) : 0,
                   digest_of(layout.data(), layout.size_bytes())};
  header.state = {static_cast<std::int64_t>(numbers.size_bytes()), digest_of(numbers.data(), numbers.size_bytes())};
  header.method = filled_up(run.method);
  Checksum checksum;
  for (const std::span<const double> part : state.sums) {
    checksum.add_bytes(part.data(), part.size_bytes());
    header.sums.bytes += static_cast<std::int64_t>(part.size_bytes());
  }
  header.sums.digest = checksum.digest();
  sign(header);
  try {
    RankFile(file).require_replaceable(&run.case_hash);
    TemporaryFile temporary(file);
    temporary.write(&header, sizeof header);
    temporary.write(layout.data(), static_cast<std::size_t>(header.layout.bytes));
    temporary.write(numbers.data(), numbers.size_bytes());
    for (const std::span<const double> part : state.sums) temporary.write(part.data(), part.size_bytes());
    temporary.move_to_target();
  } catch (const Unusable& why) {
    throw RunError(fmt::format("{}: the checkpoint is not written: what is there {}", file.string(), why.what()));
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: the checkpoint is not written: {}", file.string(), error.what()));
  }
}

void write_checkpoint(const fs::path& checkpoint, const Digest& case_hash, const InversionState& state) {
  WorkState kept;
  std::vector<double> doubles;
  each_kept_number(state, [&]<class T>(const T& number) {
    if constexpr (std::is_same_v<T, double>) {
      doubles.push_back(number);
    } else {
      kept.numbers.push_back(number);
    }
  });
  kept.sums = {doubles};
  write_checkpoint(checkpoint, {inversion, case_hash, {}}, 0, kept);
}

void check_checkpoint_place(const fs::path& checkpoint, int n_ranks, const Digest* case_hash) {
  ProblemList problems;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const fs::path file = rank_file(checkpoint, rank);
    try {
      RankFile(file).require_replaceable(case_hash);
    } catch (const Unusable& why) {
      problems.add(error(file, why));
    }
  }
  problems.throw_if_any();
}

CheckpointLock::CheckpointLock(const fs::path& checkpoint)
    : m_lock(folder_of(followed(checkpoint)) / fmt::format(".{}.lock", followed(checkpoint).filename().string())) {
  if (!m_lock.is_anothers()) return;
  throw InputError("", "output.checkpoint.file",
                   fmt::format("{} is used by another run; wait for its end, or give the checkpoint another name",
                               followed(checkpoint).string()));
}

fs::path rank_file(const fs::path& checkpoint, int rank) {
  fs::path file = followed(checkpoint);
  if (rank > 0) file += fmt::format(".rank{}", rank);
  return file;
}

void remove_checkpoint(const fs::path& file, const Digest& case_hash) {
  const fs::path target = followed(file);
  const std::string checkpoint = target.filename().string();
  std::vector<fs::path> removed;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(target), error)) {
    const std::string name = entry.path().filename().string();
    // a file of its own or, behind a dot, one that was to become such a file
    const std::size_t part = name.rfind(".part-");
    const std::string becomes = part == std::string::npos || part == 0 ? "" : name.substr(1, part - 1);
    const bool is_temporary = is_of_rank(becomes, checkpoint) && is_temporary_of(name, becomes);
    if (!is_temporary && !is_of_rank(name, checkpoint)) continue;
    const bool is_empty =
        is_temporary && fs::is_regular_file(entry.symlink_status(error)) && entry.file_size(error) == 0;
    if (is_empty || RankFile(entry.path()).is_of(case_hash)) removed.push_back(entry.path());
  }
  for (const fs::path& name : removed) fs::remove(name, error);
}

std::optional<FoundCheckpoint> read_checkpoint(const fs::path& checkpoint, const Digest& case_hash, RankWork& work) {
  return read_files(checkpoint, {name(work.plan().method), case_hash, {}}, "run",
                    [&](KeptFiles& files) { work.restore(files); });
}

std::optional<FoundCheckpoint> read_checkpoint(const fs::path& checkpoint, const Digest& case_hash,
                                               InversionState& state) {
  return read_files(checkpoint, {inversion, case_hash, {}}, inversion, [&](KeptFiles& files) {
    static_cast<void>(files.open(0));
    const std::vector<std::int64_t> kept_integers = files.numbers();
    const std::vector<double> kept_doubles = files.all_sums();
    std::span<const std::int64_t> integers(kept_integers);
    std::span<const double> doubles(kept_doubles);
    each_kept_number(state, [&]<class T>(T& number) {
      if constexpr (std::is_same_v<T, double>) {
        number = take_first(doubles);
      } else {
        number = static_cast<T>(take_first(integers));
      }
    });
  });
}

std::optional<FoundCheckpoint> CheckpointGuard::read(RankWork& work) {
  return m_found = read_checkpoint(m_settings.file, m_run.case_hash, work);
}

void CheckpointGuard::settle(const RankWork& work) {
  if (m_found) {
    m_run = m_found->run;
    return;
  }
  m_run.method = name(work.plan().method);
  m_run.layout = work.layout(m_communicator);
}

void CheckpointGuard::begin(const RankWork& work) {
  m_last = std::chrono::steady_clock::now();
  // the other ranks' states are worth nothing without the layout, and this rank may be the last to keep one
  if (!m_found && m_communicator.rank() == 0) keep(work);
}

bool CheckpointGuard::wants_state() {
  if (wants_stop()) return true;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_last).count() >= m_settings.every_seconds;
}

bool CheckpointGuard::wants_stop() {
  if (m_stopping) return true;
  m_stopping = interrupted();
  if (m_stopping) announce_stop(m_communicator);
  return m_stopping = m_stopping || stop_announced(m_communicator);
}

void CheckpointGuard::keep(const RankWork& work) {
  try {
    write_checkpoint(m_settings.file, m_run, m_communicator.rank(), work.state());
    m_failure.clear();
  } catch (const RunError& error) {
    // the run itself may still come to its end
    m_failure = error.what();
  }
  m_last = std::chrono::steady_clock::now();
}

}  // namespace prismfield
