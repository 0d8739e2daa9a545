// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/sensitivity_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/run_text.hpp"
#include "base/human_text.hpp"
#include "base/memory_limits.hpp"
#include "case/output_check.hpp"
#include "io/sensitivity_file.hpp"
#include "model/choices.hpp"
#include "model/extents.hpp"
#include "sensitivity/storage_choice.hpp"
#include "sensitivity/stored_bytes.hpp"

namespace prismfield {
namespace {

double entries_of(const Inputs& inputs, const ActiveCells& cells) {
  return static_cast<double>(inputs.run.fields.size()) * static_cast<double>(inputs.points.size()) *
         static_cast<double>(cells.size());
}

std::string milliseconds(double seconds) { return short_number(seconds * 1e3) + " ms"; }

}  // namespace

std::string sensitivity_heading(const Inputs& inputs, const ActiveCells& cells) {
  const auto [nx, ny, nz] = cells.counts();
  return fmt::format("{}\nmodel: {} x {} x {} cells, {} with density; {}\n{}; {}\nfields: {}\nG: {} x {}, {} entries\n",
                     shown(inputs.run.title), nx, ny, nz, grouped(inputs.model->source().size()),
                     extent_text(cells.bounds()), counted(inputs.points.size(), "point"),
                     extent_text(bounds_of(inputs.points)), fields_text(inputs.run.fields),
                     grouped(inputs.run.fields.size() * inputs.points.size()), grouped(cells.size()),
                     short_number(entries_of(inputs, cells)));
}

std::string sensitivity_sizes(const Inputs& inputs, const ActiveCells& cells, int ranks,
                              const std::string& ranks_text) {
  const std::int64_t n_fields = inputs.run.fields.size(), columns = cells.size();
  const std::int64_t mine = (inputs.points.size() + ranks - 1) / ranks;
  const StorageSettings& settings = inputs.run.sensitivity;
  std::string text;
  const auto row = [&](const std::string& label, const std::string& content) {
    text += fmt::format("  {:<18}{}\n", label, shown(content));
  };
  row("ranks", ranks_text);
  row("store", settings.compression ? fmt::format("compressed to {:g}", *settings.compression) : name(settings.store));
  for (const auto& [word, precision] : stored_precision_choices) {
    row(fmt::format("as {}", word),
        fmt::format("{} a rank, {} while it is made", size_text(stored_bytes(precision, n_fields * mine, columns)),
                    size_text(bytes_to_store(precision, n_fields, mine, columns))));
  }
  row("free memory", fmt::format("{} a rank", size_text(share_of(memory_limits(), ranks))));
  if (!settings.file.empty()) {
    row("file of G",
        fmt::format("{}, about {}", settings.file.string(),
                    size_text(sensitivity_file_bytes(n_fields, inputs.points.size(), columns, *settings.precision))));
  }
  const ResultHeader header = result_header(inputs.run);
  row("result", fmt::format("{}, about {}", header.file.string(),
                            size_text(result_bytes(header, inputs.points, inputs.run.fields))));
  return text;
}

std::optional<std::int64_t> products_that_pay(const StorageChoice& choice, const SensitivityTimes& times) {
  if (choice.store == Store::none || choice.was_there || times.anew.apply <= 0) return std::nullopt;
  const double saved = (times.anew.apply + times.anew.transpose - times.kept.apply - times.kept.transpose) / 2;
  if (!(saved > 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::min(std::ceil(times.build_seconds / saved), 1e15));
}

std::string sensitivity_report(const Inputs& inputs, const ActiveCells& cells, const StorageChoice& choice,
                               const SensitivityTimes& times) {
  std::string text = fmt::format("\nsensitivities: {}\n", shown(choice.why));
  if (!choice.warning.empty()) text += shown(choice.warning) + "\n";
  const bool kept = choice.store != Store::none;
  if (choice.was_there) {
    text += fmt::format("opened in {}\n", duration_text(times.build_seconds));
  } else if (kept) {
    text += fmt::format("made in {}, {} entries/s\n", duration_text(times.build_seconds),
                        short_number(entries_of(inputs, cells) / std::max(times.build_seconds, 1e-9)));
  }
  const bool compared = kept && times.anew.apply > 0;
  text +=
      fmt::format("{:<8}{:>12}{}\n", "product", kept ? "kept" : "anew", compared ? fmt::format("{:>12}", "anew") : "");
  const auto row = [&](const char* label, double mine, double anew) {
    text += fmt::format("{:<8}{:>12}{}\n", label, milliseconds(mine),
                        compared ? fmt::format("{:>12}", milliseconds(anew)) : "");
  };
  row("G m", times.kept.apply, times.anew.apply);
  row("G' d", times.kept.transpose, times.anew.transpose);
  if (!compared || choice.was_there) return text;
  if (const auto products = products_that_pay(choice, times)) {
    return text + fmt::format("storing pays after {}\n", counted(*products, "product"));
  }
  return text + "storing does not pay: products computed anew are as fast\n";
}

std::string written_text(const std::string& file, double seconds) {
  return fmt::format("{}: G is written, in {}\n", shown(file), duration_text(seconds));
}

std::string difference_text(FieldList fields, const std::vector<double>& differences, std::int64_t n_points) {
  std::vector<std::string> parts;
  const std::vector<std::string> names = names_of(fields);
  for (std::size_t f = 0; f < differences.size(); ++f)
    parts.push_back(fmt::format("{} {:.1e}", names[f], differences[f]));
  return fmt::format("largest difference from the direct fields at {}, over the largest value: {}\n",
                     counted(n_points, "point"), fmt::join(parts, ", "));
}

}  // namespace prismfield
