// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <optional>

#include <prismfield/error.hpp>
#include <prismfield/invert.hpp>

namespace prismfield::testing {

/// Keeps the state of one moment, and stops there.
class StopAt final : public InversionObserver {
public:
  explicit StopAt(int states) : m_left(states) {}
  void state(const InversionState& state) override {
    if (--m_left > 0) return;
    kept = state;
    throw Stopped();
  }
  std::optional<InversionState> kept;

private:
  int m_left;
};

}  // namespace prismfield::testing
