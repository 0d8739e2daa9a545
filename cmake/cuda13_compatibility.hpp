// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// Two CUDA runtime calls as Kokkos before 4.7.01 writes them, for CUDA 13, which changed their signatures.
// Force-included when such a Kokkos is built or its headers are used; empty in every other case.
#ifndef PRISMFIELD_CUDA13_COMPATIBILITY_HPP
#define PRISMFIELD_CUDA13_COMPATIBILITY_HPP

#ifdef __cplusplus
#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>

#include <cstddef>

#if CUDART_VERSION >= 13000
/// The call without edge data.
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            std::size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

/// The call with a device number, or cudaCpuDeviceId, instead of a location.
inline cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t bytes, int device, cudaStream_t stream) {
  cudaMemLocation location{};
  const bool host = device == cudaCpuDeviceId;
  location.type = host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = host ? 0 : device;
  return cudaMemPrefetchAsync(memory, bytes, location, 0, stream);
}
#endif

#endif
#endif

#endif
