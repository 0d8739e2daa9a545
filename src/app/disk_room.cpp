// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/disk_room.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/temporary_file.hpp"
#include "case/output_check.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// What would be written to one disk.
struct Demand {
  std::string key;
  std::string what;
  fs::path folder;
  std::int64_t bytes = 0;
};

/// Where else a result could go; the folder of a batch job, which may be gone with the job, last.
std::vector<fs::path> other_folders(const fs::path& file) {
  std::vector<fs::path> folders{"."};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') folders.emplace_back(home);
  const char* temporary = std::getenv("TMPDIR");
  folders.emplace_back(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp");
  std::error_code error;
  const fs::path own = folder_of(followed(file));
  const auto is_own = [&](const fs::path& folder) { return fs::equivalent(folder, own, error); };
  folders.erase(std::remove_if(folders.begin(), folders.end(), is_own), folders.end());
  return folders;
}

/// A name in a folder that nothing has.
std::optional<fs::path> unused_name(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  for (int i = 0; i < 1000; ++i) {
    const std::string number = i == 0 ? "" : fmt::format("-{}", i);
    const fs::path name = whole / (file.stem().string() + number + file.extension().string());
    if (fs::symlink_status(name, error).type() == fs::file_type::not_found) return name;
  }
  return std::nullopt;
}

/// Where the result was written instead; nothing where no folder takes it.
std::optional<fs::path> written_elsewhere(const Computed& computed) {
  for (const fs::path& folder : other_folders(computed.file)) {
    if (free_bytes(folder).value_or(computed.bytes) < computed.bytes) continue;
    const std::optional<fs::path> name = unused_name(folder, computed.file);
    if (!name) continue;
    try {
      computed.write(*name);
      return name;
    } catch (const RunError&) {
      continue;
    }
  }
  return std::nullopt;
}

/// Waits until the folder seems to have room, at most a minute. Throws Stopped.
void wait_for_room(const fs::path& folder, std::int64_t bytes) {
  const std::int64_t before = free_bytes(folder).value_or(0);
  for (int second = 0; second < 60; ++second) {
    throw_if_interrupted();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::int64_t now = free_bytes(folder).value_or(0);
    if (now > before && now >= bytes) return;
  }
}

/// Throws InputError where a disk has less room than is asked of it.
void check_demands(const Case& run, const std::vector<Demand>& demands) {
  ProblemList problems;
  for (const auto& [key, what, where, bytes] : demands) {
    const std::optional<std::int64_t> room = free_bytes(where);
    if (!room || *room >= bytes) continue;
    problems.add(run.where(key), key,
                 fmt::format("{} about {}, and the disk of {} has {} free; make room or name a folder on another disk",
                             what, size_text(bytes), where.string(), size_text(*room)));
  }
  problems.throw_if_any();
}

}  // namespace

void check_disk(const Inputs& inputs, std::int64_t checkpoint_bytes) {
  const ResultHeader header = result_header(inputs.run);
  const fs::path folder = folder_of(followed(header.file));
  std::vector<Demand> demands{
      {"output.file", "the result takes", folder, result_bytes(header, inputs.points, inputs.run.fields)}};
  if (inputs.run.output.checkpoint) {
    const fs::path file = followed(inputs.run.output.checkpoint->file);
    // the next one is written beside the last
    std::error_code error;
    const std::int64_t beside = fs::exists(file, error) ? 0 : checkpoint_bytes;
    if (on_one_disk(folder, folder_of(file))) {
      demands[0].bytes = beside + std::max(demands[0].bytes, checkpoint_bytes);
      demands[0].what = "the result and its checkpoint take";
    } else {
      demands.push_back({"output.checkpoint.file",
                         beside > 0 ? "two checkpoints, of which one replaces the other, take" : "the checkpoint takes",
                         folder_of(file), beside + checkpoint_bytes});
    }
  }
  check_demands(inputs.run, demands);
}

void check_model_disks(const Case& run, const std::vector<ModelFileSize>& files) {
  std::vector<Demand> demands;
  for (const auto& [key, file, bytes] : files) {
    const fs::path folder = folder_of(followed(file));
    const auto same = std::find_if(demands.begin(), demands.end(),
                                   [&](const Demand& demand) { return on_one_disk(demand.folder, folder); });
    if (same == demands.end()) {
      demands.push_back({key, key == "output.file" ? "the model takes" : "the file takes", folder, bytes});
    } else {
      same->bytes += bytes;
      same->what = same->key == "output.file" ? "the model and the files beside it take" : "these files take";
    }
  }
  check_demands(run, demands);
}

void write_or_keep(const Computed& computed, const std::function<void(const std::string&)>& warn) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    std::string why;
    bool no_room = false;
    try {
      computed.write(computed.file);
      return;
    } catch (const NoRoomError& error) {
      why = error.what();
      no_room = true;
    } catch (const RunError& error) {
      why = error.what();
    }
    if (const auto elsewhere = written_elsewhere(computed)) {
      throw RunError(fmt::format("{}; it is complete in {} instead", why, elsewhere->string()));
    }
    std::error_code error;
    if (computed.checkpoint && fs::exists(*computed.checkpoint, error)) {
      throw RunError(
          fmt::format("{}; {} holds what was done, --resume goes on from it", why, computed.checkpoint->string()));
    }
    constexpr std::chrono::hours patience{1};
    const bool patient = ::isatty(STDERR_FILENO) == 1 || std::chrono::steady_clock::now() - begin < patience;
    if (!no_room || !patient) throw RunError(why);
    warn(
        fmt::format("{}; nor is there room ({}) anywhere else: the result is kept in memory and tried again, make room",
                    why, size_text(computed.bytes)));
    wait_for_room(folder_of(followed(computed.file)), computed.bytes);
  }
}

}  // namespace prismfield
