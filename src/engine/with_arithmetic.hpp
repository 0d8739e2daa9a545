// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <prismfield/request.hpp>

#include "kernel/prepared_prism.hpp"

namespace prismfield {

/// Calls f with the arithmetic that a precision stands for.
template <class F>
auto with_arithmetic(Precision precision, const F& f) {
  switch (precision) {
    case Precision::mixed: return f(kernel::MixedArithmetic());
    case Precision::single: return f(kernel::SingleArithmetic());
    case Precision::double_: break;
  }
  return f(kernel::DoubleArithmetic());
}

}  // namespace prismfield
