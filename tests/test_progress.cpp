// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/terminal.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace prismfield::test_progress {
namespace {

class ProgressTest : public ::testing::Test {
protected:
  /// Progress whose clock is m_now.
  [[nodiscard]] Progress::Clock clock() {
    return [this] { return m_now; };
  }
  double m_now = 100;
  std::ostringstream m_out;
};

TEST_F(ProgressTest, ALogHasOneLinePerTenPercent) {
  Progress progress(ProgressStyle::log, m_out, clock(), 80);
  for (int i = 1; i <= 1000; ++i) {
    m_now = 100 + i * 0.02;
    progress.update(i / 1000.0, i * 1000000);
  }
  std::istringstream lines(m_out.str());
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  ASSERT_EQ(found.size(), 10U) << m_out.str();
  EXPECT_EQ(found[2], "progress:  30 %, 5.00e7 pairs/s, 14 s left");
  EXPECT_EQ(found[9], "progress: 100 %, 5.00e7 pairs/s");
}

TEST_F(ProgressTest, TenthsThatRoundDownAreNotLost) {
  Progress progress(ProgressStyle::log, m_out, clock(), 80);
  m_now += 1;
  // ten times 0.1 is less than 1
  double done = 0;
  for (int i = 0; i < 10; ++i) progress.update(done += 0.1, 1);
  EXPECT_NE(m_out.str().find("100 %"), std::string::npos) << m_out.str();
}

TEST_F(ProgressTest, AFewLaunchesWriteAFewLines) {
  Progress progress(ProgressStyle::log, m_out, clock(), 80);
  m_now += 1;
  progress.update(0.05, 10);
  EXPECT_EQ(m_out.str(), "");
  progress.update(0.65, 10);
  progress.update(0.66, 10);
  EXPECT_EQ(m_out.str(), "progress:  65 %, 10 pairs/s, 0.54 s left\n");
}

TEST_F(ProgressTest, ATerminalLineIsRewrittenAndTakenOff) {
  {
    Progress progress(ProgressStyle::line, m_out, clock(), 80);
    m_now += 1;
    progress.update(0.25, 1000000);
    EXPECT_EQ(m_out.str(), "\r[#######-----------------------]  25 %, 1.00e6 pairs/s, 3 s left\x1b[K");
    m_now += 0.01;
    progress.update(0.26, 1000000);
    EXPECT_EQ(m_out.str().find("26"), std::string::npos) << "ten times a second is enough for eyes";
    m_now += 100;
    progress.update(1, 1000000);
    EXPECT_EQ(m_out.str().find('\n'), std::string::npos);
    EXPECT_EQ(m_out.str().substr(m_out.str().rfind('\r')),
              "\r[" + std::string(30, '#') + "] 100 %, 9.90e3 pairs/s\x1b[K")
        << "the end of the longer line goes";
  }
  EXPECT_TRUE(m_out.str().ends_with("\x1b[K\r\x1b[K\r")) << m_out.str();
}

// Standard error is flushed after each piece that is written, and its lines are wrapped on a terminal.
TEST_F(ProgressTest, LinesAreErasedOnATerminalOfKnownWidthToo) {
  std::stringbuf shown;
  WrappingBuffer buffer(shown, 80);
  std::ostream stream(&buffer);
  stream.setf(std::ios::unitbuf);
  {
    Progress progress(ProgressStyle::line, stream, clock(), 79);
    progress.note("drawing a figure of a long name.png");
    progress.note("drawing b.png");
  }
  stream << "warning: one" << std::endl;
  EXPECT_EQ(shown.str(), "\rdrawing a figure of a long name.png\x1b[K\rdrawing b.png\x1b[K\r\x1b[K\rwarning: one\n");
}

TEST_F(ProgressTest, SilentWritesNothing) {
  {
    Progress progress(ProgressStyle::silent, m_out, clock(), 80);
    m_now += 1;
    progress.update(0.5, 10);
    progress.update(1, 10);
  }
  EXPECT_EQ(m_out.str(), "");
}

TEST_F(ProgressTest, OddFractionsAndClocksDoNoHarm) {
  Progress progress(ProgressStyle::log, m_out, clock(), 80);
  progress.update(0.5, 10);  // no time has passed
  EXPECT_EQ(m_out.str(), "progress:  50 %\n");
  progress.update(-3, 0);
  progress.update(7, 10);
  EXPECT_EQ(m_out.str(), "progress:  50 %\nprogress: 100 %\n");
}

TEST_F(ProgressTest, NoLineIsWiderThanTheTerminal) {
  for (const std::size_t columns : {10U, 20U, 44U, 60U, 79U, 200U}) {
    m_out.str("");
    Progress progress(ProgressStyle::line, m_out, clock(), columns);
    for (int i = 1; i <= 10; ++i) {
      m_now += 1;
      progress.update(i / 10.0, 123456789);
      progress.show(0.5, [] { return std::string(90, 'x'); });
    }
    progress.note("drawing " + std::string(150, 'y'));
    std::istringstream lines(m_out.str());
    constexpr std::size_t erasing = 3;
    for (std::string line; std::getline(lines, line, '\r');) EXPECT_LE(line.size(), columns + erasing);
  }
}

TEST_F(ProgressTest, NotesAreForTerminalsAlone) {
  {
    Progress progress(ProgressStyle::log, m_out, clock(), 80);
    progress.note("drawing a.png");
  }
  EXPECT_EQ(m_out.str(), "");
  {
    Progress progress(ProgressStyle::line, m_out, clock(), 80);
    progress.note("drawing a.png");
  }
  EXPECT_EQ(m_out.str(), "\rdrawing a.png\x1b[K\r\x1b[K\r");
}

TEST(ProgressStyleTest, QuietIsSilent) { EXPECT_EQ(progress_style(true), ProgressStyle::silent); }

}  // namespace
}  // namespace prismfield::test_progress
