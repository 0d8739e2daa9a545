// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "made_study.hpp"
#include "study/analysis.hpp"
#include "study/join.hpp"
#include "study/read_study.hpp"
#include "study/study_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace prismfield {
namespace {

using Json = nlohmann::json;
using testing::MadeStudy;

class StudyJson : public ::testing::Test {
protected:
  StudyJson() {
    m_study.yaml =
        "title: Threads\nsweep: {threads: [1, 2, 4, 8]}\nrepeats: 2\n"
        "figure: {x: threads, y: speed_up, log: x}\n"
        "compare_with: {paper: C2, values: {\"2\": 1.9, one: 1e3}, note: '007', real: true, nothing: null}\n";
    m_study.add_runs(1, {"1"}, 1, {8, 10});
    m_study.add_runs(2, {"2"}, 2, {4, 5});
    m_study.leave_out(3, {"4"}, RunStatus::not_run, "no \"room\"");
    m_study.add_runs(4, {"8"}, 8, {1, 1.25});
  }
  Json json() {
    m_study.write_all({"threads"});
    StudyData study = read_study(m_study.folder());
    analyse(study);
    return Json::parse(study_json(study));
  }
  MadeStudy m_study;
};

TEST_F(StudyJson, HasTheSchema) {
  m_study.write("errors.csv",
                "point,field,unit,rms_difference,largest_difference,largest_reference,relative\n1,gz,mGal,1,2,4,0.5\n");
  m_study.write("histograms.csv",
                "point,field,decade,negative,positive\n1,gz,below,1,2\n1,gz,-16,3,4\n1,gz,equal,,5\n");
  m_study.write("trace.csv", "point,where,n,rms,largest,scale\n1,outside,7,1e-3,2e-3,10\n");
  m_study.write("maps.csv", "point,file,fields\n1,results/1.h5,gz gzz\n");
  m_study.write("busy.csv", "point,rank,slot,begin,end\n1,0,-1,0.25,1\n");
  const Json study = json();
  EXPECT_EQ(study["schema"], "prismfield-study");
  EXPECT_EQ(study["version"], 1);
  EXPECT_EQ(study["title"], "Threads");
  EXPECT_EQ(study["reduced"], false);
  EXPECT_EQ(study["program"], Json::parse(R"({"version": "1.2.3", "git": "abc"})"));
  EXPECT_EQ(study["machine"]["cores"], 4) << "as machine.json has it";
  EXPECT_FALSE(study.contains("machines"));
  EXPECT_EQ(study["rules"]["tolerance"], 1e-9);
  EXPECT_EQ(study["rules"]["repeats"], 2);
  EXPECT_EQ(study["axes"], Json::parse(R"([{"name": "threads", "values": ["1", "2", "4", "8"]}])"));
  EXPECT_EQ(study["problems"], Json::parse(R"([{"id": "p1", "hash": "p1", "pairs": 1000000000}])"));
  EXPECT_EQ(study["errors"][0]["rms_difference"], 1);
  EXPECT_EQ(study["histograms"], Json::parse(R"([{"point": 1, "field": "gz", "lowest": -16, "negative": [1, 3],
                                                  "equal": 5, "positive": [2, 4]}])"));
  EXPECT_EQ(study["trace"],
            Json::parse(R"([{"point": 1, "where": "outside", "n": 7, "rms": 1e-3, "largest": 2e-3, "scale": 10.0}])"));
  EXPECT_EQ(study["maps"], Json::parse(R"([{"point": 1, "file": "results/1.h5", "fields": ["gz", "gzz"]}])"));
  EXPECT_EQ(study["busy"], Json::parse(R"([{"point": 1, "rank": 0, "slot": -1, "begin": 0.25, "end": 1.0}])"));
  EXPECT_EQ(study["figures"], Json::parse(R"([{"x": "threads", "y": "speed_up", "log": "x"}])"));
  EXPECT_EQ(study["compare_with"], Json::parse(R"([{"paper": "C2", "values": {"2": 1.9, "one": 1000.0}, "note": "007",
                                                    "real": true, "nothing": null}])"));
  EXPECT_EQ(study["portability"], Json::array());
}

TEST_F(StudyJson, HasPointsAndFits) {
  const Json study = json();
  ASSERT_EQ(study["points"].size(), 4U);
  const Json& two = study["points"][1];
  EXPECT_EQ(two["id"], 2);
  EXPECT_EQ(two["labels"], Json::parse(R"({"threads": "2"})"));
  EXPECT_EQ(two["status"], "ok");
  EXPECT_EQ(two["runs"], 2);
  EXPECT_EQ(two["field_seconds"],
            Json::parse(R"({"median": 4.5, "low": 4.0, "high": 5.0, "least": 4.0, "most": 5.0, "all": [4.0, 5.0]})"));
  EXPECT_EQ(two["speed_up"]["value"], 2);
  EXPECT_EQ(two["speed_up"]["low"], 8 / 5.0);
  EXPECT_EQ(two["efficiency"]["value"], 1);
  EXPECT_EQ(two["threads"], 2);
  EXPECT_TRUE(two["devices"].is_null());
  EXPECT_TRUE(two["energy_joules"].is_null());
  EXPECT_TRUE(two["operations"].is_null()) << "nobody told the fields";
  EXPECT_TRUE(two["processor_seconds"].is_null());
  EXPECT_EQ(two["pairs_by_form"]["multipole_4"], 1'000'000'000);
  EXPECT_TRUE(study["points"][0]["karp_flatt"].is_null());
  const Json& left = study["points"][2];
  EXPECT_EQ(left["status"], "not run");
  EXPECT_EQ(left["why"], "no \"room\"");
  EXPECT_EQ(left["runs"], 0);
  EXPECT_TRUE(left["field_seconds"].is_null());
  ASSERT_EQ(study["fits"].size(), 1U);
  const Json& fit = study["fits"][0];
  EXPECT_EQ(fit["along"], "threads");
  EXPECT_EQ(fit["group"], Json::object());
  EXPECT_EQ(fit["points"], Json::parse("[1, 2, 4]"));
  EXPECT_NEAR(fit["amdahl"]["serial"].get<double>(), 0, 1e-15);
  EXPECT_LT(fit["amdahl"]["low"].get<double>(), fit["amdahl"]["high"].get<double>());
}

TEST_F(StudyJson, LeavesBoundsOutThatAreNotKnown) {
  m_study.rows.erase(m_study.rows.begin() + 3);
  m_study.rows.erase(m_study.rows.begin() + 1);
  const Json study = json();
  EXPECT_TRUE(study["points"][0]["field_seconds"]["low"].is_null());
  EXPECT_FALSE(study["fits"][0]["amdahl"].contains("low"));
  EXPECT_TRUE(study["fits"][0]["amdahl"].contains("serial"));
}

TEST_F(StudyJson, SurvivesBytesThatAreNoText) {
  m_study.write_all({"threads"});
  StudyData study = read_study(m_study.folder());
  analyse(study);
  study.points[0].device = "caf\xe9";
  EXPECT_EQ(Json::parse(study_json(study))["points"][0]["device"], "caf\xef\xbf\xbd");
}

TEST_F(StudyJson, NamesTheMachinesOfAJoinedStudy) {
  MadeStudy other("other", m_study);
  other.yaml = m_study.yaml;
  other.rows = m_study.rows;
  for (const MadeStudy* const study : {&m_study, &other}) study->write_all({"threads"});
  StudyData study = join({m_study.folder(), other.folder()});
  analyse(study);
  const Json joined = Json::parse(study_json(study));
  EXPECT_FALSE(joined.contains("machine"));
  ASSERT_EQ(joined["machines"].size(), 2U);
  EXPECT_EQ(joined["machines"][1]["name"], "made (2)");
  EXPECT_EQ(joined["axes"].size(), 1U) << "points tell their machine themselves";
  EXPECT_EQ(joined["points"][6]["machine"], "made (2)");
  EXPECT_EQ(joined["points"][6]["labels"], Json::parse(R"({"threads": "4"})"));
  EXPECT_EQ(joined["fits"][1]["group"], Json::object({{"machine", "made (2)"}}));
  ASSERT_EQ(joined["portability"].size(), 2U);
  EXPECT_EQ(joined["portability"][1]["efficiency"], "application");
  EXPECT_EQ(joined["portability"][1]["value"], 1.0);
  EXPECT_EQ(joined["portability"][1]["platforms"][0]["platform"], "made, openmp");
  EXPECT_TRUE(joined["portability"][0]["value"].is_null()) << "nobody measured the peak";
}

}  // namespace
}  // namespace prismfield
