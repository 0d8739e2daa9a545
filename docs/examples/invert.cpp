// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/host_operator.hpp>
#include <prismfield/invert.hpp>
#include <prismfield/runtime.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

/// Edges of n cells of 100 m.
std::vector<double> edges_from(double first, int n) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(first + 100 * i);
  return edges;
}

/// gz of a block of 500 kg/m3 at stations 1 m above the cells.
prismfield::DataSet data_over(const prismfield::ActiveCells& cells) {
  prismfield::DataSet data;
  data.fields = {prismfield::Field::gz};
  for (int i = 0; i < 144; ++i) {
    data.points.easting.push_back(50 + 100 * (i % 12));
    data.points.northing.push_back(50 + 100 * (i / 12));
    data.points.upward.push_back(1);
  }
  std::vector<double> density;
  for (std::int64_t j = 0; j < cells.size(); ++j) {
    const auto [easting, northing, upward] = cells.center(j);
    const bool in_block = easting > 300 && easting < 600 && northing > 600 && northing < 900 && upward > -300;
    density.push_back(in_block && upward < -100 ? 500 : 0);
  }
  data.values.resize(144);
  prismfield::HostOperator(cells, data.points, {.fields = data.fields}).apply(density, data.values);
  // 0.02 mGal
  data.sigma.assign(144, 2e-7);
  return data;
}

void run() {
  const prismfield::Runtime runtime;
  const prismfield::ActiveCells cells({edges_from(0, 12), edges_from(0, 12), edges_from(-600, 6)});
  prismfield::InversionInput input;
  input.cells = &cells;
  input.data = {data_over(cells)};
  input.settings.bounds = {0, 1000};
  input.storage.store = prismfield::Store::memory;
  const prismfield::InversionOutcome found = prismfield::invert(input);

  const std::vector<double>& density = found.model.values;
  const auto largest = std::max_element(density.begin(), density.end()) - density.begin();
  const auto [easting, northing, upward] = cells.center(largest);
  std::printf("chi %.1f\n", found.model.convergence.back().chi);
  std::printf("the maximum lies at easting %.0f, northing %.0f, height %.0f\n", easting, northing, upward);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
