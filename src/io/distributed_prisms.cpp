// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/distributed_prisms.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include <prismfield/error.hpp>

#include "model/prism_check.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"

namespace prismfield {

DistributedPrisms::DistributedPrisms(PrismBlock prisms, IndexRange held, const ListFacts& facts,
                                     std::vector<std::string> warnings, std::int64_t peak_bytes)
    : m_prisms(std::move(prisms)),
      m_held(held),
      m_facts(facts),
      m_warnings(std::move(warnings)),
      m_peak_bytes(peak_bytes) {
  for (auto* column : columns_of(m_prisms)) column->shrink_to_fit();
}

void DistributedPrisms::hold(IndexRange range, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  m_peak_bytes = std::max(m_peak_bytes, memory_to_hold(range).during);
  const auto columns = columns_of(m_prisms);
  DistributedColumns distributed({columns.begin(), columns.end()}, m_held);
  distributed.hold(range, communicator);
  m_held = distributed.held();
}

DistributedPrisms::HoldMemory DistributedPrisms::memory_to_hold(IndexRange range) const noexcept {
  const std::int64_t now = memory_bytes();
  if (range == m_held) return {now, now};
  const std::int64_t after = static_cast<std::int64_t>(sizeof(*this)) + range.size() * prism_bytes;
  return {after, std::max(now, after) + range.size() * static_cast<std::int64_t>(sizeof(double))};
}

void DistributedPrisms::read(IndexRange range, PrismBlock& out) const {
  const auto [begin, end] = range;
  if (begin < end && (begin < m_held.begin || end > m_held.end)) {
    throw RunError(
        fmt::format("prisms [{}, {}) were asked of a rank that holds [{}, {})", begin, end, m_held.begin, m_held.end));
  }
  out.resize(end - begin);
  const std::array<const std::vector<double>*, 7> from = {&m_prisms.west,   &m_prisms.east,   &m_prisms.south,
                                                          &m_prisms.north,  &m_prisms.bottom, &m_prisms.top,
                                                          &m_prisms.density};
  const auto to = columns_of(out);
  for (std::size_t c = 0; c < 7 && begin < end; ++c) {
    std::copy_n(from[c]->begin() + (begin - m_held.begin), end - begin, to[c]->begin());
  }
}

Digest DistributedPrisms::digest(const Communicator& communicator) const {
  // A sum over the prisms, each with its number: ranks add up theirs.
  struct Numbered {
    std::int64_t number;
    std::array<double, 7> columns;
  };
  Digest mine;
  for (std::int64_t i = 0; i < m_prisms.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Numbered prism{m_held.begin + i,
                         {m_prisms.west[at], m_prisms.east[at], m_prisms.south[at], m_prisms.north[at],
                          m_prisms.bottom[at], m_prisms.top[at], m_prisms.density[at]}};
    const Digest one = digest_of(&prism, sizeof prism);
    mine.low += one.low;
    mine.high += one.high;
  }
  const std::vector<std::int64_t> halves = gather_everywhere(
      communicator,
      std::vector<std::int64_t>{static_cast<std::int64_t>(mine.low), static_cast<std::int64_t>(mine.high)});
  Digest all;
  for (std::size_t rank = 0; rank < halves.size(); rank += 2) {
    all.low += static_cast<std::uint64_t>(halves[rank]);
    all.high += static_cast<std::uint64_t>(halves[rank + 1]);
  }
  return all;
}

std::int64_t DistributedPrisms::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(sizeof(*this)) + static_cast<std::int64_t>(m_prisms.west.capacity()) * prism_bytes;
}

std::string DistributedPrisms::description() const { return fmt::format("{} prism{}", size(), size() == 1 ? "" : "s"); }

}  // namespace prismfield
