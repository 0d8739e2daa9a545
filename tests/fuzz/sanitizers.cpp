// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// What the sanitizers of a fuzzer are told.

extern "C" {

// The runtime libraries' names.
const char* __asan_default_options();       // NOLINT(bugprone-reserved-identifier)
const char* __asan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)

// Freed memory that is kept to catch its use, and depth of the stacks that are kept: smaller than usual, for speed. Too
// large an allocation is refused, as a machine would; libFuzzer has a limit of its own.
const char* __asan_default_options() {  // NOLINT
  return "quarantine_size_mb=32:malloc_context_size=10:allocator_may_return_null=1";
}

// HDF5 1.10 copies from beyond its buffers, and forgets memory, when it meets a damaged header.
const char* __asan_default_suppressions() { return "interceptor_via_lib:libhdf5"; }  // NOLINT
const char* __lsan_default_suppressions() { return "leak:libhdf5"; }                 // NOLINT
}
