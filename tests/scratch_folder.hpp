// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

namespace prismfield::testing {

/// A new folder of the test that is running, removed with what is in it.
class ScratchFolder {
public:
  ScratchFolder() {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    m_path = std::filesystem::temp_directory_path() /
             ("prismfield_" + std::to_string(::getpid()) + "_" + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(m_path);
    std::filesystem::create_directories(m_path);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return m_path / name; }
  /// Writes a file as it is and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    std::ofstream(m_path / name, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
    return m_path / name;
  }
  /// A text without this folder in front of its files' names.
  [[nodiscard]] std::string removed_from(std::string text) const {
    const std::string folder = (m_path / "").string();
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }

private:
  std::filesystem::path m_path;
};

/// What an InputError thrown by `action` says, one problem a line; "" when nothing is thrown.
template <class Action>
[[nodiscard]] std::string mistakes(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

[[nodiscard]] inline std::size_t lines_in(const std::string& text) {
  std::size_t n = text.empty() ? 0 : 1;
  for (const char c : text) n += c == '\n' ? 1 : 0;
  return n;
}

}  // namespace prismfield::testing
