// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/foreign_formats.hpp"
#include "formats/input_file.hpp"
#include "made_hdf5.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace prismfield::test_input_file {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mistakes;
using testing::ScratchFolder;

class InputFileTest : public ::testing::Test {
protected:
  static InputFile named(const std::filesystem::path& path) { return {path, "case.yaml:7", "model.file"}; }
  ScratchFolder m_folder;
};

TEST_F(InputFileTest, TellsArraysByTheirContent) {
  MadeHdf5(m_folder / "a.csv").close();
  EXPECT_TRUE(is_array_file(named(m_folder / "a.csv")));
  EXPECT_FALSE(is_array_file(named(m_folder.write("b.csv", "1,2\n"))));
  EXPECT_FALSE(is_array_file(named(m_folder.write("c.csv", ""))));
  EXPECT_THAT(mistakes([&] { (void)is_array_file(named(m_folder.write("d.nc", "1,2\n"))); }),
              HasSubstr("is no HDF5 or netCDF file"));
  EXPECT_TRUE(is_array_file(named(m_folder.write("e.grd", "CDF\x05"))));
  // a suffix says nothing of .grd, and of others nothing against what readers of surfaces take
  for (const char* name : {"a.grd", "a.nc", "a.NC"}) {
    for (const char* text : {"DSAA\n2 2\n", "ncols 2\nnrows 2\n"}) {
      EXPECT_FALSE(is_array_file(named(m_folder.write(name, text)))) << name;
    }
  }
  EXPECT_THAT(mistakes([&] { (void)is_array_file(named(m_folder.write("f.H5", "\x1f\x8b\b"))); }),
              HasSubstr("f.H5' is compressed by gzip; unpack it: gunzip -k IN"));
}

TEST_F(InputFileTest, NamesForeignFormatsByTheirBytes) {
  using namespace std::string_literals;
  const auto name = [&](const std::string& content, const char* file = "a.csv") {
    const auto found = foreign_format(file, content);
    return found ? std::string(found->name) : "";
  };
  const auto zip = [](const std::string& first) {
    return "PK\x03\x04"s + std::string(22, '\0') + static_cast<char>(first.size()) + "\0\0\0"s + first + "content";
  };
  const auto geosoft = [](std::int32_t size, std::int32_t kind, std::int32_t way) {
    const std::array<std::int32_t, 5> head{size, kind, 5, 4, way};
    return std::string(reinterpret_cast<const char*>(head.data()), sizeof(head)) + std::string(492, '\0');
  };
  for (const auto& [content, expected] :
       {std::pair{"DSAA\n5 4\n"s, "a Surfer grid (DSAA)"},
        std::pair{"DSBB\5\0\4\0"s, "a Surfer grid (DSBB)"},
        std::pair{"DSRB\4\0\0\0"s, "a Surfer grid (DSRB)"},
        std::pair{"\n NCOLS 5\nNROWS 4\n"s, "an ESRI ASCII grid"},
        std::pair{geosoft(4, 2, 1), "a Geosoft grid"},
        std::pair{geosoft(1026, 1, -1), "a Geosoft grid"},
        std::pair{geosoft(4, 2, 5), ""},
        std::pair{geosoft(3, 2, 1), ""},
        std::pair{"\x1f\x8b\x08\0"s, "compressed by gzip"},
        std::pair{"BZh91AY&SY"s, "compressed by bzip2"},
        std::pair{"\xFD"
                  "7zXZ\0"s,
                  "compressed by xz"},
        std::pair{"\x93NUMPY\1\0"s, "a NumPy array (.npy)"},
        std::pair{zip("[Content_Types].xml"), "a spreadsheet (.xlsx, .ods)"},
        std::pair{zip("mimetype"), "a spreadsheet (.xlsx, .ods)"},
        std::pair{zip("arr_0.npy"), "a NumPy archive (.npz)"},
        std::pair{zip("doc.kml"), "KMZ"},
        std::pair{zip("data.csv"), "a zip archive"},
        std::pair{"PK\x03\x04"s, "a zip archive"},
        std::pair{"%PDF-1.4\n"s, "a PDF"},
        std::pair{"\0\0\x27\x0a\0\0"s, "a shapefile"},
        std::pair{"SQLite format 3\0"s, "a GeoPackage or another SQLite database"},
        std::pair{"\xEF\xBB\xBF<?xml version=\"1.0\"?>"s, "XML (KML, GML, VTK)"},
        std::pair{"<!DOCTYPE html>"s, "a web page"},
        std::pair{"{\"type\": \"FeatureCollection\"}"s, "JSON (GeoJSON)"},
        std::pair{"DatasetHeader Begin\n"s, "an ER Mapper grid (.ers)"},
        std::pair{"$MeshFormat\n2.2 0 8\n"s, "a Gmsh mesh"},
        std::pair{"! data\ndatacomp=xx,xy\n2\n"s, "a UBC file of gradients (GG3D)"}}) {
    EXPECT_EQ(name(content), expected) << content;
  }
  // text that is read here, and what has no signature
  for (const char* text : {"", "1 2 3\n", "easting,northing,upward\n", "! ncols\n1\n", "# <html>\n1 2 3\n",
                           "PARALLEL 1\n", "Line 10\n1 2 3\n", "/ x y z\n", "> -Z1\n", "DS 1 2\n"}) {
    EXPECT_EQ(name(text), "") << text;
  }
  // a suffix counts for bytes alone
  EXPECT_EQ(name("\0\1\0\2"s, "S21E055.hgt"), "an SRTM tile (.hgt) in degrees");
  EXPECT_EQ(name("\1,\1,", "S21E055.HGT"), "an SRTM tile (.hgt) in degrees");
  EXPECT_EQ(name("1 2 3\n", "S21E055.hgt"), "");
  EXPECT_EQ(name("\0\1\0\2"s, "a.grd"), "");
}

TEST_F(InputFileTest, NamesAGeoh5Workspace) {
  MadeHdf5 made(m_folder / "a.h5");
  made.make_group("/GEOSCIENCE");
  made.close();
  EXPECT_THAT(mistakes([&] { (void)is_array_file(named(m_folder / "a.h5")); }),
              HasSubstr("a.h5' is a geoh5 workspace"));
}

TEST_F(InputFileTest, SaysThatAFileWasChangedWhileItWasRead) {
  const std::vector<double> values = {1, 2, 3};
  const auto make = [&](const char* name) {
    MadeHdf5 made(m_folder / name);
    made.write("/x", {3}, values.data());
    made.write("/y", {3}, values.data());
    made.close();
  };
  make("a.h5");
  make("b.h5");
  const ArrayFile file(named(m_folder / "a.h5"));
  EXPECT_THAT(file.read("/x"), ElementsAre(1, 2, 3));
  std::filesystem::rename(m_folder / "b.h5", m_folder / "a.h5");
  EXPECT_THAT(mistakes([&] { (void)file.read("/y"); }), HasSubstr("was changed while it was read"));
}

TEST_F(InputFileTest, TakesNothingFromAPipe) {
  const auto pipe = m_folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // opening it would wait for ever
  EXPECT_FALSE(is_array_file(named(pipe)));
}

TEST_F(InputFileTest, TurnsHdf5FailuresIntoMistakes) {
  MadeHdf5 made(m_folder / "a.h5");
  made.write_text("/words", "stone");
  made.make_group("/group");
  const std::vector<double> values = {1, 2, 3};
  made.write("/x", {3}, values.data());
  made.write("/z", {1, 3}, values.data());
  made.make_dimension("/x");
  made.make_dimension_without_values("/y", 1);
  made.attach_dimensions("/z", {"/y", "/x"});
  made.close();
  const ArrayFile file(named(m_folder / "a.h5"));
  EXPECT_THAT(file.read("/x"), ElementsAre(1, 2, 3));
  EXPECT_THAT(file.shape("/z"), ElementsAre(1, 3));
  EXPECT_THAT(file.dimension_names("/z"), ElementsAre("y", "x"));
  EXPECT_THAT(file.dimension_names("/x"), ElementsAre("x"));
  EXPECT_TRUE(file.has("/group"));
  EXPECT_FALSE(file.has("/group/x"));
  for (const char* name : {"/words", "/group", "/none"}) {
    EXPECT_THAT(mistakes([&] { (void)file.read(name); }),
                AllOf(HasSubstr("case.yaml:7: model.file: "), HasSubstr(name)));
  }
  EXPECT_THAT(mistakes([&] { (void)file.dataset_names("/none"); }), HasSubstr("has no group /none"));
  EXPECT_THAT(mistakes([&] { ArrayFile(named(m_folder.write("b.h5", "text"))); }),
              HasSubstr("case.yaml:7: model.file: "));
}

TEST(ShapeText, ListsExtents) {
  EXPECT_EQ(shape_text({50, 700, 700}), "(50, 700, 700)");
  EXPECT_EQ(shape_text({}), "()");
}

}  // namespace
}  // namespace prismfield::test_input_file
