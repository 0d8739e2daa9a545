// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/communicator.hpp>
#include <prismfield/data_set.hpp>
#include <prismfield/inversion_settings.hpp>
#include <prismfield/inversion_state.hpp>
#include <prismfield/inverted_model.hpp>
#include <prismfield/request.hpp>
#include <prismfield/storage.hpp>

namespace prismfield {

/// The input of invert(); equal on every rank.
struct InversionInput {
  /// execution, gravitational constant and magnetic settings; `fields` is not used, data sets have their own
  Request request;
  StorageSettings storage;
  InversionSettings settings;
  /// active cells, which must outlive the inversion
  const ActiveCells* cells = nullptr;
  /// names of the epochs, one model each; empty: one epoch without a name
  std::vector<std::string> epochs;
  /// data set by data set, epoch by epoch within each; a set has the same points and fields in all epochs
  std::vector<DataSet> data;
  /// one value per unknown of an epoch, (component, active cell), in the unit of settings.unknown; empty: 0
  std::vector<double> reference;
  /// bounds per unknown, infinite for none; empty: settings.bounds for all
  std::vector<double> lower, upper;
  /// factors of the regularisation's weights w, one per active cell, above 0; empty: 1
  std::vector<double> cell_weights;
  /// the starting model, one value per unknown of an epoch; empty: the reference
  std::vector<double> start;

  [[nodiscard]] std::int64_t n_epochs() const noexcept { return epoch_count(epochs); }
};

/// Receives the progress of an inversion, on every rank.
class InversionObserver {
public:
  virtual ~InversionObserver() = default;
  /// Sensitivities are ready; one line per data set says how they are kept.
  virtual void prepared(const std::vector<std::string>& storage) { static_cast<void>(storage); }
  /// There is a solution for one beta.
  virtual void row(const ConvergenceRow& row) { static_cast<void>(row); }
  /// `done` of `all` steps of `what`, such as "samples".
  virtual void step(const char* what, std::int64_t done, std::int64_t all) {
    static_cast<void>(what), static_cast<void>(done), static_cast<void>(all);
  }
  /// A product with G'WG is done. May throw Stopped, then on all ranks.
  virtual void product() {}
  /// The inversion is between two solutions; a place to keep the state. May throw as product() may.
  virtual void state(const InversionState& state) { static_cast<void>(state); }
};

/// The result of invert(): the model and how the inversion ended.
struct InversionOutcome {
  InvertedModel model;
  /// whether the target was reached; otherwise `message` says why not
  bool on_target = true;
  std::string message;
  double setup_seconds = 0, inversion_seconds = 0;
  /// size of the stored G of all ranks and data sets; 0: G is computed anew
  std::int64_t stored_bytes = 0;
};

/// Finds the densities, or other unknowns (settings.unknown), of cells that explain data with the smallest and
/// smoothest model (docs/inversion.md has the formulas), in request.execution.space. Kokkos must run. `resume`: state
/// to go on from, or null. Throws InputError, by keys such as data[0].sigma or inversion.beta, with every error found;
/// RunError; what the observer throws; on several ranks AgreedFailure. Collective; the model is equal on every rank.
[[nodiscard]] InversionOutcome invert(const InversionInput& input, const Communicator& communicator = {},
                                      InversionObserver* observer = nullptr, const InversionState* resume = nullptr);

}  // namespace prismfield
