// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include <prismfield/forward.hpp>
#include <prismfield/runtime.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

/// A sedimentary basin of n x n columns, 1 km wide each, over a basement that deepens towards its middle. No column is
/// held: read() makes those that are asked for.
class Basin final : public prismfield::PrismSource {
public:
  explicit Basin(std::int64_t n) : m_n(n) {}

  [[nodiscard]] std::int64_t size() const noexcept override { return m_n * m_n; }
  [[nodiscard]] prismfield::Bounds bounds() const noexcept override {
    const double width = 1000.0 * static_cast<double>(m_n);
    return {0, width, 0, width, -4010, 0};
  }
  void read(prismfield::IndexRange range, prismfield::PrismBlock& out) const override {
    out.resize(range.size());
    for (std::int64_t p = range.begin; p < range.end; ++p) {
      const auto i = static_cast<std::size_t>(p - range.begin);
      const auto column = static_cast<double>(p % m_n);
      const auto row = static_cast<double>(p / m_n);
      out.west[i] = 1000 * column;
      out.east[i] = 1000 * (column + 1);
      out.south[i] = 1000 * row;
      out.north[i] = 1000 * (row + 1);
      const double x = 2 * (column + 0.5) / static_cast<double>(m_n) - 1;
      const double y = 2 * (row + 0.5) / static_cast<double>(m_n) - 1;
      out.bottom[i] = -10 - 4000 * std::exp(-3 * (x * x + y * y));
      out.top[i] = 0;
      out.density[i] = -300;
    }
  }

private:
  std::int64_t m_n;
};

}  // namespace

int main() {
  try {
    const prismfield::Runtime runtime;
    const Basin basin(200);
    const std::vector<double> easting{25'000, 50'000, 75'000, 100'000, 125'000}, northing(5, 100'000), upward(5, 10);
    prismfield::Request request;
    request.fields = {prismfield::Field::gz, prismfield::Field::gzz};
    std::vector<double> values(2 * easting.size());
    // neither the columns nor the values are copied
    prismfield::forward_into(values, basin, {easting, northing, upward}, request);
    for (std::size_t i = 0; i < easting.size(); ++i) {
      std::printf("%6.0f km %9.4f mGal %9.4f Eotvos\n", easting[i] / 1000, -1e5 * values[i],
                  1e9 * values[easting.size() + i]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
