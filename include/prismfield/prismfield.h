/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The prismfield authors */
#ifndef PRISMFIELD_H
#define PRISMFIELD_H

#include <stdint.h>

/* The library for C and languages that call C: Python, Fortran, Julia, MATLAB. Units are SI (m, kg/m3, A/m, m/s2, 1/s2,
   T) and z points up. Every function that can fail returns a pf_code; pf_message() then has the error. Any thread may
   call; one call computes at a time and others wait. */

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function or structure here changes its meaning. */
#define PF_ABI_VERSION 4

typedef enum pf_code {
  PF_OK = 0,
  /* an argument is invalid; pf_message() names it and the remedy */
  PF_INPUT_ERROR = 1,
  /* the call failed: no memory, no device, a file */
  PF_RUN_ERROR = 2,
  /* the progress function or SIGINT stopped the call */
  PF_STOPPED = 3,
  /* an error of the library itself */
  PF_INTERNAL_ERROR = 4
} pf_code;

/* The ABI of the loaded library; compare it with PF_ABI_VERSION. */
int pf_abi_version(void);
/* "0.1.0 (git 0123456789ab)" */
const char* pf_version(void);
/* The message of the last function that failed in this thread; "" before. Valid until the thread's next call. */
const char* pf_message(void);

/* Starts Kokkos with `threads` host threads; 0: OMP_NUM_THREADS, otherwise the cores of this process. Without this call
   the first computation starts it with 0. Kokkos runs until the process ends. A second call with another number is an
   error, as is every call in a process forked after the start. */
pf_code pf_start(int threads);
/* Host threads after the start, 0 before. */
int pf_threads(void);
/* 1: from now on SIGINT only stops calls of this thread while they last; they return PF_STOPPED. For the thread that
   handles the process' signals. */
void pf_set_interruptible(int interruptible);
/* Names of the execution spaces that were built, the default one first: "cuda openmp". */
const char* pf_spaces(void);

/* ---- fields, by number from 0 on */

int pf_n_fields(void);
/* "gz"; NULL for an unknown number */
const char* pf_field_name(int field);
/* "mGal", the unit of the output; the factor from SI to it; 1 where the sign changes with the direction of z. */
const char* pf_field_unit(int field);
double pf_field_scale(int field);
int pf_field_is_odd_in_z(int field);

/* ---- what is computed of what */

/* Prisms. bounds: (n, 6), west, east, south, north, bottom, top of each; density: (n), may be NULL for operators and
   where fields are magnetic; magnetization: (n) along easting, northing and upward, A/m, the remanent one, all three
   NULL where there is none; susceptibility: (n), SI, without demagnetisation, in the setting magnetic.inducing_field,
   NULL where there is none. */
typedef struct pf_prisms {
  const double* bounds;
  const double* density;
  int64_t n;
  const double* magnetization[3];
  const double* susceptibility;
} pf_prisms;

/* Points, (n) each. */
typedef struct pf_points {
  const double* easting;
  const double* northing;
  const double* upward;
  int64_t n;
} pf_points;

/* Settings by name. Defaults are those of the program's keys (prismfield help), but none for sensitivity.store.
   NULL: all defaults.
   numbers
     gravitational_constant    m3 kg-1 s-2
     magnetic.inducing_field (3)   inclination and declination, degrees, and intensity, nT: the direction of tmi, its
                               derivatives and tmi_exact, and what magnetises a susceptibility
     magnetic.magnetization_direction (2)   inclination and declination, degrees, of the magnetisation of a
                               susceptibility that pf_invert finds; default: those of the inducing field
     magnetic.vacuum_permeability  N A-2, above 1e-7 and below 1e-5
     execution.batch, execution.slots, execution.block, execution.chunk, execution.memory_limit (bytes)
     execution.tolerance       of pf_forward, relative to the largest value of each field
     execution.check_points
     sensitivity.compression   error of G relative to its norm
     sensitivity.memory_limit  bytes
     inversion.smallness, .smoothness (3), .smoothing_lengths (3, m), .reference_in_smoothness (0 or 1), .norm (4),
     .bounds (2), .bounds.amplitude, .beta, .target_misfit, .max_iterations, .depth_of_investigation (0 or 1),
     .weighting.power, .weighting.z0, .uncertainty.samples, .uncertainty.seed, .uncertainty.rank
   texts
     magnetic.inside           B, H, nan, cavity, borehole
     execution.space, .precision, .kernel, .method
     sensitivity.store, .precision
     inversion.unknown         density, susceptibility, magnetization
     inversion.weighting.kind, .trend (none, constant, linear, quadratic), .beta (gcv, l_curve),
     .data_norm (squares, huber) */
typedef struct pf_settings pf_settings;
pf_settings* pf_settings_new(void);
void pf_settings_delete(pf_settings* settings);
pf_code pf_set_numbers(pf_settings* settings, const char* key, const double* values, int64_t n);
pf_code pf_set_text(pf_settings* settings, const char* key, const char* value);
/* Called between launches, in the thread of the call, with the fraction done. A result other than 0 stops the call. */
typedef int (*pf_progress)(double done, void* user);
void pf_set_progress(pf_settings* settings, pf_progress progress, void* user);

/* ---- forward */

typedef struct pf_run {
  /* points on an edge or corner where the gradient tensor has no value; points in or on prisms */
  int64_t n_singular, n_inside;
  int64_t pairs;
  double seconds;
  /* for a tolerance above 1e-12: number of points compared with direct sums; the largest difference relative to
     the largest value of its field, above the tolerance where prisms cancel to fewer digits than doubles have; how
     often the fields were computed again */
  int64_t n_checked;
  double error;
  int64_t repeats;
} pf_run;

/* fields: rising numbers. values: (n_fields, points->n). singular: (points->n), receives the numbers of the
   run->n_singular singular points. singular and run may be NULL. */
pf_code pf_forward(const pf_prisms* prisms, const pf_points* points, const int* fields, int n_fields,
                   const pf_settings* settings, double* values, int64_t* singular, pf_run* run);

/* A field of one prism at one point, SI, z up, for loops of the caller: nothing is started or locked. As in choclo, a
   gradient on a face is the limit from outside, and NaN on edges without one. Also NaN for arguments that are not
   finite, prisms without volume and fields other than the first ten. */
double pf_gravity(int field, double easting, double northing, double upward, double west, double east, double south,
                  double north, double bottom, double top, double density);

/* B of one prism at one point, T, likewise: b[3] along easting, northing, upward. On a face the limit from outside; NaN
   where choclo has no value, inside the prism and on its edges. */
void pf_magnetic(double easting, double northing, double upward, double west, double east, double south, double north,
                 double bottom, double top, double magnetization_easting, double magnetization_northing,
                 double magnetization_upward, double* b);

/* A component of the gradient of B, T/m, likewise: the number of bxx, byy, bzz, bxy, bxz or byz; NaN of other fields.
 */
double pf_magnetic_gradient(int field, double easting, double northing, double upward, double west, double east,
                            double south, double north, double bottom, double top, double magnetization_easting,
                            double magnetization_northing, double magnetization_upward);

/* ---- operators: G with rows (field, point) and a column per prism, which multiplies its density or, for magnetic
   fields, its magnetization. One operator has either gravity or magnetic fields, but not tmi_exact and amplitude, which
   are not linear. */

typedef struct pf_operator pf_operator;
/* Copies what it needs of prisms and points; the prisms' density is not read. */
pf_code pf_operator_new(const pf_prisms* prisms, const pf_points* points, const int* fields, int n_fields,
                        const pf_settings* settings, pf_operator** made);
void pf_operator_delete(pf_operator* made);
int64_t pf_operator_rows(const pf_operator* g);
int64_t pf_operator_columns(const pf_operator* g);
/* Bytes that a product reads, 0 where G is computed anew; one line on how G is kept and why; the space that computes:
   "serial", "openmp", "cuda" or "hip". */
int64_t pf_operator_bytes(const pf_operator* g);
const char* pf_operator_storage(const pf_operator* g);
const char* pf_operator_space(const pf_operator* g);
/* n vectors, one after another: y = G x, x = G' y, and the diagonals of G' diag(w) G. With a device they may be in its
   memory. */
pf_code pf_operator_apply(pf_operator* g, const double* x, double* y, int64_t n);
pf_code pf_operator_apply_transpose(pf_operator* g, const double* y, double* x, int64_t n);
pf_code pf_operator_diagonal(pf_operator* g, const double* weights, double* diagonal, int64_t n);
/* Rows of G at the points [begin, end): (n_fields, end - begin, columns). */
pf_code pf_operator_entries(pf_operator* g, int64_t begin, int64_t end, double* entries);

/* ---- inversion */

/* Cells between rising edges; edges[d]: (counts[d] + 1). active: rising numbers of the cells that may change, numbered
   easting fastest, then northing, then upward; NULL: all. */
typedef struct pf_cells {
  const double* edges[3];
  int64_t counts[3];
  const int64_t* active;
  int64_t n_active;
} pf_cells;

/* Measurements; values and sigma: (n_fields, points.n). */
typedef struct pf_data {
  const char* name;
  pf_points points;
  const int* fields;
  int n_fields;
  const double* values;
  const double* sigma;
} pf_data;

/* (n) or (n_active) each, in the order of the active cells, in the unit of inversion.unknown: kg/m3, SI or A/m. For a
   magnetization all but cell_weights have three of these, one after another: easting, northing, upward. NULL: none. */
typedef struct pf_start_model {
  const double* reference;
  const double* start;
  const double* lower;
  const double* upper;
  const double* cell_weights;
} pf_start_model;

typedef struct pf_inversion pf_inversion;
pf_code pf_invert(const pf_cells* cells, const pf_data* data, int n_data, const pf_start_model* model,
                  const pf_settings* settings, pf_inversion** made);
void pf_inversion_delete(pf_inversion* made);
/* 1: the target was reached; otherwise pf_inversion_message() has the reason. */
int pf_inversion_on_target(const pf_inversion* inversion);
const char* pf_inversion_message(const pf_inversion* inversion);
/* Returns the length of an array of the model, 0 for an unknown name, and copies it unless values is NULL. Names:
   "density" and "density_sigma" or those of another inversion.unknown, in the shape of pf_start_model;
   "depth_of_investigation" (active cells); "predicted/0", ... in the shape of the data set's values; "beta", "phi_d",
   "phi_m", "chi", "products", "seconds" of the table of solutions. */
int64_t pf_inversion_values(const pf_inversion* inversion, const char* name, double* values);

#ifdef __cplusplus
}
#endif

#endif
