# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield for Benchpark: strong scaling of a case over threads of a node, or over its cards.

Beside it belong cmake/deploy/ramble/repo/applications/prismfield/application.py and the package of cmake/deploy/spack.
"""

from benchpark.cuda import CudaExperiment
from benchpark.directives import maintainers, variant
from benchpark.experiment import Experiment
from benchpark.openmp import OpenMPExperiment


class Prismfield(Experiment, OpenMPExperiment, CudaExperiment):
    variant("workload", default="case", description="case or study")
    variant("version", default="0.1.0", description="Version of prismfield")

    maintainers("prismfield")

    # Prisms times points of the case that is run.
    pairs = "3779190000"

    def compute_applications_section(self):
        self.add_experiment_variable("case", "seven_spheres")
        self.add_experiment_variable("precision", ["double", "single"], named=True)
        if self.spec.satisfies("+cuda"):
            self.add_experiment_variable("space", "cuda")
            self.add_experiment_variable("resource_count", ["1", "2", "4"], named=True, matrixed=True)
            self.add_experiment_variable("n_gpus", "{resource_count}")
            self.add_experiment_variable("n_threads", "1")
        else:
            self.add_experiment_variable("space", "openmp")
            self.add_experiment_variable("resource_count", "1")
            self.add_experiment_variable("n_ranks", "{resource_count}")
            self.add_experiment_variable("n_threads", ["1", "2", "4", "8", "16"], named=True, matrixed=True)
            self.add_experiment_variable("n_threads_per_proc", "{n_threads}")
        self.set_required_variables(
            n_resources="{resource_count}",
            process_problem_size=f"{self.pairs}/{{n_resources}}",
            total_problem_size=self.pairs,
        )

    def compute_package_section(self):
        version = self.spec.variants["version"][0]
        self.add_package_spec(self.name, [f"prismfield@{version}"])
