// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "formats/hdf5_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <ios>
#include <limits>
#include <system_error>

#include <prismfield/error.hpp>

#include "base/checksum.hpp"
#include "base/crash_guard.hpp"
#include "base/disk.hpp"
#include "base/human_text.hpp"
#include "base/machine.hpp"
#include "base/version.hpp"

namespace prismfield {
namespace {

constexpr std::string_view seal_mark = "prismfield seal\n";
constexpr std::int64_t number_bytes = sizeof(std::int64_t), pair_bytes = 2 * number_bytes;
/// pairs, their number, the length without the seal, the digest, the mark
constexpr std::int64_t bytes_without_pairs =
    2 * number_bytes + std::int64_t{sizeof(Digest)} + std::int64_t{seal_mark.size()};
constexpr std::int64_t most_pairs = 16;

template <class Value>
void append(std::string& to, const Value& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// What follows the last byte of an HDF5 file that this program wrote: a checksum, XXH3, of the whole file. By it a
/// reader knows that a byte has changed before HDF5 parses any, whatever the byte belongs to: values, names, units or
/// the index of the chunks. HDF5 reads past it, and cuts it off when it changes the file. Its numbers are in this
/// machine's order of bytes.
class FileSeal {
public:
  /// Bytes that follow those added before.
  void add(const void* bytes, std::size_t n) noexcept {
    m_checksum.add_bytes(bytes, n);
    m_length += static_cast<std::int64_t>(n);
  }
  /// Bytes that follow too, but are written by others and have checksums of their own.
  void leave_out(std::int64_t n) {
    m_left_out.insert(m_left_out.end(), {m_length, n});
    m_length += n;
  }
  /// What is to be written after all that was added.
  [[nodiscard]] std::string bytes() {
    std::string seal;
    for (const std::int64_t number : m_left_out) append(seal, number);
    append(seal, static_cast<std::int64_t>(m_left_out.size() / 2));
    append(seal, m_length);
    m_checksum.add_bytes(seal.data(), seal.size());
    append(seal, m_checksum.digest());
    return seal.append(seal_mark);
  }

private:
  Checksum m_checksum;
  std::int64_t m_length = 0;
  /// pairs of offset and length
  std::vector<std::int64_t> m_left_out;
};

/// The seal that belongs to `file`, of `length` bytes before it, in which the pairs are left out.
std::string expected_seal(std::ifstream& in, std::int64_t length, const std::vector<std::int64_t>& pairs) {
  FileSeal seal;
  std::vector<char> piece(std::size_t{1} << 20);
  std::int64_t at = 0;
  in.clear();
  in.seekg(0);
  const auto add_until = [&](std::int64_t end) {
    while (at < end && in) {
      in.read(piece.data(), std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), end - at));
      seal.add(piece.data(), static_cast<std::size_t>(in.gcount()));
      at += in.gcount();
    }
  };
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] < at || pairs[i] > length || pairs[i + 1] < 0 || pairs[i + 1] > length - pairs[i]) return {};
    add_until(pairs[i]);
    seal.leave_out(pairs[i + 1]);
    at += pairs[i + 1];
    in.seekg(at);
  }
  add_until(length);
  return seal.bytes();
}

/// Throws RunError where a file has a seal that is not that of its bytes.
void check_seal(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::int64_t size = in.seekg(0, std::ios::end).tellg();
  std::string found(static_cast<std::size_t>(bytes_without_pairs), '\0');
  if (!in.seekg(size - bytes_without_pairs).read(found.data(), bytes_without_pairs)) return;
  if (!found.ends_with(seal_mark)) return;
  std::int64_t n_pairs = 0;
  found.copy(reinterpret_cast<char*>(&n_pairs), sizeof n_pairs);
  if (n_pairs >= 0 && n_pairs <= most_pairs && size >= bytes_without_pairs + n_pairs * pair_bytes) {
    std::vector<std::int64_t> pairs(static_cast<std::size_t>(2 * n_pairs));
    size -= bytes_without_pairs + n_pairs * pair_bytes;
    in.seekg(size).read(reinterpret_cast<char*>(pairs.data()), n_pairs * pair_bytes);
    found.insert(0, reinterpret_cast<const char*>(pairs.data()), static_cast<std::size_t>(n_pairs * pair_bytes));
    if (in && expected_seal(in, size, pairs) == found) return;
  }
  throw RunError(file.string() +
                 ": its bytes are not those that were written (checksum); take the file from a copy or make it again");
}

}  // namespace

std::string why_no_room(std::uint64_t count, std::size_t bytes) {
  const auto memory = static_cast<std::uint64_t>(available_memory());
  if (memory == 0 || count <= memory / bytes) return "";
  return fmt::format(
      "its {} values do not fit into memory, of which {} is free; use a smaller file or a machine with more", count,
      size_text(static_cast<std::int64_t>(memory)));
}

namespace {

/// The most useful line of HDF5's error stack: the system's message for a failed system call, otherwise the innermost
/// description.
std::string hdf5_reason() {
  struct Found {
    std::string innermost;
    std::string system;
  } found;
  const auto visit = [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
    auto& out = *static_cast<Found*>(data);
    const std::string text = entry->desc != nullptr ? entry->desc : "";
    if (out.innermost.empty()) out.innermost = text;
    const std::string mark = "error message = '";
    const auto at = text.find(mark);
    if (at != std::string::npos && out.system.empty()) {
      const auto begin = at + mark.size();
      out.system = text.substr(begin, text.find('\'', begin) - begin);
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &found);
  H5Eclear2(H5E_DEFAULT);
  if (!found.system.empty()) return found.system;
  if (found.innermost.find("Fletcher32") != std::string::npos) {
    return "its bytes are not those that were written (checksum); take the file from a copy or make it again";
  }
  return found.innermost.empty() ? "HDF5 gives no reason" : found.innermost;
}

/// What a call works on, for its message.
struct Subject {
  const std::filesystem::path& file;
  std::string object;
};

[[noreturn]] void fail(const Subject& subject, const std::string& what) {
  throw RunError(subject.file.string() + ": " + (subject.object.empty() ? "" : shown(subject.object) + ": ") + what);
}

/// The one place that every HDF5 call passes: its status, or a RunError that says what could not be done and why.
template <class Status>
Status checked(Status status, const Subject& subject, const char* doing) {
  if (status < 0) fail(subject, std::string("cannot ") + doing + ": " + hdf5_reason());
  return status;
}

/// An HDF5 identifier that closes itself.
class Handle {
public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) noexcept : m_id(id), m_close(close) {}
  Handle(Handle&& other) noexcept : m_id(std::exchange(other.m_id, H5I_INVALID_HID)), m_close(other.m_close) {}
  ~Handle() {
    if (m_id >= 0 && m_close(m_id) < 0) H5Eclear2(H5E_DEFAULT);
  }
  [[nodiscard]] hid_t id() const noexcept { return m_id; }
  [[nodiscard]] hid_t release() noexcept { return std::exchange(m_id, H5I_INVALID_HID); }

private:
  hid_t m_id;
  Close m_close;
};

/// A dataset, or an attribute, with its type and shape.
struct Opened {
  Handle object, type, space;
  Subject about;
  bool is_attribute = false;

  void read(hid_t memory_type, void* to, const char* doing = "read") const {
    if (!is_attribute) {
      checked(H5Dread(object.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), about, doing);
      return;
    }
    // a damaged heap of values of varying length can be a ring
    const LoopGuard guard;
    checked(H5Aread(object.id(), memory_type, to), about, doing);
  }
  [[nodiscard]] std::size_t value_bytes() const { return H5Tget_size(type.id()); }
  [[nodiscard]] bool is_text() const { return H5Tget_class(type.id()) == H5T_STRING; }

  [[nodiscard]] std::vector<hsize_t> sizes() const {
    std::vector<hsize_t> found(
        static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space.id()), about, "read the shape")));
    checked(H5Sget_simple_extent_dims(space.id(), found.data(), nullptr), about, "read the shape");
    return found;
  }

  /// HDF5's own product wraps round.
  [[nodiscard]] std::size_t value_count() const {
    if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return 0;
    constexpr std::uint64_t most = std::uint64_t{1} << 60;
    const std::vector<hsize_t> lengths = sizes();
    if (std::find(lengths.begin(), lengths.end(), hsize_t{0}) != lengths.end()) return 0;
    std::uint64_t count = 1;
    for (const hsize_t n : lengths) {
      if (n > most / count) fail(about, "has more values than can be counted");
      count *= n;
    }
    return static_cast<std::size_t>(count);
  }
};

/// A property list of a class.
Handle property_list(hid_t of, const Subject& about) {
  return {checked(H5Pcreate(of), about, "make a property list"), H5Pclose};
}

/// What comes of setting a property.
void set(const Subject& about, herr_t status) { checked(status, about, "set a property"); }

constexpr unsigned in_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

std::vector<hsize_t> sizes_of(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

Handle space_of(const std::vector<hsize_t>& sizes, const Subject& about) {
  return {checked(sizes.empty() ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                  about, "make the shape"),
          H5Sclose};
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

std::string last_component(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// What a file that HDF5 does not open really is.
std::string why_not_hdf5(const std::filesystem::path& file, const std::string& reason) {
  std::array<char, 8> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::string("cannot be read: ") + std::strerror(errno);
  in.read(head.data(), head.size());
  const std::string magic(head.data(), static_cast<std::size_t>(in.gcount()));
  if (magic.empty()) return "is empty, not an HDF5 or netCDF-4 file";
  if (magic.substr(0, 3) == "CDF") {
    return "is a netCDF file of the classic format; convert it to netCDF-4 with 'nccopy -k nc4 IN OUT'";
  }
  if (magic == "\x89HDF\r\n\x1a\n") return "is a damaged HDF5 file: " + reason;
  return "is not an HDF5 or netCDF-4 file";
}

/// Memory for the values of a dataset.
template <class Value = double>
std::vector<Value> room_for_values(std::size_t count, const Subject& about) {
  return room_for<Value>(count, [&](const std::string& why) { fail(about, why); });
}

/// By which netCDF-4 knows a dimension that has no variable.
constexpr const char* no_variable = "This is a netCDF dimension but not a netCDF variable.";

/// A link that leads into another file, as HDF5 was about to follow it.
struct OutsideLink {
  std::string file;
  std::string object;
};

/// Called by HDF5 before it opens the file that an external link names: refuses.
herr_t refuse_link(const char* /*file*/, const char* /*group*/, const char* file, const char* object,
                   unsigned* /*flags*/, hid_t /*access*/, void* found) {
  auto& link = *static_cast<OutsideLink*>(found);
  link.file = file;
  link.object = object;
  return -1;
}

/// Links that lead on within the file.
herr_t add_link_name(hid_t /*group*/, const char* name, const H5L_info_t* link, void* names) {
  if (link->type != H5L_TYPE_HARD && link->type != H5L_TYPE_SOFT) return 0;
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

herr_t add_attribute_name(hid_t /*object*/, const char* name, const H5A_info_t* /*attribute*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// True for the attributes by which netCDF-4 and dimension scales work.
bool is_housekeeping(const std::string& attribute) {
  return attribute.starts_with('_') || attribute == "CLASS" || attribute == "NAME" || attribute == "DIMENSION_LIST" ||
         attribute == "REFERENCE_LIST";
}

}  // namespace

struct Hdf5File::Impl {
  std::filesystem::path path;
  hid_t file = H5I_INVALID_HID;
  /// of a file with room, which the system holds in memory
  int room = -1;
  std::vector<NumberPlace> reserved;
  int dimensions = 0;
  /// not opened: what it holds was written by this process
  bool is_new = false;

  /// HDF5 crashes on some damaged files, and in many places where it gets no memory
  CrashGuard guard;

  explicit Impl(std::filesystem::path name)
      : path(std::move(name)),
        guard(path.string() +
                  ": cannot be read: HDF5 crashed or came to no end; the file is damaged, there is too little memory, "
                  "or prismfield has a fault, of which ulimit -c unlimited keeps a core",
              ErrorKind::input) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    guard.watch();
    if (file >= 0 && H5Fclose(file) < 0) H5Eclear2(H5E_DEFAULT);
    if (room >= 0) ::close(room);
  }

  [[nodiscard]] Subject subject(std::string object = "") const {
    guard.watch();
    return {path, std::move(object)};
  }

  /// Whether the name leads to an object of this file. Throws RunError when it leads into another file: what this one
  /// names is not opened.
  [[nodiscard]] bool exists(const std::string& name) const {
    OutsideLink outside;
    if (leads_to_object(name, outside)) return true;
    if (outside.file.empty()) return false;
    fail(subject(name), "is a link to " + excerpt(outside.object) + " in the file " + excerpt(outside.file) +
                            "; links to other files are not followed: put the data into this file");
  }

  [[nodiscard]] bool leads_to_object(const std::string& name, OutsideLink& outside) const {
    guard.watch();
    if (name.empty() || name == "/") return true;
    const Handle access = property_list(H5P_LINK_ACCESS, subject());
    set(subject(), H5Pset_elink_cb(access.id(), refuse_link, &outside));
    // every folder on the way has to be there before its member may be asked for
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
      const std::string part = name.substr(0, end);
      if (H5Lexists(file, part.c_str(), access.id()) <= 0 || H5Oexists_by_name(file, part.c_str(), access.id()) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        return false;
      }
      if (end == std::string::npos) return true;
    }
  }

  [[nodiscard]] Handle open_dataset(const std::string& name) const {
    const Subject about = subject(name);
    if (!exists(name)) fail(about, "there is no such dataset");
    Handle object(checked(H5Oopen(file, name.c_str(), H5P_DEFAULT), about, "open the dataset"), H5Oclose);
    if (H5Iget_type(object.id()) != H5I_DATASET) fail(about, "is a group, not a dataset");
    // before anything else is asked of it: HDF5 opens the other files for a mere shape
    const Handle properties = creation_list(object, about);
    const bool is_virtual = checked(H5Pget_layout(properties.id()), about, "read the layout") == H5D_VIRTUAL;
    if (is_virtual || checked(H5Pget_external_count(properties.id()), about, "read the layout") > 0) {
      fail(about, std::string("its values lie in other files (") +
                      (is_virtual ? "virtual dataset" : "external storage") +
                      "), which are not opened: put them into this file");
    }
    return object;
  }

  [[nodiscard]] Opened dataset(const std::string& name) const {
    const Subject about = subject(name);
    Handle object = open_dataset(name);
    Handle type(checked(H5Dget_type(object.id()), about, "read the type"), H5Tclose);
    Handle space(checked(H5Dget_space(object.id()), about, "read the shape"), H5Sclose);
    return {std::move(object), std::move(type), std::move(space), about};
  }

  [[nodiscard]] static Handle creation_list(const Handle& dataset, const Subject& about) {
    return {checked(H5Dget_create_plist(dataset.id()), about, "read the properties"), H5Pclose};
  }

  [[nodiscard]] Handle open_object(const std::string& name) const {
    if (!exists(name)) fail(subject(name), "there is no such group or dataset");
    return {checked(H5Oopen(file, name.empty() ? "/" : name.c_str(), H5P_DEFAULT), subject(name), "open"), H5Oclose};
  }

  /// Whether an object of a file that was opened stands for a netCDF-4 dimension that has no variable.
  [[nodiscard]] bool is_dimension_alone(const Handle& object, const std::string& name) const {
    if (is_new || H5Iget_type(object.id()) != H5I_DATASET) return false;
    const std::optional<Opened> label = find_attribute(object, name, "NAME");
    return label && label->is_text() && label->value_count() == 1 && text(*label).starts_with(no_variable);
  }

  [[nodiscard]] static bool has_attribute(const Handle& holder, const char* name, const Subject& about) {
    return checked(H5Aexists(holder.id(), name), about, "look for an attribute") > 0;
  }

  /// Nothing where there is no such attribute.
  [[nodiscard]] std::optional<Opened> find_attribute(const Handle& holder, const std::string& of,
                                                     const std::string& name) const {
    const Subject about = subject(of + "@" + name);
    if (!has_attribute(holder, name.c_str(), about)) return std::nullopt;
    Handle object(checked(H5Aopen(holder.id(), name.c_str(), H5P_DEFAULT), about, "open the attribute"), H5Aclose);
    Handle type(checked(H5Aget_type(object.id()), about, "read the type"), H5Tclose);
    Handle space(checked(H5Aget_space(object.id()), about, "read the shape"), H5Sclose);
    return Opened{std::move(object), std::move(type), std::move(space), about, true};
  }

  [[nodiscard]] Opened attribute(const std::string& of, const std::string& name) const {
    std::optional<Opened> found = find_attribute(open_object(of), of, name);
    if (!found) fail(subject(of + "@" + name), "there is no such attribute");
    return std::move(*found);
  }

  static void require_numeric(const Opened& from) {
    const Subject& about = from.about;
    switch (H5Tget_class(from.type.id())) {
      case H5T_INTEGER: return;
      case H5T_FLOAT:
        // conversions of formats that a file makes up are nothing that programs write
        if (is_usual_float(from.type.id())) return;
        fail(about, "holds floating-point numbers of an unusual format; write them as float or double");
      case H5T_STRING: fail(about, "holds text, not numbers");
      case H5T_COMPOUND: fail(about, "holds records of several members; write each member as a dataset of numbers");
      case H5T_REFERENCE: fail(about, "holds references to objects, not numbers");
      case H5T_ENUM: fail(about, "holds names of an enumeration, not numbers; write it as integers");
      case H5T_VLEN:
      case H5T_ARRAY: fail(about, "holds lists in each element, not numbers; write a dataset of numbers");
      default: fail(about, "holds no plain numbers");
    }
  }

  [[nodiscard]] static bool is_usual_float(hid_t type) {
    for (const hid_t usual : {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_LDOUBLE}) {
      if (H5Tequal(type, usual) > 0) return true;
    }
    // half precision has no name before HDF5 1.14.4
    std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    return H5Tget_size(type) == 2 && H5Tget_precision(type) == 16 &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign == 15 &&
           exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10;
  }

  /// Throws RunError unless HDF5 can read the dataset's values by itself, all of them were written, and the file is
  /// large enough for them. Nothing is allocated before.
  void require_values(const Opened& from) const {
    const Subject& about = from.about;
    const std::size_t count = from.value_count(), value_bytes = from.value_bytes();
    if (count == 0) return;
    const Handle properties = creation_list(from.object, about);
    const double expansion = largest_expansion(properties, about);
    std::uint64_t chunk_values = 0;
    if (checked(H5Pget_layout(properties.id()), about, "read the layout") == H5D_CHUNKED) {
      chunk_values = require_chunks(from, properties);
    }
    const hsize_t stored = H5Dget_storage_size(from.object.id());
    if (stored == 0) fail(about, "was never written: it has a shape but no values");
    if (is_new) return;
    std::error_code error;
    const auto file_bytes = std::filesystem::file_size(path, error);
    if (error) fail(about, "cannot be read: " + error.message());
    const double most = expansion * static_cast<double>(std::min<std::uint64_t>(stored, file_bytes));
    if (value_bytes == 0) fail(about, "is damaged: its values have no size");
    if (static_cast<double>(count) * static_cast<double>(value_bytes) > most) {
      fail(about, "is damaged: it claims " + std::to_string(count) + " values, more than the file can hold");
    }
    // a chunk is held as a whole, however few of its values the dataset has
    if (const std::string why = why_no_room(chunk_values, value_bytes); !why.empty())
      fail(about, "in one chunk, " + why);
  }

  /// How many times larger values can be than what is stored of them. Throws RunError for filters that HDF5 does not
  /// have itself.
  [[nodiscard]] static double largest_expansion(const Handle& properties, const Subject& about) {
    const int n = checked(H5Pget_nfilters(properties.id()), about, "read the filters");
    std::vector<H5Z_filter_t> seen;
    double expansion = 1;
    for (int i = 0; i < n; ++i) {
      unsigned flags = 0;
      std::size_t n_values = 0;
      std::array<char, 64> name{};
      const H5Z_filter_t filter = checked(H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags, &n_values,
                                                         nullptr, name.size(), name.data(), nullptr),
                                          about, "read the filters");
      name.back() = '\0';
      if (H5Zfilter_avail(filter) <= 0) {
        H5Eclear2(H5E_DEFAULT);
        fail(about, "is compressed by the filter " + std::to_string(filter) + ", " + excerpt(name.data()) +
                        ", which HDF5 does not have and no file may load; write it with gzip or uncompressed "
                        "(h5repack -f GZIP=4 IN OUT)");
      }
      // each round may blow up the one before a thousand times
      if (std::find(seen.begin(), seen.end(), filter) != seen.end()) {
        fail(about,
             "is compressed more than once by the same filter; write it with gzip or uncompressed "
             "(h5repack -f GZIP=4 IN OUT)");
      }
      seen.push_back(filter);
      if (filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32) continue;
      // deflate stores 258 bytes in two bits at best; others store a constant in nothing
      constexpr double deflate = 1032;
      expansion *= filter == H5Z_FILTER_DEFLATE ? deflate : std::numeric_limits<double>::infinity();
    }
    return expansion;
  }

  /// Values of a chunk. Throws RunError unless every chunk was written.
  [[nodiscard]] static std::uint64_t require_chunks(const Opened& from, const Handle& properties) {
    const Subject& about = from.about;
    const std::vector<hsize_t> sizes = from.sizes();
    std::vector<hsize_t> chunk(sizes.size());
    const int rank =
        checked(H5Pget_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), about, "read the chunks");
    if (rank != static_cast<int>(sizes.size())) fail(about, "is damaged: its chunks have another number of dimensions");
    std::uint64_t chunk_values = 1, chunks = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (chunk[d] == 0) fail(about, "is damaged: its chunks have no size");
      chunk_values *= chunk[d];
      chunks *= (sizes[d] + chunk[d] - 1) / chunk[d];
    }
#if H5_VERSION_GE(1, 10, 5)
    hsize_t written = 0;
    checked(H5Dget_num_chunks(from.object.id(), from.space.id(), &written), about, "count the chunks");
    if (written > 0 && written < chunks) {
      fail(about, std::to_string(chunks - written) + " of its " + std::to_string(chunks) +
                      " chunks were never written; write all values");
    }
#endif
    return chunk_values;
  }

  [[nodiscard]] static double number(const Opened& from) {
    require_numeric(from);
    if (from.value_count() != 1) fail(from.about, "must be one number");
    double value = 0;
    from.read(H5T_NATIVE_DOUBLE, &value, "read the attribute");
    return value;
  }

  /// Makes of stored numbers what their attributes say.
  void unpack(const Opened& from, std::vector<double>& values) const {
    const hid_t type = from.type.id();
    const StoredType stored{H5Tget_class(type) == H5T_FLOAT,
                            H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE, from.value_bytes()};
    const std::string wrong = prismfield::unpack(values, stored, [&](const char* name) {
      const std::optional<Opened> found = find_attribute(from.object, from.about.object, name);
      if (!found) return std::optional<StoredAttribute>();
      return std::optional(StoredAttribute{attribute_value(*found).value_or(std::string()),
                                           H5Tget_class(found->type.id()) == H5T_FLOAT});
    });
    if (!wrong.empty()) fail(from.about, wrong);
  }

  /// The values of an attribute of numbers or one text; nothing for others.
  [[nodiscard]] static std::optional<AttributeValue> attribute_value(const Opened& from) {
    const std::size_t count = from.value_count();
    if (from.is_text() && count <= 1) return text(from);
    const H5T_class_t kind = H5Tget_class(from.type.id());
    const bool is_number = kind == H5T_INTEGER || (kind == H5T_FLOAT && is_usual_float(from.type.id()));
    if (!is_number || count == 0) return std::nullopt;
    std::vector<double> values(count);
    from.read(H5T_NATIVE_DOUBLE, values.data(), "read the attribute");
    if (count == 1) return values.front();
    return values;
  }

  /// Strings of fixed or variable length.
  [[nodiscard]] static std::vector<std::string> texts(const Opened& from) {
    if (!from.is_text()) fail(from.about, "holds numbers, not text");
    const hid_t type = from.type.id();
    const std::size_t count = from.value_count(), size = from.value_bytes();
    std::vector<std::string> texts(count);
    if (count == 0) return texts;
    if (checked(H5Tis_variable_str(type), from.about, "read the type") > 0) {
      hsize_t bytes = 0;
      // which HDF5 1.10 answers for a scalar by a crash
      if (!from.is_attribute && count > 1) {
        checked(H5Dvlen_get_buf_size(from.object.id(), type, from.space.id(), &bytes), from.about, "read the text");
      }
      if (const std::string why = why_no_room(bytes, 1); !why.empty()) fail(from.about, why);
      std::vector<char*> values(count, nullptr);
      from.read(type, values.data(), "read the text");
      for (std::size_t i = 0; i < count; ++i) {
        if (values[i] != nullptr) texts[i] = values[i];
        H5free_memory(values[i]);
      }
      return texts;
    }
    constexpr std::size_t longest = std::size_t{64} << 20;
    if (size > longest) fail(from.about, "is a text of " + std::to_string(size) + " bytes; 64 MiB are the most");
    if (const std::string why = why_no_room(count, size); !why.empty()) fail(from.about, why);
    std::string values(count * size, '\0');
    from.read(type, values.data(), "read the text");
    for (std::size_t i = 0; i < count; ++i) texts[i] = without_padding(values.substr(i * size, size), from.type);
    return texts;
  }

  /// "" where there is no string.
  [[nodiscard]] static std::string text(const Opened& from) {
    if (from.is_text() && from.value_count() > 1) fail(from.about, "must be one string");
    const std::vector<std::string> found = texts(from);
    return found.empty() ? "" : found.front();
  }

  /// Text of fixed length without what fills it up.
  [[nodiscard]] static std::string without_padding(std::string text, const Handle& type) {
    if (H5Tget_strpad(type.id()) == H5T_STR_SPACEPAD) {
      text.erase(text.find_last_not_of(' ') + 1);
    } else {
      text.resize(std::min(text.find('\0'), text.size()));
    }
    return text;
  }

  [[nodiscard]] static Handle creation_properties(const Subject& about) {
    Handle list = property_list(H5P_DATASET_CREATE, about);
    // The same run gives the same bytes: no time of writing inside.
    set(about, H5Pset_obj_track_times(list.id(), false));
    set(about, H5Pset_attr_creation_order(list.id(), in_order));
    return list;
  }

  [[nodiscard]] Handle make_dataset(const std::string& name, hid_t type, const Handle& space,
                                    const Handle& properties) const {
    return {checked(H5Dcreate2(file, name.c_str(), type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                    subject(name), "make the dataset"),
            H5Dclose};
  }

  void write(const std::string& name, const std::vector<std::int64_t>& shape, hid_t type, const void* values) {
    const Subject about = subject(name);
    const std::vector<hsize_t> sizes = sizes_of(shape);
    const Handle properties = creation_properties(about);
    // The numbers are all written at once. Text does not do without being filled first.
    if (H5Tget_class(type) != H5T_STRING) set(about, H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER));
    Handle made = make_dataset(name, type, space_of(sizes, about), properties);
    checked(H5Dwrite(made.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), about, "write");
    // Closing writes what was buffered, so its status counts too.
    checked(H5Dclose(made.release()), about, "write");
  }

  void write_texts(const std::string& name, const std::vector<std::int64_t>& shape, const char* const* values) {
    // A dataset of variable length is a netCDF-4 string variable and has no limit of size; of fixed length it would be
    // an array of characters without a dimension, which netCDF-4 refuses.
    const Subject about = subject(name);
    const Handle type(checked(H5Tcopy(H5T_C_S1), about, "make the type"), H5Tclose);
    checked(H5Tset_size(type.id(), H5T_VARIABLE), about, "make the type");
    checked(H5Tset_cset(type.id(), H5T_CSET_UTF8), about, "make the type");
    write(name, shape, type.id(), values);
  }

  static void write_attribute(const Handle& object, const Subject& about, const char* name, hid_t type,
                              const Handle& space, const void* value) {
    if (has_attribute(object, name, about)) {
      checked(H5Adelete(object.id(), name), about, "replace the attribute");
    }
    Handle attribute(
        checked(H5Acreate2(object.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), about, "make the attribute"),
        H5Aclose);
    if (value != nullptr) checked(H5Awrite(attribute.id(), type, value), about, "write the attribute");
    checked(H5Aclose(attribute.release()), about, "write the attribute");
  }

  static void write_attribute(const Handle& object, const Subject& about, const char* name, const std::string& value) {
    const Handle type(checked(H5Tcopy(H5T_C_S1), about, "make the type"), H5Tclose);
    checked(H5Tset_size(type.id(), std::max<std::size_t>(value.size(), 1)), about, "make the type");
    checked(H5Tset_cset(type.id(), is_ascii(value) ? H5T_CSET_ASCII : H5T_CSET_UTF8), about, "make the type");
    // HDF5 has no strings of length 0; netCDF-4 stores an empty text as an attribute without data.
    const Handle space(checked(H5Screate(value.empty() ? H5S_NULL : H5S_SCALAR), about, "make the shape"), H5Sclose);
    write_attribute(object, about, name, type.id(), space, value.empty() ? nullptr : value.data());
  }

  /// Makes a dataset a dimension of netCDF-4, which knows it by `label`.
  void mark_as_scale(const std::string& name, const std::string& label) {
    const Subject about = subject(name);
    const Handle dataset = open_dataset(name);
    checked(H5DSset_scale(dataset.id(), label.c_str()), about, "make a dimension scale");
    const int id = dimensions++;
    write_attribute(dataset, about, "_Netcdf4Dimid", H5T_NATIVE_INT, space_of({}, about), &id);
  }

  [[nodiscard]] std::string_view image() const {
    checked(H5Fflush(file, H5F_SCOPE_GLOBAL), subject(), "complete the file");
    const auto size =
        static_cast<std::size_t>(checked(H5Fget_file_image(file, nullptr, 0), subject(), "find the size"));
    // The handle of a file in memory is a pointer to the pointer to its bytes.
    void* handle = nullptr;
    checked(H5Fget_vfd_handle(file, H5P_DEFAULT, &handle), subject(), "find the image");
    return {*static_cast<char**>(handle), size};
  }
};

Hdf5File::Hdf5File(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

namespace {

/// Properties of opening: the file closes with its last handle's owner, and a file system without locks is no error.
Handle access_properties(const Subject& about) {
  Handle list = property_list(H5P_FILE_ACCESS, about);
  set(about, H5Pset_fclose_degree(list.id(), H5F_CLOSE_STRONG));
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  set(about, H5Pset_file_locking(list.id(), true, true));
#endif
  return list;
}

/// Before each first call: HDF5 prints nothing, no file makes it load a library as a filter, which H5Zfilter_avail
/// would do already, and in a program that guards against its crashes it does nothing more when the program ends, where
/// nothing would guard.
void prepare_hdf5() {
  const CrashGuard guard("error: HDF5 cannot begin; there is too little memory", ErrorKind::failure);
  static const bool ends_itself = !crashes_end_clearly() || H5dont_atexit() < 0;
  static_cast<void>(ends_itself);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (H5PLset_loading_state(0) < 0) H5Eclear2(H5E_DEFAULT);
}

}  // namespace

Hdf5File Hdf5File::open(const std::filesystem::path& file) {
  prepare_hdf5();
  auto impl = std::make_unique<Impl>(file);
  const Subject about = impl->subject();
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) fail(about, "does not exist");
  if (std::filesystem::is_directory(status)) fail(about, "is a folder");
  // a pipe or a device would make HDF5 wait
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) fail(about, "is no regular file");
  // HDF5 crashes on some damaged files and hangs on others
  check_seal(file);
  const Handle properties = access_properties(about);
  impl->file = H5Fopen(file.c_str(), H5F_ACC_RDONLY, properties.id());
  if (impl->file < 0) fail(about, why_not_hdf5(file, hdf5_reason()));
  return Hdf5File(std::move(impl));
}

Hdf5File Hdf5File::create_in_memory(const std::filesystem::path& file) { return create_new(file, -1); }

Hdf5File Hdf5File::create_with_room(const std::filesystem::path& name, std::int64_t about_bytes) {
  const int room = ::memfd_create("prismfield", MFD_CLOEXEC);
  if (room < 0) throw_write_error(name.string() + ": cannot make the file", errno);
  if (::ftruncate(room, about_bytes) != 0) {
    const int reason = errno;
    ::close(room);
    throw_write_error(name.string() + ": cannot write", reason);
  }
  return create_new(name, room);
}

Hdf5File Hdf5File::create_new(const std::filesystem::path& file, int room) {
  prepare_hdf5();
  auto impl = std::make_unique<Impl>(file);
  impl->is_new = true;
  impl->room = room;
  const Subject about = impl->subject();
  impl->guard.say("error: " + file.string() + ": cannot be written: HDF5 crashed; there is too little memory",
                  ErrorKind::failure);
  const Handle access = access_properties(about);
  if (room < 0) {
    constexpr std::size_t memory_step = std::size_t{4} << 20;
    set(about, H5Pset_fapl_core(access.id(), memory_step, false));
  } else {
    // the usual driver wants to know the file's real name, which a file in memory has not
    set(about, H5Pset_fapl_stdio(access.id()));
    // what is large begins on a page
    constexpr hsize_t large = 65'536, page = 4096;
    set(about, H5Pset_alignment(access.id(), large, page));
  }
  const Handle creation = property_list(H5P_FILE_CREATE, about);
  // netCDF-4 lists variables and attributes in the order in which they were made.
  set(about, H5Pset_link_creation_order(creation.id(), in_order));
  set(about, H5Pset_attr_creation_order(creation.id(), in_order));
  // HDF5 makes no second file of the name of an open one, such as a table that is compared with itself
  static int n_made = 0;
  const std::string name =
      room < 0 ? file.string() + "." + std::to_string(n_made++) : "/proc/self/fd/" + std::to_string(room);
  impl->file = checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), about, "make the file");
  Hdf5File result(std::move(impl));
  result.write_attribute("/", "_NCProperties",
                         std::string("version=2,prismfield=") + version + ",hdf5=" + hdf5_version());
  return result;
}

bool Hdf5File::has(const std::string& path) const {
  return m_impl->exists(path) && !m_impl->is_dimension_alone(m_impl->open_object(path), path);
}

bool Hdf5File::has_attribute(const std::string& path, const std::string& name) const {
  if (!m_impl->exists(path)) return false;
  return Impl::has_attribute(m_impl->open_object(path), name.c_str(), m_impl->subject(path));
}

std::vector<std::string> Hdf5File::dataset_names(const std::string& group, NameOrder order) const {
  const Subject about = m_impl->subject(group);
  if (!m_impl->exists(group)) fail(about, "there is no such group");
  const Handle folder = m_impl->open_object(group);
  if (H5Iget_type(folder.id()) != H5I_GROUP) fail(about, "is a dataset, not a group");
  unsigned tracked = 0;
  const Handle properties(checked(H5Gget_create_plist(folder.id()), about, "read the properties"), H5Pclose);
  checked(H5Pget_link_creation_order(properties.id(), &tracked), about, "read the order");
  const bool as_made = order == NameOrder::as_made && (tracked & H5P_CRT_ORDER_TRACKED) != 0;
  std::vector<std::string> links;
  checked(H5Literate(folder.id(), as_made ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link_name,
                     &links),
          about, "list");
  std::vector<std::string> names;
  for (const std::string& name : links) {
    OutsideLink outside;
    if (!m_impl->leads_to_object(group == "/" ? "/" + name : group + "/" + name, outside)) continue;
    const Handle member(checked(H5Oopen(folder.id(), name.c_str(), H5P_DEFAULT), about, "open a member"), H5Oclose);
    if (H5Iget_type(member.id()) == H5I_DATASET && !m_impl->is_dimension_alone(member, name)) names.push_back(name);
  }
  return names;
}

std::vector<std::int64_t> Hdf5File::shape(const std::string& dataset) const {
  const Opened from = m_impl->dataset(dataset);
  static_cast<void>(from.value_count());
  std::vector<std::int64_t> result;
  for (const hsize_t n : from.sizes()) {
    if (n > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      fail(from.about, "has a dimension too long to be counted");
    result.push_back(static_cast<std::int64_t>(n));
  }
  return result;
}

std::vector<std::string> Hdf5File::dimension_names(const std::string& dataset) const {
  const Handle object = m_impl->open_dataset(dataset);
  const auto rank = shape(dataset).size();
  std::vector<std::string> names(rank);
  const std::optional<Opened> list = m_impl->find_attribute(object, dataset, "DIMENSION_LIST");
  if (!list) {
    const std::optional<Opened> labels = m_impl->find_attribute(object, dataset, "DIMENSION_LABELS");
    if (labels && labels->is_text() && labels->value_count() == rank) return Impl::texts(*labels);
    if (rank == 1 && Impl::has_attribute(object, "CLASS", m_impl->subject(dataset))) names[0] = last_component(dataset);
    return names;
  }
  const Subject& about = list->about;
  const Handle type(checked(H5Tvlen_create(H5T_STD_REF_OBJ), about, "make the type"), H5Tclose);
  const bool readable = checked(H5Tequal(list->type.id(), type.id()), about, "read the type") > 0 &&
                        H5Sget_simple_extent_npoints(list->space.id()) == static_cast<hssize_t>(rank);
  if (!readable) return names;
  std::vector<hvl_t> lists(rank);
  list->read(type.id(), lists.data());
  for (std::size_t d = 0; d < rank; ++d) {
    if (lists[d].len == 0) continue;
    std::array<char, 256> name{};
    const ssize_t length = H5Rget_name(m_impl->file, H5R_OBJECT, lists[d].p, name.data(), name.size());
    if (length > 0 && length < static_cast<ssize_t>(name.size())) names[d] = last_component(name.data());
    // a reference to what is no longer there leaves the dimension without a name
    if (length <= 0) H5Eclear2(H5E_DEFAULT);
  }
  checked(H5Dvlen_reclaim(type.id(), list->space.id(), H5P_DEFAULT, lists.data()), about, "free memory");
  return names;
}

std::vector<double> Hdf5File::read(const std::string& dataset) const {
  const Opened from = m_impl->dataset(dataset);
  Impl::require_numeric(from);
  const std::size_t count = from.value_count();
  if (const std::string why = why_no_room(count, sizeof(double)); !why.empty()) fail(from.about, why);
  m_impl->require_values(from);
  std::vector<double> values = room_for_values(count, from.about);
  if (count == 0) return values;
  from.read(H5T_NATIVE_DOUBLE, values.data());
  m_impl->unpack(from, values);
  return values;
}

std::vector<std::int64_t> Hdf5File::read_integers(const std::string& dataset) const {
  const Opened from = m_impl->dataset(dataset);
  Impl::require_numeric(from);
  m_impl->require_values(from);
  const hid_t type = from.type.id();
  if (H5Tget_class(type) != H5T_INTEGER) fail(from.about, "holds numbers that are no integers");
  std::vector<std::int64_t> values = room_for_values<std::int64_t>(from.value_count(), from.about);
  if (values.empty()) return values;
  // HDF5 takes what does not fit to the nearest that does
  const bool clipped = H5Tget_size(type) > sizeof(std::int64_t) ||
                       (H5Tget_sign(type) == H5T_SGN_NONE && H5Tget_size(type) == sizeof(std::int64_t));
  from.read(H5T_NATIVE_INT64, values.data());
  using Limits = std::numeric_limits<std::int64_t>;
  if (clipped && std::any_of(values.begin(), values.end(),
                             [](std::int64_t value) { return value == Limits::max() || value == Limits::min(); })) {
    fail(from.about, "holds an integer beyond 64 bits");
  }
  return values;
}

bool Hdf5File::is_text(const std::string& dataset) const { return m_impl->dataset(dataset).is_text(); }

std::vector<std::string> Hdf5File::read_texts(const std::string& dataset) const {
  const Opened from = m_impl->dataset(dataset);
  if (from.is_text() && from.sizes().size() > 1) fail(from.about, "must have one dimension");
  if (from.is_text()) m_impl->require_values(from);
  return Impl::texts(from);
}

double Hdf5File::read_attribute(const std::string& path, const std::string& name) const {
  return Impl::number(m_impl->attribute(path, name));
}

std::string Hdf5File::read_text_attribute(const std::string& path, const std::string& name) const {
  return Impl::text(m_impl->attribute(path, name));
}

std::optional<std::string> Hdf5File::text_attribute(const std::string& path, const std::string& name) const {
  return has_attribute(path, name) ? std::optional(read_text_attribute(path, name)) : std::nullopt;
}

std::vector<std::pair<std::string, AttributeValue>> Hdf5File::attributes(const std::string& dataset) const {
  const Subject about = m_impl->subject(dataset);
  const Handle object = m_impl->open_dataset(dataset);
  unsigned order = 0;
  checked(H5Pget_attr_creation_order(Impl::creation_list(object, about).id(), &order), about, "read the order");
  const H5_index_t index = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  checked(H5Aiterate2(object.id(), index, H5_ITER_INC, nullptr, add_attribute_name, &names), about, "list");
  std::vector<std::pair<std::string, AttributeValue>> result;
  for (const std::string& name : names) {
    if (is_housekeeping(name)) continue;
    if (auto value = Impl::attribute_value(m_impl->attribute(dataset, name))) {
      result.emplace_back(name, std::move(*value));
    }
  }
  return result;
}

void Hdf5File::make_group(const std::string& group) {
  const Subject about = m_impl->subject(group);
  const Handle properties = property_list(H5P_GROUP_CREATE, about);
  set(about, H5Pset_link_creation_order(properties.id(), in_order));
  set(about, H5Pset_attr_creation_order(properties.id(), in_order));
  const Handle made(checked(H5Gcreate2(m_impl->file, group.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), about,
                            "make the group"),
                    H5Gclose);
}

void Hdf5File::write(const std::string& dataset, const std::vector<std::int64_t>& shape, const double* values) {
  m_impl->write(dataset, shape, H5T_NATIVE_DOUBLE, values);
}

void Hdf5File::write(const std::string& dataset, const std::vector<std::int64_t>& shape, const std::int64_t* values) {
  m_impl->write(dataset, shape, H5T_NATIVE_INT64, values);
}

void Hdf5File::write(const std::string& dataset, const std::vector<std::int64_t>& shape, const std::int32_t* values) {
  m_impl->write(dataset, shape, H5T_NATIVE_INT32, values);
}

void Hdf5File::write_text(const std::string& dataset, const std::string& value) {
  const char* text = value.c_str();
  m_impl->write_texts(dataset, {}, &text);
}

void Hdf5File::write_texts(const std::string& dataset, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const std::string& value : values) texts.push_back(value.c_str());
  m_impl->write_texts(dataset, {static_cast<std::int64_t>(texts.size())}, texts.data());
}

void Hdf5File::make_dimension(const std::string& dataset) {
  if (shape(dataset).size() != 1) fail(m_impl->subject(dataset), "a dimension must have one dimension itself");
  m_impl->mark_as_scale(dataset, last_component(dataset));
}

void Hdf5File::make_dimension_without_values(const std::string& name, std::int64_t length) {
  const Subject about = m_impl->subject(name);
  // netCDF-4 makes such a dimension a dataset of big-endian floats that is never written.
  static_cast<void>(m_impl->make_dataset(name, H5T_IEEE_F32BE, space_of(sizes_of({length}), about),
                                         Impl::creation_properties(about)));
  std::string digits = std::to_string(length);
  digits.insert(0, digits.size() < 10 ? 10 - digits.size() : 0, ' ');
  m_impl->mark_as_scale(name, no_variable + digits);
}

void Hdf5File::attach_dimensions(const std::string& dataset, const std::vector<std::string>& dimensions) {
  const Subject about = m_impl->subject(dataset);
  const auto sizes = shape(dataset);
  if (sizes.size() != dimensions.size() || dimensions.empty()) {
    fail(about, "one dimension scale must be named for each of its " + std::to_string(sizes.size()) + " dimensions");
  }
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const Subject scale = m_impl->subject(dimensions[d]);
    if (checked(H5DSis_scale(m_impl->open_dataset(dimensions[d]).id()), scale, "look for a dimension scale") == 0) {
      fail(scale, "is no dimension scale");
    }
    if (shape(dimensions[d]).at(0) != sizes[d]) fail(about, dimensions[d] + " has another length");
  }
  const Handle object = m_impl->open_dataset(dataset);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const Handle scale = m_impl->open_dataset(dimensions[d]);
    checked(H5DSattach_scale(object.id(), scale.id(), static_cast<unsigned>(d)), about, "attach a dimension scale");
  }
}

void Hdf5File::write_attribute(const std::string& path, const std::string& name, const AttributeValue& value) {
  const Subject about = m_impl->subject(path + "@" + name);
  const Handle object = m_impl->open_object(path);
  const auto write = [&](hid_t type, const std::vector<hsize_t>& sizes, const void* values) {
    Impl::write_attribute(object, about, name.c_str(), type, space_of(sizes, about), values);
  };
  if (const auto* text = std::get_if<std::string>(&value)) {
    Impl::write_attribute(object, about, name.c_str(), *text);
  } else if (const auto* number = std::get_if<double>(&value)) {
    write(H5T_NATIVE_DOUBLE, {}, number);
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    write(H5T_NATIVE_INT64, {}, integer);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    write(H5T_NATIVE_DOUBLE, {numbers->size()}, numbers->data());
  } else {
    const auto& integers = std::get<std::vector<std::int64_t>>(value);
    write(H5T_NATIVE_INT64, {integers.size()}, integers.data());
  }
}

std::string_view Hdf5File::image() const { return m_impl->image(); }

void Hdf5File::write_sealed(const std::function<void(const void*, std::size_t)>& write) const {
  const std::string_view bytes = image();
  FileSeal seal;
  seal.add(bytes.data(), bytes.size());
  write(bytes.data(), bytes.size());
  const std::string end = seal.bytes();
  write(end.data(), end.size());
}

namespace {

hid_t file_type(NumberPlace::Type type) {
  switch (type) {
    case NumberPlace::Type::float_: return H5T_NATIVE_FLOAT;
    case NumberPlace::Type::double_: return H5T_NATIVE_DOUBLE;
    case NumberPlace::Type::integer: break;
  }
  return H5T_NATIVE_INT64;
}

/// Where in the file the values of a dataset lie.
std::int64_t offset_of(const Handle& dataset, const Subject& about) {
  const haddr_t at = H5Dget_offset(dataset.id());
  if (at == HADDR_UNDEF) fail(about, "its values have no place in the file");
  return static_cast<std::int64_t>(at);
}

}  // namespace

NumberPlace Hdf5File::reserve(const std::string& dataset, const std::vector<std::int64_t>& shape,
                              NumberPlace::Type type) {
  const Subject about = m_impl->subject(dataset);
  const Handle properties = Impl::creation_properties(about);
  set(about, H5Pset_layout(properties.id(), H5D_CONTIGUOUS));
  set(about, H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY));
  set(about, H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER));
  const Handle made = m_impl->make_dataset(dataset, file_type(type), space_of(sizes_of(shape), about), properties);
  NumberPlace place{type, offset_of(made, about), bytes_of(type)};
  for (const std::int64_t n : shape) place.bytes *= n;
  m_impl->reserved.push_back(place);
  return place;
}

NumberPlace Hdf5File::place(const std::string& dataset) const {
  const Opened from = m_impl->dataset(dataset);
  const Subject& about = from.about;
  const Handle properties = Impl::creation_list(from.object, about);
  if (checked(H5Pget_layout(properties.id()), about, "read the layout") != H5D_CONTIGUOUS) {
    fail(about, "its values are not stored one after the other (a contiguous layout)");
  }
  for (const auto kind : {NumberPlace::Type::float_, NumberPlace::Type::double_, NumberPlace::Type::integer}) {
    if (H5Tequal(from.type.id(), file_type(kind)) <= 0) continue;
    const auto count = static_cast<std::int64_t>(from.value_count());
    NumberPlace found{kind, 0, 0};
    if (count == 0) return found;
    found.offset = offset_of(from.object, about);
    std::error_code error;
    const auto file_bytes = std::filesystem::file_size(m_impl->path, error);
    if (error) fail(about, "cannot be read: " + error.message());
    const auto end = static_cast<std::int64_t>(std::min<std::uintmax_t>(file_bytes, std::uintmax_t{1} << 62));
    // the count is at most 2^60
    if (found.offset < 0 || found.offset > end || count > (end - found.offset) / bytes_of(kind)) {
      fail(about, "is damaged: it claims " + std::to_string(count) + " values, more than the file can hold");
    }
    found.bytes = count * bytes_of(kind);
    return found;
  }
  fail(about, "holds no floats, doubles or integers of 64 bits in this machine's order of bytes");
}

std::int64_t Hdf5File::write_around(const std::function<void(std::int64_t, const void*, std::size_t)>& write) {
  const Subject about = m_impl->subject();
  checked(H5Fclose(std::exchange(m_impl->file, H5I_INVALID_HID)), about, "close");
  struct stat status {};
  if (::fstat(m_impl->room, &status) != 0) fail(about, std::string("cannot be made: ") + std::strerror(errno));
  std::vector<NumberPlace> left_out = m_impl->reserved;
  std::sort(left_out.begin(), left_out.end(),
            [](const NumberPlace& a, const NumberPlace& b) { return a.offset < b.offset; });
  left_out.push_back({NumberPlace::Type::double_, status.st_size, 0});
  std::vector<char> piece(std::size_t{1} << 20);
  std::int64_t at = 0;
  FileSeal seal;
  for (const NumberPlace& place : left_out) {
    while (at < place.offset) {
      const auto wanted =
          static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), place.offset - at));
      const ssize_t n = ::pread(m_impl->room, piece.data(), wanted, at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail(about, "cannot be made: its parts are not in memory any more");
      seal.add(piece.data(), static_cast<std::size_t>(n));
      write(at, piece.data(), static_cast<std::size_t>(n));
      at += n;
    }
    if (place.bytes > 0) seal.leave_out(place.bytes);
    at += place.bytes;
  }
  const std::string end = seal.bytes();
  write(at, end.data(), end.size());
  return at + static_cast<std::int64_t>(end.size());
}

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  prepare_hdf5();
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace prismfield
