// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/compare.hpp"

#include <iostream>

#include <prismfield/communicator.hpp>

#include "parallel/agreement.hpp"
#include "study/compare.hpp"

namespace prismfield {

ExitCode compare_command(const CompareOptions& options, const Communicator& communicator) {
  ExitCode code = exit_done;
  agree(communicator, [&] {
    const Comparison comparison = compare_results(options.a, options.b);
    if (options.tolerance && !within(comparison, *options.tolerance)) code = exit_outside;
    if (!comparison.nothing_compared.empty()) code = exit_outside;
    if (communicator.rank() != 0) return;
    if (!options.quiet) std::cout << report(comparison, options.tolerance) << std::flush;
    if (!comparison.nothing_compared.empty()) std::cerr << "error: " << comparison.nothing_compared << std::endl;
  });
  return code;
}

}  // namespace prismfield
