// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_instances.hpp"

namespace prismfield {

template struct KokkosInstances<Kokkos::HIP, kernel::SingleArithmetic>;

}  // namespace prismfield
