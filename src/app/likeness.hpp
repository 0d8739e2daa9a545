// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <vector>

namespace prismfield {

class Communicator;
struct Case;

/// Throws AgreedFailure on every rank, with code 2 and a message on rank 0, unless all run the same program with the
/// same `arguments`; Kokkos' own options may differ. Comes first: what ranks do next, their arguments decide.
/// Collective.
void agree_on_program(const std::vector<std::string>& arguments, const Communicator& communicator);

/// The same for the text of a case, --set applied. Collective.
void agree_on_case(const Case& run, const Communicator& communicator);

}  // namespace prismfield
