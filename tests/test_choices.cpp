// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "model/choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace prismfield::test_choices {
namespace {

TEST(FieldWords, MeanWhatTheyNameInAnySpelling) {
  for (const char* const name : {"gz", "Gz", "GZ", "g_z", "g-z", "g.z", "g z"}) {
    const auto word = field_meant(name);
    ASSERT_TRUE(word) << name;
    EXPECT_EQ(word->field, Field::gz) << name;
    EXPECT_FALSE(word->is_sigma) << name;
  }
  for (const char* const name : {"gz_sigma", "sigma_gz", "G_z-Sigma", "sigmagz"}) {
    const auto word = field_meant(name);
    ASSERT_TRUE(word) << name;
    EXPECT_EQ(word->field, Field::gz) << name;
    EXPECT_TRUE(word->is_sigma) << name;
  }
  // every field by its own name, also those that differ by a sign
  for (const FieldInfo& field : field_infos) {
    ASSERT_TRUE(field_meant(field.name)) << field.name;
    EXPECT_EQ(field_meant(field.name)->field, field.field) << field.name;
  }
  for (const char* const name :
       {"", "g", "gz2", "z", "sigma", "gz [mGal]", "bouguer", "gravity", "_", "gz_sigma_sigma"}) {
    EXPECT_FALSE(field_meant(name)) << name;
  }
}

TEST(Units, AreThoseOfPeopleAndOfUdunits) {
  const auto expect_factor = [](Field field, double factor, std::initializer_list<const char*> units) {
    for (const char* const unit : units) {
      const auto found = unit_factor(field, unit);
      ASSERT_TRUE(found) << unit;
      EXPECT_EQ(*found, factor) << unit;
    }
  };
  expect_factor(Field::gz, 1, {"", "mGal", "mgal", "MGAL", "milliGal", "1e-5 m s-2"});
  expect_factor(Field::gz, 1e5,
                {"m/s2", "m s-2", "m/s^2", "m s^-2", "m s**-2", "m*s-2", "m\u00b7s\u207b\u00b2", "m/s\u00b2"});
  expect_factor(Field::gx, 0.1, {"um/s2", "gu", "GU", "\u00b5m/s2", "\u03bcm s-2", "um s^-2"});
  expect_factor(Field::gy, 1e-3, {"uGal", "microGal", "\u00b5Gal"});
  expect_factor(Field::gzz, 1, {"E", "Eotvos", "eotvos", "E\u00f6tv\u00f6s", "1e-9 s-2", "1e-9/s2"});
  expect_factor(Field::gxy, 1e9, {"1/s2", "s-2", "s^-2", "1/s^2"});
  expect_factor(Field::gzz, 1e4, {"mGal/m", "mGal m-1"});
  expect_factor(Field::tmi, 1, {"nT", "nt", "nanoTesla", "gamma", "1e-9 T"});
  expect_factor(Field::bz, 1e9, {"T", "tesla"});
  expect_factor(Field::tmi, 1e-3, {"pT"});
  expect_factor(Field::bzz, 1, {"nT/m", "nT m-1"});
  expect_factor(Field::potential, 1, {"m2 s-2", "m2/s2", "m^2/s^2", "J/kg"});
  // of another kind, half written, numbers that run together or stand for nothing
  for (const auto& [field, unit] :
       {std::pair{Field::gz, "E"}, std::pair{Field::gzz, "mGal"}, std::pair{Field::tmi, "nT/m"},
        std::pair{Field::gz, "nT"}, std::pair{Field::gz, "1e-5"}, std::pair{Field::gz, "m"},
        std::pair{Field::gz, "0 mGal"}, std::pair{Field::gzz, "1e-9 1/s2"}, std::pair{Field::gz, "1e999 mGal"},
        std::pair{Field::gz, "nan"}, std::pair{Field::gz, "/"}, std::pair{Field::gz, "^"}, std::pair{Field::gz, "\xB5"},
        std::pair{Field::gz, "-1 mGal"}}) {
    EXPECT_FALSE(unit_factor(field, unit)) << unit;
  }
  EXPECT_EQ(unit_error(Field::gz, "mm"),
            "is in 'mm'; mGal, uGal, Gal, m/s2, um/s2 (gu) or nm/s2 is expected: change the numbers and the unit");
}

}  // namespace
}  // namespace prismfield::test_choices
