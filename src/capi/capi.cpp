// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// The C ABI: plain pointers in, codes and texts out; no exception leaves, nothing of a caller's is kept.
#include <prismfield/prismfield.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>
#include <prismfield/runtime.hpp>

#include "base/human_text.hpp"
#include "base/interrupt.hpp"
#include "base/limited_problems.hpp"
#include "base/version.hpp"
#include "compute/forward_of_few.hpp"
#include "compute/plan.hpp"
#include "engine/engine.hpp"
#include "engine/few_pairs.hpp"
#include "engine/kokkos_facts.hpp"
#include "model/choices.hpp"
#include "model/plausible.hpp"
#include "model/prism_check.hpp"

struct pf_operator;

namespace prismfield::capi {

using Numbers = std::span<const double>;

/// Held by the one computation that there is at a time.
std::mutex computing;
/// The process whose call was the first to compute, 0: none yet. Known before the lock, which a fork meanwhile leaves
/// locked in the new process.
std::atomic<pid_t> owner = 0;
/// 0: Kokkos has not started
std::atomic<int> started_threads = 0;
/// Whether this thread computes, and is in a progress function then.
thread_local bool is_computing = false;
/// Whether SIGINT stops what this thread computes.
thread_local bool is_interruptible = false;

/// Operators that are to be freed, when nothing computes.
std::mutex dropping;
std::vector<pf_operator*> dropped;
void free_dropped();

thread_local std::string message;

/// A forked process has none of the threads, and perhaps a lock that nobody opens.
bool is_forked() { return owner != 0 && owner != getpid(); }

/// The turn of a call to compute; others wait. Throws in a forked process and in a progress function.
class Turn {
public:
  Turn() {
    pid_t nobody = 0;
    owner.compare_exchange_strong(nobody, getpid());
    if (is_forked()) {
      throw RunError(
          "the process was forked after prismfield had started, and its threads are not there; start processes by "
          "'spawn' or 'forkserver', or fork before the first call");
    }
    if (is_computing) throw InputError("", "progress", "a progress function may not compute by prismfield itself");
    m_lock = std::unique_lock(computing);
    is_computing = true;
  }
  ~Turn() {
    free_dropped();
    is_computing = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  std::unique_lock<std::mutex> m_lock;
};

/// Kokkos, ended with the process, before its own statics, which were there first.
class KokkosOfProcess {
public:
  explicit KokkosOfProcess(int threads) : m_runtime(new Runtime(options_of(threads))) {
    started_threads = kokkos_facts().host_threads;
  }
  ~KokkosOfProcess() {
    // not for a forked process, which has none of it, nor while a thread computes; none begins any more
    if (is_forked() || !computing.try_lock()) return;
    free_dropped();
    delete m_runtime;
  }
  KokkosOfProcess(const KokkosOfProcess&) = delete;
  KokkosOfProcess& operator=(const KokkosOfProcess&) = delete;

private:
  static RuntimeOptions options_of(int threads) {
    RuntimeOptions options;
    options.threads = threads;
    return options;
  }

  const Runtime* m_runtime;
};

/// Within a turn.
void start(int threads) {
  static const KokkosOfProcess kokkos(threads);
  if (threads != 0 && threads != started_threads) {
    throw InputError("", "threads",
                     "is " + std::to_string(threads) + ", but prismfield runs with " + std::to_string(started_threads) +
                         "; set the number before the first computation");
  }
}

template <class F>
pf_code guarded(const F& f) noexcept {
  try {
    try {
      f();
      return PF_OK;
    } catch (const InputError& error) {
      message = error.what();
      return PF_INPUT_ERROR;
    } catch (const Stopped&) {
      message = "stopped; nothing was computed";
      return PF_STOPPED;
    } catch (const AgreedFailure& error) {
      message = error.what();
      return error.kind == ErrorKind::input     ? PF_INPUT_ERROR
             : error.kind == ErrorKind::stopped ? PF_STOPPED
                                                : PF_RUN_ERROR;
    } catch (const std::bad_alloc&) {
      message = "out of memory";
      return PF_RUN_ERROR;
    } catch (const RunError& error) {
      message = error.what();
      return PF_RUN_ERROR;
    } catch (const std::exception& error) {
      message = error.what();
      return PF_INTERNAL_ERROR;
    }
  } catch (...) {
    return PF_INTERNAL_ERROR;
  }
}

// ---- settings

struct Settings {
  Settings() { storage.store = Store::none; }
  Request request;
  StorageSettings storage;
  InversionSettings inversion;
  pf_progress progress = nullptr;
  void* user = nullptr;
};

/// The keys that take numbers: how many, and what they set.
struct NumberKey {
  std::int64_t count;
  std::function<void(Settings&, Numbers)> set;
};

/// Throws InputError for what is no whole number that T holds.
template <class T = std::int64_t>
T whole(double value) {
  // as doubles both are exact
  const double past = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double least = std::is_signed_v<T> ? -past : 0;
  if (!(value >= least && value < past && value == std::trunc(value))) {
    throw InputError("", "",
                     "is " + short_number(value) + "; a whole number from " + short_number(least) + " to " +
                         short_number(past) + " is expected");
  }
  return static_cast<T>(value);
}

/// Of inclination and declination, degrees.
std::array<double, 3> vector_along(Numbers values, double length) {
  if (!(std::abs(values[0]) <= 90 && std::abs(values[1]) <= 360)) {
    throw InputError("", "",
                     "is " + std::to_string(values[0]) + ", " + std::to_string(values[1]) +
                         " degrees; an inclination from -90 to 90 and a declination from -360 to 360 are expected");
  }
  return vector_of(values[0], values[1], length);
}

/// T, of inclination and declination, degrees, and intensity, nT.
std::array<double, 3> inducing_field(Numbers values) {
  constexpr double nanotesla = 1e-9;
  if (const std::string error = intensity_error(values[2]); !error.empty()) throw InputError("", "", error);
  return vector_along(values, values[2] * nanotesla);
}

template <std::size_t n>
std::array<double, n> array_of(Numbers values) {
  std::array<double, n> all{};
  std::copy_n(values.begin(), n, all.begin());
  return all;
}

const std::map<std::string, NumberKey, std::less<>>& number_keys() {
  const auto of_execution = [](std::optional<std::int64_t> Execution::*member) {
    return NumberKey{1, [member](Settings& s, Numbers v) { s.request.execution.*member = whole(v[0]); }};
  };
  const auto of_inversion = [](auto InversionSettings::*member) {
    return NumberKey{1, [member](Settings& s, Numbers v) {
                       using T = std::remove_reference_t<decltype(s.inversion.*member)>;
                       if constexpr (std::is_same_v<T, bool>) {
                         s.inversion.*member = v[0] != 0;
                       } else if constexpr (std::is_integral_v<T>) {
                         s.inversion.*member = whole<T>(v[0]);
                       } else {
                         s.inversion.*member = v[0];
                       }
                     }};
  };
  using Inversion = InversionSettings;
  static const std::map<std::string, NumberKey, std::less<>> keys = {
      {"gravitational_constant", {1, [](Settings& s, Numbers v) { s.request.gravitational_constant = v[0]; }}},
      {"magnetic.inducing_field",
       {3, [](Settings& s, Numbers v) { s.request.magnetic.inducing_field = inducing_field(v); }}},
      {"magnetic.magnetization_direction",
       {2, [](Settings& s, Numbers v) { s.request.magnetic.magnetization_direction = vector_along(v, 1); }}},
      {"magnetic.vacuum_permeability",
       {1, [](Settings& s, Numbers v) { s.request.magnetic.vacuum_permeability = v[0]; }}},
      {"execution.batch", of_execution(&Execution::batch)},
      {"execution.slots", of_execution(&Execution::slots)},
      {"execution.block", of_execution(&Execution::block)},
      {"execution.chunk", of_execution(&Execution::chunk)},
      {"execution.memory_limit", of_execution(&Execution::memory_limit)},
      {"execution.tolerance", {1, [](Settings& s, Numbers v) { s.request.execution.tolerance = v[0]; }}},
      {"execution.check_points", {1, [](Settings& s, Numbers v) { s.request.execution.check_points = whole(v[0]); }}},
      {"sensitivity.compression", {1, [](Settings& s, Numbers v) { s.storage.compression = v[0]; }}},
      {"sensitivity.memory_limit", {1, [](Settings& s, Numbers v) { s.storage.memory_limit = whole(v[0]); }}},
      {"inversion.smallness", of_inversion(&Inversion::smallness)},
      {"inversion.smoothness", {3, [](Settings& s, Numbers v) { s.inversion.smoothness = array_of<3>(v); }}},
      {"inversion.smoothing_lengths",
       {3, [](Settings& s, Numbers v) { s.inversion.smoothing_lengths = array_of<3>(v); }}},
      {"inversion.reference_in_smoothness", of_inversion(&Inversion::reference_in_smoothness)},
      {"inversion.norm", {4, [](Settings& s, Numbers v) { s.inversion.norm = array_of<4>(v); }}},
      {"inversion.bounds",
       {2,
        [](Settings& s, Numbers v) {
          s.inversion.bounds = Range{v[0], v[1]};
        }}},
      {"inversion.bounds.amplitude", of_inversion(&Inversion::most_amplitude)},
      {"inversion.beta", of_inversion(&Inversion::beta)},
      {"inversion.target_misfit", of_inversion(&Inversion::target_misfit)},
      {"inversion.max_iterations", of_inversion(&Inversion::max_iterations)},
      {"inversion.depth_of_investigation", of_inversion(&Inversion::depth_of_investigation)},
      {"inversion.weighting.power", {1, [](Settings& s, Numbers v) { s.inversion.weighting.power = v[0]; }}},
      {"inversion.weighting.z0", {1, [](Settings& s, Numbers v) { s.inversion.weighting.z0 = v[0]; }}},
      {"inversion.uncertainty.samples",
       {1, [](Settings& s, Numbers v) { s.inversion.uncertainty.samples = whole(v[0]); }}},
      {"inversion.uncertainty.seed",
       {1, [](Settings& s, Numbers v) { s.inversion.uncertainty.seed = whole<std::uint64_t>(v[0]); }}},
      {"inversion.uncertainty.rank", {1, [](Settings& s, Numbers v) { s.inversion.uncertainty.rank = whole(v[0]); }}},
  };
  return keys;
}

/// A word of a key and what it sets.
using Words = std::map<std::string, std::function<void(Settings&)>, std::less<>>;

const std::map<std::string, Words, std::less<>>& text_keys() {
  const auto words = [](const auto& choices, auto place) {
    Words all;
    for (const auto& choice : choices) {
      all[choice.word] = [place, meaning = choice.meaning](Settings& s) { place(s) = meaning; };
    }
    return all;
  };
  const auto execution = [](auto member) {
    return [member](Settings & s) -> auto& { return s.request.execution.*member; };
  };
  const auto storage = [](auto member) {
    return [member](Settings & s) -> auto& { return s.storage.*member; };
  };
  static const std::map<std::string, Words, std::less<>> keys = {
      {"magnetic.inside", words(
                              inside_choices, [](Settings & s) -> auto& { return s.request.magnetic.inside; })},
      {"execution.space", words(space_choices, execution(&Execution::space))},
      {"execution.precision", words(precision_choices, execution(&Execution::precision))},
      {"execution.kernel", words(kernel_choices, execution(&Execution::kernel))},
      {"execution.method", words(method_choices, execution(&Execution::method))},
      {"sensitivity.store", words(store_choices, storage(&StorageSettings::store))},
      {"sensitivity.precision", words(stored_precision_choices, storage(&StorageSettings::precision))},
      {"inversion.unknown", words(
                                unknown_choices, [](Settings & s) -> auto& { return s.inversion.unknown; })},
      {"inversion.weighting.kind",
       words(
           weighting_choices, [](Settings & s) -> auto& { return s.inversion.weighting.kind; })},
      {"inversion.trend", words(
                              trend_choices, [](Settings & s) -> auto& { return s.inversion.trend; })},
      {"inversion.beta",
       {{"target", [](Settings& s) { s.inversion.beta_choice = BetaChoice::target; }},
        {"gcv", [](Settings& s) { s.inversion.beta_choice = BetaChoice::gcv; }},
        {"l_curve", [](Settings& s) { s.inversion.beta_choice = BetaChoice::l_curve; }}}},
      {"inversion.data_norm",
       {{"squares", [](Settings& s) { s.inversion.data_norm = DataNorm::squares; }},
        {"huber", [](Settings& s) { s.inversion.data_norm = DataNorm::huber; }}}},
  };
  return keys;
}

template <class Map>
const auto& found(const Map& keys, std::string_view where, std::string_view word) {
  if (const auto at = keys.find(word); at != keys.end()) return at->second;
  std::string allowed;
  for (const auto& [key, value] : keys) allowed += (allowed.empty() ? "" : ", ") + key;
  throw InputError("", std::string(where), "'" + std::string(word) + "' is none of " + allowed);
}

// ---- arguments

/// What a caller has to give. Throws InputError where it is NULL.
template <class T>
T& needed(T* given, const char* name) {
  if (given == nullptr) throw InputError("", name, "is NULL");
  return *given;
}

/// A length that can be one, of an array whose elements have `each` values. Throws InputError.
std::int64_t length(std::int64_t n, const char* name, std::int64_t each = 1) {
  // values: no address space is as large
  constexpr std::int64_t most = std::int64_t{1} << 53;
  if (n < 0 || n > most / std::max<std::int64_t>(each, 1)) {
    throw InputError("", name,
                     "has the length " + std::to_string(n) +
                         (n < 0 ? "; 0 or more is expected" : ", for which no memory is large enough"));
  }
  return n;
}

/// What a caller's pointer and length stand for: n elements of `each` values.
template <class T>
std::span<T> given(T* values, std::int64_t n, const char* name, std::int64_t each = 1) {
  const std::int64_t size = length(n, name, each) * each;
  if (size > 0) needed(values, name);
  return {values, static_cast<std::size_t>(size)};
}
FieldList field_list(const int* numbers, int n) {
  FieldList fields;
  int before = -1;
  for (const int number : given(numbers, n, "fields")) {
    if (number <= before || number >= n_known_fields) {
      throw InputError("", "fields", "are numbers of fields that rise: " + std::to_string(number) + " is not the next");
    }
    fields.add(static_cast<Field>(number));
    before = number;
  }
  if (fields.empty()) throw InputError("", "fields", "at least one is needed");
  return fields;
}

std::vector<double> copied(Numbers values) { return {values.begin(), values.end()}; }
/// That of an array that may be missing.
std::vector<double> copied_if(const double* values, std::int64_t n) {
  return values == nullptr ? std::vector<double>() : copied({values, static_cast<std::size_t>(n)});
}

PointColumns columns_of(const pf_points& points) {
  return {given(points.easting, points.n, "easting"),
          given(points.northing, points.n, "northing"),
          given(points.upward, points.n, "upward"),
          {}};
}
Points points_of(const pf_points& points) {
  const PointColumns columns = columns_of(points);
  Points copies;
  copies.easting = copied(columns.easting);
  copies.northing = copied(columns.northing);
  copies.upward = copied(columns.upward);
  return copies;
}

/// Prisms as columns, copies of a caller's rows.
class Prisms {
public:
  /// The density as far as a field of it is asked for, 1 otherwise, and the magnetisation, remanent and induced, as far
  /// as one of it is. Throws InputError where they are missing or beyond their limits.
  Prisms(const pf_prisms& rows, FieldList of_density, FieldList of_magnetisation, const Magnetic& magnetic) {
    const std::size_t n = given(rows.bounds, rows.n, "prisms", 6).size() / 6;
    for (std::size_t c = 0; c < 6; ++c) {
      m_columns[c].resize(n);
      for (std::size_t i = 0; i < n; ++i) m_columns[c][i] = rows.bounds[6 * i + c];
    }
    if (!of_density.empty() && rows.density == nullptr && n > 0) {
      throw InputError("", "density", "is missing; " + names_of(of_density).front() + " needs it");
    }
    m_columns[6] = of_density.empty() ? std::vector<double>(n, 1.0) : copied(given(rows.density, rows.n, "density"));
    const bool is_magnetized = std::ranges::any_of(rows.magnetization, [](const double* m) { return m != nullptr; });
    for (std::size_t d = 0; d < 3 && !of_magnetisation.empty() && is_magnetized; ++d) {
      m_magnetization[d] = copied(given(rows.magnetization[d], rows.n, "magnetization"));
    }
    if (!of_magnetisation.empty() && rows.susceptibility != nullptr) {
      add_induced(given(rows.susceptibility, rows.n, "susceptibility"), magnetic);
    }
    m_list.emplace(columns());
  }
  [[nodiscard]] const PrismList& list() const noexcept { return *m_list; }
  [[nodiscard]] PrismColumns columns() const noexcept {
    const auto& c = m_columns;
    const auto& m = m_magnetization;
    return {c[0], c[1], c[2], c[3], c[4], c[5], c[6], {m[0], m[1], m[2]}};
  }

private:
  void add_induced(Numbers susceptibility, const Magnetic& magnetic) {
    const std::array<double, 3> per_unit = unit_magnetizations(Unknown::susceptibility, magnetic).front();
    ProblemList problems;
    LimitedProblems limited(problems, "prisms");
    for (std::vector<double>& component : m_magnetization) component.resize(susceptibility.size());
    for (std::size_t i = 0; i < susceptibility.size(); ++i) {
      const std::string error = property_error(susceptibility_property, susceptibility[i]);
      if (!error.empty()) {
        limited.add("susceptibilities beyond the limits", [&] {
          return Problem{"prism " + std::to_string(i), "susceptibility", error};
        });
      }
      for (std::size_t d = 0; d < 3; ++d) m_magnetization[d][i] += susceptibility[i] * per_unit[d];
    }
    limited.finish();
    problems.throw_if_any();
  }

  std::array<std::vector<double>, 7> m_columns;
  std::array<std::vector<double>, 3> m_magnetization;
  std::optional<PrismList> m_list;
};

/// The edges of cells. Throws InputError for those that do not rise.
CellEdges edges_of(const pf_cells& cells) {
  constexpr std::array<const char*, 3> names = {"cells.easting", "cells.northing", "cells.upward"};
  CellEdges edges;
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells.counts[d] < 1) throw InputError("", names[d], "needs two edges or more");
    edges[d] = copied(given(cells.edges[d], length(cells.counts[d], names[d]) + 1, names[d]));
    for (std::size_t i = 0; i < edges[d].size(); ++i) {
      const bool is_good = std::abs(edges[d][i]) <= max_coordinate && (i == 0 || edges[d][i - 1] < edges[d][i]);
      if (!is_good) {
        throw InputError("", names[d],
                         "edges have to rise, upwards too, and be metres: number " + std::to_string(i) + " is " +
                             std::to_string(edges[d][i]));
      }
    }
  }
  return edges;
}

/// For as long as a call lasts: the one that computes, which a progress function or SIGINT stops.
class Call final : public Observer {
public:
  explicit Call(const Settings& settings) : m_settings(settings) {
    start(0);
    if (is_interruptible) m_interruptible.emplace();
  }

  void progress(double done, std::int64_t) override {
    if (m_settings.progress != nullptr && m_settings.progress(done, m_settings.user) != 0) throw Stopped();
  }

private:
  const Settings& m_settings;
  Turn m_turn;
  std::optional<Interruptible> m_interruptible;
};

/// Whether so many pairs are done in one thread before others that it would wait for are there.
bool are_few(std::int64_t n_prisms, std::int64_t n_points) {
  return static_cast<double>(n_prisms) * static_cast<double>(n_points) <= static_cast<double>(few_pairs);
}
/// Whether a forward run needs no plan.
bool is_small(const Execution& execution, std::int64_t n_prisms, std::int64_t n_points) {
  return are_few(n_prisms, n_points) && !is_device(execution.space) && execution.precision == Precision::double_ &&
         execution.kernel == KernelKind::automatic && execution.tolerance >= default_tolerance;
}

/// All settings, with defaults for those not given.
Settings with_fields(const Settings* settings, FieldList fields) {
  Settings all = settings == nullptr ? Settings() : *settings;
  all.request.fields = fields;
  return all;
}

}  // namespace prismfield::capi

using namespace prismfield;
using namespace prismfield::capi;

struct pf_settings : Settings {};

struct pf_operator {
  Prisms prisms;
  Points points;
  std::optional<HostOperator> g;
  StorageChoice choice;
};

struct pf_inversion {
  InversionOutcome outcome;
};

int pf_abi_version() { return PF_ABI_VERSION; }
const char* pf_version() { return version_text; }
const char* pf_message() { return message.c_str(); }

pf_code pf_start(int threads) {
  return guarded([&] {
    if (threads < 0) throw InputError("", "threads", "is " + std::to_string(threads) + "; 0 or more is expected");
    const Turn turn;
    start(threads);
  });
}
int pf_threads() { return started_threads; }
const char* pf_spaces() {
  const char* text = "";
  guarded([&] {
    static const std::string names = [] {
      std::string all;
      for (const Space space : built_spaces()) all += (all.empty() ? "" : " ") + std::string(name(space));
      return all;
    }();
    text = names.c_str();
  });
  return text;
}

int pf_n_fields() { return n_known_fields; }
namespace {
const FieldInfo* field(int number) {
  return number < 0 || number >= n_known_fields ? nullptr : &field_infos[static_cast<std::size_t>(number)];
}
}  // namespace
// a field's texts are literals, which end with 0
const char* pf_field_name(int number) { return field(number) == nullptr ? nullptr : field(number)->name.data(); }
const char* pf_field_unit(int number) { return field(number) == nullptr ? nullptr : field(number)->unit.data(); }
double pf_field_scale(int number) { return field(number) == nullptr ? 0 : field(number)->scale; }
int pf_field_is_odd_in_z(int number) { return field(number) != nullptr && field(number)->odd_in_z ? 1 : 0; }

pf_settings* pf_settings_new() { return new (std::nothrow) pf_settings; }
void pf_settings_delete(pf_settings* settings) { delete settings; }
pf_code pf_set_numbers(pf_settings* settings, const char* key, const double* values, std::int64_t n) {
  return guarded([&] {
    needed(settings, "settings");
    needed(key, "key");
    const NumberKey& number = found(number_keys(), "settings of numbers", key);
    if (n != number.count) {
      throw InputError("", key, "needs " + std::to_string(number.count) + " numbers, has " + std::to_string(n));
    }
    try {
      number.set(*settings, given(values, n, key));
    } catch (const InputError& error) {
      throw InputError("", key, error.problems().front().what);
    }
  });
}
pf_code pf_set_text(pf_settings* settings, const char* key, const char* value) {
  return guarded([&] {
    needed(settings, "settings");
    needed(key, "key");
    needed(value, key);
    found(found(text_keys(), "settings of words", key), key, value)(*settings);
  });
}
void pf_set_progress(pf_settings* settings, pf_progress progress, void* user) {
  if (settings == nullptr) return;
  settings->progress = progress;
  settings->user = user;
}
void pf_set_interruptible(int interruptible) { is_interruptible = interruptible != 0; }

pf_code pf_forward(const pf_prisms* prisms, const pf_points* points, const int* fields, int n_fields,
                   const pf_settings* settings, double* values, std::int64_t* singular, pf_run* run) {
  return guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    const Settings all = with_fields(settings, field_list(fields, n_fields));
    const FieldList asked = all.request.fields;
    check_request(all.request);
    const Prisms copies(needed(prisms, "prisms"), asked.of_density(), asked.of_magnetisation(), all.request.magnetic);
    check_request(all.request, copies.list());
    const PointColumns places = columns_of(needed(points, "points"));
    const std::span<double> out = given(values, points->n, "values", n_fields);
    const auto computed = [&] {
      if (is_small(all.request.execution, prisms->n, points->n)) {
        Fields few = forward_of_few(out, copies.columns(), places, all.request);
        if (all.progress != nullptr) all.progress(1, all.user);
        return few;
      }
      Call call(all);
      return forward_into(out, copies.list(), places, all.request, {}, &call);
    };
    const Fields result = computed();
    if (singular != nullptr) std::copy(result.singular_points.begin(), result.singular_points.end(), singular);
    if (run != nullptr) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      *run = {static_cast<std::int64_t>(result.singular_points.size()),
              result.points_inside,
              result.pairs,
              seconds.count(),
              result.check.points,
              result.check.largest(),
              result.check.repeats};
    }
  });
}

namespace {
/// Whether a coordinate is a face's to the ulp within which kernels take a point to lie on it (move_onto_prism).
bool is_at(double coordinate, double face) {
  const double larger = std::max(std::abs(coordinate), std::abs(face));
  const double power = larger == 0 ? 0 : std::ldexp(1.0, std::ilogb(larger));
  constexpr double ulps = 4;
  return std::abs(coordinate - face) <= ulps * std::numeric_limits<double>::epsilon() * power;
}

/// A point and a prism of a caller's own loop.
struct Pair {
  std::array<double, 3> point;
  std::array<std::array<double, 2>, 3> face;

  /// Whether all is finite and the prism has a volume.
  [[nodiscard]] bool is_valid() const {
    return std::ranges::all_of(point, [](double x) { return std::isfinite(x); }) &&
           std::ranges::all_of(face,
                               [](const auto& f) { return std::isfinite(f[0]) && std::isfinite(f[1]) && f[0] < f[1]; });
  }
  [[nodiscard]] bool is_between(std::size_t d) const { return face[d][0] < point[d] && point[d] < face[d][1]; }
  /// The directions across whose faces the point lies on the prism; none where it does not touch the prism.
  [[nodiscard]] std::array<bool, 3> on_faces() const {
    std::array<bool, 3> is_on{};
    for (std::size_t d = 0; d < 3; ++d) {
      is_on[d] = is_at(point[d], face[d][0]) || is_at(point[d], face[d][1]);
      if (!is_on[d] && !is_between(d)) return {};
    }
    return is_on;
  }
  /// Whether choclo has magnetic fields there, of this magnetisation: outside of the prism and on its faces.
  [[nodiscard]] bool has_magnetic_value(const std::array<double, 3>& magnetization) const {
    if (!is_valid() || !std::ranges::all_of(magnetization, [](double x) { return std::isfinite(x); })) return false;
    const bool is_inside = is_between(0) && is_between(1) && is_between(2);
    return !is_inside && std::ranges::count(on_faces(), true) <= 1;
  }
  /// Writes the fields of the pair, of these sources.
  void compute(const Request& request, double density, const std::array<double, 3>& magnetization,
               std::span<double> values) const {
    const auto one = [](const double& x) { return Numbers(&x, 1); };
    forward_of_few(values,
                   {one(face[0][0]),
                    one(face[0][1]),
                    one(face[1][0]),
                    one(face[1][1]),
                    one(face[2][0]),
                    one(face[2][1]),
                    one(density),
                    {one(magnetization[0]), one(magnetization[1]), one(magnetization[2])}},
                   {one(point[0]), one(point[1]), one(point[2]), {}}, request);
  }
};
}  // namespace

double pf_gravity(int number, double easting, double northing, double upward, double west, double east, double south,
                  double north, double bottom, double top, double density) {
  double value = std::numeric_limits<double>::quiet_NaN();
  guarded([&] {
    const Pair pair{{easting, northing, upward}, {{{west, east}, {south, north}, {bottom, top}}}};
    if (number < 0 || number >= n_gravity_fields || !pair.is_valid() || !std::isfinite(density)) return;
    const std::array<bool, 3> is_on = pair.on_faces();
    const Derivatives of = native_derivatives[static_cast<std::size_t>(number)];
    const std::array<int, 3> along = {of.easting, of.northing, of.upward};
    double jump = 0;
    for (std::size_t d = 0; d < 3 && of.order() == 2; ++d) {
      const std::size_t other = (d + 1) % 3, last = (d + 2) % 3;
      if (along[d] == 2 && is_on[d] && (is_on[other] || is_on[last])) return;
      if (along[d] == 1 && along[other] == 1 && is_on[d] && is_on[other]) return;
      // from the mean of both sides to the point's own, which of a face itself is outside
      if (along[d] == 2 && is_on[d]) jump = (pair.is_between(d) ? -2 : 2) * std::numbers::pi * density;
    }
    double computed = 0;
    Request request;
    request.fields = {static_cast<Field>(number)};
    pair.compute(request, density, {}, {&computed, 1});
    value = computed + request.gravitational_constant * jump;
  });
  return value;
}

void pf_magnetic(double easting, double northing, double upward, double west, double east, double south, double north,
                 double bottom, double top, double magnetization_easting, double magnetization_northing,
                 double magnetization_upward, double* b) {
  if (b == nullptr) return;
  std::fill_n(b, 3, std::numeric_limits<double>::quiet_NaN());
  guarded([&] {
    const Pair pair{{easting, northing, upward}, {{{west, east}, {south, north}, {bottom, top}}}};
    const std::array<double, 3> m = {magnetization_easting, magnetization_northing, magnetization_upward};
    if (!pair.has_magnetic_value(m)) return;
    const std::array<bool, 3> is_on = pair.on_faces();
    Request request;
    request.fields = {Field::bx, Field::by, Field::bz};
    request.magnetic.inside = Inside::field_strength;
    pair.compute(request, 0, m, {b, 3});
    // along a face mu0 H is that of outside, across it the mean of both sides, which differ by mu0 M
    for (std::size_t d = 0; d < 3; ++d) {
      if (is_on[d]) b[d] += request.magnetic.vacuum_permeability * m[d] / 2;
    }
  });
}

double pf_magnetic_gradient(int number, double easting, double northing, double upward, double west, double east,
                            double south, double north, double bottom, double top, double magnetization_easting,
                            double magnetization_northing, double magnetization_upward) {
  double value = std::numeric_limits<double>::quiet_NaN();
  guarded([&] {
    const Pair pair{{easting, northing, upward}, {{{west, east}, {south, north}, {bottom, top}}}};
    const std::array<double, 3> m = {magnetization_easting, magnetization_northing, magnetization_upward};
    const bool is_gradient = number >= static_cast<int>(Field::bxx) && number <= static_cast<int>(Field::byz);
    if (!is_gradient || !pair.has_magnetic_value(m)) return;
    Request request;
    request.fields = {static_cast<Field>(number)};
    // the same on both sides of a face
    pair.compute(request, 0, m, {&value, 1});
  });
  return value;
}

pf_code pf_operator_new(const pf_prisms* prisms, const pf_points* points, const int* fields, int n_fields,
                        const pf_settings* settings, pf_operator** made) {
  return guarded([&] {
    needed(made, "the place of the operator");
    *made = nullptr;
    const pf_prisms& rows = needed(prisms, "prisms");
    const pf_points& places = needed(points, "points");
    Settings all = with_fields(settings, field_list(fields, n_fields));
    Space& space = all.request.execution.space;
    if (space == Space::automatic && are_few(rows.n, places.n)) {
      space = Space::serial;
    } else if (space == Space::automatic && all.storage.compression) {
      // made on hosts only
      const std::vector<Space> spaces = built_spaces();
      space = *std::ranges::find_if_not(spaces, is_device);
    }
    check_request(all.request);
    auto g =
        std::make_unique<pf_operator>(Prisms(rows, {}, all.request.fields.of_magnetisation(), all.request.magnetic),
                                      points_of(places), std::nullopt, StorageChoice());
    Call call(all);
    g->g.emplace(g->prisms.list(), g->points, all.request, all.storage, Communicator(), &g->choice);
    *made = g.release();
  });
}
void pf_operator_delete(pf_operator* made) {
  // its memory may be on a device, which a forked process cannot use
  if (made == nullptr || is_forked()) return;
  guarded([&] {
    {
      const std::lock_guard lock(dropping);
      dropped.push_back(made);
    }
    // in a progress function, or while others compute, the end of that call frees it
    if (is_computing) return;
    const std::unique_lock lock(computing, std::try_to_lock);
    if (lock.owns_lock()) free_dropped();
  });
}
namespace prismfield::capi {
void free_dropped() {
  std::vector<pf_operator*> all;
  {
    const std::lock_guard lock(dropping);
    all.swap(dropped);
  }
  for (const pf_operator* one : all) delete one;
}
}  // namespace prismfield::capi
std::int64_t pf_operator_rows(const pf_operator* g) { return g == nullptr ? 0 : g->g->rows(); }
std::int64_t pf_operator_columns(const pf_operator* g) { return g == nullptr ? 0 : g->g->columns(); }
std::int64_t pf_operator_bytes(const pf_operator* g) { return g == nullptr ? 0 : g->choice.bytes; }
const char* pf_operator_storage(const pf_operator* g) { return g == nullptr ? "" : g->choice.why.c_str(); }
const char* pf_operator_space(const pf_operator* g) { return g == nullptr ? "" : name(g->g->plan().space); }

namespace {
/// f(operator, rows, columns) as the one call that computes.
template <class F>
pf_code product(pf_operator* g, const F& f) {
  return guarded([&] {
    HostOperator& of = *needed(g, "the operator").g;
    const Settings none;
    const Call call(none);
    f(of, of.rows(), of.columns());
  });
}
}  // namespace

pf_code pf_operator_apply(pf_operator* g, const double* x, double* y, std::int64_t n) {
  return product(g, [&](HostOperator& of, std::int64_t rows, std::int64_t columns) {
    of.apply(given(x, n, "x", columns), given(y, n, "y", rows), n);
  });
}
pf_code pf_operator_apply_transpose(pf_operator* g, const double* y, double* x, std::int64_t n) {
  return product(g, [&](HostOperator& of, std::int64_t rows, std::int64_t columns) {
    of.apply_transpose(given(y, n, "y", rows), given(x, n, "x", columns), n);
  });
}
pf_code pf_operator_diagonal(pf_operator* g, const double* weights, double* diagonal, std::int64_t n) {
  return product(g, [&](HostOperator& of, std::int64_t rows, std::int64_t columns) {
    of.diagonal(given(weights, n, "weights", rows), given(diagonal, n, "diagonal", columns), n);
  });
}
pf_code pf_operator_entries(pf_operator* g, std::int64_t begin, std::int64_t end, double* entries) {
  return product(g, [&](HostOperator& of, std::int64_t rows, std::int64_t columns) {
    const std::int64_t n_points = rows / of.fields().size();
    if (begin < 0 || end < begin || end > n_points) {
      throw InputError("", "points",
                       "from " + std::to_string(begin) + " to " + std::to_string(end) + "; a part of 0 to " +
                           std::to_string(n_points) + " is expected");
    }
    of.entries({begin, end}, given(entries, end - begin, "entries", of.fields().size() * columns));
  });
}

pf_code pf_invert(const pf_cells* cells, const pf_data* data, int n_data, const pf_start_model* model,
                  const pf_settings* settings, pf_inversion** made) {
  return guarded([&] {
    needed(made, "the place of the inversion");
    *made = nullptr;
    const Settings all = with_fields(settings, {Field::gz});
    const CellEdges edges = edges_of(needed(cells, "cells"));
    const auto chosen = [&] {
      const std::span<const std::int64_t> numbers = given(cells->active, cells->n_active, "active");
      return std::vector(numbers.begin(), numbers.end());
    };
    const ActiveCells active = cells->active == nullptr ? ActiveCells(edges) : ActiveCells(edges, {}, chosen());
    InversionInput input;
    input.request = all.request;
    input.storage = all.storage;
    input.settings = all.inversion;
    input.cells = &active;
    for (const pf_data& of : given(data, n_data, "data")) {
      DataSet set;
      set.name = of.name == nullptr ? "data" : of.name;
      set.points = points_of(of.points);
      set.fields = field_list(of.fields, of.n_fields);
      set.values = copied(given(of.values, set.size(), "values"));
      set.sigma = copied(given(of.sigma, set.size(), "sigma"));
      input.data.push_back(std::move(set));
    }
    if (model != nullptr) {
      const std::int64_t n = active.size() * components(input.settings.unknown);
      constexpr double infinity = std::numeric_limits<double>::infinity();
      input.reference = copied_if(model->reference, n);
      input.start = copied_if(model->start, n);
      input.lower = copied_if(model->lower, n);
      input.upper = copied_if(model->upper, n);
      input.cell_weights = copied_if(model->cell_weights, active.size());
      // bounds on one side
      if (input.lower.empty() && !input.upper.empty()) input.lower.assign(input.upper.size(), -infinity);
      if (input.upper.empty() && !input.lower.empty()) input.upper.assign(input.lower.size(), infinity);
    }
    Call call(all);
    struct Steps final : InversionObserver {
      explicit Steps(Call& of_call) : call(of_call) {}
      void row(const ConvergenceRow&) override { call.progress(0, 0); }
      void step(const char*, std::int64_t done, std::int64_t of) override {
        call.progress(of > 0 ? static_cast<double>(done) / static_cast<double>(of) : 0, 0);
      }
      Call& call;
    } steps(call);
    auto result = std::make_unique<pf_inversion>();
    result->outcome = invert(input, {}, &steps);
    *made = result.release();
  });
}
void pf_inversion_delete(pf_inversion* made) { delete made; }
int pf_inversion_on_target(const pf_inversion* inversion) {
  return inversion != nullptr && inversion->outcome.on_target ? 1 : 0;
}
const char* pf_inversion_message(const pf_inversion* inversion) {
  return inversion == nullptr ? "" : inversion->outcome.message.c_str();
}

std::int64_t pf_inversion_values(const pf_inversion* inversion, const char* word, double* values) {
  std::int64_t length = 0;
  guarded([&] {
    const InvertedModel& model = needed(inversion, "the inversion").outcome.model;
    const std::string_view key = &needed(word, "name");
    std::vector<double> column;
    const std::vector<double>* from = &column;
    const auto of_rows = [&](auto member) {
      for (const ConvergenceRow& row : model.convergence) column.push_back(static_cast<double>(row.*member));
    };
    constexpr std::string_view predicted = "predicted/";
    const std::string unknown = name(model.unknown);
    if (key == unknown) from = &model.values;
    if (key == unknown + "_sigma") from = &model.sigma;
    if (key == "depth_of_investigation") from = &model.depth_of_investigation;
    if (key == "beta") of_rows(&ConvergenceRow::beta);
    if (key == "phi_d") of_rows(&ConvergenceRow::phi_d);
    if (key == "phi_m") of_rows(&ConvergenceRow::phi_m);
    if (key == "chi") of_rows(&ConvergenceRow::chi);
    if (key == "products") of_rows(&ConvergenceRow::products);
    if (key == "seconds") of_rows(&ConvergenceRow::seconds);
    for (std::size_t i = 0; i < model.data.size(); ++i) {
      if (key == std::string(predicted) + std::to_string(i)) from = &model.data[i].predicted;
    }
    if (values != nullptr) std::copy(from->begin(), from->end(), values);
    length = static_cast<std::int64_t>(from->size());
  });
  return length;
}
