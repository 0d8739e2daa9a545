// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace prismfield {

/// What failed: something while running, the input, or nothing: the run was stopped.
enum class ErrorKind { failure, input, stopped };

/// One error in the input: where it stands, which key or column, what is wrong and what is allowed.
struct Problem {
  /// "file:line", "--set", or an option's name
  std::string where;
  /// key path such as "execution.slots", a column or an option's name; may be empty
  std::string key;
  /// what is wrong and the remedy
  std::string what;

  /// `where: key: what`, the line that users see: control characters, escape sequences too, are '?' in it
  [[nodiscard]] std::string message() const;
};

/// Errors in the input or the arguments, all of them that were found; of more than `most_told` the
/// first ones and the number of the others.
class InputError : public std::exception {
public:
  static constexpr std::size_t most_told = 100;

  /// `more`: errors that were found beside these
  explicit InputError(std::vector<Problem> problems, std::int64_t more = 0);
  InputError(std::string where, std::string key, std::string what);

  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return m_problems; }
  /// errors that problems() does not hold
  [[nodiscard]] std::int64_t more() const noexcept { return m_more; }
  /// every problem, one a line, and behind them "and 12,345 more errors"
  [[nodiscard]] const char* what() const noexcept override { return m_text.c_str(); }

private:
  std::vector<Problem> m_problems;
  std::int64_t m_more = 0;
  std::string m_text;
};

/// A failure while running that is no error of the user's input: the file system, memory, MPI.
class RunError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The run was stopped by a signal: SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2.
class Stopped : public std::exception {
public:
  /// `remedy`: what a user can do now
  explicit Stopped(const std::string& remedy = "")
      : m_text("stopped by a signal; no result was written" + (remedy.empty() ? remedy : "; " + remedy)) {}
  [[nodiscard]] const char* what() const noexcept override { return m_text.c_str(); }

private:
  std::string m_text;
};

/// Thrown on every rank when a step of the run failed on at least one: all ranks know it and end in order.
class AgreedFailure : public std::exception {
public:
  AgreedFailure(ErrorKind what_failed, std::string text) : kind(what_failed), message(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override {
    return message.empty() ? "another rank failed and tells why" : message.c_str();
  }

  /// on the lowest rank that failed its own, on all others the gravest of all
  ErrorKind kind;
  /// on the lowest rank that failed; "" on all others, so that one message is printed
  std::string message;
};

/// Collects problems so that a user sees every error at once. Of more than InputError::most_told it keeps the first
/// ones and counts the others, so that no input makes it large.
class ProblemList {
public:
  void add(std::string where, std::string key, std::string what);
  void add(const InputError& error);
  /// Runs a step and adds the InputError that it throws, so that the next step is tried too. Whether it threw none.
  template <class Step>
  bool collect(const Step& step) {
    try {
      step();
      return true;
    } catch (const InputError& error) {
      add(error);
      return false;
    }
  }
  /// Counts problems that are not told one by one.
  void count_more(std::int64_t n) noexcept { m_more += n; }
  /// True when a further problem would only be counted: its message need not be made.
  [[nodiscard]] bool is_full() const noexcept { return m_problems.size() >= InputError::most_told; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// those that were only counted included
  [[nodiscard]] std::size_t size() const noexcept { return m_problems.size() + static_cast<std::size_t>(m_more); }
  /// Puts what has a line in the order of the lines, as somebody who corrects the file goes through it; options last.
  void sort_by_line();
  /// Throws one InputError with everything collected so far; returns when there is none.
  void throw_if_any() const;

private:
  std::vector<Problem> m_problems;
  std::int64_t m_more = 0;
};

/// The spelling in `allowed` nearest to `word` by edit distance, or "" when none is near enough to be meant.
[[nodiscard]] std::string nearest_spelling(const std::string& word, const std::vector<std::string>& allowed);

}  // namespace prismfield
