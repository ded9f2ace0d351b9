/* Two SCARA arms squeeze a cube: contact forces and accelerations of two frictional contacts.
 *
 *   a = A c + b,   A = J M^-1 J',   b = J M^-1 Q          rows n1 n2 t1 t2 o1 o2; a > 0 along n separates
 *   sliding   (c_t, c_o) = -mu c_n s for a given slip direction s:   c_n _|_ a_n                        2 unknowns
 *   cone      c_n _|_ a_n,   s _|_ mu^2 c_n^2 - c_t^2 - c_o^2,   mu c_n a_T + s c_T = 0,   a_T = (A c + b)_T       12
 *   pyramid   |c_t|, |c_o| <= mu c_n:  u = (c_n, s_t, s_o, a_t-, a_o-),  c_t = s_t - mu c_n,
 *             f = (a_n, a_t + a_t-, a_o + a_o-, 2 mu c_n - s_t, 2 mu c_n - s_o)                          10
 *
 * Instance k: generalised forces Q = Q0 + S .* w with w from splitmix64 seeded with k; for the sliding form the next
 * four numbers are the slip directions. Seed 0 is the undisturbed grasp. References: J.-S. Pang, J. Trinkle, 1996
 * (model); R. Murray, Z. Li, S. Sastry, 1994 (arms); arm lengths of an Adept Cobra 600; masses and the grasp are our
 * own. */
#include "linalg/dense.h"
#include "mcp/library/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 6, DOF = 14, ARM = 4 };

static const double MU = 0.3, LINK_1 = .325, LINK_2 = .275, TIP = .01, GRIP = 10, WEIGHT = 9.81;

typedef struct grasp {
  frix_context *context;
  frix_scara_form form;
  double A[ROWS][ROWS], b[ROWS];
  double slip[2][2]; /* sliding: direction (t, o) per contact */
} grasp;

/* ---- the arms and the cube */

/* Inertia of an arm with elbow cosine 1/2. */
static void arm_inertia(double M[ARM * ARM]) {
  const double m1 = 4, m2 = 3, m3 = 1, m4 = .5, I3 = .002, I4 = .001, r1 = LINK_1 / 2, r2 = LINK_2 / 2, cosine = 0.5;
  double alpha = m1 * LINK_1 * LINK_1 / 12 + r1 * r1 * m1 + LINK_1 * LINK_1 * (m2 + m3 + m4);
  double beta = m2 * LINK_2 * LINK_2 / 12 + I3 + I4 + LINK_2 * LINK_2 * (m3 + m4) + m2 * r2 * r2;
  double gamma = LINK_1 * LINK_2 * (m3 + m4) + LINK_1 * m2 * r2, delta = I3 + I4;
  const double full[ARM * ARM] = {alpha + beta + 2 * gamma * cosine,
                                  beta + gamma * cosine,
                                  delta,
                                  0,  //
                                  beta + gamma * cosine,
                                  beta,
                                  delta,
                                  0,  //
                                  delta,
                                  delta,
                                  delta,
                                  0,  //
                                  0,
                                  0,
                                  0,
                                  m4};
  memcpy(M, full, sizeof full);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Velocity of contact `arm` along e per unit of every generalised velocity: cube less fingertip. */
static void contact_row(int32_t arm, const double e[3], double row[DOF]) {
  /* arm 0 at angles (-30, -60) degrees, arm 1 its mirror image: cos 30, sin 30, and the outer link at 90 */
  double side = arm ? 1 : -1, c1 = 0.5 * sqrt(3), s1 = 0.5 * side, c12 = 0, s12 = side;
  const double place[3] = {0.05 * side, 0, 0}, normal[3] = {-side, 0, 0};
  const double velocity[ARM][3] = {{-LINK_1 * c1 - LINK_2 * c12, -LINK_1 * s1 - LINK_2 * s12, 0},
                                   {-LINK_2 * c12, -LINK_2 * s12, 0},
                                   {0, 0, 0},
                                   {0, 0, 1}};
  memset(row, 0, DOF * sizeof *row);
  for (int32_t k = 0; k < ARM; k++) {
    const double spin[3] = {0, 0, k < 3 ? 1.0 : 0.0}, tip[3] = {TIP * normal[0], TIP * normal[1], TIP * normal[2]};
    double turn[3], total[3];
    cross(spin, tip, turn);
    for (int32_t x = 0; x < 3; x++) total[x] = velocity[k][x] + turn[x];
    row[ARM * arm + k] = -dot(e, total);
  }
  double moment[3];
  cross(place, e, moment);
  for (int32_t x = 0; x < 3; x++) {
    row[8 + x] = e[x];
    row[11 + x] = moment[x];
  }
}

/* y = M^-1 x */
static void apply_inverse(const double x[DOF], double y[DOF]) {
  double M[ARM * ARM], inertia = 1 * 0.1 * 0.1 / 6;
  int32_t pivot[ARM];
  arm_inertia(M);
  memcpy(y, x, DOF * sizeof *y);
  if (!fx_lu_factor(ARM, M, pivot)) return; /* positive definite: cannot happen */
  fx_lu_solve(ARM, M, pivot, y);
  fx_lu_solve(ARM, M, pivot, y + ARM);
  for (int32_t k = 11; k < DOF; k++) y[k] /= inertia;
}

static void build(grasp *g, uint64_t seed) {
  static const double direction[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}}};
  static const double spread[DOF] = {2, 2, .2, 5, 2, 2, .2, 5, 5, 5, 5, .2, .2, .2};
  double J[ROWS][DOF], Q[DOF] = {0}, solved[DOF];
  for (int32_t k = 0; k < ROWS; k++) contact_row(k % 2, direction[k % 2][k / 2], J[k]);
  /* the arms press with GRIP along the normals, their own weight is carried, the cube's is not */
  for (int32_t k = 0; k < 2 * ARM; k++) Q[k] = -GRIP * (J[0][k] + J[1][k]);
  Q[10] = -WEIGHT;
  uint64_t state = seed;
  for (int32_t k = 0; k < DOF && seed; k++) Q[k] += spread[k] * fx_mcp_random(&state);
  for (int32_t k = 0; k < ROWS; k++) {
    apply_inverse(J[k], solved);
    g->b[k] = 0;
    for (int32_t d = 0; d < DOF; d++) g->b[k] += solved[d] * Q[d];
    for (int32_t l = 0; l < ROWS; l++) {
      g->A[k][l] = 0;
      for (int32_t d = 0; d < DOF; d++) g->A[k][l] += solved[d] * J[l][d];
    }
  }
  for (int32_t k = 0; k < 2; k++) {
    double t = seed ? fx_mcp_random(&state) : 0, o = seed ? fx_mcp_random(&state) : 1, length = sqrt(t * t + o * o);
    g->slip[k][0] = length > 0 ? t / length : 1;
    g->slip[k][1] = length > 0 ? o / length : 0;
  }
}

/* ---- forms: c from the unknowns (linear), and the rows */

static const int32_t per_contact[FRIX_SCARA_COUNT] = {1, 6, 5};

/* Forces of contact k (n, t, o) from its unknowns; C[3][6] are the factors. */
static void force_factors(const grasp *g, int32_t k, double C[3][6]) {
  memset(C, 0, 18 * sizeof(double));
  C[0][0] = 1;
  if (g->form == FRIX_SCARA_SLIDING) {
    C[1][0] = -MU * g->slip[k][0];
    C[2][0] = -MU * g->slip[k][1];
  } else if (g->form == FRIX_SCARA_CONE) {
    C[1][2] = C[2][3] = 1;
  } else {
    C[1][0] = C[2][0] = -MU;
    C[1][1] = C[2][2] = 1;
  }
}

static void forces(const grasp *g, const double *x, double c[ROWS]) {
  int32_t size = per_contact[g->form];
  for (int32_t k = 0; k < 2; k++) {
    double C[3][6];
    force_factors(g, k, C);
    for (int32_t e = 0; e < 3; e++) {
      c[2 * e + k] = 0;
      for (int32_t j = 0; j < size; j++) c[2 * e + k] += C[e][j] * x[k * size + j];
    }
  }
}

static void accelerations(const grasp *g, const double c[ROWS], double a[ROWS]) {
  for (int32_t k = 0; k < ROWS; k++) {
    a[k] = g->b[k];
    for (int32_t l = 0; l < ROWS; l++) a[k] += g->A[k][l] * c[l];
  }
}

static bool function(const double *x, double *F, void *user) {
  const grasp *g = user;
  double c[ROWS], a[ROWS];
  forces(g, x, c);
  accelerations(g, c, a);
  int32_t size = per_contact[g->form];
  for (int32_t k = 0; k < 2; k++) {
    const double *y = x + k * size;
    double *row = F + k * size, a_t = a[2 + k], a_o = a[4 + k];
    row[0] = a[k];
    if (g->form == FRIX_SCARA_CONE) {
      row[1] = MU * MU * y[0] * y[0] - y[2] * y[2] - y[3] * y[3];
      row[2] = MU * y[0] * y[4] + y[1] * y[2];
      row[3] = MU * y[0] * y[5] + y[1] * y[3];
      row[4] = y[4] - a_t;
      row[5] = y[5] - a_o;
    } else if (g->form == FRIX_SCARA_PYRAMID) {
      row[1] = a_t + y[3];
      row[2] = a_o + y[4];
      row[3] = 2 * MU * y[0] - y[1];
      row[4] = 2 * MU * y[0] - y[2];
    }
  }
  return true;
}

/* Rows of one contact that hold accelerations: row[e] of (n, t, o) with sign. */
static void add_coupling(const grasp *g, int32_t n, int32_t k, const int32_t row[3], const double sign[3],
                         double *value) {
  int32_t size = per_contact[g->form];
  for (int32_t l = 0; l < 2; l++) {
    double C[3][6];
    force_factors(g, l, C);
    for (int32_t e = 0; e < 3 && row[e] >= 0; e++)
      for (int32_t j = 0; j < size; j++) {
        double sum = 0;
        for (int32_t f = 0; f < 3; f++) sum += g->A[2 * e + k][2 * f + l] * C[f][j];
        value[(l * size + j) * n + k * size + row[e]] += sign[e] * sum;
      }
  }
}

static bool jacobian(const double *x, double *value, void *user) {
  const grasp *g = user;
  int32_t size = per_contact[g->form], n = 2 * size;
  static const int32_t rows[FRIX_SCARA_COUNT][3] = {{0, -1, -1}, {0, 4, 5}, {0, 1, 2}};
  static const double signs[FRIX_SCARA_COUNT][3] = {{1, 1, 1}, {1, -1, -1}, {1, 1, 1}};
  memset(value, 0, (size_t)n * (size_t)n * sizeof *value);
  for (int32_t k = 0; k < 2; k++) {
    const double *y = x + k * size;
    double *block = value + (k * size) * n + k * size; /* entry (i, j) at block[j * n + i] */
    add_coupling(g, n, k, rows[g->form], signs[g->form], value);
    if (g->form == FRIX_SCARA_CONE) {
      block[1] = 2 * MU * MU * y[0];
      block[2 * n + 1] = -2 * y[2];
      block[3 * n + 1] = -2 * y[3];
      for (int32_t e = 0; e < 2; e++) {
        block[2 + e] = MU * y[4 + e];
        block[(4 + e) * n + 2 + e] = MU * y[0];
        block[n + 2 + e] = y[2 + e];
        block[(2 + e) * n + 2 + e] = y[1];
        block[(4 + e) * n + 4 + e] += 1;
      }
    } else if (g->form == FRIX_SCARA_PYRAMID) {
      for (int32_t e = 0; e < 2; e++) {
        block[(3 + e) * n + 1 + e] += 1;
        block[3 + e] = 2 * MU;
        block[(1 + e) * n + 3 + e] = -1;
      }
    }
  }
  return true;
}

static void release(void *user) {
  grasp *g = user;
  fx_free(g->context, g);
}

const char *frix_scara_form_name(frix_scara_form form) {
  static const char *const name[] = {"sliding", "cone", "pyramid"};
  return (unsigned)form < FRIX_SCARA_COUNT ? name[form] : "unknown";
}

/* From the grip: c_n = GRIP, everything else rests. */
static void start_point(const grasp *g, double *x) {
  int32_t size = per_contact[g->form];
  memset(x, 0, 12 * sizeof *x);
  for (int32_t k = 0; k < 2; k++) {
    x[k * size] = GRIP;
    if (g->form == FRIX_SCARA_PYRAMID) x[k * size + 1] = x[k * size + 2] = MU * GRIP;
  }
}

frix_status frix_mcp_create_scara(frix_context *context, frix_scara_form form, uint64_t seed, frix_mcp **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  if ((unsigned)form >= FRIX_SCARA_COUNT)
    return fx_fail(context, FRIX_ERROR_INPUT, "scara: unknown form %d", (int)form);
  grasp *g = FX_NEW(context, grasp, 1);
  if (!g) return FRIX_ERROR_MEMORY;
  g->context = context;
  g->form = form;
  build(g, seed);
  char name[48];
  snprintf(name, sizeof name, "scara-%s-%llu", frix_scara_form_name(form), (unsigned long long)seed);
  double lower[12], start[12];
  for (int32_t k = 0; k < 12; k++) lower[k] = form == FRIX_SCARA_CONE && k % 6 > 1 ? -INFINITY : 0;
  start_point(g, start);
  frix_mcp_data data = frix_mcp_data_default();
  data.name = name;
  data.count = 2 * per_contact[form];
  data.linear = form != FRIX_SCARA_CONE;
  data.lower = lower;
  data.function = function;
  data.jacobian = jacobian;
  data.user = g;
  data.release = release;
  data.start = start;
  data.start_count = 1;
  return fx_library_dense(context, &data, out);
}

void frix_mcp_scara_force(const frix_mcp *mcp, const double *x, double c[6]) {
  if (!c) return;
  memset(c, 0, ROWS * sizeof *c);
  if (mcp && x && mcp->data.function == function) forces(mcp->data.user, x, c);
}

void frix_mcp_scara_class(const frix_mcp *mcp, const double *x, char out[3]) {
  if (!out) return;
  memcpy(out, "??", 3);
  if (!mcp || !x || mcp->data.function != function) return;
  const grasp *g = mcp->data.user;
  double c[ROWS], a[ROWS];
  forces(g, x, c);
  accelerations(g, c, a);
  for (int32_t k = 0; k < 2; k++) {
    bool moves = g->form == FRIX_SCARA_SLIDING || a[2 + k] * a[2 + k] + a[4 + k] * a[4 + k] > 1e-10;
    out[k] = c[k] <= 1e-6 ? 'D' : moves ? 'S' : 'R';
  }
}
