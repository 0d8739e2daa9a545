// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"
#include "ranks.hpp"
#include "readers/prism_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace prismfield::test_distribution {
namespace {

using testing::ranks;

/// The value of a column at an index of the whole.
double value_at(int column, std::int64_t index) { return 1000.0 * column + static_cast<double>(index); }

std::vector<double> values_of(int column, IndexRange range) {
  std::vector<double> values;
  for (std::int64_t i = range.begin; i < range.end; ++i) values.push_back(value_at(column, i));
  return values;
}

class Moving : public ::testing::Test {
protected:
  void start(IndexRange held) {
    m_a = values_of(1, held);
    m_b = values_of(2, held);
    m_columns.emplace(std::vector<std::vector<double>*>{&m_a, &m_b}, held);
  }
  void move_to(IndexRange wanted) {
    m_columns->hold(wanted, ranks());
    EXPECT_EQ(m_a, values_of(1, wanted));
    EXPECT_EQ(m_b, values_of(2, wanted));
    EXPECT_EQ(m_columns->held().begin, wanted.begin);
    EXPECT_EQ(m_columns->held().size(), wanted.size());
  }
  [[nodiscard]] static IndexRange part(std::int64_t n) { return balanced_part(n, ranks().rank(), ranks().size()); }
  [[nodiscard]] static IndexRange on_root(std::int64_t n) { return {0, ranks().rank() == 0 ? n : 0}; }

  std::vector<double> m_a, m_b;
  std::optional<DistributedColumns> m_columns;
};

TEST_F(Moving, FromRankZeroToEqualPartsAndBack) {
  for (const std::int64_t n : {1000, 3, 1, 0}) {
    start(on_root(n));
    move_to(part(n));
    move_to(on_root(n));
  }
}

TEST_F(Moving, FromPartsToAllOfItOnEveryRank) {
  start(part(1000));
  move_to({0, 1000});
}

TEST_F(Moving, FromRankZeroToAllOfItOnEveryRank) {
  start(on_root(1000));
  const double* const before = m_a.data();
  move_to({0, 1000});
  if (ranks().rank() == 0) {
    EXPECT_EQ(m_a.data(), before) << "what is there already was copied";
  }
}

TEST_F(Moving, BetweenUnequalPartsThatOverlap) {
  start(part(1000));
  const std::int64_t rank = ranks().rank();
  // the last rank wants the first values, ranks between want neighbours' too, rank 1 wants none
  IndexRange wanted{std::max<std::int64_t>(0, 900 - 150 * rank), 1000 - 100 * rank};
  if (rank == 1) wanted = {0, 0};
  move_to(wanted);
}

TEST_F(Moving, StayingCopiesNothing) {
  start(part(1000));
  const double* const before = m_a.data();
  move_to(part(1000));
  EXPECT_EQ(m_a.data(), before);
}

TEST_F(Moving, AMessageOfSeveralPieces) {
  if (ranks().size() != 2) GTEST_SKIP() << "once is enough";
  const std::int64_t n = (std::int64_t{1} << 26) + 17;
  std::vector<double> column(ranks().rank() == 0 ? static_cast<std::size_t>(n) : 0);
  if (ranks().rank() == 0) {
    column.front() = 1;
    column[column.size() - 17] = 2;
    column.back() = 3;
  }
  DistributedColumns columns({&column}, on_root(n));
  columns.hold({0, ranks().rank() == 1 ? n : 0}, ranks());
  if (ranks().rank() != 1) return;
  ASSERT_EQ(column.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(column.front(), 1);
  EXPECT_EQ(column[column.size() - 17], 2);
  EXPECT_EQ(column.back(), 3);
}

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

TEST(Hdf5OfRanks, EachReadsItsRows) {
  const std::filesystem::path file = "rows_" + std::to_string(ranks().size()) + ".h5";
  if (ranks().rank() == 0) {
    MadeHdf5 made(file);
    made.write("/a", {1000}, values_of(1, {0, 1000}).data());
    made.write("/few", {2}, values_of(2, {0, 2}).data());
    made.write("/table", {2, 3}, values_of(3, {0, 6}).data());
    made.write_attribute("/few", "scale_factor", 0.5);
    made.write_attribute("/few", "_FillValue", value_at(2, 1));
    made.close();
  }
  barrier(ranks());
  {
    const Hdf5File opened = Hdf5File::open(file, Seal::unchecked);
    const IndexRange rows = balanced_part(1000, ranks().rank(), ranks().size());
    EXPECT_EQ(opened.read("/a", rows), values_of(1, rows));
    const IndexRange few = balanced_part(2, ranks().rank(), ranks().size());
    const std::vector<double> scaled = opened.read("/few", few);
    ASSERT_EQ(scaled.size(), static_cast<std::size_t>(few.size()));
    for (std::int64_t i = few.begin; i < few.end; ++i) {
      const double value = scaled[static_cast<std::size_t>(i - few.begin)];
      EXPECT_TRUE(i == 0 ? value == 0.5 * value_at(2, 0) : std::isnan(value)) << value;
    }
    EXPECT_THROW((void)opened.read("/table", rows), RunError);
    EXPECT_THROW((void)opened.read("/a", {990, 1001}), RunError);
    EXPECT_THROW((void)opened.read("/nothing", rows), RunError);
  }
  EXPECT_THROW((void)Hdf5File::open("nothing.h5", Seal::unchecked), RunError);
  barrier(ranks());
  if (ranks().rank() == 0) std::filesystem::remove(file);
}

TEST(Lists, EachRankReadsAPartOfHdf5AndHoldsWhatItAsksFor) {
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
  const std::vector<std::int64_t> held = gather_everywhere(ranks(), list->readable().size());
  EXPECT_EQ(std::accumulate(held.begin(), held.end(), std::int64_t{0}), kept);
  if (ranks().size() > 1) {
    EXPECT_LT(held[0], kept);
    EXPECT_GT(list->memory_to_hold({0, kept}).after, 11 * 8 * kept);
  }
  // by which a checkpoint knows the prisms, on whatever number of ranks
  const Digest whole = read_prisms(InputFile{file, "", "model.prisms.file"}, spec)->digest(Communicator());
  EXPECT_EQ(list->digest(ranks()), whole);
  const IndexRange mine = balanced_part(kept, ranks().rank(), ranks().size());
  list->set_induced({2, 0, -4});
  list->hold(mine, ranks());
  EXPECT_EQ(list->ranges().susceptibility.min, of_zero_size);
  EXPECT_EQ(list->ranges().remanence.max, 10 * (n - 1));
  EXPECT_EQ(list->digest(ranks()), whole);
  PrismBlock block;
  list->read({mine.begin, mine.end}, block);
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    const auto at = static_cast<std::size_t>(i - mine.begin);
    const auto number = static_cast<double>(i + of_zero_size);
    EXPECT_EQ(block.density[at], 10 * number);
    EXPECT_EQ(block.magnetization[0][at], 2 * number);
    EXPECT_EQ(block.magnetization[2][at], (10 - 4) * number);
  }
  if (ranks().size() > 1) {
    EXPECT_THROW(list->read({0, kept}, block), RunError);
  }
  barrier(ranks());
  if (ranks().rank() == 0) std::filesystem::remove(file);
}

}  // namespace
}  // namespace prismfield::test_distribution
