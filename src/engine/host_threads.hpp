// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prismfield {

/// Threads that Kokkos has room for in a process: beyond them it writes past the end of its pool and hangs or crashes.
[[nodiscard]] int most_host_threads() noexcept;

/// Threads that OpenMP starts at most, as OMP_THREAD_LIMIT says; Kokkos waits for ever for those beyond.
[[nodiscard]] int openmp_thread_limit() noexcept;

/// Keeps OpenMP from starting fewer threads than it is asked for, as OMP_DYNAMIC allows it: Kokkos would wait for ever
/// for the others.
void start_all_threads() noexcept;

/// Threads of a rank on `cores` cores that `sharing` ranks may run on, where nobody says how many.
[[nodiscard]] int default_host_threads(std::size_t cores, int sharing) noexcept;

/// The expected form of a text with a number of threads for Kokkos, where OpenMP starts at most `limit`; "" for a valid
/// text.
[[nodiscard]] std::string expected_threads(std::string_view text, int limit = openmp_thread_limit());

/// Throws InputError when `text`, the value of OMP_NUM_THREADS or nullptr, is no number that OpenMP accepts and, with
/// `decides`, when it asks for more threads than Kokkos supports. `decides`: nothing else sets the number of threads.
void check_openmp_threads(const char* text, bool decides);

}  // namespace prismfield
