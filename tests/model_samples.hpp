// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/fields.hpp>

#include "result_samples.hpp"
#include "writers/inversion_files.hpp"

namespace prismfield::testing_samples {

/// Edges of cells that grow towards east, north and depth; the top is at 0 m.
inline CellEdges growing_edges(const std::array<int, 3>& counts, const std::array<double, 3>& sizes,
                               double growth = 1.1) {
  CellEdges edges;
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> distances{0};
    for (int i = 0; i < counts[d]; ++i) distances.push_back(distances.back() + sizes[d] * std::pow(growth, i));
    if (d < 2) {
      edges[d] = distances;
      continue;
    }
    for (auto at = distances.rbegin(); at != distances.rend(); ++at) edges[d].push_back(0 - *at);
  }
  return edges;
}

/// A ball of 300 kg/m3 beside a negative one, both blurred, a fifth and two fifths below the top; the uppermost cells
/// of the south-western corner are inactive. Cells, densities, and `convergence` as an inversion has it.
inline InvertedModel sample_model(const CellEdges& edges) {
  InvertedModel model;
  model.edges = edges;
  const CellCounts counts = counts_of(edges);
  const auto place = [&](std::size_t d, double part) {
    return edges[d].front() + part * (edges[d].back() - edges[d].front());
  };
  const auto ball = [&](const std::array<double, 3>& at, double east, double north, double up) {
    const double size =
        0.15 * std::cbrt((place(0, 1) - place(0, 0)) * (place(1, 1) - place(1, 0)) * (place(2, 1) - place(2, 0)));
    const double square =
        std::pow(at[0] - place(0, east), 2) + std::pow(at[1] - place(1, north), 2) + std::pow(at[2] - place(2, up), 2);
    return std::exp(-square / (2 * size * size));
  };
  std::int64_t cell = 0;
  for (std::int64_t k = 0; k < counts[2]; ++k) {
    for (std::int64_t j = 0; j < counts[1]; ++j) {
      for (std::int64_t i = 0; i < counts[0]; ++i, ++cell) {
        const bool is_air = k == counts[2] - 1 && 3 * i < counts[0] && 3 * j < counts[1] && counts[2] > 1;
        if (is_air) continue;
        const auto middle = [&](std::size_t d, std::int64_t n) {
          return (edges[d][static_cast<std::size_t>(n)] + edges[d][static_cast<std::size_t>(n) + 1]) / 2;
        };
        const std::array<double, 3> at{middle(0, i), middle(1, j), middle(2, k)};
        model.cells.push_back(cell);
        model.values.push_back(300 * ball(at, 0.35, 0.4, 0.8) - 180 * ball(at, 0.7, 0.6, 0.6));
      }
    }
  }
  for (int i = 0; i < 6; ++i) {
    ConvergenceRow row;
    row.stage = i < 4 ? "cool" : i == 4 ? "target" : "beta";
    row.beta = 1e-4 * std::pow(0.25, i);
    row.phi_d = 100 + 4000 * std::pow(0.2, i);
    row.chi = row.phi_d / 100;
    row.phi_m = 1e7 * (1 - std::pow(0.5, i + 1));
    row.products = 20 * (i + 1);
    row.minimum = -30 * i;
    row.maximum = 50 * i;
    row.seconds = 0.5 * i;
    model.convergence.push_back(row);
  }
  return model;
}

/// Deviations, depth of investigation and the resolution's trace beside the densities.
inline void add_uncertainty(InvertedModel& model) {
  const std::size_t n = model.values.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double depth = 1 - static_cast<double>(i) / static_cast<double>(n);
    model.sigma.push_back(10 + 60 * depth);
    model.depth_of_investigation.push_back(depth * depth);
  }
  model.samples = 100;
  model.resolution_trace = 40.72;
  model.resolution_trace_error = 0.4;
}

/// Data in which every value tells its field and point, SI units, z up, predicted half a sigma or so beside observed.
inline PredictedData sample_data(std::string name, const Points& points, FieldList fields) {
  PredictedData data;
  data.name = std::move(name);
  data.points = points;
  data.fields = fields;
  for (const FieldInfo& field : fields) {
    const double factor = std::abs(output_factor(field.field, Axes::z_up));
    for (std::int64_t i = 0; i < points.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = -2 * std::exp(-std::pow((points.easting[at] - 600) / 500, 2) -
                                         std::pow((points.northing[at] - 500) / 400, 2));
      data.values.push_back(value / factor);
      data.sigma.push_back((0.02 + 0.001 * static_cast<double>(i % 3)) / factor);
      data.predicted.push_back(data.values.back() - std::sin(static_cast<double>(i * i)) * data.sigma.back());
    }
  }
  return data;
}

inline ModelHeader sample_model_header(const std::filesystem::path& file) {
  ModelHeader header;
  header.file = file;
  header.title = "A sample";
  header.command = "prismfield invert sample.yaml";
  header.gravitational_constant = 6.6743e-11;
  header.case_text = "title: A sample\n";
  header.use.space = "openmp";
  header.use.ranks = 2;
  header.use.threads = 8;
  header.sensitivities = "data_1: on the fly";
  header.stored_bytes = 4096;
  header.setup_seconds = 0.5;
  header.inversion_seconds = 2;
  header.total_seconds = 3;
  return header;
}

}  // namespace prismfield::testing_samples
