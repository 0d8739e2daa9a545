// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"

namespace prismfield {

std::vector<std::filesystem::path> Case::input_files() const {
  namespace fs = std::filesystem;
  std::vector<fs::path> files{file};
  const auto add_density = [&](const DensitySpec& density) {
    if (const auto* array = std::get_if<DensityFile>(&density)) files.push_back(array->file);
  };
  if (const auto* prisms = std::get_if<PrismsSpec>(&model)) files.push_back(prisms->file);
  if (const auto* voxels = std::get_if<VoxelsSpec>(&model)) add_density(voxels->density);
  if (const auto* mesh = std::get_if<MeshSpec>(&model)) {
    add_density(mesh->density);
    for (const EdgesSpec* edges : {&mesh->easting, &mesh->northing, &mesh->upward}) {
      if (const auto* list = std::get_if<EdgesFile>(edges)) files.push_back(list->file);
    }
    if (mesh->ubc) {
      files.push_back(mesh->ubc->mesh);
      if (!mesh->ubc->density.empty()) files.push_back(mesh->ubc->density);
    }
  }
  if (const auto* terrain = std::get_if<TerrainSpec>(&model)) {
    files.push_back(terrain->file);
    if (terrain->density) files.push_back(terrain->density->file);
  }
  const auto add_surface = [&](const AboveTerrain& above) {
    if (above.dem) files.push_back(above.dem->file);
  };
  if (const auto* grid = std::get_if<GridSpec>(&observations)) {
    if (grid->dem) files.push_back(grid->dem->file);
    if (const auto* above = std::get_if<AboveTerrain>(&grid->upward)) add_surface(*above);
    if (const auto* heights = std::get_if<fs::path>(&grid->upward)) files.push_back(*heights);
  }
  if (const auto* stations = std::get_if<StationsFile>(&observations)) {
    files.push_back(stations->file);
    if (const auto* above = std::get_if<AboveTerrain>(&stations->upward)) add_surface(*above);
  }
  if (inversion) {
    for (const ObservedDataFile& data : inversion->data) files.push_back(data.file);
    for (const auto& density : {std::optional(inversion->reference), inversion->start}) {
      if (const auto* named = density ? std::get_if<DensityFile>(&*density) : nullptr) files.push_back(named->file);
    }
    for (const auto& values : {inversion->bounds, inversion->cell_weights, inversion->active}) {
      if (values) files.push_back(values->file);
    }
    if (inversion->topography) files.push_back(inversion->topography->file);
  }
  return files;
}

std::string Case::where(const std::string& key) const {
  for (std::string path = key; !path.empty();) {
    if (const auto found = locations.find(path); found != locations.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    path = dot == std::string::npos ? std::string() : path.substr(0, dot);
  }
  const auto found = locations.find("");
  return found != locations.end() ? found->second : file.string();
}

}  // namespace prismfield
