// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"

namespace prismfield {

std::string Case::where(const std::string& key) const {
  for (std::string path = key; !path.empty();) {
    if (const auto found = locations.find(path); found != locations.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    path = dot == std::string::npos ? std::string() : path.substr(0, dot);
  }
  const auto found = locations.find("");
  return found != locations.end() ? found->second : file.string();
}

}  // namespace prismfield
