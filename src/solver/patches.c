/* Patches: the worst contacts of a pile and their neighbours, solved on their own.
 *
 * Held between stick and slip, a few contacts stop the sweeps over thousands. Among few contacts factors are cheap, and
 * methods may try hundreds of them. What a patch does to the contacts around it, sweeps spread afterwards. */
#include "solver/patches.h"

#include <math.h>
#include <string.h>

static const double least_left = 0.05, most_left = 0.4; /* of the residual outside of the contacts chosen */
static const double most = 0.25;                        /* of all contacts in patches */
static const double tighter = 0.1;                      /* tolerance of a patch over that of the whole */
static const double lenient = 0.5;                      /* of the tolerance: single contacts with larger errors */
enum { ITERATIONS = 2000 };                             /* of all methods in a patch */

typedef struct state {
  const fx_system *s;
  fx_call *call;
  double *u, *v;
  double *held;      /* impulses, 0 in patches */
  double *error;     /* of each contact, squared */
  uint8_t *in;       /* whether a contact is in a patch */
  uint8_t *touched;  /* whether a body is */
  int32_t count;     /* contacts in patches */
  fx_system outside; /* the system under the impulses of all contacts that are not */
} state;

/* Errors of all contacts; returns their sum. */
static double measure(state *t) {
  const fx_system *s = t->s;
  double total = 0;
  fx_system_velocity(s, t->call->r, t->u, t->v);
  for (int32_t i = 0; i < s->contact_count; i++) {
    fx_residual_sums sums = {{0, 0}, {0, 0}, {0, 0}};
    fx_residual_add(s, t->call->law, i, t->call->r + s->row[i], t->u + s->row[i], &sums);
    t->error[i] = sums.map[0] + sums.map[1];
    total += t->error[i];
  }
  return total;
}

/* Where the whole is good and single contacts are not, their errors by themselves: the sum over all says nothing of
 * them. */
static bool choose_rows(state *t) {
  const fx_system *s = t->s;
  fx_monitor *m = t->call->monitor;
  double tolerance = m->limits->tolerance;
  if (!(fx_residual(s, t->call->law, t->call->r, t->u) <= tolerance)) return false;
  fx_row_set all = {.count = s->contact_count};
  fx_row_scales_find(s, &all, t->call->r, &m->scales);
  if (!s->limit) fx_row_limits(s, &all, t->call->r, m->scales.limit);
  fx_row_measure by = fx_row_measure_of(s, &m->scales);
  bool found = false;
  for (int32_t i = 0; i < s->contact_count; i++) {
    fx_row_set one = {&i, 1};
    fx_row_errors errors = {.where = -1};
    fx_row_errors_find(s, &one, t->call->law, &by, t->call->r, t->u, &errors);
    t->in[i] = !(errors.worst <= lenient * tolerance);
    found |= !(errors.worst <= tolerance);
  }
  return found;
}

/* The largest errors, as many as leave at most this sum to the others. */
static void choose(state *t, double left) {
  double limit = 0, sum = INFINITY;
  for (int32_t i = 0; i < t->s->contact_count; i++) limit = fmax(limit, t->error[i]);
  while (sum > left && limit > 0) {
    limit *= 0.7;
    sum = 0;
    for (int32_t i = 0; i < t->s->contact_count; i++) sum += t->error[i] < limit ? t->error[i] : 0;
  }
  for (int32_t i = 0; i < t->s->contact_count; i++) t->in[i] = limit > 0 && t->error[i] >= limit;
}

/* All contacts of the bodies that patches touch. */
static void grow(state *t) {
  const fx_block_matrix *H = &t->s->Ht;
  memset(t->touched, 0, (size_t)t->s->mover_count);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    for (int32_t k = H->start[i]; k < H->start[i + 1] && t->in[i]; k++) t->touched[H->index[k]] = 1;
  t->count = 0;
  for (int32_t i = 0; i < t->s->contact_count; i++) {
    for (int32_t k = H->start[i]; k < H->start[i + 1]; k++) t->in[i] |= t->touched[H->index[k]];
    t->count += t->in[i];
  }
}

/* Patches that hold nearly all of the residual, or as much of it as keeps them small. */
static bool find(state *t, int32_t depth) {
  double total = measure(t);
  if (choose_rows(t)) {
    for (int32_t k = 0; k < depth; k++) grow(t);
    return t->count > 0 && t->count <= most * t->s->contact_count;
  }
  for (double left = least_left; left <= most_left; left *= 1.5) {
    choose(t, left * left * total);
    for (int32_t k = 0; k < depth; k++) grow(t);
    if (t->count <= most * t->s->contact_count) return t->count > 0;
  }
  return false;
}

/* The system of the patches: velocities outside them come from all other impulses. */
static void hold_others(state *t) {
  const fx_system *s = t->s;
  memcpy(t->held, t->call->r, (size_t)s->row_count * sizeof *t->held);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1] && t->in[i]; k++) t->held[k] = 0;
  fx_system_velocity(s, t->held, t->u, t->v);
  t->outside = *s;
  t->outside.q = t->u;
  t->outside.v_free = t->v;
}

static frix_status solve_patch(const state *t, const fx_islands *patches, int32_t k, const fx_solver *solver,
                               fx_arena *arena) {
  fx_system patch;
  frix_status status = fx_system_extract(arena, &t->outside, patches, k, &patch);
  if (status != FRIX_OK) return status;
  fx_limits limits = *t->call->monitor->limits;
  limits.tolerance *= tighter;
  limits.max_iterations = ITERATIONS;
  limits.progress = NULL;
  fx_monitor monitor;
  double *r = FX_TAKE_RAW(arena, double, patch.row_count), *start = FX_TAKE_RAW(arena, double, patch.row_count);
  status = fx_monitor_init(&monitor, arena, &patch, t->call->law, &limits, false);
  if (!r || !start || status != FRIX_OK) return FRIX_ERROR_MEMORY;
  fx_islands_gather(t->s, patches, k, t->call->r, r);
  memcpy(start, r, (size_t)patch.row_count * sizeof *r);
  fx_call call = {.system = &patch,
                  .law = t->call->law,
                  .option = t->call->option,
                  .options = t->call->options,
                  .arena = arena,
                  .monitor = &monitor,
                  .r = r,
                  .start = start};
  fx_monitor_begin(&monitor, INT64_MAX);
  if (!fx_monitor_check(&monitor, 0, r)) status = solver->solve(&call);
  if (status == FRIX_OK) fx_islands_scatter(t->s, patches, k, monitor.best_r, t->call->r);
  return status;
}

static frix_status take(state *t, fx_arena *arena) {
  const fx_system *s = t->s;
  t->u = FX_TAKE_RAW(arena, double, s->row_count);
  t->v = FX_TAKE_RAW(arena, double, s->dof_count);
  t->held = FX_TAKE_RAW(arena, double, s->row_count);
  t->error = FX_TAKE_RAW(arena, double, s->contact_count);
  t->in = FX_TAKE_RAW(arena, uint8_t, s->contact_count);
  t->touched = FX_TAKE_RAW(arena, uint8_t, s->mover_count);
  return t->u && t->v && t->held && t->error && t->in && t->touched ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_patches_solve(fx_call *call, const fx_solver *solver, int32_t depth, int32_t *patch_count) {
  state t = {.s = call->system, .call = call};
  fx_islands patches = {0};
  frix_status status = take(&t, call->arena);
  *patch_count = 0;
  if (status != FRIX_OK || !find(&t, depth)) return status;
  hold_others(&t);
  status = fx_islands_find(call->arena, t.s, t.in, &patches);
  for (int32_t k = 0; k < patches.count && status == FRIX_OK; k++) {
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    status = solve_patch(&t, &patches, k, solver, &arena);
    fx_arena_free(&arena);
  }
  *patch_count = patches.count;
  fx_log(call->arena->context, FRIX_LOG_INFO, "patches: %d of %d contacts, in %d patches", t.count, t.s->contact_count,
         patches.count);
  return status;
}
