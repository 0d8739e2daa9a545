// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/prism_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <prismfield/error.hpp>

#include "io/prism_arrays.hpp"
#include "io/same_file.hpp"
#include "model/prism_check.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"
#include "parallel/distribution.hpp"

namespace prismfield {
namespace {

constexpr std::int64_t number_bytes = sizeof(std::int64_t);

/// A list in HDF5 that is read by all ranks together, each a part of it. Every step ends in the same answer on all
/// ranks.
class CollectiveReader {
public:
  CollectiveReader(const InputFile& file, const PrismsSpec& spec, const Communicator& communicator)
      : m_file(file), m_spec(spec), m_communicator(communicator) {}

  /// nullptr on every rank when the file is no HDF5 file or holds an error: rank 0, reading it whole, then tells what
  /// it is.
  std::unique_ptr<DistributedPrisms> read() {
    if (!hdf5_is_parallel() || !find_places()) return nullptr;
    check_same_file(m_file, m_communicator);
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
    return found && m_places.length > 0;
  }

  bool read_part() {
    const IndexRange part = balanced_part(m_places.length, m_communicator.rank(), m_communicator.size());
    std::optional<Hdf5File> hdf5;
    const FileStamp before(m_file.path);
    if (!all_did([&] { hdf5 = Hdf5File::open(m_file.path, m_communicator); })) return false;
    const auto columns = columns_of(m_raw.prisms);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!all_did([&] { *columns[c] = hdf5->read(m_places.datasets[c], part); })) return false;
    }
    if (!all_did([&] { check_unchanged(m_file, before, FileStamp(m_file.path)); })) return false;
    agree(m_communicator, [&] { m_raw.numbers = prism_indices(part.begin, part.size()); });
    return true;
  }

  bool check_part() {
    ProblemList problems;
    agree(m_communicator, [&] { m_zero_size = PrismCheck(m_raw, m_spec, m_names, problems).check_each(); });
    if (any(m_communicator, !problems.empty())) return false;
    m_peak_bytes = static_cast<std::int64_t>(m_raw.numbers.capacity()) * (prism_bytes + number_bytes);
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
    const Bounds mine = bounds_of(m_raw.prisms);
    const Range densities = densities_of(m_raw.prisms);
    const auto least = [&](double value) {
      const std::vector<double> all = gather_everywhere(m_communicator, value);
      return *std::min_element(all.begin(), all.end());
    };
    const auto greatest = [&](double value) { return -least(-value); };
    Bounds& all = m_facts.bounds;
    all.west = least(mine.west);
    all.east = greatest(mine.east);
    all.south = least(mine.south);
    all.north = greatest(mine.north);
    all.bottom = least(mine.bottom);
    all.top = greatest(mine.top);
    m_facts.densities.min = least(densities.min);
    m_facts.densities.max = greatest(densities.max);
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

std::unique_ptr<DistributedPrisms> read_prisms_together(const InputFile& file, const PrismsSpec& spec,
                                                        const Communicator& communicator) {
  return CollectiveReader(file, spec, communicator).read();
}

}  // namespace prismfield
