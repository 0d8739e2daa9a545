// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/study_json.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number_text.hpp"
#include "base/version.hpp"

namespace prismfield {
namespace {

/// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

/// null for what is not known or not finite, which JSON has no number for.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json count(std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json estimate(const Estimate& value) {
  if (std::isnan(value.value)) return nullptr;
  return {{"value", number(value.value)}, {"low", number(value.low)}, {"high", number(value.high)}};
}

Json sample(const Sample& runs) {
  if (runs.all.empty()) return nullptr;
  const auto [least, most] = std::minmax_element(runs.all.begin(), runs.all.end());
  return {{"median", number(runs.median.value)},
          {"low", number(runs.median.low)},
          {"high", number(runs.median.high)},
          {"least", *least},
          {"most", *most},
          {"all", runs.all}};
}

Json settings(const Settings& pairs) {
  Json json = Json::object();
  for (const auto& [key, text] : pairs) json[key] = text;
  return json;
}

/// A value of the study as JSON has it.
Json yaml(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::list: {
      Json list = Json::array();
      for (const YamlNode& item : node.items) list.push_back(yaml(item));
      return list;
    }
    case YamlNode::Kind::map: {
      Json map = Json::object();
      for (const YamlEntry& entry : node.entries) map[entry.key] = yaml(entry.value);
      return map;
    }
    case YamlNode::Kind::scalar: break;
    case YamlNode::Kind::null:
    case YamlNode::Kind::removed: return nullptr;
  }
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  std::int64_t whole = 0;
  if (parse_integer(node.text, whole) == NumberStatus::ok) return whole;
  double value = 0;
  if (parse_number(node.text, value) == NumberStatus::ok && std::isfinite(value)) return value;
  return node.text;
}

Json yaml_list(const std::vector<YamlNode>& nodes) {
  Json list = Json::array();
  for (const YamlNode& node : nodes) list.push_back(yaml(node));
  return list;
}

Json machine(const StudyMachine& record) {
  Json json = Json::parse(record.json, nullptr, false);
  if (!json.is_object()) json = Json::object();
  json["name"] = record.name;
  return json;
}

/// Axes of a sweep: the one that joining adds is told by the points themselves.
std::size_t first_axis(const StudyData& study) { return study.joined ? 1 : 0; }

Json problem_list(const StudyData& study) {
  Json list = Json::array();
  std::map<std::string, std::int64_t> pairs;
  std::vector<std::string> order;
  for (const StudyPoint& point : study.points) {
    if (point.problem.empty()) continue;
    const auto [entry, is_new] = pairs.emplace(point.problem, point.pairs);
    if (is_new) order.push_back(point.problem);
    entry->second = std::max(entry->second, point.pairs);
  }
  for (const std::string& hash : order) {
    list.push_back({{"id", hash}, {"hash", hash}, {"pairs", count(pairs[hash])}});
  }
  return list;
}

void add_roofline(const Roofline& roofline, Json& json) {
  const double operations = roofline.double_operations + roofline.single_operations;
  json["operations"] = number(operations);
  json["double_operations"] = number(roofline.double_operations);
  json["single_operations"] = number(roofline.single_operations);
  json["arithmetic_rate"] = number(roofline.arithmetic_rate);
  json["fraction_of_peak"] = number(roofline.fraction_of_peak);
  json["roofline"] = nullptr;
  if (std::isnan(roofline.intensity)) return;
  json["roofline"] = {{"intensity", number(roofline.intensity)},
                      {"bound", roofline.bound.empty() ? Json(nullptr) : Json(roofline.bound)}};
}

Json point_json(const StudyData& study, const StudyPoint& point) {
  Json labels = Json::object();
  for (std::size_t a = first_axis(study); a < study.axes.size(); ++a) labels[study.axes[a].name] = point.labels[a];
  Json json = {{"id", point.id},
               {"machine", study.machines[point.machine].name},
               {"labels", labels},
               {"status", name(point.status)},
               {"why", point.why},
               {"oversubscribed", point.oversubscribed},
               {"problem", point.problem},
               {"runs", point.field_seconds.all.size()},
               {"field_seconds", sample(point.field_seconds)},
               {"total_seconds", sample(point.total_seconds)},
               {"process_seconds", sample(point.process_seconds)},
               {"processor_seconds", sample(point.processor_seconds)},
               {"pairs_per_second", sample(point.pairs_per_second)},
               {"setup_seconds", number(point.setup_seconds)},
               {"output_seconds", number(point.output_seconds)},
               {"space", point.space},
               {"device", point.device},
               {"ranks", count(point.ranks)},
               {"threads", count(point.threads)},
               {"devices", count(point.devices)},
               {"slots", count(point.slots)},
               {"batch", count(point.batch)},
               {"block", count(point.block)},
               {"partition", point.partition},
               {"precision", point.precision},
               {"kernel", point.kernel},
               {"pairs", count(point.pairs)}};
  Json by_form = Json::object();
  for (int form = 0; form < n_forms; ++form) {
    const std::int64_t pairs = point.pairs_by_form[static_cast<std::size_t>(form)];
    if (pairs >= 0) by_form[name(static_cast<Form>(form))] = pairs;
  }
  json["pairs_by_form"] = by_form;
  json["memory_bytes"] = number(point.memory_bytes);
  json["scratch_bytes"] = number(point.scratch_bytes);
  json["energy_joules"] = number(point.energy_joules);
  json["largest_error"] = number(point.largest_error);
  json["load"] = number(point.load);
  json["busy_least"] = number(point.busy_least);
  json["busy_most"] = number(point.busy_most);
  if (study.rules.command != "run") {
    for (std::size_t m = 0; m < n_measures; ++m) json[measure_infos[m].name] = number(point.measures[m]);
  }
  json["baseline"] = count(point.baseline);
  json["speed_up"] = estimate(point.speed_up);
  json["efficiency"] = estimate(point.efficiency);
  json["karp_flatt"] = estimate(point.karp_flatt);
  add_roofline(point.roofline, json);
  json["core_seconds"] = number(point.core_seconds);
  return json;
}

Json serial_fraction(const Estimate& fit) {
  if (std::isnan(fit.value)) return nullptr;
  Json json = {{"serial", number(fit.value)}};
  if (std::isfinite(fit.low)) json["low"] = fit.low;
  if (std::isfinite(fit.high)) json["high"] = fit.high;
  return json;
}

Json fit_list(const StudyData& study) {
  Json list = Json::array();
  for (const StudyFit& fit : study.fits) {
    list.push_back({{"along", fit.along},
                    {"key", fit.key},
                    {"group", settings(fit.group)},
                    {"amdahl", serial_fraction(fit.amdahl)},
                    {"seconds_of_one", number(fit.seconds_of_one)},
                    {"gustafson", serial_fraction(fit.gustafson)},
                    {"points", fit.points}});
  }
  return list;
}

/// One entry a kind of efficiency.
Json portability_list(const StudyData& study) {
  Json list = Json::array();
  for (const Portability& portability : study.portability) {
    const auto add = [&](const char* kind, double value, double Portability::Platform::*efficiency) {
      Json platforms = Json::array();
      for (const Portability::Platform& platform : portability.platforms) {
        platforms.push_back({{"platform", platform.name},
                             {"point", count(platform.point)},
                             {"efficiency", number(platform.*efficiency)}});
      }
      list.push_back({{"efficiency", kind},
                      {"problem", portability.problem},
                      {"application", settings(portability.kept)},
                      {"platforms", platforms},
                      {"value", number(value)}});
    };
    add("architectural", portability.architectural, &Portability::Platform::architectural);
    add("application", portability.application, &Portability::Platform::application);
  }
  return list;
}

Json error_list(const StudyData& study) {
  Json list = Json::array();
  for (const FieldError& error : study.errors) {
    list.push_back({{"point", error.point},
                    {"field", error.field},
                    {"unit", error.unit},
                    {"rms_difference", number(error.rms_difference)},
                    {"largest_difference", number(error.largest_difference)},
                    {"largest_reference", number(error.largest_reference)},
                    {"relative", number(error.relative)}});
  }
  return list;
}

Json histogram_list(const StudyData& study) {
  Json list = Json::array();
  for (const FieldHistogram& histogram : study.histograms) {
    list.push_back({{"point", histogram.point},
                    {"field", histogram.field},
                    {"lowest", histogram.lowest},
                    {"negative", histogram.negative},
                    {"equal", histogram.equal},
                    {"positive", histogram.positive}});
  }
  return list;
}

Json trace_list(const StudyData& study) {
  Json list = Json::array();
  for (const TraceError& trace : study.traces) {
    list.push_back({{"point", trace.point},
                    {"where", trace.where},
                    {"n", trace.n},
                    {"rms", number(trace.rms)},
                    {"largest", number(trace.largest)},
                    {"scale", number(trace.scale)}});
  }
  return list;
}

Json map_list(const StudyData& study) {
  Json list = Json::array();
  for (const FieldMap& map : study.maps) {
    list.push_back({{"point", map.point}, {"file", map.file}, {"fields", map.fields}});
  }
  return list;
}

Json busy_list(const StudyData& study) {
  Json list = Json::array();
  for (const BusyRow& row : study.busy) {
    list.push_back({{"point", row.point},
                    {"rank", row.rank},
                    {"slot", row.slot},
                    {"begin", number(row.begin)},
                    {"end", number(row.end)}});
  }
  return list;
}

Json rules_json(const StudyRules& rules) {
  return {{"tolerance", number(rules.tolerance)},
          {"repeats", rules.repeats},
          {"warmup", rules.warmup},
          {"order", rules.order},
          {"seed", rules.seed},
          {"scaling", rules.scaling},
          {"weak", rules.weak},
          {"baseline", settings(rules.baseline)},
          {"budget_forbade", rules.budget_forbade},
          {"notes", rules.notes}};
}

}  // namespace

std::string study_json(const StudyData& study) {
  Json axes = Json::array();
  for (std::size_t a = first_axis(study); a < study.axes.size(); ++a) {
    axes.push_back({{"name", study.axes[a].name}, {"values", study.axes[a].values}});
  }
  Json points = Json::array();
  for (const StudyPoint& point : study.points) points.push_back(point_json(study, point));
  const StudyMachine nobody{};
  const StudyMachine& first = study.machines.empty() ? nobody : study.machines.front();
  Json json = {{"schema", "prismfield-study"},
               {"version", 1},
               {"title", study.title},
               {"command", study.rules.command},
               {"study_hash", study.hash},
               {"program", {{"version", first.version}, {"git", first.git}}},
               {"analysed_by", {{"version", version}, {"git", git_hash}}},
               {"started", study.started},
               {"ended", study.ended},
               {"reduced", study.reduced}};
  if (study.joined) {
    Json machines = Json::array();
    for (const StudyMachine& record : study.machines) machines.push_back(machine(record));
    json["machines"] = machines;
  } else {
    json["machine"] = machine(first);
  }
  json["rules"] = rules_json(study.rules);
  json["axes"] = axes;
  json["problems"] = problem_list(study);
  json["points"] = points;
  json["fits"] = fit_list(study);
  json["errors"] = error_list(study);
  json["histograms"] = histogram_list(study);
  json["trace"] = trace_list(study);
  json["maps"] = map_list(study);
  json["busy"] = busy_list(study);
  json["portability"] = portability_list(study);
  json["figures"] = yaml_list(study.figures);
  json["compare_with"] = yaml_list(study.compare_with);
  // names out of files may hold bytes that are no UTF-8
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prismfield
