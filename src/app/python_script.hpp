// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace prismfield {

/// A script that this program holds, and what it needs.
struct PythonScript {
  std::string_view text;
  /// modules by the names that a mistake is told by, "matplotlib and netCDF4 or h5py"
  std::string modules;
  /// Debian's packages of them, "python3-netcdf4 and python3-matplotlib"
  std::string packages;
};

/// Runs the script with these arguments by the first of $PRISMFIELD_PYTHON, python3, /usr/bin/python3 that has its
/// modules: a script ends with 77 when one is missing. No shell sees the arguments. Returns "", or why it did not do
/// its work. `watch` is called several times a second with the last line that it wrote. Throws nothing for a Python
/// that is not there.
[[nodiscard]] std::string run_python_script(const PythonScript& script, const std::vector<std::string>& arguments,
                                            const std::function<void(const std::string&)>& watch = {});

}  // namespace prismfield
