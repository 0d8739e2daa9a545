// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/ranges.hpp>

// Communication between ranks. Every function throws RunError when MPI fails.
namespace prismfield {

/// The first rank of this node: a number that its ranks share and no other node has.
[[nodiscard]] int node_of(const Communicator& communicator) noexcept;

/// A communicator of the ranks with the same color, at least 0, in the order of their ranks here. Collective.
[[nodiscard]] Communicator split(const Communicator& communicator, int color);

/// Sums values over ranks onto rank 0 along a fixed binary tree of sends, so that placement does not change the sum.
/// Other ranks hold partial sums afterwards. Integers are counts, at least 0; a sum above the largest one becomes the
/// largest. Collective.
void sum_to_root(const Communicator& communicator, double* values, std::int64_t n);
void sum_to_root(const Communicator& communicator, std::int64_t* values, std::int64_t n);
/// The same sum on every rank, bit for bit. Collective.
void sum_everywhere(const Communicator& communicator, double* values, std::int64_t n);
/// Adds every rank's part of values (rows, n_columns) onto `values`, of that shape on rank 0 and not looked at
/// elsewhere. `part`: (rows, columns.size()). Ranks of one group of `group_size` consecutive ones have the same
/// columns and add them up along a fixed tree; the groups' first ranks hand them to rank 0, which adds them in their
/// order. Only these columns travel. Collective.
void add_parts_to_root(const Communicator& communicator, std::vector<double> part, std::int64_t rows,
                       std::int64_t n_columns, IndexRange columns, int group_size, std::span<double> values);
/// Hands bytes to rank 0, which takes them rank by rank.
void send_to_root(const Communicator& communicator, const void* bytes, std::int64_t n_bytes);
void receive_from(const Communicator& communicator, int rank, void* bytes, std::int64_t n_bytes);
/// Announces to every other rank, once, that this rank was asked to stop. Not collective.
void announce_stop(const Communicator& communicator);
/// Whether another rank has announced a stop. Not collective, cheap.
[[nodiscard]] bool stop_announced(const Communicator& communicator);
/// Receives announcements that are still unread; call it when all ranks have stopped. Collective.
void end_announcements(const Communicator& communicator);
/// Gathers `n_bytes` bytes of every rank, in the order of ranks, into `all` on every rank. Collective.
void gather_bytes(const Communicator& communicator, const void* own, std::int64_t n_bytes, void* all);
/// Copies `n_bytes` bytes from `root` to every rank, in pieces that MPI can count. Collective.
void broadcast_bytes(const Communicator& communicator, void* bytes, std::int64_t n_bytes, int root = 0);
/// True everywhere when any rank says so. Collective.
[[nodiscard]] bool any(const Communicator& communicator, bool value);
void barrier(const Communicator& communicator);
/// Ends all ranks with this code. It does not return under MPI and returns without MPI.
void abort_all(const Communicator& communicator, int code);

/// Adds a part (rows, columns.size()) onto `values` (rows, n_columns).
void add_part(const std::vector<double>& part, std::int64_t rows, std::int64_t n_columns, IndexRange columns,
              std::span<double> values);

/// The values of all ranks in the order of ranks, on every rank; all ranks give equally many. Collective.
template <class T>
[[nodiscard]] std::vector<T> gather_everywhere(const Communicator& communicator, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(values.size() * static_cast<std::size_t>(communicator.size()));
  gather_bytes(communicator, values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)), all.data());
  return all;
}

/// One value per rank, on every rank. Collective.
template <class T>
[[nodiscard]] std::vector<T> gather_everywhere(const Communicator& communicator, const T& value) {
  return gather_everywhere(communicator, std::vector<T>{value});
}

/// One value per rank, on rank 0; empty elsewhere. Collective.
template <class T>
[[nodiscard]] std::vector<T> gather(const Communicator& communicator, const T& value) {
  std::vector<T> all = gather_everywhere(communicator, value);
  if (communicator.rank() != 0) all.clear();
  return all;
}

/// One list per rank, of any length, on rank 0; empty elsewhere. Collective.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> gather(const Communicator& communicator, std::vector<T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::size_t> sizes = gather(communicator, values.size());
  std::vector<std::vector<T>> all;
  if (communicator.rank() != 0) {
    send_to_root(communicator, values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)));
    return all;
  }
  all.push_back(std::move(values));
  for (int rank = 1; rank < communicator.size(); ++rank) {
    std::vector<T>& received = all.emplace_back(sizes[static_cast<std::size_t>(rank)]);
    receive_from(communicator, rank, received.data(), static_cast<std::int64_t>(received.size() * sizeof(T)));
  }
  return all;
}

/// Copies root's value to all ranks. Collective.
template <class T>
void broadcast(const Communicator& communicator, T& value, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast_bytes(communicator, &value, sizeof(T), root);
}

/// Copies root's values and their number to all ranks. Collective.
template <class T>
void broadcast(const Communicator& communicator, std::vector<T>& values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto size = static_cast<std::int64_t>(values.size());
  broadcast(communicator, size, root);
  values.resize(static_cast<std::size_t>(size));
  broadcast_bytes(communicator, values.data(), size * static_cast<std::int64_t>(sizeof(T)), root);
}

void broadcast(const Communicator& communicator, std::string& text, int root = 0);
void broadcast(const Communicator& communicator, std::vector<std::string>& texts, int root = 0);

}  // namespace prismfield
