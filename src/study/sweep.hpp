// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "case/reader.hpp"
#include "case/yaml_tree.hpp"

namespace prismfield {

/// A key of the case and the value that it gets.
struct CaseSetting {
  std::string key;
  YamlNode value;
  /// "study.yaml:7" or "--set"
  std::string where;
};

/// How a run is started: what is not set is chosen for the machine.
struct Placement {
  std::optional<std::int64_t> ranks, threads, devices;
  /// as OMP_PROC_BIND has it, `none` for false; "" for none given
  std::string bind;
  /// where each that is set was written
  std::string where;
};

/// Keys and values of one step along an axis.
struct AxisValue {
  /// what tables and figures call it
  std::string label;
  std::vector<CaseSetting> settings;
  Placement placement;
};

/// An axis of a study: at each of its points it has one of these values.
struct SweepAxis {
  std::string name;
  std::string where;
  std::vector<AxisValue> values;
};

/// One combination of the values of all axes.
struct SweepPoint {
  /// from 1, the last axis fastest
  std::int64_t id = 0;
  /// of each axis
  std::vector<std::string> labels;
  std::vector<CaseSetting> settings;
  Placement placement;
};

/// Axes that say how a run is started.
[[nodiscard]] const Words& placement_axes();

/// Whether the first word of a key path is one of a case's own; the title, which a study has too, is none.
[[nodiscard]] bool is_case_key(const std::string& key);

/// The section sweep of a study of this command. What cannot be an axis is added to the reader's problems.
[[nodiscard]] std::vector<SweepAxis> read_sweep(const CaseReader& values, const Value& sweep,
                                                CaseUse use = CaseUse::forward);

/// Keys and values of a map as settings: those that say how a run is started, and keys of a case.
[[nodiscard]] AxisValue read_settings(const CaseReader& values, const Value& map, CaseUse use = CaseUse::forward);

/// Every combination. Throws InputError when there are more than anybody runs.
[[nodiscard]] std::vector<SweepPoint> points_of(const std::vector<SweepAxis>& axes);

}  // namespace prismfield
