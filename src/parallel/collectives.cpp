// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/collectives.hpp"

#include <algorithm>
#include <functional>

namespace prismfield {

void add_part(const std::vector<double>& part, std::int64_t rows, std::int64_t n_columns, IndexRange columns,
              std::span<double> values) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto from = part.begin() + row * columns.size();
    const auto to = values.begin() + row * n_columns;
    std::transform(from, from + columns.size(), to + columns.begin, to + columns.begin, std::plus<>());
  }
}

void sum_everywhere(const Communicator& communicator, double* values, std::int64_t n) {
  sum_to_root(communicator, values, n);
  broadcast_bytes(communicator, values, n * static_cast<std::int64_t>(sizeof(double)));
}

void broadcast(const Communicator& communicator, std::string& text, int root) {
  auto size = static_cast<std::int64_t>(text.size());
  broadcast(communicator, size, root);
  text.resize(static_cast<std::size_t>(size));
  broadcast_bytes(communicator, text.data(), size, root);
}

void broadcast(const Communicator& communicator, std::vector<std::string>& texts, int root) {
  auto size = static_cast<std::int64_t>(texts.size());
  broadcast(communicator, size, root);
  texts.resize(static_cast<std::size_t>(size));
  for (std::string& text : texts) broadcast(communicator, text, root);
}

}  // namespace prismfield
