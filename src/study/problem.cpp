// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "base/checksum.hpp"
#include "base/child_process.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "case/case.hpp"
#include "case/identity.hpp"
#include "case/key_table.hpp"
#include "io/input_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

std::string short_hex(const Digest& digest) { return fmt::format("{:016x}", digest.low); }

bool is_of(const std::string& section, const std::string& key) {
  return key == section || key.starts_with(section + ".");
}

/// Keys that say how fields, or a model, are computed.
bool is_of_execution(const std::string& key) {
  return is_of("execution", key) || is_of("sensitivity", key) || is_of("inversion.preconditioner", key);
}

void drop_key(YamlNode& tree, const char* section, const char* key) {
  if (YamlNode* const node = tree.find(section)) {
    std::erase_if(node->entries, [key](const YamlEntry& entry) { return entry.key == key; });
  }
}

/// Takes out what the runs of a command do not have, and the file of G, which nobody would read.
void drop_sections(YamlNode& tree, CaseUse use) {
  std::erase_if(tree.entries, [use](const YamlEntry& entry) {
    if (entry.key == "observations") return use == CaseUse::inversion;
    if (entry.key == "sensitivity") return use == CaseUse::forward;
    if (entry.key == "inversion") return use != CaseUse::inversion;
    return entry.key == "output";
  });
  drop_key(tree, "sensitivity", "file");
  if (use == CaseUse::sensitivity) drop_key(tree, "observations", "noise");
}

/// Content of a file. Throws InputError by the key that names it.
Digest digest_of_file(const InputFile& file) {
  check_readable(file);
  std::error_code error;
  if (!fs::is_regular_file(file.path, error)) {
    throw file.error("is no regular file, and a study reads its inputs many times");
  }
  struct Close {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
  };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.path.c_str(), "rbe"));
  if (stream == nullptr) throw file.error(fmt::format("cannot be opened to read: {}", std::strerror(errno)));
  Checksum checksum;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), stream.get())) > 0;) {
    checksum.add_bytes(buffer.data(), n);
  }
  if (std::ferror(stream.get()) != 0) throw file.error("could not be read");
  return checksum.digest();
}

/// The same text for the same content, however it was laid out.
std::string canonical(YamlNode tree) {
  const std::function<void(YamlNode&)> lay_out = [&](YamlNode& node) {
    node.flow = false;
    for (YamlNode& item : node.items) lay_out(item);
    for (YamlEntry& entry : node.entries) lay_out(entry.value);
  };
  lay_out(tree);
  sort_keys(tree);
  return to_yaml(tree);
}

/// An error once, however many points have it.
class DistinctProblems {
public:
  void add(const Problem& problem) {
    if (m_seen.insert(problem.message()).second) m_list.add(problem.where, problem.key, problem.what);
  }
  void add_all(const InputError& error) {
    for (const Problem& problem : error.problems()) add(problem);
  }
  [[nodiscard]] ProblemList& list() noexcept { return m_list; }

private:
  std::set<std::string> m_seen;
  ProblemList m_list;
};

/// The first number of OMP_NUM_THREADS, which has one for each level of threads.
std::optional<std::int64_t> threads_of_environment() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr) return std::nullopt;
  std::int64_t threads = 0;
  const std::string first = std::string(text).substr(0, std::string(text).find(','));
  const bool is_count = parse_integer(first, threads) == NumberStatus::ok && threads > 0;
  return is_count ? std::optional(threads) : std::nullopt;
}

/// Makes the plan of a study step by step.
class Planner {
public:
  Planner(const StudySpec& spec, const MachineRecord& machine) : m_spec(spec), m_machine(machine) {}

  StudyPlan plan();

private:
  /// A case and what of it decides whether it can run.
  struct Facts {
    std::size_t number = 0;
    Case run;
    std::string problem;
  };

  YamlNode tree_with(const std::vector<CaseSetting>& settings, bool with_execution);
  std::optional<Facts> check_case(YamlNode tree, CaseUse use);
  std::string problem_text(YamlNode tree);
  RunStart start_of(const Placement& placement, const Case& run);
  void start_devices(const Placement& placement, const Case& run, RunStart& start);
  void check_rank_grid(const Case& run, const RunStart& start, const std::string& who);
  void check_fields(const Case& run);
  void check_reference_keys();
  std::size_t problem_of(const SweepPoint& point, const std::string& text);
  std::string study_hash() const;

  const StudySpec& m_spec;
  const MachineRecord& m_machine;
  DistinctProblems m_problems;
  StudyPlan m_plan;
  std::map<std::pair<CaseUse, std::string>, std::optional<Facts>> m_cases;
  std::map<std::string, std::size_t> m_problem_numbers;
  std::map<std::string, Digest> m_files;
};

/// The base with these keys set.
YamlNode Planner::tree_with(const std::vector<CaseSetting>& settings, bool with_execution) {
  YamlNode tree = m_spec.base;
  for (const CaseSetting& setting : settings) {
    if (!with_execution && is_of_execution(setting.key)) continue;
    YamlNode value = setting.value;
    if (value.kind == YamlNode::Kind::null) value.kind = YamlNode::Kind::removed;
    ProblemList here;
    const char* const place = setting.value.option == nullptr ? "" : setting.value.option;
    set_value(tree, setting.key, std::move(value), place, here);
    try {
      here.throw_if_any();
    } catch (const InputError& error) {
      m_problems.add_all(error);
    }
  }
  drop_sections(tree, m_spec.use);
  return tree;
}

/// What the fields depend on, but for how they are computed: names of files become what these hold.
std::string Planner::problem_text(YamlNode tree) {
  std::erase_if(tree.entries, [](const YamlEntry& entry) {
    const Words kept = {"model", "observations", "fields", "gravitational_constant", "axes", "inversion"};
    return std::find(kept.begin(), kept.end(), entry.key) == kept.end();
  });
  drop_key(tree, "inversion", "preconditioner");
  for (const InputPath& input : input_paths(tree)) {
    const fs::path path = m_spec.base_file.parent_path() / input.value->text;
    const auto [known, is_new] = m_files.try_emplace(path.string());
    try {
      if (is_new) known->second = digest_of_file({path, where_of(*input.value, m_spec.base_file.string()), input.key});
    } catch (const InputError& error) {
      m_problems.add_all(error);
    }
    // the suffix says how a file is read
    input.value->text = short_hex(known->second) + path.extension().string();
    input.value->quoted = true;
  }
  return canonical(std::move(tree));
}

/// Nothing for a case with errors.
std::optional<Planner::Facts> Planner::check_case(YamlNode tree, CaseUse use) {
  const auto [known, is_new] = m_cases.try_emplace({use, to_yaml(tree)});
  if (!is_new) return known->second;
  try {
    Facts facts{m_plan.cases.size(), read_case(tree, m_spec.base_file, use), problem_text(tree)};
    check_fields(facts.run);
    // the text is the tree's, and long
    facts.run.text.clear();
    known->second = std::move(facts);
    m_plan.cases.push_back(std::move(tree));
  } catch (const InputError& error) {
    m_problems.add_all(error);
  }
  return known->second;
}

void Planner::check_fields(const Case& run) {
  const auto where = [&](const char* key) { return where_of(*m_spec.tree.find(key), m_spec.file.string()); };
  for (const FieldInfo& field : m_spec.maps) {
    if (!run.fields.contains(field.field)) {
      m_problems.add(
          {where("maps"), "maps", fmt::format("has {}, which is not among the fields of every point", field.name)});
    }
  }
  if (m_spec.trace && !run.fields.contains(FieldList{Field::gxx, Field::gyy, Field::gzz})) {
    m_problems.add({where("trace"), "trace", "needs gxx, gyy and gzz among the fields of every point"});
  }
}

void Planner::check_reference_keys() {
  for (const CaseSetting& setting : m_spec.reference.settings) {
    if (is_of_execution(setting.key)) continue;
    m_problems.add({setting.where, join_key("reference", setting.key),
                    "would make the reference another problem; only keys of execution and sensitivity, "
                    "inversion.preconditioner, threads, ranks, devices and bind are allowed"});
  }
}

std::string are_here(std::int64_t count) {
  return count == 0 ? "there is none here" : fmt::format("there {} {} here", count == 1 ? "is" : "are", grouped(count));
}

void Planner::start_devices(const Placement& placement, const Case& run, RunStart& start) {
  const ProgramFacts& program = m_machine.program;
  const std::string space =
      run.execution.space == Space::automatic ? program.default_space : std::string(name(run.execution.space));
  start.on_device = space == name(Space::cuda) || space == name(Space::hip);
  if (std::find(program.spaces.begin(), program.spaces.end(), space) == program.spaces.end()) {
    start.why_not = fmt::format("this build has no space {}, only {}", space, fmt::join(program.spaces, ", "));
    return;
  }
  const std::int64_t there = static_cast<std::int64_t>(program.devices.size()) * m_machine.nodes;
  if (placement.devices && !start.on_device) {
    start.why_not = fmt::format("the space {} has no devices", space);
  } else if (start.on_device && placement.devices.value_or(1) > there) {
    start.why_not = fmt::format("{} asked for, {}", counted(placement.devices.value_or(1), "device"), are_here(there));
  }
  if (!placement.devices) return;
  start.devices = *placement.devices;
  if (placement.ranks && *placement.ranks < *placement.devices) {
    m_problems.add({placement.where, "devices",
                    fmt::format("{} with {}: a rank computes on one device; leave ranks out, or have as many",
                                counted(*placement.devices, "device"), counted(*placement.ranks, "rank"))});
  }
}

RunStart Planner::start_of(const Placement& placement, const Case& run) {
  RunStart start;
  start.use = run.use;
  start_devices(placement, run, start);
  start.ranks = placement.ranks.value_or(std::max<std::int64_t>(1, start.devices));
  start.bind = placement.bind;
  const bool is_serial = run.execution.space == Space::serial;
  start.threads = placement.threads.value_or(is_serial ? 1 : default_threads(m_machine, start.ranks));
  const bool counts = !start.on_device || placement.threads.has_value();
  const std::int64_t all = start.ranks * start.threads;
  const std::int64_t hardware = m_machine.all_hardware_threads();
  start.oversubscribed = counts && all > m_machine.all_cores();
  start.hyper_threads = start.oversubscribed && all <= hardware;
  if (!start.why_not.empty()) return start;
  if (counts && all > hardware && !m_spec.oversubscribe) {
    start.why_not = fmt::format("{} x {} need {} hardware threads, {}", counted(start.ranks, "rank"),
                                counted(start.threads, "thread"), grouped(all), are_here(hardware));
  } else if (start.ranks > 1 && !m_machine.program.has_mpi) {
    start.why_not = "this build has no MPI, which several ranks need";
  } else if (start.ranks > 1) {
    const std::string launcher = launch_of(m_spec, m_machine, start, "prismfield").words.front();
    if (!find_program(launcher)) start.why_not = fmt::format("{}, which starts ranks, is not on PATH", launcher);
  }
  return start;
}

void Planner::check_rank_grid(const Case& run, const RunStart& start, const std::string& who) {
  if (run.execution.partition != Partition::rank_grid) return;
  const auto [prism_parts, point_parts] = run.execution.rank_grid;
  const std::int64_t parts = std::int64_t{prism_parts} * point_parts;
  if (parts == start.ranks) return;
  m_problems.add(
      {run.where("execution.partition"), "execution.partition",
       fmt::format("{} x {} ranks asked for, but {} {}; an axis of maps moves both together, with values "
                   "such as {{ranks: {}, execution.partition: {{ranks: [{}, {}]}}}}",
                   prism_parts, point_parts, who, counted(start.ranks, "rank"), parts, prism_parts, point_parts)});
}

/// The number of the point's problem, whose reference is checked when it is new.
std::size_t Planner::problem_of(const SweepPoint& point, const std::string& text) {
  const auto [known, is_new] = m_problem_numbers.try_emplace(text, m_plan.problems.size());
  if (!is_new) return known->second;
  StudyProblem problem;
  problem.hash = short_hex(digest_of(text.data(), text.size()));
  YamlNode tree = tree_with(point.settings, false);
  ProblemList none;
  for (const char* setting : {"execution.kernel=auto", "execution.precision=double"})
    apply_override(tree, setting, none);
  // G m is compared with fields that are summed directly, a model with that of G in double precision
  const CaseUse use = m_spec.use == CaseUse::inversion ? CaseUse::inversion : CaseUse::forward;
  drop_sections(tree, use);
  if (use == CaseUse::inversion) apply_override(tree, "sensitivity={store: auto, precision: double}", none);
  for (const CaseSetting& setting : m_spec.reference.settings) {
    set_value(tree, setting.key, setting.value, setting.value.option, none);
  }
  if (const auto facts = check_case(std::move(tree), use)) {
    problem.reference.case_number = facts->number;
    problem.reference.start = start_of(m_spec.reference.placement, facts->run);
    check_rank_grid(facts->run, problem.reference.start, "the reference has");
  }
  m_plan.problems.push_back(std::move(problem));
  return known->second;
}

std::string Planner::study_hash() const {
  Checksum checksum;
  const ProgramFacts& program = m_machine.program;
  const auto add_start = [&](const Placement& p) {
    for (const auto& value : {p.ranks, p.threads, p.devices}) checksum.add(value.value_or(-1));
    checksum.add(std::string_view(p.bind));
  };
  const auto add_text = [&](const std::string& text) { checksum.add(std::string_view(text)); };
  add_text(program.version);
  add_text(program.git_hash);
  for (const std::string& option : program.kokkos_options) add_text(option);
  for (const SweepAxis& axis : m_spec.axes) add_text(axis.name);
  const auto add_node = [&](const YamlNode* node) { add_text(node == nullptr ? "" : canonical(*node)); };
  const auto add_section = [&](std::size_t case_number, const char* name) {
    add_node(m_plan.cases[case_number].find(name));
  };
  for (const PlannedPoint& point : m_plan.points) {
    for (const std::string& label : point.point.labels) add_text(label);
    add_text(m_plan.problems[point.problem].hash);
    add_section(point.job.case_number, "execution");
    add_start(point.point.placement);
    // runs with another number of threads are none of the same point
    if (!point.point.placement.threads) checksum.add(threads_of_environment().value_or(-1));
  }
  for (const StudyProblem& problem : m_plan.problems) add_section(problem.reference.case_number, "execution");
  if (m_spec.use != CaseUse::forward) {
    add_text(command_name(m_spec.use));
    for (const PlannedPoint& point : m_plan.points) add_section(point.job.case_number, "sensitivity");
    for (const StudyProblem& problem : m_plan.problems) add_section(problem.reference.case_number, "sensitivity");
    for (const YamlNode& run : m_plan.cases) {
      const YamlNode* const inversion = run.find("inversion");
      add_node(inversion == nullptr ? nullptr : inversion->find("preconditioner"));
    }
  }
  add_start(m_spec.reference.placement);
  checksum.add(static_cast<std::int64_t>(m_spec.order));
  checksum.add(static_cast<std::int64_t>(m_spec.seed));
  for (const std::string& word : m_spec.launcher) add_text(word);
  // what a point's first timed run leaves beside its row cannot be had later
  for (const bool flag : {m_spec.oversubscribe, m_spec.keeps_results(), m_spec.busy, m_spec.trace, m_spec.histogram}) {
    checksum.add(std::int64_t{flag});
  }
  for (const FieldInfo& field : m_spec.maps) checksum.add(static_cast<std::int64_t>(field.field));
  return short_hex(checksum.digest());
}

StudyPlan Planner::plan() {
  check_reference_keys();
  for (SweepPoint& point : points_of(m_spec.axes)) {
    const auto facts = check_case(tree_with(point.settings, true), m_spec.use);
    if (!facts) continue;
    PlannedPoint planned;
    planned.problem = problem_of(point, facts->problem);
    planned.job.case_number = facts->number;
    planned.job.start = start_of(point.placement, facts->run);
    planned.is_rounded = m_spec.use != CaseUse::inversion && facts->run.execution.precision != Precision::double_;
    check_rank_grid(facts->run, planned.job.start, "points with it have");
    planned.point = std::move(point);
    m_plan.points.push_back(std::move(planned));
  }
  m_problems.list().sort_by_line();
  m_problems.list().throw_if_any();
  m_plan.hash = study_hash();
  return std::move(m_plan);
}

/// `path`, which is relative to `from`, relative to `folder`.
std::string moved(const std::string& path, const fs::path& from, const fs::path& folder) {
  if (fs::path(path).is_absolute()) return path;
  std::error_code error;
  const fs::path result = fs::relative(from / path, folder, error);
  return error || result.empty() ? fs::absolute(from / path, error).string() : result.string();
}

/// The tree with a title and with inputs relative to `folder`.
YamlNode moved_case(const StudySpec& spec, const YamlNode& tree, const fs::path& folder) {
  YamlNode copy = tree;
  const fs::path from = spec.base_file.has_parent_path() ? spec.base_file.parent_path() : ".";
  for (const InputPath& input : input_paths(copy)) {
    input.value->text = moved(input.value->text, from, folder);
    input.value->quoted = true;
  }
  if (copy.find("title") == nullptr) {
    YamlEntry title{"title", 1, {}};
    title.value.kind = YamlNode::Kind::scalar;
    title.value.quoted = true;
    title.value.text = spec.base_file.stem().string();
    copy.entries.insert(copy.entries.begin(), std::move(title));
  }
  return copy;
}

}  // namespace

std::int64_t default_threads(const MachineRecord& machine, std::int64_t ranks) {
  if (const auto threads = threads_of_environment()) return *threads;
  return std::clamp<std::int64_t>(machine.all_cores() / std::max<std::int64_t>(1, ranks), 1, machine.cores);
}

Launch launch_of(const StudySpec& spec, const MachineRecord& machine, const RunStart& start, const fs::path& program) {
  if (start.ranks == 1) return {{program.string()}, !start.oversubscribed || start.hyper_threads};
  Launch launch{spec.launcher, false};
  std::vector<std::string>& words = launch.words;
  const bool fits = !start.on_device && (!start.oversubscribed || start.hyper_threads);
  if (words.empty() && std::getenv("SLURM_JOB_ID") != nullptr && find_program("srun")) {
    words = {"srun", "-n", "{ranks}", "-c", "{threads}", "{program}"};
    launch.gives_cores = fits;
  } else if (words.empty() && machine.program.mpi.find("Open MPI") != std::string::npos) {
    // By itself it binds each rank to one core, or each to all.
    words = {"mpirun", "-n", "{ranks}"};
    if (fits && start.hyper_threads) words.emplace_back("--use-hwthread-cpus");
    const std::vector<std::string> places = fits ? std::vector<std::string>{"--map-by", "slot:PE={threads}"}
                                                 : std::vector<std::string>{"--oversubscribe", "--bind-to", "none"};
    words.insert(words.end(), places.begin(), places.end());
    words.emplace_back("{program}");
    launch.gives_cores = fits;
  } else if (words.empty()) {
    words = {"mpirun", "-n", "{ranks}", "{program}"};
  }
  for (std::string& word : words) {
    const auto put = [&](const std::string& name, const std::string& value) {
      for (std::size_t at = word.find(name); at != std::string::npos; at = word.find(name, at + value.size())) {
        word.replace(at, name.size(), value);
      }
    };
    put("{ranks}", fmt::format("{}", start.ranks));
    put("{threads}", fmt::format("{}", start.threads));
    put("{program}", program.string());
  }
  return launch;
}

std::string case_text(const StudySpec& spec, const YamlNode& tree, const fs::path& folder) {
  return to_yaml(moved_case(spec, tree, folder));
}

std::string study_text(const StudySpec& spec, const fs::path& folder) {
  YamlNode tree = spec.tree;
  std::erase_if(tree.entries, [](const YamlEntry& entry) { return entry.key == "report"; });
  YamlNode base = spec.base;
  drop_sections(base, spec.use);
  if (YamlNode* const written = tree.find("base")) *written = moved_case(spec, base, folder);
  return to_yaml(tree);
}

StudyPlan plan_study(const StudySpec& spec, const MachineRecord& machine) { return Planner(spec, machine).plan(); }

}  // namespace prismfield
