// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/study_report.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include <prismfield/error.hpp>

#include "app/progress.hpp"
#include "app/python_tool.hpp"
#include "base/human_text.hpp"
#include "study/analysis.hpp"
#include "study/join.hpp"
#include "study/read_study.hpp"
#include "study/report_files.hpp"
#include "study/study_tables.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

ReportText write_and_draw(const StudyData& study, const fs::path& folder, bool quiet) {
  write_report_files(study, folder);
  ReportText text;
  text.tables = tables_as_text(study);
  const PythonTool tool{"study.report", "matplotlib and h5py", "python3-matplotlib and python3-h5py"};
  Progress progress(progress_style(quiet), std::cerr);
  const auto show = [&](const std::string& line) {
    if (line.starts_with("drawing ")) progress.note(line);
  };
  if (const std::string why = run_python_tool(tool, {folder.string()}, show); !why.empty()) {
    text.warning = fmt::format("no figures in {}: {}", folder.string(), why);
  } else {
    text.tables += fmt::format("report: {}\n", shown((folder / "report.html").string()));
  }
  return text;
}

/// Whether the folder holds a report that --join made, or nothing.
bool may_hold_joined(const fs::path& folder) {
  std::error_code error;
  if (fs::is_empty(folder, error)) return true;
  std::ifstream file(folder / "study.json");
  const auto root = nlohmann::json::parse(file, nullptr, false);
  const auto schema = root.is_object() ? root.find("schema") : root.end();
  return schema != root.end() && *schema == "prismfield-study" && root.contains("machines");
}

}  // namespace

ReportText finish_study(const fs::path& folder, bool quiet) {
  StudyData study = read_study(folder);
  analyse(study);
  return write_and_draw(study, folder, quiet);
}

ReportText join_studies(const std::vector<fs::path>& folders, const fs::path& out, bool quiet) {
  StudyData study = join(folders);
  std::error_code error;
  if (fs::exists(out, error) && !(fs::is_directory(out, error) && may_hold_joined(out))) {
    throw InputError("--output", "",
                     fmt::format("{} holds something else than a joined report; name another folder", out.string()));
  }
  fs::create_directory(out, error);
  if (error) throw RunError(fmt::format("{}: cannot be made: {}", out.string(), error.message()));
  // maps are found from the folder of the report
  for (FieldMap& map : study.maps) {
    const fs::path from_there = fs::relative(map.file, out, error);
    if (!error && !from_there.empty()) map.file = from_there.string();
  }
  analyse(study);
  return write_and_draw(study, out, quiet);
}

}  // namespace prismfield
