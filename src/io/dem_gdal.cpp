// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/dem_gdal.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

#if PRISMFIELD_HAS_GDAL
#include <cpl_conv.h>
#include <cpl_error.h>
#include <fmt/format.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/human_text.hpp"
#include "io/hdf5_file.hpp"
#endif

namespace prismfield {

bool is_tiff(const InputFile& file) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file.path, code)) return false;
  const std::string start = start_of_file(file.path, 4);
  for (const std::string_view magic : {std::string_view("II*\0", 4), std::string_view("MM\0*", 4),
                                       std::string_view("II+\0", 4), std::string_view("MM\0+", 4)}) {
    if (start == magic) return true;
  }
  return false;
}

#if PRISMFIELD_HAS_GDAL

namespace {

struct CloseDataset {
  void operator()(void* dataset) const noexcept { GDALClose(dataset); }
};
using Dataset = std::unique_ptr<void, CloseDataset>;

/// While it lives GDAL prints nothing.
class QuietGdal {
public:
  QuietGdal() {
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
  }
  ~QuietGdal() { CPLPopErrorHandler(); }
  QuietGdal(const QuietGdal&) = delete;
  QuietGdal& operator=(const QuietGdal&) = delete;
};

InputError damaged(const InputFile& file) {
  return file.error(fmt::format("cannot be read as GeoTIFF: {}", shown(CPLGetLastErrorMsg())));
}

Dataset open_tiff(const InputFile& file) {
  // the one format that is needed, and the file alone, without what may lie beside it
  static const bool is_ready = [] {
    GDALRegister_GTiff();
    CPLSetConfigOption("GDAL_DISABLE_READDIR_ON_OPEN", "EMPTY_DIR");
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO");
    return true;
  }();
  static_cast<void>(is_ready);
  const std::array<const char*, 2> drivers{"GTiff", nullptr};
  Dataset dataset(GDALOpenEx(std::filesystem::absolute(file.path).c_str(), GDAL_OF_READONLY | GDAL_OF_RASTER,
                             drivers.data(), nullptr, nullptr));
  if (!dataset) throw damaged(file);
  return dataset;
}

/// Centres of `n` pixels of this width, the first of which begins at `begin`.
std::vector<double> pixel_centres(double begin, double width, int n) {
  constexpr double middle = 0.5;
  std::vector<double> centres(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < centres.size(); ++i) centres[i] = begin + (static_cast<double>(i) + middle) * width;
  return centres;
}

/// The band's numbers in the order of the file, scaled, NaN where it has none.
std::vector<double> band_values(const InputFile& file, void* dataset, int n_x, int n_y) {
  void* const band = GDALGetRasterBand(dataset, 1);
  if (GDALDataTypeIsComplex(GDALGetRasterDataType(band)) != 0)
    throw file.error("holds complex numbers; heights are real");
  const auto n = static_cast<std::uint64_t>(n_x) * static_cast<std::uint64_t>(n_y);
  auto values = room_for<double>(n, [&](const std::string& why) { throw file.error(why); });
  if (GDALRasterIO(band, GF_Read, 0, 0, n_x, n_y, values.data(), n_x, n_y, GDT_Float64, 0, 0) != CE_None) {
    throw damaged(file);
  }
  int has_gaps = 0;
  const double gap = GDALGetRasterNoDataValue(band, &has_gaps);
  const bool is_single = GDALGetRasterDataType(band) == GDT_Float32;
  const double scale = GDALGetRasterScale(band, nullptr), offset = GDALGetRasterOffset(band, nullptr);
  for (double& value : values) {
    const bool is_gap = has_gaps != 0 && (value == gap || (is_single && value == static_cast<float>(gap)));
    value = is_gap ? std::numeric_limits<double>::quiet_NaN() : value * scale + offset;
  }
  return values;
}

void turn_round(std::vector<double>& nodes, std::vector<double>& values, bool is_rows) {
  if (nodes.size() < 2 || nodes.front() < nodes.back()) return;
  std::reverse(nodes.begin(), nodes.end());
  const std::size_t n_x = is_rows ? values.size() / nodes.size() : nodes.size();
  const auto row = [&](std::size_t j) { return values.begin() + static_cast<std::ptrdiff_t>(j * n_x); };
  const std::size_t n_y = values.size() / n_x;
  for (std::size_t j = 0; j < (is_rows ? n_y / 2 : n_y); ++j) {
    if (is_rows) {
      std::swap_ranges(row(j), row(j + 1), row(n_y - 1 - j));
    } else {
      std::reverse(row(j), row(j + 1));
    }
  }
}

}  // namespace

std::string gdal_version() { return GDALVersionInfo("RELEASE_NAME"); }

TiffGrid read_tiff(const InputFile& file) {
  const QuietGdal quiet;
  const Dataset dataset = open_tiff(file);
  const int n_x = GDALGetRasterXSize(dataset.get()), n_y = GDALGetRasterYSize(dataset.get());
  if (const int n = GDALGetRasterCount(dataset.get()); n != 1) {
    throw file.error(fmt::format("has {} bands, heights are one; take it out: gdal_translate -b 1 in.tif out.tif", n));
  }
  std::array<double, 6> place{};
  if (GDALGetGeoTransform(dataset.get(), place.data()) != CE_None) {
    throw file.error("does not say where its pixels are; a GeoTIFF with a georeference is needed");
  }
  const auto [west, width, slope_x, north, slope_y, height] = place;
  if (slope_x != 0 || slope_y != 0 || width == 0 || height == 0) {
    throw file.error("has rows that do not run along easting; turn it first: gdalwarp in.tif out.tif");
  }
  TiffGrid tiff;
  if (void* const system = GDALGetSpatialRef(dataset.get())) {
    tiff.is_geographic = OSRIsGeographic(system) != 0;
    if (!tiff.is_geographic) tiff.length_to_si = OSRGetLinearUnits(system, nullptr);
  }
  tiff.unit = GDALGetRasterUnitType(GDALGetRasterBand(dataset.get(), 1));
  GridVariable& grid = tiff.grid;
  grid.easting_name = "easting";
  grid.northing_name = "northing";
  grid.easting = pixel_centres(west, width, n_x);
  grid.northing = pixel_centres(north, height, n_y);
  grid.values = band_values(file, dataset.get(), n_x, n_y);
  turn_round(grid.easting, grid.values, false);
  turn_round(grid.northing, grid.values, true);
  return tiff;
}

#else

std::string gdal_version() { return ""; }

TiffGrid read_tiff(const InputFile& file) {
  throw file.error(
      "is GeoTIFF, which this prismfield reads only when it was built with GDAL; convert it first: gdal_translate -of "
      "netCDF in.tif out.nc, or -of AAIGrid in.tif out.asc");
}

#endif

}  // namespace prismfield
