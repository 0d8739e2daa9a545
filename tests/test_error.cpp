// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace prismfield {
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
  const std::vector<std::string> keys = {"space", "partition", "balance", "kernel", "precision", "batch", "slots"};
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
}  // namespace prismfield
