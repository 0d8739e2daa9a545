// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/disk_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"
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

void write_computed(const std::optional<fs::path>& checkpoint, const std::function<void()>& write) {
  try {
    write();
  } catch (const RunError& failure) {
    if (std::error_code error; !checkpoint || !fs::exists(*checkpoint, error)) throw;
    throw RunError(
        fmt::format("{}; {} holds what was done, --resume goes on from it", failure.what(), checkpoint->string()));
  }
}

}  // namespace prismfield
