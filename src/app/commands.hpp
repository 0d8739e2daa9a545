// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// How the program ends.
struct ProgramEnd {
  ExitCode code = exit_done;
  /// the program, with its arguments, that takes the place of this process; none: empty
  std::vector<std::string> successor;
};

// What each command does. Rank 0 writes results to standard output, progress and warnings to standard error. Throws
// AgreedFailure when a step failed, on all ranks alike; anything else comes from one rank alone and the others must be
// aborted. Collective over the communicator.

/// `prismfield run`: reads the case, computes its fields and writes the result, with messages on the way.
[[nodiscard]] ProgramEnd execute(const RunOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield sensitivity`: makes G of a case as its section sensitivity requires, reports its size and the time of
/// products, writes G to sensitivity.file and the fields G m to output.file.
[[nodiscard]] ProgramEnd execute(const SensitivityOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield invert`: reads the case, inverts its data for densities and writes the model, with a line a solution on
/// the way. A model that misses the target is written too, and RunError then says why.
[[nodiscard]] ProgramEnd execute(const InvertOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield compare`: the differences of two results; ends with exit_outside when they are outside the tolerance
/// asked for.
[[nodiscard]] ProgramEnd execute(const CompareOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield study`: the command line of the Python tool that runs the study, or joins reports, in the place of this
/// process. Throws also for more than one rank and where no Python can do it.
[[nodiscard]] ProgramEnd execute(const StudyOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield convert`: reads a file and writes it in another format; what was read and written, with units and axes,
/// goes to standard output.
[[nodiscard]] ProgramEnd execute(const ConvertOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield plot`: draws a result, a model of an inversion, a table or another format's file of either. An older
/// figure of that name is replaced by the complete new one. InputError for what cannot be drawn or written to, RunError
/// where no Python draws.
[[nodiscard]] ProgramEnd execute(const PlotOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);
/// `prismfield info`: versions, execution spaces, devices, SIMD width, compiler and where the ranks run; with --json
/// the same as one JSON document; with --calibrate, in their place, what rank 0 measured of every space, as JSON; with
/// --cases what it says of cases.
[[nodiscard]] ProgramEnd execute(const InfoOptions& options, const std::vector<std::string>& kokkos_options,
                                 const Communicator& communicator);

}  // namespace prismfield
