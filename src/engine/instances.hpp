// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "engine/engine.hpp"

namespace prismfield {

/// The engine of one execution space and arithmetic, and its memory. Defined in kokkos_engine.hpp and instantiated in
/// one source file a space (a space and arithmetic for devices).
template <class Space, class Arithmetic>
std::unique_ptr<FieldEngine> make_kokkos_engine(const Space& space, const EngineSettings& settings);
template <class Space, class Arithmetic>
EngineMemory kokkos_engine_memory(FieldSet set);

}  // namespace prismfield
