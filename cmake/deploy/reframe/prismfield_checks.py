# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""ReFrame tests of an installed prismfield: a case with its speed, and a study that checks its own answers.

    reframe -C site_example.py -c prismfield_checks.py -r
    reframe -C site_example.py -c prismfield_checks.py -r -n CaseCheck -S program=/path/to/prismfield

What a site's machines reach stands in references.yaml beside this file, by system:partition. A partition without an
entry is run and reported, and held to nothing. The inputs are those of the sources; `source` names another place.
"""

import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
import yaml
from reframe.core.builtins import parameter, performance_function, run_after, run_before, sanity_function, variable

HERE = pathlib.Path(__file__).resolve().parent

# Prisms times points, which no run may change: a run of fewer is no run of this case.
PAIRS = {"one_sphere": 139_970_000, "seven_spheres": 3_779_190_000}


def site_references(test):
    """What references.yaml says of a test: {system:partition: {quantity: (value, lower, upper, unit)}}."""
    with open(HERE / "references.yaml", encoding="utf-8") as file:
        content = yaml.safe_load(file) or {}
    found = {}
    for place, tests in content.items():
        own = (tests or {}).get(test) or {}
        if own:
            found[place] = {name: tuple(value) for name, value in own.items()}
    return found


class Prismfield(rfm.RunOnlyRegressionTest):
    """What both have in common: program, inputs and placement."""

    program = variable(str, value="prismfield")
    source = variable(str, value=str(HERE.parent.parent.parent))
    ranks = variable(int, value=1)
    threads = variable(int, value=0)
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "30m"
    maintainers = ["prismfield"]
    tags = {"production", "geophysics"}

    @run_after("init")
    def take_program(self):
        self.executable = self.program

    @run_before("run")
    def place(self):
        self.num_tasks = self.ranks
        self.num_tasks_per_node = min(self.ranks, self.num_tasks_per_node or self.ranks)
        cores = self.current_partition.processor.num_cores or 1
        threads = self.threads or max(1, cores // self.ranks)
        self.num_cpus_per_task = threads
        self.env_vars = {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}


@rfm.simple_test
class CaseCheck(Prismfield):
    """A case from start to end: its pairs, and pairs a second of the fields."""

    descr = "Gravity of the papers' ensembles of prisms"
    case = parameter(["one_sphere", "seven_spheres"])
    precision = parameter(["double", "single"])

    @run_after("init")
    def take_case(self):
        self.executable_opts = [
            "run",
            f"{self.source}/inputs/{self.case}.yaml",
            "--output",
            "result.h5",
            "--set",
            "output.figure=null",
            "--set",
            f"execution.precision={self.precision}",
        ]
        self.reference = site_references(f"{self.case}_{self.precision}")

    @sanity_function
    def all_pairs_were_computed(self):
        return sn.assert_found(rf"^result\.h5: {PAIRS[self.case]:,} pairs in ", self.stdout)

    @performance_function("pairs/s")
    def pairs_per_second(self):
        return PAIRS[self.case] / sn.extractsingle(r"\(fields ([0-9.eE+-]+) s\)", self.stdout, 1, float)

    @performance_function("s")
    def total_seconds(self):
        return sn.extractsingle(r"pairs in ([0-9.eE+-]+) s,", self.stdout, 1, float)


@rfm.simple_test
class StudyCheck(Prismfield):
    """A ready study at its reduced size: every run is checked against a reference, one that is wrong has no figure."""

    descr = "A study of prismfield, every line 'FOM name: value unit' of it"
    study = parameter(["c1_partition", "c2_threads"])

    @run_after("init")
    def take_study(self):
        self.executable_opts = [
            "study",
            f"{self.source}/perf/studies/{self.study}.yaml",
            "--reduced",
            "--output",
            "report",
        ]
        self.keep_files = ["report/report.html", "report/runs.csv", "report/study.json"]
        # The study starts its own processes.
        self.ranks = 1

    @run_before("run")
    def print_figures_of_merit(self):
        self.postrun_cmds = ["cat report/foms.txt"]

    @sanity_function
    def there_are_figures_of_merit(self):
        return sn.and_(
            sn.assert_found(r"^FOM .+: \S+", self.stdout),
            sn.assert_not_found(r"^FOM .+: (nan|inf)", self.stdout),
        )

    @run_before("performance")
    def read_figures_of_merit(self):
        lines = sn.extractall(
            r"^FOM (?P<name>.+): (?P<value>\S+) ?(?P<unit>.*)$", self.stdout, ("name", "value", "unit")
        )
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(float(value)), unit.strip() or "1")
            for name, value, unit in lines
        }
        self.reference = site_references(self.study)
