// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>

namespace prismfield {

/// G of prisms on a regular mesh at points commensurate with it (convolution_layout.hpp says which), by fast Fourier
/// transforms, in double. Each of several ranks has the prisms of some layers and all points; the points that
/// execution.partition gives it, where that is not automatic. Errors of fields and of
/// products with the transpose are a few 1e-12 of the largest potential, vector or tensor, as those of the direct
/// operator are of a pair's, and below request.execution.tolerance where points lie at many heights; an entry that is
/// much smaller than the largest one therefore has fewer digits. entries() are those of the direct operator.
///
/// What kernels leave in execution.memory_limit is for their transforms, which are kept from the first product on;
/// those that do not fit are computed anew in each product, for all of its vectors at once. `prisms` must outlive the
/// operator. Throws InputError, by execution.method, where a convolution cannot serve, and otherwise as
/// make_direct_operator(). Collective. For hosts and CUDA.
template <class ExecutionSpace>
[[nodiscard]] std::unique_ptr<Operator<ExecutionSpace>> make_convolution_operator(
    const ExecutionSpace& space, const PrismSource& prisms, const PointColumns& points, const Request& request,
    const Communicator& communicator = {});

}  // namespace prismfield
