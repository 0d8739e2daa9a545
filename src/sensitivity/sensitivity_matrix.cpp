// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/sensitivity_matrix.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield {

std::unique_ptr<SensitivityMatrix> make_sensitivity_matrix(const PrismSource& prisms, const Points& points,
                                                           const Request& request, const StorageSettings& settings,
                                                           const Communicator& communicator) {
  return with_space(request.execution.space, [&](const auto& space) {
    return make_sensitivity_matrix_on<std::decay_t<decltype(space)>>(prisms, points, request, settings, communicator);
  });
}

}  // namespace prismfield
