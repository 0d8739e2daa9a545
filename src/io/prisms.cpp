// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prisms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <prismfield/communicator.hpp>

#include "base/human_text.hpp"
#include "base/limited_problems.hpp"
#include "compute/partition.hpp"
#include "io/input_file.hpp"
#include "io/text_table.hpp"
#include "model/overlaps.hpp"
#include "parallel/agreement.hpp"
#include "parallel/distribution.hpp"

namespace prismfield {
namespace {

constexpr double overlap_tolerance = 1e-6;
constexpr std::size_t overlaps_named = 10;
constexpr std::size_t overlaps_counted = 100'000;

const std::vector<std::string> column_names = {"west", "east", "south", "north", "bottom", "top", "density"};

/// The papers' names; which of z1 and z2 is the bottom depends on where z points.
std::vector<std::pair<std::string, std::string>> aliases(bool z_down) {
  return {{"x1", "west"},
          {"x2", "east"},
          {"y1", "south"},
          {"y2", "north"},
          {"z1", z_down ? "top" : "bottom"},
          {"z2", z_down ? "bottom" : "top"}};
}

/// Prisms as a file holds them, and how messages name each.
struct RawPrisms {
  PrismBlock prisms;
  bool is_text = false;
  /// of each prism: its line in a text file, its index in HDF5
  std::vector<std::int64_t> numbers;
  std::vector<std::string> warnings;
};

std::array<std::vector<double>*, 7> columns_of(PrismBlock& block) {
  return {&block.west, &block.east, &block.south, &block.north, &block.bottom, &block.top, &block.density};
}

RawPrisms read_text(const InputFile& file, const PrismsSpec& spec, ProblemList& problems) {
  TableRequest request;
  request.needed = column_names;
  request.aliases = aliases(spec.z_down);
  request.columns = spec.columns;
  request.columns_key = "model.prisms.columns";
  Table table = read_table(file, request, problems);
  RawPrisms raw;
  const auto columns = columns_of(raw.prisms);
  for (std::size_t c = 0; c < columns.size(); ++c) *columns[c] = std::move(table.columns[c]);
  raw.is_text = true;
  raw.numbers = std::move(table.lines);
  if (!table.ignored.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : table.ignored) names.push_back(excerpt(name));
    raw.warnings.push_back(fmt::format("{}: column{} ignored: {}", file.path.string(), names.size() > 1 ? "s" : "",
                                       fmt::join(names, ", ")));
  }
  return raw;
}

/// Where an HDF5 or netCDF file holds the columns.
struct ColumnPlaces {
  /// one a column; "" for a column that is missing or mistaken
  std::vector<std::string> datasets;
  /// prisms in the file
  std::int64_t length = 0;
};

/// Finds the columns and checks their shapes; mistakes are added to `problems`. Throws InputError without a group.
ColumnPlaces find_columns(const ArrayFile& arrays, const InputFile& file, const PrismsSpec& spec,
                          const std::string& group_where, ProblemList& problems) {
  std::string group = spec.group;
  while (!group.empty() && group.back() == '/') group.pop_back();
  if (!group.empty() && group.front() != '/') group.insert(0, 1, '/');
  if (!arrays.has(group.empty() ? "/" : group)) {
    throw InputError(group_where, "model.prisms.group", fmt::format("'{}' has no group {}", file.path.string(), group));
  }

  ColumnPlaces places;
  places.datasets.resize(column_names.size());
  std::string first_dataset;
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < column_names.size(); ++c) {
    std::vector<std::string> found;
    if (arrays.has(group + "/" + column_names[c])) found.push_back(group + "/" + column_names[c]);
    for (const auto& [spelling, meant] : aliases(spec.z_down)) {
      if (meant == column_names[c] && arrays.has(group + "/" + spelling)) found.push_back(group + "/" + spelling);
    }
    if (found.empty()) {
      missing.push_back(column_names[c]);
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
  if (!missing.empty()) {
    problems.add(file.where, file.key,
                 fmt::format("'{}' has no dataset{} {} in group {}; its datasets are: {}", file.path.string(),
                             missing.size() > 1 ? "s" : "", fmt::join(missing, ", "), group.empty() ? "/" : group,
                             fmt::join(arrays.dataset_names(group.empty() ? "/" : group), ", ")));
  }
  return places;
}

/// `first`: index of the first of `n` prisms in the file
std::vector<std::int64_t> indices(std::int64_t first, std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

RawPrisms read_arrays(const InputFile& file, const PrismsSpec& spec, const std::string& group_where) {
  const ArrayFile arrays(file);
  ProblemList problems;
  const ColumnPlaces places = find_columns(arrays, file, spec, group_where, problems);
  RawPrisms raw;
  const auto columns = columns_of(raw.prisms);
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
  raw.numbers = indices(0, places.length);
  return raw;
}

/// Prisms of zero size in a file or a part of it.
struct ZeroSize {
  std::int64_t count = 0;
  /// line or index of the first
  std::int64_t first = 0;
};

void add_warning(const ZeroSize& zero, const InputFile& file, bool is_text, std::vector<std::string>& warnings) {
  if (zero.count == 0) return;
  warnings.push_back(fmt::format("{}: {} prism{} of zero size left out, {} {} {}", file.path.string(), zero.count,
                                 zero.count == 1 ? "" : "s", zero.count == 1 ? "at" : "the first at",
                                 is_text ? "line" : "index", zero.first));
}

/// Checks prisms and turns them into metres, kg/m3 and z up.
class Validator {
public:
  Validator(const InputFile& file, const PrismsSpec& spec, RawPrisms& raw, ProblemList& problems)
      : m_file(file), m_spec(spec), m_raw(raw), m_problems(problems), m_limited(problems, file.path.string()) {}

  /// Leaves out prisms with a mistake and those of zero size, which it counts.
  ZeroSize check_each() {
    const auto columns = columns_of(m_raw.prisms);
    std::size_t kept = 0;
    ZeroSize zero;
    for (std::size_t i = 0; i < m_raw.numbers.size(); ++i) {
      std::array<double, 7> prism{};
      for (std::size_t c = 0; c < 7; ++c) prism[c] = (*columns[c])[i];
      const std::int64_t number = m_raw.numbers[i];
      if (!is_finite(prism, number) || is_inverted(prism, number) || !convert(prism, number)) continue;
      if (prism[0] == prism[1] || prism[2] == prism[3] || prism[4] == prism[5]) {
        if (zero.count++ == 0) zero.first = number;
        continue;
      }
      for (std::size_t c = 0; c < 7; ++c) (*columns[c])[kept] = prism[c];
      m_raw.numbers[kept++] = number;
    }
    m_limited.finish();
    for (auto* column : columns) column->resize(kept);
    m_raw.numbers.resize(kept);
    return zero;
  }

  /// Adds a problem for each of the first pairs that overlap; returns the bytes that the search took.
  std::int64_t check_overlaps() {
    const Overlaps overlaps = find_overlaps(m_raw.prisms, overlap_tolerance, overlaps_counted);
    const std::size_t named = std::min(overlaps.pairs.size(), overlaps_named);
    for (std::size_t o = 0; o < named; ++o) {
      const auto a = static_cast<std::size_t>(overlaps.pairs[o].first);
      const auto b = static_cast<std::size_t>(overlaps.pairs[o].second);
      const std::string other = fmt::format("the prism of {} {}", m_raw.is_text ? "line" : "index", m_raw.numbers[a]);
      m_problems.add(where(m_raw.numbers[b]), name(m_raw.numbers[b]),
                     fmt::format("overlaps {} by {} m; allow_overlap: true accepts this", other, common_edges(a, b)));
    }
    if (overlaps.pairs.size() > named) {
      m_problems.add(m_file.path.string(), "",
                     fmt::format("{}{} more overlapping pairs", overlaps.complete ? "" : "more than ",
                                 overlaps.pairs.size() - named));
    }
    return overlaps.memory_bytes;
  }

private:
  [[nodiscard]] std::string where(std::int64_t number) const {
    return m_raw.is_text ? line_of(m_file, number) : m_file.path.string();
  }
  [[nodiscard]] std::string name(std::int64_t number) const {
    return m_raw.is_text ? std::string() : fmt::format("prism [{}]", number);
  }

  bool is_finite(const std::array<double, 7>& prism, std::int64_t number) {
    bool finite = true;
    for (std::size_t c = 0; c < 7; ++c) {
      if (std::isfinite(prism[c])) continue;
      finite = false;
      m_limited.add("NaN or infinite values", [&] {
        return Problem{where(number), m_raw.is_text ? column_names[c] : fmt::format("{}[{}]", column_names[c], number),
                       "is NaN or infinite"};
      });
    }
    return finite;
  }

  bool is_inverted(const std::array<double, 7>& prism, std::int64_t number) {
    bool inverted = false;
    for (std::size_t c = 0; c < 6; c += 2) {
      const bool depths = c == 4 && m_spec.z_down;
      if (depths ? prism[c] >= prism[c + 1] : prism[c] <= prism[c + 1]) continue;
      inverted = true;
      m_limited.add("inverted prisms", [&] {
        static constexpr std::array<const char*, 3> relations = {"is east of", "is north of", "is above"};
        const char* const remark = c < 4    ? ""
                                   : depths ? "; with axis_z: down these are depths"
                                            : "; with axis_z: up these are heights";
        return Problem{where(number), name(number),
                       fmt::format("{} {} {} {} {}{}", column_names[c], prism[c], relations[c / 2], column_names[c + 1],
                                   prism[c + 1], remark)};
      });
    }
    return inverted;
  }

  bool convert(std::array<double, 7>& prism, std::int64_t number) {
    for (std::size_t c = 0; c < 6; ++c) prism[c] *= m_spec.length_to_si;
    prism[6] *= m_spec.density_to_si;
    if (m_spec.z_down) {
      prism[4] = -prism[4];
      prism[5] = -prism[5];
    }
    if (std::all_of(prism.begin(), prism.end(), [](double v) { return std::isfinite(v); })) return true;
    m_limited.add("numbers too large for double precision in metres and kg/m3", [&] {
      return Problem{where(number), name(number), "a number is too large for double precision in metres and kg/m3"};
    });
    return false;
  }

  [[nodiscard]] std::string common_edges(std::size_t a, std::size_t b) const {
    const PrismBlock& p = m_raw.prisms;
    return fmt::format("{:.6g} x {:.6g} x {:.6g}", std::min(p.east[a], p.east[b]) - std::max(p.west[a], p.west[b]),
                       std::min(p.north[a], p.north[b]) - std::max(p.south[a], p.south[b]),
                       std::min(p.top[a], p.top[b]) - std::max(p.bottom[a], p.bottom[b]));
  }

  const InputFile& m_file;
  const PrismsSpec& m_spec;
  RawPrisms& m_raw;
  ProblemList& m_problems;
  LimitedProblems m_limited;
};

constexpr std::int64_t prism_bytes = 7 * sizeof(double);
constexpr std::int64_t number_bytes = sizeof(std::int64_t);

/// What every rank knows of a list, whatever part of it it holds.
struct ListFacts {
  std::int64_t size = 0;
  Bounds bounds;
};

Bounds bounds_of(const PrismBlock& prisms) {
  constexpr double far = std::numeric_limits<double>::infinity();
  const auto least = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), far, [](double a, double b) { return std::min(a, b); });
  };
  const auto greatest = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), -far, [](double a, double b) { return std::max(a, b); });
  };
  return {least(prisms.west),     greatest(prisms.east), least(prisms.south),
          greatest(prisms.north), least(prisms.bottom),  greatest(prisms.top)};
}

/// Prisms held as they were listed, on several ranks each a range of them.
class ListedPrisms final : public Ensemble {
public:
  /// The prisms `held` of a list; `peak_bytes`: host memory that reading and checking took.
  ListedPrisms(PrismBlock prisms, IndexRange held, const ListFacts& facts, std::vector<std::string> warnings,
               std::int64_t peak_bytes)
      : m_prisms(std::move(prisms)), m_held(held), m_facts(facts) {
    m_warnings = std::move(warnings);
    for (auto* column : columns_of(m_prisms)) column->shrink_to_fit();
    m_peak_bytes = peak_bytes;
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return m_facts.size; }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_facts.bounds; }
  [[nodiscard]] IndexRange readable() const noexcept override { return m_held; }

  void hold(IndexRange range, const Communicator& communicator) override {
    if (communicator.size() == 1) return;
    m_peak_bytes = std::max(m_peak_bytes, memory_to_hold(range).during);
    const auto columns = columns_of(m_prisms);
    DistributedColumns distributed({columns.begin(), columns.end()}, m_held);
    distributed.hold(range, communicator);
    m_held = distributed.held();
  }

  [[nodiscard]] HoldMemory memory_to_hold(IndexRange range) const noexcept override {
    const std::int64_t now = memory_bytes();
    if (range == m_held) return {now, now};
    const std::int64_t after = static_cast<std::int64_t>(sizeof(*this)) + range.size() * prism_bytes;
    return {after, std::max(now, after) + range.size() * static_cast<std::int64_t>(sizeof(double))};
  }

  void read(IndexRange range, PrismBlock& out) const override {
    const auto [begin, end] = range;
    if (begin < end && (begin < m_held.begin || end > m_held.end)) {
      throw RunError(fmt::format("prisms [{}, {}) were asked of a rank that holds [{}, {})", begin, end, m_held.begin,
                                 m_held.end));
    }
    out.resize(end - begin);
    const std::array<const std::vector<double>*, 7> from = {&m_prisms.west,   &m_prisms.east,   &m_prisms.south,
                                                            &m_prisms.north,  &m_prisms.bottom, &m_prisms.top,
                                                            &m_prisms.density};
    const auto to = columns_of(out);
    for (std::size_t c = 0; c < 7 && begin < end; ++c) {
      std::copy_n(from[c]->begin() + (begin - m_held.begin), end - begin, to[c]->begin());
    }
  }

  [[nodiscard]] std::int64_t memory_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(*this)) + static_cast<std::int64_t>(m_prisms.west.capacity()) * prism_bytes;
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{} prism{}", size(), size() == 1 ? "" : "s");
  }

private:
  PrismBlock m_prisms;
  IndexRange m_held;
  ListFacts m_facts;
};

/// The whole list, read and checked by one rank.
std::unique_ptr<ListedPrisms> read_whole(const InputFile& file, const Case& run, const PrismsSpec& spec) {
  ProblemList problems;
  RawPrisms raw =
      is_array_file(file) ? read_arrays(file, spec, run.where("model.prisms.group")) : read_text(file, spec, problems);
  Validator validator(file, spec, raw, problems);
  add_warning(validator.check_each(), file, raw.is_text, raw.warnings);
  const std::int64_t search_bytes = spec.allow_overlap ? 0 : validator.check_overlaps();
  problems.throw_if_any();
  const std::int64_t n = raw.prisms.size();
  if (n == 0) throw file.error("holds no prism of more than zero size");
  const ListFacts facts{n, bounds_of(raw.prisms)};
  const std::int64_t peak =
      n * prism_bytes + static_cast<std::int64_t>(raw.numbers.capacity()) * number_bytes + search_bytes;
  return std::make_unique<ListedPrisms>(std::move(raw.prisms), IndexRange{0, n}, facts, std::move(raw.warnings), peak);
}

/// Tells every rank of the list that rank 0 alone holds. Collective.
std::unique_ptr<ListedPrisms> share(std::unique_ptr<ListedPrisms> list, const Communicator& communicator) {
  ListFacts facts;
  std::vector<std::string> warnings;
  if (list) {
    facts = {list->size(), list->bounds()};
    warnings = list->warnings();
  }
  broadcast(communicator, facts);
  broadcast(communicator, warnings);
  if (list) return list;
  return std::make_unique<ListedPrisms>(PrismBlock(), IndexRange(), facts, std::move(warnings), 0);
}

/// An HDF5 list read by all ranks together, each a part of it. Every step ends in the same answer on all ranks.
class CollectiveReader {
public:
  CollectiveReader(const InputFile& file, const Case& run, const PrismsSpec& spec, const Communicator& communicator)
      : m_file(file), m_run(run), m_spec(spec), m_communicator(communicator) {}

  /// nullptr on every rank when the file is no HDF5 file or holds a mistake: rank 0, reading it whole, then tells what
  /// it is.
  std::unique_ptr<ListedPrisms> read() {
    if (!hdf5_is_parallel() || !find_places() || !read_part() || !check_part()) return nullptr;
    std::vector<std::string> warnings;
    add_warning(zero_size_of_all(), m_file, false, warnings);
    return std::make_unique<ListedPrisms>(std::move(m_raw.prisms), m_held, m_facts, std::move(warnings), m_peak_bytes);
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
    return !m_communicator.any(failed);
  }

  bool find_places() {
    const bool found = all_did([&] {
      if (m_communicator.rank() != 0 || !is_array_file(m_file)) return;
      const ArrayFile arrays(m_file);
      ProblemList problems;
      if (arrays.is_hdf5()) {
        m_places = find_columns(arrays, m_file, m_spec, m_run.where("model.prisms.group"), problems);
      }
      problems.throw_if_any();
    });
    broadcast(m_communicator, m_places.length);
    broadcast(m_communicator, m_places.datasets);
    return found && m_places.length > 0;
  }

  bool read_part() {
    const IndexRange part = balanced_part(m_places.length, m_communicator.rank(), m_communicator.size());
    std::optional<Hdf5File> hdf5;
    if (!all_did([&] { hdf5 = Hdf5File::open(m_file.path, m_communicator); })) return false;
    const auto columns = columns_of(m_raw.prisms);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!all_did([&] { *columns[c] = hdf5->read(m_places.datasets[c], part); })) return false;
    }
    agree(m_communicator, [&] { m_raw.numbers = indices(part.begin, part.size()); });
    return true;
  }

  bool check_part() {
    ProblemList problems;
    agree(m_communicator, [&] { m_zero_size = Validator(m_file, m_spec, m_raw, problems).check_each(); });
    if (m_communicator.any(!problems.empty())) return false;
    m_peak_bytes = static_cast<std::int64_t>(m_raw.numbers.capacity()) * (prism_bytes + number_bytes);
    m_raw.numbers = std::vector<std::int64_t>();
    // prisms of zero size left out, the others are numbered on from rank to rank
    const std::vector<std::int64_t> kept = m_communicator.gather_everywhere(m_raw.prisms.size());
    const auto mine = kept.begin() + m_communicator.rank();
    m_held.begin = std::accumulate(kept.begin(), mine, std::int64_t{0});
    m_held.end = m_held.begin + *mine;
    m_facts.size = std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
    m_facts.bounds = bounds_of_all();
    return m_facts.size > 0 && (m_spec.allow_overlap || !overlap());
  }

  [[nodiscard]] Bounds bounds_of_all() const {
    const Bounds mine = bounds_of(m_raw.prisms);
    const auto least = [&](double value) {
      const std::vector<double> all = m_communicator.gather_everywhere(value);
      return *std::min_element(all.begin(), all.end());
    };
    const auto greatest = [&](double value) { return -least(-value); };
    Bounds all;
    all.west = least(mine.west);
    all.east = greatest(mine.east);
    all.south = least(mine.south);
    all.north = greatest(mine.north);
    all.bottom = least(mine.bottom);
    all.top = greatest(mine.top);
    return all;
  }

  /// True when any two prisms overlap, whichever ranks hold them: rank 0 looks at all boxes.
  bool overlap() {
    PrismBlock boxes;
    agree(m_communicator, [&] {
      boxes = m_raw.prisms;
      boxes.density = std::vector<double>();
    });
    DistributedColumns gathered({&boxes.west, &boxes.east, &boxes.south, &boxes.north, &boxes.bottom, &boxes.top},
                                m_held);
    const bool is_root = m_communicator.rank() == 0;
    gathered.hold({0, is_root ? m_facts.size : 0}, m_communicator);
    Overlaps overlaps;
    agree(m_communicator, [&] {
      if (is_root) overlaps = find_overlaps(boxes, overlap_tolerance, 1);
    });
    const std::int64_t mine = m_raw.prisms.size() * prism_bytes;
    const std::int64_t beside = is_root ? m_facts.size * prism_bytes + overlaps.memory_bytes : mine;
    m_peak_bytes = std::max(m_peak_bytes, mine + beside);
    return m_communicator.any(!overlaps.pairs.empty());
  }

  [[nodiscard]] ZeroSize zero_size_of_all() const {
    const std::vector<std::int64_t> counts = m_communicator.gather_everywhere(m_zero_size.count);
    const std::vector<std::int64_t> firsts = m_communicator.gather_everywhere(m_zero_size.first);
    ZeroSize all;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      if (all.count == 0) all.first = firsts[r];
      all.count += counts[r];
    }
    return all;
  }

  const InputFile& m_file;
  const Case& m_run;
  const PrismsSpec& m_spec;
  const Communicator& m_communicator;
  ColumnPlaces m_places;
  RawPrisms m_raw;
  ZeroSize m_zero_size;
  IndexRange m_held;
  ListFacts m_facts;
  std::int64_t m_peak_bytes = 0;
};

}  // namespace

std::unique_ptr<Ensemble> make_prisms(const Case& run, const PrismsSpec& spec) {
  return read_whole(input_file(run, spec.file, "model.prisms.file"), run, spec);
}

std::unique_ptr<Ensemble> make_prisms(const Case& run, const PrismsSpec& spec, const Communicator& communicator) {
  const InputFile file = input_file(run, spec.file, "model.prisms.file");
  std::unique_ptr<ListedPrisms> list;
  if (communicator.size() > 1) list = CollectiveReader(file, run, spec, communicator).read();
  if (list) return list;
  agree_on_input(communicator, [&] {
    if (communicator.rank() == 0) list = read_whole(file, run, spec);
  });
  return share(std::move(list), communicator);
}

}  // namespace prismfield
