// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/kokkos_engine.hpp"
#include "engine/kokkos_operator_engine.hpp"

namespace prismfield {

template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::Serial, kernel::DoubleArithmetic>(
    const Kokkos::Serial&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::Serial, kernel::DoubleArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::Serial>> make_operator_engine<Kokkos::Serial, kernel::DoubleArithmetic>(
    const EngineSettings&);
template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::Serial, kernel::MixedArithmetic>(
    const Kokkos::Serial&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::Serial, kernel::MixedArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::Serial>> make_operator_engine<Kokkos::Serial, kernel::MixedArithmetic>(
    const EngineSettings&);
template std::unique_ptr<FieldEngine> make_kokkos_engine<Kokkos::Serial, kernel::SingleArithmetic>(
    const Kokkos::Serial&, const EngineSettings&);
template EngineMemory kokkos_engine_memory<Kokkos::Serial, kernel::SingleArithmetic>(FieldSet);
template std::unique_ptr<OperatorEngine<Kokkos::Serial>> make_operator_engine<Kokkos::Serial, kernel::SingleArithmetic>(
    const EngineSettings&);

}  // namespace prismfield
