# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Writes the header with version and git hash; run at every build, it touches the header only when something changed.
# Arguments: SOURCE_DIR, INPUT, OUTPUT, PROJECT_VERSION, GIT_EXECUTABLE (may be empty).
set(PRISMFIELD_GIT_HASH "unknown")
# " (git HASH)", nothing where it is unknown
set(PRISMFIELD_GIT_WORDS "")
# A source archive unpacked inside somebody else's repository must not take that repository's hash.
if(GIT_EXECUTABLE AND EXISTS "${SOURCE_DIR}/.git")
  # Git reads no clone of another user's, as root meets one in a container, unless a file of its own settings trusts it;
  # `git -c` is not enough for every version of it, nor is a path that leads there by a link.
  get_filename_component(home "${OUTPUT}" DIRECTORY)
  set(home "${home}/git_home")
  file(WRITE "${home}/.gitconfig" "[safe]\n\tdirectory = *\n")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "HOME=${home}" "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=12
            --exclude=*
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE hash
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0 AND hash)
    set(PRISMFIELD_GIT_HASH "${hash}")
    set(PRISMFIELD_GIT_WORDS " (git ${hash})")
  endif()
endif()
configure_file("${INPUT}" "${OUTPUT}" @ONLY)
