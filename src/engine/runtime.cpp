// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/runtime.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/machine.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "engine/host_threads.hpp"

namespace prismfield {
namespace {

/// What an option or an environment variable of Kokkos holds. Kokkos ends the process where it cannot read one.
enum class Value { none, boolean, threads, device, device_map, text };

struct KokkosOption {
  const char* name;
  Value value;
  /// "": an option only
  const char* variable;
};

constexpr std::array kokkos_options = {
    KokkosOption{"--kokkos-help", Value::none, ""},
    KokkosOption{"--kokkos-num-threads", Value::threads, "KOKKOS_NUM_THREADS"},
    KokkosOption{"--kokkos-device-id", Value::device, "KOKKOS_DEVICE_ID"},
    KokkosOption{"--kokkos-map-device-id-by", Value::device_map, "KOKKOS_MAP_DEVICE_ID_BY"},
    KokkosOption{"--kokkos-disable-warnings", Value::boolean, "KOKKOS_DISABLE_WARNINGS"},
    KokkosOption{"--kokkos-print-configuration", Value::boolean, "KOKKOS_PRINT_CONFIGURATION"},
    KokkosOption{"--kokkos-tune-internals", Value::boolean, "KOKKOS_TUNE_INTERNALS"},
    KokkosOption{"--kokkos-tools-help", Value::none, ""},
    KokkosOption{"--kokkos-tools-libs", Value::text, ""},
    KokkosOption{"--kokkos-tools-library", Value::text, ""},
    KokkosOption{"--kokkos-tools-args", Value::text, ""},
};

/// Devices that Kokkos chooses from; its numbers of devices are places in this list.
int selectable_devices() {
  const int devices = device_count();
  const char* const visible = std::getenv("KOKKOS_VISIBLE_DEVICES");
  if (visible == nullptr || devices == 0) return devices;
  int listed = 0;
  for (std::string_view rest = visible; !rest.empty(); ++listed) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    int id = -1;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (status != std::errc{} || end != word.data() + word.size() || id < 0 || id >= devices) {
      throw InputError("KOKKOS_VISIBLE_DEVICES", "",
                       "is '" + std::string(visible) + "'; numbers from 0 to " + std::to_string(devices - 1) +
                           " with commas between them are expected");
    }
  }
  if (listed == 0) throw InputError("KOKKOS_VISIBLE_DEVICES", "", "is empty; numbers of devices are expected");
  return listed;
}

/// What a value should have been; "" when it is right.
std::string expected_instead(Value kind, const std::string& text, int devices) {
  int number = -1;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  switch (kind) {
    case Value::threads: return expected_threads(text);
    case Value::device:
      if (devices > 0 && !(is_number && number >= 0 && number < devices)) {
        return "a number from 0 to " + std::to_string(devices - 1) + " is expected";
      }
      return is_number && number >= 0 ? "" : "a whole number of at least 0 is expected";
    case Value::device_map: return text == "random" || text == "mpi_rank" ? "" : "random or mpi_rank is expected";
    case Value::boolean: {
      const std::string word = lower_case(text);
      const bool known =
          word == "yes" || word == "true" || word == "1" || word == "no" || word == "false" || word == "0";
      return known ? "" : "yes or no is expected";
    }
    case Value::text: return text.empty() ? "a value is expected" : "";
    case Value::none: break;
  }
  return "";
}

void check_value(const std::string& name, Value kind, const std::string& text, int devices, ProblemList& problems) {
  const std::string expected = expected_instead(kind, text, devices);
  if (!expected.empty()) problems.add(name, "", "is " + excerpt(text) + "; " + expected);
}

/// Throws InputError for everything with which Kokkos would end the process or go on with a mere remark.
void check_options(const std::vector<std::string>& options, int devices) {
  ProblemList problems;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const auto* const known = std::find_if(kokkos_options.begin(), kokkos_options.end(),
                                           [&](const KokkosOption& candidate) { return candidate.name == name; });
    if (known == kokkos_options.end()) {
      problems.add(option, "", "is no option of Kokkos; --kokkos-help lists them");
    } else if (equals != std::string::npos) {
      if (known->value == Value::none) problems.add(name, "", "takes no value");
      check_value(name, known->value, option.substr(equals + 1), devices, problems);
    } else if (known->value != Value::none && known->value != Value::boolean) {
      problems.add(name, "", "has no value; write " + name + "=VALUE");
    }
  }
  for (const KokkosOption& option : kokkos_options) {
    const char* const text = *option.variable != '\0' ? std::getenv(option.variable) : nullptr;
    if (text != nullptr) check_value(option.variable, option.value, text, devices, problems);
  }
  const char* const old_tools = std::getenv("KOKKOS_PROFILE_LIBRARY");
  const char* const tools = std::getenv("KOKKOS_TOOLS_LIBS");
  if (old_tools != nullptr && tools != nullptr && std::string_view(old_tools) != tools) {
    problems.add("KOKKOS_PROFILE_LIBRARY", "", "names another library than KOKKOS_TOOLS_LIBS; keep one");
  }
  problems.throw_if_any();
}

bool names_option(const std::vector<std::string>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& option) { return option.starts_with(name); });
}

bool names_openmp_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  return text != nullptr && *text != '\0';
}

/// Whether the caller or a variable of Kokkos says how many threads there are.
bool threads_are_given(const RuntimeOptions& wanted) {
  return wanted.threads > 0 || names_option(wanted.kokkos_options, "--kokkos-num-threads") ||
         std::getenv("KOKKOS_NUM_THREADS") != nullptr;
}

/// The options with which Kokkos starts: the caller's own, and what they leave open.
std::vector<std::string> complete_options(const RuntimeOptions& wanted, int devices) {
  std::vector<std::string> options = wanted.kokkos_options;
  const bool threads_given =
      names_option(options, "--kokkos-num-threads") ||
      (wanted.threads == 0 && (std::getenv("KOKKOS_NUM_THREADS") != nullptr || names_openmp_threads()));
  const bool device_given =
      names_option(options, "--kokkos-device-id") || names_option(options, "--kokkos-map-device") ||
      (wanted.device < 0 &&
       (std::getenv("KOKKOS_DEVICE_ID") != nullptr || std::getenv("KOKKOS_MAP_DEVICE_ID_BY") != nullptr));
  if (!threads_given) {
    const int threads =
        wanted.threads > 0 ? wanted.threads : default_host_threads(usable_cores().size(), wanted.sharing);
    options.push_back("--kokkos-num-threads=" + std::to_string(threads));
  }
  if (!device_given && devices > 0) {
    const int device = wanted.device >= 0 ? wanted.device : std::max(0, wanted.local_rank) % devices;
    options.push_back("--kokkos-device-id=" + std::to_string(device));
  }
  // Kokkos advises on OMP_PROC_BIND at every start; threads that share nothing but read-only prisms need no pinning
  options.emplace_back("--kokkos-disable-warnings");
  return options;
}

void start_kokkos(const RuntimeOptions& wanted) {
  if (Kokkos::is_finalized()) {
    throw RunError(
        "Kokkos was ended before in this process and cannot start again; keep one Runtime, or let your "
        "program start and end Kokkos itself");
  }
  const int devices = selectable_devices();
#if defined(KOKKOS_ENABLE_CUDA)
  if (devices == 0) {
    throw RunError(
        "this program was built for CUDA, but no CUDA device can be used here: see nvidia-smi, or build with "
        "--backend openmp");
  }
#elif defined(KOKKOS_ENABLE_HIP)
  if (devices == 0) {
    throw RunError(
        "this program was built for HIP, but no HIP device can be used here: see rocminfo, or build with "
        "--backend openmp");
  }
#endif
  check_options(wanted.kokkos_options, devices);
  check_openmp_threads(std::getenv("OMP_NUM_THREADS"), !threads_are_given(wanted));
  if (wanted.threads > openmp_thread_limit()) {
    throw RunError("Kokkos cannot start with " + std::to_string(wanted.threads) + " threads: OMP_THREAD_LIMIT allows " +
                   std::to_string(openmp_thread_limit()));
  }
  start_all_threads();
  if (wanted.threads < 0 || wanted.threads > most_host_threads()) {
    throw RunError("Kokkos cannot start with " + std::to_string(wanted.threads) + " threads" +
                   (wanted.threads > 0 ? "; it has room for " + std::to_string(most_host_threads()) : ""));
  }
  if (devices > 0 && wanted.device >= devices) {
    throw RunError("there is no device " + std::to_string(wanted.device) + ": they are numbered from 0 to " +
                   std::to_string(devices - 1));
  }
  std::vector<std::string> words = complete_options(wanted, devices);
  words.insert(words.begin(), "prismfield");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  auto n_arguments = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  try {
    Kokkos::initialize(n_arguments, arguments.data());
  } catch (const std::exception& error) {
    throw RunError(std::string("Kokkos does not start: ") + error.what());
  }
}

/// Takes Kokkos' options out of a command line.
std::vector<std::string> take_kokkos_options(int& argc, char** argv) {
  std::vector<std::string> taken;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (i > 0 && std::string_view(argv[i]).starts_with("--kokkos-")) {
      taken.emplace_back(argv[i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  if (kept < argc) argv[kept] = nullptr;
  argc = kept;
  return taken;
}

RuntimeOptions with_options_of(RuntimeOptions options, int& argc, char** argv) {
  std::vector<std::string> taken = take_kokkos_options(argc, argv);
  options.kokkos_options.insert(options.kokkos_options.end(), taken.begin(), taken.end());
  return options;
}

}  // namespace

Runtime::Runtime(RuntimeOptions options) : m_adopted(Kokkos::is_initialized()) {
  if (m_adopted) {
    check_options(options.kokkos_options, selectable_devices());
  } else {
    start_kokkos(options);
  }
  try {
    check_start();
  } catch (...) {
    if (!m_adopted) Kokkos::finalize();
    throw;
  }
}

Runtime::Runtime(int& argc, char** argv, RuntimeOptions options)
    : Runtime(with_options_of(std::move(options), argc, argv)) {}

Runtime::~Runtime() {
  if (!m_adopted && Kokkos::is_initialized()) Kokkos::finalize();
}

}  // namespace prismfield
