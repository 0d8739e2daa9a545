// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/program.hpp"

#include <iostream>
#include <variant>

#include <prismfield/communicator.hpp>

#include "app/cli.hpp"
#include "app/compare.hpp"
#include "app/convert.hpp"
#include "app/info.hpp"
#include "app/invert.hpp"
#include "app/plot.hpp"
#include "app/run.hpp"
#include "app/sensitivity.hpp"
#include "app/study.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {
namespace {

struct Execute {
  const std::vector<std::string>& kokkos_options;
  const Communicator& communicator;

  ProgramEnd operator()(const HelpText& help) const {
    if (communicator.rank() == 0) std::cout << help.text;
    return {};
  }
  ProgramEnd operator()(const RunOptions& options) const {
    run_command(options, kokkos_options, communicator);
    return {};
  }
  ProgramEnd operator()(const SensitivityOptions& options) const {
    sensitivity_command(options, kokkos_options, communicator);
    return {};
  }
  ProgramEnd operator()(const InvertOptions& options) const {
    invert_command(options, kokkos_options, communicator);
    return {};
  }
  ProgramEnd operator()(const CompareOptions& options) const { return {compare_command(options, communicator), {}}; }
  ProgramEnd operator()(const StudyOptions& options) const {
    return {exit_done, study_command(options, kokkos_options, communicator)};
  }
  ProgramEnd operator()(const ConvertOptions& options) const {
    convert_command(options, communicator);
    return {};
  }
  ProgramEnd operator()(const PlotOptions& options) const {
    plot_command(options, communicator);
    return {};
  }
  ProgramEnd operator()(const InfoOptions& options) const {
    info_command(options, kokkos_options, communicator);
    return {};
  }
};

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& arguments, const Communicator& communicator) {
  CommandLine line;
  agree(communicator, [&] { line = parse_command_line(arguments); });
  ProgramEnd end = std::visit(Execute{line.kokkos_options, communicator}, line.command);
  if (!std::cout.flush()) throw RunError("standard output cannot be written");
  return end;
}

}  // namespace prismfield
