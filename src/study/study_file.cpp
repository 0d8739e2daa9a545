// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "case/key_table.hpp"
#include "case/read_sections.hpp"
#include "case/reader.hpp"
#include "study/run_row.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

const Words figure_keys = {"x", "y", "curves", "log"};
const Words paper_keys = {"paper", "figure", "y", "values", "note"};
const Words scaling_axes = {"threads", "ranks", "devices"};
constexpr std::array commands = {Choice<CaseUse>{"run", CaseUse::forward},
                                 Choice<CaseUse>{"sensitivity", CaseUse::sensitivity},
                                 Choice<CaseUse>{"invert", CaseUse::inversion}};
const Words scalings = {"threads", "ranks", "devices", "none"};
const std::vector<std::pair<std::string, double>> units_of_time = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};

/// The keys of a study but for its base and reduced.
class StudyReader : public CaseReader {
public:
  explicit StudyReader(const CaseReader& values) : CaseReader(values) {}

  void read(const Section& section, StudySpec& spec);

private:
  std::optional<SweepAxis> axis_named(const Value& value, const StudySpec& spec);
  void rules(const Section& section, StudySpec& spec);
  void check_command(const Section& section, const StudySpec& spec);
  void launcher(const Value& value, StudySpec& spec);
  void baseline(const Value& value, StudySpec& spec);
  void scaling(const Section& section, StudySpec& spec);
  void figure(const Value& value, StudySpec& spec);
  void paper(const Value& value, StudySpec& spec);
  std::vector<std::pair<std::string, double>> paper_curve(const Value& value);
  void true_or_false(const Section& section, const char* key, bool& result);
  template <class ReadOne>
  void one_or_list(const Value& value, const ReadOne& read_one);
};

/// Reads a map, or each map of a list.
template <class ReadOne>
void StudyReader::one_or_list(const Value& value, const ReadOne& read_one) {
  if (value.node->kind != Kind::list) {
    read_one(value);
    return;
  }
  for (std::size_t i = 0; i < value.node->items.size(); ++i) read_one(item(value, i));
}

void StudyReader::true_or_false(const Section& section, const char* key, bool& result) {
  if (const auto v = section.find(key)) result = truth(*v).value_or(result);
}

std::optional<SweepAxis> StudyReader::axis_named(const Value& value, const StudySpec& spec) {
  Words names;
  for (const SweepAxis& axis : spec.axes) {
    if (value.node->kind == Kind::scalar && axis.name == value.node->text) return axis;
    names.push_back(axis.name);
  }
  if (only_counted()) return std::nullopt;
  if (names.empty()) {
    problem(value, "is " + kind_name(*value.node) + ", but the study has no axes");
  } else {
    problem(value, "is " + kind_name(*value.node) + ", no axis of the study" + allowed(value.node->text, names));
  }
  return std::nullopt;
}

void StudyReader::rules(const Section& section, StudySpec& spec) {
  constexpr std::int64_t most_repeats = 10'000;
  const auto count = [&](const char* key, std::int64_t least, int& result) {
    const auto v = section.find(key);
    if (v) result = static_cast<int>(whole(*v, least, most_repeats).value_or(result));
  };
  count("repeats", 1, spec.repeats);
  count("warmup", 0, spec.warmup);
  if (const auto v = section.find("time_budget")) spec.time_budget = with_unit(*v, units_of_time, "20 min");
  if (const auto v = section.find("run_limit")) {
    spec.run_limit = with_unit(*v, units_of_time, "1 h").value_or(spec.run_limit);
  }
  if (const auto v = section.find("order")) {
    spec.order = choice(*v, std::array{Choice<RunOrder>{"random", RunOrder::random},
                                       Choice<RunOrder>{"as_written", RunOrder::as_written}})
                     .value_or(spec.order);
  }
  if (const auto v = section.find("seed")) spec.seed = seed(*v).value_or(spec.seed);
  if (const auto v = section.find("tolerance")) {
    spec.tolerance = number(*v).value_or(spec.tolerance);
    if (spec.tolerance < 0) problem(*v, fmt::format("is {}; a number of at least 0 is expected", spec.tolerance));
  }
}

/// What a study asks for that its command has not.
void StudyReader::check_command(const Section& section, const StudySpec& spec) {
  if (spec.use == CaseUse::forward) return;
  const auto refuse = [&](const char* key, bool is_asked, const char* what) {
    if (const auto v = section.find(key); v && is_asked) problem(*v, what);
  };
  refuse("busy", spec.busy, "needs slots, which the command run alone has");
  if (spec.use != CaseUse::inversion) return;
  constexpr const char* no_fields = "needs the fields of a run, and an inversion has none; leave it out";
  refuse("trace", spec.trace, no_fields);
  refuse("histogram", spec.histogram, no_fields);
  refuse("maps", !spec.maps.empty(), no_fields);
}

/// A command line as a shell splits it: at blanks outside of quotes.
std::optional<Words> words_of_command(const std::string& text) {
  Words words;
  bool inside = false;
  char quote = '\0';
  for (const char c : text) {
    const bool blank = quote == '\0' && (c == ' ' || c == '\t');
    if (!blank && !inside) words.emplace_back();
    inside = !blank;
    if (blank) continue;
    if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') return std::nullopt;
  return words;
}

void StudyReader::launcher(const Value& value, StudySpec& spec) {
  static const std::string form = "a command such as mpirun -n {ranks} {program}";
  Words result;
  if (value.node->kind == Kind::list) {
    for (std::size_t i = 0; i < value.node->items.size(); ++i) {
      result.push_back(words(item(value, i), "a word of a command").value_or(""));
    }
  } else {
    const auto text = words(value, form.c_str());
    if (!text) return;
    const auto split = words_of_command(*text);
    if (!split) {
      problem(value, "has a quote that is never closed");
      return;
    }
    result = *split;
  }
  const Words known = {"{ranks}", "{threads}", "{program}"};
  bool has_ranks = false;
  for (const std::string& word : result) {
    has_ranks = has_ranks || word.find("{ranks}") != std::string::npos;
    for (std::size_t open = word.find('{'); open != std::string::npos; open = word.find('{', open + 1)) {
      const std::size_t close = word.find('}', open);
      const std::string name = word.substr(open, close == std::string::npos ? close : close - open + 1);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      problem(value, fmt::format("has {}, which stands for nothing{}", excerpt(name), allowed(name, known)));
      return;
    }
  }
  if (std::count(result.begin(), result.end(), "{program}") != 1) {
    problem(value, "has to have {program} as a word of its own, once; " + form + " is expected");
  } else if (!has_ranks) {
    problem(value, "lacks {ranks}, the number of processes to start; " + form + " is expected");
  }
  spec.launcher = std::move(result);
}

void StudyReader::baseline(const Value& value, StudySpec& spec) {
  if (value.node->kind != Kind::map) {
    problem(value, "is " + kind_name(*value.node) + "; a map of axes and values is expected, such as {threads: 1}");
    return;
  }
  for (const YamlEntry& entry : value.node->entries) {
    if (entry.value.kind == Kind::removed) continue;
    YamlNode name;
    name.kind = Kind::scalar;
    name.text = entry.key;
    const Value key{&name, join_key(value.path, entry.key), place(entry.value, entry.key_line)};
    const auto axis = axis_named(key, spec);
    if (!axis) continue;
    Words labels;
    for (const AxisValue& axis_value : axis->values) labels.push_back(axis_value.label);
    const Value wanted{&entry.value, key.path, key.where};
    if (std::find(labels.begin(), labels.end(), entry.value.text) == labels.end()) {
      problem(wanted,
              fmt::format("is {}, no value of this axis, which has {}", kind_name(entry.value), shown_list(labels)));
      continue;
    }
    spec.baseline.emplace_back(axis->name, entry.value.text);
  }
}

/// Whether an axis changes how many threads, ranks or devices there are.
bool moves(const SweepAxis& axis, const std::string& what) {
  return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& value) {
    const Placement& p = value.placement;
    return what == "threads" ? p.threads.has_value() : what == "ranks" ? p.ranks.has_value() : p.devices.has_value();
  });
}

void StudyReader::scaling(const Section& section, StudySpec& spec) {
  const auto is_swept = [&](const std::string& what) {
    return std::any_of(spec.axes.begin(), spec.axes.end(), [&](const SweepAxis& axis) { return moves(axis, what); });
  };
  for (const std::string& what : scaling_axes) {
    if (spec.scaling.empty() && is_swept(what)) spec.scaling = what;
  }
  const auto v = section.find("scaling");
  if (!v) return;
  const std::string& asked = v->node->text;
  if (v->node->kind != Kind::scalar || std::find(scalings.begin(), scalings.end(), asked) == scalings.end()) {
    problem(*v, "is " + kind_name(*v->node) + allowed(asked, scalings));
  } else if (asked != "none" && !is_swept(asked)) {
    problem(*v, fmt::format("is {}, which no axis of the study moves", asked));
  } else {
    spec.scaling = asked;
  }
}

void StudyReader::figure(const Value& value, StudySpec& spec) {
  const Section section(*this, value, figure_keys);
  if (!section) return;
  StudyFigure result;
  if (const auto v = section.need("x", "an axis of the study")) {
    if (const auto axis = axis_named(*v, spec)) result.x = axis->name;
  }
  if (const auto v = section.need("y", "what is drawn")) {
    const Words quantities = figure_quantities(spec.use);
    if (std::find(quantities.begin(), quantities.end(), v->node->text) != quantities.end()) {
      result.y = v->node->text;
    } else {
      problem(*v, "is " + kind_name(*v->node) + allowed(v->node->text, quantities));
    }
  }
  if (const auto v = section.find("curves")) {
    one_or_list(*v, [&](const Value& one) {
      const auto axis = axis_named(one, spec);
      if (!axis) return;
      if (axis->name == result.x) problem(one, "is the axis along x");
      result.curves.push_back(axis->name);
    });
  }
  if (const auto v = section.find("log")) {
    const int bits =
        choice(*v, std::array{Choice<int>{"none", 0}, Choice<int>{"x", 1}, Choice<int>{"y", 2}, Choice<int>{"xy", 3}})
            .value_or(0);
    result.log_x = (bits & 1) != 0;
    result.log_y = (bits & 2) != 0;
  }
  spec.figures.push_back(std::move(result));
}

std::vector<std::pair<std::string, double>> StudyReader::paper_curve(const Value& value) {
  std::vector<std::pair<std::string, double>> values;
  for (const YamlEntry& entry : value.node->entries) {
    if (entry.value.kind == Kind::removed) continue;
    const Value at{&entry.value, join_key(value.path, entry.key), place(entry.value, entry.key_line)};
    if (const auto y = number(at)) values.emplace_back(entry.key, *y);
  }
  return values;
}

void StudyReader::paper(const Value& value, StudySpec& spec) {
  const Section section(*this, value, paper_keys);
  if (!section) return;
  PaperValues result;
  if (const auto v = section.need("paper", "the experiment, such as A1")) {
    result.paper = words(*v, "the experiment, such as A1").value_or("");
  }
  if (const auto v = section.find("y")) {
    Words shown_by = figure_quantities(spec.use);
    shown_by.insert(shown_by.end(), {"errors", "histogram", "share", "trace", "maps", "busy"});
    if (std::find(shown_by.begin(), shown_by.end(), v->node->text) != shown_by.end()) {
      result.y = v->node->text;
    } else {
      problem(*v, "is " + kind_name(*v->node) + allowed(v->node->text, shown_by));
    }
  }
  if (const auto v = section.find("figure")) result.figure = words(*v, "the number of a figure").value_or("");
  if (const auto v = section.find("note")) result.note = words(*v, "a line of text").value_or("");
  if (const auto v = section.find("values")) {
    if (v->node->kind != Kind::map) {
      problem(*v, "is " + kind_name(*v->node) +
                      "; a map of values of an axis and numbers is expected, or of curves with such a map each");
    } else if (std::any_of(v->node->entries.begin(), v->node->entries.end(),
                           [](const YamlEntry& entry) { return entry.value.kind == Kind::map; })) {
      for (const YamlEntry& entry : v->node->entries) {
        if (entry.value.kind == Kind::removed) continue;
        const Value curve{&entry.value, join_key(v->path, entry.key), place(entry.value, entry.key_line)};
        if (entry.value.kind == Kind::map) {
          result.curves.push_back({entry.key, paper_curve(curve)});
        } else {
          problem(curve, "is " + kind_name(entry.value) + "; a map is expected, as the other curves have");
        }
      }
    } else {
      result.curves.push_back({"", paper_curve(*v)});
    }
  }
  spec.compare_with.push_back(std::move(result));
}

void StudyReader::read(const Section& section, StudySpec& spec) {
  if (const auto v = section.find("title")) spec.title = words(*v, "a line of text").value_or("");
  if (const auto v = section.find("command")) spec.use = choice(*v, commands).value_or(spec.use);
  if (const auto v = section.find("sweep")) spec.axes = read_sweep(*this, *v, spec.use);
  rules(section, spec);
  if (const auto v = section.find("reference")) {
    if (v->node->kind == Kind::map) {
      spec.reference = read_settings(*this, *v, spec.use);
    } else {
      problem(*v, "is " + kind_name(*v->node) + "; a map of keys of the case is expected");
    }
  }
  if (const auto v = section.find("launcher")) launcher(*v, spec);
  true_or_false(section, "oversubscribe", spec.oversubscribe);
  if (const auto v = section.find("baseline")) baseline(*v, spec);
  scaling(section, spec);
  true_or_false(section, "weak", spec.weak);
  true_or_false(section, "keep_results", spec.keep_results);
  true_or_false(section, "trace", spec.trace);
  true_or_false(section, "histogram", spec.histogram);
  true_or_false(section, "busy", spec.busy);
  if (const auto v = section.find("maps")) spec.maps = read_fields(*this, *v);
  check_command(section, spec);
  if (const auto v = section.find("figure")) one_or_list(*v, [&](const Value& one) { figure(one, spec); });
  if (const auto v = section.find("compare_with")) one_or_list(*v, [&](const Value& one) { paper(one, spec); });
  if (const auto v = section.find("report")) {
    spec.report = path(*v).value_or("");
    // "a1/" and "a1" are one folder
    if (!spec.report.has_filename() && spec.report.has_relative_path()) spec.report = spec.report.parent_path();
  }
}

/// Keys of a case that stand beside those of the study, which are taken out.
void refuse_case_keys(const CaseReader& values, YamlNode& document) {
  CaseReader reader = values;
  std::erase_if(document.entries, [&](const YamlEntry& entry) {
    if (!is_case_key(entry.key)) return false;
    if (entry.value.kind != YamlNode::Kind::removed) {
      reader.problem_at(reader.place(entry.value, entry.key_line), entry.key,
                        "belongs to the case: write it below base, or vary it below sweep, as in {sweep: "
                        "{execution.slots: [1, 2]}}");
    }
    return true;
  });
}

/// Lets every value say its place itself, so that it can be put into another file's tree.
class Places {
public:
  explicit Places(std::string file) : m_file(std::move(file)), m_places(std::make_shared<PlaceNames>()) {}

  void mark(YamlNode& node, std::int32_t line) {
    std::string& place = (*m_places)[line];
    if (place.empty()) place = fmt::format("{}:{}", m_file, line);
    node.option = place.c_str();
    for (YamlNode& item : node.items) mark(item, item.line);
    for (YamlEntry& entry : node.entries) mark(entry.value, entry.key_line);
  }
  [[nodiscard]] std::shared_ptr<const PlaceNames> names() const { return m_places; }

private:
  std::string m_file;
  std::shared_ptr<PlaceNames> m_places;
};

/// What `reduced`, --set and the base's own file come to: two trees, and places that their nodes refer to.
class Trees {
public:
  Trees(const fs::path& file, ProblemList& problems) : m_file(file), m_problems(problems) {
    study = parse_yaml(read_yaml_text(file), file.string(), problems);
    if (study.kind == YamlNode::Kind::null) {
      throw InputError(file.string() + ":1", "", "is empty; a study has at least base and sweep");
    }
    if (study.kind != YamlNode::Kind::map) {
      throw InputError(where_of(study, file.string()), "",
                       fmt::format("is {}; a study is a map with the keys {}", kind_name(study), joined(study_keys())));
    }
    if (study.find("base") == nullptr && study.find("sweep") == nullptr && study.find("model") != nullptr) {
      throw InputError(file.string(), "",
                       "is a case, not a study; write prismfield run, or name it as the base of a study");
    }
    Places marked(file.string());
    marked.mark(study, study.line);
    places = marked.names();
  }

  void reduce();
  void assign(const std::string& assignment);
  /// The base with all that changes it, and the file that its errors name.
  void take_base(StudySpec& spec);

  YamlNode study;
  std::shared_ptr<const PlaceNames> places;

private:
  struct Change {
    std::string key;
    YamlNode value;
    std::string assignment;
  };

  fs::path m_file;
  ProblemList& m_problems;
  std::vector<Change> m_changes;
};

bool is_study_key(const std::string& key) {
  const std::string first = key.substr(0, key.find('.'));
  return std::find(study_keys().begin(), study_keys().end(), first) != study_keys().end();
}

/// Without "base." in front.
std::optional<std::string> key_of_base(const std::string& key) {
  static const std::string prefix = "base.";
  if (key.starts_with(prefix)) return key.substr(prefix.size());
  if (is_case_key(key)) return key;
  return std::nullopt;
}

void Trees::reduce() {
  const YamlNode* const found = study.find("reduced");
  if (found == nullptr || found->kind == YamlNode::Kind::removed) {
    throw InputError("--reduced", "", m_file.string() + " has no key reduced, which says what a reduced study changes");
  }
  const YamlNode reduced = *found;
  std::erase_if(study.entries, [](const YamlEntry& entry) { return entry.key == "reduced"; });
  for (const YamlEntry& entry : reduced.entries) {
    if (entry.value.kind == YamlNode::Kind::removed) continue;
    YamlNode value = entry.value;
    if (value.kind == YamlNode::Kind::null) value.kind = YamlNode::Kind::removed;
    if (const auto key = key_of_base(entry.key)) {
      m_changes.push_back({*key, std::move(value), ""});
    } else if (is_study_key(entry.key)) {
      const char* const place = value.option;
      set_value(study, entry.key, std::move(value), place, m_problems);
    }
  }
}

void Trees::assign(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const auto key = key_of_base(assignment.substr(0, equals));
  if (key && equals != std::string::npos) {
    m_changes.push_back({*key, {}, *key + assignment.substr(equals)});
  } else {
    apply_override(study, assignment, m_problems);
  }
}

void Trees::take_base(StudySpec& spec) {
  const YamlNode* const base = study.find("base");
  if (base == nullptr || base->kind == YamlNode::Kind::removed || base->kind == YamlNode::Kind::null) {
    m_problems.add(m_file.string() + ":1", "base", "is missing; the name of a case, or the case itself, is expected");
    return;
  }
  const std::string where = where_of(*base, m_file.string());
  if (base->kind == YamlNode::Kind::map) {
    spec.base = *base;
    spec.base_file = m_file;
  } else if (base->kind == YamlNode::Kind::scalar && !base->text.empty() && shown(base->text) == base->text) {
    spec.base_file = (m_file.parent_path() / base->text).lexically_normal();
    try {
      spec.base = parse_yaml(read_yaml_text(spec.base_file), spec.base_file.string(), m_problems);
    } catch (const InputError& error) {
      for (const Problem& problem : error.problems()) {
        // an error of the file as a whole is one of the key that names it
        const bool of_file = problem.where == spec.base_file.string();
        m_problems.add(of_file ? where : problem.where, of_file ? "base" : problem.key,
                       of_file ? fmt::format("{}: {}", spec.base_file.string(), problem.what) : problem.what);
      }
      return;
    }
  } else {
    m_problems.add(where, "base",
                   fmt::format("is {}; the name of a case, or the case itself, is expected", kind_name(*base)));
    return;
  }
  for (Change& change : m_changes) {
    if (change.assignment.empty()) {
      const char* const place = change.value.option;
      set_value(spec.base, change.key, std::move(change.value), place, m_problems);
    } else {
      apply_override(spec.base, change.assignment, m_problems);
    }
  }
}

/// The keys of `reduced`, whether or not it is asked for.
void check_reduced(const CaseReader& values, const Value& reduced) {
  CaseReader reader = values;
  if (reduced.node->kind != YamlNode::Kind::map) {
    reader.problem(reduced, "is " + kind_name(*reduced.node) +
                                "; a map of keys of the study and the case is expected, such as {repeats: 1}");
    return;
  }
  for (const YamlEntry& entry : reduced.node->entries) {
    const std::string first = entry.key.substr(0, entry.key.find('.'));
    if (key_of_base(entry.key) || (is_study_key(entry.key) && first != "reduced")) continue;
    if (reader.only_counted()) return;
    Words known = study_keys();
    const Words& of_case = case_key_table().keys_of("");
    known.insert(known.end(), of_case.begin(), of_case.end());
    reader.problem_at(reader.place(entry.value, entry.key_line), join_key(reduced.path, entry.key),
                      "is no key of the study or the case" + allowed(first, known));
  }
}

}  // namespace

const Words& study_keys() {
  static const Words keys = {"title",       "base",          "command",  "sweep",   "repeats",   "warmup",
                             "time_budget", "run_limit",     "order",    "seed",    "tolerance", "reference",
                             "launcher",    "oversubscribe", "baseline", "scaling", "weak",      "keep_results",
                             "trace",       "histogram",     "busy",     "maps",    "figure",    "compare_with",
                             "reduced",     "report"};
  return keys;
}

Words figure_quantities(CaseUse use) {
  Words quantities = {"field_seconds", "pairs_per_second", "speed_up", "efficiency",
                      "error",         "memory",           "scratch",  "time"};
  if (use == CaseUse::forward) return quantities;
  quantities.emplace_back("setup_seconds");
  for (const MeasureInfo& measure : measure_infos) quantities.emplace_back(measure.name);
  return quantities;
}

const char* command_name(CaseUse use) noexcept {
  const auto* const found =
      std::find_if(commands.begin(), commands.end(), [use](const auto& command) { return command.meaning == use; });
  return found->word;
}

StudySpec read_study_file(const fs::path& file, const StudyOverrides& overrides) {
  ProblemList problems;
  StudySpec spec;
  spec.file = file;
  spec.title = file.stem().string();
  spec.report = file.stem();
  spec.reduced = overrides.reduced;
  Trees trees(file, problems);
  const CaseReader reader(file, problems);
  if (const YamlNode* const reduced = trees.study.find("reduced")) {
    if (reduced->kind != YamlNode::Kind::removed)
      check_reduced(reader, {reduced, "reduced", where_of(*reduced, file.string())});
  }
  if (overrides.reduced) trees.reduce();
  for (const std::string& assignment : overrides.assignments) trees.assign(assignment);
  if (!overrides.report.empty()) {
    set_text(trees.study, "report", overrides.report.string(), "--output", problems);
  }
  trees.take_base(spec);
  spec.tree = std::move(trees.study);
  spec.places = trees.places;

  CaseReader own = reader;
  refuse_case_keys(own, spec.tree);
  const Section section(own, {&spec.tree, "", where_of(spec.tree, file.string())}, study_keys());
  StudyReader(reader).read(section, spec);
  problems.sort_by_line();
  problems.throw_if_any();
  return spec;
}

}  // namespace prismfield
