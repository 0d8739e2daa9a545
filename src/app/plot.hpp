// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "app/cli.hpp"

namespace prismfield {

class Communicator;

/// Draws a result, a model of an inversion, a table or another format's file of either. An older figure of that name is
/// replaced by the complete new one. Throws AgreedFailure: InputError for what cannot be drawn or written to, RunError
/// where no Python draws. Collective.
void plot_command(const PlotOptions& options, const Communicator& communicator);

}  // namespace prismfield
