// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/density_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "io/cell_model.hpp"
#include "io/file_formats.hpp"
#include "io/text_table.hpp"
#include "io/ubc.hpp"

namespace prismfield {
namespace {

/// Applies the file's unit and checks every density.
void to_kilograms(std::vector<double>& densities, const DensityFile& spec, const InputFile& file,
                  const CellCounts& counts, NanDensities nan) {
  ProblemList problems;
  LimitedProblems limited(problems, file.path.string());
  for (std::size_t i = 0; i < densities.size(); ++i) {
    double& density = densities[i];
    density *= spec.to_si.value_or(1);
    const bool is_allowed = (nan != NanDensities::refused && std::isnan(density)) ||
                            (nan == NanDensities::kept_with_infinities && std::isinf(density));
    if (std::isfinite(density) || is_allowed) continue;
    limited.add("NaN or infinite values", [&] {
      return Problem{file.path.string(), spec.what,
                     cell_name(counts, static_cast<std::int64_t>(i)) + " is NaN or infinite"};
    });
  }
  limited.finish();
  problems.throw_if_any();
}

std::vector<double> densities_from_text(const InputFile& file, const DensityFile& spec, const CellCounts& counts) {
  NumbersRequest request;
  request.count = counts[0] * counts[1] * counts[2];
  request.what = spec.what;
  std::vector<double> densities =
      read_values(file, request,
                  fmt::format("{} x {} x {} = {} cells need one each", counts[0], counts[1], counts[2], request.count));
  to_kilograms(densities, spec, file, counts, NanDensities::refused);
  return densities;
}

/// The numbering starts at the west, south, bottom corner: a file that carries coordinates running the other way would
/// be read upside down.
void check_ascending(const ArrayFile& arrays, const InputFile& file, const std::string& dataset,
                     const CellCounts& counts) {
  std::vector<std::string> dimensions = arrays.dimension_names(dataset);
  if (dimensions.size() == 4) dimensions.erase(dimensions.begin());
  if (dimensions.size() != 3) return;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string& name = dimensions[d];
    const std::size_t direction = 2 - d;
    for (std::size_t other = 0; other < 3; ++other) {
      if (other != direction && name == direction_names[other]) {
        throw file.error(fmt::format("has {} of dimensions ({}); (upward, northing, easting) are needed", dataset,
                                     fmt::join(dimensions, ", ")));
      }
    }
    const std::string group = dataset.substr(0, dataset.find_last_of('/') + 1);
    if (name.empty() || !arrays.has(group + name)) continue;
    if (arrays.shape(group + name) != std::vector<std::int64_t>{counts[direction]}) continue;
    const std::vector<double> coordinates = arrays.read(group + name);
    if (coordinates.size() > 1 && coordinates.front() > coordinates.back()) {
      throw file.error(
          fmt::format("has {} of coordinates {} that descend; cells are numbered from the west, south, "
                      "bottom corner",
                      dataset, name));
    }
  }
}

/// Of density_2, where density has epochs, that and 2; nothing for others.
std::optional<std::pair<std::string, std::int64_t>> epoch_of(const ArrayFile& arrays, const std::string& dataset) {
  const std::size_t cut = dataset.rfind('_');
  constexpr std::size_t most_digits = 6;
  if (cut == std::string::npos || cut + 1 == dataset.size() || dataset.size() - cut - 1 > most_digits) return {};
  if (dataset.find_first_not_of("0123456789", cut + 1) != std::string::npos) return {};
  const std::string all = dataset.substr(0, cut);
  const std::int64_t number = std::stoll(dataset.substr(cut + 1));
  if (number < 1 || number > epochs_of_cells(arrays, all)) return {};
  return std::pair{all, number};
}

std::vector<double> densities_from_arrays(const InputFile& file, const DensityFile& spec, const CellCounts& counts,
                                          NanDensities nan) {
  const ArrayFile arrays(file);
  const std::string name = spec.dataset.empty() ? spec.what : spec.dataset;
  std::string dataset = name.starts_with('/') ? name : "/" + name;
  const auto epoch = arrays.has(dataset) ? std::nullopt : epoch_of(arrays, dataset);
  if (epoch) dataset = epoch->first;
  if (!arrays.has(dataset)) {
    throw file.error(
        fmt::format("has no dataset {}; its datasets are: {}", dataset, shown_list(arrays.dataset_names("/"))));
  }
  std::vector<std::int64_t> shape = arrays.shape(dataset);
  if (epoch) shape.erase(shape.begin());
  const std::int64_t total = counts[0] * counts[1] * counts[2];
  const std::vector<std::int64_t> wanted = {counts[2], counts[1], counts[0]};
  if (const std::int64_t epochs = epochs_of_cells(arrays, dataset); !epoch && epochs > 0) {
    throw file.error(fmt::format("has {0} of {1}, the first of which is dataset: {0}_1; say which is meant", name,
                                 counted(epochs, "epoch")));
  }
  if (shape != wanted && shape != std::vector<std::int64_t>{total}) {
    throw file.error(fmt::format("has {} of shape {}; (upward, northing, easting) = {} or ({}) is needed", dataset,
                                 shape_text(shape), shape_text(wanted), total));
  }
  if (shape.size() == 3) check_ascending(arrays, file, dataset, counts);
  std::vector<double> densities = arrays.read(dataset);
  if (epoch) {
    const auto first = densities.begin() + (epoch->second - 1) * total;
    densities = std::vector<double>(first, first + total);
  }
  to_kilograms(densities, spec, file, counts, nan);
  return densities;
}

bool is_ubc_model(const InputFile& file, const DensityFile& spec) {
  return !spec.is_listed && format_of_suffix(file.path) == FileFormat::ubc_model && !is_array_file(file);
}

double ubc_to_si(const DensityFile& spec) {
  return spec.to_si.value_or(spec.what == "density" && info(FileFormat::ubc_model).in_grams ? 1000 : 1);
}

}  // namespace

std::string ubc_model_note(const InputFile& file, const DensityFile& spec) {
  if (!is_ubc_model(file, spec)) return "";
  return fmt::format("{}: '{}' is read as a UBC model, depth fastest, in {}", file.key, file.path.filename().string(),
                     ubc_to_si(spec) == 1 ? "kg/m3" : "g/cm3");
}

std::string cell_name(const CellCounts& counts, std::int64_t cell) {
  return fmt::format("cell {} (easting {}, northing {}, upward {}, from 0)", cell, cell % counts[0],
                     cell / counts[0] % counts[1], cell / counts[0] / counts[1]);
}

std::vector<double> read_densities(const InputFile& file, const DensityFile& spec, const CellCounts& counts,
                                   NanDensities nan) {
  if (is_array_file(file)) return densities_from_arrays(file, spec, counts, nan);
  if (!spec.dataset.empty()) {
    throw file.error("is text, which has no datasets; leave out the key dataset beside it");
  }
  if (is_ubc_model(file, spec)) return read_ubc_densities(file, ubc_to_si(spec), counts, spec.what);
  return densities_from_text(file, spec, counts);
}

}  // namespace prismfield
