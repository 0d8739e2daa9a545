// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/dem_gdal.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace prismfield {
namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

bool is_tiff(const InputFile& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file.path, code)) return false;
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.path.c_str(), "rb"));
  std::string start(4, '\0');
  start.resize(stream ? std::fread(start.data(), 1, start.size(), stream.get()) : 0);
  for (const std::string_view magic : {std::string_view("II*\0", 4), std::string_view("MM\0*", 4),
                                       std::string_view("II+\0", 4), std::string_view("MM\0+", 4)}) {
    if (start == magic) return true;
  }
  return false;
}

GridVariable read_tiff(const InputFile& file) {
  throw file.error(
      "is GeoTIFF, which this prismfield reads only when it was built with GDAL; convert it first: gdal_translate -of "
      "netCDF in.tif out.nc, or -of AAIGrid in.tif out.asc");
}

}  // namespace prismfield
