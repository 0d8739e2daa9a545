// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "made_model.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

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

TEST_F(DensityFiles, WhoseCoordinatesDescendAreRefused) {
  MadeHdf5 file(m_folder / "down.nc");
  const std::vector<double> upward = {4, 3, 2, 1}, northing = {1, 2, 3}, easting = {1, 2}, values = count_up(24);
  file.write("/upward", {4}, upward.data());
  file.write("/northing", {3}, northing.data());
  file.write("/easting", {2}, easting.data());
  for (const char* name : {"/upward", "/northing", "/easting"}) file.make_dimension(name);
  file.write("/density", {4, 3, 2}, values.data());
  file.attach_dimensions("/density", {"/upward", "/northing", "/easting"});
  file.close();
  EXPECT_THAT(message(m_folder / "down.nc"), HasSubstr("coordinates upward that descend"));
}

}  // namespace
}  // namespace prismfield::test_density_file
