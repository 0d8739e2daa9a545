// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <prismfield/prisms.hpp>

namespace prismfield {

/// How far the trace of a result's gradient tensor is from what Poisson's equation gives, -4 pi G rho, Eotvos; the
/// three components are computed independently (Moorkamp et al. 2010).
struct TraceDeviation {
  std::int64_t points = 0;
  double rms = 0, largest = 0;
  /// the largest |gxx|, |gyy|, |gzz| of these points, or 4 pi G rho where that is larger
  double scale = 0;
};

struct Trace {
  /// where the density is 0, and in prisms; points on faces of prisms, where the trace jumps, are in neither
  TraceDeviation outside, inside;
};

/// Reads gxx, gyy, gzz and the points of a result. `gravitational_constant` in SI. Throws InputError, RunError for what
/// is no result with these fields.
[[nodiscard]] Trace trace_of(const std::filesystem::path& result, const PrismSource& prisms,
                             double gravitational_constant);

/// Lines of trace.csv, one of the points outside and one of those inside, where there are any.
[[nodiscard]] std::string trace_lines(std::int64_t point, const Trace& trace);

}  // namespace prismfield
