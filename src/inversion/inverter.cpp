// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/inverter.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield {

InversionOutcome invert(const InversionInput& input, const Communicator& communicator, InversionObserver* observer,
                        const InversionState* resume) {
  InversionObserver nobody;
  InversionObserver& told = observer != nullptr ? *observer : nobody;
  return with_space(input.request.execution.space, [&](const auto& space) {
    return invert_on<std::decay_t<decltype(space)>>(input, communicator, told, resume);
  });
}

}  // namespace prismfield
