// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/figure.hpp"

#include <fmt/format.h>

#include <prismfield/error.hpp>

#include "app/figure_script.hpp"
#include "app/python_script.hpp"
#include "base/temporary_file.hpp"

namespace prismfield {

std::string draw_by_script(std::string_view text, const std::filesystem::path& file,
                           const std::filesystem::path& figure) {
  const PythonScript script{text, "xarray and matplotlib", "python3-xarray, python3-netcdf4 and python3-matplotlib"};
  const std::string why = run_python_script(script, {file.string(), figure.string()});
  return why.empty() ? "" : fmt::format("no figure {}: {}", figure.string(), why);
}

std::string draw_figure(const std::filesystem::path& result, const std::filesystem::path& figure) {
  return draw_by_script(figure_script, result, figure);
}

std::string draw_result(const ResultHeader& header, const Points& points, const Fields& result,
                        const std::filesystem::path& figure) {
  if (result_kind(header.file) == ResultKind::hdf5) return draw_figure(header.file, figure);
  try {
    const TemporaryFile gone_afterwards(figure);
    ResultHeader as_netcdf = header;
    as_netcdf.file = gone_afterwards.name();
    static_cast<void>(write_result(as_netcdf, points, result, {}));
    return draw_figure(as_netcdf.file, figure);
  } catch (const RunError& error) {
    return fmt::format("no figure {}: {}", figure.string(), error.what());
  }
}

}  // namespace prismfield
