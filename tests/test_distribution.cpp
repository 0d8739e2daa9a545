// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "made_hdf5.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"
#include "ranks.hpp"
#include "readers/prism_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_distribution {
namespace {

using testing::ranks;

TEST(ExchangeLists, OfAnyLength) {
  const int n = ranks().size(), me = ranks().rank();
  std::vector<std::vector<double>> lists, expected;
  for (int rank = 0; rank < n; ++rank) {
    lists.emplace_back(static_cast<std::size_t>(3 * me + rank), 10.0 * me + rank);
    expected.emplace_back(static_cast<std::size_t>(3 * rank + me), 10.0 * rank + me);
  }
  EXPECT_EQ(exchange_lists(lists, ranks()), expected);
  EXPECT_EQ(exchange_lists(std::vector<std::vector<double>>(lists.size()), ranks()),
            std::vector<std::vector<double>>(lists.size()));
}

TEST(Broadcast, TextsAndNumbers) {
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  const int root = ranks().size() - 1;
  if (ranks().rank() == root) {
    texts = {"west", "", std::string(1000, 'x')};
    numbers = {1, 2, 3};
  }
  broadcast(ranks(), texts, root);
  broadcast(ranks(), numbers, root);
  EXPECT_EQ(texts, (std::vector<std::string>{"west", "", std::string(1000, 'x')}));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(AgreeOnInput, EveryRankHasTheMistakesOfTheLowest) {
  const int finder = ranks().size() / 2;
  try {
    agree_on_input(ranks(), [&] {
      if (ranks().rank() < finder) return;
      throw InputError({{"bodies.csv:3", "west", "is text"}, {"bodies.csv", "", std::to_string(ranks().rank())}});
    });
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), ("bodies.csv:3: west: is text\nbodies.csv: " + std::to_string(finder)).c_str());
  }
}

TEST(AgreeOnInput, OtherFailuresEndAllRanks) {
  EXPECT_THROW(agree_on_input(ranks(),
                              [&] {
                                if (ranks().rank() == 0) throw RunError("disk");
                              }),
               AgreedFailure);
}

TEST(Lists, AreWholeOnEveryRank) {
  const std::filesystem::path file = "list_" + std::to_string(ranks().size()) + ".h5";
  constexpr std::int64_t n = 100;
  constexpr std::int64_t of_zero_size = 7;
  if (ranks().rank() == 0) {
    MadeHdf5 made(file);
    std::vector<double> low(n), high(n), zero(n, 0.0), one(n, 1.0), density(n), chi(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      low[at] = static_cast<double>(i);
      high[at] = static_cast<double>(i < of_zero_size ? i : i + 1);
      density[at] = static_cast<double>(10 * i);
      chi[at] = static_cast<double>(i);
    }
    const std::vector<std::pair<const char*, const std::vector<double>*>> columns = {
        {"/west", &low},        {"/east", &high},          {"/south", &zero},
        {"/north", &one},       {"/bottom", &zero},        {"/top", &one},
        {"/density", &density}, {"/susceptibility", &chi}, {"/magnetization_upward", &density}};
    for (const auto& [name, values] : columns) made.write(name, {n}, values->data());
    made.close();
  }
  barrier(ranks());
  PrismsSpec spec;
  spec.file = file;
  const auto list = read_prisms(InputFile{file, "", "model.prisms.file"}, spec, ranks());
  constexpr std::int64_t kept = n - of_zero_size;
  EXPECT_EQ(list->size(), kept);
  EXPECT_EQ(list->bounds().west, of_zero_size);
  EXPECT_EQ(list->bounds().east, n);
  EXPECT_EQ(list->warnings().size(), 1U);
  EXPECT_GT(list->memory_bytes(), 9 * 8 * kept);
  // by which a checkpoint knows the prisms, on whatever number of ranks
  EXPECT_EQ(list->digest(), read_prisms(InputFile{file, "", "model.prisms.file"}, spec)->digest());
  list->set_induced({2, 0, -4});
  EXPECT_EQ(list->ranges().susceptibility.min, of_zero_size);
  EXPECT_EQ(list->ranges().remanence.max, 10 * (n - 1));
  PrismBlock block;
  list->read({3, kept}, block);
  for (std::int64_t i = 3; i < kept; ++i) {
    const auto at = static_cast<std::size_t>(i - 3);
    const auto number = static_cast<double>(i + of_zero_size);
    EXPECT_EQ(block.density[at], 10 * number);
    EXPECT_EQ(block.magnetization[0][at], 2 * number);
    EXPECT_EQ(block.magnetization[2][at], (10 - 4) * number);
  }
  EXPECT_THROW(list->read({0, kept + 1}, block), RunError);
  barrier(ranks());
  if (ranks().rank() == 0) std::filesystem::remove(file);
}

}  // namespace
}  // namespace prismfield::test_distribution
