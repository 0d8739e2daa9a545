// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "start_check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "error.hpp"
#include "field_engine.hpp"

namespace prismfield {

void check_start() {
  // potential at the centre of a cube of edge 2 and density 1, and gzz there (numerics: 2.380077364 L^2, -4 pi/3)
  constexpr double potential = 2.3800773645 * 4;
  constexpr double gzz = -4.1887902047863905;
  const double zero = 0;
  PrismBlock cube;
  cube.resize(1);
  cube.west[0] = cube.south[0] = cube.bottom[0] = -1;
  cube.east[0] = cube.north[0] = cube.top[0] = 1;
  cube.density[0] = 1;
  EngineSettings settings;
  settings.tile_points = 1;
  for (const Space space : built_spaces()) {
    settings.block = space == Space::cuda ? 32 : 1;
    const auto engine = make_engine(space, Precision::double_, settings);
    double values[n_all_fields] = {};
    double contact[contact_columns] = {};
    engine->start_tile(&zero, &zero, &zero, 1);
    engine->add(cube, 0);
    engine->finish_tile(values, 1, contact);
    const bool right = std::abs(values[static_cast<int>(Field::potential)] - potential) < 1e-8 &&
                       std::abs(values[static_cast<int>(Field::gzz)] - gzz) < 1e-8 && contact[7] == 1;
    if (!right) {
      throw RunError(
          fmt::format("this build computes wrongly: a cube's potential at its centre is {} instead of {} (space "
                      "{}). Kokkos, compiler and CUDA do not fit together: see 'CUDA' in README.md",
                      values[0], potential,
                      space == Space::cuda     ? "cuda"
                      : space == Space::openmp ? "openmp"
                                               : "serial"));
    }
  }
}

}  // namespace prismfield
