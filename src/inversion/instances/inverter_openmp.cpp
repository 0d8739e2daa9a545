// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "inversion/inverter_on_space.hpp"

namespace prismfield {

template InversionOutcome invert_on<Kokkos::OpenMP>(const Kokkos::OpenMP&, const InversionInput&, const Communicator&,
                                                    InversionObserver&, const InversionState*);

}  // namespace prismfield
