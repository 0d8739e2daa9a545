// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace prismfield::testing_samples {

/// A folder below the current one that is empty when a test begins and gone when it ends; its name has a space.
class FolderTest : public ::testing::Test {
protected:
  FolderTest() {
    const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    m_folder = std::filesystem::path(test->file()).stem().string() + " " + test->name();
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directories(m_folder);
  }
  ~FolderTest() override { std::filesystem::remove_all(m_folder); }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return m_folder / name; }
  /// The names of what is in the folder.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(m_folder)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }

private:
  std::filesystem::path m_folder;
};

/// All bytes of a file.
inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Changes one bit of a double that a file holds, wherever it does. False when the file does not hold it.
inline bool flip_a_bit_of(const std::filesystem::path& file, double value) {
  std::string bytes = content(file);
  std::string wanted(sizeof value, '\0');
  std::memcpy(wanted.data(), &value, sizeof value);
  const std::size_t at = bytes.find(wanted);
  if (at == std::string::npos) return false;
  bytes[at + 3] = static_cast<char>(bytes[at + 3] ^ 4);
  std::ofstream(file, std::ios::binary) << bytes;
  return true;
}

}  // namespace prismfield::testing_samples
