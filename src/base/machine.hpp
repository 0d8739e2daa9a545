// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace prismfield {

/// Rising numbers of the cores (hardware threads) that this thread may use under taskset, a batch system or mpirun;
/// core 0 alone where the system does not report them. Works for any number of cores.
[[nodiscard]] std::vector<int> usable_cores();
/// The same from a system's bit mask with the lowest byte first.
[[nodiscard]] std::vector<int> usable_cores(std::span<const unsigned char> mask);

/// Fixes the result of usable_cores() to the present one. Programs call it before any library starts, because with
/// OMP_PROC_BIND OpenMP binds the first thread to a core when it is loaded. Allocates nothing and calls only the
/// system.
void remember_usable_cores() noexcept;

/// The network name of this machine; "" where the system does not report it.
[[nodiscard]] std::string host_name();

/// The processor's name from /proc/cpuinfo, otherwise its architecture. `root`: the folder that holds proc.
[[nodiscard]] std::string processor_name(const std::filesystem::path& root = "/");

/// The value in the first line "name: value" or "NAME=value" of a text file, safe to show, without surrounding blanks
/// and quotes; "" without such a line.
[[nodiscard]] std::string value_in(const std::filesystem::path& file, const std::string& name, char separator);

/// Memory of this machine, bytes; 0 where the system does not report it.
[[nodiscard]] std::int64_t physical_memory();

/// Bytes that this process may still take: the least of memory_limits(), which other processes may share, or half of
/// the machine's memory where there are no limits.
[[nodiscard]] std::int64_t available_memory();
/// The same without limits of this process alone.
[[nodiscard]] std::int64_t available_memory_of_machine();

/// Asks the system to use huge pages for memory not yet written. Reading a large array was up to 1.6 times as fast. It
/// is a hint and cannot fail.
void ask_for_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Makes the C library return freed arrays of 4 MiB and more to the system. By default it keeps arrays of a size once
/// freed, and a program takes more memory than its arrays. For programs, not libraries.
void return_freed_memory();

}  // namespace prismfield
