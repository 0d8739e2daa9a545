# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# The dependencies of prismfield_components (core, files), found and never fetched. The installed package includes this
# file too, so that a consumer finds the same ones with the same choices.
include(CMakeFindDependencyMacro)

macro(prismfield_dependency)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

prismfield_dependency(Threads)
prismfield_dependency(Kokkos 4.5)
prismfield_dependency(KokkosKernels)
prismfield_dependency(fmt)
# The C interface: MPI's own C++ bindings are gone from the standard and would only add a library.
if(PRISMFIELD_ENABLE_MPI)
  prismfield_dependency(MPI COMPONENTS C)
endif()

if("files" IN_LIST prismfield_components)
  if(NOT DEFINED HDF5_PREFER_PARALLEL)
    set(HDF5_PREFER_PARALLEL ${PRISMFIELD_ENABLE_MPI})
  endif()
  prismfield_dependency(HDF5 1.10 COMPONENTS C HL)
  if(HDF5_IS_PARALLEL AND NOT PRISMFIELD_ENABLE_MPI)
    message(FATAL_ERROR "The HDF5 found needs MPI, but PRISMFIELD_ENABLE_MPI is OFF: name a serial HDF5 by HDF5_ROOT")
  endif()
  prismfield_dependency(yaml-cpp)
  # yaml-cpp 0.8 put its target into a namespace.
  if(TARGET yaml-cpp::yaml-cpp)
    set(prismfield_yaml_cpp yaml-cpp::yaml-cpp)
  else()
    set(prismfield_yaml_cpp yaml-cpp)
  endif()
  # For what files say of a case's coordinate reference system; without it they name the system alone.
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
    if(prismfield_has_proj)
      find_dependency(PROJ)
    endif()
  else()
    set(prismfield_has_proj OFF)
    if(PRISMFIELD_ENABLE_PROJ)
      find_package(PROJ CONFIG QUIET)
      if(PROJ_FOUND AND TARGET PROJ::proj AND PROJ_VERSION VERSION_GREATER_EQUAL 7.2)
        set(prismfield_has_proj ON)
      endif()
    endif()
  endif()
  # compiled in: who uses the installed library does not need it
  if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
    list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
    find_package(xxHash 0.8 REQUIRED)
    find_package(nlohmann_json 3.9 REQUIRED)
  endif()
endif()
