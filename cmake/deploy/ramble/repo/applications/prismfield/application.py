# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""prismfield for Ramble: the papers' cases, and any ready study with all its figures of merit."""

from ramble.appkit import *


class Prismfield(ExecutableApplication):
    """Gravity of rectangular prisms: the potential, the vector and the gradient tensor of large ensembles."""

    name = "prismfield"

    tags("geophysics", "gravity", "kokkos", "mpi", "gpu")

    software_spec("prismfield", pkg_spec="prismfield@0.1.0", package_manager="spack*")
    required_package("prismfield", package_manager="spack*")

    executable(
        "run",
        "prismfield run {prismfield_source}/inputs/{case}.yaml --output {experiment_run_dir}/result.h5"
        " --set output.figure=null --set execution.space={space} --set execution.precision={precision}"
        " --set execution.partition={partition}",
        use_mpi=True,
    )
    # A study starts its own processes, on as many ranks as its axes say.
    executable(
        "study",
        "prismfield study {prismfield_source}/perf/studies/{study}.yaml {study_options}"
        " --output {experiment_run_dir}/report",
        use_mpi=False,
    )
    executable("figures_of_merit", "cat {experiment_run_dir}/report/foms.txt", use_mpi=False)

    workload("case", executables=["run"])
    workload("study", executables=["study", "figures_of_merit"])

    workload_variable(
        "prismfield_source",
        default="{workspace_root}/inputs/prismfield",
        description="Folder of prismfield's sources, which has inputs and perf/studies",
        workloads=["case", "study"],
    )
    workload_variable(
        "case",
        default="seven_spheres",
        values=["one_sphere", "seven_spheres", "random_mesh", "quickstart"],
        description="A case of the folder inputs",
        workloads=["case"],
    )
    workload_variable(
        "space",
        default="default",
        values=["default", "serial", "openmp", "cuda"],
        description="Execution space",
        workloads=["case"],
    )
    workload_variable(
        "precision",
        default="double",
        values=["double", "single"],
        description="Precision of the kernels",
        workloads=["case"],
    )
    workload_variable(
        "partition",
        default="auto",
        values=["auto", "prisms", "points"],
        description="How ranks share the work",
        workloads=["case"],
    )
    workload_variable(
        "study", default="c1_partition", description="A study of the folder perf/studies", workloads=["study"]
    )
    workload_variable(
        "study_options", default="--reduced", description="Options of prismfield study", workloads=["study"]
    )
    environment_variable("OMP_NUM_THREADS", value="{n_threads}", description="Threads of a rank", workloads=["case"])
    environment_variable("OMP_PROC_BIND", value="spread", description="Binding of threads", workloads=["case"])
    environment_variable("OMP_PLACES", value="cores", description="Places of threads", workloads=["case"])

    figure_of_merit(
        "Pairs per second",
        log_file="{log_file}",
        fom_regex=r"^\S+: [0-9,]+ pairs in [0-9.eE+-]+ s, (?P<rate>[0-9.eE+-]+) pairs/s",
        group_name="rate",
        units="pairs/s",
    )
    figure_of_merit(
        "Total time",
        log_file="{log_file}",
        fom_regex=r"^\S+: [0-9,]+ pairs in (?P<total>[0-9.eE+-]+) s,",
        group_name="total",
        units="s",
    )
    figure_of_merit(
        "Field time",
        log_file="{log_file}",
        fom_regex=r"\(fields (?P<fields>[0-9.eE+-]+) s\)",
        group_name="fields",
        units="s",
    )
    figure_of_merit_context("Figure of a study", regex=r"^FOM (?P<name>.+): \S+", output_format="{name}")
    figure_of_merit(
        "Value",
        log_file="{log_file}",
        fom_regex=r"^FOM .+: (?P<value>\S+) ?(?P<unit>.*)$",
        group_name="value",
        units="{unit}",
        contexts=["Figure of a study"],
    )

    success_criteria(
        "fields_computed",
        mode="string",
        match=r"(\S+: [0-9,]+ pairs in .*|FOM .+: \S+.*)",
        file="{log_file}",
    )
