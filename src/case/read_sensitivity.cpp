// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <fmt/format.h>

namespace prismfield {
namespace {

/// The section sensitivity.
class SensitivityReader : public CaseReader {
public:
  explicit SensitivityReader(const CaseReader& values) : CaseReader(values) {}

  StorageSettings sensitivity(const Value& value);

private:
  std::optional<double> compression(const Value& value);
};

std::optional<double> SensitivityReader::compression(const Value& value) {
  if (value.node->kind == Kind::scalar && value.node->text == "none") return std::nullopt;
  const auto error = number(value, "none or an error above 0, such as 1e-4,");
  if (!error || (*error >= least_compression && *error <= most_compression)) return error;
  problem(value, fmt::format("is {}; none or an error from {} to {}, such as 1e-4, is expected: factors are floats",
                             kind_name(*value.node), least_compression, most_compression));
  return std::nullopt;
}

StorageSettings SensitivityReader::sensitivity(const Value& value) {
  const Section section(*this, value);
  StorageSettings result;
  if (const auto v = section.find("file")) result.file = path(*v).value_or("");
  if (const auto v = section.find("precision")) result.precision = choice(*v, stored_precision_choices);
  if (const auto v = section.find("compression")) {
    result.compression = compression(*v);
    result.never_compressed = !result.compression;
  }
  if (const auto v = section.find("store")) {
    result.store = choice(*v, store_choices).value_or(result.store);
    if (result.store == Store::file && !section.has("file")) {
      problem(*v, "is file, but no file is named; write file: G.h5 beside it");
    }
    if (result.store == Store::file && result.compression) {
      problem(*v, "is file, which a compressed matrix is not written to; write store: auto, or compression: none");
    }
    if (result.store == Store::file && result.precision == StoredPrecision::float16) {
      problem(*v, "is file, which does not hold float16; write precision: float, or double");
    }
    if (result.store == Store::none && result.compression) {
      problem(*v, "is none, but compression needs a matrix that is kept; write store: auto, or compression: none");
    }
  }
  return result;
}

}  // namespace

StorageSettings read_sensitivity(const CaseReader& values, const Value& value) {
  return SensitivityReader(values).sensitivity(value);
}

}  // namespace prismfield
