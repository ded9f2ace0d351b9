/* box_trust_region: the complementarity problem as a bound-constrained minimisation, solved by a trust region in the
 * infinity norm with products only.
 *
 *   min 1/2 ( |F - z_l + z_h|^2 + ((x - l)'z_l + (h - x)'z_h)^2 )     l <= x <= h,  z_l >= 0,  z_h >= 0
 *
 * For x >= 0 and free rows this is 1/2 (|f - z|^2 + |g|^2 + (u'z)^2): zero exactly at solutions. A free unknown has no
 * slack, a bound has one. Where the Jacobian is row sufficient every stationary point is a solution. The model takes
 * the Gauss-Newton Hessian and the exact curvature of the product term; the box of a step is that of the problem cut
 * with |s|_inf <= radius. References: R. Andreani, A. Friedlander, M. Mello, S. Santos, 2003 (the reformulation); A.
 * Friedlander, J. M. Martinez, S. A. Santos, A new trust region algorithm for bound constrained minimization, 1994
 * (BOX-QUACAN). */
#include "mcp/box_quadratic.h"
#include "mcp/mcp_internal.h"

#include <math.h>
#include <string.h>

enum { RESTARTS, RADIUS, OPTION_COUNT };

static const frix_option_info options[OPTION_COUNT] = {
    {"restarts", FRIX_OPTION_INTEGER, 20, 0, 100000, NULL, "fresh starts after a stall"},
    {"radius", FRIX_OPTION_REAL, 1, 1e-6, 1e6, NULL, "first trust radius relative to max(1, |x|)"},
};

enum { RUN_LIMIT = 1000, LONGEST = 1000 };

typedef struct state {
  const frix_mcp *mcp;
  fx_mcp_monitor *monitor;
  int32_t n, low_count, high_count, total;
  int32_t *low_of, *high_of; /* unknown of slack k */
  double *y, *trial;         /* x, z_l, z_h */
  double *F, *trial_F, *J;
  double *r, *w;                 /* F - z_l + z_h; workspace of products */
  double product, trial_product; /* (x - l)'z_l + (h - x)'z_h */
  double *gradient, *low, *high, *diagonal;
  fx_box_quadratic quadratic;
} state;

/* ---- the objective */

/* Residual r and product term at y with F; returns the objective. */
static double objective(const state *t, const double *y, const double *F, double *r, double *product) {
  const frix_mcp_data *data = &t->mcp->data;
  const double *z_low = y + t->n, *z_high = z_low + t->low_count;
  double sum = 0, c = 0;
  memcpy(r, F, (size_t)t->n * sizeof *r);
  for (int32_t k = 0; k < t->low_count; k++) {
    int32_t i = t->low_of[k];
    r[i] -= z_low[k];
    c += (y[i] - data->lower[i]) * z_low[k];
  }
  for (int32_t k = 0; k < t->high_count; k++) {
    int32_t i = t->high_of[k];
    r[i] += z_high[k];
    c += (data->upper[i] - y[i]) * z_high[k];
  }
  for (int32_t i = 0; i < t->n; i++) sum += r[i] * r[i];
  *product = c;
  return 0.5 * (sum + c * c);
}

/* out = A'w + e p' with A = [J -I I], p the gradient of the product term. */
static bool transposed(state *t, const double *w, double e, double *out) {
  const frix_mcp_data *data = &t->mcp->data;
  const double *z_low = t->y + t->n, *z_high = z_low + t->low_count;
  double *out_low = out + t->n, *out_high = out_low + t->low_count;
  if (!fx_mcp_product(t->monitor, t->y, t->J, w, true, out)) return false;
  for (int32_t k = 0; k < t->low_count; k++) {
    int32_t i = t->low_of[k];
    out[i] += e * z_low[k];
    out_low[k] = -w[i] + e * (t->y[i] - data->lower[i]);
  }
  for (int32_t k = 0; k < t->high_count; k++) {
    int32_t i = t->high_of[k];
    out[i] -= e * z_high[k];
    out_high[k] = w[i] + e * (data->upper[i] - t->y[i]);
  }
  return true;
}

/* out = B d: Gauss-Newton plus the curvature c (dx'dz_l - dx'dz_h) of the product term. */
static bool hessian(const double *d, double *out, void *user) {
  state *t = user;
  const frix_mcp_data *data = &t->mcp->data;
  const double *y = t->y, *z_low = y + t->n, *z_high = z_low + t->low_count;
  const double *d_low = d + t->n, *d_high = d_low + t->low_count;
  if (t->monitor->result->products % 64 < 2 && fx_mcp_expired(t->monitor)) return false;
  if (!fx_mcp_product(t->monitor, y, t->J, d, false, t->w)) return false;
  double e = 0;
  for (int32_t k = 0; k < t->low_count; k++) {
    int32_t i = t->low_of[k];
    t->w[i] -= d_low[k];
    e += z_low[k] * d[i] + (y[i] - data->lower[i]) * d_low[k];
  }
  for (int32_t k = 0; k < t->high_count; k++) {
    int32_t i = t->high_of[k];
    t->w[i] += d_high[k];
    e += (data->upper[i] - y[i]) * d_high[k] - z_high[k] * d[i];
  }
  if (!transposed(t, t->w, e, out)) return false;
  for (int32_t k = 0; k < t->low_count; k++) {
    out[t->low_of[k]] += t->product * d_low[k];
    out[t->n + k] += t->product * d[t->low_of[k]];
  }
  for (int32_t k = 0; k < t->high_count; k++) {
    out[t->high_of[k]] -= t->product * d_high[k];
    out[t->n + t->low_count + k] -= t->product * d[t->high_of[k]];
  }
  return true;
}

/* Squared columns of the Gauss-Newton factor; ones where only products are known. */
static void scale(state *t) {
  const frix_mcp_data *data = &t->mcp->data;
  const double *z_low = t->y + t->n, *z_high = z_low + t->low_count;
  double largest = 0;
  for (int32_t j = 0; j < t->n; j++) {
    double sum = data->jacobian ? 0 : 1;
    for (int32_t k = data->jacobian ? data->column[j] : 0; data->jacobian && k < data->column[j + 1]; k++)
      sum += t->J[k] * t->J[k];
    t->diagonal[j] = sum;
  }
  for (int32_t k = 0; k < t->low_count; k++) {
    double away = t->y[t->low_of[k]] - data->lower[t->low_of[k]];
    t->diagonal[t->low_of[k]] += z_low[k] * z_low[k];
    t->diagonal[t->n + k] = 1 + away * away;
  }
  for (int32_t k = 0; k < t->high_count; k++) {
    double away = data->upper[t->high_of[k]] - t->y[t->high_of[k]];
    t->diagonal[t->high_of[k]] += z_high[k] * z_high[k];
    t->diagonal[t->n + t->low_count + k] = 1 + away * away;
  }
  for (int32_t j = 0; j < t->total; j++)
    if (t->diagonal[j] > largest) largest = t->diagonal[j];
  for (int32_t j = 0; j < t->total; j++)
    if (!(t->diagonal[j] > 1e-12 * largest)) t->diagonal[j] = largest > 0 ? 1e-12 * largest : 1;
}

/* ---- one run */

/* The box of a step: the problem's, within the radius. */
static void step_box(state *t, double radius) {
  const frix_mcp_data *data = &t->mcp->data;
  for (int32_t j = 0; j < t->total; j++) {
    double low = j < t->n ? data->lower[j] - t->y[j] : -t->y[j], high = j < t->n ? data->upper[j] - t->y[j] : INFINITY;
    t->low[j] = low > -radius ? low : -radius;
    t->high[j] = high < radius ? high : radius;
  }
}

static void clamp(const state *t, double *y) {
  fx_mcp_project(t->mcp, y);
  for (int32_t j = t->n; j < t->total; j++)
    if (y[j] < 0) y[j] = 0;
}

/* Slacks that fit F best: z = max(F, 0) and its mirror image. */
static void fit_slacks(state *t) {
  for (int32_t k = 0; k < t->low_count; k++) t->y[t->n + k] = t->F[t->low_of[k]] > 0 ? t->F[t->low_of[k]] : 0;
  for (int32_t k = 0; k < t->high_count; k++)
    t->y[t->n + t->low_count + k] = t->F[t->high_of[k]] < 0 ? -t->F[t->high_of[k]] : 0;
}

/* Relative size of the projected gradient, by which the quadratic solver knows how exact to be. */
static double stationarity(const state *t) {
  double sum = 0;
  for (int32_t j = 0; j < t->total; j++) {
    double low = j < t->n ? t->mcp->data.lower[j] : 0, high = j < t->n ? t->mcp->data.upper[j] : INFINITY;
    bool held = (t->y[j] <= low && t->gradient[j] > 0) || (t->y[j] >= high && t->gradient[j] < 0);
    if (!held) sum += t->gradient[j] * t->gradient[j] / t->diagonal[j];
  }
  return sqrt(sum);
}

/* Tries one step within the radius; returns reduction actual / predicted, NAN where F or a product is undefined. */
static double try_step(state *t, double value, double factor, double radius, double *next) {
  step_box(t, radius);
  int64_t limit = 4 * (int64_t)(t->total < LONGEST ? t->total : LONGEST) + 50;
  double predicted = fx_box_quadratic_solve(&t->quadratic, factor, limit, &t->monitor->result->inner_iterations);
  if (isnan(predicted) || !(predicted < 0)) return NAN;
  for (int32_t j = 0; j < t->total; j++) t->trial[j] = t->y[j] + t->quadratic.s[j];
  clamp(t, t->trial);
  if (!fx_mcp_function(t->monitor, t->trial, t->trial_F)) return -1;
  *next = objective(t, t->trial, t->trial_F, t->w, &t->trial_product);
  return (value - *next) / -predicted;
}

static double step_length(const state *t) {
  double longest = 0;
  for (int32_t j = 0; j < t->total; j++)
    if (fabs(t->quadratic.s[j]) > longest) longest = fabs(t->quadratic.s[j]);
  return longest;
}

/* Iterates from y until solved, stationary or out of budget; true: no restart may follow. */
static bool run(state *t, double first_radius) {
  if (!fx_mcp_function(t->monitor, t->y, t->F)) return false;
  fit_slacks(t);
  double value = objective(t, t->y, t->F, t->r, &t->product), radius = first_radius, mark = INFINITY, first = -1;
  for (int32_t k = 0; k < RUN_LIMIT; k++) {
    if (fx_mcp_check(t->monitor, t->y, t->F)) return true;
    if (!fx_mcp_jacobian(t->monitor, t->y, t->J) || !transposed(t, t->r, t->product, t->gradient)) return false;
    scale(t);
    double size = stationarity(t);
    if (first < 0) first = size;
    if (k % 100 == 99) { /* not halved in 100 steps: this run goes nowhere */
      if (!(value < 0.5 * mark)) return false;
      mark = value;
    }
    double factor = first > 0 ? 0.1 * sqrt(size / first) : 0.1, next = value, ratio;
    if (factor > 0.1) factor = 0.1;
    if (factor < 1e-8) factor = 1e-8;
    for (int32_t attempt = 0;; attempt++) {
      ratio = try_step(t, value, factor, radius, &next);
      if (isnan(ratio) || attempt > 60) return false;
      if (ratio >= 0.1) break;
      double length = step_length(t);
      radius = 0.25 * (length < radius ? length : radius);
      if (!(radius > 1e-14)) return false;
    }
    if (ratio >= 0.75 && step_length(t) >= 0.99 * radius) radius *= 4;
    memcpy(t->y, t->trial, (size_t)t->total * sizeof *t->y);
    memcpy(t->F, t->trial_F, (size_t)t->n * sizeof *t->F);
    value = objective(t, t->y, t->F, t->r, &t->product);
    if (radius < 1e-3) radius = 1e-3;
  }
  return false;
}

/* ---- the method */

static frix_status take(state *t, fx_arena *arena) {
  const frix_mcp_data *data = &t->mcp->data;
  t->low_of = FX_TAKE(arena, int32_t, t->n);
  t->high_of = FX_TAKE(arena, int32_t, t->n);
  if (!t->low_of || !t->high_of) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < t->n; i++) {
    if (data->lower[i] > -INFINITY) t->low_of[t->low_count++] = i;
    if (data->upper[i] < INFINITY) t->high_of[t->high_count++] = i;
  }
  t->total = t->n + t->low_count + t->high_count;
  double **whole[] = {&t->y, &t->trial, &t->gradient, &t->low, &t->high, &t->diagonal};
  double **rows[] = {&t->F, &t->trial_F, &t->r, &t->w};
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
    if (!(*whole[k] = FX_TAKE(arena, double, t->total))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, t->n))) return FRIX_ERROR_MEMORY;
  t->J = FX_TAKE(arena, double, t->mcp->entry_count);
  t->quadratic = (fx_box_quadratic){
      .gradient = t->gradient, .low = t->low, .high = t->high, .diagonal = t->diagonal, .product = hessian, .user = t};
  return t->J ? fx_box_quadratic_take(arena, t->total, &t->quadratic) : FRIX_ERROR_MEMORY;
}

static frix_status solve(fx_mcp_call *call) {
  state t = {.mcp = call->mcp, .monitor = call->monitor, .n = call->mcp->data.count};
  frix_status status = take(&t, call->arena);
  if (status != FRIX_OK) return status;
  double size = 1;
  for (int32_t i = 0; i < t.n; i++)
    if (fabs(call->x[i]) > size) size = fabs(call->x[i]);
  bool stop = false;
  fx_mcp_begin(call->monitor, 20000);
  for (int32_t k = 0; k <= (int32_t)call->option[RESTARTS] && !stop; k++) {
    if (k)
      fx_mcp_restart_point(call->mcp, call->x, k, t.y);
    else
      memcpy(t.y, call->x, (size_t)t.n * sizeof *t.y);
    call->monitor->result->restarts += k > 0;
    stop = run(&t, call->option[RADIUS] * size) || call->monitor->finished;
  }
  if (!stop) fx_mcp_stall(call->monitor);
  return FRIX_OK;
}

const fx_mcp_method fx_mcp_box_trust_region = {
    .info = {.name = "box_trust_region",
             .summary = "bound-constrained least squares, matrix-free trust region in the infinity norm",
             .matrix_free = true,
             .option = options,
             .option_count = OPTION_COUNT},
    .solve = solve,
};
