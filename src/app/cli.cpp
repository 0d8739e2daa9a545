// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/cli.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/version.hpp"
#include "case/yaml_tree.hpp"

namespace prismfield {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 done, 1 a failure while running, 2 a mistake in the input or the\narguments, 3 compare: outside its "
    "tolerance, 130 stopped by a signal.";

struct CommandName {
  std::string name;
  std::string arguments;
  std::string purpose;
};

const std::vector<CommandName>& commands() {
  static const std::vector<CommandName> all = {
      {"run", "CASE.yaml", "forward model: fields at points, written to a file"},
      {"compare", "A.h5 B.h5", "differences of two results, B being the reference"},
      {"info", "", "version, libraries, execution spaces and devices"},
  };
  return all;
}

std::string general_help() {
  std::string text = "Gravity potential, vector and gradient tensor of ensembles of prisms\n\nUsage:\n";
  for (const CommandName& command : commands()) {
    text +=
        fmt::format("  {:<32}{}\n", fmt::format("prismfield {} {}", command.name, command.arguments), command.purpose);
  }
  text += fmt::format(
      "\nOptions:\n  -h, --help                      this text, or after a command, all about that command\n"
      "  --version                       version and git hash\n\nExample:\n  prismfield run inputs/seven_spheres.yaml "
      "--set 'fields=[gz, gzz]'\n\n{}\n",
      exit_codes);
  return text;
}

std::string command_list() {
  std::vector<std::string> names;
  for (const CommandName& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// One command's options, read by CLI11; what is wrong is told in this program's way.
class CommandParser {
public:
  explicit CommandParser(const CommandName& command)
      : m_command(command), m_app(command.purpose, "prismfield " + command.name) {
    m_app.set_help_flag("-h,--help", "this text");
    m_app.get_formatter()->column_width(28);
    m_app.allow_extras();
    set_footer("");
  }

  /// `text` comes before what every command says.
  void set_footer(const std::string& text) {
    m_app.footer(text + "Kokkos' own --kokkos-* options are passed through to Kokkos.\n" + exit_codes);
  }

  [[nodiscard]] CLI::App& app() noexcept { return m_app; }

  /// True when help was asked for.
  bool parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());
    ProblemList problems;
    try {
      m_app.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
      return true;
    } catch (const CLI::RequiredError&) {
      problems.add("", "", fmt::format("an argument is missing; write {}", usage()));
    } catch (const CLI::ArgumentMismatch& error) {
      add_mismatch(error.what(), problems);
    } catch (const CLI::ParseError& error) {
      problems.add("", "", fmt::format("{} (prismfield {} --help tells more)", error.what(), m_command.name));
    }
    for (const std::string& extra : m_app.remaining()) {
      if (extra == "--") continue;
      if (extra.starts_with("-") && extra.size() > 1) {
        problems.add(extra.substr(0, extra.find('=')), "", unknown_option(extra));
      } else {
        problems.add("", "", fmt::format("one argument too many: {}; write {}", excerpt(extra), usage()));
      }
    }
    problems.throw_if_any();
    return false;
  }

private:
  [[nodiscard]] std::string usage() const {
    return "prismfield " + m_command.name + (m_command.arguments.empty() ? "" : " " + m_command.arguments);
  }

  /// CLI11 names the option first and then counts values.
  void add_mismatch(const std::string& reason, ProblemList& problems) const {
    const std::string name = reason.substr(0, reason.find(':'));
    const CLI::Option* option = m_app.get_option_no_throw(name);
    if (reason.ends_with("disallowed flag override")) {
      problems.add("--" + reason.substr(0, reason.find(' ')), "", "takes no value");
    } else if (option == nullptr) {
      problems.add("", "", reason);
    } else if (option->count() == 0 || reason.find("received") == std::string::npos) {
      problems.add(name, "", fmt::format("has no value; write {} {}", name, option->get_type_name()));
    } else {
      problems.add(name, "", "is given more than once; keep one");
    }
  }

  [[nodiscard]] std::string unknown_option(const std::string& argument) const {
    std::vector<std::string> names;
    for (const CLI::Option* option : m_app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::string nearest = nearest_spelling(argument.substr(0, argument.find('=')), names);
    return fmt::format("is no option of prismfield {}{}: {}", m_command.name,
                       nearest.empty() ? "; there are" : "; did you mean " + nearest + "? There are",
                       fmt::join(names, ", "));
  }

  const CommandName& m_command;
  CLI::App m_app;
};

/// Every value of an option that takes one each time that it is given.
void add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                    const std::string& purpose, const std::string& type) {
  app.add_option(name, values, purpose)->type_name(type)->expected(1)->take_all()->allow_extra_args(false);
}

std::variant<HelpText, RunOptions, CompareOptions, InfoOptions> parse_run(const CommandName& command,
                                                                          const std::vector<std::string>& arguments) {
  CommandParser parser(command);
  RunOptions options;
  std::string file, output;
  parser.app().add_option("CASE.yaml", file, "the case to compute")->type_name("")->required();
  add_repeatable(parser.app(), "--set", options.overrides,
                 "put a value in the place of the case's, e.g. --set execution.slots=4; may be repeated", "KEY=VALUE");
  parser.app().add_flag("--check", options.check, "read and validate everything, then stop")->disable_flag_override();
  parser.app()
      .add_flag("--dry-run", options.dry_run,
                "also print sizes, memory, the partition and an estimated time, then stop")
      ->disable_flag_override();
  parser.app()
      .add_flag("--resume", options.resume,
                "go on from output.checkpoint.file, or begin at the start when there is none")
      ->disable_flag_override();
  parser.app().add_flag("--quiet", options.quiet, "print nothing but warnings and mistakes")->disable_flag_override();
  parser.app().add_option("--output", output, "the result's file, in the place of output.file")->type_name("FILE");
  parser.set_footer(
      "The value of --set is YAML: --set 'fields=[gz, gxx]'. An element of a list is named by\nits number, from 0: "
      "--set "
      "model.voxels.spheres.0.density=300. null takes a key out.\n");
  if (parser.parse(arguments)) return HelpText{parser.app().help()};
  if (parser.app().count("--output") > 0 && output.empty()) {
    throw InputError("--output", "", "is empty; the name of a file is expected");
  }
  if (file.empty()) throw InputError("CASE.yaml", "", "is empty; the name of a file is expected");
  options.file = file;
  options.output = output;
  return options;
}

std::variant<HelpText, RunOptions, CompareOptions, InfoOptions> parse_compare(
    const CommandName& command, const std::vector<std::string>& arguments) {
  CommandParser parser(command);
  CompareOptions options;
  std::string a, b, tolerance;
  parser.app().add_option("A.h5", a, "a result")->type_name("")->required();
  parser.app().add_option("B.h5", b, "the reference")->type_name("")->required();
  parser.app()
      .add_option("--tolerance", tolerance,
                  "largest max|a-b| / max|b| of a field that is still agreement; beyond it the exit code is 3")
      ->type_name("T");
  parser.app()
      .add_flag("--quiet", options.quiet, "print nothing but mistakes; the exit code tells")
      ->disable_flag_override();
  if (parser.parse(arguments)) return HelpText{parser.app().help()};
  if (parser.app().count("--tolerance") > 0) {
    double value = 0;
    const auto [end, status] = std::from_chars(tolerance.data(), tolerance.data() + tolerance.size(), value);
    if (status != std::errc{} || end != tolerance.data() + tolerance.size() || !std::isfinite(value) || value < 0) {
      throw InputError("--tolerance", "", fmt::format("is {}; a number of at least 0 is expected", excerpt(tolerance)));
    }
    options.tolerance = value;
  }
  if (a.empty() || b.empty()) {
    throw InputError(a.empty() ? "A.h5" : "B.h5", "", "is empty; the name of a file is expected");
  }
  options.a = a;
  options.b = b;
  return options;
}

std::variant<HelpText, RunOptions, CompareOptions, InfoOptions> parse_info(const CommandName& command,
                                                                           const std::vector<std::string>& arguments) {
  CommandParser parser(command);
  if (parser.parse(arguments)) return HelpText{parser.app().help()};
  return InfoOptions{};
}

[[noreturn]] void refuse_command(const std::string& word) {
  const std::string there_are = fmt::format("there are: {} (prismfield --help tells more)", command_list());
  if (word.starts_with("-")) {
    throw InputError(word, "", "is no option of prismfield itself; options follow a command, and " + there_are);
  }
  std::vector<std::string> names;
  for (const CommandName& command : commands()) names.push_back(command.name);
  const std::string nearest = nearest_spelling(word, names);
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
  if (own.empty()) {
    throw InputError("", "",
                     fmt::format("a command is missing; there are: {} (prismfield --help tells more)", command_list()));
  }
  const std::string word = own.front();
  if (word == "-h" || word == "--help") {
    result.command = HelpText{general_help()};
    return result;
  }
  if (word == "--version") {
    result.command = HelpText{fmt::format("prismfield {} ({})\n", version, git_hash)};
    return result;
  }
  const auto command = std::find_if(commands().begin(), commands().end(),
                                    [&](const CommandName& candidate) { return candidate.name == word; });
  if (command == commands().end()) refuse_command(word);
  const std::vector<std::string> rest(own.begin() + 1, own.end());
  if (word == "run") {
    result.command = parse_run(*command, rest);
  } else if (word == "compare") {
    result.command = parse_compare(*command, rest);
  } else {
    result.command = parse_info(*command, rest);
  }
  return result;
}

}  // namespace prismfield
