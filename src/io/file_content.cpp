// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/file_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

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
constexpr std::array suffixes = {Suffix{".h5", FileFormat::hdf5},         Suffix{".nc", FileFormat::hdf5},
                                 Suffix{".nc4", FileFormat::hdf5},        Suffix{".hdf5", FileFormat::hdf5},
                                 Suffix{".csv", FileFormat::csv},         Suffix{".xyz", FileFormat::xyz},
                                 Suffix{".msh", FileFormat::ubc_mesh},    Suffix{".den", FileFormat::ubc_model},
                                 Suffix{".mod", FileFormat::ubc_model},   Suffix{".sus", FileFormat::ubc_model},
                                 Suffix{".fld", FileFormat::ubc_vectors}, Suffix{".obs", FileFormat::ubc_data},
                                 Suffix{".loc", FileFormat::ubc_data},    Suffix{".grv", FileFormat::ubc_data},
                                 Suffix{".mag", FileFormat::ubc_data},    Suffix{".vtr", FileFormat::vtr},
                                 Suffix{".vtu", FileFormat::vtu},         Suffix{".vtp", FileFormat::vtp}};

/// What a text is by its first lines: formats that begin with a count, and UBC's magnetic data.
std::optional<FileFormat> format_of_text(const InputFile& file) {
  const TextStart start = start_of_text(file, 3);
  if (begins_as_ubc_magnetic(start)) return FileFormat::ubc_data;
  if (start.rows.size() < 2 || start.rows[0].size() != 1) return std::nullopt;
  std::int64_t count = 0;
  if (parse_integer(start.rows[0][0], count) != NumberStatus::ok) return std::nullopt;
  switch (start.rows[1].size()) {
    case 1:
    case 3: return FileFormat::tomofast_values;
    case 4:
    case 6: return FileFormat::tomofast_data;
    case 9:
    case 10:
    case 12: return FileFormat::tomofast_grid;
    default: return std::nullopt;
  }
}

std::string small_suffix(const std::filesystem::path& file) { return lower_case(file.extension().string()); }

}  // namespace

void add_prism(PrismBlock& prisms, const std::array<double, 7>& numbers) {
  const auto columns = columns_of(prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c]->push_back(numbers[c]);
}

std::vector<PropertyColumn> properties_of(const ListedPrisms& prisms) {
  std::vector<PropertyColumn> columns;
  if (!prisms.susceptibility.empty()) columns.push_back({"susceptibility", &prisms.susceptibility});
  for (std::size_t d = 0; d < 3; ++d) {
    if (!prisms.magnetization[d].empty()) columns.push_back({magnetization_columns[d], &prisms.magnetization[d]});
  }
  const bool is_massless =
      std::all_of(prisms.density.begin(), prisms.density.end(), [](double density) { return density == 0; });
  if (columns.empty() || !is_massless) columns.insert(columns.begin(), {prism_columns.back(), &prisms.density});
  return columns;
}

std::string unit_of_property(const std::string& name) {
  if (is_density(name)) return "kg/m3";
  if (name.starts_with("susceptibility")) return "1";
  return name.starts_with(magnetization_name) || name.starts_with("amplitude") ? "A/m" : "";
}

std::string unit_text(const std::string& unit) {
  if (unit == "1") return "SI";
  // of files, by CF
  return unit == "A m-1" ? "A/m" : unit;
}

std::optional<std::array<std::size_t, 3>> vector_at(const std::vector<CellValues>& values, std::size_t at) {
  constexpr std::string_view easting = "_easting";
  const std::string& name = values[at].name;
  const std::size_t begin = name.find(easting);
  if (begin == std::string::npos) return std::nullopt;
  std::array<std::size_t, 3> found{at, 0, 0};
  for (std::size_t d = 1; d < 3; ++d) {
    const std::string other = name.substr(0, begin) + "_" + direction_names[d] + name.substr(begin + easting.size());
    const auto component =
        std::find_if(values.begin(), values.end(), [&](const CellValues& each) { return each.name == other; });
    if (component == values.end()) return std::nullopt;
    found[d] = static_cast<std::size_t>(component - values.begin());
  }
  return found;
}

std::vector<std::string> format_names(bool to_read) {
  std::vector<std::string> names;
  for (const FormatInfo& format : format_infos) {
    if (to_read ? format.is_read : format.is_written) names.emplace_back(format.name);
  }
  return names;
}

bool is_ubc_places(const std::filesystem::path& file) { return small_suffix(file) == ".loc"; }

bool is_ubc_magnetic(const std::filesystem::path& file) { return small_suffix(file) == ".mag"; }

std::string property_of_suffix(const std::filesystem::path& file) {
  const std::string suffix = small_suffix(file);
  if (suffix == ".den") return "density";
  return suffix == ".sus" ? "susceptibility" : suffix == ".fld" ? magnetization_name : "";
}

std::string why_not_held(const std::filesystem::path& file, const std::string& name) {
  const std::string promised = property_of_suffix(file), unit = unit_of_property(name);
  if (promised.empty() || unit.empty() || unit == unit_of_property(promised)) return "";
  return fmt::format("is a file of {}, by its suffix, and what is to be written is {}; call it {}",
                     promised == "density"          ? "densities"
                     : promised == "susceptibility" ? "susceptibilities"
                                                    : "magnetizations",
                     name,
                     unit == "kg/m3" ? ".den"
                     : unit == "1"   ? ".sus"
                                     : ".fld (the vectors) or .mod (one number a cell)");
}

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
    const TextStart start = start_of_text(file, 3);
    const bool has_count = !start.rows.empty() && start.rows[0].size() == 1;
    if (!has_count && !begins_as_ubc_magnetic(start) && !is_ubc_magnetic(file.path)) format = FileFormat::xyz;
  }
  if (!format) format = format_of_text(file);
  if (!format) {
    throw file.error(fmt::format("does not tell what it is by its suffix or its first lines; say it by --from: {}",
                                 fmt::join(format_names(true), ", ")));
  }
  return *format;
}

}  // namespace prismfield
