// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <utility>

namespace prismfield {

/// What the program's exit codes mean.
inline constexpr std::pair<const char*, const char*> exit_codes[] = {
    {"0", "done"},
    {"1", "a failure while running, or an inversion that cannot reach its target"},
    {"2", "an error in the input or the arguments, and nothing was written"},
    {"3", "compare: outside its tolerance, or too little in common"},
    {"130", "stopped by a signal, with nothing half-written; --resume goes on from the checkpoint where there is one"}};

}  // namespace prismfield
