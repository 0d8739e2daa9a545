// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// The readers see a machine of this size, whatever the real one has: linked in the place of base/machine's functions.
#include <cstdint>

namespace {

constexpr std::int64_t small_machine = std::int64_t{64} << 20;

}  // namespace

extern "C" {

// The linker's names of prismfield::physical_memory() and prismfield::available_memory(), wrapped.
std::int64_t __wrap__ZN10prismfield15physical_memoryEv();   // NOLINT(bugprone-reserved-identifier)
std::int64_t __wrap__ZN10prismfield16available_memoryEv();  // NOLINT(bugprone-reserved-identifier)

std::int64_t __wrap__ZN10prismfield15physical_memoryEv() { return small_machine; }   // NOLINT
std::int64_t __wrap__ZN10prismfield16available_memoryEv() { return small_machine; }  // NOLINT
}
