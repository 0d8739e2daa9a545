// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// What the objects of the readers refer to and no reader calls: a fuzzer is built without Kokkos.

#include <cstdlib>

#include "compute/cost_model.hpp"
#include "compute/method.hpp"
#include "engine/devices.hpp"
#include "engine/engine.hpp"
#include "engine/few_pairs.hpp"

namespace prismfield {

const ForwardMethod tree_method{};
const ForwardMethod fft_method{};

int device_count() { std::abort(); }
std::vector<Space> built_spaces() { std::abort(); }
EngineTraits engine_traits(Space, Precision, FieldList, KernelKind) { std::abort(); }
std::unique_ptr<FieldEngine> make_engine(Space, Precision, FieldList, const EngineSettings&) { std::abort(); }
void sum_few_pairs(FieldList, const PrismColumns&, const PointColumns&, const std::array<double, 3>&, std::span<double>,
                   std::span<double>) {
  std::abort();
}
FormWeights form_weights(bool) { std::abort(); }
double prism_weight(bool, bool) { std::abort(); }
double cost_of_pairs(const FormWeights&, const std::array<std::int64_t, n_forms>&) { std::abort(); }
double cost_of_block(const CostSettings&, const PrismBlock&, std::int64_t, const CostPoints&, std::int64_t) {
  std::abort();
}

}  // namespace prismfield
