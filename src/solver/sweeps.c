/* sweeps: vectorised block Gauss-Seidel with momentum, for large piles.
 *
 *   z_k+1 = S(y_k),   y_k = z_k + beta_k (z_k - z_k-1),   beta = min(cap, (theta_k - 1) / theta_k+1),
 *   theta_k+1 = (1 + sqrt(1 + 4 theta_k^2)) / 2,   theta := 1 and beta := 0 where (y_k - z_k+1) . (z_k+1 - z_k) > 0
 *
 * S is one sweep over all contacts (sweeps_kernel.h). Each round ends in a sweep without momentum: it damps what
 * momentum stirs up (a sweep is not a symmetric map), and its step |z' - z| / |z| measures the residual (about 0.45 of
 * it). Where that step grew over a round the cap comes down, else it recovers. Sweeps run in single precision, and in
 * double where the tolerance asks for more than single precision holds. With compliance (R > 0) the problem is strongly
 * monotone, and Anderson mixing of plain sweeps (sweeps_blend.h) takes the place of momentum; single precision then
 * goes all the way, relative to a base that is judged in double precision (sweeps_base.h). Reference: Y. Nesterov 1983;
 * B. O'Donoghue, E. Candes 2015 (restart); docs/methods/sweeps.md. */
#include "solver/sweeps_base.h"
#include "solver/sweeps_blend.h"

#include "base/threads.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { MOMENTUM, ROUND, SINGLE, BLEND };

static const frix_option_info options[] = {
    [MOMENTUM] = {"momentum", FRIX_OPTION_REAL, 0.95, 0, 0.99, NULL, "largest momentum; 0: plain sweeps"},
    [ROUND] = {"round", FRIX_OPTION_INTEGER, 15, 2, 1000, NULL, "sweeps from one plain sweep to the next"},
    [SINGLE] = {"single", FRIX_OPTION_BOOLEAN, 1, 0, 1, NULL, "begin in single precision"},
    [BLEND] = {"blend", FRIX_OPTION_BOOLEAN, 1, 0, 1, NULL, "Anderson mixing instead of momentum where compliant"},
};

/* Contacts up to which the history of mixing is worth its memory, 400 bytes per contact in double precision. */
enum { MOST_BLENDED = 100000 };

/* Mixed sweeps within which the step falls to 0.7, unless they go round in circles: friction that slides is no
 * gradient, and where it couples back strongly no sweep is a contraction. */
enum { PATIENCE = 100 };

/* Mixed sweeps from one check to the next: a check of the whole and of its single contacts costs about as much. */
enum { WAIT = 8 };

enum { LEAST_BODIES = 512 }; /* worth a part of their own, where their changes are summed */

static const double single_limit = 4e-6; /* residual down to which single precision is trusted to converge */
static const double base_gain = 1e-3;    /* of the residual, relative to that of the base: then the base moves */

/* Error of the worst contact over the residual of the whole, until a check tells it: sweeps that ended at a residual of
 * the tolerance were in vain in nearly every step of 1,000 spheres (750 of 800; the ratio was 1.4 to 6.7 in eight of
 * ten of these, 3.2 in the middle). */
static const double usual_worst = 3;

typedef struct state {
  fx_call *call;
  fx_pile pile;
  fx_sweep_target target;
  frix_status status;
  bool full, double_needed, stuck;
  bool mixes, blended; /* mixing may be used, and is */
  int64_t singles;     /* sweeps in single precision */
  fx_blend blend;
  bool blend_full;                   /* precision of its arrays */
  fx_threads team;                   /* of sweeps in segments */
  bool has_base;                     /* single precision goes on from a base */
  fx_base base;                      /* in use where the pile has one */
  double base_residual, base_motion; /* residual of the base, and |d|^2 */
  double theta, beta, cap;
  double step, last_step; /* of plain sweeps, relative */
  double ratio;           /* residual / step, as measured */
  bool by_row;            /* it is that of the worst contact */
  int64_t sweep, round, next_check, earliest;
  double sweep_seconds, sweep_time; /* under a deadline: of one sweep, and when the last count began */
  double length, rate;              /* of the last round: its sweeps, and the ratio of its step to the one before */
  double best_step, mark_step;      /* for telling when single precision gives no more */
  int64_t mark_round;
} state;

/* Islands that are no piles. */
static frix_status scalar_path(fx_call *call) {
  return fx_solve_instead(call, &fx_solver_nsgs, "sweeps", "not all of a kind the kernels know");
}

/* ---- sweeping ---- */

static void sweep_with_momentum(state *t) {
  fx_sweep_sums sums = fx_sweep_by_two(&t->pile, t->full, t->target, t->beta, &t->team);
  t->sweep++;
  double theta = 0.5 * (1 + sqrt(1 + 4 * t->theta * t->theta)), beta = (t->theta - 1) / theta;
  t->theta = sums.uphill > 0 ? 1 : theta;
  t->beta = sums.uphill > 0 ? 0 : fmin(t->cap, beta);
}

static bool is_based(const state *t) { return !t->full && t->pile.single.base; }

/* What a plain sweep says of the step. */
static void measure_step(state *t, fx_sweep_sums sums) {
  t->sweep++;
  double size = is_based(t) ? t->base.size : sums.size;
  t->step = size > 0 ? sqrt(sums.step / size) : sums.step > 0 ? 1 : 0;
  t->rate = t->last_step > 0 && t->last_step < INFINITY ? t->step / t->last_step : 1;
  t->last_step = t->step;
  if (t->step < t->best_step) t->best_step = t->step;
}

/* A plain sweep adjusts the cap by what the round has done to its step. */
static void plain_sweep(state *t) {
  double last = t->last_step;
  measure_step(t, fx_sweep_by_two(&t->pile, t->full, t->target, 0, &t->team));
  t->cap = t->step > last ? 0.9 * t->cap : fmin(t->call->option[MOMENTUM], t->cap + 0.01);
}

/* Under a deadline: is there no time for another sweep, a refresh, the plain sweep that ends a round, and the check? */
static bool is_late(state *t) {
  const fx_monitor *monitor = t->call->monitor;
  if (!(monitor->limits->deadline > 0)) return false;
  double now = fx_seconds();
  if (t->sweep_time > 0) t->sweep_seconds = now - t->sweep_time;
  t->sweep_time = now;
  return now + 3 * t->sweep_seconds + 2 * monitor->check_cost >= monitor->limits->deadline;
}

/* Changes of the motion and its size, component by component, of one of the parts that threads take. */
typedef struct changes {
  const fx_pile *pile;
  bool full;
  double change[FX_PARTS][FX_RECORD], size[FX_PARTS][FX_RECORD];
} changes;

static inline void add_change(double now, double last, double *change, double *size) {
  *change += (now - last) * (now - last);
  *size += now * now;
}

static void add_changes(int32_t part, int32_t first, int32_t end, void *user) {
  changes *x = user;
  double *sum = x->change[part], *size = x->size[part];
  const fx_pile_data *data = x->full ? &x->pile->full : &x->pile->single;
  for (size_t at = (size_t)first * FX_RECORD; at < (size_t)end * FX_RECORD; at += FX_RECORD)
    for (size_t k = 0; k < FX_RECORD; k++)
      if (x->full)
        add_change(((double *)data->d)[at + k], ((double *)data->d_last)[at + k], &sum[k], &size[k]);
      else
        add_change((double)((float *)data->d)[at + k], (double)((float *)data->d_last)[at + k], &sum[k], &size[k]);
}

/* How far the motion still has to go, relative to all that the impulses have made of it: what the last plain sweep
 * changed, summed up as a geometric series whose rate is that of the plain sweeps of the last two rounds. */
static double velocity_error(const state *t) {
  changes x = {.pile = &t->pile, .full = t->full};
  int32_t parts = fx_parallel_range(t->team, t->pile.body_count, LEAST_BODIES, add_changes, &x);
  double change = 0, size = 0;
  for (int32_t part = 0; part < parts; part++)
    for (int k = 0; k < FX_RECORD; k++) {
      change += x.change[part][k];
      size += x.size[part][k];
    }
  if (is_based(t)) size = t->base_motion / (t->base.unit * t->base.unit);
  return size > 0 ? sqrt(change / size) * t->length / (1 - fmin(t->rate, 0.95)) : 0;
}

static void blended_sweep(state *t) {
  t->round++;
  measure_step(t, fx_blend_sweep(&t->blend, &t->pile, t->full, t->target, &t->team));
  t->length = 1;
}

/* Rounds are short at first, since a good warm start is done after a few sweeps. With mixing every sweep is plain, and
 * a round of its own. */
static void run_round(state *t) {
  if (t->blended) {
    blended_sweep(t);
    return;
  }
  int64_t length = 4 + 2 * t->round, left = t->call->monitor->stage_limit - t->sweep;
  if (length > (int64_t)t->call->option[ROUND]) length = (int64_t)t->call->option[ROUND];
  if (length > left) length = left;
  t->sweep_time = 0;
  for (int64_t k = 0; k < length - 1 && !is_late(t); k++) sweep_with_momentum(t);
  if (t->round++ % 4 == 3) fx_refresh_by_two(&t->pile, t->full, t->target, &t->team); /* no drift by rounding */
  plain_sweep(t);
  t->length = (double)length;
}

/* Root mean square of z. */
static double mean_size(const fx_call *call) {
  double sum = 0;
  for (int32_t k = 0; k < call->system->row_count; k++) sum += call->r[k] * call->r[k];
  return sqrt(sum / call->system->row_count) / call->system->rho;
}

static void forget_steps(state *t) {
  t->rate = 1;
  t->last_step = t->best_step = t->mark_step = INFINITY;
  t->mark_round = t->round;
}

static frix_status begin_mixing(state *t) {
  bool full = t->full;
  frix_status status = FRIX_OK;
  if (!t->blend.x || t->blend_full != full) status = fx_blend_take(t->call->arena, &t->pile, full, &t->blend);
  t->blend_full = full;
  if (status == FRIX_OK) fx_blend_begin(&t->blend, &t->pile, full, mean_size(t->call));
  return status;
}

/* From the impulses of the call, with the fields as they are. */
static frix_status restart(state *t) {
  bool full = t->full;
  t->blended = t->mixes && (full || !t->has_base); /* towards a base momentum is faster */
  fx_pile_load(&t->pile, full, t->call->r);
  fx_refresh_by_two(&t->pile, full, t->target, &t->team);
  t->theta = 1;
  t->beta = 0;
  t->cap = t->call->option[MOMENTUM];
  forget_steps(t);
  return t->blended ? begin_mixing(t) : FRIX_OK;
}

static frix_status begin(state *t, bool full) {
  t->full = full;
  if (full && !t->pile.wide) fx_pile_pack_full(&t->pile);
  return restart(t);
}

/* The base moves to the impulses of the call, which the monitor judged last. */
static frix_status move_base(state *t) {
  const fx_monitor *monitor = t->call->monitor;
  t->base_residual = monitor->residual;
  fx_base_move(&t->base, &t->pile, monitor->residual, t->call->r, monitor->u);
  forget_steps(t);
  t->blended = true;
  return begin_mixing(t);
}

/* The system has another q: on from the same impulses. */
static frix_status take_shift(state *t) {
  t->call->shifted = false;
  if (is_based(t)) {
    fx_monitor_compare(t->call->monitor, t->call->r);
    return move_base(t);
  }
  fx_pile_shift(&t->pile, t->full);
  t->step = INFINITY; /* that of the last sweep was towards another answer */
  if (t->blended) return restart(t);
  forget_steps(t); /* few rows have changed: momentum goes on */
  return FRIX_OK;
}

/* The pile has more contacts: on from the same impulses, which the monitor judged last. */
static frix_status take_more(state *t) {
  if (is_based(t)) return move_base(t);
  t->step = INFINITY;
  return restart(t);
}

/* Single precision has done its part: the residual is at its limit, or the step is small and has stopped falling. */
static bool single_is_done(state *t) {
  if (t->ratio * t->step <= (is_based(t) ? base_gain * t->base_residual : single_limit)) return true;
  bool runs = t->blended && t->blend.runs; /* away from where steps grow */
  if (runs || t->best_step < 0.7 * t->mark_step) {
    t->mark_step = runs ? t->step : t->best_step;
    t->mark_round = t->round;
    t->best_step = t->mark_step;
  }
  t->stuck = t->blended && t->round - t->mark_round >= PATIENCE;
  return t->stuck || (!t->blended && t->step < 1e-3 && t->round - t->mark_round >= 30);
}

/* ---- judging ---- */

/* Residual at which the next check is worth its price: that of the goal, or where also the worst contact is expected to
 * be within the tolerance. Once a check has failed by single contacts, `ratio` is that of the worst of them. */
static double aim_of(const state *t) {
  const fx_limits *limits = t->call->monitor->limits;
  if (t->call->goal > limits->tolerance) return t->call->goal;
  bool judged_by_row = t->blended && !limits->rows_later && !t->by_row;
  return judged_by_row ? limits->tolerance / usual_worst : limits->tolerance;
}

/* A check costs as much as several sweeps: it is made when the step says the answer is there, when somebody waits for
 * the time or the progress, and now and then. */
static bool check_is_due(state *t) {
  const fx_limits *limits = t->call->monitor->limits;
  if (t->sweep >= t->call->monitor->stage_limit) return true;
  if (t->ratio * t->step <= aim_of(t) && t->sweep >= t->earliest) return true;
  if (t->sweep >= t->next_check) return true;
  if (is_late(t)) return true;
  return limits->cancel && limits->cancel(limits->user);
}

static void store(state *t) {
  if (is_based(t))
    fx_base_store(&t->base, &t->pile, t->call->r);
  else
    fx_pile_store(&t->pile, t->full, t->call->r);
}

static bool check(state *t) {
  fx_monitor *monitor = t->call->monitor;
  store(t);
  bool stop = fx_monitor_check(monitor, t->sweep, t->call->r);
  if (monitor->residual == monitor->best) monitor->velocity_error = velocity_error(t);
  t->next_check = t->sweep + t->sweep / 2 + 60;
  t->earliest = t->sweep + (t->blended ? WAIT : 0);
  bool by_row = t->by_row = monitor->row > monitor->limits->tolerance; /* single contacts are what is missing */
  double error = by_row ? monitor->row : monitor->residual;
  if (t->step > 0 && error < INFINITY) t->ratio = fmin(fmax(1.01 * error / t->step, 0.2), by_row ? 1e4 : 20);
  if (stop) return true;
  if (t->call->widen && t->call->widen(t->call)) {
    t->call->outgrown = t->full || !fx_pile_grow(&t->pile, t->call->swept);
    if (!t->call->outgrown) t->status = take_more(t);
    return t->call->outgrown;
  }
  if (!(monitor->residual <= t->call->goal)) return false;
  stop = !t->call->reached(t->call);
  if (!stop && t->call->shifted) t->status = take_shift(t);
  return stop;
}

static double motion_size(const fx_pile *p) {
  double sum = 0;
  const float *d = p->single.d;
  for (size_t k = 0; k < (size_t)p->body_count * FX_RECORD; k++) sum += (double)d[k] * (double)d[k];
  return sum;
}

/* Mixing goes round in circles: momentum, whose plain sweeps damp what it stirs up, goes on. */
static frix_status unmix(state *t) {
  t->stuck = t->mixes = t->has_base = false;
  t->pile.single.base = NULL;
  return begin(t, true);
}

/* Single precision has given what it has: it goes on from a base at the answer so far, or where that gained nothing,
 * double precision takes over. True in *stop where the answer is good. */
static frix_status go_on(state *t, bool *stop) {
  fx_monitor *monitor = t->call->monitor;
  *stop = monitor->iteration != t->sweep && check(t);
  if (*stop) return FRIX_OK;
  if (t->stuck && monitor->residual > single_limit) return unmix(t);
  bool gained = !is_based(t) || monitor->residual <= 0.5 * t->base_residual;
  if (!t->has_base || !gained || !(monitor->residual < INFINITY)) {
    store(t);
    t->pile.single.base = NULL;
    return begin(t, true);
  }
  if (!is_based(t)) t->base_motion = motion_size(&t->pile);
  return move_base(t);
}

/* Rounds until the monitor says stop. */
static void iterate(state *t) {
  for (bool stop = false; t->status == FRIX_OK && !stop;) {
    run_round(t);
    if (!t->full) t->singles = t->sweep;
    stop = check_is_due(t) && check(t);
    if (!stop && !t->full && t->double_needed && single_is_done(t)) t->status = go_on(t, &stop);
  }
}

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  if (!fx_pile_fits(s)) return scalar_path(call);
  state t = {.call = call, .ratio = 0.45, .next_check = 60};
  bool single = call->option[SINGLE] != 0, double_needed = !single || call->monitor->limits->tolerance < single_limit;
  frix_status status = fx_pile_build(call->arena, s, call->swept, double_needed, &t.pile);
  if (status == FRIX_ERROR_UNSUPPORTED) return scalar_path(call);
  if (status != FRIX_OK) return status;
  t.target = fx_sweep_best_target();
  single &= !t.pile.wide;

  fx_monitor_begin(call->monitor, 100000);
  t.mixes = call->option[BLEND] != 0 && t.pile.compliant && t.pile.count <= MOST_BLENDED;
  t.has_base = t.mixes && single && fx_base_fits(&t.pile);
  if (t.has_base && (status = fx_base_take(call->arena, &t.pile, &t.base)) != FRIX_OK) return status;
  t.double_needed = double_needed;
  bool divided = t.mixes && t.pile.segment_count > 1;
  t.team = (fx_threads){call->arena->context, divided ? call->thread_count : 1};
  t.status = begin(&t, !single);
  iterate(&t);
  if (t.status != FRIX_OK) return t.status;
  fx_log(call->arena->context, FRIX_LOG_INFO,
         "sweeps: %d contacts in %d batches%s%s: %lld sweeps in single, %lld in double precision, residual %.2e, "
         "error of the velocities about %.1e",
         t.pile.count, t.pile.batch_count,
         t.pile.round  ? ", round"
         : t.pile.wide ? ", rolling"
                       : "",
         t.pile.compliant ? ", compliant" : "", (long long)t.singles, (long long)(t.sweep - t.singles),
         call->monitor->residual, call->monitor->velocity_error);
  return FRIX_OK;
}

const fx_solver fx_solver_sweeps = {
    .info = {.name = "sweeps",
             .summary = "vectorised block Gauss-Seidel with momentum, for large piles",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .takes_islands = true,
    .solve = solve,
};
