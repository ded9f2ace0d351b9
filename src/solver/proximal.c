/* proximal: rigid contacts by rounds of compliant ones.
 *
 *   u = H' v + w + e D (r - r_c),   D the mean weight of the contact's rows,   r_c the impulses of the round before
 *
 * Each round is a strongly monotone problem, which sweeps and newton on the velocities solve at the price of a step of
 * stiff contacts (springs.c). Where rounds come to rest r = r_c, and the answer is that of the rigid problem, which
 * alone is judged. What a round leaves falls by e / (e + eigenvalue of W) in directions that move something. Where
 * rows contradict each other impulses drift by the same way d in each round, at a residual of e |d|, until friction
 * reaches its bound: there e falls, so that the way is long, and grows again where newton does not follow. What is
 * left at a few contacts alone is solved there, with the impulses of all others held (patches.h), and spread by rounds
 * that begin with the first e again.
 * Reference: R. T. Rockafellar, Monotone operators and the proximal point algorithm, 1976. */
#include "solver/proximal.h"

#include "problem/round_rows.h"
#include "solver/patches.h"
#include "solver/springs.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

/* FEW: contacts; below, exact sweeps and newton are as fast; GRAINS: the same of spheres. ROUNDS, and IDLE sweeps
 * without half the residual, an iteration of newton counted as NEWTON_COST of them: then auto goes on. SWEEPS: of a
 * round; from the first that needs more on, rounds begin with newton. NEWTON_STEPS: more iterations than that were
 * sweeps. MENDINGS: patches in a row that were of no use. */
enum { FEW = 20, GRAINS = 500, ROUNDS = 100, IDLE = 3600, NEWTON_COST = 20 };
enum { SWEEPS = 600, NEWTON_STEPS = 10, MENDINGS = 3 };

/* Sweeps of the rigid problem of spheres: BEGIN, and as many again each time. With momentum and twice as many the
 * residual falls to a third (piles of 300 and 1,000 settling spheres). At most SWEEPS in all: rounds need more than
 * that. */
enum { BEGIN = 75 };
static const double twice_as_many = 1.0 / 3;

static const double first_compliance = 1e-2, most_compliance = 0.1, least_compliance = 1e-9; /* of the weight */
static const double coarse = 1e-2;  /* residual of a round at most */
static const double finer = 1e-2;   /* and over that of the rigid problem before it */
static const double finest = 1e-4;  /* the same where single contacts need more digits than the whole */
static const double digits = 4e-17; /* over e: residual that rounding leaves to a round (measured) */
static const double stands = 0.5;   /* of the residual before: a round that left more did not lead on */
static const double few = 0.05;     /* of the contacts, in patches ... */
static const double nearly = 0.99;  /* ... where they hold so much of what is left */

/* Factors of e: between rounds of sweeps, by whether the last took a digit; between rounds of newton, by the iterations
 * it took, up to 3, 5, 7 and more; after a round that failed; where single contacts alone are wrong. */
static const double swept_well = 0.5, swept_badly = 0.15;
static const double after_newton[] = {0.2, 0.4, 0.8, 1.2}, after_failure = 3, for_rows = 0.2;

typedef struct state {
  fx_call *call;
  fx_system soft;                 /* the compliant problem of a round */
  double *R, *D, *q, *w, *weight; /* weight: by contact */
  double *left;                   /* by contact: what the last round left, squared */
  double *r, *r_c;
  double e;
  bool newton_first;  /* sweeps do not do any more */
  int64_t iterations; /* of the last round */
  int mendings;       /* in a row that were of no use */
  double mended;      /* least residual before the last of them */
} state;

bool fx_proximal_fits(const fx_system *s) {
  if (s->contact_count < FEW || s->joint_first < s->contact_count || !s->has_velocity || s->has_W) return false;
  for (int32_t k = 0; s->R && k < s->row_count; k++)
    if (s->R[k] > 0) return false;
  return fx_pile_fits(s) && (s->contact_count >= GRAINS || !fx_round_sample(s));
}

static frix_status take(state *t, fx_call *call) {
  const fx_system *s = call->system;
  fx_arena *arena = call->arena;
  double **rows[] = {&t->R, &t->q, &t->w, &t->r, &t->r_c};
  t->call = call;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = FX_TAKE_RAW(arena, double, s->row_count))) return FRIX_ERROR_MEMORY;
  t->D = FX_TAKE_RAW(arena, double, s->diagonal[s->contact_count]);
  t->weight = FX_TAKE_RAW(arena, double, s->contact_count);
  t->left = FX_TAKE_RAW(arena, double, s->contact_count);
  if (!t->D || !t->weight || !t->left) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double sum = 0;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) sum += s->W_diag[k];
    t->weight[i] = sum / s->contact[i].dim;
  }
  t->soft = *s;
  t->soft.R = t->R, t->soft.q = t->q, t->soft.w = t->w, t->soft.D = t->D;
  return FRIX_OK;
}

/* The compliant problem around r_c. */
static void soften(state *t) {
  const fx_system *s = t->call->system;
  memcpy(t->D, s->D, s->diagonal[s->contact_count] * sizeof *t->D);
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    double R = t->e * t->weight[i];
    for (int32_t a = 0; a < d; a++) {
      int32_t k = s->row[i] + a;
      t->R[k] = R;
      t->q[k] = s->q[k] - R * t->r_c[k];
      t->w[k] = s->w[k] - R * t->r_c[k];
      t->D[s->diagonal[i] + (size_t)(a * d + a)] += R;
    }
  }
}

/* One round from r_c into r; *good: it reached its tolerance. */
static frix_status solve_round(state *t, double tolerance, fx_arena *arena, bool *good) {
  fx_call *call = t->call;
  size_t bytes = (size_t)call->system->row_count * sizeof *t->r;
  fx_limits limits = *call->monitor->limits;
  fx_monitor monitor;
  double option[FX_MAX_OPTIONS] = {0};
  limits.tolerance = tolerance;
  limits.max_iterations = SWEEPS;
  limits.progress = NULL;
  limits.rows_later = true;
  soften(t);
  memcpy(t->r, t->r_c, bytes);
  frix_status status = fx_monitor_init(&monitor, arena, &t->soft, call->law, &limits, false);
  if (status != FRIX_OK) return status;
  fx_call round = *call;
  round.system = &t->soft;
  round.arena = arena;
  round.monitor = &monitor;
  round.option = option;
  round.r = t->r;
  round.start = t->r_c;
  round.revised = NULL;
  round.brief = true;
  round.hint = t->newton_first ? FX_NEEDED_NEWTON : FX_NEEDED_UNKNOWN;
  status = fx_solver_springs.solve(&round);
  *good = monitor.best <= tolerance;
  if (monitor.best < INFINITY) memcpy(t->r, monitor.best_r, bytes);
  t->iterations = monitor.before + monitor.iteration;
  t->newton_first |= t->iterations >= SWEEPS;
  return status;
}

static bool is_swept(const state *t) { return !t->newton_first || t->iterations > NEWTON_STEPS; }

/* What e becomes after a round that was solved, from one residual to another. */
static double factor_of(const state *t, double before, double now, bool rows) {
  if (rows) return for_rows;
  if (is_swept(t)) return now > 0.1 * before ? swept_badly : swept_well;
  int64_t n = t->iterations;
  return after_newton[n <= 3 ? 0 : n <= 5 ? 1 : n <= 7 ? 2 : 3];
}

/* Whether few contacts hold nearly all of what the last round left, e D (r - r_c). */
static bool is_local(const state *t) {
  const fx_system *s = t->call->system;
  double total = 0, least = 0, sum = INFINITY;
  int32_t count = 0;
  double *left = t->left;
  for (int32_t i = 0; i < s->contact_count; i++) {
    left[i] = 0;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      double u = t->R[k] * (t->r[k] - t->r_c[k]);
      left[i] += u * u;
    }
    total += left[i];
    least = fmax(least, left[i]);
  }
  while (sum > (1 - nearly) * total && least > 0) {
    least *= 0.7;
    sum = count = 0;
    for (int32_t i = 0; i < s->contact_count; i++) {
      if (left[i] < least)
        sum += left[i];
      else
        count++;
    }
  }
  return total > 0 && count < few * s->contact_count;
}

/* The contacts that hold what is left, on their own; into r_c. What that changes around them, rounds from the first e
 * on spread: those with small e fail. True where the whole is done. */
static frix_status mend(state *t, bool *done) {
  fx_call inner = *t->call;
  fx_monitor *monitor = t->call->monitor;
  size_t bytes = (size_t)inner.system->row_count * sizeof *t->r;
  double option[FX_MAX_OPTIONS] = {0};
  fx_arena arena;
  int32_t patches;
  fx_arena_init(&arena, inner.arena->context);
  inner.arena = &arena;
  inner.option = option;
  memcpy(inner.r, t->r_c, bytes);
  frix_status status = fx_patches_solve(&inner, &fx_solver_auto, 1, &patches);
  fx_arena_free(&arena);
  t->mendings = monitor->best <= stands * t->mended ? 1 : t->mendings + 1;
  t->mended = monitor->best;
  if (status != FRIX_OK || patches == 0) return status;
  *done = fx_monitor_check(monitor, monitor->iteration + 1, inner.r);
  memcpy(t->r_c, inner.r, bytes);
  t->e = first_compliance;
  return FRIX_OK;
}

static frix_status run_rounds(state *t) {
  fx_call *call = t->call;
  fx_monitor *monitor = call->monitor;
  size_t bytes = (size_t)call->system->row_count * sizeof *t->r;
  double last = monitor->residual, fine = finer, halved = INFINITY;
  int64_t idle = 0;
  for (int round = 0; round < ROUNDS && idle < IDLE; round++) {
    bool good = false;
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    double goal = fmax(fmin(coarse, fine * last), digits / t->e);
    frix_status status = solve_round(t, goal, &arena, &good);
    fx_arena_free(&arena);
    if (status != FRIX_OK) return status;
    bool stop = fx_monitor_check(monitor, monitor->iteration + t->iterations + 1, t->r);
    double before = last, now = monitor->residual;
    bool mendable = good && t->newton_first && t->mendings < MENDINGS && now > stands * before && is_local(t);
    fx_log(call->arena->context, FRIX_LOG_INFO,
           "proximal: %d contacts: compliance %.0e, %lld iterations%s: residual %.2e", call->system->contact_count,
           t->e, (long long)t->iterations, good ? "" : ", in vain", now);
    if (stop) return FRIX_OK;
    if (good || now < last) {
      memcpy(t->r_c, t->r, bytes);
      last = now;
    }
    idle += is_swept(t) ? t->iterations : NEWTON_COST * t->iterations;
    if (monitor->best <= stands * halved) halved = monitor->best, idle = 0;
    bool rows = monitor->row > monitor->limits->tolerance;
    if (mendable) {
      status = mend(t, &stop);
      if (status != FRIX_OK || stop) return status;
      last = monitor->residual;
    } else if (good) {
      if (rows) fine = fmax(0.1 * fine, finest);
      t->e = fmax(t->e * factor_of(t, before, now, rows), least_compliance);
    } else if (!(now < 0.3 * before)) {
      t->e = fmin(t->e * after_failure, most_compliance);
    }
  }
  return FRIX_OK;
}

/* Coarse tolerances are reached sooner by sweeps of the rigid problem than by rounds, which need some of them to spread
 * what e leaves. They go on while they will be done within SWEEPS. Rounds begin with their own start. */
static frix_status sweep_rigid(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  const fx_limits *whole = monitor->limits;
  fx_limits part = *whole;
  double option[FX_MAX_OPTIONS], tolerance = whole->tolerance;
  int64_t done = 0;
  frix_status status = FRIX_OK;
  fx_options_values(call->options, fx_solver_row(&fx_solver_sweeps), option);
  monitor->limits = &part;
  for (bool pays = true; pays && status == FRIX_OK && !monitor->finished; done += part.max_iterations) {
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    fx_call inner = *call;
    inner.arena = &arena;
    inner.option = option;
    part.max_iterations = done > 0 ? done : BEGIN;
    status = fx_solver_sweeps.solve(&inner);
    fx_arena_free(&arena);
    memcpy(call->r, monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
    double next = monitor->best;
    int64_t sweeps = done + part.max_iterations;
    while (next > tolerance && sweeps < SWEEPS) next *= twice_as_many, sweeps *= 2;
    pays = next <= tolerance && sweeps <= SWEEPS;
  }
  monitor->limits = whole;
  call->finisher = "sweeps";
  return status;
}

static frix_status solve(fx_call *call) {
  state t = {.e = first_compliance, .mended = INFINITY};
  fx_monitor *monitor = call->monitor;
  frix_status status = take(&t, call);
  if (status != FRIX_OK) return status;
  memcpy(t.r_c, call->r, (size_t)call->system->row_count * sizeof *t.r_c);
  if (fx_round_sample(call->system)) {
    status = sweep_rigid(call);
    bool single_contacts_left = monitor->row > monitor->limits->tolerance; /* auto has patches for these */
    if (single_contacts_left && !monitor->finished) monitor->outcome = FRIX_OUTCOME_STALLED;
    if (status != FRIX_OK || monitor->finished || single_contacts_left) return status;
  }
  fx_monitor_begin(monitor, INT64_MAX);
  monitor->wanders = true;
  call->finisher = "proximal";
  if (fx_monitor_check(monitor, 0, t.r_c)) return FRIX_OK;
  status = run_rounds(&t);
  if (!monitor->finished) monitor->outcome = FRIX_OUTCOME_STALLED;
  return status;
}

const fx_solver fx_solver_proximal = {
    .info = {.name = "proximal",
             .summary = "rounds of compliant contacts that end in rigid ones",
             .coulomb = true,
             .cones = FX_ALL_CONES},
    .prefers_velocity = true,
    .takes_islands = true,
    .solve = solve,
};
