// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prism_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/human_text.hpp"
#include "io/text_table.hpp"

namespace prismfield {

RawPrisms read_prism_table(const InputFile& file, const PrismsSpec& spec, ProblemList& problems) {
  TableRequest request;
  request.needed = {prism_columns.begin(), prism_columns.end()};
  request.aliases = prism_aliases(spec.z_down);
  request.columns = spec.columns;
  request.columns_key = "model.prisms.columns";
  Table table = read_table(file, request, problems);
  RawPrisms raw;
  const auto columns = columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) *columns[c] = std::move(table.columns[c]);
  raw.numbers = std::move(table.lines);
  if (!table.ignored.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : table.ignored) names.push_back(excerpt(name));
    raw.warnings.push_back(
        fmt::format("{}: column{} ignored: {}", file.path.string(), names.size() > 1 ? "s" : "", shown_list(names)));
  }
  return raw;
}

}  // namespace prismfield
