// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/dem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "io/hdf5_file.hpp"
#include "io/height_file.hpp"
#include "io/point_columns.hpp"
#include "io/text_table.hpp"
#include "model/cells.hpp"
#include "model/extents.hpp"

#if PRISMFIELD_HAS_GDAL
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <ogr_srs_api.h>
#endif

namespace prismfield {
namespace {

/// A GeoTIFF's band as it is.
struct TiffGrid {
  /// at the centres of pixels, NaN where the band has no value
  GridVariable grid;
  /// what its reference system says: easting and northing are longitude and latitude; else their factor to metres
  bool is_geographic = false;
  double length_to_si = 1;
  /// of the values, "" where the file names none
  std::string unit;
};

/// True when a readable file begins as TIFF and BigTIFF do.
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

/// Reads the band of a GeoTIFF. Throws InputError for one of several bands or of complex numbers, for a grid that is
/// turned or has no place, for a damaged file, and where this prismfield was built without GDAL.
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
  make_ascending(grid);
  return tiff;
}

#else

TiffGrid read_tiff(const InputFile& file) {
  throw file.error(
      "is GeoTIFF, which this prismfield reads only when it was built with GDAL; convert it first: gdal_translate -of "
      "netCDF in.tif out.nc, or -of AAIGrid in.tif out.asc");
}

#endif

/// Reads an ESRI ASCII grid: a header of ncols, nrows, the lower left corner (xllcorner, yllcorner) or node (xllcenter,
/// yllcenter), cellsize or dx and dy, NODATA_value (-9999 without it), then the rows from the north. Nodes are the
/// cells' centres; those without a value are NaN. Throws InputError with the line of the error.
class AsciiGrid {
public:
  explicit AsciiGrid(const InputFile& file) : m_file(file), m_reader(file) {}

  GridVariable read() {
    std::string_view line = read_header();
    GridVariable grid;
    const auto n_easting = count("ncols"), n_northing = count("nrows");
    grid.easting = nodes('x', n_easting);
    grid.northing = nodes('y', n_northing);
    grid.easting_name = "x";
    grid.northing_name = "y";
    read_values(line, n_easting, n_northing, grid.values);
    return grid;
  }

private:
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(line_of(m_file, std::max<std::int64_t>(m_reader.number(), 1)), key, what);
  }

  /// Lines that begin with a name; returns the first line of values, which stays valid.
  std::string_view read_header() {
    static const std::vector<std::string> names = {"ncols",     "nrows",    "xllcorner", "yllcorner", "xllcenter",
                                                   "yllcenter", "cellsize", "dx",        "dy",        "nodata_value"};
    std::string_view line;
    while (m_reader.next(line)) {
      std::string_view rest = line;
      const std::string_view first = take_word(rest);
      if (first.empty()) continue;
      double number = 0;
      if (parse_number(first, number) == NumberStatus::ok) return line;
      const std::string name = lower_case(first);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        fail("", fmt::format("{} is no word of the header of an ESRI ASCII grid", excerpt(std::string(first))));
      }
      const std::string_view value = take_word(rest);
      if (parse_number(value, number) != NumberStatus::ok || (!std::isfinite(number) && name != "nodata_value")) {
        fail(name, fmt::format("{} is no number", excerpt(std::string(value))));
      }
      if (!m_header.emplace(name, number).second) fail(name, "is given twice");
    }
    return {};
  }

  [[nodiscard]] std::optional<double> find(const std::string& name) const {
    const auto found = m_header.find(name);
    return found == m_header.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] std::size_t count(const std::string& name) const {
    const std::optional<double> value = find(name);
    if (!value) throw m_file.error(fmt::format("lacks {} in its header", name));
    if (*value < 1 || *value > static_cast<double>(most_cells_in_a_direction) || *value != std::floor(*value)) {
      throw m_file.error(
          fmt::format("has {} {:g}; a whole number of 1 to {} is needed", name, *value, most_cells_in_a_direction));
    }
    return static_cast<std::size_t>(*value);
  }

  /// Centres of the cells along x or y, ascending.
  [[nodiscard]] std::vector<double> nodes(char direction, std::size_t n) const {
    const std::string first(1, direction);
    const std::optional<double> size = find("cellsize") ? find("cellsize") : find("d" + first);
    if (!size || !(*size > 0)) {
      throw m_file.error(fmt::format("{}; cellsize, or dx and dy, above 0 are needed in its header",
                                     size ? fmt::format("has a cell size of {:g}", *size) : "lacks cellsize"));
    }
    const std::optional<double> corner = find(first + "llcorner"), centre = find(first + "llcenter");
    if (corner.has_value() == centre.has_value()) {
      throw m_file.error(fmt::format("{0} {1}llcorner {2} {1}llcenter in its header; one of the two is needed",
                                     corner ? "has both" : "has neither", first, corner ? "and" : "nor"));
    }
    const double half = corner ? 0.5 : 0.0;
    std::vector<double> places(n);
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = (corner ? *corner : *centre) + (static_cast<double>(i) + half) * *size;
    }
    return places;
  }

  void check_room(std::size_t values) const {
    std::error_code code;
    const std::uintmax_t bytes = std::filesystem::file_size(m_file.path, code);
    // a digit and a blank a value
    if (!code && values > bytes / 2 + 1) {
      throw m_file.error(fmt::format("is cut short: {} cannot hold {}", size_text(static_cast<std::int64_t>(bytes)),
                                     counted(static_cast<std::int64_t>(values), "value")));
    }
    if (const std::string why = why_no_room(values, sizeof(double)); !why.empty()) throw m_file.error(why);
  }

  void read_values(std::string_view line, std::size_t n_easting, std::size_t n_northing, std::vector<double>& values) {
    const std::size_t n = n_easting * n_northing;
    check_room(n);
    values.resize(n);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), usual = -9999;
    const double nodata = find("nodata_value").value_or(usual);
    // written with as many digits as each writer likes
    const double near = std::abs(nodata) > 1e30 ? 1e-5 * std::abs(nodata) : 0;
    std::size_t found = 0, n_lines = 0, of_a_line = 0;
    bool are_alike = true;
    do {
      const std::size_t before = found;
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        double value = 0;
        const NumberStatus status = parse_number(word, value);
        if (status != NumberStatus::ok) {
          fail("", fmt::format("{} {}", excerpt(std::string(word)),
                               status == NumberStatus::too_large ? "is too large" : "is not a number"));
        }
        if (found == n) fail("", fmt::format("has more values than {} x {}", n_easting, n_northing));
        const bool none = !std::isfinite(value) || value == nodata || std::abs(value - nodata) < near;
        const std::size_t row = n_northing - 1 - found / n_easting;
        values[row * n_easting + found % n_easting] = none ? nan : value;
        ++found;
      }
      if (found == before) continue;
      if (n_lines++ == 0) of_a_line = found;
      are_alike = are_alike && found - before == of_a_line;
    } while (m_reader.next(line));
    if (are_alike && n_lines > 1 && n_easting != n_northing && of_a_line == n_northing && n_lines == n_easting) {
      throw m_file.error(fmt::format("has ncols {} and nrows {}, but {} lines of {}: the two are swapped", n_easting,
                                     n_northing, n_lines, counted(static_cast<std::int64_t>(of_a_line), "value")));
    }
    if (found < n) {
      throw m_file.error(fmt::format("is cut short: it has {} of {} x {} = {}",
                                     counted(static_cast<std::int64_t>(found), "value"), n_easting, n_northing, n));
    }
  }

  const InputFile& m_file;
  LineReader m_reader;
  std::map<std::string, double> m_header;
};

/// True when a readable file begins with a word of the header of an ESRI ASCII grid.
bool is_ascii_grid(const InputFile& file) {
  LineReader reader(file);
  std::string_view line;
  while (reader.next(line)) {
    const std::string first = lower_case(take_word(line));
    if (!first.empty()) return first == "ncols" || first == "nrows";
  }
  return false;
}

enum class Quantity { height, density };

InputError geographic(const InputFile& file, const std::string& names) {
  return file.error(
      fmt::format("has longitudes and latitudes ({}); prisms need metres of a map projection: project it first, e.g. "
                  "gdalwarp -t_srs EPSG:32719 -of netCDF in.nc out.nc, or gmt grdproject",
                  names));
}

/// The factor to metres of a file's own unit of length, 1 for none; nothing for one that is not known.
std::optional<double> length_factor(std::string unit) {
  constexpr double survey_foot = 1200.0 / 3937.0;
  // "m above sea level" is a length and where it begins
  if (const std::size_t above = unit.find(" above "); above != std::string::npos) unit.resize(above);
  if (unit.empty()) return 1;
  constexpr std::array survey_feet{"US survey foot", "US_survey_foot", "us-ft", "US_survey_feet"};
  if (std::find(survey_feet.begin(), survey_feet.end(), unit) != survey_feet.end()) return survey_foot;
  return metres_in(unit);
}

double needed_factor(const InputFile& file, const std::string& name, const std::string& unit) {
  const std::optional<double> factor = length_factor(unit);
  if (!factor) {
    throw file.error(fmt::format("has {} in {}; metres, km, feet or US survey feet are known", name, excerpt(unit)));
  }
  return *factor;
}

void scale(std::vector<double>& values, double factor) {
  if (factor == 1) return;
  for (double& value : values) value *= factor;
}

/// Throws InputError for heights of a file without units whose nodes can hardly be metres apart: within the degrees
/// that there are, closer than 1, and steeper from end to end than any ground.
void refuse_degrees(const InputFile& file, const GridVariable& grid) {
  // a terrain as high as twice its length; with 111 km to a degree 10 m over 5 degrees are that
  constexpr double closest = 1, steepest = 2;
  const auto is_fine = [](const std::vector<double>& nodes) {
    return nodes.size() > 1 && nodes.back() - nodes.front() < closest * static_cast<double>(nodes.size() - 1);
  };
  if (!is_fine(grid.easting) || !is_fine(grid.northing)) return;
  const Bounds box = {grid.easting.front(), grid.easting.back(), grid.northing.front(), grid.northing.back(), 0, 0};
  if (!could_be_degrees(box)) return;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const double height : grid.values) {
    if (!std::isfinite(height)) continue;
    lowest = std::min(lowest, height);
    highest = std::max(highest, height);
  }
  if (!(highest - lowest > steepest * std::max(box.east - box.west, box.north - box.south))) return;
  throw file.error(fmt::format(
      "has nodes that look like degrees ({0} {1:.10g} to {2:.10g}, {3} {4:.10g} to {5:.10g}, heights {6:.6g} "
      "to {7:.6g} m); prisms need metres of a map projection: project it first, e.g. gdalwarp -s_srs "
      "EPSG:4326 -t_srs EPSG:32719 -of netCDF in.asc out.nc. netCDF with units of metres is taken as such",
      grid.easting_name, box.west, box.east, grid.northing_name, box.south, box.north, lowest, highest));
}

bool is_degrees(const std::string& name, const std::string& unit) {
  static const std::vector<std::string> names = {"lon", "longitude", "lat", "latitude"};
  return unit.starts_with("degree") || (unit.empty() && std::find(names.begin(), names.end(), name) != names.end());
}

/// netCDF and HDF5.
GridVariable from_arrays(const InputFile& file, const std::string& variable, Quantity quantity, double to_si) {
  const ArrayFile arrays(file);
  if (!variable.empty() && !arrays.has("/" + variable)) {
    throw file.error(
        fmt::format("has no variable {}; it has {}", excerpt(variable), shown_list(arrays.dataset_names("/"))));
  }
  const std::string name = variable.empty() ? height_variable(file, arrays, " or by the key variable") : variable;
  const std::pair<std::string, std::string> axes = grid_coordinates(file, arrays, name);
  const auto unit_of = [&](const std::string& of) { return arrays.text_attribute("/" + of, "units").value_or(""); };
  for (const std::string& axis : {axes.first, axes.second}) {
    if (is_degrees(axis, unit_of(axis))) throw geographic(file, axes.second + ", " + axes.first);
  }
  const double easting_factor = needed_factor(file, axes.second, unit_of(axes.second));
  const double northing_factor = needed_factor(file, axes.first, unit_of(axes.first));
  const double factor = quantity == Quantity::height ? needed_factor(file, name, unit_of(name)) : to_si;
  GridVariable grid = read_grid_variable(file, arrays, name);
  scale(grid.easting, easting_factor);
  scale(grid.northing, northing_factor);
  scale(grid.values, factor);
  return grid;
}

/// Throws InputError where a table says that its densities are in another unit than the one that `to_si` stands for.
void check_density_unit(const InputFile& file, const Table& table, double to_si) {
  const std::string& unit = table.units[2];
  const std::string wanted = to_si == 1 ? "kg/m3" : "g/cm3";
  if (unit.empty() || unit == wanted) return;
  throw InputError(
      table.named_where, table.named_key,
      fmt::format("column density is in {}, {} is {}", excerpt(unit), file.key_beside("density_unit"), wanted));
}

/// A table of nodes in any order; gaps are nodes without a value.
GridVariable from_table(const InputFile& file, Quantity quantity, double to_si) {
  TableRequest request = place_columns();
  request.skips_dummies = true;
  if (quantity == Quantity::density) {
    request.needed.back() = "density";
    std::erase_if(request.aliases, [](const auto& alias) { return alias.name == "upward"; });
  }
  ProblemList problems;
  Table table = read_table(file, request, problems);
  problems.throw_if_any();
  TableColumns places = table;
  if (quantity == Quantity::density) places.at.resize(2);
  std::vector<std::string> notes;
  const std::vector<double> factors = place_factors(file, places, {}, problems, notes);
  problems.throw_if_any();
  for (std::size_t d = 0; d < factors.size(); ++d) scale(table.columns[d], factors[d]);
  if (quantity == Quantity::density) {
    check_density_unit(file, table, to_si);
    scale(table.columns[2], to_si);
  }
  GridVariable grid;
  grid.easting = sorted_once(table.columns[0]);
  grid.northing = sorted_once(table.columns[1]);
  grid.easting_name = "easting";
  grid.northing_name = "northing";
  const std::size_t n = table.lines.size(), n_easting = grid.easting.size();
  // a grid of which most is missing is none
  constexpr std::size_t most_nodes_a_point = 4;
  if (n == 0 || n_easting > most_nodes_a_point * n / grid.northing.size()) {
    throw file.error(fmt::format("makes no grid: its {} have {} eastings and {} northings",
                                 counted(static_cast<std::int64_t>(n), "point"), n_easting, grid.northing.size()));
  }
  grid.values.assign(n_easting * grid.northing.size(), std::numeric_limits<double>::quiet_NaN());
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t p = 0; p < n; ++p) {
    const double easting = table.columns[0][p], northing = table.columns[1][p], value = table.columns[2][p];
    double& node = grid.values[node_of(grid.northing, northing) * n_easting + node_of(grid.easting, easting)];
    if (!std::isnan(node) && node != value) {
      limited.add("nodes with two values", [&] {
        return Problem{
            line_of(file, table.lines[p]), "",
            fmt::format("easting {}, northing {} has {} here and {} before", easting, northing, value, node)};
      });
    }
    node = value;
  }
  limited.finish();
  problems.throw_if_any();
  const bool has_units = !table.units[0].empty() && !table.units[1].empty();
  if (quantity == Quantity::height && !has_units) refuse_degrees(file, grid);
  return grid;
}

Dem finished(const InputFile& file, GridVariable grid) {
  Dem dem;
  dem.grid.easting = std::move(grid.easting);
  dem.grid.northing = std::move(grid.northing);
  for (const std::vector<double>* nodes : {&dem.grid.easting, &dem.grid.northing}) {
    if (nodes->size() >= 2 && static_cast<std::int64_t>(nodes->size()) < most_cells_in_a_direction) continue;
    throw file.error(fmt::format("has {} x {} nodes; 2 to {} along easting and northing are needed",
                                 dem.grid.easting.size(), dem.grid.northing.size(), most_cells_in_a_direction));
  }
  for (double& value : grid.values) {
    if (!std::isfinite(value)) value = std::numeric_limits<double>::quiet_NaN();
  }
  const auto in_double = static_cast<std::int64_t>(grid.values.capacity() * sizeof(double));
  dem.grid.values = NodeValues(std::move(grid.values));
  dem.peak_bytes = in_double + (dem.grid.values.single().empty() ? 0 : dem.grid.values.memory_bytes());
  return dem;
}

Dem read(const InputFile& file, const std::string& variable, Quantity quantity, double to_si) {
  if (is_array_file(file)) {
    return finished(file, from_arrays(file, variable, quantity, to_si));
  }
  if (is_tiff(file)) {
    if (!variable.empty()) throw file.error("is GeoTIFF, which has no variables; leave out the key variable beside it");
    TiffGrid tiff = read_tiff(file);
    if (tiff.is_geographic) throw geographic(file, "by its reference system");
    scale(tiff.grid.easting, tiff.length_to_si);
    scale(tiff.grid.northing, tiff.length_to_si);
    scale(tiff.grid.values, quantity == Quantity::height ? needed_factor(file, "its band", tiff.unit) : to_si);
    return finished(file, std::move(tiff.grid));
  }
  if (!variable.empty()) throw file.error("is text, which has no variables; leave out the key variable beside it");
  if (is_ascii_grid(file)) {
    GridVariable grid = AsciiGrid(file).read();
    if (quantity == Quantity::density) {
      scale(grid.values, to_si);
    } else {
      refuse_degrees(file, grid);
    }
    return finished(file, std::move(grid));
  }
  Dem dem = finished(file, from_table(file, quantity, to_si));
  // three columns and the lines' numbers, while the grid is being filled
  constexpr std::int64_t columns = 6;
  dem.peak_bytes += columns * static_cast<std::int64_t>(dem.grid.values.size() * sizeof(double));
  return dem;
}

}  // namespace

Dem read_dem(const InputFile& file, const std::string& variable) { return read(file, variable, Quantity::height, 1); }

Dem read_density_grid(const InputFile& file, const std::string& variable, double to_si) {
  return read(file, variable, Quantity::density, to_si);
}

void check_same_nodes(const InputFile& file, const NodeGrid& densities, const NodeGrid& heights) {
  // a thousandth of the spacing: coordinates are often written short
  constexpr double part = 1e-3;
  for (const auto& [direction, found, wanted] : {std::tuple{"eastings", &densities.easting, &heights.easting},
                                                 std::tuple{"northings", &densities.northing, &heights.northing}}) {
    const double tolerance = part * (wanted->back() - wanted->front()) / static_cast<double>(wanted->size() - 1);
    const auto near = [tolerance](double a, double b) { return std::abs(a - b) <= tolerance; };
    if (std::equal(found->begin(), found->end(), wanted->begin(), wanted->end(), near)) continue;
    throw file.error(fmt::format(
        "has {} {}, {} to {}; the heights have {}, {} to {}, and densities are needed at "
        "their nodes",
        found->size(), direction, found->front(), found->back(), wanted->size(), wanted->front(), wanted->back()));
  }
}

#if PRISMFIELD_HAS_GDAL
std::string gdal_version() { return GDALVersionInfo("RELEASE_NAME"); }
#else
std::string gdal_version() { return ""; }
#endif

}  // namespace prismfield
