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

/// One property, density (kg/m3) or susceptibility (SI), that is the same everywhere.
struct ConstantProperty {
  double value = 0;
};

/// Uniform on [range.min, range.max), a function of seed and cell number only.
struct RandomProperty {
  Range range;
  std::uint64_t seed = 1;
};

using PropertySpec = std::variant<ConstantProperty, RandomProperty, DensityFile>;

/// A remanent magnetisation, A/m along easting, northing, upward, or the file of one a cell.
using MagnetizationSpec = std::variant<std::array<double, 3>, DensityFile>;

/// What cells are filled with.
struct CellProperties {
  PropertySpec density = ConstantProperty{}, susceptibility = ConstantProperty{};
  MagnetizationSpec magnetization = std::array<double, 3>{};
};

/// Cells around those of a mesh, on each side but the top, outwards each `growth` times as wide as the one before.
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
  /// in the place of the edges, the density and the susceptibility
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
  /// in the place of masses.density
  std::optional<DensityGridFile> density;
};

using ModelSpec = std::variant<std::monostate, VoxelsSpec, PrismsSpec, MeshSpec, TerrainSpec>;

/// The heights of the surface in observations.grid.file.
struct HeightsOfGridFile {};

/// observations.grid
struct GridSpec {
  Axis easting, northing;
  /// one height for all, m, a file on the same grid (netCDF or CSV), or from a surface
  std::variant<double, std::filesystem::path, AboveTerrain, HeightsOfGridFile> upward = 0.0;
  /// its nodes are the points where easting and northing have none
  std::optional<DemFile> dem = {};
};

using PointsSpec = std::variant<std::monostate, GridSpec, StationsFile, StationsRandom>;

/// How a figure is drawn, where a user says it.
struct FigureStyle {
  /// about how many lines of equal value a map has, 0: none; or their levels in the fields' units; unset: as the
  /// drawing program finds best
  std::optional<std::variant<std::int64_t, std::vector<double>>> contours;
  /// a colour map by the name that matplotlib knows it by; "": the usual ones
  std::string colour_map;
  std::optional<std::int64_t> dpi;
  bool model_outline = true;
  /// title, what is said below it, statistics of the panels, and the version at the foot
  bool annotations = true;
  /// names of the fields to draw; empty: all
  std::vector<std::string> fields;
  /// easting, northing and upward, in metres, of the sections of a model; unset: through the cell that differs most
  std::array<std::optional<double>, 3> cut;

  [[nodiscard]] bool operator==(const FigureStyle&) const = default;
};

/// What of a style is allowed: lines of equal value, dots per inch.
inline constexpr std::int64_t most_contours = 100, least_dpi = 30, most_dpi = 1200;

/// output.checkpoint
struct CheckpointSpec {
  double every_seconds = 600;
  std::filesystem::path file;
};

/// output
struct OutputSpec {
  std::filesystem::path file;
  /// of an inversion: the model once more, each of the format that its suffix names
  std::vector<std::filesystem::path> also;
  std::optional<std::filesystem::path> figure;
  FigureStyle figure_style;
  std::optional<CheckpointSpec> checkpoint;
};

/// inversion.topography
struct TopographySpec {
  std::filesystem::path file;
  /// of a table without header
  std::vector<std::string> columns;
};

/// In the unit of the unknown everywhere, of a magnetisation along easting, northing and upward; or a file on the mesh.
using CellModelSpec = std::variant<double, std::array<double, 3>, DensityFile>;

/// The section `inversion` of a case, as its keys say it.
struct InversionSpec {
  /// data set by data set, each epoch by epoch
  std::vector<ObservedDataFile> data;
  /// the key that names each file, such as inversion.data.0.file
  std::vector<std::string> data_keys;
  /// of every data set; 1 where there are no epochs
  std::int64_t n_epochs = 1;
  /// names of the epochs; empty: those of the first data set's files
  std::vector<std::string> epoch_labels;
  std::optional<SigmaRule> sigma;
  /// a number was written as sigma, which is for data of one field; `sigma` has it for every field
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

/// The command that a case is read for, which says what sections it needs and which it leaves alone:
/// forward: model and observations, neither sensitivity nor inversion;
/// inversion: a model of voxels or mesh, whose density is not needed, and inversion, not observations;
/// sensitivity: a model of voxels or mesh and observations, not inversion.
enum class CaseUse { forward, inversion, sensitivity };
/// By the commands' names.
inline constexpr std::array case_uses = {Choice<CaseUse>{"run", CaseUse::forward},
                                         Choice<CaseUse>{"sensitivity", CaseUse::sensitivity},
                                         Choice<CaseUse>{"invert", CaseUse::inversion}};

/// A run as the user described it: plain values in SI units, z up, nothing read yet but the YAML itself.
/// Relative input paths are already resolved against the YAML's folder.
struct Case {
  CaseUse use = CaseUse::forward;
  std::filesystem::path file;
  std::string title;
  double gravitational_constant = 6.6743e-11;
  Magnetic magnetic;
  /// magnetic.demagnetization
  bool demagnetizes = false;
  Axes axes = Axes::z_down;
  /// of easting and northing, where the case names it: carried into files, nothing is computed by it
  std::optional<Crs> crs;
  ModelSpec model;
  PointsSpec observations;
  /// observations.noise
  std::optional<NoiseSpec> noise;
  FieldList fields = FieldList::all();
  /// the key fields was written
  bool fields_given = false;
  Execution execution;
  OutputSpec output;
  /// read for inversion and sensitivity
  StorageSettings sensitivity;
  /// read for inversion, and then there
  std::optional<InversionSpec> inversion;
  /// the YAML as run, --set applied: written to the result
  std::string text;
  /// what the fields, or for inversion the model, depend on, with sorted keys: two cases of one identity and the same
  /// input files give the same
  std::string identity;
  /// the case itself and every file that it names: what no output may replace
  std::vector<std::filesystem::path> input_files;
  /// key path -> "file:line" (or "--set"), for messages about what a key names
  std::map<std::string, std::string> locations;
  /// keys that are right but that the command does not use in this version
  std::vector<std::string> unused;

  /// What is asked of a forward run.
  [[nodiscard]] Request request() const { return {fields, gravitational_constant, execution, magnetic}; }
  /// "file:line" of a key, or of the nearest parent that was written.
  [[nodiscard]] std::string where(const std::string& key) const;
};

/// Reads and validates CASE.yaml with `key.path=value` overrides applied.
/// Unknown and repeated keys, wrong types and impossible values are collected and thrown as one InputError.
/// Sections that `use` leaves alone are accepted, not read, and named in `unused`, as are keys of a model that it does
/// not need. `output`, the command line's --output, replaces output.file when it is not empty.
[[nodiscard]] Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                             const std::filesystem::path& output = {}, CaseUse use = CaseUse::forward);

/// Validates a case that was read already; `file` names it in messages, and files that it names are relative to its
/// folder.
[[nodiscard]] Case read_case(YamlNode root, const std::filesystem::path& file, CaseUse use = CaseUse::forward);

/// Bounds as a case writes them: "[0, null]".
[[nodiscard]] std::string bounds_text(const Range& bounds);

/// The file that `key` of the case names.
[[nodiscard]] InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key);

/// The errors with the place, "file:line", of each that has only a key. What has neither belongs to the error
/// before it, as a line that counts the rest of them does.
[[nodiscard]] InputError with_places(const Case& run, const InputError& error);

/// What `step` returns; of its errors users learn where in the case their keys are.
template <class Step>
auto at_places_of(const Case& run, const Step& step) {
  try {
    return step();
  } catch (const InputError& error) {
    throw with_places(run, error);
  }
}

}  // namespace prismfield
