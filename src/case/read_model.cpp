// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/human_text.hpp"
#include "readers/exchange_files.hpp"
#include "readers/find_format.hpp"

namespace prismfield {
namespace {

/// The section model.
class ModelReader : public CaseReader {
public:
  ModelReader(const CaseReader& values, CaseUse use) : CaseReader(values), m_use(use) {}

  ModelSpec model(const Value& value) {
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"voxels", {}}, {"prisms", {}}, {"mesh", {}}, {"terrain", {}}});
    const auto v = chosen.empty() ? std::nullopt : section.find(chosen);
    if (!v) return {};
    if (chosen == "voxels") return voxels(*v);
    const bool has_cells = chosen == "mesh";
    if (!has_cells && m_use != CaseUse::forward) {
      problem(*v, fmt::format("{}: the cells of voxels or of a mesh are needed, prismfield run alone reads {}",
                              m_use == CaseUse::inversion ? "cannot be inverted"
                              : chosen == "prisms"        ? "have no sensitivities"
                                                          : "has no sensitivities",
                              chosen));
    }
    if (chosen == "prisms") return prisms(*v);
    if (chosen == "terrain") return terrain(*v);
    return mesh(*v);
  }

private:
  /// `name`: density, which may have a unit, or susceptibility
  PropertySpec property(const Value& value, const std::string& name) {
    if (value.node->kind != Kind::map) {
      return ConstantProperty{number(value, "a number, {random: [min, max], seed: 1} or {file: name}").value_or(0)};
    }
    const Section section(*this, value);
    const bool has_unit = name == property_names[density_property];
    Words of_file = {"dataset"};
    if (has_unit) of_file.emplace_back("density_unit");
    const std::string chosen = section.one_of({{"random", {"seed"}}, {"file", of_file}});
    if (chosen == "random") {
      RandomProperty random;
      if (const auto v = section.find("random")) random.range = range(*v, true).value_or(Range{});
      take(section, "seed", random.seed);
      return random;
    }
    DensityFile file;
    if (!chosen.empty()) file = density_file(section, has_unit ? "densities" : "susceptibilities", has_unit);
    file.what = name;
    return file;
  }

  /// [easting, northing, upward] or a map of inclination, declination and intensity, A/m
  std::array<double, 3> magnetization(const Value& value) {
    std::array<double, 3> components{};
    const std::string form =
        "[easting, northing, upward] in A/m or {inclination: ..., declination: ..., intensity: ...}";
    if (value.node->kind != Kind::map) {
      fixed_numbers(value, form, components);
      return components;
    }
    const Section section(*this, value);
    bool has_file = false;
    for (const std::string key : {"file", "dataset"}) {
      const auto v = section.find(key);
      if (v) problem(*v, "is for all cells, by model.voxels.magnetization; a body takes " + form);
      has_file = has_file || v;
    }
    if (has_file) return components;
    double intensity = 0;
    need(section, "intensity", "a number in A/m", intensity);
    return vector_along(section, intensity);
  }

  MagnetizationSpec magnetization_of_cells(const Value& value) {
    if (value.node->kind != Kind::map ||
        (value.node->find("file") == nullptr && value.node->find("dataset") == nullptr)) {
      return magnetization(value);
    }
    const Section section(*this, value);
    (void)section.one_of({{"inclination", {"declination", "intensity"}}, {"file", {"dataset"}}});
    DensityFile file = density_file(section, "magnetizations", false);
    file.what = "magnetization";
    return file;
  }

  /// The keys susceptibility and magnetization of cells.
  void magnetic_properties(const Section& section, CellProperties& cells) {
    if (const auto v = section.find("susceptibility")) cells.susceptibility = property(*v, "susceptibility");
    if (const auto v = section.find("magnetization")) cells.magnetization = magnetization_of_cells(*v);
  }

  /// What a sphere or box is made of.
  Properties body(const Section& section) {
    Properties properties{};
    const auto susceptibility = section.find("susceptibility"), remanence = section.find("magnetization");
    const auto density =
        susceptibility || remanence ? section.find("density") : section.need("density", "a number in kg/m3");
    if (density) properties[density_property] = number(*density).value_or(0);
    if (susceptibility) properties[susceptibility_property] = number(*susceptibility).value_or(0);
    if (remanence) std::ranges::copy(magnetization(*remanence), properties.begin() + magnetization_property);
    return properties;
  }

  std::optional<EdgesSpec> edges(const Value& value, bool is_upward) {
    if (value.node->kind == Kind::list) {
      return axis(value, true);
    }
    if (value.node->kind != Kind::map) {
      return expects(value,
                     "[min, max, cells], {edges: [...]}, {origin: 0, widths: [...]}, {file: name} or {random_widths: "
                     "[min, max], cells: 10}");
    }
    const Section section(*this, value);
    const std::string chosen = section.one_of(
        {{"edges", {}}, {"widths", {"origin"}}, {"file", {}}, {"random_widths", {"cells", "origin", "top", "seed"}}});
    if (chosen == "edges") {
      const auto v = section.find("edges");
      const auto list = v ? numbers(*v, "a list of cell edges") : std::nullopt;
      if (!list) return std::nullopt;
      if (list->size() < 2) problem(*v, fmt::format("has {} values; two edges or more are expected", list->size()));
      for (std::size_t i = 1; i < list->size(); ++i) {
        if ((*list)[i] > (*list)[i - 1]) continue;
        problem(item(*v, i), fmt::format("is {} after {}; edges must increase", (*list)[i], (*list)[i - 1]));
        break;
      }
      return EdgesList{*list};
    }
    if (chosen == "widths") {
      EdgesWidths widths;
      need(section, "origin", "where the first cell begins", widths.origin);
      const auto v = section.find("widths");
      const auto list = v ? numbers(*v, "a list of cell widths") : std::nullopt;
      if (!list) return std::nullopt;
      if (list->empty()) problem(*v, "is an empty list; one width or more is expected");
      for (std::size_t i = 0; i < list->size(); ++i) {
        if ((*list)[i] > 0) continue;
        problem(item(*v, i), fmt::format("is {}; a width above 0 is expected", (*list)[i]));
        break;
      }
      widths.widths = *list;
      return widths;
    }
    if (chosen == "file") {
      EdgesFile file;
      take(section, "file", file.file);
      return file;
    }
    if (chosen != "random_widths") return std::nullopt;
    EdgesRandom random;
    if (const auto v = section.find("random_widths")) {
      if (const auto widths = range(*v, true)) {
        random.widths = *widths;
        if (!(widths->min > 0)) problem(*v, fmt::format("has min {}; widths must be above 0", widths->min));
      }
    }
    need(section, "cells", "the number of cells", random.cells);
    take(section, "origin", random.origin);
    take(section, "seed", random.seed);
    if (const auto v = section.find("top")) {
      random.top = number(*v);
      if (!is_upward) problem(*v, "is for upward only; write origin");
      if (section.has("origin")) problem(*v, "is written beside origin; exactly one of the two is allowed");
    }
    return random;
  }

  void sphere(const Value& value, VoxelsSpec& voxels) {
    const Section section(*this, value);
    Sphere sphere;
    if (const auto v = section.need("center", "[easting, northing, upward]")) {
      fixed_numbers(*v, "[easting, northing, upward]", sphere.center);
    }
    need(section, "radius", "a length above 0", sphere.radius);
    sphere.properties = body(section);
    voxels.spheres.push_back(sphere);
  }

  void box(const Value& value, VoxelsSpec& voxels) {
    const Section section(*this, value);
    Box box;
    if (const auto v = section.need("easting", "[min, max]")) box.easting = range(*v, false).value_or(Range{});
    if (const auto v = section.need("northing", "[min, max]")) box.northing = range(*v, false).value_or(Range{});
    if (const auto v = section.need("upward", "[min, max]")) box.upward = range(*v, false).value_or(Range{});
    box.properties = body(section);
    voxels.boxes.push_back(box);
  }

  Padding padding(const Value& value) {
    const Section section(*this, value);
    Padding result;
    need(section, "cells", "a whole number such as 8", result.cells);
    take(section, "growth", result.growth);
    return result;
  }

  VoxelsSpec voxels(const Value& value) {
    const Section section(*this, value);
    VoxelsSpec result;
    if (const auto v = section.need("easting", "[min, max, cells]")) result.easting = axis(*v, true).value_or(Axis{});
    if (const auto v = section.need("northing", "[min, max, cells]")) result.northing = axis(*v, true).value_or(Axis{});
    if (const auto v = section.need("upward", "[min, max, cells]")) result.upward = axis(*v, true).value_or(Axis{});
    if (const auto v = section.find("padding")) result.padding = padding(*v);
    const std::int64_t more = result.padding.cells;
    countable(value, {result.easting.count + 2 * more, result.northing.count + 2 * more, result.upward.count + more});
    if (const auto v = section.find("density")) result.density = property(*v, "density");
    magnetic_properties(section, result);
    if (const auto v = section.find("spheres")) {
      each(*v, "a list of {center: [...], radius: ..., density: ...}", [&](const Value& one) { sphere(one, result); });
    }
    if (const auto v = section.find("boxes")) {
      each(*v, "a list of {easting: [...], northing: [...], upward: [...], density: ...}",
           [&](const Value& one) { box(one, result); });
    }
    return result;
  }

  void prism_columns(const Value& value, PrismsSpec& prisms) {
    // Each quantity under its own name and the papers'.
    static const std::vector<std::pair<std::string, std::string>> quantities = [] {
      std::vector<std::pair<std::string, std::string>> all = {{"west", "x1"},  {"east", "x2"},   {"south", "y1"},
                                                              {"north", "y2"}, {"bottom", "z1"}, {"top", "z2"}};
      for (const char* const name : property_names) all.emplace_back(name, name);
      return all;
    }();
    static const std::string form =
        "a list of the columns west, east, south, north, bottom, top (or x1, x2, y1, y2, z1, z2) and density, or "
        "susceptibility and magnetization_easting, _northing and _upward, in the file's order";
    if (!is_list(value, form)) return;
    Words known;
    for (const auto& [name, papers_name] : quantities) {
      known.push_back(name);
      if (papers_name != name) known.push_back(papers_name);
    }
    std::vector<bool> seen(quantities.size(), false);
    bool all_known = true;
    for (std::size_t i = 0; i < value.node->items.size(); ++i) {
      const Value column = item(value, i);
      const auto name = words(column, "the name of a column");
      if (!name) {
        all_known = false;
        continue;
      }
      const auto found = std::find_if(quantities.begin(), quantities.end(),
                                      [&](const auto& q) { return q.first == *name || q.second == *name; });
      if (found == quantities.end()) {
        problem(column, fmt::format("is {}, no known column{}", excerpt(*name), allowed(*name, known)));
        all_known = false;
        continue;
      }
      const auto index = static_cast<std::size_t>(found - quantities.begin());
      if (seen[index]) problem(column, fmt::format("is {}, which an earlier column holds already", excerpt(*name)));
      seen[index] = true;
      prisms.columns.push_back(*name);
    }
    const auto first_property = seen.begin() + n_face_columns;
    const bool has_property = std::find(first_property, seen.end(), true) != seen.end();
    const std::size_t n_needed = n_face_columns + (has_property ? 0 : 1);
    for (std::size_t i = 0; all_known && i < n_needed; ++i) {
      if (!seen[i]) problem(value, fmt::format("lacks {}; {} is expected", quantities[i].first, form));
    }
  }

  PrismsSpec prisms(const Value& value) {
    const Section section(*this, value);
    PrismsSpec result;
    need(section, "file", "the name of a CSV or HDF5 file", result.file);
    take_words(section, "group", "the name of an HDF5 group", result.group);
    if (const auto v = section.find("columns")) prism_columns(*v, result);
    take(section, "axis_z", result.z_down, z_choices);
    take(section, "length_unit", result.length_to_si, std::array{Choice<double>{"m", 1}, Choice<double>{"km", 1000}});
    result.density_to_si = density_factor(section).value_or(1);
    take(section, "allow_overlap", result.allow_overlap);
    return result;
  }

  /// Whether a value of mesh names a UBC mesh as if that were all it takes, which it adds as a problem.
  bool is_ubc_without_key(const Value& value) {
    const YamlNode* const file = value.node->kind == Kind::map ? value.node->find("file") : value.node;
    if (file == nullptr || file->kind != Kind::scalar || file->text.empty()) return false;
    const std::string suffix = lower_case(std::filesystem::path(file->text).extension().string());
    const bool is_called_mesh = suffix == ".msh" || suffix == ".mesh";
    if (!is_called_mesh && ubc_mesh_in(InputFile{in_folder(file->text), "", ""}) == UbcMesh::none) return false;
    const YamlNode* density = value.node->kind == Kind::map ? value.node->find("density") : nullptr;
    if (density != nullptr && density->kind == Kind::map) density = density->find("file");
    const bool is_named = density != nullptr && density->kind == Kind::scalar && !density->text.empty();
    problem(value, fmt::format("names {}, a UBC mesh; write ubc: {{mesh: {}, density: {}}} in the place of {}",
                               excerpt(file->text), shown(file->text), is_named ? shown(density->text) : "...",
                               value.node == file ? "the name" : "these keys"));
    return true;
  }

  MeshSpec mesh(const Value& value) {
    if (is_ubc_without_key(value)) return {};
    const Section section(*this, value);
    MeshSpec result;
    if (const auto ubc = section.find("ubc")) {
      const Section files(*this, *ubc);
      result.ubc.emplace();
      need(files, "mesh", "the name of a UBC mesh file", result.ubc->mesh);
      take(files, "susceptibility", result.ubc->susceptibility);
      take(files, "magnetization", result.ubc->magnetization);
      const bool has_other = files.has("susceptibility") || files.has("magnetization");
      if (const auto v = density_of(files, "the name of a UBC density file", has_other)) {
        result.ubc->density = path(*v).value_or("");
      }
      result.ubc->density_to_si = density_factor(files).value_or(result.ubc->density_to_si);
      take(files, "inactive", result.ubc->inactive);
      for (const std::string key : {"easting", "northing", "upward", "density", "susceptibility", "magnetization"}) {
        if (const auto v = section.find(key)) problem(*v, "is written beside ubc, which holds it already");
      }
      return result;
    }
    static const std::string form = "[min, max, cells] or a map of edges or widths";
    if (const auto v = section.need("easting", form)) result.easting = edges(*v, false).value_or(EdgesSpec{});
    if (const auto v = section.need("northing", form)) result.northing = edges(*v, false).value_or(EdgesSpec{});
    if (const auto v = section.need("upward", form)) result.upward = edges(*v, true).value_or(EdgesSpec{});
    magnetic_properties(section, result);
    const bool has_other = section.has("susceptibility") || section.has("magnetization");
    if (const auto v = density_of(section, "a number, {random: [min, max]} or {file: name}", has_other)) {
      result.density = property(*v, "density");
    }
    return result;
  }

  TerrainSpec terrain(const Value& value) {
    const Section section(*this, value);
    TerrainSpec result;
    need(section, "file", "the name of a digital elevation model", result.file);
    take_words(section, "variable", "the name of a variable", result.variable);
    TerrainMasses& masses = result.masses;
    take(section, "reference", masses.reference);
    take(section, "sea_level", masses.sea_level);
    take(section, "water_density", masses.water_density);
    const auto density = section.find("density");
    if (!density) return result;
    if (density->node->kind != Kind::map) {
      masses.density = number(*density, "a number or {file: name}").value_or(masses.density);
      return result;
    }
    const Section file(*this, *density);
    result.density.emplace();
    need(file, "file", "the name of a grid on the nodes of the heights", result.density->file);
    take_words(file, "variable", "the name of a variable", result.density->variable);
    result.density->to_si = density_factor(file).value_or(1);
    return result;
  }

  /// a density, which an inversion looks for, and which another property can stand for
  std::optional<Value> density_of(const Section& section, const std::string& expected, bool has_other) const {
    const bool is_needed = m_use != CaseUse::inversion && !has_other;
    return is_needed ? section.need("density", expected) : section.find("density");
  }

  CaseUse m_use;
};

}  // namespace

ModelSpec read_model(const CaseReader& values, const Value& value, CaseUse use) {
  return ModelReader(values, use).model(value);
}

}  // namespace prismfield
