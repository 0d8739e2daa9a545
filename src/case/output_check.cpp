// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/output_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>
#include <variant>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/temporary_file.hpp"
#include "case/make_model.hpp"
#include "writers/inversion_files.hpp"
#include "writers/result_file.hpp"

namespace prismfield {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  return fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal();
}

std::string why_not_writable(const fs::path& file) {
  std::error_code error;
  if (!file.has_filename()) return "names a folder; give the name of a file";
  const fs::path target = followed(file);
  const fs::path folder = folder_of(target);
  const auto folder_status = fs::status(folder, error);
  if (folder_status.type() == fs::file_type::not_found) {
    return fmt::format("the folder {} does not exist; make it first", folder.string());
  }
  if (folder_status.type() != fs::file_type::directory) return fmt::format("{} is not a folder", folder.string());
  const auto status = fs::symlink_status(target, error);
  if (fs::is_symlink(status)) {
    return fmt::format(
        "{} is a link that is not followed: another user's in a folder that all may write, or one to "
        "itself; give another name",
        target.string());
  }
  if (status.type() == fs::file_type::none) return fmt::format("{}: {}", file.string(), error.message());
  if (status.type() == fs::file_type::directory) {
    return fmt::format("{} is a folder; give the name of a file", file.string());
  }
  if (status.type() != fs::file_type::not_found) {
    if (status.type() != fs::file_type::regular) return fmt::format("{} is not a regular file", file.string());
    if (::access(target.c_str(), W_OK) != 0) {
      return fmt::format("{} exists and must not be replaced: {}", file.string(), std::strerror(errno));
    }
  }
  // Only making a file shows that one can be made: permissions, a read-only file system, a name that is too long.
  try {
    const TemporaryFile trial(target);
  } catch (const RunError& why) {
    return std::string(why.what()).substr(target.string().size() + 2);
  }
  return "";
}

namespace {

/// Of a file whose suffix names none of the kinds that are allowed.
std::string no_such_suffix(const fs::path& file, const std::string& kind, const std::string& allowed) {
  const std::string suffix = file.extension().string();
  return fmt::format(
      "{}; allowed: {}",
      suffix.empty() ? "has no suffix that says what to write" : fmt::format("no {} ends in '{}'", kind, suffix),
      allowed);
}

/// Adds an error of a key of the case.
using Add = std::function<void(const std::string& key, const std::string& what)>;

/// Whether what is computed can be written as the kind of file that the result's name asks for.
void check_kind(const Case& run, const fs::path& result, const Add& add) {
  const std::string key = "output.file";
  if (!result_kind(result)) {
    add(key, no_such_suffix(result, "kind of result",
                            ".nc or .h5 (netCDF-4, the same file), .csv and .xyz (tables), of which "
                            "prismfield convert makes others"));
  }
  const bool is_table = result_kind(result).value_or(ResultKind::hdf5) != ResultKind::hdf5;
  if (is_table && run.use == CaseUse::inversion) add(key, "is a table, which holds no model; write .h5 or .nc");
}

/// Why a model of the case's unknown is no content of a file, by its suffix; "" where it is.
std::string why_not_of_unknown(const Case& run, const fs::path& file) {
  if (!run.inversion) return "";
  std::string why = why_not_held(file, name(run.inversion->settings.unknown));
  const bool needs_field = model_format(file) == FileFormat::ubc_vectors;
  if (why.empty() && needs_field && inducing_field_of(run.magnetic.inducing_field).intensity == 0) {
    why = fmt::format("holds effective susceptibilities, M over |F0|/mu0, and the case has no inducing field; {}",
                      inducing_field_remedy);
  }
  return why;
}

/// Whether the files beside the model can hold it.
void check_also(const Case& run, const Add& add) {
  for (const AlsoFile& also : also_files(run)) {
    const auto format = model_format(also.file);
    if (!format) {
      add(also.key, no_such_suffix(also.file, "model beside output.file",
                                   ".vtr (VTK grid), .vtu (VTK voxels), .msh (UBC mesh), .den, .sus and .mod (UBC "
                                   "model), .fld (UBC vector model); output.file is the netCDF-4 file"));
    } else if (const std::string why = why_not_of_unknown(run, also.file); !why.empty()) {
      add(also.key, why);
    } else if (*format != FileFormat::vtr && *format != FileFormat::ubc_mesh && run.inversion &&
               run.inversion->n_epochs > 1) {
      add(also.key, fmt::format("holds one epoch, of which the data have {}; leave it out: prismfield convert with "
                                "--field {}_1 writes the first from output.file",
                                run.inversion->n_epochs, component_name(run.inversion->settings.unknown, 0)));
    }
  }
}

/// The key that names the figure: output.figure, or output.figure.file where that is a map.
std::string figure_key(const Case& run) {
  const std::string of_map = "output.figure.file";
  return run.locations.count(of_map) > 0 ? of_map : "output.figure";
}

}  // namespace

std::vector<AlsoFile> also_files(const Case& run) {
  std::vector<AlsoFile> files;
  if (run.use != CaseUse::inversion) return files;
  for (std::size_t i = 0; i < run.output.also.size(); ++i) {
    files.push_back({run.output.also[i], fmt::format("output.also.{}", i)});
  }
  return files;
}

std::optional<FileFormat> model_format(const fs::path& file) {
  const std::optional<FileFormat> format = format_of_suffix(file);
  if (!format) return std::nullopt;
  switch (*format) {
    case FileFormat::vtr:
    case FileFormat::vtu:
    case FileFormat::ubc_mesh:
    case FileFormat::ubc_model:
    case FileFormat::ubc_vectors: return format;
    default: return std::nullopt;
  }
}

std::string why_no_figure(const fs::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".png" || suffix == ".pdf" || suffix == ".svg") return "";
  return fmt::format("no kind of figure ends in {}; allowed: .png, .pdf, .svg", excerpt(suffix));
}

fs::path output_file(const Case& run) {
  if (!run.output.file.empty()) return run.output.file;
  return run.file.stem().string() + ".h5";
}

void check_output(const Case& run) {
  ProblemList problems;
  const Add add = [&](const std::string& key, const std::string& what) { problems.add(run.where(key), key, what); };
  const fs::path result = output_file(run);
  std::vector<AlsoFile> outputs{{result, "output.file"}};
  for (AlsoFile& also : also_files(run)) outputs.push_back(std::move(also));
  if (run.output.figure) outputs.push_back({*run.output.figure, figure_key(run)});
  if (run.output.checkpoint) outputs.push_back({run.output.checkpoint->file, "output.checkpoint.file"});
  if (!run.sensitivity.file.empty()) outputs.push_back({run.sensitivity.file, "sensitivity.file"});

  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [file, key] = outputs[i];
    if (const std::string why = why_not_writable(file); !why.empty()) add(key, why);
    for (const fs::path& input : run.input_files) {
      if (!input.empty() && same_file(file, input)) {
        add(key, fmt::format("would replace the input {}; choose another name", input.string()));
        break;
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_file(file, outputs[j].file)) continue;
      add(key, fmt::format("is the same file as {}; choose another name", outputs[j].key));
    }
  }
  check_kind(run, result, add);
  check_also(run, add);
  if (run.output.figure) {
    if (const std::string why = why_no_figure(*run.output.figure); !why.empty()) add(figure_key(run), why);
  }
  problems.throw_if_any();
}

namespace {

/// Adds the bodies of a model to the header. Nothing for a model with a background, and for very many bodies.
void tell_bodies(const Case& run, ResultHeader& header) {
  constexpr std::size_t most_told = 500;
  const auto* voxels = std::get_if<VoxelsSpec>(&run.model);
  if (voxels == nullptr || voxels->spheres.size() + voxels->boxes.size() > most_told) return;
  const auto* background = std::get_if<ConstantProperty>(&voxels->density);
  if (background == nullptr || background->value != 0) return;
  for (const Sphere& sphere : voxels->spheres) {
    header.model_spheres.insert(header.model_spheres.end(), {sphere.center[0], sphere.center[1], sphere.radius});
    header.model_spheres_upward.push_back(sphere.center[2]);
  }
  for (const Box& box : voxels->boxes) {
    header.model_boxes.insert(header.model_boxes.end(),
                              {box.easting.min, box.easting.max, box.northing.min, box.northing.max});
    header.model_boxes_upward.insert(header.model_boxes_upward.end(), {box.upward.min, box.upward.max});
  }
}

}  // namespace

ResultHeader result_header(const Case& run) {
  ResultHeader header;
  header.file = output_file(run);
  header.title = run.title.empty() ? run.file.stem().string() : run.title;
  header.command = "prismfield run " + run.file.string();
  header.axes = run.axes;
  header.crs = run.crs;
  header.gravitational_constant = run.gravitational_constant;
  if (!run.fields.of_magnetisation().empty()) header.magnetic = run.magnetic;
  header.case_text = run.text;
  header.noise = run.noise;
  tell_bodies(run, header);
  if (std::holds_alternative<TerrainSpec>(run.model) && run.fields.contains(Field::gz)) {
    header.n_variables = n_terrain_variables;
  }
  return header;
}

}  // namespace prismfield
