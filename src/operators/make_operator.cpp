// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <prismfield/error.hpp>
#include <prismfield/make_operator.hpp>

#include "compute/method.hpp"
#include "compute/plan.hpp"
#include "engine/with_space.hpp"
#include "operators/compressed/compressed_operator.hpp"
#include "operators/convolution/make_convolution_operator.hpp"
#include "operators/stored/file_operator.hpp"
#include "operators/tree/make_tree_operator.hpp"
#include "parallel/collectives.hpp"

/// make_operator(), with what `auto` measures.
namespace prismfield {
namespace {

/// The least time of a few calls of f; where one takes long it is the only one.
template <class Space, class F>
double least_seconds(const Space& space, const F& f) {
  constexpr int calls = 3;
  constexpr double long_time = 0.3;
  double least = 0;
  for (int call = 0; call < calls; ++call) {
    space.fence("prismfield: before what is timed");
    const Kokkos::Timer timer;
    f();
    space.fence("prismfield: timed");
    const double seconds = timer.seconds();
    least = call == 0 ? seconds : std::min(least, seconds);
    if (seconds > long_time) break;
  }
  return std::max(least, 1e-9);
}

/// Seconds of a pair in a product computed anew, by some of the points.
template <class Space>
double measured_seconds_per_pair(const Space& space, const PrismSource& prisms, const PointColumns& points,
                                 const Request& request) {
  constexpr std::int64_t pairs = is_device_space<Space> ? 2'000'000'000 : 10'000'000;
  constexpr std::int64_t least_points = is_device_space<Space> ? 2048 : 64;
  const std::int64_t n = std::max(pairs / std::max<std::int64_t>(prisms.size(), 1), least_points);
  const Points sample = sample_of(points, n);
  const auto direct = make_direct_operator(space, prisms, sample, by_points(request));
  const typename Operator<Space>::Vector density(view_label("sample"), static_cast<std::size_t>(direct->columns()));
  const typename Operator<Space>::Vector fields(view_label("sample"), static_cast<std::size_t>(direct->rows()));
  Kokkos::deep_copy(space, density, 1.0);
  const double seconds = least_seconds(space, [&] { direct->apply(space, density, fields); });
  return seconds / static_cast<double>(std::max<std::int64_t>(sample.size() * prisms.size(), 1));
}

/// Bytes a second of products with a stored matrix of these columns, as large as G or beyond what caches hold.
template <class Space>
double measured_bytes_per_second(const Space& space, StoredPrecision precision, std::int64_t rows, std::int64_t columns,
                                 std::int64_t available) {
  constexpr std::int64_t enough = std::int64_t{is_device_space<Space> ? 1024 : 64} << 20;
  const std::int64_t of_a_row = std::max<std::int64_t>(stored_bytes(precision, 1, columns), 1);
  const std::int64_t n = std::clamp<std::int64_t>(std::min(enough, available / 4) / of_a_row, 1, rows);
  const auto matrix = make_stored_matrix<Space>(precision, n, columns);
  const typename Operator<Space>::Entries one("prismfield::sample", 1, 1, static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < n; ++row) matrix->keep(space, {one, row, n});
  const typename Operator<Space>::Vectors density(view_label("sample"), static_cast<std::size_t>(columns), 1);
  const typename Operator<Space>::Vectors fields(view_label("sample"), static_cast<std::size_t>(n), 1);
  const double both = least_seconds(space, [&] {
    matrix->multiply(space, density, fields);
    matrix->multiply_transposed(space, fields, density);
  });
  return 2 * static_cast<double>(matrix->bytes()) / both;
}

/// Where G is stored, whichever of the two a case names.
template <class Space>
inline constexpr Store store_of = is_device_space<Space> ? Store::device : Store::memory;

/// What `auto` finds, the same on all ranks: rank 0's rates while all ranks are busy, and the least memory. Collective.
template <class Space>
StorageChoice measured_choice(const Space& space, const PrismSource& prisms, const PointColumns& points,
                              const Request& request, const StorageSettings& settings,
                              const Communicator& communicator) {
  const StoredPrecision precision = stored_precision(settings);
  StorageFacts facts;
  facts.n_fields = request.fields.size();
  facts.n_points = (points.size() + communicator.size() - 1) / communicator.size();
  facts.columns = prisms.size();
  facts.vectors = settings.likely.vectors;
  if (facts.n_points == 0 || facts.columns == 0 || facts.n_fields == 0) {
    return {Store::none, precision, 0, "computed anew in every product: there is nothing to store", "", false, false};
  }
  const std::int64_t available = within_limit(available_memory<Space>(communicator), settings.memory_limit);
  for (const std::int64_t bytes : gather_everywhere(communicator, available)) {
    facts.available = facts.available == 0 ? bytes : std::min(facts.available, bytes);
  }
  on_all_ranks(communicator, [&] {
    facts.seconds_per_pair = measured_seconds_per_pair(space, prisms, points, request);
    facts.bytes_per_second =
        measured_bytes_per_second(space, precision, facts.n_fields * facts.n_points, facts.columns, facts.available);
  });
  broadcast(communicator, facts.seconds_per_pair);
  broadcast(communicator, facts.bytes_per_second);
  if constexpr (!is_device_space<Space>) {
    // caches hold less: it is read as fast as anything else; a sample of few points is not reliable
    constexpr std::int64_t least_bytes = std::int64_t{64} << 20, least_points = 256;
    const bool is_large = facts.n_points >= least_points &&
                          stored_bytes(precision, facts.n_fields * facts.n_points, facts.columns) >= least_bytes;
    if (is_large && !settings.precision && !settings.never_compressed) {
      on_all_ranks(communicator, [&] {
        facts.compressed = sample_compression(space, prisms, points, facts.n_points, request, auto_compression);
      });
      broadcast(communicator, facts.compressed);
    }
  }
  return choose_storage(facts, precision, store_of<Space>, settings.likely.count);
}

/// G computed anew, by a method that serves. Every rank has all columns.
template <class Space>
std::unique_ptr<Operator<Space>> make_operator_of(Method method, const Space& space, const PrismSource& prisms,
                                                  const PointColumns& points, const Request& request,
                                                  const Communicator& communicator) {
  if (method == Method::tree) return fast::make_tree_operator(space, prisms, points, by_points(request), communicator);
  if constexpr (space_key<Space> != prismfield::Space::hip) {
    if (method == Method::fft) {
      return make_convolution_operator(space, prisms, points, by_points(request), communicator);
    }
  }
  return make_direct_operator(space, prisms, points, by_points(request), communicator);
}

/// The method that computes G anew: the one asked for; where that is automatic and a tolerance lets others serve than
/// direct, the cheapest by their estimates. Collective.
MethodCost method_anew(const PrismSource& prisms, const PointColumns& points, const Request& request,
                       const Communicator& communicator) {
  const Execution& wanted = request.execution;
  MethodCost least;
  if (wanted.method != Method::automatic) {
    least.method = wanted.method;
  } else if (wanted.tolerance > default_tolerance) {
    least.seconds = std::numeric_limits<double>::infinity();
    for (const MethodCost& cost : method_costs(request, prisms, points, problem_size(prisms, points), communicator)) {
      if (cost.problem.empty() && cost.seconds < least.seconds) least = cost;
    }
  }
  return least;
}

/// G computed anew by another method than direct where a tolerance lets one serve that takes less time in all likely
/// products than `choice`, by its estimate and by a product of it; which `choice` is then. Otherwise null. Collective.
template <class Space>
std::unique_ptr<Operator<Space>> faster_operator(const Space& space, const PrismSource& prisms,
                                                 const PointColumns& points, const Request& request,
                                                 const LikelyProducts& likely, const Communicator& communicator,
                                                 StorageChoice& choice) {
  const auto products = static_cast<double>(likely.count * likely.vectors);
  const MethodCost estimated = method_anew(prisms, points, request, communicator);
  if (estimated.method == Method::direct || products * estimated.seconds >= choice.seconds) return nullptr;
  const Kokkos::Timer timer;
  auto faster = make_operator_of(estimated.method, space, prisms, points, request, communicator);
  const typename Operator<Space>::Vector density(view_label("sample"), static_cast<std::size_t>(faster->columns()));
  const typename Operator<Space>::Vector fields(view_label("sample"), static_cast<std::size_t>(faster->rows()));
  const double making = timer.seconds();
  double product = least_seconds(space, [&] { faster->apply(space, density, fields); });
  double seconds = making + products * product;
  broadcast(communicator, product);
  broadcast(communicator, seconds);
  if (seconds >= choice.seconds) return nullptr;
  choice = faster_choice(choice, estimated.method, request.execution.tolerance, product, seconds);
  return faster;
}

}  // namespace

template <class ExecutionSpace>
std::unique_ptr<Operator<ExecutionSpace>> make_operator(const ExecutionSpace& space, const PrismSource& prisms,
                                                        const PointColumns& points, const Request& request,
                                                        const StorageSettings& settings,
                                                        const Communicator& communicator, StorageChoice* told) {
  StorageChoice chosen;
  StorageChoice& choice = told != nullptr ? *told : chosen;
  check_storage(settings);
  const StoredPrecision precision = stored_precision(settings);
  const bool is_computed = request.execution.method == Method::tree || request.execution.method == Method::fft;
  choice = {is_computed && settings.store == Store::automatic ? Store::none : settings.store,
            precision,
            0,
            "",
            "",
            false,
            settings.compression.has_value()};
  if (choice.store == Store::automatic && !settings.compression) {
    choice = measured_choice(space, prisms, points, request, settings, communicator);
    auto faster = faster_operator(space, prisms, points, request, settings.likely, communicator, choice);
    if (faster) return faster;
  }
  if (choice.is_compressed) {
    CompressionReport report;
    std::unique_ptr<Operator<ExecutionSpace>> compressed;
    if constexpr (is_device_space<ExecutionSpace>) {
      throw InputError("", "sensitivity.compression",
                       "works in host spaces only in this version: take execution.space: openmp, or compression: none");
    } else {
      compressed = make_compressed_operator(space, prisms, points, request,
                                            settings.compression.value_or(auto_compression), communicator, report);
    }
    const std::int64_t bytes = report.bytes / communicator.size();
    on_all_ranks(communicator, [&] {
      if (const std::string excess = beyond_limit(bytes, settings.memory_limit); !excess.empty())
        throw RunError(excess);
    });
    const std::string figures = choice.why.empty() ? "" : "; " + choice.why;
    choice.store = Store::memory;
    choice.precision = StoredPrecision::float_;
    choice.bytes = bytes;
    choice.why = compression_text(report) + figures;
    choice.warning = compression_warning(report);
    return compressed;
  }
  if (choice.store == Store::file) {
    RowFileReport report;
    auto in_file = std::make_unique<FileOperator<ExecutionSpace>>(
        space, prisms, RowFile{settings.file, points, request, precision}, *settings.rows, communicator, report);
    choice.bytes = in_file->bytes();
    choice.was_there = report.used_again;
    choice.why = file_text(settings.file.string(), precision, choice.bytes, report.used_again, report.seconds);
    return in_file;
  }
  if (choice.store == Store::none) {
    choice.method = method_anew(prisms, points, request, communicator).method;
    if (choice.why.empty()) choice.why = storage_text(choice);
    return make_operator_of(choice.method, space, prisms, points, request, communicator);
  }
  auto stored = std::make_unique<StoredOperator<ExecutionSpace>>(
      space, prisms, points, request, precision, communicator, settings.memory_limit, settings.likely.vectors);
  choice.bytes = stored->bytes();
  choice.store = store_of<ExecutionSpace>;
  if (choice.why.empty()) choice.why = storage_text(choice);
  const bool is_asked_elsewhere = settings.store != Store::automatic && settings.store != choice.store;
  if (is_asked_elsewhere)
    choice.why += std::string(", where ") + name(key_of(space, request.execution.space)) + " computes";
  return stored;
}

#define PRISMFIELD_MAKE_OPERATORS(Space)                                                                               \
  template std::unique_ptr<Operator<Space>> make_operator(const Space&, const PrismSource&, const PointColumns&,       \
                                                          const Request&, const StorageSettings&, const Communicator&, \
                                                          StorageChoice*);
PRISMFIELD_FOR_EACH_SPACE(PRISMFIELD_MAKE_OPERATORS)

}  // namespace prismfield
