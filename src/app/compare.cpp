// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <iostream>

#include "app/commands.hpp"
#include "base/human_text.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "readers/compare_results.hpp"

namespace prismfield {

ProgramEnd execute(const CompareOptions& options, const std::vector<std::string>& /*kokkos_options*/,
                   const Communicator& communicator) {
  ExitCode code = exit_done;
  agree(communicator, [&] {
    if (communicator.rank() != 0) return;
    const Comparison comparison = compare_results(options.a, options.b, options.match);
    if (options.tolerance && !within(comparison, *options.tolerance)) code = exit_outside;
    if (!comparison.too_little.empty()) code = exit_outside;
    if (!options.quiet) std::cout << report(comparison, options.tolerance) << std::flush;
    if (!comparison.too_little.empty()) std::cerr << "error: " << shown(comparison.too_little) << std::endl;
  });
  // nodes may see different files, but a run ends with one code
  broadcast(communicator, code);
  return {code, {}};
}

}  // namespace prismfield
