// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/netcdf_classic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/human_text.hpp"
#include "formats/hdf5_file.hpp"

namespace prismfield {
namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, Close>;

constexpr std::uint32_t dimension_tag = 10, variable_tag = 11, attribute_tag = 12;
constexpr std::uint32_t char_type = 2, float_type = 5, double_type = 6, first_unsigned_type = 7,
                        signed_64_bit_type = 10;

constexpr bool is_float(std::uint32_t type) noexcept { return type == float_type || type == double_type; }

/// Bytes of a value of each type: byte, char, short, int, float, double, and the unsigned and 64-bit ones of CDF-5.
constexpr std::array<std::uint32_t, 12> type_bytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

std::string bare(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

constexpr std::uint64_t padded(std::uint64_t bytes) noexcept { return (bytes + 3) / 4 * 4; }

/// An unsigned integer whose most significant byte comes first.
std::uint64_t big_endian(const unsigned char* bytes, std::uint32_t n) noexcept {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < n; ++i) value = value << 8 | bytes[i];
  return value;
}

double number(const unsigned char* bytes, std::uint32_t type) noexcept {
  const std::uint64_t bits = big_endian(bytes, type_bytes[type]);
  switch (type) {
    case 1: return static_cast<std::int8_t>(bits);
    case 3: return static_cast<std::int16_t>(bits);
    case 4: return static_cast<std::int32_t>(bits);
    case 5: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case 6: return std::bit_cast<double>(bits);
    case 10: return static_cast<double>(static_cast<std::int64_t>(bits));
    default: return static_cast<double>(bits);
  }
}

}  // namespace

/// Reads the header's items one after the other and never beyond the end of the file.
class NetcdfClassic::HeaderReader {
public:
  HeaderReader(NetcdfClassic& file, std::FILE* stream) : m_file(file), m_stream(stream) {}

  void read() {
    const std::string magic = bytes(4);
    m_version = static_cast<unsigned char>(magic[3]);
    if (magic.substr(0, 3) != "CDF" || (m_version != 1 && m_version != 2 && m_version != 5)) {
      m_file.fail("is no netCDF file of the classic formats");
    }
    // all ones: the writer did not know and the records go on to the end of the file
    const std::uint64_t records = count_word();
    const bool streaming = records == (m_version == 5 ? ~std::uint64_t{0} : 0xFFFFFFFFU);

    const std::uint64_t n_dimensions = list(dimension_tag);
    std::size_t record_dimension = std::numeric_limits<std::size_t>::max();
    for (std::uint64_t d = 0; d < n_dimensions; ++d) {
      std::string name = text();
      const std::uint64_t length = count();
      if (length == 0) {
        if (record_dimension < d) m_file.fail("is damaged: two dimensions have no length");
        record_dimension = d;
      }
      m_file.m_dimensions.push_back({std::move(name), static_cast<std::int64_t>(length)});
    }
    Variable of_the_file;
    attributes(of_the_file);
    read_variables(record_dimension);

    if (record_dimension < m_file.m_dimensions.size()) {
      std::uint64_t n = streaming ? 0 : records;
      if (streaming && m_file.m_record_bytes > 0 && m_first_record < m_file.m_file_bytes) {
        n = (m_file.m_file_bytes - m_first_record) / m_file.m_record_bytes;
      }
      if (n > m_file.m_file_bytes) m_file.fail("is damaged: it has fewer bytes than records");
      note_records_behind(n);
      m_file.m_dimensions[record_dimension].length = static_cast<std::int64_t>(n);
    }
    check_offsets();
  }

private:
  /// Notes whole records behind the n of the header.
  void note_records_behind(std::uint64_t n) {
    const std::uint64_t bytes = m_file.m_record_bytes;
    if (bytes == 0 || m_first_record > m_file.m_file_bytes) return;
    const std::uint64_t there = (m_file.m_file_bytes - m_first_record) / bytes;
    // less may be padding
    constexpr std::uint64_t word_bytes = 4;
    if (there <= n || (there - n) * bytes < word_bytes) return;
    m_file.m_doubt = fmt::format("its header states {}, and the file has bytes for {}: is it damaged?",
                                 counted(static_cast<std::int64_t>(n), "record"), there);
  }

  void read_variables(std::size_t record_dimension) {
    const std::uint64_t n_variables = list(variable_tag);
    std::uint64_t in_records = 0, last_unpadded = 0;
    for (std::uint64_t v = 0; v < n_variables; ++v) {
      const std::string name = text();
      Variable variable;
      for (std::uint64_t n = count(); n > 0; --n) {
        const std::uint64_t dimension = count_word();
        if (dimension >= m_file.m_dimensions.size())
          m_file.fail("is damaged: a variable has a dimension that is not there");
        // the length of another one is part of a record's size, and this one has none yet
        if (dimension == record_dimension && !variable.dimensions.empty()) {
          m_file.fail(fmt::format("is damaged: the record dimension {} is not the first of variable {}",
                                  shown(m_file.m_dimensions[dimension].name, longest_name), shown(name, longest_name)));
        }
        variable.dimensions.push_back(dimension);
      }
      attributes(variable);
      variable.type = type();
      const std::uint64_t stated = count_word();
      variable.begin = word(m_version == 1 ? 4 : 8);
      if (variable.begin % 4 != 0) {
        m_file.fail(fmt::format("is damaged: {} begins at byte {}, which is no multiple of 4",
                                shown(name, longest_name), variable.begin));
      }
      variable.in_records = !variable.dimensions.empty() && variable.dimensions.front() == record_dimension;
      variable.bytes = type_bytes[variable.type];
      for (std::size_t d = variable.in_records ? 1 : 0; d < variable.dimensions.size(); ++d) {
        const auto length = static_cast<std::uint64_t>(m_file.m_dimensions[variable.dimensions[d]].length);
        if (length > 0 && variable.bytes > m_file.m_file_bytes / length) m_file.fail("is cut short");
        variable.bytes *= length;
      }
      // writers may leave a wrong size of what needs more than 31 bits, and of records before the first
      constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
      if (stated != variable.bytes && stated != padded(variable.bytes) && variable.bytes <= most &&
          !(variable.in_records && stated == 0)) {
        m_file.fail(fmt::format("is damaged: {} takes {} by its dimensions, but {} by its size (vsize)",
                                shown(name, longest_name), counted(static_cast<std::int64_t>(variable.bytes), "byte"),
                                stated));
      }
      if (variable.in_records) {
        ++in_records;
        last_unpadded = variable.bytes;
        m_file.m_record_bytes += padded(variable.bytes);
        m_first_record = in_records == 1 ? variable.begin : std::min(m_first_record, variable.begin);
      }
      m_file.m_variables[name] = std::move(variable);
    }
    if (in_records == 1) m_file.m_record_bytes = last_unpadded;
  }

  /// Throws RunError where variables begin in the header or within one another.
  void check_offsets() const {
    struct Place {
      std::uint64_t begin, bytes;
      const std::string* name;
    };
    std::vector<Place> fixed, of_record;
    for (const auto& [name, variable] : m_file.m_variables) {
      if (variable.bytes > 0)
        (variable.in_records ? of_record : fixed).push_back({variable.begin, variable.bytes, &name});
    }
    // the first record is behind all variables that have none
    const auto by_begin = [](const Place& a, const Place& b) { return a.begin < b.begin; };
    std::sort(fixed.begin(), fixed.end(), by_begin);
    std::sort(of_record.begin(), of_record.end(), by_begin);
    fixed.insert(fixed.end(), of_record.begin(), of_record.end());
    const std::string header = "the header";
    Place before{0, m_read, &header};
    for (const Place& here : fixed) {
      if (here.begin < before.begin || here.begin - before.begin < before.bytes) {
        m_file.fail(fmt::format("is damaged: {} begins at byte {}, within {}, which has {} from byte {} on",
                                shown(*here.name, longest_name), here.begin, shown(*before.name, longest_name),
                                counted(static_cast<std::int64_t>(before.bytes), "byte"), before.begin));
      }
      before = here;
    }
    if (!of_record.empty() && before.begin - of_record.front().begin + before.bytes > m_file.m_record_bytes) {
      m_file.fail(fmt::format("is damaged: {} ends behind its record of {} bytes", shown(*before.name, longest_name),
                              m_file.m_record_bytes));
    }
  }

  void attributes(Variable& of) {
    Attributes& found = of.attributes;
    for (std::uint64_t n = list(attribute_tag); n > 0; --n) {
      const std::string name = text();
      const std::uint32_t kind = type();
      of.attribute_types.push_back(kind);
      const std::uint64_t values = count();
      const std::string content = bytes(padded(values * type_bytes[kind]));
      if (kind == char_type) {
        // up to a zero at the end, which some programs write
        found.emplace_back(name, content.substr(0, std::min<std::uint64_t>(values, content.find('\0'))));
        continue;
      }
      const auto* const first = reinterpret_cast<const unsigned char*>(content.data());
      std::vector<double> numbers(values);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(first + i * type_bytes[kind], kind);
      found.emplace_back(name, values == 1 ? AttributeValue(numbers.front()) : AttributeValue(std::move(numbers)));
    }
  }

  /// Number of items in a list, which begins with its tag or is absent.
  std::uint64_t list(std::uint32_t tag) {
    const std::uint64_t found = word(4);
    const std::uint64_t n = count();
    if (found != tag && (found != 0 || n != 0))
      m_file.fail("is damaged: its header is no list of dimensions, attributes and variables");
    return n;
  }

  std::uint32_t type() {
    const std::uint64_t kind = word(4);
    if (kind == 0 || kind >= type_bytes.size()) m_file.fail(fmt::format("has values of the unknown type {}", kind));
    return static_cast<std::uint32_t>(kind);
  }

  std::string text() {
    const std::uint64_t n = count();
    std::string name = bytes(padded(n));
    name.resize(n);
    return name;
  }

  std::uint64_t count_word() { return word(m_version == 5 ? 8 : 4); }

  /// The length of a dimension, or a number of things that take at least a byte of the file each.
  std::uint64_t count() {
    const std::uint64_t n = count_word();
    if (n > (std::uint64_t{1} << 60)) m_file.fail("is damaged: a count is too large");
    return n;
  }

  std::uint64_t word(std::uint32_t n) {
    const std::string content = bytes(n);
    return big_endian(reinterpret_cast<const unsigned char*>(content.data()), n);
  }

  std::string bytes(std::uint64_t n) {
    if (n > m_file.m_file_bytes - m_read) m_file.fail("is cut short in its header");
    std::string content(n, '\0');
    if (std::fread(content.data(), 1, n, m_stream) != n) m_file.fail("cannot be read");
    m_read += n;
    return content;
  }

  NetcdfClassic& m_file;
  std::FILE* m_stream;
  unsigned m_version = 0;
  std::uint64_t m_read = 0;
  std::uint64_t m_first_record = 0;
};

NetcdfClassic::NetcdfClassic(std::filesystem::path file) : m_path(std::move(file)) {
  std::error_code code;
  m_file_bytes = std::filesystem::file_size(m_path, code);
  const Stream stream(code ? nullptr : std::fopen(m_path.c_str(), "rb"));
  if (!stream) fail("cannot be read");
  HeaderReader(*this, stream.get()).read();
}

bool NetcdfClassic::has(const std::string& name) const { return name == "/" || m_variables.count(bare(name)) > 0; }

std::vector<std::string> NetcdfClassic::dataset_names(const std::string& /*group*/) const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : m_variables) names.push_back(name);
  return names;
}

std::vector<std::int64_t> NetcdfClassic::shape(const std::string& name) const {
  std::vector<std::int64_t> lengths;
  for (const std::size_t d : variable(name).dimensions) lengths.push_back(m_dimensions[d].length);
  return lengths;
}

std::vector<std::string> NetcdfClassic::dimension_names(const std::string& name) const {
  std::vector<std::string> names;
  for (const std::size_t d : variable(name).dimensions) names.push_back(m_dimensions[d].name);
  return names;
}

std::optional<StoredAttribute> NetcdfClassic::Variable::attribute(const std::string& name) const {
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].first == name) return StoredAttribute{attributes[i].second, is_float(attribute_types[i])};
  }
  return std::nullopt;
}

std::optional<std::string> NetcdfClassic::text_attribute(const std::string& name, const std::string& attribute) const {
  const std::optional<StoredAttribute> found = variable(name).attribute(attribute);
  const auto* const text = found ? std::get_if<std::string>(&found->value) : nullptr;
  return text == nullptr ? std::nullopt : std::optional(*text);
}

bool NetcdfClassic::has_attribute(const std::string& name, const std::string& attribute) const {
  return variable(name).attribute(attribute).has_value();
}

const std::vector<std::pair<std::string, AttributeValue>>& NetcdfClassic::attributes(const std::string& name) const {
  return variable(name).attributes;
}

std::vector<double> NetcdfClassic::read(const std::string& name) const {
  const Variable& v = variable(name);
  if (v.type == char_type) fail(fmt::format("holds text, not numbers, in {}", shown(name, longest_name)));
  const std::uint64_t slabs = v.in_records ? static_cast<std::uint64_t>(m_dimensions[v.dimensions[0]].length) : 1;
  const std::uint64_t step = v.in_records ? m_record_bytes : 0;
  const std::uint32_t size = type_bytes[v.type];
  // checked by division, as a damaged header may hold any numbers
  const std::uint64_t room = v.begin <= m_file_bytes ? m_file_bytes - v.begin : 0;
  if (slabs > 0 && (v.bytes > room || (step > 0 && (room - v.bytes) / step < slabs - 1))) {
    fail(fmt::format("is cut short: {} is not there in full", shown(name, longest_name)));
  }
  const Stream stream(std::fopen(m_path.c_str(), "rb"));
  if (!stream) fail("cannot be read");
  if (const std::string why = why_no_room(slabs * (v.bytes / size), sizeof(double)); !why.empty()) {
    fail(fmt::format("{}: {}", shown(name, longest_name), why));
  }
  std::vector<double> values;
  values.reserve(slabs * (v.bytes / size));
  std::vector<unsigned char> buffer;
  for (std::uint64_t slab = 0; slab < slabs; ++slab) {
    if (std::fseek(stream.get(), static_cast<long>(v.begin + slab * step), SEEK_SET) != 0) fail("cannot be read");
    for (std::uint64_t left = v.bytes; left > 0;) {
      buffer.resize(std::min<std::uint64_t>(left, std::uint64_t{1} << 20));
      if (std::fread(buffer.data(), 1, buffer.size(), stream.get()) != buffer.size()) fail("cannot be read");
      for (std::size_t at = 0; at < buffer.size(); at += size) values.push_back(number(buffer.data() + at, v.type));
      left -= buffer.size();
    }
  }
  const StoredType stored{is_float(v.type), v.type >= first_unsigned_type && v.type != signed_64_bit_type, size};
  const std::string wrong = unpack(values, stored, [&](const char* key) { return v.attribute(key); });
  if (!wrong.empty()) fail(fmt::format("{}: {}", shown(name, longest_name), wrong));
  return values;
}

void NetcdfClassic::fail(const std::string& what) const { throw RunError(m_path.string() + ": " + what); }

const NetcdfClassic::Variable& NetcdfClassic::variable(const std::string& name) const {
  const auto found = m_variables.find(bare(name));
  if (found == m_variables.end()) fail("there is no variable " + shown(name, longest_name));
  return found->second;
}

}  // namespace prismfield
