// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/child_run.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "io/hdf5_file.hpp"
#include "io/result_values.hpp"
#include "study/run_table.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// How a run says that it found too little memory, before it began (compute/memory_check).
constexpr std::string_view too_little_memory = " of memory, but there are ";

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

/// Lines of a log without blanks at their ends, at most so many.
std::vector<std::string> lines_of(const fs::path& log) {
  constexpr std::size_t most_lines = 10'000;
  std::vector<std::string> lines;
  std::ifstream stream(log);
  for (std::string line; lines.size() < most_lines && std::getline(stream, line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool is_warning(const std::string& line) { return line.starts_with("warning: ") || line.starts_with("note: "); }

/// The line that says why a run ended: the first that is neither a warning nor a rule of mpirun's.
std::string reason_in(const fs::path& log) {
  constexpr std::size_t longest = 300;
  for (const std::string& line : lines_of(log)) {
    if (!is_warning(line) && line.find_first_not_of("-=") != std::string::npos) return shown(line, longest);
  }
  return "";
}

/// An open file for what a run prints.
class Log {
public:
  explicit Log(const fs::path& file)
      : m_descriptor(::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    if (m_descriptor < 0) throw_write_error(file.string() + ": cannot be made", errno);
  }
  ~Log() { ::close(m_descriptor); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }

private:
  int m_descriptor;
};

/// The last value of a column of an inversion's convergence. Throws RunError.
double last_of(const Hdf5File& file, const std::string& column) {
  const std::string dataset = "/convergence/" + column;
  if (!file.has(dataset)) throw RunError("the inversion made no solution");
  return file.read(dataset).back();
}

double& measure(RunRow& row, Measure which) { return row.measures[static_cast<std::size_t>(which)]; }

/// What results of all commands say. Throws RunError.
void read_machine(const Hdf5File& file, RunRow& row) {
  const std::string group = "/performance";
  row.space = file.read_text_attribute(group, "space");
  row.device = file.read_text_attribute(group, "device");
  row.ranks = file.read_integer_attribute(group, "ranks");
  row.threads = file.read_integer_attribute(group, "threads");
  row.setup_seconds = file.read_attribute(group, "setup_seconds");
  row.output_seconds = file.read_attribute(group, "output_seconds");
  row.total_seconds = file.read_attribute(group, "total_seconds");
}

/// What an inversion's model says of it. Throws RunError.
void read_inversion(const Hdf5File& file, RunRow& row) {
  const std::string group = "/performance";
  row.method = "direct";
  row.field_seconds = file.read_attribute(group, "inversion_seconds");
  const std::int64_t rows = file.read_integer_attribute(group, "rows");
  row.pairs = rows * file.read_integer_attribute("/", "active_cells");
  // a G that is not stored has no size
  if (const std::int64_t bytes = file.read_integer_attribute(group, "stored_bytes"); bytes > 0) {
    measure(row, Measure::stored_bytes) = static_cast<double>(bytes);
  }
  measure(row, Measure::chi) = last_of(file, "chi");
  measure(row, Measure::residual_rms) =
      std::sqrt(last_of(file, "phi_d") / static_cast<double>(file.read_integer_attribute(group, "data")));
  measure(row, Measure::solutions) = static_cast<double>(file.read("/convergence/chi").size());
  measure(row, Measure::products) = last_of(file, "products");
  row.pairs_per_second = static_cast<double>(row.pairs) * measure(row, Measure::products) / row.field_seconds;
}

/// What the result of `sensitivity` says beside that of `run`. Throws RunError.
void read_sensitivity(const Hdf5File& file, RunRow& row) {
  for (const Measure which :
       {Measure::stored_bytes, Measure::transposed_seconds, Measure::anew_seconds, Measure::pays_after}) {
    const char* const name = measure_infos[static_cast<std::size_t>(which)].name;
    // a G that is not stored has no size, and one that does not pay off no number of products
    if (file.has_attribute("/performance", name)) measure(row, which) = file.read_attribute("/performance", name);
  }
}

/// Facts and times of a result's /performance. Throws RunError.
void read_performance(const fs::path& result, CaseUse use, RunRow& row) {
  const Hdf5File file = Hdf5File::open(result);
  if (const std::string source = file.read_text_attribute("/", "source"); source != source_line()) {
    throw RunError(fmt::format("was made by {}, but this is {}: the program was replaced meanwhile",
                               shown(source, longest_name), source_line()));
  }
  read_machine(file, row);
  if (use == CaseUse::inversion) {
    read_inversion(file, row);
    return;
  }
  if (use == CaseUse::sensitivity) read_sensitivity(file, row);
  const std::string group = "/performance";
  const auto text = [&](const char* name) { return file.read_text_attribute(group, name); };
  const auto count = [&](const std::string& name) { return file.read_integer_attribute(group, name); };
  const auto number = [&](const char* name) { return file.read_attribute(group, name); };
  row.partition = text("partition");
  row.precision = text("precision");
  row.kernel = text("kernel");
  row.method = text("method");
  row.slots = count("slots");
  row.batch = count("batch");
  row.block = count("block");
  row.scratch_bytes = count("scratch_bytes");
  row.pairs = count("pairs");
  for (std::size_t i = 0; i < row.pairs_by_form.size(); ++i) {
    row.pairs_by_form[i] = count(std::string("pairs_") + name(static_cast<Form>(i)));
  }
  row.field_seconds = number("field_seconds");
  row.pairs_per_second = number("pairs_per_second");
  if (const std::string busy = group + "/rank_busy_seconds"; file.has(busy)) {
    const std::vector<double> seconds = file.read(busy);
    if (seconds.empty()) return;
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    row.busy_least = *least;
    row.busy_most = *most;
  }
}

/// Whether the system counts what all ranks take: those that a daemon starts are nobody's children here.
bool counts_all_ranks(const MachineRecord& machine, const std::vector<std::string>& words, const RunStart& start) {
  const std::string launcher = fs::path(words.front()).filename().string();
  const std::array mpiruns = {"mpirun", "mpiexec", "orterun", "prterun"};
  const bool is_mpirun = std::find(mpiruns.begin(), mpiruns.end(), launcher) != mpiruns.end();
  return start.ranks == 1 || (is_mpirun && machine.nodes == 1);
}

/// "0,1" of the devices that this process may use.
std::string first_devices(const std::optional<std::string>& visible, std::int64_t n) {
  std::string result;
  std::string_view rest = visible ? std::string_view(*visible) : std::string_view();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    result += (i == 0 ? "" : ",") + (visible ? std::string(word) : std::to_string(i));
  }
  return result;
}

}  // namespace

Environment run_environment(const StudySpec& spec, const MachineRecord& machine, const RunStart& start) {
  Environment environment = Environment::current();
  // Set by hand, Open MPI's variables are the user's; a launcher's make a rank of whoever has them.
  for (const char* of_launcher : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (environment.find(of_launcher)) environment.remove_launcher();
  }
  for (const char* other : {"KOKKOS_NUM_THREADS", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES"}) {
    environment.remove(other);
  }
  environment.set("OMP_NUM_THREADS", std::to_string(start.threads));
  const bool binds =
      start.bind.empty() ? launch_of(spec, machine, start, "prismfield").gives_cores : start.bind != "none";
  environment.set("OMP_PROC_BIND", !binds ? "false" : start.bind.empty() ? "spread" : start.bind);
  if (binds) environment.set("OMP_PLACES", start.hyper_threads ? "threads" : "cores");
  const auto there = static_cast<std::int64_t>(machine.program.devices.size());
  const std::int64_t wanted = (start.devices + machine.nodes - 1) / machine.nodes;
  if (start.on_device && wanted > 0 && wanted < there) {
    for (const char* variable : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}) {
      environment.set(variable, first_devices(environment.find(variable), wanted));
    }
  }
  return environment;
}

std::vector<std::string> run_words(const StudySpec& spec, const MachineRecord& machine, const RunnerSettings& settings,
                                   const RunStart& start, const RunFiles& files) {
  std::vector<std::string> words = launch_of(spec, machine, start, settings.program).words;
  std::vector<std::string> arguments = {command_name(start.use), files.input.string(), "--quiet", "--output",
                                        files.result.string()};
  arguments.insert(arguments.end(), settings.kokkos_options.begin(), settings.kokkos_options.end());
  const auto program = std::find(words.begin(), words.end(), settings.program.string());
  words.insert(program == words.end() ? program : program + 1, arguments.begin(), arguments.end());
  return words;
}

RunRow make_run(const StudySpec& spec, const MachineRecord& machine, const RunnerSettings& settings,
                const RunStart& start, const RunFiles& files, EnergyMeter& energy, const std::function<void()>& watch) {
  RunRow row;
  row.started = now_text();
  row.load = load_average();
  row.ranks = start.ranks;
  row.threads = start.threads;
  row.oversubscribed = start.oversubscribed;
  std::error_code error;
  fs::remove(files.result, error);
  const Log log(files.log);
  ChildCommand command;
  command.words = run_words(spec, machine, settings, start, files);
  command.environment = run_environment(spec, machine, start);
  command.output = log.descriptor();
  command.own_group = true;
  command.most_seconds = spec.run_limit;
  // mpirun takes its ranks with it, when it is asked to
  command.signal_when_orphaned = start.ranks == 1 ? SIGKILL : SIGTERM;
  command.watch = [&] {
    energy.look();
    watch();
  };
  energy.start();
  const ChildOutcome outcome = run_child(command);
  row.energy_joules = energy.joules();
  if (outcome.end == ChildOutcome::End::interrupted) {
    for (const fs::path& file : {files.result, files.log}) fs::remove(file, error);
    throw Stopped();
  }
  row.process_seconds = outcome.seconds;
  if (counts_all_ranks(machine, command.words, start)) {
    row.processor_seconds = outcome.processor_seconds;
    // the system tells it of the largest process: ranks share the work alike
    if (outcome.peak_memory_bytes > 0) row.peak_memory_bytes = outcome.peak_memory_bytes * start.ranks;
  }
  if (outcome.end == ChildOutcome::End::out_of_time) {
    row.status = RunStatus::too_slow;
    row.why = "was ended at the limit of " + duration_text(spec.run_limit);
    return row;
  }
  if (!outcome.succeeded()) {
    const std::string reason = reason_in(files.log);
    const bool is_short_of_memory = reason.find(too_little_memory) != std::string::npos;
    row.status = is_short_of_memory ? RunStatus::not_run : RunStatus::failed;
    row.why = is_short_of_memory ? reason : outcome.text() + (reason.empty() ? "" : ": " + reason);
    return row;
  }
  try {
    read_performance(files.result, start.use, row);
  } catch (const RunError& why) {
    row.status = RunStatus::failed;
    row.why = fmt::format("its result cannot be read: {}", why.what());
  }
  return row;
}

std::vector<std::string> warnings_in(const fs::path& log) {
  std::vector<std::string> warnings;
  for (const std::string& line : lines_of(log)) {
    if (is_warning(line)) warnings.push_back(shown(line));
  }
  return warnings;
}

std::string busy_lines(std::int64_t point, const fs::path& result) {
  const Hdf5File file = Hdf5File::open(result);
  const std::string group = "/performance/";
  if (!file.has(group + "busy_rank")) return "";
  const std::vector<std::int64_t> ranks = file.read_integers(group + "busy_rank");
  const std::vector<std::int64_t> slots = file.read_integers(group + "busy_slot");
  const std::vector<double> begins = file.read(group + "busy_begin");
  const std::vector<double> ends = file.read(group + "busy_end");
  const std::size_t n = std::min({ranks.size(), slots.size(), begins.size(), ends.size()});
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) {
    lines += fmt::format("{},{},{},{},{}\n", point, ranks[i], slots[i], csv_number(begins[i]), csv_number(ends[i]));
  }
  return lines;
}

}  // namespace prismfield
