// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/text_table.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

namespace prismfield::test_text_table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_in;
using testing::mistakes;
using ::testing::Not;
using testing::ScratchFolder;

TableRequest abc() {
  TableRequest request;
  request.needed = {"a", "b", "c"};
  request.aliases = {{"gamma", "c"}};
  request.columns_key = "some.columns";
  return request;
}

class TextTable : public ::testing::Test {
protected:
  InputFile file(std::string_view text) const { return named(m_folder.write("t.csv", text)); }
  static InputFile named(const std::filesystem::path& path) { return {path, "case.yaml:7", "model.file"}; }

  /// The table of a text that must be good.
  Table good(std::string_view text, const TableRequest& request = abc()) const {
    ProblemList problems;
    Table table = read_table(file(text), request, problems);
    EXPECT_EQ(mistakes([&] { problems.throw_if_any(); }), "") << text;
    return table;
  }
  /// Every error of a text, the folder cut from the file's name.
  std::string bad(std::string_view text, const TableRequest& request = abc()) const {
    return without_folder(mistakes([&] {
      ProblemList problems;
      try {
        (void)read_table(file(text), request, problems);
      } catch (const InputError& error) {
        problems.add(error);
      }
      problems.throw_if_any();
    }));
  }
  std::string without_folder(std::string text) const {
    const std::string folder = (m_folder / "").string();
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }

  ScratchFolder m_folder;
};

using LineReading = TextTable;

TEST_F(LineReading, KnowsEveryLineEnd) {
  LineReader reader(file("one\ntwo\r\nthree\rfour\r\r\n\nlast"));
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three", "four", "", "", "last"));
  EXPECT_EQ(reader.number(), 7);
  EXPECT_FALSE(reader.next(line));
}

TEST_F(LineReading, CutsNoLineAtTheEndOfItsBuffer) {
  // lines of every length around the buffer, each kind of end falling on its last byte
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    for (int shift = 0; shift < 4; ++shift) {
      const std::string first(LineReader::chunk_bytes - 2 + static_cast<std::size_t>(shift), 'x');
      LineReader reader(file(first + end + "second" + end + "third"));
      std::string_view line;
      ASSERT_TRUE(reader.next(line));
      EXPECT_EQ(line.size(), first.size());
      ASSERT_TRUE(reader.next(line));
      EXPECT_EQ(line, "second");
      ASSERT_TRUE(reader.next(line));
      EXPECT_EQ(line, "third");
      EXPECT_FALSE(reader.next(line));
    }
  }
}

TEST_F(LineReading, OfNothing) {
  LineReader reader(file(""));
  std::string_view line;
  EXPECT_FALSE(reader.next(line));
}

TEST_F(LineReading, RefusesWhatIsNoText) {
  EXPECT_THAT(bad(std::string_view("1,2,3\n\0\0,5,6\n", 13)),
              HasSubstr("case.yaml:7: model.file: 't.csv' is not a text file"));
  EXPECT_THAT(bad("\xFF\xFE"
                  "1,2,3"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(bad(std::string(LineReader::longest_line + 2 * LineReader::chunk_bytes, '1')),
              HasSubstr("t.csv:1: a line above 16 MiB"));
}

TEST_F(LineReading, NamesAFileThatCannotBeRead) {
  ProblemList problems;
  EXPECT_THAT(mistakes([&] { (void)read_table(named(m_folder / "none.csv"), abc(), problems); }),
              ::testing::AllOf(HasSubstr("case.yaml:7: model.file: "),
                               HasSubstr("none.csv' cannot be read: there is no such file")));
  EXPECT_THAT(mistakes([&] { (void)read_table(named(m_folder / ""), abc(), problems); }), HasSubstr("is a folder"));
  EXPECT_THAT(mistakes([&] { (void)read_table(named(m_folder.write("f", "") / "x.csv"), abc(), problems); }),
              HasSubstr("cannot be read: Not a directory"));
  std::filesystem::create_symlink("loop", m_folder / "loop");
  EXPECT_THAT(mistakes([&] { (void)read_table(named(m_folder / "loop"), abc(), problems); }),
              HasSubstr("cannot be read"));
  if (::geteuid() != 0) {
    const auto path = m_folder.write("secret.csv", "1,2,3\n");
    std::filesystem::permissions(path, std::filesystem::perms::none);
    EXPECT_THAT(mistakes([&] { (void)read_table(named(path), abc(), problems); }), HasSubstr("Permission denied"));
  }
}

TEST_F(TextTable, SaysThatAFileWasChangedWhileItWasRead) {
  const InputFile changing = file("1 2 3\n4 5 6\n");
  LineReader reader(changing);
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  std::ofstream(changing.path, std::ios::app) << "7 8 9\n";
  EXPECT_THAT(mistakes([&] {
                while (reader.next(line)) continue;
              }),
              HasSubstr("was changed while it was read"));
}

TEST_F(TextTable, ReadsEverySeparator) {
  for (const std::string text :
       {"1,2,3\n4,5,6\n", "1;2;3\n4;5;6\n", "1\t2\t3\n4\t5\t6\n", "1 2 3\n4 5 6", "  1   2 \t 3  \n 4 5 6\n",
        "1, 2 , 3\n4 ,5,\t6\n", "1,2,3,\n4,5,6,\n", "1,2,3\r\n4,5,6\r\n", "1,2,3\r4,5,6\r",
        "\xEF\xBB\xBF"
        "1,2,3\n4,5,6\n",
        "\n\n1,2,3\n\n  \n4,5,6\n\n", "# x\n1,2,3 # first\n#7,8,9\n4,5,6 #\n", "+1,2e0,.3e1\n4,5.0,\"6\"\n",
        "1 2 3\r\n4 5 6\n", "\"1\";\"2\";\"3\"\n4;5;6"}) {
    const Table table = good(text);
    EXPECT_THAT(table.columns[0], ElementsAre(1, 4)) << text;
    EXPECT_THAT(table.columns[1], ElementsAre(2, 5)) << text;
    EXPECT_THAT(table.columns[2], ElementsAre(3, 6)) << text;
    EXPECT_THAT(table.ignored, IsEmpty());
  }
}

TEST_F(TextTable, KnowsTheLineOfEachRow) {
  EXPECT_THAT(good("# one\na,b,c\n\n1,2,3\r\n#\n4,5,6").lines, ElementsAre(4, 6));
}

TEST_F(TextTable, FollowsTheHeader) {
  for (const std::string text : {"c,a,b\n3,1,2\n", "C; A; B\n3;1;2\n", "\"c\",\"a\",\"b\"\n3,1,2\n", "c a b\n3 1 2\n",
                                 "c,a,b\n3 1 2\n", "gamma,a,b\n3,1,2\n", "# c a b\n3 1 2\n", "#c,a,b\n3,1,2\n",
                                 "# made by hand\n# columns: c, a, b\n3,1,2\n", "c,a,b,\n3,1,2,\n",
                                 "\xEF\xBB\xBF"
                                 "c,a,b\r\n3,1,2\r\n"}) {
    const Table table = good(text);
    EXPECT_THAT(table.columns[0], ElementsAre(1)) << text;
    EXPECT_THAT(table.columns[1], ElementsAre(2)) << text;
    EXPECT_THAT(table.columns[2], ElementsAre(3)) << text;
  }
}

TEST_F(TextTable, NamesColumnsThatNobodyAskedFor) {
  const Table table = good("name,a,b,remark,c\n\"x, y\",1,2,,3\nrock #5,4,5,\"say \"\"a,b\"\"\",6\n");
  EXPECT_THAT(table.ignored, ElementsAre("name", "remark"));
  EXPECT_THAT(table.columns[0], ElementsAre(1, 4));
  EXPECT_THAT(table.columns[2], ElementsAre(3, 6));
}

TEST_F(TextTable, BlanksAtTheEndOfALineAreNoColumn) {
  EXPECT_EQ(bad("a b c name\n1 2 3 x\n4 5 6 \n"), "t.csv:3: 3 columns, but the header names 4");
  EXPECT_THAT(good("a,b,c,name\n1,2,3,x\n4,5,6, \n").columns[2], ElementsAre(3, 6));
}

/// A row that lost a value is not one whose text at the end is left out.
TEST_F(TextTable, ShortRowsLackTextAlone) {
  for (const std::string text :
       {"a,b,c,note\n1,2,3\n4,5,6,hello\n7,8,9\n", "a,b,c,d,note\n1,2,3,4\n4,5,6,7,x\n7,8,9,1\n",
        "a,b,c,d,note\n1,2,3,4,\n4,5,6,7,x\n7,8,9,1\n", "a;b;c;note;who\n1;2;3;x;y\n4;5;6;x\n7;8;9\n",
        "a\tb\tc\tnote\n1\t2\t3\thello\n4\t5\t6\n7\t8\t9\n"}) {
    EXPECT_THAT(good(text).columns[2], ElementsAre(3, 6, 9)) << text;
  }
  // a row that may have lost a number is named
  const std::string look = " nothing in the last columns; look whether a number is missing before them";
  const auto notes = [&](std::string_view text) {
    const std::vector<std::string> all = good(text).notes;
    return all.size() == 1 ? without_folder(all[0]) : std::to_string(all.size());
  };
  EXPECT_EQ(notes("a,b,c,d,note\n1,2,3,4,x\n5,6,8,9\n5,6,7,8,y\n"), "t.csv: 1 row in line 3 has" + look);
  EXPECT_EQ(notes("a,b,c,d,note\n5,6,8,,\n5,6,8,9\n1,2,3,4,x\n"), "t.csv: 2 rows in lines 2, 3 have" + look);
  EXPECT_EQ(notes("a,b,c,d,note\n1,2,3,4,x\n5,6,7,8,\n"), "0");
  EXPECT_EQ(notes("a,b,c,d\n1,2,3,\n5,6,7,8\n"), "0");
  // no row fills the last columns
  EXPECT_EQ(notes("a,b,c,note\n1,2,3\n4,5,6\n"),
            "t.csv: the rows have 3 columns, the header 4; the last are taken as empty");
  EXPECT_EQ(notes("a,b,c,note,year\n1,2,3,,\n4,5,6,x\n7,8,9,,\n"), "0");
  const std::string what = "columns, but the header names ", remedy = "; where a value is missing, keep its comma";
  EXPECT_EQ(bad("a,b,c,d\n1,2,3,4\n5,6,8\n9,10,11,12\n"), "t.csv:3: 3 " + what + "4" + remedy);
  // above the first whole row, and where there is none
  EXPECT_EQ(bad("a,b,c,d\n5,6,8\n1,2,3,4\n"), "t.csv:2: 3 " + what + "4" + remedy);
  EXPECT_EQ(bad("a,b,c,d,note,who\n5,6,8\n5,6,9,10\n"), "t.csv:2: 3 " + what + "6" + remedy);
  // an empty field at its end or a dummy in the place of text that was left out
  for (const char* const end : {",", ",*", ",\"\""}) {
    EXPECT_EQ(bad(std::string("a,b,c,d,note\n1,2,3,4,x\n5,6,8") + end + "\n"), "t.csv:3: 4 " + what + "5" + remedy);
    EXPECT_EQ(bad(std::string("a,b,c,d,note\n5,6,8") + end + "\n1,2,3,4,x\n"), "t.csv:2: 4 " + what + "5" + remedy);
  }
  // the text moved into the place of a number
  EXPECT_EQ(bad("a,b,c,d,note\n1,2,3,4,x\n5,6,8,y\n"), "t.csv:3: 4 " + what + "5" + remedy);
  EXPECT_EQ(bad("a,b,c,d,note\n5,6,8,y\n1,2,3,4,x\n"), "t.csv:2: 4 " + what + "5" + remedy);
  EXPECT_EQ(bad("a b c\n1,5 2 3\n4 5 6\n"),
            "t.csv:2: 2 " + what + "3; decimals are written with a point\nt.csv:3: 1 column, but the header names 3");
  EXPECT_EQ(bad("a;b;c;d\n1;2;3;4\n5;6;8\n"), "t.csv:3: 3 " + what + "4; where a value is missing, keep its semicolon");
}

/// A spreadsheet's errors and names of stations may begin with the sign of a comment.
TEST_F(TextTable, CommentsThatLookLikeRowsAreNamed) {
  for (const auto& [text, lines] : {std::pair{"a,b,c\n1,2,3\n#N/A,5,6\n7,8,9\n", "1 comment in line 3"},
                                    {"a b c\n1 2 3\n#N/A 5 6\n7 8 9\n", "1 comment in line 3"},
                                    {"id,a,b,c\n#1,1,2,3\n#2,4,5,6\nP3,7,8,9\n", "2 comments in lines 2, 3"}}) {
    const std::vector<std::string> notes = good(text).notes;
    ASSERT_EQ(notes.size(), 1) << text;
    EXPECT_THAT(notes[0], HasSubstr(lines)) << text;
  }
  for (const char* const text : {"#a,b,2\n1,2,3\n", "a,b,c\n# 1,2,3\n1,2,3\n#x,y\n", "a b c\n1 2 3\n#line 10 b\n"}) {
    EXPECT_THAT(good(text).notes, IsEmpty()) << text;
  }
}

TEST_F(TextTable, FollowsTheOrderThatTheCaseStates) {
  TableRequest request = abc();
  request.columns = {"b", "gamma", "a"};
  EXPECT_THAT(good("2,3,1\n", request).columns[2], ElementsAre(3));
  EXPECT_THAT(good("first,second,third\n2,3,1\n", request).columns[0], ElementsAre(1));
  EXPECT_THAT(good("b,c,a\n2,3,1\n", request).columns[0], ElementsAre(1));
  EXPECT_EQ(bad("a,b,c\n2,3,1\n", request), "t.csv:1: the header calls column 1 a, some.columns calls it b");
  EXPECT_EQ(bad("2,3,1,9\n", request), "t.csv:1: 4 columns, 3 are needed");
  request.columns = {"b", "a"};
  EXPECT_THAT(bad("2,3\n", request), HasSubstr("case.yaml:7: some.columns: missing column c"));
  request.columns = {"b", "a", "c", "gamma"};
  EXPECT_THAT(bad("2,3,4,5\n", request), HasSubstr("column c is given 2 times (c, gamma)"));
}

TEST_F(TextTable, ReadsOptionalColumnsWhereTheyAre) {
  TableRequest request = abc();
  request.optional = {"d", "e"};
  const Table table = good("e,c,a,b\n5,3,1,2\n50,30,10,20\n", request);
  EXPECT_THAT(table.columns,
              ElementsAre(ElementsAre(1, 10), ElementsAre(2, 20), ElementsAre(3, 30), IsEmpty(), ElementsAre(5, 50)));
  EXPECT_THAT(bad("a,b,c,d,d\n1,2,3,4,5\n", request), HasSubstr("column d is given 2 times"));
  EXPECT_THAT(bad("a,b,c,d\n1,2,3,x\n", request), HasSubstr("t.csv:2: d: 'x' is not a number"));
  EXPECT_EQ(bad("1,2,3\n", request),
            "t.csv:1: 3 columns without names; name the columns in a header line or by "
            "some.columns");
  request.columns = {"c", "-", "b", "a", "-"};
  EXPECT_THAT(good("3,x,2,1,9\n", request).columns[2], ElementsAre(3));
  EXPECT_THAT(good("gamma,a,b,a,a\n3,x,2,1,9\n", request).columns[0], ElementsAre(1));
}

TEST_F(TextTable, TellsUnitsFromNames) {
  TableRequest request = abc();
  request.of_places = true;
  for (const char* text :
       {"a [m2 s-2],b,Gamma (km)\n1,2,3\n", "a [m2 s-2] b gamma(km)\n1 2 3\n", "# a[m2_s-2] b gamma_[km]\n1 2 3\n",
        "# by me: a [m2 s-2], b, gamma (km)\n1,2,3\n", "\"a [m2 s-2]\";b;gamma  (km)\n1;2;3\n"}) {
    const Table table = good(text, request);
    EXPECT_THAT(table.columns[2], ElementsAre(3)) << text;
    EXPECT_THAT(table.units, ElementsAre("m2 s-2", "", "km")) << text;
    EXPECT_THAT(table.named_where, HasSubstr("t.csv:1")) << text;
    EXPECT_EQ(table.named_key, "") << text;
  }
  request.columns = {"a [g]", "b", "c"};
  const Table table = good("a [m],b [m],c\n1,2,3\n", request);
  EXPECT_THAT(table.units, ElementsAre("g", "m", ""));
  EXPECT_EQ(good("1,2,3\n", request).named_key, "some.columns");
  EXPECT_THAT(name_and_unit("x"), ::testing::Pair("x", ""));
  EXPECT_THAT(name_and_unit(""), ::testing::Pair("", ""));
  EXPECT_THAT(name_and_unit("x]"), ::testing::Pair("x]", ""));
  EXPECT_THAT(name_and_unit("[m]"), ::testing::Pair("", "m"));
}

TEST_F(TextTable, NamesMissingColumnsAndWhatTheyMayBeCalled) {
  EXPECT_EQ(bad("a,b,remark\n1,2,3\n"),
            "t.csv:1: missing column c; the columns are 'a', 'b', 'remark'; if a column holds it under "
            "another name, write c there: some.columns: [a, b, \"-\"]");
  EXPECT_THAT(bad("x,y,z\n1,2,3\n"), HasSubstr("t.csv:1: missing columns a, b, c"));
  EXPECT_THAT(bad("garbage\n"), HasSubstr("missing columns a, b, c; the columns are 'garbage'"));
  EXPECT_THAT(bad("a,b,b,c\n1,2,3,4\n"), HasSubstr("t.csv:1: column b is given 2 times"));
  TableRequest request;
  request.needed = {"west", "density"};
  EXPECT_THAT(bad("west,densty\n1,2\n", request), HasSubstr("'densty': did you mean density?"));
}

TEST_F(TextTable, WantsTheRightNumberOfColumnsWithoutAHeader) {
  EXPECT_EQ(bad("1,2\n3,4\n"),
            "t.csv:1: 2 columns, but without a header 3 are expected: a, b, c; name the columns in a header line or "
            "by some.columns");
  EXPECT_THAT(bad("1,5,2,5,3,5\n"), HasSubstr("6 columns, but without a header 3 are expected"));
  EXPECT_THAT(bad("1,5,2,5,3,5\n"), HasSubstr("decimals are written with a point"));
}

TEST_F(TextTable, NamesEachBadLine) {
  EXPECT_EQ(bad("a,b,c\n1,2\n1,2,3\n1,2,3,4\n1,x,3\n1,,3\n1,NaN,3\n1,2,-inf\n1,1e400,3\n0x10,2,3\n1e,2,3\n1 2,2,3\n"),
            "t.csv:2: 2 columns, but the header names 3; where a value is missing, keep its comma\n"
            "t.csv:4: 4 columns, but the header names 3\n"
            "t.csv:5: b: 'x' is not a number\n"
            "t.csv:6: b: is empty; a number is expected\n"
            "t.csv:7: b: 'NaN' is not finite\n"
            "t.csv:8: c: '-inf' is not finite\n"
            "t.csv:9: b: '1e400' is too large\n"
            "t.csv:10: a: '0x10' is not a number\n"
            "t.csv:11: a: '1e' is not a number\n"
            "t.csv:12: a: '1 2' is not a number");
}

TEST_F(TextTable, KeepsTheGoodRowsBesideTheBad) {
  ProblemList problems;
  const Table table = read_table(file("1,2,3\n4,x,6\n7,8,9\n"), abc(), problems);
  EXPECT_THAT(table.columns[0], ElementsAre(1, 7));
  EXPECT_THAT(table.lines, ElementsAre(1, 3));
  EXPECT_EQ(problems.size(), 1U);
}

TEST_F(TextTable, TellsOfDecimalCommas) {
  EXPECT_THAT(bad("1 2,5 3\n"), HasSubstr("t.csv:1: 2 columns, but without a header 3 are expected: a, b, c; name the "
                                          "columns in a header line or by some.columns; decimals are written with a"));
  EXPECT_THAT(bad("a;b;c\n1,5;2;3\n"),
              HasSubstr("t.csv:2: a: '1,5' is not a number; decimals are written with a point"));
}

TEST_F(TextTable, TellsOfCommasBetweenThousands) {
  const std::string remedy = "; thousands are written without commas";
  EXPECT_EQ(bad("a,b,c\n\"502,547.85\",2,3\n"), "t.csv:2: a: '502,547.85' is not a number" + remedy);
  EXPECT_EQ(bad("a;b;c\n7,501,000;2;3\n"), "t.csv:2: a: '7,501,000' is not a number" + remedy);
  EXPECT_EQ(bad("a;b;c\n502,547;2;3\n"),
            "t.csv:2: a: '502,547' is not a number; decimals are written with a point, thousands without commas");
  EXPECT_EQ(bad("a b c\n502,547.85 7,501,000.5 3\n"), "t.csv:2: 4 columns, but the header names 3" + remedy);
  EXPECT_EQ(bad("a,b,c\n502,547.85,7,501,000.00,12.5\n"), "t.csv:2: 6 columns, but the header names 3" + remedy);
  EXPECT_EQ(bad("a,b,c\n502,547.85,7,501,12.5\n"), "t.csv:2: 5 columns, but the header names 3" + remedy);
  EXPECT_THAT(bad("502,547.85,2,3\n"), HasSubstr("4 columns, but without a header 3 are expected"));
  EXPECT_THAT(bad("502,547.85,2,3\n"), HasSubstr(remedy));
  // more columns than commas explain
  EXPECT_EQ(bad("a,b,c\n1,200.5,3,4,5\n"), "t.csv:2: 5 columns, but the header names 3");
}

TEST_F(TextTable, WantsAllOfATruncatedFile) {
  EXPECT_EQ(bad("a,b,c\n1,2,3\n4,5"),
            "t.csv:3: 2 columns, but the header names 3; where a value is missing, keep its comma");
  EXPECT_EQ(bad("a,b,c\n1,2,3\n4,5,"), "t.csv:3: c: is empty; a number is expected");
  EXPECT_EQ(bad("a,b,c\n1,2,3\n4,5,6e"), "t.csv:3: c: '6e' is not a number");
  EXPECT_EQ(bad("a,b,c\n1,2,3\n4,5,-"), "t.csv:3: c: '-' is not a number");
}

TEST_F(TextTable, NoticesALastNumberThatIsCut) {
  const std::string rows = "a,b,c\n1,2,3.125\n4,5,-6.250\n7,8,9.375\n";
  EXPECT_EQ(good(rows + "1,2,3.125").rows(), 4);
  EXPECT_EQ(good(rows + "1,2,3.12\n").rows(), 4);
  for (const char* cut : {"3.12", "3.", "3"}) {
    EXPECT_THAT(bad(rows + "1,2," + cut), HasSubstr("t.csv:5: the file seems to be cut short in its last number"));
  }
  const std::string small = "1 2 3.1e-05\n4 5 6.2e-04\n7 8 9.3e+10\n1 2 3.1e-0";
  EXPECT_THAT(bad(small), HasSubstr("cut short in its last number, '3.1e-0'"));
  EXPECT_EQ(good(small + "5").rows(), 4);
  // numbers as short as they can be, and whole ones
  EXPECT_EQ(good("1 2 3.25\n4 5 6.5\n7 8 9.125\n1 2 3").rows(), 4);
  EXPECT_EQ(good("1 2 30\n4 5 600\n7 8 9\n1 2 3").rows(), 4);
}

TEST_F(TextTable, AQuoteIsClosedOnItsLine) {
  EXPECT_EQ(bad("a,b,c,name\n1,2,3,\"x\n4,5,6,\"y\"\n"),
            "t.csv:2: a quote (\") is not closed on its line; write each row, and each name, on one line");
  EXPECT_EQ(bad("a,b,c,\"name\n1,2,3,x\n"),
            "t.csv:1: a quote (\") is not closed on its line; write each row, and each name, on one line");
  EXPECT_EQ(good("a,b,c,name\n1,2,3,\"x, # y\"\n4,5,6,z # 5\" wide\n").rows(), 2);
}

TEST_F(TextTable, SaysThatThereIsNothing) {
  EXPECT_THAT(bad(""), HasSubstr("case.yaml:7: model.file: 't.csv' is empty"));
  EXPECT_THAT(bad("a,b,c\n"), HasSubstr("has a header but no data"));
  EXPECT_THAT(bad("# nothing\n\n\n"), HasSubstr("has no data"));
}

TEST_F(TextTable, NamesTwentyMistakesOfAKindAndCountsTheRest) {
  std::string text = "a,b,c\n";
  for (int i = 0; i < 1000; ++i) text += "1,x,3\n";
  for (int i = 0; i < 21; ++i) text += "1\n";
  const std::string message = bad(text);
  EXPECT_EQ(lines_in(message), 42U);
  EXPECT_THAT(message, HasSubstr("t.csv:21: b"));
  EXPECT_THAT(message, Not(HasSubstr("t.csv:22: b")));
  EXPECT_THAT(message, HasSubstr("t.csv: 980 more of this kind: text where a number belongs"));
  EXPECT_THAT(message, HasSubstr("t.csv: 1 more of this kind: lines with too few columns"));
}

TEST_F(TextTable, HeadersOfAnySizeEndInAShortMessage) {
  std::string header;
  for (int i = 0; i < 20000; ++i) header += "c" + std::to_string(i) + ",";
  EXPECT_EQ(bad(header + "\n1,2,3\n"), "t.csv:1: more than 10000 columns; this is no table of prisms or points");
  // names out of the file neither command a terminal nor fill it
  EXPECT_EQ(bad("\x1b[2Ja,b,\xE2\x80\xAE"
                "c\n1,2,3\n"),
            "t.csv:1: missing columns a, c; the columns are '?[2Ja', 'b', '?c'; if columns hold them under "
            "other names, write these names there: some.columns: [\"-\", b, \"-\"]");
  EXPECT_LT(bad("a,b" + header.substr(0, 50000) + "\n1,2,3\n").size(), 1000U);
}

TEST_F(TextTable, TextWithoutNumbersIsRefusedSoon) {
  TableRequest request = abc();
  request.of_places = true;
  for (const char* line : {"hello world foo\n", "# hello world foo\n"}) {
    std::string text;
    while (text.size() < (std::size_t{2} << 20)) text += line;
    EXPECT_THAT(bad(text, request), HasSubstr("no row of numbers in the first MiB; this is no table")) << line;
  }
}

TEST_F(TextTable, AnswersALineOfTenMegabytes) {
  std::string text = "1,2,3\n";
  while (text.size() < 10'000'000) text += "123.456,";
  EXPECT_THAT(bad(text), HasSubstr("t.csv:2: 1250000 columns, 3 are needed"));
  EXPECT_LT(bad(text).size(), 200U);
  EXPECT_THAT(bad("a,b,c\n1,2," + std::string(10'000'000, '7') + "\n"), HasSubstr("t.csv:2: c: '7777"));
  EXPECT_LT(bad(std::string(10'000'000, 'x')).size(), 300U);
}

TEST_F(TextTable, EndsInATableOrInAMistakeWhateverTheBytes) {
  // fixed seed: a failure comes back
  std::mt19937 generator(3);
  const std::string start = "# c, b, a\na,b,remark,c\n1,-2.5e3,\"x, y\",3\r\n4;5 6\t7\n8,9,z,10\n";
  int tables = 0, refusals = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = start;
    for (int change = static_cast<int>(generator() % 6); change >= 0; --change) {
      const std::size_t at = generator() % text.size();
      switch (generator() % 4) {
        case 0: text[at] = static_cast<char>(generator()); break;
        case 1: text.erase(at, generator() % 8); break;
        case 2: text.insert(at, 1, "\",;#\n\r 0e-+."[generator() % 12]); break;
        default: text.insert(at, text.substr(generator() % text.size(), generator() % 10)); break;
      }
      if (text.empty()) text = "1";
    }
    ProblemList problems;
    try {
      const Table table = read_table(file(text), abc(), problems);
      for (const auto& column : table.columns) {
        ASSERT_EQ(column.size(), table.lines.size());
        for (const double value : column) ASSERT_TRUE(std::isfinite(value));
      }
      ++tables;
    } catch (const InputError&) {
      ++refusals;
    }
  }
  EXPECT_GT(tables, 100);
  EXPECT_GT(refusals, 100);
}

class ReadNumbers : public TextTable {
protected:
  Numbers numbers(std::string_view text, const NumbersRequest& request) {
    ProblemList problems;
    Numbers result = read_numbers(file(text), request, problems);
    m_mistakes = without_folder(mistakes([&] { problems.throw_if_any(); }));
    return result;
  }
  std::string m_mistakes;
};

TEST_F(ReadNumbers, OneALine) {
  NumbersRequest request;
  request.what = "density";
  EXPECT_THAT(numbers("1\n2.5 # remark\n\n#\n\t-3e2 \r\n+4", request).values, ElementsAre(1, 2.5, -300, 4));
  EXPECT_EQ(m_mistakes, "");
  EXPECT_EQ(numbers("1 2\n3\n", request).found, 2);
  EXPECT_EQ(m_mistakes, "t.csv:1: density: more than one value on a line");
  EXPECT_EQ(numbers("1\nx\nnan\n1e999\n1,5\n", request).found, 5);
  EXPECT_EQ(m_mistakes,
            "t.csv:2: density: 'x' is not a number\n"
            "t.csv:3: density: 'nan' is not finite\n"
            "t.csv:4: density: '1e999' is too large\n"
            "t.csv:5: density: '1,5' is not a number; decimals are written with a point");
}

TEST_F(ReadNumbers, SeveralALine) {
  NumbersRequest request;
  request.several_a_line = true;
  const Numbers result = numbers("1, 2 3\n4,5\n", request);
  EXPECT_THAT(result.values, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(result.lines, ElementsAre(1, 1, 1, 2, 2));
}

TEST_F(ReadNumbers, CommasThatAreNoGapsAreDecimal) {
  NumbersRequest request;
  request.several_a_line = true;
  request.what = "edge";
  const auto read = [&](const std::string& text) {
    return without_folder(mistakes([&] {
      ProblemList problems;
      static_cast<void>(read_numbers(file(text), request, problems));
      problems.throw_if_any();
    }));
  };
  for (const char* text : {"1,2,3\n", "1, 2, -3\n", "1.5, 2.5,3.5\n", "1 2,\n3, 4\n", " 1,2\n"})
    EXPECT_EQ(read(text), "") << text;
  for (const char* text : {"1 2,5 7\n", "1, 2,5\n", "1;2,5\n"}) {
    EXPECT_EQ(read(text), "t.csv:1: edge: '2,5' is not a number; decimals are written with a point") << text;
  }
}

/// 0; 10.25; 30.75 with decimal commas, not five edges.
TEST_F(ReadNumbers, APairBelowASingleNumberIsInDoubt) {
  NumbersRequest request;
  request.several_a_line = true;
  request.what = "edge";
  static_cast<void>(numbers("0\n10,25\n30,75\n", request));
  EXPECT_THAT(m_mistakes, HasSubstr("t.csv:2: edge: '10,25' may be one number or two"));
  for (const char* text : {"0,1\n2,3\n4\n", "0\n1, 2\n", "0\n1.5,2\n", "0\n1,2,3\n4,5\n", "0\n1\n2\n"}) {
    EXPECT_FALSE(numbers(text, request).values.empty());
    EXPECT_EQ(m_mistakes, "") << text;
  }
}

TEST_F(ReadNumbers, CountsWhatItDoesNotKeep) {
  NumbersRequest request;
  request.count = 2;
  const Numbers result = numbers("1\n2\n3\n4\n", request);
  EXPECT_THAT(result.values, ElementsAre(1, 2));
  EXPECT_EQ(result.found, 4);
  // a huge grid with a short file takes no memory for cells that are not there
  request.count = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(numbers("1\n2\n", request).found, 2);
}

TEST_F(ReadNumbers, KnowsOtherComments) {
  NumbersRequest request;
  request.comment = "!";
  EXPECT_THAT(numbers("! head\n1 ! one\n2!two\n", request).values, ElementsAre(1, 2));
  EXPECT_EQ(m_mistakes, "");
  (void)numbers("1 # one\n", request);
  EXPECT_NE(m_mistakes, "");
}

}  // namespace
}  // namespace prismfield::test_text_table
