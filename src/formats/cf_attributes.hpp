// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/request.hpp>

#include "base/program_facts.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/input_file.hpp"

// What every file that prismfield writes for netCDF programs says in the same way, by the CF conventions.

namespace prismfield {

/// The coordinate reference system of easting and northing, as CF writes it down.
struct Crs {
  using Value = AttributeValue;
  /// as the case names it
  std::string name;
  /// names and values of the attributes of CF's grid mapping, in the order in which they are written; angles in degrees
  std::vector<std::pair<std::string, Value>> attributes;
};

/// What PROJ knows of a coordinate reference system: `text` is an authority's code (EPSG:32719), the name in PROJ's
/// database, WKT, PROJJSON or a PROJ string. Without PROJ the name alone, unchecked. Throws InputError, without a
/// place, for what is no system, for geographic ones, for axes other than easting and northing and for units other than
/// metres.
[[nodiscard]] Crs describe_crs(const std::string& text);

/// The version of PROJ, "" where this build has none.
[[nodiscard]] std::string proj_version();

/// The variable that states a file's system.
inline constexpr const char* crs_variable = "crs";

/// Writes the variable `crs`, which holds nothing but attributes; nothing without a system. `path`: that of a group.
void write_crs(Hdf5File& file, const std::optional<Crs>& crs, const std::string& path = "crs");

/// The system that a file's variable `crs` states, its attributes as they stand there; nothing without one.
[[nodiscard]] std::optional<Crs> read_crs(const ArrayFile& file);

/// An inducing field as files state it: degrees, down positive, and east of grid north; nT.
struct InducingField {
  double inclination = 0, declination = 0, intensity = 0;
};

/// Writes the root's attributes inducing_field_inclination, _declination and _intensity; nothing without a field.
void write_inducing_field(Hdf5File& file, const std::optional<InducingField>& field);

/// The field that they state; nothing where one of them is missing.
[[nodiscard]] std::optional<InducingField> read_inducing_field(const ArrayFile& file);

/// Of a field in T along easting, northing, upward.
[[nodiscard]] InducingField inducing_field_of(const std::array<double, 3>& field);

/// "inclination -62.5, declination 11.25, intensity 48250 nT"
[[nodiscard]] std::string inducing_field_text(const InducingField& field);

/// What two statements of one field may differ by, relative to its intensity: 0.01 degrees, as files round to.
inline constexpr double inducing_field_rounding = 2e-4;

/// Whether it is this field (T, along easting, northing, upward).
[[nodiscard]] bool is_same_field(const InducingField& field, const std::array<double, 3>& other);

/// Lets a variable refer to the file's `crs`, where there is one.
void refer_to_crs(Hdf5File& file, const std::string& dataset);

/// A coordinate in metres as CF describes it.
struct Coordinate {
  const char* name;
  const char* long_name;
  /// "": the table of CF has none that fits
  const char* standard_name;
  /// "": none, of a coordinate on more than one dimension
  const char* axis;
  bool is_height = false;
};
inline constexpr Coordinate easting_coordinate{"easting", "easting", "projection_x_coordinate", "X"};
inline constexpr Coordinate northing_coordinate{"northing", "northing", "projection_y_coordinate", "Y"};

/// What a file says of the case and the program that made it.
struct FileHeader {
  std::string title;
  /// the command line's words for the history, e.g. "prismfield run seven_spheres.yaml"
  std::string command;
  Axes axes = Axes::z_down;
  std::optional<Crs> crs;
  double gravitational_constant = 0;
  /// what its magnetic fields depend on; nothing where it has none
  std::optional<Magnetic> magnetic = {};
  /// the YAML as run
  std::string case_text;
  /// what computed, for /performance
  ProgramFacts program;
};

/// Writes title, history, reference system, axes and case to the root: the case as its attribute, or the dataset of
/// that name where it is too long for an attribute.
void write_header(Hdf5File& file, const FileHeader& header);

/// Writes what magnetic fields depend on to the root: the inducing field, where there is one, as inclination and
/// declination, degrees, and intensity, nT; mu0; what is written inside prisms.
void write_magnetic(Hdf5File& file, const Magnetic& magnetic);

/// "/group/name"; the bare name for the group "".
[[nodiscard]] std::string path_in(const std::string& group, const std::string& name);

/// The dimensions that coordinates and fields share.
struct PointLayout {
  /// of the datasets, "" for the root
  std::string group;
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> shape;
  /// coordinates that are not dimensions, as CF's `coordinates` lists them
  std::string auxiliary;

  [[nodiscard]] std::int64_t n_points() const;
};

/// Unit, axis, names and direction of a coordinate whose dataset is in the file.
void describe_coordinate(Hdf5File& file, const std::string& group, const Coordinate& coordinate);

/// When and by which command, for a history.
[[nodiscard]] std::string history_line(const std::string& command);
/// The program and its version.
[[nodiscard]] std::string source_line();

/// Smallest and largest of the values that are numbers; the first is the larger when there is none.
[[nodiscard]] std::pair<double, double> range_of(const double* values, std::int64_t n);

/// CF's actual_range. GMT shows a grid's values as 0 to 0 without it, and guesses from coordinates without it whether
/// values belong to nodes or cells, wrong for some spacings.
void write_range(Hdf5File& file, const std::string& path, const double* values, std::int64_t n);

/// The dimensions upward, northing and easting of cells: their centres and, by the edges, their bounds, of which `two`
/// is the name of the other dimension.
void write_cell_coordinates(Hdf5File& file, const CellEdges& edges, const std::string& two);

/// Dimensions and coordinates of points: northing and easting of a grid, else station.
[[nodiscard]] PointLayout write_points(Hdf5File& file, const std::string& group, const Points& points);

/// A value at each point with its unit as fields name it, written as UDUNITS reads it.
void write_point_values(Hdf5File& file, const PointLayout& layout, const std::string& name,
                        const std::string& long_name, const std::string& unit, Axes axes, const double* values);

/// A list of numbers, member(row) of each row, on a dimension, with its unit, "" for none, and long name.
template <class Row, class Member = std::identity>
void write_list(Hdf5File& file, const std::string& path, const std::string& dimension, const std::vector<Row>& rows,
                const std::string& unit, const std::string& long_name, const Member& member = {}) {
  std::vector<std::decay_t<decltype(member(rows.front()))>> values;
  for (const Row& row : rows) values.push_back(member(row));
  file.write(path, {static_cast<std::int64_t>(values.size())}, values.data());
  file.attach_dimensions(path, {dimension});
  if (!unit.empty()) file.write_attribute(path, "units", unit);
  file.write_attribute(path, "long_name", long_name);
}

/// What a file is and where it comes from: Conventions, title, history, source.
void write_origin(Hdf5File& file, const std::string& title, const std::string& command);

/// What kind of data the points hold: nodes of a grid, or stations, for which GDAL wants CF 1.6 named too.
void write_point_kind(Hdf5File& file, const Points& points);

/// What computed, as attributes of the group.
void write_machine(Hdf5File& file, const std::string& group, const ProgramFacts& program, const MachineUse& use);

/// The unit of a variable as UDUNITS reads it: 1e-9 s-2 for Eotvos, which that library does not know; m and km written
/// out, since GDAL takes a variable in these for a coordinate; others unchanged.
[[nodiscard]] std::string udunits_of(const std::string& unit);
/// The unit of a file's variable as fields name theirs: what udunits_of() changed as it was; others unchanged.
[[nodiscard]] std::string unit_of_udunits(const std::string& unit);

}  // namespace prismfield
