// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <string>

#include <prismfield/error.hpp>
#include <prismfield/request.hpp>

#include "engine/engine.hpp"

namespace prismfield {

/// The key of an execution space that was built. With OpenMP, serial is one thread of OpenMP.
template <class ExecutionSpace>
inline constexpr Space space_key = Space::automatic;
#if defined(KOKKOS_ENABLE_CUDA)
template <>
inline constexpr Space space_key<Kokkos::Cuda> = Space::cuda;
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
inline constexpr Space space_key<Kokkos::HIP> = Space::hip;
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
template <>
inline constexpr Space space_key<Kokkos::OpenMP> = Space::openmp;
#else
template <>
inline constexpr Space space_key<Kokkos::Serial> = Space::serial;
#endif

/// The key of a space instance. `asked`: the request's.
template <class ExecutionSpace>
[[nodiscard]] Space key_of(const ExecutionSpace& space, Space asked) {
  constexpr Space key = space_key<ExecutionSpace>;
  return key == Space::openmp && asked == Space::serial && space.concurrency() == 1 ? asked : key;
}

/// PRISMFIELD_FOR_EACH_SPACE(X): X(space) for the compiled spaces, those of Kokkos without Serial where there is
/// OpenMP. Sources with bodies of templates end with it. PRISMFIELD_FOR_EACH_HOST_SPACE and
/// PRISMFIELD_FOR_EACH_CUDA_SPACE cover these alone. PRISMFIELD_FEW_INSTANCES omits instances that differ in numbers
/// only, so that a compiler checks every kernel in little time (.ci/device).
#if defined(KOKKOS_ENABLE_OPENMP)
#define PRISMFIELD_FOR_EACH_HOST_SPACE(X) X(Kokkos::OpenMP)
#else
#define PRISMFIELD_FOR_EACH_HOST_SPACE(X) X(Kokkos::Serial)
#endif
#if defined(KOKKOS_ENABLE_CUDA)
#define PRISMFIELD_FOR_EACH_CUDA_SPACE(X) X(Kokkos::Cuda)
#else
#define PRISMFIELD_FOR_EACH_CUDA_SPACE(X)
#endif
#if defined(KOKKOS_ENABLE_HIP)
#define PRISMFIELD_FOR_EACH_HIP_SPACE(X) X(Kokkos::HIP)
#else
#define PRISMFIELD_FOR_EACH_HIP_SPACE(X)
#endif
#define PRISMFIELD_FOR_EACH_SPACE(X) \
  PRISMFIELD_FOR_EACH_HOST_SPACE(X) PRISMFIELD_FOR_EACH_CUDA_SPACE(X) PRISMFIELD_FOR_EACH_HIP_SPACE(X)

/// Calls f with an instance of the space that a key names. Throws InputError when it was not built.
template <class F>
auto with_space(Space space, const F& f) {
  if (space == Space::automatic) space = built_spaces().front();
#if defined(KOKKOS_ENABLE_CUDA)
  if (space == Space::cuda) return f(Kokkos::Cuda());
#endif
#if defined(KOKKOS_ENABLE_HIP)
  if (space == Space::hip) return f(Kokkos::HIP());
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  if (space == Space::openmp) return f(Kokkos::OpenMP());
  if (space == Space::serial) return f(Kokkos::OpenMP(1));
#else
  if (space == Space::serial) return f(Kokkos::Serial());
#endif
  std::string built;
  for (const Space s : built_spaces()) {
    built += built.empty() ? "" : ", ";
    built += name(s);
  }
  throw InputError("", "execution.space", "this program was built without that space; built in: " + built);
}

}  // namespace prismfield
