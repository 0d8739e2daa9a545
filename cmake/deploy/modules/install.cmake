# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Module files for Lmod (.lua) and Environment Modules, which each take their own from one folder. Written while
# installing, because only then is it known where to: cmake --install ... --prefix DIR.
set(prismfield_module_dir "${CMAKE_INSTALL_DATADIR}/prismfield/modulefiles/prismfield")
foreach(language IN ITEMS lua tcl)
  set(suffix "")
  if(language STREQUAL "lua")
    set(suffix ".lua")
  endif()
  install(
    CODE "
      set(PROJECT_VERSION [==[${PROJECT_VERSION}]==])
      set(PROJECT_DESCRIPTION [==[${PROJECT_DESCRIPTION}]==])
      set(CMAKE_INSTALL_BINDIR [==[${CMAKE_INSTALL_BINDIR}]==])
      set(CMAKE_INSTALL_DATADIR [==[${CMAKE_INSTALL_DATADIR}]==])
      set(file \"${prismfield_module_dir}/${PROJECT_VERSION}${suffix}\")
      message(STATUS \"Installing: \${CMAKE_INSTALL_PREFIX}/\${file}\")
      configure_file([==[${PROJECT_SOURCE_DIR}/cmake/deploy/modules/prismfield.${language}.in]==]
                     \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\" @ONLY)"
    COMPONENT modulefiles)
endforeach()
