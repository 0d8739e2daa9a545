// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/study_report.hpp"

#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "app/progress.hpp"
#include "app/python_tool.hpp"
#include "base/version.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

bool is_progress(const std::string& line) { return line.starts_with("drawing "); }

/// `how_again`: what makes the report once the modules are there.
ExitCode run_tool(std::vector<std::string> words, bool quiet, const std::string& folder, const std::string& how_again) {
  const PythonTool tool{"study.finish", "NumPy, h5py and PyYAML", "python3-numpy, python3-h5py and python3-yaml"};
  words.insert(words.begin(), {"--version", version, "--git", git_hash});
  if (quiet) words.insert(words.begin(), "--quiet");
  ToolOutcome outcome;
  {
    Progress progress(progress_style(quiet), std::cerr);
    const auto show = [&](const std::string& line) {
      if (is_progress(line)) progress.note(line);
    };
    // another Python than the first may be the one that draws
    std::vector<std::string> drawing = words;
    drawing.insert(drawing.begin(), "--need-figures");
    outcome = run_python_tool(tool, drawing, show);
    if (outcome.lacks_module) outcome = run_python_tool(tool, words, show);
  }
  const bool is_silent = outcome.code != exit_done && outcome.errors.empty();
  if (outcome.lacks_module || !outcome.exited || is_silent) {
    throw RunError(fmt::format("the report in {} was not written: {}; {}", folder, outcome.why, how_again));
  }
  std::cout << outcome.output << std::flush;
  std::istringstream lines(outcome.errors);
  for (std::string line; std::getline(lines, line);) {
    if (!is_progress(line)) std::cerr << line << '\n';
  }
  std::cerr << std::flush;
  return outcome.code == exit_done || outcome.code == exit_input ? ExitCode{outcome.code} : exit_failure;
}

}  // namespace

ExitCode finish_study(const fs::path& folder, bool quiet) {
  return run_tool({"--", folder.string()}, quiet, folder.string(),
                  "the runs are kept: the same command with --resume writes it");
}

ExitCode join_studies(const std::vector<fs::path>& folders, const fs::path& out, bool quiet) {
  std::vector<std::string> words = {"--join", "--output=" + out.string(), "--"};
  for (const fs::path& folder : folders) words.push_back(folder.string());
  return run_tool(std::move(words), quiet, out.string(), "then give the same command again");
}

}  // namespace prismfield
