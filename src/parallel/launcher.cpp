// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <prismfield/error.hpp>

namespace prismfield {

bool started_by_launcher() {
  constexpr std::array variables = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};
  return std::any_of(variables.begin(), variables.end(), [](const char* name) { return std::getenv(name) != nullptr; });
}

int tasks_of_slurm_step() {
  const char* const text = std::getenv("SLURM_STEP_ID") != nullptr ? std::getenv("SLURM_STEP_NUM_TASKS") : nullptr;
  // mpirun starts its ranks through a step of its own, whose tasks are not the ranks.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"}) {
    if (std::getenv(name) != nullptr) return 1;
  }
  return text != nullptr ? std::atoi(text) : 1;
}

void refuse_separate_tasks() {
  const int tasks = tasks_of_slurm_step();
  if (tasks <= 1) return;
  const char* const task = std::getenv("SLURM_PROCID");
  // Every task comes here: the first one speaks for all.
  if (task != nullptr && std::string(task) != "0") throw InputError(std::vector<Problem>{});
  throw InputError("srun", "",
                   "started " + std::to_string(tasks) +
                       " tasks that MPI does not join to one run; give srun the --mpi that this MPI library needs "
                       "('srun --mpi=list' names them, mostly pmix or pmi2), or start the ranks by mpirun inside the "
                       "job; for separate runs, unset SLURM_STEP_NUM_TASKS in each task");
}

int ranks_of_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* const text = std::getenv(name)) return std::atoi(text);
  }
  return 1;
}

}  // namespace prismfield
