// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace prismfield::case_keys {

using Words = std::vector<std::string>;

inline const Words top = {"title",    "gravitational_constant",
                          "axes",     "crs",
                          "model",    "observations",
                          "fields",   "execution",
                          "output",   "sensitivity",
                          "inversion"};
inline const Words model = {"voxels", "prisms", "mesh", "terrain"};
inline const Words voxels = {"easting", "northing", "upward", "density", "spheres", "boxes"};
inline const Words prisms = {"file", "group", "columns", "axis_z", "length_unit", "density_unit", "allow_overlap"};
inline const Words mesh = {"easting", "northing", "upward", "density", "ubc"};
inline const Words terrain = {"file", "variable", "reference", "density", "water_density", "sea_level"};
inline const Words terrain_density = {"file", "variable", "density_unit"};
inline const Words edges = {"edges", "origin", "widths", "file", "random_widths", "cells", "top", "seed"};
inline const Words density = {"random", "seed", "file", "dataset", "density_unit"};
inline const Words ubc = {"mesh", "density", "density_unit", "inactive"};
inline const Words sphere = {"center", "radius", "density"};
inline const Words box = {"easting", "northing", "upward", "density"};
inline const Words observations = {"grid", "stations", "noise"};
inline const Words grid = {"easting", "northing", "upward", "file", "variable"};
inline const Words height = {"file", "above_terrain", "variable", "sea_level"};
inline const Words stations = {"file",    "columns",  "length_unit", "axis_z", "random",
                               "easting", "northing", "upward",      "seed"};
inline const Words execution = {"space", "partition", "balance", "kernel",       "precision", "batch",
                                "slots", "block",     "chunk",   "memory_limit", "method",    "tolerance"};
inline const Words partition = {"ranks"};
inline const Words output = {"file", "also", "figure", "checkpoint"};
inline const Words figure = {"file", "contours", "colour_map", "dpi", "model_outline", "annotations"};
inline const Words checkpoint = {"every", "file"};
/// What fills the cells of a model, which an inversion finds out.
inline const Words densities = {"model.voxels.density", "model.voxels.spheres",   "model.voxels.boxes",
                                "model.mesh.density",   "model.mesh.ubc.density", "model.mesh.ubc.inactive"};
inline const Words sensitivity = {"store", "precision", "compression", "file"};
inline const Words inversion = {
    "data",          "sigma",          "data_norm",  "reference",    "start",         "reference_in_smoothness",
    "bounds",        "smallness",      "smoothness", "cell_weights", "weighting",     "norm",
    "beta",          "topography",     "active",     "trend",        "uncertainty",   "depth_of_investigation",
    "target_misfit", "max_iterations", "keep",       "change",       "preconditioner"};
inline const Words data = {"file", "epochs", "labels", "columns", "axes", "fields", "length_unit"};
inline const Words sigma = {"relative", "floor"};
inline const Words reference = {"file", "dataset", "density_unit"};
inline const Words bounds = {"file", "density_unit", "intervals"};
inline const Words smoothness = {"lengths"};
inline const Words cell_values = {"file", "dataset"};
inline const Words weighting = {"depth", "distance"};
inline const Words weighting_depth = {"power", "z0"};
inline const Words topography = {"file", "columns"};
inline const Words uncertainty = {"samples", "rank", "seed"};
inline const Words preconditioner = {"rank"};

/// Where a key belongs that stands at the wrong level, which is what wrong indentation leads to.
inline const std::vector<std::pair<std::string, const Words*>> homes = {{"", &top},
                                                                        {"model", &model},
                                                                        {"model.voxels", &voxels},
                                                                        {"model.prisms", &prisms},
                                                                        {"model.mesh", &mesh},
                                                                        {"model.terrain", &terrain},
                                                                        {"observations", &observations},
                                                                        {"observations.grid", &grid},
                                                                        {"execution", &execution},
                                                                        {"output", &output},
                                                                        {"output.figure", &figure},
                                                                        {"output.checkpoint", &checkpoint},
                                                                        {"sensitivity", &sensitivity},
                                                                        {"inversion", &inversion},
                                                                        {"inversion.data", &data},
                                                                        {"inversion.sigma", &sigma},
                                                                        {"inversion.bounds", &bounds},
                                                                        {"inversion.topography", &topography},
                                                                        {"inversion.uncertainty", &uncertainty},
                                                                        {"inversion.preconditioner", &preconditioner}};

}  // namespace prismfield::case_keys
