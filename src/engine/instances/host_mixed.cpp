// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "kernel/host_tile_instances.hpp"

namespace prismfield::kernel {

template struct HostTileInstances<MixedArithmetic, FieldSet::gz>;
template struct HostTileInstances<MixedArithmetic, FieldSet::vector>;
template struct HostTileInstances<MixedArithmetic, FieldSet::tensor>;
template struct HostTileInstances<MixedArithmetic, FieldSet::vector_tensor>;
template struct HostTileInstances<MixedArithmetic, FieldSet::all>;

}  // namespace prismfield::kernel
