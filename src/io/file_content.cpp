// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/file_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "io/text_lines.hpp"
#include "model/prism_check.hpp"

namespace prismfield {
namespace {

struct Suffix {
  const char* suffix;
  FileFormat format;
};
constexpr std::array suffixes = {
    Suffix{".h5", FileFormat::hdf5},       Suffix{".nc", FileFormat::hdf5},       Suffix{".nc4", FileFormat::hdf5},
    Suffix{".hdf5", FileFormat::hdf5},     Suffix{".csv", FileFormat::csv},       Suffix{".xyz", FileFormat::xyz},
    Suffix{".msh", FileFormat::ubc_mesh},  Suffix{".den", FileFormat::ubc_model}, Suffix{".mod", FileFormat::ubc_model},
    Suffix{".sus", FileFormat::ubc_model}, Suffix{".obs", FileFormat::ubc_data},  Suffix{".loc", FileFormat::ubc_data},
    Suffix{".grv", FileFormat::ubc_data},  Suffix{".vtr", FileFormat::vtr},       Suffix{".vtu", FileFormat::vtu},
    Suffix{".vtp", FileFormat::vtp}};

/// What a text is by its first two lines: formats that begin with a count.
std::optional<FileFormat> format_of_text(const InputFile& file) {
  const TextStart start = start_of_text(file, 2);
  if (start.rows.size() < 2 || start.rows[0].size() != 1) return std::nullopt;
  std::int64_t count = 0;
  if (parse_integer(start.rows[0][0], count) != NumberStatus::ok) return std::nullopt;
  switch (start.rows[1].size()) {
    case 1: return FileFormat::tomofast_values;
    case 4: return FileFormat::tomofast_data;
    case 9:
    case 10: return FileFormat::tomofast_grid;
    default: return std::nullopt;
  }
}

std::string small_suffix(const std::filesystem::path& file) { return lower_case(file.extension().string()); }

}  // namespace

void add_prism(PrismBlock& prisms, const std::array<double, 7>& numbers) {
  const auto columns = columns_of(prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c]->push_back(numbers[c]);
}

std::vector<std::string> format_names(bool to_read) {
  std::vector<std::string> names;
  for (const FormatInfo& format : format_infos) {
    if (to_read ? format.is_read : format.is_written) names.emplace_back(format.name);
  }
  return names;
}

bool is_ubc_places(const std::filesystem::path& file) { return small_suffix(file) == ".loc"; }

std::optional<FileFormat> format_of_suffix(const std::filesystem::path& file) {
  const std::string suffix = small_suffix(file);
  for (const Suffix& known : suffixes) {
    if (known.suffix == suffix) return known.format;
  }
  return std::nullopt;
}

std::string known_suffixes() {
  std::vector<std::string> names;
  for (const Suffix& known : suffixes) names.emplace_back(known.suffix);
  return fmt::format("{}", fmt::join(names, ", "));
}

FileFormat find_format(const InputFile& file) {
  if (is_array_file(file)) return FileFormat::hdf5;
  std::optional<FileFormat> format = format_of_suffix(file.path);
  if (format && !info(*format).is_read) {
    throw file.error(fmt::format("is a {}, which is written only; formats that are read: {}", info(*format).long_name,
                                 fmt::join(format_names(true), ", ")));
  }
  if (format == FileFormat::ubc_data) {
    // a table called .obs or .loc does not begin with the number of its lines
    const TextStart start = start_of_text(file, 1);
    if (start.rows.empty() || start.rows[0].size() != 1) format = FileFormat::xyz;
  }
  if (!format) format = format_of_text(file);
  if (!format) {
    throw file.error(fmt::format("does not tell what it is by its suffix or its first lines; say it by --from: {}",
                                 fmt::join(format_names(true), ", ")));
  }
  return *format;
}

}  // namespace prismfield
