# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Every header compiled alone, twice included, so that none leans on what its users included before it.
function(prismfield_add_header_test target)
  set(sources)
  foreach(header IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
    list(APPEND sources "${source}")
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                               "${prismfield_generated_dir}")
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  add_dependencies(${target} prismfield_version)
endfunction()

file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}/src" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.hpp")
file(GLOB public_headers RELATIVE "${PROJECT_SOURCE_DIR}/include" CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/include/prismfield/*.hpp")

if(NOT PRISMFIELD_ENABLE_MPI)
  list(REMOVE_ITEM public_headers prismfield/communicator_mpi.hpp)
endif()

# The rooms as a test: these compile without any Kokkos in reach. Headers that need it say so by including it.
set(kernel_headers)
foreach(header IN LISTS headers)
  file(STRINGS "${PROJECT_SOURCE_DIR}/src/${header}" uses_kokkos
       REGEX "#include <Kokkos_|#include \"(kernel/|engine/staged_|engine/launch|engine/kokkos_)")
  if(uses_kokkos OR header STREQUAL "kernel/simd.hpp")
    list(REMOVE_ITEM headers ${header})
    list(APPEND kernel_headers ${header})
  endif()
endforeach()
prismfield_add_header_test(headers_alone ${public_headers} ${headers})
target_link_libraries(headers_alone PRIVATE prismfield_warnings)
if(PRISMFIELD_ENABLE_MPI)
  target_link_libraries(headers_alone PRIVATE MPI::MPI_C prismfield_mpi_options)
endif()
if(kernel_headers)
  prismfield_add_header_test(kernel_headers_alone ${kernel_headers})
  target_link_libraries(kernel_headers_alone PRIVATE Kokkos::kokkos prismfield_kernel_options)
endif()
