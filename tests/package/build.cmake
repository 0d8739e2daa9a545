# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Installs BUILD into PREFIX, both cleared before so that a file that is no longer installed is not found, and makes the
# outside program SOURCE in CONSUMER against it.
file(REMOVE_RECURSE "${PREFIX}" "${CONSUMER}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${CONSUMER}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX};${SEARCH}"
          "-DKokkos_DIR=${Kokkos_DIR}" "-DKokkosKernels_DIR=${KokkosKernels_DIR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
          "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${CONSUMER}" COMMAND_ERROR_IS_FATAL ANY)
