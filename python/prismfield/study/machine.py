# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The machine that a study runs on, as far as the system says, and the energy that its runs take."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

from .texts import counted, json_text, shown

OPENMP = (
    "OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES OMP_DYNAMIC OMP_WAIT_POLICY OMP_THREAD_LIMIT GOMP_SPINCOUNT "
    "CUDA_VISIBLE_DEVICES"
).split()
SLURM = (
    "SLURM_JOB_ID SLURM_CLUSTER_NAME SLURM_JOB_PARTITION SLURM_JOB_NUM_NODES SLURM_JOB_NODELIST SLURM_CPUS_ON_NODE "
    "SLURM_NTASKS SLURM_CPUS_PER_TASK"
).split()
# of `prismfield info --json`, what is no fact of the program itself
OF_MACHINE = ("host processor source spaces_not_compiled host_threads devices ranks warnings advice case_keys").split()


def line_in(file: Path) -> str:
    """The first line of a file of the system, "" where there is none."""
    try:
        return shown(file.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip())
    except OSError:
        return ""


def number_in(file: Path) -> float:
    try:
        return float(line_in(file))
    except ValueError:
        return nan


def value_in(file: Path, name: str, separator: str) -> str:
    """The value of the first line with this name, without quotes."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{name}[ \t]*{separator}(.*)$", text, re.MULTILINE)
    return shown(found[1].strip().strip('"')) if found else ""


def count_of(text: str) -> int:
    """How many numbers "0-3,8" has."""
    if not re.fullmatch(r"(\d+(-\d+)?(,|$))*", text):
        return 0
    return sum(int(last or first) - int(first) + 1 for first, last in re.findall(r"(\d+)(?:-(\d+))?", text))


def caches_of(folder: Path) -> Iterator[dict[str, Any]]:
    for cache in sorted(folder.glob("index*")):
        if (level := number_in(cache / "level")) > 0:
            digits, unit = re.fullmatch(r"(\d*)([KM]?).*", line_in(cache / "size")).groups()
            size = int(digits or 0) * {"K": 1 << 10, "M": 1 << 20}.get(unit, 1)
            shared = max(1, count_of(line_in(cache / "shared_cpu_list")))
            yield {"level": int(level), "type": line_in(cache / "type"), "bytes": size, "shared_by": shared}


class Devices:
    """NVIDIA's cards as their driver knows them, where nvidia-ml-py is installed."""

    def __init__(self):
        self.nvml, self.handles = None, []
        with contextlib.suppress(Exception):  # no module, no driver, no card
            import pynvml

            pynvml.nvmlInit()
            self.handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
            self.nvml = pynvml

    def ask(self, call: str, *arguments: Any) -> Any:
        """None for what this driver or card does not say."""
        try:
            return getattr(self.nvml, call)(*arguments)
        except Exception:
            return None

    def records(self) -> list[dict[str, Any]]:
        def text(value: Any) -> str:
            return value.decode(errors="replace") if isinstance(value, bytes) else value or ""

        records = []
        for handle in self.handles:
            memory = self.ask("nvmlDeviceGetMemoryInfo", handle)
            power = self.ask("nvmlDeviceGetEnforcedPowerLimit", handle)
            clocks = {
                "current": self.ask("nvmlDeviceGetClockInfo", handle, 1),
                "max": self.ask("nvmlDeviceGetMaxClockInfo", handle, 1),
                "memory": self.ask("nvmlDeviceGetClockInfo", handle, 2),
            }
            record: dict[str, Any] = {"name": text(self.ask("nvmlDeviceGetName", handle))}
            if memory is not None:
                record["memory_bytes"] = int(memory.total)
            if driver := text(self.ask("nvmlSystemGetDriverVersion")):
                record["driver"] = driver
            records.append(record | {"clocks": clocks, "power_limit": None if power is None else 1e-3 * power})
        return records

    def joules(self) -> float:
        """Taken since the driver was loaded; NaN where no card counts it."""
        counts = [self.ask("nvmlDeviceGetTotalEnergyConsumption", handle) for handle in self.handles]
        known = [count for count in counts if count is not None]
        return 1e-3 * sum(known) if known else nan


class EnergyMeter:
    """What processors (RAPL) and devices (NVML) count while a run goes on."""

    def __init__(self, root: Path = Path("/"), devices: Devices | None = None):
        self.devices = devices or Devices()
        # a package is a processor: what lies below one is part of it
        zones = [z for z in sorted((root / "sys/class/powercap").glob("intel-rapl:*")) if z.name.count(":") == 1]
        self.counters = [
            (zone / "energy_uj", number_in(zone / "max_energy_range_uj"))
            for zone in zones
            if line_in(zone / "name").startswith("package") and number_in(zone / "energy_uj") >= 0
        ]
        self.start()

    def description(self) -> str:
        parts = [counted(len(self.counters), "processor")] if self.counters else []
        return ", ".join(parts + ([] if math.isnan(self.devices.joules()) else ["devices"]))

    def start(self) -> None:
        self.last = [number_in(file) for file, _ in self.counters]
        self.sums = [0.0] * len(self.counters)
        self.devices_before = self.devices.joules()

    def look(self) -> None:
        """Often enough that no counter begins anew twice in between."""
        for i, (file, most) in enumerate(self.counters):
            now = number_in(file)
            self.sums[i] += now - self.last[i] + (most if now < self.last[i] else 0)
            self.last[i] = now

    def joules(self) -> float:
        """Since start(); NaN where nothing is counted."""
        self.look()
        parts = [1e-6 * taken for taken in self.sums] + [self.devices.joules() - self.devices_before]
        known = [part for part in parts if not math.isnan(part)]
        return sum(known) if known else nan


@dataclass
class Machine:
    name: str = "machine"
    processor: str = ""
    cores: int = 1  # of this process: of each node, where there are several
    hardware_threads: int = 1
    nodes: int = 1
    devices: list[str] = field(default_factory=list)
    program: dict[str, Any] = field(default_factory=dict)  # what `prismfield info --json` says of the program
    record: dict[str, Any] = field(default_factory=dict)  # machine.json without what depends on the study

    @property
    def all_cores(self) -> int:
        return self.cores * self.nodes

    @property
    def kind(self) -> str:
        """By which a study that goes on knows that it is on a machine of the same kind."""
        size = f"{counted(self.nodes, 'node')} x {counted(self.cores, 'core')}"
        return ", ".join([self.processor, f"{size} ({self.hardware_threads} hardware threads)", *self.devices])


def record_machine(info: dict[str, Any], name: str = "", root: Path = Path("/")) -> Machine:
    """Asks the system; `info` is what the program says, `root` the folder that holds proc and sys."""
    usable = sorted(os.sched_getaffinity(0))
    cpus = root / "sys/devices/system/cpu"
    topology = [cpus / f"cpu{cpu}/topology" for cpu in usable]
    # where the system does not say, each is a core
    cores = {line_in(folder / "thread_siblings_list") or str(folder) for folder in topology}
    sockets = {line_in(folder / "physical_package_id") for folder in topology}
    clocks = cpus / f"cpu{usable[0]}/cpufreq"
    files = ("scaling_cur_freq", "cpuinfo_min_freq", "cpuinfo_max_freq")
    clock, least, most = (1e-3 * number_in(clocks / file) for file in files)
    if not clock > 0:
        with contextlib.suppress(ValueError):
            clock = float(value_in(root / "proc/cpuinfo", "cpu MHz", ":"))
    is_guest = "hypervisor" in value_in(root / "proc/cpuinfo", "flags", ":").split()
    vendor = " ".join(line_in(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name")).strip()
    devices = Devices()
    cards = devices.records()
    named = info.get("devices", [])
    if len(cards) != len(named):
        # a device that is hidden from the program takes no part
        known = {card["name"]: card for card in reversed(cards)}
        unknown = {"clocks": dict.fromkeys(("current", "max", "memory")), "power_limit": None}
        cards = [known.get(device, {"name": device} | unknown) | {"name": device} for device in named]
    system = platform.uname()
    nodes = [os.environ.get(name, "") for name in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")]
    machine = Machine(
        name=name or shown(system.node),
        processor=value_in(root / "proc/cpuinfo", "model name", ":") or system.machine,
        cores=len(cores),
        hardware_threads=len(usable),
        nodes=max([1, *(int(text) for text in nodes if text.isdecimal())]),
        devices=[card["name"] for card in cards],
        program=info,
    )
    machine.record = {
        "name": machine.name,
        "host": shown(system.node),
        "system": value_in(root / "etc/os-release", "PRETTY_NAME", "="),
        "kernel": f"{system.system} {system.release}",
        "architecture": system.machine,
        "processor": machine.processor,
        "hypervisor": line_in(root / "sys/hypervisor/type") or (vendor or "a virtual machine" if is_guest else ""),
        "nodes": machine.nodes,
        "sockets": len(sockets),
        "cores": machine.cores,
        "hardware_threads": machine.hardware_threads,
        "numa_nodes": max(1, count_of(line_in(root / "sys/devices/system/node/online"))),
        "caches": list(caches_of(cpus / f"cpu{usable[0]}/cache")),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "frequency": {"current": clock, "min": least, "max": most},
        "governor": line_in(clocks / "scaling_governor"),
        "load": os.getloadavg()[0],
        "energy": EnergyMeter(root, devices).description(),
        "gpus": cards,
        **{key: value for key, value in info.items() if key not in OF_MACHINE},
        "omp": {key: shown(os.environ[key]) for key in OPENMP if key in os.environ},
        "slurm": {key: shown(os.environ[key]) for key in SLURM if key in os.environ},
    }
    return machine


def machine_json(machine: Machine, study: dict[str, Any]) -> str:
    """The text of machine.json; `study` has what it says of the study that was run on the machine."""
    return json_text(machine.record | {"machine_kind": machine.kind} | study, 2)
