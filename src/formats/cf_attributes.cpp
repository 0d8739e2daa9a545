// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/cf_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <numeric>
#include <string_view>
#include <variant>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "base/human_text.hpp"
#include "base/statistics.hpp"
#include "base/version.hpp"

#if PRISMFIELD_HAS_PROJ
#include <proj.h>
#include <proj_experimental.h>
#endif

namespace prismfield {
namespace {

constexpr const char* long_name = "long_name";

bool starts_with(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() &&
         std::equal(begin.begin(), begin.end(), text.begin(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

}  // namespace

#if PRISMFIELD_HAS_PROJ

namespace {

struct FreeContext {
  void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
};
struct FreeObject {
  void operator()(PJ* object) const { proj_destroy(object); }
};
using Object = std::unique_ptr<PJ, FreeObject>;

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

/// One of PROJ's parameters of a projection.
struct Parameter {
  double value = 0, to_si = 1;
  std::string unit;
};

/// A system that was found, and what it is made of.
class CrsReader {
public:
  explicit CrsReader(const std::string& text) : m_text(text), m_context(proj_context_create()) {
    if (m_context == nullptr) throw RunError("PROJ cannot be started");
    proj_log_func(m_context.get(), this, [](void* reader, int, const char* message) {
      static_cast<CrsReader*>(reader)->m_message = text_or_empty(message);
    });
  }

  Crs read() {
    const Object whole = find();
    m_whole = whole.get();
    Object horizontal = horizontal_part(*m_whole);
    m_crs = horizontal.get();
    check_kind();
    check_axes(*m_crs, false);
    Crs crs;
    crs.name = m_text;
    m_out = &crs;
    add_projection();
    add_earth();
    add_vertical();
    add_names();
    return crs;
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("", "", fmt::format("is {}{}", excerpt(m_text), what));
  }
  [[noreturn]] void fail(const PJ& crs, const std::string& what) const {
    fail(fmt::format(" ({}), {}", shown(text_or_empty(proj_get_name(&crs))), what));
  }

  void add(const char* name, Crs::Value value) { m_out->attributes.emplace_back(name, std::move(value)); }

  [[nodiscard]] Object find() {
    std::string asked = m_text;
    const bool is_string = asked.find("+proj") != std::string::npos || asked.find("+init") != std::string::npos;
    if (is_string && asked.find("type=crs") == std::string::npos) asked += " +type=crs";
    Object found(proj_create(m_context.get(), asked.c_str()));
    if (found == nullptr) {
      if (proj_context_get_database_path(m_context.get()) == nullptr) {
        fail(
            ", but PROJ finds no database proj.db here: name its folder by the variable PROJ_DATA (PROJ_LIB before "
            "version 9.1)");
      }
      fail(fmt::format(
          ", which PROJ {} does not know{}; write an authority's code such as EPSG:32719, or WKT in one line",
          proj_version(), m_message.empty() ? "" : " (" + shown(m_message, 200) + ")"));
    }
    // Words are looked for among all names: "foo" finds the Dutch "Amersfoort".
    const std::string name = text_or_empty(proj_get_name(found.get()));
    const bool is_word = m_text.find_first_of(":[{+") == std::string::npos;
    if (is_word && (name.size() != m_text.size() || !starts_with(name, m_text))) {
      fail(fmt::format("; the nearest name that PROJ knows is {}; write the whole name or a code such as EPSG:32719",
                       excerpt(name)));
    }
    return found;
  }

  /// Without heights and without shifts to other datums.
  [[nodiscard]] Object horizontal_part(const PJ& crs) const {
    Object part(proj_clone(m_context.get(), &crs));
    if (proj_get_type(part.get()) == PJ_TYPE_BOUND_CRS) {
      part.reset(proj_get_source_crs(m_context.get(), part.get()));
    }
    if (proj_get_type(part.get()) == PJ_TYPE_COMPOUND_CRS) {
      part.reset(proj_crs_get_sub_crs(m_context.get(), part.get(), 0));
      if (part != nullptr && proj_get_type(part.get()) == PJ_TYPE_BOUND_CRS) {
        part.reset(proj_get_source_crs(m_context.get(), part.get()));
      }
    }
    if (part == nullptr) fail(", whose horizontal part PROJ does not give");
    return part;
  }

  void check_kind() const {
    const auto refuse = [&](const char* kind, const char* remedy) {
      fail(*m_crs, fmt::format("{}; {}", kind, remedy));
    };
    constexpr const char* project =
        "coordinates of a case are easting and northing in metres: project them, and name the projected system, such "
        "as the UTM zone of the area";
    switch (proj_get_type(m_crs)) {
      case PJ_TYPE_PROJECTED_CRS: return;
      case PJ_TYPE_GEOGRAPHIC_2D_CRS:
      case PJ_TYPE_GEOGRAPHIC_3D_CRS:
      case PJ_TYPE_GEODETIC_CRS: refuse("a geographic system, in degrees", project); break;
      case PJ_TYPE_GEOCENTRIC_CRS: refuse("a geocentric system", project); break;
      case PJ_TYPE_VERTICAL_CRS:
        refuse("a system of heights alone", "name the horizontal one, or both: EPSG:25833+5783");
        break;
      default: refuse("no projected system", "name one, or leave crs out where there is none");
    }
  }

  /// Every axis in metres; east and north, not west and south.
  void check_axes(const PJ& crs, bool is_vertical) const {
    const Object system(proj_crs_get_coordinate_system(m_context.get(), &crs));
    const int n = system == nullptr ? 0 : proj_cs_get_axis_count(m_context.get(), system.get());
    for (int i = 0; i < n; ++i) {
      const char *name = nullptr, *direction = nullptr, *unit = nullptr;
      double to_si = 0;
      if (proj_cs_get_axis_info(m_context.get(), system.get(), i, &name, nullptr, &direction, &to_si, &unit, nullptr,
                                nullptr) == 0) {
        continue;
      }
      const std::string axis = shown(text_or_empty(name)), way = text_or_empty(direction);
      if (to_si != 1) {
        fail(crs, fmt::format("whose axis {} is in {}; coordinates of a case are in metres: convert them, and name a "
                              "system in metres",
                              axis, shown(text_or_empty(unit))));
      }
      const bool is_wrong = is_vertical ? way == "down" : axis == "Westing" || axis == "Southing";
      if (is_wrong) {
        fail(crs,
             fmt::format("whose axis is {}; coordinates of a case are easting, northing and height: turn them, and "
                         "name a system with such axes",
                         axis));
      }
    }
  }

  [[nodiscard]] Parameter parameter(int epsg) const {
    const std::string wanted = std::to_string(epsg);
    const int n = proj_coordoperation_get_param_count(m_context.get(), m_projection);
    for (int i = 0; i < n; ++i) {
      const char *code = nullptr, *unit = nullptr;
      Parameter found;
      if (proj_coordoperation_get_param(m_context.get(), m_projection, i, nullptr, nullptr, &code, &found.value,
                                        nullptr, &found.to_si, &unit, nullptr, nullptr, nullptr) == 0) {
        continue;
      }
      found.unit = text_or_empty(unit);
      if (wanted == text_or_empty(code)) return found;
    }
    return {};
  }

  [[nodiscard]] static double degrees(const Parameter& angle) {
    constexpr double degree = 0.017453292519943295;
    return angle.unit == "degree" || angle.unit == "Degree" ? angle.value : angle.value * (angle.to_si / degree);
  }
  [[nodiscard]] double degrees(int epsg) const { return degrees(parameter(epsg)); }
  [[nodiscard]] double si(int epsg) const {
    const Parameter found = parameter(epsg);
    return found.value * found.to_si;
  }

  /// grid_mapping_name and its parameters, for the projections that CF's appendix F has, by the numbers of EPSG.
  void add_projection() {
    Object projection(proj_crs_get_coordoperation(m_context.get(), m_crs));
    // Cones and cylinders of one scale, as CF wants them: by the parallels of true scale.
    constexpr int cone_by_scale = 9801, cone_by_parallels = 9802;
    if (method_of(projection.get()) == cone_by_scale) {
      projection.reset(
          proj_convert_conversion_to_other_method(m_context.get(), projection.get(), cone_by_parallels, nullptr));
    }
    m_projection = projection.get();
    const int method = method_of(m_projection);
    switch (method) {
      case 9807:
        add_angles("transverse_mercator",
                   {{"latitude_of_projection_origin", 8801}, {"longitude_of_central_meridian", 8802}});
        add("scale_factor_at_central_meridian", si(8805));
        break;
      case cone_by_parallels: add_conic("lambert_conformal_conic"); break;
      case 9822: add_conic("albers_conical_equal_area"); break;
      case 9804:
      case 9805:
        add_angles("mercator", {{"longitude_of_projection_origin", 8802}});
        if (method == 9804) add("scale_factor_at_projection_origin", si(8805));
        if (method == 9805) add("standard_parallel", degrees(8823));
        break;
      case 9810:
        add_angles("polar_stereographic",
                   {{"straight_vertical_longitude_from_pole", 8802}, {"latitude_of_projection_origin", 8801}});
        add("scale_factor_at_projection_origin", si(8805));
        break;
      case 9829:
        add_angles("polar_stereographic", {{"straight_vertical_longitude_from_pole", 8833}});
        add("latitude_of_projection_origin", degrees(8832) < 0 ? -90.0 : 90.0);
        add("standard_parallel", degrees(8832));
        break;
      case 9809:
      case 9820:
      case 1027:
        add_angles(method == 9809 ? "stereographic" : "lambert_azimuthal_equal_area",
                   {{"longitude_of_projection_origin", 8802}, {"latitude_of_projection_origin", 8801}});
        if (method == 9809) add("scale_factor_at_projection_origin", si(8805));
        break;
      default: return;
    }
    const bool is_conic = method == cone_by_parallels || method == 9822;
    add("false_easting", si(is_conic ? 8826 : 8806));
    add("false_northing", si(is_conic ? 8827 : 8807));
  }

  [[nodiscard]] int method_of(const PJ* projection) const {
    const char* code = nullptr;
    if (projection == nullptr ||
        proj_coordoperation_get_method_info(m_context.get(), projection, nullptr, nullptr, &code) == 0) {
      return 0;
    }
    return std::atoi(text_or_empty(code).c_str());
  }

  void add_angles(const char* mapping, std::initializer_list<std::pair<const char*, int>> angles) {
    add("grid_mapping_name", mapping);
    for (const auto& [name, epsg] : angles) add(name, degrees(epsg));
  }

  void add_conic(const char* mapping) {
    add("grid_mapping_name", mapping);
    const double first = degrees(8823), second = degrees(8824);
    add("standard_parallel", first == second ? Crs::Value(first) : Crs::Value(std::vector<double>{first, second}));
    add("longitude_of_central_meridian", degrees(8822));
    add("latitude_of_projection_origin", degrees(8821));
  }

  /// Ellipsoid, prime meridian and datum. CF wants all of these names or none.
  void add_earth() {
    const Object ellipsoid(proj_get_ellipsoid(m_context.get(), m_crs));
    const Object meridian(proj_get_prime_meridian(m_context.get(), m_crs));
    const Object geographic(proj_crs_get_geodetic_crs(m_context.get(), m_crs));
    const Object datum(geographic ? proj_crs_get_datum_forced(m_context.get(), geographic.get()) : nullptr);
    double major = 0, minor = 0, inverse_flattening = 0;
    if (ellipsoid && proj_ellipsoid_get_parameters(m_context.get(), ellipsoid.get(), &major, &minor, nullptr,
                                                   &inverse_flattening) != 0) {
      if (inverse_flattening > 0) {
        add("semi_major_axis", major);
        add("semi_minor_axis", minor);
        add("inverse_flattening", inverse_flattening);
      } else {
        add("earth_radius", major);
      }
    }
    Parameter longitude;
    const char* unit = nullptr;
    if (meridian && proj_prime_meridian_get_parameters(m_context.get(), meridian.get(), &longitude.value,
                                                       &longitude.to_si, &unit) != 0) {
      longitude.unit = text_or_empty(unit);
      add("longitude_of_prime_meridian", degrees(longitude));
    }
    if (!ellipsoid || !meridian || !geographic || !datum) return;
    add("reference_ellipsoid_name", text_or_empty(proj_get_name(ellipsoid.get())));
    add("prime_meridian_name", text_or_empty(proj_get_name(meridian.get())));
    add("horizontal_datum_name", datum_name(text_or_empty(proj_get_name(datum.get()))));
    add("geographic_crs_name", text_or_empty(proj_get_name(geographic.get())));
    add("projected_crs_name", text_or_empty(proj_get_name(m_crs)));
  }

  /// CF's spelling: everything but letters and digits is one underscore between words.
  [[nodiscard]] static std::string datum_name(const std::string& name) {
    std::string out;
    for (const unsigned char c : name) {
      if (std::isalnum(c) != 0) {
        out += static_cast<char>(c);
      } else if (!out.empty() && out.back() != '_') {
        out += '_';
      }
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out;
  }

  /// The datum of heights, of a system that has one.
  void add_vertical() {
    if (proj_get_type(m_whole) != PJ_TYPE_COMPOUND_CRS) return;
    const Object heights(proj_crs_get_sub_crs(m_context.get(), m_whole, 1));
    if (heights == nullptr || proj_get_type(heights.get()) != PJ_TYPE_VERTICAL_CRS) return;
    check_axes(*heights, true);
    const Object datum(proj_crs_get_datum_forced(m_context.get(), heights.get()));
    if (datum) add("geopotential_datum_name", text_or_empty(proj_get_name(datum.get())));
  }

  void add_names() {
    constexpr std::array<const char*, 2> options{"MULTILINE=NO", nullptr};
    const std::string wkt = text_or_empty(proj_as_wkt(m_context.get(), m_whole, PJ_WKT2_2019, options.data()));
    if (!wkt.empty()) {
      add("crs_wkt", wkt);
      add("spatial_ref", wkt);
    }
    if (text_or_empty(proj_get_id_auth_name(m_whole, 0)) == "EPSG") {
      add("epsg_code", "EPSG:" + text_or_empty(proj_get_id_code(m_whole, 0)));
    }
    add("name", m_text);
  }

  const std::string& m_text;
  std::unique_ptr<PJ_CONTEXT, FreeContext> m_context;
  /// the last that PROJ complained of
  std::string m_message;
  const PJ* m_whole = nullptr;
  /// the horizontal part
  const PJ* m_crs = nullptr;
  const PJ* m_projection = nullptr;
  Crs* m_out = nullptr;
};

}  // namespace

Crs describe_crs(const std::string& text) { return CrsReader(text).read(); }

std::string proj_version() { return proj_info().version; }

#else

namespace {

/// "EPSG:32719" of any such text in small letters or capitals, else "".
std::string epsg_code(std::string_view text) {
  constexpr std::string_view authority = "epsg:";
  if (!starts_with(text, authority) || text.size() == authority.size()) return "";
  const std::string_view code = text.substr(authority.size());
  const bool digits = std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits ? fmt::format("EPSG:{}", code) : "";
}

}  // namespace

Crs describe_crs(const std::string& text) {
  Crs crs;
  crs.name = text;
  constexpr std::array<std::string_view, 3> wkt{"PROJCRS[", "PROJCS[", "COMPOUNDCRS["};
  if (std::any_of(wkt.begin(), wkt.end(), [&](std::string_view begin) { return starts_with(text, begin); })) {
    crs.attributes.emplace_back("crs_wkt", text);
    crs.attributes.emplace_back("spatial_ref", text);
  }
  if (const std::string code = epsg_code(text); !code.empty()) crs.attributes.emplace_back("epsg_code", code);
  crs.attributes.emplace_back("name", text);
  return crs;
}

std::string proj_version() { return ""; }

#endif

void write_crs(Hdf5File& file, const std::optional<Crs>& crs, const std::string& path) {
  if (!crs) return;
  const std::int32_t nothing = 0;
  file.write(path, {}, &nothing);
  file.write_attribute(path, long_name, "coordinate reference system of easting and northing");
  for (const auto& [name, value] : crs->attributes) file.write_attribute(path, name, value);
}

std::optional<Crs> read_crs(const ArrayFile& file) {
  const std::vector<std::string> datasets = file.dataset_names("/");
  if (std::find(datasets.begin(), datasets.end(), crs_variable) == datasets.end()) return std::nullopt;
  Crs crs;
  for (auto& [name, value] : file.attributes(crs_variable)) {
    if (name == long_name) continue;
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && name == "name") crs.name = *text;
    crs.attributes.emplace_back(std::move(name), std::move(value));
  }
  // else a column that happens to be called so
  const bool says_it = std::any_of(crs.attributes.begin(), crs.attributes.end(), [](const auto& attribute) {
    const std::string& name = attribute.first;
    return name == "grid_mapping_name" || name == "crs_wkt" || name == "spatial_ref" || name == "name";
  });
  if (!says_it) return std::nullopt;
  return crs;
}

namespace {

constexpr std::array<const char*, 3> inducing_field_attributes = {
    "inducing_field_inclination", "inducing_field_declination", "inducing_field_intensity"};

}  // namespace

void write_inducing_field(Hdf5File& file, const std::optional<InducingField>& field) {
  if (!field) return;
  const std::array<double, 3> numbers{field->inclination, field->declination, field->intensity};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    file.write_attribute("/", inducing_field_attributes[i], numbers[i]);
  }
}

std::optional<InducingField> read_inducing_field(const ArrayFile& file) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<double> number = file.root_number(inducing_field_attributes[i]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return InducingField{numbers[0], numbers[1], numbers[2]};
}

void refer_to_crs(Hdf5File& file, const std::string& dataset) {
  if (file.has(crs_variable)) file.write_attribute(dataset, "grid_mapping", crs_variable);
}

namespace {

/// A text attribute lives in an object header, which HDF5 limits to 64 kB.
constexpr std::size_t longest_case_attribute = 60'000;

// No standard_name: heights have no fixed datum here, and each name of the CF table states one.
constexpr const char* upward_name = "height of the observation points, positive upwards";

constexpr const char* eotvos = "Eotvos";
constexpr const char* eotvos_in_udunits = "1e-9 s-2";

}  // namespace

std::string path_in(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

std::int64_t PointLayout::n_points() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

void describe_coordinate(Hdf5File& file, const std::string& group, const Coordinate& coordinate) {
  const std::string path = path_in(group, coordinate.name);
  file.write_attribute(path, "units", "m");
  if (*coordinate.axis != '\0') file.write_attribute(path, "axis", coordinate.axis);
  file.write_attribute(path, "long_name", coordinate.long_name);
  if (*coordinate.standard_name != '\0') file.write_attribute(path, "standard_name", coordinate.standard_name);
  if (coordinate.is_height) file.write_attribute(path, "positive", "up");
}

std::string history_line(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return fmt::format("{}: {}", text, command);
}

std::string source_line() { return fmt::format("prismfield {}", version_text); }

void write_range(Hdf5File& file, const std::string& path, const double* values, std::int64_t n) {
  const auto [minimum, maximum] = range_of({values, static_cast<std::size_t>(n)});
  if (minimum <= maximum) file.write_attribute(path, "actual_range", std::vector<double>{minimum, maximum});
}

namespace {

/// A coordinate of cells, by their edges, and its bounds.
void write_cell_coordinate(Hdf5File& file, const Coordinate& coordinate, const std::vector<double>& edges,
                           const std::string& two) {
  const std::string name = coordinate.name;
  const auto n = static_cast<std::int64_t>(edges.size()) - 1;
  std::vector<double> centres, bounds;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    centres.push_back(edges[i] + (edges[i + 1] - edges[i]) / 2);
    bounds.insert(bounds.end(), {edges[i], edges[i + 1]});
  }
  file.write(name, {n}, centres.data());
  file.make_dimension(name);
  describe_coordinate(file, "", coordinate);
  file.write_attribute(name, "bounds", name + "_bounds");
  // Without actual_range: GDAL takes it for the outer edges where node_offset says that values are of cells.
  // CF: bounds have the attributes of what they bound.
  file.write(name + "_bounds", {n, 2}, bounds.data());
  file.attach_dimensions(name + "_bounds", {name, two});
}

}  // namespace

void write_cell_coordinates(Hdf5File& file, const CellEdges& edges, const std::string& two) {
  file.make_dimension_without_values(two, 2);
  constexpr Coordinate upward{"upward", "height of the cells' centres, positive upwards", "", "Z", true};
  // netCDF-4 numbers dimensions in the order of their making
  write_cell_coordinate(file, upward, edges[2], two);
  write_cell_coordinate(file, northing_coordinate, edges[1], two);
  write_cell_coordinate(file, easting_coordinate, edges[0], two);
}

PointLayout write_points(Hdf5File& file, const std::string& group, const Points& points) {
  PointLayout layout;
  layout.group = group;
  const auto write = [&](const Coordinate& coordinate, const std::vector<double>& values, bool is_dimension) {
    const std::string path = path_in(group, coordinate.name);
    const auto n = static_cast<std::int64_t>(values.size());
    file.write(path, is_dimension ? std::vector<std::int64_t>{n} : layout.shape, values.data());
    if (is_dimension) {
      file.make_dimension(path);
      layout.dimensions.push_back(path);
      layout.shape.push_back(n);
    } else {
      file.attach_dimensions(path, layout.dimensions);
    }
    describe_coordinate(file, group, coordinate);
    write_range(file, path, values.data(), n);
  };
  if (points.is_grid()) {
    layout.auxiliary = "upward";
    write(northing_coordinate, points.grid_northing, true);
    write(easting_coordinate, points.grid_easting, true);
  } else {
    layout.dimensions = {path_in(group, "station")};
    layout.shape = {points.size()};
    layout.auxiliary = "easting northing upward";
    file.make_dimension_without_values(layout.dimensions.front(), points.size());
    write(easting_coordinate, points.easting, false);
    write(northing_coordinate, points.northing, false);
  }
  // CF: an axis is a coordinate of one dimension, or one of the coordinates of stations.
  write({"upward", upward_name, "", points.is_grid() ? "" : "Z", true}, points.upward, false);
  return layout;
}

void write_point_values(Hdf5File& file, const PointLayout& layout, const std::string& name,
                        const std::string& long_name, const std::string& unit, Axes axes, const double* values) {
  const std::string path = path_in(layout.group, name);
  file.write(path, layout.shape, values);
  file.attach_dimensions(path, layout.dimensions);
  file.write_attribute(path, "units", udunits_of(unit));
  file.write_attribute(path, "long_name", unit == eotvos ? fmt::format("{} ({})", long_name, unit) : long_name);
  file.write_attribute(path, "axes", prismfield::name(axes));
  file.write_attribute(path, "coordinates", layout.auxiliary);
  refer_to_crs(file, path);
  write_range(file, path, values, layout.n_points());
}

void write_origin(Hdf5File& file, const std::string& title, const std::string& command) {
  file.write_attribute("/", "Conventions", "CF-1.8");
  file.write_attribute("/", "title", title);
  file.write_attribute("/", "history", history_line(command));
  file.write_attribute("/", "source", source_line());
}

void write_point_kind(Hdf5File& file, const Points& points) {
  if (points.is_grid()) {
    // GMT's word for values that belong to the nodes
    file.write_attribute("/", "node_offset", std::int64_t{0});
    return;
  }
  file.write_attribute("/", "featureType", "point");
  // GDAL 3.6 makes points of features up to version 1.6 alone, the first that it knows features in.
  file.write_attribute("/", "Conventions", "CF-1.6, CF-1.8");
}

void write_header(Hdf5File& file, const FileHeader& header) {
  write_origin(file, header.title, header.command);
  write_crs(file, header.crs);
  file.write_attribute("/", "axes", name(header.axes));
  if (header.case_text.size() > longest_case_attribute) {
    file.write_text("case", header.case_text);
  } else {
    file.write_attribute("/", "case", header.case_text);
  }
}

void write_magnetic(Hdf5File& file, const Magnetic& magnetic) {
  const InducingField field = inducing_field_of(magnetic.inducing_field);
  if (field.intensity > 0) write_inducing_field(file, field);
  file.write_attribute("/", "vacuum_permeability", magnetic.vacuum_permeability);
  file.write_attribute("/", "inside", name(magnetic.inside));
}

void write_machine(Hdf5File& file, const std::string& group, const ProgramFacts& program, const MachineUse& use) {
  file.write_attribute(group, "space", use.space);
  file.write_attribute(group, "device", use.device.empty() ? "none" : use.device);
  file.write_attribute(group, "ranks", use.ranks);
  file.write_attribute(group, "threads", use.threads);
  for (const auto& [name, fact] : {std::pair{"host", &program.host}, std::pair{"processor", &program.processor},
                                   std::pair{"compiler", &program.compiler}, std::pair{"kokkos", &program.kokkos},
                                   std::pair{"kokkos_configuration", &program.kokkos_configuration},
                                   std::pair{"mpi", &program.mpi}, std::pair{"hdf5", &program.hdf5}}) {
    file.write_attribute(group, name, *fact);
  }
}

std::string udunits_of(const std::string& unit) {
  if (unit == "m") return "metre";
  if (unit == "km") return "kilometre";
  return unit == eotvos ? eotvos_in_udunits : unit;
}

std::string unit_of_udunits(const std::string& unit) {
  if (unit == "metre") return "m";
  if (unit == "kilometre") return "km";
  return unit == eotvos_in_udunits ? eotvos : unit;
}

}  // namespace prismfield
