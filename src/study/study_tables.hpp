// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "study/study_data.hpp"

namespace prismfield {

/// A table as text: all rows as long as the header.
struct StudyTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  /// columns of text, on the left; numbers follow
  std::size_t n_text_columns = 0;
};

/// What a study came to: its points, serial fractions, errors by field and performance portability, each where there
/// is any. Columns without a value in any row are left out.
[[nodiscard]] std::vector<StudyTable> study_tables(const StudyData& study);

/// The points and serial fractions for a terminal, no wider than 110 columns: what is the same everywhere stands above,
/// why points have no numbers below, and what does not fit is in tables_as_markdown alone.
[[nodiscard]] std::string tables_as_text(const StudyData& study);
/// The tables with title, machines and notes.
[[nodiscard]] std::string tables_as_markdown(const StudyData& study);
/// The tables alone, each a table environment that needs no package.
[[nodiscard]] std::string tables_as_latex(const StudyData& study);

/// Columns date, fom, application, problem and platform as the P3 Analysis Library reads them, a row each timed run:
/// pairs per second of the fastest point of each application, problem and platform.
[[nodiscard]] std::string p3_csv(const StudyData& study);

/// A line `FOM name[labels]: value unit` for each figure of merit of each point that ran.
[[nodiscard]] std::string fom_lines(const StudyData& study);

}  // namespace prismfield
