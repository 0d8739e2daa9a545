# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
include(CMakePackageConfigHelpers)

set(prismfield_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/prismfield")

install(
  TARGETS prismfield_core
  EXPORT prismfieldCore
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(
  EXPORT prismfieldCore
  NAMESPACE prismfield::
  DESTINATION "${prismfield_cmake_dir}")
if(NOT PRISMFIELD_ENABLE_MPI)
  set(prismfield_headers_without PATTERN communicator_mpi.hpp EXCLUDE)
endif()
install(DIRECTORY include/prismfield DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${prismfield_headers_without})
if(PRISMFIELD_BUILD_FILES)
  install(
    TARGETS prismfield_files
    EXPORT prismfieldFiles
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(
    EXPORT prismfieldFiles
    NAMESPACE prismfield::
    DESTINATION "${prismfield_cmake_dir}")
endif()
if(PRISMFIELD_BUILD_PROGRAM)
  install(TARGETS prismfield RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

set(prismfield_hdf5_is_parallel OFF)
if(HDF5_IS_PARALLEL)
  set(prismfield_hdf5_is_parallel ON)
endif()
configure_package_config_file(cmake/prismfieldConfig.cmake.in "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake"
                              INSTALL_DESTINATION "${prismfield_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake" "${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake"
        cmake/dependencies.cmake
  DESTINATION "${prismfield_cmake_dir}")

if(PRISMFIELD_BUILD_PROGRAM)
  include("${PROJECT_SOURCE_DIR}/cmake/deploy/modules/install.cmake")
endif()
