// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/file_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <system_error>

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
                                 Suffix{".mag", FileFormat::ubc_data},    Suffix{".pre", FileFormat::ubc_data},
                                 Suffix{".vtr", FileFormat::vtr},         Suffix{".vtu", FileFormat::vtu},
                                 Suffix{".vtp", FileFormat::vtp}};

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

std::vector<FileFormat> formats_of(const InputFile& file) {
  if (is_array_file(file)) return {FileFormat::hdf5};
  const std::optional<FileFormat> named = format_of_suffix(file.path);
  const std::vector<FileFormat> by_name(named ? 1 : 0, named.value_or(FileFormat::csv));
  // what cannot be read twice
  if (std::error_code code; !std::filesystem::is_regular_file(file.path, code)) return by_name;
  refuse_foreign(file);
  const TextStart start = start_of_text(file, mesh_rows);
  const auto& rows = start.rows;
  if (rows.empty()) return by_name;
  // a mesh of one cell along easting begins so too
  const bool may_be_mesh = named == FileFormat::ubc_mesh || (rows.size() > 3 && rows[3].size() < 3);
  if (begins_as_ubc_magnetic(start) && !may_be_mesh) return {FileFormat::ubc_data};
  const UbcMesh mesh = ubc_mesh_in(rows);
  if (mesh == UbcMesh::octree || mesh == UbcMesh::two_dimensional) return {FileFormat::ubc_mesh};
  std::int64_t count = 0;
  const bool has_count = rows[0].size() == 1 && parse_integer(rows[0][0], count) == NumberStatus::ok;
  const std::size_t columns = rows.size() > 1 ? rows[1].size() : 0;
  if (named == FileFormat::ubc_data) {
    return has_count || is_ubc_magnetic(file.path) ? by_name : std::vector{FileFormat::xyz};
  }
  if (has_count && (columns == 9 || columns == 10 || columns == 12)) return {FileFormat::tomofast_grid};
  const bool is_table = named == FileFormat::csv || named == FileFormat::xyz;
  if (named && !(is_table && has_count && columns > 1)) return by_name;
  if (has_count && columns > 0) {
    switch (columns) {
      case 1: return {FileFormat::tomofast_values};
      case 3: return {FileFormat::ubc_data, FileFormat::tomofast_data, FileFormat::tomofast_values};
      case 4: return {FileFormat::ubc_data, FileFormat::tomofast_data};
      case 6: return {FileFormat::tomofast_data};
      default: return {FileFormat::ubc_data};
    }
  }
  if (mesh == UbcMesh::tensor && rows.size() > 2 && columns != rows[2].size()) return {FileFormat::ubc_mesh};
  // a table: rows of three numbers or more, alike, below a line of names or none
  const auto is_row = [&](const std::vector<std::string>& row) {
    double value = 0;
    return row.size() == columns && std::count_if(row.begin(), row.end(), [&](const std::string& word) {
                                      return parse_number(word, value) == NumberStatus::ok;
                                    }) >= 3;
  };
  if (columns >= 3 && std::all_of(rows.begin() + 1, rows.end(), is_row)) {
    return {start.has_commas ? FileFormat::csv : FileFormat::xyz};
  }
  return {};
}

FileFormat one_format(const InputFile& file, const std::vector<FileFormat>& fits) {
  if (fits.empty()) {
    throw file.error(fmt::format("does not tell what it is by its suffix or its first lines; say it by --from: {}",
                                 fmt::join(format_names(true), ", ")));
  }
  if (!info(fits[0]).is_read) {
    throw file.error(fmt::format("is a {}, which is written only; formats that are read: {}", info(fits[0]).long_name,
                                 fmt::join(format_names(true), ", ")));
  }
  if (fits.size() == 1) return fits[0];
  std::vector<std::string> names;
  for (const FileFormat fit : fits) names.push_back(fmt::format("--from {} ({})", info(fit).name, info(fit).holds));
  throw file.error(fmt::format("begins with the number of its rows, as several formats do; say which by {}",
                               fmt::join(names, " or ")));
}

std::optional<FileFormat> counted_points(const InputFile& file, const std::vector<std::string>& columns,
                                         std::optional<bool> z_down, const std::string& remedy) {
  const std::vector<FileFormat> fits = formats_of(file);
  const auto may_be = [&](FileFormat format) { return std::find(fits.begin(), fits.end(), format) != fits.end(); };
  if (may_be(FileFormat::tomofast_grid)) {
    throw file.error("is a Tomofast grid, and points are needed; prismfield convert IN OUT.h5 makes a model of it");
  }
  const bool ubc = may_be(FileFormat::ubc_data), tomofast = may_be(FileFormat::tomofast_data);
  if (!ubc && !tomofast) return std::nullopt;
  if (!columns.empty()) {
    throw InputError(file.where, file.key_beside("columns"),
                     fmt::format("'{}' begins with the number of its rows, whose columns are known: E, N, elevation, "
                                 "value, standard deviation; take the key out",
                                 file.path.string()));
  }
  if (ubc && tomofast && !z_down) {
    throw file.error(fmt::format(
        "begins with the number of its rows, as files of UBC (heights, mGal) and Tomofast (depths, m/s2) do: {}",
        remedy));
  }
  if (!(ubc && tomofast) && z_down.value_or(tomofast) != tomofast) {
    throw InputError(
        file.where, file.key_beside("axis_z"),
        fmt::format("is {}, but '{}' is a file of {}", *z_down ? "down" : "up", file.path.string(),
                    ubc ? "UBC, whose elevations grow upwards" : "Tomofast (bx, by, bz), whose Z grows downwards"));
  }
  return z_down.value_or(tomofast) ? FileFormat::tomofast_data : FileFormat::ubc_data;
}

std::string gravity_warning(const FieldInfo& field, double largest) {
  constexpr double most = 1000;
  if (field.unit != "mGal" || !(largest > most)) return "";
  return fmt::format(
      "{} reaches {} mGal, and anomalies stay below 1,000: are the numbers in another unit, such as m/s2, the whole "
      "gravity of the Earth, or another field, such as one in nT?",
      field.name, short_number(largest));
}

}  // namespace prismfield
