// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/report_files.hpp"

#include <string>

#include "base/temporary_file.hpp"
#include "study/study_hdf5.hpp"
#include "study/study_json.hpp"
#include "study/study_tables.hpp"

namespace prismfield {

void write_report_files(const StudyData& study, const std::filesystem::path& folder) {
  const auto write = [&](const char* name, const std::string& text) {
    TemporaryFile file(folder / name);
    file.write(text.data(), text.size());
    file.move_to_target();
  };
  write_study_hdf5(study, folder / "study.h5");
  write("tables.md", tables_as_markdown(study));
  write("tables.tex", tables_as_latex(study));
  write("p3.csv", p3_csv(study));
  write("foms.txt", fom_lines(study));
  // the report is drawn from it: it comes last
  write("study.json", study_json(study));
}

}  // namespace prismfield
