// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/compressed_operator_on_space.hpp"

namespace prismfield {

template class CompressedOperator<Kokkos::Serial>;

}  // namespace prismfield
