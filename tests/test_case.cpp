// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/error.hpp>

#include "case/case.hpp"
#include "scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace prismfield::test_case {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mistakes;

/// Everything that the interface names, in one case that is valid.
const std::string full_case = R"(title: Seven spheres
gravitational_constant: 6.67e-11          # m3 kg-1 s-2
axes: z_up
model:
  voxels:
    easting:  [0, 22000, 700]             # min, max, cells
    northing: [-1e3, 2.2e4, 700]
    upward:   [-8000, 0, 50]
    density: 0
    spheres:
      - {center: [11000, 11000, -4000], radius: 1080, density: 300}
      - {center: [1, 2, 3], radius: .5, density: -200}
    boxes:
      - {easting: [0, 100], northing: [0, 200], upward: [-50, 0], density: 200}
observations:
  grid:
    easting:  [0, 22000, 150]
    northing: [0, 21000, 100]
    upward: 100
  noise: {gz: 0.02, gzz: 1, seed: 7}
fields: [vector, tensor]
execution:
  space: openmp
  partition: points
  kernel: corners
  precision: single
  method: direct
  tolerance: 1e-9
  check_points: 64
  batch: 64
  slots: 4
  block: 128
  memory_limit: 1.5 GiB
output:
  file: results/out.h5
  figure: out.png
  checkpoint: {every: 10 min, file: out.ckpt.h5}
sensitivity: {store: file, anything: [1, 2]}
inversion:
)";

/// The shortest case, to which tests add.
const std::string small_model =
    "model:\n  voxels: {easting: [0, 1, 1], northing: [0, 1, 1], upward: [0, 1, 1], density: 1}\n";
const std::string small_points = "observations:\n  grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: 2}\n";
const std::string small_case = small_model + small_points;

class CaseTest : public ::testing::Test {
protected:
  [[nodiscard]] Case read(const std::string& text, const std::vector<std::string>& overrides = {},
                          const std::filesystem::path& output = {}) const {
    return read_case(m_folder.write("case.yaml", text), overrides, output);
  }

  /// Messages with the folder taken off; empty when the case is valid.
  [[nodiscard]] std::string problems(const std::string& text, const std::vector<std::string>& overrides = {},
                                     const std::filesystem::path& output = {}) const {
    return m_folder.removed_from(mistakes([&] { static_cast<void>(read(text, overrides, output)); }));
  }

  testing::ScratchFolder m_folder;
};

TEST_F(CaseTest, ReadsEveryKey) {
  const Case run = read(full_case);
  EXPECT_EQ(run.title, "Seven spheres");
  EXPECT_EQ(run.gravitational_constant, 6.67e-11);
  EXPECT_EQ(run.axes, Axes::z_up);

  const auto& voxels = std::get<VoxelsSpec>(run.model);
  EXPECT_EQ(voxels.easting.max, 22000);
  EXPECT_EQ(voxels.northing.min, -1000);
  EXPECT_EQ(voxels.upward.count, 50);
  EXPECT_EQ(std::get<ConstantProperty>(voxels.density).value, 0);
  ASSERT_EQ(voxels.spheres.size(), 2U);
  EXPECT_THAT(voxels.spheres[0].center, ElementsAre(11000, 11000, -4000));
  EXPECT_EQ(voxels.spheres[1].radius, 0.5);
  EXPECT_EQ(voxels.spheres[1].properties[density_property], -200);
  ASSERT_EQ(voxels.boxes.size(), 1U);
  EXPECT_EQ(voxels.boxes[0].northing.max, 200);
  EXPECT_EQ(voxels.boxes[0].upward.min, -50);
  EXPECT_EQ(voxels.boxes[0].properties[density_property], 200);

  const auto& grid = std::get<GridSpec>(run.observations);
  EXPECT_EQ(grid.easting.count, 150);
  EXPECT_EQ(grid.northing.max, 21000);
  EXPECT_EQ(std::get<double>(grid.upward), 100);
  ASSERT_TRUE(run.noise);
  EXPECT_EQ(run.noise->sigma.at(Field::gz), 0.02);
  EXPECT_EQ(run.noise->sigma.at(Field::gzz), 1);
  EXPECT_EQ(run.noise->sigma.size(), 2U);
  EXPECT_EQ(run.noise->seed, 7U);
  EXPECT_EQ(run.fields, fields_of(FieldSet::vector_tensor));

  EXPECT_EQ(run.execution.space, Space::openmp);
  EXPECT_EQ(run.execution.partition, Partition::points);
  EXPECT_EQ(run.execution.kernel, KernelKind::corners);
  EXPECT_EQ(run.execution.precision, Precision::single);
  EXPECT_EQ(run.execution.method, Method::direct);
  EXPECT_EQ(run.execution.tolerance, 1e-9);
  EXPECT_EQ(run.execution.check_points, 64);
  EXPECT_EQ(run.execution.batch, 64);
  EXPECT_EQ(run.execution.slots, 4);
  EXPECT_EQ(run.execution.block, 128);
  EXPECT_EQ(run.execution.memory_limit, std::int64_t{3} << 29);

  EXPECT_EQ(run.output.file, "results/out.h5");
  EXPECT_EQ(run.output.figure, "out.png");
  ASSERT_TRUE(run.output.checkpoint);
  EXPECT_EQ(run.output.checkpoint->every_seconds, 600);
  EXPECT_EQ(run.output.checkpoint->file, "out.ckpt.h5");
  EXPECT_EQ(run.text, full_case);
}

TEST_F(CaseTest, DefaultsAreThoseOfTheInterface) {
  const Case run = read(small_case);
  EXPECT_EQ(run.title, "case");
  EXPECT_EQ(run.gravitational_constant, 6.6743e-11);
  EXPECT_EQ(run.axes, Axes::z_down);
  EXPECT_EQ(run.fields, FieldList::all());
  EXPECT_FALSE(run.noise);
  EXPECT_EQ(run.execution.space, Space::automatic);
  EXPECT_EQ(run.execution.partition, Partition::automatic);
  EXPECT_EQ(run.execution.kernel, KernelKind::automatic);
  EXPECT_EQ(run.execution.precision, Precision::double_);
  EXPECT_FALSE(run.execution.batch || run.execution.slots || run.execution.block || run.execution.memory_limit);
  EXPECT_TRUE(run.output.file.empty());
  EXPECT_FALSE(run.output.figure || run.output.checkpoint);
}

TEST_F(CaseTest, ReadsAFigureAsNameOrMap) {
  const auto output = [&](const std::string& figure) {
    return read(small_case + std::string("output:\n  figure: ") + figure + "\n").output;
  };
  EXPECT_EQ(output("f.png").figure, "f.png");
  EXPECT_EQ(output("f.png").figure_style, FigureStyle{});
  EXPECT_EQ(output("{file: f.svg}").figure, "f.svg");
  EXPECT_EQ(output("{file: f.svg, contours: true, model_outline: true}").figure_style, FigureStyle{});
  const FigureStyle full =
      output("{file: f.pdf, contours: 12, colour_map: RdBu_r, dpi: 300, model_outline: false, annotations: false}")
          .figure_style;
  EXPECT_EQ(std::get<std::int64_t>(*full.contours), 12);
  EXPECT_EQ(full.colour_map, "RdBu_r");
  EXPECT_EQ(full.dpi, 300);
  EXPECT_FALSE(full.model_outline);
  EXPECT_FALSE(full.annotations);
  EXPECT_EQ(std::get<std::int64_t>(*output("{file: f.png, contours: false}").figure_style.contours), 0);
  EXPECT_EQ(std::get<std::vector<double>>(*output("{file: f.png, contours: [-1, 0, 2.5]}").figure_style.contours),
            (std::vector<double>{-1, 0, 2.5}));
}

TEST_F(CaseTest, ReadsPrisms) {
  const Case run = read(small_points + R"(model:
  prisms:
    file: data/bodies.csv
    group: /ensemble
    columns: [x1, y1, z1, x2, y2, z2, density]
    axis_z: down
    length_unit: km
    density_unit: g/cm3
    allow_overlap: true
)");
  const auto& prisms = std::get<PrismsSpec>(run.model);
  EXPECT_EQ(prisms.file, m_folder / "data/bodies.csv") << "inputs are relative to the YAML's folder";
  EXPECT_EQ(prisms.group, "/ensemble");
  EXPECT_THAT(prisms.columns, ElementsAre("x1", "y1", "z1", "x2", "y2", "z2", "density"));
  EXPECT_TRUE(prisms.z_down);
  EXPECT_EQ(prisms.length_to_si, 1000);
  EXPECT_EQ(prisms.density_to_si, 1000);
  EXPECT_TRUE(prisms.allow_overlap);
}

TEST_F(CaseTest, PrismsDefaults) {
  const Case run = read(small_points + "model: {prisms: {file: /bodies.h5}}\n");
  const auto& prisms = std::get<PrismsSpec>(run.model);
  EXPECT_EQ(prisms.file, "/bodies.h5") << "an absolute path stays";
  EXPECT_EQ(prisms.group, "/");
  EXPECT_TRUE(prisms.columns.empty());
  EXPECT_FALSE(prisms.z_down);
  EXPECT_EQ(prisms.length_to_si, 1);
  EXPECT_EQ(prisms.density_to_si, 1);
  EXPECT_FALSE(prisms.allow_overlap);
}

TEST_F(CaseTest, ReadsMeshEdgesInAllFiveWays) {
  const Case a = read(small_points + R"(model:
  mesh:
    easting:  {edges: [0, 100, 250, 500]}
    northing: {origin: 10, widths: [100, 150, 250]}
    upward:   {random_widths: [1000, 11000], cells: 20, top: 0, seed: 3}
    density:  {random: [100, 3000], seed: 18446744073709551615}
)");
  const auto& mesh = std::get<MeshSpec>(a.model);
  EXPECT_THAT(std::get<EdgesList>(mesh.easting).edges, ElementsAre(0, 100, 250, 500));
  EXPECT_EQ(std::get<EdgesWidths>(mesh.northing).origin, 10);
  EXPECT_THAT(std::get<EdgesWidths>(mesh.northing).widths, ElementsAre(100, 150, 250));
  const auto& random = std::get<EdgesRandom>(mesh.upward);
  EXPECT_EQ(random.widths.min, 1000);
  EXPECT_EQ(random.widths.max, 11000);
  EXPECT_EQ(random.cells, 20);
  EXPECT_EQ(random.top, 0);
  EXPECT_EQ(random.seed, 3U);
  EXPECT_EQ(std::get<RandomProperty>(mesh.density).range.max, 3000);
  EXPECT_EQ(std::get<RandomProperty>(mesh.density).seed, 18446744073709551615U);

  const Case b = read(small_points + R"(model:
  mesh:
    easting:  [-10, 10, 5]
    northing: {file: edges.txt}
    upward:   {random_widths: [1, 2], cells: 3, origin: -9}
    density:  {file: density.nc, dataset: rho, density_unit: g/cm3}
)");
  const auto& other = std::get<MeshSpec>(b.model);
  EXPECT_EQ(std::get<Axis>(other.easting).count, 5);
  EXPECT_EQ(std::get<EdgesFile>(other.northing).file, m_folder / "edges.txt");
  EXPECT_EQ(std::get<EdgesRandom>(other.upward).origin, -9);
  EXPECT_FALSE(std::get<EdgesRandom>(other.upward).top);
  const auto& density = std::get<DensityFile>(other.density);
  EXPECT_EQ(density.file, m_folder / "density.nc");
  EXPECT_EQ(density.dataset, "rho");
  EXPECT_EQ(density.to_si, 1000);
}

TEST_F(CaseTest, ReadsMagneticProperties) {
  const Case run = read(small_points + R"(model:
  voxels:
    easting: [0, 1, 1]
    northing: [0, 1, 1]
    upward: [0, 1, 1]
    susceptibility: {random: [0.01, 0.1], seed: 3}
    magnetization: {inclination: 90, declination: 0, intensity: 2}
    spheres:
      - {center: [0, 0, 0], radius: 1, susceptibility: 0.05, magnetization: [1, 2, 3]}
    boxes:
      - {easting: [0, 1], northing: [0, 1], upward: [0, 1], density: 5, susceptibility: 0.5}
)");
  const auto& voxels = std::get<VoxelsSpec>(run.model);
  EXPECT_EQ(std::get<RandomProperty>(voxels.susceptibility).range.max, 0.1);
  EXPECT_THAT(std::get<0>(voxels.magnetization), ElementsAre(0, 0, -2));
  EXPECT_THAT(voxels.spheres.at(0).properties, ElementsAre(0, 0.05, 1, 2, 3));
  EXPECT_THAT(voxels.boxes.at(0).properties, ElementsAre(5, 0.5, 0, 0, 0));

  const std::string cells =
      small_points + "model: {mesh: {easting: [0, 1, 1], northing: [0, 1, 1], upward: [0, 1, 1], ";
  const Case of_files = read(cells + "susceptibility: {file: chi.h5, dataset: chi}, magnetization: {file: m.h5}}}\n");
  const auto& mesh = std::get<MeshSpec>(of_files.model);
  EXPECT_EQ(std::get<DensityFile>(mesh.susceptibility).dataset, "chi");
  EXPECT_EQ(std::get<DensityFile>(mesh.susceptibility).what, "susceptibility");
  EXPECT_EQ(std::get<DensityFile>(mesh.magnetization).file, m_folder / "m.h5");
  EXPECT_EQ(std::get<ConstantProperty>(mesh.density).value, 0);

  const Case ubc = read(small_points + "model: {mesh: {ubc: {mesh: a.msh, susceptibility: a.sus}}}\n");
  EXPECT_EQ(std::get<MeshSpec>(ubc.model).ubc->susceptibility, m_folder / "a.sus");
  const Case vectors = read(small_points + "model: {mesh: {ubc: {mesh: a.msh, magnetization: a.fld}}}\n");
  EXPECT_EQ(std::get<MeshSpec>(vectors.model).ubc->magnetization, m_folder / "a.fld");
  const Case list =
      read(small_points + "model: {prisms: {file: b.csv, columns: [x1, x2, y1, y2, z1, z2, susceptibility]}}\n");
  EXPECT_EQ(std::get<PrismsSpec>(list.model).columns.back(), "susceptibility");
}

TEST_F(CaseTest, RefusesMagneticPropertiesThatCannotBe) {
  const std::string cells =
      small_points + "model: {voxels: {easting: [0, 1, 1], northing: [0, 1, 1], upward: [0, 1, 1], ";
  const auto told = [&](const std::string& key) { return problems(cells + key + "}}\n"); };
  EXPECT_THAT(told("magnetization: [1, 2]"), HasSubstr("model.voxels.magnetization: has 2 values; [easting"));
  EXPECT_THAT(told("magnetization: {inclination: 91, declination: 400, intensity: -1}"),
              ::testing::AllOf(HasSubstr("inclination: is '91'; a number from -90 to 90 in degrees"),
                               HasSubstr("declination: is '400'; a number from -360 to 360 in degrees"),
                               HasSubstr("intensity: is '-1'; a number of at least 0 in A/m is expected")));
  EXPECT_THAT(told("magnetization: {inclination: 9, intensity: 1}"), HasSubstr("declination: is missing"));
  EXPECT_THAT(told("magnetization: {dataset: m}"), HasSubstr("file"));
  EXPECT_THAT(told("magnetization: {file: m.h5, intensity: 1}"), HasSubstr("goes with inclination, not with file"));
  EXPECT_THAT(told("susceptibility: {file: m.h5, density_unit: g/cm3}"), HasSubstr("density_unit: is no known key"));
  EXPECT_THAT(
      told("spheres: [{center: [0, 0, 0], radius: 1, magnetization: {file: m.h5}}]"),
      ::testing::AllOf(
          HasSubstr("model.voxels.spheres.0.magnetization.file: is for all cells, by model.voxels.magnetization"),
          ::testing::Not(HasSubstr("is missing"))));
  EXPECT_THAT(problems(small_points + "model: {mesh: {susceptibility: 1, ubc: {mesh: a.msh, density: a.den}}}\n"),
              HasSubstr("model.mesh.susceptibility: is written beside ubc"));
}

TEST_F(CaseTest, GuessesTheUnitOfAnIntensityOnlyWhereOneFits) {
  const auto told = [&](const std::string& intensity) {
    return problems(small_case + "magnetic: {inducing_field: {inclination: 0, declination: 0, intensity: " + intensity +
                    "}}\n");
  };
  EXPECT_THAT(told("4.8e-5"),
              ::testing::EndsWith("intensity: is 4.8e-05 nT; an intensity in nT is expected, and this looks like "
                                  "one in T: write 48000"));
  EXPECT_THAT(told("0.48"), ::testing::EndsWith("expected, and this looks like one in gauss: write 48000"));
  EXPECT_THAT(told("0.01"), ::testing::EndsWith("an intensity in nT is expected"));
}

TEST_F(CaseTest, ReadsUbcFiles) {
  const Case run = read(small_points + "model: {mesh: {ubc: {mesh: a.msh, density: a.den, density_unit: g/cm3}}}\n");
  const auto& mesh = std::get<MeshSpec>(run.model);
  ASSERT_TRUE(mesh.ubc);
  EXPECT_EQ(mesh.ubc->mesh, m_folder / "a.msh");
  EXPECT_EQ(mesh.ubc->density, m_folder / "a.den");
  EXPECT_EQ(mesh.ubc->density_to_si, 1000);
  EXPECT_FALSE(mesh.ubc->inactive);
}

TEST_F(CaseTest, TakesUbcDensitiesForGramsACubicCentimetre) {
  const auto factor = [&](const std::string& unit) {
    const Case run = read(small_points + "model: {mesh: {ubc: {mesh: a.msh, density: a.den" + unit + "}}}\n");
    return std::get<MeshSpec>(run.model).ubc->density_to_si;
  };
  const Case marked = read(small_points + "model: {mesh: {ubc: {mesh: a.msh, density: a.den, inactive: -100}}}\n");
  EXPECT_EQ(std::get<MeshSpec>(marked.model).ubc->inactive, -100);
  EXPECT_EQ(factor(""), 1000);
  EXPECT_EQ(factor(", density_unit: kg/m3"), 1);
}

TEST_F(CaseTest, NamesTheKeysThatARunDoesNotUse) {
  const Case run =
      read(small_model + small_points +
           "inversion: {beta: 1}\nexecution: {method: direct, tolerance: 1e-9}\nsensitivity: {store: file}\n");
  EXPECT_THAT(run.unused, ElementsAre("sensitivity", "inversion"));
  EXPECT_THAT(read(small_model + small_points + "execution: {method: direct}\n").unused, IsEmpty());
}

TEST_F(CaseTest, ReadsStationsAndHeightFiles) {
  EXPECT_EQ(std::get<StationsFile>(read(small_model + "observations: {stations: {file: s.csv}}\n").observations).file,
            m_folder / "s.csv");
  const Case own =
      read(small_model +
           "observations: {stations: {file: s.txt, columns: [\"-\", x, 7, Z (m)], length_unit: ft, axis_z: "
           "down, upward: 80}}\n");
  const auto& file = std::get<StationsFile>(own.observations);
  EXPECT_THAT(file.columns, ElementsAre("-", "x", "7", "Z (m)"));
  EXPECT_EQ(file.length_to_si, 0.3048);
  EXPECT_EQ(file.z_down, true);
  EXPECT_EQ(std::get<double>(file.upward), 80);
  EXPECT_NE(own.identity, read(small_model + "observations: {stations: {file: s.txt}}\n").identity);
  const Case random = read(small_model +
                           "observations: {stations: {random: 30, easting: [0, 5], northing: [-5, 0], upward: [3, 3], "
                           "seed: 2}}\n");
  const auto& stations = std::get<StationsRandom>(random.observations);
  EXPECT_EQ(stations.count, 30);
  EXPECT_EQ(stations.easting->max, 5);
  EXPECT_EQ(stations.northing->min, -5);
  EXPECT_EQ(stations.upward->min, 3);
  EXPECT_EQ(stations.seed, 2U);
  const Case bare = read(small_model + "observations: {stations: {random: 1}}\n");
  EXPECT_FALSE(std::get<StationsRandom>(bare.observations).easting);
  const Case grid =
      read(small_model + "observations: {grid: {easting: [0, 1, 2], northing: [5, 5, 1], upward: {file: h.nc}}}\n");
  EXPECT_EQ(std::get<std::filesystem::path>(std::get<GridSpec>(grid.observations).upward), m_folder / "h.nc");
}

TEST_F(CaseTest, ReadsFields) {
  const auto fields = [&](const std::string& text) { return read(small_case + "fields: " + text + "\n").fields; };
  EXPECT_EQ(fields("all"), FieldList::all());
  EXPECT_EQ(fields("[all]"), FieldList::all());
  EXPECT_EQ(fields("vector"), FieldList::vector());
  EXPECT_EQ(fields("tensor"), FieldList::tensor());
  EXPECT_EQ(fields("gz"), (FieldList{Field::gz}));
  EXPECT_EQ(fields("[gz, gxx]"), (FieldList{Field::gz, Field::gxx}));
  EXPECT_EQ(fields("[potential, vector, tensor]"), FieldList::all());
  EXPECT_EQ(fields("[all, guv]"), FieldList::gravity());
  EXPECT_EQ(fields("guv"), FieldList{Field::guv});
  EXPECT_EQ(fields("\n  - gyz\n  - potential"), (FieldList{Field::gyz, Field::potential}));
}

TEST_F(CaseTest, ReadsUnits) {
  const auto bytes = [&](const std::string& text) {
    return read(small_case + "execution: {memory_limit: " + text + "}\n").execution.memory_limit;
  };
  EXPECT_EQ(bytes("100 B"), 100);
  EXPECT_EQ(bytes("3KiB"), 3072);
  EXPECT_EQ(bytes("2 MiB"), std::int64_t{2} << 20);
  EXPECT_EQ(bytes("0.5 GiB"), std::int64_t{1} << 29);
  EXPECT_EQ(bytes("auto"), std::nullopt);
  const auto seconds = [&](const std::string& text) {
    return read(small_case + "output: {checkpoint: {every: " + text + ", file: c.h5}}\n")
        .output.checkpoint->every_seconds;
  };
  EXPECT_EQ(seconds("250 ms"), 0.25);
  EXPECT_EQ(seconds("30s"), 30);
  EXPECT_EQ(seconds("1.5 min"), 90);
  EXPECT_EQ(seconds("2 h"), 7200);
  EXPECT_EQ(read(small_case + "output: {checkpoint: {file: c.h5}}\n").output.checkpoint->every_seconds, 600);
}

TEST_F(CaseTest, ReadsNumbersAsPeopleWriteThem) {
  const auto upward = [&](const std::string& text) {
    const Case run =
        read(small_model + "observations:\n  grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: " + text + "}\n");
    return std::get<double>(std::get<GridSpec>(run.observations).upward);
  };
  EXPECT_EQ(upward("-.5"), -0.5);
  EXPECT_EQ(upward("+3"), 3);
  EXPECT_EQ(upward("1E+3"), 1000);
  EXPECT_EQ(upward("1."), 1);
  EXPECT_EQ(upward("0.1"), 0.1);
  EXPECT_EQ(upward("-0"), 0);
  const auto slots = [&](const std::string& text) {
    return read(small_case + "execution: {slots: " + text + "}\n").execution.slots;
  };
  EXPECT_EQ(slots("1e3"), 1000);
  EXPECT_EQ(slots("12.0"), 12);
  EXPECT_EQ(slots("+7"), 7);
  EXPECT_EQ(slots("1000000000"), 1000000000);
}

TEST_F(CaseTest, OneSignIsAllThatANumberHas) {
  for (const std::string text : {"+-1", "-+1", "++1", "1e", "0x10", "1_000", "\xD9\xA1", "1.5d3"}) {
    EXPECT_EQ(problems(small_case + "gravitational_constant: " + text + "\n"),
              "case.yaml:5: gravitational_constant: is '" + text + "'; a number above 0 is expected");
    EXPECT_EQ(problems(small_case + "execution: {slots: " + text + "}\n"),
              "case.yaml:5: execution.slots: is '" + text + "'; auto or a whole number from 1 to 1e9 is expected");
    EXPECT_EQ(problems(small_case, {"gravitational_constant=" + text}),
              "--set gravitational_constant: is '" + text + "'; a number above 0 is expected");
  }
}

TEST_F(CaseTest, ReadsThePartitionByRanks) {
  const Case run = read(small_case + "execution: {partition: {ranks: [4, 2]}}\n");
  EXPECT_EQ(run.execution.partition, Partition::rank_grid);
  EXPECT_THAT(run.execution.rank_grid, ElementsAre(4, 2));
  EXPECT_EQ(read(small_case + "execution: {partition: auto}\n").execution.partition, Partition::automatic);
  EXPECT_EQ(read(small_case + "execution: {partition: points_per_prism}\n").execution.partition,
            Partition::points_per_prism);
}

TEST_F(CaseTest, AnchorsAndAliasesAreValues) {
  const Case run = read(R"(model:
  voxels: {easting: &span [0, 10, 4], northing: *span, upward: *span, density: 1}
observations:
  grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: 2}
)",
                        {"model.voxels.easting.2=9"});
  const auto& voxels = std::get<VoxelsSpec>(run.model);
  EXPECT_EQ(voxels.easting.count, 9);
  EXPECT_EQ(voxels.northing.count, 4) << "an option changes the key that it names and no alias of it";
}

TEST_F(CaseTest, KnowsWhereKeysStand) {
  const Case run = read(full_case, {"output.file=other.h5"});
  EXPECT_THAT(run.where("title"), ::testing::EndsWith("case.yaml:1"));
  EXPECT_THAT(run.where("model.voxels.upward"), ::testing::EndsWith("case.yaml:8"));
  EXPECT_THAT(run.where("model.voxels.spheres.1.radius"), ::testing::EndsWith("case.yaml:12"));
  EXPECT_THAT(run.where("model.voxels.spheres"), ::testing::EndsWith("case.yaml:10"));
  EXPECT_EQ(run.where("output.file"), "--set");
  EXPECT_THAT(run.where("observations.grid.upward.file"), ::testing::EndsWith("case.yaml:19"));
  EXPECT_THAT(run.where("never.written"), ::testing::EndsWith("case.yaml:1"));
}

TEST_F(CaseTest, OptionsOverrideAndCreate) {
  const Case run = read(full_case, {"fields=[gz, gxx]", "observations.noise=null",
                                    "observations.grid.easting=[0,22000,15]", "model.voxels.spheres.0.density=-5",
                                    "title=a=b", "output.checkpoint=~", "execution.slots=2", "execution.slots=3"});
  EXPECT_EQ(run.fields, (FieldList{Field::gz, Field::gxx}));
  EXPECT_FALSE(run.noise);
  EXPECT_EQ(std::get<GridSpec>(run.observations).easting.count, 15);
  EXPECT_EQ(std::get<VoxelsSpec>(run.model).spheres[0].properties[density_property], -5);
  EXPECT_EQ(run.title, "a=b") << "only the first equals sign divides";
  EXPECT_FALSE(run.output.checkpoint);
  EXPECT_EQ(run.execution.slots, 3) << "the last one counts";

  const Case made = read(small_case, {"output.checkpoint.file=c.h5", "execution.partition.ranks=[2, 1]"});
  EXPECT_EQ(made.output.checkpoint->file, "c.h5");
  EXPECT_EQ(made.execution.partition, Partition::rank_grid);
}

TEST_F(CaseTest, OptionsCanSwitchTheModel) {
  const Case run = read(small_case, {"model.voxels=null", "model.prisms.file=b.csv"});
  EXPECT_EQ(std::get<PrismsSpec>(run.model).file, m_folder / "b.csv");
}

TEST_F(CaseTest, TheOutputOptionReplacesTheFile) {
  const Case run = read(full_case, {"output.file=set.h5"}, "folder/with: colon.h5");
  EXPECT_EQ(run.output.file, "folder/with: colon.h5");
  EXPECT_EQ(run.where("output.file"), "--output");
  EXPECT_EQ(read(run.text).output.file, "folder/with: colon.h5");
}

TEST_F(CaseTest, TextOfAnOverriddenCaseReadsBackTheSame) {
  const std::vector<std::string> overrides = {"title='a: b # c'",
                                              "fields=[gz]",
                                              "observations.noise={gz: 1e-3}",
                                              "execution.batch=null",
                                              "output.figure=\"tab\\\\t.png\"",
                                              "model.voxels.boxes=[]",
                                              "sensitivity.file='5'"};
  const Case first = read(full_case, overrides);
  const Case second = read(first.text);
  EXPECT_EQ(second.title, "a: b # c");
  EXPECT_EQ(second.fields, first.fields);
  EXPECT_EQ(second.noise->sigma, first.noise->sigma);
  EXPECT_FALSE(second.execution.batch);
  EXPECT_EQ(second.output.figure, first.output.figure);
  EXPECT_EQ(std::get<VoxelsSpec>(second.model).spheres.size(), 2U);
  EXPECT_TRUE(std::get<VoxelsSpec>(second.model).boxes.empty());
  EXPECT_EQ(second.gravitational_constant, first.gravitational_constant);
  EXPECT_EQ(read(first.text, {"title='a: b # c'"}).text, first.text) << "a second time changes nothing";
}

TEST_F(CaseTest, ByteOrderMarkAndCarriageReturnsAreText) {
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : full_case) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(read(windows).title, "Seven spheres");
  EXPECT_EQ(read("title: Höhen über Ω\n" + small_case).title, "Höhen über Ω");
}

/// One error in one case, and the whole message that a user reads.
struct Mistake {
  std::string text;
  std::string message;
};

const std::string case_allowed =
    "allowed: title, gravitational_constant, magnetic, axes, crs, model, observations, fields, execution, output, "
    "sensitivity, "
    "inversion";

/// small_case is four lines; what follows begins in line 5.
std::string after(const std::string& text) { return small_case + text; }
/// A model in line 1 and the small points behind it.
std::string model(const std::string& text) { return "model: " + text + "\n" + small_points; }
std::string voxels(const std::string& text) {
  return model("{voxels: {easting: [0, 1, 1], northing: [0, 1, 1], " + text + "}}");
}
std::string mesh(const std::string& easting) {
  return model("{mesh: {northing: [0, 1, 1], upward: [0, 1, 1], density: 1, easting: " + easting + "}}");
}
std::string points(const std::string& text) { return "observations: " + text + "\n" + small_model; }

TEST_F(CaseTest, EveryMistakeHasItsMessage) {
  const std::vector<Mistake> mistakes = {
      // keys
      {after("exection: {slots: 4}\n"),
       "case.yaml:5: exection: is no known key; did you mean execution? " + ("A" + case_allowed.substr(1))},
      {after("slots: 4\n"),
       "case.yaml:5: slots: is no known key here, but in execution (look at the indentation); " + case_allowed},
      {after("\n\ncolour: red\n"), "case.yaml:7: colour: is no known key; " + case_allowed},
      {after("execution:\n  slots: 4\n  slots: 5\n"),
       "case.yaml:7: execution.slots: is written twice, first in line 6; keep one"},
      {after("title: a\ntitle: a\n"), "case.yaml:6: title: is written twice, first in line 5; keep one"},
      {after("sensitivity: {store: file, store: none}\n"),
       "case.yaml:5: sensitivity.store: is written twice, first in line 5; keep one"},
      {after("<<: {title: a}\n"), "case.yaml:5: <<: is no known key; " + case_allowed},
      {after("[a, b]: 3\n"), "case.yaml:5: a key must be a word; a list, a map or nothing stands before the ':'"},
      {after("execution: {: 3}\n"),
       "case.yaml:5: execution: a key must be a word; a list, a map or nothing stands before the ':'"},
      {small_model, "case.yaml:1: observations: is missing; a map with grid or stations is expected"},
      {small_points, "case.yaml:1: model: is missing; a map with voxels, prisms, mesh or terrain is expected"},
      {after("execution:\n"), "case.yaml:5: execution: has no value; write one or leave the key out"},
      {after("execution:\n  slots: ~\n"), "case.yaml:6: execution.slots: has no value; write one or leave the key out"},
      {after("execution: [slots, 4]\n"),
       "case.yaml:5: execution: is a list; a map with the keys space, partition, kernel, precision, batch, slots, "
       "block, chunk, memory_limit, method, tolerance, check_points is expected"},
      {after("output: out.h5\n"),
       "case.yaml:5: output: is 'out.h5'; a map with the keys file, also, figure, checkpoint is expected"},
      {after("output: {figure: {contours: 5}}\n"),
       "case.yaml:5: output.figure.file: is missing; the name of a figure, such as fields.png is expected"},
      {after("output: {figure: {file: f.png, contour: 5}}\n"),
       "case.yaml:5: output.figure.contour: is no known key; did you mean contours? Allowed: file, contours, "
       "colour_map, "
       "dpi, model_outline, annotations"},
      {after("output: {figure: {file: f.png, fields: [gz]}}\n"),
       "case.yaml:5: output.figure.fields: is no key of a figure, which shows all fields of the case's fields; "
       "prismfield plot --field draws some"},
      {after("output: {figure: {file: f.png, contours: 101}}\n"),
       "case.yaml:5: output.figure.contours: is '101'; a number of lines from 0 to 100, a list of levels, true or "
       "false "
       "is expected"},
      {after("output: {figure: {file: f.png, contours: [1, x]}}\n"),
       "case.yaml:5: output.figure.contours.1: is 'x'; a number is expected"},
      {after("output: {figure: {file: f.png, dpi: 10}}\n"),
       "case.yaml:5: output.figure.dpi: is '10'; a whole number from 30 to 1200 is expected"},
      {after("output: {figure: {file: f.png, model_outline: 1}}\n"),
       "case.yaml:5: output.figure.model_outline: is '1'; allowed: true, false"},
      {after("output: {figure: [a.png]}\n"), "case.yaml:5: output.figure: is a list; the name of a file is expected"},
      // text, numbers, choices
      {after("title: [a]\n"), "case.yaml:5: title: is a list; a line of text is expected"},
      {after("title: ''\n"), "case.yaml:5: title: is empty; a line of text is expected"},
      {after("gravitational_constant: 6,67e-11\n"),
       "case.yaml:5: gravitational_constant: is '6,67e-11'; a number above 0 is expected, with a decimal point and "
       "without "
       "commas"},
      {after("gravitational_constant: big\n"),
       "case.yaml:5: gravitational_constant: is 'big'; a number above 0 is expected"},
      {after("gravitational_constant: 1e-11 m\n"),
       "case.yaml:5: gravitational_constant: is '1e-11 m'; a number above 0 is expected"},
      {after("gravitational_constant: 0x10\n"),
       "case.yaml:5: gravitational_constant: is '0x10'; a number above 0 is expected"},
      {after("gravitational_constant: '1'\n"),
       "case.yaml:5: gravitational_constant: is the text '1' in quotes; a number above 0 is expected"},
      {after("gravitational_constant: {}\n"),
       "case.yaml:5: gravitational_constant: is a map; a number above 0 is expected"},
      {after("gravitational_constant: true\n"),
       "case.yaml:5: gravitational_constant: is 'true'; a number above 0 is expected"},
      {after("gravitational_constant: ++1\n"),
       "case.yaml:5: gravitational_constant: is '++1'; a number above 0 is expected"},
      {after("gravitational_constant: .nan\n"),
       "case.yaml:5: gravitational_constant: is '.nan'; a finite number is expected"},
      {after("gravitational_constant: NaN\n"),
       "case.yaml:5: gravitational_constant: is 'NaN'; a finite number is expected"},
      {after("gravitational_constant: -.inf\n"),
       "case.yaml:5: gravitational_constant: is '-.inf'; a finite number is expected"},
      {after("gravitational_constant: inf\n"),
       "case.yaml:5: gravitational_constant: is 'inf'; a finite number is expected"},
      {after("gravitational_constant: 1e999\n"),
       "case.yaml:5: gravitational_constant: is '1e999', beyond what a double can hold"},
      {after("gravitational_constant: 0\n"),
       "case.yaml:5: gravitational_constant: is '0'; a number above 0 is expected"},
      {after("gravitational_constant: -1\n"),
       "case.yaml:5: gravitational_constant: is '-1'; a number above 0 is expected"},
      {after("gravitational_constant: !!float 1\n"),
       "case.yaml:5: gravitational_constant: the tag 'tag:yaml.org,2002:float' has no meaning here; leave it out"},
      {after("axes: zdown\n"), "case.yaml:5: axes: is 'zdown'; did you mean z_down? Allowed: z_down, z_up"},
      {after("axes: [z_up]\n"), "case.yaml:5: axes: is a list; allowed: z_down, z_up"},
      // fields
      {after("fields: []\n"), "case.yaml:5: fields: is an empty list; a field or more is expected, or all"},
      {after("fields: [gz, gzx]\n"),
       "case.yaml:5: fields.1: is 'gzx', no known field; did you mean gxz? Allowed: all, vector, tensor, magnetic, "
       "magnetic_gradient, potential, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, bx, by, bz, bxx, byy, bzz, bxy, bxz, "
       "byz, "
       "guv, tmi, tmi_exact, amplitude, tmi_x, tmi_y, tmi_z"},
      {after("fields: [gz, gz]\n"),
       "case.yaml:5: fields.1: repeats gz, which an earlier name of the list holds already"},
      {after("fields:\n  - vector\n  - gx\n"),
       "case.yaml:7: fields.1: repeats gx, which an earlier name of the list holds already"},
      {after("fields: {gz: 1}\n"),
       "case.yaml:5: fields: is a map, no known field; allowed: all, vector, tensor, magnetic, magnetic_gradient, "
       "potential, gx, gy, gz, gxx, gyy, gzz, gxy, gxz, gyz, bx, by, bz, bxx, byy, bzz, bxy, bxz, byz, guv, tmi, "
       "tmi_exact, amplitude, tmi_x, tmi_y, tmi_z"},
      // model
      {model("{}"), "case.yaml:1: model: one of the keys voxels, prisms, mesh, terrain is missing"},
      {model("{voxels: {}, prisms: {file: a}}"),
       "case.yaml:1: model: has voxels and prisms; exactly one of voxels, prisms, mesh, terrain is allowed"},
      {voxels("upward: [0, 1]"), "case.yaml:1: model.voxels.upward: has 2 values; [min, max, cells] is expected"},
      {voxels("upward: 3"), "case.yaml:1: model.voxels.upward: is '3'; [min, max, cells] is expected"},
      {voxels("density: 1"), "case.yaml:1: model.voxels.upward: is missing; [min, max, cells] is expected"},
      {voxels("upward: [1, 0, 5]"), "case.yaml:1: model.voxels.upward: has min 1 and max 0; min must be less than max"},
      {voxels("upward: [1, 1, 5]"), "case.yaml:1: model.voxels.upward: has min 1 and max 1; min must be less than max"},
      {voxels("upward: [0, 1, 0]"), "case.yaml:1: model.voxels.upward.2: is '0'; a whole number from 1 is expected"},
      {voxels("upward: [0, 1, -4]"), "case.yaml:1: model.voxels.upward.2: is '-4'; a whole number from 1 is expected"},
      {voxels("upward: [0, 1, 2.5]"),
       "case.yaml:1: model.voxels.upward.2: is '2.5'; a whole number from 1 is expected"},
      {voxels("upward: [0, 1, 1e30]"), "case.yaml:1: model.voxels.upward.2: is '1e30', too large for a count"},
      {voxels("upward: [0, 1, 99999999999999999999]"),
       "case.yaml:1: model.voxels.upward.2: is '99999999999999999999', too large for a count"},
      {voxels("upward: [0, 1, many]"),
       "case.yaml:1: model.voxels.upward.2: is 'many'; a whole number from 1 is expected"},
      {voxels("upward: [0, .nan, 5]"), "case.yaml:1: model.voxels.upward.1: is '.nan'; a finite number is expected"},
      {voxels("upward: [0, 1, 1], density: [3]"),
       "case.yaml:1: model.voxels.density: is a list; a number, {random: [min, max], seed: 1} or {file: name} is "
       "expected"},
      {voxels("upward: [0, 1, 1], density: {}"),
       "case.yaml:1: model.voxels.density: one of the keys random, file is missing"},
      {voxels("upward: [0, 1, 1], density: {random: [3, 1]}"),
       "case.yaml:1: model.voxels.density.random: has min 3 and max 1; min must be at most max"},
      {voxels("upward: [0, 1, 1], density: {random: [1, 3], seed: -1}"),
       "case.yaml:1: model.voxels.density.seed: is '-1'; a whole number from 0 to 18446744073709551615 is expected"},
      {voxels("upward: [0, 1, 1], density: {random: [1, 3], seed: 1.5}"),
       "case.yaml:1: model.voxels.density.seed: is '1.5'; a whole number from 0 to 18446744073709551615 is expected"},
      {voxels("upward: [0, 1, 1], density: {random: [1, 3], dataset: d}"),
       "case.yaml:1: model.voxels.density.dataset: goes with file, not with random"},
      {voxels("upward: [0, 1, 1], density: {file: d.h5, seed: 3}"),
       "case.yaml:1: model.voxels.density.seed: goes with random, not with file"},
      {voxels("upward: [0, 1, 1], density: {file: ''}"),
       "case.yaml:1: model.voxels.density.file: is empty; the name of a file is expected"},
      {voxels("upward: [0, 1, 1], density: {file: d, density_unit: kg/m}"),
       "case.yaml:1: model.voxels.density.density_unit: is 'kg/m'; did you mean kg/m3? Allowed: kg/m3, g/cm3"},
      {voxels("upward: [0, 1, 1], spheres: {radius: 3}"),
       "case.yaml:1: model.voxels.spheres: is a map; a list of {center: [...], radius: ..., density: ...} is expected"},
      {voxels("upward: [0, 1, 1], spheres: [{center: [1, 2], radius: 1, density: 1}]"),
       "case.yaml:1: model.voxels.spheres.0.center: has 2 values; [easting, northing, upward] is expected"},
      {voxels("upward: [0, 1, 1], spheres: [{center: [1, 2, 3], radius: 0, density: 1}]"),
       "case.yaml:1: model.voxels.spheres.0.radius: is '0'; a number above 0 in m is expected"},
      {voxels("upward: [0, 1, 1], spheres: [{center: [1, 2, 3], radius: 1}]"),
       "case.yaml:1: model.voxels.spheres.0.density: is missing; a number in kg/m3 is expected"},
      {voxels("upward: [0, 1, 1], spheres: [3]"),
       "case.yaml:1: model.voxels.spheres.0: is '3'; a map with the keys center, radius, density, susceptibility, "
       "magnetization is expected"},
      {voxels("upward: [0, 1, 1], boxes: [{easting: [0, 0], northing: [0, 1], upward: [0, 1], density: 1}]"),
       "case.yaml:1: model.voxels.boxes.0.easting: has min 0 and max 0; min must be less than max"},
      {model("{voxels: {easting: [0, 1, 4000000000], northing: [0, 1, 4000000000], upward: [0, 1, 2]}}"),
       "case.yaml:1: model.voxels: has 4000000000 x 4000000000 x 2 elements, more than can be counted"},
      {model("{prisms: {}}"), "case.yaml:1: model.prisms.file: is missing; the name of a CSV or HDF5 file is expected"},
      {model("{prisms: {file: a.csv, axis_z: downwards}}"),
       "case.yaml:1: model.prisms.axis_z: is 'downwards'; allowed: up, down"},
      {model("{prisms: {file: a.csv, length_unit: cm}}"),
       "case.yaml:1: model.prisms.length_unit: is 'cm'; did you mean m? Allowed: m, km"},
      {model("{prisms: {file: a.csv, allow_overlap: yes}}"),
       "case.yaml:1: model.prisms.allow_overlap: is 'yes'; allowed: true, false"},
      {model("{prisms: {file: a.csv, columns: [x1, y1, z1, x2, y2, z2]}}"),
       "case.yaml:1: model.prisms.columns: lacks density; a list of the columns west, east, south, north, bottom, top "
       "(or x1, x2, y1, y2, z1, z2) and density, or susceptibility and magnetization_easting, _northing and _upward, "
       "in "
       "the file's order is expected"},
      {model("{prisms: {file: a.csv, columns: [x1, y1, z1, x2, y2, z2, density, west]}}"),
       "case.yaml:1: model.prisms.columns.7: is 'west', which an earlier column holds already"},
      {model("{prisms: {file: a.csv, columns: [x1, y1, z1, x2, y2, z2, denisty]}}"),
       "case.yaml:1: model.prisms.columns.6: is 'denisty', no known column; did you mean density? Allowed: west, x1, "
       "east, "
       "x2, south, y1, north, y2, bottom, z1, top, z2, density, susceptibility, "
       "magnetization_easting, magnetization_northing, magnetization_upward"},
      {mesh("{edges: [0, 2, 2, 3]}"), "case.yaml:1: model.mesh.easting.edges.2: is 2 after 2; edges must increase"},
      {mesh("{edges: [0]}"), "case.yaml:1: model.mesh.easting.edges: has 1 values; two edges or more are expected"},
      {mesh("{edges: 3}"), "case.yaml:1: model.mesh.easting.edges: is '3'; a list of cell edges is expected"},
      {mesh("{widths: [1, 2]}"),
       "case.yaml:1: model.mesh.easting.origin: is missing; where the first cell begins is expected"},
      {mesh("{origin: 0, widths: [1, -2]}"),
       "case.yaml:1: model.mesh.easting.widths.1: is -2; a width above 0 is expected"},
      {mesh("{origin: 0, widths: []}"),
       "case.yaml:1: model.mesh.easting.widths: is an empty list; one width or more is expected"},
      {mesh("{origin: 0, edges: [1, 2]}"),
       "case.yaml:1: model.mesh.easting.origin: goes with widths or random_widths, not with edges"},
      {mesh("{file: a, edges: [1, 2]}"),
       "case.yaml:1: model.mesh.easting: has edges and file; exactly one of edges, widths, file, random_widths is "
       "allowed"},
      {mesh("{random_widths: [0, 2], cells: 3}"),
       "case.yaml:1: model.mesh.easting.random_widths: has min 0; widths must be above 0"},
      {mesh("{random_widths: [1, 2]}"),
       "case.yaml:1: model.mesh.easting.cells: is missing; the number of cells is expected"},
      {mesh("{random_widths: [1, 2], cells: 3, top: 0}"),
       "case.yaml:1: model.mesh.easting.top: is for upward only; write origin"},
      {mesh("4"),
       "case.yaml:1: model.mesh.easting: is '4'; [min, max, cells], {edges: [...]}, {origin: 0, widths: [...]}, "
       "{file: name} or {random_widths: [min, max], cells: 10} is expected"},
      {model("{mesh: {ubc: {mesh: a, density: b}, easting: [0, 1, 1]}}"),
       "case.yaml:1: model.mesh.easting: is written beside ubc, which holds it already"},
      {model("{mesh: {ubc: {mesh: a}}}"),
       "case.yaml:1: model.mesh.ubc.density: is missing; the name of a UBC density file is expected"},
      // observations
      {points("{}"), "case.yaml:1: observations: one of the keys grid, stations is missing"},
      {points("{stations: {file: a}, grid: {}}"),
       "case.yaml:1: observations: has grid and stations; exactly one of grid, stations is allowed"},
      {points("{grid: {easting: [0, 1, 1], northing: [0, 1, 2], upward: 0}}"),
       "case.yaml:1: observations.grid.easting: has 1 point from 0 to 1, but both ends are included; write two points "
       "or "
       "more, or min equal to max"},
      {points("{grid: {easting: [1, 1, 3], northing: [0, 1, 2], upward: 0}}"),
       "case.yaml:1: observations.grid.easting: has min 1 and max 1; min must be less than max"},
      {points("{grid: {easting: [0, 1, 2], northing: [0, 1, 2]}}"),
       "case.yaml:1: observations.grid.upward: is missing; a height, {file: name} or {above_terrain: height}, is "
       "expected"},
      // a misspelt key is one error, not a missing one as well
      {points("{grid: {easting: [0, 1, 2], northing: [0, 1, 2], upwrad: 0}}"),
       "case.yaml:1: observations.grid.upwrad: is no known key; did you mean upward? Allowed: easting, northing, "
       "file, variable, upward"},
      {points("{grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: {above_terain: 80}}}"),
       "case.yaml:1: observations.grid.upward.above_terain: is no known key; did you mean above_terrain? Allowed: "
       "file, above_terrain, variable, sea_level"},
      {points("{gird: {easting: [0, 1, 2], northing: [0, 1, 2], upward: 0}}"),
       "case.yaml:1: observations.gird: is no known key; did you mean grid? Allowed: grid, stations, noise"},
      {points("{grid: {easting: [0, 1, 2], northing: [0, 1, 2], upward: [0, 1]}}"),
       "case.yaml:1: observations.grid.upward: is a list; a height, {file: name} or {above_terrain: height} is "
       "expected"},
      {points("{grid: {easting: [0, 1, 4000000000], northing: [0, 1, 4000000000], upward: 0}}"),
       "case.yaml:1: observations.grid: has 4000000000 x 4000000000 elements, more than can be counted"},
      {points("{stations: {random: 0}}"),
       "case.yaml:1: observations.stations.random: is '0'; a whole number from 1 is expected"},
      {points("{stations: {file: a.csv, seed: 2}}"),
       "case.yaml:1: observations.stations.seed: goes with random, not with file"},
      {points("{stations: {random: 3, axis_z: up}}"),
       "case.yaml:1: observations.stations.axis_z: goes with file, not with random"},
      {points("{stations: {random: 3, upward: [2, 1]}}"),
       "case.yaml:1: observations.stations.upward: has min 2 and max 1; min must be at most max"},
      {points("{noise: {gq: 1}, stations: {random: 3}}"),
       "case.yaml:1: observations.noise.gq: is no known key; did you mean gx? Allowed: potential, gx, gy, gz, gxx, "
       "gyy, gzz, "
       "gxy, gxz, gyz, bx, by, bz, bxx, byy, bzz, bxy, bxz, byz, guv, tmi, tmi_exact, amplitude, tmi_x, tmi_y, tmi_z, "
       "seed"},
      {points("{noise: {gz: 0}, stations: {random: 3}}"),
       "case.yaml:1: observations.noise.gz: is '0'; a number above 0 is expected"},
      {points("{noise: {gz: 1}, stations: {random: 3}}\nfields: [gx]"),
       "case.yaml:1: observations.noise.gz: is no field of this run; add it to fields or take its noise out"},
      // execution
      {after("execution: {space: gpu}\n"),
       "case.yaml:5: execution.space: is 'gpu'; allowed: default, serial, openmp, cuda, hip"},
      {after("execution: {partition: point}\n"),
       "case.yaml:5: execution.partition: is 'point'; did you mean points? Allowed: auto, prisms, points, "
       "points_per_prism, "
       "{ranks: [4, 2]}"},
      {after("execution: {partition: [4, 2]}\n"),
       "case.yaml:5: execution.partition: is a list; allowed: auto, prisms, points, points_per_prism, {ranks: [4, 2]}"},
      {after("execution: {partition: {ranks: [4]}}\n"),
       "case.yaml:5: execution.partition.ranks: has 1 values; [parts of prisms, parts of points] is expected"},
      {after("execution: {partition: {ranks: [0, 2]}}\n"),
       "case.yaml:5: execution.partition.ranks.0: is '0'; a whole number from 1 to 1e9 is expected"},
      {after("execution: {partition: {ranks: [100000, 100000]}}\n"),
       "case.yaml:5: execution.partition.ranks: asks for 10000000000 ranks, more than MPI can have"},
      {after("execution: {precision: float}\n"),
       "case.yaml:5: execution.precision: is 'float'; allowed: double, single"},
      {after("execution: {method: mesh}\n"),
       "case.yaml:5: execution.method: is 'mesh', which this version does not have. Allowed: auto, direct, tree, fft"},
      {after("execution: {tolerance: 2}\n"),
       "case.yaml:5: execution.tolerance: is '2'; a number above 0 and below 1 is expected"},
      {after("execution: {slots: 0}\n"),
       "case.yaml:5: execution.slots: is '0'; auto or a whole number from 1 to 1e9 is expected"},
      {after("execution: {slots: four}\n"),
       "case.yaml:5: execution.slots: is 'four'; auto or a whole number from 1 to 1e9 is expected"},
      {after("execution: {slots: [4]}\n"),
       "case.yaml:5: execution.slots: is a list; auto or a whole number from 1 to 1e9 is expected"},
      {after("execution: {slots: 2.5}\n"),
       "case.yaml:5: execution.slots: is '2.5'; auto or a whole number from 1 to 1e9 is expected"},
      {after("execution: {block: 2048}\n"),
       "case.yaml:5: execution.block: is '2048'; auto or a whole number from 1 to 512 is expected"},
      {after("execution: {memory_limit: 2 GB}\n"),
       "case.yaml:5: execution.memory_limit: is '2 GB', with an unknown unit; did you mean GiB? Allowed: B, KiB, MiB, "
       "GiB"},
      {after("execution: {memory_limit: 2}\n"),
       "case.yaml:5: execution.memory_limit: is '2', without a unit; allowed: B, KiB, MiB, GiB"},
      {after("execution: {memory_limit: -2 GiB}\n"),
       "case.yaml:5: execution.memory_limit: is '-2 GiB'; a number above 0 with a unit (B, KiB, MiB, GiB) is expected, "
       "such "
       "as 2 GiB"},
      {after("execution: {memory_limit: 1e300 GiB}\n"),
       "case.yaml:5: execution.memory_limit: is '1e300 GiB'; a size from 1 B to 8e9 GiB is expected"},
      // output
      {after("output: {checkpoint: {every: 10}}\n"),
       "case.yaml:5: output.checkpoint.every: is '10', without a unit; allowed: ms, s, min, h\n"
       "case.yaml:5: output.checkpoint.file: is missing; the name of a file is expected"},
      {after("output: {file: [a]}\n"), "case.yaml:5: output.file: is a list; the name of a file is expected"},
      {after("output: {file: \"a\\nb\"}\n"),
       "case.yaml:5: output.file: is the text 'a?b', with line ends or other control characters; the name of a file is "
       "expected"},
      {after("title: \"a\\0b\"\n"),
       "case.yaml:5: title: is the text 'a?b', with line ends or other control characters; a line of text is expected"},
      // no YAML, or not one document
      {"", "case.yaml:1: is empty; a case has at least model and observations"},
      {"# nothing\n\n", "case.yaml:1: is empty; a case has at least model and observations"},
      {"- a\n- b\n", "case.yaml:1: is a list; a case is a map with the keys " + case_allowed.substr(9)},
      {"hello\n", "case.yaml:1: is 'hello'; a case is a map with the keys " + case_allowed.substr(9)},
      {after("output:\n\tfile: a\n"), "case.yaml:6: a tab is used as indentation; YAML allows spaces only"},
      {after("title: a: b\n"),
       "case.yaml:5: a ':' stands where no key can be; look at the indentation, and put a space after each ':', here "
       "and in "
       "the line above"},
      {after("fields: [gz, gx\ntitle: a\n"), "case.yaml:6: a list that begins with '[' lacks a ',' or its ']'"},
      {after("execution: {slots: 3\n"), "case.yaml:5: a map that begins with '{' lacks a ',' or its '}'"},
      {after("title: \"never closed\naxes: z_up\n"), "case.yaml:5: a quote that begins here is never closed"},
      {after("title: 'never closed\n"), "case.yaml:5: a quote that begins here is never closed"},
      {after("title: a]\nfields: ]\n"), "case.yaml:6: a ']' or '}' closes nothing"},
      {after("title: @a\n"), "case.yaml:5: a value cannot begin with this character; put it in quotes"},
      {after("title: *a\n"), "case.yaml:5: this alias (*) has no anchor (&) of its name above"},
      {after("sensitivity: &a [*a]\n"), "case.yaml:5: this alias (*) refers to what it is part of"},
      {after("---\ntitle: a\n"),
       "case.yaml:5: a second document begins here, and only one is read; take out the '---' or '...' above, and "
       "indent keys "
       "and list items that belong together alike"},
      {std::string("a: 1\nb: \x01\n"),
       "case.yaml:2: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"},
      {std::string("a: \xC4\n"),
       "case.yaml:1: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"},
      {std::string("\x89HDF\r\n\x1A\n"),
       "case.yaml:1: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"},
      {std::string("\xFF\xFE"
                   "a\0",
                   4),
       "case.yaml:1: holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding"},
  };
  for (const Mistake& mistake : mistakes) EXPECT_EQ(problems(mistake.text), mistake.message) << mistake.text;
}

TEST_F(CaseTest, OptionsHaveMessagesOfTheirOwn) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"execution.slots=0", "--set execution.slots: is '0'; auto or a whole number from 1 to 1e9 is expected"},
      {"execution.slot=4",
       "--set execution.slot: is no known key; did you mean slots? Allowed: space, partition, kernel, "
       "precision, batch, slots, block, chunk, memory_limit, method, tolerance, check_points"},
      {"execution", "--set: 'execution' has no key.path=value form, such as execution.slots=4"},
      {"=4", "--set: '=4' has no key.path=value form, such as execution.slots=4"},
      {"", "--set: '' has no key.path=value form, such as execution.slots=4"},
      {"execution..slots=4", "--set execution..slots: the key has an empty part; write names joined by single dots"},
      {".title=4", "--set .title: the key has an empty part; write names joined by single dots"},
      {"title.=4", "--set title.: the key has an empty part; write names joined by single dots"},
      {"execution.slots=",
       "--set execution.slots: has no value; write key.path=value, or null as the value to take the key out"},
      {"fields=[gz", "--set fields: in '[gz', a list that begins with '[' lacks a ',' or its ']'"},
      {"observations.stations.columns=[Punto,elev [m]]",
       "--set observations.stations.columns: in '[Punto,elev [m]]', a list that begins with '[' lacks a ',' or its "
       "']'; a name with a unit in brackets is written in quotes"},
      {"fields=gz\n---\ngx",
       "--set fields: in 'gz?---?gx', a second document begins here, and only one is read; take out the '---' or '...' "
       "above, and indent keys and list items that belong together alike"},
      {"model.voxels.spheres.2.radius=1",
       "--set model.voxels.spheres.2.radius: model.voxels.spheres is a list of 2, "
       "numbered from 0"},
      {"model.voxels.spheres.first.radius=1",
       "--set model.voxels.spheres.first.radius: model.voxels.spheres is a list of 2, numbered from 0"},
      {"model.voxels.spheres.-1.radius=1",
       "--set model.voxels.spheres.-1.radius: model.voxels.spheres is a list of 2, numbered from 0"},
      {"axes.up=1", "--set axes.up: axes is 'z_up' there, not a map; set axes as a whole"},
      {"execution={slots: 1, slots: 2}", "--set execution.slots: is written twice; keep one"},
      {"output.figur=null",
       "--set output.figur: is no known key; did you mean figure? Allowed: file, also, figure, checkpoint"},
      {"outptu.figure=null", "--set outptu: is no known key; did you mean output? A" + case_allowed.substr(1)},
      {"model=null", "case.yaml:1: model: is missing; a map with voxels, prisms, mesh or terrain is expected"},
      {"model.voxels.upward=null", "case.yaml:5: model.voxels.upward: is missing; [min, max, cells] is expected"},
      {"model.voxels={easting: [0, 1, 1]}",
       "--set model.voxels.northing: is missing; [min, max, cells] is expected\n"
       "--set model.voxels.upward: is missing; [min, max, cells] is expected"},
      {"title=\x01", "--set 'title': holds bytes that are no UTF-8 text"},
  };
  for (const auto& [option, message] : mistakes) EXPECT_EQ(problems(full_case, {option}), message) << option;
}

TEST_F(CaseTest, EveryProblemIsFoundAtOnce) {
  const std::string found = problems(
      "titel: a\naxes: down\nfields: [gq]\nmodel: {voxels: {easting: [0, 1]}}\nobservations: {grid: {upward: x}}\n"
      "execution: {slots: -1, batch: 0}\n",
      {"output.file=[]"});
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n') + 1, 12) << found;
}

TEST_F(CaseTest, FilesThatCannotBeReadAreNamed) {
  const auto message = [](const std::filesystem::path& file) {
    return mistakes([&] { static_cast<void>(read_case(file, {})); });
  };
  EXPECT_EQ(message("nowhere/case.yaml"), "nowhere/case.yaml: there is no such file");
  EXPECT_EQ(message(m_folder / ""), (m_folder / "").string() + ": is a folder; a YAML file is expected");
  EXPECT_EQ(message(""), "there is no such file");
  EXPECT_THAT(message("/dev/zero"), HasSubstr("is larger than 16 MiB"));
}

TEST_F(CaseTest, HugeInputsEndInAMessage) {
  EXPECT_THAT(problems(std::string(17U << 20, '#')), HasSubstr("is larger than 16 MiB"));
  EXPECT_THAT(problems("a: " + std::string(100000, '[')), HasSubstr("nested too deeply"));
  std::string maps = "a: ";
  for (int i = 0; i < 100000; ++i) maps += "{a: ";
  EXPECT_THAT(problems(maps), HasSubstr("nested too deeply"));
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) laughs += ", " + last;
    laughs += "]\n";
  }
  EXPECT_THAT(problems(laughs), HasSubstr("once aliases (*) are expanded"));
  // few values, but each a long one
  const std::string word(1000, 'x');
  std::string words = "a: &a " + word + "\nb: &b [*a";
  for (int i = 0; i < 99; ++i) words += ", *a";
  words += "]\nc: [*b";
  for (int i = 0; i < 99; ++i) words += ", *b";
  EXPECT_THAT(problems(words + "]\n"), HasSubstr("once aliases (*) are expanded"));
  // a level deeper each time
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) deep += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
  EXPECT_THAT(problems(deep), HasSubstr("nested too deeply"));
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(problems(keys), HasSubstr("keys in one map"));
  EXPECT_THAT(problems(after("title: " + std::string(1U << 20, 'x') + "\naxes: " + std::string(1U << 20, 'y'))),
              ::testing::SizeIs(::testing::Lt(1000U)));
}

TEST_F(CaseTest, TellsAHundredMistakesAndCountsTheOthers) {
  std::string text = small_case;
  for (int i = 0; i < 5000; ++i) text += "wrong" + std::to_string(i) + ": 1\n";
  const std::string found = problems(text);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 100);
  EXPECT_THAT(found, ::testing::EndsWith("\nand 4,900 more errors"));
}

TEST_F(CaseTest, TheReferenceSystemIsCarried) {
  EXPECT_FALSE(read(after("")).crs);
  const Case run = read(after("crs: EPSG:32719\n"));
  ASSERT_TRUE(run.crs);
  EXPECT_EQ(run.crs->name, "EPSG:32719");
  EXPECT_THAT(problems(after("crs: [1]\n")), HasSubstr("crs: is a list; a coordinate reference system such as"));
  if (proj_version().empty()) return;
  EXPECT_THAT(problems(after("crs: EPSG:4326\n")),
              ::testing::MatchesRegex(".*case.yaml:[0-9]+: crs: is 'EPSG:4326' .*"));
}

TEST_F(CaseTest, ALongListOfWrongNumbersIsCutShort) {
  std::string edges = "{edges: [";
  for (int i = 0; i < 1000; ++i) edges += "x, ";
  const std::string found = problems(mesh(edges + "1]}"));
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n') + 1, 10) << found;
}

TEST_F(CaseTest, MessagesHoldNoControlCharacters) {
  const std::string found = problems(after("\"k\\x1b[2J\": 1\naxes: \"\\x1b]0;owned\\x07\"\n"));
  EXPECT_THAT(found, HasSubstr("axes: is the text '?]0;owned?'"));
  // the eight bit form of the same sequences, and text that is turned round
  EXPECT_THAT(problems(after("title: \"\\x9b2J\"\n")),
              HasSubstr("title: is the text '?2J', with line ends or other control"));
  EXPECT_THAT(problems(after("title: \"a\\u202eb\"\n")),
              HasSubstr("title: is the text 'a?b', with line ends or other control"));
  for (const char c : found) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << found;
}

TEST_F(CaseTest, MutationsNeverCrash) {
  // Fixed seed: a failure comes back. Every outcome but Case and InputError fails the test or the sanitizers.
  std::mt19937 random(20240229);
  const std::string pieces = "[]{}:,-#&*!|>'\"%@`~ \n\t0123456789.eE+_abcxyz\\\xC3\x80";
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int valid = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = full_case;
    const std::size_t edits = 1 + below(4);
    for (std::size_t e = 0; e < edits; ++e) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0: text[at] = pieces[below(pieces.size())]; break;
        case 1: text.insert(at, 1, pieces[below(pieces.size())]); break;
        case 2: text.erase(at, 1 + below(20)); break;
        case 3: text.insert(at, text.substr(below(text.size()), below(60))); break;
        default: text.resize(at + 1); break;
      }
    }
    try {
      const Case run = read(text);
      ++valid;
      EXPECT_FALSE(std::holds_alternative<std::monostate>(run.model)) << text;
      EXPECT_FALSE(std::holds_alternative<std::monostate>(run.observations)) << text;
    } catch (const InputError& error) {
      EXPECT_FALSE(error.problems().empty());
      for (const Problem& problem : error.problems()) EXPECT_THAT(problem.message(), HasSubstr("case.yaml")) << text;
    }
  }
  // Comments and values may change and stay valid; if nearly nothing did, the mutations would test nothing.
  EXPECT_GT(valid, 40);
  EXPECT_LT(valid, 1600);
}

}  // namespace
}  // namespace prismfield::test_case
