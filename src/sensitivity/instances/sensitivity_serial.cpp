// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator_on_space.hpp"

namespace prismfield {

template struct SensitivityInstances<Kokkos::Serial>;

}  // namespace prismfield
