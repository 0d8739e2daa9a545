// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/key_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "case/case.hpp"
#include "case/reader.hpp"
#include "case/yaml_tree.hpp"
#include "model/choices.hpp"

namespace prismfield::test_key_table {
namespace {

using ::testing::HasSubstr;
using Names = std::set<std::string>;

const char* const remedy =
    "\nA key has a heading in docs/case.md, with the facts that its head names, and is read in src/case/read_*.cpp";
const std::string odd_key = "qqqqqqqqqq";
const std::string any_field = "FIELD";

const std::string voxels =
    "model: {voxels: {easting: [0, 9, 3], northing: [0, 9, 3], upward: [-9, 0, 3], "
    "spheres: [{center: [4, 4, -4], radius: 3, density: 1}], "
    "boxes: [{easting: [0, 1], northing: [0, 1], upward: [-1, 0], density: 1}]}}\n";
const std::string grid = "observations: {grid: {easting: [0, 9, 3], northing: [0, 9, 3], upward: 1}}\n";

/// A case that is whole but for what an example of a key below `path` brings.
struct Frame {
  std::string path;
  CaseUse use;
  std::string yaml;
};

const Frame& frame_of(const std::string& path) {
  static const std::vector<Frame> frames = {
      {"", CaseUse::forward, voxels + grid},
      {"model.prisms", CaseUse::forward, "model: {prisms: {file: a.csv}}\n" + grid},
      {"model.mesh", CaseUse::forward,
       "model: {mesh: {easting: [0, 9, 3], northing: [0, 9, 3], upward: [-9, 0, 3], density: 1}}\n" + grid},
      {"model.mesh.ubc", CaseUse::forward, "model: {mesh: {ubc: {mesh: a.msh, density: a.den}}}\n" + grid},
      {"model.terrain", CaseUse::forward, "model: {terrain: {file: a.nc}}\n" + grid},
      {"observations.stations", CaseUse::forward, voxels},
      {"observations.stations.upward", CaseUse::forward, voxels + "observations: {stations: {file: a.csv}}\n"},
      {"output.also", CaseUse::inversion, voxels + "inversion: {data: a.csv}\n"},
      {"sensitivity", CaseUse::sensitivity, voxels + grid},
      {"inversion", CaseUse::inversion, voxels + "inversion: {data: a.csv}\n"},
      {"inversion.bounds.amplitude", CaseUse::inversion, voxels + "inversion: {data: a.csv, unknown: magnetization}\n"},
      {"model.voxels.padding", CaseUse::inversion, voxels + "inversion: {data: a.csv}\n"},
      {"magnetic.magnetization_direction", CaseUse::inversion,
       voxels + "inversion: {data: a.csv, unknown: susceptibility}\n"},
      {"inversion.data[]", CaseUse::inversion, voxels + "inversion: {data: [{file: a.csv}]}\n"},
  };
  const Frame* best = &frames.front();
  for (const Frame& frame : frames) {
    const bool fits = path == frame.path || path.starts_with(frame.path + ".");
    if (fits && frame.path.size() > best->path.size()) best = &frame;
  }
  return *best;
}

YamlNode tree_of(const std::string& yaml) {
  ProblemList problems;
  YamlNode tree = parse_yaml(yaml, "text", problems);
  problems.throw_if_any();
  return tree;
}

std::string in_list(std::string path) {
  for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) path.replace(at, 2, ".0");
  return path;
}

void put(YamlNode& tree, const std::string& path, YamlNode value) {
  ProblemList problems;
  set_value(tree, in_list(path), std::move(value), "the test", problems);
  problems.throw_if_any();
}

const YamlNode* at(const YamlNode& tree, const std::string& path) {
  const YamlNode* node = &tree;
  std::string rest = in_list(path);
  while (node != nullptr && !rest.empty()) {
    const std::size_t dot = rest.find('.');
    const std::string part = rest.substr(0, dot);
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
    node = node->kind == YamlNode::Kind::list ? &node->items.at(std::stoul(part)) : node->find(part);
  }
  return node;
}

/// What the example of a row has in its section.
YamlNode example_of(const KeyRow& row) {
  const YamlNode whole = tree_of(row.example);
  const YamlNode* const section = at(whole, parent_of(row.path));
  if (section == nullptr) throw std::logic_error(row.path + ": its example does not have its section");
  return *section;
}

/// The lines of an example put where they stand.
void put_example(YamlNode& tree, const std::string& section, const YamlNode& lines) {
  const YamlNode* const home = at(tree, section);
  if (!section.empty() && (home == nullptr || home->kind != YamlNode::Kind::map)) return put(tree, section, lines);
  for (const YamlEntry& entry : lines.entries) put(tree, join_key(section, entry.key), entry.value);
}

const std::vector<KeyRow>& rows() { return case_key_table().rows(); }

Names expanded(const std::string& key) {
  if (key != any_field) return {key};
  Names names;
  for (const FieldInfo& field : field_infos) names.emplace(field.name);
  return names;
}

Names keys_of(const std::vector<KeyRow>& reference, const std::string& section) {
  Names names;
  for (const KeyRow& row : reference) {
    if (parent_of(row.path) == section) names.merge(expanded(last_part_of(row.path)));
  }
  return names;
}

/// Sections with keys, and those that are like another one, by whose name the reference has their keys.
std::vector<SectionLike> sections() {
  std::vector<SectionLike> all = sections_alike();
  Names seen;
  for (const KeyRow& row : rows()) {
    const std::string section = parent_of(row.path);
    if (seen.insert(section).second) all.push_back({section, section});
  }
  return all;
}

/// The words behind "llowed: " in the message about the odd key.
Names names_allowed(const std::vector<Problem>& problems, const std::string& key) {
  Names names;
  for (const Problem& problem : problems) {
    const std::size_t begin = problem.what.find("llowed: ");
    if (problem.key != key || begin == std::string::npos) continue;
    std::string word;
    for (const char c : problem.what.substr(begin + 8) + ",") {
      if (c == ',')
        names.insert(std::exchange(word, ""));
      else if (c != ' ')
        word += c;
    }
  }
  return names;
}

template <class Read>
std::vector<Problem> problems_of(const Read& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

std::string told(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.key + ": " + problem.what + "\n";
  return text;
}

TEST(KeyTable, HasTheKeysThatReadersKnowInEverySection) {
  for (const auto& [section, other] : sections()) {
    const Frame& frame = frame_of(section);
    YamlNode tree = tree_of(frame.yaml);
    const auto first = std::find_if(rows().begin(), rows().end(),
                                    [&, &name = other](const KeyRow& row) { return parent_of(row.path) == name; });
    ASSERT_NE(first, rows().end()) << section;
    put_example(tree, section, example_of(*first));
    put(tree, join_key(section, odd_key), tree_of("x: 1").entries.front().value);
    const auto problems = problems_of([&, use = frame.use] { static_cast<void>(read_case(tree, "case.yaml", use)); });
    EXPECT_EQ(keys_of(rows(), other), names_allowed(problems, in_list(join_key(section, odd_key))))
        << "the section " << section << ": the table's keys, then the reader's\n"
        << told(problems) << remedy;
  }
}

/// The row's example in a case that is whole.
YamlNode case_with(const KeyRow& row) {
  YamlNode tree = tree_of(frame_of(row.path).yaml);
  put_example(tree, parent_of(row.path), example_of(row));
  return tree;
}

TEST(KeyTable, HasNoKeyThatNobodyReads) {
  for (const KeyRow& row : rows()) {
    const std::string key = join_key(parent_of(row.path), *expanded(last_part_of(row.path)).begin());
    YamlNode tree = case_with(row);
    // no key of a case has such a value
    put(tree, key, tree_of(odd_key + ": 1"));
    const auto problems = problems_of([&] { static_cast<void>(read_case(tree, "case.yaml", frame_of(row.path).use)); });
    const bool is_read = std::any_of(problems.begin(), problems.end(),
                                     [&](const Problem& problem) { return problem.key.starts_with(in_list(key)); });
    EXPECT_TRUE(is_read) << row.path << " is taken with a value that it cannot have: nothing reads it." << remedy;
  }
}

TEST(KeyTable, HasEveryKeyThatIsRead) {
  ProblemList problems;
  CaseReader reader("case.yaml", problems);
  const YamlNode map = tree_of("slots: 3\nfile: a.h5");
  const Section section(reader, {&map, "execution", "case.yaml:1"});
  EXPECT_TRUE(section.has("slots"));
  EXPECT_FALSE(section.has("batch"));
  EXPECT_THROW(static_cast<void>(section.has("file")), std::logic_error);
  EXPECT_THROW(static_cast<void>(section.find("tile")), std::logic_error);
  EXPECT_THROW(Section(reader, {&map, "excution", "case.yaml:1"}), std::logic_error);
}

TEST(KeyTable, SaysWhichKeysNameInputs) {
  ProblemList problems;
  CaseReader reader("folder/case.yaml", problems);
  const YamlNode name = tree_of("x: a.h5").entries.front().value;
  EXPECT_EQ(reader.path({&name, "model.prisms.file", "case.yaml:1"}), "folder/a.h5");
  EXPECT_EQ(reader.path({&name, "output.file", "case.yaml:1"}), "a.h5");
  int n_inputs = 0;
  for (const KeyRow& row : rows()) {
    if (row.type.starts_with("name of a file")) {
      const bool is_output = row.path.starts_with("output.") || row.path == "sensitivity.file";
      EXPECT_NE(row.effects.names_input, is_output) << row.path << remedy;
    }
    if (!row.effects.names_input) continue;
    ++n_inputs;
    const YamlNode tree = case_with(row);
    const YamlNode* value = at(tree, row.path);
    if (value->kind == YamlNode::Kind::map) value = value->find("file");
    if (value->kind == YamlNode::Kind::list) value = &value->items.front();
    const auto files = read_case(tree, "folder/case.yaml", frame_of(row.path).use).input_files;
    const bool is_there = std::find(files.begin(), files.end(), "folder/" + value->text) != files.end();
    EXPECT_TRUE(is_there) << row.path << " names " << value->text << ", which is no input of its case";
  }
  EXPECT_GT(n_inputs, 15);
}

TEST(KeyTable, FindsKeysByTheirPathsInACase) {
  const auto path_of = [](const std::string& key) {
    const KeyRow* const row = case_key_table().find(key);
    return row == nullptr ? "none" : row->path;
  };
  EXPECT_EQ(path_of("model.voxels.spheres.12.radius"), "model.voxels.spheres[].radius");
  EXPECT_EQ(path_of("model.mesh.easting"), "model.mesh.easting");
  EXPECT_EQ(path_of("model.mesh.easting.file"), "model.mesh.upward.file");
  EXPECT_EQ(path_of("inversion.data.0"), "inversion.data");
  EXPECT_EQ(path_of("inversion.data.0.epochs.1"), "inversion.data.epochs");
  EXPECT_EQ(path_of("observations.noise.gzz"), "observations.noise.FIELD");
  EXPECT_EQ(path_of("observations.noise.gxq"), "none");
  EXPECT_EQ(path_of("execution.slot"), "none");
  EXPECT_EQ(path_of("0"), "none");
  EXPECT_EQ(path_of(""), "none");
}

TEST(KeyTable, ChangesTheIdentityByAKeyThatNobodyClassified) {
  for (const std::string section :
       {"", "execution", "output", "output.figure", "output.checkpoint", "observations.noise", "model.voxels.spheres[]",
        "sensitivity", "inversion.data[]"}) {
    const Frame& frame = frame_of(section);
    const std::string key = join_key(section, odd_key);
    std::vector<KeyRow> with_key = rows(), with_silent_key = rows();
    with_key.push_back({key, "number", "1", "", "A new key.", odd_key + ": 1"});
    with_silent_key.push_back(
        {key, "number", "1", "", "A new key.", odd_key + ": 1", KeyEffects{.changes_result = case_commands::none}});
    const YamlNode older = tree_of(frame.yaml);
    YamlNode newer = older;
    put(newer, key, tree_of("x: 2").entries.front().value);
    const auto identity = [&](const YamlNode& tree, std::vector<KeyRow> all) {
      return identity_of(tree, frame.use, KeyTable(std::move(all)));
    };
    // a checkpoint of the case without the key is still one of it, and none of the case with the key
    EXPECT_EQ(identity(older, with_key), identity_of(older, frame.use)) << key;
    EXPECT_NE(identity(newer, with_key), identity_of(older, frame.use)) << key;
    EXPECT_EQ(identity(newer, with_silent_key), identity_of(older, frame.use)) << key;
    // as a key that the table does not have at all
    EXPECT_EQ(identity_of(newer, frame.use), identity(newer, with_key)) << key;
  }
}

TEST(KeyTable, KeepsTheIdentityWhateverTheOrderAndTheKeysThatChangeNothing) {
  const auto identity = [](const std::string& yaml, CaseUse use) { return identity_of(tree_of(yaml), use); };
  const std::string plain = identity(voxels + grid, CaseUse::forward);
  EXPECT_EQ(identity(grid + voxels, CaseUse::forward), plain);
  for (const std::string same :
       {"execution: {slots: 3, batch: 8, block: 64, chunk: 9, memory_limit: 1 GiB, space: serial}", "execution: {}",
        "execution: {partition: {ranks: [2, 2]}}", "axes: z_up",
        "output: {file: a.h5, also: [a.vtr], figure: {file: a.png, contours: [1, 2]}, checkpoint: {file: a, every: 1 "
        "s}}",
        "sensitivity: {precision: float}", "inversion: {data: a.csv}", "title: x\ncrs: EPSG:32719"}) {
    EXPECT_EQ(identity(voxels + grid + same, CaseUse::forward), plain) << same;
  }
  const std::string noisy =
      "observations: {noise: {gz: 1, seed: 4}, grid: {easting: [0, 9, 3], northing: [0, 9, 3], "
      "upward: 1}}\n";
  EXPECT_EQ(identity(voxels + noisy, CaseUse::forward), plain);
  for (const std::string other :
       {"execution: {kernel: corners}", "execution: {precision: single, slots: 3}", "execution: {method: direct}",
        "execution: {tolerance: 1e-3}", "fields: gz", "gravitational_constant: 6.67e-11"}) {
    EXPECT_NE(identity(voxels + grid + other, CaseUse::forward), plain) << other;
  }
  // without samples it has 100 of them
  const std::string data = voxels + "inversion: {data: a.csv";
  EXPECT_NE(identity(data + ", uncertainty: {}}", CaseUse::inversion), identity(data + "}", CaseUse::inversion));
}

TEST(KeyTable, HasExamplesThatReadersAccept) {
  for (const KeyRow& row : rows()) {
    const Frame& frame = frame_of(row.path);
    const YamlNode lines = example_of(row);
    bool names_itself = false;
    for (const std::string& name : expanded(last_part_of(row.path))) {
      names_itself = names_itself || lines.find(name) != nullptr;
    }
    EXPECT_TRUE(names_itself) << row.path << ": its example does not have it: " << row.example << remedy;
    const YamlNode tree = case_with(row);
    const auto problems = problems_of([&] {
      const Case run = read_case(tree, "case.yaml", frame.use);
      const bool is_unused = std::find(run.unused.begin(), run.unused.end(), row.path) != run.unused.end();
      EXPECT_FALSE(is_unused) << row.path;
    });
    EXPECT_TRUE(problems.empty()) << row.path << ": its example is refused: " << told(problems) << remedy;
  }
}

/// A default as it can be written; "" of words.
std::string default_of(const KeyRow& row) {
  const std::string& text = row.default_value;
  return text.starts_with('`') ? text.substr(1, text.size() - 2) : "";
}

std::string default_of(const std::string& path) { return default_of(*case_key_table().find(path)); }

TEST(KeyTable, HasDefaultsThatReadersAccept) {
  for (const KeyRow& row : rows()) {
    const std::string text = default_of(row);
    if (text.empty()) continue;
    const Frame& frame = frame_of(row.path);
    YamlNode tree = case_with(row);
    put(tree, row.path, tree_of("x: " + text).entries.front().value);
    const auto problems = problems_of([&] { static_cast<void>(read_case(tree, "case.yaml", frame.use)); });
    EXPECT_TRUE(problems.empty()) << row.path << ": its default " << text << " is refused: " << told(problems)
                                  << remedy;
  }
}

/// "a, b or c" of the words of a choice.
template <class T, std::size_t n>
std::string words_of(const std::array<Choice<T>, n>& choices) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += (i == 0 ? "" : i + 1 < n ? ", " : " or ") + std::string(choices[i].word);
  return text;
}

template <class Value>
std::string text_of(const Value& value) {
  return fmt::format("{}", value);
}

TEST(KeyTable, HasTheDefaultsOfTheCode) {
  const Execution execution;
  const InversionSettings inversion;
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"gravitational_constant", text_of(Case().gravitational_constant)},
      {"axes", text_of(name(Case().axes))},
      {"model.voxels.density", text_of(std::get<ConstantProperty>(VoxelsSpec().density).value)},
      {"model.voxels.density.seed", text_of(RandomProperty().seed)},
      {"model.voxels.susceptibility", text_of(std::get<ConstantProperty>(VoxelsSpec().susceptibility).value)},
      {"model.voxels.susceptibility.seed", text_of(RandomProperty().seed)},
      {"model.prisms.group", PrismsSpec().group},
      {"model.prisms.allow_overlap", text_of(PrismsSpec().allow_overlap)},
      {"model.mesh.upward.origin", text_of(EdgesRandom().origin)},
      {"model.mesh.upward.seed", text_of(EdgesRandom().seed)},
      {"model.terrain.reference", text_of(TerrainMasses().reference)},
      {"model.terrain.density", text_of(TerrainMasses().density)},
      {"model.terrain.sea_level", text_of(TerrainMasses().sea_level)},
      {"observations.stations.seed", text_of(StationsRandom().seed)},
      {"observations.noise.seed", text_of(NoiseSpec().seed)},
      {"execution.space", text_of(name(execution.space))},
      {"execution.partition", text_of(name(execution.partition))},
      {"execution.kernel", text_of(name(execution.kernel))},
      {"execution.precision", text_of(name(execution.precision))},
      {"execution.method", text_of(name(execution.method))},
      {"execution.tolerance", text_of(execution.tolerance)},
      {"execution.check_points", text_of(execution.check_points)},
      {"output.checkpoint.every", fmt::format("{} min", CheckpointSpec().every_seconds / 60)},
      {"sensitivity.store", text_of(name(StorageSettings().store))},
      {"inversion.smallness", text_of(inversion.smallness)},
      {"inversion.reference_in_smoothness", text_of(inversion.reference_in_smoothness)},
      {"inversion.norm", text_of(inversion.norm)},
      {"inversion.target_misfit", text_of(inversion.target_misfit)},
      {"inversion.max_iterations", text_of(inversion.max_iterations)},
      {"inversion.uncertainty.seed", text_of(inversion.uncertainty.seed)},
      {"inversion.depth_of_investigation", text_of(inversion.depth_of_investigation)},
      {"inversion.change", text_of(inversion.change)},
  };
  for (const auto& [path, text] : defaults) EXPECT_EQ(default_of(path), text) << path << remedy;
}

TEST(KeyTable, HasTheWordsOfTheCode) {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"axes", words_of(axes_choices)},
      {"execution.space", words_of(space_choices)},
      {"execution.partition", words_of(partition_choices) + ", or {ranks: ...}"},
      {"execution.kernel", words_of(kernel_choices)},
      {"execution.precision", words_of(precision_choices)},
      {"sensitivity.store", words_of(store_choices)},
      {"sensitivity.precision", words_of(stored_precision_choices)},
      {"sensitivity.compression", fmt::format("none or a number from {} to {}", least_compression, most_compression)},
      {"inversion.data.axes", words_of(axes_choices)},
  };
  for (const auto& [path, text] : types) EXPECT_EQ(case_key_table().find(path)->type, text) << path << remedy;
  const auto made_of_others = [](FieldList fields) {
    std::string text;
    for (const FieldInfo& field : fields) {
      if (is_native(field.field)) continue;
      text += fmt::format("{}{} ({}), {}", text.empty() ? "" : "; ", field.name, field.unit, field.long_name);
    }
    return text + ". ";
  };
  const std::string& meaning = case_key_table().find("fields")->meaning;
  EXPECT_THAT(meaning, HasSubstr("Sums of such: " + made_of_others(FieldList::gravity()))) << remedy;
  EXPECT_THAT(meaning, HasSubstr("made of them " + made_of_others(FieldList::magnetic()))) << remedy;
  EXPECT_THAT(meaning, HasSubstr("made of them " + made_of_others(FieldList::magnetic_gradient()))) << remedy;
}

TEST(KeyTable, HasDefaultsThatAreWhatIsTakenWithoutTheKey) {
  const auto read = [](const std::string& yaml, CaseUse use) { return read_case(tree_of(yaml), "case.yaml", use); };
  const auto inversion = [&](const std::string& keys) {
    return *read(voxels + "inversion: {data: a.csv" + keys + "}\n", CaseUse::inversion).inversion;
  };
  const std::string ubc = "model: {mesh: {ubc: {mesh: a.msh, density: a.den";
  const std::string unit = default_of("model.mesh.ubc.density_unit");
  const Case with = read(ubc + ", density_unit: " + unit + "}}}\n" + grid, CaseUse::forward);
  EXPECT_EQ(std::get<MeshSpec>(with.model).ubc->density_to_si, UbcFiles().density_to_si);
  EXPECT_EQ(fmt::format("{}", inversion(", uncertainty: samples").settings.uncertainty.samples),
            default_of("inversion.uncertainty.samples"));
  EXPECT_EQ(fmt::format("{}", std::get<double>(inversion("").reference)), default_of("inversion.reference"));
  EXPECT_EQ(inversion("").settings.weighting.kind,
            inversion(", weighting: " + default_of("inversion.weighting")).settings.weighting.kind);
  EXPECT_EQ(inversion("").settings.trend, inversion(", trend: " + default_of("inversion.trend")).settings.trend);
  EXPECT_EQ(names_of(read(voxels + grid, CaseUse::forward).fields),
            names_of(read(voxels + grid + "fields: " + default_of("fields") + "\n", CaseUse::forward).fields));
}

TEST(KeyTable, IsThePageOfTheDocumentation) {
  std::ifstream file(PRISMFIELD_SOURCE_DIR "/docs/case.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(page == key_page()) << "docs/case.md is not what the program has in it";
}

TEST(KeyTable, HasAPageThatIsWhole) {
  for (const std::string before : {"", "study: "}) {
    const std::vector<KeyRow>& keys = before.empty() ? rows() : study_key_table().rows();
    Names seen;
    for (const KeyRow& row : keys) {
      EXPECT_TRUE(seen.insert(row.path).second) << row.path << " is there twice";
      EXPECT_FALSE(row.type.empty() || row.example.empty()) << row.path << remedy;
      // a line of the list that is none of type, default and unit, or of another spelling
      EXPECT_FALSE(row.meaning.empty() || row.meaning.starts_with("-")) << row.path << ": " << row.meaning;
      const bool is_listed =
          row.path.find('.') == std::string::npos || std::any_of(keys.begin(), keys.end(), [&](const KeyRow& key) {
            return parent_of(key.path) == row.path || parent_of(key.path) == row.path + "[]";
          });
      // GitHub's name of a heading
      std::string anchor = before + row.path;
      std::erase_if(anchor, [](char c) { return c == '.' || c == ':'; });
      std::replace(anchor.begin(), anchor.end(), ' ', '-');
      const std::string entry = fmt::format("- [{}](#{})\n", row.path, anchor);
      EXPECT_EQ(key_page().find(entry) != std::string::npos, is_listed) << "the contents of docs/case.md: " << entry;
    }
  }
}

}  // namespace
}  // namespace prismfield::test_key_table
