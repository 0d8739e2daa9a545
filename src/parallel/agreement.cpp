// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "parallel/agreement.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/crash_guard.hpp"
#include "base/human_text.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {

namespace {

/// Libraries put names out of files into their messages as they are.
Explanation failure(const char* what) { return {std::string("error: ") + shown_lines(what), ErrorKind::failure}; }

}  // namespace

Explanation explain(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& e) {
    return {e.what(), ErrorKind::input};
  } catch (const Stopped& e) {
    return {shown_lines(e.what()), ErrorKind::stopped};
  } catch (const AgreedFailure& e) {
    return {e.message, e.kind};
  } catch (const RunError& e) {
    return failure(e.what());
  } catch (const std::bad_alloc&) {
    return {no_memory_message, ErrorKind::failure};
  } catch (const std::exception& e) {
    return failure(e.what());
  } catch (...) {
    return {"error: a library failed and does not say why", ErrorKind::failure};
  }
}

void agree(const Communicator& communicator, const std::function<void()>& step) {
  std::exception_ptr error;
  try {
    step();
  } catch (...) {
    error = std::current_exception();
  }
  if (!any(communicator, error != nullptr)) return;

  const Explanation own = error != nullptr ? explain(error) : Explanation{};
  ErrorKind kind = ErrorKind::failure;
  for (const ErrorKind possible : {ErrorKind::input, ErrorKind::stopped}) {
    if (any(communicator, error != nullptr && own.kind == possible)) kind = possible;
  }
  int lowest = 0;
  while (!any(communicator, communicator.rank() == lowest && error != nullptr)) ++lowest;
  std::string message;
  if (communicator.rank() == lowest) {
    message = own.message;
    kind = own.kind;
    // On rank 0 the reader need not know that there are others.
    if (lowest > 0) message = "rank " + std::to_string(lowest) + ": " + message;
  }
  throw AgreedFailure(kind, message);
}

void agree_unless_alone(const Communicator& communicator, const std::function<void()>& step) {
  if (communicator.size() > 1) return agree(communicator, step);
  step();
}

void agree_on_input(const Communicator& communicator, const std::function<void()>& step) {
  std::vector<Problem> problems;
  std::int64_t more = 0;
  agree(communicator, [&] {
    try {
      step();
    } catch (const InputError& error) {
      problems = error.problems();
      more = error.more();
    }
  });
  const std::vector<std::int64_t> counts = gather_everywhere(communicator, static_cast<std::int64_t>(problems.size()));
  const auto finder = std::find_if(counts.begin(), counts.end(), [](std::int64_t n) { return n > 0; });
  if (finder == counts.end()) return;
  const auto rank = static_cast<int>(finder - counts.begin());
  problems.resize(static_cast<std::size_t>(*finder));
  for (Problem& problem : problems) {
    for (std::string* text : {&problem.where, &problem.key, &problem.what}) broadcast(communicator, *text, rank);
  }
  broadcast(communicator, more, rank);
  throw InputError(std::move(problems), more);
}

}  // namespace prismfield
