# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# The header of pocketfft's C++ branch, which is compiled in: Debian has no package of it; bootstrap.sh takes it out of
# the source archive of numpy. Makes the target Pocketfft::header.
find_path(Pocketfft_INCLUDE_DIR pocketfft_hdronly.h HINTS "${PROJECT_SOURCE_DIR}/build/dependencies/pocketfft")
mark_as_advanced(Pocketfft_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Pocketfft REQUIRED_VARS Pocketfft_INCLUDE_DIR)
if(Pocketfft_FOUND AND NOT TARGET Pocketfft::header)
  add_library(Pocketfft::header INTERFACE IMPORTED)
  target_include_directories(Pocketfft::header SYSTEM INTERFACE "${Pocketfft_INCLUDE_DIR}")
endif()
