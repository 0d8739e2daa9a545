// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <fmt/format.h>

#include "base/human_text.hpp"

namespace prismfield {
namespace {

/// The key fields.
class FieldsReader : public CaseReader {
public:
  explicit FieldsReader(const CaseReader& values) : CaseReader(values) {}

  FieldList fields(const Value& value);

private:
  void add_field(const Value& value, FieldList& list);
};

void FieldsReader::add_field(const Value& value, FieldList& list) {
  static const std::vector<std::pair<std::string, FieldList>> groups = {
      {"all", FieldList::all()}, {"vector", FieldList::vector()}, {"tensor", FieldList::tensor()}};
  Words known;
  FieldList added;
  for (const auto& [name, group] : groups) {
    known.push_back(name);
    if (value.node->kind == Kind::scalar && value.node->text == name) added = group;
  }
  for (const FieldInfo& field : field_infos) {
    known.emplace_back(field.name);
    if (value.node->kind == Kind::scalar && value.node->text == field.name) added = {field.field};
  }
  if (added.empty()) {
    if (only_counted()) return;
    const std::string& text = value.node->text;
    if (value.node->kind == Kind::scalar && text.find(',') != std::string::npos) {
      problem(value, fmt::format("is {}; several fields are a list: [{}]", kind_name(*value.node), shown(text)));
      return;
    }
    if (text == "terrain_correction" || text == "bouguer_slab" || text == "terrain_height") {
      problem(value, fmt::format("is {}, which is no field: it comes with gz of model.terrain in the result",
                                 kind_name(*value.node)));
      return;
    }
    problem(value, fmt::format("is {}, no known field{}", kind_name(*value.node), allowed(value.node->text, known)));
    return;
  }
  Words repeated;
  for (const FieldInfo& field : added) {
    if (list.contains(field.field)) repeated.emplace_back(field.name);
  }
  if (!repeated.empty()) {
    problem(value, fmt::format("repeats {}, which an earlier name of the list holds already", joined(repeated)));
  }
  list.add(added);
}

FieldList FieldsReader::fields(const Value& value) {
  FieldList list;
  if (value.node->kind == Kind::list) {
    if (value.node->items.empty()) problem(value, "is an empty list; a field or more is expected, or all");
    for (std::size_t i = 0; i < value.node->items.size(); ++i) add_field(item(value, i), list);
  } else {
    add_field(value, list);
  }
  return list.empty() ? FieldList::all() : list;
}

}  // namespace

FieldList read_fields(const CaseReader& values, const Value& value) { return FieldsReader(values).fields(value); }

}  // namespace prismfield
