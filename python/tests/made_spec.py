# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Studies that are read and planned without a program or a machine."""

import yaml

from prismfield.field_names import NATIVE
from prismfield.study.machine import Machine
from prismfield.study.plan import plan_study
from prismfield.study.spec import GROUPS, read_study_file
from prismfield.study.texts import InputError

CASE = (
    "model:\n  voxels: {easting: [0, 300, 3], northing: [0, 200, 2], upward: [-100, 0, 1], density: 300}\n"
    "observations:\n  grid: {easting: [0, 300, 4], northing: [0, 200, 3], upward: 20}\n"
    "fields: [gz, gxx, gyy, gzz]\noutput: {file: a.nc, figure: a.png}\n"
)
# a few of those that the program names
CASE_KEYS = (
    "title gravitational_constant axes crs model observations fields execution sensitivity inversion output "
    "model.voxels model.prisms observations.grid observations.stations execution.space execution.partition "
    "execution.kernel execution.precision execution.slots execution.block sensitivity.store sensitivity.file "
    "output.file inversion.data"
).split()
INPUTS = ("model.prisms.file", "observations.stations.file", "inversion.data")


class FakeProgram:
    """Says of cases what the program would, without looking for errors in them."""

    file = "/bin/prismfield"
    kokkos = []

    def __init__(self):
        self.asked = 0

    def facts(self, file, command, cases, densities_at=""):
        self.asked += 1
        return [self.fact(yaml.safe_load(text), file) for text in cases]

    def fact(self, tree, file):
        def at(path):
            value = tree
            for key in path.split("."):
                value = value.get(key) if isinstance(value, dict) else None
            return value

        execution = tree.get("execution") or {}
        partition, fields = execution.get("partition"), tree.get("fields", ["all"])
        fields = fields if isinstance(fields, list) else [fields]
        named = {name for group in fields for name in GROUPS[group]}
        return {
            "space": execution.get("space", "default"),
            "precision": execution.get("precision", "double"),
            "fields": [name for name in NATIVE if name in named],
            "rank_grid": partition["ranks"] if isinstance(partition, dict) else None,
            "partition_where": f"{file}:1",
            "inputs": [key for key in INPUTS if isinstance(at(key), str)],
            "gravitational_constant": 6.6743e-11,
        }


def host(devices=0, **more):
    """Eight cores with two hardware threads each, and so many cards."""
    spaces = (["cuda"] if devices else []) + ["openmp", "serial"]
    program = {"version": "1", "git": "abc", "spaces": spaces, "default_space": spaces[0], "mpi": "Open MPI v4"}
    machine = Machine("host", "A processor", 8, 16, 1, ["A card"] * devices, program | more)
    machine.record = {"name": "host"} | {key: machine.program[key] for key in ("version", "git")}
    return machine


class Folder:
    """A folder with a case, of which studies are read and planned."""

    def __init__(self, path):
        self.path = path
        self.write("case.yaml", CASE)

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")
        return self.path / name

    def read(self, text, *assignments, output="", reduced=False):
        return read_study_file(self.write("study.yaml", text), CASE_KEYS, assignments, output, reduced)

    def plan(self, text, machine=None):
        return plan_study(self.read("base: case.yaml\n" + text), machine or host(), FakeProgram())

    def errors(self, action, *arguments, **keywords):
        """The lines of the InputError, without the folder."""
        try:
            action(*arguments, **keywords)
        except InputError as error:
            return str(error).replace(f"{self.path}/", "").replace(f"{self.path}", "").splitlines()
        return []
