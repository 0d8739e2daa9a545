// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// G.h5: what is written is what is read, units and axes applied; other cases' files, damaged ones and what is no such
// file are refused; nothing half written stays.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/error.hpp>

#include "base/disk.hpp"
#include "folder_test.hpp"
#include "formats/hdf5_file.hpp"
#include "made_hdf5.hpp"
#include "writers/sensitivity_file.hpp"

namespace prismfield::test_sensitivity_file {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_samples::content;

class SensitivityFileTest : public testing_samples::FolderTest {
protected:
  SensitivityFileTest() {
    m_points.easting = {0, 10, 20};
    m_points.northing = {0, 5, 10};
    m_points.upward = {1, 2, 3};
    m_rows.file = path("G.h5");
    m_rows.points = m_points;
    m_rows.request.fields = {Field::potential, Field::gz, Field::gxx};
  }

  [[nodiscard]] SensitivityHeader header() const {
    SensitivityHeader header;
    header.title = "a test";
    header.command = "prismfield sensitivity case.yaml";
    header.case_text = "title: a test\n";
    header.cells = &m_cells;
    header.unknown = m_unknown;
    header.model = {1, 2, 0, 4};
    if (m_unknown == Unknown::magnetization) header.model.resize(12, 0.5);
    return header;
  }
  /// Entry of SI that is written for a field, point and cell.
  static double entry(std::int64_t f, std::int64_t i, std::int64_t j) {
    return 1e-9 * static_cast<double>(1 + j + 10 * i + 100 * f) / 3;
  }
  void write(const SensitivityHeader& of) {
    SensitivityFiles files(of, m_alone);
    const auto sink = files.create(m_rows);
    for (std::int64_t f = 0; f < 3; ++f) {
      for (const IndexRange points : {IndexRange{2, 3}, IndexRange{0, 2}}) {
        std::vector<double> entries;
        for (std::int64_t i = points.begin; i < points.end; ++i) {
          for (std::int64_t j = 0; j < of.columns(); ++j) entries.push_back(entry(f, i, j));
        }
        sink->write(f, points, entries);
      }
    }
    sink->complete();
  }
  void write() { write(header()); }
  [[nodiscard]] std::unique_ptr<RowSource> open() {
    SensitivityFiles files(header(), m_alone);
    auto source = files.open(m_rows);
    m_warnings = files.warnings();
    return source;
  }
  /// What is said of a file that is refused.
  [[nodiscard]] std::string refused() {
    try {
      static_cast<void>(open());
    } catch (const InputError& error) {
      EXPECT_EQ(error.problems().at(0).key, "sensitivity.file");
      EXPECT_THAT(error.what(), HasSubstr("delete it, or give sensitivity.file another name"));
      return error.what();
    }
    return "accepted";
  }
  /// Changes a byte of the file.
  void garble(std::int64_t at) const {
    std::string bytes = content(m_rows.file);
    auto& byte = bytes.at(static_cast<std::size_t>(at));
    byte = static_cast<char>(byte ^ 16);
    std::ofstream(m_rows.file, std::ios::binary) << bytes;
  }

  const Communicator m_alone;
  CellEdges m_edges = {{{0, 10, 20}, {0, 10, 20}, {-10, 0}}};
  ActiveCells m_cells{m_edges};
  Unknown m_unknown = Unknown::density;
  Points m_points;
  RowFile m_rows;
  std::vector<std::string> m_warnings;
};

TEST_F(SensitivityFileTest, HoldsRowsInUnitsOfTheOutput) {
  EXPECT_EQ(open(), nullptr);
  write();
  EXPECT_EQ(names(), std::set<std::string>{"G.h5"});
  const auto source = open();
  ASSERT_NE(source, nullptr);
  EXPECT_TRUE(m_warnings.empty());
  EXPECT_EQ(source->columns(), 4);
  EXPECT_EQ(source->bytes(), 3 * 3 * 4 * 8);
  constexpr double factors[] = {1, -1e5, 1e9};
  for (std::int64_t f = 0; f < 3; ++f) {
    std::vector<double> values(8);
    source->read(f, {1, 3}, std::as_writable_bytes(std::span(values)));
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double expected = entry(f, 1 + static_cast<std::int64_t>(k) / 4, static_cast<std::int64_t>(k) % 4);
      EXPECT_EQ(values[k], expected * factors[f]);
      EXPECT_NEAR(values[k] * source->to_si(f), expected, 1e-15 * expected);
    }
  }
  std::vector<double> values(8);
  EXPECT_THROW(source->read(0, {2, 4}, std::as_writable_bytes(std::span(values))), RunError);
}

TEST_F(SensitivityFileTest, IsReadByHdf5Alone) {
  write();
  const Hdf5File file = Hdf5File::open(m_rows.file);
  EXPECT_EQ(file.read_text_attribute("G", "fields"), "potential gz gxx");
  EXPECT_EQ(file.read_text_attribute("G", "units"), "m2 s-2 m3 kg-1, mGal m3 kg-1, Eotvos m3 kg-1");
  EXPECT_EQ(file.read_text_attribute("/", "axes"), "z_down");
  EXPECT_EQ(file.dimension_names("G"), (std::vector<std::string>{"field", "point", "cell"}));
  const std::vector<double> g = file.read("G");
  EXPECT_EQ(g.at(4 * 3 + 2), entry(1, 0, 2) * -1e5);
  EXPECT_EQ(file.read("model"), (std::vector<double>{1, 2, 0, 4}));
  EXPECT_EQ(file.read("easting_edges"), m_edges[0]);
  EXPECT_EQ(file.read_integers("cell_number"), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(file.read_text_attribute("/", "hash"), hash_of(identity_of(header(), m_rows)));
}

TEST_F(SensitivityFileTest, HoldsMagneticRows) {
  m_rows.request.fields = {Field::bx, Field::bz, Field::tmi};
  m_rows.request.magnetic.inducing_field = vector_of(-62.5, 11.25, 48250e-9);
  for (const auto& [unknown, units, model_units, columns] :
       {std::tuple{Unknown::susceptibility, "nT, nT, nT", "1", 4},
        std::tuple{Unknown::magnetization, "nT m A-1, nT m A-1, nT m A-1", "A m-1", 12}}) {
    SCOPED_TRACE(units);
    m_unknown = unknown;
    fs::remove(m_rows.file);
    write();
    EXPECT_EQ(open()->columns(), columns);
    const Hdf5File file = Hdf5File::open(m_rows.file);
    EXPECT_EQ(file.read_text_attribute("/", "unknown"), name(unknown));
    EXPECT_EQ(file.read_text_attribute("G", "units"), units);
    EXPECT_EQ(file.read_text_attribute("model", "units"), model_units);
    EXPECT_EQ(file.read_text_attribute("/", "inside"), "B");
    EXPECT_FALSE(file.has_attribute("/", "gravitational_constant"));
    EXPECT_EQ(file.shape("G"), (std::vector<std::int64_t>{3, 3, columns}));
    EXPECT_EQ(file.dimension_names("G").back(), columns == 4 ? "cell" : "column");
    EXPECT_EQ(file.read_integers("cell_number").back(), 3);
    // z down: bz changes its sign
    const std::vector<double> g = file.read("G");
    EXPECT_EQ(g.at(static_cast<std::size_t>(columns * 3 + 2)), entry(1, 0, 2) * -1e9);
    EXPECT_EQ(g.at(2), entry(0, 0, 2) * 1e9);
  }
  m_rows.request.magnetic.inducing_field = vector_of(-60, 11.25, 48250e-9);
  m_rows.request.magnetic.inside = Inside::field_strength;
  m_rows.request.gravitational_constant = 1;
  EXPECT_THAT(refused(), AllOf(HasSubstr("inducing field ("), HasSubstr("magnetic.inside ('B', here H)")));
  m_unknown = Unknown::susceptibility;
  EXPECT_THAT(refused(), HasSubstr("unknown ('magnetization', here susceptibility)"));
}

TEST_F(SensitivityFileTest, HoldsFloats) {
  m_rows.precision = StoredPrecision::float_;
  write();
  const auto source = open();
  std::vector<float> values(4);
  source->read(2, {0, 1}, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values[3], static_cast<float>(entry(2, 0, 3) * 1e9));
  EXPECT_EQ(Hdf5File::open(m_rows.file).place("G").type, NumberPlace::Type::float_);
  m_rows.precision = StoredPrecision::float16;
  SensitivityFiles files(header(), m_alone);
  EXPECT_THROW(static_cast<void>(files.create(m_rows)), InputError);
}

TEST_F(SensitivityFileTest, TellsInWhatItIsOfAnotherCase) {
  write();
  const RowFile before = m_rows;
  m_rows.request.gravitational_constant = 6.6e-11;
  m_rows.request.execution.precision = Precision::single;
  EXPECT_THAT(refused(), AllOf(HasSubstr("gravitational constant ('6.6743e-11', here 6.6e-11)"),
                               HasSubstr("execution.precision")));
  m_rows = before;
  m_rows.request.execution.method = Method::direct;
  EXPECT_NE(open(), nullptr);
  m_points.upward[1] = 2.5;
  EXPECT_THAT(refused(), HasSubstr("what differs: points;"));
  m_points.upward[1] = 2;
  m_rows.request.fields = {Field::potential, Field::gz};
  EXPECT_THAT(refused(), HasSubstr("fields ('potential gz gxx', here potential gz)"));
  m_rows = before;
  m_rows.precision = StoredPrecision::float_;
  EXPECT_THAT(refused(), HasSubstr("sensitivity.precision ('double', here float)"));
  m_rows = before;
  m_cells = ActiveCells(m_edges, {}, {0, 1, 3});
  EXPECT_THAT(refused(), HasSubstr("what differs: cells;"));
}

TEST_F(SensitivityFileTest, TellsOfOtherDensities) {
  SensitivityHeader other = header();
  other.model = {1, 2, 3, 4};
  write(other);
  EXPECT_NE(open(), nullptr);
  EXPECT_THAT(m_warnings.at(0), HasSubstr("its dataset model does not hold the densities of this case"));
}

TEST_F(SensitivityFileTest, NoticesEveryChangedByteOfARow) {
  write();
  const NumberPlace place = Hdf5File::open(m_rows.file).place("G");
  const std::int64_t row = 4 * 8;
  for (const std::int64_t at : {std::int64_t{0}, row + 5, place.bytes - 1}) {
    garble(place.offset + at);
    const auto source = open();
    std::vector<double> values(4);
    const auto read = [&](std::int64_t k) {
      source->read(k / 3, {k % 3, k % 3 + 1}, std::as_writable_bytes(std::span(values)));
    };
    for (std::int64_t k = 0; k < 9; ++k) {
      if (k == at / row) {
        EXPECT_THROW(read(k), RunError);
      } else {
        EXPECT_NO_THROW(read(k));
      }
    }
    garble(place.offset + at);
  }
}

TEST_F(SensitivityFileTest, NoticesEveryChangedByteBesideTheRows) {
  write();
  const NumberPlace rows = Hdf5File::open(m_rows.file).place("G");
  constexpr std::int64_t mark = 16;
  const auto end = static_cast<std::int64_t>(fs::file_size(m_rows.file)) - mark;
  std::int64_t accepted = 0;
  for (std::int64_t at = 0; at < end; at += 67) {
    if (at >= rows.offset && at < rows.offset + rows.bytes) continue;
    garble(at);
    if (refused() == "accepted") ++accepted;
    garble(at);
  }
  // the checksums of the nine rows are compared as these are read
  EXPECT_LE(accepted, 9 * 8 / 67 + 1);
}

TEST_F(SensitivityFileTest, RefusesWhatIsNoSuchFile) {
  std::ofstream(m_rows.file) << "something else";
  EXPECT_THAT(refused(), HasSubstr("is not an HDF5"));
  MadeHdf5 other(m_rows.file);
  other.write("G", {1}, std::vector<double>{1}.data());
  other.close();
  EXPECT_THAT(refused(), HasSubstr("is no file of sensitivities"));
  fs::remove(m_rows.file);
  write();
  std::string bytes = content(m_rows.file);
  const std::size_t at = bytes.find("gravitational constant: 6.6");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 24] = '7';
  std::ofstream(m_rows.file, std::ios::binary) << bytes;
  EXPECT_THAT(refused(), HasSubstr("checksum"));
  fs::remove(m_rows.file);
  write();
  fs::resize_file(m_rows.file, fs::file_size(m_rows.file) / 2);
  EXPECT_NE(refused(), "accepted");
}

TEST_F(SensitivityFileTest, ReplacesNothingElse) {
  std::ofstream(m_rows.file) << "my notes";
  EXPECT_THROW(write(), InputError);
  EXPECT_EQ(content(m_rows.file), "my notes");
  fs::remove(m_rows.file);
  write();
  const std::string before = content(m_rows.file);
  SensitivityHeader of_another = header();
  of_another.axes = Axes::z_up;
  EXPECT_THROW(write(of_another), InputError);
  EXPECT_EQ(content(m_rows.file), before);
  EXPECT_NO_THROW(write());
}

TEST_F(SensitivityFileTest, LeavesTheOldFileUntilItIsComplete) {
  write();
  const std::string before = content(m_rows.file);
  {
    SensitivityFiles files(header(), m_alone);
    const auto sink = files.create(m_rows);
    sink->write(0, {0, 1}, std::vector<double>(4, 1.0));
    EXPECT_EQ(names().size(), 2U);
    EXPECT_THROW(sink->write(0, {0, 2}, std::vector<double>(4, 1.0)), RunError);
  }
  EXPECT_EQ(names(), std::set<std::string>{"G.h5"});
  EXPECT_EQ(content(m_rows.file), before);
}

}  // namespace
}  // namespace prismfield::test_sensitivity_file
