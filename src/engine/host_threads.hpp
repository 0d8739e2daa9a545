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

/// What a text that tells Kokkos a number of threads should have been, where OpenMP starts `limit` at most; "" when it
/// is right.
[[nodiscard]] std::string expected_threads(std::string_view text, int limit = openmp_thread_limit());

/// Throws InputError when `text`, the value of OMP_NUM_THREADS or nullptr, is none that OpenMP understands or asks for
/// more threads than Kokkos has room for; the latter only where it `decides`, because nothing else says how many.
void check_openmp_threads(const char* text, bool decides);

}  // namespace prismfield
