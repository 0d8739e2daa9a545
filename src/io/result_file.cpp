// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "io/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/human_text.hpp"
#include "base/temporary_file.hpp"
#include "io/cf_attributes.hpp"
#include "io/complete_file.hpp"
#include "io/crs.hpp"
#include "io/hdf5_file.hpp"
#include "io/result_table.hpp"
#include "io/station_file.hpp"
#include "io/station_variables.hpp"
#include "io/text_output.hpp"

namespace prismfield {
namespace {

namespace fs = std::filesystem;

std::string partition_text(const Plan& plan) {
  if (plan.partition != Partition::rank_grid) return name(plan.partition);
  return fmt::format("{{ranks: [{}, {}]}}", plan.prism_parts, plan.point_parts);
}

void write_fields(Hdf5File& file, const PointLayout& layout, const ResultHeader& header, const Fields& result) {
  const auto n_points = static_cast<std::size_t>(layout.n_points());
  for (const FieldInfo& field : result.fields) {
    const std::string name(field.name);
    write_point_values(file, layout, name, std::string(field.long_name), std::string(field.unit), header.axes,
                       output_values(header, result, field.field).data());
    const bool noisy = header.noise && header.noise->sigma.count(field.field) > 0;
    if (!noisy) continue;
    const std::string sigma_name = name + "_sigma";
    const std::vector<double> sigma(n_points, header.noise->sigma.at(field.field));
    write_point_values(file, layout, sigma_name, "standard deviation of the noise in " + name, std::string(field.unit),
                       header.axes, sigma.data());
    file.write_attribute(name, "ancillary_variables", sigma_name);
  }
  for (const PointVariable& variable : header.variables) {
    write_point_values(file, layout, variable.name, variable.long_name, variable.unit, header.axes,
                       values_of(variable, layout.n_points()).data());
  }
  if (!result.singular_points.empty()) {
    std::vector<std::int32_t> singular(n_points, 0);
    for (const std::int64_t point : result.singular_points) singular.at(static_cast<std::size_t>(point)) = 1;
    file.write("singular", layout.shape, singular.data());
    file.attach_dimensions("singular", layout.dimensions);
    file.write_attribute("singular", "long_name",
                         "1 on an edge or corner of the model, where the gradient tensor has no value, else 0");
    file.write_attribute("singular", "coordinates", layout.auxiliary);
    refer_to_crs(file, "singular");
  }
}

void write_root_attributes(Hdf5File& file, const ResultHeader& header, const Points& points, const Fields& result) {
  write_origin(file, header.title, header.command);
  write_crs(file, header.crs);
  write_point_kind(file, points);
  file.write_attribute("/", "axes", name(header.axes));
  file.write_attribute("/", "gravitational_constant", header.gravitational_constant);
  file.write_attribute("/", "singular_points", static_cast<std::int64_t>(result.singular_points.size()));
  file.write_attribute("/", "points_inside", result.points_inside);
  if (const auto& box = header.model_bounds) {
    file.write_attribute("/", "model_bounds",
                         std::vector<double>{box->west, box->east, box->south, box->north, box->bottom, box->top});
  }
  for (const auto& [name, values] : {std::pair{"model_spheres", &header.model_spheres},
                                     {"model_spheres_upward", &header.model_spheres_upward},
                                     {"model_boxes", &header.model_boxes},
                                     {"model_boxes_upward", &header.model_boxes_upward}}) {
    if (!values->empty()) file.write_attribute("/", name, *values);
  }
  write_case_text(file, header.case_text);
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

void write_performance(Hdf5File& file, const ResultHeader& header, const Fields& result, const RunTimes& times) {
  const std::string group = "/performance";
  const Plan& plan = result.plan;
  write_machine(file, group, header.program,
                {name(plan.space), plan.device,
                 std::max<std::int64_t>(1, static_cast<std::int64_t>(result.rank_pairs.size())), plan.threads});
  file.write_attribute(group, "block", plan.block);
  for (const auto& [name, value] : result.method_numbers) file.write_attribute(group, name, value);
  file.write_attribute(group, "partition", partition_text(plan));
  file.write_attribute(group, "partition_asked", plan.partition_is_auto ? "auto" : partition_text(plan));
  file.write_attribute(group, "balance", plan.balance == Balance::cost ? "cost" : "count");
  file.write_attribute(group, "precision", name(plan.precision));
  file.write_attribute(group, "kernel", plan.kernel == KernelKind::corners ? "corners" : "auto");
  file.write_attribute(group, "method", name(plan.method));
  file.write_attribute(group, "pairs", result.pairs);
  for (int i = 0; i < n_forms; ++i) {
    file.write_attribute(group, std::string("pairs_") + name(static_cast<Form>(i)),
                         result.pairs_by_form[static_cast<std::size_t>(i)]);
  }
  file.write_attribute(group, "pairs_per_second",
                       result.field_seconds > 0 ? static_cast<double>(result.pairs_now) / result.field_seconds : 0.0);
  file.write_attribute(group, "setup_seconds", times.setup_seconds + result.setup_seconds);
  file.write_attribute(group, "field_seconds", result.field_seconds);
  for (const auto& [name, value] : header.performance) file.write_attribute(group, name, value);
}

/// Returns what users should be told of.
std::vector<std::string> write_file(const TemporaryFile& temporary, const fs::path& target, const ResultHeader& header,
                                    const Points& points, const Fields& result, const RunTimes& times) {
  const auto begin = std::chrono::steady_clock::now();
  Hdf5File file = Hdf5File::create_in_memory(target, Checksums::fletcher32);
  write_root_attributes(file, header, points, result);
  const PointLayout layout = write_points(file, "", points);
  write_fields(file, layout, header, result);
  std::vector<std::string> notes;
  if (header.stations && has_station_columns(header.stations->file)) {
    notes = write_station_variables(file, layout, *header.stations, points);
  }
  file.make_group("/performance");
  write_ranks(file, result);
  write_busy(file, result);
  write_performance(file, header, result, times);
  // The time that the file itself can hold; bringing it to the disk follows.
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  file.write_attribute("/performance", "output_seconds", elapsed.count());
  file.write_attribute("/performance", "total_seconds", times.total_seconds + elapsed.count());
  file.write_sealed([&](const void* bytes, std::size_t n) { temporary.write(bytes, n); });
  return notes;
}

}  // namespace

std::optional<ResultKind> result_kind(const fs::path& file) {
  const std::string suffix = lower_case(file.extension().string());
  if (suffix == ".nc" || suffix == ".h5") return ResultKind::hdf5;
  if (suffix == ".csv") return ResultKind::csv;
  if (suffix == ".xyz") return ResultKind::xyz;
  return std::nullopt;
}

std::int64_t result_bytes(const ResultHeader& header, const Points& points, FieldList fields) {
  const std::int64_t n = points.size();
  const auto n_sigma = static_cast<std::int64_t>(header.noise ? header.noise->sigma.size() : 0);
  std::int64_t of_stations = 0;
  if (header.stations) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(header.stations->file.path, error);
    if (!error) of_stations = static_cast<std::int64_t>(size);
  }
  const std::int64_t of_places = text_bytes(points.easting) + text_bytes(points.northing) + text_bytes(points.upward);
  if (result_kind(header.file).value_or(ResultKind::hdf5) == ResultKind::hdf5) {
    const auto nodes = static_cast<std::int64_t>(points.grid_easting.size() + points.grid_northing.size());
    const std::int64_t coordinates = points.is_grid() ? n + nodes : 3 * n;
    const std::int64_t bytes =
        (coordinates + n * (fields.size() + n_sigma + header.n_variables)) * std::int64_t{sizeof(double)};
    // what HDF5 keeps of its chunks, of the attributes of each variable, of the file's and of /performance
    const std::int64_t n_variables = fields.size() + n_sigma + header.n_variables + (points.is_grid() ? 1 : 0);
    const std::int64_t beside_places = std::max<std::int64_t>(of_stations - of_places, 0);
    return bytes + bytes / 2000 + 50'000 + 4'000 * n_variables + beside_places +
           static_cast<std::int64_t>(header.case_text.size());
  }
  // 17 digits, sign, point, a separator; a sigma is short
  constexpr std::int64_t of_value = 20;
  return (of_stations > 0 ? of_stations : of_places) +
         n * ((fields.size() + header.n_variables) * of_value + n_sigma * 5);
}

std::vector<std::string> write_result(const ResultHeader& header, const Points& points, const Fields& result,
                                      const RunTimes& times) {
  std::vector<std::string> notes;
  write_complete_file(header.file, "the result", [&](TemporaryFile& temporary, const fs::path& target) {
    const ResultKind kind = result_kind(header.file).value_or(ResultKind::hdf5);
    if (kind == ResultKind::hdf5) {
      notes = write_file(temporary, target, header, points, result, times);
    } else {
      const TableStyle style = kind == ResultKind::csv ? TableStyle::csv : TableStyle::xyz;
      notes = write_result_table(temporary, style, header, points, result);
    }
  });
  return notes;
}

}  // namespace prismfield
