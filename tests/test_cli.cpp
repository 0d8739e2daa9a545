// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "app/cli.hpp"
#include "base/human_text.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismfield::test_cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mistakes;
using Words = std::vector<std::string>;

std::string problem(const Words& arguments) {
  return mistakes([&] { static_cast<void>(parse_command_line(arguments)); });
}

std::string help(const Words& arguments) { return std::get<HelpText>(parse_command_line(arguments).command).text; }

TEST(Cli, ReadsEveryOptionOfRun) {
  const CommandLine line =
      parse_command_line({"run", "--set", "a=1", "case.yaml", "--set=b=[1, 2]", "--check", "--dry-run", "--quiet",
                          "--output", "out.h5", "--kokkos-num-threads=3", "--kokkos-print-configuration"});
  const auto& run = std::get<RunOptions>(line.command);
  EXPECT_EQ(run.file, "case.yaml");
  EXPECT_THAT(run.overrides, ElementsAre("a=1", "b=[1, 2]"));
  EXPECT_TRUE(run.check);
  EXPECT_TRUE(run.dry_run);
  EXPECT_TRUE(run.quiet);
  EXPECT_EQ(run.output, "out.h5");
  EXPECT_THAT(line.kokkos_options, ElementsAre("--kokkos-num-threads=3", "--kokkos-print-configuration"));
}

TEST(Cli, DefaultsOfRun) {
  const auto run = std::get<RunOptions>(parse_command_line({"run", "case.yaml"}).command);
  EXPECT_TRUE(run.overrides.empty());
  EXPECT_FALSE(run.check || run.dry_run || run.quiet);
  EXPECT_TRUE(run.output.empty());
}

TEST(Cli, ReadsInvert) {
  const auto bare = std::get<InvertOptions>(parse_command_line({"invert", "case.yaml"}).command);
  EXPECT_EQ(bare.file, "case.yaml");
  EXPECT_FALSE(bare.check || bare.dry_run || bare.quiet || bare.resume);
  const auto full = std::get<InvertOptions>(parse_command_line({"invert", "case.yaml", "--set", "a=1", "--resume",
                                                                "--check", "--dry-run", "--quiet", "--output", "m.h5"})
                                                .command);
  EXPECT_TRUE(full.check && full.dry_run && full.quiet && full.resume);
  EXPECT_THAT(full.overrides, ElementsAre("a=1"));
  EXPECT_EQ(full.output, "m.h5");
}

TEST(Cli, KeepsValuesAsTheyAre) {
  const auto run =
      std::get<RunOptions>(parse_command_line({"run", "info", "--set", "[a,b]", "--set", "--quiet"}).command);
  EXPECT_EQ(run.file, "info") << "a case may be called like a command";
  EXPECT_THAT(run.overrides, ElementsAre("[a,b]", "--quiet"));
  EXPECT_FALSE(run.quiet);
  EXPECT_EQ(std::get<RunOptions>(parse_command_line({"run", "--", "--check"}).command).file, "--check");
}

TEST(Cli, ReadsCompare) {
  const auto bare = std::get<CompareOptions>(parse_command_line({"compare", "a.h5", "b.h5"}).command);
  EXPECT_EQ(bare.a, "a.h5");
  EXPECT_EQ(bare.b, "b.h5");
  EXPECT_FALSE(bare.tolerance);
  const auto strict = std::get<CompareOptions>(
      parse_command_line({"compare", "--tolerance", "1e-12", "a.h5", "b.h5", "--quiet"}).command);
  EXPECT_EQ(strict.tolerance, 1e-12);
  EXPECT_TRUE(strict.quiet);
  EXPECT_EQ(std::get<CompareOptions>(parse_command_line({"compare", "a", "b", "--tolerance=0"}).command).tolerance, 0);
  EXPECT_EQ(bare.match, PointMatch::places);
  EXPECT_EQ(std::get<CompareOptions>(parse_command_line({"compare", "a", "b", "--horizontal"}).command).match,
            PointMatch::horizontal);
}

TEST(Cli, ReadsStudy) {
  const auto bare = std::get<StudyOptions>(parse_command_line({"study", "s.yaml"}).command);
  EXPECT_EQ(bare.file, "s.yaml");
  EXPECT_TRUE(bare.output.empty() && bare.join.empty() && bare.overrides.empty() && bare.machine.empty());
  EXPECT_FALSE(bare.reduced || bare.check || bare.dry_run || bare.resume || bare.quiet);
  const auto full = std::get<StudyOptions>(
      parse_command_line({"study", "--set", "a=1", "--reduced", "s.yaml", "--set", "b=2", "--check", "--dry-run",
                          "--resume", "--quiet", "--output", "dir", "--machine", "fast"})
          .command);
  EXPECT_EQ(full.overrides, (Words{"a=1", "b=2"}));
  EXPECT_EQ(full.output, "dir");
  EXPECT_EQ(full.machine, "fast");
  EXPECT_TRUE(full.reduced && full.check && full.dry_run && full.resume && full.quiet);
  const auto joined =
      std::get<StudyOptions>(parse_command_line({"study", "--join", "a", "b", "--output", "c"}).command);
  EXPECT_EQ(joined.join, (std::vector<std::filesystem::path>{"a", "b"}));
  EXPECT_EQ(joined.output, "c");
  EXPECT_EQ(std::get<StudyOptions>(parse_command_line({"study", "--join", "a", "b"}).command).output, "joined");
}

TEST(Cli, ReadsConvert) {
  const auto bare = std::get<ConvertOptions>(parse_command_line({"convert", "a.obs", "b.csv"}).command);
  EXPECT_EQ(bare.in, "a.obs");
  EXPECT_EQ(bare.out, "b.csv");
  EXPECT_FALSE(bare.from || bare.to || bare.density_to_si || bare.output_density_to_si || bare.axes ||
               bare.output_axes || bare.inactive || bare.quiet);
  EXPECT_TRUE(bare.mesh.empty() && bare.field.empty());
  const auto full = std::get<ConvertOptions>(parse_command_line({"convert",
                                                                 "a",
                                                                 "b",
                                                                 "--from",
                                                                 "tomofast-values",
                                                                 "--to=ubc-model",
                                                                 "--mesh",
                                                                 "grid.txt",
                                                                 "--field",
                                                                 "density_sigma",
                                                                 "--density-unit",
                                                                 "kg/m3",
                                                                 "--output-density-unit",
                                                                 "g/cm3",
                                                                 "--axes",
                                                                 "z_up",
                                                                 "--output-axes",
                                                                 "z_down",
                                                                 "--inactive",
                                                                 "-1e8",
                                                                 "--quiet"})
                                                 .command);
  EXPECT_EQ(full.from, FileFormat::tomofast_values);
  EXPECT_EQ(full.to, FileFormat::ubc_model);
  EXPECT_EQ(full.mesh, "grid.txt");
  EXPECT_EQ(full.field, "density_sigma");
  EXPECT_EQ(full.density_to_si, 1);
  EXPECT_EQ(full.output_density_to_si, 1000);
  EXPECT_EQ(full.axes, Axes::z_up);
  EXPECT_EQ(full.output_axes, Axes::z_down);
  EXPECT_EQ(full.inactive, -1e8);
  EXPECT_TRUE(full.quiet);
}

TEST(Cli, ReadsInfo) {
  EXPECT_FALSE(std::get<InfoOptions>(parse_command_line({"info"}).command).calibrate);
  EXPECT_TRUE(std::get<InfoOptions>(parse_command_line({"info", "--calibrate"}).command).calibrate);
  EXPECT_TRUE(std::holds_alternative<InfoOptions>(parse_command_line({"--kokkos-num-threads=2", "info"}).command));
}

TEST(Cli, HelpTellsOfCommandsAndKeys) {
  EXPECT_EQ(help({"help"}), help({"--help"}));
  EXPECT_EQ(help({"help", "run"}), help({"run", "--help"}));
  EXPECT_THAT(help({"help", "execution.slots"}), ::testing::StartsWith("execution.slots\n"));
  // a command and a section
  EXPECT_THAT(help({"help", "sensitivity"}), ::testing::StartsWith(help({"sensitivity", "--help"})));
  EXPECT_THAT(help({"help", "sensitivity"}), HasSubstr("Keys of sensitivity:"));
  EXPECT_THAT(help({"help", "--keys"}), HasSubstr("\nmodel.voxels.easting\n"));
  EXPECT_THAT(help({"help", "--study-keys"}), HasSubstr("\nrepeats\n"));
  EXPECT_THAT(help({"help", "--man"}), HasSubstr("\n.SS prismfield compare A.h5 B.h5\n"));
  EXPECT_THAT(help({"help", "--markdown"}), HasSubstr("\n### model.voxels.easting\n"));
}

TEST(Cli, HelpNamesCommandsOptionsAndExitCodes) {
  for (const Words& arguments : {Words{"--help"}, Words{"-h"}}) {
    EXPECT_THAT(help(arguments), HasSubstr("prismfield run CASE.yaml"));
    EXPECT_THAT(help(arguments), HasSubstr("prismfield compare A.h5 B.h5"));
    EXPECT_THAT(help(arguments), HasSubstr("prismfield info"));
  }
  for (const std::string option : {"--set", "--check", "--dry-run", "--quiet", "--output", "--kokkos-", "130"}) {
    EXPECT_THAT(help({"run", "--help"}), HasSubstr(option));
  }
  EXPECT_THAT(help({"run", "case.yaml", "--check", "-h"}), HasSubstr("--dry-run"));
  EXPECT_THAT(help({"compare", "--help"}), HasSubstr("--tolerance"));
  EXPECT_THAT(help({"info", "--help"}), HasSubstr("prismfield info"));
  EXPECT_THAT(help({"info", "--help"}), HasSubstr("--calibrate"));
  EXPECT_THAT(help({"run", "--help"}), HasSubstr("--resume"));
  EXPECT_THAT(help({"--version"}), ::testing::StartsWith("prismfield "));
  EXPECT_THAT(help({"--help"}), HasSubstr("prismfield plot RESULT"));
  for (const std::string option : {"--output", "--field", "--contours", "--colour-map", "--dpi", "--no-outline",
                                   "--plain", "--easting", "--northing", "--upward"}) {
    EXPECT_THAT(help({"plot", "--help"}), HasSubstr(option));
  }
}

TEST(Cli, HelpFitsIntoTheColumnsThatThereAre) {
  const auto widest = [](const std::string& text) {
    std::size_t most = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) most = std::max(most, width_of(line));
    return most;
  };
  const char* const before = std::getenv("COLUMNS");
  const std::string columns_before = before == nullptr ? "" : before;
  for (const auto& [columns, most] : {std::pair{"", 80U}, {"60", 60U}, {"120", 120U}, {"7", 40U}, {"-5", 80U}}) {
    ::setenv("COLUMNS", columns, 1);
    EXPECT_LE(widest(help({"--help"})), most) << columns;
    for (const char* command : {"run", "sensitivity", "invert", "compare", "study", "convert", "plot", "info"}) {
      EXPECT_LE(widest(help({command, "--help"})), most) << command << ", " << columns;
    }
  }
  before == nullptr ? ::unsetenv("COLUMNS") : ::setenv("COLUMNS", columns_before.c_str(), 1);
}

TEST(Cli, ReadsPlot) {
  const auto bare = std::get<PlotOptions>(parse_command_line({"plot", "r.nc"}).command);
  EXPECT_EQ(bare.file, "r.nc");
  EXPECT_TRUE(bare.output.empty());
  EXPECT_EQ(bare.style, FigureStyle{});
  EXPECT_FALSE(bare.quiet);
  const auto full = std::get<PlotOptions>(
      parse_command_line({"plot",       "r.nc",     "--output",     "f.pdf",  "--field",  "gz,gzz", "--field=gx",
                          "--contours", "-1,0,2.5", "--colour-map", "RdBu_r", "--dpi",    "150",    "--no-outline",
                          "--plain",    "--quiet",  "--easting",    "1500",   "--upward", "-400"})
          .command);
  EXPECT_THAT(full.style.cut, ElementsAre(1500, std::nullopt, -400));
  EXPECT_EQ(full.output, "f.pdf");
  EXPECT_THAT(full.style.fields, ElementsAre("gz", "gzz", "gx"));
  EXPECT_EQ(std::get<std::vector<double>>(*full.style.contours), (std::vector<double>{-1, 0, 2.5}));
  EXPECT_EQ(full.style.colour_map, "RdBu_r");
  EXPECT_EQ(full.style.dpi, 150);
  EXPECT_FALSE(full.style.model_outline);
  EXPECT_FALSE(full.style.annotations);
  EXPECT_TRUE(full.quiet);
  for (const auto& [text, count] : {std::pair{"none", 0}, {"0", 0}, {"12", 12}}) {
    const auto plot = std::get<PlotOptions>(parse_command_line({"plot", "r.nc", "--contours", text}).command);
    EXPECT_EQ(std::get<std::int64_t>(*plot.style.contours), count);
  }
}

TEST(Cli, EveryMistakeHasItsMessage) {
  const std::string commands =
      "here are: run, sensitivity, invert, compare, study, convert, plot, info, help (prismfield --help tells more)";
  const std::string run_options = "here are: --help, --set, --check, --dry-run, --resume, --quiet, --output";
  const std::vector<std::pair<Words, std::string>> mistakes = {
      {{}, "a command is missing; t" + commands},
      {{"--kokkos-num-threads=2"}, "a command is missing; t" + commands},
      {{"runn", "a.yaml"}, "'runn' is no command of this version; did you mean run? T" + commands},
      {{"studdy", "a"}, "'studdy' is no command of this version; did you mean study? T" + commands},
      {{"plott", "a"}, "'plott' is no command of this version; did you mean plot? T" + commands},
      {{"plot"}, "an argument is missing; write prismfield plot RESULT"},
      {{"plot", ""}, "RESULT: is empty; the name of a file is expected"},
      {{"plot", "a", "--output", ""}, "--output: is empty; the name of a file is expected"},
      {{"plot", "a", "--dpi", "9"}, "--dpi: is '9'; a whole number from 30 to 1200 is expected"},
      {{"plot", "a", "--dpi", ""}, "--dpi: is ''; a whole number from 30 to 1200 is expected"},
      {{"plot", "a", "--contours", "few"},
       "--contours: is 'few'; none, a number of lines from 0 to 100 or levels such as -1,0,1 are expected"},
      {{"plot", "a", "--contours", "-3"},
       "--contours: is '-3'; none, a number of lines from 0 to 100 or levels such as -1,0,1 are expected"},
      {{"plot", "a", "--contours", "1,nan"},
       "--contours: is '1,nan'; none, a number of lines from 0 to 100 or levels such as -1,0,1 are expected"},
      {{"plot", "a", "--contours", ""},
       "--contours: is ''; none, a number of lines from 0 to 100 or levels such as -1,0,1 are expected"},
      {{"a.yaml"}, "'a.yaml' is no command of this version; did you mean prismfield run a.yaml? T" + commands},
      {{""}, "'' is no command of this version; t" + commands},
      {{"--quiet", "run", "a.yaml"},
       "--quiet: is no option of prismfield itself; options follow a command, and t" + commands},
      {{"run"}, "an argument is missing; write prismfield run CASE.yaml"},
      {{"run", ""}, "CASE.yaml: is empty; the name of a file is expected"},
      {{"run", "a", "b"}, "one argument too many: 'b'; write prismfield run CASE.yaml"},
      {{"run", "a", "--chek"}, "--chek: is no option of prismfield run; did you mean --check? T" + run_options},
      {{"run", "a", "--resumed"}, "--resumed: is no option of prismfield run; did you mean --resume? T" + run_options},
      {{"run", "a", "--colour=red"}, "--colour: is no option of prismfield run; t" + run_options},
      {{"run", "a", "-q"}, "-q: is no option of prismfield run; t" + run_options},
      {{"run", "a", "--threads", "4"},
       "--threads: is no option of prismfield run; OMP_NUM_THREADS sets the number of threads: OMP_NUM_THREADS=4 "
       "prismfield run ..."},
      {{"invert", "a", "--num-threads=4"},
       "--num-threads: is no option of prismfield invert; OMP_NUM_THREADS sets the number of threads: "
       "OMP_NUM_THREADS=4 prismfield invert ..."},
      {{"run", "--threads", "4", "a"},
       "--threads: is no option of prismfield run; OMP_NUM_THREADS sets the number of threads: OMP_NUM_THREADS=4 "
       "prismfield run ..."},
      {{"study", "a", "--threads", "4"},
       "--threads: is no option of prismfield study; the study's axis threads sets the threads of its runs, sweep: "
       "{threads: [1, 2, 4]}"},
      {{"convert", "a", "b", "-j", "4"}, "-j: is no option of prismfield convert; this command computes on one thread"},
      {{"run", "a", "--check=no"}, "--check: takes no value"},
      {{"run", "a", "--set"}, "--set: has no value; write --set KEY=VALUE"},
      {{"run", "a", "--output"}, "--output: has no value; write --output FILE"},
      {{"run", "a", "--output", ""}, "--output: is empty; the name of a file is expected"},
      {{"run", "a", "--output", "b", "--output", "c"}, "--output: is given more than once; keep one"},
      {{"help", "a", "--keys"}, "help takes one of KEY, --keys, --study-keys, --markdown and --man at a time"},
      {{"help", "slots", "b"}, "one argument too many: 'b'; write prismfield help [KEY]"},
      {{"invert"}, "an argument is missing; write prismfield invert CASE.yaml"},
      {{"invert", "a", "--resumed"},
       "--resumed: is no option of prismfield invert; did you mean --resume? T" + run_options},
      {{"compare", "a"}, "an argument is missing; write prismfield compare A.h5 B.h5"},
      {{"compare", "a", ""}, "B.h5: is empty; the name of a file is expected"},
      {{"compare", "a", "b", "c"}, "one argument too many: 'c'; write prismfield compare A.h5 B.h5"},
      {{"compare", "a", "b", "--tolerance", "x"}, "--tolerance: is 'x'; a number of at least 0 is expected"},
      {{"compare", "a", "b", "--tolerance", "-1"}, "--tolerance: is '-1'; a number of at least 0 is expected"},
      {{"compare", "a", "b", "--tolerance", "nan"}, "--tolerance: is 'nan'; a number of at least 0 is expected"},
      {{"compare", "a", "b", "--tolerance", "1e-12x"}, "--tolerance: is '1e-12x'; a number of at least 0 is expected"},
      {{"compare", "a", "b", "--tolerance", ""}, "--tolerance: is ''; a number of at least 0 is expected"},
      {{"study"}, "an argument is missing; write prismfield study STUDY.yaml or prismfield study --join DIR DIR"},
      {{"study", ""}, "STUDY.yaml: is empty; the name of a file is expected"},
      {{"study", "a", "b"}, "one argument too many: 'b'; write prismfield study STUDY.yaml"},
      {{"study", "a", "--output", ""}, "--output: is empty; the name of a folder is expected"},
      {{"study", "a", "--machine", ""}, "--machine: is empty; a name is expected"},
      {{"study", "a", "--reduced=1"}, "--reduced: takes no value"},
      {{"compare", "a", "b", "--horizontal=no"}, "--horizontal: takes no value"},
      {{"study", "a", "--join", "b", "c"}, "--join: makes a report of studies that were run; leave 'a' out"},
      {{"study", "--join"}, "--join: has no value; write --join DIR"},
      {{"study", "--join", "a"}, "--join: names one folder; two or more are expected"},
      {{"study", "--join", "a", ""}, "--join: is empty; the name of a folder is expected"},
      {{"study", "--join", "a", "b", "--check", "--set", "a=1"},
       "--set: goes with a study that is run, not with --join\n--check: goes with a study that is run, not with "
       "--join"},
      {{"convert", "a"}, "an argument is missing; write prismfield convert IN OUT"},
      {{"convert", "a", ""}, "OUT: is empty; the name of a file is expected"},
      {{"convert", "a", "b", "c"}, "one argument too many: 'c'; write prismfield convert IN OUT"},
      {{"convert", "a", "b", "--mesh", ""}, "--mesh: is empty; the name of a file is expected"},
      {{"convert", "a", "b", "--field", ""}, "--field: is empty; a name such as gz or density is expected"},
      {{"convert", "a", "b", "--density-unit", "g/cc", "--inactive", "inf"},
       "--density-unit: is 'g/cc'; allowed: kg/m3, g/cm3\n--inactive: is 'inf'; a number is "
       "expected"},
      {{"convert", "a", "b", "--from", "vtr"},
       "--from: is 'vtr'; allowed: hdf5, hdf5-prisms, csv, xyz, ubc-mesh, ubc-model, ubc-vectors, ubc-data, "
       "tomofast-grid, "
       "tomofast-values, tomofast-data, values"},
      {{"info", "x"}, "one argument too many: 'x'; write prismfield info"},
  };
  for (const auto& [arguments, message] : mistakes) {
    EXPECT_EQ(problem(arguments), message) << ::testing::PrintToString(arguments);
  }
}

TEST(Cli, SeveralMistakesAreFoundAtOnce) {
  const std::string found = problem({"run", "--chek", "--quite"});
  EXPECT_THAT(found, HasSubstr("an argument is missing"));
  EXPECT_THAT(found, HasSubstr("did you mean --check?"));
  EXPECT_THAT(found, HasSubstr("did you mean --quiet?"));
}

}  // namespace
}  // namespace prismfield::test_cli
