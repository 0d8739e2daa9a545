# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
include(CMakePackageConfigHelpers)

set(prismfield_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/prismfield")

set(prismfield_libraries prismfield_core)
if(PRISMFIELD_BUILD_CAPI)
  list(APPEND prismfield_libraries prismfield_c)
endif()
install(
  TARGETS ${prismfield_libraries}
  EXPORT prismfieldCore
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(
  EXPORT prismfieldCore
  NAMESPACE prismfield::
  DESTINATION "${prismfield_cmake_dir}")
if(NOT PRISMFIELD_ENABLE_MPI)
  set(prismfield_headers_without PATTERN communicator_mpi.hpp EXCLUDE)
endif()
install(DIRECTORY include/prismfield DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${prismfield_headers_without})
if(PRISMFIELD_BUILD_PROGRAM)
  install(TARGETS prismfield RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file(cmake/prismfieldConfig.cmake.in "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake"
                              INSTALL_DESTINATION "${prismfield_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/prismfieldConfig.cmake" "${PROJECT_BINARY_DIR}/prismfieldConfigVersion.cmake"
        cmake/dependencies.cmake cmake/cuda13_compatibility.hpp
  DESTINATION "${prismfield_cmake_dir}")

install(FILES LICENSE THIRD_PARTY.md CHANGELOG.md CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(PRISMFIELD_BUILD_PROGRAM)
  # As they lie in the sources, so that the pages' links, and the files that they name, are there.
  install(FILES README.md CONTRIBUTING.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(FILES perf/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/perf")
  install(DIRECTORY cmake/deploy/spack DESTINATION "${CMAKE_INSTALL_DOCDIR}/cmake/deploy")
  install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(
    DIRECTORY inputs
    DESTINATION "${CMAKE_INSTALL_DATADIR}/prismfield"
    USE_SOURCE_PERMISSIONS)
  # The program finds it from its own folder, so the place depends on nothing else.
  cmake_path(SET prismfield_python_dir NORMALIZE "${CMAKE_INSTALL_BINDIR}/../share/prismfield/python")
  install(
    DIRECTORY python/
    DESTINATION "${prismfield_python_dir}"
    PATTERN tests EXCLUDE
    PATTERN cuda EXCLUDE
    PATTERN __pycache__ EXCLUDE
    PATTERN CMakeLists.txt EXCLUDE)
  # bash-completion looks for them here, zsh in site-functions.
  install(
    FILES cmake/completion/prismfield.bash
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
    RENAME prismfield)
  install(FILES cmake/completion/_prismfield DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  # By the program itself, which cannot run where it was built for another machine, or for a GPU whose driver is missing.
  install(
    CODE "
      set(page \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/prismfield.1\")
      execute_process(COMMAND \"$<TARGET_FILE:prismfield>\" help --man RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_QUIET)
      if(code EQUAL 0)
        message(STATUS \"Installing: \${page}\")
        file(WRITE \"\${page}\" \"\${text}\")
      else()
        message(STATUS \"No man page: the program does not run here\")
      endif()")
  include("${PROJECT_SOURCE_DIR}/cmake/deploy/modules/install.cmake")
endif()
