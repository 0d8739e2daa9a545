// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/machine.hpp"
#include "case/yaml_tree.hpp"
#include "scratch_folder.hpp"
#include "study/energy.hpp"
#include "study/machine_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace prismfield {
namespace {

namespace fs = std::filesystem;

void put(const testing::ScratchFolder& root, const std::string& file, const std::string& text) {
  fs::create_directories((root / file).parent_path());
  root.write(file, text);
}

/// A machine of which every core has two hardware threads, 0 and 1, 2 and 3, ...
void make_machine(const testing::ScratchFolder& root) {
  put(root, "etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
  put(root, "proc/cpuinfo",
      "processor\t: 0\nmodel name\t: A processor\nflags\t\t: fpu hypervisor sse\ncpu MHz\t\t: 2000.5\n");
  put(root, "sys/class/dmi/id/sys_vendor", "Maker\n");
  put(root, "sys/class/dmi/id/product_name", "Box\n");
  put(root, "sys/devices/system/node/online", "0-1\n");
  for (const int cpu : usable_cores()) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
    const int first = cpu / 2 * 2;
    put(root, folder + "topology/thread_siblings_list", std::to_string(first) + "-" + std::to_string(first + 1) + "\n");
    put(root, folder + "topology/physical_package_id", "0\n");
    put(root, folder + "cache/index0/level", "1\n");
    put(root, folder + "cache/index0/type", "Data\n");
    put(root, folder + "cache/index0/size", "48K\n");
    put(root, folder + "cache/index0/shared_cpu_list", "0,2-3\n");
    put(root, folder + "cpufreq/scaling_cur_freq", "3100000\n");
    put(root, folder + "cpufreq/scaling_governor", "performance\n");
  }
}

TEST(MachineRecord, TellsWhatTheSystemDoes) {
  const testing::ScratchFolder root;
  make_machine(root);
  const fs::path folder = root / "";
  const MachineRecord machine = record_machine({}, "fast", folder);
  EXPECT_EQ(machine.name, "fast");
  EXPECT_EQ(machine.system, "Debian GNU/Linux 12");
  EXPECT_EQ(machine.processor, "A processor");
  EXPECT_EQ(machine.hypervisor, "Maker Box");
  EXPECT_EQ(machine.numa_nodes, 2);
  EXPECT_EQ(machine.sockets, 1);
  EXPECT_EQ(machine.hardware_threads, static_cast<std::int64_t>(usable_cores().size()));
  EXPECT_LE(machine.cores, machine.hardware_threads);
  ASSERT_EQ(machine.caches.size(), 1U);
  EXPECT_EQ(machine.caches[0].bytes, 48 * 1024);
  EXPECT_EQ(machine.caches[0].shared_by, 3);
  EXPECT_EQ(machine.clock, 3100);
  EXPECT_TRUE(std::isnan(machine.most_clock));
  EXPECT_EQ(machine.governor, "performance");
}

TEST(MachineRecord, ASystemThatTellsNothingIsNoMistake) {
  const testing::ScratchFolder root;
  const MachineRecord machine = record_machine({}, "", root / "");
  EXPECT_EQ(machine.name, machine.host);
  EXPECT_EQ(machine.cores, machine.hardware_threads);
  EXPECT_TRUE(machine.caches.empty());
}

TEST(MachineRecord, IsJsonThatYamlReadsToo) {
  const testing::ScratchFolder root;
  make_machine(root);
  ProgramFacts program;
  program.spaces = {"openmp"};
  program.compiler = "a \"compiler\" \\ 12";
  MachineRecord machine = record_machine(program, "m", root / "");
  // in place of what this machine has
  machine.devices.assign(1, {});
  machine.devices[0].name = "A card";
  machine.calibration = "{\"openmp\": {\"bandwidth\": 1e10}}";
  const std::string text = machine_json(machine, {"hash", "title", true});
  ProblemList problems;
  const YamlNode root_node = parse_yaml(text, "machine.json", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(root_node.find("compiler")->text, "a \"compiler\" \\ 12");
  EXPECT_EQ(root_node.find("calibration")->find("openmp")->find("bandwidth")->text, "10000000000.0");
  EXPECT_EQ(root_node.find("gpus")->items[0].find("name")->text, "A card");
  EXPECT_EQ(root_node.find("frequency")->find("max")->kind, YamlNode::Kind::null);
}

TEST(EnergyMeter, CountsPackagesAndTheirNewBeginnings) {
  const testing::ScratchFolder root;
  put(root, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
  put(root, "sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  put(root, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "5000000\n");
  put(root, "sys/class/powercap/intel-rapl:0:0/name", "core\n");
  put(root, "sys/class/powercap/intel-rapl:0:0/energy_uj", "7\n");
  EnergyMeter meter(root / "");
  EXPECT_THAT(meter.description(), ::testing::StartsWith("1 processor"));
  meter.start();
  put(root, "sys/class/powercap/intel-rapl:0/energy_uj", "4000000\n");
  meter.look();
  put(root, "sys/class/powercap/intel-rapl:0/energy_uj", "500000\n");
  EXPECT_GE(meter.joules(), 3 + 1.5 - 1e-9);
  meter.start();
  EXPECT_GE(meter.joules(), 0);
}

}  // namespace
}  // namespace prismfield
