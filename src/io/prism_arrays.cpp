// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prism_arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "base/human_text.hpp"

namespace prismfield {

PrismDatasets find_prisms(const ArrayFile& arrays, const InputFile& file, const PrismsSpec& spec,
                          ProblemList& problems) {
  std::string group = spec.group;
  while (!group.empty() && group.back() == '/') group.pop_back();
  if (!group.empty() && group.front() != '/') group.insert(0, 1, '/');
  if (!arrays.has(group.empty() ? "/" : group)) {
    throw InputError("", "model.prisms.group", fmt::format("'{}' has no group {}", file.path.string(), group));
  }

  PrismDatasets places;
  places.datasets.resize(prism_columns.size());
  std::string first_dataset;
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < prism_columns.size(); ++c) {
    std::vector<std::string> found;
    if (arrays.has(group + "/" + prism_columns[c])) found.push_back(group + "/" + prism_columns[c]);
    for (const auto& [spelling, meant] : prism_aliases(spec.z_down)) {
      if (meant == prism_columns[c] && arrays.has(group + "/" + spelling)) found.push_back(group + "/" + spelling);
    }
    if (found.empty()) {
      missing.emplace_back(prism_columns[c]);
      continue;
    }
    const std::string& dataset = found.front();
    try {
      if (found.size() > 1) {
        throw file.error(fmt::format("holds both {} and {}; one of them is needed", found[0], found[1]));
      }
      const std::vector<std::int64_t> shape = arrays.shape(dataset);
      if (shape.size() != 1) {
        throw file.error(fmt::format("has {} of shape {}; one dimension is needed", dataset, shape_text(shape)));
      }
      if (first_dataset.empty()) {
        places.length = shape[0];
        first_dataset = dataset;
      }
      if (shape[0] != places.length) {
        throw file.error(
            fmt::format("has {} values in {} but {} in {}", shape[0], dataset, places.length, first_dataset));
      }
      places.datasets[c] = dataset;
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  if (!missing.empty()) {
    problems.add(file.where, file.key,
                 fmt::format("'{}' has no dataset{} {} in group {}; its datasets are: {}", file.path.string(),
                             missing.size() > 1 ? "s" : "", fmt::join(missing, ", "), group.empty() ? "/" : group,
                             shown_list(arrays.dataset_names(group.empty() ? "/" : group))));
  }
  return places;
}

std::vector<std::int64_t> prism_indices(std::int64_t first, std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

RawPrisms read_prism_arrays(const InputFile& file, const PrismsSpec& spec) {
  const ArrayFile arrays(file);
  ProblemList problems;
  const PrismDatasets places = find_prisms(arrays, file, spec, problems);
  RawPrisms raw;
  const auto columns = columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (places.datasets[c].empty()) continue;
    try {
      *columns[c] = arrays.read(places.datasets[c]);
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  if (places.length == 0) throw file.error("holds no prisms");
  raw.numbers = prism_indices(0, places.length);
  return raw;
}

}  // namespace prismfield
