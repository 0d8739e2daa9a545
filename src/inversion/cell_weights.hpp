// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <vector>

#include <prismfield/cells.hpp>
#include <prismfield/data_set.hpp>
#include <prismfield/inversion_settings.hpp>
#include <prismfield/points.hpp>

namespace prismfield {

/// The shortest edge of the mesh, metres.
[[nodiscard]] double shortest_edge(const CellEdges& edges);

/// The median edge of the mesh towards easting, northing, upward, metres.
[[nodiscard]] std::array<double, 3> median_edges(const CellEdges& edges);

/// Lengths of smoothness towards easting, northing, upward, metres: as the settings state them, otherwise the median
/// edges, which thin layers at the surface do not shorten.
[[nodiscard]] std::array<double, 3> smoothing_lengths(const InversionSettings& settings, const CellEdges& edges);

/// Weights of the squares of the regularisation, one a cell, the largest 1, so that deep or distant cells, which data
/// hardly feel, are not left empty.

/// (z + z0)^-power, z being the depth of a cell's centre below the mesh's top, metres.
[[nodiscard]] std::vector<double> depth_weights(const ActiveCells& cells, double power, double z0);

/// (r + r0)^-power, r being the distance from a cell's centre to the nearest station, metres. For scattered stations
/// and relief.
[[nodiscard]] std::vector<double> distance_weights(const ActiveCells& cells, const Points& stations, double power,
                                                   double r0);

/// sqrt(diagonal of G'WWG) / volume, SimPEG's sensitivity weights; `diagonal`: one a cell.
[[nodiscard]] std::vector<double> sensitivity_weights(const ActiveCells& cells, const std::vector<double>& diagonal);

/// Of depth and distance weights: the power with which the field of a small body falls with distance, of the datum that
/// falls the slowest. 2 for gravity, 3 for the gradient tensor and magnetic fields, 4 for magnetic gradients.
[[nodiscard]] double usual_power(const std::vector<DataSet>& data) noexcept;

/// The z0 for which (z + z0)^-2 follows the square of gz of the cells under a station as they are at the top of this
/// mesh: by the median height s of the stations above the top and the height h of the uppermost cells, s + 0.11 h at
/// s = 0, s + 0.06 h at 0.2 h, s from 0.5 h on, to 3.5 %; straight lines between.
[[nodiscard]] double fitted_z0(const ActiveCells& cells, const std::vector<DataSet>& data);

/// The stations of all data sets.
[[nodiscard]] Points all_stations(const std::vector<DataSet>& data);

}  // namespace prismfield
