// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include <prismfield/fields.hpp>

#include "base/human_text.hpp"
#include "study/analysis.hpp"
#include "study/report_csv.hpp"

namespace prismfield {
namespace {

std::string short_text(double value, int digits = 4) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "";
}

std::string interval_text(const Estimate& estimate, double factor = 1) {
  if (!std::isfinite(estimate.value)) return "";
  const std::string middle = short_text(estimate.value * factor);
  if (!std::isfinite(estimate.low) || !std::isfinite(estimate.high)) return middle;
  return fmt::format("{} ({} to {})", middle, short_text(estimate.low * factor), short_text(estimate.high * factor));
}

std::string with_unit(double value, double factor) { return short_text(value * factor, 3); }

std::string joined_settings(const Settings& settings, const char* between) {
  std::vector<std::string> parts;
  for (const auto& [key, text] : settings) parts.push_back(key + "=" + text);
  return fmt::format("{}", fmt::join(parts, between));
}

/// Takes out the columns behind `first` that no row has anything in.
void drop_empty_columns(StudyTable& table, std::size_t first) {
  for (std::size_t c = table.header.size(); c-- > first;) {
    const bool used =
        std::any_of(table.rows.begin(), table.rows.end(), [c](const auto& row) { return !row[c].empty(); });
    if (used) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.header.erase(table.header.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    if (c < table.n_text_columns) --table.n_text_columns;
  }
}

std::vector<std::string> axis_header(const StudyData& study) {
  std::vector<std::string> header;
  for (const StudyAxis& axis : study.axes) header.push_back(axis.name);
  if (header.empty()) header.emplace_back("point");
  return header;
}

std::vector<std::string> axis_cells(const StudyPoint& point) {
  return point.labels.empty() ? std::vector<std::string>{fmt::format("{}", point.id)} : point.labels;
}

std::string state_of(const StudyPoint& point) {
  std::string text = point.status == RunStatus::ok ? "" : name(point.status);
  if (!point.why.empty()) text += (text.empty() ? "" : ": ") + point.why;
  if (point.oversubscribed) text += text.empty() ? "oversubscribed" : ", oversubscribed";
  return text;
}

/// What the time that speed-ups refer to is of.
const char* time_heading(const StudyData& study) {
  if (study.rules.command == "sensitivity") return "G m (s)";
  return study.rules.command == "invert" ? "inversion (s)" : "field time (s)";
}

/// Headings of the setup and of what sensitivity and invert tell, and the cells of a point.
void add_measure_header(const StudyData& study, StudyTable& table) {
  if (study.rules.command == "run") return;
  table.header.emplace_back("setup (s)");
  for (const MeasureInfo& measure : measure_infos) table.header.emplace_back(measure.heading);
}
void add_measures(const StudyData& study, const StudyPoint& point, std::vector<std::string>& row) {
  if (study.rules.command == "run") return;
  row.push_back(short_text(point.setup_seconds, 3));
  for (std::size_t m = 0; m < n_measures; ++m) {
    row.push_back(short_text(point.measures[m] * measure_infos[m].factor));
  }
}

StudyTable point_table(const StudyData& study) {
  StudyTable table{"Points", axis_header(study), {}, 0};
  const std::size_t n_axes = table.header.size();
  table.n_text_columns = n_axes;
  for (const char* column :
       {"runs", time_heading(study), "total time (s)", "pairs/s", "speed-up", "efficiency (%)", "Karp-Flatt (%)",
        "peak memory (MB)", "energy (J)", "core seconds", "GFLOP/s", "of peak (%)", "largest error"}) {
    table.header.emplace_back(column);
  }
  add_measure_header(study, table);
  table.header.emplace_back("state");
  for (const StudyPoint& point : study.points) {
    std::vector<std::string> row = axis_cells(point);
    row.push_back(point.field_seconds.all.empty() ? "" : fmt::format("{}", point.field_seconds.all.size()));
    row.push_back(interval_text(point.field_seconds.median));
    row.push_back(short_text(point.total_seconds.median.value));
    row.push_back(short_text(point.pairs_per_second.median.value, 3));
    row.push_back(interval_text(point.speed_up));
    row.push_back(interval_text(point.efficiency, 100));
    row.push_back(interval_text(point.karp_flatt, 100));
    row.push_back(with_unit(point.memory_bytes, 1e-6));
    row.push_back(short_text(point.energy_joules));
    row.push_back(short_text(point.core_seconds));
    row.push_back(with_unit(point.roofline.arithmetic_rate, 1e-9));
    row.push_back(with_unit(point.roofline.fraction_of_peak, 100));
    row.push_back(short_text(point.largest_error, 2));
    add_measures(study, point, row);
    row.push_back(state_of(point));
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table, n_axes);
  return table;
}

/// More than all of it is no share: the run got slower.
std::string serial_text(const Estimate& serial) {
  return serial.value > 1 ? "no speed-up" : interval_text(serial, 100);
}

StudyTable fit_table(const StudyData& study) {
  StudyTable table{
      "Serial fractions", {"along", "of", "Amdahl (%)", "Gustafson (%)", "time of one (s)", "points"}, {}, 2};
  for (const StudyFit& fit : study.fits) {
    table.rows.push_back({fit.along, joined_settings(fit.group, ", "), serial_text(fit.amdahl),
                          serial_text(fit.gustafson), short_text(fit.seconds_of_one),
                          fmt::format("{}", fit.points.size())});
  }
  drop_empty_columns(table, 1);
  return table;
}

/// One number of every field, a row each point.
StudyTable error_table(const StudyData& study, const std::string& title, double FieldError::*member) {
  StudyTable table{title, axis_header(study), {}, 0};
  const std::size_t n_axes = table.header.size();
  table.n_text_columns = n_axes;
  std::map<std::pair<std::int64_t, std::string>, const FieldError*> errors;
  std::map<std::string, std::string> units;
  for (const FieldError& error : study.errors) {
    errors[{error.point, error.field}] = &error;
    units[error.field] = error.unit;
  }
  const bool relative = member == &FieldError::relative;
  for (const FieldInfo& info : field_infos) {
    const std::string field(info.name);
    const bool with_unit = !relative && units.contains(field) && !units[field].empty();
    table.header.push_back(with_unit ? fmt::format("{} ({})", field, units[field]) : field);
  }
  for (const StudyPoint& point : study.points) {
    std::vector<std::string> row = axis_cells(point);
    bool any = false;
    for (const FieldInfo& info : field_infos) {
      const auto found = errors.find({point.id, std::string(info.name)});
      row.push_back(found == errors.end() ? "" : short_text(found->second->*member, 3));
      any = any || found != errors.end();
    }
    if (any) table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table, n_axes);
  return table;
}

StudyTable portability_table(const StudyData& study) {
  StudyTable table{"Performance portability (%)", {"problem", "application", "efficiency"}, {}, 3};
  if (study.portability.empty()) return table;
  for (const auto& platform : study.portability.front().platforms) table.header.push_back(platform.name);
  table.header.emplace_back("harmonic mean");
  for (const Portability& portability : study.portability) {
    const auto add = [&](const char* kind, double value, double Portability::Platform::*efficiency) {
      std::vector<std::string> row{portability.problem.substr(0, 12), joined_settings(portability.kept, ", "), kind};
      for (const auto& platform : portability.platforms) row.push_back(short_text(platform.*efficiency * 100, 3));
      row.push_back(short_text(value * 100, 3));
      table.rows.push_back(std::move(row));
    };
    add("architectural", portability.architectural, &Portability::Platform::architectural);
    add("application", portability.application, &Portability::Platform::application);
  }
  return table;
}

// ---- Markdown and LaTeX

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : shown(text)) {
    if (c == '|') cell += '\\';
    // what looks like HTML would be taken for it
    if (c == '<') {
      cell += "&lt;";
    } else {
      cell += c;
    }
  }
  return cell;
}

/// Text of users outside tables, of which nothing is taken for a heading, a link or an image.
std::string markdown_text(const std::string& text) {
  std::string escaped;
  for (const char c : shown(text)) {
    if (std::string_view("\\`*_[]<>").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown(const StudyTable& table) {
  std::string text = fmt::format("## {}\n\n|", markdown_text(table.title));
  for (const std::string& cell : table.header) text += fmt::format(" {} |", markdown_cell(cell));
  text += "\n|";
  for (std::size_t c = 0; c < table.header.size(); ++c) text += c < table.n_text_columns ? "---|" : "---:|";
  for (const auto& row : table.rows) {
    text += "\n|";
    for (const std::string& cell : row) text += fmt::format(" {} |", markdown_cell(cell));
  }
  return text + "\n";
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Text for LaTeX; 1.2e-09 is written as a power of ten.
std::string latex_cell(const std::string& text) {
  static const std::map<char, const char*> escapes{{'&', "\\&"},
                                                   {'%', "\\%"},
                                                   {'$', "\\$"},
                                                   {'#', "\\#"},
                                                   {'_', "\\_"},
                                                   {'{', "\\{"},
                                                   {'}', "\\}"},
                                                   {'~', "\\textasciitilde{}"},
                                                   {'^', "\\textasciicircum{}"},
                                                   {'\\', "\\textbackslash{}"}};
  std::string cell;
  const std::string plain = shown(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool exponent = plain[i] == 'e' && i > 0 && is_digit(plain[i - 1]) && i + 2 < plain.size() &&
                          (plain[i + 1] == '-' || plain[i + 1] == '+') && is_digit(plain[i + 2]);
    if (exponent) {
      std::size_t end = i + 2;
      int power = 0;
      for (; end < plain.size() && is_digit(plain[end]) && power < 1000; ++end) power = 10 * power + (plain[end] - '0');
      cell += fmt::format("$\\times 10^{{{}}}$", plain[i + 1] == '-' ? -power : power);
      i = end - 1;
    } else if (const auto escape = escapes.find(plain[i]); escape != escapes.end()) {
      cell += escape->second;
    } else {
      cell += plain[i];
    }
  }
  return cell;
}

std::string latex(const StudyTable& table, const std::string& title) {
  std::string columns(table.n_text_columns, 'l');
  columns.append(table.header.size() - table.n_text_columns, 'r');
  std::string text = fmt::format("\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\begin{{tabular}}{{{}}}\n",
                                 latex_cell(title + ": " + table.title), columns);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> escaped;
    for (const std::string& cell : cells) escaped.push_back(latex_cell(cell));
    text += fmt::format("    {} \\\\\n", fmt::join(escaped, " & "));
  };
  text += "    \\hline\n";
  line(table.header);
  text += "    \\hline\n";
  for (const auto& row : table.rows) line(row);
  return text + "    \\hline\n  \\end{tabular}\n\\end{table}\n";
}

/// Columns side by side, text on the left, numbers on the right.
std::string aligned(const StudyTable& table) {
  std::vector<std::size_t> width;
  for (const std::string& cell : table.header) width.push_back(cell.size());
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], shown(row[c]).size());
  }
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string whole;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      // the last column of text is as long as it is
      const bool left = c < table.n_text_columns || table.header[c] == "state";
      const std::string cell = shown(cells[c]);
      whole += c == 0 ? "" : "  ";
      whole += left ? fmt::format("{:<{}}", cell, width[c]) : fmt::format("{:>{}}", cell, width[c]);
    }
    while (whole.ends_with(' ')) whole.pop_back();
    text += whole + "\n";
  };
  line(table.header);
  for (const auto& row : table.rows) line(row);
  return text;
}

// ---- the terminal

constexpr std::size_t terminal_width = 80;
constexpr std::size_t longest_label = 28;

/// The last part of a key path, where no other axis ends the same.
std::string short_axis(const StudyData& study, const std::string& axis) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const auto same = std::count_if(study.axes.begin(), study.axes.end(),
                                  [&](const StudyAxis& other) { return last(other.name) == last(axis); });
  return same == 1 ? last(axis) : axis;
}

std::string cut(const std::string& text, std::size_t longest) {
  // not within a character of several bytes
  std::size_t end = longest - 2;
  while (end > 0 && (static_cast<unsigned char>(text[std::min(end, text.size() - 1)]) & 0xC0U) == 0x80U) --end;
  return text.size() <= longest ? text : text.substr(0, end) + "..";
}

/// Lines of terminal_width, those behind the first set in.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (column > 0 && column + 1 + end - at > terminal_width) {
      lines += "\n  ";
      column = 2;
    } else if (column > 0) {
      lines += " ";
      ++column;
    }
    lines += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return lines + "\n";
}

std::size_t width_of(const StudyTable& table) {
  std::size_t width = 0;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    std::size_t widest = table.header[c].size();
    for (const auto& row : table.rows) widest = std::max(widest, shown(row[c]).size());
    width += widest + (c == 0 ? 0 : 2);
  }
  return width;
}

void drop_column(StudyTable& table, const std::string& column) {
  const auto found = std::find(table.header.begin(), table.header.end(), column);
  if (found == table.header.end()) return;
  const auto at = found - table.header.begin();
  for (auto& row : table.rows) row.erase(row.begin() + at);
  table.header.erase(found);
}

/// Cuts the widest texts of a table that is too wide for a terminal.
void narrow(StudyTable& table) {
  constexpr std::size_t least = 8;
  for (std::size_t longest = longest_label; longest >= least && width_of(table) > terminal_width; --longest) {
    for (auto& row : table.rows) {
      for (std::size_t c = 0; c < table.n_text_columns; ++c) row[c] = cut(row[c], longest);
    }
  }
}

/// The axes along which some points differ, by their places.
std::vector<std::size_t> varying_axes(const StudyData& study) {
  std::vector<std::size_t> varying;
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const bool differs = std::any_of(study.points.begin(), study.points.end(), [&](const StudyPoint& point) {
      return point.labels[a] != study.points.front().labels[a];
    });
    if (differs) varying.push_back(a);
  }
  return varying;
}

std::string labels_text(const StudyData& study, const StudyPoint& point, const std::vector<std::size_t>& axes) {
  std::vector<std::string> parts;
  for (const std::size_t a : axes) {
    parts.push_back(short_axis(study, study.axes[a].name) + "=" + cut(shown(point.labels[a]), longest_label));
  }
  return parts.empty() ? fmt::format("point {}", point.id) : fmt::format("{}", fmt::join(parts, ", "));
}

/// What is the same for all points, in a line; empty if nothing is.
std::string same_everywhere(const StudyData& study, const std::vector<std::size_t>& varying) {
  std::vector<std::size_t> same;
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    if (std::find(varying.begin(), varying.end(), a) == varying.end()) same.push_back(a);
  }
  if (study.points.empty() || same.empty()) return "";
  return wrapped("everywhere: " + labels_text(study, study.points.front(), same));
}

/// The points that have numbers, with what tells them apart and what is looked at first; the tables in the report's
/// folder have the rest.
StudyTable terminal_point_table(const StudyData& study, const std::vector<std::size_t>& varying) {
  StudyTable table{"Points", {}, {}, varying.size()};
  for (const std::size_t a : varying) table.header.push_back(short_axis(study, study.axes[a].name));
  if (varying.empty()) {
    table.header.emplace_back("point");
    table.n_text_columns = 1;
  }
  const std::size_t n_labels = table.header.size();
  for (const char* column : {"runs", time_heading(study), "pairs/s", "speed-up", "efficiency (%)", "memory (MB)",
                             "of peak (%)", "largest error"}) {
    table.header.emplace_back(column);
  }
  add_measure_header(study, table);
  table.header.emplace_back("state");
  for (const StudyPoint& point : study.points) {
    if (point.field_seconds.all.empty() && !std::isfinite(point.largest_error)) continue;
    std::vector<std::string> row;
    for (const std::size_t a : varying) row.push_back(cut(shown(point.labels[a]), longest_label));
    if (varying.empty()) row.push_back(fmt::format("{}", point.id));
    row.push_back(point.field_seconds.all.empty() ? "" : fmt::format("{}", point.field_seconds.all.size()));
    row.push_back(interval_text(point.field_seconds.median));
    row.push_back(short_text(point.pairs_per_second.median.value, 3));
    row.push_back(interval_text(point.speed_up));
    row.push_back(short_text(point.efficiency.value * 100, 3));
    row.push_back(with_unit(point.memory_bytes, 1e-6));
    row.push_back(with_unit(point.roofline.fraction_of_peak, 100));
    row.push_back(short_text(point.largest_error, 2));
    add_measures(study, point, row);
    row.push_back(point.status != RunStatus::ok ? name(point.status) : point.oversubscribed ? "oversubscribed" : "");
    table.rows.push_back(std::move(row));
  }
  drop_empty_columns(table, n_labels);
  for (const char* column : {"memory (MB)", "of peak (%)", "efficiency (%)", "runs", "RMS residual / sigma", "G' d (s)",
                             "pairs/s", "largest error", "G m anew (s)"}) {
    if (width_of(table) <= terminal_width) break;
    drop_column(table, column);
  }
  narrow(table);
  return table;
}

/// Why points have no numbers, a line each reason; reasons that differ in their digits alone are one.
std::string gaps_text(const StudyData& study, const std::vector<std::size_t>& varying) {
  std::vector<std::pair<std::string, std::vector<const StudyPoint*>>> reasons;
  for (const StudyPoint& point : study.points) {
    if (point.status == RunStatus::ok) continue;
    std::string key = std::string(name(point.status)) + ' ';
    for (const char c : point.why) {
      if (!is_digit(c)) key += c;
    }
    const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& own) { return own.first == key; });
    if (found == reasons.end()) {
      reasons.push_back({key, {&point}});
    } else {
      found->second.push_back(&point);
    }
  }
  std::string text;
  for (const auto& [key, points] : reasons) {
    const StudyPoint& first = *points.front();
    const std::string where = labels_text(study, first, varying);
    const std::string which = points.size() == 1 ? where : fmt::format("{} points, the first {}", points.size(), where);
    text +=
        wrapped(fmt::format("{}: {}{}", name(first.status), which, first.why.empty() ? "" : ": " + shown(first.why)));
  }
  return text;
}

/// The serial fractions, told apart by what differs between them.
StudyTable terminal_fit_table(const StudyData& study, const std::vector<std::size_t>& varying) {
  StudyTable table = fit_table(study);
  const auto column = std::find(table.header.begin(), table.header.end(), "of");
  if (column == table.header.end()) return table;
  const auto at = static_cast<std::size_t>(column - table.header.begin());
  for (std::size_t f = 0; f < study.fits.size(); ++f) {
    std::vector<std::string> parts;
    for (const auto& [axis, label] : study.fits[f].group) {
      const bool differs = std::any_of(varying.begin(), varying.end(),
                                       [&, &name = axis](const std::size_t a) { return study.axes[a].name == name; });
      if (differs) parts.push_back(short_axis(study, axis) + "=" + cut(shown(label), longest_label));
    }
    table.rows[f][at] = fmt::format("{}", fmt::join(parts, ", "));
  }
  drop_empty_columns(table, 1);
  narrow(table);
  return table;
}

/// The fastest point of each application, problem and platform.
std::vector<const StudyPoint*> fastest_points(const StudyData& study) {
  std::vector<const StudyPoint*> fastest;
  std::map<std::pair<std::string, std::pair<std::string, Settings>>, std::size_t> places;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point) || point.oversubscribed) continue;
    const auto [place, is_new] = places.emplace(
        std::pair{platform_of(study, point), std::pair{point.problem, kept_labels(study, point)}}, fastest.size());
    if (is_new) {
      fastest.push_back(&point);
    } else if (point.pairs_per_second.median.value > fastest[place->second]->pairs_per_second.median.value) {
      fastest[place->second] = &point;
    }
  }
  return fastest;
}

}  // namespace

std::vector<StudyTable> study_tables(const StudyData& study) {
  std::vector<StudyTable> tables;
  for (StudyTable& table : std::vector<StudyTable>{
           point_table(study), fit_table(study),
           error_table(study, "RMS difference from the reference", &FieldError::rms_difference),
           error_table(study, "Largest difference from the reference", &FieldError::largest_difference),
           error_table(study, "Largest difference, relative to the largest value", &FieldError::relative),
           portability_table(study)}) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

std::string tables_as_text(const StudyData& study) {
  const std::vector<std::size_t> varying = varying_axes(study);
  std::string text = same_everywhere(study, varying);
  for (const StudyTable& table : {terminal_point_table(study, varying), terminal_fit_table(study, varying)}) {
    if (!table.rows.empty()) text += (text.empty() ? "" : "\n") + aligned(table);
  }
  const std::string gaps = gaps_text(study, varying);
  if (!gaps.empty()) text += "\n" + gaps;
  if (!study.rules.notes.empty()) text += "\n";
  for (const std::string& note : study.rules.notes) text += wrapped("note: " + shown(note));
  return text;
}

std::string tables_as_markdown(const StudyData& study) {
  std::string text = fmt::format("# {}\n\n", markdown_text(study.title));
  for (const StudyMachine& machine : study.machines) {
    text += fmt::format("- {}: prismfield {} (git {})\n", markdown_text(machine.name), markdown_text(machine.version),
                        markdown_text(machine.git));
  }
  text += fmt::format("- medians of {} repeats after {}, in brackets 95 % intervals by bootstrap; accuracy gate {:g}\n",
                      study.rules.repeats, counted(study.rules.warmup, "warm-up"), study.rules.tolerance);
  for (const StudyTable& table : study_tables(study)) text += "\n" + markdown(table);
  if (!study.rules.notes.empty()) text += "\n## Notes\n\n";
  for (const std::string& note : study.rules.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

std::string tables_as_latex(const StudyData& study) {
  std::string text;
  for (const StudyTable& table : study_tables(study)) {
    text += (text.empty() ? "" : "\n") + latex(table, study.title);
  }
  return text;
}

std::string p3_csv(const StudyData& study) {
  std::string text = "date,fom,application,problem,platform\n";
  for (const StudyPoint* point : fastest_points(study)) {
    const Settings kept = kept_labels(study, *point);
    const std::string application = "prismfield" + (kept.empty() ? "" : " " + joined_settings(kept, " "));
    for (const RunRow& run : study.runs) {
      if (run.point != point->id || run.kind != RunKind::timed || run.status != RunStatus::ok) continue;
      const double rate = run.pairs_per_second;
      if (!(rate > 0)) continue;
      text += fmt::format("{},{},{},{},{}\n", csv_field(run.started), rate, csv_field(application),
                          csv_field(fmt::format("{} {}", study.title, point->problem.substr(0, 12))),
                          csv_field(platform_of(study, *point)));
    }
  }
  return text;
}

std::string fom_lines(const StudyData& study) {
  std::string text;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point)) continue;
    Settings labels;
    for (std::size_t a = 0; a < study.axes.size(); ++a) labels.emplace_back(study.axes[a].name, point.labels[a]);
    std::string place = shown(joined_settings(labels, ","));
    // a colon ends the name
    std::replace(place.begin(), place.end(), ':', '=');
    if (!place.empty()) place = "[" + place + "]";
    const auto add = [&](const char* name, double value, const char* unit) {
      if (std::isfinite(value)) text += fmt::format("FOM {}{}: {} {}\n", name, place, value, unit);
    };
    add("field_seconds", point.field_seconds.median.value, "s");
    add("total_seconds", point.total_seconds.median.value, "s");
    add("process_seconds", point.process_seconds.median.value, "s");
    add("pairs_per_second", point.pairs_per_second.median.value, "1/s");
    add("speed_up", point.speed_up.value, "1");
    add("efficiency", point.efficiency.value, "1");
    add("memory", point.memory_bytes, "B");
    add("energy", point.energy_joules, "J");
    add("core_seconds", point.core_seconds, "s");
    add("arithmetic_rate", point.roofline.arithmetic_rate, "1/s");
    add("fraction_of_peak", point.roofline.fraction_of_peak, "1");
    add("largest_error", point.largest_error, "1");
    for (std::size_t m = 0; m < n_measures; ++m) add(measure_infos[m].name, point.measures[m], measure_infos[m].unit);
  }
  return text;
}

}  // namespace prismfield
