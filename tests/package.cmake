# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# An outside program that uses the library: installed, and as a part of its own build.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
# Half of the cores: other tests run at the same time.
include(ProcessorCount)
processorcount(package_jobs)
math(EXPR package_jobs "(${package_jobs} + 3) / 2")

# prismfield_add_package_test(<name> [SOURCE folder] TARGETS target... [ARGUMENTS -D...])
function(prismfield_add_package_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "TARGETS;ARGUMENTS")
  if(NOT arg_SOURCE)
    set(arg_SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/package")
  endif()
  set(consumer "${CMAKE_CURRENT_BINARY_DIR}/package/${name}")
  list(JOIN arg_TARGETS " " targets)
  add_test(
    NAME package_${name}_builds
    COMMAND
      "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DPREFIX=${consumer}/prefix"
      "-DSOURCE=${arg_SOURCE}" "-DCONSUMER=${consumer}/build" "-DGENERATOR=${CMAKE_GENERATOR}"
      "-DSEARCH=${CMAKE_PREFIX_PATH}" "-DKokkos_DIR=${Kokkos_DIR}" "-DKokkosKernels_DIR=${KokkosKernels_DIR}"
      "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
      "-DFLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
      "-DJOBS=${package_jobs}" "-DTARGETS=${targets}" ${arg_ARGUMENTS} -P
      "${CMAKE_CURRENT_SOURCE_DIR}/package/build.cmake")
  set_tests_properties(package_${name}_builds PROPERTIES FIXTURES_SETUP package_${name} TIMEOUT 1800
                                                          PROCESSORS ${package_jobs})
  foreach(target IN LISTS arg_TARGETS)
    prismfield_add_command_test(package_${name}_${target}_runs DEVICE COMMAND "${consumer}/build/${target}")
    set_property(TEST package_${name}_${target}_runs APPEND PROPERTY FIXTURES_REQUIRED package_${name})
  endforeach()
endfunction()

set(consumers consumer whole_core)
if(PRISMFIELD_BUILD_CAPI)
  list(APPEND consumers c_consumer)
endif()
prismfield_add_package_test(core TARGETS ${consumers})
# Without MPI, which core alone can do without. Not optimised, and by few large sources, because all of the core is
# compiled once more.
prismfield_add_package_test(
  subdirectory
  TARGETS consumer whole_core
  ARGUMENTS "-DPRISMFIELD_SOURCE=${PROJECT_SOURCE_DIR}" -DBUILD_TYPE=Debug "-DFLAGS=${CMAKE_CXX_FLAGS} -O0 -g0")

# The examples of docs/library.md: built against the installed core, run, and compared with what the page shows.
set(examples three_prisms custom_source stored_operator invert views)
set(mpirun)
if(PRISMFIELD_ENABLE_MPI)
  list(APPEND examples own_mpi)
  set(mpirun --mpirun "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} 2 ${prismfield_mpiexec_flags})
endif()
prismfield_add_package_test(examples SOURCE "${PROJECT_SOURCE_DIR}/docs/examples" TARGETS ${examples})
prismfield_add_command_test(
  library_page DEVICE
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/package/check_library_doc.py" "${PROJECT_SOURCE_DIR}/docs/library.md"
          "${PROJECT_SOURCE_DIR}/docs/examples" "${CMAKE_CURRENT_BINARY_DIR}/package/examples/build" ${mpirun})
set_property(TEST library_page APPEND PROPERTY FIXTURES_REQUIRED package_examples)
# Under the address sanitizer: what MPI libraries leave behind at the end is not ours.
set(with_mpi library_page)
if(PRISMFIELD_ENABLE_MPI)
  list(APPEND with_mpi package_examples_own_mpi_runs)
endif()
set_property(TEST ${with_mpi} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
