// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "study/run_row.hpp"

namespace prismfield {

const char* name(RunKind kind) noexcept {
  switch (kind) {
    case RunKind::reference: return "reference";
    case RunKind::warmup: return "warmup";
    case RunKind::timed: break;
  }
  return "timed";
}

const char* name(RunStatus status) noexcept {
  switch (status) {
    case RunStatus::not_run: return "not run";
    case RunStatus::failed: return "failed";
    case RunStatus::wrong: return "wrong";
    case RunStatus::too_slow: return "too slow";
    case RunStatus::out_of_budget: return "out of budget";
    case RunStatus::ok: break;
  }
  return "ok";
}

}  // namespace prismfield
