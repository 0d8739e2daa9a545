// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "formats/hdf5_file.hpp"

namespace prismfield {

/// An HDF5 file that close() writes to the disk.
class MadeHdf5 : public Hdf5File {
public:
  explicit MadeHdf5(std::filesystem::path file) : Hdf5File(create_in_memory(file)), m_file(std::move(file)) {}

  void close() const {
    const std::string_view bytes = image();
    std::ofstream(m_file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

private:
  std::filesystem::path m_file;
};

}  // namespace prismfield
