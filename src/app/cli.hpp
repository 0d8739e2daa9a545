// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismfield {

/// prismfield run
struct RunOptions {
  std::filesystem::path file;
  /// key.path=value, in the order given
  std::vector<std::string> overrides;
  /// replaces output.file; empty: not given
  std::filesystem::path output;
  bool check = false;
  bool dry_run = false;
  bool resume = false;
  bool quiet = false;
};

/// prismfield compare
struct CompareOptions {
  std::filesystem::path a, b;
  std::optional<double> tolerance;
  bool quiet = false;
};

/// prismfield info
struct InfoOptions {};

/// Text that was asked for by --help or --version.
struct HelpText {
  std::string text;
};

/// Arguments in the form that main() receives, for libraries that read them so.
class ArgumentVector {
public:
  explicit ArgumentVector(std::vector<std::string> options) : m_words(std::move(options)) {
    m_words.insert(m_words.begin(), "prismfield");
    for (std::string& word : m_words) m_argv.push_back(word.data());
    m_argv.push_back(nullptr);
    m_argc = static_cast<int>(m_words.size());
  }
  ArgumentVector(const ArgumentVector&) = delete;
  ArgumentVector& operator=(const ArgumentVector&) = delete;

  [[nodiscard]] int& argc() noexcept { return m_argc; }
  [[nodiscard]] char** argv() noexcept { return m_argv.data(); }
  /// Throws InputError for what the library left because it does not know it.
  void refuse_rest() const;

private:
  std::vector<std::string> m_words;
  std::vector<char*> m_argv;
  int m_argc = 0;
};

/// What the command line asks for.
struct CommandLine {
  std::variant<HelpText, RunOptions, CompareOptions, InfoOptions> command;
  /// Kokkos' own options, passed through as they are
  std::vector<std::string> kokkos_options;
};

/// Reads the arguments that follow the program's name. Throws InputError for an unknown command or option, with the
/// nearest spelling, and for missing or surplus arguments.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace prismfield
