// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/prisms.hpp>

#include "case/case.hpp"
#include "case/make_model.hpp"

namespace prismfield::testing {

/// A model and its prisms under one name.
class MadeModel final : public PrismSource {
public:
  explicit MadeModel(Model model) : m_model(std::move(model)) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return m_model.source().size(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_model.source().bounds(); }
  void read(IndexRange range, PrismBlock& out) const override { m_model.source().read(range, out); }
  [[nodiscard]] std::array<double, 3> rounding() const noexcept override { return m_model.source().rounding(); }
  [[nodiscard]] bool uniform_shape() const noexcept override { return m_model.source().uniform_shape(); }
  [[nodiscard]] bool is_magnetized() const noexcept override { return m_model.source().is_magnetized(); }
  [[nodiscard]] const Model& model() const noexcept { return m_model; }
  [[nodiscard]] std::string description() const { return m_model.description(); }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return m_model.warnings(); }
  [[nodiscard]] std::vector<std::string> notes() const { return m_model.notes(); }
  [[nodiscard]] std::int64_t memory_bytes() const { return m_model.memory_bytes(); }
  [[nodiscard]] std::int64_t peak_memory_bytes() const { return m_model.peak_memory_bytes(); }

private:
  Model m_model;
};

/// The model of a case.
inline std::unique_ptr<MadeModel> made(const Case& run) {
  return std::make_unique<MadeModel>(make_model(run, Communicator()));
}

/// The same with another model in the place of the case's.
inline std::unique_ptr<MadeModel> made(Case run, ModelSpec model) {
  run.model = std::move(model);
  return made(run);
}

/// All prisms of an ensemble.
inline PrismBlock read_all(const PrismSource& ensemble) {
  PrismBlock block;
  ensemble.read({0, ensemble.size()}, block);
  return block;
}

/// An inducing field that magnetises 1 SI to (1, 2, -3) A/m.
inline Magnetic small_field() {
  Magnetic magnetic;
  magnetic.vacuum_permeability = 0x1p-20;
  magnetic.inducing_field = {0x1p-20, 2 * 0x1p-20, -3 * 0x1p-20};
  return magnetic;
}

/// A case that knows the lines of a voxel model.
inline Case voxels_case() {
  Case run;
  run.locations["model.voxels"] = "case.yaml:3";
  run.locations["model.voxels.density.file"] = "case.yaml:8";
  return run;
}

}  // namespace prismfield::testing
