// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"

namespace prismfield {

/// Passes the first `limit` errors of each kind to a ProblemList and counts the others, so that a file with a million
/// bad lines gives a page of messages. Readers and checks use it.
class LimitedProblems {
public:
  static constexpr std::int64_t limit = 20;

  /// `where`: the file as a whole; lines that count further errors begin with it.
  LimitedProblems(ProblemList& problems, std::string where) : m_problems(problems), m_where(std::move(where)) {}

  /// Adds the Problem that `make` returns, or counts it. `kind` names counted errors, such as "NaN or infinite values".
  template <class Make>
  void add(std::string_view kind, const Make& make) {
    if (++m_counts[kind] > limit) return;
    if (m_problems.is_full()) {
      m_problems.count_more(1);
      return;
    }
    Problem problem = make();
    m_problems.add(std::move(problem.where), std::move(problem.key), std::move(problem.what));
  }

  /// Adds a line per kind with the number of errors that were only counted. Call it once, at the end.
  void finish() {
    for (const auto& [kind, count] : m_counts) {
      if (count <= limit) continue;
      if (m_problems.is_full()) {
        m_problems.count_more(count - limit);
      } else {
        m_problems.add(m_where, "", grouped(count - limit) + " more of this kind: " + std::string(kind));
      }
    }
    m_counts.clear();
  }

private:
  ProblemList& m_problems;
  std::string m_where;
  std::map<std::string_view, std::int64_t> m_counts;
};

}  // namespace prismfield
