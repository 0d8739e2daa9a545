# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# The dependencies of prismfield::core, found and never fetched. The installed package includes this file too, so that a
# consumer finds the same ones with the same choices.
include(CMakeFindDependencyMacro)

macro(prismfield_dependency package)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
    if(prismfield_built_with_${package})
      find_dependency(${package} ${ARGN} HINTS ${prismfield_built_with_${package}})
    else()
      find_dependency(${package} ${ARGN})
    endif()
  else()
    find_package(${package} ${ARGN} REQUIRED)
  endif()
endmacro()

prismfield_dependency(Threads)
prismfield_dependency(Kokkos 4.5)
prismfield_dependency(KokkosKernels)
prismfield_dependency(fmt)
# A header of which nothing is left in what is installed.
if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "prismfield")
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
  find_package(Pocketfft REQUIRED)
endif()
# The C interface: MPI's own C++ bindings are gone from the standard and would only add a library.
if(PRISMFIELD_ENABLE_MPI)
  prismfield_dependency(MPI COMPONENTS C)
endif()
