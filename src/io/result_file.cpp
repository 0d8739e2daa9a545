// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include <prismfield/error.hpp>

#include "app/figure.hpp"
#include "base/random.hpp"
#include "base/temporary_file.hpp"
#include "base/version.hpp"
#include "io/hdf5_file.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

/// A text attribute lives in an object header, which HDF5 limits to 64 kB.
constexpr std::size_t longest_case_attribute = 60'000;

std::string partition_text(const Plan& plan) {
  if (plan.partition != Partition::rank_grid) return name(plan.partition);
  return fmt::format("{{ranks: [{}, {}]}}", plan.prism_parts, plan.point_parts);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  return fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal();
}

/// Why a file of this name cannot be made, or "".
std::string why_not_writable(const fs::path& file) {
  std::error_code error;
  if (!file.has_filename()) return "names a folder; give the name of a file";
  const fs::path target = followed(file);
  const fs::path folder = folder_of(target);
  const auto folder_status = fs::status(folder, error);
  if (folder_status.type() == fs::file_type::not_found) {
    return fmt::format("the folder {} does not exist; make it first", folder.string());
  }
  if (folder_status.type() != fs::file_type::directory) return fmt::format("{} is not a folder", folder.string());
  const auto status = fs::status(target, error);
  if (status.type() == fs::file_type::none) return fmt::format("{}: {}", file.string(), error.message());
  if (status.type() == fs::file_type::directory) {
    return fmt::format("{} is a folder; give the name of a file", file.string());
  }
  if (status.type() != fs::file_type::not_found) {
    if (status.type() != fs::file_type::regular) return fmt::format("{} is not a regular file", file.string());
    if (::access(target.c_str(), W_OK) != 0) {
      return fmt::format("{} exists and must not be replaced: {}", file.string(), std::strerror(errno));
    }
  }
  // Only making a file shows that one can be made: permissions, a read-only file system, a name that is too long.
  const fs::path trial = temporary_name(target);
  const int descriptor = ::open(trial.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    // A rank on another node with this number is trying the same.
    if (errno == EEXIST) return "";
    return fmt::format("no file can be made in the folder {}: {}", folder.string(), std::strerror(errno));
  }
  ::close(descriptor);
  ::unlink(trial.c_str());
  return "";
}

/// Smallest and largest of the values that are numbers; the first is the larger when there is none.
std::pair<double, double> range_of(const double* values, std::int64_t n) {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  for (std::int64_t i = 0; i < n; ++i) {
    minimum = std::fmin(minimum, values[i]);
    maximum = std::fmax(maximum, values[i]);
  }
  return {minimum, maximum};
}

/// One field of a result in the units and axes of the output.
std::vector<double> converted(const Fields& result, Field field, Axes axes) {
  const auto n_points = static_cast<std::ptrdiff_t>(result.values.size()) / std::max(1, result.fields.size());
  const auto begin = result.values.begin() + result.fields.index_of(field) * n_points;
  std::vector<double> values(begin, begin + n_points);
  const double factor = output_factor(field, axes);
  // Adding 0 turns the -0 of a flipped sign into 0.
  for (double& value : values) value = value * factor + 0.0;
  return values;
}

std::string statistics_header() {
  return fmt::format("{:<10} {:<8} {:>15} {:>15} {:>15}\n", "field", "unit", "minimum", "maximum", "RMS");
}

std::string statistics_row(const FieldInfo& field, const double* values, std::int64_t n_points) {
  const auto [minimum, maximum] = range_of(values, n_points);
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n_points; ++i) {
    if (std::isnan(values[i])) continue;
    squares += static_cast<long double>(values[i]) * values[i];
    ++count;
  }
  const std::string row = fmt::format("{:<10} {:<8}", field.name, field.unit);
  if (count == 0) return fmt::format("{} {:>15} {:>15} {:>15}\n", row, "-", "-", "-");
  const auto rms = static_cast<double>(std::sqrt(squares / static_cast<long double>(count)));
  return fmt::format("{} {:>15.7g} {:>15.7g} {:>15.7g}\n", row, minimum, maximum, rms);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

struct Coordinate {
  const char* name;
  const char* long_name;
  const char* standard_name;
  const char* axis;
};
constexpr Coordinate easting_coordinate{"easting", "easting", "projection_x_coordinate", "X"};
constexpr Coordinate northing_coordinate{"northing", "northing", "projection_y_coordinate", "Y"};
// No standard_name: heights have no fixed datum here, and each name of the CF table states one.
constexpr Coordinate upward_coordinate{"upward", "height of the observation points, positive upwards", "", "Z"};

void describe(Hdf5File& file, const Coordinate& coordinate) {
  file.write_attribute(coordinate.name, "units", "m");
  file.write_attribute(coordinate.name, "axis", coordinate.axis);
  file.write_attribute(coordinate.name, "long_name", coordinate.long_name);
  if (*coordinate.standard_name != '\0') {
    file.write_attribute(coordinate.name, "standard_name", coordinate.standard_name);
  }
  if (*coordinate.axis == 'Z') file.write_attribute(coordinate.name, "positive", "up");
}

/// CF's actual_range. GMT shows a grid's values as 0 to 0 without it, and guesses from coordinates without it whether
/// values belong to nodes or cells, wrong for some spacings.
void write_range(Hdf5File& file, const std::string& name, const double* values, std::int64_t n) {
  const auto [minimum, maximum] = range_of(values, n);
  if (minimum <= maximum) file.write_attribute(name, "actual_range", std::vector<double>{minimum, maximum});
}

/// The dimensions that coordinates and fields share.
struct Layout {
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> shape;
  /// coordinates that are not dimensions, as CF's `coordinates` lists them
  std::string auxiliary;

  [[nodiscard]] std::int64_t n_points() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
  }
};

Layout write_points(Hdf5File& file, const Points& points) {
  Layout layout;
  if (points.is_grid()) {
    const auto n_northing = static_cast<std::int64_t>(points.grid_northing.size());
    const auto n_easting = static_cast<std::int64_t>(points.grid_easting.size());
    layout = {{"northing", "easting"}, {n_northing, n_easting}, "upward"};
    file.write("northing", {n_northing}, points.grid_northing.data());
    file.make_dimension("northing");
    describe(file, northing_coordinate);
    write_range(file, "northing", points.grid_northing.data(), n_northing);
    file.write("easting", {n_easting}, points.grid_easting.data());
    file.make_dimension("easting");
    describe(file, easting_coordinate);
    write_range(file, "easting", points.grid_easting.data(), n_easting);
  } else {
    layout = {{"station"}, {points.size()}, "easting northing upward"};
    file.make_dimension_without_values("station", points.size());
    for (const auto& [coordinate, values] :
         {std::pair{&easting_coordinate, &points.easting}, std::pair{&northing_coordinate, &points.northing}}) {
      file.write(coordinate->name, layout.shape, values->data());
      file.attach_dimensions(coordinate->name, layout.dimensions);
      describe(file, *coordinate);
    }
  }
  file.write("upward", layout.shape, points.upward.data());
  file.attach_dimensions("upward", layout.dimensions);
  describe(file, upward_coordinate);
  return layout;
}

void write_field(Hdf5File& file, const Layout& layout, const FieldInfo& field, const std::string& name,
                 const std::string& long_name, const double* values, Axes axes) {
  file.write(name, layout.shape, values);
  file.attach_dimensions(name, layout.dimensions);
  file.write_attribute(name, "units", std::string(field.unit));
  file.write_attribute(name, "long_name", long_name);
  file.write_attribute(name, "axes", prismfield::name(axes));
  file.write_attribute(name, "coordinates", layout.auxiliary);
  write_range(file, name, values, layout.n_points());
}

void write_fields(Hdf5File& file, const Layout& layout, const Case& run, const Fields& result) {
  const auto n_points = static_cast<std::size_t>(layout.n_points());
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const std::string name(field.name);
    write_field(file, layout, field, name, std::string(field.long_name), output_values(run, result, field.field).data(),
                run.axes);
    const bool noisy = run.noise && run.noise->sigma.count(field.field) > 0;
    if (!noisy) continue;
    const std::string sigma_name = name + "_sigma";
    const std::vector<double> sigma(n_points, run.noise->sigma.at(field.field));
    write_field(file, layout, field, sigma_name, "standard deviation of the noise in " + name, sigma.data(), run.axes);
    file.write_attribute(name, "ancillary_variables", sigma_name);
  }
  if (!result.singular_points.empty()) {
    std::vector<std::int64_t> singular(n_points, 0);
    for (const std::int64_t point : result.singular_points) singular.at(static_cast<std::size_t>(point)) = 1;
    file.write("singular", layout.shape, singular.data());
    file.attach_dimensions("singular", layout.dimensions);
    file.write_attribute("singular", "long_name",
                         "1 on an edge or corner of the model, where the gradient tensor has no value, else 0");
    file.write_attribute("singular", "coordinates", layout.auxiliary);
  }
}

void write_root_attributes(Hdf5File& file, const Case& run, const Points& points, const Fields& result) {
  file.write_attribute("/", "Conventions", "CF-1.8");
  file.write_attribute("/", "title", run.title.empty() ? run.file.stem().string() : run.title);
  file.write_attribute("/", "history", fmt::format("{}: prismfield run {}", utc_now(), run.file.string()));
  file.write_attribute("/", "source", fmt::format("prismfield {} (git {})", version, git_hash));
  if (points.is_grid()) {
    // GMT's word for values that belong to the nodes
    file.write_attribute("/", "node_offset", std::int64_t{0});
  } else {
    file.write_attribute("/", "featureType", "point");
  }
  file.write_attribute("/", "axes", name(run.axes));
  file.write_attribute("/", "gravitational_constant", run.gravitational_constant);
  file.write_attribute("/", "singular_points", static_cast<std::int64_t>(result.singular_points.size()));
  file.write_attribute("/", "points_inside", result.points_inside);
  if (run.text.size() > longest_case_attribute) {
    file.write_text("case", run.text);
  } else {
    file.write_attribute("/", "case", run.text);
  }
}

void write_ranks(Hdf5File& file, const Fields& result) {
  const std::string dimension = "/performance/rank";
  const auto n = static_cast<std::int64_t>(result.rank_pairs.size());
  if (n == 0) return;
  file.make_dimension_without_values(dimension, n);
  const auto finish = [&](const std::string& name, const char* unit, const char* long_name) {
    file.attach_dimensions(name, {dimension});
    file.write_attribute(name, "units", unit);
    file.write_attribute(name, "long_name", long_name);
  };
  file.write("/performance/rank_pairs", {n}, result.rank_pairs.data());
  finish("/performance/rank_pairs", "1", "prism-point pairs of each rank");
  if (static_cast<std::int64_t>(result.rank_cost.size()) == n) {
    file.write("/performance/rank_cost", {n}, result.rank_cost.data());
    finish("/performance/rank_cost", "ns",
           "cost of each rank's prisms and counted pairs by the cost model of balance: cost");
  }
  const auto write_seconds = [&](const char* name, const std::vector<double>& values, const char* long_name) {
    if (static_cast<std::int64_t>(values.size()) != n) return;
    const std::string path = std::string("/performance/") + name;
    file.write(path, {n}, values.data());
    finish(path, "s", long_name);
  };
  write_seconds("rank_busy_seconds", result.rank_busy_seconds, "time that each rank spent on fields and reductions");
  write_seconds("rank_begin", result.rank_begin, "when each rank began with the fields");
  write_seconds("rank_end", result.rank_end, "when each rank was done with the fields");
}

void write_busy(Hdf5File& file, const Fields& result) {
  const auto n = static_cast<std::int64_t>(result.busy.size());
  if (n == 0) return;
  const std::string dimension = "/performance/interval";
  file.make_dimension_without_values(dimension, n);
  const auto finish = [&](const std::string& name, const char* unit, const char* long_name) {
    file.attach_dimensions(name, {dimension});
    file.write_attribute(name, "units", unit);
    file.write_attribute(name, "long_name", long_name);
  };
  const auto write = [&](const char* name, const char* unit, const char* long_name, const auto& member) {
    using Number = std::decay_t<decltype(member(result.busy.front()))>;
    std::vector<Number> values;
    for (const RankBusy& busy : result.busy) values.push_back(member(busy));
    const std::string path = std::string("/performance/") + name;
    file.write(path, {n}, values.data());
    finish(path, unit, long_name);
  };
  write("busy_rank", "1", "rank of each busy interval", [](const RankBusy& b) -> std::int64_t { return b.rank; });
  write("busy_slot", "1", "slot of each busy interval, -1 for a whole device",
        [](const RankBusy& b) -> std::int64_t { return b.slot; });
  write("busy_begin", "s", "begin of each busy interval, after the ranks' common start",
        [](const RankBusy& b) -> double { return b.begin; });
  write("busy_end", "s", "end of each busy interval", [](const RankBusy& b) -> double { return b.end; });
}

void write_performance(Hdf5File& file, const Fields& result, const RunTimes& times) {
  const std::string group = "/performance";
  const Plan& plan = result.plan;
  file.write_attribute(group, "space", name(plan.space));
  file.write_attribute(group, "device", plan.device.empty() ? "none" : plan.device);
  file.write_attribute(group, "ranks", std::max<std::int64_t>(1, static_cast<std::int64_t>(result.rank_pairs.size())));
  file.write_attribute(group, "threads", std::int64_t{plan.threads});
  file.write_attribute(group, "slots", plan.slots);
  file.write_attribute(group, "batch", plan.batch);
  file.write_attribute(group, "block", plan.block);
  file.write_attribute(group, "partition", partition_text(plan));
  file.write_attribute(group, "partition_asked", plan.partition_is_auto ? "auto" : partition_text(plan));
  file.write_attribute(group, "balance", plan.balance == Balance::cost ? "cost" : "count");
  file.write_attribute(group, "precision", name(plan.precision));
  file.write_attribute(group, "kernel", plan.kernel == KernelKind::corners ? "corners" : "auto");
  // Whatever execution.method asks for, this version sums every pair.
  file.write_attribute(group, "method", "direct");
  file.write_attribute(group, "pairs", result.pairs);
  for (int i = 0; i < n_forms; ++i) {
    file.write_attribute(group, std::string("pairs_") + name(static_cast<Form>(i)),
                         result.pairs_by_form[static_cast<std::size_t>(i)]);
  }
  file.write_attribute(group, "pairs_per_second",
                       result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0.0);
  file.write_attribute(group, "setup_seconds", times.setup_seconds + result.setup_seconds);
  file.write_attribute(group, "field_seconds", result.field_seconds);
}

void write_file(const fs::path& name, const Case& run, const Points& points, const Fields& result,
                const RunTimes& times) {
  const auto begin = std::chrono::steady_clock::now();
  Hdf5File file = Hdf5File::create(name);
  write_root_attributes(file, run, points, result);
  const Layout layout = write_points(file, points);
  write_fields(file, layout, run, result);
  file.make_group("/performance");
  write_ranks(file, result);
  write_busy(file, result);
  write_performance(file, result, times);
  // The time that the file itself can hold; bringing it to the disk follows.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  file.write_attribute("/performance", "output_seconds", elapsed.count());
  file.write_attribute("/performance", "total_seconds", times.total_seconds + elapsed.count());
  file.close();
}

}  // namespace

FieldTable to_output_units(const Fields& result, Axes axes) {
  FieldTable table{result.fields, {}};
  table.values.reserve(result.values.size());
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = converted(result, field.field, axes);
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

std::vector<double> output_values(const Case& run, const Fields& result, Field field) {
  std::vector<double> values = converted(result, field, run.axes);
  if (!run.noise || run.noise->sigma.count(field) == 0) return values;
  const double sigma = run.noise->sigma.at(field);
  const auto stream =
      static_cast<RandomStream>(static_cast<std::uint32_t>(RandomStream::noise) + static_cast<std::uint32_t>(field));
  // One rounding, so that every machine writes the same bits.
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::fma(sigma, random_normal(run.noise->seed, stream, i), values[i]);
  }
  return values;
}

fs::path output_file(const Case& run) {
  if (!run.output.file.empty()) return run.output.file;
  return run.file.stem().string() + ".h5";
}

void check_output(const Case& run) {
  ProblemList problems;
  const fs::path result = output_file(run);
  struct Output {
    const char* key;
    fs::path file;
  };
  std::vector<Output> outputs{{"output.file", result}};
  if (run.output.figure) outputs.push_back({"output.figure", *run.output.figure});
  if (run.output.checkpoint) outputs.push_back({"output.checkpoint.file", run.output.checkpoint->file});

  const auto inputs = run.input_files();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [key, file] = outputs[i];
    const auto add = [&, key = key](std::string what) { problems.add(run.where(key), key, std::move(what)); };
    if (const std::string why = why_not_writable(file); !why.empty()) add(why);
    for (const fs::path& input : inputs) {
      if (!input.empty() && same_file(file, input)) {
        add(fmt::format("would replace the input {}; choose another name", input.string()));
        break;
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same_file(file, outputs[j].file)) {
        add(fmt::format("is the same file as {}; choose another name", outputs[j].key));
      }
    }
  }
  if (run.output.figure) {
    const auto& suffixes = figure_suffixes();
    const std::string suffix = run.output.figure->extension().string();
    if (std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end()) {
      problems.add(run.where("output.figure"), "output.figure",
                   fmt::format("no kind of figure ends in '{}'; allowed: {}", suffix, fmt::join(suffixes, ", ")));
    }
  }
  problems.throw_if_any();
}

void write_result(const Case& run, const Points& points, const Fields& result, const RunTimes& times) {
  const fs::path target = followed(output_file(run));
  // Renaming would put the result in the place of a device.
  if (std::error_code error; fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    throw RunError(fmt::format("{}: the result is not written: it is not a regular file", target.string()));
  }
  const FileSizeSignalIgnored ignored;
  TemporaryFile temporary(temporary_name(target));
  try {
    write_file(temporary.name(), run, points, result, times);
    temporary.move_to(target);
  } catch (const RunError& error) {
    // Users know the file by its own name.
    std::string why = error.what();
    if (const std::string prefix = temporary.name().string() + ": "; why.rfind(prefix, 0) == 0) {
      why.erase(0, prefix.size());
    }
    throw RunError(fmt::format("{}: the result is not written: {}", target.string(), why));
  }
}

std::string field_statistics(const FieldTable& table, std::int64_t n_points) {
  std::string out = statistics_header();
  for (const FieldInfo& field : field_infos) {
    if (!table.fields.contains(field.field)) continue;
    out += statistics_row(field, table.values.data() + table.fields.index_of(field.field) * n_points, n_points);
  }
  return out;
}

std::string field_statistics(const Case& run, const Fields& result) {
  std::string out = statistics_header();
  for (const FieldInfo& field : field_infos) {
    if (!result.fields.contains(field.field)) continue;
    const auto values = output_values(run, result, field.field);
    out += statistics_row(field, values.data(), static_cast<std::int64_t>(values.size()));
  }
  return out;
}

}  // namespace prismfield
