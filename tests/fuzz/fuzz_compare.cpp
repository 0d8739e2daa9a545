// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
//
// A result compared with a good one: as A after the letter a, as B after b, with itself after any other.
#include <cstdint>
#include <string>
#include <vector>

#include "formats/hdf5_file.hpp"
#include "fuzz_input.hpp"
#include "made_hdf5.hpp"
#include "readers/compare_results.hpp"

namespace prismfield::fuzz {
namespace {

/// A result on a grid of 3 x 2 points.
std::filesystem::path good_result() {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const std::filesystem::path path = Folder::file("good.h5");
  MadeHdf5 file(path);
  file.write("/easting", {3}, values.data());
  file.write("/northing", {2}, values.data());
  for (const char* name : {"/upward", "/potential", "/gz", "/gxz"}) {
    file.write(name, {2, 3}, values.data());
    file.write_attribute(name, "units", std::string("mGal"));
  }
  file.close();
  return path;
}

void run(Bytes bytes) {
  static const std::filesystem::path good = good_result();
  static InputBytes bytes_in_file("input");
  const unsigned side = bytes.byte();
  const std::filesystem::path& other = bytes_in_file.hold(bytes.rest());
  ends_clearly([&] {
    const Comparison comparison = compare_results(side == 'b' ? good : other, side == 'a' ? good : other);
    require(!report(comparison, 1e-9).empty(), "a comparison without words");
    (void)within(comparison, 1e-9);
  });
}

}  // namespace
}  // namespace prismfield::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  prismfield::fuzz::run({data, size});
  return 0;
}
