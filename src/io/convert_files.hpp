// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/fields.hpp>

#include "io/cf_attributes.hpp"
#include "io/file_content.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// A file to read, and what it does not say itself.
struct ReadSpec {
  InputFile file;
  /// unset: found by suffix and content
  std::optional<FileFormat> format;
  /// the mesh that a file of values belongs to: UBC mesh, Tomofast grid or a model in HDF5
  std::optional<InputFile> mesh;
  /// factor of densities to kg/m3; unset: as usual for the format
  std::optional<double> density_to_si;
  /// along which z gz, gxz and gyz point; unset: as the file says, else down
  std::optional<Axes> axes;
  /// which field a column without name holds, which values of a model are meant; "": gz, density
  std::string field;
  /// what inactive cells hold in a file of plain values; unset: none is inactive
  std::optional<double> inactive;
};

/// What was read, and what to say about it.
struct ReadFile {
  FileFormat format = FileFormat::hdf5;
  FileContent content;
  /// factor of the file's densities to kg/m3
  double density_to_si = 1;
  /// the reference system that the file states
  std::optional<Crs> crs;
  /// what else it has at its points, by name: not read
  std::vector<std::string> unread;
  std::vector<std::string> notes;
};

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
  /// what inactive cells get in a file of plain values
  double inactive = 0;
  /// the option that says so, by which the number has to tell them from the others; "": it has not
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

/// Reads a file of any format. Throws InputError with every error found; options are named where they are the remedy.
[[nodiscard]] ReadFile read_content(const ReadSpec& spec);

/// Writes content: under a temporary name in the same folder, renamed when complete. Cells become prisms and prisms
/// that fill a grid become cells where the format wants it. Throws InputError when the format cannot hold the content;
/// RunError, leaving neither a half-written file nor a changed old one.
[[nodiscard]] WrittenFile write_content(const WriteSpec& spec, const FileContent& content);

/// "32,000 cells (40 x 40 x 20), density -3 to 400 kg/m3", one line.
[[nodiscard]] std::string describe(const FileContent& content);

}  // namespace prismfield
