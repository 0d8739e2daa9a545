// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "compute/direct_state.hpp"
#include "kernel/contact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace prismfield::test_work_state {
namespace {

/// Every (prism, ordered point) of the work, each once.
std::set<std::pair<std::int64_t, std::int64_t>> pairs_of(const std::vector<WorkItem>& work) {
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const WorkItem& item : work) {
    for (std::int64_t p = item.prisms.begin; p < item.prisms.end; ++p) {
      for (std::int64_t q = item.ordered.begin; q < item.ordered.end; ++q) {
        EXPECT_TRUE(pairs.emplace(p, item.points.begin + q).second) << "a pair twice";
      }
    }
  }
  return pairs;
}

TEST(RemainingWork, IsWhatTheStatesHaveNotDone) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto draw = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    RankState state;
    state.layout.work = {{{0, 11}, {0, 13}, {0, 13}}, {{11, 20}, {0, 13}, {2, 9}}};
    state.layout.tile_points = 1 + draw(14);
    state.progress.item = draw(2);
    std::set<std::pair<std::int64_t, std::int64_t>> done;
    const auto finish = [&](const WorkItem& item) { done.merge(pairs_of({item})); };
    for (std::int64_t i = 0; i < state.progress.item; ++i) finish(state.layout.work[static_cast<std::size_t>(i)]);
    if (!state.finished()) {
      const WorkItem& item = state.layout.work[static_cast<std::size_t>(state.progress.item)];
      const std::int64_t n = item.ordered.size();
      state.progress.tile = std::min(draw(n / state.layout.tile_points) * state.layout.tile_points, n);
      if (state.progress.tile < n) state.progress.prisms = draw(item.prisms.size());
      finish({item.prisms, item.points, {item.ordered.begin, item.ordered.begin + state.progress.tile}});
      finish({{item.prisms.begin, item.prisms.begin + state.progress.prisms},
              item.points,
              {item.ordered.begin + state.progress.tile,
               item.ordered.begin + std::min(state.progress.tile + state.layout.tile_points, n)}});
    }
    auto all = done;
    const auto left = pairs_of(remaining_work({state}));
    for (const auto& pair : left) EXPECT_TRUE(all.insert(pair).second) << "done and left";
    EXPECT_EQ(all.size(), 11U * 13U + 9U * 7U);
  }
}

TEST(RemainingWork, IsSharedOutWithoutGapsOrDoubles) {
  const std::vector<WorkItem> work = {{{5, 9}, {0, 4}, {0, 4}}, {{9, 40}, {0, 4}, {1, 3}}};
  for (const std::int64_t parts : {1, 2, 3, 7, 50}) {
    std::set<std::pair<std::int64_t, std::int64_t>> all;
    std::size_t n = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto mine = share_of_work(work, part, parts);
      EXPECT_LE(mine.size(), work.size());
      auto pairs = pairs_of(mine);
      n += pairs.size();
      all.merge(pairs);
    }
    EXPECT_EQ(all, pairs_of(work));
    EXPECT_EQ(n, all.size());
  }
}

TEST(RemainingWork, JoinsWhatTouches) {
  const auto state_of = [](std::vector<WorkItem> work) {
    RankState state;
    state.layout.work = std::move(work);
    return state;
  };
  const std::vector<WorkItem> quarters = {
      {{0, 5}, {0, 9}, {0, 4}}, {{5, 8}, {0, 9}, {4, 9}}, {{5, 8}, {0, 9}, {0, 4}}, {{0, 5}, {0, 9}, {4, 9}}};
  EXPECT_EQ(remaining_work({state_of({quarters[0], quarters[1]}), state_of({quarters[2], quarters[3]})}),
            (std::vector<WorkItem>{{{0, 8}, {0, 9}, {0, 9}}}));
  const std::vector<WorkItem> apart = {{{0, 5}, {0, 9}, {0, 9}}, {{6, 8}, {0, 9}, {0, 9}}, {{5, 6}, {9, 12}, {0, 3}}};
  EXPECT_EQ(remaining_work({state_of(apart)}).size(), 3U) << "a gap, other points";
}

TEST(RemainingWork, PartsHaveTheSameNumberOfPairs) {
  const std::vector<WorkItem> work = {{{0, 1000}, {0, 10}, {0, 10}}, {{1000, 1100}, {0, 10}, {0, 5}}};
  for (const std::int64_t parts : {1, 2, 3, 7}) {
    for (std::int64_t part = 0; part < parts; ++part) {
      EXPECT_NEAR(pairs_in(share_of_work(work, part, parts)), pairs_in(work) / static_cast<double>(parts), 10);
    }
  }
  EXPECT_TRUE(share_of_work({}, 0, 3).empty());
}

/// Advances a rank by about so many pairs, in whole chunks, as a run does that is stopped.
void work_on(RankState& state, double pairs) {
  const WorkLayout& layout = state.layout;
  WorkProgress& at = state.progress;
  while (pairs > 0 && !state.finished()) {
    const WorkItem& item = layout.work[static_cast<std::size_t>(at.item)];
    const std::int64_t n = std::min(layout.tile_points, item.ordered.size() - at.tile);
    const std::int64_t step = std::min(layout.chunk_prisms, item.prisms.size() - at.prisms);
    at.prisms += step;
    pairs -= static_cast<double>(step) * static_cast<double>(n);
    if (at.prisms < item.prisms.size()) continue;
    at.prisms = 0;
    at.tile += n;
    if (at.tile < item.ordered.size()) continue;
    at.tile = 0;
    ++at.item;
  }
}

std::vector<RankState> shared(const std::vector<WorkItem>& work, std::int64_t n_ranks, std::int64_t tile) {
  std::vector<RankState> states(static_cast<std::size_t>(n_ranks));
  for (std::int64_t rank = 0; rank < n_ranks; ++rank) {
    WorkLayout& layout = states[static_cast<std::size_t>(rank)].layout;
    layout.work = share_of_work(work, rank, n_ranks);
    layout.tile_points = tile;
    layout.chunk_prisms = 64;
  }
  return states;
}

TEST(RemainingWork, StaysInFewItemsHoweverOftenTheRanksChange) {
  constexpr std::int64_t n_prisms = 1'000'000;
  constexpr std::int64_t n_points = 10'000;
  constexpr std::uint32_t most_ranks = 16;
  std::mt19937 random(5);
  const auto draw = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  for (const std::int64_t tile : {n_points, std::int64_t{512}}) {
    std::vector<WorkItem> left = {{{0, n_prisms}, {0, n_points}, {0, n_points}}};
    const double all = pairs_in(left);
    std::size_t most = 0;
    double done = 0;
    for (int round = 0; round < 500 && !left.empty(); ++round) {
      const std::int64_t ranks = 1 + draw(most_ranks);
      std::vector<RankState> states = shared(left, ranks, tile);
      // each rank was last asked for its state at another moment, some never
      for (RankState& state : states) {
        work_on(state, 2e-3 * all / static_cast<double>(ranks) * static_cast<double>(draw(5)) / 2);
        done += pairs_in(state.layout.work) - pairs_in(remaining_work({state}));
      }
      left = remaining_work(states);
      EXPECT_NEAR(done + pairs_in(left), all, 1e-9 * all) << round;
      most = std::max(most, left.size());
    }
    EXPECT_LE(most, 8 * most_ranks) << "items, tiles of " << tile;
  }
}

TEST(RemainingWork, EveryPairIsDoneOnceHoweverOftenTheRanksChange) {
  std::mt19937 random(11);
  const auto draw = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  std::vector<WorkItem> left = {{{0, 700}, {0, 20}, {0, 20}}, {{0, 700}, {20, 31}, {0, 11}}};
  const auto all = pairs_of(left);
  std::set<std::pair<std::int64_t, std::int64_t>> done;
  int rounds = 0;
  for (; !left.empty(); ++rounds) {
    ASSERT_LT(rounds, 1000);
    std::vector<RankState> states = shared(left, 1 + draw(7), 1 + draw(9));
    std::set<std::pair<std::int64_t, std::int64_t>> now;
    for (RankState& state : states) {
      auto mine = pairs_of(state.layout.work);
      work_on(state, static_cast<double>(draw(400)));
      for (const auto& pair : pairs_of(remaining_work({state}))) EXPECT_EQ(mine.erase(pair), 1U);
      now.merge(mine);
    }
    for (const auto& pair : now) EXPECT_TRUE(done.insert(pair).second) << "a pair twice";
    left = remaining_work(states);
  }
  EXPECT_EQ(done, all);
  EXPECT_GT(rounds, 5);
}

TEST(AddState, AddsWhereThePointsAre) {
  RankState from;
  from.layout.points = {3, 5};
  from.payload.values = {1, 2, 10, 20};
  from.payload.contact.assign(2 * n_contact_columns, 0.5);
  from.progress.pairs_by_form[1] = 7;
  RankState to;
  to.layout.points = {2, 6};
  add_state(from, to);
  EXPECT_EQ(to.payload.values, (std::vector<double>{0, 1, 2, 0, 0, 10, 20, 0}));
  add_state(from, to);
  EXPECT_EQ(to.payload.values, (std::vector<double>{0, 2, 4, 0, 0, 20, 40, 0}));
  ASSERT_EQ(to.payload.contact.size(), 4U * n_contact_columns);
  for (std::size_t i = 0; i < to.payload.contact.size(); ++i) {
    const bool inside = i / n_contact_columns == 1 || i / n_contact_columns == 2;
    EXPECT_EQ(to.payload.contact[i], inside ? 1 : 0);
  }
  EXPECT_EQ(to.progress.pairs_by_form[1], 14);
  add_state(RankState(), to);
  EXPECT_EQ(to.payload.values[1], 2) << "an empty one adds nothing";
}

TEST(WorkPayload, HasTheBytesThatAreSaidOfIt) {
  const WorkPayload payload = empty_payload(3, 10);
  EXPECT_EQ(payload_bytes(3, 10), static_cast<std::int64_t>(8 * (payload.values.size() + payload.contact.size())));
  EXPECT_EQ(payload_bytes(3, 0), 0);
}

}  // namespace
}  // namespace prismfield::test_work_state
