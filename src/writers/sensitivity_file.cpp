// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "writers/sensitivity_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/checksum.hpp"
#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/number_text.hpp"
#include "base/temporary_file.hpp"
#include "formats/cf_attributes.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/output_file.hpp"
#include "formats/text_lines.hpp"
#include "model/choices.hpp"
#include "parallel/agreement.hpp"
#include "parallel/collectives.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;
using Type = NumberPlace::Type;

constexpr const char* file_key = "sensitivity.file";
constexpr const char* file_remedy = "delete it, or give sensitivity.file another name";
constexpr const char* checksums_name = "row_checksums";

/// What is kept of a row's checksum.
std::int64_t checksum_of_row(const void* row, std::size_t bytes) {
  return std::bit_cast<std::int64_t>(digest_of(row, bytes).low);
}

/// Field number `index` of the list.
const FieldInfo& info_of(FieldList fields, std::int64_t index) {
  for (const FieldInfo& field : fields) {
    if (index-- == 0) return field;
  }
  throw RunError("there is no such field among the sensitivities");
}

/// The checksum of what add(checksum) adds.
template <class Add>
std::string hash_by(const Add& add) {
  Checksum checksum;
  add(checksum);
  return hex(checksum.digest());
}

std::string hash_of_values(const std::vector<double>& values) {
  return hash_by([&](Checksum& checksum) { checksum.add(values); });
}

std::string hash_of_cells(const ActiveCells& cells) {
  return hash_by([&](Checksum& checksum) {
    for (const std::vector<double>& edges : cells.edges()) checksum.add(edges);
    for (const double rounding : cells.rounding()) checksum.add(rounding);
    checksum.add(cells.size());
    for (std::int64_t j = 0; cells.size() < cells.total() && j < cells.size(); ++j) checksum.add(cells.cell(j));
  });
}

std::string hash_of_points(const PointColumns& points) {
  return hash_by([&](Checksum& checksum) {
    for (const auto column : {points.easting, points.northing, points.upward}) checksum.add(column);
    for (const double rounding : points.rounding) checksum.add(rounding);
  });
}

/// A line a word; what the hash is of.
std::string text_of(const SensitivityIdentity& identity) {
  std::string text;
  for (const auto& [name, value] : identity) text += fmt::format("{}: {}\n", name, value);
  return text;
}

SensitivityIdentity parsed(std::string_view text) {
  SensitivityIdentity identity;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = std::min(line.find(": "), line.size());
    identity.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return identity;
}

constexpr const char* field_name = "inducing field";

/// The components of an inducing field, T, as users write it; the text where it holds no such.
std::string field_text(const std::string& text) {
  std::array<double, 3> field{};
  std::string_view rest = text;
  for (double& component : field) {
    if (parse_number(take_word(rest, " "), component) != NumberStatus::ok) return text;
  }
  return inducing_field_text(inducing_field_of(field));
}

/// What two identities differ in, in words; of checksums the names alone.
std::vector<std::string> differences(const SensitivityIdentity& wanted, const SensitivityIdentity& found) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : wanted) {
    const auto other =
        std::find_if(found.begin(), found.end(), [&, &of = name](const auto& part) { return part.first == of; });
    if (other != found.end() && other->second == value) continue;
    constexpr std::size_t checksum = 32, most = 200;
    const bool tells = other != found.end() && value.size() != checksum;
    const auto written = [&, &of = name](const std::string& text) {
      return of == field_name ? field_text(text) : text;
    };
    texts.push_back(tells ? fmt::format("{} ('{}', here {})", name, shown(written(other->second), most), written(value))
                          : name);
  }
  return texts;
}

/// How an unknown and the fields of one of it are written.
struct UnknownText {
  const char *many, *unit, *per, *one, *of_cells;
};
UnknownText text_of(Unknown unknown) {
  switch (unknown) {
    case Unknown::susceptibility:
      return {"susceptibilities", "1", "", "a susceptibility of 1 (SI)", "susceptibility of each cell"};
    case Unknown::magnetization:
      return {"magnetisations", "A m-1", " m A-1", "1 A/m",
              "magnetisation of each cell: blocks easting, northing, upward"};
    case Unknown::density: break;
  }
  return {"densities", "kg m-3", " m3 kg-1", "1 kg/m3", "density of each cell"};
}
/// The dimension of G's columns.
const char* columns_name(Unknown unknown) { return unknown == Unknown::magnetization ? "column" : "cell"; }

Type type_of(StoredPrecision precision) {
  if (precision == StoredPrecision::double_) return Type::double_;
  if (precision == StoredPrecision::float_) return Type::float_;
  throw InputError("", "sensitivity.precision",
                   "is float16, which files do not hold; write float or double, or leave sensitivity.file out");
}

void write_points_of(Hdf5File& file, const PointColumns& points) {
  constexpr Coordinate upward{"upward", "height of the observation points, positive upwards", "", "Z", true};
  file.make_dimension_without_values("point", points.size());
  for (const auto& [coordinate, values] :
       {std::pair{&easting_coordinate, &points.easting}, std::pair{&northing_coordinate, &points.northing},
        std::pair{&upward, &points.upward}}) {
    file.write(coordinate->name, {points.size()}, values->data());
    file.attach_dimensions(coordinate->name, {"point"});
    describe_coordinate(file, "", *coordinate);
  }
}

void write_cells_of(Hdf5File& file, const SensitivityHeader& header) {
  const ActiveCells& cells = *header.cells;
  constexpr std::array<const char*, 3> names = {"easting_edges", "northing_edges", "upward_edges"};
  for (std::size_t d = 0; d < names.size(); ++d) {
    const std::vector<double>& edges = cells.edges()[d];
    file.write(names[d], {static_cast<std::int64_t>(edges.size())}, edges.data());
    file.make_dimension(names[d]);
    file.write_attribute(names[d], "units", "m");
    file.write_attribute(names[d], "long_name", std::string("edges of the cells: ") + names[d]);
  }
  const char* const dimension = columns_name(header.unknown);
  file.make_dimension_without_values(dimension, header.columns());
  const std::vector<std::int64_t> of_block = cells.cells();
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 0; k < header.blocks(); ++k) {
    numbers.insert(numbers.end(), of_block.begin(), of_block.end());
  }
  write_list(file, "cell_number", dimension, numbers, "",
             "number of the cell in the box, easting fastest, then northing, then upward");
  if (header.model.empty()) return;
  const UnknownText text = text_of(header.unknown);
  write_list(file, "model", dimension, header.model, text.unit, text.of_cells);
  file.write_attribute("model", "hash", hash_of_values(header.model));
}

/// Where rows and their checksums go.
struct Places {
  NumberPlace rows, checksums;
  std::int64_t file_bytes = 0;
};

/// Writes everything but the rows.
Places write_frame(const PositionedFile& out, const fs::path& target, const SensitivityHeader& header,
                   const RowFile& rows) {
  const FieldList fields = rows.request.fields;
  const std::int64_t n_fields = fields.size(), n_points = rows.points.size(), columns = header.columns();
  const UnknownText text = text_of(header.unknown);
  Hdf5File file =
      Hdf5File::create_with_room(target, sensitivity_file_bytes(n_fields, n_points, columns, rows.precision));
  write_header(file, header);
  const SensitivityIdentity identity = identity_of(header, rows);
  const std::string names = fmt::format("{}", fmt::join(names_of(fields), " "));
  std::vector<std::string> units;
  for (std::int64_t f = 0; f < n_fields; ++f) units.push_back(fmt::format("{}{}", info_of(fields, f).unit, text.per));
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"fields", names},
                                    {"unknown", name(header.unknown)},
                                    {"hash", hash_of(identity)},
                                    {"depends_on", text_of(identity)}}) {
    file.write_attribute("/", name, value);
  }
  if (header.unknown == Unknown::density) {
    file.write_attribute("/", "gravitational_constant", rows.request.gravitational_constant);
  } else {
    write_magnetic(file, rows.request.magnetic);
  }
  write_points_of(file, rows.points);
  write_cells_of(file, header);
  file.make_dimension_without_values("field", n_fields);
  Places places;
  places.rows = file.reserve("G", {n_fields, n_points, columns}, type_of(rows.precision));
  file.attach_dimensions("G", {"field", "point", columns_name(header.unknown)});
  file.write_attribute("G", "fields", names);
  file.write_attribute("G", "axes", name(header.axes));
  file.write_attribute("G", "units", fmt::format("{}", fmt::join(units, ", ")));
  file.write_attribute("G", "long_name", fmt::format("field at a point for {} in a cell", text.one));
  file.write_attribute("G", "coordinates", "easting northing upward");
  refer_to_crs(file, "G");
  places.checksums = file.reserve(checksums_name, {n_fields, n_points}, Type::integer);
  file.attach_dimensions(checksums_name, {"field", "point"});
  file.write_attribute(checksums_name, "long_name", "XXH3 of the bytes of each row of G, the lower 64 bits");
  file.make_group("/performance");
  write_machine(file, "/performance", header.program, header.use);
  places.file_bytes =
      file.write_around([&](std::int64_t offset, const void* bytes, std::size_t n) { out.write_at(offset, bytes, n); });
  out.resize(places.file_bytes);
  return places;
}

constexpr const char* they_are = "the sensitivities are";

/// Throws RunError where a file of this size cannot be there.
void check_target(const fs::path& target, std::int64_t bytes) {
  if (std::error_code error; fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    throw RunError(target.string() + ": it is not a regular file");
  }
  const std::optional<std::int64_t> room = free_bytes(folder_of(target));
  if (!room || *room >= bytes) return;
  throw RunError(
      fmt::format("{}: they take {}, and the disk has {} free; make room, name a folder on another disk "
                  "or take precision: float",
                  target.string(), size_text(bytes), size_text(*room)));
}

class FileSink final : public RowSink {
public:
  FileSink(const SensitivityHeader& header, const RowFile& rows, const Communicator& ranks)
      : m_ranks(ranks),
        m_fields(rows.request.fields),
        m_axes(header.axes),
        m_n_points(rows.points.size()),
        m_columns(header.columns()),
        m_target(followed(rows.file)) {
    std::string name;
    agree(m_ranks, [&] {
      if (m_ranks.rank() != 0) return;
      telling(m_target, they_are, [&] {
        check_target(m_target, sensitivity_file_bytes(m_fields.size(), m_n_points, m_columns, rows.precision));
        m_temporary = std::make_unique<TemporaryFile>(m_target);
        m_out = std::make_unique<PositionedFile>(m_temporary->name(), PositionedFile::Access::write, m_target);
        m_places = write_frame(*m_out, m_target, header, rows);
      });
      name = m_temporary->name().string();
    });
    broadcast(m_ranks, name);
    broadcast(m_ranks, m_places);
    agree(m_ranks, [&] {
      if (m_out) return;
      telling(m_target, they_are,
              [&] { m_out = std::make_unique<PositionedFile>(name, PositionedFile::Access::write, m_target); });
    });
  }

  void write(std::int64_t field, IndexRange points, std::span<const double> entries) override {
    const bool fits = points.begin >= 0 && points.end <= m_n_points &&
                      static_cast<std::int64_t>(entries.size()) == points.size() * m_columns;
    if (!fits) throw RunError("sensitivities of another shape than their file's were to be written");
    telling(m_target, they_are, [&] {
      if (m_places.rows.type == Type::float_) {
        write_as<float>(field, points, entries);
      } else {
        write_as<double>(field, points, entries);
      }
    });
  }

  void complete() override {
    agree(m_ranks, [&] { telling(m_target, they_are, [&] { m_out->sync(); }); });
    agree(m_ranks, [&] {
      if (m_ranks.rank() == 0) telling(m_target, they_are, [&] { m_temporary->move_to_target(); });
    });
  }

private:
  template <class Real>
  void write_as(std::int64_t field, IndexRange points, std::span<const double> entries) {
    const double factor = output_factor(info_of(m_fields, field).field, m_axes);
    const auto columns = static_cast<std::size_t>(m_columns);
    constexpr std::size_t most_bytes = std::size_t{4} << 20;
    const std::int64_t at_once = std::max<std::int64_t>(
        static_cast<std::int64_t>(most_bytes / std::max<std::size_t>(columns * sizeof(Real), 1)), 1);
    std::vector<Real> values;
    std::vector<std::int64_t> checksums;
    for (std::int64_t first = points.begin; first < points.end; first += at_once) {
      const auto n = static_cast<std::size_t>(std::min(points.end - first, at_once));
      const auto from = entries.subspan(static_cast<std::size_t>(first - points.begin) * columns, n * columns);
      values.resize(n * columns);
      std::transform(from.begin(), from.end(), values.begin(), [=](double x) { return static_cast<Real>(x * factor); });
      const std::int64_t row = field * m_n_points + first;
      const std::size_t row_bytes = columns * sizeof(Real);
      m_out->write_at(m_places.rows.offset + row * static_cast<std::int64_t>(row_bytes), values.data(), n * row_bytes);
      checksums.resize(n);
      for (std::size_t i = 0; i < n; ++i) checksums[i] = checksum_of_row(values.data() + i * columns, row_bytes);
      m_out->write_at(m_places.checksums.offset + row * std::int64_t{sizeof(std::int64_t)}, checksums.data(),
                      n * sizeof(std::int64_t));
    }
  }

  const Communicator& m_ranks;
  FieldList m_fields;
  Axes m_axes;
  std::int64_t m_n_points, m_columns;
  fs::path m_target;
  /// on rank 0
  std::unique_ptr<TemporaryFile> m_temporary;
  std::unique_ptr<PositionedFile> m_out;
  Places m_places;
};

class FileSource final : public RowSource {
public:
  FileSource(const RowFile& rows, Axes axes, std::int64_t columns, const NumberPlace& place,
             std::vector<std::int64_t> checksums)
      : m_file(rows.file, PositionedFile::Access::read, rows.file),
        m_name(rows.file.string()),
        m_fields(rows.request.fields),
        m_axes(axes),
        m_precision(rows.precision),
        m_n_points(rows.points.size()),
        m_columns(columns),
        m_place(place),
        m_checksums(std::move(checksums)) {}

  [[nodiscard]] StoredPrecision precision() const noexcept override { return m_precision; }
  [[nodiscard]] std::int64_t columns() const noexcept override { return m_columns; }
  [[nodiscard]] std::int64_t bytes() const noexcept override { return m_place.bytes; }
  [[nodiscard]] double to_si(std::int64_t field) const noexcept override {
    return 1 / output_factor(info_of(m_fields, field).field, m_axes);
  }
  void read(std::int64_t field, IndexRange points, std::span<std::byte> to) const override {
    const std::int64_t row_bytes = m_columns * bytes_of(m_place.type);
    const bool fits = points.begin >= 0 && points.end <= m_n_points && field >= 0 && field < m_fields.size() &&
                      static_cast<std::int64_t>(to.size()) == points.size() * row_bytes;
    if (!fits) throw RunError("sensitivities of another shape than their file's were asked for");
    const std::int64_t first = field * m_n_points + points.begin;
    m_file.read_at(m_place.offset + first * row_bytes, to.data(), to.size());
    for (std::int64_t i = 0; i < points.size(); ++i) {
      const std::byte* const row = to.data() + i * row_bytes;
      if (checksum_of_row(row, static_cast<std::size_t>(row_bytes)) == m_checksums[static_cast<std::size_t>(first + i)])
        continue;
      throw RunError(fmt::format(
          "{}: the row of {} at point {} is not what was written (checksum); delete the file, and it is made again",
          m_name, info_of(m_fields, field).name, points.begin + i));
    }
  }

private:
  PositionedFile m_file;
  std::string m_name;
  FieldList m_fields;
  Axes m_axes;
  StoredPrecision m_precision;
  std::int64_t m_n_points, m_columns;
  NumberPlace m_place;
  std::vector<std::int64_t> m_checksums;
};

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw InputError("", file_key, fmt::format("{} {}; {}", file.string(), what, file_remedy));
}

/// A file of what is asked for. Throws InputError for one of anything else, RunError.
Hdf5File opened(const fs::path& file, const SensitivityIdentity& identity) {
  Hdf5File content = Hdf5File::open(file);
  const bool is_ours = content.has("G") && content.has(checksums_name) && content.has_attribute("/", "hash") &&
                       content.has_attribute("/", "depends_on");
  if (!is_ours) refuse(file, "is no file of sensitivities");
  const std::string text = content.read_text_attribute("/", "depends_on");
  const SensitivityIdentity found = parsed(text);
  if (content.read_text_attribute("/", "hash") != hash_of(found) || text_of(found) != text) {
    refuse(file, "is damaged: its hash is not that of what it says G depends on");
  }
  const std::vector<std::string> others = differences(identity, found);
  if (others.empty() && found.size() == identity.size()) return content;
  refuse(file, fmt::format("was made for another case{}{}",
                           others.empty() ? "" : "; what differs: ", fmt::join(others, ", ")));
}

}  // namespace

SensitivityIdentity identity_of(const SensitivityHeader& header, const RowFile& rows) {
  const Request& request = rows.request;
  // this version sums every pair whatever is asked for
  const Method method = request.execution.method == Method::automatic ? Method::direct : request.execution.method;
  SensitivityIdentity identity = {{"version of the format", "1"},
                                  {"fields", fmt::format("{}", fmt::join(names_of(request.fields), " "))},
                                  {"axes", name(header.axes)}};
  if (header.unknown == Unknown::density) {
    identity.emplace_back("gravitational constant", fmt::format("{}", request.gravitational_constant));
  } else {
    const Magnetic& magnetic = request.magnetic;
    identity.emplace_back("unknown", name(header.unknown));
    identity.emplace_back(field_name, fmt::format("{}", fmt::join(magnetic.inducing_field, " ")));
    identity.emplace_back("magnetic.inside", name(magnetic.inside));
    identity.emplace_back("vacuum permeability", fmt::format("{}", magnetic.vacuum_permeability));
  }
  const SensitivityIdentity others = {{"cells", hash_of_cells(*header.cells)},
                                      {"points", hash_of_points(rows.points)},
                                      {"sensitivity.precision", name(rows.precision)},
                                      {"execution.precision", name(request.execution.precision)},
                                      {"execution.kernel", name(request.execution.kernel)},
                                      {"execution.method", name(method)}};
  identity.insert(identity.end(), others.begin(), others.end());
  return identity;
}

std::string hash_of(const SensitivityIdentity& identity) {
  const std::string text = text_of(identity);
  return hex(digest_of(text.data(), text.size()));
}

std::int64_t sensitivity_file_bytes(std::int64_t n_fields, std::int64_t n_points, std::int64_t columns,
                                    StoredPrecision precision) {
  const std::int64_t bytes = bytes_of(precision == StoredPrecision::double_ ? Type::double_ : Type::float_);
  constexpr std::int64_t others = 200'000;
  return n_fields * n_points * (columns * bytes + 8) + 3 * 8 * n_points + 3 * 8 * columns + others;
}

std::unique_ptr<RowSource> open_sensitivity_file(const RowFile& rows, std::int64_t columns, Axes axes,
                                                 const SensitivityIdentity& identity, std::string& model_hash) {
  const Type type = type_of(rows.precision);
  const std::int64_t n_fields = rows.request.fields.size(), n_points = rows.points.size();
  NumberPlace place;
  std::vector<std::int64_t> checksums;
  try {
    const Hdf5File content = opened(rows.file, identity);
    place = content.place("G");
    const bool fits = content.shape("G") == std::vector<std::int64_t>{n_fields, n_points, columns} &&
                      content.shape(checksums_name) == std::vector<std::int64_t>{n_fields, n_points} &&
                      place.type == type;
    if (!fits) refuse(rows.file, "is damaged: G has another shape or type than the file says");
    checksums = content.read_integers(checksums_name);
    model_hash = content.text_attribute("model", "hash").value_or("");
    return std::make_unique<FileSource>(rows, axes, columns, place, std::move(checksums));
  } catch (const RunError& error) {
    throw InputError("", file_key, fmt::format("{}; {}", error.what(), file_remedy));
  }
}

std::unique_ptr<RowSource> SensitivityFiles::open(const RowFile& rows) {
  std::unique_ptr<RowSource> source;
  std::string model_hash;
  bool is_there = false;
  agree_on_input(m_ranks, [&] {
    std::error_code error;
    is_there = fs::exists(rows.file, error);
    if (!is_there) return;
    source = open_sensitivity_file(rows, m_header.columns(), m_header.axes, identity_of(m_header, rows), model_hash);
  });
  const bool everywhere = !any(m_ranks, !is_there);
  if (any(m_ranks, is_there) && !everywhere) {
    throw InputError("", file_key,
                     rows.file.string() + " is not there for all ranks; it has to be in a folder that all nodes share");
  }
  if (source && !m_header.model.empty() && model_hash != hash_of_values(m_header.model)) {
    m_warnings.push_back(fmt::format(
        "{}: its dataset model does not hold the {} of this case, G is that of this case; delete the file to "
        "have both",
        rows.file.string(), text_of(m_header.unknown).many));
  }
  return source;
}

void SensitivityFiles::check_place(const RowFile& rows) const {
  agree_on_input(m_ranks, [&] {
    static_cast<void>(type_of(rows.precision));
    std::error_code error;
    if (m_ranks.rank() != 0 || !fs::exists(rows.file, error)) return;
    try {
      static_cast<void>(opened(rows.file, identity_of(m_header, rows)));
    } catch (const RunError& why) {
      throw InputError("", file_key, fmt::format("{}; {}", why.what(), file_remedy));
    }
  });
}

std::unique_ptr<RowSink> SensitivityFiles::create(const RowFile& rows) {
  check_place(rows);
  return std::make_unique<FileSink>(m_header, rows, m_ranks);
}

}  // namespace prismfield
