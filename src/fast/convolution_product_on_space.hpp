// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>

#include "compute/vector_functors.hpp"
#include "engine/staged_prisms.hpp"
#include "fast/convolution_contacts.hpp"
#include "fast/convolution_operator.hpp"
#include "fast/convolution_product.hpp"

/// The body of make_convolution_product_on; instantiated in one source a space.
namespace prismfield {

/// The product of a convolution, once, with the densities, or magnetisation, that the prisms have.
template <class ExecutionSpace>
class ConvolutionProduct final : public fast::ShareProduct {
public:
  ConvolutionProduct(const ExecutionSpace& space, const fast::ProductShare& share, ConvolutionPlan plan)
      : m_space(space),
        m_prisms(share.prisms),
        m_points(share.points),
        m_layout(plan.layout),
        m_set(smallest_set(plan.plan.computed)),
        m_operator(space, share.prisms, std::move(plan), Communicator()) {
    take_densities();
  }

  void compute(const fast::Pause& pause, double* values, double* contact) override {
    add_contacts(*m_layout, m_prisms, m_points, m_set, contact);
    m_operator.set_pause(pause);
    const OnHost<double> on_host(values, static_cast<std::size_t>(m_operator.rows()));
    const auto fields = Kokkos::create_mirror_view(Memory(), on_host);
    m_operator.apply(m_space, m_density, Vector(fields.data(), fields.size()));
    Kokkos::deep_copy(m_space, on_host, fields);
    m_space.fence("prismfield: fields on the host");
  }

private:
  using Memory = typename ExecutionSpace::memory_space;
  using Vector = Kokkos::View<double*, Memory>;

  void take_densities() {
    constexpr std::int64_t at_once = 65536;
    const IndexRange range = m_operator.prisms();
    allocate_or_fail([&] {
      m_density = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("density")),
                         static_cast<std::size_t>(range.size()));
    });
    // the layout has the magnetisation
    if (has_magnetic(m_set)) return Kokkos::deep_copy(m_space, m_density, 1.0);
    PrismBlock block;
    for (std::int64_t begin = range.begin; begin < range.end; begin += at_once) {
      m_prisms.read({begin, std::min(begin + at_once, range.end)}, block);
      const auto first = static_cast<std::size_t>(begin - range.begin);
      Kokkos::deep_copy(m_space, Kokkos::subview(m_density, std::make_pair(first, first + block.density.size())),
                        OnHost<const double>(block.density.data(), block.density.size()));
      m_space.fence("prismfield: densities copied");
    }
  }

  ExecutionSpace m_space;
  const PrismSource& m_prisms;
  PointColumns m_points;
  std::shared_ptr<const ConvolutionLayout> m_layout;
  FieldSet m_set;
  ConvolutionOperator<ExecutionSpace> m_operator;
  Vector m_density;
};

template <class ExecutionSpace>
std::unique_ptr<fast::ShareProduct> make_convolution_product_on(const ExecutionSpace& space,
                                                                const fast::ProductShare& share, ConvolutionPlan plan) {
  return std::make_unique<ConvolutionProduct<ExecutionSpace>>(space, share, std::move(plan));
}

}  // namespace prismfield
