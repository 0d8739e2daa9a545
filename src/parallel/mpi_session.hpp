// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/communicator.hpp>

namespace prismfield {

/// MPI library's version line, e.g. "Open MPI v4.1.4, ..."; "not built in" without it.
[[nodiscard]] const char* mpi_library_version();

/// MPI for the time of a run: initialised only when a launcher started this process, because MPI_Init and
/// MPI_Finalize cost a third of a second that a run on one process does not need. An MPI that runs already is used as
/// it is and goes on when this object ends.
class MpiSession {
public:
  /// Throws InputError when Slurm's srun started several tasks without joining them by MPI: without a message in all
  /// but the first of them.
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// Every rank of the run; one rank where no launcher started this process. Collective.
  [[nodiscard]] Communicator communicator() const;

private:
  bool m_active = false;
  bool m_owned = false;
};

}  // namespace prismfield
