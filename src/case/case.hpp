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

#include <prismfield/error.hpp>
#include <prismfield/fields.hpp>
#include <prismfield/inversion_settings.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

#include "formats/cf_attributes.hpp"
#include "formats/input_file.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"
#include "model/edges.hpp"
#include "model/points.hpp"
#include "model/terrain.hpp"
#include "model/voxels.hpp"
#include "readers/cell_file.hpp"
#include "readers/exchange_files.hpp"
#include "readers/observed_data.hpp"
#include "readers/prism_file.hpp"
#include "readers/station_file.hpp"
#include "readers/surface_file.hpp"
#include "writers/result_file.hpp"

namespace prismfield {

struct YamlNode;

/// One property, density (kg/m3) or susceptibility (SI), equal everywhere.
struct ConstantProperty {
  double value = 0;
};

/// Uniform on [range.min, range.max), depends on seed and cell number only.
struct RandomProperty {
  Range range;
  std::uint64_t seed = 1;
};

using PropertySpec = std::variant<ConstantProperty, RandomProperty, DensityFile>;

/// A remanent magnetisation, A/m along easting, northing, upward, or a file with one per cell.
using MagnetizationSpec = std::variant<std::array<double, 3>, DensityFile>;

/// The properties of cells.
struct CellProperties {
  PropertySpec density = ConstantProperty{}, susceptibility = ConstantProperty{};
  MagnetizationSpec magnetization = std::array<double, 3>{};
};

/// Extra cells around a mesh on all sides but the top, each `growth` times as wide as the one before.
struct Padding {
  std::int64_t cells = 0;
  double growth = 1.3;
};

/// model.voxels
struct VoxelsSpec : Voxels, CellProperties {
  Padding padding;
};

/// Cell edges of one direction of a mesh in a file.
struct EdgesFile {
  std::filesystem::path file;
};
using EdgesSpec = std::variant<EdgesList, EdgesWidths, Axis, EdgesFile, EdgesRandom>;

/// model.mesh
struct MeshSpec : CellProperties {
  EdgesSpec easting, northing, upward;
  /// instead of edges, density and susceptibility
  std::optional<UbcFiles> ubc;
};

/// Densities at the nodes of a terrain.
struct DensityGridFile : DemFile {
  /// factor from the file's unit to kg/m3
  double to_si = 1;
};

/// model.terrain
struct TerrainSpec : DemFile {
  TerrainMasses masses;
  /// instead of masses.density
  std::optional<DensityGridFile> density;
};

using ModelSpec = std::variant<std::monostate, VoxelsSpec, PrismsSpec, MeshSpec, TerrainSpec>;

/// The heights of the surface in observations.grid.file.
struct HeightsOfGridFile {};

/// observations.grid
struct GridSpec {
  Axis easting, northing;
  /// one height for all, m; a file on the same grid (netCDF or CSV); or heights from a surface
  std::variant<double, std::filesystem::path, AboveTerrain, HeightsOfGridFile> upward = 0.0;
  /// its nodes are the points where easting and northing are not given
  std::optional<DemFile> dem = {};
};

using PointsSpec = std::variant<std::monostate, GridSpec, StationsFile, StationsRandom>;

/// The style of a figure, as far as the user states it.
struct FigureStyle {
  /// about how many contours a map has, 0: none; or their levels in units of the fields; unset: the drawing program
  /// decides
  std::optional<std::variant<std::int64_t, std::vector<double>>> contours;
  /// matplotlib's name of a colour map; "": the usual ones
  std::string colour_map;
  std::optional<std::int64_t> dpi;
  bool model_outline = true;
  /// title, text below it, statistics of the panels, and the version at the foot
  bool annotations = true;
  /// names of the fields to draw; empty: all
  std::vector<std::string> fields;
  /// easting, northing and upward, metres, of sections of a model; unset: through the cell that differs most
  std::array<std::optional<double>, 3> cut;

  [[nodiscard]] bool operator==(const FigureStyle&) const = default;
};

/// Limits of a style: contours, dots per inch.
inline constexpr std::int64_t most_contours = 100, least_dpi = 30, most_dpi = 1200;

/// output.checkpoint
struct CheckpointSpec {
  double every_seconds = 600;
  std::filesystem::path file;
};

/// output
struct OutputSpec {
  std::filesystem::path file;
  /// for an inversion: more files of the model, each in the format of its suffix
  std::vector<std::filesystem::path> also;
  std::optional<std::filesystem::path> figure;
  FigureStyle figure_style;
  std::optional<CheckpointSpec> checkpoint;
};

/// inversion.topography
struct TopographySpec {
  std::filesystem::path file;
  /// for a table without header
  std::vector<std::string> columns;
};

/// One value for all cells, in the unit of the unknown (of a magnetisation three components), or a file on the mesh.
using CellModelSpec = std::variant<double, std::array<double, 3>, DensityFile>;

/// The section `inversion` of a case.
struct InversionSpec {
  /// data set by data set, epoch by epoch within each
  std::vector<ObservedDataFile> data;
  /// key of each file, such as inversion.data.0.file
  std::vector<std::string> data_keys;
  /// per data set; 1 without epochs
  std::int64_t n_epochs = 1;
  /// names of the epochs; empty: those of the first data set's files
  std::vector<std::string> epoch_labels;
  std::optional<SigmaRule> sigma;
  /// whether sigma is a single number, for data of one field; `sigma` then has it for every field
  bool sigma_is_of_one_field = false;
  CellModelSpec reference = 0.0;
  /// unset: the reference
  std::optional<CellModelSpec> start;
  /// the file with the datasets lower and upper
  std::optional<DensityFile> bounds;
  std::optional<DensityFile> cell_weights, active;
  std::optional<TopographySpec> topography;
  InversionSettings settings;
};

/// The command that a case is read for, and thereby the sections that it needs:
/// forward: model and observations; not sensitivity or inversion;
/// inversion: a model of voxels or mesh, even without density, and inversion; not observations;
/// sensitivity: a model of voxels or mesh and observations; not inversion.
enum class CaseUse { forward, inversion, sensitivity };
/// The commands of the uses.
inline constexpr std::array case_uses = {Choice<CaseUse>{"run", CaseUse::forward},
                                         Choice<CaseUse>{"sensitivity", CaseUse::sensitivity},
                                         Choice<CaseUse>{"invert", CaseUse::inversion}};

/// A run as its YAML describes it: plain values in SI units, z up, with no other file read yet. Input paths are
/// resolved against the YAML's folder. read_case() makes it; the commands use it.
struct Case {
  CaseUse use = CaseUse::forward;
  std::filesystem::path file;
  std::string title;
  double gravitational_constant = 6.6743e-11;
  Magnetic magnetic;
  /// magnetic.demagnetization
  bool demagnetizes = false;
  Axes axes = Axes::z_down;
  /// system of easting and northing, if the case names it; written to files without effect on computations
  std::optional<Crs> crs;
  ModelSpec model;
  PointsSpec observations;
  /// observations.noise
  std::optional<NoiseSpec> noise;
  FieldList fields = FieldList::all();
  /// whether the case has the key fields
  bool fields_given = false;
  Execution execution;
  OutputSpec output;
  /// read for inversion and sensitivity
  StorageSettings sensitivity;
  /// set for inversion
  std::optional<InversionSpec> inversion;
  /// the YAML with --set applied, as written to results
  std::string text;
  /// the keys, sorted, that the fields (for inversion the model) depend on: equal identities and input files give equal
  /// results
  std::string identity;
  /// the case and every file that it names; no output may replace them
  std::vector<std::filesystem::path> input_files;
  /// key path -> "file:line" (or "--set"), for messages
  std::map<std::string, std::string> locations;
  /// valid keys that the command does not use in this version
  std::vector<std::string> unused;

  /// The request of a forward run.
  [[nodiscard]] Request request() const { return {fields, gravitational_constant, execution, magnetic}; }
  /// "file:line" of a key, or of its nearest parent in the file.
  [[nodiscard]] std::string where(const std::string& key) const;
};

/// Reads and validates CASE.yaml with `key.path=value` overrides. Throws one InputError with all unknown and repeated
/// keys, wrong types and impossible values. Sections and keys of a model that `use` does not need are accepted, not
/// read, and listed in `unused`. `output`, from --output, replaces output.file unless it is empty.
[[nodiscard]] Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                             const std::filesystem::path& output = {}, CaseUse use = CaseUse::forward);

/// Validates a parsed case. `file`: its name in messages; files that it names are relative to its folder.
[[nodiscard]] Case read_case(YamlNode root, const std::filesystem::path& file, CaseUse use = CaseUse::forward);

/// Bounds in the syntax of a case: "[0, null]".
[[nodiscard]] std::string bounds_text(const Range& bounds);

/// The file that `key` of the case names.
[[nodiscard]] InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key);

/// The errors, each with the place, "file:line", of its key. An error without place and key belongs to the one before
/// it, such as a line that counts the rest.
[[nodiscard]] InputError with_places(const Case& run, const InputError& error);

/// Returns step(); adds the places of keys to its InputError.
template <class Step>
auto at_places_of(const Case& run, const Step& step) {
  try {
    return step();
  } catch (const InputError& error) {
    throw with_places(run, error);
  }
}

}  // namespace prismfield
