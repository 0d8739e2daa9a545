// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/inverter.hpp"

#include <cstddef>

#include "engine/instances/with_space.hpp"
#include "parallel/agreement.hpp"

namespace prismfield {

InversionOutcome invert(const InversionInput& input, const Communicator& communicator, InversionObserver* observer,
                        const InversionState* resume) {
  agree_on_input(communicator, [&] { check_input(input); });
  InversionInput filled;
  const bool is_filled = input.reference.empty();
  if (is_filled) {
    filled = input;
    filled.reference.assign(static_cast<std::size_t>(components(input.settings.unknown) * input.cells->size()), 0);
  }
  InversionObserver nobody;
  InversionObserver& told = observer != nullptr ? *observer : nobody;
  return with_space(input.request.execution.space, [&](const auto& space) {
    return invert_on(space, is_filled ? filled : input, communicator, told, resume);
  });
}

}  // namespace prismfield
