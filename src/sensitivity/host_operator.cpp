// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield {

std::unique_ptr<HostOperator::Implementation> make_host_operator(const PrismSource& prisms, const Points& points,
                                                                 const Request& request,
                                                                 const StorageSettings* settings,
                                                                 const Communicator& communicator,
                                                                 StorageChoice* choice) {
  return with_space(request.execution.space, [&](const auto& space) {
    return make_host_operator_on(space, prisms, points, request, settings, communicator, choice);
  });
}

HostOperator::HostOperator(const PrismSource& prisms, const Points& points, const Request& request,
                           const Communicator& communicator)
    : m_implementation(make_host_operator(prisms, points, request, nullptr, communicator, nullptr)) {}
HostOperator::HostOperator(const PrismSource& prisms, const Points& points, const Request& request,
                           const StorageSettings& settings, const Communicator& communicator, StorageChoice* choice)
    : m_implementation(make_host_operator(prisms, points, request, &settings, communicator, choice)) {}
HostOperator::~HostOperator() = default;
HostOperator::HostOperator(HostOperator&&) noexcept = default;
HostOperator& HostOperator::operator=(HostOperator&&) noexcept = default;

FieldList HostOperator::fields() const noexcept { return m_implementation->fields(); }
IndexRange HostOperator::points() const noexcept { return m_implementation->points(); }
IndexRange HostOperator::prisms() const noexcept { return m_implementation->prisms(); }
std::int64_t HostOperator::rows() const noexcept { return fields().size() * points().size(); }
std::int64_t HostOperator::columns() const noexcept { return prisms().size(); }
void HostOperator::apply(std::span<const double> density, std::span<double> fields) {
  m_implementation->apply(density, fields);
}
void HostOperator::apply_transpose(std::span<const double> fields, std::span<double> density) {
  m_implementation->apply_transpose(fields, density);
}
void HostOperator::diagonal(std::span<const double> weights, std::span<double> diagonal) {
  m_implementation->diagonal(weights, diagonal);
}
void HostOperator::entries(IndexRange points, std::span<double> entries) { m_implementation->entries(points, entries); }
double HostOperator::dot_fields(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_fields(a, b);
}
double HostOperator::dot_densities(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_densities(a, b);
}
double HostOperator::error_bound() const noexcept { return m_implementation->error_bound(); }
const Plan& HostOperator::plan() const noexcept { return m_implementation->plan(); }

}  // namespace prismfield
