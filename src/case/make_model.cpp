// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/make_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "case/case.hpp"
#include "model/edges.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"
#include "model/voxels.hpp"
#include "parallel/agreement.hpp"
#include "readers/cell_file.hpp"
#include "readers/exchange_files.hpp"
#include "readers/prism_file.hpp"
#include "readers/surface_file.hpp"

namespace prismfield {

const PrismSource& Model::source() const noexcept {
  return std::visit([](const auto& prisms) -> const PrismSource& { return *prisms; }, m_prisms);
}

const Cells* Model::cells() const noexcept {
  const auto* cells = std::get_if<std::unique_ptr<Cells>>(&m_prisms);
  return cells == nullptr ? nullptr : cells->get();
}

const Terrain* Model::terrain() const noexcept {
  const auto* terrain = std::get_if<std::unique_ptr<Terrain>>(&m_prisms);
  return terrain == nullptr ? nullptr : terrain->get();
}

std::string Model::description() const {
  return std::visit([](const auto& prisms) { return prisms->description(); }, m_prisms);
}

PropertyRanges Model::ranges() const noexcept {
  if (const Terrain* const of = terrain()) return {of->densities(), {}, {}};
  const Cells* const of_cells = cells();
  return of_cells != nullptr ? of_cells->ranges() : std::get<std::unique_ptr<ListedSource>>(m_prisms)->ranges();
}

const std::vector<std::string>& Model::warnings() const noexcept {
  return std::visit([](const auto& prisms) -> const std::vector<std::string>& { return prisms->warnings(); }, m_prisms);
}

std::vector<std::string> Model::notes() const {
  return cells() == nullptr ? std::vector<std::string>() : cells()->notes();
}

std::int64_t Model::memory_bytes() const noexcept {
  return std::visit([](const auto& prisms) { return prisms->memory_bytes(); }, m_prisms);
}

std::int64_t Model::peak_memory_bytes() const noexcept {
  return std::visit([](const auto& prisms) { return prisms->peak_memory_bytes(); }, m_prisms);
}

Digest Model::digest() const {
  if (const auto* list = std::get_if<std::unique_ptr<ListedSource>>(&m_prisms)) {
    return (*list)->digest();
  }
  Checksum checksum;
  if (const Terrain* const of = terrain()) {
    const TerrainContent& content = of->content();
    checksum.add(content.heights.easting);
    checksum.add(content.heights.northing);
    for (const NodeValues* values : {&content.heights.values, &content.densities}) {
      checksum.add_bytes(values->single().data(), values->single().size() * sizeof(float));
      checksum.add(values->full());
    }
    return checksum.digest();
  }
  const CellsContent& cells = std::get<std::unique_ptr<Cells>>(m_prisms)->content();
  checksum.add(cells.size);
  // voxels have those of the case
  if (cells.kind == "mesh") {
    for (const std::vector<double>& edges : cells.edges) checksum.add(edges);
  }
  for (const PropertyFill& fill : cells.background) checksum.add(fill.values);
  return checksum.digest();
}

void Model::set_induced(const std::array<double, 3>& induced) noexcept {
  if (auto* const list = std::get_if<std::unique_ptr<ListedSource>>(&m_prisms)) (*list)->set_induced(induced);
  if (auto* const of_cells = std::get_if<std::unique_ptr<Cells>>(&m_prisms)) (*of_cells)->set_induced(induced);
}

std::vector<double> Model::susceptibilities() const {
  if (const auto* list = std::get_if<std::unique_ptr<ListedSource>>(&m_prisms)) {
    return (*list)->listed().susceptibility;
  }
  std::vector<double> values;
  const Cells* const of_cells = cells();
  if (of_cells != nullptr && ranges().has_susceptibility())
    of_cells->read_susceptibilities({0, source().size()}, values);
  return values;
}

namespace {

std::vector<double> edges_of(const Case& run, const EdgesSpec& spec, std::size_t direction, ProblemList& problems) {
  const auto make = [&](const auto& edges) {
    using Spec = std::decay_t<decltype(edges)>;
    if constexpr (std::is_same_v<Spec, EdgesFile>) {
      const std::string name = direction_names[direction];
      return read_edges(input_file(run, edges.file, "model.mesh." + name + ".file"), name, problems);
    } else {
      return make_edges(edges, direction, problems);
    }
  };
  return std::visit(make, spec);
}

/// True when a model's edges cannot be made from the case alone.
bool edges_in_files(const ModelSpec& model) {
  const auto* mesh = std::get_if<MeshSpec>(&model);
  if (mesh == nullptr) return false;
  const auto in_file = [](const EdgesSpec& edges) { return std::holds_alternative<EdgesFile>(edges); };
  return mesh->ubc || in_file(mesh->easting) || in_file(mesh->northing) || in_file(mesh->upward);
}

/// The cells of a mesh that is no UBC mesh; reads the files that its edges name. Throws InputError with every error
/// found.
CellGrid mesh_grid(const Case& run, const MeshSpec& spec) {
  ProblemList problems;
  CellGrid grid;
  const std::array<const EdgesSpec*, 3> specs = {&spec.easting, &spec.northing, &spec.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    problems.collect([&] { grid.edges[d] = edges_of(run, *specs[d], d, problems); });
  }
  problems.throw_if_any();
  for (std::size_t d = 0; d < 3; ++d) {
    if (std::holds_alternative<Axis>(*specs[d])) grid.rounding[d] = rounding_of_edges(grid.edges[d]);
  }
  return grid;
}

/// Edges with those of the padding before them and, unless the last is the top, behind them.
std::vector<double> padded(const std::vector<double>& edges, const Padding& padding, bool is_upward) {
  std::vector<double> before, behind;
  double width = edges[1] - edges[0], last = edges[edges.size() - 1] - edges[edges.size() - 2];
  for (std::int64_t i = 0; i < padding.cells; ++i) {
    width *= padding.growth;
    last *= padding.growth;
    before.push_back(-width);
    behind.push_back(last);
  }
  const std::vector<double> outwards = edges_from_widths(edges.front(), before);
  std::vector<double> all(outwards.rbegin(), outwards.rend());
  all.insert(all.end(), edges.begin() + 1, edges.end());
  if (is_upward) return all;
  const std::vector<double> further = edges_from_widths(edges.back(), behind);
  all.insert(all.end(), further.begin() + 1, further.end());
  return all;
}

CellGrid unchecked_grid(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) {
    CellGrid grid{voxel_edges(*voxels), {}};
    grid.rounding = rounding_of_voxels(grid.edges);
    for (std::size_t d = 0; d < 3; ++d) grid.edges[d] = padded(grid.edges[d], voxels->padding, d == 2);
    return grid;
  }
  const auto* mesh = std::get_if<MeshSpec>(&run.model);
  if (mesh == nullptr) throw InputError("", "model", "is missing; voxels or mesh is needed");
  if (!mesh->ubc) return mesh_grid(run, *mesh);
  return {read_ubc_mesh(input_file(run, mesh->ubc->mesh, "model.mesh.ubc.mesh")), {}};
}

bool names_file(const PropertySpec& property) { return std::holds_alternative<DensityFile>(property); }

bool names_file(const CellProperties& cells) {
  return names_file(cells.density) || names_file(cells.susceptibility) ||
         std::holds_alternative<DensityFile>(cells.magnetization);
}

/// True when the cells of a model cannot be made from the case alone.
bool names_file(const ModelSpec& model) {
  if (edges_in_files(model)) return true;
  if (const auto* voxels = std::get_if<VoxelsSpec>(&model)) return names_file(*voxels);
  const auto* mesh = std::get_if<MeshSpec>(&model);
  return mesh != nullptr && names_file(*mesh);
}

PropertyFill listed_fill(std::vector<double> values) {
  PropertyFill fill;
  fill.kind = PropertyFill::Kind::listed;
  fill.values = std::move(values);
  return fill;
}

/// Makes the cells 0 in which an array file has no value, as models of inversions have none in inactive cells, and
/// says how many they are.
void fill_inactive(std::span<std::vector<double>> columns, const InputFile& file, std::vector<std::string>& notes) {
  std::int64_t most = 0;
  for (std::vector<double>& values : columns) {
    std::int64_t filled = 0;
    for (double& value : values) {
      if (!std::isnan(value)) continue;
      value = 0;
      ++filled;
    }
    most = std::max(most, filled);
  }
  if (most == 0) return;
  notes.push_back(fmt::format("{}: {} of {} of '{}' left out: they are inactive there, NaN", file.key, grouped(most),
                              counted(std::ssize(columns.front()), "cell"), file.path.filename().string()));
}

/// What is to be said of cells that are being made.
struct Remarks {
  std::vector<std::string> notes, warnings;

  void add_to(Cells& cells) && {
    for (std::string& note : notes) cells.add_note(std::move(note));
    for (std::string& warning : warnings) cells.add_warning(std::move(warning));
  }
};

constexpr const char* if_air = ": if that marks inactive cells, such as air, write ";

/// What a key of the case, "model.voxels.density", asks for; what is to be said of it is added to `remarks`.
PropertyFill property_fill(const Case& run, const std::string& key, const PropertySpec& spec, const CellEdges& edges,
                           Remarks& remarks) {
  if (const auto* named = std::get_if<DensityFile>(&spec)) {
    const InputFile file = input_file(run, named->file, key + ".file");
    if (std::string note = ubc_model_note(file, *named); !note.empty()) remarks.notes.push_back(std::move(note));
    std::vector<double> values = read_densities(file, *named, edges, NanDensities::kept_where_marked);
    // values beyond any rock are reported by their range
    const auto air = find_air_mark(values, key.ends_with("density") ? density_property : susceptibility_property, 1);
    if (air && !air->is_certain) {
      remarks.warnings.push_back(
          fmt::format("{}: '{}' {}{}0 there", file.key, file.path.filename().string(), air->text, if_air));
    } else if (const std::string dummies = dummies_in({&values}); !air && !dummies.empty()) {
      remarks.warnings.push_back(
          fmt::format("{}: '{}' {}{}0 there", file.key, file.path.filename().string(), dummies, if_air));
    }
    fill_inactive(std::span(&values, 1), file, remarks.notes);
    return listed_fill(std::move(values));
  }
  PropertyFill fill;
  if (const auto* constant = std::get_if<ConstantProperty>(&spec)) {
    fill.value = constant->value;
    return fill;
  }
  const auto& random = std::get<RandomProperty>(spec);
  if (!(random.range.min <= random.range.max)) {
    throw InputError("", key + ".random", "the first value is above the second");
  }
  if (random.range.min == random.range.max) {
    fill.value = random.range.min;
  } else {
    fill.kind = PropertyFill::Kind::random;
    fill.range = random.range;
    fill.seed = random.seed;
  }
  return fill;
}

/// The magnetisation of cells along easting, northing and upward, A/m.
using Vectors = std::array<std::vector<double>, 3>;

/// Throws InputError where a vector model, to_si A/m a number, has the mark of UBC's inactive cells; `first`: what to
/// do about it before that is said.
void check_vectors_mark(const InputFile& file, const Vectors& vectors, double to_si, const std::string& first) {
  const std::vector<CellNumbers> numbers = numbers_of(vectors, to_si);
  for (const CellNumbers& component : numbers) {
    const std::string dummies = dummies_in(component);
    if (!dummies.empty()) throw file.error(fmt::format("{}; write the vector of that cell, or 0 0 0", dummies));
  }
  const std::int64_t inactive = count_mark(numbers, ubc_inactive);
  if (inactive == 0) return;
  const std::string text = number_text(ubc_inactive);
  throw file.error(
      fmt::format("has {0} {0} {0} in {1}: if that marks inactive cells, such as air, {2}write inactive: {0} beside it",
                  text, counted(inactive, "cell"), first));
}

/// A/m of an effective susceptibility of 1, in which UBC's vector models are. Throws InputError where no field is
/// stated.
double effective_unit(const Case& run, const InputFile& file) {
  const auto [easting, northing, upward] = induced_magnetization(run.magnetic);
  const double unit = std::hypot(easting, northing, upward);
  if (unit > 0) return unit;
  throw file.error(
      fmt::format("holds effective susceptibilities, M over |F0|/mu0, and the case has no inducing field; {}",
                  inducing_field_remedy));
}

/// The same of all properties; `key`: "model.voxels".
CellBackground cell_background(const Case& run, const std::string& key, const CellProperties& spec,
                               const CellEdges& edges, Remarks& remarks) {
  CellBackground background;
  background[density_property] = property_fill(run, key + ".density", spec.density, edges, remarks);
  background[susceptibility_property] =
      property_fill(run, key + ".susceptibility", spec.susceptibility, edges, remarks);
  PropertyFill* const magnetization = &background[magnetization_property];
  if (const auto* named = std::get_if<DensityFile>(&spec.magnetization)) {
    Vectors components = read_cell_magnetizations(run, input_file(run, named->file, key + ".magnetization.file"),
                                                  *named, edges, remarks.notes);
    for (std::size_t d = 0; d < 3; ++d) magnetization[d] = listed_fill(std::move(components[d]));
  } else {
    for (std::size_t d = 0; d < 3; ++d) magnetization[d].value = std::get<0>(spec.magnetization)[d];
  }
  return background;
}

/// Notes what reading a file of vectors took: the numbers, with the line of each where it is text, beside the three
/// columns and those read before.
void note_vectors(const CellProperties& spec, Cells& cells) {
  const auto* named = std::get_if<DensityFile>(&spec.magnetization);
  if (named == nullptr) return;
  const int before = (names_file(spec.density) ? 1 : 0) + (names_file(spec.susceptibility) ? 1 : 0);
  const int columns = before + 3 + (format_of_suffix(named->file) == FileFormat::ubc_vectors ? 6 : 3);
  const auto [nx, ny, nz] = counts_of(cells.content().edges);
  cells.note_peak(columns * std::int64_t{sizeof(double)} * nx * ny * nz);
}

std::unique_ptr<Cells> voxels_of(const Case& run, const VoxelsSpec& spec) {
  Remarks remarks;
  auto cells = make_voxels(
      spec, [&](const CellEdges& edges) { return cell_background(run, "model.voxels", spec, edges, remarks); });
  std::move(remarks).add_to(*cells);
  note_vectors(spec, *cells);
  return cells;
}

/// A file of UBC's with one property, a magnetisation by three columns.
struct UbcProperty {
  InputFile file;
  std::size_t property;
  double to_si;
  std::size_t columns = 1;
  /// cells with the mark of inactive ones
  std::int64_t inactive = 0;
};

/// Warns where a number seems to mark inactive cells; throws InputError where no density or susceptibility is it.
void check_air(const UbcProperty& of, const std::vector<double>& values, Remarks& remarks) {
  const auto air = find_air_mark(values, of.property, of.to_si);
  const std::string dummies = air ? "" : dummies_in({&values, of.to_si});
  if (!dummies.empty()) {
    remarks.warnings.push_back(
        fmt::format("{}: '{}' {}{}0 there", of.file.key, of.file.path.filename().string(), dummies, if_air));
  }
  if (!air) return;
  const double written = in_unit(air->value, of.to_si);
  const bool may_be_kilograms =
      of.to_si != 1 && std::abs(written) <= plausible(Quantity::density).common && air->is_certain;
  const std::string text = fmt::format("{}{}inactive: {} beside it{}", air->text, if_air, number_text(written),
                                       may_be_kilograms ? "; if the file is in kg/m3, density_unit: kg/m3" : "");
  if (air->is_certain) throw of.file.error(text);
  remarks.warnings.push_back(fmt::format("{}: '{}' {}", of.file.key, of.file.path.filename().string(), text));
}

/// Fills the properties that a file of UBC's holds, with 0 in its inactive cells. Throws InputError where all cells are
/// inactive, too.
void fill_from_ubc(CellBackground& background, UbcProperty& of, const UbcFiles& files, const CellCounts& counts,
                   Remarks& remarks) {
  Vectors columns;
  const bool is_vector = of.columns == columns.size();
  if (is_vector) {
    columns = read_ubc_vectors(of.file, of.to_si, counts);
  } else {
    columns[0] = read_ubc_densities(of.file, of.to_si, counts, property_names[of.property]);
  }
  if (files.inactive) {
    of.inactive = replace_mark(std::span(columns.data(), of.columns), *files.inactive, of.to_si, 0);
  }
  if (const auto cells = static_cast<std::int64_t>(columns[0].size()); of.inactive == cells) {
    throw InputError("", "model.mesh.ubc.inactive",
                     fmt::format("is {}, which all {} of '{}' have; write what its cells without a mass have alone",
                                 number_text(*files.inactive), counted(cells, "cell"), of.file.path.string()));
  }
  if (is_vector) {
    check_vectors_mark(of.file, columns, of.to_si, "");
  } else {
    check_air(of, columns[0], remarks);
  }
  for (std::size_t c = 0; c < of.columns; ++c) background[of.property + c] = listed_fill(std::move(columns[c]));
}

/// Says of the cells that a file marks as inactive how many they are.
void tell_inactive(const UbcProperty& of, double mark, std::int64_t cell_total, Cells& cells) {
  if (of.inactive == 0) {
    cells.add_warning(
        fmt::format("model.mesh.ubc.inactive: no cell of '{}' has {}; write the number as the file has it, in its unit "
                    "and with all its digits",
                    of.file.path.string(), number_text(mark)));
  } else {
    cells.add_note(fmt::format("{} of {} of '{}' left out: they have {}, as model.mesh.ubc.inactive says",
                               grouped(of.inactive), counted(cell_total, "cell"), of.file.path.string(),
                               number_text(mark)));
  }
}

std::unique_ptr<Cells> mesh_of_ubc(const Case& run, const UbcFiles& files) {
  const InputFile mesh = input_file(run, files.mesh, "model.mesh.ubc.mesh");
  std::vector<UbcProperty> properties;
  ProblemList problems;
  const auto add = [&](const std::filesystem::path& file, std::size_t property, double to_si) {
    const std::string key = std::string("model.mesh.ubc.") + property_names[property];
    if (!file.empty()) properties.push_back({input_file(run, file, key), property, to_si});
  };
  add(files.density, density_property, files.density_to_si);
  add(files.susceptibility, susceptibility_property, 1);
  if (!files.magnetization.empty()) {
    const InputFile file = input_file(run, files.magnetization, "model.mesh.ubc.magnetization");
    double unit = 1;
    problems.collect([&] { unit = effective_unit(run, file); });
    properties.push_back({file, magnetization_property, unit, 3});
  }
  problems.collect([&] { check_readable(mesh); });
  for (const UbcProperty& of : properties) problems.collect([&] { check_readable(of.file); });
  problems.throw_if_any();
  std::int64_t cell_total = 0;
  Remarks remarks;
  auto cells = make_mesh(read_ubc_mesh(mesh), mesh.key, [&](const CellEdges& edges) {
    const CellCounts counts = counts_of(edges);
    cell_total = counts[0] * counts[1] * counts[2];
    CellBackground background;
    for (UbcProperty& of : properties) fill_from_ubc(background, of, files, counts, remarks);
    return background;
  });
  std::move(remarks).add_to(*cells);
  for (const UbcProperty& of : properties) {
    if (files.inactive) tell_inactive(of, *files.inactive, cell_total, *cells);
  }
  std::size_t columns = 0, beside = 0;
  for (const UbcProperty& of : properties) {
    columns += of.columns;
    // the file's order, of vectors with the line of each number
    beside = std::max(beside, of.columns * (of.columns > 1 ? 2 : 1));
  }
  cells->note_peak(static_cast<std::int64_t>((columns + beside) * sizeof(double)) * cell_total);
  return cells;
}

std::unique_ptr<Cells> mesh_of(const Case& run, const MeshSpec& spec) {
  if (spec.ubc) return mesh_of_ubc(run, *spec.ubc);
  CellGrid grid = mesh_grid(run, spec);
  Remarks remarks;
  auto cells = make_mesh(std::move(grid.edges), "model.mesh", [&](const CellEdges& edges) {
    return cell_background(run, "model.mesh", spec, edges, remarks);
  });
  std::move(remarks).add_to(*cells);
  note_vectors(spec, *cells);
  cells->set_rounding(grid.rounding);
  return cells;
}

std::unique_ptr<Cells> cells_of(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) return voxels_of(run, *voxels);
  if (const auto* mesh = std::get_if<MeshSpec>(&run.model)) return mesh_of(run, *mesh);
  throw InputError("", "model", "is missing; prisms, voxels, mesh or terrain is needed");
}

/// Gives every rank the cells that rank 0 made; `cells` is not looked at elsewhere. Collective.
std::unique_ptr<Cells> share_cells(std::unique_ptr<Cells> cells, const Communicator& communicator) {
  if (communicator.size() == 1) return cells;
  CellsContent content;
  if (communicator.rank() == 0) content = std::move(*cells).take();
  for (PropertyFill& fill : content.background) {
    broadcast_all(communicator, fill.kind, fill.value, fill.range, fill.seed, fill.values);
  }
  broadcast_all(communicator, content.kind, content.edges[0], content.edges[1], content.edges[2], content.constants,
                content.runs, content.groups, content.size, content.bounds, content.rounding, content.ranges,
                content.warnings, content.notes);
  return std::make_unique<Cells>(std::move(content));
}

TerrainContent terrain_content(const Case& run, const TerrainSpec& spec) {
  TerrainContent content;
  content.masses = spec.masses;
  Dem heights = read_dem(input_file(run, spec.file, "model.terrain.file"), spec.variable);
  content.heights = std::move(heights.grid);
  content.notes = std::move(heights.notes);
  content.peak_bytes = heights.peak_bytes;
  if (!spec.density) return content;
  const InputFile file = input_file(run, spec.density->file, "model.terrain.density.file");
  Dem densities = read_dem(file, spec.density->variable, spec.density->to_si);
  check_same_nodes(file, densities.grid, content.heights);
  content.notes.insert(content.notes.end(), densities.notes.begin(), densities.notes.end());
  content.densities = std::move(densities.grid.values);
  content.peak_bytes = std::max(content.peak_bytes, content.heights.values.memory_bytes() + densities.peak_bytes);
  return content;
}

void share(NodeValues& values, const Communicator& communicator) {
  auto [single, full] = std::move(values).take();
  broadcast_all(communicator, single, full);
  values = NodeValues(std::move(single), std::move(full));
}

/// Gives every rank what rank 0 read. Collective.
void share_terrain(TerrainContent& content, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  broadcast_all(communicator, content.heights.easting, content.heights.northing, content.notes);
  share(content.heights.values, communicator);
  share(content.densities, communicator);
}

}  // namespace

std::array<std::vector<double>, 3> read_cell_magnetizations(const Case& run, const InputFile& file,
                                                            const DensityFile& spec, const CellEdges& edges,
                                                            std::vector<std::string>& notes) {
  if (format_of_suffix(file.path) != FileFormat::ubc_vectors) {
    Vectors components = read_magnetizations(file, spec, edges);
    fill_inactive(components, file, notes);
    return components;
  }
  if (!spec.dataset.empty()) throw file.error("is text, which has no datasets; leave out the key dataset beside it");
  const double unit = effective_unit(run, file);
  Vectors components = read_ubc_vectors(file, unit, counts_of(edges));
  check_vectors_mark(file, components, unit, "name it by model.mesh.ubc.magnetization and ");
  notes.push_back(
      fmt::format("{}: '{}' is read as a UBC vector model, depth fastest and down, in |F0|/mu0 = {:.6g} A/m", file.key,
                  file.path.filename().string(), unit));
  return components;
}

CellGrid make_cell_grid(const Case& run) {
  CellGrid grid = unchecked_grid(run);
  const std::string key = std::holds_alternative<VoxelsSpec>(run.model) ? "model.voxels" : "model.mesh";
  check_cell_counts(counts_of(grid.edges), key);
  ProblemList problems;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& edges = grid.edges[d];
    if (std::max(std::abs(edges.front()), std::abs(edges.back())) <= max_coordinate) continue;
    problems.add("", key + "." + direction_names[d], beyond_coordinates());
  }
  problems.throw_if_any();
  return grid;
}

bool densities_of_file(const Case& run) {
  if (const auto* voxels = std::get_if<VoxelsSpec>(&run.model)) return names_file(voxels->density);
  if (const auto* mesh = std::get_if<MeshSpec>(&run.model)) return mesh->ubc || names_file(mesh->density);
  const auto* terrain = std::get_if<TerrainSpec>(&run.model);
  return terrain == nullptr || terrain->density;
}

namespace {

/// The prisms of a case's model, of whatever kind. Collective.
Model model_of(const Case& run, const Communicator& communicator) {
  if (const auto* prisms = std::get_if<PrismsSpec>(&run.model)) {
    return Model(read_prisms(input_file(run, prisms->file, "model.prisms.file"), *prisms, communicator));
  }
  if (const auto* terrain = std::get_if<TerrainSpec>(&run.model)) {
    TerrainContent content;
    agree_on_input(communicator, [&] {
      if (communicator.rank() == 0) content = terrain_content(run, *terrain);
    });
    content.masses = terrain->masses;
    share_terrain(content, communicator);
    std::unique_ptr<Terrain> made;
    agree_on_input(communicator, [&] { made = std::make_unique<Terrain>(std::move(content)); });
    return Model(std::move(made));
  }
  // What is computed from the case alone is made by each rank for itself.
  const bool read_by_root = names_file(run.model);
  std::unique_ptr<Cells> cells;
  agree_on_input(communicator, [&] {
    if (!read_by_root || communicator.rank() == 0) cells = cells_of(run);
  });
  return Model(read_by_root ? share_cells(std::move(cells), communicator) : std::move(cells));
}

/// Throws InputError where magnetic fields are asked of susceptibilities and no field induces anything.
void check_inducing(const Case& run, const Model& model) {
  if (run.fields.of_magnetisation().empty() || !model.ranges().has_susceptibility()) return;
  if (direction_of(run.magnetic.inducing_field) != std::array<double, 3>{}) return;
  throw InputError("", "magnetic.inducing_field",
                   fmt::format("is missing; it magnetises the susceptibility of the model: {}", inducing_field_remedy));
}

}  // namespace

Model make_model(const Case& run, const Communicator& communicator) {
  return at_places_of(run, [&] {
    Model model = model_of(run, communicator);
    check_inducing(run, model);
    model.set_induced(induced_magnetization(run.magnetic));
    return model;
  });
}

}  // namespace prismfield
