// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "base/limited_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace prismfield::test_error {
namespace {

TEST(Problem, MessageNamesPlaceKeyAndReason) {
  EXPECT_EQ((Problem{"case.yaml:7", "execution.slots", "is wrong"}).message(),
            "case.yaml:7: execution.slots: is wrong");
  EXPECT_EQ((Problem{"bodies.csv:3", "", "is wrong"}).message(), "bodies.csv:3: is wrong");
  EXPECT_EQ((Problem{"", "slots", "is wrong"}).message(), "slots: is wrong");
  EXPECT_EQ((Problem{"", "", "is wrong"}).message(), "is wrong");
}

TEST(Problem, OptionsJoinTheirKeyByASpace) {
  EXPECT_EQ((Problem{"--set", "execution.slots", "is wrong"}).message(), "--set execution.slots: is wrong");
  EXPECT_EQ((Problem{"--chek", "", "is wrong"}).message(), "--chek: is wrong");
  EXPECT_EQ((Problem{"--output", "output.file", "is wrong"}).message(), "--output: is wrong");
}

/// Every part may come out of a file: the name of a dataset, a column, a file.
TEST(Problem, MessageHoldsNoControlCharacters) {
  EXPECT_EQ((Problem{"a\x1b[2J.csv:7", "wes\xC2\x9Bt", "has\nno\xE2\x80\xAE end"}).message(),
            "a?[2J.csv:7: wes?t: has?no? end");
  EXPECT_LT((Problem{"a:1", "k", std::string(1000000, 'x')}).message().size(), 5000U);
}

TEST(InputErrorTest, TellsAHundredAndCountsTheOthers) {
  const std::vector<Problem> many(12445, Problem{"a:1", "", "is wrong"});
  const InputError error(many);
  EXPECT_EQ(error.problems().size(), 100U);
  EXPECT_EQ(error.more(), 12345);
  const std::string text = error.what();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100);
  EXPECT_TRUE(text.ends_with("\nand 12,345 more errors")) << text.substr(text.size() - 40);
  EXPECT_STREQ(InputError({{"a:1", "", "is wrong"}}, 1).what(), "a:1: is wrong\nand 1 more error");
}

TEST(InputErrorTest, WhatHoldsEveryProblemOnALineOfItsOwn) {
  const InputError error({{"a:1", "k", "first"}, {"b:2", "", "second"}});
  EXPECT_STREQ(error.what(), "a:1: k: first\nb:2: second");
  EXPECT_EQ(error.problems().size(), 2U);
}

TEST(InputErrorTest, CopiesKeepTheirText) {
  // an exception is copied when it is stored or rethrown on another rank's behalf
  InputError copy("x", "y", "z");
  {
    const InputError original("a:1", "k", "first");
    copy = original;
  }
  EXPECT_STREQ(copy.what(), "a:1: k: first");
}

TEST(ProblemListTest, ThrowsOnlyWhenThereIsAProblem) {
  ProblemList list;
  EXPECT_TRUE(list.empty());
  EXPECT_NO_THROW(list.throw_if_any());
  list.add("a:1", "k", "first");
  list.add(InputError({{"b:2", "", "second"}, {"c:3", "", "third"}}));
  EXPECT_EQ(list.size(), 3U);
  try {
    list.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a:1: k: first\nb:2: second\nc:3: third");
  }
}

TEST(ProblemListTest, KeepsAHundredHoweverManyThereAre) {
  ProblemList list;
  for (int i = 0; i < 1000; ++i) list.add("a:1", "", "is wrong");
  EXPECT_TRUE(list.is_full());
  ProblemList all;
  all.add("b:1", "", "is wrong");
  try {
    list.count_more(5);
    list.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().size(), 100U);
    EXPECT_EQ(error.more(), 905);
    all.add(error);
  }
  EXPECT_EQ(all.size(), 1006U);
  ProblemList counted;
  counted.count_more(1);
  EXPECT_FALSE(counted.empty());
  EXPECT_THROW(counted.throw_if_any(), InputError);
}

TEST(ProblemListTest, LimitedProblemsAreAllCounted) {
  // 20 of each of the first five kinds fill the list
  ProblemList list;
  LimitedProblems limited(list, "a.csv");
  for (const char* kind : {"a", "b", "c", "d", "e", "f", "g"}) {
    for (int i = 0; i < 1000; ++i) limited.add(kind, [] { return Problem{"a.csv:1", "", "is wrong"}; });
  }
  limited.finish();
  try {
    list.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problems().size(), 100U);
    EXPECT_EQ(error.more(), 6900);
  }
}

TEST(ProblemListTest, SortsByLineWithOptionsLast) {
  ProblemList list;
  list.add("--set", "k", "fifth");
  list.add("case.yaml:10", "", "fourth");
  list.add("case.yaml:9", "", "second");
  list.add("case.yaml", "", "sixth");
  list.add("case.yaml:9", "", "third");
  list.add("a:b.yaml:2", "", "first");
  list.sort_by_line();
  try {
    list.throw_if_any();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "a:b.yaml:2: first\ncase.yaml:9: second\ncase.yaml:9: third\ncase.yaml:10: fourth\n--set k: "
                 "fifth\ncase.yaml: sixth");
  }
}

TEST(NearestSpelling, FindsWhatWasMeant) {
  const std::vector<std::string> keys = {"space", "partition", "block", "kernel", "precision", "batch", "slots"};
  EXPECT_EQ(nearest_spelling("slot", keys), "slots");
  EXPECT_EQ(nearest_spelling("solts", keys), "slots");  // neighbours swapped
  EXPECT_EQ(nearest_spelling("SLOTS", keys), "slots");
  EXPECT_EQ(nearest_spelling("pratition", keys), "partition");
  EXPECT_EQ(nearest_spelling("prec", keys), "precision");  // only begun
  EXPECT_EQ(nearest_spelling("gzx", {"gxx", "gzz", "gxz"}), "gxz");
}

TEST(NearestSpelling, PrefersTheSameFirstLetterAmongEquals) {
  EXPECT_EQ(nearest_spelling("GB", {"B", "KiB", "MiB", "GiB"}), "GiB");
}

TEST(NearestSpelling, StaysSilentWhenNothingIsNear) {
  const std::vector<std::string> keys = {"slots", "batch"};
  EXPECT_EQ(nearest_spelling("temperature", keys), "");
  EXPECT_EQ(nearest_spelling("", keys), "");
  EXPECT_EQ(nearest_spelling("x", keys), "");
  EXPECT_EQ(nearest_spelling("slots", {}), "");
  EXPECT_EQ(nearest_spelling(std::string(1000000, 's'), keys), "");
}

}  // namespace
}  // namespace prismfield::test_error
