# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Writes the header with version and git hash; run at every build, it touches the header only when something changed.
# Arguments: SOURCE_DIR, INPUT, OUTPUT, PROJECT_VERSION, GIT_EXECUTABLE (may be empty).
set(PRISMFIELD_GIT_HASH "unknown")
# A source archive unpacked inside somebody else's repository must not take that repository's hash.
if(GIT_EXECUTABLE AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -c "safe.directory=${SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE hash
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0 AND hash)
    set(PRISMFIELD_GIT_HASH "${hash}")
  endif()
endif()
configure_file("${INPUT}" "${OUTPUT}" @ONLY)
