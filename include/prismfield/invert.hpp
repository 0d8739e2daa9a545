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

/// What an inversion is made from; the same on every rank.
struct InversionInput {
  /// the execution, the gravitational constant and what magnetic fields depend on; fields are those of the data
  Request request;
  StorageSettings storage;
  InversionSettings settings;
  /// the unknowns; must outlive the inversion
  const ActiveCells* cells = nullptr;
  /// names of the epochs, each of which gets a model of its own; empty: one, without a name
  std::vector<std::string> epochs;
  /// data set by data set, each epoch by epoch: the points and fields of a set are the same in all of its epochs
  std::vector<DataSet> data;
  /// one an unknown of an epoch, (component, active cell), in the unit of settings.unknown; empty: 0
  std::vector<double> reference;
  /// bounds of each, infinite where there is none; empty: settings.bounds for all
  std::vector<double> lower, upper;
  /// one an active cell, above 0: factors of the weights w of the regularisation; empty: 1
  std::vector<double> cell_weights;
  /// one an unknown of an epoch: the model that the search begins from; empty: the reference
  std::vector<double> start;

  [[nodiscard]] std::int64_t n_epochs() const noexcept { return epoch_count(epochs); }
};

/// Told on the way, on every rank.
class InversionObserver {
public:
  virtual ~InversionObserver() = default;
  /// Sensitivities are there: how they are kept, one line a data set.
  virtual void prepared(const std::vector<std::string>& storage) { static_cast<void>(storage); }
  /// A solution for one beta.
  virtual void row(const ConvergenceRow& row) { static_cast<void>(row); }
  /// `done` of `all` steps of what the word says, such as "samples".
  virtual void step(const char* what, std::int64_t done, std::int64_t all) {
    static_cast<void>(what), static_cast<void>(done), static_cast<void>(all);
  }
  /// After a product with G'WG: may throw Stopped on all ranks alike.
  virtual void product() {}
  /// Between two solutions: may keep the state, may throw as product() may.
  virtual void state(const InversionState& state) { static_cast<void>(state); }
};

/// An inversion with what it says of itself.
struct InversionOutcome {
  InvertedModel model;
  /// false: the target was not reached; `message` says why
  bool on_target = true;
  std::string message;
  double setup_seconds = 0, inversion_seconds = 0;
  /// of G as it is kept, of all ranks and data sets; 0: it is computed anew
  std::int64_t stored_bytes = 0;
};

/// The densities, or what else settings.unknown says, of cells that explain data, and are the least and the smoothest
/// that do (docs/inversion.md has the formulas), found in request.execution.space with vectors in its memory; Kokkos
/// must run. `resume`: where an earlier one stopped, or null. Throws InputError, by keys such as data[0].sigma or
/// inversion.beta, with every error found; RunError; what the observer throws; on several ranks AgreedFailure.
/// Collective; the same model on every rank.
[[nodiscard]] InversionOutcome invert(const InversionInput& input, const Communicator& communicator = {},
                                      InversionObserver* observer = nullptr, const InversionState* resume = nullptr);

}  // namespace prismfield
