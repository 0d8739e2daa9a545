// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/input_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <ios>
#include <string_view>
#include <system_error>

#include "base/human_text.hpp"
#include "formats/foreign_formats.hpp"

namespace prismfield {
namespace {

bool is_hdf5(const std::filesystem::path& path) {
  return start_of_file(path, 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

bool is_classic_netcdf(const std::filesystem::path& path) {
  const std::string start = start_of_file(path, 8);
  return start.starts_with("CDF\x01") || start.starts_with("CDF\x02") || start.starts_with("CDF\x05");
}

}  // namespace

std::string start_of_file(const std::filesystem::path& path, std::size_t n) {
  std::ifstream stream(path, std::ios::binary);
  std::string start(n, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(n));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return start;
}

void check_is_text(const InputFile& file, std::string_view start) {
  start = start.substr(0, start_bytes);
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    throw file.error("is UTF-16 text; save it as UTF-8 or ASCII");
  }
  const auto foreign = foreign_format(file.path, start);
  const bool is_binary = start.find('\0') != std::string_view::npos;
  if (foreign && (!foreign->is_surface() || is_binary)) throw file.error(foreign->text());
  if (is_binary) throw file.error("is not a text file; export it as text, HDF5 or netCDF");
}

void refuse_foreign(const InputFile& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file.path, code)) return;
  if (const auto foreign = foreign_format(file.path, start_of_file(file.path, start_bytes))) {
    throw file.error(foreign->text());
  }
}

InputError InputFile::error(const std::string& what) const {
  return {where, key, fmt::format("'{}' {}", path.string(), shown_lines(what))};
}

std::string InputFile::key_beside(const std::string& name) const {
  if (key.empty()) return {};
  constexpr std::string_view own = ".file";
  return (key.ends_with(own) ? key.substr(0, key.size() - own.size()) : key) + "." + name;
}

FileStamp stamp_of(const std::filesystem::path& path) noexcept {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
  return {static_cast<std::int64_t>(file.st_ino), static_cast<std::int64_t>(file.st_size),
          static_cast<std::int64_t>(file.st_mtim.tv_sec), static_cast<std::int64_t>(file.st_mtim.tv_nsec)};
}

void check_unchanged(const InputFile& file, const FileStamp& before) {
  if (before != stamp_of(file.path)) {
    throw file.error("was changed while it was read; run again when nothing writes to it");
  }
}

void check_readable(const InputFile& file) {
  std::error_code code;
  const auto status = std::filesystem::status(file.path, code);
  if (!std::filesystem::exists(status)) {
    const std::string reason =
        code && code != std::errc::no_such_file_or_directory ? code.message() : "there is no such file";
    throw file.error("cannot be read: " + reason);
  }
  if (std::filesystem::is_directory(status)) throw file.error("is a folder; name a file");
  // opening a pipe would take the data from the reader that follows
  if (!std::filesystem::is_regular_file(status)) return;
  const std::ifstream stream(file.path, std::ios::binary);
  if (!stream) throw file.error(fmt::format("cannot be read: {}", std::strerror(errno)));
}

bool is_array_file(const InputFile& file) {
  check_readable(file);
  if (!std::filesystem::is_regular_file(file.path)) return false;
  const std::string start = start_of_file(file.path, start_bytes);
  if (is_hdf5(file.path)) {
    constexpr const char* group_of_geoh5 = "GEOSCIENCE";
    if (start.find(group_of_geoh5) == std::string::npos || !ArrayFile(file).has(group_of_geoh5)) return true;
    throw file.error(
        "is a geoh5 workspace (Geoscience ANALYST); export what it holds as a table, or as a UBC mesh and model");
  }
  if (is_classic_netcdf(file.path)) return true;
  const std::string suffix = lower_case(file.path.extension().string());
  if (suffix != ".h5" && suffix != ".hdf5" && suffix != ".nc" && suffix != ".nc4") return false;
  const auto foreign = foreign_format(file.path, start);
  if (!foreign) {
    throw file.error("is no HDF5 or netCDF file, though its name says so; a table of numbers is called .csv or .txt");
  }
  // the readers of surfaces take what it is, others refuse it
  if (!foreign->is_surface()) throw file.error(foreign->text());
  return false;
}

ArrayFile::ArrayFile(const InputFile& file) : m_file(file), m_stamp(stamp_of(file.path)), m_content(opened(file)) {}

ArrayFile::Content ArrayFile::opened(const InputFile& file) {
  try {
    return is_classic_netcdf(file.path) ? Content(NetcdfClassic(file.path)) : Content(Hdf5File::open(file.path));
  } catch (const RunError& error) {
    throw InputError(file.where, file.key, error.what());
  }
}

bool ArrayFile::has(const std::string& path) const {
  return ask([&](const auto& content) { return content.has(path); });
}

std::vector<std::string> ArrayFile::dataset_names(const std::string& group) const {
  if (!has(group)) throw m_file.error(fmt::format("has no group {}", group));
  return ask([&](const auto& content) { return content.dataset_names(group); });
}

std::vector<std::int64_t> ArrayFile::shape(const std::string& dataset) const {
  return ask([&](const auto& content) { return content.shape(dataset); });
}

std::vector<double> ArrayFile::read(const std::string& dataset) const {
  std::vector<double> values = ask([&](const auto& content) { return content.read(dataset); });
  check_unchanged(m_file, m_stamp);
  // callers index by the shape, whatever a damaged header made of it
  std::size_t size = 1;
  const std::vector<std::int64_t> lengths = shape(dataset);
  for (const std::int64_t length : lengths) size *= static_cast<std::size_t>(length);
  if (values.size() != size) {
    throw m_file.error(
        fmt::format("is damaged: {} has {} values for the shape {}", dataset, values.size(), shape_text(lengths)));
  }
  return values;
}

std::vector<std::string> ArrayFile::dimension_names(const std::string& dataset) const {
  return ask([&](const auto& content) { return content.dimension_names(dataset); });
}

bool ArrayFile::has_attribute(const std::string& dataset, const std::string& name) const {
  return ask([&](const auto& content) { return content.has_attribute(dataset, name); });
}

std::optional<std::string> ArrayFile::text_attribute(const std::string& dataset, const std::string& name) const {
  return ask([&](const auto& content) { return content.text_attribute(dataset, name); });
}

std::vector<std::pair<std::string, AttributeValue>> ArrayFile::attributes(const std::string& dataset) const {
  return ask([&](const auto& content) { return content.attributes(dataset); });
}

std::optional<double> ArrayFile::root_number(const std::string& name) const {
  const auto* const content = std::get_if<Hdf5File>(&m_content);
  if (content == nullptr) return std::nullopt;
  try {
    return content->has_attribute("/", name) ? std::optional(content->read_attribute("/", name)) : std::nullopt;
  } catch (const RunError& error) {
    throw InputError(m_file.where, m_file.key, error.what());
  }
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

}  // namespace prismfield
