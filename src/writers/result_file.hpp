// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

#include "base/program_facts.hpp"
#include "base/random.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/file_content.hpp"
#include "formats/input_file.hpp"
#include "formats/output_file.hpp"
#include "model/terrain.hpp"
#include "readers/station_file.hpp"

namespace prismfield {

/// Noise of a result: its standard deviation per field in output units.
struct NoiseSpec {
  std::map<Field, double> sigma;
  std::uint64_t seed = 1;
};

/// Values at the points of a result that are no field of it.
struct PointVariable {
  std::string name, unit, long_name;
  /// of a point, in the unit and axes of the output; NaN where it has none
  std::function<double(std::int64_t)> value;
};

/// What a result says of the run that made it.
struct ResultHeader : FileHeader {
  /// where the result goes
  std::filesystem::path file;
  std::optional<NoiseSpec> noise;
  /// further attributes of /performance
  std::vector<std::pair<std::string, double>> performance;
  /// the columns of a station file, which a result keeps and which must outlive the header; null for other points
  const StationColumns* stations = nullptr;
  /// written behind the fields
  std::vector<PointVariable> variables = {};
  /// how many of them there will be, for the size of the result
  int n_variables = 0;
  /// the smallest box around the model, which figures outline; nothing where it is not told
  std::optional<Bounds> model_bounds;
  /// the bodies of a model that is nothing but spheres and boxes, as seen from above: easting, northing and radius of
  /// each sphere; west, east, south and north of each box
  std::vector<double> model_spheres, model_boxes;
  /// the height of each sphere's centre; bottom and top of each box
  std::vector<double> model_spheres_upward, model_boxes_upward;
};

/// One field as write_result writes it, point by point: units and axes of the output, the noise added. The normal
/// deviates depend on seed, field and point number only, so that the other fields of a run never change them. Refers to
/// the result's values.
[[nodiscard]] PointVariable output_field(const ResultHeader& header, const Fields& result, Field field);

/// A variable's values at `n_points` points.
[[nodiscard]] std::vector<double> values_of(const PointVariable& variable, std::int64_t n_points);

/// All values of an output_field().
[[nodiscard]] std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field);

/// Variables beside gz in the result of a terrain.
inline constexpr int n_terrain_variables = 3;
/// What a result of a terrain has beside its gz, which is the terrain's whole effect: `terrain_height` (m, below the
/// point, NaN outside the terrain), `bouguer_slab` (mGal, sign and axes as gz: the infinite slab between reference and
/// that height, with water where the terrain has it) and `terrain_correction` (mGal: the attraction, at the point, of
/// the same slab cut at the DEM's edges minus gz, without noise). They refer to all arguments but the header, which
/// must outlive them; the result must have gz.
[[nodiscard]] std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points,
                                                           const Fields& result, const Terrain& terrain);

/// What a result's file is; netCDF-4 is HDF5.
enum class ResultKind { hdf5, csv, xyz };

/// What the suffix of a file's name asks for: .nc or .h5, .csv, .xyz, in small letters or capitals; nothing for any
/// other.
[[nodiscard]] std::optional<ResultKind> result_kind(const std::filesystem::path& file);

/// Bytes that the file of a result takes: of HDF5 to a per mille or 100 kB, of a table about.
[[nodiscard]] std::int64_t result_bytes(const ResultHeader& header, const Points& points, FieldList fields);

/// What the caller of write_result has measured, for /performance.
struct RunTimes {
  /// reading and validating, before forward(); its own setup is added to this
  double setup_seconds = 0;
  /// from the start of the program to the call of write_result; the time of writing is added to this
  double total_seconds = 0;
};

/// Writes the result as its file's suffix says, .csv and .xyz as tables, else as HDF5 that netCDF-4 programs open:
/// under a temporary name in the same folder, renamed when complete. The noise is applied here and its sigma written
/// beside the fields. Called on rank 0 only. HDF5 takes memory for one field and for the whole file while it is
/// written, a table for a few lines. Returns what users should be told of. Throws RunError, leaving
/// neither a half-written file nor a changed old one.
std::vector<std::string> write_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const RunTimes& times);

/// How a result is written as text. csv: a line of names, then values separated by commas (by semicolons when the
/// station file's are), no comments. xyz: values separated by blanks below comments, the last of which names the
/// columns; columns with text come last there, since GMT reads no number behind a text, and a number that is missing is
/// NaN.
enum class TableStyle { csv, xyz };

/// Writes points as such a table: a row a point, their fields as they stand, their other columns. Returns what users
/// should be told of. Throws RunError.
[[nodiscard]] std::vector<std::string> write_point_table(TextOutput& out, TableStyle style, const PointFields& points,
                                                         const std::string& title, const std::string& command);

}  // namespace prismfield
