// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <prismfield/ranges.hpp>

namespace prismfield {

/// Values that a rank sends to another; they must stay until the exchange is over.
struct Outgoing {
  int rank = 0;
  const double* values = nullptr;
  std::int64_t n = 0;
};

/// Where a rank puts the values that another sends.
struct Incoming {
  int rank = 0;
  double* values = nullptr;
  std::int64_t n = 0;
};

/// The ranks of a run: one rank without MPI, or those of an MPI communicator (see communicator_mpi.hpp). Every function
/// throws RunError when MPI fails.
class Communicator {
public:
  /// one rank, no MPI
  Communicator();
  /// Where MPI still runs: collective.
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const noexcept { return m_rank; }
  [[nodiscard]] int size() const noexcept { return m_size; }
  /// rank among those of this node, by shared memory
  [[nodiscard]] int local_rank() const noexcept { return m_local_rank; }
  [[nodiscard]] int local_size() const noexcept { return m_local_size; }
  /// the first rank of this node: a number that its ranks share and no other node has
  [[nodiscard]] int node() const noexcept { return m_node; }

  /// The ranks that give the same color, of at least 0, in the order of their ranks here, as a communicator of their
  /// own. Collective.
  [[nodiscard]] Communicator split(int color) const;

  /// Adds values over ranks onto rank 0 along a fixed binary tree of sends, so that the sum does not depend on
  /// placement; rank 0 holds the sum afterwards, other ranks their partial sums. Integers are counts, of at least 0; a
  /// sum that passes the largest is the largest. Collective.
  void sum_to_root(double* values, std::int64_t n) const;
  void sum_to_root(std::int64_t* values, std::int64_t n) const;
  /// The same sum, bit for bit, on every rank. Collective.
  void sum_everywhere(double* values, std::int64_t n) const;
  /// Adds every rank's part of values (rows, n_columns) onto `values`, of that shape on rank 0 and not looked at
  /// elsewhere. `part`: (rows, columns.size()). Ranks of one group of `group_size` consecutive ones have the same
  /// columns and add them up along a fixed tree; the groups' first ranks hand them to rank 0, which adds them in their
  /// order. Only these columns travel. Collective.
  void add_parts_to_root(std::vector<double> part, std::int64_t rows, std::int64_t n_columns, IndexRange columns,
                         int group_size, std::vector<double>& values) const;
  /// One value a rank, on rank 0 (empty elsewhere). Collective.
  [[nodiscard]] std::vector<double> gather(double value) const;
  [[nodiscard]] std::vector<std::int64_t> gather(std::int64_t value) const;
  /// One list a rank, of any length, on rank 0 (empty elsewhere). Collective.
  [[nodiscard]] std::vector<std::vector<double>> gather(const std::vector<double>& values) const;
  /// Tells every other rank, once, that this one was asked to stop. Not collective.
  void announce_stop() const;
  /// Whether another rank has announced that. Not collective, cheap.
  [[nodiscard]] bool stop_announced() const;
  /// Takes in announcements that nobody has looked at; to be called when all ranks have stopped. Collective.
  void end_announcements() const;
  /// One value a rank, on every rank. Collective.
  [[nodiscard]] std::vector<double> gather_everywhere(double value) const;
  [[nodiscard]] std::vector<std::int64_t> gather_everywhere(std::int64_t value) const;
  /// Every rank's values, rank by rank, on all ranks; each gives equally many. Collective.
  [[nodiscard]] std::vector<std::int64_t> gather_everywhere(const std::vector<std::int64_t>& values) const;
  /// Copies `n_bytes` bytes of `root` to every rank, in pieces that MPI can count. Collective.
  void broadcast_bytes(void* bytes, std::int64_t n_bytes, int root = 0) const;
  /// Sends and receives at once, in pieces that MPI can count; what one rank sends to another arrives in the order of
  /// both lists. Not to be sent to oneself. Collective.
  void exchange(const std::vector<Outgoing>& sends, const std::vector<Incoming>& receives) const;
  /// True everywhere when any rank says so. Collective.
  [[nodiscard]] bool any(bool value) const;
  void barrier() const;
  /// Ends every rank with this code; never returns under MPI, returns without it.
  void abort(int code) const;
  /// The MPI_Comm, for the parallel HDF5 library; nullptr without MPI.
  [[nodiscard]] const void* mpi_handle() const noexcept;

private:
  struct Impl;
  friend struct CommunicatorAccess;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
  int m_rank = 0, m_size = 1, m_local_rank = 0, m_local_size = 1, m_node = 0;
};

/// Adds a part (rows, columns.size()) onto `values` (rows, n_columns).
void add_part(const std::vector<double>& part, std::int64_t rows, std::int64_t n_columns, IndexRange columns,
              std::vector<double>& values);

/// Makes root's value everybody's. Collective.
template <class T>
void broadcast(const Communicator& communicator, T& value, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  communicator.broadcast_bytes(&value, sizeof(T), root);
}

/// Makes root's values everybody's, their number too. Collective.
template <class T>
void broadcast(const Communicator& communicator, std::vector<T>& values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto size = static_cast<std::int64_t>(values.size());
  broadcast(communicator, size, root);
  values.resize(static_cast<std::size_t>(size));
  communicator.broadcast_bytes(values.data(), size * static_cast<std::int64_t>(sizeof(T)), root);
}

void broadcast(const Communicator& communicator, std::string& text, int root = 0);
void broadcast(const Communicator& communicator, std::vector<std::string>& texts, int root = 0);

/// MPI library's version line, e.g. "Open MPI v4.1.4, ..."; "not built in" without it.
[[nodiscard]] const char* mpi_library_version();

}  // namespace prismfield
