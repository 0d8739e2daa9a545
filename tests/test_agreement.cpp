// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "parallel/agreement.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace prismfield::test_agreement {
namespace {

template <class Error>
Explanation explanation_of(const Error& error) {
  return explain(std::make_exception_ptr(error));
}

TEST(Explain, EveryErrorHasItsKind) {
  EXPECT_EQ(explanation_of(InputError("a:1", "k", "w")).kind, ErrorKind::input);
  EXPECT_EQ(explanation_of(InputError("a:1", "k", "w")).message, "a:1: k: w");
  EXPECT_EQ(explanation_of(RunError("disk full")).kind, ErrorKind::failure);
  EXPECT_EQ(explanation_of(RunError("disk full")).message, "error: disk full");
  EXPECT_EQ(explanation_of(Stopped()).kind, ErrorKind::stopped);
  EXPECT_EQ(explanation_of(std::bad_alloc()).kind, ErrorKind::failure);
  EXPECT_EQ(explanation_of(std::bad_alloc()).message,
            "error: there is not enough memory; run, sensitivity and invert tell by --dry-run how much a case needs");
  EXPECT_EQ(explanation_of(std::runtime_error("odd")).kind, ErrorKind::failure);
}

TEST(Agree, PassesWhenNobodyFails) {
  int calls = 0;
  agree(Communicator(), [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Agree, TellsTheFailureOfTheOnlyRank) {
  try {
    agree(Communicator(), [] { throw InputError("a:1", "k", "w"); });
    FAIL() << "nothing was thrown";
  } catch (const AgreedFailure& failure) {
    EXPECT_EQ(failure.kind, ErrorKind::input);
    EXPECT_EQ(failure.message, "a:1: k: w");
  }
}

TEST(Agree, ItsFailureIsAStandardException) {
  const AgreedFailure failure(ErrorKind::input, "a:1: k: w");
  EXPECT_STREQ(static_cast<const std::exception&>(failure).what(), "a:1: k: w");
  EXPECT_EQ(explanation_of(failure).kind, ErrorKind::input);
  EXPECT_EQ(explanation_of(failure).message, "a:1: k: w");
  EXPECT_STRNE(AgreedFailure(ErrorKind::failure, "").what(), "") << "on the ranks that did not fail";
}

TEST(Agree, EvenThingsThatAreNoExceptionEnd) {
  EXPECT_THROW(agree(Communicator(), [] { throw 3; }), AgreedFailure);
}

}  // namespace
}  // namespace prismfield::test_agreement
