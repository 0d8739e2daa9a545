// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace prismfield {

/// A format of another program. One table has them all: a reader that cannot take a file says what it is and what to
/// do.
struct ForeignFormat {
  /// "a Surfer grid"
  std::string_view name;
  /// what to do; IN and OUT stand for the file and for a new one
  std::string_view remedy;
  /// Heights on a grid, by the format: readers of surfaces may take it.
  enum class Surface { none, surfer, tiff, esri } surface = Surface::none;

  [[nodiscard]] bool is_surface() const noexcept { return surface != Surface::none; }
  /// "is a gzip archive; unpack it: gunzip -k IN"
  [[nodiscard]] std::string text() const;
};

/// Bytes of a file's beginning that suffice to recognise its format.
inline constexpr std::size_t start_bytes = 4096;

/// What a file is by its first start_bytes (all of a shorter file); its suffix counts only for bytes that are no text
/// and have no signature. Nothing for formats that are read here and for those that nobody knows.
[[nodiscard]] std::optional<ForeignFormat> foreign_format(const std::filesystem::path& path, std::string_view start);

}  // namespace prismfield
