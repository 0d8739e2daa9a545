// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/read_sections.hpp"

#include <fmt/format.h>

namespace prismfield {
namespace {

/// The section execution.
class ExecutionReader : public CaseReader {
public:
  explicit ExecutionReader(const CaseReader& values) : CaseReader(values) {}

  Execution execution(const Value& value);

private:
  void partition(const Value& value, Execution& spec);
};

void ExecutionReader::partition(const Value& value, Execution& spec) {
  if (value.node->kind == Kind::map) {
    const Section section(*this, value);
    spec.partition = Partition::rank_grid;
    static const std::string form = "[parts of prisms, parts of points]";
    const auto v = section.need("ranks", form);
    if (!v || !is_list_of(*v, 2, form)) return;
    constexpr std::int64_t most_ranks = std::numeric_limits<int>::max();
    std::int64_t product = 1;
    for (std::size_t i = 0; i < 2; ++i) {
      spec.rank_grid[i] = static_cast<int>(whole(item(*v, i), 1, most_ranks).value_or(1));
      product *= spec.rank_grid[i];
    }
    if (product > most_ranks) problem(*v, fmt::format("asks for {} ranks, more than MPI can have", product));
    return;
  }
  if (value.node->kind == Kind::list) {
    problem(value, "is a list; write {ranks: [parts of prisms, parts of points]}");
    return;
  }
  spec.partition = choice(value, partition_choices, "{ranks: [4, 2]}").value_or(Partition::automatic);
}

Execution ExecutionReader::execution(const Value& value) {
  const Section section(*this, value);
  Execution spec;
  if (const auto v = section.find("space")) spec.space = choice(*v, space_choices).value_or(spec.space);
  if (const auto v = section.find("partition")) partition(*v, spec);
  if (const auto v = section.find("balance")) spec.balance = choice(*v, balance_choices).value_or(spec.balance);
  if (const auto v = section.find("kernel")) spec.kernel = choice(*v, kernel_choices).value_or(spec.kernel);
  if (const auto v = section.find("precision")) spec.precision = choice(*v, precision_choices).value_or(spec.precision);
  if (const auto v = section.find("method")) {
    spec.method = choice(*v, method_choices).value_or(spec.method);
    const std::string missing = method_problem(spec.method);
    if (!missing.empty()) problem(*v, fmt::format("is {}, {}", kind_name(*v->node), missing));
  }
  if (const auto v = section.find("tolerance")) {
    spec.tolerance = positive(*v).value_or(spec.tolerance);
    if (spec.tolerance >= 1) problem(*v, fmt::format("is {}; a number between 0 and 1 is expected", spec.tolerance));
  }
  const auto automatic_or = [&](const std::string& key, std::int64_t most) -> std::optional<std::int64_t> {
    const auto v = section.find(key);
    if (!v || (v->node->kind == Kind::scalar && v->node->text == "auto")) return std::nullopt;
    return whole(*v, 1, most, "auto or a whole number");
  };
  // the product of the two is still a count
  constexpr std::int64_t most = 1000000000;
  spec.batch = automatic_or("batch", most);
  spec.chunk = automatic_or("chunk", most);
  spec.slots = automatic_or("slots", most);
  // for which the kernels are compiled: see TileFunctor
  spec.block = automatic_or("block", 512);
  if (const auto v = section.find("memory_limit"); v && v->node->text != "auto") {
    constexpr double kib = 1024;
    const auto bytes = with_unit(*v, {{"B", 1}, {"KiB", kib}, {"MiB", kib * kib}, {"GiB", kib * kib * kib}}, "2 GiB");
    constexpr double most_bytes = 9e18;
    if (bytes && (*bytes < 1 || *bytes > most_bytes)) {
      problem(*v, fmt::format("is {}; a size from 1 B to 8e9 GiB is expected", kind_name(*v->node)));
    } else if (bytes) {
      spec.memory_limit = static_cast<std::int64_t>(*bytes);
    }
  }
  return spec;
}

}  // namespace

Execution read_execution(const CaseReader& values, const Value& value) {
  return ExecutionReader(values).execution(value);
}

}  // namespace prismfield
