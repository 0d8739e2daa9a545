// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/checkpoint_format.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 16> our_mark = {'\x89', 'P', 'F', 'c', 'h', 'e',  'c',  'k',
                                           'p',    'o', 'i', 'n', 't', '\r', '\n', '\x1a'};
constexpr auto number_bytes = static_cast<std::int64_t>(sizeof(std::int64_t));

Digest digest_of(const CheckpointHeader& header) { return digest_of(&header, offsetof(CheckpointHeader, header)); }

/// What a file that is no regular one is.
const char* special(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink: return "is a symbolic link";
    case fs::file_type::directory: return "is a folder";
    case fs::file_type::fifo: return "is a pipe";
    default: return "is a device";
  }
}

bool is_whole(const CheckpointHeader& header, std::uintmax_t file_bytes) {
  auto left = static_cast<std::int64_t>(file_bytes - sizeof header);
  for (const CheckpointSection& section : {header.layout, header.state, header.sums}) {
    if (section.bytes < 0 || section.bytes > left || section.bytes % number_bytes != 0) return false;
    left -= section.bytes;
  }
  return left == 0;
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

}  // namespace

void sign(CheckpointHeader& header) {
  header.mark = our_mark;
  header.version = checkpoint_version;
  header.header = digest_of(header);
}

CheckpointReader::CheckpointReader(const fs::path& file) : m_what(look(file)) {}

std::string CheckpointReader::look(const fs::path& file) {
  std::error_code error;
  // opening some devices does something to them
  const fs::file_type type = fs::symlink_status(file, error).type();
  if (type == fs::file_type::not_found) {
    m_kind = CheckpointKind::absent;
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
  m_kind = CheckpointKind::useless;
  if (!m_in) return "is damaged";
  if (header.version != checkpoint_version) return "was written by another version of prismfield";
  if (header.header != digest_of(header)) return "is damaged";
  m_header = header;
  m_is_signed = true;
  if (!is_whole(header, size)) return "is damaged";
  m_kind = CheckpointKind::ours;
  return "";
}

void CheckpointReader::require_replaceable(const Digest* case_hash) const {
  if (m_kind == CheckpointKind::foreign) require_ours();
  if (case_hash == nullptr || !m_is_signed || m_header.case_hash == *case_hash) return;
  throw Unusable("is of another case: the model, the observations, the fields or a file that they name differ",
                 CheckpointKind::foreign);
}

void CheckpointReader::require_ours() const {
  if (m_kind != CheckpointKind::ours) throw Unusable(m_what, m_kind);
}

std::vector<std::int64_t> CheckpointReader::integers(const CheckpointSection& section) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  const std::int64_t n = section.bytes / number_bytes;
  if (n > most) throw Unusable("is damaged: it holds too many numbers");
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  m_in.read(reinterpret_cast<char*>(numbers.data()), section.bytes);
  if (!m_in || digest_of(numbers.data(), numbers.size() * sizeof numbers[0]) != section.digest) {
    throw Unusable("is damaged");
  }
  return numbers;
}

void CheckpointReader::read_sums(const std::vector<std::vector<double>*>& sums) {
  Checksum checksum;
  for (std::vector<double>* part : sums) {
    const std::size_t n = part->size() * sizeof(double);
    m_in.read(reinterpret_cast<char*>(part->data()), static_cast<std::streamsize>(n));
    checksum.add_bytes(part->data(), n);
  }
  if (!m_in || checksum.digest() != m_header.sums.digest) throw Unusable("is damaged");
}

void write_checkpoint_file(const fs::path& file, const Digest& case_hash, std::int64_t rank, const Digest& layout_id,
                           std::span<const std::int64_t> layout, std::span<const std::int64_t> state,
                           const std::vector<std::span<const double>>& sums) {
  CheckpointHeader header;
  header.rank = rank;
  header.case_hash = case_hash;
  header.layout = {static_cast<std::int64_t>(layout.size_bytes()), layout_id};
  header.state = {static_cast<std::int64_t>(state.size_bytes()), digest_of(state.data(), state.size_bytes())};
  Checksum checksum;
  for (const std::span<const double> part : sums) {
    checksum.add_bytes(part.data(), part.size_bytes());
    header.sums.bytes += static_cast<std::int64_t>(part.size_bytes());
  }
  header.sums.digest = checksum.digest();
  sign(header);
  try {
    CheckpointReader(file).require_replaceable(&case_hash);
    TemporaryFile temporary(file);
    temporary.write(&header, sizeof header);
    temporary.write(layout.data(), layout.size_bytes());
    temporary.write(state.data(), state.size_bytes());
    for (const std::span<const double> part : sums) temporary.write(part.data(), part.size_bytes());
    temporary.move_to_target();
  } catch (const Unusable& why) {
    throw RunError(fmt::format("{}: the checkpoint is not written: what is there {}", file.string(), why.what()));
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: the checkpoint is not written: {}", file.string(), error.what()));
  }
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
    if (is_empty || CheckpointReader(entry.path()).is_of(case_hash)) removed.push_back(entry.path());
  }
  for (const fs::path& name : removed) fs::remove(name, error);
}

}  // namespace prismfield
