// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/key_table.hpp"
#include "case/reader.hpp"
#include "case/yaml_tree.hpp"
#include "model/choices.hpp"
#include "model/plausible.hpp"

namespace prismfield {
namespace {

/// The document, and the sections that have no source of their own.
class DocumentReader : public CaseReader {
public:
  explicit DocumentReader(const CaseReader& values) : CaseReader(values) {}

  /// Every section of a case.
  void read(const YamlNode& root, Case& run) {
    const Section section(*this, {&root, "", where_of(root, run.file.string(), root.line)});
    take_words(section, "title", "a line of text", run.title);
    take(section, "gravitational_constant", run.gravitational_constant);
    take(section, "axes", run.axes, axes_choices);
    if (const auto v = section.find("crs")) run.crs = crs(*v);
    if (const auto v = section.find("fields")) {
      run.fields = fields(*v);
      run.fields_given = true;
    }
    const char* const models =
        run.use == CaseUse::forward ? "a map with voxels, prisms, mesh or terrain" : "a map with voxels or mesh";
    if (const auto v = section.need("model", models)) run.model = read_model(*this, *v, run.use);
    if (run.use != CaseUse::inversion) {
      if (const auto v = section.need("observations", "a map with grid or stations")) observations(*v, run);
    }
    if (run.use != CaseUse::forward) {
      if (const auto v = section.find("sensitivity")) run.sensitivity = sensitivity(*v, run.use);
    }
    if (run.use == CaseUse::inversion) {
      if (const auto v = section.need("inversion", "a map with data")) run.inversion = read_inversion(*this, *v);
    }
    if (const auto v = section.find("magnetic")) magnetic(*v, run);
    if (const auto v = section.find("execution")) run.execution = execution(*v);
    if (const auto v = section.find("output")) run.output = output(*v);
  }

  FieldList fields(const Value& value) {
    FieldList list;
    if (value.node->kind == Kind::list) {
      if (value.node->items.empty()) problem(value, "is an empty list; a field or more is expected, or all");
      each(value, "", [&](const Value& name) { add_field(name, list); });
    } else {
      add_field(value, list);
    }
    return list.empty() ? FieldList::all() : list;
  }

  void add_field(const Value& value, FieldList& list) {
    static const std::vector<std::pair<std::string, FieldList>> groups = {
        {"all", FieldList::all()},
        {"vector", FieldList::vector()},
        {"tensor", FieldList::tensor()},
        {"magnetic", FieldList::magnetic()},
        {"magnetic_gradient", FieldList::magnetic_gradient()}};
    Words known;
    FieldList added;
    for (const auto& [name, group] : groups) {
      known.push_back(name);
      if (value.node->kind == Kind::scalar && value.node->text == name) added = group;
    }
    for (const FieldInfo& field : field_infos) {
      known.emplace_back(field.name);
      if (value.node->kind == Kind::scalar && value.node->text == field.name) added = {field.field};
    }
    if (added.empty()) {
      if (only_counted()) return;
      const std::string& text = value.node->text;
      if (value.node->kind == Kind::scalar && text.find(',') != std::string::npos) {
        problem(value, fmt::format("is {}; several fields are a list: [{}]", kind_name(*value.node), shown(text)));
        return;
      }
      if (text == "terrain_correction" || text == "bouguer_slab" || text == "terrain_height") {
        problem(value, fmt::format("is {}, which is no field: it comes with gz of model.terrain in the result",
                                   kind_name(*value.node)));
        return;
      }
      problem(value, fmt::format("is {}, no known field{}", kind_name(*value.node), allowed(value.node->text, known)));
      return;
    }
    Words repeated;
    for (const FieldInfo& field : added) {
      if (list.contains(field.field)) repeated.emplace_back(field.name);
    }
    if (!repeated.empty()) {
      problem(value, fmt::format("repeats {}, which an earlier name of the list holds already", joined(repeated)));
    }
    list.add(added);
  }

private:
  void magnetic(const Value& value, Case& run) {
    const Section section(*this, value);
    if (const auto v = section.find("inducing_field")) run.magnetic.inducing_field = inducing_field(*v);
    if (const auto v = section.find("magnetization_direction")) {
      const Section angles(*this, *v);
      run.magnetic.magnetization_direction = vector_along(angles, 1);
      if (run.inversion && run.inversion->settings.unknown != Unknown::susceptibility) {
        problem(*v, fmt::format("is for unknown: susceptibility, not for {}; leave it out",
                                name(run.inversion->settings.unknown)));
      }
    }
    if (const auto v = section.find("inside")) {
      run.magnetic.inside = choice(*v, inside_choices).value_or(run.magnetic.inside);
      const bool multiplies_magnetisation =
          run.inversion ? run.inversion->settings.unknown != Unknown::density
                        : run.use == CaseUse::sensitivity && !run.fields.of_magnetisation().empty();
      if (multiplies_magnetisation && run.magnetic.inside == Inside::nan) problem(*v, no_nan_in_products);
    }
    take(section, "demagnetization", run.demagnetizes);
    take(section, "vacuum_permeability", run.magnetic.vacuum_permeability);
  }

  std::array<double, 3> inducing_field(const Value& value) {
    const Section section(*this, value);
    constexpr double nanotesla = 1e-9;
    double intensity = 0;
    if (const auto v = section.need("intensity", "a number in nT")) {
      intensity = number(*v).value_or(0);
      if (const std::string error = intensity_error(intensity); intensity > 0 && !error.empty()) problem(*v, error);
    }
    return vector_along(section, intensity * nanotesla);
  }

  void observations(const Value& value, Case& run) {
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"grid", {}}, {"stations", {}}});
    if (const auto v = chosen.empty() ? std::nullopt : section.find(chosen)) {
      if (chosen == "grid") {
        run.observations = grid(*v);
      } else {
        run.observations = stations(*v);
      }
    }
    if (const auto v = section.find("noise")) run.noise = noise(*v, run.fields);
  }

  GridSpec grid(const Value& value) {
    const Section section(*this, value);
    GridSpec result;
    result.dem = dem(section);
    // those of the file, unless both are there
    if (!result.dem || section.has("easting") || section.has("northing")) {
      if (const auto v = section.need("easting", "[min, max, points]"))
        result.easting = axis(*v, false).value_or(Axis{});
      if (const auto v = section.need("northing", "[min, max, points]"))
        result.northing = axis(*v, false).value_or(Axis{});
      countable(value, {result.easting.count, result.northing.count});
    }
    if (result.dem && !section.has("upward")) {
      result.upward = HeightsOfGridFile{};
      return result;
    }
    const auto v = section.need("upward", "a height, {file: name} or {above_terrain: height},");
    if (!v) return result;
    if (v->node->kind == Kind::map) {
      const Section from(*this, *v);
      if (from.has("above_terrain") || from.has_misspelt("above_terrain")) {
        result.upward = above_terrain(from);
      } else if (const auto name = from.need("file", "the name of a netCDF or CSV file")) {
        result.upward = path(*name).value_or("");
        for (const char* const key : {"variable", "sea_level"}) {
          if (const auto other = from.find(key)) problem(*other, "goes with above_terrain only");
        }
      }
    } else {
      result.upward = number(*v, "a height, {file: name} or {above_terrain: height}").value_or(0);
    }
    return result;
  }

  /// the keys file and variable
  std::optional<DemFile> dem(const Section& section) {
    std::optional<DemFile> result;
    if (section.has("file")) take(section, "file", result.emplace().file);
    if (const auto v = section.find("variable")) {
      const std::string variable = words(*v, "the name of a variable").value_or("");
      if (result) {
        result->variable = variable;
      } else {
        problem(*v, "names a variable of the file beside it, which is not there");
      }
    }
    return result;
  }

  AboveTerrain above_terrain(const Section& section) {
    AboveTerrain result;
    take(section, "above_terrain", result.height);
    result.dem = dem(section);
    take(section, "sea_level", result.sea_level);
    return result;
  }

  StationsFile stations_file(const Section& section) {
    StationsFile result;
    take(section, "file", result.file);
    if (const auto v = section.find("columns")) result.columns = column_names(*v);
    result.length_to_si = length_factor(section);
    take(section, "axis_z", result.z_down, z_choices);
    const auto upward = section.find("upward");
    if (!upward) return result;
    if (upward->node->kind == Kind::map) {
      const Section from(*this, *upward);
      if (from && from.need("above_terrain", "a height above the surface")) result.upward = above_terrain(from);
    } else if (const auto height =
                   number(*upward, "a height for all stations of the file, or {above_terrain: height},")) {
      result.upward = *height;
    }
    return result;
  }

  PointsSpec stations(const Value& value) {
    if (value.node->kind == Kind::scalar) {
      problem(value, fmt::format("is {0}; a map is expected, for a file {{file: {1}}}", kind_name(*value.node),
                                 shown(value.node->text)));
      return StationsRandom{};
    }
    const Section section(*this, value);
    const std::string chosen = section.one_of({{"file", {"columns", "length_unit", "axis_z", "upward"}},
                                               {"random", {"easting", "northing", "upward", "seed"}}});
    if (chosen == "file") return stations_file(section);
    StationsRandom random;
    if (chosen.empty()) return random;
    take(section, "random", random.count);
    if (const auto v = section.find("easting")) random.easting = range(*v, true);
    if (const auto v = section.find("northing")) random.northing = range(*v, true);
    if (const auto v = section.find("upward")) random.upward = range(*v, true);
    take(section, "seed", random.seed);
    return random;
  }

  NoiseSpec noise(const Value& value, FieldList fields) {
    const Section section(*this, value);
    NoiseSpec result;
    for (const FieldInfo& field : field_infos) {
      const auto v = section.find(std::string(field.name));
      if (!v) continue;
      if (const auto sigma = number(*v)) result.sigma[field.field] = *sigma;
      if (!fields.contains(field.field)) problem(*v, "is no field of this run; add it to fields or take its noise out");
    }
    take(section, "seed", result.seed);
    return result;
  }

  std::optional<Crs> crs(const Value& value) {
    const auto text = words(value, "a coordinate reference system such as EPSG:32719, or its WKT in one line");
    if (!text) return std::nullopt;
    try {
      return describe_crs(*text);
    } catch (const InputError& error) {
      return problem(value, error.problems().front().what);
    }
  }

  Execution execution(const Value& value) {
    const Section section(*this, value);
    Execution spec;
    take(section, "space", spec.space, space_choices);
    if (const auto v = section.find("partition")) partition(*v, spec);
    take(section, "kernel", spec.kernel, kernel_choices);
    take(section, "precision", spec.precision, precision_choices);
    if (const auto v = section.find("method")) {
      spec.method = choice(*v, method_choices).value_or(spec.method);
      const std::string missing = method_problem(spec.method);
      if (!missing.empty()) problem(*v, fmt::format("is {}, {}", kind_name(*v->node), missing));
    }
    take(section, "tolerance", spec.tolerance);
    take(section, "check_points", spec.check_points);
    for (const auto& [key, to] : {std::pair{"batch", &spec.batch}, std::pair{"chunk", &spec.chunk},
                                  std::pair{"slots", &spec.slots}, std::pair{"block", &spec.block}}) {
      const auto v = section.find(key);
      if (v && !is_word(*v, "auto")) *to = whole(*v);
    }
    if (const auto v = section.find("memory_limit"); v && !is_word(*v, "auto")) {
      constexpr double kib = 1024;
      const auto bytes = with_unit(*v, {{"B", 1}, {"KiB", kib}, {"MiB", kib * kib}, {"GiB", kib * kib * kib}}, "2 GiB");
      constexpr double most_bytes = 9e18;
      if (bytes && (*bytes < 1 || *bytes > most_bytes)) {
        expects(*v, "a size from 1 B to 8e9 GiB");
      } else if (bytes) {
        spec.memory_limit = static_cast<std::int64_t>(*bytes);
      }
    }
    return spec;
  }

  void partition(const Value& value, Execution& spec) {
    if (value.node->kind == Kind::map) {
      const Section section(*this, value);
      spec.partition = Partition::rank_grid;
      static const std::string form = "[parts of prisms, parts of points]";
      const auto v = section.need("ranks", form);
      if (!v || !is_list_of(*v, 2, form)) return;
      constexpr std::int64_t most_ranks = std::numeric_limits<int>::max();
      std::int64_t product = 1;
      for (std::size_t i = 0; i < 2; ++i) {
        spec.rank_grid[i] = static_cast<int>(whole(item(*v, i)).value_or(1));
        product *= spec.rank_grid[i];
      }
      if (product > most_ranks) problem(*v, fmt::format("asks for {} ranks, more than MPI can have", product));
      return;
    }
    spec.partition = choice(value, partition_choices, "{ranks: [4, 2]}").value_or(Partition::automatic);
  }

  OutputSpec output(const Value& value) {
    const Section section(*this, value);
    OutputSpec result;
    take(section, "file", result.file);
    if (const auto v = section.find("also")) result.also = files(*v);
    if (const auto v = section.find("figure")) figure(*v, result);
    if (const auto checkpoint = section.find("checkpoint")) {
      const Section parts(*this, *checkpoint);
      result.checkpoint.emplace();
      if (const auto v = parts.find("every")) {
        result.checkpoint->every_seconds =
            with_unit(*v, {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}, "10 min").value_or(600);
      }
      need(parts, "file", "the name of a file", result.checkpoint->file);
    }
    return result;
  }

  /// One name, or a list of names.
  std::vector<std::filesystem::path> files(const Value& value) {
    std::vector<std::filesystem::path> result;
    const auto add = [&](const Value& name) { result.push_back(path(name).value_or("")); };
    if (value.node->kind == Kind::list) {
      each(value, "", add);
    } else {
      add(value);
    }
    return result;
  }

  /// true and false, a number of lines, or a list of levels.
  void contours(const Value& value, FigureStyle& style) {
    const bool is_plain_text = value.node->kind == Kind::scalar && !value.node->quoted;
    if (is_plain_text && value.node->text == "true") return;
    if (is_plain_text && value.node->text == "false") {
      style.contours = std::int64_t{0};
    } else if (value.node->kind == Kind::list) {
      if (auto levels = numbers(value, "a list of levels")) style.contours = std::move(*levels);
    } else if (const auto n = whole(
                   value,
                   fmt::format("a number of lines from 0 to {}, a list of levels, true or false", most_contours))) {
      style.contours = *n;
    }
  }

  /// A name, or a map with the name and how it is drawn.
  void figure(const Value& value, OutputSpec& result) {
    if (value.node->kind != Kind::map) {
      result.figure = path(value);
      return;
    }
    Words known = case_key_table().keys_of("output.figure");
    const bool has_fields = value.node->find("fields") != nullptr;
    if (has_fields) known.emplace_back("fields");
    const Section parts(*this, value, known);
    if (const auto v = has_fields ? parts.find("fields") : std::nullopt) {
      problem(*v,
              "is no key of a figure, which shows all fields of the case's fields; prismfield plot --field draws some");
    }
    need(parts, "file", "the name of a figure, such as fields.png", result.figure);
    if (const auto v = parts.find("contours")) contours(*v, result.figure_style);
    take_words(parts, "colour_map", "a colour map of matplotlib, such as viridis", result.figure_style.colour_map);
    take(parts, "dpi", result.figure_style.dpi);
    take(parts, "model_outline", result.figure_style.model_outline);
    take(parts, "annotations", result.figure_style.annotations);
  }

  StorageSettings sensitivity(const Value& value, CaseUse use) {
    const Section section(*this, value);
    StorageSettings result;
    take(section, "file", result.file);
    take(section, "precision", result.precision, stored_precision_choices);
    if (const auto v = section.find("compression")) {
      if (!is_word(*v, "none")) result.compression = number(*v);
      result.never_compressed = !result.compression;
    }
    if (const auto v = section.find("store")) {
      result.store = choice(*v, store_choices).value_or(result.store);
      if (result.store == Store::file && !section.has("file")) {
        problem(*v, "is file, but no file is named; write file: G.h5 beside it");
      }
      if (result.store == Store::file && result.compression) {
        problem(*v, "is file, which a compressed matrix is not written to; write store: auto, or compression: none");
      }
      if (result.store == Store::file && result.precision == StoredPrecision::float16) {
        problem(*v, "is file, which does not hold float16; write precision: float, or double");
      }
      if (result.store == Store::none && result.compression) {
        problem(*v, "is none, but compression needs a matrix that is kept; write store: auto, or compression: none");
      }
    }
    if (use != CaseUse::sensitivity || result.file.empty() || result.store == Store::file) return result;
    if (result.compression) {
      problem(*section.find("compression"),
              "a compressed matrix is not written to sensitivity.file; leave one of the two out");
    }
    if (result.precision == StoredPrecision::float16) {
      problem(*section.find("precision"),
              "is float16, which files do not hold; write float or double, or leave sensitivity.file out");
    }
    return result;
  }
};

/// Key path -> place, of every key and of every map in a list.
void collect_locations(const YamlNode& node, const std::string& path, const std::string& file,
                       std::map<std::string, std::string>& locations) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind == YamlNode::Kind::removed) continue;
    const std::string key = join_key(path, entry.key);
    locations[key] = where_of(entry.value, file, entry.key_line);
    collect_locations(entry.value, key, file, locations);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.items[i].kind != YamlNode::Kind::map && node.items[i].kind != YamlNode::Kind::list) continue;
    const std::string key = join_key(path, std::to_string(i));
    locations[key] = where_of(node.items[i], file, node.items[i].line);
    collect_locations(node.items[i], key, file, locations);
  }
}

bool is_used(const KeyRow& row, CaseUse use) { return (row.effects.used_by & command_of(use)) != 0; }

/// The keys that nothing asks for in a case of this use, without those below them.
std::vector<std::string> unused_keys(const std::map<std::string, std::string>& locations, CaseUse use) {
  std::vector<std::string> unused;
  for (const KeyRow& row : case_key_table().rows()) {
    const bool is_below = !unused.empty() && row.path.starts_with(unused.back() + ".");
    if (!is_used(row, use) && !is_below && locations.contains(row.path)) unused.push_back(row.path);
  }
  return unused;
}

/// The case and the files that it names, but for those of sections that a case of this use leaves alone.
std::vector<std::filesystem::path> input_files(YamlNode& root, const std::filesystem::path& file, CaseUse use) {
  std::vector<std::filesystem::path> files{file};
  for (const InputPath& input : input_paths(root)) {
    const KeyRow* const section = case_key_table().find(input.key.substr(0, input.key.find('.')));
    if (section != nullptr && is_used(*section, use)) files.push_back(file.parent_path() / input.value->text);
  }
  return files;
}

/// A case is a map. Throws InputError.
void check_kind(const YamlNode& root, const std::string& name) {
  if (root.kind == YamlNode::Kind::null)
    throw InputError(name + ":1", "", "is empty; a case has at least model and observations");
  if (root.kind != YamlNode::Kind::map) {
    throw InputError(
        where_of(root, name, root.line), "",
        fmt::format("is {}; a case is a map with the keys {}", kind_name(root), joined(case_key_table().keys_of(""))));
  }
  if (root.find("model") == nullptr && (root.find("base") != nullptr || root.find("sweep") != nullptr)) {
    throw InputError(name, "", "is a study, not a case; prismfield study runs it");
  }
}

/// The result takes the name of --output, and so does the figure unless --set names it.
void name_outputs(YamlNode& root, const std::filesystem::path& output, ProblemList& problems) {
  set_text(root, "output.file", output.string(), "--output", problems);
  const YamlNode* figure = root.find("output")->find("figure");
  const bool is_map = figure != nullptr && figure->kind == YamlNode::Kind::map;
  if (is_map) figure = figure->find("file");
  if (figure == nullptr || figure->kind != YamlNode::Kind::scalar || figure->option != nullptr) return;
  std::filesystem::path name = output;
  name.replace_extension(std::filesystem::path(figure->text).extension());
  set_text(root, is_map ? "output.figure.file" : "output.figure", name.string(), "--output", problems);
}

/// All that the tree says. Throws InputError with these errors and those found before.
Case case_of(YamlNode root, const std::filesystem::path& file, std::string text, CaseUse use, ProblemList& problems) {
  Case run;
  run.use = use;
  run.file = file;
  run.title = file.stem().string();
  run.text = std::move(text);
  run.locations[""] = where_of(root, file.string(), root.line);
  collect_locations(root, "", file.string(), run.locations);
  run.unused = unused_keys(run.locations, use);
  DocumentReader(CaseReader(file, problems)).read(root, run);
  // an inversion writes no G beside the one that it uses
  if (use == CaseUse::inversion && !run.sensitivity.file.empty() && run.sensitivity.store != Store::file) {
    run.unused.emplace_back("sensitivity.file");
  }
  problems.sort_by_line();
  problems.throw_if_any();
  run.input_files = input_files(root, file, use);
  run.identity = identity_of(std::move(root), use);
  return run;
}

}  // namespace

FieldList read_fields(const CaseReader& values, const Value& value) { return DocumentReader(values).fields(value); }

std::string Case::where(const std::string& key) const {
  for (std::string path = key; !path.empty();) {
    if (const auto found = locations.find(path); found != locations.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    path = dot == std::string::npos ? std::string() : path.substr(0, dot);
  }
  const auto found = locations.find("");
  return found != locations.end() ? found->second : file.string();
}

InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key) {
  return {path, run.where(key), key};
}

InputError with_places(const Case& run, const InputError& error) {
  std::vector<Problem> problems = error.problems();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Problem& problem = problems[i];
    if (!problem.where.empty()) continue;
    problem.where = problem.key.empty() && i > 0 ? problems[i - 1].where : run.where(problem.key);
  }
  return InputError(std::move(problems), error.more());
}

Case read_case(const std::filesystem::path& file, const std::vector<std::string>& overrides,
               const std::filesystem::path& output, CaseUse use) {
  ProblemList problems;
  std::string text = read_yaml_text(file);
  YamlNode root = parse_yaml(text, file.string(), problems);
  check_kind(root, file.string());
  for (const std::string& assignment : overrides) apply_override(root, assignment, problems);
  if (!output.empty()) name_outputs(root, output, problems);
  if (!overrides.empty() || !output.empty()) text = to_yaml(root);
  return case_of(std::move(root), file, std::move(text), use, problems);
}

Case read_case(YamlNode root, const std::filesystem::path& file, CaseUse use) {
  check_kind(root, file.string());
  ProblemList problems;
  std::string text = to_yaml(root);
  return case_of(std::move(root), file, std::move(text), use, problems);
}

}  // namespace prismfield
