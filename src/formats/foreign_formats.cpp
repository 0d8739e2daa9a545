// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/foreign_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

using namespace std::string_view_literals;
using enum ForeignFormat::Surface;

constexpr const char* to_surface =
    "it is read as a surface alone (terrain, topography); gdal_translate -of XYZ IN OUT.xyz makes a table of it";
constexpr const char* to_netcdf = "gdal_translate -of netCDF IN OUT.nc makes a surface of it that is read";
constexpr const char* to_csv = "save it as CSV, or: ogr2ogr -f CSV -lco GEOMETRY=AS_XYZ OUT.csv IN";
constexpr const char* to_metres = "gdalwarp -t_srs EPSG:32719 -of netCDF IN OUT.nc, with your zone, makes metres of it";
constexpr const char* to_text = "write its numbers as text or HDF5 first";
constexpr const char* to_table =
    "it is not read: write a table whose header names the columns, such as easting, northing, upward, gxx, gzz";
constexpr const char* is_array = "text is needed here; prismfield convert IN OUT writes it";

/// Bytes of a file by which its format is known.
struct Signature {
  std::string_view bytes;
  ForeignFormat format;
  std::size_t at = 0;
};
constexpr std::array signatures = {
    Signature{"DSAA", {"a Surfer grid (DSAA)", to_surface, surfer}},
    Signature{"DSBB", {"a Surfer grid (DSBB)", to_surface, surfer}},
    Signature{"DSRB", {"a Surfer grid (DSRB)", to_surface, surfer}},
    Signature{"II*\0"sv, {"a TIFF file", to_surface, tiff}},
    Signature{"MM\0*"sv, {"a TIFF file", to_surface, tiff}},
    Signature{"II+\0"sv, {"a TIFF file", to_surface, tiff}},
    Signature{"MM\0+"sv, {"a TIFF file", to_surface, tiff}},
    Signature{"\x89HDF\r\n\x1a\n"sv, {"an HDF5 (netCDF-4) file", is_array}},
    Signature{"CDF\x01"sv, {"a netCDF file", is_array}},
    Signature{"CDF\x02"sv, {"a netCDF file", is_array}},
    Signature{"CDF\x05"sv, {"a netCDF file", is_array}},
    Signature{"\x0e\x03\x13\x01"sv, {"an HDF4 file", to_netcdf}},
    Signature{"GRIB", {"a GRIB file", to_metres}},
    Signature{"\x1f\x8b"sv, {"compressed by gzip", "unpack it: gunzip -k IN"}},
    Signature{"1AY&SY", {"compressed by bzip2", "unpack it: bunzip2 -k IN"}, 4},
    Signature{"\xFD"
              "7zXZ\0"sv,
              {"compressed by xz", "unpack it: unxz -k IN"}},
    Signature{"\x28\xb5\x2f\xfd"sv, {"compressed by zstd", "unpack it: unzstd IN"}},
    Signature{"7z\xbc\xaf"sv, {"a 7z archive", "unpack it: 7z x IN"}},
    Signature{"Rar!\x1a"sv, {"a RAR archive", "unpack it: unrar x IN"}},
    Signature{"\x93NUMPY"sv, {"a NumPy array (.npy)", "numpy.savetxt writes it as text, h5py as HDF5"}},
    Signature{"\x80\x04\x95"sv, {"a Python pickle", to_text}},
    Signature{"\x80\x05\x95"sv, {"a Python pickle", to_text}},
    Signature{"MATLAB 5.0 MAT-file", {"a MATLAB file", to_text}},
    Signature{"MATLAB 7.3 MAT-file", {"a MATLAB file", to_text}},
    Signature{"PAR1", {"a Parquet table", "pandas.read_parquet(IN).to_csv(OUT) makes a table of it"}},
    Signature{"\xd0\xcf\x11\xe0\xa1\xb1"sv, {"a file of Excel or Word (.xls, .doc)", "save it as CSV"}},
    Signature{"%PDF-", {"a PDF", to_text}},
    Signature{"\0\0\x27\x0a"sv, {"a shapefile", to_csv}},
    Signature{"SQLite format 3\0"sv, {"a GeoPackage or another SQLite database", to_csv}},
    Signature{"\x89PNG\r\n"sv, {"a PNG image", "the numbers that it was drawn from are needed"}},
    Signature{"\xff\xd8\xff"sv, {"a JPEG image", "the numbers that it was drawn from are needed"}},
    Signature{"LASF", {"a LAS point cloud", "pdal translate IN OUT.csv makes a table of it"}},
    Signature{"\x84\x83\x82\x81"sv, {"an OMF project (Open Mining Format)", "export what it holds as tables"}},
    Signature{"# vtk DataFile",
              {"a legacy VTK file", "write its cells or points as a table or HDF5 (pyvista, meshio)"}},
    Signature{"version https://git-lfs", {"a pointer of Git LFS", "fetch the file itself: git lfs pull"}},
};

/// The same by the first word, small letters, of the first line that is no `!` comment.
constexpr std::array first_words = {
    Signature{"ncols", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"nrows", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"xllc", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"yllc", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"cellsize", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"nodata_value", {"an ESRI ASCII grid", to_surface, esri}},
    Signature{"datasetheader", {"an ER Mapper grid (.ers)", to_netcdf}},
    Signature{"<!doctype", {"a web page", "download the file itself"}},
    Signature{"<html", {"a web page", "download the file itself"}},
    Signature{"<vtkfile",
              {"a VTK file, which is written only", "write its cells or points as a table or HDF5 (pyvista)"}},
    Signature{"<?xml", {"XML (KML, GML, VTK)", to_csv}},
    Signature{"<kml", {"KML", to_csv}},
    Signature{"{", {"JSON (GeoJSON)", to_csv}},
    Signature{"$meshformat", {"a Gmsh mesh", "a rectilinear mesh is needed, as UBC's tensor meshes are"}},
    Signature{"gocad", {"a GOCAD object", "export it as a table or an ESRI ASCII grid"}},
    Signature{"datacomp", {"a UBC file of gradients (GG3D)", to_table}},
    Signature{"dataflag", {"a UBC file of gradients (GG3D)", to_table}},
};

/// Of bytes that are no text and have no signature.
constexpr std::array binary_suffixes = {
    Signature{".hgt", {"an SRTM tile (.hgt) in degrees", to_metres}},
    Signature{".gdb", {"a Geosoft database (.gdb)", "export it from Oasis montaj as XYZ or CSV"}},
    Signature{".flt", {"a raster without a header (.flt)", to_netcdf}},
    Signature{".bil", {"a raster without a header (.bil)", to_netcdf}},
};

template <class List>
std::optional<ForeignFormat> matching(const List& list, std::string_view text, bool only_begins) {
  for (const Signature& known : list) {
    if (only_begins ? text.substr(std::min(known.at, text.size())).starts_with(known.bytes) : text == known.bytes) {
      return known.format;
    }
  }
  return std::nullopt;
}

/// What a zip archive is by the name of the first file in it.
ForeignFormat zip_format(std::string_view start) {
  constexpr std::size_t length_at = 26, name_at = 30;
  if (start.size() < name_at) return {"a zip archive", "unpack it: unzip IN"};
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(start[i])); };
  const std::string_view name = start.substr(name_at, byte(length_at) + 256 * byte(length_at + 1));
  if (name.ends_with(".npy")) return {"a NumPy archive (.npz)", "numpy.savetxt writes an array as text, h5py as HDF5"};
  if (name.ends_with(".kml")) return {"KMZ", to_csv};
  for (const char* part : {"[Content_Types]", "_rels/", "docProps/", "xl/", "mimetype"}) {
    if (name.starts_with(part)) return {"a spreadsheet (.xlsx, .ods)", "save it as CSV"};
  }
  return {"a zip archive", "unpack it: unzip IN"};
}

/// Whether a file begins as a grid of Geosoft: bytes of an element (1,024 more where it is compressed), its kind,
/// elements of a row, rows, and which way the first row runs.
bool is_geosoft_grid(std::string_view start) {
  std::array<std::int32_t, 5> head{};
  if (start.size() < sizeof(head)) return false;
  std::memcpy(head.data(), start.data(), sizeof(head));
  const auto [size, kind, n_row, n_rows, way] = head;
  constexpr std::int32_t compressed = 1024, most = 10'000'000;
  const std::int32_t bytes = size > compressed ? size - compressed : size;
  return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && kind >= 0 && kind <= 3 && n_row > 0 &&
         n_row <= most && n_rows > 0 && n_rows <= most && (way == 1 || way == -1);
}

}  // namespace

std::string ForeignFormat::text() const { return fmt::format("is {}; {}", name, remedy); }

std::optional<ForeignFormat> foreign_format(const std::filesystem::path& path, std::string_view start) {
  start = start.substr(0, start_bytes);
  if (auto known = matching(signatures, start, true)) return known;
  if (start.starts_with("PK\x03\x04")) return zip_format(start);
  if (is_geosoft_grid(start)) {
    return ForeignFormat{"a Geosoft grid", "export it from Oasis montaj as an ESRI ASCII or Surfer grid"};
  }
  // heights of 300 m have no byte of 0
  const bool has_control = std::any_of(start.begin(), start.end(), [](char c) { return c >= 0 && c < '\a'; });
  if (has_control) return matching(binary_suffixes, lower_case(path.extension().string()), false);
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  while (!start.empty()) {
    std::string_view line = start.substr(0, start.find_first_of("\r\n"));
    start.remove_prefix(std::min(line.size() + 1, start.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t,;"), line.size()));
    const std::string word = lower_case(line.substr(0, line.find_first_of(" \t,;")));
    if (!word.empty() && word.front() != '!') return matching(first_words, word, true);
  }
  return std::nullopt;
}

}  // namespace prismfield
