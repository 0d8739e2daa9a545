// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace prismfield {

/// The fields, in the order of field_infos and of fields in files, tables and sensitivities. Native fields come first,
/// those of gravity, then magnetic ones. Kernels have formulas for native fields; all others are combinations of them.
enum class Field : int {
  potential,
  gx,
  gy,
  gz,
  gxx,
  gyy,
  gzz,
  gxy,
  gxz,
  gyz,
  bx,
  by,
  bz,
  bxx,
  byy,
  bzz,
  bxy,
  bxz,
  byz,
  guv,
  tmi,
  tmi_exact,
  amplitude,
  tmi_x,
  tmi_y,
  tmi_z
};

inline constexpr int n_gravity_fields = 10;
inline constexpr int n_native_fields = 19;

/// The vertical of the output. Kernels compute with z up; z down changes the sign of fields that are odd in z, such as
/// gz, gxz and bz.
enum class Axes { z_down, z_up };

/// How often a native field differentiates its potential along each direction: the gravity potential, or the magnetic
/// one, mu0/(4 pi) times the sum over prisms of M . grad of the integral of 1/distance.
struct Derivatives {
  int easting, northing, upward;
  /// 0: the potential, 1: a vector, 2: a tensor
  [[nodiscard]] constexpr int order() const noexcept { return easting + northing + upward; }
};

/// The derivatives of every native field.
inline constexpr std::array<Derivatives, n_native_fields> native_derivatives = {{{0, 0, 0},
                                                                                 {1, 0, 0},
                                                                                 {0, 1, 0},
                                                                                 {0, 0, 1},
                                                                                 {2, 0, 0},
                                                                                 {0, 2, 0},
                                                                                 {0, 0, 2},
                                                                                 {1, 1, 0},
                                                                                 {1, 0, 1},
                                                                                 {0, 1, 1},
                                                                                 {1, 0, 0},
                                                                                 {0, 1, 0},
                                                                                 {0, 0, 1},
                                                                                 {2, 0, 0},
                                                                                 {0, 2, 0},
                                                                                 {0, 0, 2},
                                                                                 {1, 1, 0},
                                                                                 {1, 0, 1},
                                                                                 {0, 1, 1}}};

/// How native fields make a field.
enum class FieldRule {
  /// the sum by the weights in its row
  sum,
  /// the sum by the components of F, the direction of the inducing field, one per term: B . F and its derivatives
  along_inducing_field,
  /// |F0 + B| - |F0| with F0 the inducing field
  exact_anomaly,
  /// |B|
  amplitude
};

/// A native field and its weight in a sum.
struct FieldTerm {
  Field native;
  double weight;
};

/// A field's name, its native fields, and the factor from its SI value (z up) to the output. field_row() makes it.
struct FieldInfo {
  Field field{};
  std::string_view name;
  std::string_view long_name;
  /// per native field; for a rule that is no sum, 1 for each native field that it uses
  std::array<double, n_native_fields> weights{};
  FieldRule rule = FieldRule::sum;
  /// along_inducing_field: which component of F multiplies each native field
  std::array<std::uint8_t, n_native_fields> component{};
  /// whether it depends on the magnetisation of prisms; otherwise on their density
  bool is_magnetic = false;
  /// the order of its native fields, see Derivatives
  int order = 0;
  /// unit of the output
  std::string_view unit;
  /// output value = SI value * scale
  double scale = 1;
  /// whether its sign changes with the direction of z
  bool odd_in_z = false;

  /// Whether it is a sum of native fields. Operators have rows for such fields only.
  [[nodiscard]] constexpr bool is_linear() const noexcept {
    return rule == FieldRule::sum || rule == FieldRule::along_inducing_field;
  }
};

[[nodiscard]] constexpr bool is_magnetic_native(Field native) noexcept {
  return static_cast<int>(native) >= n_gravity_fields;
}

/// A row of field_infos; all but names, weights and rule follows from the native fields. It does not compile where
/// native fields differ in unit or, in a sum by weights, in parity in z.
consteval FieldInfo field_row(std::string_view name, std::string_view long_name, std::initializer_list<FieldTerm> sum,
                              FieldRule rule = FieldRule::sum) {
  constexpr std::array<std::string_view, 3> units = {"m2 s-2", "mGal", "Eotvos"}, magnetic_units = {"", "nT", "nT/m"};
  constexpr std::array<double, 3> scales = {1.0, 1e5, 1e9};
  const auto derivatives = [](const FieldTerm& term) {
    return native_derivatives.at(static_cast<std::size_t>(term.native));
  };
  // along the inducing field, a flip of z changes the component of B and that of F alike
  const auto upward = [&](const FieldTerm& term) {
    return derivatives(term).upward - (rule != FieldRule::sum && &term - sum.begin() == 2 ? 1 : 0);
  };
  const Derivatives first = derivatives(*sum.begin());
  const auto order = static_cast<std::size_t>(first.order());
  FieldInfo row{{},
                name,
                long_name,
                {},
                rule,
                {},
                is_magnetic_native(sum.begin()->native),
                first.order(),
                units.at(order),
                scales.at(order),
                upward(*sum.begin()) % 2 != 0};
  if (row.is_magnetic) {
    row.unit = magnetic_units.at(order);
    row.scale = 1e9;
  }
  for (const FieldTerm& term : sum) {
    const Derivatives also = derivatives(term);
    if (also.order() != first.order() || is_magnetic_native(term.native) != row.is_magnetic) {
      throw "fields of different units in one sum";
    }
    if (upward(term) % 2 != upward(*sum.begin()) % 2) {
      throw "the direction of z changes the sign of a part of a sum";
    }
    row.weights.at(static_cast<std::size_t>(term.native)) += term.weight;
    row.component.at(static_cast<std::size_t>(term.native)) = static_cast<std::uint8_t>(&term - sum.begin());
  }
  return row;
}

template <std::size_t n>
consteval std::array<FieldInfo, n> numbered(std::array<FieldInfo, n> rows) {
  for (std::size_t i = 0; i < n; ++i) rows[i].field = static_cast<Field>(i);
  return rows;
}

/// Every field. A new field is a row at the end.
inline constexpr std::array field_infos = numbered(std::array{
    field_row("potential", "gravity potential", {{Field::potential, 1}}),
    field_row("gx", "gravity vector, easting component", {{Field::gx, 1}}),
    field_row("gy", "gravity vector, northing component", {{Field::gy, 1}}),
    field_row("gz", "gravity vector, vertical component", {{Field::gz, 1}}),
    field_row("gxx", "gravity gradient, easting-easting", {{Field::gxx, 1}}),
    field_row("gyy", "gravity gradient, northing-northing", {{Field::gyy, 1}}),
    field_row("gzz", "gravity gradient, vertical-vertical", {{Field::gzz, 1}}),
    field_row("gxy", "gravity gradient, easting-northing", {{Field::gxy, 1}}),
    field_row("gxz", "gravity gradient, easting-vertical", {{Field::gxz, 1}}),
    field_row("gyz", "gravity gradient, northing-vertical", {{Field::gyz, 1}}),
    field_row("bx", "magnetic flux density, easting component", {{Field::bx, 1}}),
    field_row("by", "magnetic flux density, northing component", {{Field::by, 1}}),
    field_row("bz", "magnetic flux density, vertical component", {{Field::bz, 1}}),
    field_row("bxx", "gradient of the magnetic flux density, easting-easting", {{Field::bxx, 1}}),
    field_row("byy", "gradient of the magnetic flux density, northing-northing", {{Field::byy, 1}}),
    field_row("bzz", "gradient of the magnetic flux density, vertical-vertical", {{Field::bzz, 1}}),
    field_row("bxy", "gradient of the magnetic flux density, easting-northing", {{Field::bxy, 1}}),
    field_row("bxz", "gradient of the magnetic flux density, easting-vertical", {{Field::bxz, 1}}),
    field_row("byz", "gradient of the magnetic flux density, northing-vertical", {{Field::byz, 1}}),
    field_row("guv", "gravity gradient, (northing-northing - easting-easting) / 2",
              {{Field::gyy, 0.5}, {Field::gxx, -0.5}}),
    field_row("tmi", "total-field anomaly, along the inducing field", {{Field::bx, 1}, {Field::by, 1}, {Field::bz, 1}},
              FieldRule::along_inducing_field),
    field_row("tmi_exact", "total-field anomaly, difference of magnitudes",
              {{Field::bx, 1}, {Field::by, 1}, {Field::bz, 1}}, FieldRule::exact_anomaly),
    field_row("amplitude", "magnitude of the anomalous magnetic flux density",
              {{Field::bx, 1}, {Field::by, 1}, {Field::bz, 1}}, FieldRule::amplitude),
    field_row("tmi_x", "total-field anomaly, derivative along easting",
              {{Field::bxx, 1}, {Field::bxy, 1}, {Field::bxz, 1}}, FieldRule::along_inducing_field),
    field_row("tmi_y", "total-field anomaly, derivative along northing",
              {{Field::bxy, 1}, {Field::byy, 1}, {Field::byz, 1}}, FieldRule::along_inducing_field),
    field_row("tmi_z", "total-field anomaly, derivative along the vertical",
              {{Field::bxz, 1}, {Field::byz, 1}, {Field::bzz, 1}}, FieldRule::along_inducing_field),
});

inline constexpr int n_known_fields = static_cast<int>(field_infos.size());

[[nodiscard]] constexpr const FieldInfo& info(Field field) noexcept {
  return field_infos[static_cast<std::size_t>(field)];
}

/// Whether kernels have formulas for a field.
[[nodiscard]] constexpr bool is_native(Field field) noexcept { return static_cast<int>(field) < n_native_fields; }

/// The field of this name, if there is one.
[[nodiscard]] constexpr std::optional<Field> field_named(std::string_view name) noexcept {
  for (const FieldInfo& row : field_infos) {
    if (row.name == name) return row.field;
  }
  return std::nullopt;
}

/// The factor from the kernel's SI value (z up) to the output.
[[nodiscard]] constexpr double output_factor(Field field, Axes axes) noexcept {
  const auto& f = info(field);
  return axes == Axes::z_down && f.odd_in_z ? -f.scale : f.scale;
}

/// A set of fields as bits. It iterates over their FieldInfo in the order of Field.
class FieldList {
public:
  constexpr FieldList() = default;
  constexpr FieldList(std::initializer_list<Field> fields) noexcept {
    for (const Field f : fields) add(f);
  }
  /// The ten native gravity fields.
  static constexpr FieldList all() noexcept { return first(n_gravity_fields); }
  /// All fields.
  static constexpr FieldList every() noexcept { return first(n_known_fields); }
  /// All gravity fields.
  static constexpr FieldList gravity() noexcept { return every().of_density(); }
  static constexpr FieldList vector() noexcept { return of_order(1); }
  static constexpr FieldList tensor() noexcept { return of_order(2); }
  /// The native fields from `begin` on.
  static constexpr FieldList natives_from(Field begin) noexcept {
    FieldList list = first(n_native_fields);
    list.m_bits &= ~(bit(begin) - 1);
    return list;
  }
  /// bx, by, bz and the fields made of them.
  static constexpr FieldList magnetic() noexcept {
    return {Field::bx, Field::by, Field::bz, Field::tmi, Field::tmi_exact, Field::amplitude};
  }
  /// The gradient of B and the fields made of it.
  static constexpr FieldList magnetic_gradient() noexcept {
    return {Field::bxx, Field::byy,   Field::bzz,   Field::bxy,  Field::bxz,
            Field::byz, Field::tmi_x, Field::tmi_y, Field::tmi_z};
  }

  constexpr void add(Field f) noexcept { m_bits |= bit(f); }
  constexpr void add(FieldList other) noexcept { m_bits |= other.m_bits; }
  [[nodiscard]] constexpr bool contains(Field f) const noexcept { return (m_bits & bit(f)) != 0; }
  [[nodiscard]] constexpr bool contains(FieldList other) const noexcept {
    return (m_bits & other.m_bits) == other.m_bits;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return m_bits == 0; }
  [[nodiscard]] constexpr int size() const noexcept { return std::popcount(m_bits); }
  /// The position of f in this list, in the order of Field; the list must contain f.
  [[nodiscard]] constexpr int index_of(Field f) const noexcept { return std::popcount(m_bits & (bit(f) - 1)); }
  /// The fields that depend on the prisms' magnetisation, and those that depend on their density.
  [[nodiscard]] constexpr FieldList of_magnetisation() const noexcept { return of_kind(true); }
  [[nodiscard]] constexpr FieldList of_density() const noexcept { return of_kind(false); }
  /// The native fields that these fields are made of.
  [[nodiscard]] constexpr FieldList natives() const noexcept {
    FieldList found;
    for (const FieldInfo& field : *this) {
      for (int f = 0; f < n_native_fields; ++f) {
        if (field.weights[static_cast<std::size_t>(f)] != 0) found.add(static_cast<Field>(f));
      }
    }
    return found;
  }
  constexpr bool operator==(const FieldList&) const noexcept = default;

  class Iterator {
  public:
    explicit constexpr Iterator(std::uint64_t rest) noexcept : m_rest(rest) {}
    constexpr const FieldInfo& operator*() const noexcept {
      return field_infos[static_cast<std::size_t>(std::countr_zero(m_rest))];
    }
    constexpr Iterator& operator++() noexcept {
      m_rest &= m_rest - 1;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const noexcept = default;

  private:
    std::uint64_t m_rest;
  };
  [[nodiscard]] constexpr Iterator begin() const noexcept { return Iterator(m_bits); }
  [[nodiscard]] constexpr Iterator end() const noexcept { return Iterator(0); }

private:
  static_assert(n_known_fields < 64, "a field is a bit");
  static constexpr std::uint64_t bit(Field f) noexcept { return std::uint64_t{1} << static_cast<unsigned>(f); }
  static constexpr FieldList first(int n) noexcept {
    FieldList list;
    list.m_bits = bit(static_cast<Field>(n)) - 1;
    return list;
  }
  static constexpr FieldList of_order(int order) noexcept {
    FieldList list;
    for (int f = 0; f < n_gravity_fields; ++f) {
      if (native_derivatives[static_cast<std::size_t>(f)].order() == order) list.add(static_cast<Field>(f));
    }
    return list;
  }
  [[nodiscard]] constexpr FieldList of_kind(bool is_magnetic) const noexcept {
    FieldList list;
    for (const FieldInfo& field : *this) {
      if (field.is_magnetic == is_magnetic) list.add(field.field);
    }
    return list;
  }
  std::uint64_t m_bits = 0;
};

/// The sets of fields that kernels are compiled for: those of density, then those of the magnetisation. all: gravity;
/// magnetic: B; magnetic_gradient: B and its gradient.
enum class FieldSet { gz, vector, tensor, vector_tensor, all, magnetic, magnetic_gradient };

inline constexpr std::array every_set = {
    FieldSet::gz,  FieldSet::vector,   FieldSet::tensor,           FieldSet::vector_tensor,
    FieldSet::all, FieldSet::magnetic, FieldSet::magnetic_gradient};

[[nodiscard]] constexpr FieldList fields_of(FieldSet set) noexcept {
  FieldList list;
  switch (set) {
    case FieldSet::gz: return {Field::gz};
    case FieldSet::vector: return FieldList::vector();
    case FieldSet::tensor: return FieldList::tensor();
    case FieldSet::vector_tensor:
      list = FieldList::vector();
      list.add(FieldList::tensor());
      return list;
    case FieldSet::all: return FieldList::all();
    case FieldSet::magnetic: return {Field::bx, Field::by, Field::bz};
    case FieldSet::magnetic_gradient: break;
  }
  return FieldList::natives_from(Field::bx);
}

[[nodiscard]] constexpr bool has_magnetic(FieldList fields) noexcept { return !fields.of_magnetisation().empty(); }
[[nodiscard]] constexpr bool has_magnetic(FieldSet set) noexcept { return has_magnetic(fields_of(set)); }
[[nodiscard]] constexpr bool has_magnetic_gradient(FieldList fields) noexcept { return fields.contains(Field::bxx); }
[[nodiscard]] constexpr bool has_magnetic_gradient(FieldSet set) noexcept {
  return has_magnetic_gradient(fields_of(set));
}

/// The smallest set that has these fields, which depend all on density or all on the magnetisation.
[[nodiscard]] constexpr FieldSet smallest_set(FieldList fields) noexcept {
  for (const FieldSet set : every_set) {
    if (fields_of(set).contains(fields.natives())) return set;
  }
  return FieldSet::magnetic_gradient;
}

/// The sets that a run computes: one, or one for its gravity fields and one for its magnetic fields.
[[nodiscard]] inline std::vector<FieldSet> sets_of(FieldList fields) {
  const FieldList density = fields.of_density(), magnetic = fields.of_magnetisation();
  if (density.empty() || magnetic.empty()) return {smallest_set(fields)};
  return {smallest_set(density), smallest_set(magnetic)};
}

/// The native fields that a run for these fields computes: those of its sets.
[[nodiscard]] inline FieldList computed_fields(FieldList fields) {
  FieldList computed;
  for (const FieldSet set : sets_of(fields)) computed.add(fields_of(set));
  return computed;
}

}  // namespace prismfield
