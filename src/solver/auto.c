/* auto: the default.
 *
 * Exact sweeps finish most small problems and go on as long as they will be done sooner than newton; newton finishes
 * most others, the interior point and continuation what it leaves open. Piles begin with vectorised sweeps; in rigid
 * ones the few contacts that hold up the sweeps are solved on their own (patches.h). Where a
 * newton iteration costs hundreds of sweeps, a first-order method has its turn before it. What is still open, other
 * methods bring near enough for newton to try again. Budgets are counted in iterations, so that the answer does not
 * depend on the machine; only under a deadline is a stage left out that would end too late.
 * --explain shows each decision. */
#include "solver/exact_sweep.h"
#include "solver/newton_linear.h"
#include "solver/patches.h"
#include "solver/small_island.h"
#include "solver/solver.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 10, ROUNDS = 5, GROWTH = 4, GRAINS = 60, BODIES = 2000, PILE_SWEEPS = 300, BODY_SWEEPS = 60 };
enum { ADMM_STEPS = 40, ROLLING_SWEEPS = 3000, DEAR_SWEEPS = 12000, MENDINGS = 12, MENDING_SWEEPS = 3000 };
enum { SPRING_COST = 100, SPRING_STEPS = 4 };

static const double SPRING_START = 1e-3;
enum { JOINT_COST = 200 };             /* sweeps; joints are newton's, unless an iteration costs more */
enum { PATH = 4000, DEAR_PATH = 600 }; /* factorisations of continuation */

enum { PILE, PILE_TOLERANCE };

static const frix_option_info options[] = {
    [PILE] = {"pile", FRIX_OPTION_INTEGER, BODIES, 1, 1e9, NULL,
              "contacts from which a rigid pile is left at pile_tolerance, where that is set"},
    [PILE_TOLERANCE] = {"pile_tolerance", FRIX_OPTION_REAL, 0, 0, 1, NULL,
                        "residual at which a large rigid pile is left, outcome loose; 0: the tolerance asked for"},
};

/* One method with a budget of iterations; true when nothing more need be tried. */
typedef struct course {
  fx_call *call;
  const fx_limits *whole;
  fx_limits part;
  double best;
  double swept;         /* the best residual after the first sweeps */
  double sweep_seconds; /* under a deadline: of one exact sweep, as measured */
  bool pile, round;     /* vectorised sweeps; of spheres */
  bool dear;            /* a pile where an iteration of newton costs as much as a hundred sweeps */
  fx_exact_sweep packed;
  frix_status status;
} course;

static bool run(course *c, const fx_solver *solver, frix_law law, int64_t budget) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  if (law == FRIX_LAW_ASSOCIATED && !solver->info.associated) return false;
  int64_t used = monitor->before + monitor->iteration;
  int64_t left = c->whole->max_iterations ? c->whole->max_iterations - used : budget;
  c->part.max_iterations = budget < left ? budget : left;
  if (c->part.max_iterations < 1) return true;
  double option[FX_MAX_OPTIONS];
  fx_options_values(call->options, fx_solver_row(solver), option);
  fx_arena arena; /* every stage returns its workspace */
  fx_arena_init(&arena, call->arena->context);
  fx_call inner = *call;
  inner.option = option;
  inner.law = law;
  inner.arena = &arena;
  c->status = solver->solve(&inner);
  fx_arena_free(&arena);
  if (monitor->best < c->best) {
    c->best = monitor->best;
    call->finisher = solver->info.name;
    memcpy(call->r, monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
  }
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: %s, %lld iterations: residual %.2e, best %.2e%s",
         call->system->contact_count, solver->info.name, (long long)monitor->iteration, monitor->residual,
         monitor->best,
         monitor->finished ? ", done"
         : monitor->exact  ? ", nothing but rounding"
                           : "");
  return c->status != FRIX_OK || monitor->finished || monitor->exact;
}

/* Multiplications of one Newton iteration over those of one sweep. Assembly and products
 * count as 10 sweeps, and a multiplication of the factorisation as an eighth of one of a sweep: 0.04 to 0.19 measured
 * over card houses, walls, piles of 100 to 1000 spheres and towers. */
static double iteration_cost(const fx_system *s, const fx_newton_linear *linear) {
  size_t entries =
      s->has_velocity ? 2 * s->Ht.offset[s->Ht.start[s->contact_count]] : s->W.offset[s->W.start[s->contact_count]];
  return 10 + 0.12 * linear->lu.cost / ((double)entries + 1);
}

/* Would the sweeps get there within the budget, at the rate of the last `count`? */
static bool sweeps_pay(double before, double now, double count, double tolerance, double budget) {
  double rate = now / before;
  for (double sweep = count; sweep <= budget && rate < 1; sweep += count) {
    now *= rate;
    if (now <= tolerance) return true;
  }
  return false;
}

/* Grains, or very many contacts of the common kind: a vectorised sweep costs a fifth, and momentum makes it worth ten.
 * Masonry is better off with newton, and so are few bodies with very many contacts each. */
static void look_for_pile(course *c) {
  const fx_system *s = c->call->system;
  if (c->call->law != FRIX_LAW_COULOMB || s->contact_count < GRAINS || !fx_pile_fits(s)) return;
  c->round = fx_pile_looks_round(s);
  c->pile = c->round || (s->contact_count >= BODIES && s->contact_count <= 16 * (int64_t)s->mover_count);
}

static bool is_rigid(const fx_system *s) {
  for (int32_t k = 0; s->R && k < s->row_count; k++)
    if (s->R[k] > 0) return false;
  return true;
}

/* ---- sweeps ---- */

/* Sweeps until the time is up: all that can be done where a factorisation would not end in time. */
static bool sweep_on(course *c, const char *what) {
  fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: no time for %s, sweeps until the deadline",
         c->call->system->contact_count, what);
  run(c, &fx_solver_nsgs, c->call->law, INT32_MAX);
  return true;
}

/* The order in which sweeps read W is made once for all stages. */
static frix_status pack_once(course *c) {
  fx_call *call = c->call;
  if (!call->system->has_W || call->packed || call->law != FRIX_LAW_COULOMB) return FRIX_OK;
  c->packed = (fx_exact_sweep){.s = call->system};
  call->packed = &c->packed;
  return fx_exact_sweep_pack(call->arena, &c->packed);
}

/* Ten sweeps, and a few more where these will finish it. */
static bool first_sweeps(course *c) {
  fx_monitor *monitor = c->call->monitor;
  c->status = pack_once(c);
  if (c->status != FRIX_OK) return true;
  bool stop = run(c, &fx_solver_nsgs, c->call->law, FX_FIRST_SWEEPS);
  c->sweep_seconds = monitor->pace;
  if (stop) return true;
  return fx_sweeps_will_finish(monitor->residual, c->whole->tolerance) &&
         run(c, &fx_solver_nsgs, c->call->law, FX_MORE_SWEEPS);
}

/* The symbolic analysis costs about as much as these many checks (measured on stacks, walls, towers). */
static double analysis_seconds(const course *c) {
  return (c->call->system->has_W ? 40 : 100) * c->call->monitor->check_cost + 20e-6;
}

/* Vectorised sweeps have to pack the pile first, which is as much as some checks; false where there is no time. */
static bool time_to_pack(const course *c) {
  return fx_monitor_time_for(c->call->monitor, 6 * c->call->monitor->check_cost);
}

/* Spheres have 300 vectorised sweeps, which with momentum are worth thousands; with rolling friction more, since a
 * newton iteration on five rows costs as much as a thousand. Other bodies have 60, and what follows depends on these.
 */
static bool sweep_pile(course *c) {
  int64_t budget = fx_pile_is_wide(c->call->system) ? ROLLING_SWEEPS : c->round ? PILE_SWEEPS : BODY_SWEEPS;
  return run(c, &fx_solver_sweeps, c->call->law, budget);
}

/* Bodies that are no spheres have many contacts each, and newton is cheap there: sweeps go on as long as they promise
 * to be done within the cost of three iterations, a vectorised sweep for a quarter of another. Where they do not, what
 * follows is as for other structures. */
static bool sweep_bodies(course *c, double first, double cost) {
  fx_monitor *monitor = c->call->monitor;
  double before = first, budget = 12 * cost;
  for (double count = BODY_SWEEPS; sweeps_pay(before, monitor->residual, count, c->whole->tolerance, budget);
       budget -= count) {
    before = monitor->residual;
    if (run(c, &fx_solver_sweeps, c->call->law, (int64_t)count)) return true;
  }
  c->pile = false;
  return false;
}

/* A factorisation is worth so much more than a solution that alternating directions, which need one, may be done before
 * newton has made its third. Where they are not, they have cost two. */
static bool alternate(course *c, double cost) {
  return cost > 30 && cost < 200 && c->call->law == FRIX_LAW_COULOMB &&
         fx_monitor_time_for(c->call->monitor, 8 * cost * c->sweep_seconds + analysis_seconds(c)) &&
         run(c, &fx_solver_admm, c->call->law, ADMM_STEPS);
}

/* Sweeps until they stop paying against newton: it needs about eight iterations, and sweeps slow down as they go on, so
 * they must promise to be done within the cost of three. */
static bool sweep(course *c) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  const fx_system *s = call->system;
  uint8_t needed = call->hint;
  call->hint = FX_NEEDED_SWEEPS;
  bool pile = c->pile, hurried = monitor->limits->hurried;
  /* Under a deadline the answer shall not be worse than that of plain sweeps. */
  if (hurried && pile && fx_monitor_time_for(monitor, 45 * monitor->check_cost) && first_sweeps(c)) return true;
  if (hurried && pile && !time_to_pack(c)) return sweep_on(c, "packing");
  double first = monitor->residual;
  bool jointed = !pile && !hurried && s->contact_count > 1 && s->joint_first < s->contact_count;
  if (!jointed && (pile ? sweep_pile(c) : first_sweeps(c))) return true;
  c->swept = c->best;

  if (!fx_monitor_time_for(monitor, analysis_seconds(c))) return sweep_on(c, "an analysis");
  frix_status status;
  if (!call->linear) call->linear = fx_newton_linear_create(call->arena, s, &status);
  if (!call->linear) {
    c->status = status;
    return true;
  }
  double cost = iteration_cost(s, call->linear), spent = 0, before = monitor->residual;
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a newton iteration costs about %.0f sweeps",
         s->contact_count, cost);
  if (!fx_monitor_time_for(monitor, 3 * cost * c->sweep_seconds)) return sweep_on(c, "a factorisation");
  if (jointed && cost <= JOINT_COST) return false;
  if (jointed && first_sweeps(c)) return true;
  c->dear = pile && cost > 100;
  if (pile && !c->round && !c->dear) return sweep_bodies(c, first, cost);
  if (pile && !c->dear) return false; /* sweeps have had their turn */
  if (needed >= FX_NEEDED_NEWTON && !pile) {
    fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: needed newton the last time, no more sweeps",
           s->contact_count);
  } else {
    if (!pile && alternate(c, cost)) return true;
    do {
      before = monitor->residual;
      if (run(c, &fx_solver_nsgs, call->law, SWEEPS)) return true;
      spent += SWEEPS;
    } while (sweeps_pay(before, monitor->residual, SWEEPS, c->whole->tolerance, 3 * cost - spent));
    if (!fx_monitor_time_for(monitor, 3 * cost * c->sweep_seconds)) return sweep_on(c, "a factorisation");
  }
  /* Where one factorisation costs hundreds of sweeps, first-order methods have their turn first. */
  if (pile) return run(c, &fx_solver_sweeps, call->law, DEAR_SWEEPS);
  if (cost > 200) return run(c, &fx_solver_apgd, call->law, cost > 2000 ? 5000 : (int64_t)(2.5 * cost));
  return false;
}

/* A mixed linear complementarity problem: equations and signs, no friction. W may then be anything. */
static bool is_mlcp(const fx_system *s) {
  bool plain = true;
  for (int32_t i = 0; i < s->contact_count; i++)
    plain &= s->contact[i].cone == FRIX_CONE_LIMIT || s->contact[i].cone == FRIX_CONE_BILATERAL;
  return plain;
}

/* A pile in which a few contacts hold up all the others: these on their own, then sweeps, which spread what came of it.
 * Where that does not help, newton takes what is spread already. */
static bool mend(course *c) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  size_t bytes = (size_t)call->system->row_count * sizeof *call->r;
  for (int32_t round = 0, failures = 0; round < MENDINGS && failures < 2; round++) {
    int32_t patches;
    double before = c->best;
    if (!fx_monitor_time_for(monitor, 10 * monitor->check_cost)) return false;
    fx_arena arena;
    fx_arena_init(&arena, call->arena->context);
    fx_call inner = *call;
    inner.arena = &arena;
    memcpy(call->r, monitor->best_r, bytes);
    c->status = fx_patches_solve(&inner, &fx_solver_auto, c->dear ? 2 : 1, &patches);
    fx_arena_free(&arena);
    if (c->status != FRIX_OK) return true;
    if (patches > 0 && run(c, &fx_solver_sweeps, call->law, MENDING_SWEEPS)) return true;
    if (c->best <= 0.5 * before) {
      failures = 0;
      continue;
    }
    memcpy(call->r, monitor->best_r, bytes);
    if (run(c, &fx_solver_newton, call->law, 20)) return true;
    failures = c->best <= 0.7 * before ? 0 : failures + 1;
  }
  memcpy(call->r, monitor->best_r, bytes);
  return false;
}

/* continuation from a start, NULL: from nothing. */
static bool follow(course *c, const double *start) {
  fx_call *call = c->call;
  size_t bytes = (size_t)call->system->row_count * sizeof *call->r;
  if (start)
    memcpy(call->r, start, bytes);
  else
    memset(call->r, 0, bytes);
  return run(c, &fx_solver_continuation, call->law, c->dear ? DEAR_PATH : PATH);
}

/* continuation over rigid piles, and patches where it ends: each may help the other. From nothing it is no use there.
 */
static void follow_on(course *c) {
  double before = INFINITY;
  for (int round = 0; round < (c->dear ? 1 : 3) && c->best <= 0.9 * before; round++) {
    before = c->best;
    if (follow(c, c->call->monitor->best_r) || mend(c)) return;
  }
}

/* A pile that thousands of sweeps, newton and patches brought less than half of the way is at rest, most often, and its
 * contacts ask for corrections that contradict each other: hundreds of factorisations would be spent in vain. */
static bool stands_still(course *c) {
  if (c->best <= 0.5 * c->swept) return false;
  fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a pile that stands still at %.2e",
         c->call->system->contact_count, c->best);
  c->call->monitor->outcome = FRIX_OUTCOME_STALLED;
  return true;
}

/* Starts that differ, since a method that failed from one start will fail from it again: newton from where the sweeps
 * ended; the interior point, which has a start of its own and comes near what newton needs hundreds of iterations for,
 * or all the way; the convex relaxation, since a structure that can rest is at rest under both laws. After each of them
 * newton has its turn. What creeps along the edge between stick and slip has turning points, which continuation goes
 * round, at the price of hundreds of factorisations. Where factors cannot be had, admm brings the best answer nearer.
 */
static void struggle(course *c) {
  fx_call *call = c->call;
  size_t bytes = (size_t)call->system->row_count * sizeof *call->r;
  bool hard = call->hint == FX_NEEDED_START, coulomb = call->law == FRIX_LAW_COULOMB;
  call->hint = FX_NEEDED_NEWTON;
  if (hard)
    fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: newton alone did not do the last time, briefly",
           call->system->contact_count);
  bool grains = c->pile && is_rigid(call->system);
  if (!(grains && c->dear) && run(c, &fx_solver_newton, call->law, grains || hard ? 10 : c->pile ? 60 : 20)) return;
  if (grains && mend(c)) return;
  if (c->dear && stands_still(c)) return;
  call->left_off = call->of_many && !c->dear && c->best <= 10 * c->whole->tolerance;
  if (call->left_off) return;
  /* So near it is most often done before another method has begun. */
  bool near = c->best <= 1e3 * c->whole->tolerance;
  if (near && !c->pile && !hard && run(c, &fx_solver_newton, call->law, 10)) return;
  call->hint = FX_NEEDED_START;
  if (coulomb && is_mlcp(call->system)) {
    memset(call->r, 0, bytes);
    if (run(c, &fx_solver_semismooth, call->law, 500)) return;
  }
  /* Its systems are too hard for iteration. Its first check comes after three factorisations. */
  bool factors = !call->linear->by_iteration;
  if (!fx_monitor_time_for(call->monitor, 4 * call->monitor->pace)) {
    call->monitor->outcome = FRIX_OUTCOME_TIME_LIMIT;
    return;
  }
  if (coulomb && factors && !c->dear && run(c, &fx_solver_interior_point, call->law, 260)) return;
  if (!(c->dear && factors) && run(c, &fx_solver_newton, call->law, 60)) return;
  if (!c->pile) { /* a pile in motion is no structure at rest */
    if (factors && run(c, &fx_solver_interior_point, FRIX_LAW_ASSOCIATED, 50)) return;
    if (run(c, &fx_solver_newton, call->law, 60)) return;
  }
  if (grains && factors) {
    follow_on(c);
    return;
  }
  if (factors && (follow(c, call->monitor->best_r) || follow(c, NULL))) return;
  double last = INFINITY;
  for (int64_t round = 0, growth = 1; round < (c->pile ? 1 : ROUNDS); round++, growth *= GROWTH) {
    memcpy(call->r, call->monitor->best_r, bytes);
    if (run(c, &fx_solver_admm, call->law, 300 * growth)) return;
    if (call->monitor->residual == last) return; /* it stands where it stood, and so would newton */
    last = call->monitor->residual;
    if (run(c, &fx_solver_newton, call->law, c->dear ? 60 : 2000)) return;
  }
}

/* Where the user names a tolerance for large rigid piles, they are left there; the outcome says so. */
static bool leave_early(course *c) {
  const fx_call *call = c->call;
  double loose = call->option[PILE_TOLERANCE];
  if (!c->pile || !(loose > c->whole->tolerance) || call->system->contact_count < call->option[PILE]) return false;
  if (!is_rigid(call->system)) return false;
  c->part.tolerance = loose;
  return true;
}

/* Contacts with compliance, where a factorisation costs no more than some sweeps: their forces are unique, and newton
 * on the velocities needs a few steps. */
static bool try_springs(course *c) {
  fx_call *call = c->call;
  const fx_system *s = call->system;
  if (call->law != FRIX_LAW_COULOMB || is_rigid(s) || !fx_spring_newton_fits(s) || call->monitor->limits->hurried)
    return false;
  if (!(call->monitor->best <= SPRING_START) || s->contact_count <= FX_SMALL_ISLAND) return false;
  frix_status status;
  call->linear = fx_newton_linear_create(call->arena, s, &status);
  if (!call->linear) {
    c->status = status;
    return true;
  }
  double cost = iteration_cost(s, call->linear);
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a newton iteration costs about %.0f sweeps",
         s->contact_count, cost);
  return cost <= SPRING_COST && run(c, &fx_solver_spring_newton, call->law, SPRING_STEPS);
}

static frix_status solve(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  course c = {.call = call, .whole = monitor->limits, .part = *monitor->limits, .best = monitor->best};
  uint8_t needed = call->hint;
  monitor->limits = &c.part;
  look_for_pile(&c);
  bool early = leave_early(&c);
  if (!try_springs(&c) && !sweep(&c)) {
    call->hint = needed;
    struggle(&c);
  }
  monitor->limits = c.whole;
  call->packed = NULL;
  if (early && monitor->outcome == FRIX_OUTCOME_SOLVED && monitor->best > c.whole->tolerance) {
    monitor->outcome = FRIX_OUTCOME_LOOSE;
    fx_log(call->arena->context, FRIX_LOG_INFO,
           "auto: %d contacts: a large rigid pile, left at auto.pile_tolerance %.0e, residual %.2e",
           call->system->contact_count, c.part.tolerance, monitor->best);
  }
  return c.status;
}

const fx_solver fx_solver_auto = {
    .info = {.name = "auto",
             .summary = "the default: exact sweeps, then newton and admm in turn until one is certified",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .prefers_velocity = true,
    .solve = solve,
};
