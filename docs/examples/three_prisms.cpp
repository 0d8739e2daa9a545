// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/forward.hpp>
#include <prismfield/runtime.hpp>

#include <cstdio>
#include <vector>

int main() {
  const prismfield::Runtime runtime;
  const std::vector<double> west{0, 100, 200}, east{100, 200, 300}, south(3, -50), north(3, 50);
  const std::vector<double> bottom{-90, -130, -110}, top(3, -50), density{300, -200, 450};
  const prismfield::PrismList prisms({west, east, south, north, bottom, top, density});
  const prismfield::Points points{
      {-75, -25, 25, 75, 125, 175, 225, 275, 325, 375}, std::vector<double>(10, 0), std::vector<double>(10, 2)};
  const auto fields = prismfield::forward(prisms, points, {.fields = {prismfield::Field::gz}});
  for (const double gz : fields.values) std::printf("%8.4f mGal\n", -1e5 * gz);
}
