// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include <prismfield/error.hpp>

#include "app/exit_codes.hpp"
#include "app/key_help.hpp"
#include "app/man_page.hpp"
#include "app/terminal.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "base/version.hpp"
#include "case/yaml_tree.hpp"
#include "io/file_content.hpp"
#include "model/axis.hpp"

namespace prismfield {
namespace {

std::string exit_code_text() {
  std::string text = "Exit codes:";
  for (const auto& [code, meaning] : exit_codes) text += fmt::format("\n  {:<3}  {}", code, meaning);
  return text;
}

using Asked = std::variant<HelpText, RunOptions, SensitivityOptions, InvertOptions, CompareOptions, StudyOptions,
                           ConvertOptions, PlotOptions, InfoOptions>;

/// A command as CLI11 knows it, what its usage names behind it, and what its options become.
struct Command {
  CLI::App* app = nullptr;
  std::string arguments;
  /// what its help says behind the options, of this command alone
  std::string footer;
  std::function<Asked()> read;

  [[nodiscard]] std::string usage() const {
    return "prismfield " + app->get_name() + (arguments.empty() ? "" : " " + arguments);
  }
};

/// The commands of this version, each added by a function of its own.
class CommandSet {
public:
  CommandSet() : m_app("", "prismfield") {
    m_app.set_help_flag();
    m_app.require_subcommand(0, 1);
    m_app.get_formatter()->column_width(28);
  }

  /// `footer` comes before what every command says. The caller adds the options and sets `read`.
  Command& add(const std::string& name, const std::string& arguments, const std::string& purpose,
               const std::string& footer = "") {
    CLI::App* const app = m_app.add_subcommand(name, purpose);
    app->set_help_flag("-h,--help", "this text");
    app->allow_extras();
    app->footer(footer + "Kokkos' own --kokkos-* options are passed through to Kokkos.\n" + exit_code_text());
    return m_commands.emplace_back(Command{app, arguments, footer, {}});
  }

  [[nodiscard]] const std::deque<Command>& commands() const noexcept { return m_commands; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Command& command : m_commands) names.push_back(command.app->get_name());
    return names;
  }
  /// nullptr when there is no such command
  [[nodiscard]] const Command* find(const std::string& name) const {
    const auto found = std::find_if(m_commands.begin(), m_commands.end(),
                                    [&](const Command& command) { return command.app->get_name() == name; });
    return found == m_commands.end() ? nullptr : &*found;
  }

  /// Reads the arguments, of which the first names `command`.
  Asked parse(const Command& command, const std::vector<std::string>& arguments);

private:
  CLI::App m_app;
  std::deque<Command> m_commands;
};

std::string general_help(const CommandSet& commands) {
  std::string text = "Gravity potential, vector and gradient tensor of ensembles of prisms\n\nUsage:\n";
  for (const Command& command : commands.commands()) {
    text += fmt::format("  {:<34}{}\n", command.usage(), command.app->get_description());
  }
  text += fmt::format(
      "\nOptions:\n  -h, --help                      this text, or after a command, all about that command\n"
      "  --version                       version and git hash\n\nExample:\n  prismfield run inputs/seven_spheres.yaml "
      "--set 'fields=[gz, gzz]'\n\n{}\n",
      exit_code_text());
  return text;
}

std::string command_list(const CommandSet& commands) { return fmt::format("{}", fmt::join(commands.names(), ", ")); }

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Which options have a value too many or too few, where CLI11 found that one has.
void add_mismatches(const CLI::App& app, const std::vector<std::string>& arguments, ProblemList& problems) {
  std::vector<std::string> told;
  std::vector<const CLI::Option*> given;
  const auto tell = [&](const std::string& name, const std::string& what) {
    if (std::find(told.begin(), told.end(), name) != told.end()) return;
    told.push_back(name);
    problems.add(name, "", what);
  };
  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const CLI::Option* const option = name.starts_with("-") ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    if (!takes_value(*option)) {
      if (equals != std::string::npos) tell(name, "takes no value");
      continue;
    }
    if (equals == std::string::npos && ++i == arguments.size()) {
      tell(name, fmt::format("has no value; write {} {}", name, option->get_type_name()));
    }
    const bool once = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
    if (once && std::find(given.begin(), given.end(), option) != given.end())
      tell(name, "is given more than once; keep one");
    given.push_back(option);
  }
}

/// How the threads of a command are chosen, for which no option is; "" where the argument asks for none.
std::string threads_text(const std::string& command, const std::string& option) {
  const bool is_meant =
      option.find("thread") != std::string::npos || option == "-j" || option == "--jobs" || option == "--cores";
  if (!is_meant) return "";
  if (command == "study") return "the study's axis threads sets the threads of its runs, sweep: {threads: [1, 2, 4]}";
  if (command == "run" || command == "sensitivity" || command == "invert" || command == "info") {
    return fmt::format("OMP_NUM_THREADS sets the number of threads: OMP_NUM_THREADS=4 prismfield {} ...", command);
  }
  return "this command computes on one thread";
}

std::string unknown_option(const CLI::App& app, const std::string& argument) {
  const std::string asked = argument.substr(0, argument.find('='));
  if (const std::string threads = threads_text(app.get_name(), asked); !threads.empty()) {
    return fmt::format("is no option of prismfield {}; {}", app.get_name(), threads);
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string nearest = nearest_spelling(asked, names);
  return fmt::format("is no option of prismfield {}{}: {}", app.get_name(),
                     nearest.empty() ? "; there are" : "; did you mean " + nearest + "? There are",
                     fmt::join(names, ", "));
}

Asked CommandSet::parse(const Command& command, const std::vector<std::string>& arguments) {
  ProblemList problems;
  try {
    m_app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return HelpText{wrapped(command.app->help("prismfield"), help_columns())};
  } catch (const CLI::RequiredError&) {
    problems.add("", "", fmt::format("an argument is missing; write {}", command.usage()));
  } catch (const CLI::ArgumentMismatch& error) {
    add_mismatches(*command.app, arguments, problems);
    if (problems.empty()) problems.add("", "", error.what());
  } catch (const CLI::ParseError& error) {
    problems.add("", "", fmt::format("{} (prismfield {} --help tells more)", error.what(), command.app->get_name()));
  }
  bool may_be_value = false;
  for (const std::string& extra : command.app->remaining()) {
    if (extra == "--") continue;
    if (extra.starts_with("-") && extra.size() > 1) {
      problems.add(extra.substr(0, extra.find('=')), "", unknown_option(*command.app, extra));
      may_be_value = extra.find('=') == std::string::npos;
    } else if (!std::exchange(may_be_value, false)) {
      problems.add("", "", fmt::format("one argument too many: {}; write {}", excerpt(extra), command.usage()));
    }
  }
  problems.throw_if_any();
  return command.read();
}

/// Every value of an option that takes one each time that it is given.
void add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                    const std::string& purpose, const std::string& type) {
  app.add_option(name, values, purpose)->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
}

void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& purpose) {
  app.add_flag(name, value, purpose)->disable_flag_override();
}

/// A command that computes a case. Options: derived from CaseOptions. `result`: what --output names. `resumes`: it
/// keeps checkpoints.
template <class Options>
void add_case_command(CommandSet& commands, const std::string& name, const std::string& purpose,
                      const std::string& result, bool resumes = true) {
  Command& command = commands.add(
      name, "CASE.yaml", purpose,
      "The value of --set is YAML: --set 'fields=[gz, gxx]'. An element of a list is named by its number, from 0: "
      "--set model.voxels.spheres.0.density=300. null takes a key out.\n");
  struct Values {
    Options options;
    std::string file, output;
  };
  const auto values = std::make_shared<Values>();
  CLI::App& app = *command.app;
  app.add_option("CASE.yaml", values->file, "the case to compute")->type_name("")->required();
  add_repeatable(app, "--set", values->options.overrides,
                 "put a value in the place of the case's, e.g. --set execution.slots=4; may be repeated", "KEY=VALUE");
  add_flag(app, "--check", values->options.check, "read and validate everything, then stop");
  add_flag(app, "--dry-run", values->options.dry_run,
           "also print sizes, memory, the partition and an estimated time, then stop");
  if (resumes) {
    add_flag(app, "--resume", values->options.resume,
             "go on from output.checkpoint.file, or begin at the start when there is none");
  }
  add_flag(app, "--quiet", values->options.quiet, "print nothing but warnings and errors");
  const CLI::Option* const output =
      app.add_option("--output", values->output, result + ", in the place of output.file")->type_name("FILE");
  command.read = [values, output]() -> Asked {
    if (output->count() > 0 && values->output.empty()) {
      throw InputError("--output", "", "is empty; the name of a file is expected");
    }
    if (values->file.empty()) throw InputError("CASE.yaml", "", "is empty; the name of a file is expected");
    values->options.file = values->file;
    values->options.output = values->output;
    return values->options;
  };
}

double tolerance_of(const std::string& text) {
  double value = 0;
  if (parse_number(text, value) != NumberStatus::ok || !std::isfinite(value) || value < 0) {
    throw InputError("--tolerance", "", fmt::format("is {}; a number of at least 0 is expected", excerpt(text)));
  }
  return value;
}

void add_compare(CommandSet& commands) {
  Command& command = commands.add("compare", "A.h5 B.h5", "differences of two results, B being the reference");
  struct Values {
    CompareOptions options;
    std::string a, b, tolerance;
    bool horizontal = false;
  };
  const auto values = std::make_shared<Values>();
  CLI::App& app = *command.app;
  app.add_option("A.h5", values->a, "a result")->type_name("")->required();
  app.add_option("B.h5", values->b, "the reference")->type_name("")->required();
  const CLI::Option* const tolerance =
      app.add_option("--tolerance", values->tolerance,
                     "largest max|a-b| / max|b| of a field that is still agreement; beyond it the exit code is 3")
          ->type_name("T");
  add_flag(app, "--horizontal", values->horizontal, "match points by easting and northing alone, where heights differ");
  add_flag(app, "--quiet", values->options.quiet, "print nothing but errors; the exit code tells");
  command.read = [values, tolerance]() -> Asked {
    if (tolerance->count() > 0) values->options.tolerance = tolerance_of(values->tolerance);
    if (values->a.empty() || values->b.empty()) {
      throw InputError(values->a.empty() ? "A.h5" : "B.h5", "", "is empty; the name of a file is expected");
    }
    if (values->horizontal) values->options.match = PointMatch::horizontal;
    values->options.a = values->a;
    values->options.b = values->b;
    return values->options;
  };
}

/// Of the options of a study, what does not go together. Throws InputError.
void check_study(const StudyOptions& options, const std::string& file) {
  ProblemList problems;
  if (options.join.empty()) {
    if (file.empty()) {
      problems.add("", "",
                   "an argument is missing; write prismfield study STUDY.yaml or prismfield study --join DIR DIR");
    }
    problems.throw_if_any();
    return;
  }
  if (!file.empty())
    problems.add("--join", "", "makes a report of studies that were run; leave " + excerpt(file) + " out");
  if (options.join.size() < 2) problems.add("--join", "", "names one folder; two or more are expected");
  const std::vector<std::pair<const char*, bool>> others = {
      {"--set", !options.overrides.empty()}, {"--reduced", options.reduced}, {"--check", options.check},
      {"--dry-run", options.dry_run},        {"--resume", options.resume},   {"--machine", !options.machine.empty()}};
  for (const auto& [name, given] : others) {
    if (given) problems.add(name, "", "goes with a study that is run, not with --join");
  }
  problems.throw_if_any();
}

void add_study(CommandSet& commands) {
  Command& command = commands.add(
      "study", "STUDY.yaml", "an architecture comparison: sweeps, repeated runs, tables, figures",
      "Each run is a process of its own. Keys of --set are the study's, as repeats=3, or those of its case, as "
      "execution.space=cuda. A study that was stopped goes on with --resume.\n");
  struct Values {
    StudyOptions options;
    std::string file, output, machine;
    std::vector<std::string> join;
  };
  const auto values = std::make_shared<Values>();
  CLI::App& app = *command.app;
  const CLI::Option* const file = app.add_option("STUDY.yaml", values->file, "the study to run")->type_name("");
  add_repeatable(app, "--set", values->options.overrides,
                 "put a value in the place of the study's or its case's; may be repeated", "KEY=VALUE");
  add_flag(app, "--reduced", values->options.reduced, "apply what the study's key reduced says");
  add_flag(app, "--check", values->options.check, "read and validate everything, then stop");
  add_flag(app, "--dry-run", values->options.dry_run, "also print every point and how it is started, then stop");
  add_flag(app, "--resume", values->options.resume, "make the runs that the report's folder does not hold yet");
  add_flag(app, "--quiet", values->options.quiet, "print nothing but warnings and errors");
  const CLI::Option* const output =
      app.add_option("--output", values->output, "the report's folder, in the place of the key report")
          ->type_name("DIR");
  const CLI::Option* const machine =
      app.add_option("--machine", values->machine,
                     "what tables and figures call this machine; default: its host's name")
          ->type_name("NAME");
  const CLI::Option* const join =
      app.add_option("--join", values->join, "make one report of those in several folders, each of a machine")
          ->type_name("DIR")
          ->expected(1, CLI::detail::expected_max_vector_size);
  command.read = [values, file, output, machine, join]() -> Asked {
    const auto refuse_empty = [](const CLI::Option* option, const std::string& value, const char* name,
                                 const char* expected) {
      if (option->count() > 0 && value.empty()) throw InputError(name, "", std::string("is empty; ") + expected);
    };
    refuse_empty(file, values->file, "STUDY.yaml", "the name of a file is expected");
    refuse_empty(output, values->output, "--output", "the name of a folder is expected");
    refuse_empty(machine, values->machine, "--machine", "a name is expected");
    for (const std::string& folder : values->join)
      refuse_empty(join, folder, "--join", "the name of a folder is expected");
    StudyOptions& options = values->options;
    options.join.assign(values->join.begin(), values->join.end());
    options.machine = shown(values->machine);
    check_study(options, values->file);
    options.file = values->file;
    options.output = values->output;
    if (!options.join.empty() && options.output.empty()) options.output = "joined";
    return options;
  };
}

/// What a word of `option` means, one of `choices`; adds a problem for any other, and nothing when it was not given.
template <class T>
std::optional<T> choice_of(const CLI::Option* option, const std::string& word,
                           const std::vector<std::pair<std::string, T>>& choices, ProblemList& problems) {
  if (option->count() == 0) return std::nullopt;
  std::vector<std::string> words;
  for (const auto& [spelling, meant] : choices) {
    if (spelling == word) return meant;
    words.push_back(spelling);
  }
  const std::string nearest = nearest_spelling(word, words);
  problems.add(
      option->get_name(), "",
      fmt::format("is {}{} {}", excerpt(word),
                  nearest.empty() ? "; allowed:" : ", did you mean " + nearest + "? Allowed:", fmt::join(words, ", ")));
  return std::nullopt;
}

std::vector<std::pair<std::string, FileFormat>> format_choices(bool to_read) {
  std::vector<std::pair<std::string, FileFormat>> choices;
  for (const FormatInfo& format : format_infos) {
    if (to_read ? format.is_read : format.is_written) choices.emplace_back(format.name, format.format);
  }
  return choices;
}

struct ConvertValues {
  ConvertOptions options;
  std::string in, out, mesh, from, to, density_unit, output_density_unit, axes, output_axes, inactive, output_inactive;
  CLI::Option *of_mesh, *of_from, *of_to, *of_density_unit, *of_output_density_unit, *of_axes, *of_output_axes,
      *of_field, *of_inactive, *of_output_inactive;
};

/// What an option says, nothing when it is not given or no finite number.
std::optional<double> finite_number(const CLI::Option& option, const std::string& text, ProblemList& problems) {
  if (option.count() == 0) return {};
  double value = 0;
  if (parse_number(text, value) == NumberStatus::ok && std::isfinite(value)) return value;
  problems.add(option.get_name(), "", fmt::format("is {}; a number is expected", excerpt(text)));
  return {};
}

ConvertOptions read_convert(ConvertValues& values) {
  ProblemList problems;
  ConvertOptions& options = values.options;
  if (values.in.empty()) problems.add("IN", "", "is empty; the name of a file is expected");
  if (values.out.empty()) problems.add("OUT", "", "is empty; the name of a file is expected");
  if (values.of_mesh->count() > 0 && values.mesh.empty()) {
    problems.add("--mesh", "", "is empty; the name of a file is expected");
  }
  if (values.of_field->count() > 0 && options.field.empty()) {
    problems.add("--field", "", "is empty; a name such as gz or density is expected");
  }
  const std::vector<std::pair<std::string, double>> units{{"kg/m3", 1.0}, {"g/cm3", 1000.0}};
  const std::vector<std::pair<std::string, Axes>> axes{{"z_down", Axes::z_down}, {"z_up", Axes::z_up}};
  options.from = choice_of(values.of_from, values.from, format_choices(true), problems);
  options.to = choice_of(values.of_to, values.to, format_choices(false), problems);
  options.density_to_si = choice_of(values.of_density_unit, values.density_unit, units, problems);
  options.output_density_to_si = choice_of(values.of_output_density_unit, values.output_density_unit, units, problems);
  options.axes = choice_of(values.of_axes, values.axes, axes, problems);
  options.output_axes = choice_of(values.of_output_axes, values.output_axes, axes, problems);
  options.inactive = finite_number(*values.of_inactive, values.inactive, problems);
  options.output_inactive = finite_number(*values.of_output_inactive, values.output_inactive, problems);
  problems.throw_if_any();
  options.in = values.in;
  options.out = values.out;
  options.mesh = values.mesh;
  return options;
}

void add_convert(CommandSet& commands) {
  Command& command = commands.add(
      "convert", "IN OUT", "ensembles, meshes, models, points and data between formats",
      "What a file is, its suffix and its content say: " + known_suffixes() +
          ".\nTomofast's files, which have no suffix of their own, are known by their first lines when read. "
          "docs/convert.md has units, signs and axes of every format.\n");
  const auto values = std::make_shared<ConvertValues>();
  CLI::App& app = *command.app;
  app.add_option("IN", values->in, "the file to read")->type_name("")->required();
  app.add_option("OUT", values->out, "the file to write")->type_name("")->required();
  const auto add = [&](const char* name, std::string& value, const std::string& purpose, const char* type) {
    return app.add_option(name, value, purpose)->type_name(type);
  };
  values->of_from =
      add("--from", values->from, fmt::format("what IN is: {}", fmt::join(format_names(true), ", ")), "FORMAT");
  values->of_to =
      add("--to", values->to, fmt::format("what OUT is to be: {}", fmt::join(format_names(false), ", ")), "FORMAT");
  values->of_mesh =
      add("--mesh", values->mesh, "the UBC mesh, Tomofast grid or HDF5 model that the numbers of IN belong to", "FILE");
  values->of_field =
      add("--field", values->options.field,
          "which field a column without name holds, or which values of a model or field of points go to a "
          "format that holds one; default gz, density",
          "NAME");
  values->of_density_unit = add("--density-unit", values->density_unit,
                                "of IN: kg/m3, or g/cm3; default g/cm3 for UBC models, else kg/m3", "UNIT");
  values->of_output_density_unit = add("--output-density-unit", values->output_density_unit, "the same of OUT", "UNIT");
  values->of_axes =
      add("--axes", values->axes,
          "z_down, where gz is positive above excess mass, or z_up: of IN, where it does not say; default "
          "z_down",
          "AXES");
  values->of_output_axes = add("--output-axes", values->output_axes,
                               "the same of OUT; default: those of IN, in UBC's and Tomofast's files z_down", "AXES");
  values->of_inactive =
      add("--inactive", values->inactive,
          "the number that inactive cells have in UBC's and Tomofast's files, in the file's unit; default: "
          "none has it in IN, 0 is written",
          "VALUE");
  values->of_output_inactive =
      add("--output-inactive", values->output_inactive, "the same of OUT alone; default: that of --inactive", "VALUE");
  add_flag(app, "--quiet", values->options.quiet, "print nothing but notes and errors");
  command.read = [values]() -> Asked { return read_convert(*values); };
}

struct PlotValues {
  PlotOptions options;
  std::string file, output, contours, colour_map, dpi;
  std::vector<std::string> fields;
  const CLI::Option* of_output = nullptr;
  const CLI::Option* of_contours = nullptr;
  const CLI::Option* of_dpi = nullptr;
  std::array<std::string, 3> cut;
  std::array<const CLI::Option*, 3> of_cut;
};

/// "none", a number of lines, or levels with commas between them.
void read_contours(const std::string& text, FigureStyle& style, ProblemList& problems) {
  std::int64_t count = 0;
  if (text == "none") {
    style.contours = std::int64_t{0};
    return;
  }
  if (parse_integer(std::string_view(text), count) == NumberStatus::ok && count >= 0 && count <= most_contours) {
    style.contours = count;
    return;
  }
  std::vector<double> levels;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    double value = 0;
    if (parse_number(word, value) != NumberStatus::ok || !std::isfinite(value) || text.find(',') == std::string::npos) {
      problems.add("--contours", "",
                   fmt::format("is {}; none, a number of lines from 0 to {} or levels such as -1,0,1 are expected",
                               excerpt(text), most_contours));
      return;
    }
    levels.push_back(value);
  }
  style.contours = std::move(levels);
}

PlotOptions read_plot(const PlotValues& values) {
  ProblemList problems;
  PlotOptions options = values.options;
  if (values.file.empty()) problems.add("RESULT", "", "is empty; the name of a file is expected");
  if (values.of_output->count() > 0 && values.output.empty()) {
    problems.add("--output", "", "is empty; the name of a file is expected");
  }
  options.file = values.file;
  options.output = values.output;
  options.style.colour_map = values.colour_map;
  if (values.of_contours->count() > 0) read_contours(values.contours, options.style, problems);
  if (values.of_dpi->count() > 0) {
    std::int64_t dpi = 0;
    const bool is_number = parse_integer(std::string_view(values.dpi), dpi) == NumberStatus::ok;
    if (!is_number || dpi < least_dpi || dpi > most_dpi) {
      problems.add(
          "--dpi", "",
          fmt::format("is {}; a whole number from {} to {} is expected", excerpt(values.dpi), least_dpi, most_dpi));
    }
    options.style.dpi = dpi;
  }
  for (std::size_t k = 0; k < values.cut.size(); ++k) {
    options.style.cut[k] = finite_number(*values.of_cut[k], values.cut[k], problems);
  }
  for (const std::string& words : values.fields) {
    for (const std::string& word : CLI::detail::split(words, ',')) options.style.fields.push_back(word);
  }
  problems.throw_if_any();
  return options;
}

void add_plot(CommandSet& commands) {
  Command& command = commands.add(
      "plot", "RESULT", "draws a result, model or inversion again",
      "RESULT is what run or invert wrote, a table of fields, or a file that convert reads. docs/figures.md "
      "shows what is drawn.\n");
  const auto values = std::make_shared<PlotValues>();
  CLI::App& app = *command.app;
  app.add_option("RESULT", values->file, "the file to draw")->type_name("")->required();
  values->of_output =
      app.add_option("--output", values->output, "the figure, .png, .pdf or .svg; default: RESULT's name with .png")
          ->type_name("FILE");
  add_repeatable(app, "--field", values->fields, "draw these fields of a result alone, e.g. gz,gzz; may be repeated",
                 "NAMES");
  values->of_contours =
      app.add_option(
             "--contours", values->contours,
             "about so many lines of equal value, their levels in the field's unit with commas between them, or none")
          ->type_name("N|LEVELS");
  app.add_option("--colour-map", values->colour_map,
                 "a colour map of matplotlib; diverging ones, as RdBu_r, are centred at 0")
      ->type_name("NAME");
  values->of_dpi =
      app.add_option("--dpi", values->dpi, "dots per inch of a .png; default 300, of models 180")->type_name("N");
  for (std::size_t k = 0; k < values->cut.size(); ++k) {
    values->of_cut[k] = app.add_option(fmt::format("--{}", direction_names[k]), values->cut[k],
                                       "cut a model there; default: through the cell that differs most")
                            ->type_name("METRES");
  }
  app.add_flag_callback(
      "--no-outline", [values] { values->options.style.model_outline = false; }, "do not draw the extent of the model");
  app.add_flag_callback(
      "--plain", [values] { values->options.style.annotations = false; },
      "without title, the lines below it, the statistics of the panels and the version at the foot");
  add_flag(app, "--quiet", values->options.quiet, "print nothing but errors");
  command.read = [values]() -> Asked { return read_plot(*values); };
}

void add_info(CommandSet& commands) {
  Command& command = commands.add("info", "", "version, libraries, execution spaces and devices");
  const auto options = std::make_shared<InfoOptions>();
  add_flag(*command.app, "--calibrate", options->calibrate,
           "measure peak arithmetic and memory bandwidth of every space and print them as JSON, nothing else");
  add_flag(*command.app, "--json", options->json, "print the same facts as one JSON document, nothing else");
  const auto cases = std::make_shared<std::string>();
  command.app
      ->add_option("--cases", *cases,
                   "read and validate the cases of this JSON file and print what studies need to know of them as JSON, "
                   "nothing else")
      ->type_name("FILE");
  command.read = [options, cases]() -> Asked {
    options->cases = *cases;
    return *options;
  };
}

std::string man_page_of(const CommandSet& commands) {
  std::vector<ManualCommand> manual;
  for (const Command& command : commands.commands()) {
    ManualCommand told{command.usage(), command.app->get_description(), {}, command.footer};
    for (const CLI::Option* option : command.app->get_options()) {
      const std::string type = takes_value(*option) ? option->get_type_name() : "";
      told.options.emplace_back(option->get_name(false, true) + (type.empty() ? "" : " " + type),
                                option->get_description());
    }
    manual.push_back(std::move(told));
  }
  return man_page(manual);
}

/// `prismfield help WORD`: of a command, of a key, or of both where there are both.
std::string help_of(const CommandSet& commands, const std::string& word) {
  if (word.empty()) return wrapped(general_help(commands), help_columns());
  const Command* const command = commands.find(word);
  if (command == nullptr) return key_help(word, help_columns());
  const std::string text = wrapped(command->app->help("prismfield"), help_columns());
  return is_documented_key(word) ? text + "\n" + key_help(word, help_columns()) : text;
}

void add_help(CommandSet& commands) {
  Command& command = commands.add(
      "help", "[KEY]", "what a key of a case means, or all about a command",
      "KEY is a path such as model.voxels.easting, or its last part; keys of a study are study.repeats and\n"
      "so on. docs/case.md has all of them.\n");
  struct Values {
    std::string word;
    bool markdown = false, man = false, keys = false, study_keys = false;
  };
  const auto values = std::make_shared<Values>();
  CLI::App& app = *command.app;
  app.add_option("KEY", values->word, "a key, or a command; without one: the commands")->type_name("");
  add_flag(app, "--keys", values->keys, "print the path of every key of a case, a line each");
  add_flag(app, "--study-keys", values->study_keys, "print those of a study");
  add_flag(app, "--markdown", values->markdown, "print docs/case.md");
  add_flag(app, "--man", values->man, "print the man page");
  command.read = [values, &commands]() -> Asked {
    const std::array asked{!values->word.empty(), values->markdown, values->man, values->keys, values->study_keys};
    if (std::count(asked.begin(), asked.end(), true) > 1) {
      throw InputError("", "", "help takes one of KEY, --keys, --study-keys, --markdown and --man at a time");
    }
    if (values->man) return HelpText{man_page_of(commands)};
    if (values->markdown) return HelpText{key_manual()};
    if (values->keys || values->study_keys) return HelpText{key_paths(values->study_keys)};
    return HelpText{help_of(commands, values->word)};
  };
}

[[noreturn]] void refuse_command(const CommandSet& commands, const std::string& word) {
  const std::string there_are = fmt::format("there are: {} (prismfield --help tells more)", command_list(commands));
  if (word.starts_with("-")) {
    throw InputError(word, "", "is no option of prismfield itself; options follow a command, and " + there_are);
  }
  const std::string nearest = nearest_spelling(word, commands.names());
  std::string what = fmt::format("{} is no command of this version", excerpt(word));
  if (word.ends_with(".yaml") || word.ends_with(".yml")) {
    what += "; did you mean prismfield run " + word + "?";
  } else if (!nearest.empty()) {
    what += "; did you mean " + nearest + "?";
  } else {
    what += ";";
  }
  throw InputError("", "", what + (what.ends_with('?') ? " T" : " t") + there_are.substr(1));
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine result;
  std::vector<std::string> own;
  for (const std::string& argument : arguments) {
    (argument.starts_with("--kokkos-") ? result.kokkos_options : own).push_back(argument);
  }
  CommandSet commands;
  add_case_command<RunOptions>(commands, "run", "forward model: fields at points, written to a file",
                               "the result's file");
  constexpr bool resumes = false;
  add_case_command<SensitivityOptions>(commands, "sensitivity", "the matrix G of a case, kept or applied on the fly",
                                       "the fields G m", resumes);
  add_case_command<InvertOptions>(commands, "invert", "density model from data, with its uncertainty",
                                  "the model's file");
  add_compare(commands);
  add_study(commands);
  add_convert(commands);
  add_plot(commands);
  add_info(commands);
  add_help(commands);
  if (own.empty()) {
    throw InputError(
        "", "",
        fmt::format("a command is missing; there are: {} (prismfield --help tells more)", command_list(commands)));
  }
  const std::string word = own.front();
  if (word == "-h" || word == "--help") {
    result.command = HelpText{wrapped(general_help(commands), help_columns())};
  } else if (word == "--version") {
    result.command = HelpText{fmt::format("prismfield {} ({})\n", version, git_hash)};
  } else if (const Command* const command = commands.find(word)) {
    result.command = commands.parse(*command, own);
  } else {
    refuse_command(commands, word);
  }
  return result;
}

}  // namespace prismfield
