// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/start.hpp"
#include "app/terminal.hpp"
#include "base/human_text.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

namespace prismfield::test_terminal {
namespace {

TEST(Diagnoses, ThatFailAreAWarningAndEndNothing) {
  ::testing::internal::CaptureStderr();
  const std::vector<std::string> none = diagnosed("the trend of the residuals", []() -> std::vector<std::string> {
    throw InputError("", "inversion.trend", "fits all 3 values of d.csv exactly");
  });
  EXPECT_TRUE(none.empty());
  const std::string nothing = diagnosed("the misfit", []() -> std::string { throw std::bad_alloc(); });
  EXPECT_EQ(nothing, "");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(
      told.starts_with("warning: the trend of the residuals cannot be told: inversion.trend: fits all 3 values"))
      << told;
  EXPECT_NE(told.find("\nwarning: the misfit cannot be told: "), std::string::npos) << told;
  EXPECT_EQ(diagnosed("all", [] { return 7; }), 7);
  // what a user asked for
  EXPECT_THROW(diagnosed("all", []() -> int { throw Stopped(); }), Stopped);
}

TEST(Wrapped, BreaksBetweenWordsWithAHangingIndent) {
  EXPECT_EQ(wrapped("one two three four\n", 9), "one two\n  three\n  four\n");
  EXPECT_EQ(wrapped("one two three four", 100), "one two three four");
  EXPECT_EQ(wrapped("  deep one two three four five six seven\n", 30),
            "  deep one two three four five\n    six seven\n");
  EXPECT_EQ(wrapped("\n\na\n\n", 5), "\n\na\n\n");
  EXPECT_EQ(wrapped("", 5), "");
}

TEST(Wrapped, TextHangsBelowTextAndNotBelowItsLabel) {
  EXPECT_EQ(wrapped("  label     some words that go on and on\n", 36),
            "  label     some words that go on\n            and on\n");
  EXPECT_EQ(wrapped("            a text that begins deep inside\n", 36),
            "            a text that begins deep\n            inside\n");
  // no room beside it
  EXPECT_EQ(wrapped("  label           some words\n", 24), "  label           some\n  words\n");
}

TEST(Wrapped, HangsAsDeepAsItIsAsked) {
  EXPECT_EQ(wrapped("one two three four", 9, 0), "one two\nthree\nfour");
  EXPECT_EQ(wrapped("  one two three\n", 9, 4), "  one two\n    three\n");
  // words below each other, where there is no room beside a label
  EXPECT_EQ(wrapped("  label  one two\n", 12, 9), "  label  one\n         two\n");
}

TEST(Wrapped, KeepsLongWordsAndBlanks) {
  const std::string file = "/a/long/name/of/a/file.yaml:3:";
  EXPECT_EQ(wrapped(file + " key: wrong\n", 12), file + "\n  key: wrong\n");
  EXPECT_EQ(wrapped("a  b   c\n", 20), "a  b   c\n");
  EXPECT_EQ(wrapped("Eötvös Eötvös\n", 13), "Eötvös Eötvös\n");
  EXPECT_EQ(wrapped("Eötvös Eötvös\n", 12), "Eötvös\n  Eötvös\n");
}

TEST(Wrapped, NoLineIsWiderThanAsked) {
  const std::string text =
      "a line of many short words that has to be broken again and again\n  key       a label and what it is for\n";
  for (std::size_t columns = 10; columns < 80; ++columns) {
    std::istringstream lines(wrapped(text, columns));
    std::string words;
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), columns);
    std::istringstream before(text), after(wrapped(text, columns));
    for (std::string one, other; before >> one;) {
      ASSERT_TRUE(after >> other);
      EXPECT_EQ(one, other);
    }
  }
}

TEST(WrappingBuffer, WordsInPartsStayWholeThoughEachIsFlushed) {
  std::stringbuf out;
  WrappingBuffer buffer(out, 12);
  std::ostream stream(&buffer);
  stream.setf(std::ios::unitbuf);
  stream << "warning: "
         << "some"
         << "thing"
         << " long" << std::endl;
  EXPECT_EQ(out.str(), "warning:\n  something\n  long\n");
}

TEST(WrappingBuffer, RewrittenLinesPassAsTheyAre) {
  std::stringbuf out;
  WrappingBuffer buffer(out, 12);
  std::ostream stream(&buffer);
  const std::string line = "\r 25 %, 1.00e6 pairs/s, 3 s left";
  stream << line << std::flush;
  EXPECT_EQ(out.str(), line);
  stream << "\r      \r" << std::flush << "what follows is a line" << std::endl;
  EXPECT_EQ(out.str(), line + "\r      \rwhat follows\n  is a line\n");
}

TEST(TerminalColumns, FilesHaveNoLimit) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(terminal_columns(::fileno(file)), 0U);
  std::ostringstream out;
  {
    const FittedStream fitted(out, ::fileno(file));
    out << std::string(300, 'x') << " y";
  }
  EXPECT_EQ(out.str(), std::string(300, 'x') + " y");
  static_cast<void>(std::fclose(file));
}

TEST(TerminalColumns, HelpTakesColumnsAndElseEighty) {
  if (::isatty(STDOUT_FILENO) != 0) GTEST_SKIP() << "standard output is a terminal";
  for (const auto& [text, columns] : {std::pair{"100", 100U}, {"12", 40U}, {"wide", 80U}, {"0", 80U}, {"", 80U}}) {
    ::setenv("COLUMNS", text, 1);
    EXPECT_EQ(help_columns(), columns) << text;
  }
  ::unsetenv("COLUMNS");
  EXPECT_EQ(help_columns(), 80U);
}

}  // namespace
}  // namespace prismfield::test_terminal
