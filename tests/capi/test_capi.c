/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The prismfield authors */
/* The C ABI as a C program uses it: it knows prismfield.h and the shared library, nothing else. */
#include <math.h>
#include <prismfield/prismfield.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "line %d: %s\n  last message: %s\n", line, what, pf_message());
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

static int field_named(const char* name) {
  for (int f = 0; f < pf_n_fields(); ++f) {
    if (strcmp(pf_field_name(f), name) == 0) return f;
  }
  return -1;
}

static const double cube[6] = {-50, 50, -50, 50, -350, -250};
static const double cube_density[1] = {500};
static const pf_prisms one_cube = {cube, cube_density, 1, {NULL}, NULL};

/* A cube far away is a point mass. */
static void test_forward(void) {
  const double x[2] = {0, 30000}, y[2] = {0, 0}, z[2] = {99700, -300};
  const pf_points points = {x, y, z, 2};
  const int fields[2] = {field_named("gx"), field_named("gz")};
  double values[4];
  int64_t singular[2];
  pf_run run;
  EXPECT(pf_forward(&one_cube, &points, fields, 2, NULL, values, singular, &run) == PF_OK);
  const double gm = 6.6743e-11 * 500 * 1e6;
  EXPECT(fabs(values[2] / (-gm / 1e10) - 1) < 1e-9);
  EXPECT(fabs(values[1] / (-gm / 9e8) - 1) < 1e-9);
  EXPECT(run.pairs == 2 && run.n_singular == 0 && run.n_inside == 0 && run.seconds >= 0);
}

/* What the interior of a cube and its corner come to. */
static void test_counts(void) {
  const double x[2] = {0, 50}, y[2] = {0, 50}, z[2] = {-300, -250};
  const pf_points points = {x, y, z, 2};
  const int fields[1] = {field_named("gzz")};
  double values[2];
  int64_t singular[2] = {-1, -1};
  pf_run run;
  EXPECT(pf_forward(&one_cube, &points, fields, 1, NULL, values, singular, &run) == PF_OK);
  EXPECT(fabs(values[0] / (-4 * acos(-1.0) / 3 * 6.6743e-11 * 500) - 1) < 1e-12);
  EXPECT(run.n_inside == 2 && run.n_singular == 1 && singular[0] == 1);
}

static void test_errors(void) {
  const double at[1] = {0}, nan_at[1] = {NAN};
  const pf_points points = {at, at, at, 1}, bad_points = {nan_at, at, at, 1};
  const double inverted[6] = {50, -50, -50, 50, -350, -250};
  const pf_prisms bad_prism = {inverted, cube_density, 1, {NULL}, NULL};
  const int gz[1] = {field_named("gz")}, unknown[1] = {99}, twice[2] = {gz[0], gz[0]};
  double value[2];
  EXPECT(pf_forward(&bad_prism, &points, gz, 1, NULL, value, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "west") != NULL);
  EXPECT(pf_forward(&one_cube, &bad_points, gz, 1, NULL, value, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(pf_forward(&one_cube, &points, unknown, 1, NULL, value, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "99") != NULL);
  EXPECT(pf_forward(&one_cube, &points, twice, 2, NULL, value, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(pf_forward(&one_cube, &points, gz, 0, NULL, value, NULL, NULL) == PF_INPUT_ERROR);

  pf_settings* settings = pf_settings_new();
  const double batch = 64, half = 0.5;
  EXPECT(pf_set_numbers(settings, "execution.batch", &batch, 1) == PF_OK);
  EXPECT(pf_set_numbers(settings, "execution.batch", &half, 1) == PF_INPUT_ERROR);
  EXPECT(pf_set_numbers(settings, "execution.batsh", &batch, 1) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "execution.batch") != NULL);
  EXPECT(pf_set_numbers(settings, "inversion.norm", &batch, 1) == PF_INPUT_ERROR);
  EXPECT(pf_set_text(settings, "execution.precision", "single") == PF_OK);
  EXPECT(pf_set_text(settings, "execution.precision", "exact") == PF_INPUT_ERROR);
  pf_settings_delete(settings);
  pf_settings_delete(NULL);
}

/* So many that they are computed with a plan. */
static void test_tolerance(void) {
  enum { n = 400 };
  static double bounds[6 * n], density[n], x[n], y[n], z[n], exact[n], values[n];
  for (int i = 0; i < n; ++i) {
    const double at[6] = {10 * (i % 20), 10 * (i % 20) + 10, 10 * (i / 20), 10 * (i / 20) + 10, -20, -10};
    memcpy(bounds + 6 * i, at, sizeof at);
    density[i] = 100 + i % 7;
    x[i] = 0.5 * i;
    y[i] = 0.3 * i;
    z[i] = 5 + i % 50;
  }
  const pf_prisms prisms = {bounds, density, n, {NULL}, NULL};
  const pf_points points = {x, y, z, n};
  const int gzz[1] = {field_named("gzz")};
  pf_settings* settings = pf_settings_new();
  const double tolerance = 1e-6, none = 0, check_points = 50;
  EXPECT(pf_set_numbers(settings, "execution.tolerance", &tolerance, 1) == PF_OK);
  EXPECT(pf_set_numbers(settings, "execution.check_points", &check_points, 1) == PF_OK);
  pf_run run;
  EXPECT(pf_forward(&prisms, &points, gzz, 1, NULL, exact, NULL, &run) == PF_OK);
  EXPECT(run.n_checked == 0 && run.error == 0 && run.repeats == 0);
  EXPECT(pf_forward(&prisms, &points, gzz, 1, settings, values, NULL, &run) == PF_OK);
  EXPECT(run.n_checked == 50 && 0 < run.error && run.error <= 2e-7 && run.repeats == 0);
  double largest = 0, difference = 0;
  for (int i = 0; i < n; ++i) {
    largest = fmax(largest, fabs(exact[i]));
    difference = fmax(difference, fabs(values[i] - exact[i]));
  }
  EXPECT(0 < difference && difference <= 1e-6 * largest);
  EXPECT(pf_set_numbers(settings, "execution.tolerance", &none, 1) == PF_OK);
  EXPECT(pf_forward(&prisms, &points, gzz, 1, settings, values, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "execution.tolerance") != NULL);
  pf_settings_delete(settings);
}

static int stop_at_once(double done, void* user) {
  ++*(int*)user;
  return done >= 0;
}

/* 4,000 prisms at 4,000 points. */
static void test_stops(void) {
  enum { n = 4000 };
  static double bounds[6 * n], density[n], x[n], y[n], z[n], values[n];
  for (int i = 0; i < n; ++i) {
    const double at[6] = {i, i + 1, 0, 1, -2, -1};
    memcpy(bounds + 6 * i, at, sizeof at);
    density[i] = 100;
    x[i] = i, y[i] = 0, z[i] = 10;
  }
  const pf_prisms prisms = {bounds, density, n, {NULL}, NULL};
  const pf_points points = {x, y, z, n};
  const int gz[1] = {field_named("gz")};
  pf_settings* settings = pf_settings_new();
  const double chunk = 256;
  int calls = 0;
  EXPECT(pf_set_numbers(settings, "execution.chunk", &chunk, 1) == PF_OK);
  pf_set_progress(settings, stop_at_once, &calls);
  EXPECT(pf_forward(&prisms, &points, gz, 1, settings, values, NULL, NULL) == PF_STOPPED);
  EXPECT(calls == 1);
  pf_set_progress(settings, NULL, NULL);
  EXPECT(pf_forward(&prisms, &points, gz, 1, settings, values, NULL, NULL) == PF_OK);
  pf_settings_delete(settings);
}

/* (G x, y) is (x, G' y), for two vectors at once and every way to keep G; entries and the diagonal are those of G. */
static void test_operator(const char* store) {
  enum { n = 24, m = 7, k = 2 };
  double bounds[6 * n], x[m], y[m], z[m];
  for (int i = 0; i < n; ++i) {
    const double at[6] = {10.0 * i, 10.0 * i + 10, -5, 5, -30 - i, -20};
    memcpy(bounds + (size_t)6 * i, at, sizeof at);
  }
  for (int i = 0; i < m; ++i) x[i] = 30.0 * i, y[i] = 2.0 * i, z[i] = 5 + i;
  const pf_prisms prisms = {bounds, NULL, n, {NULL}, NULL};
  const pf_points points = {x, y, z, m};
  const int fields[2] = {field_named("gz"), field_named("gxx")};
  pf_settings* settings = pf_settings_new();
  EXPECT(pf_set_text(settings, "sensitivity.store", store) == PF_OK);
  EXPECT(pf_set_text(settings, "sensitivity.precision", "double") == PF_OK);
  pf_operator* g = NULL;
  EXPECT(pf_operator_new(&prisms, &points, fields, 2, settings, &g) == PF_OK);
  pf_settings_delete(settings);
  if (g == NULL) return;
  EXPECT(pf_operator_rows(g) == 2 * m && pf_operator_columns(g) == n);
  EXPECT((pf_operator_bytes(g) > 0) == (strcmp(store, "none") != 0));
  EXPECT(strlen(pf_operator_storage(g)) > 0);
  EXPECT(strcmp(pf_operator_space(g), "serial") == 0);
  double model[k * n], data[k * 2 * m], out[k * 2 * m], back[k * n], entries[2 * m * n], ones[2 * m], diagonal[n];
  for (int i = 0; i < k * n; ++i) model[i] = sin(i + 1.0);
  for (int i = 0; i < k * 2 * m; ++i) data[i] = cos(3.0 * i);
  for (int i = 0; i < 2 * m; ++i) ones[i] = 1;
  EXPECT(pf_operator_apply(g, model, out, k) == PF_OK);
  EXPECT(pf_operator_apply_transpose(g, data, back, k) == PF_OK);
  EXPECT(pf_operator_entries(g, 0, m, entries) == PF_OK);
  EXPECT(pf_operator_diagonal(g, ones, diagonal, 1) == PF_OK);
  for (int v = 0; v < k; ++v) {
    double left = 0, right = 0, size = 0;
    for (int r = 0; r < 2 * m; ++r) {
      left += out[v * 2 * m + r] * data[v * 2 * m + r];
      double row = 0;
      for (int c = 0; c < n; ++c) row += entries[r * n + c] * model[v * n + c];
      EXPECT(fabs(row - out[v * 2 * m + r]) <= 1e-11 * fabs(row) + 1e-22);
    }
    for (int c = 0; c < n; ++c) {
      right += back[v * n + c] * model[v * n + c];
      size += fabs(back[v * n + c] * model[v * n + c]);
    }
    EXPECT(fabs(left - right) <= 1e-11 * size);
  }
  double of_first = 0;
  for (int r = 0; r < 2 * m; ++r) of_first += entries[r * n] * entries[r * n];
  EXPECT(fabs(of_first / diagonal[0] - 1) < 1e-11);
  EXPECT(pf_operator_entries(g, 0, m + 1, entries) == PF_INPUT_ERROR);
  pf_operator_delete(g);
}

/* A magnetised cube far away is a dipole: B = mu0 (3 (m . r) r - m)/(4 pi |r|3), r of unit length. */
static void test_magnetic(void) {
  const double m[3] = {0.3, -0.2, 1}, at[3] = {0, 1e5, -300}, mu0 = 1.25663706212e-6;
  const pf_points point = {at, at + 1, at + 2, 1};
  const pf_prisms magnet = {cube, NULL, 1, {m, m + 1, m + 2}, NULL}, half = {cube, NULL, 1, {m, NULL, m + 2}, NULL};
  const double dipole[3] = {-m[0], 2 * m[1], -m[2]}, size = mu0 * 1e6 / (4 * acos(-1.0) * 1e15);
  int fields[6] = {field_named("bx"),  field_named("by"),        field_named("bz"),
                   field_named("tmi"), field_named("tmi_exact"), field_named("amplitude")};
  double b[6], one[3], entry[4];
  EXPECT(strcmp(pf_field_unit(fields[0]), "nT") == 0 && pf_field_scale(fields[0]) == 1e9);
  EXPECT(pf_forward(&magnet, &point, fields, 3, NULL, b, NULL, NULL) == PF_OK);
  pf_magnetic(at[0], at[1], at[2], cube[0], cube[1], cube[2], cube[3], cube[4], cube[5], m[0], m[1], m[2], one);
  for (int d = 0; d < 3; ++d) EXPECT(fabs(b[d] - size * dipole[d]) < size * 1e-9 && fabs(b[d] - one[d]) < size * 1e-12);
  pf_magnetic(0, 0, -300, cube[0], cube[1], cube[2], cube[3], cube[4], cube[5], m[0], m[1], m[2], one);
  EXPECT(isnan(one[0]) && isnan(one[1]) && isnan(one[2]));
  const double gradient = pf_magnetic_gradient(field_named("byz"), at[0], at[1], at[2], cube[0], cube[1], cube[2],
                                               cube[3], cube[4], cube[5], m[0], m[1], m[2]);
  EXPECT(fabs(gradient / (3 * size * m[2] / 1e5) - 1) < 1e-9);
  for (int f = 0; f < pf_n_fields(); ++f) {
    const double inside =
        pf_magnetic_gradient(f, 0, 0, -300, cube[0], cube[1], cube[2], cube[3], cube[4], cube[5], m[0], m[1], m[2]);
    EXPECT(isnan(inside));
  }
  EXPECT(isnan(pf_magnetic_gradient(fields[0], at[0], at[1], at[2], cube[0], cube[1], cube[2], cube[3], cube[4],
                                    cube[5], m[0], m[1], m[2])));

  EXPECT(pf_forward(&one_cube, &point, fields, 3, NULL, b, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "magnetization") != NULL);
  EXPECT(pf_forward(&half, &point, fields, 3, NULL, b, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(pf_forward(&magnet, &point, fields, 4, NULL, b, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "magnetic.inducing_field") != NULL);

  pf_settings* settings = pf_settings_new();
  const double down[3] = {90, 0, 50000}, in_tesla[3] = {90, 0, 5e-5}, steep[3] = {91, 0, 50000}, mu[1] = {2 * mu0};
  EXPECT(pf_set_numbers(settings, "magnetic.inducing_field", in_tesla, 3) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "nT") != NULL);
  EXPECT(pf_set_numbers(settings, "magnetic.inducing_field", steep, 3) == PF_INPUT_ERROR);
  EXPECT(pf_set_numbers(settings, "magnetic.inducing_field", down, 3) == PF_OK);
  EXPECT(pf_set_text(settings, "magnetic.inside", "A") == PF_INPUT_ERROR);
  EXPECT(pf_set_text(settings, "magnetic.inside", "H") == PF_OK);
  EXPECT(pf_forward(&magnet, &point, fields, 6, settings, b, NULL, NULL) == PF_OK);
  /* induced, a susceptibility of mu0/F0 is one of 1 A/m along the inducing field */
  double chi = mu0 / 5e-5;
  const pf_prisms rock = {cube, NULL, 1, {NULL}, &chi};
  EXPECT(pf_forward(&rock, &point, fields, 3, settings, one, NULL, NULL) == PF_OK);
  EXPECT(fabs(one[2] - size) < size * 1e-9);
  EXPECT(pf_forward(&rock, &point, fields, 3, NULL, one, NULL, NULL) == PF_INPUT_ERROR);
  chi = -3;
  EXPECT(pf_forward(&rock, &point, fields, 3, settings, one, NULL, NULL) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "prism 0: susceptibility: is -3") != NULL);
  EXPECT(fabs(b[3] + b[2]) < size * 1e-12 && fabs(b[4] + b[2]) < size * 1e-9);
  EXPECT(fabs(b[5] - sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])) < size * 1e-12);

  pf_operator* g = NULL;
  EXPECT(pf_operator_new(&magnet, &point, fields, 6, settings, &g) == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "linear") != NULL);
  const int both[2] = {field_named("gz"), fields[0]};
  EXPECT(pf_operator_new(&magnet, &point, both, 2, settings, &g) == PF_INPUT_ERROR);
  EXPECT(pf_operator_new(&one_cube, &point, fields, 4, settings, &g) == PF_INPUT_ERROR);
  EXPECT(pf_operator_new(&magnet, &point, fields, 4, settings, &g) == PF_OK);
  if (g != NULL) {
    EXPECT(pf_operator_entries(g, 0, 1, entry) == PF_OK);
    for (int f = 0; f < 4; ++f) EXPECT(fabs(entry[f] - b[f]) < size * 1e-12);
    pf_operator_delete(g);
  }
  EXPECT(pf_set_numbers(settings, "magnetic.vacuum_permeability", mu, 1) == PF_OK);
  EXPECT(pf_forward(&magnet, &point, fields, 4, settings, entry, NULL, NULL) == PF_OK);
  for (int f = 0; f < 4; ++f) EXPECT(fabs(entry[f] - 2 * b[f]) < size * 1e-12);
  pf_settings_delete(settings);
}

enum { nx = 5, ny = 5, nz = 3, cells_n = nx * ny * nz, stations_n = 49, heavy = (1 * ny + 2) * nx + 2 };

/* Cells of 100 m below stations. */
typedef struct {
  double edges[3][6], bounds[6 * cells_n], x[stations_n], y[stations_n], z[stations_n];
} survey;

static survey made_survey(void) {
  survey s;
  for (int i = 0; i < 6; ++i) s.edges[0][i] = s.edges[1][i] = 100 * i, s.edges[2][i] = -300 + 100 * i;
  for (int c = 0; c < cells_n; ++c) {
    const int at[3] = {c % nx, c / nx % ny, c / (nx * ny)};
    for (int k = 0; k < 6; ++k) s.bounds[6 * c + k] = s.edges[k / 2][at[k / 2] + k % 2];
  }
  for (int i = 0; i < stations_n; ++i) s.x[i] = -50 + 100.0 * (i % 7), s.y[i] = -50 + 100.0 * (i / 7), s.z[i] = 10;
  return s;
}

/* The model of the data of one cell: n values named `word`, whose cell of the largest one, or the longest vector, lies
   in the column of that cell. */
static void find_heavy_cell(const survey* s, const pf_prisms* prisms, const int* fields, int n_fields, double sigma,
                            const pf_start_model* model, const pf_settings* settings, const char* word, int n) {
  double values[3 * stations_n], deviations[3 * stations_n], found[3 * cells_n], predicted[3 * stations_n];
  for (int i = 0; i < n_fields * stations_n; ++i) deviations[i] = sigma;
  const pf_data data = {"synthetic", {s->x, s->y, s->z, stations_n}, fields, n_fields, values, deviations};
  EXPECT(pf_forward(prisms, &data.points, fields, n_fields, settings, values, NULL, NULL) == PF_OK);
  const pf_cells cells = {{s->edges[0], s->edges[1], s->edges[2]}, {nx, ny, nz}, NULL, 0};
  pf_inversion* inversion = NULL;
  EXPECT(pf_invert(&cells, &data, 1, model, settings, &inversion) == PF_OK);
  if (inversion == NULL) return;
  EXPECT(pf_inversion_on_target(inversion) || strlen(pf_inversion_message(inversion)) > 0);
  EXPECT(pf_inversion_values(inversion, word, NULL) == n);
  EXPECT(pf_inversion_values(inversion, word, found) == n);
  EXPECT(pf_inversion_values(inversion, "predicted/0", predicted) == n_fields * stations_n);
  EXPECT(pf_inversion_values(inversion, "density_sigma", NULL) == 0);
  EXPECT(pf_inversion_values(inversion, "beta", NULL) > 0);
  int largest = 0;
  double most = 0;
  for (int c = 0; c < cells_n; ++c) {
    double squares = 0;
    for (int k = c; k < n; k += cells_n) squares += found[k] * found[k];
    if (squares > most) largest = c, most = squares;
  }
  EXPECT(largest % (nx * ny) == heavy % (nx * ny));
  pf_inversion_delete(inversion);
}

/* One dense or magnetised cell among 5 x 5 x 3 is found where it is. */
static void test_invert(void) {
  const survey s = made_survey();
  double density[cells_n] = {0}, m[3][cells_n] = {{0}};
  density[heavy] = 400, m[0][heavy] = 0.5, m[2][heavy] = -1;
  const pf_prisms prisms = {s.bounds, density, cells_n, {m[0], m[1], m[2]}, NULL};
  pf_settings* settings = pf_settings_new();
  const double allowed[2] = {0, 400}, down[3] = {90, 0, 50000}, no_reference[3 * cells_n] = {0};
  EXPECT(pf_set_numbers(settings, "inversion.bounds", allowed, 2) == PF_OK);
  const int gz[1] = {field_named("gz")}, tmi[1] = {field_named("tmi")};
  const int b[3] = {field_named("bx"), field_named("by"), field_named("bz")};
  find_heavy_cell(&s, &prisms, gz, 1, 1e-7, NULL, settings, "density", cells_n);

  EXPECT(pf_set_text(settings, "inversion.unknown", "mass") == PF_INPUT_ERROR);
  EXPECT(strstr(pf_message(), "density, magnetization, susceptibility") != NULL);
  EXPECT(pf_set_text(settings, "inversion.unknown", "susceptibility") == PF_OK);
  EXPECT(pf_set_numbers(settings, "magnetic.inducing_field", down, 3) == PF_OK);
  m[0][heavy] = 0;
  find_heavy_cell(&s, &prisms, tmi, 1, 1e-9, NULL, settings, "susceptibility", cells_n);

  m[0][heavy] = 0.5;
  const double either[2] = {-2, 2};
  const pf_start_model reference = {no_reference, NULL, NULL, NULL, NULL};
  EXPECT(pf_set_text(settings, "inversion.unknown", "magnetization") == PF_OK);
  EXPECT(pf_set_numbers(settings, "inversion.bounds", either, 2) == PF_OK);
  find_heavy_cell(&s, &prisms, b, 3, 1e-9, &reference, settings, "magnetization", 3 * cells_n);
  pf_settings_delete(settings);
}

/* Kokkos' threads are not there after a fork. */
static void test_fork(void) {
  const pid_t child = fork();
  if (child == 0) _exit(pf_start(0) == PF_RUN_ERROR && strstr(pf_message(), "spawn") != NULL ? 0 : 1);
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  EXPECT(pf_abi_version() == PF_ABI_VERSION);
  EXPECT(strlen(pf_version()) > 0);
  EXPECT(pf_field_name(-1) == NULL && pf_field_name(pf_n_fields()) == NULL);
  EXPECT(strcmp(pf_field_unit(field_named("gz")), "mGal") == 0 && pf_field_scale(field_named("gz")) == 1e5);
  EXPECT(pf_field_is_odd_in_z(field_named("gz")) == 1 && pf_field_is_odd_in_z(field_named("gzz")) == 0);
  EXPECT(pf_threads() == 0);
  EXPECT(pf_start(2) == PF_OK && pf_threads() == 2);
  EXPECT(pf_start(2) == PF_OK && pf_start(3) == PF_INPUT_ERROR);
  EXPECT(strlen(pf_spaces()) > 0);
  test_forward();
  test_counts();
  test_errors();
  test_tolerance();
  test_stops();
  test_operator("none");
  test_operator("memory");
  test_magnetic();
  test_invert();
  test_fork();
  if (failures == 0) puts("the C ABI does what it says");
  return failures == 0 ? 0 : 1;
}
