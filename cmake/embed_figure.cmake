# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Writes ${prismfield_generated_dir}/figure_script.hpp, which holds src/figure.py as a string, so that the program draws
# figures from a build tree and from an install tree alike. Include after prismfield_generated_dir is set.
file(READ "${PROJECT_SOURCE_DIR}/src/figure.py" prismfield_figure_script)
configure_file("${PROJECT_SOURCE_DIR}/src/figure_script.hpp.in" "${prismfield_generated_dir}/figure_script.hpp" @ONLY)
set_property(
  DIRECTORY "${PROJECT_SOURCE_DIR}"
  APPEND
  PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/figure.py")
