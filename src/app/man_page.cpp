// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "app/man_page.hpp"

#include <fmt/format.h>

#include "app/exit_codes.hpp"
#include "base/version.hpp"

namespace prismfield {
namespace {

/// Text as roff takes it: hyphens that can be copied, and no line that is taken for a request.
std::string roff(const std::string& text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    begins_line = c == '\n';
  }
  return result;
}

std::string item(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

constexpr std::pair<const char*, const char*> variables[] = {
    {"PRISMFIELD_PYTHON",
     "the Python that draws figures, with matplotlib and netCDF4 or h5py; python3 and /usr/bin/python3 are "
     "tried after it"},
    {"PRISMFIELD_CHECKPOINT", "read by the batch scripts for Slurm: the checkpoint from which a new job goes on"},
    {"OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES",
     "threads of a rank and where they run; without them all cores that "
     "the rank may use"},
    {"KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, KOKKOS_VISIBLE_DEVICES", "Kokkos' own, as the options --kokkos-*"}};

}  // namespace

std::string man_page(const std::vector<ManualCommand>& commands) {
  std::string text = fmt::format(".TH PRISMFIELD 1 \"\" \"prismfield {}\" \"User Commands\"\n", roff(version));
  text +=
      ".SH NAME\nprismfield \\- gravity potential, vector and gradient tensor of ensembles of prisms\n.SH SYNOPSIS\n";
  for (const ManualCommand& command : commands) text += fmt::format(".B {}\n.br\n", roff(command.usage));
  text += ".SH DESCRIPTION\n";
  text += roff(
      "prismfield computes the gravity of rectangular prisms at points, keeps sensitivities, and inverts measurements "
      "for densities. A case is one YAML file; \"prismfield help KEY\" tells what a key of it means. Under mpirun or "
      "srun the same command shares the work among ranks.\n");
  text += ".SH COMMANDS\n";
  for (const ManualCommand& command : commands) {
    text += fmt::format(".SS {}\n{}\n", roff(command.usage), roff(command.purpose));
    for (const auto& [option, meaning] : command.options) text += item(option, meaning);
    if (!command.more.empty()) text += ".PP\n" + roff(command.more);
  }
  text += ".SH OPTIONS\n" + item("-h, --help", "the commands, or after a command all about it");
  text += item("--version", "version and git hash");
  text += item("--kokkos-*", "are passed through to Kokkos");
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes) text += item(code, meaning);
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : variables) text += item(name, meaning);
  text += ".SH EXAMPLES\n.nf\n" + roff(
                                      "prismfield run case.yaml --set 'fields=[gz, gzz]' --output result.nc\n"
                                      "prismfield help execution.precision\n"
                                      "mpirun -n 4 prismfield run case.yaml\n");
  return text +
         ".fi\n.SH SEE ALSO\n.BR mpirun (1),\n.BR srun (1);\nthe folder of the documentation, with case.md and "
         "README.md\n";
}

}  // namespace prismfield
