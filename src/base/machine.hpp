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

/// Numbers of the cores (hardware threads) that this thread may run on, rising, as taskset, a batch system or mpirun's
/// binding left them; of any size of machine. Core 0 alone where the system does not tell.
[[nodiscard]] std::vector<int> usable_cores();
/// The same of the bits of a mask, as the system writes it on processors whose lowest byte is the first.
[[nodiscard]] std::vector<int> usable_cores(std::span<const unsigned char> mask);

/// Keeps what usable_cores() says from now on at what the system says now. For programs, before any library begins:
/// where OMP_PROC_BIND is set, OpenMP binds the first thread to a core as soon as it is loaded. Takes no memory and
/// calls nothing but the system.
void remember_usable_cores() noexcept;

/// What the network calls this machine; "" where the system does not tell.
[[nodiscard]] std::string host_name();

/// The processor's name as in /proc/cpuinfo, its architecture where that has none. `root`: the folder that holds proc.
[[nodiscard]] std::string processor_name(const std::filesystem::path& root = "/");

/// The value of the first line "name: value" or "NAME=value" of a text file with this name, without blanks and quotes
/// around it and fit to be shown; "" where there is none.
[[nodiscard]] std::string value_in(const std::filesystem::path& file, const std::string& name, char separator);

/// Memory of this machine, bytes; 0 where the system does not tell.
[[nodiscard]] std::int64_t physical_memory();

/// Memory that this process may still take, bytes: the least of memory_limits(), which other processes may share; half
/// of the machine's where nothing tells.
[[nodiscard]] std::int64_t available_memory();
/// The same without the limits that this process alone has.
[[nodiscard]] std::int64_t available_memory_of_machine();

/// Asks the system to back memory that was not written yet by huge pages, where it has them: reading all of a large
/// array was up to 1.6 times as fast. No promise, and no harm.
void ask_for_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Lets arrays of 4 MiB and more go back to the system as soon as they are freed. The C library otherwise learns, once
/// one was freed, to keep others of its size, and a program takes more memory than its arrays. For programs, not
/// libraries.
void return_freed_memory();

}  // namespace prismfield
