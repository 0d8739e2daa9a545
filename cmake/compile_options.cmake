# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Compile options as targets, so that a target shows which ones it takes.

set(prismfield_nvcc "$<BOOL:${Kokkos_ENABLE_CUDA}>")

# Warnings for plain C++.
add_library(prismfield_warnings INTERFACE)
target_compile_options(prismfield_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# GCC 12 warns of overlapping copies inside its own std::string (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(prismfield_warnings INTERFACE -Wno-restrict)
endif()
# hipcc takes every source for device code unless told otherwise.
if(Kokkos_ENABLE_HIP)
  target_compile_options(prismfield_warnings INTERFACE "SHELL:-x c++")
endif()

# For sources that see Kokkos: the arithmetic of the kernels may be contracted to fused multiply-adds and need not set
# errno, but it is never reordered, because cancellation between terms is arranged by hand.
add_library(prismfield_kernel_options INTERFACE)
target_compile_options(prismfield_kernel_options INTERFACE -ffp-contract=fast -fno-math-errno)
# Added for what is installed. Tests that compile kernels themselves do without: they build faster.
set(prismfield_optimised $<$<CONFIG:Release,RelWithDebInfo>:-O3>)
# constexpr functions of the standard library and of ours are for device code too.
target_compile_options(prismfield_kernel_options INTERFACE $<${prismfield_nvcc}:--expt-relaxed-constexpr>)
# The host code that nvcc writes would drown our own warnings in its.
target_compile_options(
  prismfield_kernel_options INTERFACE $<IF:${prismfield_nvcc},-Wall,-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>)
# GCC 12 calls the deliberately undefined operands of its own AVX-512 intrinsics uninitialized (GCC bug 105593).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(prismfield_kernel_options INTERFACE -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# Kokkos before 4.7.01 calls two functions whose signature changed in CUDA 13.
if(Kokkos_ENABLE_CUDA AND Kokkos_VERSION VERSION_LESS 4.7.1)
  find_package(CUDAToolkit REQUIRED)
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(prismfield_kernel_options
                           INTERFACE "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/cuda13_compatibility.hpp")
  endif()
endif()

# Device code is stored in a quarter of the room. By the environment, since Kokkos' wrapper of nvcc takes no such option.
# Before CUDA 13 there are drivers that cannot read it.
if(Kokkos_ENABLE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
    get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
    set_property(DIRECTORY PROPERTY RULE_LAUNCH_COMPILE
                                    "${CMAKE_COMMAND} -E env NVCC_PREPEND_FLAGS=--compress-mode=size ${launcher}")
  endif()
endif()

# Keeps the C++ bindings of old MPI headers out.
add_library(prismfield_mpi_options INTERFACE)
target_compile_definitions(prismfield_mpi_options INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
