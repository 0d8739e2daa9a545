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

#include "app/key_help.hpp"
#include "app/terminal.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "base/version.hpp"
#include "case/key_table.hpp"
#include "case/yaml_tree.hpp"
#include "model/axis.hpp"
#include "model/plausible.hpp"
#include "readers/file_content.hpp"

namespace prismfield {
namespace {

std::string exit_code_text() {
  std::string text = "Exit codes:";
  for (const auto& [code, meaning] : exit_codes) text += fmt::format("\n  {:<3}  {}", code, meaning);
  return text;
}

/// The finite number that a text is; nothing for others.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  if (parse_number(text, value) != NumberStatus::ok || !std::isfinite(value)) return std::nullopt;
  return value;
}

using Asked = decltype(CommandLine::command);
using Take = std::function<void(const std::string&)>;

/// A command as CLI11 knows it, what its usage names behind it, and what its options become.
class Command {
public:
  /// `more`: what its help says behind the options, of this command alone. Values that are wrong go to `problems`.
  Command(CLI::App& command, std::string arguments, std::string more, ProblemList& problems)
      : app(command), footer(std::move(more)), m_arguments(std::move(arguments)), m_problems(problems) {}

  CLI::App& app;
  const std::string footer;
  std::function<Asked()> read;

  [[nodiscard]] std::string usage() const {
    return "prismfield " + app.get_name() + (m_arguments.empty() ? "" : " " + m_arguments);
  }

  /// The options that it is to fill and that it becomes.
  template <class Options>
  Options& reads() {
    const auto options = std::make_shared<Options>();
    read = [options]() -> Asked { return *options; };
    return *options;
  }

  void problem(const std::string& name, const std::string& what) const { m_problems.add(name, "", what); }

  void flag(const std::string& name, bool& value, const std::string& purpose) const {
    app.add_flag(name, value, purpose)->disable_flag_override();
  }
  void flag(const std::string& name, std::function<void()> action, const std::string& purpose) const {
    app.add_flag_callback(name, std::move(action), purpose)->disable_flag_override();
  }
  /// `take` is given the value. An argument's name has no dashes, and no type.
  CLI::Option* value(const std::string& name, const std::string& type, const std::string& purpose,
                     const Take& take) const {
    return app.add_option_function<std::string>(name, take, purpose)->type_name(type);
  }
  /// The value itself, which is not empty.
  template <class Text>
  CLI::Option* text(const std::string& name, const std::string& type, Text& value, const std::string& purpose,
                    const std::string& expected = "the name of a file is expected") const {
    return this->value(name, type, purpose, [this, name, &value, expected](const std::string& given) {
      if (given.empty()) problem(name, "is empty; " + expected);
      value = given;
    });
  }
  /// The name of a file that the command needs, and that stands without an option.
  CLI::Option* file(const std::string& name, std::filesystem::path& file, const std::string& purpose) const {
    return text(name, "", file, purpose)->required();
  }
  /// Every value of an option that takes one each time that it is given.
  void repeatable(const std::string& name, const std::string& type, const std::string& purpose,
                  const Take& take) const {
    const auto take_all = [take](const std::vector<std::string>& values) {
      std::for_each(values.begin(), values.end(), take);
    };
    app.add_option_function<std::vector<std::string>>(name, take_all, purpose)
        ->type_name(type)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  }

  /// A finite number, which may have to be at least 0.
  void number(const std::string& name, const std::string& type, std::optional<double>& value,
              const std::string& purpose, bool may_be_negative = true) const {
    this->value(name, type, purpose, [this, name, &value, may_be_negative](const std::string& given) {
      value = number_in(given);
      if (value && (may_be_negative || *value >= 0)) return;
      problem(name,
              fmt::format("is {}; a number{} is expected", excerpt(given), may_be_negative ? "" : " of at least 0"));
    });
  }
  /// What a word means, one of `choices`.
  template <class T>
  void choice(const std::string& name, const std::string& type, std::optional<T>& value,
              const std::vector<std::pair<std::string, T>>& choices, const std::string& purpose) const {
    this->value(name, type, purpose, [this, name, &value, choices](const std::string& word) {
      std::vector<std::string> words;
      for (const auto& [spelling, meant] : choices) {
        if (spelling == word) value = meant;
        words.push_back(spelling);
      }
      if (value) return;
      const std::string nearest = nearest_spelling(word, words);
      problem(name, fmt::format("is {}{} {}", excerpt(word),
                                nearest.empty() ? "; allowed:" : ", did you mean " + nearest + "? Allowed:",
                                fmt::join(words, ", ")));
    });
  }

private:
  std::string m_arguments;
  ProblemList& m_problems;
};

/// The commands of this version, each added by a function of its own.
class CommandSet {
public:
  CommandSet() : m_app("", "prismfield") {
    m_app.set_help_flag();
    m_app.require_subcommand(0, 1);
    m_app.get_formatter()->column_width(28);
  }

  /// `footer` comes before what every command says. The caller adds the options and what is read.
  Command& add(const std::string& name, const std::string& arguments, const std::string& purpose,
               const std::string& footer = "") {
    CLI::App* const app = m_app.add_subcommand(name, purpose);
    app->set_help_flag("-h,--help", "this text");
    app->allow_extras();
    app->footer(footer + "Kokkos' own --kokkos-* options are passed through to Kokkos.\n" + exit_code_text());
    return m_commands.emplace_back(*app, arguments, footer, m_problems);
  }

  [[nodiscard]] const std::deque<Command>& commands() const noexcept { return m_commands; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Command& command : m_commands) names.push_back(command.app.get_name());
    return names;
  }
  /// nullptr when there is no such command
  [[nodiscard]] const Command* find(const std::string& name) const {
    const auto found = std::find_if(m_commands.begin(), m_commands.end(),
                                    [&](const Command& command) { return command.app.get_name() == name; });
    return found == m_commands.end() ? nullptr : &*found;
  }

  /// Parses the arguments; the first one is the name of `command`.
  Asked parse(const Command& command, const std::vector<std::string>& arguments);

private:
  CLI::App m_app;
  ProblemList m_problems;
  std::deque<Command> m_commands;
};

std::string general_help(const CommandSet& commands) {
  std::string text = "Gravity and magnetic fields of ensembles of prisms, and their inversion\n\nUsage:\n";
  for (const Command& command : commands.commands()) {
    text += fmt::format("  {:<34}{}\n", command.usage(), command.app.get_description());
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
void add_mismatches(const Command& command, const std::vector<std::string>& arguments, const CLI::Error& error) {
  std::vector<std::string> told;
  std::vector<const CLI::Option*> given;
  const auto tell = [&](const std::string& name, const std::string& what) {
    if (std::find(told.begin(), told.end(), name) != told.end()) return;
    told.push_back(name);
    command.problem(name, what);
  };
  for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const CLI::Option* const option = name.starts_with("-") ? command.app.get_option_no_throw(name) : nullptr;
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
  if (told.empty()) command.problem("", error.what());
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
  try {
    m_app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return HelpText{wrapped(command.app.help("prismfield"), help_columns())};
  } catch (const CLI::RequiredError&) {
    command.problem("", fmt::format("an argument is missing; write {}", command.usage()));
  } catch (const CLI::ArgumentMismatch& error) {
    add_mismatches(command, arguments, error);
  } catch (const CLI::ParseError& error) {
    command.problem("", fmt::format("{} (prismfield {} --help tells more)", error.what(), command.app.get_name()));
  }
  bool may_be_value = false;
  for (const std::string& extra : command.app.remaining()) {
    if (extra == "--") continue;
    if (extra.starts_with("-") && extra.size() > 1) {
      command.problem(extra.substr(0, extra.find('=')), unknown_option(command.app, extra));
      may_be_value = extra.find('=') == std::string::npos;
    } else if (!std::exchange(may_be_value, false)) {
      command.problem("", fmt::format("one argument too many: {}; write {}", excerpt(extra), command.usage()));
    }
  }
  m_problems.throw_if_any();
  return command.read();
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
  Options& options = command.reads<Options>();
  command.file("CASE.yaml", options.file, "the case to compute");
  command.repeatable("--set", "KEY=VALUE",
                     "put a value in the place of the case's, e.g. --set execution.slots=4; may be repeated",
                     [&](const std::string& given) { options.overrides.push_back(given); });
  command.flag("--check", options.check, "read and validate everything, then stop");
  command.flag("--dry-run", options.dry_run,
               "also print sizes, memory, the partition and an estimated time, then stop");
  if (resumes) {
    command.flag("--resume", options.resume,
                 "go on from output.checkpoint.file, or begin at the start when there is none");
  }
  command.flag("--quiet", options.quiet, "print nothing but warnings and errors");
  command.text("--output", "FILE", options.output, result + ", in the place of output.file");
}

void add_compare(CommandSet& commands) {
  Command& command = commands.add("compare", "A.h5 B.h5", "differences of two results, B being the reference");
  CompareOptions& options = command.reads<CompareOptions>();
  command.file("A.h5", options.a, "a result");
  command.file("B.h5", options.b, "the reference");
  constexpr bool may_be_negative = false;
  command.number("--tolerance", "T", options.tolerance,
                 "largest max|a-b| / max|b| of a field that is still agreement; beyond it the exit code is 3",
                 may_be_negative);
  command.flag(
      "--horizontal", [&] { options.match = PointMatch::horizontal; },
      "match points by easting and northing alone, where heights differ");
  command.flag("--quiet", options.quiet, "print nothing but errors; the exit code tells");
}

/// Of the options of a study, what does not go together. Throws InputError.
void check_study(const StudyOptions& options) {
  ProblemList problems;
  const std::string file = options.file.string();
  if (options.join.empty()) {
    if (!file.empty()) return;
    throw InputError("", "",
                     "an argument is missing; write prismfield study STUDY.yaml or prismfield study --join DIR DIR");
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
  StudyOptions& options = command.reads<StudyOptions>();
  const std::string folder = "the name of a folder is expected";
  command.file("STUDY.yaml", options.file, "the study to run")->required(false);
  command.repeatable("--set", "KEY=VALUE", "put a value in the place of the study's or its case's; may be repeated",
                     [&](const std::string& given) { options.overrides.push_back(given); });
  command.flag("--reduced", options.reduced, "apply what the study's key reduced says");
  command.flag("--check", options.check, "read and validate everything, then stop");
  command.flag("--dry-run", options.dry_run, "also print every point and how it is started, then stop");
  command.flag("--resume", options.resume, "make the runs that the report's folder does not hold yet");
  command.flag("--quiet", options.quiet, "print nothing but warnings and errors");
  command.text("--output", "DIR", options.output, "the report's folder, in the place of the key report", folder);
  command.text("--machine", "NAME", options.machine,
               "what tables and figures call this machine; default: its host's name", "a name is expected");
  const auto join = [&, folder](const std::vector<std::string>& given) {
    if (std::find(given.begin(), given.end(), "") != given.end()) command.problem("--join", "is empty; " + folder);
    options.join.assign(given.begin(), given.end());
  };
  command.app
      .add_option_function<std::vector<std::string>>("--join", join,
                                                     "make one report of those in several folders, each of a machine")
      ->type_name("DIR")
      ->expected(1, CLI::detail::expected_max_vector_size);
  command.read = [&options, keep = command.read]() -> Asked {
    check_study(options);
    options.machine = shown(options.machine);
    if (!options.join.empty() && options.output.empty()) options.output = "joined";
    return options;
  };
}

std::vector<std::pair<std::string, FileFormat>> format_choices(bool to_read) {
  std::vector<std::pair<std::string, FileFormat>> choices;
  for (const FormatInfo& format : format_infos) {
    if (to_read ? format.is_read : format.is_written) choices.emplace_back(format.name, format.format);
  }
  return choices;
}

void read_inducing_field(const Command& command, const std::string& text, std::optional<InducingField>& field) {
  std::vector<double> numbers;
  for (const std::string& word : CLI::detail::split(text, ',')) numbers.push_back(number_in(word).value_or(NAN));
  const bool is_one =
      numbers.size() == 3 && std::abs(numbers[0]) <= 90 && std::abs(numbers[1]) <= 360 && numbers[2] > 0;
  if (const std::string error = is_one ? intensity_error(numbers[2]) : ""; !error.empty()) {
    command.problem("--inducing-field", error);
  } else if (is_one) {
    field = InducingField{numbers[0], numbers[1], numbers[2]};
  } else {
    command.problem("--inducing-field",
                    fmt::format("is {}; inclination (-90 to 90 degrees), declination (-360 to 360) and intensity (nT, "
                                "above 0) with commas are expected, such as -62.5,11.25,48250",
                                excerpt(text)));
  }
}

void add_convert(CommandSet& commands) {
  Command& command = commands.add(
      "convert", "IN OUT", "ensembles, meshes, models, points and data between formats",
      "What a file is, its suffix and its content say: " + known_suffixes() +
          ".\nTomofast's files, which have no suffix of their own, are known by their first lines when read. "
          "docs/convert.md has units, signs and axes of every format.\n");
  ConvertOptions& options = command.reads<ConvertOptions>();
  const std::vector<std::pair<std::string, double>> units{{"kg/m3", 1.0}, {"g/cm3", 1000.0}};
  const std::vector<std::pair<std::string, Axes>> axes{{"z_down", Axes::z_down}, {"z_up", Axes::z_up}};
  command.file("IN", options.in, "the file to read");
  command.file("OUT", options.out, "the file to write");
  command.choice("--from", "FORMAT", options.from, format_choices(true),
                 fmt::format("what IN is: {}", fmt::join(format_names(true), ", ")));
  command.choice("--to", "FORMAT", options.to, format_choices(false),
                 fmt::format("what OUT is to be: {}", fmt::join(format_names(false), ", ")));
  command.text("--mesh", "FILE", options.mesh,
               "the UBC mesh, Tomofast grid or HDF5 model that the numbers of IN belong to");
  command.text("--field", "NAME", options.field,
               "which field a column without name holds, or which values of a model or field of points go to a "
               "format that holds one, magnetization: its three components; default gz, density",
               "a name such as gz or density is expected");
  command.choice("--density-unit", "UNIT", options.density_to_si, units,
                 "of IN: kg/m3, or g/cm3; default g/cm3 for UBC models, else kg/m3");
  command.choice("--output-density-unit", "UNIT", options.output_density_to_si, units, "the same of OUT");
  command.choice("--axes", "AXES", options.axes, axes,
                 "z_down, where gz is positive above excess mass, or z_up: of IN, where it does not say; default "
                 "z_down");
  command.choice("--output-axes", "AXES", options.output_axes, axes,
                 "the same of OUT; default: those of IN, in UBC's and Tomofast's files z_down");
  command.value("--inducing-field", "I,D,F",
                "inclination and declination (degrees) and intensity (nT) of the inducing field, where IN does not say",
                [&](const std::string& given) { read_inducing_field(command, given, options.inducing_field); });
  command.number("--inactive", "VALUE", options.inactive,
                 "the number that inactive cells have in UBC's and Tomofast's files, in the file's unit; default: "
                 "-100 in .sus and .fld, else none has it in IN, 0 is written");
  command.number("--output-inactive", "VALUE", options.output_inactive,
                 "the same of OUT alone; default: that of --inactive");
  command.flag("--quiet", options.quiet, "print nothing but notes and errors");
}

/// "none", a number of lines, or levels with commas between them.
void read_contours(const Command& command, const std::string& text, FigureStyle& style) {
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
    const std::optional<double> level = number_in(word);
    if (!level || text.find(',') == std::string::npos) {
      command.problem("--contours",
                      fmt::format("is {}; none, a number of lines from 0 to {} or levels such as -1,0,1 are expected",
                                  excerpt(text), most_contours));
      return;
    }
    levels.push_back(*level);
  }
  style.contours = std::move(levels);
}

void add_plot(CommandSet& commands) {
  Command& command = commands.add(
      "plot", "RESULT", "draws a result, model or inversion again",
      "RESULT is what run or invert wrote, a table of fields, or a file that convert reads. docs/figures.md "
      "shows what is drawn.\n");
  PlotOptions& options = command.reads<PlotOptions>();
  FigureStyle& style = options.style;
  command.file("RESULT", options.file, "the file to draw");
  command.text("--output", "FILE", options.output, "the figure, .png, .pdf or .svg; default: RESULT's name with .png");
  command.repeatable("--field", "NAMES", "draw these fields of a result alone, e.g. gz,gzz; may be repeated",
                     [&](const std::string& given) {
                       for (const std::string& word : CLI::detail::split(given, ',')) style.fields.push_back(word);
                     });
  command.value(
      "--contours", "N|LEVELS",
      "about so many lines of equal value, their levels in the field's unit with commas between them, or none",
      [&](const std::string& given) { read_contours(command, given, style); });
  command.value("--colour-map", "NAME", "a colour map of matplotlib; diverging ones, as RdBu_r, are centred at 0",
                [&](const std::string& given) { style.colour_map = given; });
  command.value("--dpi", "N", "dots per inch of a .png; default 300, of models 180", [&](const std::string& given) {
    const bool is_number = parse_integer(std::string_view(given), style.dpi.emplace()) == NumberStatus::ok;
    if (is_number && *style.dpi >= least_dpi && *style.dpi <= most_dpi) return;
    command.problem(
        "--dpi", fmt::format("is {}; a whole number from {} to {} is expected", excerpt(given), least_dpi, most_dpi));
  });
  for (std::size_t k = 0; k < style.cut.size(); ++k) {
    command.number(fmt::format("--{}", direction_names[k]), "METRES", style.cut[k],
                   "cut a model there; default: through the cell that differs most");
  }
  command.flag(
      "--no-outline", [&] { style.model_outline = false; }, "do not draw the extent of the model");
  command.flag(
      "--plain", [&] { style.annotations = false; },
      "without title, the lines below it, the statistics of the panels and the version at the foot");
  command.flag("--quiet", options.quiet, "print nothing but errors");
}

void add_info(CommandSet& commands) {
  Command& command = commands.add("info", "", "version, libraries, execution spaces and devices");
  InfoOptions& options = command.reads<InfoOptions>();
  command.flag("--calibrate", options.calibrate,
               "measure peak arithmetic and memory bandwidth of every space and print them as JSON, nothing else");
  command.flag("--json", options.json, "print the same facts as one JSON document, nothing else");
  command.value("--cases", "FILE",
                "read and validate the cases of this JSON file and print what studies need to know of them as JSON, "
                "nothing else",
                [&](const std::string& given) { options.cases = given; });
}

/// Text as roff takes it: hyphens that can be copied, and no line that is taken for a request.
std::string roff(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    begins_line = c == '\n';
  }
  return result;
}

std::string item(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

constexpr std::pair<const char*, const char*> variables[] = {
    {"PRISMFIELD_PYTHON",
     "the Python that draws figures, with matplotlib and h5py; python3 and /usr/bin/python3 are "
     "tried after it"},
    {"PRISMFIELD_CHECKPOINT", "read by the batch scripts for Slurm: the checkpoint from which a new job goes on"},
    {"OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES",
     "threads of a rank and where they run; without them all cores that "
     "the rank may use"},
    {"KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, KOKKOS_VISIBLE_DEVICES", "Kokkos' own, as the options --kokkos-*"}};

/// prismfield.1, in the language of man.
std::string man_page(const CommandSet& commands) {
  std::string text = fmt::format(".TH PRISMFIELD 1 \"\" \"prismfield {}\" \"User Commands\"\n", roff(version));
  text +=
      ".SH NAME\nprismfield \\- gravity and magnetic fields of ensembles of prisms, and their inversion\n.SH "
      "SYNOPSIS\n";
  for (const Command& command : commands.commands()) text += fmt::format(".B {}\n.br\n", roff(command.usage()));
  text += ".SH DESCRIPTION\n";
  text += roff(
      "prismfield computes the gravity and the magnetic field of rectangular prisms at points, keeps sensitivities, "
      "and inverts measurements for densities, susceptibilities or magnetisations. A case is one YAML file; "
      "\"prismfield help KEY\" tells what a key of it means. Under mpirun or srun the same command shares the work "
      "among ranks.\n");
  text += ".SH COMMANDS\n";
  for (const Command& command : commands.commands()) {
    text += fmt::format(".SS {}\n{}\n", roff(command.usage()), roff(command.app.get_description()));
    for (const CLI::Option* option : command.app.get_options()) {
      const std::string type = takes_value(*option) ? option->get_type_name() : "";
      text += item(option->get_name(false, true) + (type.empty() ? "" : " " + type), option->get_description());
    }
    if (!command.footer.empty()) text += ".PP\n" + roff(command.footer);
  }
  text += ".SH OPTIONS\n" + item("-h, --help", "the commands, or after a command all about it");
  text += item("--version", "version and git hash");
  text += item("--kokkos-*", "are passed through to Kokkos");
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes) text += item(code, meaning);
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) text += item(name, meaning);
  text += ".SH EXAMPLES\n.nf\n" + roff(
                                      "prismfield run case.yaml --set 'fields=[gz, gzz]' --output result.nc\n"
                                      "prismfield help execution.precision\n"
                                      "mpirun -n 4 prismfield run case.yaml\n");
  return text +
         ".fi\n.SH SEE ALSO\n.BR mpirun (1),\n.BR srun (1);\nthe folder of the documentation, with case.md and "
         "README.md\n";
}

/// `prismfield help WORD`: of a command, of a key, or of both where there are both.
std::string help_of(const CommandSet& commands, const std::string& word) {
  if (word.empty()) return wrapped(general_help(commands), help_columns());
  const Command* const command = commands.find(word);
  if (command == nullptr) return key_help(word, help_columns());
  const std::string text = wrapped(command->app.help("prismfield"), help_columns());
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
  command.value("KEY", "", "a key, or a command; without one: the commands",
                [values](const std::string& given) { values->word = given; });
  command.flag("--keys", values->keys, "print the path of every key of a case, a line each");
  command.flag("--study-keys", values->study_keys, "print those of a study");
  command.flag("--markdown", values->markdown, "print docs/case.md");
  command.flag("--man", values->man, "print the man page");
  command.read = [values, &commands]() -> Asked {
    const std::array asked{!values->word.empty(), values->markdown, values->man, values->keys, values->study_keys};
    if (std::count(asked.begin(), asked.end(), true) > 1) {
      throw InputError("", "", "help takes one of KEY, --keys, --study-keys, --markdown and --man at a time");
    }
    if (values->man) return HelpText{man_page(commands)};
    if (values->markdown) return HelpText{key_page()};
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
  add_case_command<InvertOptions>(commands, "invert", "model of density, susceptibility or magnetization from data",
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
