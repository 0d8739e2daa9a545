# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Installs the build, makes an outside program against what was installed, and runs it.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(package_consumer "${CMAKE_CURRENT_BINARY_DIR}/package/consumer")

add_test(
  NAME package_consumer_builds
  COMMAND
    "${CMAKE_COMMAND}" "-DBUILD=${PROJECT_BINARY_DIR}" "-DPREFIX=${CMAKE_CURRENT_BINARY_DIR}/package/prefix"
    "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/package" "-DCONSUMER=${package_consumer}" "-DGENERATOR=${CMAKE_GENERATOR}"
    "-DSEARCH=${CMAKE_PREFIX_PATH}" "-DKokkos_DIR=${Kokkos_DIR}" "-DKokkosKernels_DIR=${KokkosKernels_DIR}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DFLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}" -P
    "${CMAKE_CURRENT_SOURCE_DIR}/package/build.cmake")
set_tests_properties(package_consumer_builds PROPERTIES FIXTURES_SETUP package_consumer TIMEOUT 300)

prismfield_add_command_test(package_consumer_runs DEVICE COMMAND "${package_consumer}/consumer")
set_tests_properties(package_consumer_runs PROPERTIES FIXTURES_REQUIRED package_consumer)
