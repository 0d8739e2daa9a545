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

/// What failed: the run (files, memory, MPI), the user's input, or nothing because a signal stopped the run.
enum class ErrorKind { failure, input, stopped };

/// One error in the input. Readers and checks add it to a ProblemList; an InputError carries it to the user.
struct Problem {
  /// "file:line", "--set", or an option's name
  std::string where;
  /// key path such as "execution.slots", a column or an option's name; may be empty
  std::string key;
  /// what is wrong and the remedy
  std::string what;

  /// The line that users see, `where: key: what`; each control character in it becomes '?'.
  [[nodiscard]] std::string message() const;
};

/// All errors found in the input or the arguments, at most `most_told` of them, and the number of the others. Functions
/// throw it, mostly through ProblemList::throw_if_any().
class InputError : public std::exception {
public:
  static constexpr std::size_t most_told = 100;

  /// `more`: how many errors `problems` leaves out
  explicit InputError(std::vector<Problem> problems, std::int64_t more = 0);
  InputError(std::string where, std::string key, std::string what);

  [[nodiscard]] const std::vector<Problem>& problems() const noexcept { return m_problems; }
  /// how many errors problems() leaves out
  [[nodiscard]] std::int64_t more() const noexcept { return m_more; }
  /// every problem on a line of its own, then "and 12,345 more errors"
  [[nodiscard]] const char* what() const noexcept override { return m_text.c_str(); }

private:
  std::vector<Problem> m_problems;
  std::int64_t m_more = 0;
  std::string m_text;
};

/// The run failed, though the user's input is right: the file system, memory, MPI.
class RunError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A signal stopped the run: SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1 or SIGUSR2.
class Stopped : public std::exception {
public:
  /// `remedy`: what a user can do now
  explicit Stopped(const std::string& remedy = "")
      : m_text("stopped by a signal; no result was written" + (remedy.empty() ? remedy : "; " + remedy)) {}
  [[nodiscard]] const char* what() const noexcept override { return m_text.c_str(); }

private:
  std::string m_text;
};

/// agree() throws it on every rank when a step failed on at least one, so that all ranks end in order.
class AgreedFailure : public std::exception {
public:
  AgreedFailure(ErrorKind what_failed, std::string text) : kind(what_failed), message(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override {
    return message.empty() ? "another rank failed and tells why" : message.c_str();
  }

  /// on the lowest rank that failed, the kind of its error; elsewhere the gravest kind on any rank
  ErrorKind kind;
  /// on the lowest rank that failed; "" on all others, so that one message is printed
  std::string message;
};

/// Collects problems so that users see every error at once. It keeps InputError::most_told problems and counts the
/// others, which bounds its memory.
class ProblemList {
public:
  void add(std::string where, std::string key, std::string what);
  void add(const InputError& error);
  /// Runs a step and adds the InputError that it throws; the next step can then run too. True when it threw none.
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
  /// Counts `n` problems that have no message.
  void count_more(std::int64_t n) noexcept { m_more += n; }
  /// True when add() would only count a further problem; the caller need not make its message.
  [[nodiscard]] bool is_full() const noexcept { return m_problems.size() >= InputError::most_told; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// includes the problems that were only counted
  [[nodiscard]] std::size_t size() const noexcept { return m_problems.size() + static_cast<std::size_t>(m_more); }
  /// Sorts problems by line, the order in which users correct a file; options come last.
  void sort_by_line();
  /// Throws one InputError with all problems; returns when there are none.
  void throw_if_any() const;

private:
  std::vector<Problem> m_problems;
  std::int64_t m_more = 0;
};

/// The spelling in `allowed` nearest to `word` by edit distance; "" when none is near enough.
[[nodiscard]] std::string nearest_spelling(const std::string& word, const std::vector<std::string>& allowed);

}  // namespace prismfield
