# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
include(CMakePackageConfigHelpers)

set(prismfield_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/prismfield")

install(
  TARGETS prismfield_core
  EXPORT prismfieldTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(NOT PRISMFIELD_ENABLE_MPI)
  set(prismfield_headers_without PATTERN communicator_mpi.hpp EXCLUDE)
endif()
install(DIRECTORY include/prismfield DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${prismfield_headers_without})
# until the rooms are apart: what the public headers still lean on
install(DIRECTORY src/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(TARGETS prismfield RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(
  EXPORT prismfieldTargets
  NAMESPACE prismfield::
  DESTINATION "${prismfield_cmake_dir}")

configure_package_config_file(cmake/prismfieldConfig.cmake.in "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake"
                              INSTALL_DESTINATION "${prismfield_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake" "${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake"
        cmake/dependencies.cmake
  DESTINATION "${prismfield_cmake_dir}")

include("${PROJECT_SOURCE_DIR}/cmake/deploy/modules/install.cmake")
