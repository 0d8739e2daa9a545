// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "case/key_table.hpp"

namespace prismfield {
namespace {

/// The section output.
class OutputReader : public CaseReader {
public:
  explicit OutputReader(const CaseReader& values) : CaseReader(values) {}

  OutputSpec output(const Value& value);

private:
  std::vector<std::filesystem::path> files(const Value& value);
  void figure(const Value& value, OutputSpec& result);
  void contours(const Value& value, FigureStyle& style);
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

/// true and false, a number of lines, or a list of levels.
void OutputReader::contours(const Value& value, FigureStyle& style) {
  const bool is_plain_text = value.node->kind == Kind::scalar && !value.node->quoted;
  if (is_plain_text && value.node->text == "true") return;
  if (is_plain_text && value.node->text == "false") {
    style.contours = std::int64_t{0};
  } else if (value.node->kind == Kind::list) {
    if (auto levels = numbers(value, "a list of levels")) style.contours = std::move(*levels);
  } else if (const auto n = whole(value, 0, most_contours, "a number of lines, a list of levels, true or false")) {
    style.contours = *n;
  }
}

/// A name, or a map with the name and how it is drawn.
void OutputReader::figure(const Value& value, OutputSpec& result) {
  if (value.node->kind != Kind::map) {
    result.figure = path(value);
    return;
  }
  Words known = case_key_table().keys_of("output.figure");
  const bool has_fields = value.node->find("fields") != nullptr;
  if (has_fields) known.emplace_back("fields");
  const Section parts(*this, value, known);
  if (const auto v = has_fields ? parts.find("fields") : std::nullopt) {
    problem(*v,
            "is no key of a figure, which shows all fields of the case's fields; prismfield plot --field draws some");
  }
  if (const auto v = parts.need("file", "the name of a figure, such as fields.png")) result.figure = path(*v);
  if (const auto v = parts.find("contours")) contours(*v, result.figure_style);
  if (const auto v = parts.find("colour_map")) {
    result.figure_style.colour_map = words(*v, "a colour map of matplotlib, such as viridis").value_or("");
  }
  if (const auto v = parts.find("dpi")) result.figure_style.dpi = whole(*v, least_dpi, most_dpi);
  if (const auto v = parts.find("model_outline")) result.figure_style.model_outline = truth(*v).value_or(true);
  if (const auto v = parts.find("annotations")) result.figure_style.annotations = truth(*v).value_or(true);
}

OutputSpec OutputReader::output(const Value& value) {
  const Section section(*this, value);
  OutputSpec result;
  if (const auto v = section.find("file")) result.file = path(*v).value_or("");
  if (const auto v = section.find("also")) result.also = files(*v);
  if (const auto v = section.find("figure")) figure(*v, result);
  if (const auto checkpoint = section.find("checkpoint")) {
    const Section parts(*this, *checkpoint);
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
