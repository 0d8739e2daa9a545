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
#include "model/inducing_field.hpp"

// The parts that all of prismfield's files for netCDF programs share, by the CF conventions.

namespace prismfield {

/// The coordinate reference system of easting and northing in terms of CF.
struct Crs {
  using Value = AttributeValue;
  /// the name in the case
  std::string name;
  /// names and values of the grid mapping's attributes, in the order of writing; angles in degrees
  std::vector<std::pair<std::string, Value>> attributes;
};

/// Describes a coordinate reference system by PROJ. `text`: an authority's code (EPSG:32719), a name in PROJ's
/// database, WKT, PROJJSON or a PROJ string. Without PROJ it holds the name alone, unchecked. Throws InputError,
/// without a place, for anything else, geographic systems, axes other than easting and northing, and units other than
/// metres.
[[nodiscard]] Crs describe_crs(const std::string& text);

/// The version of PROJ; "" in a build without it.
[[nodiscard]] std::string proj_version();

/// The variable for a file's reference system.
inline constexpr const char* crs_variable = "crs";

/// Writes the variable `crs`, which has attributes only; does nothing without a system. `path`: in a group.
void write_crs(Hdf5File& file, const std::optional<Crs>& crs, const std::string& path = "crs");

/// The system in a file's variable `crs`, with its attributes unchanged, if there is one.
[[nodiscard]] std::optional<Crs> read_crs(const ArrayFile& file);

/// Writes the root's attributes inducing_field_inclination, _declination and _intensity; nothing without a field.
void write_inducing_field(Hdf5File& file, const std::optional<InducingField>& field);

/// The field of these attributes, if none is missing.
[[nodiscard]] std::optional<InducingField> read_inducing_field(const ArrayFile& file);

/// Lets a variable refer to the file's `crs`, where there is one.
void refer_to_crs(Hdf5File& file, const std::string& dataset);

/// A coordinate in metres in terms of CF.
struct Coordinate {
  const char* name;
  const char* long_name;
  /// "": CF has no such name
  const char* standard_name;
  /// "": a coordinate on more than one dimension
  const char* axis;
  bool is_height = false;
};
inline constexpr Coordinate easting_coordinate{"easting", "easting", "projection_x_coordinate", "X"};
inline constexpr Coordinate northing_coordinate{"northing", "northing", "projection_y_coordinate", "Y"};

/// What a file says about its case and program.
struct FileHeader {
  std::string title;
  /// the command for the history, e.g. "prismfield run seven_spheres.yaml"
  std::string command;
  Axes axes = Axes::z_down;
  std::optional<Crs> crs;
  double gravitational_constant = 0;
  /// settings of its magnetic fields, if it has any
  std::optional<Magnetic> magnetic = {};
  /// the YAML as run
  std::string case_text;
  /// program and machine, for /performance
  ProgramFacts program;
};

/// Writes title, history, reference system, axes and case to the root. A case that is too long for an attribute becomes
/// a dataset.
void write_header(Hdf5File& file, const FileHeader& header);

/// Writes the settings of magnetic fields to the root: inclination and declination, degrees, and intensity, nT, of the
/// inducing field, if there is one; mu0; what the fields are inside prisms.
void write_magnetic(Hdf5File& file, const Magnetic& magnetic);

/// "/group/name"; the bare name where the group is "".
[[nodiscard]] std::string path_in(const std::string& group, const std::string& name);

/// The dimensions of coordinates and fields; write_points() makes it.
struct PointLayout {
  /// group of the datasets; "" for the root
  std::string group;
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> shape;
  /// coordinates that are no dimensions, as CF's `coordinates` lists them
  std::string auxiliary;

  [[nodiscard]] std::int64_t n_points() const;
};

/// Writes unit, axis, names and direction of a coordinate whose dataset is in the file.
void describe_coordinate(Hdf5File& file, const std::string& group, const Coordinate& coordinate);

/// Time and command for a history.
[[nodiscard]] std::string history_line(const std::string& command);
/// The program and its version.
[[nodiscard]] std::string source_line();

/// Writes CF's actual_range. Without it GMT shows a grid's values as 0 to 0, and guesses wrongly for some spacings
/// whether values belong to nodes or cells.
void write_range(Hdf5File& file, const std::string& path, const double* values, std::int64_t n);

/// Writes the dimensions upward, northing and easting of cells: centres, and edges as bounds. `two`: name of the
/// dimension of bounds.
void write_cell_coordinates(Hdf5File& file, const CellEdges& edges, const std::string& two);

/// Writes dimensions and coordinates of points: northing and easting of a grid, otherwise station.
[[nodiscard]] PointLayout write_points(Hdf5File& file, const std::string& group, const Points& points);

/// Writes a value per point with its unit in the spelling of UDUNITS; `unit` is in the spelling of fields.
void write_point_values(Hdf5File& file, const PointLayout& layout, const std::string& name,
                        const std::string& long_name, const std::string& unit, Axes axes, const double* values);

/// Writes member(row) of each row as a list on a dimension, with its unit ("": none) and long name.
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

/// Writes what a file is and where it comes from: Conventions, title, history, source.
void write_origin(Hdf5File& file, const std::string& title, const std::string& command);

/// Writes whether points are nodes of a grid or stations; for stations GDAL needs CF 1.6 in Conventions.
void write_point_kind(Hdf5File& file, const Points& points);

/// Writes program and machine as attributes of the group.
void write_machine(Hdf5File& file, const std::string& group, const ProgramFacts& program, const MachineUse& use);

/// A unit as UDUNITS reads it: 1e-9 s-2 for Eotvos, which UDUNITS lacks; m and km in full, because GDAL takes a
/// variable in m or km for a coordinate; others unchanged.
[[nodiscard]] std::string udunits_of(const std::string& unit);
/// The inverse of udunits_of(); other units unchanged.
[[nodiscard]] std::string unit_of_udunits(const std::string& unit);

}  // namespace prismfield
