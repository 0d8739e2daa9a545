// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/finish_result.hpp"

#include <unistd.h>

#include <iostream>

#include "app/disk_space.hpp"
#include "app/field_statistics.hpp"
#include "app/figure.hpp"
#include "app/program_facts.hpp"
#include "app/run_text.hpp"
#include "app/terminal.hpp"
#include "case/output_check.hpp"

namespace prismfield {

ResultHeader header_of(const Inputs& inputs) {
  ResultHeader header = result_header(inputs.run);
  header.program = program_facts();
  header.model_bounds = inputs.model->source().bounds();
  return header;
}

void end_with_result(const Inputs& inputs, const ResultEnd& end, const Fields& result, bool quiet, Moment begin) {
  std::vector<std::string> notes;
  const RunTimes times{end.setup_seconds, seconds_since(begin)};
  write_computed(end.checkpoint, [&] { notes = write_result(end.header, inputs.points, result, times); });
  if (!quiet) {
    std::cout << end.heading << '\n'
              << field_statistics(end.header, result, terminal_columns(STDOUT_FILENO)) << '\n'
              << std::flush;
  }
  for (const std::string& note : notes) warn(note);
  for (const std::string& warning : point_warnings(inputs.points, result, inputs.model->terrain())) warn(warning);
  const double seconds = seconds_since(begin);
  std::optional<DrawnFigure> drawn;
  if (const auto& figure = inputs.run.output.figure) {
    drawn = draw_and_tell(*figure, quiet, [&] {
      return draw_result(end.header, inputs.points, result, *figure, inputs.run.output.figure_style);
    });
  }
  if (!quiet) std::cout << run_summary(inputs, result, seconds, drawn_text(drawn)) << std::flush;
}

}  // namespace prismfield
