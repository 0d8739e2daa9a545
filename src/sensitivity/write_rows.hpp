// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

#include <prismfield/operator.hpp>
#include <prismfield/row_store.hpp>

#include "base/interrupt.hpp"
#include "engine/staged_prisms.hpp"
#include "sensitivity/storage_choice.hpp"

namespace prismfield {

/// Computes this rank's rows block by block and hands them to the sink. Throws what the sink throws, and Stopped.
/// Not collective.
template <class Space>
void write_rows(const Space& space, Operator<Space>& op, RowSink& sink) {
  using Entries = typename Operator<Space>::Entries;
  using HostVector = Kokkos::View<double*, Kokkos::HostSpace>;
  const std::int64_t n_fields = op.fields().size(), n_points = op.points().size(), columns = op.columns();
  if (n_fields * n_points * columns == 0) return;
  const std::int64_t at_once = points_at_once(n_fields, columns, n_points);
  const auto room = static_cast<std::size_t>(n_fields * at_once * columns);
  typename Operator<Space>::Vector scratch;
  HostVector host;
  allocate_or_fail([&] {
    scratch = decltype(scratch)(Kokkos::view_alloc(Kokkos::WithoutInitializing, view_label("entries")), room);
    host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace(), scratch);
  });
  for (std::int64_t first = 0; first < n_points; first += at_once) {
    throw_if_interrupted();
    const IndexRange some{first, std::min(first + at_once, n_points)};
    op.entries(space, some, Entries(scratch.data(), n_fields, some.size(), columns));
    Kokkos::deep_copy(space, host, scratch);
    space.fence("prismfield: entries on the host");
    const std::int64_t of_field = some.size() * columns;
    for (std::int64_t f = 0; f < n_fields; ++f) {
      const std::span<const double> rows(host.data() + f * of_field, static_cast<std::size_t>(of_field));
      sink.write(f, {op.points().begin + some.begin, op.points().begin + some.end}, rows);
    }
  }
}

}  // namespace prismfield
