// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <string>
#include <utility>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "parallel/launcher.hpp"
#include "parallel/mpi_session.hpp"

// In the place of communicator_mpi.cpp and mpi_session.cpp in a build without MPI: one rank, which holds every sum and
// hears no other.
namespace prismfield {

struct Communicator::Impl {};

Communicator::Communicator() = default;
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&& other) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept = default;

Communicator Communicator::split(int color) const {
  if (color < 0) throw RunError("a color of " + std::to_string(color) + " where ranks are split");
  return {};
}

void Communicator::sum_to_root(double*, std::int64_t) const {}
void Communicator::sum_to_root(std::int64_t*, std::int64_t) const {}
void Communicator::add_parts_to_root(std::vector<double> part, std::int64_t rows, std::int64_t n_columns,
                                     IndexRange columns, int, std::vector<double>& values) const {
  add_part(part, rows, n_columns, columns, values);
}

std::vector<double> Communicator::gather(double value) const { return {value}; }
std::vector<std::int64_t> Communicator::gather(std::int64_t value) const { return {value}; }
std::vector<std::vector<double>> Communicator::gather(const std::vector<double>& values) const { return {values}; }
std::vector<double> Communicator::gather_everywhere(double value) const { return {value}; }
std::vector<std::int64_t> Communicator::gather_everywhere(std::int64_t value) const { return {value}; }
std::vector<std::int64_t> Communicator::gather_everywhere(const std::vector<std::int64_t>& values) const {
  return values;
}

void Communicator::announce_stop() const {}
bool Communicator::stop_announced() const { return false; }
void Communicator::end_announcements() const {}

void Communicator::broadcast_bytes(void*, std::int64_t, int) const {}
void Communicator::exchange(const std::vector<Outgoing>&, const std::vector<Incoming>&) const {}

bool Communicator::any(bool value) const { return value; }
void Communicator::barrier() const {}
void Communicator::abort(int) const {}
const void* Communicator::mpi_handle() const noexcept { return nullptr; }

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
