// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/file_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/human_text.hpp"
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

std::optional<double> property_factor(const std::string& name, std::string unit) {
  const std::string own = unit_of_property(name);
  unit = lower_case(unit);
  if (unit.empty() || own.empty()) return 1;
  if (own == "1") {
    constexpr std::array<std::string_view, 6> none{"1", "si", "si units", "dimensionless", "none", "-"};
    return std::find(none.begin(), none.end(), unit) != none.end() ? std::optional(1.0) : std::nullopt;
  }
  // kg/m3, kg m-3, kg.m^-3, kg m**-3
  std::erase_if(unit, [](char c) { return std::string_view(" ._*^-/()").find(c) != std::string_view::npos; });
  using Factors = std::vector<std::pair<std::string_view, double>>;
  static const Factors densities{{"kgm3", 1},           {"kgm\xc2\xb3", 1}, {"gcm3", 1000},
                                 {"gcm\xc2\xb3", 1000}, {"gcc", 1000},      {"tm3", 1000}};
  static const Factors magnetizations{{"am", 1}, {"am1", 1}, {"mam", 1e-3}, {"mam1", 1e-3}};
  for (const auto& [spelling, factor] : own == "A/m" ? magnetizations : densities) {
    if (unit == spelling) return factor;
  }
  return std::nullopt;
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

std::string vector_name(std::string name) {
  constexpr std::string_view easting = "_easting";
  return name.erase(name.find(easting), easting.size());
}

}  // namespace prismfield
