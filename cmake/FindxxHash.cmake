# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# The header of xxHash, which is compiled in: Debian's package brings no CMake files, and no library
# is linked. Makes the target xxHash::header.
find_path(xxHash_INCLUDE_DIR xxhash.h)
mark_as_advanced(xxHash_INCLUDE_DIR)
if(xxHash_INCLUDE_DIR)
  set(xxHash_VERSION "")
  file(STRINGS "${xxHash_INCLUDE_DIR}/xxhash.h" xxHash_lines REGEX "#define XXH_VERSION_(MAJOR|MINOR|RELEASE) ")
  foreach(line IN LISTS xxHash_lines)
    string(REGEX MATCH "[0-9]+" xxHash_number "${line}")
    list(APPEND xxHash_VERSION ${xxHash_number})
  endforeach()
  list(JOIN xxHash_VERSION "." xxHash_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  xxHash
  REQUIRED_VARS xxHash_INCLUDE_DIR
  VERSION_VAR xxHash_VERSION)
if(xxHash_FOUND AND NOT TARGET xxHash::header)
  add_library(xxHash::header INTERFACE IMPORTED)
  target_include_directories(xxHash::header SYSTEM INTERFACE "${xxHash_INCLUDE_DIR}")
  # Its functions become part of the source that includes it.
  target_compile_definitions(xxHash::header INTERFACE XXH_INLINE_ALL)
endif()
