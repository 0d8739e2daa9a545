// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prisms.hpp"

#include <string>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "io/prism_arrays.hpp"
#include "io/prism_ranks.hpp"
#include "io/prism_table.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t number_bytes = sizeof(std::int64_t);

/// The whole list, read and checked by one rank.
std::unique_ptr<DistributedPrisms> read_whole(const InputFile& file, const PrismsSpec& spec) {
  ProblemList problems;
  const bool is_text = !is_array_file(file);
  if (is_text && spec.group != "/") {
    throw InputError("", "model.prisms.group",
                     "names a group of an HDF5 file, but '" + file.path.string() + "' is text; leave it out");
  }
  RawPrisms raw = is_text ? read_prism_table(file, spec, problems) : read_prism_arrays(file, spec);
  const FilePrismNames names(file, is_text);
  PrismCheck check(raw, spec, names, problems);
  add_warning(check.check_each(), names, raw.warnings);
  const std::int64_t search_bytes = spec.allow_overlap ? 0 : check.check_overlaps();
  problems.throw_if_any();
  const std::int64_t n = raw.prisms.size();
  if (n == 0) throw file.error("holds no prism of more than zero size");
  const ListFacts facts{n, bounds_of(raw.prisms), densities_of(raw.prisms)};
  const std::int64_t peak =
      n * prism_bytes + static_cast<std::int64_t>(raw.numbers.capacity()) * number_bytes + search_bytes;
  return std::make_unique<DistributedPrisms>(std::move(raw.prisms), IndexRange{0, n}, facts, std::move(raw.warnings),
                                             peak);
}

/// Tells every rank of the list that rank 0 alone holds. Collective.
std::unique_ptr<DistributedPrisms> share(std::unique_ptr<DistributedPrisms> list, const Communicator& communicator) {
  ListFacts facts;
  std::vector<std::string> warnings;
  if (list) {
    facts = {list->size(), list->bounds(), list->densities()};
    warnings = list->warnings();
  }
  broadcast(communicator, facts);
  broadcast(communicator, warnings);
  if (list) return list;
  return std::make_unique<DistributedPrisms>(PrismBlock(), IndexRange(), facts, std::move(warnings), 0);
}

}  // namespace

std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec) {
  return read_whole(file, spec);
}

std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                               const Communicator& communicator) {
  std::unique_ptr<DistributedPrisms> list;
  if (communicator.size() > 1) list = read_prisms_together(file, spec, communicator);
  if (list) return list;
  agree_on_input(communicator, [&] {
    if (communicator.rank() == 0) list = read_whole(file, spec);
  });
  return share(std::move(list), communicator);
}

}  // namespace prismfield
