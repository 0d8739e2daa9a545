// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "engine/engine.hpp"

#include <fmt/format.h>

#include <cmath>

#include <prismfield/error.hpp>

#include "kernel/contact.hpp"

namespace prismfield {

void check_start() {
  // a cube of edge 2 and density 1: potential and gzz at its centre (docs/numerics.md, About the centre) and gz below
  // it (the eight corners' sum in 40 digits)
  constexpr double potential = 2.3800773645 * 4;
  constexpr double gzz = -4.1887902047863905;
  constexpr double gz = 0.26193250654518370;
  constexpr int n_points = 2;
  const double easting[n_points] = {0, 0.03125};
  const double northing[n_points] = {0, 0.015625};
  const double upward[n_points] = {0, -0.0625};
  PrismBlock cube;
  cube.resize(1);
  cube.west[0] = cube.south[0] = cube.bottom[0] = -1;
  cube.east[0] = cube.north[0] = cube.top[0] = 1;
  cube.density[0] = 1;
  EngineSettings settings;
  settings.tile_points = n_points;
  for (const Space space : built_spaces()) {
    settings.block = is_device(space) ? 32 : 1;
    const auto engine = make_engine(space, Precision::double_, FieldList::all(), settings);
    double values[n_gravity_fields][n_points] = {};
    double contact[n_points][n_contact_columns] = {};
    engine->start_tile(easting, northing, upward, n_points, values[0], contact[0]);
    engine->add(cube, 0);
    engine->end_chunk();
    engine->read_tile(values[0], contact[0]);
    const double of_potential = values[static_cast<int>(Field::potential)][0] - potential;
    const double of_gzz = values[static_cast<int>(Field::gzz)][0] - gzz;
    const double of_gz = values[static_cast<int>(Field::gz)][1] - gz;
    const bool right = std::abs(of_potential) < 1e-8 && std::abs(of_gzz) < 1e-8 && std::abs(of_gz) < 1e-14 &&
                       contact[0][Contact::prisms] == 1 && contact[1][Contact::prisms] == 1;
    if (!right) {
      throw RunError(fmt::format(
          "this build computes wrongly: inside a cube the potential is off by {:.1e}, gz by {:.1e} "
          "and gzz by {:.1e} (space {}). Kokkos, compiler and CUDA do not fit together: see 'CUDA' in docs/building.md",
          of_potential, of_gz, of_gzz, name(space)));
    }
  }
}

}  // namespace prismfield
