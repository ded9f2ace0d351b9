/* qp_active_set: the associated law on polyhedral cones as a strictly convex quadratic programme, by active sets.
 *
 *   min 1/2 (v - v_free)' M (v - v_free)   subject to   g_k . u >= 0,   u = H' v + w
 *   g_k = (1, mu d_k): edges of the cone K_i, so that r = sum lambda_k g_k;   joints: u = 0
 *
 * In velocity form x = v, rows a_k = H g_k move it by M^-1 H g_k. Where only W is at hand x = u, rows a_k = g_k move it
 * by W g_k: the dual, with the same steps. W may be singular: dependent rows replace each other in the working set.
 * Where the rows contradict each other (W and q rounded in a file) or W is not symmetric, proximal steps u_k + eps
 * (lambda_k - lambda_k^old) >= 0 on lambda always have a solution and end where the law holds as well as the data
 * allow. Reference: M. Anitescu, G. Hart 2004, (15), their LCP2; D. Goldfarb, A. Idnani 1983. */
#include "linalg/active_set.h"
#include "problem/cone.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { METHOD, SWEEPS, PROXIMAL, PENALTY };
enum { DUAL, PRIMAL };

static const frix_option_info options[] = {
    {"method", FRIX_OPTION_CHOICE, DUAL, 0, 1, "dual|primal", "Goldfarb-Idnani, or primal with penalty slacks"},
    {"sweeps", FRIX_OPTION_INTEGER, 400, 0, 1e6, NULL, "row-action sweeps that guess the active rows of a cold start"},
    {"proximal", FRIX_OPTION_REAL, 1e-6, 1e-12, 1, NULL, "softness of proximal steps, relative to the diagonal"},
    {"penalty", FRIX_OPTION_REAL, 5, 1, 1e6, NULL, "primal: price of slack over the largest impulse expected"},
};

typedef struct state {
  const fx_system *s;
  fx_call *call;
  int32_t rows, equalities; /* of the programme */
  int32_t *contact;         /* of each row */
  double *edge;             /* of each row: g_k, FRIX_MAX_DIM each */
  int32_t *start[2], *index[2];
  double *value[2]; /* A and Y */
  double *lower, *soft, *center;
  fx_active_set set;
} state;

/* ---- rows ---- */

static int32_t edges_of(const frix_contact *c) {
  if (c->cone == FRIX_CONE_BILATERAL) return c->dim;
  if (!(c->mu > 0)) return 1;
  return c->cone == FRIX_CONE_PLANAR ? 2 : c->cone == FRIX_CONE_PYRAMID ? c->facets : 1;
}

static void edge_of(const frix_contact *c, int32_t k, double *g) {
  if (c->cone == FRIX_CONE_BILATERAL) {
    g[k] = 1;
    return;
  }
  g[0] = 1;
  if (edges_of(c) == 1) return;
  if (c->cone == FRIX_CONE_PLANAR) {
    g[1] = k == 0 ? c->mu : -c->mu;
    return;
  }
  fx_polygon_corner(k, c->facets, g + 1);
  g[1] *= c->mu;
  g[2] *= c->mu;
}

/* Joints first: they are the equalities. */
static frix_status list_rows(fx_arena *arena, state *t) {
  const fx_system *s = t->s;
  int64_t total = 0;
  for (int32_t i = 0; i < s->contact_count; i++) total += edges_of(&s->contact[i]);
  if (total > INT32_MAX / 64) return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "too many rows");
  t->contact = FX_TAKE(arena, int32_t, total);
  t->edge = FX_TAKE(arena, double, (size_t)total *FRIX_MAX_DIM);
  if (!t->contact || !t->edge) return FRIX_ERROR_MEMORY;
  for (int joints = 1; joints >= 0; joints--) {
    for (int32_t i = 0; i < s->contact_count; i++) {
      if ((s->contact[i].cone == FRIX_CONE_BILATERAL) != (joints == 1)) continue;
      for (int32_t k = 0; k < edges_of(&s->contact[i]); k++) {
        edge_of(&s->contact[i], k, t->edge + (size_t)t->rows * FRIX_MAX_DIM);
        t->contact[t->rows++] = i;
      }
    }
    if (joints) t->equalities = t->rows;
  }
  return FRIX_OK;
}

/* Appends g' B to row k of side `side`, B a block of d rows and n columns that stands at column `first`. */
static void append(state *t, int side, int32_t k, int32_t *at, const double *g, int32_t d, int32_t n, const double *B,
                   int32_t first) {
  for (int32_t c = 0; c < n; c++) {
    double sum = 0;
    for (int32_t a = 0; a < d; a++) sum += g[a] * B[a * n + c];
    if (sum == 0) continue;
    t->index[side][*at] = first + c;
    t->value[side][(*at)++] = sum;
  }
  t->start[side][k + 1] = *at;
}

static void velocity_rows(state *t, int side, const fx_block_matrix *B) {
  for (int32_t k = 0, at = 0; k < t->rows; k++) {
    int32_t i = t->contact[k];
    t->start[side][k + 1] = at;
    for (int32_t b = B->start[i]; b < B->start[i + 1]; b++)
      append(t, side, k, &at, t->edge + (size_t)k * FRIX_MAX_DIM, t->s->contact[i].dim, fx_block_cols(B, b),
             fx_block(B, b), t->s->dof[B->index[b]]);
  }
}

/* Contacts that W couples with contact i, one way or the other, each once. */
static int32_t neighbours(const fx_system *s, const int32_t *first, const int32_t *list, int32_t i, int32_t *seen,
                          int32_t *out) {
  int32_t count = 0;
  for (int32_t e = s->W.start[i]; e < s->W.start[i + 1]; e++) {
    seen[s->W.index[e]] = i + 1;
    out[count++] = s->W.index[e];
  }
  for (int32_t e = first[i]; e < first[i + 1]; e++)
    if (seen[list[e]] != i + 1) out[count++] = list[e];
  return count;
}

/* Row a of (W_ji + W_ij') / 2 + R, times g. */
static double symmetric_product(const fx_system *s, int32_t j, int32_t i, int32_t a, const double *g) {
  int32_t d = s->contact[i].dim, n = s->contact[j].dim;
  const double *down = i == j ? s->D + s->diagonal[i] : fx_block_at(&s->W, j, i);
  const double *up = i == j ? down : fx_block_at(&s->W, i, j);
  double sum = 0;
  for (int32_t b = 0; b < d; b++) sum += ((down ? down[a * d + b] : 0) + (up ? up[b * n + a] : 0)) * g[b];
  return 0.5 * sum;
}

/* y_k = (W_s + R) g_k, W_s the symmetric part of W. */
static void impulse_rows(state *t, const int32_t *first, const int32_t *list, int32_t *seen, int32_t *near) {
  const fx_system *s = t->s;
  for (int32_t k = 0, at = 0; k < t->rows; k++) {
    int32_t i = t->contact[k];
    if (k == 0 || t->contact[k - 1] != i) near[s->contact_count] = neighbours(s, first, list, i, seen, near);
    for (int32_t e = 0; e < near[s->contact_count]; e++)
      for (int32_t a = 0; a < s->contact[near[e]].dim; a++) {
        double value = symmetric_product(s, near[e], i, a, t->edge + (size_t)k * FRIX_MAX_DIM);
        if (value == 0) continue;
        t->index[1][at] = s->row[near[e]] + a;
        t->value[1][at++] = value;
      }
    t->start[1][k + 1] = at;
  }
}

static void own_rows(state *t) {
  for (int32_t k = 0, at = 0; k < t->rows; k++) {
    const double *g = t->edge + (size_t)k * FRIX_MAX_DIM;
    int32_t i = t->contact[k];
    for (int32_t a = 0; a < t->s->contact[i].dim; a++)
      if (g[a] != 0) {
        t->index[0][at] = t->s->row[i] + a;
        t->value[0][at++] = g[a];
      }
    t->start[0][k + 1] = at;
  }
}

static frix_status take_side(fx_arena *arena, state *t, int side, int64_t entries) {
  if (entries > INT32_MAX) return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "too many entries in the rows");
  t->start[side] = FX_TAKE(arena, int32_t, (size_t)t->rows + 1);
  t->index[side] = FX_TAKE(arena, int32_t, entries);
  t->value[side] = FX_TAKE(arena, double, entries);
  return t->start[side] && t->index[side] && t->value[side] ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* x = v where velocities are at hand and no contact is compliant, else x = u. */
static frix_status build_rows(fx_arena *arena, state *t, bool by_velocity) {
  const fx_system *s = t->s;
  const fx_block_matrix *B = by_velocity ? &s->Ht : &s->W;
  int32_t *first = NULL, *list = NULL;
  frix_status status = by_velocity ? FRIX_OK : fx_block_columns(arena, B, &first, &list);
  if (status != FRIX_OK) return status;
  int64_t wide = 0;
  for (int32_t k = 0; k < t->rows; k++) {
    int32_t i = t->contact[k];
    for (int32_t b = B->start[i]; b < B->start[i + 1]; b++) wide += fx_block_cols(B, b);
    for (int32_t e = first ? first[i] : 0; first && e < first[i + 1]; e++) wide += s->contact[list[e]].dim;
  }
  int32_t *seen = FX_TAKE(arena, int32_t, s->contact_count),
          *near = FX_TAKE(arena, int32_t, (size_t)s->contact_count + 1);
  if (!seen || !near) return FRIX_ERROR_MEMORY;
  status = take_side(arena, t, 0, by_velocity ? wide : (int64_t)t->rows * FRIX_MAX_DIM);
  if (status == FRIX_OK) status = take_side(arena, t, 1, wide);
  t->lower = FX_TAKE(arena, double, t->rows);
  if (status != FRIX_OK || !t->lower) return FRIX_ERROR_MEMORY;
  if (by_velocity) {
    velocity_rows(t, 0, &s->Ht);
    const fx_block_matrix *Y = fx_system_response(s);
    if (!Y) return FRIX_ERROR_MEMORY;
    velocity_rows(t, 1, Y);
    for (int32_t k = 0; k < t->rows; k++)
      for (int32_t a = 0; a < s->contact[t->contact[k]].dim; a++)
        t->lower[k] -= t->edge[(size_t)k * FRIX_MAX_DIM + (size_t)a] * s->w[s->row[t->contact[k]] + a];
  } else {
    own_rows(t);
    impulse_rows(t, first, list, seen, near);
  }
  t->set.A = (fx_rows){t->start[0], t->index[0], t->value[0]};
  t->set.Y = (fx_rows){t->start[1], t->index[1], t->value[1]};
  return FRIX_OK;
}

/* ---- between r and lambda ---- */

static void read_impulses(const state *t, const double *lambda, double *r) {
  memset(r, 0, (size_t)t->s->row_count * sizeof *r);
  for (int32_t k = 0; k < t->rows; k++)
    for (int32_t a = 0; a < t->s->contact[t->contact[k]].dim; a++)
      r[t->s->row[t->contact[k]] + a] += lambda[k] * t->edge[(size_t)k * FRIX_MAX_DIM + (size_t)a];
}

/* lambda of the edges next to r, for a warm start; a guess need not be exact. */
static void guess_lambda(const state *t, const double *r, double *lambda) {
  for (int32_t k = 0; k < t->rows; k++) {
    int32_t i = t->contact[k], count = edges_of(&t->s->contact[i]);
    const frix_contact *c = &t->s->contact[i];
    const double *own = r + t->s->row[i], *g = t->edge + (size_t)k * FRIX_MAX_DIM;
    if (c->cone == FRIX_CONE_BILATERAL || count == 1) {
      for (int32_t a = 0; a < c->dim; a++) lambda[k] += g[a] * own[a];
      continue;
    }
    if (!(own[0] > 0)) continue;
    double along = 0, square = 0;
    for (int32_t a = 1; a < c->dim; a++) {
      along += g[a] * own[a];
      square += g[a] * g[a];
    }
    /* exact for planar contacts: (r_N + r_T / mu) / 2 on one edge, (r_N - r_T / mu) / 2 on the other */
    lambda[k] = (own[0] + (c->dim - 1) * along / square) / count;
    if (lambda[k] < 0) lambda[k] = 0;
  }
}

static bool is_zero(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

/* ---- the run ---- */

static bool stop(int64_t iteration, const double *lambda, void *user) {
  state *t = user;
  fx_monitor *monitor = t->call->monitor;
  monitor->mark_iteration = iteration; /* the dual method comes nearer by leaps: no standstill */
  read_impulses(t, lambda, t->call->r);
  return fx_monitor_check(monitor, iteration, t->call->r);
}

/* x0 for the skew part of W, which the programme does not see: u(r) - (W_s + R) r at the lambda at hand. */
static void correct(state *t, double *x0) {
  fx_system_velocity(t->s, t->call->r, x0, t->call->monitor->v);
  for (int32_t k = 0; k < t->rows; k++)
    for (int32_t e = t->start[1][k]; e < t->start[1][k + 1]; e++)
      x0[t->index[1][e]] -= t->set.lambda[k] * t->value[1][e];
}

/* Proximal steps from the lambda at hand until the certificate is content or nothing improves. */
static fx_qp_end approach(state *t, double *x0, int64_t *spent) {
  fx_active_set *set = &t->set;
  double softness = t->call->option[PROXIMAL], best = INFINITY;
  fx_qp_end end = FX_QP_STALLED;
  set->soft = t->soft;
  set->center = t->center;
  for (int32_t step = 0, idle = 0; step < 200 && idle < 10; step++) {
    fx_active_set_measure(set); /* for the diagonal */
    for (int32_t k = 0; k < t->rows; k++) {
      t->soft[k] = softness * (set->diagonal[k] - t->soft[k]);
      t->center[k] = set->lambda[k];
    }
    read_impulses(t, set->lambda, t->call->r);
    if (x0) correct(t, x0);
    set->limit = t->call->monitor->stage_limit - *spent;
    end = fx_active_set_dual(set);
    *spent += set->iterations;
    if (end == FX_QP_STOPPED || stop(*spent, set->lambda, t)) return FX_QP_STOPPED;
    if (end != FX_QP_SOLVED) return end;
    idle = t->call->monitor->residual < 0.9 * best ? 0 : idle + 1;
    if (t->call->monitor->residual < best) best = t->call->monitor->residual;
  }
  return FX_QP_STALLED;
}

/* The primal method with penalty slacks, one for each contact: from the motion that belongs to lambda. */
static frix_status run_primal(state *t, fx_qp_end *end) {
  fx_active_set *set = &t->set;
  fx_elastic elastic;
  frix_status status = fx_elastic_take(t->call->arena, set, t->s->contact_count, t->contact, &elastic);
  if (status != FRIX_OK) return status;
  double price = 0;
  fx_active_set_measure(set);
  memcpy(set->x, set->x0, (size_t)set->n * sizeof *set->x);
  for (int32_t k = set->equality_count; k < t->rows; k++) {
    double lift = set->diagonal[k] > 0 ? -fx_active_set_slack(set, k) / set->diagonal[k] : 0;
    price = fmax(price, fmax(4 * lift, set->lambda[k]));
  }
  for (int32_t k = 0; k < t->rows; k++)
    for (int32_t e = t->start[1][k]; e < t->start[1][k + 1]; e++)
      set->x[t->index[1][e]] += set->lambda[k] * t->value[1][e];
  *end = fx_elastic_run(&elastic, set, t->call->option[PENALTY] * price);
  return FRIX_OK;
}

static frix_status prepare(state *t, bool by_velocity, double **x0) {
  fx_arena *arena = t->call->arena;
  const fx_system *s = t->s;
  frix_status status = list_rows(arena, t);
  if (status != FRIX_OK) return status;
  int32_t unknowns = by_velocity ? s->dof_count : s->row_count;
  if ((status = fx_active_set_take(arena, unknowns, t->rows, 2 * unknowns + 64, &t->set)) != FRIX_OK) return status;
  if ((status = build_rows(arena, t, by_velocity)) != FRIX_OK) return status;
  t->soft = FX_TAKE(arena, double, t->rows);
  t->center = FX_TAKE(arena, double, t->rows);
  *x0 = by_velocity ? NULL : FX_TAKE(arena, double, unknowns);
  if (!t->soft || !t->center || (!by_velocity && !*x0)) return FRIX_ERROR_MEMORY;
  if (*x0) memcpy(*x0, s->q, (size_t)unknowns * sizeof **x0);
  t->set.equality_count = t->equalities;
  t->set.x0 = by_velocity ? s->v_free : *x0;
  t->set.lower = t->lower;
  t->set.stop = stop;
  t->set.user = t;
  return FRIX_OK;
}

static frix_status solve(fx_call *call) {
  fx_system system = *call->system;
  state t = {.s = &system, .call = call};
  frix_status status = FRIX_OK;
  bool by_velocity = system.has_velocity && !system.R;
  double *x0;
  if (!by_velocity && !system.has_W) status = fx_system_assemble(call->arena, &system);
  if (status == FRIX_OK) status = prepare(&t, by_velocity, &x0);
  if (status != FRIX_OK) return status;
  fx_monitor_begin(call->monitor, 100 * (int64_t)t.rows + 1000);
  t.set.limit = call->monitor->stage_limit;
  bool cold = is_zero(call->r, system.row_count), primal = call->option[METHOD] == PRIMAL;
  if (!cold)
    guess_lambda(&t, call->r, t.set.lambda);
  else if (!primal)
    fx_active_set_sweep(&t.set, (int32_t)call->option[SWEEPS], 1.5);

  fx_qp_end end = FX_QP_STALLED;
  if (!primal)
    end = fx_active_set_dual(&t.set);
  else if ((status = run_primal(&t, &end)) != FRIX_OK)
    return status;
  int64_t spent = t.set.iterations;
  fx_log(call->arena->context, FRIX_LOG_INFO, "qp_active_set: %s after %lld changes, %d of %d rows active",
         fx_qp_end_name(end), (long long)spent, t.set.count, t.rows);
  if (end == FX_QP_STOPPED || stop(spent, t.set.lambda, &t)) return FRIX_OK;
  if (end != FX_QP_LIMIT) end = approach(&t, x0, &spent);
  if (end == FX_QP_STOPPED) return FRIX_OK;
  call->monitor->outcome = end == FX_QP_LIMIT ? FRIX_OUTCOME_MAX_ITERATIONS : FRIX_OUTCOME_STALLED;
  return FRIX_OK;
}

const fx_solver fx_solver_qp_active_set = {
    .info = {.name = "qp_active_set",
             .summary = "Goldfarb-Idnani active sets on the convex quadratic programme of the associated law",
             .associated = true,
             .cones = 1u << FRIX_CONE_FRICTIONLESS | 1u << FRIX_CONE_PYRAMID | 1u << FRIX_CONE_PLANAR |
                      1u << FRIX_CONE_LIMIT | 1u << FRIX_CONE_BILATERAL,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .solve = solve,
};
