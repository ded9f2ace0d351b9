/* springs: all islands of a compliant problem as one, by vectorised sweeps and newton on the velocities.
 *
 * Sweeps visit the contacts that may be closed, others are left as they are:
 *
 *   closed = {i: u_N - (W_NN + R_N) r_N <= margin}
 *
 * (one visit of a sweep would leave r_N > 0 there, but for the margin). Every check is one of the whole: a contact that
 * was left out and is closed by then is swept from there on, and where many of those swept are open at a goal on the
 * way to the tolerance, the set is chosen again. About half of the contacts of a heap in motion are open: bodies that
 * may come near each other within the step, and do not. Islands of closed contacts that hold their law already are left
 * out too. The last digits are newton's (spring_newton.c) where the sweeps so far predict that more of them would cost
 * more, or where they have cost as much already. */
#include "solver/springs.h"

#include "base/threads.h"
#include "solver/factor_width.h"
#include "solver/newton_linear.h"
#include "solver/patches.h"
#include "solver/revision.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

/* Margins of the first set and of those after it, as parts of the mean approach of contacts without impulses. Wider
 * ones sweep more contacts, narrower ones find some of them late. Processor time for 12 problems of heaps and walls,
 * 151 ms as it is: 151 and 178 to 183 with half and twice the first, 205 and 149 with half and twice the later. */
static const double first_margin = 0.3, later_margin = 0.1;

/* Residuals at which contacts and expected blows are looked at again; with 1.5e-4 among them, blows that do not come
 * are dropped while the sweeps converge, not one after the other at the end: a seventh fewer visits of contacts in
 * three heaps of 500 boxes. From 2e-5 newton converges in two or three iterations on heaps and
 * walls, from 1e-4 not always. A goal is passed where the whole is within `slack` of it when a round begins, or within
 * `passed` when a check is made anyway: a check costs ten sweeps. The set is chosen again where so much of it is open.
 */
static const double goal[] = {1e-2, 1e-3, 1.5e-4, 2e-5}, slack = 4, passed = 2, much = 0.2, known = 1e-3;
enum { GOALS = sizeof goal / sizeof *goal, ROUNDS = 12 };

/* In vectorised sweeps over the same contacts, processor time measured on heaps of boxes and capsules and on a wall:
 * an analysis of newton and, for each iteration, its share that goes with contacts; multiplications of the
 * factorisation, per contact, that take as long as a sweep. Factors of thousands of bodies have wide panels: there
 * arithmetic is faster, and an entry costs as much as a contact of a sweep (pyramids of 1,275 and 5,050 boxes, out of
 * the cache: 13 ns an entry, 0.023 ns a multiplication, 12 ns a contact of a sweep). */
static const double analysis_cost = 30, iteration_cost = 30, factor_rate = 60, wide_rate = 520, entry_cost = 1.1;
/* Few contacts start with newton where the start is near: sweeps need half as long as it does, before the first. */
enum { SMALL = 100 };
static const double near_enough = 1e-3;
enum { NEWTON_STEPS = 6, BRIEF_STEPS = 10, USUAL_STEPS = 3 };

enum { PATIENCE = 1000, MENDINGS = 3 }; /* sweeps of the last stage at least, before patches are tried; how often */

/* Sweeps predicted, from which an analysis is worth its time whatever the graph; the last digits cost more than those
 * before (1.3 to 2.4 times, measured). Where bodies have few neighbours factors cost little. */
static const double worth_analysis = 300, slower_end = 1.7, few_pairs = 1.25, many_contacts = 3;
static const double cheap = 250; /* sweeps that newton may cost where up to a third of them is predicted */
static const double dear = 625;  /* the same where sweeps did not do in the solve before */

typedef struct state {
  fx_call *call;
  uint8_t *closed;     /* by contact */
  uint8_t *unsolved;   /* by contact: closed, and its island does not hold its law yet */
  double approach;     /* mean of the velocities at which contacts close without impulses */
  int64_t spent, most; /* iterations */
  int stage;           /* the next goal */
  double per_digit;    /* sweeps: the most so far */
  bool early;          /* newton from the start */
  bool newton_failed;
  double cost;   /* of newton in this round, in sweeps; 0: not known */
  double before; /* residual that this round started from */
  bool wrong_set, newton_next;
  /* The contacts of this round as a system of their own, where newton or patches need one. */
  fx_arena *arena;
  fx_islands one;
  fx_system system;
  fx_monitor monitor;
  fx_limits limits;
  fx_call part;
  bool has_part;
  bool revised;          /* rows have changed in this round */
  double velocity_error; /* as the method estimates it */
} state;

/* ---- which contacts ---- */

static double mean_approach(const fx_system *s) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    double q = s->q[s->row[i]];
    if (!(q < 0)) continue;
    sum -= q;
    count++;
  }
  return count ? sum / count : 0;
}

/* |r| as a velocity. */
static double velocity_size(const fx_system *s, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < s->row_count; k++) sum += r[k] * r[k];
  return sqrt(sum) / s->rho;
}

/* Some contacts in parts that threads take, with what each part finds. */
typedef struct scan {
  state *t;
  const int32_t *contact; /* NULL: all */
  double margin;
  fx_residual_sums sums[FX_PARTS];
  int32_t open[FX_PARTS], swept[FX_PARTS];
  bool kept, any[FX_PARTS], dropped[FX_PARTS];
} scan;

static void mark_some(int32_t part, int32_t first, int32_t end, void *user) {
  scan *x = user;
  const state *t = x->t;
  const fx_system *s = t->call->system;
  double *r = t->call->r, *u = t->call->monitor->u;
  for (int32_t i = first; i < end; i++) {
    int32_t row = s->row[i];
    double weight = s->W_diag[row] + (s->R ? s->R[row] : 0);
    bool closed = !(u[row] - weight * r[row] > x->margin);
    x->any[part] |= closed && !t->closed[i];
    t->closed[i] = closed || (x->kept && t->closed[i]);
    x->dropped[part] |= !t->closed[i] && r[row] != 0;
    for (int32_t k = row; k < s->row[i + 1] && !t->closed[i]; k++) r[k] = 0;
  }
}

/* Marks contacts that carry something or open by less than the margin; those of before stay marked where `kept`. True
 * where one is new. */
static bool mark_closed(state *t, double margin, bool kept) {
  const fx_system *s = t->call->system;
  scan x = {.t = t, .margin = margin, .kept = kept};
  bool any = false, dropped = false;
  int32_t parts = fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, mark_some, &x);
  for (int32_t k = 0; k < parts; k++) {
    any |= x.any[k];
    dropped |= x.dropped[k];
  }
  if (dropped)
    fx_residual_of(s, t->call->law, t->call->r, t->call->monitor->u,
                   t->call->monitor->v); /* for u and v: the fastest way to them */
  return any;
}

/* How far open contacts must be from closing, when velocities are known to the residual of the whole. */
static double margin_of(const state *t) {
  const fx_call *call = t->call;
  double error = call->monitor->residual * velocity_size(call->system, call->r);
  return fmin(fmax(error, later_margin * t->approach), first_margin * t->approach);
}

static void add_residuals(int32_t part, int32_t first, int32_t end, void *user) {
  scan *x = user;
  const fx_call *call = x->t->call;
  const fx_system *s = call->system;
  for (int32_t c = first; c < end; c++) {
    int32_t i = x->contact[c], row = s->row[i];
    fx_residual_add(s, call->law, i, call->r + row, call->monitor->u + row, &x->sums[part]);
  }
}

/* Whether an island of closed contacts holds its law already, as a whole and contact by contact. */
static bool is_solved(state *t, const int32_t *contact, int32_t count) {
  const fx_call *call = t->call;
  const fx_system *s = call->system;
  double tolerance = call->monitor->limits->tolerance;
  scan x = {.t = t, .contact = contact};
  int32_t parts = fx_parallel_range(s->threads, count, FX_LEAST_CONTACTS, add_residuals, &x);
  for (int32_t k = 1; k < parts; k++) fx_residual_join(&x.sums[k], &x.sums[0]);
  fx_row_set own = {contact, count};
  return fx_residual_end(s, &x.sums[0]) <= tolerance &&
         fx_row_error(s, &own, call->law, &call->monitor->scales, call->r, call->monitor->u) <= tolerance;
}

/* Closed contacts of islands that are not solved; false where there is none. u belongs to r. */
static frix_status find_unsolved(state *t, fx_arena *arena, bool *any) {
  fx_islands islands;
  frix_status status = fx_islands_find(arena, t->call->system, t->closed, &islands);
  *any = false;
  if (status != FRIX_OK) return status;
  memset(t->unsolved, 0, (size_t)t->call->system->contact_count);
  for (int32_t k = 0; k < islands.count; k++) {
    const int32_t *contact = islands.contact + islands.start[k];
    int32_t count = islands.start[k + 1] - islands.start[k];
    if (is_solved(t, contact, count)) continue;
    for (int32_t c = 0; c < count; c++) t->unsolved[contact[c]] = 1;
    *any = true;
  }
  return FRIX_OK;
}

/* ---- the contacts of a round as a system ---- */

static frix_status take_part(state *t) {
  fx_call *call = t->call;
  const fx_system *whole = call->system;
  if (t->has_part) return FRIX_OK;
  frix_status status = fx_islands_as_one(t->arena, whole, t->unsolved, &t->one);
  if (status == FRIX_OK) status = fx_system_extract(t->arena, whole, &t->one, 0, &t->system);
  if (status != FRIX_OK) return status;
  t->limits = *call->monitor->limits;
  t->limits.progress = NULL;
  t->limits.rows_later = false;
  double *r = FX_TAKE_RAW(t->arena, double, t->system.row_count);
  if (!r || fx_monitor_init(&t->monitor, t->arena, &t->system, call->law, &t->limits, false) != FRIX_OK)
    return FRIX_ERROR_MEMORY;
  t->part = *call;
  t->part.system = &t->system;
  t->part.arena = t->arena;
  t->part.monitor = &t->monitor;
  t->part.r = r;
  t->part.linear = NULL;
  t->has_part = true;
  return FRIX_OK;
}

/* Rows and impulses of the part as those of the whole. */
static void load_part(state *t) {
  const fx_system *whole = t->call->system;
  fx_islands_gather(whole, &t->one, 0, whole->q, t->system.q);
  fx_islands_gather(whole, &t->one, 0, whole->w, t->system.w);
  fx_islands_gather(whole, &t->one, 0, t->call->r, t->part.r);
}

/* ---- newton or sweeps ---- */

/* Vectorised sweeps that newton costs, with factors of so many multiplications. */
static double newton_cost(double factors, int32_t contacts) {
  return analysis_cost + USUAL_STEPS * (iteration_cost + factors / (factor_rate * contacts));
}

/* What is solved in this round: contacts, movers, and pairs of movers in contact (contacts of a pair stand side by
 * side, most often). */
typedef struct graph_size {
  int32_t contacts, movers, pairs;
} graph_size;

static graph_size size_of_graph(const state *t) {
  const fx_system *s = t->call->system;
  graph_size size = {0, 0, 0};
  int32_t pair[2] = {-1, -1}, *seen = t->call->monitor->last; /* workspace */
  memset(seen, 0, (size_t)s->mover_count * sizeof *seen);
  for (int32_t i = 0; i < s->contact_count; i++) {
    if (!t->unsolved[i]) continue;
    int32_t first = s->Ht.start[i], end = s->Ht.start[i + 1];
    size.contacts++;
    for (int32_t k = first; k < end; k++) size.movers += !seen[s->Ht.index[k]]++;
    if (end - first != 2 || (s->Ht.index[first] == pair[0] && s->Ht.index[first + 1] == pair[1])) continue;
    pair[0] = s->Ht.index[first];
    pair[1] = s->Ht.index[first + 1];
    size.pairs++;
  }
  return size;
}

/* Whether factors may cost less than so many sweeps: bodies have few neighbours or many contacts for each, or many
 * sweeps are predicted; and the graph is narrow. */
static bool analysis_pays(const state *t, double predicted, double most) {
  graph_size size = size_of_graph(t);
  bool thin = size.pairs <= few_pairs * size.movers || size.contacts >= many_contacts * size.pairs;
  bool asked = t->early && t->call->brief;
  if (predicted < worth_analysis && !thin && !asked) return false;
  double least = newton_cost(fx_factor_cost_guess(t->arena, t->call->system, t->unsolved), size.contacts);
  if (least > most)
    fx_log(t->arena->context, FRIX_LOG_INFO, "springs: %d contacts: %.0f sweeps predicted, newton costs more than %.0f",
           size.contacts, predicted, least);
  return least <= most;
}

/* Whether newton is cheaper than the sweeps that are predicted; the part is then analysed. */
static bool newton_pays(state *t, double predicted) {
  frix_status status;
  fx_call *part = &t->part;
  double most = t->early ? (t->call->brief ? dear : cheap) : fmax(predicted, fmin(cheap, 3 * predicted));
  if (t->newton_failed || !fx_spring_newton_fits(t->call->system)) return false;
  bool analysed = t->has_part && part->linear;
  if (!analysed && !analysis_pays(t, predicted, most)) return false;
  if (take_part(t) != FRIX_OK) return false;
  if (!part->linear) part->linear = fx_newton_linear_create(part->arena, part->system, &status);
  if (!part->linear) return false;
  const fx_block_lu *lu = &part->linear->lu;
  double wide = factor_rate * (lu->cost / wide_rate + entry_cost * lu->fill);
  double cost = t->cost = newton_cost(fmin(lu->cost, wide), part->system->contact_count);
  fx_log(part->arena->context, FRIX_LOG_INFO, "springs: %d contacts: %.0f sweeps predicted, newton costs %.0f",
         part->system->contact_count, predicted, cost);
  return cost <= most;
}

/* Decimal digits from one residual down to another: the exponent, and the rest as a straight line. */
static double digits_between(double high, double low) {
  double ratio = high / low;
  if (!(ratio > 0 && ratio < INFINITY)) return 0;
  int power = ilogb(ratio);
  return 0.30103 * (power + (ldexp(ratio, -power) - 1));
}

/* Sweeps from a residual to the tolerance, by what they have needed for a digit. */
static double predict(const state *t, double residual) {
  return slower_end * t->per_digit * digits_between(residual, t->call->monitor->limits->tolerance);
}

/* Sweeps of the last digits before something else is tried: where it is newton, as many as it costs, so that both
 * together cost twice the better of them at most. */
static int64_t patience(const state *t, double residual) {
  bool newton = t->cost > 0 && !t->newton_failed;
  return (int64_t)fmax(newton ? t->cost : PATIENCE, (newton ? 1 : 3) * predict(t, residual));
}

/* So many iterations of a method on the part. */
static frix_status run(state *t, const fx_solver *solver, fx_call *part, int64_t budget) {
  double option[FX_MAX_OPTIONS];
  fx_options_values(part->options, fx_solver_row(solver), option);
  fx_monitor *monitor = part->monitor;
  fx_limits limits = *monitor->limits;
  const fx_limits *given = monitor->limits;
  bool sweeps = solver == &fx_solver_sweeps;
  limits.max_iterations = !sweeps || budget < t->most - t->spent ? budget : t->most - t->spent;
  if (limits.max_iterations < 1) return FRIX_OK;
  monitor->limits = &limits;
  part->option = option;
  frix_status status = solver->solve(part);
  monitor->limits = given;
  if (sweeps) t->spent += monitor->iteration;
  t->call->finisher = solver->info.name;
  fx_log(part->arena->context, FRIX_LOG_INFO, "springs: %d of %d contacts: %s, %lld iterations: residual %.2e",
         part->system->contact_count, t->call->system->contact_count, solver->info.name, (long long)monitor->iteration,
         monitor->best);
  return status;
}

/* Few contacts that are held between stick and slip stop the sweeps over thousands: these and their neighbours on their
 * own, by all that auto has. */
static frix_status mend(fx_call *part, int32_t *patches) {
  double option[FX_MAX_OPTIONS];
  fx_options_values(part->options, fx_solver_row(&fx_solver_auto), option);
  fx_call inner = *part;
  fx_arena arena;
  fx_arena_init(&arena, part->arena->context);
  inner.arena = &arena;
  inner.option = option;
  memcpy(part->r, part->monitor->best_r, (size_t)part->system->row_count * sizeof *part->r);
  frix_status status = fx_patches_solve(&inner, &fx_solver_auto, 1, patches);
  fx_arena_free(&arena);
  return status;
}

/* ---- rows that depend on the answer ---- */

/* True: they have changed with the impulses so far, and no residual found before is that of the rows any more. */
static bool is_revised(state *t, double residual) {
  fx_call *call = t->call;
  if (!call->revised || !fx_revise(call->revised, residual, call->r, call->revised->unit)) return false;
  call->monitor->best = INFINITY;
  return t->revised = true;
}

/* The goal of the next sweeps, 0: the tolerance. Rows that wait for a rough answer come before all others; from a start
 * that is past all goals, a digit tells what sweeps cost. */
static double next_goal(const state *t) {
  double rough = t->call->revised ? t->call->revised->owner->rough : 0, tolerance = t->call->monitor->limits->tolerance;
  if (rough > tolerance) return rough;
  if (t->stage < GOALS) return goal[t->stage];
  return t->per_digit == 0 && !t->early && 0.1 * t->before > tolerance ? 0.1 * t->before : 0;
}

/* Judges the whole, with rows as they are at its impulses; `judged`: the monitor has seen these already. */
static bool check_whole(state *t, bool judged) {
  fx_call *call = t->call;
  fx_monitor *monitor = call->monitor;
  bool stop = judged && monitor->finished;
  fx_monitor_begin(monitor, t->most);
  monitor->stage_limit = t->most - t->spent;
  if (!judged) stop = fx_monitor_check(monitor, 0, call->r);
  while (is_revised(t, monitor->residual)) stop = fx_monitor_check(monitor, 0, call->r);
  return stop;
}

/* ---- sweeps over the closed contacts of the whole ---- */

static void find_late(int32_t part, int32_t first, int32_t end, void *user) {
  scan *x = user;
  const state *t = x->t;
  const int32_t *row = t->call->system->row;
  const double *u = t->call->monitor->u;
  for (int32_t i = first; i < end && !x->any[part]; i++) x->any[part] = !t->closed[i] && u[row[i]] <= 0;
}

static void add_near(int32_t part, int32_t first, int32_t end, void *user) {
  const scan *x = user;
  const state *t = x->t;
  const int32_t *row = t->call->system->row;
  const double *u = t->call->monitor->u;
  (void)part;
  for (int32_t i = first; i < end; i++)
    if (t->closed[i] || u[row[i]] <= x->margin) t->closed[i] = t->unsolved[i] = 1;
}

/* Whether a contact that was left out is closed by now: it is swept from here on, with those that are about to close
 * and with the islands that held their law, one of which it may touch. */
static bool widen(fx_call *sweeps) {
  scan x = {.t = sweeps->user};
  const fx_system *s = sweeps->system;
  bool any = false;
  int32_t parts = fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, find_late, &x);
  for (int32_t k = 0; k < parts; k++) any |= x.any[k];
  if (!any) return false;
  x.margin = margin_of(x.t);
  fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, add_near, &x);
  x.t->has_part = false;
  return true;
}

static void count_open(int32_t part, int32_t first, int32_t end, void *user) {
  scan *x = user;
  const state *t = x->t;
  const int32_t *row = t->call->system->row;
  const double *r = t->call->r, *u = t->call->monitor->u;
  for (int32_t i = first; i < end; i++) {
    if (!t->unsolved[i]) continue;
    x->swept[part]++;
    x->open[part] += r[row[i]] == 0 && u[row[i]] > first_margin * t->approach;
  }
}

/* Whether most of the contacts swept are closed. */
static bool set_is_right(state *t) {
  const fx_system *s = t->call->system;
  scan x = {.t = t};
  int32_t parts = fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, count_open, &x);
  for (int32_t k = 1; k < parts; k++) {
    x.open[0] += x.open[k];
    x.swept[0] += x.swept[k];
  }
  return x.open[0] <= much * x.swept[0];
}

/* Sweeps have come to a goal: whether they go on with the same contacts to the next. */
static bool go_on(fx_call *sweeps) {
  state *t = sweeps->user;
  fx_monitor *monitor = sweeps->monitor;
  double digits = digits_between(t->before, monitor->residual);
  if (digits > 0.5) t->per_digit = fmax(t->per_digit, (double)monitor->iteration / digits);
  while (t->stage < GOALS && monitor->residual <= passed * goal[t->stage]) t->stage++;
  t->wrong_set = !set_is_right(t);
  if (t->wrong_set) return false;
  if (is_revised(t, monitor->residual)) {
    sweeps->shifted = true;
    if (t->stage == GOALS) t->stage = GOALS - 1;
  }
  sweeps->goal = next_goal(t);
  if (sweeps->goal > 0) return true;
  t->newton_next = newton_pays(t, predict(t, monitor->residual));
  int64_t end = monitor->iteration + patience(t, monitor->residual);
  if (end < monitor->stage_limit) monitor->stage_limit = end;
  return !t->newton_next;
}

static void go_back_to_best(fx_call *call) {
  if (call->monitor->best < INFINITY)
    memcpy(call->r, call->monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
}

/* To the tolerance, or as far as this set of contacts and sweeps are good for. */
static frix_status sweep_whole(state *t) {
  fx_call sweeps = *t->call;
  fx_monitor *monitor = t->call->monitor;
  const fx_limits *given = monitor->limits;
  fx_limits limits = *given;
  limits.progress = NULL;
  limits.rows_later = false;
  monitor->limits = &limits;
  sweeps.arena = t->arena;
  sweeps.swept = t->unsolved;
  sweeps.goal = next_goal(t);
  sweeps.reached = go_on;
  sweeps.widen = widen;
  sweeps.user = t;
  frix_status status = run(t, &fx_solver_sweeps, &sweeps, INT64_MAX);
  t->wrong_set |= sweeps.outgrown;
  monitor->limits = given;
  return status;
}

/* ---- newton and patches over them ---- */

/* Some more sweeps than predicted, unless these are tired, then patches and newton from what they found: sweeps may
 * lead away from it, where friction that slides couples back so strongly that a sweep is no contraction. */
static frix_status finish(state *t, fx_call *part, bool tired) {
  const fx_monitor *monitor = part->monitor;
  frix_status status = FRIX_OK;
  if (t->call->brief)
    return tired || (t->early && t->newton_next) ? FRIX_OK : run(t, &fx_solver_sweeps, part, patience(t, t->before));
  for (int k = tired; k <= MENDINGS && status == FRIX_OK; k++) {
    int32_t patches = 0;
    double best = monitor->best;
    if (k > 0) status = mend(part, &patches);
    if (status != FRIX_OK || (k > 0 && patches == 0)) break;
    if (k > 0 && fx_spring_newton_fits(part->system)) {
      status = run(t, &fx_solver_spring_newton, part, NEWTON_STEPS);
      if (status != FRIX_OK || monitor->outcome == FRIX_OUTCOME_SOLVED) return status;
      go_back_to_best(part);
    }
    status = run(t, &fx_solver_sweeps, part, patience(t, t->before));
    if (monitor->outcome == FRIX_OUTCOME_SOLVED || !(monitor->best < INFINITY)) return status;
    if (k > 0 && !(monitor->best < best)) break; /* the same patches would fail again */
  }
  return status == FRIX_OK ? run(t, &fx_solver_sweeps, part, INT64_MAX) : status;
}

/* The rest of the way on the part: newton where it pays, else sweeps and patches; `tired`: sweeps have used up their
 * patience already. */
static frix_status finish_part(state *t, bool tired) {
  const fx_system *whole = t->call->system;
  fx_call *part = &t->part;
  frix_status status = take_part(t);
  if (status != FRIX_OK) return status;
  load_part(t);
  if (t->newton_next) {
    status = run(t, &fx_solver_spring_newton, part, t->call->brief ? BRIEF_STEPS : NEWTON_STEPS);
    t->newton_failed |= !t->early && t->monitor.outcome != FRIX_OUTCOME_SOLVED;
  }
  bool done = t->newton_next && !t->newton_failed;
  if (status == FRIX_OK && !done) {
    go_back_to_best(part);
    status = finish(t, part, tired);
  }
  if (status != FRIX_OK) return status;
  if (t->monitor.best < INFINITY) fx_islands_scatter(whole, &t->one, 0, t->monitor.best_r, t->call->r);
  t->velocity_error = t->monitor.velocity_error;
  t->call->monitor->before += t->monitor.before + t->monitor.iteration;
  return FRIX_OK;
}

/* Closed contacts of islands that are not solved. *judged: the monitor has seen the impulses that it left. */
static frix_status solve_closed(state *t, bool *judged) {
  fx_monitor *monitor = t->call->monitor;
  bool any, sweeps_first = next_goal(t) > 0, tired = false;
  *judged = t->wrong_set = t->newton_next = t->has_part = false;
  t->cost = 0;
  frix_status status = find_unsolved(t, t->arena, &any);
  if (status != FRIX_OK || !any) return status;
  t->before = monitor->residual;
  if (sweeps_first) {
    status = sweep_whole(t);
    *judged = monitor->best < INFINITY;
    t->velocity_error = monitor->velocity_error;
    if (status != FRIX_OK || monitor->finished || t->wrong_set) return status;
    go_back_to_best(t->call);
    tired = !t->newton_next;
    if (tired) t->newton_next = newton_pays(t, (double)monitor->iteration); /* the prediction was wrong */
  } else {
    bool near = t->early || t->before <= slack * goal[GOALS - 1];
    t->newton_next = near && newton_pays(t, predict(t, t->before));
  }
  *judged = false;
  return finish_part(t, tired);
}

/* ---- the method ---- */

/* The start, or nothing where its impulses are so wrong that their squares are no numbers. */
static bool judge_start(state *t) {
  fx_call *call = t->call;
  if (check_whole(t, false)) return true;
  if (call->monitor->residual < INFINITY) return false;
  memset(call->r, 0, (size_t)call->system->row_count * sizeof *call->r);
  return check_whole(t, false);
}

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  fx_monitor *monitor = call->monitor;
  double tolerance = monitor->limits->tolerance;
  state t = {.call = call, .approach = mean_approach(s)};
  t.closed = FX_TAKE(call->arena, uint8_t, s->contact_count);
  t.unsolved = FX_TAKE(call->arena, uint8_t, s->contact_count);
  if (!t.closed || !t.unsolved) return FRIX_ERROR_MEMORY;
  fx_monitor_begin(monitor, fx_pile_spring_sweeps(s));
  t.most = monitor->stage_limit;
  if (judge_start(&t)) return FRIX_OK;
  if (call->brief) t.before = monitor->residual;
  mark_closed(&t, monitor->residual > slack * goal[0] ? INFINITY : first_margin * t.approach, false);
  t.early =
      call->brief ? call->hint >= FX_NEEDED_NEWTON : s->contact_count <= SMALL && monitor->residual <= near_enough;
  for (int round = 0; round < ROUNDS; round++) {
    t.revised = false;
    if (t.early) t.stage = GOALS;
    while (t.stage < GOALS && (monitor->residual <= slack * goal[t.stage] || goal[t.stage] <= tolerance)) t.stage++;
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    t.arena = &arena;
    bool judged;
    frix_status status = solve_closed(&t, &judged);
    fx_arena_free(&arena);
    if (status != FRIX_OK) return status;
    bool stop = check_whole(&t, judged), last = t.stage == GOALS;
    if (monitor->residual == monitor->best) monitor->velocity_error = t.velocity_error;
    if (stop) return FRIX_OK;
    bool fine = last && tolerance < known; /* velocities are known: no margin */
    bool fresh = mark_closed(&t, fine ? 0 : margin_of(&t), last || round > 0);
    if (t.early && call->brief) break;
    if (t.early) {
      t.early = false;
      t.stage = 0;
      continue;
    }
    if (last && monitor->residual > slack * goal[GOALS - 1]) t.stage = GOALS - 1;
    if (last && t.stage == GOALS && !fresh && !t.revised) break;
  }
  monitor->outcome = FRIX_OUTCOME_STALLED;
  return FRIX_OK;
}

const fx_solver fx_solver_springs = {
    .info = {.name = "springs",
             .summary = "stages of sweeps and newton over closed contacts, for contacts with compliance",
             .coulomb = true,
             .cones = FX_ALL_CONES},
    .prefers_velocity = true,
    .takes_islands = true,
    .solve = solve,
};
