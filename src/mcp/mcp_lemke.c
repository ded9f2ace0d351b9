/* lemke: complementary pivoting for affine problems.
 *
 *   x = base + s z,  s = 1 from a lower bound, -1 from an upper one:   w = s F(base + s z),   0 <= w _|_ z >= 0
 *   both bounds:   z _|_ F + y,   y _|_ (h - l) - z
 *
 * Free unknowns keep their rows as equations. The tableau is dense; the pivoting engine does the rest.
 * Reference: C. Lemke, Bimatrix equilibrium points and mathematical programming, 1965. */
#include "linalg/lemke_pivots.h"

#include "mcp/mcp_internal.h"

#include <math.h>
#include <string.h>

enum { PIVOTS, LARGEST, OPTION_COUNT };

static const frix_option_info options[OPTION_COUNT] = {
    [PIVOTS] = {"pivots", FRIX_OPTION_INTEGER, 0, 0, 1e9, NULL, "most pivots; 0: 5000 and fifty per unknown"},
    [LARGEST] = {"largest", FRIX_OPTION_INTEGER, 3000, 1, 40000, NULL,
                 "rows of the tableau beyond which it is not tried"},
};

typedef struct state {
  const frix_mcp *mcp;
  int32_t n, total; /* unknowns; rows with those of the second bounds */
  double *base, *sign, *q, *F, *J;
  bool *free_row;
  int32_t *second; /* row of y for an unknown with both bounds, -1 otherwise */
  fx_sparse M;
} state;

static void choose_signs(state *t) {
  t->total = t->n;
  for (int32_t i = 0; i < t->n; i++) {
    double low = t->mcp->data.lower[i], high = t->mcp->data.upper[i];
    bool has_low = low > -INFINITY, has_high = high < INFINITY;
    t->base[i] = has_low ? low : has_high ? high : 0;
    t->sign[i] = has_low || !has_high ? 1 : -1;
    t->free_row[i] = !has_low && !has_high;
    t->second[i] = has_low && has_high ? t->total++ : -1;
  }
}

/* M and q of the transformed problem from F and J at the base. */
static frix_status transform(state *t, fx_arena *arena) {
  const frix_mcp_data *data = &t->mcp->data;
  int64_t count = t->mcp->entry_count + 2 * (int64_t)(t->total - t->n), at = 0;
  int32_t *row = FX_TAKE(arena, int32_t, count), *col = FX_TAKE(arena, int32_t, count);
  double *x = FX_TAKE(arena, double, count);
  t->q = FX_TAKE(arena, double, t->total);
  if (!row || !col || !x || !t->q) return FRIX_ERROR_MEMORY;
  for (int32_t j = 0; j < t->n; j++)
    for (int32_t k = data->column[j]; k < data->column[j + 1]; k++, at++) {
      row[at] = data->row[k];
      col[at] = j;
      x[at] = t->sign[data->row[k]] * t->sign[j] * t->J[k];
    }
  for (int32_t i = 0; i < t->n; i++) {
    t->q[i] = t->sign[i] * t->F[i];
    if (t->second[i] < 0) continue;
    t->q[t->second[i]] = data->upper[i] - data->lower[i];
    row[at] = col[at + 1] = i;
    col[at] = row[at + 1] = t->second[i];
    x[at] = 1;
    x[at + 1] = -1;
    at += 2;
  }
  return fx_sparse_from_triplets(arena->context, t->total, t->total, (fx_triplets){count, row, col, x}, &t->M);
}

/* Asked now and then: time and the caller's patience. */
static bool stop(int64_t pivots, const double *z, void *user) {
  fx_mcp_call *call = user;
  (void)pivots;
  (void)z;
  return fx_mcp_expired(call->monitor);
}

static frix_status pivot(state *t, fx_mcp_call *call) {
  fx_lemke lemke;
  frix_status status = fx_lemke_take(call->arena, t->total, &lemke);
  if (status != FRIX_OK) return status;
  lemke.M = &t->M;
  lemke.q = t->q;
  lemke.free_row = t->free_row;
  lemke.pivot_limit = call->option[PIVOTS] > 0 ? (int64_t)call->option[PIVOTS] : 5000 + 50 * (int64_t)t->total;
  lemke.stop = stop;
  lemke.user = call;
  fx_lemke_end end = fx_lemke_run(&lemke);
  call->monitor->result->iterations += lemke.pivots;
  double *x = t->base;
  for (int32_t i = 0; i < t->n; i++) x[i] += t->sign[i] * lemke.z[i];
  fx_mcp_project(t->mcp, x);
  if (fx_mcp_function(call->monitor, x, t->F) && fx_mcp_check(call->monitor, x, t->F)) return FRIX_OK;
  fx_log(call->arena->context, FRIX_LOG_INFO, "lemke: %s after %lld pivots", fx_lemke_end_name(end),
         (long long)lemke.pivots);
  fx_mcp_stall(call->monitor);
  return FRIX_OK;
}

static frix_status solve(fx_mcp_call *call) {
  state t = {.mcp = call->mcp, .n = call->mcp->data.count};
  fx_arena *arena = call->arena;
  t.base = FX_TAKE(arena, double, t.n);
  t.sign = FX_TAKE(arena, double, t.n);
  t.F = FX_TAKE(arena, double, t.n);
  t.J = FX_TAKE(arena, double, call->mcp->entry_count);
  t.second = FX_TAKE(arena, int32_t, t.n);
  t.free_row = FX_TAKE(arena, bool, 2 * (int64_t)t.n);
  if (!t.base || !t.sign || !t.F || !t.J || !t.second || !t.free_row) return FRIX_ERROR_MEMORY;
  fx_mcp_begin(call->monitor, 1);
  choose_signs(&t);
  bool defined = fx_mcp_function(call->monitor, t.base, t.F) && fx_mcp_jacobian(call->monitor, t.base, t.J);
  if (!defined || t.total > call->option[LARGEST]) {
    fx_mcp_stall(call->monitor);
    return FRIX_OK;
  }
  frix_status status = transform(&t, arena);
  if (status == FRIX_OK) status = pivot(&t, call);
  fx_sparse_free(arena->context, &t.M);
  return status;
}

const fx_mcp_method fx_mcp_lemke = {
    .info = {.name = "lemke",
             .summary = "complementary pivoting on a dense tableau, linear problems",
             .linear_only = true,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve,
};
