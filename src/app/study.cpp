// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "app/commands.hpp"
#include "app/python_tool.hpp"
#include "base/version.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// This program's file, which every run starts.
std::string own_program() {
  std::error_code error;
  const fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (error || !fs::exists(file, error)) {
    throw RunError("the file of this program is not found, so no run can start it");
  }
  return file.string();
}

/// The options of study.command, or of study.finish where reports are joined.
Words words_of(const StudyOptions& options, const Words& kokkos_options) {
  Words words = {"--version=" + std::string(version), "--git=" + std::string(git_hash)};
  const auto flag = [&](bool is_set, const char* name) {
    if (is_set) words.emplace_back(name);
  };
  flag(options.quiet, "--quiet");
  flag(!options.join.empty(), "--join");
  if (!options.output.empty()) words.push_back("--output=" + options.output.string());
  if (options.join.empty()) {
    words.push_back("--program=" + own_program());
    for (const std::string& option : kokkos_options) words.push_back("--kokkos=" + option);
    for (const std::string& assignment : options.overrides) words.push_back("--set=" + assignment);
    words.push_back("--machine=" + options.machine);
    flag(options.reduced, "--reduced");
    flag(options.check, "--check");
    flag(options.dry_run, "--dry-run");
    flag(options.resume, "--resume");
    words.insert(words.end(), {"--", options.file.string()});
  } else {
    words.emplace_back("--");
    for (const fs::path& folder : options.join) words.push_back(folder.string());
  }
  return words;
}

}  // namespace

ProgramEnd execute(const StudyOptions& options, const Words& kokkos_options, const Communicator& communicator) {
  Words words;
  agree(communicator, [&] {
    if (communicator.size() > 1) {
      throw InputError(
          "mpirun", "",
          fmt::format("started {} ranks; a study is one process, which starts the ranks of its runs itself",
                      communicator.size()));
    }
    const PythonTool tool{"study.finish", "NumPy, h5py and PyYAML", "python3-numpy, python3-h5py and python3-yaml"};
    ToolOutcome outcome;
    // another Python than the first may be the one that draws
    if (!options.check && !options.dry_run) outcome = run_python_tool(tool, {"--probe", "--need-figures"});
    if (outcome.words.empty() || outcome.lacks_module) outcome = run_python_tool(tool, {"--probe"});
    if (!outcome.exited || outcome.code != exit_done) throw RunError("a study needs Python: " + outcome.why);
    // a Python, its options and the package
    const auto name = std::find(outcome.words.begin(), outcome.words.end(), tool.name);
    words.assign(outcome.words.begin(), name);
    words.emplace_back(options.join.empty() ? "study.command" : tool.name);
    const Words more = words_of(options, kokkos_options);
    words.insert(words.end(), more.begin(), more.end());
  });
  return {exit_done, words};
}

}  // namespace prismfield
