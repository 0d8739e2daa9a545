// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "case/yaml_tree.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace prismfield::test_yaml_tree {
namespace {

using Kind = YamlNode::Kind;

YamlNode parse(const std::string& text) {
  ProblemList problems;
  YamlNode root = parse_yaml(text, "file", problems);
  problems.throw_if_any();
  return root;
}

/// Equal in what is written; places may differ.
void expect_same(const YamlNode& a, const YamlNode& b, const std::string& text) {
  ASSERT_EQ(a.kind, b.kind) << text;
  ASSERT_EQ(a.text, b.text) << text;
  ASSERT_EQ(a.quoted, b.quoted) << text;
  ASSERT_EQ(a.items.size(), b.items.size()) << text;
  ASSERT_EQ(a.entries.size(), b.entries.size()) << text;
  for (std::size_t i = 0; i < a.items.size(); ++i) expect_same(a.items[i], b.items[i], text);
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    ASSERT_EQ(a.entries[i].key, b.entries[i].key) << text;
    expect_same(a.entries[i].value, b.entries[i].value, text);
  }
}

TEST(YamlTree, KeepsLinesAndQuotes) {
  const YamlNode root = parse("a: 5\nb:\n  - '5'\n  - {c: ~}\n");
  EXPECT_EQ(root.find("a")->text, "5");
  EXPECT_FALSE(root.find("a")->quoted);
  const YamlNode& list = *root.find("b");
  EXPECT_EQ(root.entries[1].key_line, 2);
  EXPECT_TRUE(list.items[0].quoted);
  EXPECT_EQ(list.items[0].line, 3);
  EXPECT_EQ(list.items[1].find("c")->kind, Kind::null);
  EXPECT_EQ(where_of(list.items[1], "file", list.items[1].line), "file:4");
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(YamlTree, TheFirstOfRepeatedKeysCounts) {
  ProblemList problems;
  const YamlNode root = parse_yaml("a: 1\na: 2\n", "file", problems);
  EXPECT_EQ(problems.size(), 1U);
  EXPECT_EQ(root.entries.size(), 1U);
  EXPECT_EQ(root.find("a")->text, "1");
}

TEST(YamlTree, ExpandedAliasesAreIndependent) {
  ProblemList problems;
  YamlNode root = parse_yaml("a: &x {k: [1, 2]}\nb: *x\n", "file", problems);
  apply_override(root, "b.k.0=7", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(root.find("a")->find("k")->items[0].text, "1");
  EXPECT_EQ(root.find("b")->find("k")->items[0].text, "7");
}

std::int64_t peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// The parser alone takes 250 bytes for a bracket, and a tree a hundred times its aliases.
TEST(YamlTree, HostileTextTakesLittleMemory) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = ", *a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [x";
    for (int k = 0; k < 10; ++k) laughs += last;
    laughs += "]\n";
  }
  const std::int64_t before = peak_kib();
  for (const std::string& text : {std::string(4U << 20, '['), "a: " + std::string(4U << 20, '{'), laughs}) {
    EXPECT_THROW(static_cast<void>(parse(text)), InputError);
  }
  EXPECT_LT(peak_kib() - before, 200 * 1024);
  // brackets that close again are no nesting
  std::string closed = "a: '";
  for (int i = 0; i < 20000; ++i) closed += "[]{}";
  EXPECT_EQ(parse(closed + "'\n").find("a")->text.size(), 80000U);
}

TEST(YamlTree, RemovedKeysAreNotWritten) {
  ProblemList problems;
  YamlNode root = parse_yaml("a: 1\nb: {c: 2, d: 3}\n", "file", problems);
  apply_override(root, "a=null", problems);
  apply_override(root, "b.c=~", problems);
  apply_override(root, "never.there=null", problems);
  EXPECT_TRUE(problems.empty());
  const YamlNode again = parse(to_yaml(root));
  EXPECT_EQ(again.find("a"), nullptr);
  EXPECT_EQ(again.find("never"), nullptr);
  EXPECT_EQ(again.find("b")->entries.size(), 1U);
}

TEST(YamlTree, ARemovedParentCanBeSetAgain) {
  ProblemList problems;
  YamlNode root = parse_yaml("a: {b: 1}\n", "file", problems);
  apply_override(root, "a=null", problems);
  apply_override(root, "a.c=2", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(root.find("a")->find("b"), nullptr);
  EXPECT_EQ(root.find("a")->find("c")->text, "2");
}

TEST(YamlTree, WhatIsWrittenReadsBackTheSame) {
  // Texts that need care: numbers and words in quotes, syntax, blanks, several bytes a character.
  const std::vector<std::string> texts = {"1",   "1e5", "true",  "null", "~",  "a: b", "# c",   "- d",
                                          "[",   "}",   " lead", "end ", "",   "it's", "\"q\"", "\\n",
                                          "%",   "@",   "Ä Ω",   "a\nb", "&x", "*x",   "!t",    "a,b c",
                                          "...", "---", "?",     ": ",   "\t", "é"};
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::function<YamlNode(int)> make = [&](int depth) {
    YamlNode node;
    const std::size_t kind = depth > 3 ? 0 : below(3);
    node.flow = below(2) == 0;
    if (kind == 1) {
      node.kind = Kind::list;
      for (std::size_t i = below(4); i > 0; --i) node.items.push_back(make(depth + 1));
    } else if (kind == 2) {
      node.kind = Kind::map;
      for (std::size_t i = below(4); i > 0; --i) {
        node.entries.push_back({"k" + std::to_string(i) + texts[below(texts.size())], 1, make(depth + 1)});
      }
    } else {
      node.kind = Kind::scalar;
      node.quoted = below(4) != 0;
      node.text = node.quoted ? texts[below(texts.size())] : "12.5";
    }
    return node;
  };
  for (int round = 0; round < 500; ++round) {
    const YamlNode tree = make(0);
    const std::string text = to_yaml(tree);
    expect_same(parse(text), tree, text);
    if (HasFatalFailure()) return;
  }
}

TEST(YamlTree, TextOfAnOptionIsNeverSyntax) {
  ProblemList problems;
  YamlNode root = parse_yaml("a: 1\n", "file", problems);
  set_text(root, "output.file", "{x: 'y'", "--output", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(root.find("output")->find("file")->text, "{x: 'y'");
  EXPECT_EQ(where_of(*root.find("output")->find("file"), "file", 1), "--output");
  EXPECT_EQ(parse(to_yaml(root)).find("output")->find("file")->text, "{x: 'y'");
}

TEST(YamlTree, KeysAreShownClean) {
  EXPECT_EQ(join_key("a", "b\n"), "a.b?");
  EXPECT_EQ(join_key("", "b"), "b");
}

}  // namespace
}  // namespace prismfield::test_yaml_tree
