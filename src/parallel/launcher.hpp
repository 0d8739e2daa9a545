// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// True when mpirun, srun or another launcher of ranks started this process.
[[nodiscard]] bool started_by_launcher();

/// The number of ranks that mpirun started, from its environment; 1 where there is no such variable.
[[nodiscard]] int ranks_of_launcher();

/// The tasks of the Slurm step that this process is one of; 1 outside of a step, as in a batch script.
[[nodiscard]] int tasks_of_slurm_step();

/// Refuses as many separate runs as there are tasks, which would all write the same output. Throws InputError, without
/// a message in all but the first task.
void refuse_separate_tasks();

}  // namespace prismfield
