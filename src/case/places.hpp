// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <string>

#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "io/input_file.hpp"

namespace prismfield {

/// The file that `key` of the case names.
[[nodiscard]] InputFile input_file(const Case& run, const std::filesystem::path& path, const std::string& key);

/// The errors with the place, "file:line", of each that has only a key. What has neither belongs to the error
/// before it, as a line that counts the rest of them does.
[[nodiscard]] InputError with_places(const Case& run, const InputError& error);

/// What `step` returns; of its errors users learn where in the case their keys are.
template <class Step>
auto at_places_of(const Case& run, const Step& step) {
  try {
    return step();
  } catch (const InputError& error) {
    throw with_places(run, error);
  }
}

}  // namespace prismfield
