// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/output_file.hpp"
#include "writers/write_content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/temporary_file.hpp"
#include "folder_test.hpp"

namespace prismfield::test_vtk_writer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class VtkWriter : public testing_samples::FolderTest {
protected:
  template <class Write>
  void write(const Write& write) {
    TemporaryFile temporary(path("out.vtk"));
    TextOutput out(temporary);
    write(out);
    out.flush();
    temporary.move_to_target();
    m_text = testing_samples::content(path("out.vtk"));
  }
  /// The values of the array of this name, found as a reader finds them: by the offset behind the underscore.
  template <class T>
  [[nodiscard]] std::vector<T> array(const std::string& name) const {
    const std::size_t element = m_text.find("Name=\"" + name + "\"");
    const std::size_t offset_at = m_text.find("offset=\"", element);
    if (element == std::string::npos || offset_at == std::string::npos) return {};
    const std::size_t begin = m_text.find("\n_") + 2 + std::stoul(m_text.substr(offset_at + 8));
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, m_text.data() + begin, sizeof bytes);
    std::vector<T> values(bytes / sizeof(T));
    std::memcpy(values.data(), m_text.data() + begin + sizeof bytes, bytes);
    return values;
  }
  std::string m_text;
};

TEST_F(VtkWriter, WritesCellsWithTheirEdges) {
  CellModel model{{{{0, 10, 30}, {5, 6}, {-4, -1, 0}}},
                  {{"density", "kg/m3", {1, 2, 3, nan}}, {"a<b", "", {4, 5, 6, 7}}}};
  write([&](TextOutput& out) { write_vtr(out, model); });
  EXPECT_THAT(m_text, HasSubstr("<RectilinearGrid WholeExtent=\"0 2 0 1 0 2\">"));
  EXPECT_THAT(m_text, HasSubstr("<CellData Scalars=\"density\">"));
  EXPECT_THAT(array<double>("easting"), ElementsAre(0, 10, 30));
  EXPECT_THAT(array<double>("upward"), ElementsAre(-4, -1, 0));
  EXPECT_THAT(array<double>("a&lt;b"), ElementsAre(4, 5, 6, 7));
  const std::vector<double> density = array<double>("density");
  ASSERT_EQ(density.size(), 4U);
  EXPECT_EQ(density[2], 3);
  EXPECT_TRUE(std::isnan(density[3]));
  EXPECT_THAT(array<std::uint8_t>("active"), ElementsAre(1, 1, 1, 0));
  model.values.clear();
  write([&](TextOutput& out) { write_vtr(out, model); });
  EXPECT_THAT(m_text, Not(HasSubstr("active")));
  EXPECT_THAT(array<double>("northing"), ElementsAre(5, 6));
}

TEST_F(VtkWriter, WritesPrismsAsVoxels) {
  ListedPrisms prisms{{{0, 1}, {1, 3}, {0, 0}, {2, 2}, {-5, -6}, {-4, -4}, {300, -200}, {}}, {}};
  write([&](TextOutput& out) { write_vtu(out, prisms); });
  EXPECT_THAT(m_text, HasSubstr("NumberOfPoints=\"16\" NumberOfCells=\"2\""));
  EXPECT_THAT(array<double>("density"), ElementsAre(300, -200));
  EXPECT_THAT(array<std::uint8_t>("types"), ElementsAre(11, 11));
  EXPECT_THAT(array<std::int64_t>("offsets"), ElementsAre(8, 16));
  const std::vector<double> points = array<double>("Points");
  ASSERT_EQ(points.size(), 48U);
  // x fastest, then y, then z, from the bottom
  EXPECT_THAT(std::vector<double>(points.begin(), points.begin() + 12),
              ElementsAre(0, 0, -5, 1, 0, -5, 0, 2, -5, 1, 2, -5));
  EXPECT_THAT(m_text, HasSubstr("z up, lengths in m; density in kg/m3"));
  prisms.density = {0, 0};
  prisms.susceptibility = {0.05, 0};
  prisms.magnetization = {std::vector<double>{1, 2}, {3, 4}, {5, 6}};
  write([&](TextOutput& out) { write_vtu(out, prisms); });
  EXPECT_THAT(m_text, HasSubstr("lengths in m; susceptibility in SI; magnetization in A/m"));
  EXPECT_THAT(m_text, Not(HasSubstr("density")));
  EXPECT_THAT(m_text, HasSubstr("Name=\"magnetization\" NumberOfComponents=\"3\""));
  EXPECT_THAT(array<double>("susceptibility"), ElementsAre(0.05, 0));
  EXPECT_THAT(array<double>("magnetization"), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST_F(VtkWriter, WritesComponentsAsVectors) {
  const CellModel model{{{{0, 10, 30}, {5, 6}, {-4, -1}}},
                        {{"magnetization_easting", "A/m", {1, nan}},
                         {"susceptibility", "1", {0.1, 0.2}},
                         {"magnetization_upward", "A/m", {5, nan}},
                         {"magnetization_northing", "A/m", {3, nan}},
                         {"slope_easting", "", {7, 8}}}};
  write([&](TextOutput& out) { write_vtr(out, model); });
  EXPECT_THAT(m_text, HasSubstr("; magnetization in A/m; susceptibility in SI -->"));
  EXPECT_THAT(m_text, Not(HasSubstr("magnetization_")));
  const std::vector<double> vectors = array<double>("magnetization");
  ASSERT_EQ(vectors.size(), 6U);
  EXPECT_THAT(std::vector<double>(vectors.begin(), vectors.begin() + 3), ElementsAre(1, 3, 5));
  EXPECT_TRUE(std::isnan(vectors[3]));
  EXPECT_THAT(array<double>("susceptibility"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(array<double>("slope_easting"), ElementsAre(7, 8));
  EXPECT_THAT(array<std::uint8_t>("active"), ElementsAre(1, 0));
}

TEST_F(VtkWriter, WritesPointsWithFields) {
  PointFields points;
  points.points.easting = {1, 2};
  points.points.northing = {3, 4};
  points.points.upward = {5, 6};
  points.fields = {Field::gz, Field::gzz};
  points.values = {{0.5, 0.25}, {7, 8}};
  points.sigma = {{0.1, 0.2}, {}};
  write([&](TextOutput& out) { write_vtp(out, points); });
  EXPECT_THAT(array<double>("Points"), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(array<double>("gz"), ElementsAre(0.5, 0.25));
  EXPECT_THAT(array<double>("gz_sigma"), ElementsAre(0.1, 0.2));
  EXPECT_THAT(array<double>("gzz"), ElementsAre(7, 8));
  EXPECT_THAT(array<std::int64_t>("connectivity"), ElementsAre(0, 1));
  EXPECT_THAT(m_text, HasSubstr("axes of the fields z_down; gz in mGal; gzz in Eotvos"));
}

}  // namespace
}  // namespace prismfield::test_vtk_writer
