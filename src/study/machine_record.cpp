// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/machine_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "base/human_text.hpp"
#include "base/machine.hpp"
#include "base/number_text.hpp"
#include "study/energy.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

/// The first line of a file of the system, "" where there is none.
std::string line_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return shown(line);
}

double number_in(const fs::path& file) {
  double value = 0;
  return parse_number(line_in(file), value) == NumberStatus::ok ? value : not_known;
}

/// "0-3,8" counted.
std::int64_t count_of(const std::string& list) {
  std::int64_t n = 0;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string part = list.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = 0;
    if (parse_integer(part.substr(0, dash), first) != NumberStatus::ok) return 0;
    last = first;
    if (dash != std::string::npos && parse_integer(part.substr(dash + 1), last) != NumberStatus::ok) return 0;
    n += last - first + 1;
    begin = end + 1;
  }
  return n;
}

/// "48K" in bytes.
std::int64_t bytes_of(const std::string& size) {
  std::int64_t value = 0;
  const std::size_t digits = std::min(size.find_first_not_of("0123456789"), size.size());
  if (parse_integer(size.substr(0, digits), value) != NumberStatus::ok) return 0;
  constexpr std::int64_t kib = 1024;
  if (size.ends_with('K')) return value * kib;
  if (size.ends_with('M')) return value * kib * kib;
  return value;
}

/// Cores and sockets of the hardware threads that this process may use.
void record_cores(const fs::path& root, MachineRecord& machine) {
  const std::vector<int> usable = usable_cores();
  machine.hardware_threads = static_cast<std::int64_t>(usable.size());
  std::set<std::string> cores, sockets;
  for (const int cpu : usable) {
    const fs::path topology = root / fmt::format("sys/devices/system/cpu/cpu{}/topology", cpu);
    const std::string siblings = line_in(topology / "thread_siblings_list");
    const std::string socket = line_in(topology / "physical_package_id");
    // where the system does not tell, each is a core
    cores.insert(siblings.empty() ? fmt::format("cpu{}", cpu) : siblings);
    sockets.insert(socket);
  }
  machine.cores = static_cast<std::int64_t>(cores.size());
  machine.sockets = static_cast<std::int64_t>(sockets.size());
}

void record_caches(const fs::path& root, int cpu, MachineRecord& machine) {
  const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}/cache", cpu);
  for (int i = 0;; ++i) {
    const fs::path cache = folder / fmt::format("index{}", i);
    CacheRecord record;
    const double level = number_in(cache / "level");
    if (!(level > 0)) return;
    record.level = static_cast<int>(level);
    record.type = line_in(cache / "type");
    record.bytes = bytes_of(line_in(cache / "size"));
    record.shared_by = std::max<std::int64_t>(1, count_of(line_in(cache / "shared_cpu_list")));
    machine.caches.push_back(std::move(record));
  }
}

void record_clocks(const fs::path& root, int cpu, MachineRecord& machine) {
  constexpr double khz = 1e-3;
  const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq", cpu);
  machine.clock = khz * number_in(folder / "scaling_cur_freq");
  machine.least_clock = khz * number_in(folder / "cpuinfo_min_freq");
  machine.most_clock = khz * number_in(folder / "cpuinfo_max_freq");
  machine.governor = line_in(folder / "scaling_governor");
  double mhz = 0;
  if (!(machine.clock > 0) && parse_number(value_in(root / "proc/cpuinfo", "cpu MHz", ':'), mhz) == NumberStatus::ok) {
    machine.clock = mhz;
  }
}

std::string hypervisor_of(const fs::path& root) {
  const std::string flags = " " + value_in(root / "proc/cpuinfo", "flags", ':') + " ";
  const std::string maker = line_in(root / "sys/class/dmi/id/sys_vendor");
  const std::string product = line_in(root / "sys/class/dmi/id/product_name");
  if (const std::string type = line_in(root / "sys/hypervisor/type"); !type.empty()) return type;
  if (flags.find(" hypervisor ") == std::string::npos) return "";
  return maker.empty() && product.empty() ? "a virtual machine" : fmt::format("{} {}", maker, product);
}

std::vector<std::pair<std::string, std::string>> variables_of(const std::vector<const char*>& names) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : names) {
    if (const char* const value = std::getenv(name)) found.emplace_back(name, shown(value));
  }
  return found;
}

std::int64_t nodes_of_job() {
  for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) {
    std::int64_t nodes = 0;
    if (const char* const text = std::getenv(name); text != nullptr && parse_integer(text, nodes) == NumberStatus::ok) {
      return std::max<std::int64_t>(1, nodes);
    }
  }
  return 1;
}

Json cache_json(const CacheRecord& cache) {
  return {{"level", cache.level}, {"type", cache.type}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}};
}

Json device_json(const DeviceRecord& device) {
  Json json = {{"name", device.name}};
  if (device.memory_bytes >= 0) json["memory_bytes"] = device.memory_bytes;
  if (!device.driver.empty()) json["driver"] = device.driver;
  json["clocks"] = {{"current", device.clock}, {"max", device.most_clock}, {"memory", device.memory_clock}};
  json["power_limit"] = device.power_limit_watts;
  return json;
}

Json variables_json(const std::vector<std::pair<std::string, std::string>>& variables) {
  Json json = Json::object();
  for (const auto& [name, value] : variables) json[name] = value;
  return json;
}

}  // namespace

nlohmann::ordered_json program_json(const ProgramFacts& program) {
  Json json = {{"simd", program.simd},
               {"compiler", program.compiler},
               {"build_type", program.build_type},
               {"kokkos", program.kokkos},
               {"kokkos_kernels", program.kokkos_kernels},
               {"kokkos_configuration", program.kokkos_configuration}};
  if (!program.kokkos_options.empty()) {
    json["kokkos_options"] = fmt::format("{}", fmt::join(program.kokkos_options, " "));
  }
  json["mpi"] = program.mpi;
  json["hdf5"] = program.hdf5;
  json["proj"] = program.proj;
  json["gdal"] = program.gdal;
  json["spaces"] = program.spaces;
  json["default_space"] = program.default_space;
  json["version"] = program.version;
  json["git"] = program.git_hash;
  return json;
}

std::string MachineRecord::kind() const {
  std::string text = fmt::format("{}, {} x {} ({} hardware threads)", processor, counted(nodes, "node"),
                                 counted(cores, "core"), hardware_threads);
  for (const DeviceRecord& device : devices) text += ", " + device.name;
  return text;
}

MachineRecord record_machine(ProgramFacts program, const std::string& name, const fs::path& root) {
  MachineRecord machine;
  utsname names{};
  if (::uname(&names) == 0) {
    machine.kernel = fmt::format("{} {}", names.sysname, names.release);
    machine.architecture = names.machine;
  }
  machine.host = host_name();
  machine.name = name.empty() ? machine.host : name;
  machine.system = value_in(root / "etc/os-release", "PRETTY_NAME", '=');
  machine.processor = processor_name(root);
  machine.hypervisor = hypervisor_of(root);
  record_cores(root, machine);
  machine.nodes = nodes_of_job();
  const int first = usable_cores().front();
  record_caches(root, first, machine);
  record_clocks(root, first, machine);
  const std::string numa = line_in(root / "sys/devices/system/node/online");
  machine.numa_nodes = std::max<std::int64_t>(1, count_of(numa));
  machine.memory_bytes = physical_memory();
  machine.load = load_average();
  machine.energy = EnergyMeter(root).description();
  machine.devices = Nvml().devices();
  // a device that is hidden from the program takes no part
  if (machine.devices.size() != program.devices.size()) {
    const std::vector<DeviceRecord> known = std::exchange(machine.devices, {});
    for (const std::string& device : program.devices) {
      const auto same =
          std::find_if(known.begin(), known.end(), [&](const DeviceRecord& record) { return record.name == device; });
      DeviceRecord record = same == known.end() ? DeviceRecord{} : *same;
      record.name = device;
      machine.devices.push_back(std::move(record));
    }
  }
  machine.openmp = variables_of({"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_DYNAMIC", "OMP_WAIT_POLICY",
                                 "OMP_THREAD_LIMIT", "GOMP_SPINCOUNT", "CUDA_VISIBLE_DEVICES"});
  machine.slurm = variables_of({"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_NUM_NODES",
                                "SLURM_JOB_NODELIST", "SLURM_CPUS_ON_NODE", "SLURM_NTASKS", "SLURM_CPUS_PER_TASK"});
  machine.program = std::move(program);
  return machine;
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : not_known;
}

std::string machine_json(const MachineRecord& machine, const RecordedStudy& study) {
  Json json = {{"name", machine.name},
               {"host", machine.host},
               {"system", machine.system},
               {"kernel", machine.kernel},
               {"architecture", machine.architecture},
               {"processor", machine.processor},
               {"hypervisor", machine.hypervisor},
               {"nodes", machine.nodes},
               {"sockets", machine.sockets},
               {"cores", machine.cores},
               {"hardware_threads", machine.hardware_threads},
               {"numa_nodes", machine.numa_nodes},
               {"caches", Json::array()},
               {"memory_bytes", machine.memory_bytes}};
  for (const CacheRecord& cache : machine.caches) json["caches"].push_back(cache_json(cache));
  json["frequency"] = {{"current", machine.clock}, {"min", machine.least_clock}, {"max", machine.most_clock}};
  json["governor"] = machine.governor;
  json["load"] = machine.load;
  json["energy"] = machine.energy;
  json["gpus"] = Json::array();
  for (const DeviceRecord& device : machine.devices) json["gpus"].push_back(device_json(device));
  json.update(program_json(machine.program));
  json["omp"] = variables_json(machine.openmp);
  json["slurm"] = variables_json(machine.slurm);
  if (!machine.calibration.empty()) json["calibration"] = Json::parse(machine.calibration, nullptr, false);
  json["machine_kind"] = machine.kind();
  json["study_hash"] = study.hash;
  json["study_title"] = study.title;
  json["reduced"] = study.is_reduced;
  // what is not known is NaN, for which dump() writes null
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prismfield
