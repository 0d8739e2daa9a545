// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/memory_limits.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The first word of a file as a number; nothing for "max", other words and files that are not there.
std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return std::nullopt;
  if (status == std::errc::result_out_of_range) return unlimited;
  if (status != std::errc{}) return std::nullopt;
  return static_cast<std::int64_t>(std::min(value, static_cast<std::uint64_t>(unlimited)));
}

/// Numbers of lines "name number", in the order of `names`; 0 for those that are missing.
std::vector<std::int64_t> numbers_of(const fs::path& file, const std::vector<std::string>& names) {
  std::vector<std::int64_t> values(names.size(), 0);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t value = 0;
    if (!(words >> name >> value)) continue;
    if (const auto found = std::find(names.begin(), names.end(), name); found != names.end()) {
      values[static_cast<std::size_t>(found - names.begin())] = value;
    }
  }
  return values;
}

/// How a version of control groups names its files.
struct GroupFiles {
  std::vector<const char*> limits;
  const char* taken;
  /// of memory.stat: files that are kept in memory and can be dropped
  std::vector<std::string> cache;
};

const GroupFiles files_of_version_1 = {
    {"memory.limit_in_bytes"}, "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
// beyond memory.high a group is slowed down until it hardly moves
const GroupFiles files_of_version_2 = {
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};

/// A number that no other group of this machine has.
std::int64_t group_number(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return 0;
  // exact as a double too, since ranks exchange it as one
  constexpr std::uint64_t bits = (std::uint64_t{1} << 52) - 1;
  const std::uint64_t number =
      static_cast<std::uint64_t>(status.st_ino) * 4096 + static_cast<std::uint64_t>(status.st_dev);
  return static_cast<std::int64_t>(number & bits) + 2;
}

void add_group(const fs::path& folder, const GroupFiles& files, std::vector<MemoryLimit>& found) {
  std::int64_t most = unlimited;
  for (const char* const name : files.limits) most = std::min(most, number_in(folder / name).value_or(unlimited));
  // version 1 writes the largest whole page where there is no limit
  if (most >= unlimited / 4096 * 4096) return;
  std::int64_t taken = number_in(folder / files.taken).value_or(0);
  for (const std::int64_t cache : numbers_of(folder / "memory.stat", files.cache)) taken -= cache;
  const std::int64_t left = most - std::clamp<std::int64_t>(taken, 0, most);
  found.push_back({MemoryBound::control_group, left, group_number(folder)});
}

/// A mounted hierarchy of control groups.
struct Mount {
  fs::path folder;
  /// the group that is seen at `folder`
  fs::path top;
  bool is_version_2 = false;
};

bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

/// Where the groups that count memory are mounted: lines "id parent device top folder options ... - type source more".
std::vector<Mount> mounts_of_groups(const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string skipped;
    std::string top;
    std::string folder;
    words >> skipped >> skipped >> skipped >> top >> folder;
    while (words >> skipped && skipped != "-") continue;
    std::string type;
    std::string source;
    std::string more;
    words >> type >> source >> more;
    if (type != "cgroup2" && !(type == "cgroup" && lists(more, "memory"))) continue;
    mounts.push_back({root / fs::path(folder).relative_path(), top, type == "cgroup2"});
  }
  return mounts;
}

/// The group of this process in a hierarchy: lines "number:controllers:path", version 2 without controllers.
std::optional<fs::path> own_group(const fs::path& root, bool is_version_2) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_version_2 ? controllers.empty() : lists(controllers, "memory")) return line.substr(second + 1);
  }
  return std::nullopt;
}

void add_groups(const fs::path& root, std::vector<MemoryLimit>& found) {
  for (const Mount& mount : mounts_of_groups(root)) {
    const GroupFiles& files = mount.is_version_2 ? files_of_version_2 : files_of_version_1;
    add_group(mount.folder, files, found);
    const std::optional<fs::path> own = own_group(root, mount.is_version_2);
    if (!own) continue;
    // a container sees its own group as the top one, although its path may be relative to the machine's
    const fs::path below = own->lexically_relative(mount.top);
    fs::path folder = mount.folder;
    for (const fs::path& part : below) {
      if (part == "." || part.empty()) continue;
      if (part == "..") break;
      folder /= part;
      add_group(folder, files, found);
    }
  }
}

std::int64_t bytes_of(rlim_t limit) {
  return limit == RLIM_INFINITY ? unlimited
                                : static_cast<std::int64_t>(std::min<std::uint64_t>(limit, std::uint64_t{unlimited}));
}

}  // namespace

ProcessLimits process_limits() {
  ProcessLimits limits;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0) limits.address_space = bytes_of(limit.rlim_cur);
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) limits.data = bytes_of(limit.rlim_cur);
  return limits;
}

std::vector<MemoryLimit> memory_limits(const fs::path& root, const ProcessLimits& limits) {
  std::vector<MemoryLimit> found;
  constexpr std::int64_t machine_group = 1;
  constexpr std::int64_t kib = 1024;
  // Linux reports available memory from 3.14 on; before, no field is 0
  const std::int64_t free = numbers_of(root / "proc/meminfo", {"MemAvailable:"}).front();
  if (free > 0) found.push_back({MemoryBound::machine, free * kib, machine_group});
  add_groups(root, found);
  const std::vector<std::int64_t> taken = numbers_of(root / "proc/self/status", {"VmSize:", "VmData:"});
  const auto add_own = [&](MemoryBound bound, std::int64_t most, std::int64_t taken_kib) {
    if (most < unlimited) found.push_back({bound, std::max<std::int64_t>(most - taken_kib * kib, 0), 0});
  };
  add_own(MemoryBound::address_space, limits.address_space, taken[0]);
  add_own(MemoryBound::data, limits.data, taken[1]);
  return found;
}

std::int64_t share_of(const std::vector<MemoryLimit>& limits, std::int64_t processes) noexcept {
  std::int64_t least = unlimited;
  for (const MemoryLimit& limit : limits) {
    least = std::min(least, limit.group == 0 ? limit.bytes : limit.bytes / std::max<std::int64_t>(processes, 1));
  }
  return least;
}

const char* description(MemoryBound bound) noexcept {
  switch (bound) {
    case MemoryBound::machine: return "this machine's free memory";
    case MemoryBound::control_group: return "the memory limit of this batch job or container (cgroup)";
    case MemoryBound::address_space: return "the limit of a process's address space (ulimit -v)";
    case MemoryBound::data: return "the limit of a process's data (ulimit -d)";
  }
  return "";
}

}  // namespace prismfield
