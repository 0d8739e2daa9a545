// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// [min, max] in metres.
struct Range {
  double min = 0;
  double max = 0;
};

/// [min, max, count]: `count` cells between min and max, or `count` points with both ends included.
struct Axis {
  double min = 0;
  double max = 0;
  std::int64_t count = 0;
};

/// The same density everywhere, kg/m3.
struct ConstantDensity {
  double value = 0;
};

/// Uniform on [range.min, range.max) kg/m3, a function of seed and cell number only.
struct RandomDensity {
  Range range;
  std::uint64_t seed = 1;
};

/// Densities of shape (upward, northing, easting) or flat in that order, from HDF5, netCDF-4 or text.
struct DensityFile {
  std::filesystem::path file;
  /// HDF5 or netCDF-4 only; empty: "density"
  std::string dataset;
  /// factor from the file's unit to kg/m3
  double to_si = 1;
};

using DensitySpec = std::variant<ConstantDensity, RandomDensity, DensityFile>;

struct Sphere {
  std::array<double, 3> center{};
  double radius = 0;
  double density = 0;
};

struct Box {
  Range easting, northing, upward;
  double density = 0;
};

/// model.voxels
struct VoxelsSpec {
  Axis easting, northing, upward;
  DensitySpec density = ConstantDensity{};
  std::vector<Sphere> spheres;
  std::vector<Box> boxes;
};

/// model.prisms
struct PrismsSpec {
  std::filesystem::path file;
  std::string group = "/";
  /// names of the columns in the file's order, canonical or the papers' (x1, y1, z1, x2, y2, z2); empty: the file's
  /// header or the default order
  std::vector<std::string> columns;
  bool z_down = false;
  /// factors from the file's units to m and kg/m3
  double length_to_si = 1;
  double density_to_si = 1;
  bool allow_overlap = false;
};

/// Cell edges of one direction of a mesh, each as the user wrote it.
struct EdgesList {
  std::vector<double> edges;
};
struct EdgesWidths {
  double origin = 0;
  std::vector<double> widths;
};
struct EdgesFile {
  std::filesystem::path file;
};
/// Widths uniform on [widths.min, widths.max) m; upward from `origin`, or downward from `top` when it is given.
struct EdgesRandom {
  Range widths;
  std::int64_t cells = 0;
  double origin = 0;
  std::optional<double> top;
  std::uint64_t seed = 1;
};
using EdgesSpec = std::variant<EdgesList, EdgesWidths, Axis, EdgesFile, EdgesRandom>;

struct UbcFiles {
  std::filesystem::path mesh;
  std::filesystem::path density;
  /// factor from the file's unit to kg/m3
  double density_to_si = 1;
};

/// model.mesh
struct MeshSpec {
  EdgesSpec easting, northing, upward;
  DensitySpec density = ConstantDensity{};
  std::optional<UbcFiles> ubc;
};

using ModelSpec = std::variant<std::monostate, VoxelsSpec, PrismsSpec, MeshSpec>;

/// observations.grid
struct GridSpec {
  Axis easting, northing;
  /// one height for all, m, or a file on the same grid (netCDF or CSV)
  std::variant<double, std::filesystem::path> upward = 0.0;
};

struct StationsFile {
  std::filesystem::path file;
};
struct StationsRandom {
  std::int64_t count = 0;
  std::optional<Range> easting, northing, upward;
  std::uint64_t seed = 1;
};
using PointsSpec = std::variant<std::monostate, GridSpec, StationsFile, StationsRandom>;

/// observations.noise: standard deviation per field in output units
struct NoiseSpec {
  std::map<Field, double> sigma;
  std::uint64_t seed = 1;
};

/// output.checkpoint
struct CheckpointSpec {
  double every_seconds = 600;
  std::filesystem::path file;
};

/// output
struct OutputSpec {
  std::filesystem::path file;
  std::optional<std::filesystem::path> figure;
  std::optional<CheckpointSpec> checkpoint;
};

/// A run as the user described it: plain values in SI units, z up, nothing read yet but the YAML itself.
/// Relative input paths are already resolved against the YAML's folder.
struct Case {
  std::filesystem::path file;
  std::string title;
  double gravitational_constant = 6.6743e-11;
  Axes axes = Axes::z_down;
  ModelSpec model;
  PointsSpec observations;
  std::optional<NoiseSpec> noise;
  FieldList fields = FieldList::all();
  Execution execution;
  OutputSpec output;
  /// the YAML as run, --set applied: written to the result
  std::string text;
  /// what the fields depend on, with sorted keys: two cases of one identity and the same input files give the same
  /// fields
  std::string identity;
  /// key path -> "file:line" (or "--set"), for messages about what a key names
  std::map<std::string, std::string> locations;

  /// What is asked of a forward run.
  [[nodiscard]] Request request() const { return {fields, gravitational_constant, execution}; }
  /// The case itself and every file that it reads.
  [[nodiscard]] std::vector<std::filesystem::path> input_files() const;
  /// "file:line" of a key, or of the nearest parent that was written.
  [[nodiscard]] std::string where(const std::string& key) const;
};

/// Reads and validates CASE.yaml with `key.path=value` overrides applied.
/// Unknown and repeated keys, wrong types and impossible values are collected and thrown as one InputError.
/// Sections of other commands (sensitivity, inversion) are accepted and ignored. `output`, the command line's --output,
/// replaces output.file when it is not empty.
[[nodiscard]] Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                             const std::filesystem::path& output = {});

}  // namespace prismfield
