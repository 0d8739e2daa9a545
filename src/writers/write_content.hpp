// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/cf_attributes.hpp"
#include "formats/output_file.hpp"
#include "readers/exchange_files.hpp"
#include "readers/file_content.hpp"

namespace prismfield {

/// A file to write.
struct WriteSpec {
  std::filesystem::path file;
  FileFormat format = FileFormat::hdf5;
  /// what says the format, for messages: --to or OUT
  std::string format_said_by = "--to";
  std::optional<double> density_to_si;
  /// unset: HDF5, tables and VTK keep the axes that were read, other formats have z down
  std::optional<Axes> axes;
  /// of points: the field that a format with one number a point holds; "": gz, or the only one
  std::string field;
  /// what inactive cells get in a file of plain values; unset: -100 in those of UBC's magnetic programs, else 0
  std::optional<double> inactive;
  /// the option that set `inactive`: no active cell may then have this number; "": it was not set
  std::string inactive_said_by;
  /// written where the format has a place for it
  std::optional<Crs> crs;
  std::string title;
  std::string command;
};

/// What was written.
struct WrittenFile {
  /// "32,000 cells"
  std::string what;
  /// unit, axes and order
  std::string how;
  std::vector<std::string> notes;
};

/// Writes content: under a temporary name in the same folder, renamed when complete. Cells become prisms and prisms
/// that fill a grid become cells where the format wants it. Throws InputError when the format cannot hold the content;
/// RunError, leaving neither a half-written file nor a changed old one.
[[nodiscard]] WrittenFile write_content(const WriteSpec& spec, const FileContent& content);

/// "32,000 cells (40 x 40 x 20), density -3 to 400 kg/m3", one line.
[[nodiscard]] std::string describe(const FileContent& content);

/// An HDF5 file in memory that netCDF-4 programs open: dimensions upward, northing, easting with centres and bounds,
/// and the values. Throws RunError.
[[nodiscard]] Hdf5File cell_arrays(const CellModel& model, const WriteSpec& spec);
/// The same of prisms: one-dimensional datasets west ... top and their properties.
[[nodiscard]] Hdf5File prism_arrays(const ListedPrisms& prisms, const WriteSpec& spec);
/// Writes prisms as a table with a line of names, densities over `density_to_si`: csv, or separated by blanks below
/// comments. Throws RunError.
void write_prism_table(TextOutput& out, const ListedPrisms& prisms, bool csv, double density_to_si,
                       const std::string& command);

/// An HDF5 file in memory as `run` writes it, without what only a run knows. Throws RunError.
[[nodiscard]] Hdf5File point_arrays(const PointFields& points, const WriteSpec& spec);

// UBC's and Tomofast-x's files.

/// Writes a mesh: reading it gives the same edges to 1 ulp. Throws RunError.
void write_ubc_mesh(TextOutput& out, const CellEdges& edges);

/// Writes a line a cell, Tomofast's below how many they are: values over `to_si` of each column, `inactive` for NaN.
/// Where a number of the file times to_si can be the value itself, it is. Throws RunError.
void write_cell_numbers(TextOutput& out, CellOrder order, const std::vector<CellNumbers>& columns,
                        const CellCounts& counts, double inactive);

/// Writes places, and of `field`, when they have it, the values with z pointing along `axes`, and the standard
/// deviations; a magnetic field below the lines that say what it is. Throws InputError when one of these is NaN, and
/// for magnetic data without an inducing field; RunError.
void write_ubc_data(TextOutput& out, const PointFields& points, Field field, Axes axes);

/// Writes a grid with nine columns, X fastest, then Y, layers from the top. Throws RunError.
void write_tomofast_grid(TextOutput& out, const CellEdges& edges);
/// Writes places and these fields, gz in m/s2, with z pointing along `axes`; 0 where they are none. Throws InputError
/// when one is NaN; RunError.
void write_tomofast_data(TextOutput& out, const PointFields& points, FieldList fields, Axes axes);

// Files of VTK's XML formats, for ParaView, VisIt and PyVista: numbers as bytes behind the XML, z up, lengths in
// metres.

/// A rectilinear grid (.vtr): each of the model's values a number a cell, NaN in inactive cells, components of a vector
/// as one array of three, and `active`, 1 or 0, where there are any. Throws RunError.
void write_vtr(TextOutput& out, const CellModel& model);

/// Prisms as voxels of an unstructured grid (.vtu) with their properties. Throws RunError.
void write_vtu(TextOutput& out, const ListedPrisms& prisms);

/// Points (.vtp), each a vertex, with their fields in units and axes of the output and their other columns of numbers.
/// Throws RunError.
void write_vtp(TextOutput& out, const PointFields& points);

}  // namespace prismfield
