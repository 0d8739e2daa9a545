# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Every dependency, found and never fetched. The installed package includes this file too, so that a consumer finds
# the same ones with the same choices.
include(CMakeFindDependencyMacro)

macro(prismfield_dependency)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

if(NOT DEFINED HDF5_PREFER_PARALLEL)
  set(HDF5_PREFER_PARALLEL ON)
endif()

prismfield_dependency(Threads)
prismfield_dependency(Kokkos 4.5)
prismfield_dependency(KokkosKernels)
# The C interface: MPI's own C++ bindings are gone from the standard and would only add a library.
prismfield_dependency(MPI COMPONENTS C)
prismfield_dependency(HDF5 1.10 COMPONENTS C HL)
prismfield_dependency(yaml-cpp)
prismfield_dependency(fmt)

# yaml-cpp 0.8 put its target into a namespace.
if(TARGET yaml-cpp::yaml-cpp)
  set(prismfield_yaml_cpp yaml-cpp::yaml-cpp)
else()
  set(prismfield_yaml_cpp yaml-cpp)
endif()
