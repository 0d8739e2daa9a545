// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// sign_checkpoint FILE...: makes the checksums of checkpoints right whatever else they hold, that of the layout too, as
// somebody does who wants to pass the check.
#include "compute/checkpoint_header.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

/// As CheckpointLayout::id() has it, where the layout lies within the file.
void sign_layout(prismfield::CheckpointHeader& header, const std::string& bytes) {
  const auto [offset, count] = header.layout;
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (offset < 0 || offset > size || count <= 0 || count > (size - offset) / 8) return;
  prismfield::Checksum checksum;
  checksum.add(header.case_hash);
  checksum.add_bytes(bytes.data() + offset, static_cast<std::size_t>(8 * count));
  header.layout_id = checksum.digest();
}

}  // namespace

int main(int n, char** arguments) {
  for (int i = 1; i < n; ++i) {
    std::ifstream in(arguments[i], std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    prismfield::CheckpointHeader header;
    if (bytes.size() < sizeof header) return 1;
    std::memcpy(&header, bytes.data(), sizeof header);
    sign_layout(header, bytes);
    prismfield::sign(header, bytes.data() + sizeof header, bytes.size() - sizeof header);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ofstream(arguments[i], std::ios::binary) << bytes;
  }
}
