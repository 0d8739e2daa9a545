// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "compute/checkpoint.hpp"

namespace prismfield::testing {

/// Makes the checksums of a checkpoint's bytes right whatever else they hold, as somebody does who wants to pass the
/// check; sections that pass the end are cut, and the sums go to the end. `layout_id`: of a file without a layout.
/// Returns the header.
inline CheckpointHeader sign_bytes(std::string& bytes, const Digest* layout_id = nullptr) {
  CheckpointHeader header;
  bytes.resize(std::max(bytes.size(), sizeof header));
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.resize(bytes.size() - (bytes.size() - sizeof header) % sizeof(std::int64_t));
  const char* at = bytes.data() + sizeof header;
  auto left = static_cast<std::int64_t>(bytes.size() - sizeof header);
  const auto sign_section = [&](CheckpointSection& section) {
    section.bytes = std::clamp<std::int64_t>(section.bytes, 0, left) / 8 * 8;
    section.digest = digest_of(at, static_cast<std::size_t>(section.bytes));
    at += section.bytes;
    left -= section.bytes;
  };
  const Digest known = layout_id == nullptr ? header.layout.digest : *layout_id;
  const bool has_layout = header.layout.bytes != 0;
  sign_section(header.layout);
  if (!has_layout) header.layout.digest = known;
  sign_section(header.state);
  header.sums.bytes = left;
  sign_section(header.sums);
  sign(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return header;
}

}  // namespace prismfield::testing
