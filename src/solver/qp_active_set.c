/* qp_active_set: the associated law on polyhedral cones as a strictly convex quadratic programme, by active sets.
 *
 *   min 1/2 (v - v_free)' M (v - v_free)   subject to   g_k . u >= 0,   u = H' v + w
 *   g_k = (1, mu d_k): edges of the cone K_i, so that r = sum lambda_k g_k;   joints: u = 0
 *
 * In velocity form x = v, rows a_k = H g_k move it by M^-1 H g_k. Where only W is at hand x = u, rows a_k = g_k move it by
 * W g_k: the dual, with the same steps. W may be singular: dependent rows replace each other in the working set. Where the
 * rows contradict each other (W and q rounded in a file) or W is not symmetric, proximal steps
 *   u_k + eps (lambda_k - lambda_k^old) >= 0
 * on lambda always have a solution and end where the law holds as well as the data allow.
 * Reference: M. Anitescu, G. Hart 2004, (15), their LCP2; D. Goldfarb, A. Idnani 1983. */
#include "linalg/active_set.h"
#include "problem/cone.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { METHOD, SWEEPS, PROXIMAL, PENALTY };
enum { DUAL, PRIMAL };

static const frix_option_info options[] = {
    {"method", FRIX_OPTION_CHOICE, DUAL, 0, 1, "dual|primal", "Goldfarb-Idnani, or primal with penalty slacks"},
    {"sweeps", FRIX_OPTION_INTEGER, 200, 0, 1e6, NULL, "row-action sweeps that guess the active rows of a cold start"},
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
  t->edge = FX_TAKE(arena, double, (size_t)total * FRIX_MAX_DIM);
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

/* y_k = (W + R) g_k: column i of W, which need not be its row. */
static void impulse_rows(state *t, const int32_t *first, const int32_t *list) {
  const fx_system *s = t->s;
  for (int32_t k = 0, at = 0; k < t->rows; k++) {
    int32_t i = t->contact[k], d = s->contact[i].dim;
    const double *g = t->edge + (size_t)k * FRIX_MAX_DIM;
    for (int32_t e = first[i]; e < first[i + 1]; e++) {
      int32_t j = list[e], n = s->contact[j].dim;
      const double *B = j == i ? s->D + s->diagonal[i] : fx_block_at(&s->W, j, i);
      for (int32_t a = 0; a < n; a++) {
        double sum = 0;
        for (int32_t b = 0; b < d; b++) sum += B[a * d + b] * g[b];
        if (sum == 0) continue;
        t->index[1][at] = s->row[j] + a;
        t->value[1][at++] = sum;
      }
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
    if (by_velocity)
      for (int32_t b = B->start[i]; b < B->start[i + 1]; b++) wide += fx_block_cols(B, b);
    else
      for (int32_t e = first[i]; e < first[i + 1]; e++) wide += s->contact[list[e]].dim;
  }
  status = take_side(arena, t, 0, by_velocity ? wide : (int64_t)t->rows * FRIX_MAX_DIM);
  if (status == FRIX_OK) status = take_side(arena, t, 1, wide);
  t->lower = FX_TAKE(arena, double, t->rows);
  if (status != FRIX_OK || !t->lower) return FRIX_ERROR_MEMORY;
  if (by_velocity) {
    velocity_rows(t, 0, &s->Ht);
    velocity_rows(t, 1, &s->Yt);
    for (int32_t k = 0; k < t->rows; k++)
      for (int32_t a = 0; a < s->contact[t->contact[k]].dim; a++)
        t->lower[k] -= t->edge[(size_t)k * FRIX_MAX_DIM + (size_t)a] * s->w[s->row[t->contact[k]] + a];
  } else {
    own_rows(t);
    impulse_rows(t, first, list);
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

static frix_status solve(fx_call *call) {
  fx_system system = *call->system;
  state t = {.s = &system, .call = call};
  frix_status status;
  bool by_velocity = system.has_velocity && !system.R;
  if (!by_velocity && !system.has_W && (status = fx_system_assemble(call->arena, &system)) != FRIX_OK) return status;
  if ((status = list_rows(call->arena, &t)) != FRIX_OK) return status;
  int32_t unknowns = by_velocity ? system.dof_count : system.row_count;
  if ((status = fx_active_set_take(call->arena, unknowns, t.rows, unknowns + 1, &t.set)) != FRIX_OK) return status;
  if ((status = build_rows(call->arena, &t, by_velocity)) != FRIX_OK) return status;
  t.set.equality_count = t.equalities;
  t.set.x0 = by_velocity ? system.v_free : system.q;
  t.set.lower = t.lower;
  t.set.stop = stop;
  t.set.user = &t;
  fx_monitor_begin(call->monitor, 100 * (int64_t)t.rows + 1000);
  t.set.limit = call->monitor->stage_limit;
  if (is_zero(call->r, system.row_count))
    fx_active_set_sweep(&t.set, (int32_t)call->option[SWEEPS], 1.5);
  else
    guess_lambda(&t, call->r, t.set.lambda);
  fx_qp_end end = fx_active_set_dual(&t.set);
  fx_log(call->arena->context, FRIX_LOG_INFO, "qp_active_set: %s, %lld changes, %d of %d rows active",
         fx_qp_end_name(end), (long long)t.set.iterations, t.set.count, t.rows);
  if (end == FX_QP_STOPPED || stop(t.set.iterations, t.set.lambda, &t)) return FRIX_OK;
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
    .solve = solve,
};
