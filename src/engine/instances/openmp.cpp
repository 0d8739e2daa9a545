// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_engine.hpp"
#include "engine/kokkos_operator_engine.hpp"

namespace prismfield {

template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::OpenMP, kernel::DoubleArithmetic>(
    const Kokkos::OpenMP&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::OpenMP, kernel::DoubleArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::OpenMP>> make_operator_engine<Kokkos::OpenMP, kernel::DoubleArithmetic>(
    const EngineSettings&);
template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::OpenMP, kernel::MixedArithmetic>(
    const Kokkos::OpenMP&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::OpenMP, kernel::MixedArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::OpenMP>> make_operator_engine<Kokkos::OpenMP, kernel::MixedArithmetic>(
    const EngineSettings&);
template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::OpenMP, kernel::SingleArithmetic>(
    const Kokkos::OpenMP&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::OpenMP, kernel::SingleArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::OpenMP>> make_operator_engine<Kokkos::OpenMP, kernel::SingleArithmetic>(
    const EngineSettings&);

}  // namespace prismfield
