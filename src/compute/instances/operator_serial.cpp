// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_operator_on_space.hpp"

namespace prismfield {

template class DirectOperator<Kokkos::Serial>;

}  // namespace prismfield
