// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors

// The fields of single prisms against values of many digits: shared cases (prisms.json) and random pairs written by the
// scripts in tests/reference. The tolerance of 1e-12 is the accuracy that the product promises in double precision,
// relative to |V|, |g| and the norm of T; it is some 4,500 roundings wide, so it is no measure of luck.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "case/make_points.hpp"
#include "exact_prism.hpp"
#include "forward_helpers.hpp"
#include "made_model.hpp"

namespace prismfield::testing::test_reference {
namespace {

constexpr double promised = 1e-12;
/// the goal for prisms of aspect 100:1 to 1000:1
constexpr double promised_extreme = 5e-12;

const std::string folder = PRISMFIELD_SOURCE_DIR "/tests/reference/";

struct ReferencePoint {
  std::string name;
  Point point{};
  TenValues expected{};
};

struct ReferencePrism {
  std::string shape;
  Prism prism;
  std::vector<ReferencePoint> points;
};

double number(const std::string& word) {
  if (word.empty()) return std::numeric_limits<double>::quiet_NaN();
  char* end = nullptr;
  const double x = std::strtod(word.c_str(), &end);
  if (*end != '\0') throw std::runtime_error("not a number: " + word);
  return x;
}

Prism prism_of(const std::array<double, 6>& x) { return {x[0], x[1], x[2], x[3], x[4], x[5], 1.0}; }

std::vector<ReferencePrism> read_prisms_json() {
  static constexpr std::array<const char*, n_gravity_fields> names{"V",   "gx",  "gy",  "gz",  "gxx",
                                                                   "gyy", "gzz", "gxy", "gxz", "gyz"};
  std::vector<ReferencePrism> prisms;
  for (const YAML::Node& entry : YAML::LoadFile(folder + "prisms.json")["cases"]) {
    ReferencePrism p;
    p.prism = prism_of(entry["prism"].as<std::array<double, 6>>());
    ReferencePoint point{entry["name"].as<std::string>(), entry["point"].as<std::array<double, 3>>(), {}};
    for (std::size_t f = 0; f < n_gravity_fields; ++f) {
      const YAML::Node node = entry["values"][names[f]];
      point.expected[f] = number(node.IsNull() ? "" : node.as<std::string>());
    }
    p.points.push_back(point);
    prisms.push_back(p);
  }
  return prisms;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// A file of random_pairs.py: a line a prism, then a line for each of its points.
std::vector<ReferencePrism> read_pairs(const std::string& name) {
  std::ifstream file(folder + name);
  if (!file) throw std::runtime_error("cannot read " + folder + name);
  std::vector<ReferencePrism> prisms;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = words_of(line);
    if (words[0] == "prism") {
      ReferencePrism p;
      p.shape = words.at(1);
      std::array<double, 6> x{};
      for (std::size_t i = 0; i < 6; ++i) x[i] = number(words.at(2 + i));
      p.prism = prism_of(x);
      prisms.push_back(p);
    } else {
      ReferencePoint q{words[0], {}, {}};
      for (std::size_t i = 0; i < 3; ++i) q.point[i] = number(words.at(1 + i));
      for (std::size_t f = 0; f < n_gravity_fields; ++f) q.expected[f] = number(words.at(4 + f));
      prisms.at(prisms.size() - 1).points.push_back(q);
    }
  }
  return prisms;
}

struct SphereCellPair {
  std::int64_t number = 0;
  double density = 0;
  Prism prism;
  ReferencePoint at;
};

std::vector<SphereCellPair> read_seven_spheres_pairs() {
  std::ifstream file(folder + "seven_spheres_pairs.csv");
  if (!file) throw std::runtime_error("cannot read seven_spheres_pairs.csv");
  std::vector<SphereCellPair> pairs;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = words_of(line);
    SphereCellPair pair;
    pair.number = std::stoll(words.at(0));
    pair.density = number(words.at(1));
    std::array<double, 6> x{};
    for (std::size_t i = 0; i < 6; ++i) x[i] = number(words.at(2 + i));
    pair.prism = prism_of(x);
    for (std::size_t i = 0; i < 3; ++i) pair.at.point[i] = number(words.at(8 + i));
    for (std::size_t f = 0; f < n_gravity_fields; ++f) pair.at.expected[f] = number(words.at(11 + f));
    pairs.push_back(pair);
  }
  return pairs;
}

Errors errors_at(const TenValues& actual, const ReferencePoint& at, const Prism& prism) {
  return errors_of(actual, at.expected, scales_of(at.expected, prism, at.point));
}

std::string describe(const Prism& p, const ReferencePoint& at, const TenValues& actual, const Errors& e) {
  std::ostringstream out;
  out << std::setprecision(17) << at.name << ": prism " << p.west << ' ' << p.east << ' ' << p.south << ' ' << p.north
      << ' ' << p.bottom << ' ' << p.top << ", point " << at.point[0] << ' ' << at.point[1] << ' ' << at.point[2]
      << "\n  expected" << digits(at.expected) << "\n  actual  " << digits(actual) << std::setprecision(3)
      << "\n  errors of V " << e.potential << ", g " << e.vector << ", T " << e.tensor << "; from the centre "
      << distance_to_centre(p, at.point) / p.longest_edge() << ", from the surface "
      << distance_to_surface(p, at.point) / p.longest_edge() << " longest edges";
  return out.str();
}

/// Worst errors by class, printed as a table so that a log says how far from the promise the product is.
class ErrorTable {
public:
  explicit ErrorTable(std::string title) : m_title(std::move(title)) {}

  void add(const Prism& prism, const ReferencePoint& at, const Errors& e) {
    const double surface = distance_to_surface(prism, at.point) / prism.longest_edge();
    if (surface == 0) {
      include("distance  0: on the surface", e);
    } else {
      const int decade = std::max(-7, static_cast<int>(std::floor(std::log10(surface))));
      std::ostringstream row;
      if (decade == -7) {
        row << "distance  1: below 1e-6";
      } else {
        row << "distance " << std::setw(2) << decade + 8 << ": 1e" << decade << " to 1e" << decade + 1;
      }
      include(row.str(), e);
    }
    const double aspect = prism.longest_edge() / prism.shortest_edge();
    const int step = static_cast<int>(std::floor(2 * std::log10(aspect) + 1e-9));
    std::ostringstream row;
    row << "aspect 1e" << std::showpos << std::fixed << std::setprecision(1) << step / 2.0 << " to 1e"
        << (step + 1) / 2.0;
    include(row.str(), e);
    include("everything", e);
  }

  [[nodiscard]] Errors worst() const { return m_rows.at("everything").second; }

  ErrorTable(const ErrorTable&) = delete;
  ErrorTable& operator=(const ErrorTable&) = delete;
  ~ErrorTable() {
    std::ostringstream out;
    out << m_title << "\n  distances in longest edges from the surface     points       V        g        T\n";
    for (const auto& [name, row] : m_rows) {
      out << "  " << std::left << std::setw(44) << name << std::right << std::setw(10) << row.first
          << std::setprecision(1) << std::scientific;
      for (const double x : {row.second.potential, row.second.vector, row.second.tensor}) out << "  " << x;
      out << '\n';
    }
    std::cout << out.str();
  }

private:
  void include(const std::string& name, const Errors& e) {
    auto& row = m_rows[name];
    ++row.first;
    row.second.include(e);
  }

  std::string m_title;
  std::map<std::string, std::pair<int, Errors>> m_rows;
};

/// Reports what is outside its bound: the first few with every digit, then the number of all.
class Judge {
public:
  void see(const Prism& prism, const ReferencePoint& at, const TenValues& actual, const Errors& e, double bound) {
    if (e.worst() <= bound) return;
    ++m_outside;
    if (m_outside <= 3) ADD_FAILURE() << "outside " << bound << ": " << describe(prism, at, actual, e);
  }
  ~Judge() { EXPECT_EQ(m_outside, 0) << "pairs outside the bound in all"; }

  Judge() = default;
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

private:
  int m_outside = 0;
};

/// Where and how the pairs are computed.
struct Manner {
  Space space;
  Partition partition;
};

std::string name_of(const Manner& manner) { return std::string(name(manner.space)) + "_" + name(manner.partition); }

void PrintTo(const Manner& manner, std::ostream* out) { *out << name_of(manner); }

class Reference : public ::testing::TestWithParam<Manner> {
protected:
  void SetUp() override {
    if (const auto reason = unavailable(GetParam().space)) GTEST_SKIP() << *reason;
    m_execution.space = GetParam().space;
    m_execution.partition = GetParam().partition;
  }

  [[nodiscard]] static std::string title(const std::string& what) { return what + ", " + name_of(GetParam()); }

  Execution m_execution;
};

INSTANTIATE_TEST_SUITE_P(
    Spaces, Reference,
    ::testing::Values(Manner{Space::serial, Partition::prisms}, Manner{Space::serial, Partition::points},
                      Manner{Space::openmp, Partition::prisms}, Manner{Space::openmp, Partition::points},
                      Manner{Space::cuda, Partition::prisms}, Manner{Space::cuda, Partition::points},
                      Manner{Space::hip, Partition::prisms}, Manner{Space::hip, Partition::points}),
    [](const auto& param) { return name_of(param.param); });

/// A point alone is worked on by a partly filled vector.
TEST_P(Reference, SharedCasesOneAtATime) {
  Judge judge;
  for (const ReferencePrism& p : read_prisms_json()) {
    const ReferencePoint& at = p.points[0];
    const TenValues actual = compute(m_execution, {p.prism}, {at.point})[0];
    judge.see(p.prism, at, actual, errors_at(actual, at, p.prism), promised);
  }
}

/// Every case at every place of a group of lanes, beside points near and far that take other branches.
TEST_P(Reference, SharedCasesInMixedGroups) {
  const std::vector<ReferencePrism> cases = read_prisms_json();
  ASSERT_EQ(cases.size(), 15U);
  Judge judge;
  for (const ReferencePrism& p : cases) {
    const ReferencePoint& at = p.points[0];
    std::vector<Point> points;
    std::vector<std::size_t> own;
    // 37 points: more than two of the widest groups (16 floats) and a rest.
    for (std::size_t i = 0; i < 37; ++i) {
      if (i % 3 != 1) {
        own.push_back(points.size());
        points.push_back(at.point);
      } else {
        points.push_back(cases[(i * 7) % cases.size()].points[0].point);
      }
    }
    const std::vector<TenValues> actual = compute(m_execution, {p.prism}, points);
    for (const std::size_t i : own) {
      judge.see(p.prism, at, actual[i], errors_at(actual[i], at, p.prism), promised);
    }
  }
}

/// The cases that share a prism, as one set of points: each lane of a group must be right.
TEST_P(Reference, SharedCasesOfOnePrismTogether) {
  const std::vector<ReferencePrism> cases = read_prisms_json();
  std::vector<ReferencePoint> at;
  for (const ReferencePrism& p : cases) {
    if (p.prism.west == -0.75) at.push_back(p.points[0]);
  }
  ASSERT_GE(at.size(), 12U);
  Judge judge;
  for (std::size_t turn = 0; turn < at.size(); ++turn) {
    std::rotate(at.begin(), at.begin() + 1, at.end());
    std::vector<Point> points;
    for (const ReferencePoint& a : at) points.push_back(a.point);
    const std::vector<TenValues> actual = compute(m_execution, {cases[0].prism}, points);
    for (std::size_t i = 0; i < at.size(); ++i) {
      judge.see(cases[0].prism, at[i], actual[i], errors_at(actual[i], at[i], cases[0].prism), promised);
    }
  }
}

/// Close to the centre in every direction, where the attraction is small beside that of its parts though not so small
/// that scales_of() takes another scale: to be exact there a sum of large terms will not do.
bool is_about_centre(const Prism& p, const ReferencePoint& at) {
  const auto close = [](double low, double high, double q) {
    return std::abs((low - q) + (high - q)) < (high - low) / 8;
  };
  return close(p.west, p.east, at.point[0]) && close(p.south, p.north, at.point[1]) &&
         close(p.bottom, p.top, at.point[2]);
}

/// All points of each prism in one call, so that a group mixes distances, and each alone. The points about the centre
/// are judged apart from the others.
void check_pairs(const Execution& execution, const std::string& file, bool about_centre, std::size_t n_pairs,
                 double bound, const std::string& title) {
  const std::vector<ReferencePrism> prisms = read_pairs(file);
  ErrorTable table(title);
  Judge judge;
  std::size_t n = 0;
  for (const ReferencePrism& p : prisms) {
    std::vector<Point> points;
    for (const ReferencePoint& at : p.points) points.push_back(at.point);
    // Twice, the second time in another order: other neighbours, and groups that are full.
    const std::size_t n_points = points.size();
    for (std::size_t i = 0; i < n_points; ++i) points.push_back(points[(3 * i + 1) % n_points]);
    const std::vector<TenValues> together = compute(execution, {p.prism}, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const ReferencePoint& at = p.points[i < n_points ? i : (3 * (i - n_points) + 1) % n_points];
      if (is_about_centre(p.prism, at) != about_centre) continue;
      const Errors e = errors_at(together[i], at, p.prism);
      table.add(p.prism, at, e);
      judge.see(p.prism, at, together[i], e, bound);
    }
    for (const ReferencePoint& at : p.points) {
      if (is_about_centre(p.prism, at) != about_centre) continue;
      const TenValues alone = compute(execution, {p.prism}, {at.point})[0];
      const Errors e = errors_at(alone, at, p.prism);
      table.add(p.prism, at, e);
      judge.see(p.prism, at, alone, e, bound);
      ++n;
    }
  }
  EXPECT_EQ(n, n_pairs);
  ::testing::Test::RecordProperty("worst_potential", std::to_string(table.worst().potential * 1e12) + "e-12");
  ::testing::Test::RecordProperty("worst_vector", std::to_string(table.worst().vector * 1e12) + "e-12");
  ::testing::Test::RecordProperty("worst_tensor", std::to_string(table.worst().tensor * 1e12) + "e-12");
}

TEST_P(Reference, RandomPairs) {
  check_pairs(m_execution, "random_pairs.csv", false, 4000 - 356, promised, title("Random pairs, aspect to 100:1"));
}

TEST_P(Reference, RandomPairsAboutTheCentre) {
  check_pairs(m_execution, "random_pairs.csv", true, 356, promised,
              title("Random pairs about the centre, aspect to 100:1"));
}

TEST_P(Reference, ExtremePairs) {
  check_pairs(m_execution, "extreme_pairs.csv", false, 1000 - 58, promised_extreme,
              title("Random pairs, aspect 100:1 to 1000:1"));
}

TEST_P(Reference, ExtremePairsAboutTheCentre) {
  check_pairs(m_execution, "extreme_pairs.csv", true, 58, promised_extreme,
              title("Random pairs about the centre, aspect 100:1 to 1000:1"));
}

TEST_P(Reference, SevenSpheresPairs) {
  const std::vector<SphereCellPair> pairs = read_seven_spheres_pairs();
  ASSERT_EQ(pairs.size(), 1000U);
  ErrorTable table(title("Pairs of the seven spheres"));
  Judge judge;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SphereCellPair& pair = pairs[i];
    // Beside points of other pairs, as on a grid, and alone.
    std::vector<Point> points{pair.at.point};
    for (std::size_t k = 1; k < 20; ++k) points.push_back(pairs[(i + 31 * k) % pairs.size()].at.point);
    points.push_back(pair.at.point);
    const std::vector<TenValues> actual = compute(m_execution, {pair.prism}, points);
    const TenValues alone = compute(m_execution, {pair.prism}, {pair.at.point})[0];
    for (const TenValues& values : {actual.front(), actual.back(), alone}) {
      const Errors e = errors_at(values, pair.at, pair.prism);
      table.add(pair.prism, pair.at, e);
      judge.see(pair.prism, pair.at, values, e, promised);
    }
  }
}

/// Far from a prism float keeps its own accuracy, a few roundings of 6e-8.
TEST_P(Reference, SevenSpheresPairsInFloat) {
  m_execution.precision = Precision::single;
  ErrorTable table(title("Pairs of the seven spheres, single"));
  Judge judge;
  for (const SphereCellPair& pair : read_seven_spheres_pairs()) {
    const TenValues actual = compute(m_execution, {pair.prism}, {pair.at.point})[0];
    const Errors e = errors_at(actual, pair.at, pair.prism);
    table.add(pair.prism, pair.at, e);
    judge.see(pair.prism, pair.at, actual, e, 2e-6);
  }
}

/// Calls see(point, its ten values, their errors) for each of a prism's points. About the centre of a prism its terms
/// are of the slab's size whatever their sum, and the errors are relative to that.
template <class See>
void see_each_point(const Execution& execution, const ReferencePrism& p, const See& see) {
  std::vector<Point> points;
  for (const ReferencePoint& at : p.points) points.push_back(at.point);
  const std::vector<TenValues> actual = compute(execution, {p.prism}, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ReferencePoint& at = p.points[i];
    see(at, actual[i], errors_of(actual[i], at.expected, scales_of(at.expected, p.prism, at.point, 1e-1)));
  }
}

/// Cells of one shape share what a shape needs, taken from one of them: their edges differ by the rounding of
/// coordinates.
TEST_P(Reference, SevenSpheresPairsOfOneShape) {
  const std::vector<SphereCellPair> pairs = read_seven_spheres_pairs();
  Judge judge;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const SphereCellPair& pair = pairs[i];
    Prism other = pairs[(i + 1) % pairs.size()].prism;
    other.density = 0;
    const Fields result =
        run_forward(make_request(m_execution), ListEnsemble({other, pair.prism}, true), {pair.at.point});
    const TenValues actual = values_at(result, 0);
    judge.see(pair.prism, pair.at, actual, errors_at(actual, pair.at, pair.prism), promised);
  }
}

/// The fast values of many digits that test_worst_pairs compares with, against those of mpmath.
TEST(ExactPrism, IsThatOfTheOracle) {
  if (!has_exact_fields()) GTEST_SKIP() << "this compiler has no numbers of more digits than double's";
  Errors worst;
  for (const char* const file : {"random_pairs.csv", "extreme_pairs.csv"}) {
    for (const ReferencePrism& p : read_pairs(file)) {
      for (const ReferencePoint& at : p.points) {
        if (std::any_of(at.expected.begin(), at.expected.end(), [](double x) { return std::isnan(x); })) continue;
        const Prism& q = p.prism;
        const std::array<double, 6> faces{q.west, q.east, q.south, q.north, q.bottom, q.top};
        const TenValues actual = exact_fields(faces, on_faces(faces, at.point));
        worst.include(errors_of(actual, at.expected, scales_of(at.expected, q, at.point)));
      }
    }
  }
  // both are rounded to doubles
  EXPECT_LE(worst.worst(), 4e-16);
}

/// Errors of former versions: a direction between those at which a multipole's largest size was looked for, the nearly
/// equal angles of two faces of a needle far away, its nearly equal logarithms inside, on its axis.
TEST_P(Reference, FormerWorstPairs) {
  if (!has_exact_fields()) GTEST_SKIP() << "this compiler has no numbers of more digits than double's";
  struct Pair {
    Prism prism;
    Point point;
    double bound;
  };
  const std::vector<Pair> pairs = {
      {{-50, 50, -18.8, 18.8, -9.85, 9.85, 1}, {765.2, 245.7, 0}, promised},
      {{-463.5, 463.5, -0.5, 0.5, -0.5, 0.5, 1}, {1723.5, 8559.5, 709}, promised},
      {{-0.49685591696739567, 0.49685591696739567, -0.00058255481852858399, 0.00058255481852858399,
        -0.00055753485117143156, 0.00055753485117143156, 1},
       {0.063239424585778539, 5.2301957806171357e-09, 0},
       promised_extreme},
  };
  for (const Pair& pair : pairs) {
    const Prism& p = pair.prism;
    ReferencePoint at{"former worst", pair.point, {}};
    at.expected = exact_fields({p.west, p.east, p.south, p.north, p.bottom, p.top}, at.point);
    const TenValues actual = compute(m_execution, {p}, {at.point})[0];
    Judge judge;
    judge.see(p, at, actual, errors_by_norm(actual, at.expected, scales_of(at.expected, p, at.point)), pair.bound);
  }
}

/// Thin prisms in single precision, which were wrong by per cents.
TEST_P(Reference, SlabsAndNeedlesInFloat) {
  if (!has_exact_fields()) GTEST_SKIP() << "this compiler has no numbers of more digits than double's";
  const std::vector<Prism> prisms = {{-5e5, 5e5, -5e5, 5e5, -1, 0, 1}, {-5e5, 5e5, -0.5, 0.5, -1, 0, 1}};
  const std::vector<Point> points = {{1000, 2000, 100}, {4e5, 1e5, 3e4}, {6e5, 3e5, 2e5}, {2e5, 6e5, 9e5}};
  m_execution.precision = Precision::single;
  for (const Prism& p : prisms) {
    Judge judge;
    const std::vector<TenValues> actual = compute(m_execution, {p}, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ReferencePoint at{"single", points[i], {}};
      at.expected = exact_fields({p.west, p.east, p.south, p.north, p.bottom, p.top}, at.point);
      judge.see(p, at, actual[i], errors_at(actual[i], at, p), 2e-6);
    }
  }
}

/// The pairs are those of the case as the program makes it: cells, densities and grid points, to the last bit.
TEST(SevenSpheres, PairsAreThoseOfTheCase) {
  VoxelsSpec voxels;
  voxels.easting = voxels.northing = {0, 22000, 700};
  voxels.upward = {-8000, 0, 50};
  voxels.spheres = {{{11000, 11000, -4000}, 1080, 300}, {{17500, 11000, -2000}, 1090, -200},
                    {{14250, 16629, -2600}, 1110, 250}, {{7750, 16629, -3200}, 1130, 400},
                    {{4500, 11000, -3800}, 1120, -300}, {{7750, 5371, -4400}, 1110, 500},
                    {{14250, 5371, -5000}, 1110, 350}};
  Case run;
  run.model = voxels;
  run.observations = GridSpec{{0, 22000, 150}, {0, 22000, 100}, 100.0};
  const auto ensemble = testing::made(run);
  ASSERT_EQ(ensemble->size(), 251'946);
  std::vector<std::string> notes;
  const Points points = make_points(run, ensemble->bounds(), Communicator(), notes);
  ASSERT_EQ(points.size(), 15'000);
  PrismBlock cell;
  for (const SphereCellPair& pair : read_seven_spheres_pairs()) {
    ensemble->read({pair.number, pair.number + 1}, cell);
    EXPECT_EQ(cell.density.at(0), pair.density);
    EXPECT_EQ(cell.west.at(0), pair.prism.west);
    EXPECT_EQ(cell.east.at(0), pair.prism.east);
    EXPECT_EQ(cell.south.at(0), pair.prism.south);
    EXPECT_EQ(cell.north.at(0), pair.prism.north);
    EXPECT_EQ(cell.bottom.at(0), pair.prism.bottom);
    EXPECT_EQ(cell.top.at(0), pair.prism.top);
    EXPECT_NE(std::find(points.easting.begin(), points.easting.end(), pair.at.point[0]), points.easting.end());
    EXPECT_NE(std::find(points.northing.begin(), points.northing.end(), pair.at.point[1]), points.northing.end());
    EXPECT_EQ(points.upward.at(0), pair.at.point[2]);
  }
}

/// What the eight-corner sum can reach in double: each corner's term is R^3 / volume times the sum, R the distance to
/// the farthest corner, and is rounded in a few places.
double corners_bound(const Prism& prism, const Point& q) {
  const double r = std::hypot(std::max(std::abs(prism.west - q[0]), std::abs(prism.east - q[0])),
                              std::max(std::abs(prism.south - q[1]), std::abs(prism.north - q[1])),
                              std::max(std::abs(prism.bottom - q[2]), std::abs(prism.top - q[2])));
  return 100 * std::numeric_limits<double>::epsilon() * (1 + r * r * r / prism.volume());
}

TEST_P(Reference, EightCorners) {
  m_execution.kernel = KernelKind::corners;
  std::vector<ReferencePrism> prisms = read_prisms_json();
  for (const ReferencePrism& p : read_pairs("random_pairs.csv")) prisms.push_back(p);
  Judge judge;
  for (const ReferencePrism& p : prisms) {
    see_each_point(m_execution, p, [&](const ReferencePoint& at, const TenValues& actual, const Errors& e) {
      judge.see(p.prism, at, actual, e, corners_bound(p.prism, at.point));
    });
  }
}

}  // namespace
}  // namespace prismfield::testing::test_reference
