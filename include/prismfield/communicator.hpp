// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

namespace prismfield {

/// The ranks of a run: one rank without MPI, or those of an MPI communicator (make_communicator()).
class Communicator {
public:
  /// one rank without MPI
  Communicator();
  /// Collective where MPI still runs.
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const noexcept { return m_rank; }
  [[nodiscard]] int size() const noexcept { return m_size; }
  /// number of this rank among those that share memory with it (one node)
  [[nodiscard]] int local_rank() const noexcept { return m_local_rank; }
  [[nodiscard]] int local_size() const noexcept { return m_local_size; }

private:
  struct Impl;
  friend struct CommunicatorAccess;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
  int m_rank = 0, m_size = 1, m_local_rank = 0, m_local_size = 1, m_node = 0;
};

}  // namespace prismfield
