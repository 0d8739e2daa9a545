// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include "case/keys.hpp"

namespace prismfield {
namespace {

/// The section output.
class OutputReader : public CaseReader {
public:
  explicit OutputReader(const CaseReader& values) : CaseReader(values) {}

  OutputSpec output(const Value& value);

private:
  std::vector<std::filesystem::path> files(const Value& value);
};

/// One name, or a list of names.
std::vector<std::filesystem::path> OutputReader::files(const Value& value) {
  std::vector<std::filesystem::path> result;
  const auto add = [&](const Value& name) {
    if (auto file = path(name)) result.push_back(std::move(*file));
  };
  if (value.node->kind != Kind::list) {
    add(value);
    return result;
  }
  for (std::size_t i = 0; i < value.node->items.size(); ++i) add(item(value, i));
  return result;
}

OutputSpec OutputReader::output(const Value& value) {
  const Section section(*this, value, case_keys::output);
  OutputSpec result;
  if (const auto v = section.find("file")) result.file = path(*v).value_or("");
  if (const auto v = section.find("also")) result.also = files(*v);
  if (const auto v = section.find("figure")) result.figure = path(*v);
  if (const auto checkpoint = section.find("checkpoint")) {
    const Section parts(*this, *checkpoint, case_keys::checkpoint);
    result.checkpoint.emplace();
    if (const auto v = parts.find("every")) {
      result.checkpoint->every_seconds =
          with_unit(*v, {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}, "10 min").value_or(600);
    }
    if (const auto v = parts.need("file", "the name of a file")) result.checkpoint->file = path(*v).value_or("");
  }
  return result;
}

}  // namespace

OutputSpec read_output(const CaseReader& values, const Value& value) { return OutputReader(values).output(value); }

}  // namespace prismfield
