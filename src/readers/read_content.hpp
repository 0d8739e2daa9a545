// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/cf_attributes.hpp"
#include "formats/input_file.hpp"
#include "readers/file_content.hpp"

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
  /// which field a column without name holds, which values of a model are meant, `magnetization` three of them; "":
  /// gz, the property that the file has
  std::string field;
  /// where the file does not state it
  std::optional<InducingField> inducing_field = {};
  /// what inactive cells hold in a file of plain values; unset: -100 in those of UBC's magnetic programs, in others
  /// none is inactive
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

/// Reads a file of any format. Throws InputError with every error found; options are named where they are the remedy.
[[nodiscard]] ReadFile read_content(const ReadSpec& spec);

}  // namespace prismfield
