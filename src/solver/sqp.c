/* sqp: the exact law as one nonconvex minimisation, by sequential quadratic programming. A comparison, for small
 * problems.
 *
 *   min over r, lambda of  r . u + sum lambda_i r_N,i      u = (W + R) r + q
 *   u_N >= 0,   lambda >= shift(u),   r in K               u = 0 at joints
 *
 * Its least value is 0, reached exactly where r obeys Coulomb's law; any other point where a descent method comes to
 * rest is a stationary point that is no solution, and the certificate says so (outcome stalled). Only lambda r_N is not
 * convex. Reference: D. M. Kaufman, S. Sueda, D. L. James, D. K. Pai 2008, and Kaufman's thesis, equation (5.32), there
 * with the friction impulse as a sum of directions; here r_T itself, which eliminates them. The iteration is NLopt's
 * SLSQP (D. Kraft 1988), which is dense; NLopt allocates its own memory. This is the only file that knows NLopt. */
#ifdef FRIX_HAVE_NLOPT

#include "base/threads.h"
#include "problem/cone.h"
#include "problem/cone_slope.h"
#include "solver/conic.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

enum { MAX_ROWS };

static const frix_option_info options[] = {
    {"max_rows", FRIX_OPTION_INTEGER, 300, 1, 20000, NULL, "larger islands are left alone: the method is dense, cubic"},
};

/* A constraint c(x) <= 0 of one contact. */
typedef enum row_kind { NORMAL_VELOCITY, CONE_PART, SHIFT, CORNER } row_kind;

typedef struct row {
  row_kind kind;
  int32_t contact;
  int32_t which; /* part of the cone, or corner of the pyramid */
} row;

typedef struct state {
  fx_call *call;
  fx_system s; /* with W */
  int32_t n, variables, row_count, joint_row_count;
  double *S;
  fx_block_matrix A; /* scaled W + R */
  double *q;         /* scaled */
  int32_t *lambda;   /* variable of each contact's lambda, -1 without friction */
  row *rows;
  double *u, *at, *work; /* velocity at `at`, the point it belongs to, workspace */
  bool fresh;
  nlopt_opt optimizer;
  int64_t evaluations;
} state;

/* u at x, kept until x changes. */
static void update(state *t, const double *x) {
  size_t bytes = (size_t)t->n * sizeof *x;
  if (t->fresh && memcmp(x, t->at, bytes) == 0) return;
  memcpy(t->at, x, bytes);
  memcpy(t->u, t->q, bytes);
  fx_block_multiply_add(&t->A, x, t->u);
  t->fresh = true;
}

/* ---- the functions NLopt calls ---- */

/* r . u + sum lambda r_N; gradient 2 A r + q for symmetric A. The monitor sees every point. */
static double objective(unsigned count, const double *x, double *gradient, void *user) {
  state *t = user;
  (void)count;
  update(t, x);
  for (int32_t k = 0; k < t->n; k++) t->call->r[k] = t->S[k] * x[k];
  fx_project_all(&t->s, t->call->r);
  if (fx_monitor_check(t->call->monitor, ++t->evaluations, t->call->r)) nlopt_force_stop(t->optimizer);
  double value = fx_dot(t->n, x, t->u);
  for (int32_t i = 0; i < t->s.contact_count; i++)
    if (t->lambda[i] >= 0) value += x[t->lambda[i]] * x[t->s.row[i]];
  if (!gradient) return value;
  memcpy(gradient, t->u, (size_t)t->n * sizeof *gradient);
  fx_block_transpose_multiply_add(&t->A, x, gradient);
  for (int32_t i = 0; i < t->s.contact_count; i++) {
    if (t->lambda[i] < 0) continue;
    gradient[t->lambda[i]] = x[t->s.row[i]];
    gradient[t->s.row[i]] += x[t->lambda[i]];
  }
  return value;
}

/* gradient of one constraint += A' of a combination of the velocities of contact i */
static void add_velocity_gradient(const state *t, int32_t i, const double *combination, double *gradient) {
  for (int32_t k = t->A.start[i]; k < t->A.start[i + 1]; k++) {
    const double *block = fx_block(&t->A, k);
    int32_t cols = fx_block_cols(&t->A, k);
    double *to = gradient + t->s.row[t->A.index[k]];
    for (int32_t r = 0; r < t->s.contact[i].dim; r++)
      for (int32_t c = 0; c < cols; c++) to[c] += combination[r] * block[r * cols + c];
  }
}

/* |E_1 r| - E_0 r for a second-order part, -E_0 r for a line. */
static double cone_value(const state *t, const row *w, const double *x, double *gradient) {
  const frix_contact *contact = &t->s.contact[w->contact];
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM], s[3] = {0}, length = 0;
  int32_t entries, first = t->s.row[w->contact], d = contact->dim;
  fx_conic_parts(contact, part, E, &entries);
  const fx_conic_part *p = &part[w->which];
  for (int32_t a = 0; a < p->dim; a++)
    for (int32_t k = 0; k < d; k++) s[a] += E[(p->first + a) * d + k] * x[first + k];
  for (int32_t a = 1; a < p->dim; a++) length += s[a] * s[a];
  length = sqrt(length);
  for (int32_t k = 0; gradient && k < d; k++) {
    gradient[first + k] = -E[p->first * d + k];
    for (int32_t a = 1; a < p->dim && length > 0; a++) gradient[first + k] += E[(p->first + a) * d + k] * s[a] / length;
  }
  return length - s[0];
}

/* shift(u) - lambda, or, for a pyramid, one corner of it. */
static double shift_value(const state *t, const row *w, const double *x, double *gradient) {
  int32_t i = w->contact;
  const frix_contact *contact = &t->s.contact[i];
  const double *u = t->u + t->s.row[i];
  double slope[FRIX_MAX_DIM] = {0}, value;
  if (w->kind == CORNER) {
    double d[2];
    fx_polygon_corner(w->which, contact->facets, d);
    slope[1] = -contact->mu * d[0];
    slope[2] = -contact->mu * d[1];
    value = slope[1] * u[1] + slope[2] * u[2];
  } else {
    value = fx_cone_shift(contact, u);
    fx_cone_shift_slope(contact, u, slope);
  }
  if (gradient) {
    add_velocity_gradient(t, i, slope, gradient);
    gradient[t->lambda[i]] = -1;
  }
  return value - x[t->lambda[i]];
}

static void inequalities(unsigned count, double *result, unsigned variables, const double *x, double *gradient,
                         void *user) {
  state *t = user;
  update(t, x);
  if (gradient) memset(gradient, 0, (size_t)count * variables * sizeof *gradient);
  for (unsigned k = 0; k < count; k++) {
    const row *w = &t->rows[k];
    double *g = gradient ? gradient + (size_t)k * variables : NULL;
    if (w->kind == NORMAL_VELOCITY) {
      const double minus[FRIX_MAX_DIM] = {-1};
      result[k] = -t->u[t->s.row[w->contact]];
      if (g) add_velocity_gradient(t, w->contact, minus, g);
    } else {
      result[k] = w->kind == CONE_PART ? cone_value(t, w, x, g) : shift_value(t, w, x, g);
    }
  }
}

/* u = 0 at joints, and nothing along directions a cone holds at zero. */
static void equalities(unsigned count, double *result, unsigned variables, const double *x, double *gradient,
                       void *user) {
  state *t = user;
  unsigned at = 0;
  update(t, x);
  if (gradient) memset(gradient, 0, (size_t)count * variables * sizeof *gradient);
  for (int32_t i = 0; i < t->s.contact_count; i++)
    for (int32_t k = 0; t->s.contact[i].cone == FRIX_CONE_BILATERAL && k < t->s.contact[i].dim; k++, at++) {
      double one[FRIX_MAX_DIM] = {0};
      one[k] = 1;
      result[at] = t->u[t->s.row[i] + k];
      if (gradient) add_velocity_gradient(t, i, one, gradient + (size_t)at * variables);
    }
}

/* ---- setup ---- */

static bool slips(const frix_contact *c) {
  return c->dim > 1 && c->cone != FRIX_CONE_BILATERAL && c->cone != FRIX_CONE_FRICTIONLESS &&
         (c->mu > 0 || (c->cone == FRIX_CONE_ELLIPTIC && c->mu2 > 0) || (c->cone == FRIX_CONE_ROLLING && c->mu_r > 0));
}

/* Lists the constraints of contact i; with rows NULL it only counts. lower and upper bound what a cone holds at zero.
 */
static int32_t list_rows(const state *t, int32_t i, row *rows, double *lower, double *upper) {
  const frix_contact *c = &t->s.contact[i];
  if (c->cone == FRIX_CONE_BILATERAL) return 0;
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM];
  int32_t count = 0, entries, parts = fx_conic_parts(c, part, E, &entries), corners = 0;
  if (rows) rows[count] = (row){NORMAL_VELOCITY, i, 0};
  count++;
  for (int32_t k = 0; k < parts; k++) {
    if (part[k].held) {
      for (int32_t e = 0; lower && e < c->dim; e++)
        if (E[part[k].first * c->dim + e] == 1) lower[t->s.row[i] + e] = upper[t->s.row[i] + e] = 0;
      continue;
    }
    if (!slips(c)) continue; /* r_N >= 0 is a bound */
    if (rows) rows[count] = (row){CONE_PART, i, k};
    count++;
  }
  if (slips(c)) corners = c->cone == FRIX_CONE_PYRAMID ? c->facets : 1;
  for (int32_t k = 0; k < corners; k++) {
    if (rows) rows[count] = (row){c->cone == FRIX_CONE_PYRAMID ? CORNER : SHIFT, i, k};
    count++;
  }
  return count;
}

static frix_status take(state *t, fx_arena *arena, double **x, double **lower, double **upper, double **tolerance) {
  fx_system *s = &t->s;
  frix_status status = s->has_W ? FRIX_OK : fx_system_assemble(arena, s);
  if (status != FRIX_OK) return status;
  t->n = t->variables = s->row_count;
  t->lambda = FX_TAKE(arena, int32_t, s->contact_count);
  t->S = fx_scaling(arena, s);
  if (!t->lambda || !t->S) return FRIX_ERROR_MEMORY;
  if ((status = fx_scaled_operator(arena, s, t->S, &t->A)) != FRIX_OK) return status;
  for (int32_t i = 0; i < s->contact_count; i++) {
    t->lambda[i] = slips(&s->contact[i]) ? t->variables++ : -1;
    t->row_count += list_rows(t, i, NULL, NULL, NULL);
    if (s->contact[i].cone == FRIX_CONE_BILATERAL) t->joint_row_count += s->contact[i].dim;
  }
  t->rows = FX_TAKE(arena, row, t->row_count);
  t->q = FX_TAKE(arena, double, t->n);
  t->u = FX_TAKE(arena, double, t->n);
  t->at = FX_TAKE(arena, double, t->n);
  t->work = FX_TAKE(arena, double, s->dof_count);
  *x = FX_TAKE(arena, double, t->variables);
  *lower = FX_TAKE(arena, double, t->variables);
  *upper = FX_TAKE(arena, double, t->variables);
  *tolerance = FX_TAKE(arena, double, (size_t)t->row_count + (size_t)t->joint_row_count);
  if (!t->rows || !t->q || !t->u || !t->at || !t->work || !*x || !*lower || !*upper || !*tolerance)
    return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->n; k++) {
    t->q[k] = t->S[k] * s->q[k];
    (*x)[k] = t->call->r[k] / t->S[k];
    (*lower)[k] = -HUGE_VAL;
    (*upper)[k] = HUGE_VAL;
  }
  for (int32_t k = t->n; k < t->variables; k++) (*upper)[k] = HUGE_VAL; /* lambda >= 0 */
  for (int32_t i = 0, at = 0; i < s->contact_count; i++) {
    at += list_rows(t, i, t->rows + at, *lower, *upper);
    if (s->contact[i].cone != FRIX_CONE_BILATERAL) (*lower)[s->row[i]] = 0;
  }
  /* start: r in K, lambda at its bound */
  fx_project_all(s, *x);
  update(t, *x);
  for (int32_t i = 0; i < s->contact_count; i++)
    if (t->lambda[i] >= 0) (*x)[t->lambda[i]] = fx_cone_shift(&s->contact[i], t->u + s->row[i]);
  return FRIX_OK;
}

static frix_status minimise(state *t, double *x, const double *lower, const double *upper, double *tolerance) {
  fx_monitor *monitor = t->call->monitor;
  frix_context *context = t->call->arena->context;
  nlopt_opt opt = t->optimizer = nlopt_create(NLOPT_LD_SLSQP, (unsigned)t->variables);
  if (!opt) return fx_fail(context, FRIX_ERROR_MEMORY, "out of memory");
  for (int32_t k = 0; k < t->row_count + t->joint_row_count; k++) tolerance[k] = 1e-14;
  nlopt_set_min_objective(opt, objective, t);
  nlopt_set_lower_bounds(opt, lower);
  nlopt_set_upper_bounds(opt, upper);
  if (t->row_count) nlopt_add_inequality_mconstraint(opt, (unsigned)t->row_count, inequalities, t, tolerance);
  if (t->joint_row_count) nlopt_add_equality_mconstraint(opt, (unsigned)t->joint_row_count, equalities, t, tolerance);
  nlopt_set_xtol_rel(opt, 1e-15);
  if (monitor->limits->deadline > 0) {
    double left = monitor->limits->deadline - fx_seconds();
    nlopt_set_maxtime(opt, left > 1e-3 ? left : 1e-3);
  }
  double value = 0;
  nlopt_result result = nlopt_optimize(opt, x, &value);
  nlopt_destroy(opt);
  if (result == NLOPT_OUT_OF_MEMORY) return fx_fail(context, FRIX_ERROR_MEMORY, "out of memory");
  if (result == NLOPT_MAXTIME_REACHED) {
    monitor->outcome = FRIX_OUTCOME_TIME_LIMIT;
    monitor->finished = true;
  } else if (result != NLOPT_FORCED_STOP) {
    monitor->outcome = FRIX_OUTCOME_STALLED; /* at rest, and no solution */
  }
  fx_log(context, FRIX_LOG_INFO,
         "sqp: %d contacts: %s after %lld evaluations, objective %.3e (0 at a solution), residual %.2e%s",
         t->s.contact_count, nlopt_result_to_string(result), (long long)t->evaluations, value, monitor->best,
         result != NLOPT_FORCED_STOP && result != NLOPT_MAXTIME_REACHED ? ": at rest where the law does not hold" : "");
  return FRIX_OK;
}

static frix_status solve(fx_call *call) {
  fx_monitor_begin(call->monitor, 5000);
  if (call->system->row_count > call->option[MAX_ROWS]) {
    fx_log(call->arena->context, FRIX_LOG_INFO, "sqp: %d rows are more than sqp.max_rows = %.0f: left alone",
           call->system->row_count, call->option[MAX_ROWS]);
    call->monitor->outcome = FRIX_OUTCOME_STALLED;
    return FRIX_OK;
  }
  state t = {.call = call, .s = *call->system};
  double *x, *lower, *upper, *tolerance;
  frix_status status = take(&t, call->arena, &x, &lower, &upper, &tolerance);
  return status == FRIX_OK ? minimise(&t, x, lower, upper, tolerance) : status;
}

const fx_solver fx_solver_sqp = {
    .info = {.name = "sqp",
             .summary = "the law as one nonconvex minimisation, by NLopt's SLSQP: for comparison, small problems",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};

#else
typedef int fx_sqp_needs_nlopt; /* the row is absent from the table */
#endif
