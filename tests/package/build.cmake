# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Makes the outside program SOURCE in CONSUMER: against BUILD, installed into PREFIX, both cleared before so that a file
# that is no longer installed is not found; or with the sources PRISMFIELD_SOURCE as a part of it.
file(REMOVE_RECURSE "${PREFIX}" "${CONSUMER}")
set(where "-DPRISMFIELD_SOURCE=${PRISMFIELD_SOURCE}" -DPRISMFIELD_ENABLE_MPI=OFF -DCMAKE_UNITY_BUILD=ON)
if(NOT PRISMFIELD_SOURCE)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" COMMAND_ERROR_IS_FATAL ANY)
  set(where)
endif()
separate_arguments(TARGETS)
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${CONSUMER}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX};${SEARCH}"
    "-DKokkos_DIR=${Kokkos_DIR}" "-DKokkosKernels_DIR=${KokkosKernels_DIR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    ${where} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${CONSUMER}" --parallel ${JOBS} --target ${TARGETS}
                COMMAND_ERROR_IS_FATAL ANY)
