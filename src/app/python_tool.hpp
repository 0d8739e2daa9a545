// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace prismfield {

/// A tool of the Python package that is installed with this program, and what it needs.
struct PythonTool {
  /// as python/__main__.py knows it: "figures.fields"
  std::string name;
  /// modules by the names in error messages, "matplotlib and netCDF4 or h5py"
  std::string modules;
  /// Debian's packages of them, "python3-netcdf4 and python3-matplotlib"
  std::string packages;
};

/// What became of a tool.
struct ToolOutcome {
  /// "", or why it did not do its work
  std::string why;
  /// the command that was tried last
  std::vector<std::string> words;
  /// no Python has the modules
  bool lacks_module = false;
  /// it ran to its end, with this exit code
  bool exited = false;
  int code = 0;
  /// what it wrote to standard output and standard error
  std::string output, errors;
};

/// Runs the tool with these arguments by the first of $PRISMFIELD_PYTHON, python3, /usr/bin/python3 that has its
/// modules: a tool ends with 77 if one is missing. No shell sees the arguments, and nothing is written beside the
/// package. `watch` is called several times a second with the last line of standard error. Throws nothing if there is
/// no Python or no package.
[[nodiscard]] ToolOutcome run_python_tool(const PythonTool& tool, const std::vector<std::string>& arguments,
                                          const std::function<void(const std::string&)>& watch = {});

}  // namespace prismfield
