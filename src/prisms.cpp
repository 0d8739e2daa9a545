// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "prisms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "human_text.hpp"
#include "input_file.hpp"
#include "limited_problems.hpp"
#include "overlaps.hpp"
#include "text_table.hpp"

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

RawPrisms read_arrays(const InputFile& file, const PrismsSpec& spec, const std::string& group_where) {
  const ArrayFile arrays(file);
  std::string group = spec.group;
  while (!group.empty() && group.back() == '/') group.pop_back();
  if (!group.empty() && group.front() != '/') group.insert(0, 1, '/');
  if (!arrays.has(group.empty() ? "/" : group)) {
    throw InputError(group_where, "model.prisms.group", fmt::format("'{}' has no group {}", file.path.string(), group));
  }

  ProblemList problems;
  RawPrisms raw;
  const auto columns = columns_of(raw.prisms);
  std::int64_t length = -1;
  std::string first_dataset;
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < columns.size(); ++c) {
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
      if (length < 0) {
        length = shape[0];
        first_dataset = dataset;
      }
      if (shape[0] != length) {
        throw file.error(fmt::format("has {} values in {} but {} in {}", shape[0], dataset, length, first_dataset));
      }
      *columns[c] = arrays.read(dataset);
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
  problems.throw_if_any();
  if (length == 0) throw file.error("holds no prisms");
  raw.numbers.resize(static_cast<std::size_t>(length));
  std::iota(raw.numbers.begin(), raw.numbers.end(), std::int64_t{0});
  return raw;
}

/// Checks prisms and turns them into metres, kg/m3 and z up.
class Validator {
public:
  Validator(const InputFile& file, const PrismsSpec& spec, RawPrisms& raw, ProblemList& problems)
      : m_file(file), m_spec(spec), m_raw(raw), m_problems(problems), m_limited(problems, file.path.string()) {}

  /// Leaves out prisms with a mistake and, with a warning, those of zero size.
  void check_each() {
    const auto columns = columns_of(m_raw.prisms);
    std::size_t kept = 0;
    std::int64_t zero_size = 0, first_zero = 0;
    for (std::size_t i = 0; i < m_raw.numbers.size(); ++i) {
      std::array<double, 7> prism{};
      for (std::size_t c = 0; c < 7; ++c) prism[c] = (*columns[c])[i];
      const std::int64_t number = m_raw.numbers[i];
      if (!is_finite(prism, number) || is_inverted(prism, number) || !convert(prism, number)) continue;
      if (prism[0] == prism[1] || prism[2] == prism[3] || prism[4] == prism[5]) {
        if (zero_size++ == 0) first_zero = number;
        continue;
      }
      for (std::size_t c = 0; c < 7; ++c) (*columns[c])[kept] = prism[c];
      m_raw.numbers[kept++] = number;
    }
    m_limited.finish();
    for (auto* column : columns) column->resize(kept);
    m_raw.numbers.resize(kept);
    if (zero_size > 0) {
      m_raw.warnings.push_back(fmt::format("{}: {} prism{} of zero size left out, {} {} {}", m_file.path.string(),
                                           zero_size, zero_size == 1 ? "" : "s", zero_size == 1 ? "at" : "the first at",
                                           m_raw.is_text ? "line" : "index", first_zero));
    }
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

/// Prisms held as they were listed.
class PrismList final : public Ensemble {
public:
  /// `search_bytes`: host memory that the search for overlaps took
  PrismList(RawPrisms raw, std::int64_t search_bytes) : m_prisms(std::move(raw.prisms)) {
    m_warnings = std::move(raw.warnings);
    for (auto* column : columns_of(m_prisms)) column->shrink_to_fit();
    const auto least = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
    const auto greatest = [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); };
    m_bounds = {least(m_prisms.west),     greatest(m_prisms.east), least(m_prisms.south),
                greatest(m_prisms.north), least(m_prisms.bottom),  greatest(m_prisms.top)};
    m_peak_bytes =
        memory_bytes() + static_cast<std::int64_t>(raw.numbers.capacity() * sizeof(std::int64_t)) + search_bytes;
  }

  [[nodiscard]] std::int64_t size() const noexcept override { return m_prisms.size(); }
  [[nodiscard]] Bounds bounds() const noexcept override { return m_bounds; }

  void read(std::int64_t begin, std::int64_t end, PrismBlock& out) const override {
    out.resize(end - begin);
    const std::array<const std::vector<double>*, 7> from = {&m_prisms.west,   &m_prisms.east,   &m_prisms.south,
                                                            &m_prisms.north,  &m_prisms.bottom, &m_prisms.top,
                                                            &m_prisms.density};
    const auto to = columns_of(out);
    for (std::size_t c = 0; c < 7; ++c) std::copy(from[c]->begin() + begin, from[c]->begin() + end, to[c]->begin());
  }

  [[nodiscard]] std::int64_t memory_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(*this) + 7 * m_prisms.west.capacity() * sizeof(double));
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("{} prism{}", size(), size() == 1 ? "" : "s");
  }

private:
  PrismBlock m_prisms;
  Bounds m_bounds;
};

}  // namespace

std::unique_ptr<Ensemble> make_prisms(const Case& run, const PrismsSpec& spec) {
  const InputFile file = input_file(run, spec.file, "model.prisms.file");
  ProblemList problems;
  RawPrisms raw =
      is_array_file(file) ? read_arrays(file, spec, run.where("model.prisms.group")) : read_text(file, spec, problems);
  Validator validator(file, spec, raw, problems);
  validator.check_each();
  const std::int64_t search_bytes = spec.allow_overlap ? 0 : validator.check_overlaps();
  problems.throw_if_any();
  if (raw.prisms.size() == 0) throw file.error("holds no prism of more than zero size");
  return std::make_unique<PrismList>(std::move(raw), search_bytes);
}

}  // namespace prismfield
