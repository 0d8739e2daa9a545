# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# What reading and writing files needs beside prismfield::core, found and never fetched.

# Sets prismfield_has_<name>: whether PRISMFIELD_ENABLE_<PACKAGE> asks for a package and it is there, in this version or
# a newer one, and adds it to prismfield_optional_libraries then.
macro(prismfield_optional_dependency name package target version)
  set(prismfield_has_${name} OFF)
  if(PRISMFIELD_ENABLE_${package})
    find_package(${package} CONFIG QUIET)
    if(${package}_FOUND AND TARGET ${target} AND ${package}_VERSION VERSION_GREATER_EQUAL ${version})
      set(prismfield_has_${name} ON)
      list(APPEND prismfield_optional_libraries ${target})
      message(STATUS "Found ${package}: ${${package}_VERSION}")
    else()
      message(STATUS "Not found: ${package} ${version} or newer; built without")
    endif()
  endif()
endmacro()

find_package(HDF5 1.10 REQUIRED COMPONENTS C HL)
if(HDF5_IS_PARALLEL AND NOT PRISMFIELD_ENABLE_MPI)
  message(FATAL_ERROR "The HDF5 found needs MPI, but PRISMFIELD_ENABLE_MPI is OFF: name a serial HDF5 by HDF5_ROOT")
endif()
find_package(yaml-cpp REQUIRED)
# yaml-cpp 0.8 put its target into a namespace.
if(TARGET yaml-cpp::yaml-cpp)
  set(prismfield_yaml_cpp yaml-cpp::yaml-cpp)
else()
  set(prismfield_yaml_cpp yaml-cpp)
endif()
# For what files say of a case's coordinate reference system, of which they give the name alone without it.
prismfield_optional_dependency(proj PROJ PROJ::proj 7.2)
# For digital elevation models in GeoTIFF.
prismfield_optional_dependency(gdal GDAL GDAL::GDAL 3.0)
find_package(xxHash 0.8 REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
