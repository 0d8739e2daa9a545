// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/few_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "engine/with_arithmetic.hpp"
#include "kernel/host_tile.hpp"

namespace prismfield {
namespace {

using A = kernel::DoubleArithmetic;
using Host = Kokkos::HostSpace;

/// A View of a vector's elements, in the shape that a launch has them.
template <class View, class T, class... Lengths>
View view_of(std::vector<T>& all, Lengths... lengths) {
  return View(all.data(), static_cast<std::size_t>(lengths)...);
}

/// The product of one set.
void sum_set(FieldSet set, const PrismColumns& prisms, const PointColumns& points, const std::array<double, 3>& inside,
             std::span<double> values, std::span<double> contact) {
  static const kernel::MultipoleTables tables = kernel::multipole_tables();
  const std::size_t n = prisms.west.size();
  const auto n_points = static_cast<std::size_t>(points.size());
  constexpr std::size_t width = kernel::host_width<A>;
  const std::size_t n_groups = (n_points + width - 1) / width;
  const std::size_t padded = n_groups * width;
  const auto n_fields = static_cast<std::size_t>(fields_of(set).size());

  const bool of_gradient = has_magnetic_gradient(set);
  // callers' loops have one prism again and again, or prisms of one shape; a shape takes as long as three pairs
  static thread_local std::array<double, 3> last{};
  static thread_local bool last_of_gradient = false;
  static thread_local kernel::PrismShape<A> last_shape;
  std::vector<kernel::PrismShape<A>> shapes;
  std::vector<kernel::FarPrismIn<A, Host>> far(n);
  std::vector<kernel::NearPrism<A>> near(n);
  std::vector<kernel::PrismWeight<A>> weights(n);
  std::vector<kernel::PrismMagnetization<A>> magnetizations(has_magnetic(set) ? n : 0);
  const double origin[3] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const double face[3][2] = {
        {prisms.west[i], prisms.east[i]}, {prisms.south[i], prisms.north[i]}, {prisms.bottom[i], prisms.top[i]}};
    const std::array<double, 3> edges = {face[0][1] - face[0][0], face[1][1] - face[1][0], face[2][1] - face[2][0]};
    const bool is_new = edges != last || of_gradient != last_of_gradient;
    if (is_new) {
      const double edge[3] = {edges[0], edges[1], edges[2]};
      kernel::prepare_shape<A>(tables, edge, last_shape, default_truncation, of_gradient);
      last = edges;
      last_of_gradient = of_gradient;
    }
    if (is_new || shapes.empty()) shapes.push_back(last_shape);
    kernel::prepare_prism<A>(shapes.back(), static_cast<std::int32_t>(shapes.size() - 1), face, origin, far[i],
                             near[i]);
    kernel::prepare_weight<A>(shapes.back(), face, has_magnetic(set) ? 1.0 : prisms.density[i], weights[i]);
    for (std::size_t d = 0; d < 3 && has_magnetic(set); ++d) {
      magnetizations[i].magnetization[d] = prisms.magnetization[d][i];
    }
  }

  std::array<std::vector<double>, 3> places;
  const std::array<std::span<const double>, 3> from = {points.easting, points.northing, points.upward};
  for (std::size_t d = 0; d < 3; ++d) {
    places[d].assign(from[d].begin(), from[d].end());
    places[d].resize(padded, n_points == 0 ? 0.0 : from[d].back());
  }
  std::vector<double> scratch(n_fields * padded), touched(contact.size());

  using Data = kernel::LaunchData<A, Host>;
  Data data;
  data.easting = view_of<decltype(data.easting)>(places[0], padded);
  data.northing = view_of<decltype(data.northing)>(places[1], padded);
  data.upward = view_of<decltype(data.upward)>(places[2], padded);
  data.n_points = points.size();
  for (std::size_t d = 0; d < 3; ++d) data.rounding[d] = points.rounding[d];
  data.shapes = view_of<decltype(data.shapes)>(shapes, shapes.size());
  data.far = view_of<decltype(data.far)>(far, n);
  data.near = view_of<decltype(data.near)>(near, n);
  data.weights = view_of<decltype(data.weights)>(weights, n);
  data.magnetizations = view_of<decltype(data.magnetizations)>(magnetizations, magnetizations.size());
  data.inside = kernel::inside_factors<A>(inside);
  data.prism_end = static_cast<std::int64_t>(n);
  data.batch = std::max<std::int64_t>(data.prism_end, 1);
  data.scratch = view_of<decltype(data.scratch)>(scratch, 1, n_fields, padded);
  data.contact = view_of<decltype(data.contact)>(touched, n_points);
  kernel::FormCounts counts;
  with_set(set, [&](auto of) {
    kernel::accumulate_tile_on_host<A, of(), kernel::ChooseForm<kernel::Pass::all>, kernel::host_width<A>>(
        data, 0, 0, static_cast<std::int64_t>(n_groups), counts);
  });
  for (std::size_t f = 0; f < n_fields; ++f) {
    std::copy_n(&scratch[f * padded], n_points, values.begin() + static_cast<std::ptrdiff_t>(f * n_points));
  }
  std::copy(touched.begin(), touched.end(), contact.begin());
}

}  // namespace

void sum_few_pairs(FieldList fields, const PrismColumns& prisms, const PointColumns& points,
                   const std::array<double, 3>& inside, std::span<double> values, std::span<double> contact) {
  std::vector<double> before;
  for (const FieldSet set : sets_of(fields)) {
    sum_set(set, prisms, points, inside, values, contact);
    values = values.subspan(static_cast<std::size_t>(fields_of(set).size() * points.size()));
    add_product_contacts(before, contact.first(before.size()));
    before.assign(contact.begin(), contact.end());
  }
}

std::array<double, 3> edge_strengths(FieldSet set, const PrismBlock& prisms, std::size_t number) {
  const double density = prisms.density[number];
  if (!has_magnetic(set)) return {density, density, density};
  kernel::MagneticWeight<A> weight{{1, 1}, {}, {}};
  for (std::size_t d = 0; d < 3; ++d) weight.magnetization[d] = prisms.magnetization[d][number];
  const Kokkos::Array<double, 3> strengths = kernel::edge_strengths(weight);
  return {strengths[0], strengths[1], strengths[2]};
}

void add_contact(const double (&face)[3][2], const std::array<double, 3>& strength, const std::array<double, 3>& point,
                 const std::array<double, 3>& rounding, double* row) {
  using Lane = kernel::Lanes<A, kernel::HostLane, 1>;
  kernel::NearPrism<A> near{};
  for (int i = 0; i < 2; ++i) {
    near.x[i] = face[0][i];
    near.y[i] = face[1][i];
    near.z[i] = face[2][i];
  }
  auto [x, y, z] = point;
  kernel::move_onto_prism(near, {rounding[0], rounding[1], rounding[2]}, x, y, z);
  const auto faces = kernel::faces_seen<Lane>(near, 1.0, x, y, z);
  if (kernel::gap_squared(faces) > 0) return;
  kernel::note_contact(decltype(kernel::LaunchData<A, Host>::contact)(row, 1), 0, faces.x, faces.y, faces.z,
                       {strength[0], strength[1], strength[2]});
}

}  // namespace prismfield
