// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "readers/prism_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "formats/file_content.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/heading.hpp"
#include "formats/text_table.hpp"
#include "model/prism_check.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"

namespace prismfield {
namespace {

/// Prisms as a file holds them.
struct RawPrisms : NumberedPrisms {
  /// of the file where it says so, otherwise of the case
  PrismUnits units;
  std::vector<std::string> warnings;
};

/// The units of columns of prisms as the file states them, one a column of list_column(), "" where it does not; where
/// the case says another than the file, or columns differ, a problem by `where` is added.
PrismUnits units_of(const PrismsSpec& spec, const std::vector<std::string>& stated, const std::string& where,
                    ProblemList& problems) {
  PrismUnits units = spec;
  std::optional<double> length;
  for (std::size_t c = 0; c < stated.size(); ++c) {
    const std::string& unit = stated[c];
    if (unit.empty() || (c < n_face_columns && !looks_like_unit(unit))) continue;
    const auto refuse = [&](const std::string& what) {
      problems.add(where, "", fmt::format("column {} is in {}{}", list_column(c), excerpt(unit), what));
    };
    if (c < n_face_columns) {
      const std::optional<double> factor = metres_in(unit);
      if (!factor) {
        refuse(", no unit of length that is known; write m, km or ft there");
      } else if (length.value_or(*factor) != *factor) {
        refuse(", other columns in another unit of length; all faces need one");
      } else if (spec.length_to_si != 1 && spec.length_to_si != *factor) {
        refuse(", which model.prisms.length_unit denies; take one of the two out");
      }
      if (factor) units.length_to_si = *(length = factor);
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
  return units;
}

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

/// Whether all ranks see one file. Collective.
bool is_one_file(const std::filesystem::path& file, const Communicator& communicator) {
  const FileStamp mine = stamp_of(file);
  const std::vector<std::int64_t> all =
      gather_everywhere(communicator, std::vector<std::int64_t>(mine.begin(), mine.end()));
  bool is_one = true;
  for (std::size_t i = 0; i < all.size(); ++i) is_one = is_one && all[i] == all[i % mine.size()];
  return is_one;
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
  places.units = units_of(spec, stated, file.path.string(), problems);
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

/// Numbers of `n` prisms of which the first has index `first` in the file.
std::vector<std::int64_t> prism_indices(std::int64_t first, std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
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
  raw.numbers = prism_indices(0, places.length);
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
  request.refused = {"magnetisation",
                     "magnetisationeasting",
                     "magnetisationnorthing",
                     "magnetisationupward",
                     "magnetization",
                     "magnetizationeasting",
                     "magnetizationnorthing",
                     "magnetizationupward",
                     "mx",
                     "my",
                     "mz",
                     "chi",
                     "sus",
                     "susceptibility"};
  request.why_refused =
      "magnetic prisms have the columns magnetization_easting, magnetization_northing, magnetization_upward (A/m) and "
      "susceptibility (SI)";
  Table table = read_table(file, request, problems);
  RawPrisms raw;
  const auto columns = list_columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) *columns[c] = std::move(table.columns[c]);
  complete(raw.prisms);
  raw.units = units_of(spec, table.units, table.named_where, problems);
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

constexpr std::int64_t index_bytes = sizeof(std::int64_t);

/// A list in HDF5 that is read by all ranks, each a part of it. Every step ends in the same answer on all ranks.
class CollectiveReader {
public:
  CollectiveReader(const InputFile& file, const PrismsSpec& spec, const Communicator& communicator)
      : m_file(file), m_spec(spec), m_communicator(communicator) {}

  /// nullptr on every rank when the file is no HDF5 file, holds an error or is not one file for all: rank 0 then reads
  /// it whole, and tells what the error is.
  std::unique_ptr<DistributedPrisms> read() {
    if (!find_places() || !is_one_file(m_file.path, m_communicator)) return nullptr;
    if (!read_part() || !check_part()) return nullptr;
    std::vector<std::string> warnings;
    add_warning(zero_size_of_all(), m_names, warnings);
    return std::make_unique<DistributedPrisms>(std::move(m_raw.prisms), m_held, m_facts, std::move(warnings),
                                               m_peak_bytes);
  }

private:
  /// True when no rank's `step` failed for a reason that lies in the file.
  template <class Step>
  bool all_did(const Step& step) {
    bool failed = false;
    agree(m_communicator, [&] {
      try {
        step();
      } catch (const InputError&) {
        failed = true;
      } catch (const RunError&) {
        failed = true;
      }
    });
    return !any(m_communicator, failed);
  }

  bool find_places() {
    const bool found = all_did([&] {
      if (m_communicator.rank() != 0 || !is_array_file(m_file)) return;
      const ArrayFile arrays(m_file);
      ProblemList problems;
      if (arrays.is_hdf5()) {
        m_places = find_prisms(arrays, m_file, m_spec, problems);
      }
      problems.throw_if_any();
    });
    broadcast(m_communicator, m_places.length);
    broadcast(m_communicator, m_places.datasets);
    broadcast(m_communicator, m_places.units);
    return found && m_places.length > 0;
  }

  bool read_part() {
    const IndexRange part = balanced_part(m_places.length, m_communicator.rank(), m_communicator.size());
    return all_did([&] {
      const FileStamp before = stamp_of(m_file.path);
      const Hdf5File hdf5 = Hdf5File::open(m_file.path, Seal::unchecked);
      const auto columns = list_columns_of(m_raw.prisms);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (!m_places.datasets[c].empty()) *columns[c] = hdf5.read(m_places.datasets[c], part);
      }
      check_unchanged(m_file, before);
      complete(m_raw.prisms);
      m_facts.has_susceptibility = !m_places.datasets[n_face_columns + susceptibility_property].empty();
      m_facts.has_magnetization = std::any_of(m_places.datasets.begin() + n_face_columns + magnetization_property,
                                              m_places.datasets.end(), [](const auto& name) { return !name.empty(); });
      m_raw.numbers = prism_indices(part.begin, part.size());
    });
  }

  bool check_part() {
    ProblemList problems;
    agree(m_communicator, [&] { m_zero_size = PrismCheck(m_raw, m_places.units, m_names, problems).check_each(); });
    if (any(m_communicator, !problems.empty())) return false;
    m_peak_bytes = static_cast<std::int64_t>(m_raw.numbers.capacity()) * (m_facts.bytes_a_prism() + index_bytes);
    m_raw.numbers = std::vector<std::int64_t>();
    // prisms of zero size left out, the others are numbered on from rank to rank
    const std::vector<std::int64_t> kept = gather_everywhere(m_communicator, m_raw.prisms.size());
    const auto mine = kept.begin() + m_communicator.rank();
    m_held.begin = std::accumulate(kept.begin(), mine, std::int64_t{0});
    m_held.end = m_held.begin + *mine;
    m_facts.size = std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
    find_bounds_of_all();
    return m_facts.size > 0 && (m_spec.allow_overlap || !overlap());
  }

  void find_bounds_of_all() {
    const Bounds mine = bounds_of(m_raw.prisms.columns());
    const PropertyRanges ranges = ranges_of(m_raw.prisms);
    const auto least = [&](double value) {
      const std::vector<double> all = gather_everywhere(m_communicator, value);
      return *std::min_element(all.begin(), all.end());
    };
    const auto greatest = [&](double value) { return -least(-value); };
    m_facts.bounds = {least(mine.west),     greatest(mine.east), least(mine.south),
                      greatest(mine.north), least(mine.bottom),  greatest(mine.top)};
    const auto of_all = [&](const Range& range) { return Range{least(range.min), greatest(range.max)}; };
    m_facts.ranges = {of_all(ranges.density), of_all(ranges.susceptibility), of_all(ranges.remanence)};
    EdgeRanges edges = edge_ranges_of(m_raw.prisms.columns());
    for (Range& along : edges.along) along = of_all(along);
    m_facts.is_one_shape = edges.is_one_shape();
  }

  /// True when any two prisms overlap, whichever ranks hold them: rank 0 looks at all boxes.
  bool overlap() {
    PrismBlock boxes;
    agree(m_communicator, [&] {
      boxes = m_raw.prisms;
      boxes.density = std::vector<double>();
      boxes.magnetization = {};
    });
    DistributedColumns gathered({&boxes.west, &boxes.east, &boxes.south, &boxes.north, &boxes.bottom, &boxes.top},
                                m_held);
    const bool is_root = m_communicator.rank() == 0;
    gathered.hold({0, is_root ? m_facts.size : 0}, m_communicator);
    Overlaps overlaps;
    agree(m_communicator, [&] {
      if (is_root) overlaps = find_overlaps(boxes, overlap_tolerance, 1);
    });
    const std::int64_t mine = m_raw.prisms.size() * m_facts.bytes_a_prism();
    const std::int64_t beside = is_root ? m_facts.size * m_facts.bytes_a_prism() + overlaps.memory_bytes : mine;
    m_peak_bytes = std::max(m_peak_bytes, mine + beside);
    return any(m_communicator, !overlaps.pairs.empty());
  }

  [[nodiscard]] ZeroSize zero_size_of_all() const {
    const std::vector<std::int64_t> counts = gather_everywhere(m_communicator, m_zero_size.count);
    const std::vector<std::int64_t> firsts = gather_everywhere(m_communicator, m_zero_size.first);
    ZeroSize all;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (all.count == 0) all.first = firsts[r];
      all.count += counts[r];
    }
    return all;
  }

  const InputFile& m_file;
  const PrismsSpec& m_spec;
  const Communicator& m_communicator;
  PrismDatasets m_places;
  FilePrismNames m_names{m_file, false};
  RawPrisms m_raw;
  ZeroSize m_zero_size;
  IndexRange m_held;
  ListFacts m_facts;
  std::int64_t m_peak_bytes = 0;
};

}  // namespace

DistributedPrisms::DistributedPrisms(ListedPrisms prisms, IndexRange held, const ListFacts& facts,
                                     std::vector<std::string> warnings, std::int64_t peak_bytes)
    : m_prisms(std::move(prisms)),
      m_held(held),
      m_facts(facts),
      m_warnings(std::move(warnings)),
      m_peak_bytes(peak_bytes) {
  for (auto* column : columns()) column->shrink_to_fit();
}

std::vector<std::vector<double>*> DistributedPrisms::columns() {
  std::vector<std::vector<double>*> there;
  const auto all = list_columns_of(m_prisms);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const bool is_there = c <= n_face_columns + density_property          ? true
                          : c == n_face_columns + susceptibility_property ? m_facts.has_susceptibility
                                                                          : m_facts.has_magnetization;
    if (is_there) there.push_back(all[c]);
  }
  return there;
}

void DistributedPrisms::hold(IndexRange range, const Communicator& communicator) {
  if (communicator.size() == 1) return;
  m_peak_bytes = std::max(m_peak_bytes, memory_to_hold(range).during);
  DistributedColumns distributed(columns(), m_held);
  distributed.hold(range, communicator);
  m_held = distributed.held();
}

DistributedPrisms::HoldMemory DistributedPrisms::memory_to_hold(IndexRange range) const noexcept {
  const std::int64_t now = memory_bytes();
  if (range == m_held) return {now, now};
  const std::int64_t after = static_cast<std::int64_t>(sizeof(*this)) + range.size() * m_facts.bytes_a_prism();
  return {after, std::max(now, after) + range.size() * static_cast<std::int64_t>(sizeof(double))};
}

std::ptrdiff_t DistributedPrisms::place_of(IndexRange range) const {
  const auto [begin, end] = range;
  if (begin < end && (begin < m_held.begin || end > m_held.end)) {
    throw RunError(
        fmt::format("prisms [{}, {}) were asked of a rank that holds [{}, {})", begin, end, m_held.begin, m_held.end));
  }
  return begin - m_held.begin;
}

void DistributedPrisms::read(IndexRange range, PrismBlock& out) const {
  const std::ptrdiff_t place = place_of(range);
  const std::int64_t n = range.size();
  out.resize(n);
  const auto from = columns_of(m_prisms);
  const auto to = columns_of(out);
  for (std::size_t c = 0; c < from.size() && n > 0; ++c) std::copy_n(from[c]->begin() + place, n, to[c]->begin());
  if (!is_magnetized()) return;
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double>& component = out.magnetization[d];
    component.assign(static_cast<std::size_t>(n), 0.0);
    if (m_facts.has_magnetization && n > 0) {
      std::copy_n(m_prisms.magnetization[d].begin() + place, n, component.begin());
    }
    if (!m_facts.has_susceptibility || n == 0) continue;
    const double* const susceptibility = m_prisms.susceptibility.data() + place;
    for (std::size_t i = 0; i < component.size(); ++i) component[i] += susceptibility[i] * m_induced[d];
  }
}

void DistributedPrisms::read_susceptibilities(IndexRange range, std::vector<double>& out) const {
  const std::ptrdiff_t place = place_of(range);
  out.assign(static_cast<std::size_t>(range.size()), 0.0);
  if (!m_facts.has_susceptibility || out.empty()) return;
  std::copy_n(m_prisms.susceptibility.begin() + place, range.size(), out.begin());
}

Digest DistributedPrisms::digest(const Communicator& communicator) const {
  // A sum over the prisms, each with its number: ranks add up theirs.
  Digest mine;
  std::vector<double> prism;
  for (std::int64_t i = 0; i < m_prisms.size(); ++i) {
    prism.assign(1, std::bit_cast<double>(m_held.begin + i));
    for (const std::vector<double>* column : list_columns_of(m_prisms)) {
      if (!column->empty()) prism.push_back((*column)[static_cast<std::size_t>(i)]);
    }
    const Digest one = digest_of(prism.data(), prism.size() * sizeof(double));
    mine.low += one.low;
    mine.high += one.high;
  }
  const std::vector<std::int64_t> halves = gather_everywhere(
      communicator,
      std::vector<std::int64_t>{static_cast<std::int64_t>(mine.low), static_cast<std::int64_t>(mine.high)});
  Digest all;
  for (std::size_t rank = 0; rank < halves.size(); rank += 2) {
    all.low += static_cast<std::uint64_t>(halves[rank]);
    all.high += static_cast<std::uint64_t>(halves[rank + 1]);
  }
  return all;
}

std::int64_t DistributedPrisms::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(sizeof(*this)) +
         static_cast<std::int64_t>(m_prisms.west.capacity()) * m_facts.bytes_a_prism();
}

std::string DistributedPrisms::description() const { return fmt::format("{} prism{}", size(), size() == 1 ? "" : "s"); }

namespace {

/// The whole list, read and checked by one rank.
std::unique_ptr<DistributedPrisms> read_whole(const InputFile& file, const PrismsSpec& spec) {
  ProblemList problems;
  const bool is_text = !is_array_file(file);
  if (is_text && spec.group != "/") {
    throw InputError("", "model.prisms.group",
                     "names a group of an HDF5 file, but '" + file.path.string() + "' is text; leave it out");
  }
  RawPrisms raw = is_text ? read_prism_table(file, spec, problems) : read_prism_arrays(file, spec);
  const FilePrismNames names(file, is_text);
  PrismCheck check(raw, raw.units, names, problems);
  add_warning(check.check_each(), names, raw.warnings);
  const std::int64_t search_bytes = spec.allow_overlap ? 0 : check.check_overlaps();
  problems.throw_if_any();
  const std::int64_t n = raw.prisms.size();
  if (n == 0) throw file.error("holds no prism of more than zero size");
  const ListFacts facts{n,
                        bounds_of(raw.prisms.columns()),
                        ranges_of(raw.prisms),
                        !raw.prisms.susceptibility.empty(),
                        !raw.prisms.magnetization[0].empty(),
                        edge_ranges_of(raw.prisms.columns()).is_one_shape()};
  const std::int64_t peak =
      n * facts.bytes_a_prism() + static_cast<std::int64_t>(raw.numbers.capacity()) * index_bytes + search_bytes;
  return std::make_unique<DistributedPrisms>(std::move(raw.prisms), IndexRange{0, n}, facts, std::move(raw.warnings),
                                             peak);
}

/// Tells every rank of the list that rank 0 alone holds. Collective.
std::unique_ptr<DistributedPrisms> share(std::unique_ptr<DistributedPrisms> list, const Communicator& communicator) {
  ListFacts facts;
  std::vector<std::string> warnings;
  if (list) {
    facts = list->facts();
    warnings = list->warnings();
  }
  broadcast(communicator, facts);
  broadcast(communicator, warnings);
  if (list) return list;
  return std::make_unique<DistributedPrisms>(ListedPrisms(), IndexRange(), facts, std::move(warnings), 0);
}

}  // namespace

std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec) {
  return read_whole(file, spec);
}

std::unique_ptr<DistributedPrisms> read_prisms(const InputFile& file, const PrismsSpec& spec,
                                               const Communicator& communicator) {
  std::unique_ptr<DistributedPrisms> list;
  if (communicator.size() > 1) list = CollectiveReader(file, spec, communicator).read();
  if (list) return list;
  agree_on_input(communicator, [&] {
    if (communicator.rank() == 0) list = read_whole(file, spec);
  });
  return share(std::move(list), communicator);
}

}  // namespace prismfield
