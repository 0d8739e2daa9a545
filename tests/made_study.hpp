// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scratch_folder.hpp"
#include "study/run_row.hpp"
#include "study/run_table.hpp"

namespace prismfield::testing {

/// Report folders of studies that were never run.
class MadeStudy {
public:
  MadeStudy() : MadeStudy("report", std::make_shared<ScratchFolder>()) {}
  /// Another one, in the same scratch folder.
  MadeStudy(std::string name, const MadeStudy& beside) : MadeStudy(std::move(name), beside.m_folder) {}

  std::string yaml;
  std::string machine = R"({"name": "made", "version": "1.2.3", "git": "abc", "cores": 4})";
  std::vector<RunRow> rows;

  [[nodiscard]] std::filesystem::path folder() const { return *m_folder / m_name; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return folder() / name; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    return m_folder->write(m_name + "/" + name, text);
  }
  [[nodiscard]] std::string without_folder(const std::string& text) const { return m_folder->removed_from(text); }

  /// A timed run that went well, on one rank of the space openmp: 1e9 pairs, 0.1 s beside the fields.
  RunRow& add(std::int64_t point, std::vector<std::string> values, std::int64_t threads, double seconds) {
    RunRow row;
    row.run = static_cast<std::int64_t>(rows.size()) + 1;
    row.point = point;
    for (const RunRow& other : rows) row.repeat += other.point == point && other.kind == RunKind::timed ? 1 : 0;
    row.started = "2026-11-22T00:00:" + std::to_string(10 + row.run % 50) + "Z";
    row.problem = "p1";
    row.values = std::move(values);
    row.space = "openmp";
    row.device = "host";
    row.partition = "prisms";
    row.precision = "double";
    row.kernel = "auto";
    row.method = "direct";
    row.ranks = 1;
    row.threads = threads;
    row.slots = threads;
    row.batch = 64;
    row.block = 1;
    row.pairs = 1'000'000'000;
    row.pairs_by_form = {0, 0, 0, 0, 1'000'000'000, 0, 0, 0};
    row.field_seconds = seconds;
    row.total_seconds = seconds + 0.1;
    row.process_seconds = seconds + 0.2;
    row.pairs_per_second = 1e9 / seconds;
    row.peak_memory_bytes = 50'000'000 * threads;
    row.scratch_bytes = 1'000'000 * threads;
    row.load = 0.5;
    row.largest_error = 1e-15;
    rows.push_back(row);
    return rows.back();
  }
  void add_runs(std::int64_t point, const std::vector<std::string>& values, std::int64_t threads,
                std::initializer_list<double> seconds) {
    for (const double s : seconds) add(point, values, threads, s);
  }
  /// The row of a point without runs.
  RunRow& leave_out(std::int64_t point, std::vector<std::string> values, RunStatus status, const std::string& why) {
    RunRow row;
    row.run = static_cast<std::int64_t>(rows.size()) + 1;
    row.point = point;
    row.values = std::move(values);
    row.status = status;
    row.why = why;
    row.problem = "p1";
    rows.push_back(row);
    return rows.back();
  }

  /// runs.csv of the rows.
  [[nodiscard]] std::string runs_csv(const std::vector<std::string>& axes) const {
    std::string text = run_header(axes);
    for (const RunRow& row : rows) text += run_line(row);
    return text;
  }
  /// Writes study.yaml, machine.json and runs.csv.
  void write_all(const std::vector<std::string>& axes) const {
    write("study.yaml", yaml);
    write("machine.json", machine);
    write("runs.csv", runs_csv(axes));
  }

private:
  MadeStudy(std::string name, std::shared_ptr<ScratchFolder> folder)
      : m_folder(std::move(folder)), m_name(std::move(name)) {
    std::filesystem::create_directories(*m_folder / m_name);
  }

  std::shared_ptr<ScratchFolder> m_folder;
  std::string m_name;
};

}  // namespace prismfield::testing
