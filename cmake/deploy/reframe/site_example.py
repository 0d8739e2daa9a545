# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""A site for ReFrame: this machine, without a scheduler. Give yours its own name, hosts, scheduler and launcher; a
partition's name is what references.yaml goes by."""

site_configuration = {
    "systems": [
        {
            "name": "example",
            "descr": "Any one machine",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "cpu",
                    "descr": "Its cores",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["installed"],
                },
                # With Slurm: scheduler 'slurm', launcher 'srun', access ['-p', 'gpu'], and the module of the program:
                # {"name": "gpu", "scheduler": "slurm", "launcher": "srun", "environs": ["installed"],
                #  "modules": ["prismfield"], "resources": [{"name": "gpu", "options": ["--gres=gpu:{n}"]}]},
            ],
        }
    ],
    "environments": [{"name": "installed", "cc": "cc", "cxx": "c++", "ftn": ""}],
    "logging": [
        {
            "handlers": [{"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "level": "info",
                    "format": "%(check_job_completion_time)s,%(check_name)s,%(check_perfvalues)s",
                    "append": True,
                }
            ],
        }
    ],
}
