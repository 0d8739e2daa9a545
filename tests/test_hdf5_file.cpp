// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace prismfield::test_hdf5_file {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_samples::content;
using testing_samples::flip_a_bit_of;

/// HDF5 must print nothing in any test.
class Hdf5FileTest : public testing_samples::FolderTest {
protected:
  Hdf5FileTest() { ::testing::internal::CaptureStderr(); }
  ~Hdf5FileTest() override { EXPECT_EQ(::testing::internal::GetCapturedStderr(), ""); }
  static fs::path sample(const std::string& name) { return fs::path(PRISMFIELD_SOURCE_DIR) / "tests" / "data" / name; }
};

/// The message of the RunError that `action` throws.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(Hdf5FileTest, ReturnsWhatWasWritten) {
  const std::vector<double> values{
      1.0, -0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min(), 1e308, 0.1};
  const std::vector<std::int64_t> counts{0, -1, std::int64_t{1} << 52};
  const double scalar = 42.5;
  const std::string long_text(200'000, 'x');
  {
    MadeHdf5 file(path("a.h5"));
    file.make_group("/group");
    file.write("values", {2, 3}, values.data());
    file.write("/group/counts", {3}, counts.data());
    file.write("scalar", {}, &scalar);
    file.write("nothing", {0}, values.data());
    file.write_text("text", long_text);
    file.write_attribute("/", "title", "Große Mulde");
    file.write_attribute("/", "plain", "mGal");
    file.write_attribute("/", "empty", "");
    file.write_attribute("values", "factor", 0.1);
    file.write_attribute("/group", "pairs", std::numeric_limits<std::int64_t>::max());
    file.write_attribute("values", "factor", 0.2);
    file.close();
  }
  const Hdf5File file = Hdf5File::open(path("a.h5"));
  EXPECT_EQ(file.shape("values"), (std::vector<std::int64_t>{2, 3}));
  const auto read = file.read("/values");
  ASSERT_EQ(read, values);
  EXPECT_TRUE(std::signbit(read[1]));
  EXPECT_EQ(file.read("/group/counts"), (std::vector<double>{0, -1, 4503599627370496.0}));
  EXPECT_TRUE(file.shape("scalar").empty());
  EXPECT_EQ(file.read("scalar"), std::vector<double>{42.5});
  EXPECT_EQ(file.shape("nothing"), std::vector<std::int64_t>{0});
  EXPECT_TRUE(file.read("nothing").empty());
  EXPECT_THAT(file.read_texts("text"), ElementsAre(long_text));
  EXPECT_EQ(file.read_text_attribute("/", "title"), "Große Mulde");
  EXPECT_EQ(file.read_text_attribute("/", "plain"), "mGal");
  EXPECT_EQ(file.read_text_attribute("/", "empty"), "");
  EXPECT_EQ(file.read_attribute("values", "factor"), 0.2);
  EXPECT_EQ(file.read_attribute("/group", "pairs"), 9223372036854775807.0);
  EXPECT_THAT(file.dataset_names(), ElementsAre("nothing", "scalar", "text", "values"));
  EXPECT_THAT(file.dataset_names("/group"), ElementsAre("counts"));
}

TEST_F(Hdf5FileTest, ReadsListsOfTexts) {
  const std::vector<double> numbers{1, 2, 3};
  const std::vector<std::string> texts{"tr\u00e4s", "", "a\tb"};
  MadeHdf5 made(path("a.h5"));
  made.write_texts("texts", texts);
  made.write("numbers", {3}, numbers.data());
  made.write_texts("none", {});
  made.write_text("one", "alone");
  made.close();
  const Hdf5File file = Hdf5File::open(path("a.h5"));
  EXPECT_EQ(file.read_texts("texts"), texts);
  EXPECT_THAT(file.read_texts("none"), IsEmpty());
  EXPECT_TRUE(file.is_text("texts"));
  EXPECT_FALSE(file.is_text("numbers"));
  EXPECT_THAT(message_of([&] { (void)file.read_texts("numbers"); }), HasSubstr("holds numbers, not text"));
  EXPECT_THAT(file.read_texts("one"), ElementsAre("alone"));
  EXPECT_THAT(file.dataset_names("/", NameOrder::as_made), ElementsAre("texts", "numbers", "none", "one"));
  // of fixed length, filled up by zeros or blanks, in a file that keeps no order
  const hid_t other = H5Fcreate(path("b.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const auto& [name, padding, bytes] : {std::tuple{"zeros", H5T_STR_NULLPAD, std::string("ab\0c \0def", 9)},
                                             std::tuple{"blanks", H5T_STR_SPACEPAD, std::string("ab c  def")}}) {
    const hsize_t n = 3;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, nullptr);
    H5Tset_size(type, 3);
    H5Tset_strpad(type, padding);
    const hid_t dataset = H5Dcreate2(other, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
  }
  H5Fclose(other);
  const Hdf5File fixed = Hdf5File::open(path("b.h5"));
  EXPECT_THAT(fixed.read_texts("zeros"), ElementsAre("ab", "c ", "def"));
  EXPECT_THAT(fixed.read_texts("blanks"), ElementsAre("ab", "c", "def"));
  EXPECT_THAT(fixed.dataset_names("/", NameOrder::as_made), ElementsAre("blanks", "zeros"));
}

TEST_F(Hdf5FileTest, EveryBitOfASealedFileCounts) {
  const std::vector<double> values{1, 2, 3};
  Hdf5File made = Hdf5File::create_in_memory(path("a.h5"));
  made.write("values", {3}, values.data());
  made.write_attribute("values", "units", "mGal");
  std::string whole;
  made.write_sealed([&](const void* bytes, std::size_t n) { whole.append(static_cast<const char*>(bytes), n); });
  const auto read = [&](const std::string& bytes) {
    std::ofstream(path("a.h5"), std::ios::binary) << bytes;
    return Hdf5File::open(path("a.h5")).read("values");
  };
  EXPECT_EQ(read(whole), values);
  // another program that adds to the file cuts the seal off, and files of older versions have none
  const std::size_t n = made.image().size();
  EXPECT_EQ(read(whole.substr(0, n)), values);
  constexpr std::size_t mark = 16;
  for (std::size_t i = 0; i < whole.size(); i += i + 100 < whole.size() ? 7 : 1) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    if (i + mark < whole.size()) {
      EXPECT_THAT(message_of([&] { static_cast<void>(read(bytes)); }),
                  AllOf(HasSubstr("a.h5: its bytes are not those that were written"), HasSubstr("copy")))
          << i;
    } else {
      EXPECT_EQ(read(bytes), values);
    }
  }
  for (std::size_t i = n + 1; i < whole.size(); i += 5) EXPECT_EQ(read(whole.substr(0, i)), values);
}

TEST_F(Hdf5FileTest, KnowsWhatIsThere) {
  const Hdf5File file = Hdf5File::open(sample("samples.h5"));
  EXPECT_TRUE(file.has("/"));
  EXPECT_TRUE(file.has("scalar"));
  EXPECT_TRUE(file.has("/deep/group/west"));
  EXPECT_TRUE(file.has("deep"));
  EXPECT_TRUE(file.has("link"));
  EXPECT_FALSE(file.has("/deep/none/west"));
  EXPECT_FALSE(file.has("dangling"));
  EXPECT_FALSE(file.has("scalar/below"));
  EXPECT_TRUE(file.has_attribute("/", "fixed"));
  EXPECT_FALSE(file.has_attribute("/", "none"));
  EXPECT_FALSE(file.has_attribute("/nowhere", "none"));
  EXPECT_THAT(file.dataset_names("/deep/group"), ElementsAre("east", "west"));
  EXPECT_TRUE(file.dataset_names("/deep").empty());
}

TEST_F(Hdf5FileTest, ReadsEveryNumericType) {
  const Hdf5File file = Hdf5File::open(sample("samples.h5"));
  EXPECT_EQ(file.read("scalar"), std::vector<double>{2.5});
  EXPECT_THAT(file.read("float32"), ElementsAre(1.5, -2.25, static_cast<double>(0.1F)));
  EXPECT_THAT(file.read("big_endian"), ElementsAre(1, -2, 70000));
  EXPECT_THAT(file.read("unsigned"), ElementsAre(0, 255));
  EXPECT_THAT(file.read("link"), ElementsAre(1));
  EXPECT_EQ(file.shape("cube"), (std::vector<std::int64_t>{2, 3, 4}));
  std::vector<double> expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(file.read("cube"), expected);
  EXPECT_EQ(file.shape("empty"), (std::vector<std::int64_t>{0, 3}));
  EXPECT_TRUE(file.read("empty").empty());
}

TEST_F(Hdf5FileTest, TurnsFillValuesIntoNanAndUnpacks) {
  const Hdf5File file = Hdf5File::open(sample("samples.h5"));
  const auto chunked = file.read("chunked");
  ASSERT_EQ(chunked.size(), 1000U);
  for (std::size_t i = 0; i < chunked.size(); ++i) {
    if (i == 13) {
      EXPECT_TRUE(std::isnan(chunked[i]));
    } else {
      EXPECT_EQ(chunked[i], static_cast<double>(i));
    }
  }
  // stored 0, 100, _FillValue, missing_value; value = stored * 0.5 + 10
  const auto packed = file.read("packed");
  ASSERT_EQ(packed.size(), 4U);
  EXPECT_EQ(packed[0], 10.0);
  EXPECT_EQ(packed[1], 60.0);
  EXPECT_TRUE(std::isnan(packed[2]));
  EXPECT_TRUE(std::isnan(packed[3]));

  const auto elevation = Hdf5File::open(sample("netcdf.nc")).read("elevation");
  ASSERT_EQ(elevation.size(), 6U);
  EXPECT_EQ(elevation[3], 4.0);
  EXPECT_TRUE(std::isnan(elevation[4]));
}

TEST_F(Hdf5FileTest, ReadsTextOfEveryKind) {
  const Hdf5File file = Hdf5File::open(sample("samples.h5"));
  EXPECT_THAT(file.read_texts("text_variable"), ElementsAre("Große Mulde"));
  EXPECT_THAT(file.read_texts("text_fixed"), ElementsAre("fixed"));
  EXPECT_EQ(file.read_text_attribute("/", "variable"), "über");
  EXPECT_EQ(file.read_text_attribute("/", "fixed"), "plain");
  EXPECT_EQ(file.read_text_attribute("/", "nothing"), "");
  EXPECT_EQ(file.read_attribute("/", "number"), -7.0);
  EXPECT_EQ(file.read_attribute("/", "one_element"), 0.25);
}

TEST_F(Hdf5FileTest, NamesDimensions) {
  const Hdf5File netcdf = Hdf5File::open(sample("netcdf.nc"));
  EXPECT_THAT(netcdf.dimension_names("elevation"), ElementsAre("band", "northing", "easting"));
  EXPECT_THAT(netcdf.dimension_names("northing"), ElementsAre("northing"));
  const Hdf5File plain = Hdf5File::open(sample("samples.h5"));
  EXPECT_THAT(plain.dimension_names("cube"), ElementsAre("", "", ""));
  EXPECT_TRUE(plain.dimension_names("scalar").empty());
}

TEST_F(Hdf5FileTest, WritesDimensionsThatItReads) {
  const std::vector<double> values(6, 1.0);
  {
    MadeHdf5 file(path("d.h5"));
    file.write("northing", {2}, values.data());
    file.make_dimension("northing");
    file.make_dimension_without_values("station", 3);
    file.write("both", {2, 3}, values.data());
    file.attach_dimensions("both", {"northing", "station"});
    file.write("one", {3}, values.data());
    file.attach_dimensions("one", {"station"});
    EXPECT_THAT(message_of([&] { file.attach_dimensions("both", {"northing"}); }), HasSubstr("both"));
    EXPECT_THAT(message_of([&] {
                  file.attach_dimensions("both", {"station", "northing"});
                }),
                HasSubstr("another length"));
    EXPECT_THAT(message_of([&] { file.attach_dimensions("one", {"both"}); }), HasSubstr("is no dimension scale"));
    EXPECT_THAT(message_of([&] { file.make_dimension("both"); }), HasSubstr("both"));
    file.close();
  }
  const Hdf5File file = Hdf5File::open(path("d.h5"));
  EXPECT_THAT(file.dimension_names("both"), ElementsAre("northing", "station"));
  EXPECT_THAT(file.dimension_names("one"), ElementsAre("station"));
  EXPECT_EQ(file.read_text_attribute("northing", "CLASS"), "DIMENSION_SCALE");
  EXPECT_EQ(file.read_text_attribute("northing", "NAME"), "northing");
  EXPECT_EQ(file.read_text_attribute("station", "NAME"),
            "This is a netCDF dimension but not a netCDF variable.         3");
}

TEST_F(Hdf5FileTest, DimensionScalesAreThoseOfHdf5) {
  const std::vector<double> values(6, 1.0);
  for (const char* name : {"first.h5", "second.h5"}) {
    MadeHdf5 file(path(name));
    file.write("northing", {2}, values.data());
    file.make_dimension("northing");
    file.make_dimension_without_values("station", 3);
    for (const char* dataset : {"a", "b", "c"}) {
      file.write(dataset, {2, 3}, values.data());
      file.attach_dimensions(dataset, {"northing", "station"});
    }
    file.close();
  }
  const hid_t file = H5Fopen(path("first.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  for (const char* name : {"northing", "station"}) {
    const hid_t scale = H5Dopen2(file, name, H5P_DEFAULT);
    EXPECT_GT(H5DSis_scale(scale), 0);
    for (const char* dataset : {"a", "b", "c"}) {
      const hid_t user = H5Dopen2(file, dataset, H5P_DEFAULT);
      EXPECT_GT(H5DSis_attached(user, scale, std::string(name) == "station" ? 1 : 0), 0) << name << ' ' << dataset;
      EXPECT_EQ(H5DSget_num_scales(user, 0), 1);
      H5Dclose(user);
    }
    H5Dclose(scale);
  }
  H5Fclose(file);
  const auto bytes = [&](const char* name) {
    std::ifstream in(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("first.h5"), bytes("second.h5")) << "the same calls give the same bytes";
}

TEST_F(Hdf5FileTest, IntegersComeBackExactlyOrNotAtAll) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> integers = {smallest, smallest + 1, -1, 0, (std::int64_t{1} << 53) + 1, largest};
  const double half = 0.5;
  {
    MadeHdf5 file(path("i.h5"));
    file.write("integers", {2, 3}, integers.data());
    file.write("none", {0}, integers.data());
    file.write("half", {1}, &half);
    file.close();
  }
  {
    const hid_t file = H5Fopen(path("i.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    for (const auto& [name, value] :
         {std::pair{"beyond", ~std::uint64_t{0}}, std::pair{"unsigned", std::uint64_t{7}}}) {
      const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
      H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Fclose(file);
  }
  const Hdf5File file = Hdf5File::open(path("i.h5"));
  EXPECT_EQ(file.read_integers("integers"), integers);
  EXPECT_TRUE(file.read_integers("none").empty());
  EXPECT_EQ(file.read_integers("unsigned"), std::vector<std::int64_t>{7});
  EXPECT_THAT(message_of([&] { (void)file.read_integers("half"); }), HasSubstr("half: holds numbers that are no int"));
  EXPECT_THAT(message_of([&] { (void)file.read_integers("beyond"); }), HasSubstr("beyond: holds an integer beyond"));
  EXPECT_THAT(message_of([&] { (void)file.read_integers("missing"); }), HasSubstr("no such dataset"));
  const Hdf5File samples = Hdf5File::open(sample("samples.h5"));
  EXPECT_THAT(samples.read_integers("big_endian"), ElementsAre(1, -2, 70000));
}

TEST_F(Hdf5FileTest, SaysWhyAFileIsNotOpened) {
  const auto reason = [](const fs::path& file) { return message_of([&] { (void)Hdf5File::open(file); }); };
  EXPECT_EQ(reason(path("none.h5")), path("none.h5").string() + ": does not exist");
  EXPECT_EQ(reason(path("")), path("").string() + ": is a folder");
  std::ofstream(path("empty.h5"));
  EXPECT_THAT(reason(path("empty.h5")), HasSubstr("empty.h5: is empty"));
  std::ofstream(path("text.h5")) << "west,east\n1,2\n";
  EXPECT_THAT(reason(path("text.h5")), HasSubstr("text.h5: is not an HDF5 or netCDF-4 file"));
  EXPECT_THAT(reason(sample("classic.nc")), AllOf(HasSubstr("classic format"), HasSubstr("nccopy")));

  fs::copy_file(sample("samples.h5"), path("cut.h5"));
  fs::resize_file(path("cut.h5"), fs::file_size(path("cut.h5")) / 2);
  EXPECT_THAT(reason(path("cut.h5")), HasSubstr("cut.h5: is a damaged HDF5 file"));
}

TEST_F(Hdf5FileTest, NamesFileAndObjectOfAMistake) {
  const Hdf5File file = Hdf5File::open(sample("samples.h5"));
  const auto reading = [&](const std::string& dataset) { return message_of([&] { (void)file.read(dataset); }); };
  for (const char* name : {"none", "deep", "text_fixed", "compound", "huge", "strange_scale", "dangling"}) {
    EXPECT_THAT(reading(name), AllOf(HasSubstr("samples.h5: "), HasSubstr(name))) << name;
  }
  EXPECT_THAT(reading("none"), HasSubstr("no such dataset"));
  EXPECT_THAT(reading("deep"), HasSubstr("is a group"));
  EXPECT_THAT(reading("text_fixed"), HasSubstr("holds text"));
  EXPECT_THAT(reading("huge"), HasSubstr("memory"));
  EXPECT_THAT(message_of([&] { (void)file.shape("none"); }), HasSubstr("none"));
  EXPECT_THAT(message_of([&] { (void)file.read_texts("cube"); }), HasSubstr("cube: holds numbers"));
  EXPECT_THAT(message_of([&] { (void)file.read_attribute("/", "none"); }), HasSubstr("/@none"));
  EXPECT_THAT(message_of([&] { (void)file.read_attribute("/", "two_elements"); }), HasSubstr("must be one number"));
  EXPECT_THAT(message_of([&] { (void)file.read_attribute("/", "fixed"); }), HasSubstr("holds text"));
  EXPECT_THAT(message_of([&] { (void)file.read_text_attribute("/", "number"); }), HasSubstr("holds numbers"));
  EXPECT_THAT(message_of([&] { (void)file.dataset_names("/nowhere"); }), HasSubstr("/nowhere"));
  EXPECT_THAT(message_of([&] { (void)file.dataset_names("/scalar"); }), HasSubstr("is a dataset"));
}

/// Calls make(file) with a new file of HDF5's own and returns what reading "values" of it then says.
template <class Make>
std::string reading_after(const fs::path& name, Make make) {
  const hid_t file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  make(file);
  H5Fclose(file);
  return message_of([&] { (void)Hdf5File::open(name).read("values"); });
}

/// A dataset "values" of 1000 doubles with the properties given; written when `written`.
void make_values(hid_t file, hid_t properties, bool written, hid_t type = H5T_NATIVE_DOUBLE) {
  const hsize_t count = 1000;
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t dataset = H5Dcreate2(file, "values", type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  const std::vector<double> values(count, 1.0);
  if (written) H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  H5Sclose(space);
}

TEST_F(Hdf5FileTest, OpensNoOtherFile) {
  const double secret = 42;
  {
    MadeHdf5 other(path("other.h5"));
    other.make_group("/group");
    other.write("/group/values", {1}, &secret);
    other.close();
  }
  const auto link_to = [&](hid_t file, const char* object, const char* name) {
    H5Lcreate_external("other.h5", object, file, name, H5P_DEFAULT, H5P_DEFAULT);
  };
  EXPECT_THAT(reading_after(path("l.h5"), [&](hid_t file) { link_to(file, "/group/values", "values"); }),
              AllOf(HasSubstr("l.h5: values: is a link to '/group/values' in the file 'other.h5'"),
                    HasSubstr("put the data into this file")));
  {
    const hid_t file = H5Fcreate(path("way.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    link_to(file, "/group", "folder");
    H5Lcreate_soft("/folder/values", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
  }
  const Hdf5File way = Hdf5File::open(path("way.h5"));
  EXPECT_THAT(message_of([&] { (void)way.read("/folder/values"); }), HasSubstr("in the file 'other.h5'"));
  EXPECT_THAT(message_of([&] { (void)way.read("soft"); }), HasSubstr("in the file 'other.h5'"));
  EXPECT_THAT(way.dataset_names(), ElementsAre());

  std::ofstream(path("raw")) << std::string(8000, 'x');
  EXPECT_THAT(reading_after(path("e.h5"),
                            [&](hid_t file) {
                              const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
                              H5Pset_external(list, fs::absolute(path("raw")).c_str(), 0, 8000);
                              make_values(file, list, false);
                              H5Pclose(list);
                            }),
              HasSubstr("e.h5: values: its values lie in other files (external storage)"));
  EXPECT_THAT(reading_after(path("v.h5"),
                            [](hid_t file) {
                              const hsize_t count = 1, all = 1000;
                              const hid_t source = H5Screate_simple(1, &count, nullptr);
                              const hid_t space = H5Screate_simple(1, &all, nullptr);
                              const hsize_t start = 0;
                              H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
                              const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
                              H5Pset_virtual(list, space, "other.h5", "/group/values", source);
                              make_values(file, list, false);
                              H5Pclose(list);
                              H5Sclose(space);
                              H5Sclose(source);
                            }),
              HasSubstr("v.h5: values: its values lie in other files (virtual dataset)"));
}

TEST_F(Hdf5FileTest, LoadsNoPluginForAFile) {
  constexpr H5Z_filter_t unknown = 32015;
  EXPECT_THAT(reading_after(path("f.h5"),
                            [](hid_t file) {
                              const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
                              const hsize_t chunk = 100;
                              H5Pset_chunk(list, 1, &chunk);
                              H5Pset_filter(list, unknown, H5Z_FLAG_OPTIONAL, 0, nullptr);
                              make_values(file, list, true);
                              H5Pclose(list);
                            }),
              AllOf(HasSubstr("values: is compressed by the filter 32015"), HasSubstr("h5repack -f GZIP=4")));
  unsigned plugins = 1;
  H5PLget_loading_state(&plugins);
  EXPECT_EQ(plugins, 0U);
}

TEST_F(Hdf5FileTest, RefusesCompressionOfCompression) {
  EXPECT_THAT(reading_after(path("f.h5"),
                            [](hid_t file) {
                              const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
                              const hsize_t chunk = 100;
                              H5Pset_chunk(list, 1, &chunk);
                              H5Pset_deflate(list, 9);
                              H5Pset_deflate(list, 9);
                              make_values(file, list, true);
                              H5Pclose(list);
                            }),
              HasSubstr("values: is compressed more than once by the same filter"));
}

TEST_F(Hdf5FileTest, SaysWhatWasNeverWritten) {
  EXPECT_THAT(reading_after(path("n.h5"), [](hid_t file) { make_values(file, H5P_DEFAULT, false); }),
              HasSubstr("n.h5: values: was never written"));
#if H5_VERSION_GE(1, 10, 5)
  EXPECT_THAT(reading_after(path("p.h5"),
                            [](hid_t file) {
                              const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
                              const hsize_t chunk = 100, part = 150;
                              H5Pset_chunk(list, 1, &chunk);
                              make_values(file, list, false);
                              H5Pclose(list);
                              const hid_t dataset = H5Dopen2(file, "values", H5P_DEFAULT);
                              const hid_t space = H5Dget_space(dataset);
                              const hid_t memory = H5Screate_simple(1, &part, nullptr);
                              const hsize_t start = 0;
                              H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &part, nullptr);
                              const std::vector<double> values(part, 1.0);
                              H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data());
                              H5Sclose(memory);
                              H5Sclose(space);
                              H5Dclose(dataset);
                            }),
              HasSubstr("p.h5: values: 8 of its 10 chunks were never written"));
#endif
}

TEST_F(Hdf5FileTest, SizesAreComparedWithTheMemoryThatIsFree) {
  // 2 KB on the disk; what is counted must not wrap round either
  const auto make = [](hid_t file, std::vector<hsize_t> sizes, std::vector<hsize_t> chunk) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data());
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(list);
  };
  const hsize_t tebi = hsize_t{1} << 40;
  EXPECT_THAT(reading_after(path("a.h5"), [&](hid_t file) { make(file, {tebi}, {1000}); }),
              AllOf(HasSubstr("values: its 1099511627776 values do not fit into memory"), HasSubstr("is free")));
  EXPECT_THAT(reading_after(path("b.h5"),
                            [&](hid_t file) {
                              make(file, {tebi, tebi}, {10, 10});
                            }),
              HasSubstr("has more values than can be counted"));
  EXPECT_THAT(message_of([&] { (void)Hdf5File::open(path("b.h5")).shape("values"); }),
              HasSubstr("has more values than can be counted"));
}

TEST_F(Hdf5FileTest, RefusesWhatIsNoNumber) {
  const auto holding = [&](hid_t type) {
    const std::string found =
        reading_after(path("t.h5"), [&](hid_t file) { make_values(file, H5P_DEFAULT, false, type); });
    if (H5Tcommitted(type) == 0 && H5Tget_class(type) != H5T_REFERENCE) H5Tclose(type);
    return found;
  };
  const hid_t record = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(record, "a", 0, H5T_NATIVE_DOUBLE);
  EXPECT_THAT(holding(record), HasSubstr("values: holds records of several members"));
  const hid_t names = H5Tenum_create(H5T_NATIVE_INT);
  const int seven = 7;
  H5Tenum_insert(names, "seven", &seven);
  EXPECT_THAT(holding(names), HasSubstr("values: holds names of an enumeration"));
  EXPECT_THAT(holding(H5Tcreate(H5T_OPAQUE, 4)), HasSubstr("values: holds no plain numbers"));
  EXPECT_THAT(holding(H5Tvlen_create(H5T_NATIVE_DOUBLE)), HasSubstr("values: holds lists in each element"));
  EXPECT_THAT(holding(H5T_STD_REF_OBJ), HasSubstr("values: holds references"));
  EXPECT_THAT(holding(H5T_STD_REF_DSETREG), HasSubstr("values: holds references"));
  const hid_t strange = H5Tcopy(H5T_IEEE_F64LE);
  H5Tset_ebias(strange, 7);
  EXPECT_THAT(holding(strange), HasSubstr("values: holds floating-point numbers of an unusual format"));
}

TEST_F(Hdf5FileTest, ReadsHalfAndExtendedPrecision) {
  for (const bool half : {true, false}) {
    const hid_t type = half ? H5Tcopy(H5T_IEEE_F32LE) : H5Tcopy(H5T_NATIVE_LDOUBLE);
    if (half) {
      H5Tset_fields(type, 15, 10, 5, 0, 10);
      H5Tset_size(type, 2);
      H5Tset_ebias(type, 15);
    }
    EXPECT_EQ(reading_after(path("h.h5"), [&](hid_t file) { make_values(file, H5P_DEFAULT, true, type); }),
              "nothing was thrown");
    H5Tclose(type);
  }
}

TEST_F(Hdf5FileTest, RefusesToWriteWhatCannotBe) {
  const double value = 1;
  MadeHdf5 file(path("a.h5"));
  file.write("one", {1}, &value);
  EXPECT_THAT(message_of([&] { file.write("one", {1}, &value); }), HasSubstr("one"));
  EXPECT_THAT(message_of([&] { file.write("/none/one", {1}, &value); }), HasSubstr("/none/one"));
  EXPECT_THAT(message_of([&] { file.write_attribute("none", "units", "m"); }), HasSubstr("none"));
  EXPECT_THAT(message_of([&] { file.make_group("/one"); }), HasSubstr("/one"));
}

TEST_F(Hdf5FileTest, MovesWithItsFile) {
  const double value = 1;
  {
    MadeHdf5 first(path("a.h5"));
    MadeHdf5 second = std::move(first);
    second.write("one", {1}, &value);
    first = MadeHdf5(path("b.h5"));
    second.close();
    second.close();
    first = std::move(second);
  }
  EXPECT_EQ(Hdf5File::open(path("a.h5")).read("one"), std::vector<double>{1.0});
  EXPECT_FALSE(fs::exists(path("b.h5")));
}

TEST(Hdf5Library, TellsItsVersion) { EXPECT_THAT(hdf5_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+")); }

}  // namespace
}  // namespace prismfield::test_hdf5_file
