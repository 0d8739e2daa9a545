// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/prisms.hpp>

#include "base/checksum.hpp"

namespace prismfield {

class Communicator;

/// What every rank knows of a list, whatever part of it it holds.
struct ListFacts {
  std::int64_t size = 0;
  Bounds bounds;
};

/// Prisms held as they were listed, on several ranks each a range of them; size() and bounds() tell of the whole.
class DistributedPrisms final : public PrismSource {
public:
  /// The prisms `held` of a list; `peak_bytes`: host memory that reading and checking took.
  DistributedPrisms(PrismBlock prisms, IndexRange held, const ListFacts& facts, std::vector<std::string> warnings,
                    std::int64_t peak_bytes);

  [[nodiscard]] std::int64_t size() const noexcept override { return m_facts.size; }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_facts.bounds; }
  [[nodiscard]] IndexRange readable() const noexcept override { return m_held; }
  void read(IndexRange range, PrismBlock& out) const override;

  /// Makes `range` the prisms that this rank holds: they move between ranks, one column after the other. Collective;
  /// ranges may overlap or be empty. Throws AgreedFailure everywhere when a rank has no memory for its own.
  void hold(IndexRange range, const Communicator& communicator);

  /// Of all prisms with their numbers, the same for any number of ranks that each hold a part of them and nothing
  /// twice. Collective.
  [[nodiscard]] Digest digest(const Communicator& communicator) const;

  /// Host memory that the list occupies here, bytes.
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// The same once this rank holds `range`, and at most on the way there.
  struct HoldMemory {
    std::int64_t after = 0, during = 0;
  };
  [[nodiscard]] HoldMemory memory_to_hold(IndexRange range) const noexcept;
  /// The same while it was being made: reading and checking files takes more than what stays.
  [[nodiscard]] std::int64_t peak_memory_bytes() const noexcept { return std::max(m_peak_bytes, memory_bytes()); }
  /// One line, e.g. "251946 prisms".
  [[nodiscard]] std::string description() const;
  /// What the user should be told though the run goes on.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return m_warnings; }

private:
  PrismBlock m_prisms;
  IndexRange m_held;
  ListFacts m_facts;
  std::vector<std::string> m_warnings;
  std::int64_t m_peak_bytes = 0;
};

}  // namespace prismfield
