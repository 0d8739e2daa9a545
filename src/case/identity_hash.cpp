// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/identity_hash.hpp"

#include <string_view>
#include <variant>

#include <prismfield/communicator.hpp>

#include "case/case.hpp"
#include "case/make_model.hpp"
#include "case/make_points.hpp"

namespace prismfield {

Digest case_hash(const Case& run, const Model& model, const Points& points, const Communicator& communicator) {
  Checksum checksum;
  checksum.add(std::string_view(run.identity));
  checksum.add(model.digest(communicator));
  const auto* grid = std::get_if<GridSpec>(&run.observations);
  if (std::holds_alternative<StationsFile>(run.observations) || (grid != nullptr && grid->dem)) {
    checksum.add(points.easting);
    checksum.add(points.northing);
  }
  if (points_from_files(run)) checksum.add(points.upward);
  return checksum.digest();
}

}  // namespace prismfield
