// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/places.hpp"

#include <utility>
#include <vector>

namespace prismfield {

InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key) {
  return {path, run.where(key), key};
}

InputError with_places(const Case& run, const InputError& error) {
  std::vector<Problem> problems = error.problems();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Problem& problem = problems[i];
    if (!problem.where.empty()) continue;
    problem.where = problem.key.empty() && i > 0 ? problems[i - 1].where : run.where(problem.key);
  }
  return InputError(std::move(problems), error.more());
}

}  // namespace prismfield
