// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator_mpi.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <prismfield/error.hpp>

#include "base/counts.hpp"
#include "parallel/check_mpi.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

/// MPI counts are int.
int count_of(std::int64_t n) {
  if (n < 0 || n > std::numeric_limits<int>::max())
    throw RunError("an MPI message of " + std::to_string(n) + " values");
  return static_cast<int>(n);
}

template <class T>
MPI_Datatype datatype();
template <>
MPI_Datatype datatype<double>() {
  return MPI_DOUBLE;
}
template <>
MPI_Datatype datatype<std::int64_t>() {
  return MPI_INT64_T;
}
template <>
MPI_Datatype datatype<std::byte>() {
  return MPI_BYTE;
}

constexpr int sum_tag = 17;
constexpr int gather_tag = 18;
constexpr int stop_tag = 19;
constexpr int part_tag = 21;

/// Values of one message.
constexpr std::int64_t piece = std::int64_t{1} << 20;

template <class T>
void send_pieces(MPI_Comm communicator, const T* values, std::int64_t n, int to, int tag) {
  for (std::int64_t i = 0; i < n; i += piece) {
    check_mpi(MPI_Send(values + i, count_of(std::min(piece, n - i)), datatype<T>(), to, tag, communicator), "MPI_Send");
  }
}

template <class T>
void receive_pieces(MPI_Comm communicator, T* values, std::int64_t n, int from, int tag) {
  for (std::int64_t i = 0; i < n; i += piece) {
    check_mpi(MPI_Recv(values + i, count_of(std::min(piece, n - i)), datatype<T>(), from, tag, communicator,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
  }
}

double added(double a, double b) { return a + b; }
std::int64_t added(std::int64_t a, std::int64_t b) { return sum_or_most(a, b); }

/// Sums values of `size` consecutive ranks onto the first; this one is number `number`. It receives from number + step
/// and adds, for step = 1, 2, 4, ...: the order of additions depends on the ranks only.
template <class T>
void sum_along_tree(MPI_Comm communicator, int rank, int number, int size, T* values, std::int64_t n) {
  std::vector<T> received;
  for (int step = 1; step < size; step *= 2) {
    if (number % (2 * step) == step) {
      send_pieces(communicator, values, n, rank - step, sum_tag);
      return;
    }
    if (number + step >= size) continue;
    received.resize(static_cast<std::size_t>(std::min(piece, n)));
    for (std::int64_t i = 0; i < n; i += piece) {
      const int count = count_of(std::min(piece, n - i));
      receive_pieces(communicator, received.data(), count, rank + step, sum_tag);
      for (int j = 0; j < count; ++j) values[i + j] = added(values[i + j], received[static_cast<std::size_t>(j)]);
    }
  }
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw RunError(std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

struct Communicator::Impl {
  MPI_Comm communicator = MPI_COMM_NULL;
  bool announced = false;

  ~Impl() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0 && communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
  }
};

struct CommunicatorAccess {
  /// `call` makes the communicator, which is this library's own from then on.
  template <class Call>
  static Communicator make(const char* name, const Call& call) {
    auto impl = std::make_unique<Communicator::Impl>();
    check_mpi(call(&impl->communicator), name);
    check_mpi(MPI_Comm_set_errhandler(impl->communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return Communicator(std::move(impl));
  }
  static bool has_mpi(const Communicator& communicator) { return communicator.m_impl != nullptr; }
  static const MPI_Comm& mpi(const Communicator& communicator) { return communicator.m_impl->communicator; }
  static bool& announced(const Communicator& communicator) { return communicator.m_impl->announced; }
  static int node(const Communicator& communicator) { return communicator.m_node; }
};

Communicator::Communicator() = default;
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&& other) noexcept { *this = std::move(other); }

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  m_impl = std::move(other.m_impl);
  m_rank = std::exchange(other.m_rank, 0);
  m_size = std::exchange(other.m_size, 1);
  m_local_rank = std::exchange(other.m_local_rank, 0);
  m_local_size = std::exchange(other.m_local_size, 1);
  m_node = std::exchange(other.m_node, 0);
  return *this;
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {
  check_mpi(MPI_Comm_rank(m_impl->communicator, &m_rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(m_impl->communicator, &m_size), "MPI_Comm_size");
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(m_impl->communicator, MPI_COMM_TYPE_SHARED, m_rank, MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(node, &m_local_rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(node, &m_local_size), "MPI_Comm_size");
  m_node = m_rank;
  check_mpi(MPI_Bcast(&m_node, 1, MPI_INT, 0, node), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
}

namespace {

bool has_mpi(const Communicator& communicator) { return CommunicatorAccess::has_mpi(communicator); }
const MPI_Comm& mpi(const Communicator& communicator) { return CommunicatorAccess::mpi(communicator); }

}  // namespace

Communicator make_communicator(MPI_Comm ranks) {
  int begun = 0;
  int ended = 0;
  check_mpi(MPI_Initialized(&begun), "MPI_Initialized");
  check_mpi(MPI_Finalized(&ended), "MPI_Finalized");
  if (begun == 0 || ended != 0) throw RunError("a communicator of MPI is made while MPI does not run");
  if (ranks == MPI_COMM_NULL) throw RunError("a communicator of MPI is made of MPI_COMM_NULL");
  return CommunicatorAccess::make("MPI_Comm_dup", [&](MPI_Comm* made) { return MPI_Comm_dup(ranks, made); });
}

int node_of(const Communicator& communicator) noexcept { return CommunicatorAccess::node(communicator); }

Communicator split(const Communicator& communicator, int color) {
  if (color < 0) throw RunError("a color of " + std::to_string(color) + " where ranks are split");
  if (!has_mpi(communicator)) return {};
  return CommunicatorAccess::make("MPI_Comm_split", [&](MPI_Comm* made) {
    return MPI_Comm_split(mpi(communicator), color, communicator.rank(), made);
  });
}

void sum_to_root(const Communicator& communicator, double* values, std::int64_t n) {
  if (has_mpi(communicator))
    sum_along_tree(mpi(communicator), communicator.rank(), communicator.rank(), communicator.size(), values, n);
}

void add_parts_to_root(const Communicator& communicator, std::vector<double> part, std::int64_t rows,
                       std::int64_t n_columns, IndexRange columns, int group_size, std::span<double> values) {
  if (!has_mpi(communicator)) {
    add_part(part, rows, n_columns, columns, values);
    return;
  }
  MPI_Comm const world = mpi(communicator);
  const auto n = static_cast<std::int64_t>(part.size());
  sum_along_tree(world, communicator.rank(), communicator.rank() % group_size, group_size, part.data(), n);
  if (communicator.rank() % group_size != 0) return;
  if (communicator.rank() > 0) {
    const std::array<std::int64_t, 2> ends = {columns.begin, columns.end};
    send_pieces(world, ends.data(), 2, 0, part_tag);
    send_pieces(world, part.data(), n, 0, part_tag);
    return;
  }
  add_part(part, rows, n_columns, columns, values);
  for (int first = group_size; first < communicator.size(); first += group_size) {
    std::array<std::int64_t, 2> ends{};
    receive_pieces(world, ends.data(), 2, first, part_tag);
    part.resize(static_cast<std::size_t>(rows * (ends[1] - ends[0])));
    receive_pieces(world, part.data(), static_cast<std::int64_t>(part.size()), first, part_tag);
    add_part(part, rows, n_columns, {ends[0], ends[1]}, values);
  }
}

void sum_to_root(const Communicator& communicator, std::int64_t* values, std::int64_t n) {
  if (has_mpi(communicator))
    sum_along_tree(mpi(communicator), communicator.rank(), communicator.rank(), communicator.size(), values, n);
}

void send_to_root(const Communicator& communicator, const void* bytes, std::int64_t n_bytes) {
  send_pieces(mpi(communicator), static_cast<const std::byte*>(bytes), n_bytes, 0, gather_tag);
}

void receive_from(const Communicator& communicator, int rank, void* bytes, std::int64_t n_bytes) {
  receive_pieces(mpi(communicator), static_cast<std::byte*>(bytes), n_bytes, rank, gather_tag);
}

void announce_stop(const Communicator& communicator) {
  if (!has_mpi(communicator) || CommunicatorAccess::announced(communicator)) return;
  CommunicatorAccess::announced(communicator) = true;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    // an empty message is on its way at once, whatever the other rank does
    if (rank != communicator.rank())
      check_mpi(MPI_Send(nullptr, 0, MPI_INT, rank, stop_tag, mpi(communicator)), "MPI_Send");
  }
}

bool stop_announced(const Communicator& communicator) {
  if (!has_mpi(communicator)) return false;
  int arrived = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, stop_tag, mpi(communicator), &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
  return arrived != 0;
}

void end_announcements(const Communicator& communicator) {
  if (!has_mpi(communicator)) return;
  int mine = CommunicatorAccess::announced(communicator) ? 1 : 0;
  int all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, mpi(communicator)), "MPI_Allreduce");
  for (int i = 0; i < all - mine; ++i) {
    check_mpi(MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, stop_tag, mpi(communicator), MPI_STATUS_IGNORE),
              "MPI_Recv");
  }
  CommunicatorAccess::announced(communicator) = false;
}

void gather_bytes(const Communicator& communicator, const void* own, std::int64_t n_bytes, void* all) {
  const int n = count_of(n_bytes);
  if (!has_mpi(communicator)) {
    std::copy_n(static_cast<const char*>(own), n, static_cast<char*>(all));
    return;
  }
  check_mpi(MPI_Allgather(own, n, MPI_BYTE, all, n, MPI_BYTE, mpi(communicator)), "MPI_Allgather");
}

void broadcast_bytes(const Communicator& communicator, void* bytes, std::int64_t n_bytes, int root) {
  if (!has_mpi(communicator)) return;
  constexpr std::int64_t bytes_at_once = std::int64_t{1} << 30;
  for (std::int64_t i = 0; i < n_bytes; i += bytes_at_once) {
    check_mpi(MPI_Bcast(static_cast<char*>(bytes) + i, count_of(std::min(bytes_at_once, n_bytes - i)), MPI_BYTE, root,
                        mpi(communicator)),
              "MPI_Bcast");
  }
}

bool any(const Communicator& communicator, bool value) {
  if (!has_mpi(communicator)) return value;
  int mine = value ? 1 : 0;
  int all = 0;
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LOR, mpi(communicator)), "MPI_Allreduce");
  return all != 0;
}

void barrier(const Communicator& communicator) {
  if (has_mpi(communicator)) check_mpi(MPI_Barrier(mpi(communicator)), "MPI_Barrier");
}

void abort_all(const Communicator& communicator, int code) {
  if (has_mpi(communicator)) MPI_Abort(mpi(communicator), code);
}

}  // namespace prismfield
