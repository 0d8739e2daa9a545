// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_engine.hpp"
#include "engine/kokkos_operator_engine.hpp"

namespace prismfield {

template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::Cuda, kernel::DoubleArithmetic>(const Kokkos::Cuda&,
                                                                                                 const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::Cuda, kernel::DoubleArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::Cuda>> make_operator_engine<Kokkos::Cuda, kernel::DoubleArithmetic>(
    const EngineSettings&);

}  // namespace prismfield
