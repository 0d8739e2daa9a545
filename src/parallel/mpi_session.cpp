// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/mpi_session.hpp"

#include <array>
#include <string>

#include <prismfield/communicator_mpi.hpp>

#include "parallel/check_mpi.hpp"
#include "parallel/launcher.hpp"

namespace prismfield {

const char* mpi_library_version() {
  static const std::string version = [] {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    // may be called before MPI_Init
    check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    std::string line(text.data(), static_cast<std::size_t>(length));
    return line.substr(0, line.find_first_of("\n\0"));
  }();
  return version.c_str();
}

MpiSession::MpiSession(int& argc, char**& argv) {
  int begun = 0;
  check_mpi(MPI_Initialized(&begun), "MPI_Initialized");
  if (begun != 0) {
    m_active = true;
    return;
  }
  if (!started_by_launcher()) {
    refuse_separate_tasks();
    return;
  }
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  int size = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  if (size == 1 && tasks_of_slurm_step() > 1) {
    // A library that cannot talk to this plug-in may give each task a world of its own.
    MPI_Finalize();
    refuse_separate_tasks();
  }
  m_active = m_owned = true;
}

MpiSession::~MpiSession() {
  if (m_owned) MPI_Finalize();
}

Communicator MpiSession::communicator() const { return m_active ? make_communicator(MPI_COMM_WORLD) : Communicator(); }

}  // namespace prismfield
