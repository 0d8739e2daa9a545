// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "formats/input_file.hpp"

namespace prismfield::fuzz {

/// What the fuzzer makes, read from the front.
class Bytes {
public:
  Bytes(const std::uint8_t* data, std::size_t size) : m_rest(reinterpret_cast<const char*>(data), size) {}

  /// The next byte, 0 at the end.
  [[nodiscard]] unsigned byte() {
    if (m_rest.empty()) return 0;
    const char first = m_rest.front();
    m_rest.remove_prefix(1);
    return static_cast<unsigned char>(first);
  }
  [[nodiscard]] std::string_view rest() const { return m_rest; }
  /// What lies before `mark`, and moves behind it; all of the rest when it is not there.
  [[nodiscard]] std::string_view before(std::string_view mark) {
    const std::size_t at = m_rest.find(mark);
    const std::string_view part = m_rest.substr(0, at);
    m_rest.remove_prefix(at == std::string_view::npos ? m_rest.size() : at + mark.size());
    return part;
  }

private:
  std::string_view m_rest;
};

/// A folder of this process, in TMPDIR or, where that is not set, in memory. What crashes leaves it behind.
class Folder {
public:
  Folder() {
    const bool in_memory = std::getenv("TMPDIR") == nullptr && std::filesystem::is_directory("/dev/shm");
    m_path = in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    m_path /= "prismfield_fuzz_" + std::to_string(::getpid());
    std::filesystem::create_directories(m_path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  [[nodiscard]] static std::filesystem::path file(const char* name) {
    static const Folder folder;
    return folder.m_path / name;
  }

private:
  std::filesystem::path m_path;
};

/// A file that the readers open by its name, written anew for every run. HDF5 wants one that has a name: memfd_create
/// will not do.
class InputBytes {
public:
  explicit InputBytes(const char* name)
      : m_path(Folder::file(name)),
        m_descriptor(::open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)) {
    if (m_descriptor < 0) std::abort();
  }
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;
  ~InputBytes() { ::close(m_descriptor); }

  const std::filesystem::path& hold(std::string_view content) {
    const auto size = static_cast<ssize_t>(content.size());
    if (::ftruncate(m_descriptor, 0) != 0 || ::pwrite(m_descriptor, content.data(), content.size(), 0) != size) {
      std::abort();
    }
    return m_path;
  }
  /// As the file that a case names.
  [[nodiscard]] InputFile input(std::string_view content) { return {hold(content), "case.yaml:1", "file"}; }

private:
  std::filesystem::path m_path;
  int m_descriptor;
};

/// Ends the process where something holds that must not.
inline void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// True when `read` ends by itself; its errors have to be ones that a user is told, in plain text, and are shown where
/// PRISMFIELD_FUZZ_SHOW is set.
template <class Read>
bool ends_clearly(const Read& read) {
  static const bool is_shown = std::getenv("PRISMFIELD_FUZZ_SHOW") != nullptr;
  const auto is_told = [](const std::exception& error) {
    const std::string_view text = error.what();
    if (is_shown) std::fprintf(stderr, "refused: %s\n", error.what());
    require(!text.empty(), "an error without words");
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      require((byte >= 0x20 && byte != 0x7f) || c == '\n', "a message with control characters");
    }
  };
  try {
    read();
    return true;
  } catch (const InputError& error) {
    is_told(error);
  } catch (const RunError& error) {
    is_told(error);
  }
  return false;
}

}  // namespace prismfield::fuzz

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT
