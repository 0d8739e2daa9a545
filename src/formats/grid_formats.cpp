// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/grid_formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/foreign_formats.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/text_lines.hpp"
#include "model/cells.hpp"

#if PRISMFIELD_HAS_GDAL
#include <cpl_conv.h>
#include <cpl_error.h>
#include <gdal.h>
#include <gdal_frmts.h>
#include <ogr_srs_api.h>
#endif

namespace prismfield {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Turns rows and columns round where coordinates fall.
void make_ascending(GridVariable& grid) {
  const std::size_t n_easting = grid.easting.size(), n_northing = grid.northing.size();
  // in place: a grid of heights may be half of the memory that there is
  const auto row = [&](std::size_t j) { return grid.values.begin() + static_cast<std::ptrdiff_t>(j * n_easting); };
  if (grid.easting.front() > grid.easting.back()) {
    std::reverse(grid.easting.begin(), grid.easting.end());
    for (std::size_t j = 0; j < n_northing; ++j) std::reverse(row(j), row(j + 1));
  }
  if (grid.northing.front() > grid.northing.back()) {
    std::reverse(grid.northing.begin(), grid.northing.end());
    for (std::size_t j = 0; j < n_northing / 2; ++j) std::swap_ranges(row(j), row(j + 1), row(n_northing - 1 - j));
  }
}

/// `n` coordinates `step` apart, the first of them `part` of a step behind `begin`.
std::vector<double> evenly(double begin, double step, std::size_t n, double part = 0) {
  std::vector<double> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = begin + (static_cast<double>(i) + part) * step;
  return places;
}

using Words = std::vector<std::string>;

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Name of the variable with the coordinates of a dimension.
std::string coordinate_name(const InputFile& file, const ArrayFile& arrays, const std::string& dimension,
                            const Words& names, const std::string& direction) {
  if (!dimension.empty() && arrays.has("/" + dimension)) return dimension;
  // a file of plain HDF5 says nothing of dimensions: its coordinates are known by their names
  for (const std::string& name : names) {
    if (arrays.has("/" + name)) return name;
  }
  throw file.error(fmt::format("has no coordinates for {}; it needs the variable {}", direction, direction));
}

/// Coordinates that rise or fall all along.
std::vector<double> coordinates_of(const InputFile& file, const ArrayFile& arrays, const std::string& name,
                                   const std::string& direction, std::int64_t length) {
  if (const auto lengths = arrays.shape("/" + name); lengths != std::vector<std::int64_t>{length}) {
    throw file.error(fmt::format("has {} of shape {} for {} values", name, shape_text(lengths), length));
  }
  std::vector<double> values = arrays.read("/" + name);
  if (values.empty()) throw file.error(fmt::format("has no values of {} ({})", direction, name));
  const double sign = values.front() > values.back() ? -1 : 1;
  // comparisons with NaN are false
  const auto turns = [sign](double a, double b) { return !(sign * a < sign * b); };
  if (std::adjacent_find(values.begin(), values.end(), turns) != values.end() || !std::isfinite(values.front()) ||
      !std::isfinite(values.back())) {
    throw file.error(fmt::format("has {} ({}) that neither rises nor falls all along", direction, name));
  }
  const std::vector<bool> dummies = values.size() > 2 ? find_dummies(values) : std::vector<bool>();
  if (const auto first = std::find(dummies.begin(), dummies.end(), true); first != dummies.end()) {
    throw file.error(fmt::format("has a node at {} ({}): {}", direction, name,
                                 dummy_text(values[static_cast<std::size_t>(first - dummies.begin())])));
  }
  return values;
}

/// How a variable of two dimensions lies in its file.
struct GridLayout {
  std::string northing, easting;
  std::int64_t n_northing = 0, n_easting = 0;
  /// easting comes first
  bool transposed = false;
};

GridLayout layout_of(const InputFile& file, const ArrayFile& arrays, const std::string& variable) {
  std::vector<std::int64_t> shape = arrays.shape("/" + variable);
  Words dimensions = arrays.dimension_names("/" + variable);
  if (!is_grid_shape(shape) || dimensions.size() != shape.size()) {
    throw file.error(fmt::format("has {} of shape {}; two dimensions, northing and easting, are needed", variable,
                                 shape_text(shape)));
  }
  // leading dimensions of one value, a date or a band
  shape.erase(shape.begin(), shape.end() - 2);
  dimensions.erase(dimensions.begin(), dimensions.end() - 2);
  GridLayout layout;
  layout.transposed = contains(easting_names, dimensions[0]) || contains(northing_names, dimensions[1]);
  if (layout.transposed) {
    std::swap(shape[0], shape[1]);
    std::swap(dimensions[0], dimensions[1]);
  }
  layout.n_northing = shape[0];
  layout.n_easting = shape[1];
  layout.northing = coordinate_name(file, arrays, dimensions[0], northing_names, "northing");
  layout.easting = coordinate_name(file, arrays, dimensions[1], easting_names, "easting");
  return layout;
}

/// The variable of two dimensions, or the one with a height's name among several. Throws InputError when there is no
/// single one; `remedy` ends the message.
std::string height_variable(const InputFile& file, const ArrayFile& arrays, const std::string& remedy) {
  Words candidates, named;
  for (const std::string& name : arrays.dataset_names("/")) {
    if (!is_grid_shape(arrays.shape("/" + name))) continue;
    candidates.push_back(name);
    if (contains(height_names, name)) named.push_back(name);
  }
  if (candidates.size() == 1) return candidates.front();
  if (named.size() == 1) return named.front();
  throw file.error(candidates.empty()
                       ? "has no variable of two dimensions"
                       : fmt::format("has {} variables of two dimensions ({}); one of them must be named {}{}",
                                     candidates.size(), shown_list(candidates), fmt::join(height_names, ", "), remedy));
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
    value = is_gap ? no_value : value * scale + offset;
  }
  return values;
}

/// Reads the band of a GeoTIFF. Throws InputError for one of several bands or of complex numbers, for a grid that is
/// turned or has no place, for a damaged file, and where this prismfield was built without GDAL.
GridVariable read_tiff(const InputFile& file) {
  const QuietGdal quiet;
  const Dataset dataset = open_tiff(file);
  const int n_x = GDALGetRasterXSize(dataset.get()), n_y = GDALGetRasterYSize(dataset.get());
  if (const int n = GDALGetRasterCount(dataset.get()); n != 1) {
    throw file.error(fmt::format("has {} bands, heights are one; take it out: gdal_translate -b 1 in.tif out.tif", n));
  }
  std::array<double, 8> place{};
  if (GDALGetGeoTransform(dataset.get(), place.data()) != CE_None) {
    throw file.error("does not say where its pixels are; a GeoTIFF with a georeference is needed");
  }
  const auto [west, width, slope_x, north, slope_y, height] = place;
  if (slope_x != 0 || slope_y != 0 || width == 0 || height == 0) {
    throw file.error("has rows that do not run along easting; turn it first: gdalwarp in.tif out.tif");
  }
  GridVariable grid;
  double length_to_si = 1;
  if (void* const system = GDALGetSpatialRef(dataset.get())) {
    grid.is_geographic = OSRIsGeographic(system) != 0;
    if (!grid.is_geographic) length_to_si = OSRGetLinearUnits(system, nullptr);
    grid.easting_unit = grid.northing_unit = "m";
  }
  grid.name = "its band";
  grid.unit = GDALGetRasterUnitType(GDALGetRasterBand(dataset.get(), 1));
  constexpr double middle = 0.5;
  grid.easting = evenly(west * length_to_si, width * length_to_si, static_cast<std::size_t>(n_x), middle);
  grid.northing = evenly(north * length_to_si, height * length_to_si, static_cast<std::size_t>(n_y), middle);
  grid.values = band_values(file, dataset.get(), n_x, n_y);
  make_ascending(grid);
  return grid;
}

#else

GridVariable read_tiff(const InputFile& file) {
  throw file.error(
      "is GeoTIFF, which this prismfield reads only when it was built with GDAL; convert it first: gdal_translate -of "
      "netCDF in.tif out.nc, or -of AAIGrid in.tif out.asc");
}

#endif

/// What a text of a grid has in the place of a value that is not there.
struct NoData {
  double value = no_value;
  /// small letters, "" for none
  std::string word;

  [[nodiscard]] bool is(double number) const noexcept {
    // huge ones are written with as many digits as each writer likes
    constexpr double huge = 1e30, part = 1e-5;
    return number == value || (std::abs(value) > huge && std::abs(number - value) < part * std::abs(value));
  }
};

/// Text of a grid: a header, then a number a node, words with blanks between them.
class GridText {
public:
  explicit GridText(const InputFile& file) : m_file(file), m_reader(file) {}

  [[nodiscard]] bool next_line() {
    const bool is_there = m_reader.next(m_line);
    if (!is_there) m_line = {};
    return is_there;
  }
  /// The next word of the line, "" behind the last.
  [[nodiscard]] std::string_view word_of_line() { return take_word(m_line, " \t"); }
  /// The next number, on this line or a later one.
  [[nodiscard]] double next_number() {
    std::string_view word = word_of_line();
    while (word.empty() && next_line()) word = word_of_line();
    return number_of(word);
  }
  /// What the next word of this line will be.
  [[nodiscard]] std::string_view first_word() const {
    std::string_view line = m_line;
    return take_word(line, " \t");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw InputError(line_of(m_file, std::max<std::int64_t>(m_reader.number(), 1)), key, what);
  }
  [[nodiscard]] double number_of(std::string_view word, const std::string& key = "") const {
    double value = 0;
    const NumberStatus status = parse_number(word, value);
    if (status == NumberStatus::ok) return value;
    const bool has_comma = word.find(',') != std::string_view::npos;
    fail(key,
         fmt::format("{} {}{}", excerpt(word), status == NumberStatus::too_large ? "is too large" : "is not a number",
                     has_comma ? "; decimals are written with a point, and blanks stand between numbers" : ""));
  }

  /// All numbers of the rest, in the order of the file. Throws InputError when they are not n_easting x n_northing.
  [[nodiscard]] std::vector<double> values(std::size_t n_easting, std::size_t n_northing, const NoData& nodata) {
    const std::size_t n = n_easting * n_northing;
    check_room(n);
    std::vector<double> found;
    found.reserve(n);
    std::size_t n_lines = 0, of_a_line = 0;
    bool are_alike = true;
    m_has_rows = true;
    do {
      const std::size_t before = found.size();
      for (std::string_view word = word_of_line(); !word.empty(); word = word_of_line()) {
        if (found.size() == n) fail("", fmt::format("has more values than {} x {}", n_easting, n_northing));
        double value = 0;
        if (parse_number(word, value) != NumberStatus::ok) {
          value = !nodata.word.empty() && lower_case(word) == nodata.word ? no_value : number_of(word);
        }
        found.push_back(nodata.is(value) ? no_value : value);
      }
      if (found.size() == before) continue;
      // a part of a row, or whole ones
      const std::size_t in_row = before % n_easting, behind = in_row + found.size() - before;
      m_has_rows = m_has_rows && (behind <= n_easting || (in_row == 0 && behind % n_easting == 0));
      if (n_lines++ == 0) of_a_line = found.size();
      are_alike = are_alike && found.size() - before == of_a_line;
    } while (next_line());
    if (are_alike && n_lines > 1 && n_easting != n_northing && of_a_line == n_northing && n_lines == n_easting) {
      throw m_file.error(
          fmt::format("has {} columns and {} rows by its header, but {} lines of {}: the two are swapped", n_easting,
                      n_northing, n_lines, counted(static_cast<std::int64_t>(of_a_line), "value")));
    }
    if (found.size() < n) {
      throw m_file.error(fmt::format("is cut short: it has {} of {} x {} = {}",
                                     counted(static_cast<std::int64_t>(found.size()), "value"), n_easting, n_northing,
                                     n));
    }
    return found;
  }
  /// What users should know of values(); "" for nothing.
  [[nodiscard]] std::string doubt(std::size_t n_easting) const {
    return m_has_rows ? ""
                      : fmt::format(
                            "its lines of values do not end where rows of {} columns do, which its header "
                            "states; the values are taken row by row",
                            n_easting);
  }

private:
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

  const InputFile& m_file;
  LineReader m_reader;
  std::string_view m_line;
  bool m_has_rows = true;
};

/// A number of nodes along `name`. Throws InputError for one that cannot be.
std::size_t node_count(const InputFile& file, const std::string& name, double count) {
  if (!(count >= 1) || count > static_cast<double>(most_cells_in_a_direction) || count != std::floor(count)) {
    throw file.error(
        fmt::format("has {} {:g}; a whole number of 1 to {} is needed", name, count, most_cells_in_a_direction));
  }
  return static_cast<std::size_t>(count);
}

/// The words of the header of an ESRI ASCII grid.
const Words& esri_words() {
  static const Words words = {"ncols",     "nrows",    "xllcorner", "yllcorner", "xllcenter",
                              "yllcenter", "cellsize", "dx",        "dy",        "nodata_value"};
  return words;
}

/// The header of an ESRI ASCII grid: ncols, nrows, the lower left corner (xllcorner, yllcorner) or node (xllcenter,
/// yllcenter), cellsize or dx and dy, NODATA_value.
class EsriHeader {
public:
  /// Leaves the text at its first line of values.
  EsriHeader(const InputFile& file, GridText& text) : m_file(file) {
    while (text.next_line()) {
      const std::string_view first = text.first_word();
      if (first.empty()) continue;
      if (!is_word(first) || lower_case(first) == m_nodata.word) return;
      read_line(text);
    }
  }

  [[nodiscard]] std::size_t count(const std::string& name) const {
    const std::optional<double> value = find(name);
    if (!value) throw m_file.error(fmt::format("lacks {} in its header", name));
    return node_count(m_file, name, *value);
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
    constexpr double half = 0.5;
    return evenly(corner ? *corner : *centre, *size, n, corner ? half : 0);
  }

  [[nodiscard]] const NoData& nodata() const noexcept { return m_nodata; }

private:
  static bool is_word(std::string_view text) {
    double number = 0;
    return std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           parse_number(text, number) == NumberStatus::no_number;
  }

  void read_line(GridText& text) {
    const std::string_view first = text.word_of_line();
    const std::string name = lower_case(first);
    if (!contains(esri_words(), name)) {
      text.fail("", fmt::format("{} is no word of the header of an ESRI ASCII grid", excerpt(first)));
    }
    if (find(name)) text.fail(name, "is given twice");
    const std::string_view value = text.word_of_line();
    const bool is_nodata = name == "nodata_value";
    // null, none: the word stands in the place of a value, too
    if (is_nodata && !value.empty() && is_word(value)) m_nodata.word = lower_case(value);
    const double number = m_nodata.word.empty() || !is_nodata ? text.number_of(value, name) : no_value;
    if (!is_nodata && !std::isfinite(number)) text.fail(name, fmt::format("{} is not finite", excerpt(value)));
    if (is_nodata) m_nodata.value = number;
    m_numbers[name] = number;
    if (const std::string_view more = text.word_of_line(); !more.empty()) {
      text.fail(name, fmt::format("has {} behind its value; a line of the header has one value", excerpt(more)));
    }
  }

  [[nodiscard]] std::optional<double> find(const std::string& name) const {
    const auto found = m_numbers.find(name);
    return found == m_numbers.end() ? std::nullopt : std::optional(found->second);
  }

  const InputFile& m_file;
  std::map<std::string, double> m_numbers;
  NoData m_nodata;
};

/// Reads an ESRI ASCII grid: its header, then the rows from the north. Nodes are the cells' centres.
GridVariable read_esri_grid(const InputFile& file) {
  GridText text(file);
  const EsriHeader header(file, text);
  GridVariable grid;
  const std::size_t n_easting = header.count("ncols"), n_northing = header.count("nrows");
  grid.values = text.values(n_easting, n_northing, header.nodata());
  grid.doubt = text.doubt(n_easting);
  grid.easting = header.nodes('x', n_easting);
  grid.northing = header.nodes('y', n_northing);
  std::reverse(grid.northing.begin(), grid.northing.end());
  make_ascending(grid);
  return grid;
}

/// Numbers in a file one after the other, the least significant byte first.
class LittleEndian {
public:
  explicit LittleEndian(const InputFile& file) : m_file(file), m_stream(file.path, std::ios::binary) {
    std::error_code code;
    m_left = std::filesystem::file_size(file.path, code);
    if (code) m_left = 0;
  }

  template <class Number>
  [[nodiscard]] Number next() {
    std::array<unsigned char, sizeof(Number)> bytes{};
    take(bytes.data(), bytes.size());
    return number<Number>(bytes.data());
  }
  [[nodiscard]] std::string tag() {
    std::string text(4, '\0');
    take(reinterpret_cast<unsigned char*>(text.data()), text.size());
    return text;
  }
  [[nodiscard]] std::uint64_t left() const noexcept { return m_left; }
  void skip(std::uint64_t n) {
    need(n);
    m_stream.seekg(static_cast<std::streamoff>(n), std::ios::cur);
  }
  /// Numbers of n_easting x n_northing nodes, which are all of `size` bytes; `where` these are.
  template <class Number>
  [[nodiscard]] std::vector<double> values(std::size_t n_easting, std::size_t n_northing, std::uint64_t size,
                                           const char* where) {
    const std::uint64_t n = std::uint64_t{n_easting} * n_northing;
    if (size != n * sizeof(Number)) {
      throw m_file.error(
          fmt::format("is a Surfer grid that is cut short or damaged: its {} columns and {} rows of {} bytes a value "
                      "take {}, but {} {}",
                      n_easting, n_northing, sizeof(Number), n * sizeof(Number),
                      counted(static_cast<std::int64_t>(size), "byte"), where));
    }
    if (size > m_left) need(size);
    auto found = room_for<double>(n, [&](const std::string& why) { throw m_file.error(why); });
    std::vector<unsigned char> row(n_easting * sizeof(Number));
    for (std::size_t j = 0; j < n_northing; ++j) {
      take(row.data(), row.size());
      for (std::size_t i = 0; i < n_easting; ++i) {
        found[j * n_easting + i] = static_cast<double>(number<Number>(row.data() + i * sizeof(Number)));
      }
    }
    return found;
  }

private:
  template <class Number>
  static Number number(const unsigned char* bytes) noexcept {
    using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t,
                                    std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint16_t>>;
    Bits bits = 0;
    for (std::size_t i = sizeof(Number); i-- > 0;) bits = static_cast<Bits>(std::uint64_t{bits} << 8 | bytes[i]);
    return std::bit_cast<Number>(bits);
  }
  void need(std::uint64_t n) {
    if (n > m_left) {
      throw m_file.error(fmt::format("is a Surfer grid that is cut short or damaged: of {} {} there",
                                     counted(static_cast<std::int64_t>(n), "byte"),
                                     m_left == 1 ? "1 is" : fmt::format("{} are", m_left)));
    }
    m_left -= n;
  }
  void take(unsigned char* bytes, std::size_t n) {
    need(n);
    if (!m_stream.read(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(n))) {
      throw m_file.error("cannot be read");
    }
  }

  const InputFile& m_file;
  std::ifstream m_stream;
  std::uint64_t m_left = 0;
};

/// Surfer writes this where a node has no value, in single precision or short as well.
constexpr double surfer_blank = 1.70141183460469229e38;

/// Nodes from `low` to `high`, both ends included, of a Surfer grid.
std::vector<double> surfer_nodes(const InputFile& file, const std::string& name, std::size_t n, double low,
                                 double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || (n > 1 && !(low < high))) {
    throw file.error(fmt::format("is a Surfer grid whose {} goes from {:g} to {:g}; it has to rise", name, low, high));
  }
  return evenly(low, n > 1 ? (high - low) / static_cast<double>(n - 1) : 0, n);
}

/// Surfer 7, sections with GRID as the header. Stops at the values, in DATA behind it, of `size` bytes.
std::array<double, 8> find_surfer_data(const InputFile& file, LittleEndian& bytes, NoData& blank, std::uint32_t& size) {
  std::array<double, 8> header{};
  bytes.skip(bytes.next<std::uint32_t>());
  for (bool is_next = false;;) {
    const std::string tag = bytes.tag();
    size = bytes.next<std::uint32_t>();
    if (tag == "DATA" && is_next) return header;
    is_next = tag == "GRID";
    if (is_next) {
      constexpr std::uint32_t size_known = 72;
      if (size < size_known) {
        throw file.error(
            fmt::format("is a Surfer grid that is cut short or damaged: its section GRID has {}, {} are needed",
                        counted(size, "byte"), size_known));
      }
      header[1] = bytes.next<std::int32_t>();
      header[0] = bytes.next<std::int32_t>();
      for (const std::size_t low : {2, 4}) header[low] = bytes.next<double>();
      for (const std::size_t low : {2, 4}) {
        header[low + 1] = header[low] + bytes.next<double>() * (header[low / 2 - 1] - 1);
      }
      for (const std::size_t z : {6, 7}) header[z] = bytes.next<double>();
      if (bytes.next<double>() != 0)
        throw file.error("is a Surfer grid that is turned; its rows must run along easting");
      blank.value = bytes.next<double>();
      size -= size_known;
    }
    bytes.skip(size);
  }
}

/// Throws InputError where something other than sections, as those of faults, follows the values of Surfer 7.
void check_sections_behind(const InputFile& file, LittleEndian& bytes) {
  while (bytes.left() > 0) {
    const std::uint64_t left = bytes.left();
    const std::string tag = bytes.tag();
    if (tag != "FLTI" && tag != "DATA") {
      throw file.error(
          fmt::format("is a Surfer grid that is damaged: {} behind its section DATA are no section of faults",
                      counted(static_cast<std::int64_t>(left), "byte")));
    }
    bytes.skip(bytes.next<std::uint32_t>());
  }
}

/// What is strange in the numbers of columns and rows of a Surfer grid, which a binary one states alone; "" for
/// nothing.
std::string swapped_doubt(const std::array<double, 8>& header) {
  const double x = header[3] - header[2], y = header[5] - header[4];
  const auto is_square = [&](double columns, double rows) {
    constexpr double rounding = 1e-6;
    const double width = x / (columns - 1), height = y / (rows - 1);
    return std::abs(width - height) <= rounding * height;
  };
  const auto [columns, rows] = std::pair(header[0], header[1]);
  if (columns == rows || is_square(columns, rows) || !is_square(rows, columns)) return "";
  return fmt::format(
      "its {} columns are {:.6g} apart and its {} rows {:.6g}; with the two numbers swapped both would be {:.6g}: are "
      "they right?",
      columns, x / (columns - 1), rows, y / (rows - 1), x / (rows - 1));
}

/// What to say of values outside the range that a header states, by more than its rounding; "" for nothing.
std::string range_doubt(const std::vector<double>& values, double low, double high) {
  // programs that do not know it write 0 or what stands for none
  constexpr double part = 1e-3, none = 1e30;
  if (!(low < high) || !(high - low < none)) return "";
  const double rounding = part * (high - low) + part * part * std::max(std::abs(low), std::abs(high));
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : values) {
    least = std::min(least, std::isnan(value) ? least : value);
    most = std::max(most, std::isnan(value) ? most : value);
  }
  if (!(least < low - rounding) && !(most > high + rounding)) return "";
  return fmt::format("its values are from {:.6g} to {:.6g}, by its header from {:.6g} to {:.6g}: are they right?",
                     least, most, low, high);
}

/// Reads a Surfer grid, values at nodes, rows from the south. Source of the formats: Golden Software, Surfer's help,
/// "Grid file formats".
GridVariable read_surfer_grid(const InputFile& file) {
  const FileStamp stamp = stamp_of(file.path);
  LittleEndian bytes(file);
  const std::string format = bytes.tag();
  std::optional<GridText> text;
  // columns, rows, least and largest x, y and z
  std::array<double, 8> header{};
  NoData blank{surfer_blank, ""};
  std::uint32_t size = 0;
  if (format == "DSAA") {
    text.emplace(file);
    if (text->next_line()) static_cast<void>(text->word_of_line());
    for (double& number : header) number = text->next_number();
  } else if (format == "DSBB") {
    for (std::size_t i = 0; i < header.size(); ++i)
      header[i] = i < 2 ? bytes.next<std::int16_t>() : bytes.next<double>();
  } else {
    header = find_surfer_data(file, bytes, blank, size);
  }
  GridVariable grid;
  const std::size_t n_easting = node_count(file, "columns", header[0]),
                    n_northing = node_count(file, "rows", header[1]);
  grid.values = text               ? text->values(n_easting, n_northing, blank)
                : format == "DSBB" ? bytes.values<float>(n_easting, n_northing, bytes.left(), "follow its header")
                                   : bytes.values<double>(n_easting, n_northing, size, "are in its section DATA");
  if (format == "DSRB") check_sections_behind(file, bytes);
  grid.doubt = text ? text->doubt(n_easting) : swapped_doubt(header);
  check_unchanged(file, stamp);
  for (double& value : grid.values) value = blank.is(value) ? no_value : value;
  if (grid.doubt.empty()) grid.doubt = range_doubt(grid.values, header[6], header[7]);
  grid.easting = surfer_nodes(file, "x", n_easting, header[2], header[3]);
  grid.northing = surfer_nodes(file, "y", n_northing, header[4], header[5]);
  return grid;
}

/// netCDF and HDF5.
GridVariable read_array_grid(const InputFile& file, const std::optional<std::string>& variable) {
  const ArrayFile arrays(file);
  if (variable.value_or("").empty()) {
    return read_grid_variable(file, arrays, height_variable(file, arrays, variable ? " or by the key variable" : ""));
  }
  if (!arrays.has("/" + *variable)) {
    throw file.error(
        fmt::format("has no variable {}; it has {}", excerpt(*variable), shown_list(arrays.dataset_names("/"))));
  }
  return read_grid_variable(file, arrays, *variable);
}

}  // namespace

std::vector<double> turned(const std::vector<double>& values, std::size_t n_northing, std::size_t n_easting) {
  std::vector<double> result(values.size());
  for (std::size_t j = 0; j < n_northing; ++j) {
    for (std::size_t i = 0; i < n_easting; ++i) result[j * n_easting + i] = values[i * n_northing + j];
  }
  return result;
}

bool is_grid_shape(const std::vector<std::int64_t>& shape) {
  return shape.size() >= 2 && std::all_of(shape.begin(), shape.end() - 2, [](std::int64_t n) { return n == 1; });
}

bool is_depth(const ArrayFile& arrays, const std::string& variable) {
  const auto word = [&](const char* attribute) {
    return lower_case(arrays.text_attribute("/" + variable, attribute).value_or(""));
  };
  const std::string positive = word("positive");
  if (positive == "up" || positive == "down") return positive == "down";
  // CF: depth, sea_floor_depth_below_geoid
  return lower_case(variable).starts_with("depth") || word("standard_name").find("depth") != std::string::npos;
}

GridVariable read_grid_variable(const InputFile& file, const ArrayFile& arrays, const std::string& variable) {
  const GridLayout layout = layout_of(file, arrays, variable);
  const auto unit_of = [&](const std::string& of) { return arrays.text_attribute("/" + of, "units").value_or(""); };
  GridVariable grid{layout.easting, layout.northing, variable};
  grid.easting_unit = unit_of(layout.easting);
  grid.northing_unit = unit_of(layout.northing);
  grid.unit = unit_of(variable);
  grid.is_depth = is_depth(arrays, variable);
  grid.northing = coordinates_of(file, arrays, layout.northing, "northing", layout.n_northing);
  grid.easting = coordinates_of(file, arrays, layout.easting, "easting", layout.n_easting);
  grid.values = arrays.read("/" + variable);
  if (layout.transposed) grid.values = turned(grid.values, grid.northing.size(), grid.easting.size());
  make_ascending(grid);
  grid.doubt = arrays.doubt();
  return grid;
}

std::optional<GridVariable> read_grid(const InputFile& file, const std::optional<std::string>& variable) {
  if (is_array_file(file)) return read_array_grid(file, variable);
  if (!variable.value_or("").empty()) {
    throw file.error("is neither netCDF nor HDF5, which alone have variables; leave out the key variable beside it");
  }
  // what cannot be read twice is a table
  std::error_code code;
  if (!std::filesystem::is_regular_file(file.path, code)) return std::nullopt;
  const auto format = foreign_format(file.path, start_of_file(file.path, start_bytes));
  switch (format ? format->surface : ForeignFormat::Surface::none) {
    case ForeignFormat::Surface::surfer: return read_surfer_grid(file);
    case ForeignFormat::Surface::tiff: return read_tiff(file);
    case ForeignFormat::Surface::esri: return read_esri_grid(file);
    case ForeignFormat::Surface::none: break;
  }
  return std::nullopt;
}

#if PRISMFIELD_HAS_GDAL
std::string gdal_version() { return GDALVersionInfo("RELEASE_NAME"); }
#else
std::string gdal_version() { return ""; }
#endif

}  // namespace prismfield
