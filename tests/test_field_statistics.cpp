// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/finish_result.hpp"
#include "case/output_check.hpp"
#include "result_samples.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

namespace prismfield::test_field_statistics {
namespace {

using namespace testing_samples;

/// Of values as they are written.
std::string field_statistics(const FieldTable& table, std::int64_t n_points, std::size_t columns = 0) {
  ResultHeader header;
  for (const FieldInfo& field : table.fields) {
    const auto first = table.fields.index_of(field.field) * n_points;
    header.variables.push_back(
        {std::string(field.name), std::string(field.unit), "", point_by_point([&table, first](std::int64_t i) {
           return table.values[static_cast<std::size_t>(first + i)];
         })});
  }
  Fields points;
  points.values.resize(static_cast<std::size_t>(n_points));
  return prismfield::field_statistics(header, points, columns);
}

TEST(FieldStatistics, IsATable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const FieldTable table{{Field::potential, Field::gz, Field::gxx}, {3, -4, 1e6, 0, nan, 2, nan, nan, nan}};
  EXPECT_EQ(field_statistics(table, 3),
            "field      unit             minimum         maximum             RMS\n"
            "potential  m2 s-2                -4         1000000        577350.3\n"
            "gz         mGal                   0               2        1.414214\n"
            "gxx        Eotvos                 -               -               -\n");
}

TEST(FieldStatistics, StaysAlignedOnNarrowTerminals) {
  const FieldTable table{{Field::gz, Field::gxx}, {3, -4.123456789e-15, -1.23456789e-10, 2.3456789e120}};
  EXPECT_EQ(field_statistics(table, 2, 67), field_statistics(table, 2));
  EXPECT_EQ(field_statistics(table, 2, 500), field_statistics(table, 2));
  EXPECT_EQ(field_statistics(table, 2, 50),
            "field      unit       minimum   maximum       RMS\n"
            "gz         mGal     -4.12e-15         3      2.12\n"
            "gxx        Eotvos   -1.23e-10 2.35e+120 1.66e+120\n");
  for (std::size_t columns = 50; columns < 80; ++columns) {
    std::istringstream lines(field_statistics(table, 2, columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns);
  }
}

TEST(FieldStatistics, ShowsWhatIsWritten) {
  const Points points = grid_points(5, 4);
  Case run = sample_case("x.h5");
  const Fields result = sample_result(points);
  EXPECT_EQ(prismfield::field_statistics(result_header(run), result),
            field_statistics(testing_samples::to_output_units(result, Axes::z_down), 20));
  run.noise = NoiseSpec{{{Field::gz, 100.0}}, 1};
  EXPECT_NE(prismfield::field_statistics(result_header(run), result),
            field_statistics(testing_samples::to_output_units(result, Axes::z_down), 20));
}

}  // namespace
}  // namespace prismfield::test_field_statistics
