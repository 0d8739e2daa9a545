// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

namespace prismfield {

/// From here on SIGINT, SIGTERM and SIGUSR1 ask the run to stop instead of ending the process; a second SIGINT ends it
/// at once. Throws RunError when the system refuses.
void catch_interrupts();

/// True once one of the signals has arrived. May be called from any thread.
[[nodiscard]] bool interrupted() noexcept;

/// Throws Stopped when one of the signals has arrived.
void throw_if_interrupted();

}  // namespace prismfield
