// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <prismfield/cells.hpp>

#include "formats/input_file.hpp"

namespace prismfield {

/// Where the values of cells in an array of three dimensions are, by the file's own names, coordinates and attributes.
/// A dimension is along easting, northing or upward by its name, spelled as columns of tables are, or by the attributes
/// axis, standard_name and positive of its coordinates; without names dimensions are (upward, northing, easting).
/// Coordinates are centres, in m, km or ft by their units; depths, and what is positive down, are minus their numbers;
/// they may fall. Errors are InputErrors of the file.
class CellAxes {
public:
  /// Of the last three dimensions of `dataset`, a path; "/": of the root's coordinates, without values. Throws for
  /// degrees, units that are no lengths, coordinates that neither rise nor fall, and attributes that deny each other.
  CellAxes(const InputFile& file, const ArrayFile& arrays, const std::string& dataset);

  /// Cells along easting, northing and upward; -1 where there is neither an array nor a coordinate.
  [[nodiscard]] CellCounts counts() const;
  /// The file's edges, m: bounds of its coordinates, or the middles between coordinates at equal distances. Throws
  /// where there are neither.
  [[nodiscard]] CellEdges edges() const;
  /// Throws unless the file's cells are those between `edges`, m, as far as it says: to a thousandth of a cell and the
  /// rounding of single precision; and where it does not say which dimension is which.
  void check(const CellEdges& edges);
  /// Values of cells, of one array or of several behind one another, as (upward, northing, easting), all rising.
  [[nodiscard]] std::vector<double> arranged(std::vector<double> values) const;

private:
  struct Dimension {
    /// "" where there is none, or one that a program made up
    std::string name;
    std::int64_t length = -1;
    std::size_t direction = 0;
    /// the file says the direction, not the order of the dimensions
    bool is_named = false;
    /// whether numbers grow downwards; nothing: the file does not say, as with levels
    std::optional<bool> is_down = false;
    /// path of the coordinates, "" for none
    std::string coordinate;
    /// along `direction`, m, in the order of the file, and lower and upper edge of each; empty where there are none
    std::vector<double> centers, bounds;

    [[nodiscard]] bool falls() const { return !centers.empty() && centers.front() > centers.back(); }
    void turn_down();
    [[nodiscard]] bool lies_in(const std::vector<double>& edges) const;
  };

  [[nodiscard]] std::string coordinate_of(const Dimension& dimension) const;
  /// By the names and the attributes of its coordinates.
  void find_direction(Dimension& dimension) const;
  /// Throws unless each direction has a dimension.
  void check_directions() const;
  void read_coordinates(Dimension& dimension) const;
  /// From a coordinate's unit to metres.
  [[nodiscard]] double factor_of(const Dimension& dimension) const;
  [[nodiscard]] std::vector<double> edges_of(const Dimension& dimension) const;
  /// Throws where dimensions whose names say nothing could be each other.
  void check_order(const CellEdges& edges) const;
  [[nodiscard]] const Dimension& along(std::size_t direction) const;
  [[nodiscard]] std::string names_text() const;
  [[noreturn]] void fail(const std::string& what) const { throw m_file.error(what); }
  [[noreturn]] void fail_as_undecided(const Dimension& dimension) const;

  const InputFile& m_file;
  const ArrayFile& m_arrays;
  std::string m_dataset;
  /// slowest first
  std::array<Dimension, 3> m_dimensions;
};

}  // namespace prismfield
