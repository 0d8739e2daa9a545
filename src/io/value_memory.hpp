// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace prismfield {

/// Why `count` values of `bytes` each cannot be held in the memory that is free now, "" when they can: a file of a few
/// bytes can claim any size, and not every system refuses memory that it does not have.
[[nodiscard]] std::string why_no_room(std::uint64_t count, std::size_t bytes);

/// `count` values, all 0. Calls fail(why), which does not return, when there is no memory for them.
template <class Value, class Fail>
[[nodiscard]] std::vector<Value> room_for(std::uint64_t count, const Fail& fail) {
  if (const std::string why = why_no_room(count, sizeof(Value)); !why.empty()) fail(why);
  std::vector<Value> values;
  try {
    values.resize(static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    fail("its " + std::to_string(count) + " values do not fit into memory");
  }
  return values;
}

}  // namespace prismfield
