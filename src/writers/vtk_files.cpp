// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/prism_check.hpp"
#include "writers/write_content.hpp"

namespace prismfield {
namespace {

template <class T>
void add_bytes(TextOutput& out, const T& value) {
  out.add(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
}

/// Text as XML has it.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

/// The arrays of a file: what the XML says of each, and its bytes, which follow all XML in the same order.
class Appended {
public:
  using Write = std::function<void(TextOutput&)>;

  /// The element of an array of `n` values of `size` bytes each, which `write` writes.
  std::string array(const char* type, const std::string& name, int components, std::int64_t n, std::size_t size,
                    Write write) {
    const std::int64_t bytes = n * static_cast<std::int64_t>(size);
    std::string element = fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type,
        escaped(name), components, m_offset);
    m_offset += bytes + static_cast<std::int64_t>(sizeof(std::uint64_t));
    m_arrays.emplace_back(bytes, std::move(write));
    return element;
  }

  /// A list of doubles, which has to outlive this.
  std::string doubles(const std::string& name, const std::vector<double>& values) {
    return array("Float64", name, 1, static_cast<std::int64_t>(values.size()), sizeof(double), [&values](auto& out) {
      for (const double value : values) add_bytes(out, value);
    });
  }

  /// Vectors, by their components.
  std::string vectors(const std::string& name, const std::array<const std::vector<double>*, 3>& components) {
    const auto n = static_cast<std::int64_t>(components[0]->size());
    return array("Float64", name, 3, 3 * n, sizeof(double), [components](TextOutput& out) {
      for (std::size_t i = 0; i < components[0]->size(); ++i) {
        for (const std::vector<double>* component : components) add_bytes(out, (*component)[i]);
      }
    });
  }

  /// Whole numbers, each a function of its index.
  template <class T>
  std::string indexed(const char* type, const std::string& name, std::int64_t n, std::function<T(std::int64_t)> value) {
    return array(type, name, 1, n, sizeof(T), [n, value = std::move(value)](TextOutput& out) {
      for (std::int64_t i = 0; i < n; ++i) add_bytes(out, value(i));
    });
  }

  /// A whole file around the elements of one kind of data set.
  void write(TextOutput& out, const char* kind, const std::string& attributes, const std::string& note,
             const std::string& body) const {
    constexpr const char* order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
    out.add(
        fmt::format("<?xml version=\"1.0\"?>\n<!-- {} -->\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" "
                    "header_type=\"UInt64\">\n<{}{}>\n{}</{}>\n<AppendedData encoding=\"raw\">\n_",
                    note, kind, order, kind, attributes, body, kind));
    for (const auto& [bytes, write_array] : m_arrays) {
      add_bytes(out, static_cast<std::uint64_t>(bytes));
      write_array(out);
    }
    out.add("\n</AppendedData>\n</VTKFile>\n");
  }

private:
  std::int64_t m_offset = 0;
  std::vector<std::pair<std::int64_t, Write>> m_arrays;
};

/// The eight corners of a voxel in VTK's order: x fastest, then y, then z.
void add_corners(TextOutput& out, const PrismBlock& prisms, std::size_t p) {
  for (const double z : {prisms.bottom[p], prisms.top[p]}) {
    for (const double y : {prisms.south[p], prisms.north[p]}) {
      for (const double x : {prisms.west[p], prisms.east[p]}) {
        for (const double coordinate : {x, y, z}) add_bytes(out, coordinate);
      }
    }
  }
}

/// "; gz in mGal"; "" for a unit that is not stated or that a comment of XML cannot hold.
std::string unit_note(const std::string& name, const std::string& unit) {
  const std::string note = fmt::format("; {} in {}", name, unit_text(unit));
  return unit.empty() || note.find("--") != std::string::npos ? "" : escaped(note);
}

}  // namespace

void write_vtr(TextOutput& out, const CellModel& model) {
  const CellCounts counts = counts_of(model.edges);
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", counts[0], counts[1], counts[2]);
  Appended appended;
  std::string body = fmt::format("<Piece Extent=\"{}\">\n<PointData/>\n", extent);
  body += model.values.empty() || vector_at(model.values, 0)
              ? "<CellData>\n"
              : fmt::format("<CellData Scalars=\"{}\">\n", escaped(model.values[0].name));
  std::string note = "z up, lengths in m";
  std::vector<bool> is_component(model.values.size());
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    if (const auto vector = vector_at(model.values, i)) {
      for (const std::size_t component : *vector) is_component[component] = true;
    }
  }
  for (std::size_t i = 0; i < model.values.size(); ++i) {
    const CellValues& values = model.values[i];
    const auto vector = vector_at(model.values, i);
    if (is_component[i] && !vector) continue;
    const std::string name = vector ? vector_name(values.name) : values.name;
    if (vector) {
      const auto component = [&](std::size_t d) { return &model.values[(*vector)[d]].values; };
      body += appended.vectors(name, {component(0), component(1), component(2)});
    } else {
      body += appended.doubles(name, values.values);
    }
    note += unit_note(name, values.unit);
  }
  if (!model.values.empty()) {
    const std::vector<double>& first = model.values[0].values;
    if (std::any_of(first.begin(), first.end(), [](double value) { return std::isnan(value); })) {
      body += appended.indexed<std::uint8_t>("UInt8", "active", static_cast<std::int64_t>(first.size()),
                                             [&first](std::int64_t cell) -> std::uint8_t {
                                               return std::isnan(first[static_cast<std::size_t>(cell)]) ? 0 : 1;
                                             });
    }
  }
  body += "</CellData>\n<Coordinates>\n";
  for (std::size_t d = 0; d < 3; ++d) body += appended.doubles(direction_names[d], model.edges[d]);
  body += "</Coordinates>\n</Piece>\n";
  appended.write(out, "RectilinearGrid", fmt::format(" WholeExtent=\"{}\"", extent), note, body);
}

void write_vtu(TextOutput& out, const ListedPrisms& prisms) {
  constexpr std::int64_t corners = 8;
  constexpr std::uint8_t voxel = 11;
  const std::int64_t n = prisms.size();
  Appended appended;
  std::string note = "z up, lengths in m";
  std::string body =
      fmt::format("<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData/>\n<CellData>\n", corners * n, n);
  const bool is_magnetized = !prisms.magnetization[0].empty();
  for (const PropertyColumn& property : properties_of(prisms)) {
    if (unit_of_property(property.name) == "A/m") continue;
    body += appended.doubles(property.name, *property.values);
    note += unit_note(property.name, unit_of_property(property.name));
  }
  if (is_magnetized) {
    const auto& m = prisms.magnetization;
    body += appended.vectors(magnetization_name, {&m[0], &m[1], &m[2]});
    note += unit_note(magnetization_name, unit_of_property(magnetization_name));
  }
  body += "</CellData>\n<Points>\n";
  body += appended.array("Float64", "Points", 3, 3 * corners * n, sizeof(double), [&prisms](TextOutput& bytes) {
    for (std::size_t p = 0; p < prisms.west.size(); ++p) add_corners(bytes, prisms, p);
  });
  body += "</Points>\n<Cells>\n";
  body += appended.indexed<std::int64_t>("Int64", "connectivity", corners * n, [](std::int64_t i) { return i; });
  body += appended.indexed<std::int64_t>("Int64", "offsets", n, [](std::int64_t i) { return corners * (i + 1); });
  body += appended.indexed<std::uint8_t>("UInt8", "types", n, [](std::int64_t) { return voxel; });
  body += "</Cells>\n</Piece>\n";
  appended.write(out, "UnstructuredGrid", "", note, body);
}

void write_vtp(TextOutput& out, const PointFields& points) {
  const std::int64_t n = points.points.size();
  Appended appended;
  std::string body = fmt::format(
      "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"0\">\n<PointData>\n",
      n, n);
  std::string note = fmt::format("places z up, lengths in m; axes of the fields {}", name(points.axes));
  for (const FieldInfo& field : points.fields) {
    const auto at = static_cast<std::size_t>(points.fields.index_of(field.field));
    body += appended.doubles(std::string(field.name), points.values[at]);
    note += fmt::format("; {} in {}", field.name, field.unit);
    if (!points.sigma[at].empty()) body += appended.doubles(std::string(field.name) + "_sigma", points.sigma[at]);
  }
  for (const PointColumn& column : points.columns) {
    if (column.is_text) continue;
    body += appended.doubles(column.name, column.numbers);
    note += unit_note(column.name, column.unit);
  }
  body += "</PointData>\n<CellData/>\n<Points>\n";
  body += appended.array("Float64", "Points", 3, 3 * n, sizeof(double), [&points](TextOutput& bytes) {
    for (std::size_t i = 0; i < points.points.easting.size(); ++i) {
      add_bytes(bytes, points.points.easting[i]);
      add_bytes(bytes, points.points.northing[i]);
      add_bytes(bytes, points.points.upward[i]);
    }
  });
  body += "</Points>\n<Verts>\n";
  body += appended.indexed<std::int64_t>("Int64", "connectivity", n, [](std::int64_t i) { return i; });
  body += appended.indexed<std::int64_t>("Int64", "offsets", n, [](std::int64_t i) { return i + 1; });
  body += "</Verts>\n</Piece>\n";
  appended.write(out, "PolyData", "", note, body);
}

}  // namespace prismfield
