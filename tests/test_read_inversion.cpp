// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/case.hpp"
#include "case/output_check.hpp"
#include "scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace prismfield::test_read_inversion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mistakes;
using ::testing::Pair;
using testing::ScratchFolder;

const std::string cells = "model: {voxels: {easting: [0, 3, 3], northing: [0, 2, 2], upward: [-1, 0, 1]}}\n";
const std::string mesh_cells = "model: {mesh: {easting: [0, 3, 3], northing: [0, 2, 2], upward: [-1, 0, 1]}}\n";
const std::string points = "observations: {stations: {random: 3}}\n";

const std::string full_inversion = R"(inversion:
  data:
    - observed.h5
    - {file: b.csv, columns: [easting, northing, upward, "-", gz], axes: z_up, fields: [gz, gzz], length_unit: km}
  sigma: {relative: {gz: 0.02}, floor: {gz: 0.05, gzz: 0}}
  reference: {file: r.h5, dataset: d, density_unit: g/cm3}
  reference_in_smoothness: true
  start: {file: s.h5}
  bounds: [-500, 800]
  data_norm: huber
  cell_weights: {file: w.h5, dataset: w}
  active: {file: a.txt}
  keep: all
  smallness: 0.5
  smoothness: [1, 2, 0]
  weighting: {depth: {power: 2.5, z0: 0}}
  norm: [0, 2, 1.5, 1]
  beta: 1e-6
  topography: {file: t.csv, columns: [easting, northing, upward]}
  trend: linear
  uncertainty: {samples: 40, seed: 9}
  depth_of_investigation: true
  target_misfit: 1.5
  max_iterations: 12
sensitivity: {store: memory, precision: float16, compression: 1e-4, file: out/G.h5}
)";

class ReadInversion : public ::testing::Test {
protected:
  [[nodiscard]] Case read(const std::string& text, CaseUse use = CaseUse::inversion) const {
    return read_case(m_folder.write("case.yaml", text), {}, {}, use);
  }
  /// A case of these lines below `inversion`.
  [[nodiscard]] InversionSpec spec(const std::string& keys) const {
    return read(cells + "inversion:\n  data: a.h5\n" + keys).inversion.value();
  }
  [[nodiscard]] InversionSettings settings(const std::string& keys) const { return spec(keys).settings; }
  /// What is wrong, without the folder; empty when nothing is.
  [[nodiscard]] std::string problems(const std::string& text, CaseUse use = CaseUse::inversion) const {
    return m_folder.removed_from(mistakes([&] { static_cast<void>(read(text, use)); }));
  }
  /// Of a line below `inversion`: it is line 4 of the case.
  [[nodiscard]] std::string wrong(const std::string& line) const {
    return problems(cells + "inversion:\n  data: a.h5\n  " + line + "\n");
  }
  [[nodiscard]] StorageSettings storage(const std::string& text) const {
    return read(cells + points + "sensitivity: " + text + "\n", CaseUse::sensitivity).sensitivity;
  }

  ScratchFolder m_folder;
};

TEST_F(ReadInversion, ReadsEveryKey) {
  const Case run = read(cells + full_inversion);
  EXPECT_EQ(run.use, CaseUse::inversion);
  const InversionSpec& spec = run.inversion.value();
  ASSERT_EQ(spec.data.size(), 2U);
  EXPECT_THAT(spec.data_keys, ElementsAre("inversion.data.0", "inversion.data.1.file"));
  EXPECT_EQ(spec.data[0].file, m_folder / "observed.h5");
  EXPECT_FALSE(spec.data[0].axes || spec.data[0].fields);
  EXPECT_THAT(spec.data[0].columns, IsEmpty());
  EXPECT_FALSE(spec.data[0].length_to_si);
  EXPECT_EQ(spec.data[1].file, m_folder / "b.csv");
  EXPECT_THAT(spec.data[1].columns, ElementsAre("easting", "northing", "upward", "-", "gz"));
  EXPECT_EQ(spec.data[1].axes, Axes::z_up);
  EXPECT_EQ(spec.data[1].fields, (FieldList{Field::gz, Field::gzz}));
  EXPECT_EQ(spec.data[1].length_to_si, 1000);
  ASSERT_TRUE(spec.sigma);
  EXPECT_THAT(spec.sigma->relative, ElementsAre(Pair(Field::gz, 0.02)));
  EXPECT_THAT(spec.sigma->floor, ElementsAre(Pair(Field::gz, 0.05), Pair(Field::gzz, 0)));
  const auto& reference = std::get<DensityFile>(spec.reference);
  EXPECT_EQ(reference.file, m_folder / "r.h5");
  EXPECT_EQ(reference.dataset, "d");
  EXPECT_EQ(reference.to_si, 1000);
  EXPECT_EQ(reference.what, "density");
  const auto& start = std::get<DensityFile>(spec.start.value());
  EXPECT_EQ(start.file, m_folder / "s.h5");
  EXPECT_FALSE(start.to_si);
  ASSERT_TRUE(spec.cell_weights && spec.active);
  EXPECT_EQ(spec.cell_weights->file, m_folder / "w.h5");
  EXPECT_EQ(spec.cell_weights->dataset, "w");
  EXPECT_EQ(spec.active->file, m_folder / "a.txt");
  EXPECT_EQ(spec.active->what, "active");
  for (const char* file : {"r.h5", "s.h5", "w.h5", "a.txt", "t.csv"}) {
    EXPECT_THAT(run.input_files, ::testing::Contains(m_folder / file));
  }
  ASSERT_TRUE(spec.topography);
  EXPECT_EQ(spec.topography->file, m_folder / "t.csv");
  EXPECT_THAT(spec.topography->columns, ElementsAre("easting", "northing", "upward"));
  const InversionSettings& settings = spec.settings;
  EXPECT_TRUE(settings.reference_in_smoothness);
  ASSERT_TRUE(settings.bounds);
  EXPECT_EQ(settings.bounds->min, -500);
  EXPECT_EQ(settings.bounds->max, 800);
  EXPECT_EQ(settings.smallness, 0.5);
  EXPECT_EQ(settings.smoothness, (std::array<double, 3>{1, 2, 0}));
  EXPECT_FALSE(settings.smoothing_lengths);
  EXPECT_EQ(settings.data_norm, DataNorm::huber);
  EXPECT_TRUE(settings.keep_all);
  EXPECT_EQ(settings.weighting.kind, WeightingKind::depth);
  EXPECT_EQ(settings.weighting.power, 2.5);
  EXPECT_EQ(settings.weighting.z0, 0);
  EXPECT_THAT(settings.norm, ElementsAre(0, 2, 1.5, 1));
  EXPECT_EQ(settings.beta, 1e-6);
  EXPECT_EQ(settings.trend, Trend::linear);
  EXPECT_EQ(settings.uncertainty.samples, 40);
  EXPECT_EQ(settings.uncertainty.seed, 9U);
  EXPECT_EQ(settings.uncertainty.rank, 0);
  EXPECT_TRUE(settings.depth_of_investigation);
  EXPECT_EQ(settings.target_misfit, 1.5);
  EXPECT_EQ(settings.max_iterations, 12);
  EXPECT_EQ(run.sensitivity.store, Store::memory);
  EXPECT_EQ(run.sensitivity.precision, StoredPrecision::float16);
  EXPECT_EQ(run.sensitivity.compression, 1e-4);
  // an output: not relative to the case
  EXPECT_EQ(run.sensitivity.file, "out/G.h5");
}

TEST_F(ReadInversion, KnowsWhatIsMeantWhereNothingIsWritten) {
  const Case run = read(cells + "inversion: {data: {file: a.h5}}\n");
  const InversionSpec& spec = run.inversion.value();
  EXPECT_THAT(spec.data_keys, ElementsAre("inversion.data.file"));
  EXPECT_FALSE(spec.sigma || spec.topography);
  EXPECT_EQ(std::get<double>(spec.reference), 0);
  const InversionSettings& settings = spec.settings;
  EXPECT_FALSE(settings.bounds || settings.beta || settings.depth_of_investigation || settings.weighting.power ||
               settings.weighting.z0 || settings.reference_in_smoothness || settings.is_compact());
  EXPECT_FALSE(read(cells + "inversion: {data: {file: a.h5}, bounds: none}\n").inversion->settings.bounds);
  EXPECT_EQ(settings.smallness, 1);
  EXPECT_FALSE(settings.smoothness || settings.smoothing_lengths || settings.keep_all);
  EXPECT_FALSE(spec.start || spec.bounds || spec.cell_weights || spec.active || spec.sigma_is_of_one_field);
  EXPECT_THAT(settings.intervals, IsEmpty());
  EXPECT_EQ(settings.data_norm, DataNorm::squares);
  EXPECT_EQ(settings.beta_choice, BetaChoice::target);
  EXPECT_EQ(settings.weighting.kind, WeightingKind::sensitivity);
  EXPECT_EQ(settings.trend, Trend::none);
  EXPECT_EQ(settings.uncertainty.samples, 0);
  EXPECT_EQ(settings.uncertainty.rank, 0);
  EXPECT_EQ(settings.target_misfit, 1);
  EXPECT_EQ(settings.max_iterations, 30);
  EXPECT_FALSE(run.fields_given);
  EXPECT_TRUE(read(cells + "fields: gz\ninversion: {data: a.h5}\n").fields_given);
  EXPECT_EQ(run.sensitivity.store, Store::automatic);
  EXPECT_FALSE(run.sensitivity.precision || run.sensitivity.compression);
  EXPECT_TRUE(run.sensitivity.file.empty());
  EXPECT_EQ(output_file(run), "case.h5");
}

TEST_F(ReadInversion, ReadsTheShortFormsOfKeys) {
  EXPECT_EQ(std::get<double>(spec("  reference: -20\n").reference), -20);
  EXPECT_EQ(spec("  sigma: {relative: 0.02}\n").sigma->relative.size(), field_infos.size());
  EXPECT_EQ(spec("  sigma: {floor: {gz: 0.1}}\n").sigma->floor.at(Field::gz), 0.1);
  EXPECT_FALSE(spec("  sigma: {floor: {gz: 0.1}}\n").sigma_is_of_one_field);
  const InversionSpec plain = spec("  sigma: 0.03\n");
  EXPECT_TRUE(plain.sigma_is_of_one_field);
  EXPECT_EQ(plain.sigma->floor.at(Field::gzz), 0.03);
  EXPECT_THAT(plain.sigma->relative, IsEmpty());
  EXPECT_EQ(std::get<double>(spec("  start: 30\n").start.value()), 30);
  EXPECT_EQ(settings("  smoothness: 2\n").smoothness, (std::array<double, 3>{2, 2, 2}));
  const InversionSettings metres = settings("  smoothness: {lengths: [50, 40, 0]}\n");
  EXPECT_FALSE(metres.smoothness);
  EXPECT_EQ(metres.smoothing_lengths, (std::array<double, 3>{50, 40, 0}));
  EXPECT_EQ(settings("  smoothness: {lengths: 25}\n").smoothing_lengths, (std::array<double, 3>{25, 25, 25}));
  EXPECT_EQ(settings("  data_norm: 2\n").data_norm, DataNorm::squares);
  EXPECT_FALSE(settings("  keep: last\n").keep_all);
  EXPECT_EQ(settings("  beta: gcv\n").beta_choice, BetaChoice::gcv);
  // as programs write words
  EXPECT_EQ(settings("  beta: \"gcv\"\n").beta_choice, BetaChoice::gcv);
  EXPECT_FALSE(settings("  beta: 'auto'\n").beta);
  EXPECT_EQ(settings("  beta: l_curve\n").beta_choice, BetaChoice::l_curve);
  EXPECT_EQ(settings("  beta: 2\n").beta_choice, BetaChoice::target);
  EXPECT_THAT(settings("  norm: 1\n").norm, ElementsAre(1, 1, 1, 1));
  EXPECT_FALSE(settings("  beta: auto\n").beta);
  EXPECT_FALSE(settings("  depth_of_investigation: false\n").depth_of_investigation);
  EXPECT_EQ(settings("  trend: constant\n").trend, Trend::constant);
  EXPECT_EQ(settings("  trend: quadratic\n").trend, Trend::quadratic);
  EXPECT_EQ(settings("  trend: none\n").trend, Trend::none);
  for (const auto& [word, kind] :
       std::vector<std::pair<std::string, WeightingKind>>{{"sensitivity", WeightingKind::sensitivity},
                                                          {"depth", WeightingKind::depth},
                                                          {"distance", WeightingKind::distance},
                                                          {"none", WeightingKind::none},
                                                          {"{distance: {z0: 3}}", WeightingKind::distance},
                                                          {"{depth: {}}", WeightingKind::depth}}) {
    EXPECT_EQ(settings("  weighting: " + word + "\n").weighting.kind, kind) << word;
  }
  EXPECT_EQ(settings("  uncertainty: none\n").uncertainty.samples, 0);
  for (const char* hundred : {"samples", "{}", "{seed: 4}", "{samples: 100}"}) {
    EXPECT_EQ(settings(std::string("  uncertainty: ") + hundred + "\n").uncertainty.samples, 100) << hundred;
  }
  EXPECT_EQ(settings("  uncertainty: {seed: 4}\n").uncertainty.seed, 4U);
  const Uncertainty by_rank = settings("  uncertainty: {rank: 50}\n").uncertainty;
  EXPECT_EQ(by_rank.rank, 50);
  EXPECT_EQ(by_rank.samples, 0);
  // smoothness alone chooses a model too
  EXPECT_EQ(settings("  smallness: 0\n").smallness, 0);
}

TEST_F(ReadInversion, ReadsBoundsOfEveryForm) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const InversionSettings above = settings("  bounds: [0, null]\n"), below = settings("  bounds: [null, 800]\n");
  ASSERT_TRUE(above.bounds && below.bounds);
  EXPECT_EQ(above.bounds->min, 0);
  EXPECT_EQ(above.bounds->max, infinity);
  EXPECT_EQ(below.bounds->min, -infinity);
  EXPECT_EQ(below.bounds->max, 800);
  const InversionSpec file = spec("  bounds: {file: b.h5, density_unit: g/cm3}\n");
  ASSERT_TRUE(file.bounds);
  EXPECT_FALSE(file.settings.bounds);
  EXPECT_EQ(file.bounds->file, m_folder / "b.h5");
  EXPECT_EQ(file.bounds->to_si, 1000);
  const InversionSettings intervals = settings("  bounds: {intervals: [[300, 400], [0, 50], [60, 70]]}\n");
  ASSERT_EQ(intervals.intervals.size(), 3U);
  EXPECT_EQ(intervals.intervals[0].max, 50);
  EXPECT_EQ(intervals.intervals[1].min, 60);
  EXPECT_EQ(intervals.intervals[2].min, 300);
  ASSERT_TRUE(intervals.bounds);
  EXPECT_EQ(intervals.bounds->min, 0);
  EXPECT_EQ(intervals.bounds->max, 400);
}

TEST_F(ReadInversion, ReadsTheUnknown) {
  EXPECT_EQ(settings("").unknown, Unknown::density);
  const InversionSpec chi = spec("  unknown: susceptibility\n  reference: {file: r.h5}\n  bounds: [0, null]\n");
  EXPECT_EQ(chi.settings.unknown, Unknown::susceptibility);
  EXPECT_EQ(std::get<DensityFile>(chi.reference).what, "susceptibility");
  EXPECT_FALSE(std::get<DensityFile>(chi.reference).to_si);
  const InversionSettings vector = settings("  unknown: magnetization\n  bounds: [-2, 3]\n");
  EXPECT_EQ(vector.unknown, Unknown::magnetization);
  EXPECT_EQ(vector.bounds->max, 3);
  const InversionSpec start = spec("  unknown: magnetization\n  start: [1, 2, -3]\n  bounds: {amplitude: 5}\n");
  EXPECT_EQ(std::get<1>(*start.start), (std::array<double, 3>{1, 2, -3}));
  EXPECT_EQ(start.settings.most_amplitude, 5);
}

TEST_F(ReadInversion, SaysWhatIsNotForAnUnknown) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"susceptibility", "reference: {file: r.h5, density_unit: g/cm3}",
       "inversion.reference.density_unit: is for densities; susceptibilities are in SI"},
      {"susceptibility", "reference: high",
       "inversion.reference: is 'high'; a susceptibility in SI or {file: name} is expected"},
      {"susceptibility", "bounds: [1, 2]", "inversion.bounds: do not hold 0"},
      {"magnetization", "reference: 1",
       "inversion.reference: is '1'; [easting, northing, upward] in A/m or {file: name}"},
      {"magnetization", "start: [0, 1]", "inversion.start: "},
      {"magnetization", "bounds: {intervals: [[0, 1], [2, 3]]}",
       "inversion.bounds.intervals: is not for unknown: magnetization; write [min, max] of each component, {amplitude: "
       "5}"},
      {"susceptibility", "bounds: {amplitude: 5}",
       "inversion.bounds.amplitude: is not for unknown: susceptibility; write [min, max], or leave bounds out"},
      {"magnetization", "bounds: {amplitude: 0}", "inversion.bounds.amplitude: is '0'"},
      {"susceptability", "norm: 2", "inversion.unknown: is 'susceptability'; did you mean susceptibility?"},
  };
  for (const auto& [unknown, line, message] : cases) {
    EXPECT_THAT(wrong("unknown: " + unknown + "\n  " + line), HasSubstr(message)) << line;
  }
  const std::string nan = "\nmagnetic: {inside: nan}";
  EXPECT_THAT(wrong("unknown: magnetization" + nan),
              HasSubstr("magnetic.inside: is nan, which leaves no number to invert or to multiply; use B, H"));
  EXPECT_THAT(wrong("sigma: 0" + nan), ::testing::Not(HasSubstr("magnetic.inside")));
}

TEST_F(ReadInversion, SaysWhatIsWrongWithAKey) {
  const std::vector<std::array<std::string, 2>> cases = {
      {"sigma: 0", "inversion.sigma: is '0'; a number above 0, or {relative: 0.02, floor: {gz: 0.05}} is expected"},
      {"sigma: [1]", "inversion.sigma: is a list; a map with the keys relative, floor is expected"},
      {"sigma: {}", "inversion.sigma: has nothing above 0; write relative: 0.02, floor: {gz: 0.05} or both"},
      {"sigma: {relative: 0, floor: {gz: 0}}", "inversion.sigma: has nothing above 0"},
      {"sigma: {floor: 0.05}",
       "inversion.sigma.floor: is '0.05'; fields have units of their own: write {gz: 0.05}, in mGal, Eotvos, nT "
       "and nT/m"},
      {"sigma: {relative: -1}", "inversion.sigma.relative: is '-1'; a number of at least 0 is expected"},
      {"sigma: {floor: {gz: -1}}", "inversion.sigma.floor.gz: is '-1'; a number of at least 0 is expected"},
      {"sigma: {floor: {gzy: 1}}", "inversion.sigma.floor.gzy: is no known key; did you mean"},
      {"reference: [1]", "inversion.reference: is a list; a density in kg/m3 or {file: name} is expected"},
      {"reference: high", "inversion.reference: is 'high'; a density in kg/m3 or {file: name} is expected"},
      {"reference: {dataset: d}", "inversion.reference.file: is missing; the name of a file of densities is expected"},
      {"reference: {file: r.h5, density_unit: t/m3}", "inversion.reference.density_unit: is 't/m3'; allowed: kg/m3"},
      {"reference_in_smoothness: yes", "inversion.reference_in_smoothness: is 'yes'; allowed: true, false"},
      {"bounds: [800, -500]", "inversion.bounds: has min 800 and max -500; min must be less than max"},
      {"bounds: [3, 3]", "inversion.bounds: has min 3 and max 3; min must be less than max"},
      {"bounds: 800", "inversion.bounds: is '800'; [min, max], where null is no bound, {file: name} or {intervals: "},
      {"bounds: [null, null]", "inversion.bounds: has no bound on either side; write bounds: none, or leave it out"},
      {"bounds: [0, high]", "inversion.bounds.1: is 'high'; a number, or null for no bound on this side, is expected"},
      {"bounds: [null, -100]",
       "inversion.bounds: do not hold 0, which is the reference where none is written; write reference: -100"},
      {"bounds: {}", "inversion.bounds: one of the keys file, intervals, amplitude is missing"},
      {"bounds: {file: b.h5, intervals: [[0, 1], [2, 3]]}", "inversion.bounds: has file and intervals; exactly one of"},
      {"bounds: {intervals: [[0, 50]]}", "inversion.bounds.intervals: has 1 interval; a list of two or more"},
      {"bounds: {intervals: [[0, 50], [400, 300]]}",
       "inversion.bounds.intervals.1: has min 400 and max 300; min must be less than max"},
      {"bounds: {intervals: [[40, 70], [0, 50]]}",
       "inversion.bounds.intervals: has [0, 50] and [40, 70], which meet; write them as one interval"},
      {"start: [1]", "inversion.start: is a list; a density in kg/m3 or {file: name} is expected"},
      {"start: {dataset: d}", "inversion.start.file: is missing; the name of a file of densities is expected"},
      {"cell_weights: 2", "inversion.cell_weights: is '2'; a map with the keys file, dataset is expected"},
      {"cell_weights: {dataset: w}",
       "inversion.cell_weights.file: is missing; the name of a file of one value per cell"},
      {"active: a.h5", "inversion.active: is 'a.h5'; a map with the keys file, dataset is expected"},
      {"data_norm: 1", "inversion.data_norm: is '1'; did you mean 2? Allowed: 2, huber"},
      {"keep: none", "inversion.keep: is 'none'; allowed: last, all"},
      {"smoothness: {lengths: [1, -1, 1]}",
       "inversion.smoothness.lengths.1: is '-1'; a number of at least 0 in m is expected"},
      {"smoothness: {length: 5}", "inversion.smoothness.length: is no known key; did you mean lengths?"},
      {"bounds: [1, .inf]", "inversion.bounds.1: is '.inf'; a finite number is expected"},
      {"bounds: [100, 800]",
       "inversion.bounds: do not hold 0, which is the reference where none is written; write reference: 100"},
      {"smallness: -1", "inversion.smallness: is '-1'; a number of at least 0 is expected"},
      {"smoothness: -1", "inversion.smoothness: is '-1'; a number of at least 0 is expected"},
      {"smoothness: [1, 1]",
       "inversion.smoothness: has 2 values; a number, or [easting, northing, upward], is expected"},
      {"smoothness: [1, 1, -2]", "inversion.smoothness.2: is '-2'; a number of at least 0 is expected"},
      {"weighting: dept",
       "inversion.weighting: is 'dept'; did you mean depth? Allowed: sensitivity, depth, distance, "
       "none, {depth: {power: 2, z0: 10}}"},
      {"weighting: {depth: {}, distance: {}}", "inversion.weighting: has depth and distance; exactly one of"},
      {"weighting: {}", "inversion.weighting: one of the keys depth, distance is missing"},
      {"weighting: {depth: {}, none: {}}", "inversion.weighting.none: is no known key"},
      {"weighting: {depth: {power: 0}}", "inversion.weighting.depth.power: is '0'; a number above 0 is expected"},
      {"weighting: {distance: {z0: -1}}",
       "inversion.weighting.distance.z0: is '-1'; a number of at least 0 in m is expected"},
      {"norm: 3", "inversion.norm: is '3'; a number from 0 to 2 is expected"},
      {"norm: [0, 2, 2]", "inversion.norm: has 3 values; a number, or [smallness, easting, northing, upward], is"},
      {"norm: [0, 2, 2, -0.1]", "inversion.norm.3: is '-0.1'; a number from 0 to 2 is expected"},
      {"beta: 0", "inversion.beta: is '0'; auto, gcv, l_curve or a number above 0 is expected"},
      {"beta: automatic", "inversion.beta: is 'automatic'; auto, gcv, l_curve or a number above 0 is expected"},
      {"topography: h.nc", "inversion.topography: is 'h.nc'; a map with the keys file, columns is expected"},
      {"topography: {columns: [a]}", "inversion.topography.file: is missing; the name of a file of heights"},
      {"topography: {file: h.csv, columns: z}", "inversion.topography.columns: is 'z'; a list of the file's columns"},
      {"trend: cubic", "inversion.trend: is 'cubic'; allowed: none, constant, linear, quadratic"},
      {"uncertainty: 50", "inversion.uncertainty: is '50'; none, {samples: 100} or {rank: 50} is expected"},
      {"uncertainty: {samples: 1}",
       "inversion.uncertainty.samples: is '1'; a whole number from 2 to 1,000,000 is expected"},
      {"uncertainty: {rank: 0}", "inversion.uncertainty.rank: is '0'; a whole number from 1 to 10,000 is expected"},
      {"uncertainty: {rank: 5, samples: 5}",
       "inversion.uncertainty: has samples and rank; exactly one of samples, rank is allowed"},
      {"uncertainty: {rank: 5, seed: 5}", "inversion.uncertainty.seed: goes with samples, not with rank"},
      {"depth_of_investigation: 0", "inversion.depth_of_investigation: is '0'; allowed: true, false"},
      {"target_misfit: 0", "inversion.target_misfit: is '0'; a number above 0 is expected"},
      {"max_iterations: 0", "inversion.max_iterations: is '0'; a whole number from 1 is expected"},
      {"max_iteration: 3", "inversion.max_iteration: is no known key; did you mean max_iterations?"},
      {"smoothness:", "inversion.smoothness: has no value; write one or leave the key out"},
  };
  for (const auto& [line, message] : cases) {
    const std::string said = wrong(line);
    EXPECT_THAT(said, HasSubstr("case.yaml:4: " + message)) << line;
    EXPECT_EQ(testing::lines_in(said), 1U) << said;
  }
}

TEST_F(ReadInversion, SaysWhatIsWrongWithSeveralKeysTogether) {
  EXPECT_EQ(wrong("smallness: 0\n  smoothness: 0"),
            "case.yaml:2: inversion: has smallness 0 and smoothness 0: nothing chooses among the models that fit the "
            "data; one of them must be above 0");
  EXPECT_EQ(
      wrong("smallness: 0\n  uncertainty: {rank: 50}"),
      "case.yaml:5: inversion.uncertainty: is by rank, which needs variances of the prior: with smallness 0 there "
      "are none; write smallness: 1e-3 or another number above 0, or uncertainty: {samples: 100}");
  EXPECT_EQ(wrong("smallness: 0\n  uncertainty: {samples: 50}"), "");
  EXPECT_EQ(wrong("bounds: [0, 300]\n  reference: 301"),
            "case.yaml:5: inversion.reference: is 301, outside bounds, [0, 300]; change one of the two");
  EXPECT_EQ(wrong("bounds: [0, 300]\n  reference: 300"), "");
  EXPECT_EQ(wrong("smallness: 0\n  smoothness: {lengths: 0}"), wrong("smallness: 0\n  smoothness: 0"));
  EXPECT_EQ(wrong("bounds: [0, null]\n  start: -1"),
            "case.yaml:5: inversion.start: is -1, outside bounds, [0, null]; change one of the two");
  EXPECT_EQ(wrong("bounds: [0, null]\n  start: 1e4"), "");
  EXPECT_EQ(wrong("bounds: {file: b.h5}\n  start: 1e4"), "");
  EXPECT_EQ(
      wrong("beta: gcv\n  target_misfit: 2"),
      "case.yaml:5: inversion.target_misfit: is for a known sigma, and beta: gcv is for an unknown one; leave out "
      "one of the two");
  EXPECT_EQ(wrong("beta: 3\n  target_misfit: 2"), "");
  EXPECT_EQ(testing::lines_in(wrong("norm: 7\n  beta: -1\n  trend: 3")), 3U);
}

TEST_F(ReadInversion, SaysWhatIsWrongWithTheData) {
  const auto data = [&](const std::string& value) { return problems(cells + "inversion: {data: " + value + "}\n"); };
  EXPECT_EQ(problems(cells), "case.yaml:1: inversion: is missing; a map with data is expected");
  EXPECT_EQ(problems(cells + "inversion: {beta: 1}\n"),
            "case.yaml:2: inversion.data: is missing; the name of a file of measurements, {file: name} or a list of "
            "these is expected");
  EXPECT_THAT(problems(cells + "inversion: 3\n"), HasSubstr("inversion: is '3'; a map with the keys unknown, data"));
  EXPECT_EQ(data("[]"), "case.yaml:2: inversion.data: is an empty list; the name of a file or more are expected");
  EXPECT_EQ(data("[[a]]"), "case.yaml:2: inversion.data.0: is a list; the name of a file or {file: name} is expected");
  EXPECT_EQ(data("{axes: z_up}"), "case.yaml:2: inversion.data.file: is missing; the name of a file is expected");
  EXPECT_THAT(data("{file: a, axes: up}"), HasSubstr("inversion.data.axes: is 'up'"));
  EXPECT_THAT(data("{file: a, fields: gq}"), HasSubstr("inversion.data.fields: is 'gq', no known field"));
  EXPECT_THAT(data("[{file: a, length_unit: mi}]"), HasSubstr("inversion.data.0.length_unit: is 'mi'"));
  EXPECT_THAT(data("{file: a, columns: []}"), HasSubstr("inversion.data.columns: is an empty list"));
  EXPECT_THAT(data("{file: a, columns: [[x]]}"), HasSubstr("inversion.data.columns.0: is a list"));
  EXPECT_THAT(data("{file: a, sigma: 3}"),
              HasSubstr("inversion.data.sigma: is no known key here, but in inversion (look at the indentation)"));
}

TEST_F(ReadInversion, ReadsEpochs) {
  const Case run = read(cells +
                        "inversion:\n  data:\n    - {epochs: [a.csv, b.csv, c.csv], fields: gz, length_unit: km}\n"
                        "    - {epochs: [d, e, f], labels: [2021, 2022, after the rain]}\n  change: 0.25\n");
  const InversionSpec& spec = run.inversion.value();
  EXPECT_EQ(spec.n_epochs, 3);
  EXPECT_THAT(spec.epoch_labels, ElementsAre("2021", "2022", "after the rain"));
  EXPECT_THAT(spec.data_keys,
              ElementsAre("inversion.data.0.epochs.0", "inversion.data.0.epochs.1", "inversion.data.0.epochs.2",
                          "inversion.data.1.epochs.0", "inversion.data.1.epochs.1", "inversion.data.1.epochs.2"));
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(spec.data[e].file, m_folder / (std::string(1, static_cast<char>('a' + e)) + ".csv"));
    EXPECT_EQ(spec.data[e].fields, FieldList{Field::gz});
    EXPECT_EQ(spec.data[e].length_to_si, 1000);
    EXPECT_FALSE(spec.data[3 + e].length_to_si);
  }
  EXPECT_EQ(spec.settings.change, 0.25);
  // an output must not replace any of them
  EXPECT_EQ(run.input_files.size(), 7U);
  const InversionSpec two = read(cells + "inversion: {data: {epochs: [a, b]}}\n").inversion.value();
  EXPECT_EQ(two.n_epochs, 2);
  EXPECT_EQ(two.settings.change, 1);
  EXPECT_THAT(two.epoch_labels, IsEmpty());
}

TEST_F(ReadInversion, SaysWhatIsWrongWithEpochs) {
  const auto data = [&](const std::string& value) { return problems(cells + "inversion: {data: " + value + "}\n"); };
  const std::string at = "case.yaml:2: inversion.data";
  EXPECT_EQ(data("{epochs: []}"), at + ".epochs: is an empty list; the names of files, one an epoch, are expected");
  EXPECT_EQ(data("{epochs: a.csv}"),
            at + ".epochs: is 'a.csv'; a list of the names of files, one an epoch, is expected");
  EXPECT_EQ(data("{epochs: [a]}"), at + ".epochs: has one file; name two or more, or write file: for data of one time");
  EXPECT_THAT(data("{epochs: [a, {file: b}]}"), HasSubstr(at + ".epochs.1: is a map; the name of a file is expected"));
  EXPECT_EQ(data("{epochs: [a, b], file: c}"), at + ": has file and epochs; exactly one of file, epochs is allowed");
  EXPECT_EQ(data("{file: c, labels: [x]}"), at + ".labels: goes with epochs, not with file");
  EXPECT_EQ(data("{epochs: [a, b], labels: [x]}"), at + ".labels: has 1 names for 2 epochs");
  EXPECT_EQ(data("{epochs: [a, b], labels: [x, x]}"),
            at + ".labels.1: is 'x' once more; every epoch needs a name of its own");
  EXPECT_EQ(data("[{epochs: [a, b]}, {epochs: [c, d, e]}]"),
            at + ".1: has 3 epochs, a data set before it 2; all need the same epochs");
  EXPECT_EQ(data("[{epochs: [a, b]}, c]"), at + ".1: has 1 epoch, a data set before it 2; all need the same epochs");
  EXPECT_EQ(data("[{epochs: [a, b], labels: [x, y]}, {epochs: [c, d], labels: [y, x]}]"),
            at + ".1.labels: differs from the labels of a data set before it; write them beside one of them");
  EXPECT_EQ(data("{epochs: [a, b]}, change: -1"),
            "case.yaml:2: inversion.change: is '-1'; a number of at least 0 is expected");
  EXPECT_EQ(
      data("a, change: 1"),
      "case.yaml:2: inversion.change: is for several epochs; write data: {epochs: [2021.csv, 2022.csv]}, or leave "
      "change out");
}

TEST_F(ReadInversion, NeedsCellsAndNeitherDensitiesNorPoints) {
  const std::string data = "inversion: {data: a.h5}\n";
  EXPECT_THAT(read(cells + data).unused, IsEmpty());
  EXPECT_THAT(read(mesh_cells + data).unused, IsEmpty());
  EXPECT_THAT(problems(mesh_cells + points, CaseUse::forward), HasSubstr("model.mesh.density: is missing"));
  const Case ubc = read("model: {mesh: {ubc: {mesh: a.msh}}}\n" + data);
  EXPECT_TRUE(std::get<MeshSpec>(ubc.model).ubc->density.empty());
  EXPECT_THAT(ubc.input_files, ElementsAre(m_folder / "case.yaml", m_folder / "a.msh", m_folder / "a.h5"));
  EXPECT_THAT(read("model: {mesh: {ubc: {mesh: a.msh, density: a.den}}}\n" + data).unused,
              ElementsAre("model.mesh.ubc.density"));
  const Case whole = read(
      "model: {voxels: {easting: [0, 3, 3], northing: [0, 2, 2], upward: [-1, 0, 1], density: 3, spheres: [{center: "
      "[0, 0, 0], radius: 1, density: 2}]}}\nobservations: {anything: [1, 2]}\nexecution: {check_points: 50}\n" +
      data);
  EXPECT_THAT(whole.unused,
              ElementsAre("model.voxels.density", "model.voxels.spheres", "observations", "execution.check_points"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(whole.observations));
  EXPECT_THAT(read(cells + data + "sensitivity: {store: memory, file: G.h5}\n").unused,
              ElementsAre("sensitivity.file"));
  EXPECT_THAT(read(cells + data + "sensitivity: {store: file, file: G.h5}\n").unused, IsEmpty());
  EXPECT_EQ(
      problems("model: {prisms: {file: a.csv}}\n" + data),
      "case.yaml:1: model.prisms: cannot be inverted: the cells of voxels or of a mesh are needed, prismfield run "
      "alone reads prisms");
  EXPECT_EQ(problems(data), "case.yaml:1: model: is missing; a map with voxels or mesh is expected");
}

TEST_F(ReadInversion, LeavesTheSectionsOfOtherCommandsAlone) {
  const std::string sections = "inversion: {nothing: 1}\nsensitivity: [2]\n";
  const Case forward = read(cells + points + sections, CaseUse::forward);
  EXPECT_THAT(forward.unused, ElementsAre("sensitivity", "inversion"));
  EXPECT_FALSE(forward.inversion);
  const Case sensitivity = read(cells +
                                    "observations: {stations: {random: 3}, noise: {gz: 1}}\ninversion: {nothing: 1}\n"
                                    "output: {checkpoint: {file: a.ckpt}}\n",
                                CaseUse::sensitivity);
  EXPECT_THAT(sensitivity.unused, ElementsAre("observations.noise", "output.checkpoint", "inversion"));
  EXPECT_THAT(
      problems(cells + points + sections, CaseUse::sensitivity),
      HasSubstr("case.yaml:4: sensitivity: is a list; a map with the keys store, precision, compression, file"));
  EXPECT_EQ(problems(cells, CaseUse::sensitivity),
            "case.yaml:1: observations: is missing; a map with grid or stations is expected");
  EXPECT_EQ(problems("model: {prisms: {file: a.csv}}\n" + points, CaseUse::sensitivity),
            "case.yaml:1: model.prisms: have no sensitivities: the cells of voxels or of a mesh are needed, prismfield "
            "run alone reads prisms");
}

TEST_F(ReadInversion, ReadsHowSensitivitiesAreKept) {
  for (const auto& [word, store] : std::vector<std::pair<std::string, Store>>{
           {"auto", Store::automatic}, {"memory", Store::memory}, {"device", Store::device}, {"none", Store::none}}) {
    EXPECT_EQ(storage("{store: " + word + "}").store, store);
  }
  EXPECT_EQ(storage("{store: file, file: G.h5}").store, Store::file);
  EXPECT_EQ(storage("{precision: double}").precision, StoredPrecision::double_);
  EXPECT_EQ(storage("{precision: float}").precision, StoredPrecision::float_);
  EXPECT_FALSE(storage("{compression: none}").compression);
  EXPECT_TRUE(storage("{compression: none}").never_compressed);
  EXPECT_FALSE(storage("{store: auto}").never_compressed);
  EXPECT_FALSE(storage("{compression: 1e-3}").never_compressed);
  EXPECT_EQ(storage("{compression: 0.5}").compression, 0.5);
  const auto said = [&](const std::string& text) {
    return problems(cells + points + "sensitivity: " + text + "\n", CaseUse::sensitivity);
  };
  EXPECT_EQ(said("{store: disk}"),
            "case.yaml:3: sensitivity.store: is 'disk'; allowed: auto, memory, device, file, none");
  EXPECT_EQ(said("{store: file}"),
            "case.yaml:3: sensitivity.store: is file, but no file is named; write file: G.h5 beside it");
  EXPECT_EQ(
      said("{store: none, compression: 1e-4}"),
      "case.yaml:3: sensitivity.store: is none, but compression needs a matrix that is kept; write store: auto, or "
      "compression: none");
  EXPECT_THAT(said("{precision: single}"), HasSubstr("sensitivity.precision: is 'single'; allowed: double, float"));
  EXPECT_EQ(said("{store: file, file: G.h5, compression: 1e-4, precision: float16}"),
            "case.yaml:3: sensitivity.store: is file, which a compressed matrix is not written to; write store: auto, "
            "or compression: none\n"
            "case.yaml:3: sensitivity.store: is file, which does not hold float16; write precision: float, or double");
  for (const char* error : {"0", "-1e-4", "0.51", "9e-7"}) {
    EXPECT_EQ(said(std::string("{compression: ") + error + "}"),
              std::string("case.yaml:3: sensitivity.compression: is '") + error +
                  "'; none or a number from 1e-06 to 0.5 is expected");
  }
  EXPECT_THAT(said("{compression: high}"), HasSubstr("is 'high'; none or a number from 1e-06 to 0.5 is expected"));
  EXPECT_THAT(said("{file: [a]}"), HasSubstr("sensitivity.file: is a list"));
}

TEST_F(ReadInversion, KnowsWhatAModelDependsOn) {
  const std::string data = "inversion: {data: a.h5, beta: 2}\n";
  const auto identity = [&](const std::string& text) { return read(text).identity; };
  const std::string plain = identity(cells + data);
  EXPECT_EQ(plain, identity("inversion: {beta: 2, data: a.h5}\n" + cells));
  for (const char* same :
       {"title: x\n", "crs: EPSG:32719\n", "output: {file: o.h5}\n", "observations: {stations: {random: 3}}\n",
        "execution: {slots: 3, space: serial}\n", "sensitivity: {store: memory, file: G.h5}\n"}) {
    EXPECT_EQ(identity(cells + data + same), plain) << same;
  }
  EXPECT_EQ(identity(mesh_cells + data), identity("model: {mesh: {easting: [0, 3, 3], northing: [0, 2, 2], upward: "
                                                  "[-1, 0, 1], density: {random: [1, 2]}}}\n" +
                                                  data));
  for (const char* other :
       {"fields: gz\n", "axes: z_up\n", "gravitational_constant: 6.674e-11\n", "execution: {precision: single}\n",
        "execution: {kernel: corners}\n", "sensitivity: {precision: float}\n", "sensitivity: {compression: 1e-4}\n"}) {
    EXPECT_NE(identity(cells + data + other), plain) << other;
  }
  EXPECT_NE(identity(cells + "inversion: {data: a.h5, beta: 3}\n"), plain);
  EXPECT_NE(identity(mesh_cells + data), plain);
}

TEST_F(ReadInversion, ChecksTheOutputOfAnInversion) {
  const auto said = [&](const std::string& output, const std::string& sensitivity) {
    const Case run =
        read(cells + "inversion: {data: a.h5}\noutput: {file: " + output + "}\nsensitivity: {" + sensitivity + "}\n");
    return m_folder.removed_from(mistakes([&] { check_output(run); }));
  };
  const std::string out = (m_folder / "m.h5").string();
  EXPECT_EQ(said(out, ""), "");
  EXPECT_EQ(said((m_folder / "a.h5").string(), ""),
            "case.yaml:3: output.file: would replace the input a.h5; choose another name");
  EXPECT_EQ(said((m_folder / "m.csv").string(), ""),
            "case.yaml:3: output.file: is a table, which holds no model; write .h5 or .nc");
  EXPECT_EQ(said(out, "file: '" + out + "'"),
            "case.yaml:4: sensitivity.file: is the same file as output.file; choose another name");
}

}  // namespace
}  // namespace prismfield::test_read_inversion
