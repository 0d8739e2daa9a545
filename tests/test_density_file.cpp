// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "made_model.hpp"
#include "model/axis.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace prismfield::test_density_file {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::lines_in;
using testing::made;
using testing::mistakes;
using testing::read_all;
using testing::ScratchFolder;
using testing::voxels_case;

class DensityFiles : public ::testing::Test {
protected:
  DensityFiles() {
    m_spec.easting = {0, 2, 2};
    m_spec.northing = {0, 3, 3};
    m_spec.upward = {0, 4, 4};
  }
  PrismBlock read(const std::filesystem::path& path, const std::string& dataset = "", double to_si = 1) {
    m_spec.density = DensityFile{path, dataset, to_si};
    return read_all(*made(voxels_case(), m_spec));
  }
  std::string message(const std::filesystem::path& path, const std::string& dataset = "", double to_si = 1) {
    return mistakes([&] { (void)read(path, dataset, to_si); });
  }
  std::filesystem::path hdf5(const std::string& name, const std::vector<std::int64_t>& shape,
                             const std::vector<double>& values) {
    MadeHdf5 file(m_folder / name);
    file.write("/density", shape, values.data());
    file.close();
    return m_folder / name;
  }
  static std::vector<double> count_up(std::size_t n) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i + 1);
    return values;
  }

  ScratchFolder m_folder;
  VoxelsSpec m_spec;
};

TEST_F(DensityFiles, OfHdf5AreCellsInOrder) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{4, 3, 2}, {24}}) {
    EXPECT_EQ(read(hdf5("d.h5", shape, count_up(24))).density, count_up(24));
  }
  EXPECT_EQ(read(m_folder / "d.h5", "/density", 1000).density[3], 4000);
  // whatever the file is called
  std::filesystem::rename(m_folder / "d.h5", m_folder / "d.txt");
  EXPECT_EQ(read(m_folder / "d.txt", "density").density[3], 4);
}

TEST_F(DensityFiles, OfIntegersAreRead) {
  MadeHdf5 file(m_folder / "i.h5");
  std::vector<std::int64_t> values(24, -7);
  file.make_group("/model");
  file.write("/model/rho", {4, 3, 2}, values.data());
  file.close();
  EXPECT_EQ(read(m_folder / "i.h5", "model/rho").density, std::vector<double>(24, -7));
}

TEST_F(DensityFiles, OfTextAreCellsInOrder) {
  std::string text = "# density\n";
  for (int i = 1; i <= 24; ++i) text += std::to_string(i) + (i % 2 == 0 ? "\n" : " # odd\r\n");
  EXPECT_EQ(read(m_folder.write("d.txt", text)).density, count_up(24));
  EXPECT_EQ(read(m_folder / "d.txt", "", 1000).density[1], 2000);
}

TEST_F(DensityFiles, OfUbcsSuffixesAreInUbcsOrderAndGramsUnlessTheUnitIsStated) {
  // from the top of each column, columns with easting fastest: the number of the cell in the order here
  std::string text = "! density\n";
  for (int column = 0; column < 6; ++column) {
    for (int layer = 4; layer-- > 0;) text += std::to_string(layer * 6 + column + 1) + "\n";
  }
  for (const char* name : {"d.den", "d.mod", "d.SUS"}) {
    m_spec.density = DensityFile{m_folder.write(name, text), "", {}};
    const auto cells = made(voxels_case(), m_spec);
    EXPECT_EQ(read_all(*cells).density[23], 24000) << name;
    EXPECT_THAT(cells->notes(), ::testing::ElementsAre(HasSubstr("is read as a UBC model, depth fastest, in g/cm3")));
    EXPECT_EQ(read(m_folder / name, "", 1).density, count_up(24)) << name;
  }
  EXPECT_THAT(message(m_folder.write("d.den", "1\n2\n")), HasSubstr("2 x 3 x 4"));
  // an array file is one, whatever it is called
  EXPECT_EQ(read(hdf5("a.den", {24}, count_up(24))).density, count_up(24));
}

TEST_F(DensityFiles, OfTextRefuseADataset) {
  std::string lines;
  for (int i = 0; i < 24; ++i) lines += std::to_string(i) + "\n";
  EXPECT_THAT(message(m_folder.write("d.txt", lines), "density"), HasSubstr("is text, which has no datasets"));
}

TEST_F(DensityFiles, OfTheWrongSizeSayBothSizes) {
  EXPECT_THAT(
      message(m_folder.write("d.txt", "1\n2\n3\n")),
      AllOf(HasSubstr("case.yaml:8: model.voxels.density.file: "), HasSubstr("holds 3 values, 2 x 3 x 4 = 24 cells")));
  EXPECT_THAT(message(hdf5("d.h5", {2, 3, 4}, count_up(24))),
              HasSubstr("has /density of shape (2, 3, 4); (upward, northing, easting) = (4, 3, 2) or (24) is needed"));
  EXPECT_THAT(message(hdf5("d.h5", {25}, count_up(25))), HasSubstr("of shape (25)"));
  EXPECT_THAT(message(hdf5("d.h5", {1, 24}, count_up(24))), HasSubstr("of shape (1, 24)"));
  EXPECT_THAT(message(m_folder / "d.h5", "rho"), HasSubstr("has no dataset /rho; its datasets are: density"));
}

TEST_F(DensityFiles, NameWhatIsNotFinite) {
  std::vector<double> values = count_up(24);
  values[13] = std::nan("");
  EXPECT_THAT(message(hdf5("d.h5", {24}, values)),
              HasSubstr("d.h5: density: cell 13 (easting 1, northing 0, upward 2, from 0) is NaN or infinite"));
  EXPECT_THAT(message(hdf5("d.h5", {24}, std::vector<double>(24, INFINITY))), HasSubstr("4 more of this kind"));
  EXPECT_THAT(message(hdf5("d.h5", {24}, std::vector<double>(24, 1e308)), "", 1000), HasSubstr("cell 0"));
  std::string text;
  for (int i = 1; i <= 24; ++i) text += i == 5 ? "NaN\n" : i == 7 ? "stone\n" : "1\n";
  const std::string both = message(m_folder.write("d.txt", text));
  EXPECT_THAT(both, AllOf(HasSubstr("d.txt:5: density: 'NaN' is not finite"),
                          HasSubstr("d.txt:7: density: 'stone' is not a number")));
  EXPECT_EQ(lines_in(both), 2U);
}

TEST_F(DensityFiles, ThatCannotBeReadAreNamedWithTheirKey) {
  EXPECT_THAT(message(m_folder / "none.h5"), AllOf(HasSubstr("case.yaml:8: model.voxels.density.file: '"),
                                                   HasSubstr("none.h5' cannot be read: there is no such file")));
  EXPECT_THAT(message(m_folder / ""), HasSubstr("is a folder"));
  EXPECT_THAT(message(m_folder.write("text.h5", "1\n2\n")),
              HasSubstr("is no HDF5 or netCDF file, though its name says so"));
  EXPECT_THAT(message(m_folder.write("old.nc", "CDF\x01 and more")), HasSubstr("cut short"));
  EXPECT_THAT(message(m_folder.write("cut.h5", std::string_view("\x89HDF\r\n\x1a\n\0\0", 10))),
              HasSubstr("case.yaml:8: model.voxels.density.file: "));
  MadeHdf5 file(m_folder / "words.h5");
  file.write_text("/density", "heavy");
  file.close();
  EXPECT_NE(message(m_folder / "words.h5"), "");
  std::filesystem::resize_file(hdf5("half.h5", {24}, count_up(24)), 1500);
  EXPECT_NE(message(m_folder / "half.h5"), "");
}

/// An array of cells with dimensions of its own.
struct ArrayOfCells {
  /// of easting, northing, upward: names, "" for none; centres in the order of the file, none: no coordinates
  std::array<std::string, 3> names;
  std::array<std::vector<double>, 3> centers;
  std::array<std::int64_t, 3> counts{2, 3, 4};
  /// directions, slowest first
  std::array<std::size_t, 3> order{2, 1, 0};
  /// one a cell, easting fastest, then northing, then upward
  std::vector<double> values;
  std::vector<std::array<std::string, 3>> attributes;
};

/// Writes the array as netCDF-4: dimensions, coordinates, values in the order of the dimensions.
std::filesystem::path written(const std::filesystem::path& path, const ArrayOfCells& array,
                              const std::array<bool, 3>& falls = {}) {
  MadeHdf5 file(path);
  std::vector<std::int64_t> shape;
  std::vector<std::string> dimensions;
  for (const std::size_t d : array.order) {
    shape.push_back(array.counts[d]);
    const std::string& name = array.names[d];
    if (name.empty()) continue;
    dimensions.push_back(name);
    if (file.has("/" + name)) continue;
    if (array.centers[d].empty()) {
      file.make_dimension_without_values("/" + name, array.counts[d]);
    } else {
      file.write("/" + name, {array.counts[d]}, array.centers[d].data());
      file.make_dimension("/" + name);
    }
  }
  std::vector<double> values;
  std::array<std::int64_t, 3> at{};
  const auto [slow, middle, fast] = array.order;
  for (at[slow] = 0; at[slow] < array.counts[slow]; ++at[slow]) {
    for (at[middle] = 0; at[middle] < array.counts[middle]; ++at[middle]) {
      for (at[fast] = 0; at[fast] < array.counts[fast]; ++at[fast]) {
        std::array<std::int64_t, 3> cell = at;
        for (std::size_t d = 0; d < 3; ++d) {
          if (falls[d]) cell[d] = array.counts[d] - 1 - cell[d];
        }
        values.push_back(
            array.values[static_cast<std::size_t>((cell[2] * array.counts[1] + cell[1]) * array.counts[0] + cell[0])]);
      }
    }
  }
  file.write("/density", shape, values.data());
  if (!dimensions.empty()) file.attach_dimensions("/density", dimensions);
  for (const auto& [of, name, value] : array.attributes) file.write_attribute(of, name, value);
  file.close();
  return path;
}

class DensityArrays : public DensityFiles {
protected:
  /// The cells of m_spec, with coordinates by these names.
  ArrayOfCells array(const std::array<std::string, 3>& names) const {
    ArrayOfCells array;
    array.names = names;
    const std::array<const Axis*, 3> axes{&m_spec.easting, &m_spec.northing, &m_spec.upward};
    for (std::size_t d = 0; d < 3; ++d) {
      array.counts[d] = axes[d]->count;
      array.centers[d] = cell_centers(*axes[d]);
    }
    array.values = count_up(static_cast<std::size_t>(array.counts[0] * array.counts[1] * array.counts[2]));
    return array;
  }
  std::vector<double> densities(const ArrayOfCells& array) { return read(written(m_folder / "a.nc", array)).density; }
  std::string refusal(const ArrayOfCells& array) { return message(written(m_folder / "a.nc", array)); }
};

TEST_F(DensityArrays, AreReadInEveryOrderAndDirection) {
  std::mt19937 generator(11);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(generator() % n); };
  const std::vector<std::array<std::string, 3>> spellings{
      {"easting", "northing", "upward"}, {"x", "y", "z"}, {"X", "Y", "elevation"}, {"utm_x", "utm_y", "Height"}};
  for (int round = 0; round < 8; ++round) {
    // cubes too, of which counts say nothing, one cell in a direction, and places of UTM
    const std::int64_t count = 2 + below(3);
    const auto counted = [&] { return round % 4 == 0 ? count : round % 4 == 1 ? 1 + below(2) : 1 + below(5); };
    m_spec.easting = {500'000, 500'300.5, counted()};
    m_spec.northing = {7'100'000, 7'100'000 + 25.0 * static_cast<double>(count), counted()};
    m_spec.upward = {-300, 0, counted()};
    ArrayOfCells file = array(spellings[generator() % spellings.size()]);
    const std::vector<double> expected = file.values;
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      for (const unsigned turned : {0U, 15U, static_cast<unsigned>(below(16)), static_cast<unsigned>(below(16))}) {
        ArrayOfCells one = file;
        one.order = order;
        std::array<bool, 3> falls{};
        if (const bool is_depth = (turned & 8U) != 0; is_depth) {
          one.names[2] = round % 2 == 0 ? "depth" : "z";
          if (round % 2 != 0) one.attributes.push_back({"/z", "positive", "down"});
          for (double& height : one.centers[2]) height = -height;
        }
        for (std::size_t d = 0; d < 3; ++d) {
          falls[d] = (turned >> d & 1U) != 0;
          if (falls[d]) std::reverse(one.centers[d].begin(), one.centers[d].end());
        }
        EXPECT_EQ(read(written(m_folder / "a.nc", one, falls)).density, expected)
            << round << ' ' << order[0] << order[1] << order[2] << ' ' << turned;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(DensityArrays, AreKnownByAttributesAndByTheirOrder) {
  m_spec.easting = m_spec.northing = m_spec.upward = {0, 300, 3};
  // a cube of names that say nothing: by attributes, not by position
  ArrayOfCells file = array({"a", "b", "c"});
  file.order = {0, 2, 1};
  file.attributes = {{"/a", "axis", "X"}, {"/b", "standard_name", "projection_y_coordinate"}, {"/c", "positive", "up"}};
  EXPECT_EQ(densities(file), count_up(27));
  // whose coordinates are elsewhere along each direction, which tells them as well
  m_spec.northing = {1000, 1300, 3};
  m_spec.upward = {-300, 0, 3};
  file = array({"a", "b", "c"});
  EXPECT_EQ(densities(file), count_up(27));
  file.order = {0, 1, 2};
  EXPECT_THAT(refusal(file), HasSubstr("has /density at other cells than the model's: a is from "));
  // made up, or none: (upward, northing, easting)
  for (const std::array<std::string, 3>& names :
       {std::array<std::string, 3>{"dim_2", "dim_1", "dim_0"}, {"", "", ""}}) {
    file = array(names);
    file.centers = {};
    EXPECT_EQ(densities(file), count_up(27));
  }
  // names without coordinates
  file = array({"nx", "ny", "nz"});
  file.centers = {};
  file.order = {1, 0, 2};
  EXPECT_EQ(densities(file), count_up(27));
  // names that say nothing, and counts that do
  m_spec.upward = {-300, 0, 2};
  m_spec.easting = {0, 300, 4};
  file = array({"i", "j", "k"});
  file.centers = {};
  EXPECT_EQ(densities(file), count_up(24));
}

TEST_F(DensityArrays, OfPlainHdf5HaveCoordinatesByTheirNames) {
  ArrayOfCells file = array({"", "", ""});
  const auto with_upward = [&](std::vector<double> upward) {
    MadeHdf5 made(m_folder / "plain.h5");
    made.write("/density", {4, 3, 2}, file.values.data());
    made.write("/upward", {4}, upward.data());
    made.close();
    return m_folder / "plain.h5";
  };
  EXPECT_EQ(read(with_upward({0.5, 1.5, 2.5, 3.5})).density, count_up(24));
  EXPECT_EQ(read(with_upward({3.5, 2.5, 1.5, 0.5})).density[0], 19);
  EXPECT_THAT(message(with_upward({1, 2, 3, 4})),
              HasSubstr("upward is from 1 to 4 m, centres of cells along upward are "
                        "from 0.5 to 3.5 m"));
}

TEST_F(DensityArrays, HaveCoordinatesOfOtherNamesAndBounds) {
  // (i, k, j) of a group, easting falls, depths at the tops of layers that have bounds
  const auto with_bounds = [&](double shift) {
    MadeHdf5 file(m_folder / "g.nc");
    file.make_group("/model");
    file.make_dimension_without_values("/model/two", 2);
    const std::vector<double> easting{1.5, 0.5}, northing{0.5, 1.5, 2.5};
    std::vector<double> depth, bounds;
    for (const double top : {-4, -3, -2, -1}) {
      depth.push_back(top + shift);
      bounds.insert(bounds.end(), {top + 1 + shift, top + shift});
    }
    const auto add = [&](const std::string& name, const std::string& on, const std::vector<double>& values) {
      file.make_dimension_without_values("/model/" + on, std::ssize(values));
      file.write("/model/" + name, {std::ssize(values)}, values.data());
      file.attach_dimensions("/model/" + name, {"/model/" + on});
    };
    add("easting", "i", easting);
    add("northing", "j", northing);
    add("depth", "k", depth);
    file.write_attribute("/model/depth", "bounds", "layers");
    file.write("/model/layers", {4, 2}, bounds.data());
    std::vector<double> values;
    for (int i = 1; i >= 0; --i) {
      for (int k = 3; k >= 0; --k) {
        for (int j = 0; j < 3; ++j) values.push_back(1 + i + 2 * j + 6 * k);
      }
    }
    file.write("/model/rho", {2, 4, 3}, values.data());
    file.attach_dimensions("/model/rho", {"/model/i", "/model/k", "/model/j"});
    file.close();
    return m_folder / "g.nc";
  };
  EXPECT_EQ(read(with_bounds(0), "model/rho").density, count_up(24));
  EXPECT_THAT(message(with_bounds(0.5), "model/rho"), HasSubstr("at other cells than the model's: depth is from "));
}

TEST_F(DensityArrays, ThatCannotBePlacedAreRefused) {
  m_spec.easting = m_spec.northing = {0, 300, 3};
  m_spec.upward = {-300, 0, 3};
  const auto refused = [&](const std::array<std::string, 3>& names, const auto& change) {
    ArrayOfCells file = array(names);
    change(file);
    return refusal(file);
  };
  const auto as_it_is = [](ArrayOfCells&) {};
  const auto without_coordinates = [](ArrayOfCells& file) { file.centers = {}; };
  EXPECT_EQ(refused({"x", "y", "z"}, as_it_is), "");
  EXPECT_THAT(refused({"column", "row", "layer"}, without_coordinates),
              HasSubstr("over layer, which does not say whether it runs upwards or downwards"));
  EXPECT_THAT(refused({"x", "y", "depth"}, without_coordinates), HasSubstr("over depth, which does not say"));
  EXPECT_THAT(refused({"i", "j", "k"}, without_coordinates),
              HasSubstr("over (k, j, i), which do not say what they are; call them upward, northing and easting"));
  EXPECT_THAT(refused({"i", "j", "z"}, as_it_is), HasSubstr("over (z, j, i), which do not say"))
      << "coordinates are the same";
  EXPECT_THAT(refused({"x", "easting", "z"}, as_it_is), HasSubstr("over (z, easting, x); one dimension each"));
  EXPECT_THAT(refused({"x", "x", "z"}, as_it_is), HasSubstr("over (z, x, x); one dimension each"));
  EXPECT_THAT(refused({"lon", "lat", "z"}, as_it_is), HasSubstr("in degrees; cells are needed in metres"));
  EXPECT_THAT(refused({"lon", "lat", "z"}, without_coordinates), HasSubstr("in degrees"));
  const auto with = [](const char* of, const char* name, const char* value) {
    return [=](ArrayOfCells& file) { file.attributes.push_back({of, name, value}); };
  };
  EXPECT_THAT(refused({"x", "y", "z"}, with("/x", "units", "degrees_east")), HasSubstr("in degrees"));
  EXPECT_THAT(refused({"x", "y", "z"}, with("/z", "units", "hPa")),
              HasSubstr("has z in 'hPa'; lengths in m, km or ft"));
  EXPECT_THAT(refused({"x", "y", "z"}, with("/x", "axis", "Y")), HasSubstr("say different directions"));
  EXPECT_THAT(refused({"x", "y", "z"}, with("/z", "positive", "down")), HasSubstr("at other cells than the model's"));
  EXPECT_THAT(refused({"x", "y", "z"}, with("/z", "units", "km")), HasSubstr("z is from -250000 to -50000 m"));
  EXPECT_THAT(refused({"x", "y", "z"},
                      [](ArrayOfCells& file) {
                        for (double& height : file.centers[2]) height = -height;
                      }),
              HasSubstr("if it is a depth, give it the attribute positive: down"));
  for (const double wrong : {std::nan(""), 150.0, 1e300}) {
    EXPECT_THAT(refused({"x", "y", "z"}, [=](ArrayOfCells& file) { file.centers[0][2] = wrong; }), HasSubstr("has "))
        << wrong;
  }
  // half a cell is another place, what single precision leaves is not
  EXPECT_THAT(refused({"x", "y", "z"},
                      [](ArrayOfCells& file) {
                        for (double& easting : file.centers[0]) easting -= 50;
                      }),
              HasSubstr("x is from 0 to 200 m, centres of cells along easting are from 50 to 250 m"));
  m_spec.northing = {7'100'003, 7'100'078, 3};
  const auto in_single = [](ArrayOfCells& file) {
    for (double& northing : file.centers[1]) northing = static_cast<double>(static_cast<float>(northing));
  };
  EXPECT_EQ(refused({"x", "y", "z"}, in_single), "");
  EXPECT_THAT(refused({"x", "y", "z"},
                      [](ArrayOfCells& file) {
                        for (double& northing : file.centers[1]) northing += 12.5;
                      }),
              HasSubstr("y is from 7100028 to 7100078 m"));
}

TEST_F(DensityArrays, HaveLevelsWhereTheMeshSaysSo) {
  m_spec.upward = {-300, 0, 3};
  ArrayOfCells file = array({"x", "y", "lev"});
  EXPECT_EQ(densities(file), count_up(18));
  for (double& height : file.centers[2]) height = -height;
  EXPECT_EQ(densities(file), count_up(18)) << "depths, by the mesh";
  m_spec.upward = {-150, 150, 3};
  EXPECT_THAT(refusal(array({"x", "y", "lev"})), HasSubstr("lev, which does not say whether it runs upwards"));
}

TEST_F(DensityArrays, MayBeInTheirOwnUnits) {
  ArrayOfCells file = array({"x", "y", "z"});
  for (std::vector<double>& list : file.centers) {
    for (double& center : list) center /= 1000;
  }
  for (const char* name : {"/x", "/y", "/z"}) file.attributes.push_back({name, "units", "km"});
  EXPECT_EQ(densities(file), count_up(24));
  file.attributes.push_back({"/density", "units", ""});
  const auto factor = [&](const std::string& unit, std::optional<double> to_si) {
    file.attributes.back()[2] = unit;
    m_spec.density = DensityFile{written(m_folder / "a.nc", file), "", to_si};
    double found = 0;
    const std::string wrong = mistakes([&] { found = read_all(*made(voxels_case(), m_spec)).density[0]; });
    return wrong.empty() ? fmt::format("{}", found) : wrong;
  };
  for (const char* unit : {"g/cm3", "g cm-3", "g cm^-3", "g.cm-3", "g/cm**3", "g/cc", "t/m3", "G/CM3"}) {
    EXPECT_EQ(factor(unit, std::nullopt), "1000") << unit;
    EXPECT_EQ(factor(unit, 1000), "1000") << unit;
    EXPECT_THAT(factor(unit, 1), HasSubstr("model.voxels.density.density_unit denies; take one of the two out"));
  }
  for (const char* unit : {"kg/m3", "kg m-3", "kg m^-3", "", "kg*m**-3"})
    EXPECT_EQ(factor(unit, std::nullopt), "1") << unit;
  EXPECT_THAT(factor("kg/m3", 1000), HasSubstr("denies"));
  EXPECT_THAT(factor("slug/ft3", std::nullopt),
              HasSubstr("has /density in 'slug/ft3'; kg/m3 and g/cm3 are known: say by "
                        "model.voxels.density.density_unit which it is"));
  EXPECT_EQ(factor("slug/ft3", 1000), "1000");
}

TEST_F(DensityArrays, UnderAnotherNameAreNamed) {
  MadeHdf5 file(m_folder / "rho.nc");
  file.write("/rho", {4, 3, 2}, count_up(24).data());
  file.close();
  EXPECT_THAT(message(m_folder / "rho.nc"), HasSubstr("has no dataset /density, but one of three dimensions; write "
                                                      "dataset: rho beside it to read that"));
}

TEST_F(DensityArrays, WithoutCoordinatesAreNoPlaceholders) {
  ArrayOfCells file = array({"easting", "northing", "upward"});
  file.centers = {};
  EXPECT_EQ(densities(file), count_up(24));
  const Hdf5File opened = Hdf5File::open(m_folder / "a.nc");
  EXPECT_THAT(opened.dataset_names(), ::testing::ElementsAre("density"));
  EXPECT_FALSE(opened.has("/upward"));
  EXPECT_THAT(opened.dimension_names("/density"), ::testing::ElementsAre("upward", "northing", "easting"));
}

}  // namespace
}  // namespace prismfield::test_density_file
