// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/prism_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/heading.hpp"
#include "formats/text_table.hpp"
#include "model/prism_check.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "readers/file_content.hpp"
#include "readers/point_columns.hpp"

namespace prismfield {
namespace {

/// Prisms as a file holds them.
struct RawPrisms : NumberedPrisms {
  /// of the file where it says so, otherwise of the case
  PrismUnits units;
  std::vector<std::string> warnings;
};

/// The units of columns of prisms as the file states them, one a column of list_column(), "" where it does not; where
/// the case says another than the file, or columns differ, a problem by `where` is added. `length_key`: that of the
/// case for all faces, "" where there is none.
PrismUnits units_of(const PrismsSpec& spec, const std::vector<std::string>& stated, const std::string& where,
                    const std::string& length_key, ProblemList& problems) {
  PrismUnits units = spec;
  std::optional<double> length;
  std::vector<std::string> without, with;
  for (std::size_t c = 0; c < stated.size(); ++c) {
    const std::string& unit = stated[c];
    if (unit.empty() || (c < n_face_columns && !looks_like_unit(unit))) {
      if (c < n_face_columns) without.push_back(list_column(c));
      continue;
    }
    const auto refuse = [&](const std::string& what) {
      problems.add(where, "", fmt::format("column {} is in {}{}", list_column(c), excerpt(unit), what));
    };
    if (c < n_face_columns) {
      const std::optional<double> factor = metres_in(unit);
      if (!factor) {
        refuse(", no unit of length that is known; the numbers need m, km or ft: write which there");
      } else if (length.value_or(*factor) != *factor) {
        refuse(", other columns in another unit of length; all faces need one");
      } else if (spec.length_to_si != 1 && spec.length_to_si != *factor) {
        refuse(", which model.prisms.length_unit denies; take one of the two out");
      }
      if (factor) units.length_to_si = *(length = factor);
      with.push_back(fmt::format("{} [{}]", list_column(c), unit));
      continue;
    }
    const bool is_density = c == n_face_columns + density_property;
    const std::optional<double> factor = property_factor(list_column(c), unit);
    if (!factor || (!is_density && *factor != 1)) {
      refuse(is_density ? "; kg/m3 and g/cm3 are known"
                        : fmt::format("; {} is needed", unit_text(unit_of_property(list_column(c)))));
    } else if (is_density && spec.density_to_si != 1 && spec.density_to_si != *factor) {
      refuse(", which model.prisms.density_unit denies; take one of the two out");
    } else if (is_density) {
      units.density_to_si = *factor;
    }
  }
  if (length.value_or(1) != 1 && spec.length_to_si == 1 && !without.empty()) {
    problems.add(where, "",
                 fmt::format("{} with a unit, {} without; name the unit of each face{}", fmt::join(with, ", "),
                             fmt::join(without, ", "),
                             length_key.empty() ? "" : fmt::format(", or that of all by {}", length_key)));
  }
  return units;
}

std::string length_key(const InputFile& file) { return file.key.empty() ? "" : "model.prisms.length_unit"; }

/// The papers' names of columns, (x1, west) and so on; which of z1 and z2 is the bottom depends on where z points.
std::vector<ColumnAlias> prism_aliases(bool z_down) {
  return {{"x1", "west"},
          {"x2", "east"},
          {"y1", "south"},
          {"y2", "north"},
          {"top_depth", "top"},
          {"depth_top", "top"},
          {"bottom_depth", "bottom"},
          {"depth_bottom", "bottom"},
          {"z1", z_down ? "top" : "bottom"},
          {"z2", z_down ? "bottom" : "top"}};
}

/// Prisms of a text file go by their lines, those of HDF5 by their indices.
class FilePrismNames final : public PrismNames {
public:
  FilePrismNames(const InputFile& file, bool is_text) : m_file(file), m_is_text(is_text) {}
  [[nodiscard]] std::string list() const override { return m_file.path.string(); }
  [[nodiscard]] std::string where(std::int64_t number) const override {
    return m_is_text ? line_of(m_file, number) : m_file.path.string();
  }
  [[nodiscard]] std::string key(std::int64_t number) const override {
    return m_is_text ? std::string() : fmt::format("prism [{}]", number);
  }
  [[nodiscard]] std::string key(std::int64_t number, const char* column) const override {
    return m_is_text ? column : fmt::format("{}[{}]", column, number);
  }
  [[nodiscard]] std::string reference(std::int64_t number) const override {
    return fmt::format("{} {}", m_is_text ? "line" : "index", number);
  }

private:
  const InputFile& m_file;
  bool m_is_text;
};

/// The warning about prisms of zero size, if there are any.
void add_warning(const ZeroSize& zero, const PrismNames& names, std::vector<std::string>& warnings) {
  if (zero.count == 0) return;
  warnings.push_back(fmt::format("{}: {} prism{} of zero size left out, {} {}", names.list(), zero.count,
                                 zero.count == 1 ? "" : "s", zero.count == 1 ? "at" : "the first at",
                                 names.reference(zero.first)));
}

/// Warns of numbers that look like dummies, by the first of each column: a face may be one, far away.
void warn_of_dummies(const NumberedPrisms& raw, const PrismNames& names, std::vector<std::string>& warnings) {
  const auto columns = list_columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto [least, most] = std::minmax_element(columns[c]->begin(), columns[c]->end());
    if (columns[c]->empty() || (!looks_like_dummy(*least) && !looks_like_dummy(*most))) continue;
    std::vector<double> values = *columns[c];
    // both faces are places along one direction
    if (c < n_face_columns) values.insert(values.end(), columns[c ^ 1U]->begin(), columns[c ^ 1U]->end());
    std::vector<bool> found = find_dummies(values);
    found.resize(std::min(found.size(), columns[c]->size()));
    const std::int64_t count = std::count(found.begin(), found.end(), true);
    if (count == 0) continue;
    const auto first = static_cast<std::size_t>(std::find(found.begin(), found.end(), true) - found.begin());
    const std::string more = count > 1 ? fmt::format(", and {} more in this column", grouped(count - 1)) : "";
    warnings.push_back(Problem{names.where(raw.numbers[first]), names.key(raw.numbers[first], list_column(c)),
                               fmt::format("{}{}; it is taken as it is; if it stands for none, leave such prisms out",
                                           dummy_text(values[first]), more)}
                           .message());
  }
}

/// Where an HDF5 or netCDF file holds the columns.
struct PrismDatasets {
  /// one a column; "" for a column that is missing or mistaken
  std::vector<std::string> datasets;
  PrismUnits units;
  /// prisms in the file
  std::int64_t length = 0;
};

/// Finds the columns and checks their shapes; errors are added to `problems`. Throws InputError, by its key, for a
/// group that the file lacks.
PrismDatasets find_prisms(const ArrayFile& arrays, const InputFile& file, const PrismsSpec& spec,
                          ProblemList& problems) {
  std::string group = spec.group;
  while (!group.empty() && group.back() == '/') group.pop_back();
  if (!group.empty() && group.front() != '/') group.insert(0, 1, '/');
  if (!arrays.has(group.empty() ? "/" : group)) {
    throw InputError("", "model.prisms.group", fmt::format("'{}' has no group {}", file.path.string(), group));
  }

  PrismDatasets places;
  places.datasets.resize(n_list_columns);
  std::string first_dataset;
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < n_list_columns; ++c) {
    const std::string column = list_column(c);
    std::vector<std::string> found;
    if (arrays.has(group + "/" + column)) found.push_back(group + "/" + column);
    for (const ColumnAlias& alias : prism_aliases(spec.z_down)) {
      const std::string name = group + "/" + alias.spelling;
      if (alias.name == column && arrays.has(name)) found.push_back(name);
    }
    if (found.empty()) {
      if (c < prism_columns.size()) missing.push_back(column);
      continue;
    }
    const std::string& dataset = found.front();
    try {
      if (found.size() > 1) {
        throw file.error(fmt::format("holds both {} and {}; one of them is needed", found[0], found[1]));
      }
      const std::vector<std::int64_t> shape = arrays.shape(dataset);
      if (shape.size() != 1) {
        throw file.error(fmt::format("has {} of shape {}; one dimension is needed", dataset, shape_text(shape)));
      }
      if (first_dataset.empty()) {
        places.length = shape[0];
        first_dataset = dataset;
      }
      if (shape[0] != places.length) {
        throw file.error(
            fmt::format("has {} values in {} but {} in {}", shape[0], dataset, places.length, first_dataset));
      }
      places.datasets[c] = dataset;
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  std::vector<std::string> stated;
  for (const std::string& dataset : places.datasets) {
    stated.push_back(dataset.empty() ? "" : arrays.text_attribute(dataset, "units").value_or(""));
  }
  places.units = units_of(spec, stated, file.path.string(), length_key(file), problems);
  const bool has_other = std::any_of(places.datasets.begin() + prism_columns.size(), places.datasets.end(),
                                     [](const std::string& dataset) { return !dataset.empty(); });
  if (has_other && !missing.empty() && missing.back() == property_names[density_property]) missing.pop_back();
  if (!missing.empty()) {
    problems.add(file.where, file.key,
                 fmt::format("'{}' has no dataset{} {} in group {}; its datasets are: {}", file.path.string(),
                             missing.size() > 1 ? "s" : "", fmt::join(missing, ", "), group.empty() ? "/" : group,
                             shown_list(arrays.dataset_names(group.empty() ? "/" : group))));
  }
  return places;
}

/// Fills columns that are missing beside others with 0: a density, components of the magnetisation.
void complete(ListedPrisms& prisms) {
  const std::size_t n = prisms.west.size();
  prisms.density.resize(n);
  const bool is_magnetized = std::any_of(prisms.magnetization.begin(), prisms.magnetization.end(),
                                         [](const std::vector<double>& component) { return !component.empty(); });
  if (is_magnetized) prisms.magnetize(static_cast<std::int64_t>(n));
}

/// The prisms of an HDF5 or netCDF file as it holds them, numbered by indices. Throws InputError with every error
/// found.
RawPrisms read_prism_arrays(const InputFile& file, const PrismsSpec& spec) {
  const ArrayFile arrays(file);
  ProblemList problems;
  const PrismDatasets places = find_prisms(arrays, file, spec, problems);
  RawPrisms raw;
  const auto columns = list_columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (places.datasets[c].empty()) continue;
    try {
      *columns[c] = arrays.read(places.datasets[c]);
    } catch (const InputError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  if (places.length == 0) throw file.error("holds no prisms");
  complete(raw.prisms);
  raw.units = places.units;
  raw.numbers.resize(static_cast<std::size_t>(places.length));
  std::iota(raw.numbers.begin(), raw.numbers.end(), std::int64_t{0});
  return raw;
}

/// The prisms of a table in text as it holds them, numbered by lines. Rows with an error are added to `problems`.
/// Throws InputError when nothing can be read.
RawPrisms read_prism_table(const InputFile& file, const PrismsSpec& spec, ProblemList& problems) {
  TableRequest request;
  request.of_places = true;
  request.needed = {prism_columns.begin(), prism_columns.end()};
  request.optional = {property_names.begin() + susceptibility_property, property_names.end()};
  request.is_last_replaceable = true;
  request.aliases = prism_aliases(spec.z_down);
  request.columns = spec.columns;
  request.columns_key = "model.prisms.columns";
  request.refused = words_of(
      "magnetisation magnetisationeasting magnetisationnorthing magnetisationupward magnetization magnetizationeasting "
      "magnetizationnorthing magnetizationupward mx my mz chi sus susceptibility");
  request.why_refused =
      "magnetic prisms have the columns magnetization_easting, magnetization_northing, magnetization_upward (A/m) and "
      "susceptibility (SI)";
  Table table = read_table(file, request, problems);
  RawPrisms raw;
  const auto columns = list_columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) *columns[c] = std::move(table.columns[c]);
  complete(raw.prisms);
  raw.units = units_of(spec, table.units, table.units_where, length_key(file), problems);
  if (spec.length_to_si == 1) {
    refuse_commented_unit(table, n_face_columns, length_key(file), problems);
  }
  raw.warnings = std::move(table.notes);
  raw.numbers = std::move(table.lines);
  if (!table.ignored.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : table.ignored) names.push_back(excerpt(name));
    raw.warnings.push_back(fmt::format("{}: column{} ignored: {}{}", file.path.string(), names.size() > 1 ? "s" : "",
                                       shown_list(names),
                                       has_refused(table.ignored, request) ? "; " + request.why_refused : ""));
  }
  return raw;
}

/// A list as one rank has read and checked it.
struct WholeList {
  ListedPrisms prisms;
  std::vector<std::string> warnings;
  std::int64_t peak_bytes = 0;
};

std::int64_t bytes_of(const ListedPrisms& prisms) {
  std::size_t values = 0;
  for (const std::vector<double>* column : list_columns_of(prisms)) values += column->capacity();
  return static_cast<std::int64_t>(values * sizeof(double));
}

WholeList read_whole(const InputFile& file, const PrismsSpec& spec) {
  ProblemList problems;
  const bool is_text = !is_array_file(file);
  if (is_text && spec.group != "/") {
    throw InputError("", "model.prisms.group",
                     "names a group of an HDF5 file, but '" + file.path.string() + "' is text; leave it out");
  }
  RawPrisms raw = is_text ? read_prism_table(file, spec, problems) : read_prism_arrays(file, spec);
  const FilePrismNames names(file, is_text);
  warn_of_dummies(raw, names, raw.warnings);
  PrismCheck check(raw, raw.units, names, problems);
  add_warning(check.check_each(), names, raw.warnings);
  const std::int64_t search_bytes = spec.allow_overlap ? 0 : check.check_overlaps();
  problems.throw_if_any();
  if (raw.prisms.size() == 0) throw file.error("holds no prism of more than zero size");
  for (std::vector<double>* column : list_columns_of(raw.prisms)) column->shrink_to_fit();
  const std::int64_t peak =
      bytes_of(raw.prisms) + static_cast<std::int64_t>(raw.numbers.capacity() * sizeof(std::int64_t)) + search_bytes;
  return {std::move(raw.prisms), std::move(raw.warnings), peak};
}

/// Makes rank 0's list everybody's, one column after the other. Collective; throws AgreedFailure.
void share(WholeList& list, const Communicator& communicator) {
  broadcast(communicator, list.warnings);
  for (std::vector<double>* column : list_columns_of(list.prisms)) {
    std::int64_t n = std::ssize(*column);
    broadcast(communicator, n);
    agree_unless_alone(communicator, [&] { column->resize(static_cast<std::size_t>(n)); });
    broadcast_bytes(communicator, column->data(), n * static_cast<std::int64_t>(sizeof(double)));
  }
}

}  // namespace

ListedSource::ListedSource(ListedPrisms prisms, std::vector<std::string> warnings, std::int64_t peak_bytes)
    : m_prisms(std::move(prisms)),
      m_bounds(bounds_of(m_prisms.columns())),
      m_ranges(ranges_of(m_prisms)),
      m_is_one_shape(edge_ranges_of(m_prisms.columns()).is_one_shape()),
      m_warnings(std::move(warnings)),
      m_peak_bytes(peak_bytes) {}

void ListedSource::read(IndexRange range, PrismBlock& out) const {
  require_within(range);
  const std::int64_t n = range.size();
  out.resize(n);
  const auto from = columns_of(m_prisms);
  const auto to = columns_of(out);
  for (std::size_t c = 0; c < from.size(); ++c) std::copy_n(from[c]->begin() + range.begin, n, to[c]->begin());
  if (!is_magnetized()) return;
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double>& component = out.magnetization[d];
    component.assign(static_cast<std::size_t>(n), 0.0);
    const std::vector<double>& remanent = m_prisms.magnetization[d];
    if (!remanent.empty()) std::copy_n(remanent.begin() + range.begin, n, component.begin());
    if (m_prisms.susceptibility.empty()) continue;
    const double* const susceptibility = m_prisms.susceptibility.data() + range.begin;
    for (std::size_t i = 0; i < component.size(); ++i) component[i] += susceptibility[i] * m_induced[d];
  }
}

Digest ListedSource::digest() const {
  Checksum checksum;
  for (const std::vector<double>* column : list_columns_of(m_prisms)) checksum.add(*column);
  return checksum.digest();
}

std::int64_t ListedSource::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(sizeof(*this)) + bytes_of(m_prisms);
}

std::string ListedSource::description() const { return fmt::format("{} prism{}", size(), size() == 1 ? "" : "s"); }

std::unique_ptr<ListedSource> read_prisms(const InputFile& file, const PrismsSpec& spec) {
  WholeList list = read_whole(file, spec);
  return std::make_unique<ListedSource>(std::move(list.prisms), std::move(list.warnings), list.peak_bytes);
}

std::unique_ptr<ListedSource> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                          const Communicator& communicator) {
  WholeList list;
  agree_on_input(communicator, [&] {
    if (communicator.rank() == 0) list = read_whole(file, spec);
  });
  share(list, communicator);
  return std::make_unique<ListedSource>(std::move(list.prisms), std::move(list.warnings), list.peak_bytes);
}

}  // namespace prismfield
