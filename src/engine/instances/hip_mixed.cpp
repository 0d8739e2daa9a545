// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_engine.hpp"
#include "engine/kokkos_operator_engine.hpp"

namespace prismfield {

template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::HIP, kernel::MixedArithmetic>(const Kokkos::HIP&,
                                                                                               const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::HIP, kernel::MixedArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::HIP>> make_operator_engine<Kokkos::HIP, kernel::MixedArithmetic>(
    const EngineSettings&);

}  // namespace prismfield
