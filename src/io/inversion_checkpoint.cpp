// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/inversion_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <prismfield/error.hpp>

#include "base/temporary_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 16> mark = {'p', 'r', 'i', 's', 'm', 'f', 'i',  'e',
                                       'l', 'd', ' ', 'i', 'n', 'v', '\r', '\n'};

/// The first bytes of the file; content follows.
struct Header {
  std::array<char, 16> mark{};
  std::int64_t version = 0;
  std::int64_t content_bytes = 0;
  Digest case_hash;
  Digest content;
  /// of the header before this
  Digest header;
};
static_assert(sizeof(Header) == 80 && std::is_trivially_copyable_v<Header>);
constexpr std::size_t signed_bytes = sizeof(Header) - sizeof(Digest);

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw InputError("", "output.checkpoint.file", fmt::format("{} {}", file.string(), what));
}
constexpr const char* begins_anew = "; without --resume the inversion begins anew and replaces it";

/// Passes every part of a state to f in one order, that of the file.
template <class State, class F>
void each_part(State& state, const F& f) {
  f(state.phase);
  f(state.rows);
  f(state.stored);
  f(state.model);
  f(state.beta);
  f(state.message);
  f(state.products);
  f(state.seconds);
  f(state.kept);
  f(state.search);
  f(state.weights_model);
  f(state.epsilon);
  f(state.first_epsilon);
  f(state.compact_steps);
  f(state.last_phi_m);
  f(state.interval_steps);
  f(state.interval_dual);
  f(state.lower);
  f(state.upper);
  f(state.samples);
  f(state.squares);
  f(state.trace);
  f(state.trace_squared);
  f(state.depth_of_investigation);
}

template <class Row, class F>
void each_part_of_row(Row& row, const F& f) {
  f(row.stage);
  f(row.beta);
  f(row.phi_d);
  f(row.chi);
  f(row.phi_m);
  f(row.products);
  f(row.minimum);
  f(row.maximum);
  f(row.seconds);
}

class ByteWriter {
public:
  template <class T>
  void operator()(const T& value) const {
    if constexpr (std::is_trivially_copyable_v<T>) {
      put(&value, sizeof(T));
    } else if constexpr (std::is_same_v<T, std::vector<ConvergenceRow>>) {
      (*this)(static_cast<std::int64_t>(value.size()));
      for (const ConvergenceRow& row : value) each_part_of_row(row, *this);
    } else if constexpr (std::is_same_v<T, std::vector<std::vector<double>>>) {
      (*this)(static_cast<std::int64_t>(value.size()));
      for (const std::vector<double>& one : value) (*this)(one);
    } else {
      (*this)(static_cast<std::int64_t>(value.size()));
      put(value.data(), value.size() * sizeof(typename T::value_type));
    }
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return m_bytes; }

private:
  void put(const void* bytes, std::size_t n) const { m_bytes.append(static_cast<const char*>(bytes), n); }
  mutable std::string m_bytes;
};

/// Throws std::out_of_range where bytes are missing.
class ByteReader {
public:
  explicit ByteReader(std::string_view bytes) : m_bytes(bytes) {}

  template <class T>
  void operator()(T& value) const {
    if constexpr (std::is_trivially_copyable_v<T>) {
      get(&value, sizeof(T));
    } else if constexpr (std::is_same_v<T, std::vector<ConvergenceRow>>) {
      constexpr std::size_t least_bytes_of_row = 9 * 8;
      const std::size_t n = count(least_bytes_of_row);
      for (std::size_t i = 0; i < n; ++i) each_part_of_row(value.emplace_back(), *this);
    } else if constexpr (std::is_same_v<T, std::vector<std::vector<double>>>) {
      value.resize(count(sizeof(std::int64_t)));
      for (std::vector<double>& one : value) (*this)(one);
    } else {
      value.resize(count(sizeof(typename T::value_type)));
      get(value.data(), value.size() * sizeof(typename T::value_type));
    }
  }
  [[nodiscard]] bool is_at_end() const noexcept { return m_at == m_bytes.size(); }

private:
  /// A number of things of at least so many bytes each.
  [[nodiscard]] std::size_t count(std::size_t bytes_each) const {
    std::int64_t n = 0;
    get(&n, sizeof(n));
    const std::size_t most = (m_bytes.size() - m_at) / bytes_each;
    if (n < 0 || static_cast<std::uint64_t>(n) > most) throw std::out_of_range("count");
    return static_cast<std::size_t>(n);
  }
  void get(void* to, std::size_t n) const {
    if (n > m_bytes.size() - m_at) throw std::out_of_range("bytes");
    if (n > 0) std::memcpy(to, m_bytes.data() + m_at, n);
    m_at += n;
  }
  std::string_view m_bytes;
  mutable std::size_t m_at = 0;
};

/// What is at a checkpoint's place.
struct Found {
  bool is_there = false;
  bool is_ours = false;
  Header header;
  std::string content;
};

Found look(const fs::path& file, bool with_content) {
  Found found;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  found.is_there = fs::exists(status);
  if (!found.is_there || !fs::is_regular_file(status)) return found;
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(&found.header), sizeof(Header))) return found;
  found.is_ours = found.header.mark == mark;
  if (!found.is_ours || !with_content) return found;
  const auto size = fs::file_size(file, error);
  if (error || size < sizeof(Header)) return found;
  found.content.resize(static_cast<std::size_t>(size) - sizeof(Header));
  if (!in.read(found.content.data(), static_cast<std::streamsize>(found.content.size()))) found.content.clear();
  return found;
}

bool is_signed(const Header& header) { return digest_of(&header, signed_bytes) == header.header; }

bool is_whole(const Found& found) {
  return is_signed(found.header) && found.header.content_bytes == static_cast<std::int64_t>(found.content.size()) &&
         digest_of(found.content.data(), found.content.size()) == found.header.content;
}

/// Whether the sizes of a state fit its cells and epochs.
bool fits(const InversionState& state, std::size_t n_values) {
  const auto all_or_none = [&](const std::vector<double>& values) {
    return values.empty() || values.size() == n_values;
  };
  const bool keeps_whole_models =
      std::all_of(state.kept.begin(), state.kept.end(), [&](const auto& model) { return model.size() == n_values; });
  const bool stored_known = std::all_of(state.stored.begin(), state.stored.end(), [](std::int64_t stored) {
    return stored >= stored_not && stored <= stored_compressed;
  });
  return stored_known && state.model.size() == n_values && keeps_whole_models && all_or_none(state.weights_model) &&
         all_or_none(state.interval_dual) && all_or_none(state.lower) && state.upper.size() == state.lower.size() &&
         all_or_none(state.squares) && all_or_none(state.depth_of_investigation);
}

}  // namespace

void write_inversion_checkpoint(const fs::path& file, const Digest& case_hash, const InversionState& state) {
  const ByteWriter content;
  each_part(state, content);
  Header header;
  header.mark = mark;
  header.version = inversion_checkpoint_version;
  header.content_bytes = static_cast<std::int64_t>(content.bytes().size());
  header.case_hash = case_hash;
  header.content = digest_of(content.bytes().data(), content.bytes().size());
  header.header = digest_of(&header, signed_bytes);
  TemporaryFile out(file);
  out.write(&header, sizeof(header));
  out.write(content.bytes().data(), content.bytes().size());
  out.move_to_target();
}

std::optional<InversionState> read_inversion_checkpoint(const fs::path& file, const Digest& case_hash,
                                                        std::int64_t n_values) {
  const Found found = look(file, true);
  if (!found.is_there) return std::nullopt;
  check_inversion_checkpoint_place(file, &case_hash);
  if (!is_whole(found)) fail(file, std::string("is damaged") + begins_anew);
  if (found.header.version != inversion_checkpoint_version)
    fail(file, std::string("is of another version of prismfield") + begins_anew);
  InversionState state;
  try {
    const ByteReader reader(found.content);
    each_part(state, reader);
    if (!reader.is_at_end() || !fits(state, static_cast<std::size_t>(n_values))) throw std::out_of_range("sizes");
  } catch (const std::out_of_range&) {
    fail(file, std::string("is damaged") + begins_anew);
  }
  return state;
}

void check_inversion_checkpoint_place(const fs::path& file, const Digest* case_hash) {
  const Found found = look(file, false);
  if (!found.is_there) return;
  const std::string kept = "; it is not replaced; move it away, or give the checkpoint another name";
  if (!found.is_ours) fail(file, "is no checkpoint of an inversion" + kept);
  if (case_hash == nullptr || !is_signed(found.header) || found.header.case_hash == *case_hash) return;
  fail(file, "is of another case: the case or a file that it names was changed" + kept);
}

void remove_inversion_checkpoint(const fs::path& file, const Digest& case_hash) {
  const Found found = look(file, false);
  std::error_code error;
  if (found.is_ours && found.header.case_hash == case_hash) fs::remove(file, error);
}

}  // namespace prismfield
