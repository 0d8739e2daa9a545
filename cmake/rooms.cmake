# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# A target a room. What a room may include is what its target can see: every room has an include root of its own, a
# folder with one link <room> to the sources and links prismfield/<header> to the public headers of that room, and a
# target is given only the roots of the rooms that it may use. Any other include is a file that is not found.
set(prismfield_rooms_dir "${PROJECT_BINARY_DIR}/rooms")
# Source by source a test that launches nothing links no Kokkos, and runs where the GPU's driver library is missing.
if(PRISMFIELD_BUILD_TESTS AND (Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP))
  set(CMAKE_UNITY_BUILD OFF)
endif()

# Makes a link where there is none yet, or one that leads elsewhere.
function(prismfield_link target link)
  if(IS_SYMLINK "${link}")
    file(READ_SYMLINK "${link}" leads_to)
    if(leads_to STREQUAL target)
      return()
    endif()
  endif()
  cmake_path(GET link PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${target}" "${link}" SYMBOLIC)
endfunction()

# Makes the links of a folder to public headers, and removes those of headers that are no longer named.
function(prismfield_link_headers folder)
  file(GLOB before "${folder}/*.hpp")
  foreach(link IN LISTS before)
    cmake_path(GET link FILENAME header)
    if(NOT header IN_LIST ARGN)
      file(REMOVE "${link}")
    endif()
  endforeach()
  foreach(header IN LISTS ARGN)
    prismfield_link("${PROJECT_SOURCE_DIR}/include/prismfield/${header}" "${folder}/${header}")
  endforeach()
endfunction()

# prismfield_room(<room> [SOURCES file...] [KOKKOS_SOURCES file...] [APART file...] [USES room...] [LIBRARIES target...]
#                 [PUBLIC_HEADERS header...] [BORROWED_HEADERS header...] [PART_OF room] [FOLDER folder] [LIGHT])
#
# prismfield_<room>: the objects of SOURCES, plain C++ with LIBRARIES. prismfield_<room>_kokkos: those of KOKKOS_SOURCES,
# which include Kokkos; with CUDA, Kokkos' launcher sends every source of a target that links Kokkos through nvcc, so
# that nothing else belongs there. They are compiled as one, since most of the time goes into what all include and
# instantiate; those APART, which take long, by themselves. prismfield_<room>_reach: what may be included, USES without the rooms that those use.
# PUBLIC_HEADERS: those of include/prismfield that belong to the room. BORROWED_HEADERS: single ones of other rooms.
# PART_OF: some sources of another room, which may use more than the others. FOLDER: of the room in src, where that is not
# its name. LIGHT: SOURCES in which a run spends no time
# that matters, optimised less.
function(prismfield_room room)
  cmake_parse_arguments(
    PARSE_ARGV 1 arg "LIGHT" "PART_OF;FOLDER" "SOURCES;KOKKOS_SOURCES;APART;USES;LIBRARIES;PUBLIC_HEADERS;BORROWED_HEADERS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "prismfield_room(${room}): ${arg_UNPARSED_ARGUMENTS}?")
  endif()
  set(folder "${room}")
  set(own "${room}")
  if(arg_PART_OF)
    set(folder "${arg_PART_OF}")
    set(own "${arg_PART_OF}")
  elseif(arg_FOLDER)
    set(folder "${arg_FOLDER}")
  endif()
  set(sources "${PROJECT_SOURCE_DIR}/src/${folder}")
  list(TRANSFORM arg_SOURCES PREPEND "${sources}/" REGEX "^[^/]")
  list(TRANSFORM arg_KOKKOS_SOURCES PREPEND "${sources}/" REGEX "^[^/]")

  set(reach prismfield_${room}_reach)
  add_library(${reach} INTERFACE)
  target_compile_features(${reach} INTERFACE cxx_std_20)
  if(NOT arg_PART_OF)
    set(root "${prismfield_rooms_dir}/${room}")
    prismfield_link("${sources}" "${root}/${folder}")
    prismfield_link_headers("${root}/prismfield" ${arg_PUBLIC_HEADERS})
    set_property(GLOBAL APPEND PROPERTY PRISMFIELD_ROOMS ${room})
    set_property(GLOBAL APPEND PROPERTY PRISMFIELD_PUBLIC_HEADERS ${arg_PUBLIC_HEADERS})
    set_property(GLOBAL PROPERTY PRISMFIELD_PUBLIC_HEADERS_OF_${room} ${arg_PUBLIC_HEADERS})
    set_property(GLOBAL PROPERTY PRISMFIELD_ROOMS_USED_BY_${room} ${arg_USES})
  endif()
  foreach(used IN ITEMS ${own} LISTS arg_USES)
    target_include_directories(${reach} INTERFACE "${prismfield_rooms_dir}/${used}")
    if(EXISTS "${prismfield_rooms_dir}/${used}/generated")
      target_include_directories(${reach} INTERFACE "${prismfield_rooms_dir}/${used}/generated")
    endif()
  endforeach()
  if(arg_BORROWED_HEADERS)
    prismfield_link_headers("${prismfield_rooms_dir}/${room}/borrowed/prismfield" ${arg_BORROWED_HEADERS})
    target_include_directories(${reach} INTERFACE "${prismfield_rooms_dir}/${room}/borrowed")
  endif()

  if(arg_SOURCES)
    add_library(prismfield_${room} OBJECT ${arg_SOURCES})
    target_link_libraries(prismfield_${room} PRIVATE ${reach} ${arg_LIBRARIES} prismfield_warnings)
    if(arg_LIGHT)
      # Compiled in nearly half the time of -O2; a table of 800,000 prisms is read as fast.
      target_compile_options(prismfield_${room} PRIVATE $<$<CONFIG:Release>:-Og>)
      prismfield_precompile(prismfield_${room} light)
    elseif("fmt::fmt" IN_LIST arg_LIBRARIES)
      prismfield_precompile(prismfield_${room} plain)
    endif()
    set_target_properties(prismfield_${room} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    add_dependencies(prismfield_${room} prismfield_version)
  endif()
  if(arg_KOKKOS_SOURCES)
    add_library(prismfield_${room}_kokkos OBJECT ${arg_KOKKOS_SOURCES})
    set_target_properties(prismfield_${room}_kokkos PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    list(TRANSFORM arg_APART PREPEND "${sources}/")
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(prismfield_${room}_kokkos PRIVATE ${reach} Kokkos::kokkos Kokkos::kokkoskernels
                                                            prismfield_kernel_options)
    target_compile_options(prismfield_${room}_kokkos PRIVATE ${prismfield_optimised})
    prismfield_precompile(prismfield_${room}_kokkos kokkos)
    set_target_properties(prismfield_${room}_kokkos PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

# prismfield_library(<name> ROOMS room...): the static library prismfield_<name>, as prismfield::<name>, of these rooms.
function(prismfield_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS")
  set(objects)
  foreach(room IN LISTS arg_ROOMS)
    foreach(target IN ITEMS prismfield_${room} prismfield_${room}_kokkos)
      if(TARGET ${target})
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
      endif()
    endforeach()
  endforeach()
  add_library(prismfield_${name} STATIC ${objects})
  add_library(prismfield::${name} ALIAS prismfield_${name})
  set_target_properties(prismfield_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
  target_compile_features(prismfield_${name} PUBLIC cxx_std_20)
endfunction()

# Every public header belongs to one room.
function(prismfield_check_public_headers)
  get_property(named GLOBAL PROPERTY PRISMFIELD_PUBLIC_HEADERS)
  file(GLOB headers RELATIVE "${PROJECT_SOURCE_DIR}/include/prismfield" CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/include/prismfield/*.hpp")
  foreach(header IN LISTS headers)
    if(NOT header IN_LIST named)
      message(FATAL_ERROR "include/prismfield/${header} belongs to no room: name it in src/CMakeLists.txt")
    endif()
  endforeach()
endfunction()
