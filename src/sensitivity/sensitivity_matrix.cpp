// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/sensitivity_matrix.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield {

SensitivityMatrix::SensitivityMatrix(const PrismSource& prisms, const Points& points, const Request& request,
                                     const StorageSettings& settings, const Communicator& communicator)
    : m_operator(with_space(request.execution.space, [&](const auto& space) {
        return make_host_operator<std::decay_t<decltype(space)>>(prisms, points, request, &settings, communicator,
                                                                 &m_choice);
      })) {}

}  // namespace prismfield
