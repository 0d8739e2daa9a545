// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/field_statistics.hpp"
#include "case/output_check.hpp"
#include "result_samples.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace prismfield {
namespace {

using namespace testing_samples;

TEST(FieldStatistics, IsATable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const FieldTable table{{Field::potential, Field::gz, Field::gxx}, {3, -4, 1e6, 0, nan, 2, nan, nan, nan}};
  EXPECT_EQ(field_statistics(table, 3),
            "field      unit             minimum         maximum             RMS\n"
            "potential  m2 s-2                -4         1000000        577350.3\n"
            "gz         mGal                   0               2        1.414214\n"
            "gxx        Eotvos                 -               -               -\n");
}

TEST(FieldStatistics, ShowsWhatIsWritten) {
  const Points points = grid_points(5, 4);
  Case run = sample_case("x.h5");
  const Fields result = sample_result(points);
  EXPECT_EQ(field_statistics(result_header(run), result), field_statistics(to_output_units(result, Axes::z_down), 20));
  run.noise = NoiseSpec{{{Field::gz, 100.0}}, 1};
  EXPECT_NE(field_statistics(result_header(run), result), field_statistics(to_output_units(result, Axes::z_down), 20));
}

}  // namespace
}  // namespace prismfield
