// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "case/identity.hpp"
#include "case/key_table.hpp"
#include "case/read_sections.hpp"
#include "case/reader.hpp"
#include "case/yaml_tree.hpp"
#include "model/choices.hpp"

namespace prismfield {
namespace {

std::optional<Crs> read_crs(CaseReader& reader, const Value& value) {
  const auto text = reader.words(value, "a coordinate reference system such as EPSG:32719, or its WKT in one line");
  if (!text) return std::nullopt;
  try {
    return describe_crs(*text);
  } catch (const InputError& error) {
    reader.problem(value, error.problems().front().what);
    return std::nullopt;
  }
}

/// Every section of a case.
void read_sections(const YamlNode& root, CaseReader reader, Case& run) {
  const Value document{&root, "", where_of(root, run.file.string())};
  const Section section(reader, document);
  if (const auto v = section.find("title")) run.title = reader.words(*v, "a line of text").value_or("");
  if (const auto v = section.find("gravitational_constant")) {
    run.gravitational_constant = reader.positive(*v).value_or(run.gravitational_constant);
  }
  if (const auto v = section.find("axes")) {
    run.axes = reader.choice(*v, axes_choices).value_or(run.axes);
  }
  if (const auto v = section.find("crs")) run.crs = read_crs(reader, *v);
  if (const auto v = section.find("fields")) {
    run.fields = read_fields(reader, *v);
    run.fields_given = true;
  }
  const char* const models =
      run.use == CaseUse::forward ? "a map with voxels, prisms, mesh or terrain" : "a map with voxels or mesh";
  if (const auto v = section.need("model", models)) run.model = read_model(reader, *v, run.use);
  if (run.use != CaseUse::inversion) {
    if (const auto v = section.need("observations", "a map with grid or stations")) read_observations(reader, *v, run);
  }
  if (run.use != CaseUse::forward) {
    if (const auto v = section.find("sensitivity")) run.sensitivity = read_sensitivity(reader, *v);
  }
  if (run.use == CaseUse::inversion) {
    if (const auto v = section.need("inversion", "a map with data")) run.inversion = read_inversion(reader, *v);
  }
  if (const auto v = section.find("execution")) run.execution = read_execution(reader, *v);
  if (const auto v = section.find("output")) run.output = read_output(reader, *v);
}

/// Key path -> place, of every key and of every map in a list.
void collect_locations(const YamlNode& node, const std::string& path, const std::string& file,
                       std::map<std::string, std::string>& locations) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind == YamlNode::Kind::removed) continue;
    const std::string key = join_key(path, entry.key);
    locations[key] =
        entry.value.option != nullptr ? std::string(entry.value.option) : fmt::format("{}:{}", file, entry.key_line);
    collect_locations(entry.value, key, file, locations);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (node.items[i].kind != YamlNode::Kind::map && node.items[i].kind != YamlNode::Kind::list) continue;
    const std::string key = join_key(path, std::to_string(i));
    locations[key] = where_of(node.items[i], file);
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
        where_of(root, name), "",
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
  run.locations[""] = where_of(root, file.string());
  collect_locations(root, "", file.string(), run.locations);
  run.unused = unused_keys(run.locations, use);
  read_sections(root, CaseReader(file, problems), run);
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
