// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "formats/hdf5_file.hpp"

/// write_prisms TABLE OUT.h5: seven columns of numbers separated by blanks as the datasets of an HDF5 prism list.
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  constexpr std::array names = {"west", "east", "south", "north", "bottom", "top", "density"};
  std::array<std::vector<double>, names.size()> columns;
  std::ifstream in(argv[1]);
  std::string word;
  for (std::size_t i = 0; in >> word; ++i) columns[i % names.size()].push_back(std::stod(word));
  try {
    prismfield::Hdf5File file = prismfield::Hdf5File::create_in_memory(argv[2]);
    for (std::size_t c = 0; c < names.size(); ++c) {
      file.write(std::string("/") + names[c], {static_cast<std::int64_t>(columns[c].size())}, columns[c].data());
    }
    std::ofstream out(argv[2], std::ios::binary);
    file.write_sealed([&](const void* bytes, std::size_t n) {
      out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
    });
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
