// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "kernel/host_tile_instances.hpp"

namespace prismfield::kernel {

template struct HostTileInstances<SingleArithmetic, FieldSet::gz>;
template struct HostTileInstances<SingleArithmetic, FieldSet::vector>;
template struct HostTileInstances<SingleArithmetic, FieldSet::tensor>;
template struct HostTileInstances<SingleArithmetic, FieldSet::vector_tensor>;
template struct HostTileInstances<SingleArithmetic, FieldSet::all>;

}  // namespace prismfield::kernel
