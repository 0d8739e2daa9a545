// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "sensitivity/host_operator.hpp"

#include "engine/instances/with_space.hpp"

namespace prismfield {

namespace {

std::unique_ptr<HostOperator::Implementation> make(const PrismSource& prisms, const PointColumns& points,
                                                   const Request& request, const StorageSettings* settings,
                                                   const Communicator& communicator) {
  return with_space(request.execution.space, [&](const auto& space) {
    return make_host_operator_on(space, prisms, points, request, settings, communicator);
  });
}

}  // namespace

HostOperator::HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
                           const Communicator& communicator)
    : m_implementation(make(prisms, points, request, nullptr, communicator)) {}
HostOperator::HostOperator(const PrismSource& prisms, const PointColumns& points, const Request& request,
                           const StorageSettings& settings, const Communicator& communicator, StorageChoice* choice)
    : m_implementation(make(prisms, points, request, &settings, communicator)) {
  if (choice != nullptr) *choice = m_implementation->facts.choice;
}
HostOperator::~HostOperator() = default;
HostOperator::HostOperator(HostOperator&&) noexcept = default;
HostOperator& HostOperator::operator=(HostOperator&&) noexcept = default;

FieldList HostOperator::fields() const noexcept { return m_implementation->facts.fields; }
IndexRange HostOperator::points() const noexcept { return m_implementation->facts.points; }
IndexRange HostOperator::prisms() const noexcept { return m_implementation->facts.prisms; }
std::int64_t HostOperator::rows() const noexcept { return m_implementation->facts.rows; }
std::int64_t HostOperator::columns() const noexcept { return m_implementation->facts.columns; }
void HostOperator::apply(double alpha, std::span<const double> density, double beta, std::span<double> fields,
                         std::int64_t n) {
  m_implementation->multiply(Implementation::Product::apply, alpha, density, beta, fields, n);
}
void HostOperator::apply_transpose(double alpha, std::span<const double> fields, double beta, std::span<double> density,
                                   std::int64_t n) {
  m_implementation->multiply(Implementation::Product::transpose, alpha, fields, beta, density, n);
}
void HostOperator::diagonal(std::span<const double> weights, std::span<double> diagonal, std::int64_t n) {
  m_implementation->multiply(Implementation::Product::diagonal, 1, weights, 0, diagonal, n);
}
void HostOperator::entries(IndexRange points, std::span<double> entries) { m_implementation->entries(points, entries); }
double HostOperator::dot_fields(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_fields(a, b);
}
double HostOperator::dot_densities(std::span<const double> a, std::span<const double> b) {
  return m_implementation->dot_densities(a, b);
}
double HostOperator::error_bound() const noexcept { return m_implementation->facts.error_bound; }
const Plan& HostOperator::plan() const noexcept { return m_implementation->facts.plan; }

}  // namespace prismfield
