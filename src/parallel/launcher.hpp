// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// True when mpirun, srun or another launcher of ranks started this process.
[[nodiscard]] bool started_by_launcher();

/// The ranks that mpirun started, as its environment tells; 1 where it tells nothing.
[[nodiscard]] int ranks_of_launcher();

/// The tasks of the Slurm step that this process is one of; 1 outside of a step, as in a batch script.
[[nodiscard]] int tasks_of_slurm_step();

/// Ends what would be as many separate runs as there are tasks, each of which writes the same output: throws
/// InputError, without a message in all but the first task.
void refuse_separate_tasks();

}  // namespace prismfield
