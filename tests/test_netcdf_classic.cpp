// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "formats/input_file.hpp"
#include "formats/packed_values.hpp"
#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_netcdf_classic {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ScratchFolder;

/// Puts a classic file together byte by byte, as the format's specification says.
class ClassicBytes {
public:
  explicit ClassicBytes(int version) : m_version(version) { m_bytes = std::string("CDF") + static_cast<char>(version); }

  ClassicBytes& word(std::uint64_t value, int bytes = 4) {
    for (int i = bytes - 1; i >= 0; --i) m_bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
    return *this;
  }
  /// a count: CDF-5 has eight bytes
  ClassicBytes& count(std::uint64_t value) { return word(value, m_version == 5 ? 8 : 4); }
  ClassicBytes& offset(std::uint64_t value) { return word(value, m_version == 1 ? 4 : 8); }
  ClassicBytes& list(int tag, std::uint64_t n) { return word(static_cast<std::uint64_t>(tag)).count(n); }
  ClassicBytes& nothing() { return list(0, 0); }
  ClassicBytes& name(const std::string& text) {
    count(text.size());
    m_bytes += text;
    return pad();
  }
  ClassicBytes& value(double v) { return word(std::bit_cast<std::uint64_t>(v), 8); }
  ClassicBytes& value(float v) { return word(std::bit_cast<std::uint32_t>(v)); }
  ClassicBytes& value(std::int16_t v) { return word(static_cast<std::uint16_t>(v), 2); }
  ClassicBytes& pad() {
    while (m_bytes.size() % 4 != 0) m_bytes += '\0';
    return *this;
  }
  /// Writes where the data begin into the word at `at`.
  void begin_data(std::size_t at) {
    const int bytes = m_version == 1 ? 4 : 8;
    for (int i = 0; i < bytes; ++i)
      m_bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(m_bytes.size() >> (8 * (bytes - 1 - i)) & 0xFFU);
  }
  [[nodiscard]] std::size_t size() const { return m_bytes.size(); }
  [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
  int m_version;
  std::string m_bytes;
};

constexpr int dimension_list = 10, variable_list = 11, attribute_list = 12;
constexpr int as_text = 2, as_short = 3, as_float = 5, as_double = 6;

/// x(x) double and z(y, x) short with scale, offset and fill value, as grid files have them.
std::string packed_grid(int version) {
  ClassicBytes f(version);
  f.count(0);
  f.list(dimension_list, 2).name("x").count(3).name("y").count(2);
  f.list(attribute_list, 1).name("title").word(2).name("heights");
  f.list(variable_list, 2);
  f.name("x").count(1).count(0).nothing().word(as_double).count(24);
  const std::size_t x_begin = f.size();
  f.offset(0);
  f.name("z").count(2).count(1).count(0);
  f.list(attribute_list, 5).name("units").word(as_text).name("km s-1");
  f.name("scale_factor").word(as_double).count(1).value(0.5);
  f.name("add_offset").word(as_float).count(1).value(100.0F);
  f.name("_FillValue").word(as_short).count(1).value(std::int16_t{-9}).pad();
  f.name("actual_range").word(as_double).count(2).value(0.0).value(1.0);
  f.word(as_short).count(12);
  const std::size_t z_begin = f.size();
  f.offset(0);
  f.begin_data(x_begin);
  for (const double x : {1.5, 2.5, 3.5}) f.value(x);
  f.begin_data(z_begin);
  for (const int z : {0, 2, -4, 6, -9, 32767}) f.value(static_cast<std::int16_t>(z));
  return f.bytes();
}

class NetcdfClassicTest : public ::testing::Test {
protected:
  NetcdfClassic open(std::string_view bytes) const { return NetcdfClassic(m_folder.write("f.nc", bytes)); }
  std::string failure(std::string_view bytes, const std::string& variable = "z") const {
    try {
      (void)open(bytes).read(variable);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }
  ScratchFolder m_folder;
};

TEST_F(NetcdfClassicTest, TellsOfAllAttributesInTheirOrder) {
  const NetcdfClassic file = open(packed_grid(1));
  const std::vector<std::pair<std::string, AttributeValue>> expected = {{"units", "km s-1"},
                                                                        {"scale_factor", 0.5},
                                                                        {"add_offset", 100.0},
                                                                        {"_FillValue", -9.0},
                                                                        {"actual_range", std::vector<double>{0, 1}}};
  EXPECT_EQ(file.attributes("z"), expected);
  EXPECT_THAT(file.attributes("x"), IsEmpty());
}

TEST_F(NetcdfClassicTest, ReadsEveryVersion) {
  for (const int version : {1, 2, 5}) {
    const NetcdfClassic file = open(packed_grid(version));
    EXPECT_THAT(file.dataset_names(), ElementsAre("x", "z"));
    EXPECT_TRUE(file.has("z"));
    EXPECT_FALSE(file.has("y"));
    EXPECT_THAT(file.shape("z"), ElementsAre(2, 3));
    EXPECT_THAT(file.dimension_names("z"), ElementsAre("y", "x"));
    EXPECT_THAT(file.read("x"), ElementsAre(1.5, 2.5, 3.5));
    const std::vector<double> z = file.read("z");
    ASSERT_EQ(z.size(), 6U);
    EXPECT_THAT((std::vector<double>{z[0], z[1], z[2], z[3], z[5]}), ElementsAre(100, 101, 98, 103, 16483.5));
    EXPECT_TRUE(std::isnan(z[4]));
    EXPECT_EQ(file.text_attribute("z", "units"), "km s-1");
    EXPECT_EQ(file.text_attribute("z", "add_offset"), std::nullopt);
    EXPECT_EQ(file.text_attribute("x", "units"), std::nullopt);
  }
}

TEST_F(NetcdfClassicTest, ReadsRecordsThatLieBetweenEachOther) {
  // t is the record dimension; a(t) short, padded to four bytes, and b(t, 2) float take turns
  ClassicBytes f(1);
  f.count(3);
  f.list(dimension_list, 2).name("t").count(0).name("two").count(2);
  f.nothing();
  f.list(variable_list, 2);
  f.name("a").count(1).count(0).nothing().word(as_short).count(4);
  const std::size_t a_begin = f.size();
  f.offset(0);
  f.name("b").count(2).count(0).count(1).nothing().word(as_float).count(8);
  const std::size_t b_begin = f.size();
  f.offset(0);
  f.begin_data(a_begin);
  for (int t = 0; t < 3; ++t) {
    f.value(static_cast<std::int16_t>(t - 1)).pad();
    if (t == 0) f.begin_data(b_begin);
    f.value(static_cast<float>(t)).value(static_cast<float>(10 * t));
  }
  const NetcdfClassic file = open(f.bytes());
  EXPECT_THAT(file.shape("b"), ElementsAre(3, 2));
  EXPECT_THAT(file.read("a"), ElementsAre(-1, 0, 1));
  EXPECT_THAT(file.read("b"), ElementsAre(0, 0, 1, 10, 2, 20));
}

TEST_F(NetcdfClassicTest, ReadsASingleRecordVariableWithoutPadding) {
  for (const std::uint64_t records : {std::uint64_t{3}, std::uint64_t{0xFFFFFFFF}}) {
    ClassicBytes f(1);
    // all ones: as many as the file holds
    f.count(records);
    f.list(dimension_list, 1).name("t").count(0).nothing().list(variable_list, 1);
    f.name("a").count(1).count(0).nothing().word(as_short).count(4);
    const std::size_t a_begin = f.size();
    f.offset(0);
    f.begin_data(a_begin);
    for (const int a : {7, 8, 9}) f.value(static_cast<std::int16_t>(a));
    EXPECT_THAT(open(f.bytes()).read("a"), ElementsAre(7, 8, 9));
  }
}

TEST_F(NetcdfClassicTest, RecordsBehindThoseOfTheHeaderAreNamed) {
  for (const auto& [records, doubt] :
       {std::pair{std::uint64_t{3}, "its header states 3 records, and the file has bytes for 4: is it damaged?"},
        {std::uint64_t{4}, ""},
        {std::uint64_t{0xFFFFFFFF}, ""}}) {
    ClassicBytes f(1);
    f.count(records).list(dimension_list, 1).name("t").count(0).nothing().list(variable_list, 1);
    f.name("a").count(1).count(0).nothing().word(as_double).count(8);
    const std::size_t a_begin = f.size();
    f.offset(0);
    f.begin_data(a_begin);
    for (const double a : {7.0, 8.0, 9.0, 10.0}) f.value(a);
    EXPECT_EQ(open(f.bytes()).doubt(), doubt);
    // a byte before its place
    std::string moved = f.bytes();
    --moved[a_begin + 3];
    EXPECT_THAT(failure(moved), HasSubstr("which is no multiple of 4"));
  }
}

TEST_F(NetcdfClassicTest, ReadsAScalar) {
  ClassicBytes f(2);
  f.count(0).nothing().nothing().list(variable_list, 1).name("s").count(0).nothing().word(as_double).count(8);
  const std::size_t begin = f.size();
  f.offset(0).begin_data(begin);
  f.value(4.25);
  const NetcdfClassic file = open(f.bytes());
  EXPECT_THAT(file.shape("s"), IsEmpty());
  EXPECT_THAT(file.read("s"), ElementsAre(4.25));
}

TEST_F(NetcdfClassicTest, SaysWhatIsWrong) {
  EXPECT_THAT(failure("CDF\x07 and more"), HasSubstr("is no netCDF file of the classic formats"));
  EXPECT_THAT(failure("CD"), HasSubstr("cut short in its header"));
  EXPECT_THAT(failure(packed_grid(1), "none"), HasSubstr("there is no variable none"));
  const std::string whole = packed_grid(1);
  EXPECT_THAT(failure(whole.substr(0, whole.size() - 1)), HasSubstr("z is not there in full"));
  EXPECT_THAT(failure(whole.substr(0, 100)), HasSubstr("cut short in its header"));
  EXPECT_THROW(NetcdfClassic(m_folder / "none.nc"), RunError);
  EXPECT_THROW(NetcdfClassic(m_folder / ""), RunError);
}

/// The product of a variable's lengths took the record dimension, of no length yet, for 0: 200 bytes then made a grid
/// of no values for a shape of many.
TEST_F(NetcdfClassicTest, TheRecordDimensionMustBeTheFirst) {
  ClassicBytes f(1);
  f.count(1000);
  f.list(dimension_list, 2).name("x").count(3).name("t").count(0);
  f.nothing();
  f.list(variable_list, 1).name("z").count(2).count(0).count(1).nothing().word(as_double).count(24);
  const std::size_t begin = f.size();
  f.offset(0).begin_data(begin);
  for (int i = 0; i < 3; ++i) f.value(0.0);
  EXPECT_THAT(failure(f.bytes()), HasSubstr("the record dimension t is not the first of variable z"));

  ClassicBytes twice(1);
  twice.count(2).list(dimension_list, 2).name("x").count(0).name("t").count(0).nothing().nothing();
  EXPECT_THAT(failure(twice.bytes()), HasSubstr("two dimensions have no length"));
}

/// What packed_grid() has at a place is replaced by the bytes of a word of 32 bits.
TEST_F(NetcdfClassicTest, SizesAndPlacesThatDenyEachOtherAreRefused) {
  const std::string whole = packed_grid(1);
  const auto with = [&](std::size_t at, std::uint32_t value) {
    std::string bytes = whole;
    return bytes.replace(at, 4, ClassicBytes(1).word(value).bytes().substr(4));
  };
  const std::size_t x_length = whole.find("x") + 4, x_size = whole.find("x", x_length) + 4 * 6;
  EXPECT_THAT(failure(with(x_length, 2)), HasSubstr("x takes 16 bytes by its dimensions, but 24 by its size (vsize)"));
  EXPECT_THAT(failure(with(x_length, 4)), HasSubstr("x takes 32 bytes by its dimensions, but 24 by its size (vsize)"));
  EXPECT_THAT(failure(with(x_size + 4, 8)), HasSubstr("x begins at byte 8, within the header, which has "));
  const std::size_t x_begin = whole.size() - 24 - 12;
  EXPECT_THAT(failure(with(x_size + 4, static_cast<std::uint32_t>(x_begin + 12))),
              HasSubstr(fmt::format("z begins at byte {}, within x, which has 24 bytes", x_begin + 24)));
}

TEST_F(NetcdfClassicTest, ClaimsOfItsHeaderAreComparedWithTheFile) {
  for (const int version : {1, 2, 5}) {
    ClassicBytes f(version);
    const std::uint64_t many = version == 5 ? std::uint64_t{1} << 40 : std::uint64_t{1} << 30;
    f.count(0).list(dimension_list, 2).name("x").count(many).name("y").count(many).nothing();
    f.list(variable_list, 1).name("z").count(2).count(0).count(1).nothing().word(as_double).count(24);
    const std::size_t begin = f.size();
    f.offset(0).begin_data(begin);
    f.value(0.0);
    EXPECT_THAT(failure(f.bytes()), HasSubstr("is cut short"));
    // lists, names and attributes of the same lengths
    for (const int tag : {dimension_list, variable_list, attribute_list}) {
      EXPECT_THAT(failure(ClassicBytes(version).count(0).list(tag, many).name("x").bytes()), HasSubstr("f.nc: is "))
          << tag;
    }
  }
}

TEST_F(NetcdfClassicTest, EndsInValuesOrInAFailureWhateverTheBytes) {
  // fixed seed: a failure comes back
  std::mt19937 generator(7);
  int read = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = packed_grid(round % 3 == 0 ? 1 : round % 3 == 1 ? 2 : 5);
    for (auto change = generator() % 3; change <= 2; ++change) {
      // counts, types and offsets are what a reader trips over: small numbers, large ones and all ones
      const std::size_t at = 4 + generator() % (bytes.size() - 4);
      bytes[at] = std::array<char, 5>{'\0', '\1', '\x7F', '\xFF', static_cast<char>(generator())}[generator() % 5];
    }
    if (round % 7 == 0) bytes.resize(generator() % bytes.size());
    try {
      const NetcdfClassic file = open(bytes);
      for (const std::string& name : file.dataset_names()) (void)file.read(name);
      ++read;
    } catch (const RunError&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

constexpr StoredType in_bytes{false, false, 1}, in_shorts{false, false, 2}, in_floats{true, false, 4},
    in_doubles{true, false, 8};

/// Stored values by attributes, NaN as -1e9.
std::vector<double> unpacked(std::vector<double> values, const StoredType& type,
                             const std::map<std::string, StoredAttribute>& attributes, std::string* wrong = nullptr) {
  const std::string found = unpack(values, type, [&](const std::string& name) {
    const auto at = attributes.find(name);
    return at == attributes.end() ? std::optional<StoredAttribute>() : std::optional(at->second);
  });
  if (wrong != nullptr) *wrong = found;
  EXPECT_TRUE(wrong != nullptr || found.empty()) << found;
  for (double& value : values) value = std::isnan(value) ? -1e9 : value;
  return values;
}

StoredAttribute integers(std::vector<double> values) { return {std::move(values), false}; }
StoredAttribute floats(std::vector<double> values) { return {std::move(values), true}; }

TEST(PackedValues, AreMissingWhereAnyAttributeSaysSo) {
  constexpr double none = -1e9;
  EXPECT_THAT(unpacked({1, 2, 3, 4}, in_shorts, {{"_FillValue", integers({2})}, {"missing_value", integers({3, 4})}}),
              ElementsAre(1, none, none, none));
  EXPECT_THAT(unpacked({-1, 0, 5, 6}, in_doubles, {{"valid_min", floats({0})}, {"valid_max", floats({5})}}),
              ElementsAre(none, 0, 5, none));
  EXPECT_THAT(unpacked({-1, 0, 5, 6}, in_doubles, {{"valid_range", floats({0, 5})}}), ElementsAre(none, 0, 5, none));
  // a text that is a number is one
  EXPECT_THAT(unpacked({1, -9999}, in_doubles, {{"missing_value", {std::string("-9999.0"), false}}}),
              ElementsAre(1, none));
  EXPECT_THAT(unpacked({1, std::nan("")}, in_doubles, {{"_FillValue", floats({std::nan("")})}}), ElementsAre(1, none));
  // with what netCDF fills what nobody wrote, and no integer that it would fill shorts with
  EXPECT_THAT(unpacked({1, static_cast<double>(9.9692099683868690e+36F)}, in_floats, {}), ElementsAre(1, none));
  EXPECT_THAT(unpacked({1, -32767}, in_shorts, {}), ElementsAre(1, -32767));
}

TEST(PackedValues, OfFloatsAreComparedAsFloats) {
  constexpr double none = -1e9;
  const auto stored = [](float value) { return static_cast<double>(value); };
  for (const double fill : {1e20, -999.25, 1e-30, 3.4028235e38, -3.4028234663852886e38}) {
    EXPECT_THAT(unpacked({1, stored(static_cast<float>(std::clamp(fill, -3.4028234e38, 3.4028234e38)))}, in_floats,
                         {{"_FillValue", floats({fill})}}),
                ElementsAre(1, none))
        << fill;
    EXPECT_THAT(unpacked({1, fill}, in_doubles, {{"missing_value", floats({fill})}}), ElementsAre(1, none)) << fill;
  }
  // 0.1 in single precision is above 0.1
  EXPECT_THAT(unpacked({stored(0.1F)}, in_floats, {{"valid_max", floats({0.1})}}), ElementsAre(stored(0.1F)));
  EXPECT_THAT(unpacked({1, 2}, in_floats, {{"_FillValue", floats({1e300})}}), ElementsAre(1, 2));
}

TEST(PackedValues, HaveLimitsInTheirOwnUnitsAndScalesBehind) {
  constexpr double none = -1e9;
  const std::map<std::string, StoredAttribute> scaled = {{"scale_factor", floats({0.5})}, {"add_offset", floats({10})}};
  auto attributes = scaled;
  attributes["valid_range"] = integers({0, 20});
  EXPECT_THAT(unpacked({-1, 0, 20, 21}, in_shorts, attributes), ElementsAre(none, 10, 20, none));
  // in floats beside integers, of what is unpacked
  attributes["valid_range"] = floats({10, 20});
  EXPECT_THAT(unpacked({-1, 0, 20, 21}, in_shorts, attributes), ElementsAre(none, 10, 20, none));
  attributes = scaled;
  attributes["_FillValue"] = integers({20});
  EXPECT_THAT(unpacked({20, 0}, in_shorts, attributes), ElementsAre(none, 10)) << "before it is scaled";
}

TEST(PackedValues, AreUnsignedWhereTheySaySo) {
  constexpr double none = -1e9;
  const StoredAttribute yes{std::string("true"), false};
  EXPECT_THAT(unpacked({-1, -2, 127, 0}, in_bytes, {{"_Unsigned", yes}, {"_FillValue", integers({-1})}}),
              ElementsAre(none, 254, 127, 0));
  EXPECT_THAT(unpacked({-1, -32768, 5}, in_shorts,
                       {{"_Unsigned", yes}, {"valid_max", integers({-2})}, {"scale_factor", floats({2})}}),
              ElementsAre(none, 65536, 10));
  EXPECT_THAT(unpacked({-1}, in_bytes, {{"_Unsigned", {std::string("false"), false}}}), ElementsAre(-1));
  EXPECT_THAT(unpacked({-1}, in_doubles, {{"_Unsigned", yes}}), ElementsAre(-1));
}

TEST(PackedValues, SayWhichAttributeIsWrong) {
  const std::map<std::string, StoredAttribute> wrong_ones = {{"scale_factor", {std::string("two"), false}},
                                                             {"add_offset", floats({1, 2})},
                                                             {"valid_range", floats({1})},
                                                             {"missing_value", {std::string("none"), false}}};
  for (const auto& [name, attribute] : wrong_ones) {
    std::string wrong;
    (void)unpacked({1}, in_doubles, {{name, attribute}}, &wrong);
    EXPECT_THAT(wrong, HasSubstr("has the attribute " + name + ", which is not "));
  }
  for (const double scale : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    std::string wrong;
    (void)unpacked({1}, in_doubles, {{"scale_factor", floats({scale})}}, &wrong);
    EXPECT_THAT(wrong, HasSubstr("has a scale_factor of 0 or NaN"));
  }
}

TEST_F(NetcdfClassicTest, UnpacksUnsignedBytesWithinTheirRange) {
  ClassicBytes f(1);
  f.count(0).list(dimension_list, 1).name("x").count(4).nothing().list(variable_list, 1).name("z").count(1).count(0);
  f.list(attribute_list, 2).name("_Unsigned").word(as_text).name("true");
  f.name("valid_max").word(as_short).count(1).value(std::int16_t{200}).pad();
  f.word(1).count(4);
  const std::size_t begin = f.size();
  f.offset(0).begin_data(begin);
  f.word(0x01FF80C8U);
  const std::vector<double> z = open(f.bytes()).read("z");
  EXPECT_THAT((std::vector<double>{z[0], z[2], z[3]}), ElementsAre(1, 128, 200));
  EXPECT_TRUE(std::isnan(z[1]));
}

}  // namespace
}  // namespace prismfield::test_netcdf_classic
