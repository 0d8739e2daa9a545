// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
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
#include "formats/input_file.hpp"
#include "formats/output_file.hpp"
#include "model/terrain.hpp"
#include "readers/file_content.hpp"
#include "readers/station_file.hpp"

namespace prismfield {

/// Noise of a result: standard deviation per field, in output units.
struct NoiseSpec {
  std::map<Field, double> sigma;
  std::uint64_t seed = 1;
};

/// Values at the points of a result, other than its fields.
struct PointVariable {
  std::string name, unit, long_name;
  /// writes the values of the points from `begin` on, in the unit and axes of the output; NaN for none
  std::function<void(std::int64_t begin, std::span<double> values)> read;
};

/// PointVariable::read of what has value(point).
template <class Value>
[[nodiscard]] auto point_by_point(Value value) {
  return [value = std::move(value)](std::int64_t begin, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(begin + static_cast<std::int64_t>(i));
  };
}

/// What a result states about its run.
struct ResultHeader : FileHeader {
  /// the file of the result
  std::filesystem::path file;
  std::optional<NoiseSpec> noise;
  /// more attributes of /performance
  std::vector<std::pair<std::string, double>> performance;
  /// columns of a station file, which must outlive the header; null for other points
  const StationColumns* stations = nullptr;
  /// written after the fields
  std::vector<PointVariable> variables = {};
  /// number of variables there will be, for the size of the result
  int n_variables = 0;
  /// smallest box around the model, an outline for figures; nothing where it is unknown
  std::optional<Bounds> model_bounds;
  /// bodies of a model of spheres and boxes only, from above: easting, northing, radius per sphere; west, east, south,
  /// north per box
  std::vector<double> model_spheres, model_boxes;
  /// height of each sphere's centre; bottom and top of each box
  std::vector<double> model_spheres_upward, model_boxes_upward;
};

/// One field as write_result() writes it, point by point, in units and axes of the output, with noise. The noise
/// depends on seed, field and point number only, so that other fields of a run do not change it. Refers to the values
/// of `result`.
[[nodiscard]] PointVariable output_field(const ResultHeader& header, const Fields& result, Field field);

/// The values of a variable at `n_points` points.
[[nodiscard]] std::vector<double> values_of(const PointVariable& variable, std::int64_t n_points);

/// All values of output_field().
[[nodiscard]] std::vector<double> output_values(const ResultHeader& header, const Fields& result, Field field);

/// The number of terrain_variables().
inline constexpr int n_terrain_variables = 3;
/// Variables of a terrain's result besides gz, the terrain's full effect. `terrain_height`: m, below the point, NaN
/// outside the terrain. `bouguer_slab`: mGal, sign and axes as gz, the infinite slab between reference and that height,
/// with water where the terrain has it. `terrain_correction`: mGal, attraction of the same slab cut at the DEM's edges,
/// minus gz without noise. They refer to all arguments except `header`, so that these must outlive them. The result
/// must have gz.
[[nodiscard]] std::vector<PointVariable> terrain_variables(const ResultHeader& header, const Points& points,
                                                           const Fields& result, const Terrain& terrain);

/// The format of a result's file; netCDF-4 is HDF5.
enum class ResultKind { hdf5, csv, xyz };

/// The format of a file name's suffix in any case: .nc or .h5, .csv, .xyz; nothing for another suffix.
[[nodiscard]] std::optional<ResultKind> result_kind(const std::filesystem::path& file);

/// Bytes of a result's file: for HDF5 to a per mille or 100 kB, for a table approximately.
[[nodiscard]] std::int64_t result_bytes(const ResultHeader& header, const Points& points, FieldList fields);

/// Times that the caller of write_result() has measured, for /performance.
struct RunTimes {
  /// reading and validation before forward(), seconds; setup of forward() is added
  double setup_seconds = 0;
  /// from the program's start to write_result(), seconds; the time of writing is added
  double total_seconds = 0;
};

/// Writes a result in the format of its suffix, .csv and .xyz as tables, otherwise HDF5 for netCDF-4 programs. It
/// writes a temporary file in the same folder and renames it when complete. It adds the noise and writes its sigma
/// after the fields. HDF5 takes memory for a field and the whole file, a table for a few lines. Only rank 0 calls it.
/// Returns warnings for users. Throws RunError; it then leaves no half-written file and an old file unchanged.
std::vector<std::string> write_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const RunTimes& times);

/// How a result is written as text. csv: a line of names, then values separated by commas (semicolons where the station
/// file has them), without comments. xyz: comments, the last of which names the columns, then values separated by
/// blanks, NaN for a missing number. Columns of text come last in xyz, because GMT reads no number after a text.
enum class TableStyle { csv, xyz };

/// Writes points as such a table, one row per point: fields unchanged, then other columns. Returns warnings for users.
/// Throws RunError.
[[nodiscard]] std::vector<std::string> write_point_table(TextOutput& out, TableStyle style, const PointFields& points,
                                                         const std::string& title, const std::string& command);

}  // namespace prismfield
