// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>

namespace prismfield {

void Communicator::sum_everywhere(double* values, std::int64_t n) const {
  sum_to_root(values, n);
  broadcast_bytes(values, n * static_cast<std::int64_t>(sizeof(double)));
}

void broadcast(const Communicator& communicator, std::string& text, int root) {
  auto size = static_cast<std::int64_t>(text.size());
  broadcast(communicator, size, root);
  text.resize(static_cast<std::size_t>(size));
  communicator.broadcast_bytes(text.data(), size, root);
}

void broadcast(const Communicator& communicator, std::vector<std::string>& texts, int root) {
  auto size = static_cast<std::int64_t>(texts.size());
  broadcast(communicator, size, root);
  texts.resize(static_cast<std::size_t>(size));
  for (std::string& text : texts) broadcast(communicator, text, root);
}

}  // namespace prismfield
