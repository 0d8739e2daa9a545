// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/identity_hash.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <prismfield/error.hpp>

#include "base/hash.hpp"
#include "case/case.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

void add_file(Hash& hash, const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string buffer(std::size_t{1} << 20, '\0');
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  if (!in.eof()) throw InputError(file.string(), "", "cannot be read");
}

}  // namespace

std::uint64_t case_hash(const Case& run) {
  Hash hash;
  hash.add(std::string_view(run.identity));
  for (const fs::path& file : run.input_files()) {
    if (file != run.file) add_file(hash, file);
  }
  return hash.value();
}

}  // namespace prismfield
