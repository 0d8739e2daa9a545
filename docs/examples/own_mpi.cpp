// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <mpi.h>
#include <prismfield/communicator_mpi.hpp>
#include <prismfield/forward.hpp>
#include <prismfield/runtime.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

/// gz of three prisms, computed by the ranks of `comm`; a library inside a program that has MPI and Kokkos already.
void compute(MPI_Comm comm) {
  const prismfield::Runtime runtime;  // adopts the Kokkos that runs
  const prismfield::Communicator ranks = prismfield::make_communicator(comm);
  const std::vector<double> west{0, 100, 200}, east{100, 200, 300}, south(3, -50), north(3, 50);
  const std::vector<double> bottom{-90, -130, -110}, top(3, -50), density{300, -200, 450};
  const prismfield::PrismList prisms({west, east, south, north, bottom, top, density});
  const prismfield::Points points{{-75, 125, 325}, {0, 0, 0}, {2, 2, 2}};
  const auto fields = prismfield::forward(prisms, points, {.fields = {prismfield::Field::gz}}, ranks);
  if (ranks.rank() > 0) return;  // rank 0 alone has the result
  for (const double gz : fields.values) std::printf("%8.4f mGal\n", -1e5 * gz);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    try {
      compute(MPI_COMM_WORLD);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      failed = 1;
    }
  }
  MPI_Finalize();
  return failed;
}
