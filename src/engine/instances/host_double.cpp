// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "kernel/host_tile_instances.hpp"

namespace prismfield::kernel {

template struct HostTileInstances<DoubleArithmetic, FieldSet::gz>;
template struct HostTileInstances<DoubleArithmetic, FieldSet::vector>;
template struct HostTileInstances<DoubleArithmetic, FieldSet::tensor>;
template struct HostTileInstances<DoubleArithmetic, FieldSet::vector_tensor>;
template struct HostTileInstances<DoubleArithmetic, FieldSet::all>;

}  // namespace prismfield::kernel
