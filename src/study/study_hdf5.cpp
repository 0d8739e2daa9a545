// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_hdf5.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>

#include "base/number_text.hpp"
#include "base/temporary_file.hpp"
#include "io/hdf5_file.hpp"
#include "study/study_json.hpp"

namespace prismfield {
namespace {

/// A group whose variables have one dimension, of its own name.
class GroupOfColumns {
public:
  GroupOfColumns(Hdf5File& file, std::string group, const std::string& dimension, std::size_t rows)
      : m_file(file), m_group(std::move(group)), m_dimension(m_group + "/" + dimension), m_rows(rows) {
    m_file.make_group(m_group);
    m_file.make_dimension_without_values(m_dimension, static_cast<std::int64_t>(rows));
  }

  template <class Number>
  void numbers(const std::string& name, const std::vector<Number>& values, const std::string& unit) {
    const std::string path = m_group + "/" + name;
    m_file.write(path, {static_cast<std::int64_t>(m_rows)}, values.data());
    m_file.attach_dimensions(path, {m_dimension});
    m_file.write_attribute(path, "units", unit);
  }
  void words(const std::string& name, const std::vector<std::string>& values) {
    std::vector<std::string> meanings;
    std::vector<std::int64_t> codes;
    for (const std::string& value : values) {
      const auto found = std::find(meanings.begin(), meanings.end(), value);
      codes.push_back(found - meanings.begin());
      if (found == meanings.end()) meanings.push_back(value);
    }
    numbers(name, codes, "1");
    std::vector<double> flags(meanings.size());
    std::iota(flags.begin(), flags.end(), 0.0);
    m_file.write_attribute(m_group + "/" + name, "flag_values", flags);
    // meanings are told apart by blanks
    for (std::string& meaning : meanings) {
      std::replace(meaning.begin(), meaning.end(), ' ', '_');
      if (meaning.empty()) meaning = "_";
    }
    m_file.write_attribute(m_group + "/" + name, "flag_meanings", fmt::format("{}", fmt::join(meanings, " ")));
  }
  /// labels of an axis: numbers where all are, else words
  void labels(const std::string& name, const std::vector<std::string>& values) {
    std::vector<double> parsed(values.size());
    bool all = !values.empty();
    for (std::size_t i = 0; i < values.size(); ++i) {
      all = all && parse_number(values[i], parsed[i]) == NumberStatus::ok;
    }
    if (all) {
      numbers(name, parsed, "1");
    } else {
      words(name, values);
    }
  }

private:
  Hdf5File& m_file;
  std::string m_group, m_dimension;
  std::size_t m_rows;
};

template <class Row, class Value>
auto column(const std::vector<Row>& rows, const Value& value) {
  std::vector<std::decay_t<decltype(value(rows.front()))>> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(value(row));
  return values;
}

/// A name within a group: no axis takes that of another column.
std::string axis_variable(const std::string& axis) { return "axis_" + axis; }

void write_points(const StudyData& study, Hdf5File& file) {
  const auto& points = study.points;
  if (points.empty()) return;
  GroupOfColumns group(file, "/points", "point", points.size());
  const auto count = [&](const char* name, std::int64_t StudyPoint::*member) {
    group.numbers(name, column(points, [member](const StudyPoint& p) { return p.*member; }), "1");
  };
  const auto number = [&](const char* name, double StudyPoint::*member, const char* unit) {
    group.numbers(name, column(points, [member](const StudyPoint& p) { return p.*member; }), unit);
  };
  const auto word = [&](const char* name, std::string StudyPoint::*member) {
    group.words(name, column(points, [member](const StudyPoint& p) { return p.*member; }));
  };
  const auto estimate = [&](const std::string& name, const auto& of, const char* unit) {
    group.numbers(name, column(points, [&of](const StudyPoint& p) { return of(p).value; }), unit);
    group.numbers(name + "_low", column(points, [&of](const StudyPoint& p) { return of(p).low; }), unit);
    group.numbers(name + "_high", column(points, [&of](const StudyPoint& p) { return of(p).high; }), unit);
  };
  count("id", &StudyPoint::id);
  group.words("machine", column(points, [&](const StudyPoint& p) { return study.machines[p.machine].name; }));
  for (std::size_t a = study.joined ? 1 : 0; a < study.axes.size(); ++a) {
    group.labels(axis_variable(study.axes[a].name), column(points, [a](const StudyPoint& p) { return p.labels[a]; }));
  }
  group.words("status", column(points, [](const StudyPoint& p) { return std::string(name(p.status)); }));
  group.numbers("oversubscribed", column(points, [](const StudyPoint& p) { return std::int64_t{p.oversubscribed}; }),
                "1");
  group.numbers("runs", column(points, [](const StudyPoint& p) { return std::ssize(p.field_seconds.all); }), "1");
  for (const auto& [name, member] :
       {std::pair{"problem", &StudyPoint::problem}, std::pair{"space", &StudyPoint::space},
        std::pair{"device", &StudyPoint::device}, std::pair{"partition", &StudyPoint::partition},
        std::pair{"precision", &StudyPoint::precision}, std::pair{"kernel", &StudyPoint::kernel}}) {
    word(name, member);
  }
  for (const auto& [name, member] : {std::pair{"ranks", &StudyPoint::ranks}, std::pair{"threads", &StudyPoint::threads},
                                     std::pair{"devices", &StudyPoint::devices}, std::pair{"slots", &StudyPoint::slots},
                                     std::pair{"batch", &StudyPoint::batch}, std::pair{"block", &StudyPoint::block},
                                     std::pair{"pairs", &StudyPoint::pairs}}) {
    count(name, member);
  }
  for (const auto& [name, member] :
       {std::pair{"field_seconds", &StudyPoint::field_seconds}, std::pair{"total_seconds", &StudyPoint::total_seconds},
        std::pair{"process_seconds", &StudyPoint::process_seconds},
        std::pair{"processor_seconds", &StudyPoint::processor_seconds},
        std::pair{"pairs_per_second", &StudyPoint::pairs_per_second}}) {
    const auto of = [member = member](const StudyPoint& p) { return (p.*member).median; };
    estimate(name, of, member == &StudyPoint::pairs_per_second ? "s-1" : "s");
  }
  estimate(
      "speed_up", [](const StudyPoint& p) { return p.speed_up; }, "1");
  estimate(
      "efficiency", [](const StudyPoint& p) { return p.efficiency; }, "1");
  estimate(
      "karp_flatt", [](const StudyPoint& p) { return p.karp_flatt; }, "1");
  number("memory_bytes", &StudyPoint::memory_bytes, "byte");
  number("scratch_bytes", &StudyPoint::scratch_bytes, "byte");
  number("energy_joules", &StudyPoint::energy_joules, "J");
  number("largest_error", &StudyPoint::largest_error, "1");
  number("load", &StudyPoint::load, "1");
  number("core_seconds", &StudyPoint::core_seconds, "s");
  for (std::size_t m = 0; study.rules.command != "run" && m < n_measures; ++m) {
    group.numbers(measure_infos[m].name, column(points, [m](const StudyPoint& p) { return p.measures[m]; }),
                  measure_infos[m].unit);
  }
  const auto roofline = [&](const char* name, double Roofline::*member, const char* unit) {
    group.numbers(name, column(points, [member](const StudyPoint& p) { return p.roofline.*member; }), unit);
  };
  roofline("double_operations", &Roofline::double_operations, "1");
  roofline("single_operations", &Roofline::single_operations, "1");
  roofline("arithmetic_rate", &Roofline::arithmetic_rate, "s-1");
  roofline("fraction_of_peak", &Roofline::fraction_of_peak, "1");
  roofline("intensity", &Roofline::intensity, "byte-1");
}

void write_runs(const StudyData& study, Hdf5File& file) {
  const auto& runs = study.runs;
  if (runs.empty()) return;
  GroupOfColumns group(file, "/runs", "run", runs.size());
  const auto count = [&](const char* name, std::int64_t RunRow::*member) {
    group.numbers(name, column(runs, [member](const RunRow& r) { return r.*member; }), "1");
  };
  count("number", &RunRow::run);
  count("point", &RunRow::point);
  group.numbers("repeat", column(runs, [](const RunRow& r) { return std::int64_t{r.repeat}; }), "1");
  group.words("kind", column(runs, [](const RunRow& r) { return std::string(name(r.kind)); }));
  group.words("status", column(runs, [](const RunRow& r) { return std::string(name(r.status)); }));
  group.words("started", column(runs, [](const RunRow& r) { return r.started; }));
  // times of fields that are not those asked for are no speed; runs.csv alone keeps them
  std::set<std::int64_t> without_speed;
  for (const StudyPoint& point : study.points) {
    if (point.status == RunStatus::wrong) without_speed.insert(point.id);
  }
  for (const auto& [name, member] :
       {std::pair{"setup_seconds", &RunRow::setup_seconds}, std::pair{"field_seconds", &RunRow::field_seconds},
        std::pair{"output_seconds", &RunRow::output_seconds}, std::pair{"total_seconds", &RunRow::total_seconds},
        std::pair{"process_seconds", &RunRow::process_seconds},
        std::pair{"processor_seconds", &RunRow::processor_seconds}, std::pair{"busy_least", &RunRow::busy_least},
        std::pair{"busy_most", &RunRow::busy_most}, std::pair{"pairs_per_second", &RunRow::pairs_per_second},
        std::pair{"energy_joules", &RunRow::energy_joules}, std::pair{"load", &RunRow::load},
        std::pair{"largest_error", &RunRow::largest_error}}) {
    const std::string text(name);
    const char* const unit = text.ends_with("seconds") || text.starts_with("busy") ? "s"
                             : text == "pairs_per_second"                          ? "s-1"
                             : text == "energy_joules"                             ? "J"
                                                                                   : "1";
    const bool is_speed = std::string_view(unit) != "1";
    const auto value = [&, member = member](const RunRow& r) {
      const bool is_wrong = r.kind != RunKind::reference && without_speed.contains(r.point);
      return is_speed && is_wrong ? not_known : r.*member;
    };
    group.numbers(text, column(runs, value), unit);
  }
  for (std::size_t m = 0; study.rules.command != "run" && m < n_measures; ++m) {
    const bool is_speed = std::string_view(measure_infos[m].unit) == "s";
    const auto value = [&](const RunRow& r) {
      const bool is_wrong = r.kind != RunKind::reference && without_speed.contains(r.point);
      return is_speed && is_wrong ? not_known : r.measures[m];
    };
    group.numbers(measure_infos[m].name, column(runs, value), measure_infos[m].unit);
  }
  count("peak_memory_bytes", &RunRow::peak_memory_bytes);
  count("scratch_bytes", &RunRow::scratch_bytes);
  count("pairs", &RunRow::pairs);
  for (std::size_t form = 0; form < n_forms; ++form) {
    group.numbers(std::string("pairs_") + name(static_cast<Form>(form)),
                  column(runs, [form](const RunRow& r) { return r.pairs_by_form[form]; }), "1");
  }
}

void write_errors(const StudyData& study, Hdf5File& file) {
  const auto& errors = study.errors;
  if (errors.empty()) return;
  GroupOfColumns group(file, "/errors", "error", errors.size());
  group.numbers("point", column(errors, [](const FieldError& e) { return e.point; }), "1");
  group.words("field", column(errors, [](const FieldError& e) { return e.field; }));
  group.words("unit", column(errors, [](const FieldError& e) { return e.unit; }));
  for (const auto& [name, member] :
       {std::pair{"rms_difference", &FieldError::rms_difference},
        std::pair{"largest_difference", &FieldError::largest_difference},
        std::pair{"largest_reference", &FieldError::largest_reference}, std::pair{"relative", &FieldError::relative}}) {
    group.numbers(name, column(errors, [member = member](const FieldError& e) { return e.*member; }), "1");
  }
}

}  // namespace

void write_study_hdf5(const StudyData& study, const std::filesystem::path& file) {
  Hdf5File hdf5 = Hdf5File::create_in_memory(file);
  hdf5.write_attribute("/", "title", study.title);
  hdf5.write_attribute("/", "schema", "prismfield-study");
  hdf5.write_attribute("/", "version", std::int64_t{1});
  write_points(study, hdf5);
  write_runs(study, hdf5);
  write_errors(study, hdf5);
  hdf5.write_text("study", study_json(study));
  TemporaryFile out(file);
  hdf5.write_sealed([&](const void* bytes, std::size_t n) { out.write(bytes, n); });
  out.move_to_target();
}

}  // namespace prismfield
