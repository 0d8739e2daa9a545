// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/key_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <prismfield/fields.hpp>

#include "case/case.hpp"
#include "model/choices.hpp"

// How to add a key: a row here, where it stands in the file, and its reading; docs/case.md is made anew by
// `prismfield help --markdown > docs/case.md`. tests/test_key_table.cpp compares with what readers accept.

namespace prismfield {
namespace {

using Keys = std::vector<KeyRow>;

const std::string required = "required";
const std::string automatic = "auto";

const KeyEffects input = {.names_input = true};
const KeyEffects no_result = {.changes_result = case_commands::none};
KeyEffects changes(Commands results) { return {.changes_result = results}; }
KeyEffects used_by(Commands users) { return {.used_by = users}; }
KeyEffects no_result_used_by(Commands users) { return {.changes_result = case_commands::none, .used_by = users}; }
KeyEffects input_used_by(Commands users) { return {.used_by = users, .names_input = true}; }
/// An inversion has its points from data, and finds what fills the cells.
constexpr Commands forward = case_commands::run | case_commands::sensitivity;

/// "a, b or c" of the words of a choice.
template <class T, std::size_t n>
std::string words_of(const std::array<Choice<T>, n>& choices) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += (i == 0 ? "" : i + 1 < n ? ", " : " or ") + std::string(choices[i].word);
  return text;
}

static_assert(command_of(CaseUse::forward) == case_commands::run &&
              command_of(CaseUse::inversion) == case_commands::invert &&
              command_of(CaseUse::sensitivity) == case_commands::sensitivity);

/// A number, true or false, or a list, as it is written.
template <class Value>
std::string text_of(const Value& value) {
  return fmt::format("{}", value);
}

/// "guv (Eotvos), gravity gradient, ..." of the fields that are sums of the native ones.
std::string sums_text() {
  std::string text;
  for (const FieldInfo& field : FieldList::every()) {
    if (is_native(field.field)) continue;
    text += fmt::format("{}{} ({}), {}", text.empty() ? "" : "; ", field.name, field.unit, field.long_name);
  }
  return text;
}

const Execution execution;
const InversionSettings inversion;

const Keys document_keys = {
    {"title", "text", "(the name of the case's file)", "",
     "Heading of the run, of its figure and of the result, where it is the attribute title.", "title: A buried sphere",
     no_result},
    {"gravitational_constant", "number above 0", text_of(Case().gravitational_constant), "m3 kg-1 s-2",
     "G of every field. The default is CODATA 2018; other programs may use another, such as 6.67e-11.",
     "gravitational_constant: 6.6743e-11"},
    {"axes", words_of(axes_choices), name(Case().axes), "",
     "Where z points in fields. With z_down gz is positive above excess mass; z_up flips the signs of gz, gxz and gyz, "
     "as SimPEG has them. Coordinates of models and points have upward positive either way.",
     "axes: z_down", changes(case_commands::invert)},
    {"crs", "text", "", "",
     "Coordinate reference system of easting and northing: an authority's code, an exact name, WKT in one line or a "
     "PROJ string. Carried into results, models and G as CF's grid mapping; nothing is computed by it. It has to be "
     "projected and in metres.",
     "crs: EPSG:32719", no_result},
};

const Keys model_keys = {
    {"model", "section", required, "",
     "The masses: exactly one of voxels, prisms, mesh and terrain. sensitivity and invert need voxels or mesh.",
     "model:\n  prisms: {file: bodies.csv}"},

    {"model.voxels", "section", "", "",
     "A box of equal cells, filled with a background, spheres and boxes. Cells of density 0 are left out, and no list "
     "of cells is ever held in memory.",
     "voxels: {easting: [0, 3000, 60], northing: [0, 3000, 60], upward: [-1000, 0, 20], density: 300}"},
    {"model.voxels.easting", "[min, max, cells]", required, "m",
     "West and east end of the box and the number of cells between. max is above min, and there is one cell or more.",
     "easting: [0, 3000, 60]"},
    {"model.voxels.northing", "[min, max, cells]", required, "m",
     "South and north end of the box and the number of cells.", "northing: [0, 3000, 60]"},
    {"model.voxels.upward", "[min, max, cells]", required, "m",
     "Bottom and top of the box, heights, and the number of cells. Depths are negative.", "upward: [-1000, 0, 20]"},
    {"model.voxels.density", "number, or {random: ...} or {file: ...}",
     text_of(std::get<ConstantDensity>(VoxelsSpec().density).value), "kg/m3",
     "Density, or density contrast, of all cells before spheres and boxes are painted: one number, random values, or "
     "one value a cell from a file. At most 1e12 in magnitude. An inversion, which looks for densities, leaves it "
     "alone.",
     "density: 300", used_by(forward)},
    {"model.voxels.density.random", "[min, max]", "(needed, unless file is written)", "kg/m3",
     "Random densities, uniform from min up to max, which depend on seed and number of the cell only: the same on "
     "every machine and for every number of ranks.",
     "random: [100, 3000]"},
    {"model.voxels.density.seed", "whole number of at least 0", text_of(RandomDensity().seed), "",
     "Beside random: another seed gives other densities.", "random: [100, 3000]\nseed: 1"},
    {"model.voxels.density.file", "name of a file", "(needed, unless random is written)", "",
     "One density a cell, easting fastest, then northing, then upward from the bottom: text with one value a line, or "
     "HDF5 or netCDF-4 of shape (upward, northing, easting) or flat. A text with a suffix of UBC's models (.den, .mod, "
     ".sus) is in UBC's order instead: depth fastest, from the top, then easting, then northing. Sought in the case's "
     "folder.",
     "file: density.h5", input},
    {"model.voxels.density.dataset", "name of a dataset", "density", "",
     "Beside file, HDF5 and netCDF-4 only: the dataset that holds the densities. density_2 is also the second epoch of "
     "an inversion's density.",
     "file: density.h5\ndataset: density"},
    {"model.voxels.density.density_unit", "kg/m3 or g/cm3", "kg/m3", "",
     "Beside file: the unit of its numbers; g/cm3 is the default of UBC's models.",
     "file: density.txt\ndensity_unit: g/cm3"},
    {"model.voxels.spheres", "list of spheres", "", "",
     "Spheres painted over the background, each later one over those before it. A cell belongs to a sphere when its "
     "centre is within the radius.",
     "spheres:\n  - {center: [1500, 1500, -400], radius: 250, density: 800}", used_by(forward)},
    {"model.voxels.spheres[].center", "[easting, northing, upward]", required, "m",
     "Where the centre of the sphere is.", "center: [1500, 1500, -400]"},
    {"model.voxels.spheres[].radius", "number above 0", required, "m", "The radius of the sphere.", "radius: 250"},
    {"model.voxels.spheres[].density", "number", required, "kg/m3",
     "The density of the sphere's cells; 0 takes them out.", "density: 800"},
    {"model.voxels.boxes", "list of boxes", "", "",
     "Boxes painted over background and spheres, each later one over those before it. A cell belongs to a box when min "
     "<= centre < max in all three directions.",
     "boxes:\n  - {easting: [0, 100], northing: [0, 100], upward: [-50, 0], density: 200}", used_by(forward)},
    {"model.voxels.boxes[].easting", "[min, max]", required, "m", "West and east end of the box.", "easting: [0, 100]"},
    {"model.voxels.boxes[].northing", "[min, max]", required, "m", "South and north end of the box.",
     "northing: [0, 100]"},
    {"model.voxels.boxes[].upward", "[min, max]", required, "m", "Bottom and top of the box.", "upward: [-50, 0]"},
    {"model.voxels.boxes[].density", "number", required, "kg/m3", "The density of the box's cells; 0 takes them out.",
     "density: 200"},

    {"model.prisms", "section", "", "", "A list of prisms of any size from a file. For the command run alone.",
     "prisms: {file: bodies.csv}"},
    {"model.prisms.file", "name of a file", required, "",
     "A CSV, HDF5 or netCDF-4 file with west, east, south, north, bottom, top and density of each prism. HDF5 has a "
     "one-dimensional dataset for each, by these names or x1, x2, y1, y2, z1, z2 and density.",
     "file: bodies.csv", input},
    {"model.prisms.group", "name of a group", PrismsSpec().group, "",
     "HDF5 and netCDF-4 only: the group that holds the datasets.", "file: bodies.h5\ngroup: /survey/bodies"},
    {"model.prisms.columns", "list of seven names",
     "(the file's header, else west, east, south, north, bottom, top, density)", "",
     "The columns of a table in their order: west, east, south, north, bottom, top, density, or the papers' x1, x2, "
     "y1, y2, z1, z2 in the place of the first six. All seven are needed.",
     "columns: [x1, y1, z1, x2, y2, z2, density]"},
    {"model.prisms.axis_z", "up or down", "up", "",
     "Whether bottom and top are heights (up) or depths (down). A table may call depths top_depth and bottom_depth.",
     "axis_z: down"},
    {"model.prisms.length_unit", "m or km", "m", "", "The unit of the file's coordinates.", "length_unit: km"},
    {"model.prisms.density_unit", "kg/m3 or g/cm3", "kg/m3", "", "The unit of the file's densities.",
     "density_unit: g/cm3"},
    {"model.prisms.allow_overlap", "true or false", text_of(PrismsSpec().allow_overlap), "",
     "Prisms that overlap deeper than 1e-6 of the smaller edge in all three directions are an error, since their "
     "masses count twice; true takes them as they are.",
     "allow_overlap: true"},

    {"model.mesh", "section", "", "",
     "A rectilinear mesh: cells whose sizes differ along each direction, by their edges or from UBC's files.",
     "mesh: {easting: [0, 500, 5], northing: [0, 500, 5], upward: {edges: [-300, -100, 0]}, density: 300}"},
    {"model.mesh.easting", "[min, max, cells], or {edges: ...}, {widths: ...}, {file: ...} or {random_widths: ...}",
     required, "m", "The edges of the cells from west to east. northing and upward are written alike. Not beside ubc.",
     "easting: [0, 500, 5]"},
    {"model.mesh.northing", "as easting", required, "m", "The edges of the cells from south to north.",
     "northing: {origin: 0, widths: [100, 100, 300]}"},
    {"model.mesh.upward", "as easting", required, "m",
     "The edges of the cells from the bottom up: heights. Random widths may also begin at the top.",
     "upward: {edges: [-300, -100, -50, 0]}"},
    {"model.mesh.upward.edges", "list of numbers", "(one of edges, widths, file and random_widths is needed)", "m",
     "Every edge, each above the one before; two or more.", "edges: [-300, -100, -50, 0]"},
    {"model.mesh.upward.widths", "list of numbers above 0", "(one of edges, widths, file and random_widths is needed)",
     "m", "The widths of the cells, the first beginning at origin.", "origin: -300\nwidths: [200, 50, 50]"},
    {"model.mesh.upward.origin", "number", text_of(EdgesRandom().origin), "m",
     "Where the first cell begins: in the west, in the south, at the bottom. Required beside widths.",
     "origin: -300\nwidths: [200, 50, 50]"},
    {"model.mesh.upward.file", "name of a file", "(one of edges, widths, file and random_widths is needed)", "m",
     "The edges from a text file: numbers separated by blanks, commas or line ends, each above the one before.",
     "file: edges.txt", input},
    {"model.mesh.upward.random_widths", "[min, max]", "(one of edges, widths, file and random_widths is needed)", "m",
     "Random widths, uniform from min up to max, min above 0; cells says how many.",
     "random_widths: [50, 100]\ncells: 20"},
    {"model.mesh.upward.cells", "whole number from 1", "(needed beside random_widths)", "",
     "Beside random_widths: the number of cells.", "random_widths: [50, 100]\ncells: 20"},
    {"model.mesh.upward.top", "number", "", "m",
     "Beside random_widths, of upward only and in the place of origin: the height at which the cells begin, going "
     "down.",
     "random_widths: [50, 100]\ncells: 20\ntop: 0"},
    {"model.mesh.upward.seed", "whole number of at least 0", text_of(EdgesRandom().seed), "",
     "Beside random_widths: another seed gives other widths.", "random_widths: [50, 100]\ncells: 20\nseed: 3"},
    {"model.mesh.density", "number, or {random: ...} or {file: ...}", required, "kg/m3",
     "The cells' densities, written as model.voxels.density. Not beside ubc; an inversion does not need it.",
     "density: {file: density.txt}", used_by(forward)},
    {"model.mesh.ubc", "section", "", "",
     "A mesh in the files of UBC's programs, in the place of easting, northing, upward and density.",
     "ubc: {mesh: model.msh, density: model.den, inactive: -100}"},
    {"model.mesh.ubc.mesh", "name of a file", required, "", "The mesh (.msh).", "mesh: model.msh", input},
    {"model.mesh.ubc.density", "name of a file", required, "",
     "The cells' densities (.den), in UBC's order. An inversion does not need it.", "density: model.den",
     input_used_by(forward)},
    {"model.mesh.ubc.density_unit", "kg/m3 or g/cm3", "g/cm3", "", "The unit of the densities; UBC's is g/cm3.",
     "density_unit: kg/m3"},
    {"model.mesh.ubc.inactive", "number", "", "",
     "What the file has for cells without a mass, such as air, in the file's unit; cells of this number are left out, "
     "and a note counts them.",
     "inactive: -100", used_by(forward)},

    {"model.terrain", "section", "", "",
     "A digital elevation model as prisms between its surface and a reference height, one column a node, never held as "
     "a list. For the command run alone; docs/terrain.md leads through it.",
     "terrain: {file: dem.nc, density: 2670, water_density: 1040}"},
    {"model.terrain.file", "name of a file", required, "m",
     "Heights at the nodes of a grid: netCDF or HDF5 with coordinates, ESRI ASCII grid, a table of easting, northing "
     "and upward, or GeoTIFF where GDAL was built in. Nodes without a height are left out. Degrees are refused: "
     "project first.",
     "file: dem.nc", input},
    {"model.terrain.variable", "name of a variable", "(the one of two dimensions)", "",
     "netCDF and HDF5 only: the variable that holds the heights.", "file: dem.nc\nvariable: elevation"},
    {"model.terrain.reference", "number", text_of(TerrainMasses().reference), "m",
     "Masses count against a world that is rock below this height and nothing above: a surface above it has rock of "
     "positive density, one below it lacks rock.",
     "file: dem.nc\nreference: 0"},
    {"model.terrain.density", "number, or {file: ...}", text_of(TerrainMasses().density), "kg/m3",
     "Density of rock: one number, or one value a node from a file.", "file: dem.nc\ndensity: 2670"},
    {"model.terrain.density.file", "name of a file", required, "",
     "Densities on the same nodes as the heights, in the same formats.", "file: density.nc", input},
    {"model.terrain.density.variable", "name of a variable", "(the one of two dimensions)", "",
     "netCDF and HDF5 only: the variable that holds the densities.", "file: density.nc\nvariable: density"},
    {"model.terrain.density.density_unit", "kg/m3 or g/cm3", "kg/m3", "", "The unit of the file's densities.",
     "file: density.nc\ndensity_unit: g/cm3"},
    {"model.terrain.water_density", "number", "(no water)", "kg/m3",
     "Where the surface is below sea level, water of this density, 1040 in the sea, stands up to it.",
     "file: dem.nc\nwater_density: 1040"},
    {"model.terrain.sea_level", "number", text_of(TerrainMasses().sea_level), "m", "Height up to which water stands.",
     "file: dem.nc\nwater_density: 1040\nsea_level: 0"},
};

const char* const sea_level_of_heights =
    "Beside above_terrain: heights count from the higher of the surface and this level, over the sea from its water. "
    "Without, they count from the surface as it is, and a warning counts points above one that is below sea level; a "
    "level below the surface says that it is dry.";

const Keys observation_keys = {
    {"observations", "section", required, "",
     "The points at which fields are computed: exactly one of grid and stations. invert does not use it: stations come "
     "with the data.",
     "observations:\n  stations: {file: stations.csv}", used_by(forward)},
    {"observations.grid", "section", "", "", "Points on a grid, at one height or a height for each node.",
     "grid: {easting: [0, 3000, 61], northing: [0, 3000, 61], upward: 20}"},
    {"observations.grid.easting", "[min, max, points]", "(required, unless file is written)", "m",
     "First and last easting and the number of points, both ends included.", "easting: [0, 3000, 61]"},
    {"observations.grid.northing", "[min, max, points]", "(required, unless file is written)", "m",
     "First and last northing and the number of points, both ends included.", "northing: [0, 3000, 61]"},
    {"observations.grid.file", "name of a file", "", "m",
     "A grid of heights, as of model.terrain.file, whose nodes are the points. Without upward its heights are theirs; "
     "easting and northing choose other points on the same surface.",
     "file: dem.nc\nupward: {above_terrain: 80}", input},
    {"observations.grid.variable", "name of a variable", "(the one of two dimensions)", "",
     "Beside file, netCDF and HDF5 only: the variable that holds the heights.", "file: dem.nc\nvariable: elevation"},
    {"observations.grid.upward", "number, {file: ...} or {above_terrain: ...}", "(required, unless file is written)",
     "m",
     "The height of all points, heights from a file, or heights above a terrain. Points inside masses are allowed.",
     "upward: 20"},
    {"observations.grid.upward.file", "name of a file", "(required, unless above_terrain is written)", "m",
     "Heights at the nodes of this very grid: a netCDF or HDF5 grid with coordinates, as GMT and xarray write it, or a "
     "table with the columns easting, northing and upward. Beside above_terrain: the terrain, whatever its nodes.",
     "file: elevation.nc", input},
    {"observations.grid.upward.above_terrain", "number", "", "m",
     "Height above a surface that is bilinear between its nodes: that of upward.file, else of model.terrain, else of "
     "grid.file; sea_level says what it counts from over the sea. Points outside the surface are an error.",
     "above_terrain: 80\nfile: dem.nc"},
    {"observations.grid.upward.variable", "name of a variable", "(the one of two dimensions)", "",
     "Beside above_terrain and file, netCDF and HDF5 only: the variable that holds the heights.",
     "above_terrain: 80\nfile: dem.nc\nvariable: elevation"},
    {"observations.grid.upward.sea_level", "number",
     "(model.terrain's where it has water_density and no file is beside it, else none)", "m", sea_level_of_heights,
     "above_terrain: 80\nfile: dem.nc\nsea_level: 0"},
    {"observations.stations", "section", "", "",
     "Points one by one: from a file, or random ones. A file's header may name units, as in \"x [km]\"; stations whose "
     "place has a dummy (nothing, *, NaN, -1e32) are left out and counted. docs/data.md tells of formats, units and "
     "further columns.",
     "stations: {file: stations.csv}"},
    {"observations.stations.file", "name of a file", "(needed, unless random is written)", "",
     "A table of stations, its columns found by their names (easting, x, UTM_X, elevation, ...), separated by commas, "
     "semicolons or blanks; Oasis montaj XYZ, GMT segments, UBC's .loc and .obs; or a result of this program, whose "
     "points are taken. Other columns come back in the result. docs/data.md tells more.",
     "file: stations.csv", input},
    {"observations.stations.columns", "list of names", "(the file's header, else easting, northing, upward)", "",
     "Beside file: its columns in their order, any spelling, a unit in brackets allowed; \"-\" is passed over.",
     "file: stations.txt\ncolumns: [\"-\", x, \"y [km]\", depth]"},
    {"observations.stations.length_unit", "m, km or ft", "m", "",
     "Beside file: the unit of coordinates whose columns name none. A header that says another unit is an error.",
     "file: stations.csv\nlength_unit: km"},
    {"observations.stations.axis_z", "up or down", "(up, but down for a column named depth)", "",
     "Beside file: where its heights point. It also tells a file of UBC (up) from one of Tomofast (down).",
     "file: stations.csv\naxis_z: down"},
    {"observations.stations.random", "whole number from 1", "(needed, unless file is written)", "",
     "In the place of file: the number of random stations.", "random: 30"},
    {"observations.stations.easting", "[min, max]", "(that of the model)", "m",
     "Beside random: where the stations are.", "random: 30\neasting: [0, 3000]"},
    {"observations.stations.northing", "[min, max]", "(that of the model)", "m",
     "Beside random: where the stations are.", "random: 30\nnorthing: [0, 3000]"},
    {"observations.stations.upward", "number or {above_terrain: ...}; beside random [min, max]",
     "(the file's column; of random ones 100 m above the model's top)", "m",
     "Beside file: one height for all stations, or heights above a terrain; a column of heights is then not used, and "
     "a note says so. Beside random: the range of heights; min and max may be equal.",
     "file: stations.csv\nupward: 80"},
    {"observations.stations.upward.above_terrain", "number", required, "m",
     "Height above a surface that is bilinear between its nodes: that of upward.file, else of model.terrain; sea_level "
     "says what it counts from over the sea. Points outside the surface are an error.",
     "above_terrain: 80\nfile: dem.nc"},
    {"observations.stations.upward.file", "name of a file", "(model.terrain's)", "m",
     "The terrain that the stations are above, in any format of model.terrain.file.", "above_terrain: 80\nfile: dem.nc",
     input},
    {"observations.stations.upward.variable", "name of a variable", "(the one of two dimensions)", "",
     "Beside file, netCDF and HDF5 only: the variable that holds the heights.",
     "above_terrain: 80\nfile: dem.nc\nvariable: elevation"},
    {"observations.stations.upward.sea_level", "number",
     "(model.terrain's where it has water_density and no file is beside it, else none)", "m", sea_level_of_heights,
     "above_terrain: 80\nfile: dem.nc\nsea_level: 0"},
    {"observations.stations.seed", "whole number of at least 0", text_of(StationsRandom().seed), "",
     "Beside random: another seed gives other stations.", "random: 30\nseed: 2"},
    {"observations.noise", "section", "", "",
     "Normally distributed noise, added to fields of run; the result then holds gz_sigma and the like too, as an "
     "inversion wants them.",
     "noise: {gz: 0.02, gzz: 1}", no_result_used_by(case_commands::run)},
    {"observations.noise.FIELD", "number above 0", "", "mGal; Eotvos; m2 s-2",
     "The standard deviation of a field's noise in the unit of the field: mGal for gx, gy, gz, Eotvos for the gradient "
     "tensor, m2 s-2 for the potential. The field is one of those computed.",
     "gz: 0.02", no_result},
    {"observations.noise.seed", "whole number of at least 0", text_of(NoiseSpec().seed), "",
     "Another seed gives other noise; the same one the same noise on every machine.", "gz: 0.02\nseed: 5", no_result},
    {"fields", "all, vector, tensor, a field's name, or a list of these", "all", "",
     "What is computed: potential (m2 s-2), gx, gy, gz (mGal; the group vector), gxx, gyy, gzz, gxy, gxz, gyz (Eotvos; "
     "the group tensor); all is these ten. Sums of such: " +
         sums_text() + ". Fewer fields take less time.",
     "fields: [gz, tensor]"},
};

const Keys execution_keys = {
    {"execution", "section", "", "",
     "How a run is computed. Nothing here has to be written, and no key but precision and kernel changes results "
     "beyond rounding.",
     "execution: {precision: mixed}", no_result},
    {"execution.space", words_of(space_choices), name(execution.space), "",
     "Kokkos' execution space. default is the GPU where the program was built for one, else all threads; serial is "
     "one thread. prismfield info lists what was built in.",
     "space: openmp", no_result},
    {"execution.partition", words_of(partition_choices) + ", or {ranks: ...}", name(execution.partition), "",
     "What ranks share out: prisms, each rank some of the prisms at all points; points, all prisms at some of the "
     "points; auto chooses by a model of the times. points_per_prism, one parallel region a prism, is the papers' and "
     "slow.",
     "partition: points", no_result},
    {"execution.partition.ranks", "[parts of prisms, parts of points]", required, "",
     "A grid of ranks, whose product is the number of ranks.", "ranks: [4, 2]", no_result},
    {"execution.balance", words_of(balance_choices), name(execution.balance), "",
     "count gives each rank as many prisms (or points), cost as much work by a model of the near and far forms, for "
     "points close to a part of the prisms.",
     "balance: cost", no_result},
    {"execution.kernel", words_of(kernel_choices), name(execution.kernel), "",
     "auto takes for each pair the closed form or multipole that is right for it. corners is the papers' sum over "
     "eight corners, slower and less accurate far away, for comparison.",
     "kernel: corners"},
    {"execution.precision", words_of(precision_choices), name(execution.precision), "",
     "double: errors to 1e-12. mixed: float arithmetic on double differences, double sums, errors to 6e-5 of one "
     "prism. single: float throughout. docs/numerics.md has the errors.",
     "precision: mixed"},
    {"execution.batch", "auto or a whole number from 1 to 1e9", automatic, "prisms",
     "Prisms that are summed in registers before they are added to a grid. auto: up to 64 on a host, 128 on a device.",
     "batch: 64", no_result},
    {"execution.slots", "auto or a whole number from 1 to 1e9", automatic, "grids",
     "Grids of partial sums, one for each batch in work at a time. auto: on a host the threads, on a device what fills "
     "it, at most the number of batches. Results for one number of slots are the same bit for bit.",
     "slots: 4", no_result},
    {"execution.block", "auto or a whole number from 1 to 512", automatic, "threads",
     "Threads of a block (team) on a GPU; without effect on a host. auto: 128, fewer where points are few.",
     "block: 128", no_result},
    {"execution.chunk", "auto or a whole number from 1 to 1e9", automatic, "prisms",
     "Prisms between two reductions of the slots, where a checkpoint may be taken and signals are heard. auto: about "
     "two billion prism-point pairs.",
     "chunk: 100000", no_result},
    {"execution.memory_limit", "auto or a size with B, KiB, MiB or GiB", automatic, "",
     "What the grids of a rank may take. A run that would pass it takes fewer slots, then tiles of points. auto: half "
     "of the memory that is free, four fifths on a device, shared among a node's ranks.",
     "memory_limit: 2 GiB", no_result},
    {"execution.method", "auto or direct", name(execution.method), "",
     "This version computes every pair of prism and point directly; mesh, fft and tree are refused.", "method: direct"},
    {"execution.tolerance", "number above 0 and below 1", text_of(execution.tolerance), "",
     "The error, relative to the largest value of a field, that methods other than direct may make: without effect in "
     "this version, which has none.",
     "tolerance: 1e-12", used_by(case_commands::none)},
};

const Keys output_keys = {
    {"output", "section", "", "",
     "What is written. Names are relative to the folder where the command runs, which exists.",
     "output: {file: sphere.nc, figure: sphere.png}", no_result},
    {"output.file", "name of a file", "(the case's name with .h5)", "",
     "The result. .nc and .h5 are the same netCDF-4 file, .csv and .xyz are tables; the model of an inversion is .nc "
     "or .h5. An older result is replaced when the new one is complete.",
     "file: sphere.nc", no_result},
    {"output.also", "name of a file, or a list", "", "",
     "Of invert: the model once more, in the format that the suffix names, as .vtr for ParaView or .msh and .den for "
     "UBC's programs.",
     "also: [model.vtr, model.den]", no_result_used_by(case_commands::invert)},
    {"output.figure", "name of a file, or {file: ...} and how it looks", "", "",
     "A picture of the result: .png, .pdf or .svg. Drawn by the first of $PRISMFIELD_PYTHON, python3 and "
     "/usr/bin/python3 that has matplotlib and netCDF4 or h5py; where there is none a warning says so and the run is "
     "good. --output gives it the name of the result, with its own suffix; prismfield plot draws it again.",
     "figure: sphere.png", no_result},
    {"output.figure.file", "name of a file", required, "", "The picture.", "file: sphere.pdf", no_result},
    {"output.figure.contours", "whole number from 0 to 100, list of levels, true or false", "true", "",
     "About so many lines in each map (true: about eight), or their levels in the unit of the field; false: none. "
     "Without effect on pictures of inversions.",
     "file: sphere.png\ncontours: [-1, 0, 1]", no_result},
    {"output.figure.colour_map", "name", "(RdBu_r where a field has both signs, else viridis)", "",
     "A colour map of matplotlib, one for the whole picture.", "file: sphere.png\ncolour_map: PuOr_r", no_result},
    {"output.figure.dpi", "whole number from 30 to 1200", "(300; inversions 180)", "dots per inch",
     "Resolution of a .png, and of what is dots in a .pdf or .svg.", "file: sphere.png\ndpi: 200", no_result},
    {"output.figure.model_outline", "true or false", "true", "",
     "Draws the outlines of spheres and boxes, or the extent of the model. Without effect on pictures of inversions.",
     "file: sphere.png\nmodel_outline: false", no_result},
    {"output.figure.annotations", "true or false", "true", "",
     "Writes the title, what is said below it, minimum, maximum and RMS of each panel, and the version at the foot. "
     "Without them, a figure of a paper has its caption for that, and maps of draped grids have no lines of height.",
     "file: sphere.pdf\nannotations: false", no_result},
    {"output.checkpoint", "section", "", "",
     "The state of a long run or inversion, from which --resume goes on. Removed when the result is complete.",
     "checkpoint: {every: 10 min, file: sphere.ckpt}", no_result_used_by(case_commands::run | case_commands::invert)},
    {"output.checkpoint.every", "duration with ms, s, min or h",
     fmt::format("{} min", CheckpointSpec().every_seconds / 60), "",
     "How often the state is written, and after a signal besides.", "file: sphere.ckpt\nevery: 10 min", no_result},
    {"output.checkpoint.file", "name of a file", required, "",
     "The checkpoint's file. A file that is no checkpoint of this program is never replaced.", "file: sphere.ckpt",
     no_result},
};

const Keys sensitivity_keys = {
    {"sensitivity", "section", "", "",
     "How the matrix G of cells and points is kept, for the commands sensitivity and invert (docs/sensitivity.md).",
     "sensitivity: {store: memory, precision: float}",
     no_result_used_by(case_commands::invert | case_commands::sensitivity)},
    {"sensitivity.store", words_of(store_choices), name(StorageSettings().store), "",
     "Where G is kept: in memory (memory and device are the memory of the execution space), in a file that every "
     "product reads, or not at all (none: computed anew in every product). auto keeps it in memory where it fits and "
     "pays; for invert, on a host, as an H-matrix of "
     "error 1e-4 where that is faster and neither compression nor precision is written.",
     "store: memory", no_result},
    {"sensitivity.precision", words_of(stored_precision_choices),
     "(double for the command sensitivity, float for invert)", "",
     "What an entry of G is kept as: 8, 4 or 2 bytes. float16 is for memory only, not for files.", "precision: float"},
    {"sensitivity.compression", fmt::format("none, or a number from {} to {}", least_compression, most_compression),
     "(none; left to store: auto for invert)", "",
     "The error of G, relative to its norm, that a compressed matrix (H-matrix) may have; none: never compressed. On "
     "hosts, in memory, not with store: file or none.",
     "compression: 1e-4"},
    {"sensitivity.file", "name of a file", "", "",
     "HDF5 file of G, written by the command sensitivity, and needed by store: file. A file of the same cells, points "
     "and fields is used again.",
     "file: G.h5", no_result},
};

const Keys data_keys = {
    {"inversion", "section", required, "",
     "From data to densities, for the command invert, which needs it; run and sensitivity leave it alone "
     "(docs/inversion.md).",
     "inversion:\n  data: {file: observed.csv}\n  bounds: [0, 400]", used_by(case_commands::invert)},
    {"inversion.data", "name of a file, {file: ...}, {epochs: ...}, or a list of these", required, "mGal; Eotvos",
     "The measurements: results of run, tables with a header, or UBC's observations. Data sets of a list are inverted "
     "together.",
     "data: {file: observed.csv}", input},
    {"inversion.data.file", "name of a file", "(needed, unless epochs is written)", "",
     "Measurements of one time: easting, northing, upward (m), fields and FIELD_sigma.", "file: observed.csv", input},
    {"inversion.data.epochs", "list of two or more names of files", "(needed, unless file is written)", "",
     "In the place of file: the same stations measured at several times, a file each, which give as many models.",
     "epochs: [2021.csv, 2022.csv]", input},
    {"inversion.data.labels", "list of names", "(the names of the files)", "",
     "Beside epochs: what each is called, as many names as epochs, all different.",
     "epochs: [2021.csv, 2022.csv]\nlabels: [spring, autumn]"},
    {"inversion.data.columns", "list of names", "(the table's header)", "",
     "The columns of a table without header, in their order; '-' for one that is not read.",
     "file: observed.txt\ncolumns: [easting, northing, upward, gz, gz_sigma]"},
    {"inversion.data.axes", words_of(axes_choices), "(what the file says, else the case's axes)", "",
     "Where z points in the file's gz, gxz and gyz. SimPEG's point up.", "file: observed.csv\naxes: z_up"},
    {"inversion.data.fields", "as the key fields of the case", "(the case's key fields, else all in the file)", "",
     "Which of the file's fields are inverted.", "file: observed.csv\nfields: [gz]"},
    {"inversion.data.length_unit", "m, km or ft", "m", "", "The unit of coordinates whose columns name none.",
     "file: observed.csv\nlength_unit: km"},
    {"inversion.sigma", "number above 0, or a map", "(the files' own FIELD_sigma)", "mGal; Eotvos",
     "Standard deviations of the data, in the place of those in files: one for all data of one field, or a relative "
     "part and a part that every datum has, added. Not needed where beta is gcv or l_curve.",
     "sigma: {relative: 0.02, floor: {gz: 0.05}}"},
    {"inversion.sigma.relative", "number of at least 0, or a map of fields", "", "",
     "The part that grows with the datum, 0.02 is 2 %: one number for all fields, or one a field.", "relative: 0.02"},
    {"inversion.sigma.relative.FIELD", "number of at least 0", "", "", "The relative part of one field.", "gz: 0.02"},
    {"inversion.sigma.floor", "map of fields", "", "mGal; Eotvos", "The part that every datum of a field has.",
     "floor: {gz: 0.05}"},
    {"inversion.sigma.floor.FIELD", "number of at least 0", "", "mGal; Eotvos",
     "The least standard deviation of one field, in its unit.", "gz: 0.05"},
    {"inversion.data_norm", "2 or huber", "2", "",
     "How residuals over sigma count: by their squares, or by Huber's norm, by which outliers count less.",
     "data_norm: huber"},
    {"inversion.topography", "section", "", "",
     "The surface: cells whose centre is above it are inactive, and so are those that reach above a station in their "
     "column.",
     "topography: {file: heights.csv}"},
    {"inversion.topography.file", "name of a file", required, "m",
     "Heights: a table of easting, northing and upward, or a netCDF grid. Between the nodes of a whole grid the height "
     "is bilinear, else that of the nearest point.",
     "file: heights.csv", input},
    {"inversion.topography.columns", "list of names", "(the table's header)", "",
     "The columns of a table without header, in their order.",
     "file: heights.txt\ncolumns: [easting, northing, upward]"},
    {"inversion.active", "section", "", "",
     "Cells that may be active, by a file; with a topography those that are below it too.",
     "active: {file: active.h5}"},
    {"inversion.active.file", "name of a file", required, "",
     "One value a cell, 1 for an active cell, 0 or NaN for others, in HDF5, netCDF-4 or text, as "
     "model.voxels.density.file.",
     "file: active.h5", input},
    {"inversion.active.dataset", "name of a dataset", "active", "",
     "HDF5 and netCDF-4 only: the dataset of the values.", "file: active.h5\ndataset: active"},
};

const Keys inversion_keys = {
    {"inversion.reference", "number, or {file: ...}", "0", "kg/m3",
     "The model from which smallness counts distances, within bounds: one density, or one a cell from a file.",
     "reference: 0"},
    {"inversion.reference.file", "name of a file", required, "", "One density a cell, as model.voxels.density.file.",
     "file: reference.h5", input},
    {"inversion.reference.dataset", "name of a dataset", "density", "",
     "HDF5 and netCDF-4 only: the dataset that holds the densities.", "file: reference.h5\ndataset: density"},
    {"inversion.reference.density_unit", "kg/m3 or g/cm3", "kg/m3", "",
     "The unit of the file's numbers; g/cm3 is the default of UBC's models.",
     "file: reference.txt\ndensity_unit: g/cm3"},
    {"inversion.start", "number, or {file: ...}", "(the reference)", "kg/m3",
     "The model that the search begins from, within bounds. Keys of a file as those of reference.",
     "start: {file: model.h5}"},
    {"inversion.bounds", "none, [min, max], {file: ...} or {intervals: ...}", "none", "kg/m3",
     "Between these every density of the model lies; null is no bound on that side. The reference is within them.",
     "bounds: [0, null]"},
    {"inversion.bounds.file", "name of a file", "", "",
     "Bounds of each cell: HDF5 or netCDF-4 with the datasets lower and upper, or one of them, of shape (upward, "
     "northing, easting). NaN is no bound; equal bounds fix a cell.",
     "file: bounds.h5", input},
    {"inversion.bounds.density_unit", "kg/m3 or g/cm3", "kg/m3", "", "The unit of the file's numbers.",
     "file: bounds.h5\ndensity_unit: g/cm3"},
    {"inversion.bounds.intervals", "list of two or more [min, max]", "", "kg/m3",
     "Densities that are allowed, in intervals that do not meet, such as those of known rocks.",
     "intervals: [[0, 50], [300, 400]]"},
    {"inversion.smallness", "number of at least 0", text_of(inversion.smallness), "",
     "What the distance from the reference counts. 0 only where smoothness is above 0.", "smallness: 0.1"},
    {"inversion.smoothness", "number of at least 0, [easting, northing, upward], or {lengths: ...}",
     "(a typical edge, the median in each direction)", "shortest edges of the mesh",
     "Lengths over which the model is smoothed towards east, north and up; larger is smoother, 0 is none.",
     "smoothness: [2, 2, 1]"},
    {"inversion.smoothness.lengths", "number of at least 0, or [easting, northing, upward]", required, "m",
     "The same lengths in metres.", "lengths: [50, 50, 25]"},
    {"inversion.cell_weights", "section", "", "",
     "Factors of the weights of each cell in the regularisation: a cell of a larger one differs less from the "
     "reference and from its neighbours.",
     "cell_weights: {file: weights.h5}"},
    {"inversion.cell_weights.file", "name of a file", required, "",
     "One factor a cell, above 0 in active cells, in HDF5, netCDF-4 or text, as model.voxels.density.file.",
     "file: weights.h5", input},
    {"inversion.cell_weights.dataset", "name of a dataset", "cell_weights", "",
     "HDF5 and netCDF-4 only: the dataset of the factors.", "file: weights.h5\ndataset: cell_weights"},
    {"inversion.reference_in_smoothness", "true or false", text_of(inversion.reference_in_smoothness), "",
     "Whether smoothness is of the model less the reference in the place of the model.",
     "reference_in_smoothness: true"},
    {"inversion.weighting", "sensitivity, depth, distance or none, or {depth: ...} or {distance: ...}", "sensitivity",
     "",
     "What makes deep or distant cells count less in the regularisation, so that masses do not gather at the surface.",
     "weighting: depth"},
    {"inversion.weighting.depth", "section", "", "",
     "(z + z0)^-power, z the depth of a cell's centre below the top of the mesh.", "depth: {power: 2, z0: 10}"},
    {"inversion.weighting.depth.power", "number above 0", "(2; 3 for the gradient tensor alone)", "",
     "How fast the weight of the square falls.", "power: 2"},
    {"inversion.weighting.depth.z0", "number of at least 0",
     "(depth: fitted to the stations' height; distance: a quarter of the shortest edge)", "m",
     "Metres added to the depth, or to the distance.", "z0: 10"},
    {"inversion.weighting.distance", "section", "", "",
     "(r + z0)^-power, r the distance of a cell's centre from the nearest station. Keys as those of depth.",
     "distance: {power: 2, z0: 5}"},
    {"inversion.norm", "number from 0 to 2, or [smallness, easting, northing, upward]", text_of(inversion.norm), "",
     "p of the terms of smallness and smoothness. 2 is smooth; below 2 models are compact, 0 the most.",
     "norm: [0, 2, 2, 2]"},
    {"inversion.beta", "auto, gcv, l_curve, or a number above 0", automatic, "",
     "What the regularisation counts against the data. auto searches the beta that fits the data to the target; a "
     "number is taken as it is: one solution, and with compact norms their steps at this beta; gcv (generalized "
     "cross-validation) and l_curve (the corner of the L-curve) choose beta where sigma is unknown.",
     "beta: auto"},
    {"inversion.target_misfit", "number above 0", text_of(inversion.target_misfit), "",
     "chi that the search for beta reaches to 2 %: the sum of squared residuals over sigma, divided by the number of "
     "data. Not with gcv and l_curve.",
     "target_misfit: 1"},
    {"inversion.max_iterations", "whole number from 1", text_of(inversion.max_iterations), "solutions",
     "At most as many solutions in the search for beta, and again, 25 at most, in the steps of compact norms; a "
     "warning says when a compact model has not settled.",
     "max_iterations: 30"},
    {"inversion.keep", "last or all", "last", "",
     "Which models the file has: the last one, or beside it that of each solution, as density_solutions.", "keep: all"},
    {"inversion.trend", "none, constant or linear", "none", "",
     "A regional field of each data set and field, found together with the model: a constant, or a plane in easting "
     "and northing.",
     "trend: linear"},
    {"inversion.uncertainty", "none, samples, {samples: ...} or {rank: ...}", "none", "",
     "Whether standard deviations of the densities are computed, and how.", "uncertainty: {samples: 100}"},
    {"inversion.uncertainty.samples", "whole number from 2", "100", "models",
     "Models drawn from the posterior; deviations are good to 1/sqrt(2 samples), 7 % for 100.", "samples: 100"},
    {"inversion.uncertainty.seed", "whole number of at least 0", text_of(inversion.uncertainty.seed), "",
     "Another seed draws other samples.", "samples: 100\nseed: 1"},
    {"inversion.uncertainty.rank", "whole number from 1 to 10,000", "(without it samples are drawn)",
     "directions of the data",
     "In the place of samples: by a low rank of the data term, of one epoch, with smallness above 0. Too small a rank "
     "errs to the careful side.",
     "rank: 50"},
    {"inversion.depth_of_investigation", "true or false", text_of(inversion.depth_of_investigation), "",
     "Whether a second inversion with another reference tells how much of the reference comes back in each cell.",
     "depth_of_investigation: true"},
    {"inversion.change", "number of at least 0", text_of(inversion.change), "",
     "Of several epochs only: what the change from one epoch to the next counts, beside a smallness of 1. 0: epochs "
     "are independent but for beta.",
     "data: {epochs: [2021.csv, 2022.csv]}\nchange: 1"},
    {"inversion.preconditioner", "jacobi, or {rank: ...}", "jacobi", "",
     "The preconditioner of the conjugate gradients. It changes the time, not the model.",
     "preconditioner: {rank: 50}"},
    {"inversion.preconditioner.rank", "whole number from 1 to 10,000", required, "directions of the data",
     "The rank of the data term that is taken in: pays for samples and long searches with many data.", "rank: 50"},
};

const std::string duration = "duration with ms, s, min or h";
const std::string swept = "list of values";

const Keys study_rows = {
    {"title", "text", "(the name of the study's file)", "", "The heading of the report.",
     "title: Threads and precision"},
    {"base", "name of a case, or the case itself", required, "",
     "The case that is varied; its inputs are sought in its own folder.", "base: case.yaml"},
    {"command", "run, sensitivity or invert", "run", "", "What each run of the study is.", "command: run"},
    {"sweep", "map of axes", "", "",
     "The axes; every combination of their values is a point of the study, 10,000 at most. An axis is a key path of "
     "the case, one of threads, ranks, devices and bind, or any name whose values are maps of such keys.",
     "sweep: {threads: [1, 2], execution.precision: [double, single]}"},
    {"sweep.threads", swept, "", "threads", "Threads of each rank.", "threads: [1, 2]"},
    {"sweep.ranks", swept, "", "ranks", "Ranks of a run, started by the launcher.", "ranks: [1, 2]"},
    {"sweep.devices", swept, "", "GPUs", "GPUs of a run, shared by its ranks.", "devices: [1, 2]"},
    {"sweep.bind", "list of spread, close, primary or none", "", "", "How threads are bound to cores (OMP_PROC_BIND).",
     "bind: [spread, close]"},
    {"repeats", "whole number from 1 to 10,000", "5", "runs", "Timed runs of each point.", "repeats: 5"},
    {"warmup", "whole number from 0 to 10,000", "1", "runs", "Runs of each point before them that do not count.",
     "warmup: 1"},
    {"time_budget", duration, "", "", "No run begins that will not end within it.", "time_budget: 20 min"},
    {"run_limit", duration, "1 h", "", "A run that takes longer is ended.", "run_limit: 1 h"},
    {"order", "random or as_written", "random", "",
     "The order of the runs within each repeat. random spreads a machine's drift over all points.", "order: random"},
    {"seed", "whole number of at least 0", "1", "", "Another seed gives another random order.", "seed: 1"},
    {"tolerance", "number of at least 0", "1e-09", "",
     "The largest max|a-b| / max|b| of a field against the reference; a run beyond it has no speed. Single and mixed "
     "precision need about 1e-5; otherwise there is a warning before the runs.",
     "tolerance: 1e-5"},
    {"reference", "map of keys of the case", "(execution.kernel: auto and execution.precision: double)", "",
     "How the reference of each problem is computed.", "reference: {execution.precision: double}"},
    {"launcher", "text, or a list of words", "(mpirun; srun inside a Slurm job)", "",
     "How ranks are started: a command with {ranks}, {program} and, if need be, {threads}.",
     "launcher: 'mpirun -n {ranks} {program}'"},
    {"oversubscribe", "true or false", "false", "",
     "Whether points with more threads than the machine has are run too.", "oversubscribe: true"},
    {"baseline", "map of axes and values", "(the point with the fewest workers)", "",
     "The point that speed-ups refer to.", "baseline: {threads: 1}"},
    {"scaling", "threads, ranks, devices or none", "(the first of them that is swept)", "",
     "Along which axis the laws of Amdahl and Gustafson are fitted; none: no fits.", "scaling: threads"},
    {"weak", "true or false", "false", "", "Whether the problem grows with the workers (weak scaling).", "weak: true"},
    {"keep_results", "true or false", "false", "",
     "Whether the first result of every point stays in the report's folder.", "keep_results: true"},
    {"trace", "true or false", "false", "",
     "Whether gxx + gyy + gzz is compared with Poisson's equation. Of the commands run and sensitivity.",
     "trace: true"},
    {"histogram", "true or false", "false", "",
     "Whether there are histograms of relative differences. Of the commands run and sensitivity.", "histogram: true"},
    {"busy", "true or false", "false", "", "Whether the load of every slot is shown. Of the command run.",
     "busy: true"},
    {"maps", "as the key fields of a case", "", "",
     "Fields that are drawn as maps. Of the commands run and sensitivity.", "maps: [gz]"},
    {"figure", "a figure, or a list", "(chosen by the axes)", "", "What is drawn.",
     "figure: {x: threads, y: speed_up}"},
    {"figure.x", "name of an axis", required, "", "The axis along x.", "x: threads\ny: speed_up"},
    {"figure.y", "name of a quantity", required, "",
     "What is drawn: field_seconds, time, pairs_per_second, speed_up, efficiency, memory, scratch or error; of "
     "sensitivity and invert also setup_seconds and what they tell (docs/studies.md).",
     "x: threads\ny: field_seconds"},
    {"figure.curves", "name of an axis, or a list", "", "", "Axes whose values have a curve each.",
     "x: threads\ny: speed_up\ncurves: [execution.precision]"},
    {"figure.log", "none, x, y or xy", "none", "", "Which axes are logarithmic.", "x: threads\ny: speed_up\nlog: xy"},
    {"compare_with", "values of a paper, or a list", "", "", "What a paper prints, drawn as marks.",
     "compare_with: {paper: A1, values: {1: 81, 2: 41}}"},
    {"compare_with.paper", "text", required, "", "The paper's experiment.", "paper: A1"},
    {"compare_with.figure", "text", "", "", "The number of the paper's figure or table.",
     "paper: A1\nfigure: 'Fig. 7'"},
    {"compare_with.y", "name of a quantity", "(that of the first figure)", "",
     "What the values are: a quantity of figure.y, or errors, histogram, share, trace, maps or busy.",
     "paper: A1\ny: field_seconds"},
    {"compare_with.values", "map of an axis' values and numbers, or of curves with such a map each", "", "",
     "The paper's numbers, in the unit of y.", "paper: A1\nvalues: {1: 81, 2: 41}"},
    {"compare_with.note", "text", "", "", "A line that stands beside.", "paper: A1\nnote: one card"},
    {"reduced", "map of keys of the study and the case", "", "",
     "What --reduced changes: a size for a test or a first look.", "reduced: {repeats: 1}"},
    {"report", "name of a folder", "(the study's name)", "",
     "The folder, below the working folder, that takes tables, figures and the page; a warning says where another one "
     "is.",
     "report: threads/"},
};

/// The path below the section by whose name the table has the keys; neither has lists.
std::string among_alike(std::string path) {
  for (const SectionLike& alike : sections_alike()) {
    const bool is_below = path.starts_with(alike.path + ".");
    if (is_below || path == alike.path) path.replace(0, alike.path.size(), alike.other);
  }
  return path;
}

void collect(YamlNode& node, const std::string& path, bool names_input, std::vector<InputPath>& paths) {
  if (names_input && node.kind == YamlNode::Kind::scalar) paths.push_back({path, &node});
  for (YamlEntry& entry : node.entries) {
    const std::string key = join_key(path, entry.key);
    const KeyRow* const row = case_key_table().find(key);
    collect(entry.value, key, row != nullptr && row->effects.names_input, paths);
  }
  if (!names_input && (node.items.empty() || node.items.front().kind != YamlNode::Kind::map)) return;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    collect(node.items[i], join_key(path, std::to_string(i)), names_input, paths);
  }
}

bool has_keys(const YamlNode& node) {
  return !node.entries.empty() || std::any_of(node.items.begin(), node.items.end(), has_keys);
}

/// Takes out of a node what the result of a command does not depend on, and puts keys in alphabetical order. Sections
/// that do not count themselves are kept for the keys in them that do.
void keep_dependencies(YamlNode& node, const std::string& path, const KeyTable& table, Commands command) {
  for (YamlEntry& entry : node.entries) keep_dependencies(entry.value, join_key(path, entry.key), table, command);
  std::erase_if(node.entries, [&](const YamlEntry& entry) {
    const KeyRow* const row = table.find(join_key(path, entry.key));
    const KeyEffects effects = row != nullptr ? row->effects : KeyEffects();
    if (entry.value.kind == YamlNode::Kind::removed || (effects.used_by & command) == 0) return true;
    return (effects.changes_result & command) == 0 && !has_keys(entry.value);
  });
  std::sort(node.entries.begin(), node.entries.end(),
            [](const YamlEntry& a, const YamlEntry& b) { return a.key < b.key; });
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (has_keys(node.items[i])) keep_dependencies(node.items[i], join_key(path, std::to_string(i)), table, command);
  }
}

Keys all_of(std::initializer_list<const Keys*> parts) {
  Keys all;
  for (const Keys* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace

KeyTable::KeyTable(std::vector<KeyRow> rows) : m_rows(std::move(rows)) {
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    const std::string parent = parent_of(m_rows[i].path), last = last_part_of(m_rows[i].path);
    const auto [section, is_new] = m_section_index.try_emplace(without_lists(parent), m_sections.size());
    if (is_new) m_sections.push_back({parent, {}});
    const auto add = [&, at = section->second](const std::string& key) {
      m_sections[at].keys.push_back(key);
      m_index[without_lists(join_key(parent, key))] = i;
    };
    if (last != "FIELD") {
      add(last);
      continue;
    }
    for (const FieldInfo& field : field_infos) add(std::string(field.name));
  }
}

const KeyRow* KeyTable::find(const std::string& path) const {
  const std::string key = without_lists(path);
  for (const std::string& name : {key, among_alike(key)}) {
    if (const auto found = m_index.find(name); found != m_index.end()) return &m_rows[found->second];
  }
  return nullptr;
}

const std::vector<std::string>& KeyTable::keys_of(const std::string& section) const {
  const auto found = m_section_index.find(among_alike(without_lists(section)));
  if (found == m_section_index.end()) throw std::logic_error("the table of keys has no section " + section);
  return m_sections[found->second].keys;
}

std::vector<const KeySection*> KeyTable::upper_sections() const {
  std::vector<const KeySection*> upper;
  for (const KeySection& section : m_sections) {
    if (std::count(section.path.begin(), section.path.end(), '.') <= 1) upper.push_back(&section);
  }
  return upper;
}

const KeyTable& case_key_table() {
  static const KeyTable all(all_of({&document_keys, &model_keys, &observation_keys, &execution_keys, &output_keys,
                                    &sensitivity_keys, &data_keys, &inversion_keys}));
  return all;
}

const std::vector<SectionLike>& sections_alike() {
  static const std::vector<SectionLike> alike = {
      {"model.mesh.easting", "model.mesh.upward"},    {"model.mesh.northing", "model.mesh.upward"},
      {"model.mesh.density", "model.voxels.density"}, {"inversion.data[]", "inversion.data"},
      {"inversion.start", "inversion.reference"},     {"inversion.weighting.distance", "inversion.weighting.depth"}};
  return alike;
}

const KeyTable& study_key_table() {
  static const KeyTable all(study_rows);
  return all;
}

std::vector<InputPath> input_paths(YamlNode& root) {
  std::vector<InputPath> paths;
  collect(root, "", false, paths);
  return paths;
}

std::string identity_of(YamlNode root, CaseUse use, const KeyTable& table) {
  keep_dependencies(root, "", table, command_of(use));
  return to_yaml(root);
}

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string without_lists(const std::string& path) {
  std::string result;
  for (std::string part : split(path, '.')) {
    if (part.ends_with("[]")) part.resize(part.size() - 2);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) result += join_key(result, part).substr(result.size());
  }
  return result;
}

std::string last_part_of(const std::string& path) {
  std::string last = path.substr(path.rfind('.') + 1);
  if (last.ends_with("[]")) last.resize(last.size() - 2);
  return last;
}

bool is_section(const std::vector<KeyRow>& rows, const std::string& path) {
  return std::any_of(rows.begin(), rows.end(), [&](const KeyRow& key) {
    return key.path.starts_with(path + ".") || key.path.starts_with(path + "[].");
  });
}

std::string whole_example(const KeyRow& key) {
  std::string text, indent, lead;
  std::vector<std::string> sections = split(key.path, '.');
  sections.pop_back();
  for (const std::string& section : sections) {
    text += indent + lead + last_part_of(section) + ":\n";
    indent += std::string(lead.size(), ' ') + "  ";
    lead = section.ends_with("[]") ? "- " : "";
  }
  for (const std::string& line : split(key.example, '\n')) {
    text += indent + lead + line + "\n";
    lead.assign(lead.size(), ' ');
  }
  return text;
}

}  // namespace prismfield
