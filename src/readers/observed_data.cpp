// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/observed_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <prismfield/error.hpp>
#include <prismfield/prisms.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "base/number_text.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/grid_formats.hpp"
#include "model/axis.hpp"
#include "model/choices.hpp"
#include "model/points.hpp"
#include "model/prism_check.hpp"
#include "readers/exchange_files.hpp"
#include "readers/file_content.hpp"
#include "readers/find_format.hpp"
#include "readers/point_columns.hpp"
#include "readers/point_fields.hpp"

namespace prismfield {
namespace {

using Words = std::vector<std::string>;

std::string name_of(Field field) { return std::string(info(field).name); }
std::string sigma_of(Field field) { return name_of(field) + "_sigma"; }

template <class Action>
void for_each_field(FieldList fields, const Action& action) {
  for (const FieldInfo& field : fields) action(field.field);
}

/// The file's content: places in metres, the rest as it is written.
struct Measured {
  Points points;
  FieldList fields;
  std::map<Field, std::vector<double>> values, sigma;
  std::map<Field, Axes> axes;
  /// line of each point in a table; else empty
  std::vector<std::int64_t> lines;
};

/// Reads a file of one kind or the other.
class ObservedReader {
public:
  ObservedReader(const InputFile& file, const ObservedDataFile& spec, const ObservedDefaults& defaults,
                 std::vector<std::string>& notes)
      : m_file(file), m_spec(spec), m_defaults(defaults), m_notes(notes) {}

  DataSet read() {
    if (is_array_file(m_file)) {
      read_arrays();
    } else if (const auto format = counted_points(m_file, m_spec.columns, std::nullopt, counted_remedy())) {
      read_counted(*format);
    } else {
      read_columns();
    }
    m_problems.throw_if_any();
    return finish();
  }

private:
  [[nodiscard]] std::optional<FieldList> wanted() const { return m_spec.fields ? m_spec.fields : m_defaults.fields; }

  [[nodiscard]] bool has_rule(Field field) const {
    const std::optional<SigmaRule>& rule = m_defaults.sigma;
    return rule && (rule->relative.count(field) > 0 || rule->floor.count(field) > 0);
  }

  /// Adds a problem for each field that is wanted and not there or no data of the unknown; those that are.
  FieldList choose(FieldList there, const Words& others) {
    const FieldList known = fields_of(m_defaults.unknown);
    const Field usual = m_defaults.unknown == Unknown::density ? Field::gz : Field::tmi;
    const FieldList usable = fields_of(m_defaults.unknown, there);
    if (usable.empty() && !wanted()) {
      m_problems.add(
          m_file.error(fmt::format("has no measurements; {} are what it can have{}{}", fmt::join(names_of(known), ", "),
                                   they_are(others), columns_remedy(usual))));
    }
    FieldList chosen;
    // magnitudes of B where they are all that there is
    FieldList linear;
    for_each_field(usable, [&](Field field) {
      if (info(field).is_linear()) linear.add(field);
    });
    const FieldList asked = wanted().value_or(linear.empty() ? usable : linear);
    bool may_lack = false;
    for_each_field(asked, [&](Field field) {
      if (usable.contains(field)) may_lack = !m_spec.fields && m_defaults.has_other_files;
    });
    const std::string key =
        m_spec.fields ? m_file.key_beside("fields") : "fields (or, for this file, " + m_file.key_beside("fields") + ")";
    for_each_field(asked, [&](Field field) {
      if (usable.contains(field)) {
        chosen.add(field);
      } else if (!known.contains(field)) {
        m_problems.add(
            m_file.error(fmt::format("is asked for {} by {}, but inversion.unknown is {}, of which data are {}",
                                     name_of(field), key, name(m_defaults.unknown), fmt::join(names_of(known), ", "))));
      } else if (!may_lack) {
        m_problems.add(m_file.error(fmt::format("has no {}, which {} asks for{}{}", name_of(field), key,
                                                they_are(others), columns_remedy(field))));
      }
    });
    return chosen;
  }

  static std::string they_are(const Words& names) { return names.empty() ? "" : "; it has " + shown_list(names); }

  /// What the key of the columns has to say where a column of a table, whose name says no field, holds this one; ""
  /// without such a column.
  [[nodiscard]] std::string columns_remedy(Field field) const {
    if (m_nameless.empty()) return "";
    Words words = m_words;
    std::string condition = fmt::format("a column holds {0} under another name, write {0} there:", name_of(field));
    if (m_nameless.size() == 1) {
      words[m_nameless.front()] = name_of(field);
      condition = fmt::format("{} is {}, write", excerpt(m_names[m_nameless.front()]), name_of(field));
    }
    return fmt::format("; if {} {}: [{}]", condition, m_file.key_beside("columns"), fmt::join(words, ", "));
  }

  /// Remembers the columns of a table for columns_remedy().
  void note_columns(const TableRequest& request, const Table& table) {
    if (!m_spec.columns.empty()) return;
    std::vector<int> wanted(table.names.size(), -1);
    for (std::size_t w = 0; w < table.at.size(); ++w) {
      if (table.at[w] >= 0) wanted[static_cast<std::size_t>(table.at[w])] = static_cast<int>(w);
    }
    // lines between the rows make one more, the last
    const auto known = wanted.size() - static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), -1));
    wanted.resize(known + table.ignored.size());
    m_names = table.names;
    m_words = column_words(request, wanted);
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      if (wanted[c] < 0 && !is_field_name(m_names[c])) m_nameless.push_back(c);
    }
  }

  [[nodiscard]] TableRequest columns_wanted() const {
    const FieldList fields = wanted().value_or(FieldList::every());
    FieldList with_sigma;
    for_each_field(fields, [&](Field field) {
      if (!has_rule(field)) with_sigma.add(field);
    });
    TableRequest request = field_columns(fields, with_sigma);
    request.columns = m_spec.columns;
    request.columns_key = m_file.key_beside("columns");
    request.optional.emplace_back("sigma");
    return request;
  }

  void read_columns() {
    const TableRequest request = columns_wanted();
    Table table = read_table(m_file, request, m_problems);
    m_notes.insert(m_notes.end(), table.notes.begin(), table.notes.end());
    places_to_metres(m_file, table, {m_spec.length_to_si, std::nullopt, true}, m_problems, m_notes);
    if (table.rows() == 0) return;
    note_columns(request, table);
    const auto column = [&](const std::string& name, Field field) {
      return take_column(table, request, name, field, m_problems);
    };
    FieldList there;
    for_each_field(FieldList::every(), [&](Field field) {
      std::vector<double> values = column(name_of(field), field);
      if (values.empty()) return;
      there.add(field);
      m_read.values[field] = std::move(values);
      m_read.sigma[field] = column(sigma_of(field), field);
      m_read.axes[field] = m_spec.axes.value_or(axes_said(table).value_or(m_defaults.axes));
    });
    Words others = names_of(there);
    others.insert(others.end(), table.ignored.begin(), table.ignored.end());
    m_read.fields = choose(there, others);
    check_inducing_field(std::nullopt, m_read.fields);
    if (!m_read.fields.empty()) take_plain_sigma(column("sigma", first_of(m_read.fields)), table);
    m_read.points.easting = std::move(table.columns[0]);
    m_read.points.northing = std::move(table.columns[1]);
    m_read.points.upward = std::move(table.columns[2]);
    m_read.lines = std::move(table.lines);
  }

  /// A column `sigma` belongs to the only field.
  void take_plain_sigma(std::vector<double> sigma, const Table& table) {
    if (sigma.empty()) return;
    FieldList without_rule;
    for_each_field(m_read.fields, [&](Field field) {
      if (!has_rule(field)) without_rule.add(field);
    });
    if (without_rule.empty()) return;
    const auto add = [&](const std::string& what) {
      m_problems.add(table.named_where, table.named_key, "column sigma " + what);
    };
    if (m_read.fields.size() > 1) {
      add(fmt::format("may belong to {}; call it {}", fmt::join(names_of(m_read.fields), ", "),
                      sigma_of(first_of(without_rule))));
      return;
    }
    const Field field = first_of(m_read.fields);
    if (!m_read.sigma[field].empty()) {
      add(fmt::format("stands beside {}; leave one out", sigma_of(field)));
      return;
    }
    m_read.sigma[field] = std::move(sigma);
  }

  static Field first_of(FieldList fields) { return (*fields.begin()).field; }

  /// What to do about a file that may be UBC's or Tomofast's.
  [[nodiscard]] std::string counted_remedy() const {
    return fmt::format(
        "name it .obs if it is UBC's; if it is Tomofast's, prismfield convert {} {} --from tomofast-data makes a table "
        "of "
        "it (--field tmi: of nT)",
        m_file.path.filename().string(),
        std::filesystem::path(m_file.path.filename()).replace_extension(".csv").string());
  }

  void read_counted(FileFormat format) {
    if (!m_spec.length_to_si) refuse_commented_unit(m_file, m_file.key_beside("length_unit"));
    PointFields data = format == FileFormat::ubc_data
                           ? read_ubc_data(m_file, std::nullopt, m_spec.axes)
                           : read_tomofast_data(m_file, Field::gz, m_spec.axes.value_or(Axes::z_down));
    if (data.fields.empty()) {
      throw m_file.error("has places alone; a station has E N elevation and a value, and may have sigma");
    }
    check_inducing_field(data.inducing_field, data.fields);
    m_read.points = std::move(data.points);
    for (auto* column : {&m_read.points.easting, &m_read.points.northing, &m_read.points.upward}) {
      scale_decimals(*column, length_to_si());
    }
    m_read.fields = choose(data.fields, names_of(data.fields));
    std::size_t f = 0;
    for_each_field(data.fields, [&](Field field) {
      m_read.values[field] = std::move(data.values[f]);
      m_read.sigma[field] = std::move(data.sigma[f++]);
      m_read.axes[field] = data.axes;
    });
  }

  /// Adds a problem where the file states another inducing field than the case, or anomalies along one that the case
  /// does not know.
  void check_inducing_field(const std::optional<InducingField>& of_file, FieldList fields) {
    const std::array<double, 3>& of_case = m_defaults.inducing_field;
    const bool has_case = of_case != std::array<double, 3>{};
    if (of_file && has_case && !is_same_field(*of_file, of_case)) {
      m_problems.add(m_file.error(fmt::format(
          "states an inducing field of {}, but magnetic.inducing_field of the case is {}; correct one of them",
          inducing_field_text(*of_file), inducing_field_text(inducing_field_of(of_case)))));
    }
    const std::optional<Field> along = first_along_inducing_field(fields);
    if (has_case || !along) return;
    const std::string remedy =
        of_file ? fmt::format(
                      "write magnetic: {{inducing_field: {{inclination: {:.10g}, declination: {:.10g}, intensity: "
                      "{:.10g}}}}}",
                      of_file->inclination, of_file->declination, of_file->intensity)
                : inducing_field_remedy;
    m_problems.add(m_file.error(fmt::format("has {}, an anomaly along the inducing field, and the case has none; {}",
                                            name_of(*along), remedy)));
  }

  void read_arrays() {
    const ArrayFile arrays(m_file);
    const FieldVariables variables(arrays.dataset_names("/"));
    FieldList there;
    for (const auto& [field, name] : variables.values) there.add(field);
    m_read.fields = choose(there, names_of(there));
    if (m_read.fields.empty()) return;
    if (!m_read.fields.of_magnetisation().empty()) check_inducing_field(read_inducing_field(arrays), m_read.fields);
    PointArrays at_points(m_file, arrays, length_to_si(), m_problems);
    at_points.lie_as(variables.values.at(first_of(m_read.fields)));
    for_each_field(m_read.fields, [&](Field field) {
      m_read.axes[field] = axes_of(arrays, variables.values.at(field));
      m_read.values[field] = at_points.field(field, variables.values.at(field));
      const auto sigma = variables.sigma.find(field);
      if (!has_rule(field) && sigma != variables.sigma.end()) {
        m_read.sigma[field] = at_points.field(field, variables.values.at(field), sigma->second);
      }
    });
    m_read.points = at_points.points();
  }

  /// Along which z a field points.
  Axes axes_of(const ArrayFile& arrays, const std::string& variable) {
    if (m_spec.axes) return *m_spec.axes;
    const std::optional<std::string> word = arrays.text_attribute("/" + variable, "axes");
    if (!word) return m_defaults.axes;
    if (const std::optional<Axes> said = axes_named(*word)) return *said;
    m_problems.add(m_file.path.string(), variable,
                   fmt::format("has the axes {}; z_down and z_up are known", excerpt(*word)));
    return m_defaults.axes;
  }

  [[nodiscard]] double length_to_si() const { return m_spec.length_to_si.value_or(1); }

  /// A problem of one point: by its line, or by its number and place.
  [[nodiscard]] Problem problem_at(std::size_t i, const std::string& key, const std::string& what) const {
    if (!m_read.lines.empty()) return {line_of(m_file, m_read.lines[i]), key, what};
    return {m_file.path.string(), key,
            fmt::format("point {} (easting {}, northing {}): {}", i, m_read.points.easting[i],
                        m_read.points.northing[i], what)};
  }

  void check_places(LimitedProblems& limited) const {
    refuse_dummies(
        m_read.points, [&](std::size_t i) { return problem_at(i, "", "").where; }, limited);
    const std::array<const std::vector<double>*, 3> columns = {&m_read.points.easting, &m_read.points.northing,
                                                               &m_read.points.upward};
    for (std::size_t d = 0; d < columns.size(); ++d) {
      for (std::size_t i = 0; i < columns[d]->size(); ++i) {
        // false for NaN
        if (std::abs((*columns[d])[i]) <= max_coordinate) continue;
        limited.add("places that cannot be", [&] {
          return problem_at(i, direction_names[d],
                            std::isfinite((*columns[d])[i]) ? beyond_coordinates() : "NaN or infinite");
        });
      }
    }
  }

  /// Standard deviations by the rule, or those of the file; the unit of the output.
  [[nodiscard]] std::vector<double> sigma_for(Field field) const {
    if (!has_rule(field)) return m_read.sigma.at(field);
    const SigmaRule& rule = *m_defaults.sigma;
    const auto number = [field](const std::map<Field, double>& numbers) {
      const auto found = numbers.find(field);
      return found == numbers.end() ? 0.0 : found->second;
    };
    const double relative = number(rule.relative), floor = number(rule.floor);
    std::vector<double> sigma;
    for (const double value : m_read.values.at(field)) sigma.push_back(relative * std::abs(value) + floor);
    return sigma;
  }

  void add_field(Field field, DataSet& data, LimitedProblems& limited) const {
    const double factor = output_factor(field, m_read.axes.at(field));
    const std::vector<double>& values = m_read.values.at(field);
    const std::vector<double> sigma = sigma_for(field);
    const std::vector<bool> dummies = find_field_dummies(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // + 0 makes -0 of a flipped sign 0
      const double value = values[i] / factor + 0.0, deviation = sigma[i] / std::abs(factor);
      data.values.push_back(value);
      data.sigma.push_back(deviation);
      if (!std::isfinite(value)) {
        limited.add("measurements that are NaN or infinite",
                    [&] { return problem_at(i, name_of(field), "NaN or infinite; leave the point out of the file"); });
      } else if (!dummies.empty() && dummies[i]) {
        limited.add("dummies among the measurements", [&] {
          return problem_at(i, name_of(field), dummy_text(values[i]) + "; leave the point out of the file");
        });
      } else if (!(deviation > 0) || !std::isfinite(deviation)) {
        limited.add("standard deviations that are not above 0", [&] {
          return problem_at(i, has_rule(field) ? "inversion.sigma" : sigma_of(field),
                            fmt::format("a standard deviation of {}; it must be above 0{}", sigma[i],
                                        has_rule(field) ? " and finite: give inversion.sigma a floor" : " and finite"));
        });
      }
    }
  }

  DataSet finish() {
    DataSet data;
    data.name = m_file.path.filename().string();
    data.fields = m_read.fields;
    if (m_read.points.size() == 0) throw m_file.error("has no data");
    LimitedProblems limited(m_problems, m_file.path.string());
    check_places(limited);
    for_each_field(m_read.fields, [&](Field field) {
      if (!has_rule(field) && m_read.sigma[field].empty() && m_defaults.sigma_may_be_unknown) {
        m_read.sigma[field].assign(m_read.values.at(field).size(), 1.0);
        data.sigma_is_unknown = true;
      }
      if (!has_rule(field) && m_read.sigma[field].empty()) {
        m_problems.add(m_file.error(fmt::format(
            "has no {0}; add it, or state inversion.sigma, such as {{relative: 0.02, floor: {{{1}: 0.05}}}}, or choose "
            "the fields by {2}",
            sigma_of(field), name_of(field), m_file.key_beside("fields"))));
        return;
      }
      add_field(field, data, limited);
    });
    limited.finish();
    m_problems.throw_if_any();
    data.points = std::move(m_read.points);
    data.lines = std::move(m_read.lines);
    return data;
  }

  const InputFile& m_file;
  const ObservedDataFile& m_spec;
  const ObservedDefaults& m_defaults;
  std::vector<std::string>& m_notes;
  ProblemList m_problems;
  Measured m_read;
  /// of a table whose columns the case does not name: names, what the key would say of them, and those of no known name
  Words m_names, m_words;
  std::vector<std::size_t> m_nameless;
};

}  // namespace

DataSet read_observed_data(const InputFile& file, const ObservedDataFile& spec, const ObservedDefaults& defaults,
                           std::vector<std::string>& notes) {
  return ObservedReader(file, spec, defaults, notes).read();
}

}  // namespace prismfield
