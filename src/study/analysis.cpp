// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/number_text.hpp"
#include "study/roofline.hpp"
#include "study/statistics.hpp"

namespace prismfield {
namespace {

constexpr std::array<const char*, 3> worker_keys{"threads", "ranks", "devices"};
/// Repeats that the rules ask for.
constexpr std::int64_t enough_repeats = 5;

bool sets_any(const StudyAxis& axis, const auto& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return axis.sets(key); });
}

/// What a point's label says that a key is; "" when it says nothing.
std::string setting(const StudyData& study, const std::vector<std::string>& labels, std::string_view key) {
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    if (!study.axes[a].sets(key)) continue;
    for (const auto& [name, text] : settings_of(study.axes[a], labels[a])) {
      if (name == key) return text;
    }
  }
  return "";
}

std::int64_t count_setting(const StudyData& study, const std::vector<std::string>& labels, std::string_view key) {
  std::int64_t count = -1;
  return parse_integer(setting(study, labels, key), count) == NumberStatus::ok ? count : -1;
}

bool on_device(const StudyPoint& point) { return point.devices > 0; }

/// Keys that a user chooses anew on every machine; all others make another application or problem.
constexpr std::array<const char*, 12> tuned_keys{"machine",
                                                 "threads",
                                                 "ranks",
                                                 "devices",
                                                 "bind",
                                                 "execution.space",
                                                 "execution.slots",
                                                 "execution.batch",
                                                 "execution.block",
                                                 "execution.partition",
                                                 "execution.balance",
                                                 "execution.memory_limit"};

// ---- points

double most_known(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::max(a, b); }

/// The values of the runs that have one.
std::vector<double> known(const std::vector<const RunRow*>& runs, const auto& value_of) {
  std::vector<double> values;
  for (const RunRow* run : runs) {
    const double value = value_of(*run);
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

double rate_of(const RunRow& run) {
  if (!std::isnan(run.pairs_per_second)) return run.pairs_per_second;
  return run.pairs >= 0 && run.field_seconds > 0 ? static_cast<double>(run.pairs) / run.field_seconds : not_known;
}

/// What a point is: its status with the reason, from all of its runs.
void judge(StudyPoint& point, const std::vector<const RunRow*>& runs) {
  std::int64_t timed = 0, ok = 0;
  const RunRow* bad = nullptr;
  for (const RunRow* run : runs) {
    if (run->kind == RunKind::timed) {
      ++timed;
      ok += run->status == RunStatus::ok ? 1 : 0;
    }
    if (run->status == RunStatus::ok) continue;
    // one wrong run makes the point wrong, whatever else happened
    if (bad == nullptr || (run->status == RunStatus::wrong && bad->status != RunStatus::wrong)) bad = run;
  }
  if (bad != nullptr && (bad->status == RunStatus::wrong || ok == 0)) {
    point.status = bad->status;
    point.why = bad->why;
  } else if (ok == 0) {
    point.status = RunStatus::out_of_budget;
    point.why = "no timed run yet";
  } else if (ok < timed) {
    point.why = fmt::format("{} of {} runs {}{}{}", timed - ok, timed, name(bad->status), bad->why.empty() ? "" : ": ",
                            bad->why);
  }
}

/// What the runs were computed with; what they say differently is left as the first one has it.
void describe(StudyPoint& point, const StudyData& study, const std::vector<const RunRow*>& runs) {
  // a run that ended well knows more
  const auto told = std::find_if(runs.begin(), runs.end(), [](const RunRow* run) { return !run->space.empty(); });
  const RunRow& run = told == runs.end() ? *runs.front() : **told;
  point.problem = run.problem;
  point.space = run.space;
  point.device = run.device;
  point.partition = run.partition;
  point.precision = run.precision;
  point.kernel = run.kernel;
  point.ranks = run.ranks;
  point.threads = run.threads;
  point.slots = run.slots;
  point.batch = run.batch;
  point.block = run.block;
  point.pairs = run.pairs;
  point.pairs_by_form = run.pairs_by_form;
  const auto from_label = [&](std::int64_t& to, const char* key) {
    if (to < 0) to = count_setting(study, point.labels, key);
  };
  from_label(point.ranks, "ranks");
  from_label(point.threads, "threads");
  from_label(point.devices, "devices");
  if (point.space.empty()) point.space = setting(study, point.labels, "execution.space");
  const bool is_device = point.space == "cuda" || point.space == "hip";
  // a rank has a device of its own
  if (is_device && point.devices < 0) point.devices = point.ranks;
  if (!is_device && !point.space.empty()) point.devices = -1;
}

void measure(StudyPoint& point, const std::vector<const RunRow*>& runs, const Bootstrap& bootstrap) {
  const auto sample = [&](const auto& value_of) {
    Sample result;
    result.all = known(runs, value_of);
    result.median = with_interval(median(result.all),
                                  resampled_medians(result.all, bootstrap, static_cast<std::uint64_t>(point.id)));
    return result;
  };
  const auto middle = [&](const auto& value_of) { return median(known(runs, value_of)); };
  point.field_seconds = sample([](const RunRow& run) { return run.field_seconds; });
  point.total_seconds = sample([](const RunRow& run) { return run.total_seconds; });
  point.process_seconds = sample([](const RunRow& run) { return run.process_seconds; });
  point.processor_seconds = sample([](const RunRow& run) { return run.processor_seconds; });
  point.pairs_per_second = sample(rate_of);
  point.setup_seconds = middle([](const RunRow& run) { return run.setup_seconds; });
  point.output_seconds = middle([](const RunRow& run) { return run.output_seconds; });
  point.energy_joules = middle([](const RunRow& run) { return run.energy_joules; });
  point.busy_least = middle([](const RunRow& run) { return run.busy_least; });
  point.busy_most = middle([](const RunRow& run) { return run.busy_most; });
  for (std::size_t m = 0; m < n_measures; ++m) {
    point.measures[m] = middle([m](const RunRow& run) { return run.measures[m]; });
  }
  const double whole = std::isnan(point.process_seconds.median.value) ? point.total_seconds.median.value
                                                                      : point.process_seconds.median.value;
  if (point.workers() > 0) point.core_seconds = static_cast<double>(point.workers()) * whole;
}

void make_points(StudyData& study, const Bootstrap& bootstrap) {
  std::map<std::int64_t, std::vector<const RunRow*>> by_point;
  std::map<std::int64_t, std::size_t> machine_of;
  for (std::size_t i = 0; i < study.runs.size(); ++i) {
    const RunRow& run = study.runs[i];
    if (run.kind == RunKind::reference) continue;
    by_point[run.point].push_back(&run);
    machine_of[run.point] = study.run_machines[i];
  }
  study.points.clear();
  for (auto& [id, runs] : by_point) {
    StudyPoint point;
    point.id = id;
    point.machine = machine_of[id];
    point.labels = runs.front()->values;
    judge(point, runs);
    for (const RunRow* run : runs) {
      point.oversubscribed = point.oversubscribed || run->oversubscribed;
      point.largest_error = most_known(point.largest_error, run->largest_error);
    }
    std::vector<const RunRow*> timed;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(timed),
                 [](const RunRow* run) { return run->kind == RunKind::timed && run->status == RunStatus::ok; });
    describe(point, study, timed.empty() ? runs : timed);
    const auto& judged = timed.empty() ? runs : timed;
    point.load = median(known(judged, [](const RunRow& run) { return run.load; }));
    const auto bytes = [&](std::int64_t RunRow::*member) {
      return median(known(
          judged, [=](const RunRow& run) { return run.*member < 0 ? not_known : static_cast<double>(run.*member); }));
    };
    point.memory_bytes = bytes(&RunRow::peak_memory_bytes);
    point.scratch_bytes = bytes(&RunRow::scratch_bytes);
    // the fields of a wrong point are not those that were asked for: its times are no speed
    if (point.status == RunStatus::ok) measure(point, timed, bootstrap);
    study.points.push_back(std::move(point));
  }
}

// ---- speed-ups

std::vector<double> draws_of(const StudyPoint& point, const Bootstrap& bootstrap) {
  return resampled_medians(point.field_seconds.all, bootstrap, static_cast<std::uint64_t>(point.id));
}

/// Whether every label but those of the axes in `free` is the same.
bool same_but(const StudyPoint& a, const StudyPoint& b, const std::vector<bool>& free) {
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (!free[i] && a.labels[i] != b.labels[i]) return false;
  }
  return true;
}

/// Finds the point that each one's speed-up is relative to.
class Baselines {
public:
  explicit Baselines(const StudyData& study) : m_study(study), m_free(study.axes.size()) {
    for (std::size_t a = 0; a < study.axes.size(); ++a) {
      const StudyAxis& axis = study.axes[a];
      m_free[a] = study.rules.baseline.empty() ? axis.values.size() > 1 && sets_any(axis, worker_keys) : is_named(axis);
      m_any = m_any || m_free[a];
    }
  }
  /// nullptr without one
  [[nodiscard]] const StudyPoint* find(const StudyPoint& point) const {
    if (!m_any) return nullptr;
    const StudyPoint* found = nullptr;
    for (const StudyPoint& other : m_study.points) {
      if (!has_speed(other) || other.oversubscribed || !same_but(point, other, m_free)) continue;
      if (m_study.rules.baseline.empty()) {
        if (other.workers() > 0 && (found == nullptr || other.workers() < found->workers())) found = &other;
      } else if (found == nullptr && is_baseline(other)) {
        found = &other;
      }
    }
    return found;
  }

private:
  [[nodiscard]] bool is_named(const StudyAxis& axis) const {
    return std::any_of(m_study.rules.baseline.begin(), m_study.rules.baseline.end(),
                       [&](const auto& entry) { return entry.first == axis.name || axis.sets(entry.first); });
  }
  [[nodiscard]] bool is_baseline(const StudyPoint& point) const {
    return std::all_of(m_study.rules.baseline.begin(), m_study.rules.baseline.end(), [&](const auto& entry) {
      for (std::size_t a = 0; a < m_study.axes.size(); ++a) {
        if (m_study.axes[a].name == entry.first) return point.labels[a] == entry.second;
      }
      return setting(m_study, point.labels, entry.first) == entry.second;
    });
  }

  const StudyData& m_study;
  std::vector<bool> m_free;
  bool m_any = false;
};

/// Rate of `point` over that of `base`, by times and pairs, which differ in weak scaling.
double speed_ratio(const StudyPoint& point, const StudyPoint& base, double point_seconds, double base_seconds) {
  return base_seconds / point_seconds * (static_cast<double>(point.pairs) / static_cast<double>(base.pairs));
}

void speed_up(StudyPoint& point, const StudyPoint& base, const Bootstrap& bootstrap) {
  point.baseline = base.id;
  const auto ratio = [&](double own, double others) { return speed_ratio(point, base, own, others); };
  const double value = ratio(point.field_seconds.median.value, base.field_seconds.median.value);
  std::vector<double> draws;
  if (point.id != base.id) {
    const std::vector<double> own = draws_of(point, bootstrap);
    const std::vector<double> others = draws_of(base, bootstrap);
    if (!own.empty() && !others.empty()) {
      draws.resize(own.size());
      std::transform(own.begin(), own.end(), others.begin(), draws.begin(), ratio);
    }
    point.speed_up = with_interval(value, draws);
  } else {
    point.speed_up = {1, 1, 1};
  }
  // more ranks x threads than cores are no workers, and threads are none of a device's kind
  if (point.oversubscribed || on_device(point) != on_device(base) || point.workers() <= 0 || base.workers() <= 0)
    return;
  const double n = static_cast<double>(point.workers()) / static_cast<double>(base.workers());
  point.efficiency = {point.speed_up.value / n, point.speed_up.low / n, point.speed_up.high / n};
  if (n <= 1) return;
  for (double& draw : draws) draw = karp_flatt(draw, n);
  point.karp_flatt = with_interval(karp_flatt(value, n), draws);
}

// ---- serial fractions

/// threads, ranks or devices of a point, as a scaling is along one of them; -1: not known.
std::int64_t count_of(const StudyPoint& point, std::string_view key) {
  if (key == "threads") return point.threads;
  if (key == "ranks") return point.ranks;
  return key == "devices" ? point.devices : -1;
}

/// The key that scaling is along, and the index of the axis that sets it; an empty key when none is swept.
struct ScalingAxis {
  std::string key;
  std::size_t axis = 0;
};

ScalingAxis scaling_axis(const StudyData& study) {
  for (const char* key : worker_keys) {
    if (!study.rules.scaling.empty() && study.rules.scaling != key) continue;
    for (std::size_t a = 0; a < study.axes.size(); ++a) {
      if (study.axes[a].sets(key) && study.axes[a].values.size() > 1) return {key, a};
    }
  }
  return {};
}

StudyFit fit_group(const StudyData& study, const ScalingAxis& scaling, std::vector<const StudyPoint*> points,
                   const Bootstrap& bootstrap) {
  StudyFit fit;
  fit.along = study.axes[scaling.axis].name;
  fit.key = scaling.key;
  fit.machine = points.front()->machine;
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    if (a != scaling.axis) fit.group.emplace_back(study.axes[a].name, points.front()->labels[a]);
  }
  std::stable_sort(points.begin(), points.end(), [&](const StudyPoint* a, const StudyPoint* b) {
    return count_of(*a, scaling.key) < count_of(*b, scaling.key);
  });
  const StudyPoint& base = *points.front();
  const auto least = static_cast<double>(count_of(base, scaling.key));
  std::vector<double> workers, relative_workers, seconds, speed_ups;
  std::vector<std::vector<double>> draws;
  for (const StudyPoint* point : points) {
    fit.points.push_back(point->id);
    workers.push_back(static_cast<double>(count_of(*point, scaling.key)));
    relative_workers.push_back(workers.back() / least);
    draws.push_back(draws_of(*point, bootstrap));
  }
  const auto set_speeds = [&](const auto& seconds_of) {
    seconds.clear();
    speed_ups.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      seconds.push_back(seconds_of(i));
      speed_ups.push_back(speed_ratio(*points[i], base, seconds[i], seconds[0]));
    }
  };
  const bool drawn = std::none_of(draws.begin(), draws.end(), [](const auto& of_point) { return of_point.empty(); });
  std::vector<double> amdahl, gustafson;
  for (std::size_t b = 0; drawn && b < bootstrap.resamples; ++b) {
    set_speeds([&](std::size_t i) { return draws[i][b]; });
    amdahl.push_back(fit_amdahl(workers, seconds).serial);
    gustafson.push_back(fit_gustafson(relative_workers, speed_ups));
  }
  set_speeds([&](std::size_t i) { return points[i]->field_seconds.median.value; });
  // Amdahl's problem stays the same, Gustafson's grows
  if (!study.rules.weak) {
    const AmdahlFit found = fit_amdahl(workers, seconds);
    fit.amdahl = with_interval(found.serial, amdahl);
    fit.seconds_of_one = found.seconds_of_one;
  }
  fit.gustafson = with_interval(fit_gustafson(relative_workers, speed_ups), gustafson);
  return fit;
}

void fit_laws(StudyData& study, const Bootstrap& bootstrap) {
  study.fits.clear();
  const ScalingAxis scaling = scaling_axis(study);
  if (scaling.key.empty()) return;
  std::vector<bool> free(study.axes.size(), false);
  free[scaling.axis] = true;
  std::vector<std::vector<const StudyPoint*>> groups;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point) || point.oversubscribed || count_of(point, scaling.key) <= 0 || point.workers() <= 0)
      continue;
    // ranks that share the same cores, with fewer threads each, are no more workers
    const auto scales_with = [&](const StudyPoint& other) {
      return point.workers() * count_of(other, scaling.key) == other.workers() * count_of(point, scaling.key);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return same_but(point, *g.front(), free) && on_device(point) == on_device(*g.front()) && scales_with(*g.front());
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(&point);
  }
  for (const auto& group : groups) {
    std::set<std::int64_t> counts;
    for (const StudyPoint* point : group) counts.insert(count_of(*point, scaling.key));
    // A law through two points is neither confirmed nor refuted.
    if (counts.size() > 2) study.fits.push_back(fit_group(study, scaling, group, bootstrap));
  }
}

// ---- rooflines

void place_on_rooflines(StudyData& study) {
  // operations of a product with a stored G are none of the kernel's
  if (study.rules.command != "run") return;
  std::map<std::int64_t, FieldList> fields;
  for (const FieldError& error : study.errors) {
    for (const FieldInfo& info : field_infos) {
      if (info.name == error.field) fields[error.point].add(info.field);
    }
  }
  for (StudyPoint& point : study.points) {
    const auto found = fields.find(point.id);
    if (!has_speed(point) || found == fields.end()) continue;
    const auto& peaks = study.machines[point.machine].peaks;
    const auto peak = peaks.find(point.space);
    point.roofline = roofline_of(point, smallest_set(found->second), peak == peaks.end() ? nullptr : &peak->second);
  }
}

// ---- performance portability

/// One of the places that studies are joined over.
struct PlatformPlace {
  std::string name;
  std::size_t machine = 0;
  /// "" for a machine on which nothing ran
  std::string space;

  /// A run that failed may not have told its space, nor its device.
  [[nodiscard]] bool has(const StudyData& study, const StudyPoint& point) const {
    if (point.machine != machine) return false;
    if (has_speed(point)) return platform_of(study, point) == name;
    return space.empty() || point.space.empty() || point.space == space;
  }
};

/// The platforms on which anything ran, and the machines on which nothing did.
std::vector<PlatformPlace> platforms_in(const StudyData& study) {
  std::vector<PlatformPlace> platforms;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point) || point.oversubscribed) continue;
    const std::string name = platform_of(study, point);
    const bool known = std::any_of(platforms.begin(), platforms.end(), [&](const auto& p) { return p.name == name; });
    if (!known) platforms.push_back({name, point.machine, point.space});
  }
  for (const StudyPoint& point : study.points) {
    const bool known =
        std::any_of(platforms.begin(), platforms.end(), [&](const auto& p) { return p.machine == point.machine; });
    if (!known) platforms.push_back({study.machines[point.machine].name, point.machine, ""});
  }
  return platforms;
}

void rate_portability(StudyData& study) {
  study.portability.clear();
  const std::vector<PlatformPlace> platforms = platforms_in(study);
  if (platforms.size() < 2) return;
  using Place = std::pair<std::string, std::string>;
  // the best rate of any point, by problem and platform
  std::map<Place, double> best;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point) || point.oversubscribed) continue;
    double& rate = best[{point.problem, platform_of(study, point)}];
    rate = std::max(rate, point.pairs_per_second.median.value);
  }

  std::vector<std::pair<std::string, Settings>> applications;
  for (const StudyPoint& point : study.points) {
    if (point.problem.empty()) continue;
    std::pair<std::string, Settings> application{point.problem, kept_labels(study, point)};
    if (std::find(applications.begin(), applications.end(), application) == applications.end()) {
      applications.push_back(std::move(application));
    }
  }
  for (const auto& [problem, kept] : applications) {
    Portability portability{problem, kept, {}, not_known, not_known};
    std::vector<double> architectural, application;
    for (const PlatformPlace& platform : platforms) {
      Portability::Platform on{platform.name, -1, not_known, not_known};
      const StudyPoint* fastest = nullptr;
      bool unable = false;
      for (const StudyPoint& point : study.points) {
        if (point.problem != problem || !platform.has(study, point) || kept_labels(study, point) != kept) continue;
        unable = unable || point.status == RunStatus::failed || point.status == RunStatus::wrong ||
                 point.status == RunStatus::not_run;
        if (!has_speed(point) || point.oversubscribed) continue;
        const bool faster =
            fastest == nullptr || point.pairs_per_second.median.value > fastest->pairs_per_second.median.value;
        if (faster) fastest = &point;
      }
      if (fastest != nullptr) {
        on.point = fastest->id;
        on.architectural = fastest->roofline.fraction_of_peak;
        on.application = fastest->pairs_per_second.median.value / best[{problem, platform.name}];
      } else if (unable) {
        on.architectural = 0;
        on.application = 0;
      }
      architectural.push_back(on.architectural);
      application.push_back(on.application);
      portability.platforms.push_back(std::move(on));
    }
    portability.architectural = performance_portability(architectural);
    portability.application = performance_portability(application);
    study.portability.push_back(std::move(portability));
  }
}

// ---- rules

/// "1 point", "points 2, 5 and 7 more"
std::string point_list(const std::vector<std::int64_t>& ids) {
  constexpr std::size_t most = 12;
  const std::size_t shown = std::min(ids.size(), most);
  const std::vector<std::int64_t> first(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("point{} {}{}", ids.size() == 1 ? "" : "s", fmt::join(first, ", "),
                     ids.size() > shown ? fmt::format(" and {} more", ids.size() - shown) : "");
}

void note_rules(StudyData& study) {
  StudyRules& rules = study.rules;
  std::vector<std::int64_t> few, oversubscribed;
  std::map<RunStatus, std::vector<std::int64_t>> others;
  for (const StudyPoint& point : study.points) {
    const auto runs = static_cast<std::int64_t>(point.field_seconds.all.size());
    if (point.status == RunStatus::ok && runs < std::min(enough_repeats, rules.repeats)) few.push_back(point.id);
    if (point.oversubscribed && point.status != RunStatus::not_run) oversubscribed.push_back(point.id);
    if (point.status != RunStatus::ok) others[point.status].push_back(point.id);
  }
  rules.budget_forbade = std::any_of(study.runs.begin(), study.runs.end(),
                                     [](const RunRow& run) { return run.status == RunStatus::out_of_budget; });
  if (rules.repeats < enough_repeats) {
    rules.notes.push_back(fmt::format("{} repeat{} asked for, {} are the rule", rules.repeats,
                                      rules.repeats == 1 ? " is" : "s are", enough_repeats));
  }
  if (!few.empty()) {
    rules.notes.push_back(fmt::format("{}: fewer than {} timed runs{}", point_list(few),
                                      std::min(enough_repeats, rules.repeats),
                                      rules.budget_forbade ? ", the time budget was spent" : ""));
  }
  const auto tell = [&](RunStatus status, const char* what) {
    if (others.contains(status)) rules.notes.push_back(fmt::format("{}: {}", point_list(others[status]), what));
  };
  tell(RunStatus::not_run, "not run here, left out of all fits");
  tell(RunStatus::failed, "failed");
  tell(RunStatus::wrong, "outside the tolerance, therefore without a speed");
  tell(RunStatus::too_slow, "ended at the limit of a run");
  tell(RunStatus::out_of_budget, "not run, the time budget was spent");
  if (!oversubscribed.empty()) {
    rules.notes.push_back(
        fmt::format("{}: more ranks x threads than cores, left out of all fits", point_list(oversubscribed)));
  }
}

}  // namespace

bool has_speed(const StudyPoint& point) {
  return point.status == RunStatus::ok && point.field_seconds.median.value > 0 && point.pairs > 0;
}

std::string platform_of(const StudyData& study, const StudyPoint& point) {
  const std::string where = on_device(point) && !point.device.empty() ? point.device : point.space;
  return study.machines[point.machine].name + (where.empty() ? "" : ", " + where);
}

Settings kept_labels(const StudyData& study, const StudyPoint& point) {
  Settings kept;
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const auto& keys = study.axes[a].keys;
    const bool tuned = std::all_of(keys.begin(), keys.end(), [](const std::string& key) {
      return std::find(tuned_keys.begin(), tuned_keys.end(), key) != tuned_keys.end();
    });
    if (!tuned) kept.emplace_back(study.axes[a].name, point.labels[a]);
  }
  return kept;
}

void analyse(StudyData& study) {
  const Bootstrap bootstrap{study.rules.seed, Bootstrap{}.resamples};
  make_points(study, bootstrap);
  const Baselines baselines(study);
  std::vector<const StudyPoint*> base_of;
  for (const StudyPoint& point : study.points) base_of.push_back(has_speed(point) ? baselines.find(point) : nullptr);
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    if (base_of[i] != nullptr) speed_up(study.points[i], *base_of[i], bootstrap);
  }
  // when a wrong point was busy is how fast it was
  std::set<std::int64_t> without_speed;
  for (const StudyPoint& point : study.points) {
    if (point.status == RunStatus::wrong) without_speed.insert(point.id);
  }
  std::erase_if(study.busy, [&](const BusyRow& row) { return without_speed.contains(row.point); });
  fit_laws(study, bootstrap);
  place_on_rooflines(study);
  rate_portability(study);
  note_rules(study);
}

}  // namespace prismfield
