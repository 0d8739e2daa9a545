// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prism_file.hpp"

#include <fmt/format.h>

#include "io/text_table.hpp"

namespace prismfield {

std::vector<std::pair<std::string, std::string>> prism_aliases(bool z_down) {
  return {{"x1", "west"},
          {"x2", "east"},
          {"y1", "south"},
          {"y2", "north"},
          {"top_depth", "top"},
          {"depth_top", "top"},
          {"bottom_depth", "bottom"},
          {"depth_bottom", "bottom"},
          {"z1", z_down ? "top" : "bottom"},
          {"z2", z_down ? "bottom" : "top"}};
}

std::string FilePrismNames::where(std::int64_t number) const {
  return m_is_text ? line_of(m_file, number) : m_file.path.string();
}

std::string FilePrismNames::key(std::int64_t number) const {
  return m_is_text ? std::string() : fmt::format("prism [{}]", number);
}

std::string FilePrismNames::key(std::int64_t number, const char* column) const {
  return m_is_text ? column : fmt::format("{}[{}]", column, number);
}

std::string FilePrismNames::reference(std::int64_t number) const {
  return fmt::format("{} {}", m_is_text ? "line" : "index", number);
}

void add_warning(const ZeroSize& zero, const PrismNames& names, std::vector<std::string>& warnings) {
  if (zero.count == 0) return;
  warnings.push_back(fmt::format("{}: {} prism{} of zero size left out, {} {}", names.list(), zero.count,
                                 zero.count == 1 ? "" : "s", zero.count == 1 ? "at" : "the first at",
                                 names.reference(zero.first)));
}

}  // namespace prismfield
