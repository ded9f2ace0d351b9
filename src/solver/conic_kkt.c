/* Linear systems of the conic methods: (A + D) x = b with A = S (W + R) S and D block diagonal, by the factors of
 * newton_linear.h with P = I. A small regularisation keeps them regular where D vanishes (joints, sticking contacts);
 * the solution is then refined against the matrix without it: by one correction, then by conjugate gradients with these
 * factors, since joints of long chains have eigenvalues as small as the regularisation. */
#include "solver/conic.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 6 }; /* corrections by conjugate gradients after the best one: errors do not fall at every one */

/* Not many more unknowns of bodies than there are rows. */
static bool velocity_is_smaller(const fx_system *s) { return s->has_velocity && s->dof_count <= 2 * s->row_count; }

frix_status fx_kkt_setup(fx_arena *arena, const fx_system *s, fx_newton_linear *shared, fx_kkt *t) {
  frix_status status = FRIX_OK;
  bool by_velocity = velocity_is_smaller(s);
  *t = (fx_kkt){.system = *s};
  if (!by_velocity) {
    if (!s->has_W) status = fx_system_assemble(arena, &t->system);
    if (status != FRIX_OK) return status;
    t->system.has_velocity = false;
  }
  if (shared && shared->by_velocity == by_velocity && !shared->by_iteration)
    t->linear = shared;
  else
    t->linear = fx_newton_linear_create_as(arena, &t->system, FX_LINEAR_DIRECT, &status);
  if (!t->linear) return status;
  size_t blocks = s->diagonal[s->contact_count];
  t->D = FX_TAKE(arena, double, blocks);
  t->B = FX_TAKE(arena, double, blocks);
  t->e = FX_TAKE(arena, double, s->row_count);
  t->y = FX_TAKE(arena, double, s->row_count);
  t->p = FX_TAKE(arena, double, s->row_count);
  return t->D && t->B && t->e && t->y && t->p ? FRIX_OK : FRIX_ERROR_MEMORY;
}

bool fx_kkt_factor(fx_kkt *t) {
  const fx_system *s = &t->system;
  double least = t->linear->by_velocity ? 1e-8 : 1e-10;
  memcpy(t->B, t->D, s->diagonal[s->contact_count] * sizeof *t->B);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0, d = s->contact[i].dim; k < d; k++) t->B[s->diagonal[i] + (size_t)(k * (d + 1))] += least;
  return fx_newton_factor(t->linear, NULL, t->B);
}

void fx_kkt_multiply(fx_kkt *t, const double *x, double *y) { fx_newton_apply(t->linear, x, y); }

/* e = (A + D) x - b, b NULL: 0; returns |e|^2 */
static double misfit(fx_kkt *t, const double *b, const double *x, double *e) {
  const fx_system *s = &t->system;
  double sum = 0;
  fx_newton_apply(t->linear, x, e);
  for (int32_t i = 0; i < s->contact_count; i++) {
    const double *D = t->D + s->diagonal[i];
    int32_t d = s->contact[i].dim, row = s->row[i];
    for (int32_t r = 0; r < d; r++) {
      double rest = e[row + r] - (b ? b[row + r] : 0);
      for (int32_t c = 0; c < d; c++) rest += D[r * d + c] * x[row + c];
      e[row + r] = rest;
      sum += rest * rest;
    }
  }
  return sum;
}

/* x so that |e|^2 <= least, or as far as rounding lets it; A is symmetric in its velocity form, else corrections are
 * plain. */
static void refine(fx_kkt *t, const double *b, double least, double *x) {
  int32_t n = t->system.row_count;
  const bool conjugate = t->linear->by_velocity;
  double error = fx_dot(n, t->e, t->e), best = error, before = 0;
  for (int round = 0, late = 0; round < 40 && error > least && late < (conjugate ? PATIENCE : 1); round++) {
    fx_newton_solve_once(t->linear, NULL, t->B, t->e, t->y);
    double now = -fx_dot(n, t->e, t->y), turn = conjugate && round ? now / before : 0, step = 1;
    for (int32_t k = 0; k < n; k++) t->p[k] = t->y[k] + turn * t->p[k];
    if (conjugate) misfit(t, NULL, t->p, t->y), step = now / fx_dot(n, t->p, t->y);
    if (!(step > 0)) break;
    for (int32_t k = 0; k < n; k++) x[k] += step * t->p[k];
    for (int32_t k = 0; conjugate && k < n; k++) t->e[k] += step * t->y[k];
    error = conjugate ? fx_dot(n, t->e, t->e) : misfit(t, b, x, t->e), before = now;
    late = error < 0.95 * best ? 0 : late + 1; /* what it adds is rounding, of the size of what is left */
    best = fmin(best, error);
  }
}

void fx_kkt_solve(fx_kkt *t, const double *b, double largest, double *x) {
  int32_t n = t->system.row_count;
  for (int32_t k = 0; k < n; k++) t->e[k] = -b[k];
  fx_newton_solve_once(t->linear, NULL, t->B, t->e, x);
  double least = largest * largest, error = misfit(t, b, x, t->e);
  if (!(error > least)) return;
  fx_newton_solve_once(t->linear, NULL, t->B, t->e, t->y);
  for (int32_t k = 0; k < n; k++) x[k] += t->y[k];
  if (misfit(t, b, x, t->e) < 0.95 * error) refine(t, b, least, x);
}
