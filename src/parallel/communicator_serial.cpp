// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <algorithm>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "parallel/collectives.hpp"
#include "parallel/launcher.hpp"
#include "parallel/mpi_session.hpp"

// Replaces communicator_mpi.cpp and mpi_session.cpp in a build without MPI: one rank, which holds every sum and has no
// others to hear.
namespace prismfield {

struct Communicator::Impl {};

Communicator::Communicator() = default;
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&& other) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept = default;

Communicator split(const Communicator&, int color) {
  if (color < 0) throw RunError("a color of " + std::to_string(color) + " where ranks are split");
  return {};
}

int node_of(const Communicator&) noexcept { return 0; }
void sum_to_root(const Communicator&, double*, std::int64_t) {}
void sum_to_root(const Communicator&, std::int64_t*, std::int64_t) {}
void add_parts_to_root(const Communicator&, std::vector<double> part, std::int64_t rows, std::int64_t n_columns,
                       IndexRange columns, int, std::span<double> values) {
  add_part(part, rows, n_columns, columns, values);
}

void send_to_root(const Communicator&, const void*, std::int64_t) {}
void receive_from(const Communicator&, int, void*, std::int64_t) {}
void gather_bytes(const Communicator&, const void* own, std::int64_t n_bytes, void* all) {
  std::copy_n(static_cast<const char*>(own), n_bytes, static_cast<char*>(all));
}

void announce_stop(const Communicator&) {}
bool stop_announced(const Communicator&) { return false; }
void end_announcements(const Communicator&) {}

void broadcast_bytes(const Communicator&, void*, std::int64_t, int) {}

bool any(const Communicator&, bool value) { return value; }
void barrier(const Communicator&) {}
void abort_all(const Communicator&, int) {}

const char* mpi_library_version() { return "not built in"; }

MpiSession::MpiSession(int&, char**&) {
  refuse_separate_tasks();
  const int ranks = ranks_of_launcher();
  if (ranks > 1) {
    throw InputError("mpirun", "",
                     "started " + std::to_string(ranks) +
                         " ranks, but this prismfield was built without MPI; start one process, or build with "
                         "-DPRISMFIELD_ENABLE_MPI=ON");
  }
}
MpiSession::~MpiSession() = default;

Communicator MpiSession::communicator() const { return {}; }

}  // namespace prismfield
