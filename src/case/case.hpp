// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/request.hpp>

#include "io/density_file.hpp"
#include "io/noise.hpp"
#include "io/prism_file.hpp"
#include "io/ubc.hpp"
#include "model/axis.hpp"
#include "model/edges.hpp"
#include "model/points.hpp"
#include "model/voxels.hpp"

namespace prismfield {

struct YamlNode;

/// The same density everywhere, kg/m3.
struct ConstantDensity {
  double value = 0;
};

/// Uniform on [range.min, range.max) kg/m3, a function of seed and cell number only.
struct RandomDensity {
  Range range;
  std::uint64_t seed = 1;
};

using DensitySpec = std::variant<ConstantDensity, RandomDensity, DensityFile>;

/// model.voxels
struct VoxelsSpec : Voxels {
  DensitySpec density = ConstantDensity{};
};

/// Cell edges of one direction of a mesh in a file.
struct EdgesFile {
  std::filesystem::path file;
};
using EdgesSpec = std::variant<EdgesList, EdgesWidths, Axis, EdgesFile, EdgesRandom>;

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
using PointsSpec = std::variant<std::monostate, GridSpec, StationsFile, StationsRandom>;

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
  /// observations.noise
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
  /// keys that are right but that a forward run of this version does not use
  std::vector<std::string> unused;

  /// What is asked of a forward run.
  [[nodiscard]] Request request() const { return {fields, gravitational_constant, execution}; }
  /// The case itself and every file that it reads.
  [[nodiscard]] std::vector<std::filesystem::path> input_files() const;
  /// "file:line" of a key, or of the nearest parent that was written.
  [[nodiscard]] std::string where(const std::string& key) const;
};

/// Reads and validates CASE.yaml with `key.path=value` overrides applied.
/// Unknown and repeated keys, wrong types and impossible values are collected and thrown as one InputError.
/// Sections of other commands (sensitivity, inversion) are accepted, not read, and named in `unused`. `output`, the
/// command line's --output, replaces output.file when it is not empty.
[[nodiscard]] Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                             const std::filesystem::path& output = {});

/// Validates a case that was read already; `file` names it in messages, and files that it names are relative to its
/// folder.
[[nodiscard]] Case read_case(YamlNode root, const std::filesystem::path& file);

}  // namespace prismfield
