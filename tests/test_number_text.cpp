// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/number_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_number_text {
namespace {

TEST(ParseNumber, ReadsDecimalNumbers) {
  const auto number = [](std::string_view text) {
    const char* at = text.data();
    double value = -99;
    EXPECT_EQ(parse_number(at, text.data() + text.size(), value), NumberStatus::ok) << text;
    EXPECT_EQ(at, text.data() + text.size()) << text;
    return value;
  };
  EXPECT_EQ(number("31.428571428571427"), 31.428571428571427);
  EXPECT_EQ(number("-0"), 0);
  EXPECT_EQ(number("+1.5E+03"), 1500);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5);
  EXPECT_EQ(number("1e308"), 1e308);
  EXPECT_EQ(number("5e-324"), 5e-324);
  EXPECT_TRUE(std::isnan(number("NaN")));
  EXPECT_TRUE(std::isinf(number("-inf")));
}

TEST(DecimalProduct, IsThatOfTheDecimals) {
  EXPECT_EQ(decimal_product(513.06049, 1000), 513060.49);
  EXPECT_NE(513.06049 * 1000, 513060.49);
  EXPECT_EQ(decimal_product(-513.06049, 1000), -513060.49);
  EXPECT_EQ(decimal_product(7124.000123456789, -1000), -7124000.123456789);
  EXPECT_EQ(decimal_product(100.1, 0.3048), 30.51048);
  EXPECT_EQ(decimal_product(1e-300, 1000), 1e-297);
  EXPECT_EQ(decimal_product(5e-324, 1000), 5e-321);
  EXPECT_FALSE(std::signbit(decimal_product(0, -1)));
  // digits that do not go into a word: the plain product
  EXPECT_EQ(decimal_product(1.0 / 3, 1.0 / 7), (1.0 / 3) * (1.0 / 7));
  EXPECT_EQ(decimal_product(1e308, 1000), std::numeric_limits<double>::infinity());
}

TEST(Dummies, AreNinesAndWhatIsBeyondAllMeasurements) {
  for (const double dummy : {-9999.0, 9999.0, -99999.0, 999999999.0, -1e32, 1.70141e38, 9.96921e36, -9999.9, -9999.99,
                             -999999.99, -999.25, -32768.0, -2147483648.0}) {
    EXPECT_TRUE(looks_like_dummy(dummy)) << dummy;
  }
  for (const double value : {0.0, 9.0, 99.0, -999.0, 9998.0, 9999.5, 9999.98, -99998.0, -99999.25, 32768.0, 1e19}) {
    EXPECT_FALSE(looks_like_dummy(value)) << value;
  }
}

TEST(Dummies, OfPlacesLieBeyondAllOthers) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  using Found = std::vector<bool>;
  EXPECT_EQ(find_dummies(std::vector{100.0, -9999.0, 137.5}), (Found{false, true, false}));
  EXPECT_EQ(find_dummies(std::vector{100.0, 99999.0, nan, 1e31}), (Found{false, true, true, true}));
  // a trench has such a depth
  EXPECT_TRUE(find_dummies(std::vector{-10984.0, -9999.0, 12.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{-7900.0, -9999.0, -20.0}).empty());
  EXPECT_EQ(find_dummies(std::vector{7100000.0, 99999.0, 7101000.0, -9999.0}), (Found{false, true, false, true}));
  EXPECT_TRUE(find_dummies(std::vector{500000.0, 999.0, 7100000.0}).empty());
  // within twice the range of the others
  EXPECT_EQ(find_dummies(std::vector{20.0, 200.0, -999.25, 1100.0, 2000.0}), (Found{false, false, true, false, false}));
  EXPECT_EQ(find_dummies(std::vector{-5000.0, -9999.0, -2500.0, 5000.0}), (Found{false, true, false, false}));
  // no farther than the nearest two are from each other
  EXPECT_TRUE(find_dummies(std::vector{-9999.0, -9000.0, -8000.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{-9999.0, -5000.0, 0.0, -5000.0, 0.0, 5000.0}).empty());
  // coordinates as large on both sides, or in steps that lead there
  EXPECT_TRUE(find_dummies(std::vector{-9000.0, -9999.0, 4000.0, 9100.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{-9999.0, 0.0, 9999.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{0.0, 3333.0, 6666.0, 9999.0}).empty());
  EXPECT_EQ(find_dummies(std::vector{-1e31, 0.0, 1e31}), (Found{true, false, true}));
  // a profile, a point alone
  EXPECT_TRUE(find_dummies(std::vector{9996.0, 9997.0, 9998.0, 9999.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{9999.0}).empty());
  EXPECT_TRUE(find_dummies(std::vector{5000.0, 9999.0}).empty());
  EXPECT_EQ(find_dummies(std::vector{-9999.0, -9999.0}), (Found{true, true}));
  EXPECT_TRUE(find_dummies(std::vector<double>()).empty());
}

std::array<std::vector<bool>, 3> found_places(const std::vector<double>& easting, const std::vector<double>& northing,
                                              const std::vector<double>& upward, std::string& doubt) {
  const std::array columns{&easting, &northing, &upward};
  DummyPlaces places = find_dummy_places(columns);
  doubt = places.doubt;
  return places.found;
}

TEST(Dummies, OfSomeFilesAreInDoubt) {
  EXPECT_EQ(possible_dummy(std::vector{50.0, -999.0, 60.0}), "-999 looks like a dummy, a number that stands for none");
  EXPECT_EQ(possible_dummy(std::vector{-998.0, -999.0, -1000.0}), "");
  EXPECT_EQ(possible_dummy(std::vector{50.0, -9999.0, 60.0}), "");
  EXPECT_TRUE(find_dummies(std::vector{50.0, -999.0, 60.0}).empty());
  EXPECT_EQ(find_dummies(std::vector{50.0, 65535.0, 60.0}), (std::vector<bool>{false, true, false}));
}

TEST(DummyPlaces, ThatRowsOfASurveyShareAreNone) {
  std::string doubt;
  std::vector<double> easting, northing;
  for (const double x : {-9999.0, -7000.0, 10.0, 4000.0}) {
    for (const double y : {-9999.0, -7000.0, 3333.0, 7000.0}) {
      easting.push_back(x);
      northing.push_back(y);
    }
  }
  const auto is_none = [](const auto& found) {
    return std::all_of(found.begin(), found.end(), [](const std::vector<bool>& column) { return column.empty(); });
  };
  EXPECT_TRUE(is_none(found_places(easting, northing, std::vector<double>(16, 50), doubt)));
  EXPECT_EQ(doubt, "");
  // as many, but far from all others
  for (double& x : easting) x = x == -9999 ? x : x / 100;
  EXPECT_FALSE(is_none(found_places(easting, northing, std::vector<double>(16, 50), doubt)));
}

TEST(DummyPlaces, AreTheSameNumberInTwoCoordinates) {
  std::string doubt;
  const std::vector<double> far{-9999, 167000, 250000, 833000}, away{-9999, 500000, 900000, 4e6},
      heights{50, 51, 52, 53};
  const auto found = found_places(far, away, heights, doubt);
  EXPECT_EQ(found[0], (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(found[0], found[1]);
  EXPECT_TRUE(found[2].empty());
  // a diagonal, and a square around 0
  const std::vector<double> diagonal{9997, 9998, 9999, 10000};
  EXPECT_TRUE(found_places(diagonal, diagonal, heights, doubt)[0].empty());
  EXPECT_EQ(doubt, "");
  const std::vector<double> square{-9999, 100, 700, 9999};
  EXPECT_TRUE(found_places(square, square, heights, doubt)[0].empty());
  // one alone cannot be distinguished from a place
  EXPECT_TRUE(found_places(far, {1, 2, 3, 4}, heights, doubt)[0].empty());
  EXPECT_EQ(doubt,
            "easting -9999 looks like a dummy, a number that stands for none; it is taken as a place: leave the point "
            "out if it is none");
}

TEST(ParseNumber, TakesWhatIsTooSmallAsZeroAndRefusesWhatIsTooLarge) {
  const auto read = [](const std::string& text) {
    const char* at = text.data();
    double value = -99;
    const NumberStatus status = parse_number(at, text.data() + text.size(), value);
    return std::pair(status, value);
  };
  EXPECT_EQ(read("1e-400"), std::pair(NumberStatus::ok, 0.0));
  EXPECT_EQ(read("-1e-99999999999999999999"), std::pair(NumberStatus::ok, 0.0));
  EXPECT_EQ(read("0." + std::string(400, '0') + "1"), std::pair(NumberStatus::ok, 0.0));
  EXPECT_EQ(read("1e400").first, NumberStatus::too_large);
  EXPECT_EQ(read("-1e400").first, NumberStatus::too_large);
  EXPECT_EQ(read("1e99999999999999999999").first, NumberStatus::too_large);
  EXPECT_EQ(read("1" + std::string(400, '0')).first, NumberStatus::too_large);
  EXPECT_EQ(read("1" + std::string(400, '0') + "e-20").first, NumberStatus::too_large);
  EXPECT_EQ(read("1" + std::string(400, '0') + "e-400"), std::pair(NumberStatus::ok, 1.0));
}

TEST(ParseNumber, RefusesWhatIsNone) {
  for (const std::string text : {"", "x", "-", "+", "+-1", "++1", " 1", ",", "e5", "--1", "-+1", "\xC2\xB5"}) {
    const char* at = text.data();
    double value = 0;
    EXPECT_EQ(parse_number(at, text.data() + text.size(), value), NumberStatus::no_number) << text;
    EXPECT_EQ(at, text.data());
  }
}

/// What people and programs write for numbers, and what is none from its first character to its last.
TEST(ParseNumber, RefusesWholeTextsThatAreNone) {
  for (const std::string text : {"", "+-1", "-+1", "--1", "1e", "1e+", "1.5d3", "0x10", "0b1", "1_000", "1,5", "1 000",
                                 "1/3", "1.2.3", "5 ", "\xD9\xA1", "\xEF\xBC\x91", "1e400x"}) {
    double value = 0;
    EXPECT_EQ(parse_number(text, value), NumberStatus::no_number) << text;
    std::int64_t integer = 0;
    EXPECT_EQ(parse_integer(text, integer), NumberStatus::no_number) << text;
  }
  double value = 0;
  EXPECT_EQ(parse_number("+2.5e1", value), NumberStatus::ok);
  EXPECT_EQ(value, 25);
}

TEST(ParseNumber, ReadsFortransDoubles) {
  double value = 0;
  for (const auto& [text, number] :
       {std::pair{"1.0D+03", 1000.0}, std::pair{"-2.5d-1", -0.25}, std::pair{"+1D+0", 1.0}}) {
    EXPECT_EQ(parse_number(text, value), NumberStatus::ok) << text;
    EXPECT_EQ(value, number);
  }
  for (const std::string text : {"1.0D", "1.0D+", "1.0D3", "1e5D+3", "1.0D+3x"}) {
    EXPECT_EQ(parse_number(text, value), NumberStatus::no_number) << text;
  }
}

TEST(ParseInteger, ReadsDigitsWithOneSign) {
  std::int64_t value = 0;
  EXPECT_EQ(parse_integer("+42", value), NumberStatus::ok);
  EXPECT_EQ(value, 42);
  EXPECT_EQ(parse_integer("-9223372036854775808", value), NumberStatus::ok);
  EXPECT_EQ(value, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775808", value), NumberStatus::too_large);
  EXPECT_EQ(parse_integer("1.0", value), NumberStatus::no_number);
  std::uint64_t natural = 0;
  EXPECT_EQ(parse_integer("18446744073709551615", natural), NumberStatus::ok);
  EXPECT_EQ(natural, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_integer("-1", natural), NumberStatus::no_number);
}

}  // namespace
}  // namespace prismfield::test_number_text
