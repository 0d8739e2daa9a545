// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "input_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

namespace prismfield {
namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Calls `action` and turns HDF5's failure into a mistake of the file.
template <class Action>
auto as_input(const InputFile& file, const Action& action) {
  try {
    return action();
  } catch (const RunError& error) {
    throw InputError(file.where, file.key, error.what());
  }
}

}  // namespace

InputError InputFile::error(const std::string& what) const {
  return {where, key, fmt::format("'{}' {}", path.string(), what)};
}

InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key) {
  return {path, run.where(key), key};
}

void check_readable(const InputFile& file) {
  std::error_code code;
  const auto status = std::filesystem::status(file.path, code);
  if (!std::filesystem::exists(status)) {
    const std::string reason = code && code != std::errc::no_such_file_or_directory ? code.message() : "there is no such file";
    throw file.error("cannot be read: " + reason);
  }
  if (std::filesystem::is_directory(status)) throw file.error("is a folder; name a file");
  // opening a pipe would take the data from the reader that follows
  if (!std::filesystem::is_regular_file(status)) return;
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.path.c_str(), "rb"));
  if (!stream) throw file.error(fmt::format("cannot be read: {}", std::strerror(errno)));
}

bool is_hdf5(const InputFile& file) {
  check_readable(file);
  if (!std::filesystem::is_regular_file(file.path)) return false;
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.path.c_str(), "rb"));
  std::array<char, 8> start{};
  const std::size_t n = stream ? std::fread(start.data(), 1, start.size(), stream.get()) : 0;
  const std::string_view text(start.data(), n);
  if (text == std::string_view("\x89HDF\r\n\x1a\n", 8)) return true;
  if (text.starts_with("CDF\x01") || text.starts_with("CDF\x02") || text.starts_with("CDF\x05")) {
    throw file.error("is netCDF of the classic format; convert it by: nccopy -k netCDF-4 IN OUT");
  }
  const std::string extension = file.path.extension().string();
  for (const char* promise : {".h5", ".hdf5", ".nc", ".nc4", ".grd"}) {
    if (extension == promise) throw file.error("is no HDF5 or netCDF-4 file, though its name says so");
  }
  return false;
}

InputHdf5::InputHdf5(const InputFile& file)
    : m_file(file), m_hdf5(as_input(file, [&] { return Hdf5File::open(file.path); })) {}

bool InputHdf5::has(const std::string& path) const {
  return as_input(m_file, [&] { return m_hdf5.has(path); });
}

std::vector<std::string> InputHdf5::dataset_names(const std::string& group) const {
  if (!has(group)) throw m_file.error(fmt::format("has no group {}", group));
  return as_input(m_file, [&] { return m_hdf5.dataset_names(group); });
}

std::vector<std::int64_t> InputHdf5::shape(const std::string& dataset) const {
  return as_input(m_file, [&] { return m_hdf5.shape(dataset); });
}

std::vector<double> InputHdf5::read(const std::string& dataset) const {
  return as_input(m_file, [&] { return m_hdf5.read(dataset); });
}

std::vector<std::string> InputHdf5::dimension_names(const std::string& dataset) const {
  return as_input(m_file, [&] { return m_hdf5.dimension_names(dataset); });
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

}  // namespace prismfield
