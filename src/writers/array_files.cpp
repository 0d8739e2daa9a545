// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/hdf5_file.hpp"
#include "model/prism_check.hpp"
#include "readers/point_columns.hpp"
#include "readers/point_fields.hpp"
#include "writers/write_content.hpp"

namespace prismfield {

Hdf5File cell_arrays(const CellModel& model, const WriteSpec& spec) {
  Hdf5File out = Hdf5File::create_in_memory(spec.file);
  write_origin(out, spec.title, spec.command);
  write_crs(out, spec.crs);
  write_inducing_field(out, model.inducing_field);
  write_cell_coordinates(out, model.edges, "bound");
  const CellCounts counts = counts_of(model.edges);
  for (const CellValues& values : model.values) {
    out.write(values.name, {counts[2], counts[1], counts[0]}, values.values.data());
    out.attach_dimensions(values.name, {"upward", "northing", "easting"});
    if (!values.unit.empty()) out.write_attribute(values.name, "units", values.unit);
    out.write_attribute(values.name, "long_name", values.name);
    refer_to_crs(out, values.name);
    // what NaN means to programs that mask
    out.write_attribute(values.name, "_FillValue", std::numeric_limits<double>::quiet_NaN());
    write_range(out, values.name, values.values.data(), static_cast<std::int64_t>(values.values.size()));
  }
  return out;
}

Hdf5File prism_arrays(const ListedPrisms& prisms, const WriteSpec& spec) {
  Hdf5File out = Hdf5File::create_in_memory(spec.file);
  write_origin(out, spec.title, spec.command);
  write_crs(out, spec.crs);
  out.make_dimension_without_values("prism", prisms.size());
  const auto write = [&](const std::string& name, const std::vector<double>& values, const std::string& unit) {
    out.write(name, {prisms.size()}, values.data());
    out.attach_dimensions(name, {"prism"});
    out.write_attribute(name, "units", unit);
    refer_to_crs(out, name);
  };
  const auto columns = columns_of(prisms);
  for (std::size_t c = 0; c < n_face_columns; ++c) write(prism_columns[c], *columns[c], "m");
  for (const PropertyColumn& property : properties_of(prisms)) {
    write(property.name, *property.values, unit_of_property(property.name));
  }
  return out;
}

void write_prism_table(TextOutput& out, const ListedPrisms& prisms, bool csv, double density_to_si,
                       const std::string& command) {
  const char separator = csv ? ',' : ' ';
  const auto columns = columns_of(prisms);
  const std::vector<PropertyColumn> properties = properties_of(prisms);
  std::vector<std::string> units;
  for (const PropertyColumn& property : properties) {
    const bool in_grams = is_density(property.name) && density_to_si != 1;
    units.push_back(property.name + " in " + (in_grams ? "g/cm3" : unit_text(unit_of_property(property.name))));
  }
  if (!csv) out.add(fmt::format("# {}\n# {}, heights upwards\n# ", shown(command), fmt::join(units, ", ")));
  for (std::size_t c = 0; c < n_face_columns; ++c) {
    if (c > 0) out.add(separator);
    out.add(prism_columns[c]);
  }
  for (const PropertyColumn& property : properties) {
    out.add(separator);
    out.add(property.name);
  }
  out.add('\n');
  for (std::size_t i = 0; i < prisms.west.size(); ++i) {
    for (std::size_t c = 0; c < n_face_columns; ++c) {
      if (c > 0) out.add(separator);
      out.add((*columns[c])[i]);
    }
    for (const PropertyColumn& property : properties) {
      out.add(separator);
      out.add(in_unit((*property.values)[i], is_density(property.name) ? density_to_si : 1));
    }
    out.add('\n');
  }
}

Hdf5File point_arrays(const PointFields& points, const WriteSpec& spec) {
  Hdf5File out = Hdf5File::create_in_memory(spec.file);
  write_origin(out, spec.title, spec.command);
  write_crs(out, spec.crs);
  write_inducing_field(out, points.inducing_field);
  write_point_kind(out, points.points);
  if (points.axes_are_stated) out.write_attribute("/", "axes", std::string(name(points.axes)));
  const PointLayout layout = write_points(out, "", points.points);
  for (const FieldInfo& field : points.fields) {
    const auto at = static_cast<std::size_t>(points.fields.index_of(field.field));
    const std::string field_name(field.name);
    const std::string unit(field.unit);
    write_point_values(out, layout, field_name, std::string(field.long_name), unit, points.axes,
                       points.values[at].data());
    if (points.sigma[at].empty()) continue;
    const std::string sigma_name = field_name + std::string(sigma_suffix);
    write_point_values(out, layout, sigma_name, "standard deviation of " + field_name, unit, points.axes,
                       points.sigma[at].data());
    out.write_attribute(field_name, "ancillary_variables", sigma_name);
  }
  for (const PointColumn& column : points.columns) write_point_column(out, layout, column);
  return out;
}

}  // namespace prismfield
