// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace prismfield {

/// The ten fields, in the order in which files, tables and sensitivities hold them.
enum class Field : int { potential, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz };

inline constexpr int n_all_fields = 10;

/// Which vertical the output uses: z down flips gz, gxz and gyz of the kernel's z-up values.
enum class Axes { z_down, z_up };

/// What a field is called and how its SI value (z up) becomes the one that is written.
struct FieldInfo {
  Field field;
  std::string_view name;
  std::string_view long_name;
  /// unit of the output
  std::string_view unit;
  /// output value = SI value * scale
  double scale;
  /// true when the sign depends on the direction of z
  bool odd_in_z;
};

inline constexpr std::array<FieldInfo, n_all_fields> field_infos = {{
    {Field::potential, "potential", "gravity potential", "m2 s-2", 1.0, false},
    {Field::gx, "gx", "gravity vector, easting component", "mGal", 1e5, false},
    {Field::gy, "gy", "gravity vector, northing component", "mGal", 1e5, false},
    {Field::gz, "gz", "gravity vector, vertical component", "mGal", 1e5, true},
    {Field::gxx, "gxx", "gravity gradient, easting-easting", "Eotvos", 1e9, false},
    {Field::gyy, "gyy", "gravity gradient, northing-northing", "Eotvos", 1e9, false},
    {Field::gzz, "gzz", "gravity gradient, vertical-vertical", "Eotvos", 1e9, false},
    {Field::gxy, "gxy", "gravity gradient, easting-northing", "Eotvos", 1e9, false},
    {Field::gxz, "gxz", "gravity gradient, easting-vertical", "Eotvos", 1e9, true},
    {Field::gyz, "gyz", "gravity gradient, northing-vertical", "Eotvos", 1e9, true},
}};

[[nodiscard]] constexpr const FieldInfo& info(Field field) noexcept {
  return field_infos[static_cast<std::size_t>(field)];
}

/// Factor from the kernel's SI value (z up) to the written one.
[[nodiscard]] constexpr double output_factor(Field field, Axes axes) noexcept {
  const auto& f = info(field);
  return axes == Axes::z_down && f.odd_in_z ? -f.scale : f.scale;
}

/// A set of fields as bits, iterated in the order of Field.
class FieldList {
public:
  constexpr FieldList() = default;
  constexpr FieldList(std::initializer_list<Field> fields) noexcept {
    for (const Field f : fields) add(f);
  }
  static constexpr FieldList all() noexcept { return FieldList(bits_t{0x3FF}); }
  static constexpr FieldList vector() noexcept { return {Field::gx, Field::gy, Field::gz}; }
  static constexpr FieldList tensor() noexcept {
    return {Field::gxx, Field::gyy, Field::gzz, Field::gxy, Field::gxz, Field::gyz};
  }

  constexpr void add(Field f) noexcept { m_bits |= bit(f); }
  constexpr void add(FieldList other) noexcept { m_bits |= other.m_bits; }
  [[nodiscard]] constexpr bool contains(Field f) const noexcept { return (m_bits & bit(f)) != 0; }
  [[nodiscard]] constexpr bool contains(FieldList other) const noexcept {
    return (m_bits & other.m_bits) == other.m_bits;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return m_bits == 0; }
  [[nodiscard]] constexpr int size() const noexcept {
    int n = 0;
    for (const auto& f : field_infos) n += contains(f.field) ? 1 : 0;
    return n;
  }
  /// Position of f among the fields of this list, in the order of Field; f must be contained.
  [[nodiscard]] constexpr int index_of(Field f) const noexcept {
    int n = 0;
    for (const auto& i : field_infos) {
      if (i.field == f) break;
      n += contains(i.field) ? 1 : 0;
    }
    return n;
  }
  constexpr bool operator==(const FieldList&) const noexcept = default;

private:
  using bits_t = std::uint16_t;
  explicit constexpr FieldList(bits_t bits) noexcept : m_bits(bits) {}
  static constexpr bits_t bit(Field f) noexcept { return static_cast<bits_t>(1U << static_cast<unsigned>(f)); }
  bits_t m_bits = 0;
};

/// The sets for which kernels are compiled; a run takes the smallest that holds what it asks for.
enum class FieldSet { gz, vector, tensor, vector_tensor, all };

[[nodiscard]] constexpr FieldList fields_of(FieldSet set) noexcept {
  switch (set) {
    case FieldSet::gz: return {Field::gz};
    case FieldSet::vector: return FieldList::vector();
    case FieldSet::tensor: return FieldList::tensor();
    case FieldSet::vector_tensor: {
      FieldList both = FieldList::vector();
      both.add(FieldList::tensor());
      return both;
    }
    case FieldSet::all: break;
  }
  return FieldList::all();
}

[[nodiscard]] constexpr FieldSet smallest_set(FieldList fields) noexcept {
  for (const FieldSet set : {FieldSet::gz, FieldSet::vector, FieldSet::tensor, FieldSet::vector_tensor}) {
    if (fields_of(set).contains(fields)) return set;
  }
  return FieldSet::all;
}

}  // namespace prismfield
