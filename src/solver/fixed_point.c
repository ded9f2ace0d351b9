/* fixed_point: successive convex relaxation. The exact law is the associated law with a velocity shift that its own
 * answer must reproduce:
 *
 *   r = argmin over K of 1/2 r'(W + R) r + (q + s e_N)'r,   s_i := shift of u_i(r)      (circular: s = mu |u_T|)
 *
 * For pyramids this is Gamma = mu Lambda(v) of M. Anitescu, G. D. Hart, A fixed-point iteration approach for multibody
 * dynamics with contact and small friction, 2004: a contraction where friction is small. The convex problem goes to any
 * convex method of the table; the shifts are accelerated by Anderson's method. With law associated the first problem is
 * the whole answer. */
#include "solver/anderson.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { INNER, ANDERSON, RELAXATION };

static const frix_option_info options[] = {
    {"inner", FRIX_OPTION_CHOICE, 0, 0, 3, "interior_point|apgd|admm|qp_active_set", "the convex method"},
    {"anderson", FRIX_OPTION_INTEGER, 10, 0, FX_ANDERSON_LARGEST, NULL, "differences used to accelerate; 0: plain"},
    {"relaxation", FRIX_OPTION_REAL, 1, 0.01, 1, NULL, "s := (1 - x) old + x new"},
};

static const char *const inner_name[] = {"interior_point", "apgd", "admm", "qp_active_set"};

typedef struct state {
  fx_call *call;
  const fx_system *s;
  const fx_solver *inner;
  int32_t inner_row;
  fx_system shifted; /* s with its own q and w */
  double *q, *w;
  double *S;         /* per row, as everywhere */
  double *x, *image; /* scaled shifts, one per contact: what went in, what came out */
  fx_anderson anderson;
} state;

static frix_status find_inner(state *t) {
  frix_context *context = t->call->arena->context;
  const char *name = inner_name[(int)t->call->option[INNER]];
  t->inner_row = 0;
  while ((t->inner = fx_solver_at(t->inner_row)) && strcmp(t->inner->info.name, name) != 0) t->inner_row++;
  if (!t->inner) return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "fixed_point.inner: this build has no %s", name);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    if (!(t->inner->info.cones & 1u << t->s->contact[i].cone))
      return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "fixed_point.inner: %s does not know %s contacts", name,
                     frix_cone_table((int32_t)t->s->contact[i].cone)->name);
  return FRIX_OK;
}

static frix_status take(state *t, fx_arena *arena) {
  const fx_system *s = t->s;
  t->shifted = *s;
  t->q = FX_TAKE(arena, double, s->row_count);
  t->w = FX_TAKE(arena, double, s->row_count);
  t->x = FX_TAKE(arena, double, s->contact_count);
  t->image = FX_TAKE(arena, double, s->contact_count);
  t->S = fx_scaling(arena, s);
  if (!t->q || !t->w || !t->x || !t->image || !t->S) return FRIX_ERROR_MEMORY;
  t->shifted.q = t->q;
  if (s->has_velocity) t->shifted.w = t->w;
  return fx_anderson_init(arena, s->contact_count, (int32_t)t->call->option[ANDERSON], &t->anderson);
}

/* image = S * shift of the velocity u */
static void shifts_of(const state *t, const double *u, double *image) {
  for (int32_t i = 0; i < t->s->contact_count; i++)
    image[i] = t->S[t->s->row[i]] * fx_cone_shift(&t->s->contact[i], u + t->s->row[i]);
}

/* r := solution of the associated law with shifts x, from r; its own residual in *residual. */
static frix_status solve_inner(state *t, double tolerance, double *residual, int64_t *iterations) {
  fx_call *call = t->call;
  const fx_system *s = t->s;
  memcpy(t->q, s->q, (size_t)s->row_count * sizeof *t->q);
  if (s->has_velocity) memcpy(t->w, s->w, (size_t)s->row_count * sizeof *t->w);
  for (int32_t i = 0; i < s->contact_count; i++) {
    double shift = t->x[i] / t->S[s->row[i]];
    t->q[s->row[i]] += shift;
    t->w[s->row[i]] += shift;
  }
  fx_limits limits = *call->monitor->limits;
  limits.tolerance = tolerance;
  limits.max_iterations = 0;
  limits.progress = NULL;
  double option[FX_MAX_OPTIONS];
  fx_options_values(call->options, t->inner_row, option);
  fx_arena arena;
  fx_arena_init(&arena, call->arena->context);
  fx_monitor monitor;
  fx_call inner = *call;
  inner.system = &t->shifted;
  inner.law = FRIX_LAW_ASSOCIATED;
  inner.option = option;
  inner.arena = &arena;
  inner.monitor = &monitor;
  frix_status status = fx_monitor_init(&monitor, &arena, &t->shifted, FRIX_LAW_ASSOCIATED, &limits, false);
  if (status == FRIX_OK) {
    fx_monitor_begin(&monitor, INT64_MAX);
    if (!fx_monitor_check(&monitor, 0, call->r)) status = t->inner->solve(&inner);
    *residual = monitor.best;
    *iterations = monitor.before + monitor.iteration;
    if (monitor.best < INFINITY) memcpy(call->r, monitor.best_r, (size_t)s->row_count * sizeof *call->r);
  }
  fx_arena_free(&arena);
  return status;
}

/* What the iteration has shown of its own contraction: | s_new - s | and its mean ratio over the last ten steps. */
typedef struct rate {
  double first, last, window[10];
  int64_t count;
} rate;

static void observe(rate *r, double error) {
  if (r->count == 0) r->first = error;
  r->window[r->count++ % 10] = error;
  r->last = error;
}

static double contraction(const rate *r) {
  int64_t steps = r->count > 10 ? 9 : r->count - 1;
  if (steps < 1) return 0;
  double start = r->count > 10 ? r->window[r->count % 10] : r->window[0];
  if (!(start > 0) || !(r->last > 0)) return 0;
  double ratio = r->last / start, low = 0, high = 1e6; /* the steps-th root, by bisection */
  for (int k = 0; k < 100; k++) {
    double middle = 0.5 * (low + high), power = 1;
    for (int64_t e = 0; e < steps; e++) power *= middle;
    if (power < ratio)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

static void advance(state *t, double error, double *best) {
  if (error < *best) *best = error;
  if (error > 2 * *best) { /* left the region where the differences meant something */
    fx_anderson_reset(&t->anderson);
    *best = error;
  }
  double a = t->call->option[RELAXATION];
  for (int32_t i = 0; i < t->s->contact_count; i++) t->image[i] = (1 - a) * t->x[i] + a * t->image[i];
  fx_anderson_step(&t->anderson, t->x, t->image, t->x);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    if (!(t->x[i] > 0)) t->x[i] = 0;
}

static frix_status iterate(state *t) {
  fx_call *call = t->call;
  fx_monitor *monitor = call->monitor;
  double tolerance = monitor->limits->tolerance, inner_tolerance = 0.05 * tolerance, best = INFINITY, residual = 0,
         mark = INFINITY;
  rate seen = {0};
  int64_t inner_total = 0, k = 1;
  fx_monitor_begin(monitor, 2000);
  /* A start worth the name brings its own shifts. */
  if (fx_dot(t->s->row_count, call->r, call->r) > 0) {
    if (fx_monitor_check(monitor, 0, call->r)) return FRIX_OK;
    shifts_of(t, monitor->u, t->x);
    inner_tolerance = clamp(0.1 * monitor->residual, 0.05 * tolerance, 1e-3);
  }
  for (;; k++) {
    int64_t inner_iterations = 0;
    frix_status status = solve_inner(t, inner_tolerance, &residual, &inner_iterations);
    if (status != FRIX_OK) return status;
    inner_total += inner_iterations;
    if (fx_monitor_check(monitor, k, call->r)) break;
    if (k % 100 == 0) {
      if (!(monitor->best < 0.9 * mark)) {
        monitor->outcome = FRIX_OUTCOME_STALLED; /* no contraction */
        break;
      }
      mark = monitor->best;
    }
    shifts_of(t, monitor->u, t->image);
    double error = 0;
    for (int32_t i = 0; i < t->s->contact_count; i++) error += (t->image[i] - t->x[i]) * (t->image[i] - t->x[i]);
    observe(&seen, sqrt(error));
    advance(t, sqrt(error), &best);
    inner_tolerance = clamp(0.03 * monitor->residual, 0.05 * tolerance, 1e-3);
  }
  fx_log(call->arena->context, FRIX_LOG_INFO,
         "fixed_point: %d contacts: %lld convex problems by %s (%lld iterations), |s' - s| %.2e after %.2e at first, "
         "contraction %.3f, residual %.2e",
         t->s->contact_count, (long long)k, t->inner->info.name, (long long)inner_total, seen.last, seen.first,
         contraction(&seen), monitor->best);
  return FRIX_OK;
}

static frix_status solve(fx_call *call) {
  state t = {.call = call, .s = call->system};
  frix_status status = find_inner(&t);
  if (status != FRIX_OK) return status;
  if (call->law == FRIX_LAW_ASSOCIATED) {
    double option[FX_MAX_OPTIONS];
    fx_options_values(call->options, t.inner_row, option);
    fx_call inner = *call;
    inner.option = option;
    status = t.inner->solve(&inner);
    call->finisher = t.inner->info.name;
    return status;
  }
  status = take(&t, call->arena);
  return status == FRIX_OK ? iterate(&t) : status;
}

const fx_solver fx_solver_fixed_point = {
    .info = {.name = "fixed_point",
             .summary = "fixed point on the velocity shift around a convex method, Anderson-accelerated",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
