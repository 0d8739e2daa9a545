// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/cf_attributes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <numeric>

#include <prismfield/request.hpp>

#include "base/version.hpp"
#include "io/crs.hpp"

namespace prismfield {
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

std::pair<double, double> range_of(const double* values, std::int64_t n) {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  for (std::int64_t i = 0; i < n; ++i) {
    minimum = std::fmin(minimum, values[i]);
    maximum = std::fmax(maximum, values[i]);
  }
  return {minimum, maximum};
}

void write_range(Hdf5File& file, const std::string& path, const double* values, std::int64_t n) {
  const auto [minimum, maximum] = range_of(values, n);
  if (minimum <= maximum) file.write_attribute(path, "actual_range", std::vector<double>{minimum, maximum});
}

PointLayout write_points(Hdf5File& file, const std::string& group, const Points& points) {
  PointLayout layout;
  layout.group = group;
  const auto in_group = [&](const char* name) { return path_in(group, name); };
  if (points.is_grid()) {
    layout.auxiliary = "upward";
    for (const auto& [coordinate, nodes] : {std::pair{&northing_coordinate, &points.grid_northing},
                                            std::pair{&easting_coordinate, &points.grid_easting}}) {
      const std::string path = in_group(coordinate->name);
      const auto n = static_cast<std::int64_t>(nodes->size());
      file.write(path, {n}, nodes->data());
      file.make_dimension(path);
      describe_coordinate(file, group, *coordinate);
      write_range(file, path, nodes->data(), n);
      layout.dimensions.push_back(path);
      layout.shape.push_back(n);
    }
  } else {
    layout.dimensions = {in_group("station")};
    layout.shape = {points.size()};
    layout.auxiliary = "easting northing upward";
    file.make_dimension_without_values(in_group("station"), points.size());
    for (const auto& [coordinate, values] :
         {std::pair{&easting_coordinate, &points.easting}, std::pair{&northing_coordinate, &points.northing}}) {
      file.write(in_group(coordinate->name), layout.shape, values->data());
      file.attach_dimensions(in_group(coordinate->name), layout.dimensions);
      describe_coordinate(file, group, *coordinate);
      write_range(file, in_group(coordinate->name), values->data(), points.size());
    }
  }
  file.write(in_group("upward"), layout.shape, points.upward.data());
  file.attach_dimensions(in_group("upward"), layout.dimensions);
  // CF: an axis is a coordinate of one dimension, or one of the coordinates of stations.
  describe_coordinate(file, group, {"upward", upward_name, "", points.is_grid() ? "" : "Z", true});
  write_range(file, in_group("upward"), points.upward.data(), layout.n_points());
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

void write_case_text(Hdf5File& file, const std::string& text) {
  if (text.size() > longest_case_attribute) {
    file.write_text("case", text);
  } else {
    file.write_attribute("/", "case", text);
  }
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
