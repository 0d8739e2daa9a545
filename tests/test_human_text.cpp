// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "base/human_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace prismfield::test_human_text {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HumanText, CountsAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(3779190000), "3,779,190,000");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(HumanText, SizesKeepThreeDigits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(889), "889 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(std::int64_t{1} << 20), "1 MiB");
  EXPECT_EQ(size_text((std::int64_t{1} << 20) - 1), "1 MiB");
  EXPECT_EQ(size_text(std::int64_t{200} << 30), "200 GiB");
  EXPECT_EQ(size_text(std::int64_t{5000} << 40), "5000 TiB");
}

TEST(HumanText, PlacesAreRoundedToCentimetres) {
  EXPECT_EQ(place_text(0), "0");
  EXPECT_EQ(place_text(1751), "1751");
  EXPECT_EQ(place_text(5000123.4567891), "5000123.46");
  EXPECT_EQ(place_text(-341.10000000000002), "-341.1");
  EXPECT_EQ(place_text(0.00123456), "0.001235");
}

TEST(HumanText, DurationsUseTheUnitsThatPeopleUse) {
  EXPECT_EQ(duration_text(0.00025), "0.25 ms");
  EXPECT_EQ(duration_text(0.123), "0.12 s");
  EXPECT_EQ(duration_text(9.94), "9.9 s");
  EXPECT_EQ(duration_text(9.96), "10 s");
  EXPECT_EQ(duration_text(59.6), "1 min 0 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
  EXPECT_EQ(duration_text(86400 + 7200), "1 d 2 h");
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(duration_text(1e300), "?");
}

TEST(HumanText, RatesHaveAShortExponent) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(999.7), "1.00e3");
  EXPECT_EQ(short_number(1.234e9), "1.23e9");
  EXPECT_EQ(short_number(1e10), "1.00e10");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "inf");
}

TEST(HumanText, NounsAgreeWithTheirCount) {
  EXPECT_EQ(counted(0, "point"), "0 points");
  EXPECT_EQ(counted(1, "point"), "1 point");
  EXPECT_EQ(counted(15000, "point"), "15,000 points");
}

TEST(HumanText, ExcerptsAreFitForATerminal) {
  EXPECT_EQ(excerpt("abc"), "'abc'");
  EXPECT_EQ(excerpt(std::string_view("a\x1b[2J\0b", 7)), "'a?[2J?b'");
  EXPECT_EQ(excerpt("Dichte in \xC2\xB5"), "'Dichte in \xC2\xB5'");
  EXPECT_EQ(excerpt("\xC2"), "'?'");
  EXPECT_EQ(excerpt("\xFFx"), "'?x'");
  const std::string cut = excerpt(std::string(1000, 'x'));
  EXPECT_LT(cut.size(), 50U);
  EXPECT_THAT(cut, HasSubstr("..."));
  // never half a character
  const std::string greek = excerpt(std::string("x") + [] {
    std::string many;
    for (int i = 0; i < 100; ++i) many += "\xCF\x81";
    return many;
  }());
  EXPECT_THAT(greek, Not(HasSubstr("?")));
  EXPECT_EQ(greek.substr(greek.size() - 6), "\xCF\x81...'");
}

/// A terminal obeys escape sequences, in their seven and their eight bit form, and turns text at bidirectional marks.
TEST(HumanText, WhatIsShownCannotCommandATerminal) {
  EXPECT_EQ(shown("plain, \xC2\xB5Gal and \xE2\x82\xAC"), "plain, \xC2\xB5Gal and \xE2\x82\xAC");
  EXPECT_EQ(shown("\x1b]0;owned\x07gz"), "?]0;owned?gz");
  EXPECT_EQ(shown("a\nb\rc\td\x7F"), "a?b?c?d?");
  EXPECT_EQ(shown("\xC2\x9B"
                  "2J"),
            "?2J");
  EXPECT_EQ(shown("\x9B"
                  "2J"),
            "?2J");
  EXPECT_EQ(shown("a\xE2\x80\xAE"
                  "b\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C\xEF\xBB\xBF\xF3\xA0\x80\x81"),
            "a?b?????");
  // what is no UTF-8: overlong, half of a pair, beyond the last character, cut short
  EXPECT_EQ(shown("\xE0\x80\x9B"), "???");
  EXPECT_EQ(shown("\xED\xA0\x80"), "???");
  EXPECT_EQ(shown("\xF4\x90\x80\x80"), "????");
  EXPECT_EQ(shown("\xE2\x80"), "??");
  EXPECT_EQ(shown_lines("one\ntwo\x1b[31m\n"), "one\ntwo?[31m\n");
  EXPECT_EQ(shown("\xCF\x81\xCF\x81", 3), "\xCF\x81...");
}

TEST(HumanText, LongListsOfNamesAreCut) {
  EXPECT_EQ(shown_list({}), "");
  EXPECT_EQ(shown_list({"a",
                        "\x1b"
                        "b"}),
            "a, ?b");
  EXPECT_THAT(shown_list(std::vector<std::string>(1500, "x")), ::testing::EndsWith("x, x, ... (1,500 in all)"));
  EXPECT_LT(shown_list(std::vector<std::string>(1500, std::string(5000, 'x'))).size(), 1400U);
}

TEST(HumanText, WidthCountsColumns) {
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("Eötvös"), 6U);
  EXPECT_EQ(width_of("重力"), 4U);
  EXPECT_EQ(width_of("\xFF\xC3"), 2U);
}

}  // namespace
}  // namespace prismfield::test_human_text
