// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>
#include <prismfield/storage.hpp>

#include "model/cells.hpp"
#include "operators/host_operator.hpp"

// What the command sensitivity computes with G, the matrix of all cells of a box, of a model in these cells.

namespace prismfield {

class Communicator;

/// A model and the points of its fields; what it refers to must outlive it.
struct ModelProblem {
  /// those cells that are not empty
  const PrismSource& prisms;
  /// the columns of G, of all cells
  const PrismSource& columns;
  const Points& points;
  Request request;
};

/// What making G and its products took.
struct ProductTimes {
  double build_seconds = 0;
  ProductSeconds kept;
  /// computed anew; 0: not measured
  ProductSeconds anew;
};

/// The model m of all cells, (column), out of those that are prisms: densities, kg/m3, susceptibilities, SI, or the
/// components of the magnetisation, A/m, induced and remanent, in three blocks.
[[nodiscard]] std::vector<double> amounts_of(const Cells& prisms, const ActiveCells& cells, Unknown unknown);

/// Products, of G and of its transposed alike, after which storing has paid; nothing where it does not, or where G was
/// not made or not measured.
[[nodiscard]] std::optional<std::int64_t> products_that_pay(const StorageChoice& choice, const ProductTimes& times);

/// Products computed anew, measured at some of the points and scaled to all. Collective.
[[nodiscard]] ProductSeconds seconds_anew(const ModelProblem& problem, const Communicator& communicator);

/// G m at all points, on rank 0, with the points in and on prisms. `amounts`: m, (column). Collective.
[[nodiscard]] Fields fields_of_model(const ModelProblem& problem, const std::vector<double>& amounts,
                                     HostOperator& matrix, const ProductTimes& times, const Communicator& communicator);

/// Differences of G m from the fields that a forward run has.
struct DirectComparison {
  /// where they were compared
  std::int64_t n_points = 0;
  /// the largest of each field, over its largest value
  std::vector<double> differences;
};

/// At some points; none where they would take long. Collective, complete on rank 0.
[[nodiscard]] DirectComparison compare_directly(const ModelProblem& problem, const Fields& result,
                                                const Communicator& communicator);

}  // namespace prismfield
