// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace prismfield {

/// A command as the man page tells of it.
struct ManualCommand {
  std::string usage, purpose;
  /// as "--set KEY=VALUE", and what it does
  std::vector<std::pair<std::string, std::string>> options;
  std::string more;
};

/// prismfield.1, in the language of man.
[[nodiscard]] std::string man_page(const std::vector<ManualCommand>& commands);

}  // namespace prismfield
