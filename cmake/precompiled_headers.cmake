# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Headers of libraries that most sources include, parsed once for all targets of a kind: a fifth less processor time for
# the whole program. A source still names what it uses: the check of names reads each without.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without, as a compiler cache may want it.
set(prismfield_plain_headers
    <algorithm>
    <array>
    <chrono>
    <cmath>
    <cstdint>
    <filesystem>
    <functional>
    <limits>
    <map>
    <memory>
    <optional>
    <string>
    <string_view>
    <system_error>
    <utility>
    <variant>
    <vector>)

# prismfield_precompiled_headers(<kind> HEADERS header... [LIBRARIES target...] [OPTIONS option...] [PIC]): what
# prismfield_precompile(<target> <kind>) uses. A compiler takes them only with the options that they were parsed with.
function(prismfield_precompiled_headers kind)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PIC" "" "HEADERS;LIBRARIES;OPTIONS")
  set(target prismfield_headers_${kind})
  set(source "${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// A target has a source.\n")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE "${arg_PIC}")
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

function(prismfield_precompile target kind)
  if(NOT TARGET prismfield_headers_${kind} OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM prismfield_headers_${kind})
  # GCC 12 warns of endless copies inside its own std::string (GCC bug 105651), and of precompiled headers it does not see
  # that they are the system's.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

prismfield_precompiled_headers(
  plain PIC
  HEADERS ${prismfield_plain_headers} <fmt/format.h> <fmt/ranges.h>
  LIBRARIES fmt::fmt prismfield_warnings)
prismfield_precompiled_headers(
  light PIC
  HEADERS ${prismfield_plain_headers} <fmt/format.h> <fmt/ranges.h>
  LIBRARIES fmt::fmt prismfield_warnings
  OPTIONS $<$<CONFIG:Release>:-Og>)
# nvcc and hipcc parse twice, for host and device, and take none.
if(NOT Kokkos_ENABLE_CUDA AND NOT Kokkos_ENABLE_HIP)
  prismfield_precompiled_headers(
    kokkos PIC
    HEADERS ${prismfield_plain_headers} <Kokkos_Core.hpp>
    LIBRARIES Kokkos::kokkos Kokkos::kokkoskernels prismfield_kernel_options
    OPTIONS ${prismfield_optimised})
endif()
