// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

constexpr std::size_t edit_cost = 4;
constexpr std::size_t swap_cost = 3;

/// What it costs to turn one word into another by inserting, deleting and replacing letters and swapping neighbours.
/// Swaps cost less, and another first letter more, so that gzx is gxz rather than gx, and GB is GiB rather than B.
std::size_t misspelling_cost(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j * edit_cost;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i * edit_cost;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : edit_cost);
      row[j] = std::min({last[j] + edit_cost, row[j - 1] + edit_cost, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + swap_cost);
      }
    }
  }
  return row[b.size()] + (a.substr(0, 1) == b.substr(0, 1) ? 0 : 1);
}

}  // namespace

std::string Problem::message() const {
  // what a file put into a message has no end of its own
  constexpr std::size_t longest = 4096;
  std::string line = shown(where, longest);
  if (!key.empty()) {
    // "--set execution.slots", but "case.yaml:7: execution.slots"; another option says itself which key it is
    const bool is_option = where.starts_with("--");
    if (!line.empty() && !is_option) line += ": ";
    if (where == "--set") line += " ";
    if (!is_option || where == "--set") line += shown(key, longest);
  }
  if (!line.empty()) line += ": ";
  return line + shown(what, longest);
}

InputError::InputError(std::vector<Problem> problems, std::int64_t more)
    : m_problems(std::move(problems)), m_more(more) {
  if (m_problems.size() > most_told) {
    m_more += static_cast<std::int64_t>(m_problems.size() - most_told);
    m_problems.resize(most_told);
  }
  for (const Problem& problem : m_problems) {
    if (!m_text.empty()) m_text += '\n';
    m_text += problem.message();
  }
  if (m_more > 0)
    m_text += (m_text.empty() ? "" : "\nand ") + grouped(m_more) + (m_more == 1 ? " more error" : " more errors");
}

InputError::InputError(std::string where, std::string key, std::string what)
    : InputError(std::vector<Problem>{{std::move(where), std::move(key), std::move(what)}}) {}

void ProblemList::add(std::string where, std::string key, std::string what) {
  if (is_full()) {
    ++m_more;
    return;
  }
  m_problems.push_back({std::move(where), std::move(key), std::move(what)});
}

void ProblemList::add(const InputError& error) {
  for (const Problem& problem : error.problems()) add(problem.where, problem.key, problem.what);
  m_more += error.more();
}

void ProblemList::sort_by_line() {
  const auto line = [](const Problem& problem) {
    constexpr std::int64_t behind_all_lines = std::numeric_limits<std::int64_t>::max();
    const std::size_t colon = problem.where.rfind(':');
    if (problem.where.starts_with("--") || colon == std::string::npos) return behind_all_lines;
    std::int64_t number = 0;
    const char* const end = problem.where.data() + problem.where.size();
    const auto [rest, status] = std::from_chars(problem.where.data() + colon + 1, end, number);
    return status == std::errc{} && rest == end ? number : behind_all_lines;
  };
  std::stable_sort(m_problems.begin(), m_problems.end(),
                   [&](const Problem& a, const Problem& b) { return line(a) < line(b); });
}

void ProblemList::throw_if_any() const {
  if (!empty()) throw InputError(m_problems, m_more);
}

std::string nearest_spelling(const std::string& word, const std::vector<std::string>& allowed) {
  // Longer than any name of this program: no misspelling of one, and the distance would cost time.
  constexpr std::size_t longest = 64;
  if (word.empty() || word.size() > longest) return {};
  const std::string wanted = lower_case(word);
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) * edit_cost + 2;
  for (const std::string& candidate : allowed) {
    const std::size_t cost = misspelling_cost(wanted, lower_case(candidate));
    if (cost < least) {
      least = cost;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return nearest;
  for (const std::string& candidate : allowed) {
    if (word.size() >= 3 && lower_case(candidate).starts_with(wanted)) return candidate;
  }
  return {};
}

}  // namespace prismfield
