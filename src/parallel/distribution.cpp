// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/distribution.hpp"

#include <cstdint>
#include <utility>

#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

std::vector<std::vector<double>> exchange_lists(std::vector<std::vector<double>> lists,
                                                const Communicator& communicator) {
  const auto me = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<double>> received(lists.size());
  // lengths are whole numbers, exact as doubles
  std::vector<double> sizes(lists.size()), lengths(lists.size());
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  const auto for_others = [&](const auto& f) {
    sends.clear();
    receives.clear();
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
      if (rank != me) f(rank, static_cast<int>(rank));
    }
    exchange(communicator, sends, receives);
  };
  for_others([&](std::size_t i, int rank) {
    sizes[i] = static_cast<double>(lists[i].size());
    sends.push_back({rank, &sizes[i], 1});
    receives.push_back({rank, &lengths[i], 1});
  });
  agree(communicator, [&] {
    for (std::size_t i = 0; i < lists.size(); ++i) received[i].resize(static_cast<std::size_t>(lengths[i]));
  });
  for_others([&](std::size_t i, int rank) {
    sends.push_back({rank, lists[i].data(), static_cast<std::int64_t>(lists[i].size())});
    receives.push_back({rank, received[i].data(), static_cast<std::int64_t>(received[i].size())});
  });
  received[me] = std::move(lists[me]);
  return received;
}

}  // namespace prismfield
