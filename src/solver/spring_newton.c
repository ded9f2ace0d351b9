/* spring_newton: Newton on the velocities, for contacts with compliance.
 *
 * Where every row has a compliance R the impulse of a contact is a function of the velocity v alone: with a = H' v + w
 *
 *   r_N = max(0, -a_N) / R_N,   r_T = projection of -a_T / R_T on the disc of radius mu r_N,
 *
 * which is Coulomb's law for u = a + R r. The equation of motion is then
 *
 *   F(v) = M (v - v_free) - H r(H' v + w) = 0,   F' = M + H D H',   D = -dr/da,
 *
 * piecewise smooth and, for friction under a given bound, the slope of a convex function E. Newton steps are cut where
 * |F| would grow; where no part of a step helps, the step of the convex problem with the bounds mu r_N of now, cut at
 * the least E, leads on. Rows without compliance (joints, limits, motors) get a small one, whose offset follows the
 * impulses from step to step (the method of multipliers), so that it has no part in the answer.
 * References: D. P. Bertsekas, Constrained Optimization and Lagrange Multiplier Methods, 1982; A. Castro et al., An
 * Unconstrained Convex Formulation of Compliant Contact, 2022 (of the relaxed law). */
#include "solver/newton_linear.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#define TINY 1e-5  /* compliance of a row without one, over its own weight */
#define JOINT 1e-9 /* the same for bilateral rows: equations, which nothing keeps from being stiff */

enum { PATIENCE = 60, HALVINGS = 4 };

/* Of many solves (brief) one that will end has most often lowered |F| to this part of the start's after so many
 * iterations: rounds of rigid heaps that did not went on for ten in 9 of 10 cases, at twice the price of others. */
enum { TRIAL = 4 };
static const double promising = 0.3;

typedef struct state {
  const fx_system *s;
  fx_newton_linear *linear;
  double *R;      /* compliance of every row, none is zero */
  double *offset; /* R times the impulses that rows without compliance remember */
  double *v, *trial, *dv, *F;
  double *a, *r, *D;
  double *bound; /* of friction, by contact, in steps of the convex problem */
  bool convex;
} state;

/* ---- the law of one contact ---- */

static bool cone_fits(const frix_contact *c) {
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR:
    case FRIX_CONE_PLANAR:
    case FRIX_CONE_FRICTIONLESS:
    case FRIX_CONE_LIMIT:
    case FRIX_CONE_ROLLING:
    case FRIX_CONE_BILATERAL: return true;
    default: return false;
  }
}

/* Friction of `count` rows in a disc: r, its slopes over a (count x count, into D with row length d at `first`), and
 * over the bound. */
static void rub(int32_t count, const double *a, double R, double bound, double *r, double *D, int32_t d,
                double *over_bound) {
  double size = 0;
  for (int32_t k = 0; k < count; k++) {
    r[k] = -a[k] / R;
    size += r[k] * r[k];
  }
  for (int32_t k = 0; k < count; k++) over_bound[k] = 0;
  size = sqrt(size);
  if (size <= bound) {
    for (int32_t k = 0; k < count; k++) D[k * d + k] = 1 / R;
    return;
  }
  double part = bound / size;
  for (int32_t k = 0; k < count; k++) over_bound[k] = r[k] / size;
  for (int32_t k = 0; k < count; k++)
    for (int32_t j = 0; j < count; j++) D[k * d + j] = part / R * ((k == j) - over_bound[k] * over_bound[j]);
  for (int32_t k = 0; k < count; k++) r[k] *= part;
}

/* One disc of friction: rows first .. first + count - 1 of the contact, radius mu r_N. */
static void add_disc(const state *t, int32_t i, int32_t first, int32_t count, double mu, double bound, double *D) {
  const fx_system *s = t->s;
  int32_t row = s->row[i], d = s->contact[i].dim;
  double over[2], slope = t->convex || !(t->r[row] > 0) ? 0 : mu * D[0];
  rub(count, t->a + row + first, t->R[row + first], mu * bound, t->r + row + first, D + first * d + first, d, over);
  for (int32_t k = 0; k < count; k++) D[(first + k) * d] = slope * over[k];
}

/* r and D of contact i from a. */
static void respond(const state *t, int32_t i) {
  const fx_system *s = t->s;
  const frix_contact *c = &s->contact[i];
  int32_t row = s->row[i], d = c->dim;
  double *D = t->D + s->diagonal[i];
  memset(D, 0, (size_t)(d * d) * sizeof *D);
  if (c->cone == FRIX_CONE_BILATERAL) {
    for (int32_t k = 0; k < d; k++) {
      t->r[row + k] = -t->a[row + k] / t->R[row + k];
      D[k * d + k] = 1 / t->R[row + k];
    }
    return;
  }
  t->r[row] = t->a[row] < 0 ? -t->a[row] / t->R[row] : 0;
  if (t->r[row] > 0) D[0] = 1 / t->R[row];
  for (int32_t k = 1; k < d; k++) t->r[row + k] = 0;
  double bound = t->convex ? t->bound[i] : t->r[row];
  bool frictionless = c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT;
  if (d == 1 || frictionless || !(bound > 0)) return;
  add_disc(t, i, 1, c->cone == FRIX_CONE_PLANAR ? 1 : 2, c->mu, bound, D);
  if (c->cone == FRIX_CONE_ROLLING) add_disc(t, i, 3, 2, c->mu_r, bound, D);
}

/* ---- the whole ---- */

/* a, r, D and F at v; returns |F| in the norm of the masses' diagonal. */
static double evaluate(const state *t, const double *v) {
  const fx_system *s = t->s;
  for (int32_t k = 0; k < s->row_count; k++) t->a[k] = s->w[k] - t->offset[k];
  fx_block_multiply_add(&s->Ht, v, t->a);
  for (int32_t i = 0; i < s->contact_count; i++) respond(t, i);
  memset(t->F, 0, (size_t)s->dof_count * sizeof *t->F);
  fx_block_transpose_multiply_add(&s->Ht, t->r, t->F);
  double sum = 0;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t first = s->dof[m], n = s->dof[m + 1] - first;
    const double *M = t->linear->M + s->M_offset[m];
    for (int32_t j = 0; j < n; j++) {
      double p = 0;
      for (int32_t k = 0; k < n; k++) p += M[j * n + k] * (v[first + k] - s->v_free[first + k]);
      double *F = &t->F[first + j];
      *F = p - *F;
      sum += *F * *F / M[j * n + j];
    }
  }
  return sqrt(sum);
}

static void go(const state *t, double length) {
  for (int32_t k = 0; k < t->s->dof_count; k++) t->trial[k] = t->v[k] + length * t->dv[k];
}

static void accept(state *t) {
  double *v = t->v;
  t->v = t->trial;
  t->trial = v;
}

/* dv = -(M + H D H')^-1 F */
static bool find_step(state *t) {
  if (!fx_newton_factor_slopes(t->linear, t->D)) return false;
  for (int32_t k = 0; k < t->s->dof_count; k++) t->dv[k] = -t->F[k];
  fx_newton_solve_motion(t->linear, t->dv);
  return true;
}

/* The step, or the part of it that lowers |F|; false where none does. */
static bool newton_step(state *t, double *norm) {
  if (!find_step(t)) return false;
  double length = 1;
  for (int k = 0; k <= HALVINGS; k++, length *= 0.5) {
    go(t, length);
    double fresh = evaluate(t, t->trial);
    if (!(fresh <= (1 - 0.1 * length) * *norm)) continue;
    *norm = fresh;
    accept(t);
    return true;
  }
  return false;
}

/* dE / dlength at the trial */
static double rise(const state *t) {
  evaluate(t, t->trial);
  double sum = 0;
  for (int32_t k = 0; k < t->s->dof_count; k++) sum += t->F[k] * t->dv[k];
  return sum;
}

/* The step of the convex problem whose bounds are those of now, as far as E falls. */
static bool convex_step(state *t, double *norm) {
  const fx_system *s = t->s;
  evaluate(t, t->v);
  for (int32_t i = 0; i < s->contact_count; i++) t->bound[i] = t->r[s->row[i]];
  t->convex = true;
  evaluate(t, t->v);
  bool good = find_step(t);
  double low = 0, high = 1;
  go(t, 1);
  if (good && rise(t) > 0)
    for (int k = 0; k < 10; k++) {
      double middle = 0.5 * (low + high);
      go(t, middle);
      *(rise(t) > 0 ? &high : &low) = middle;
    }
  if (good && low > 0) go(t, low);
  t->convex = false;
  if (good) accept(t);
  *norm = evaluate(t, t->v);
  return good;
}

/* ---- the method ---- */

static frix_status take(state *t, fx_call *call) {
  const fx_system *s = t->s = call->system;
  fx_arena *arena = call->arena;
  frix_status status = FRIX_OK;
  t->linear = call->linear ? call->linear : fx_newton_linear_create(arena, s, &status);
  if (!t->linear) return status;
  double **rows[] = {&t->R, &t->offset, &t->a, &t->r}, **dofs[] = {&t->v, &t->trial, &t->dv, &t->F};
  for (size_t k = 0; k < 4; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, s->row_count)) || !(*dofs[k] = FX_TAKE(arena, double, s->dof_count)))
      return FRIX_ERROR_MEMORY;
  t->D = FX_TAKE(arena, double, s->diagonal[s->contact_count]);
  t->bound = FX_TAKE(arena, double, s->contact_count);
  return t->D && t->bound ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Rows without compliance get one of their own; its offset is what they carry. */
static void add_compliance(state *t) {
  const fx_system *s = t->s;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      double own = s->R ? s->R[k] : 0, weight = s->W_diag[k] > 0 ? s->W_diag[k] : 1 / s->rho;
      t->R[k] = own > 0 ? own : (s->contact[i].cone == FRIX_CONE_BILATERAL ? JOINT : TINY) * weight;
    }
}

/* True where some row remembers. */
static bool remember(state *t, const double *r) {
  const fx_system *s = t->s;
  bool any = false;
  for (int32_t k = 0; k < s->row_count; k++) {
    if (s->R && s->R[k] > 0) continue;
    t->offset[k] = t->R[k] * r[k];
    any = true;
  }
  return any;
}

bool fx_spring_newton_fits(const fx_system *s) {
  if (!s->has_velocity) return false;
  for (int32_t i = 0; i < s->contact_count; i++)
    if (!cone_fits(&s->contact[i])) return false;
  return true;
}

static frix_status solve(fx_call *call) {
  state t = {0};
  const fx_system *s = call->system;
  if (!fx_spring_newton_fits(s)) return fx_solve_instead(call, &fx_solver_newton, "spring_newton", "no velocity form");
  frix_status status = take(&t, call);
  if (status != FRIX_OK) return status;
  add_compliance(&t);
  bool memory = remember(&t, call->r);
  fx_system_motion(s, call->r, t.v);
  double norm = evaluate(&t, t.v), first = norm;
  fx_monitor_begin(call->monitor, PATIENCE);
  for (int64_t k = 1;; k++) {
    bool good = newton_step(&t, &norm) || convex_step(&t, &norm);
    memcpy(call->r, t.r, (size_t)s->row_count * sizeof *t.r);
    if (fx_monitor_check(call->monitor, k, call->r)) return FRIX_OK;
    bool hopeless = call->brief && k >= TRIAL && norm > promising * first;
    if (!good || hopeless || isnan(norm)) {
      call->monitor->outcome = FRIX_OUTCOME_STALLED;
      return FRIX_OK;
    }
    if (memory) {
      remember(&t, t.r);
      norm = evaluate(&t, t.v);
    }
  }
}

const fx_solver fx_solver_spring_newton = {
    .info = {.name = "spring_newton",
             .summary = "Newton on the velocities, for contacts with compliance",
             .coulomb = true,
             .cones = 1u << FRIX_CONE_CIRCULAR | 1u << FRIX_CONE_PLANAR | 1u << FRIX_CONE_FRICTIONLESS |
                      1u << FRIX_CONE_LIMIT | 1u << FRIX_CONE_ROLLING | 1u << FRIX_CONE_BILATERAL},
    .prefers_velocity = true,
    .solve = solve,
};
