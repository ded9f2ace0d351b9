/* Is the velocity of an answer the only one?
 *
 * A proof. Two answers with dr, du = (W + R) dr obey (du~_1 - du~_2) . dr <= 0, and shifts differ by no more than
 * |s_1 - s_2| <= mu |du_T|:
 *
 *   dr . (W + R) dr <= sum_i mu_i |du_T,i| |dr_N,i| <= 1/2 sum_i mu_i (a |du_T,i|^2 + |dr_N,i|^2 / a)
 *
 * so where W + R - 1/2 sum_i mu_i (a B_i'B_i + e_N e_N' / a), B_i the tangential rows of W + R, is positive definite
 * for some a > 0, dr = 0: forces and motion are unique. Rolling friction is a second such term. A witness otherwise:
 * other methods from other starts, to SHARP; an answer counts as another one where both are certified and their
 * velocities differ by more than APART of the change that impulses make. */
#include "analysis/force_set.h"

#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define SHARP 1e-10
#define APART 1e-4
#define PATIENCE 5.0 /* s for each attempt */

enum { MOST_ROWS = 900, STARTS = 3 };

/* ---- proof ---- */

/* Whether the symmetric matrix has a Cholesky factor with pivots above rounding; a is lost. */
static bool is_definite(int32_t n, double *a) {
  for (int32_t j = 0; j < n; j++) {
    double *row = a + (size_t)j * (size_t)n;
    double before = row[j];
    for (int32_t k = 0; k < j; k++) row[j] -= row[k] * row[k];
    if (!(row[j] > 1e-10 * fmax(before, 1e-3))) return false;
    double pivot = row[j] = sqrt(row[j]);
    for (int32_t i = j + 1; i < n; i++) {
      double *other = a + (size_t)i * (size_t)n, sum = other[j];
      for (int32_t k = 0; k < j; k++) sum -= other[k] * row[k];
      other[j] = sum / pivot;
    }
  }
  return true;
}

/* S (W + R) S */
static void fill_operator(const fx_system *s, const double *scale, double *a) {
  size_t n = (size_t)s->row_count;
  memset(a, 0, n * n * sizeof *a);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
      int32_t j = s->W.index[k], width = fx_block_cols(&s->W, k);
      const double *w = fx_block(&s->W, k);
      for (int32_t r = 0; r < s->contact[i].dim; r++)
        for (int32_t c = 0; c < width; c++)
          a[(size_t)(s->row[i] + r) * n + (size_t)(s->row[j] + c)] = scale[i] * w[r * width + c] * scale[j];
    }
  for (int32_t i = 0; s->R && i < s->contact_count; i++)
    for (int32_t r = s->row[i]; r < s->row[i + 1]; r++) a[(size_t)r * n + (size_t)r] += scale[i] * s->R[r] * scale[i];
}

/* Takes 1/2 mu (a B'B + e_N e_N' / a) of the rows `first` to `end` off Q. */
static void take_friction(int32_t n, const double *A, int32_t normal, int32_t first, int32_t end, double mu, double a,
                          double *Q) {
  for (int32_t t = first; t < end; t++) {
    const double *row = A + (size_t)t * (size_t)n;
    for (int32_t r = 0; r < n; r++) {
      if (row[r] == 0) continue;
      for (int32_t c = 0; c < n; c++) Q[(size_t)r * (size_t)n + (size_t)c] -= 0.5 * mu * a * row[r] * row[c];
    }
  }
  Q[(size_t)normal * (size_t)n + (size_t)normal] -= 0.5 * mu / a;
}

static bool dominates(const fx_system *s, const double *A, double a, double *Q) {
  int32_t n = s->row_count;
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c < n; c++)
      Q[(size_t)r * (size_t)n + (size_t)c] =
          0.5 * (A[(size_t)r * (size_t)n + (size_t)c] + A[(size_t)c * (size_t)n + (size_t)r]);
  for (int32_t i = 0; i < s->contact_count; i++) {
    const frix_contact *c = &s->contact[i];
    int32_t row = s->row[i], sliding = c->dim < 3 ? c->dim : 3;
    double mu = fmax(c->mu, c->cone == FRIX_CONE_ELLIPTIC ? c->mu2 : 0);
    bool none = c->cone == FRIX_CONE_BILATERAL || c->cone == FRIX_CONE_LIMIT || c->cone == FRIX_CONE_FRICTIONLESS;
    if (none) continue;
    if (mu > 0) take_friction(n, A, row, row + 1, row + sliding, mu, a, Q);
    if (c->cone == FRIX_CONE_ROLLING && c->mu_r > 0) take_friction(n, A, row, row + 3, row + 5, c->mu_r, a, Q);
  }
  return is_definite(n, Q);
}

static frix_status prove(frix_forces *f, bool *proved) {
  static const double balance[] = {1, 0.5, 2, 0.25, 4};
  fx_arena own;
  fx_system s;
  *proved = false;
  if (f->s.row_count > MOST_ROWS || f->s.row_count == 0) {
    *proved = f->s.row_count == 0;
    return FRIX_OK;
  }
  fx_arena_init(&own, f->context);
  frix_status status = fx_system_build(&own, f->problem, FRIX_FORM_LOCAL, &s);
  size_t square = (size_t)f->s.row_count * (size_t)f->s.row_count;
  double *A = FX_TAKE(&own, double, square), *Q = FX_TAKE(&own, double, square);
  if (status == FRIX_OK && (!A || !Q)) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK) {
    fill_operator(&s, f->scale, A);
    for (size_t k = 0; !*proved && k < sizeof balance / sizeof *balance; k++) *proved = dominates(&s, A, balance[k], Q);
  }
  fx_arena_free(&own);
  return status;
}

/* ---- witness ---- */

/* The square of the norm of the change of velocity that impulses r make, r . W r, from velocities: u - q - R r = W r.
 */
static double energy_of(const frix_forces *f, const double *r, const double *u, const double *r2, const double *u2) {
  double sum = 0;
  for (int32_t k = 0; k < f->problem->row_count; k++) {
    double d = r[k] - (r2 ? r2[k] : 0), du = u[k] - (u2 ? u2[k] : f->s.q[k]);
    sum += d * (du - (f->s.R ? f->s.R[k] * d : 0));
  }
  return fmax(sum, 0);
}

static void random_start(const frix_forces *f, int round, double *r) {
  uint64_t state = 0x853c49e6748fea9bu + (uint64_t)round;
  double most = 0;
  for (int32_t k = 0; k < f->problem->row_count; k++) most = fmax(most, fabs(f->r[k]));
  for (int32_t k = 0; k < f->problem->row_count; k++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    r[k] = round == 0 ? 0 : 2 * most * ((double)(state >> 11) / 9007199254740992.0 - 0.5);
  }
}

static frix_status try_method(frix_forces *f, const char *solver, const double *start, double *distance, double *r) {
  frix_solve_config config = frix_solve_default();
  frix_solution *solution = NULL;
  config.solver = solver;
  config.tolerance = SHARP;
  config.time_limit = PATIENCE;
  config.guess_r = start;
  frix_status status = frix_solve(f->context, f->problem, &config, &solution);
  if (status != FRIX_OK) return status == FRIX_ERROR_MEMORY ? status : FRIX_OK; /* not for these cones */
  frix_result result = {.size = sizeof result};
  frix_solution_view(solution, &result);
  double apart = 0;
  if (result.certificate.residual <= SHARP) {
    double whole = fmax(energy_of(f, f->r, f->u, NULL, NULL), energy_of(f, result.r, result.u, NULL, NULL));
    apart = whole > 0 ? sqrt(energy_of(f, f->r, f->u, result.r, result.u) / whole) : 0;
  }
  if (apart > *distance) {
    *distance = apart;
    memcpy(r, result.r, (size_t)result.row_count * sizeof *r);
  }
  frix_solution_destroy(solution);
  return FRIX_OK;
}

static frix_status look_around(frix_forces *f, double *distance, double *r) {
  static const char *const method[] = {"auto", "nsgs", "newton", "interior_point"};
  fx_arena own;
  fx_arena_init(&own, f->context);
  double *start = FX_TAKE(&own, double, f->problem->row_count);
  frix_status status = start ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int round = 0; status == FRIX_OK && round < STARTS && !(*distance > APART); round++) {
    random_start(f, round, start);
    for (size_t m = 0; status == FRIX_OK && m < sizeof method / sizeof *method && !(*distance > APART); m++)
      status = try_method(f, method[m], start, distance, r);
  }
  fx_arena_free(&own);
  return status;
}

frix_status frix_forces_motion(frix_forces *f, frix_motion_verdict *out, double *r_other, double *distance) {
  if (!f || !out) return FRIX_ERROR_INPUT;
  fx_arena own;
  fx_arena_init(&own, f->context);
  double *r = FX_TAKE(&own, double, f->problem->row_count), apart = 0;
  bool proved = false;
  frix_status status = r ? prove(f, &proved) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK && !proved && f->certificate.residual <= 100 * SHARP) status = look_around(f, &apart, r);
  if (status == FRIX_OK) {
    *out = proved ? FRIX_MOTION_UNIQUE : apart > APART ? FRIX_MOTION_SEVERAL : FRIX_MOTION_ONE_FOUND;
    if (r_other && *out == FRIX_MOTION_SEVERAL) memcpy(r_other, r, (size_t)f->problem->row_count * sizeof *r);
    if (distance) *distance = apart;
  }
  fx_arena_free(&own);
  return status;
}
