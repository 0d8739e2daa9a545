// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include "engine/kokkos_engine.hpp"
#include "engine/kokkos_operator_engine.hpp"

namespace prismfield {

/// Taking the addresses of the functions of a space and arithmetic instantiates them.
template <class Space, class Arithmetic>
struct KokkosInstances {
  static constexpr auto engine = &make_kokkos_engine<Space, Arithmetic>;
  static constexpr auto memory = &kokkos_engine_memory<Space, Arithmetic>;
  static constexpr auto operators = &make_operator_engine<Space, Arithmetic>;
};

}  // namespace prismfield
