/* auto: the default.
 *
 * Structures of many bodies that stand are answered by following their loads (load_path_rest.c). Exact sweeps finish
 * most small problems and go on as long as they will be done sooner than newton; newton finishes most others, the
 * interior point and continuation what it leaves open. Piles begin with vectorised sweeps; in rigid ones the few
 * contacts that hold up the sweeps are solved on their own (patches.h). Where a newton iteration costs hundreds of
 * sweeps, a first-order method has its turn before it. What is still open, other methods bring near enough for newton
 * to try again. Budgets are counted in iterations, so that the answer does not depend on the machine; only under a
 * deadline is a stage left out that would end too late.
 * --explain shows each decision. */
#include "problem/round_rows.h"
#include "solver/exact_sweep.h"
#include "solver/load_path.h"
#include "solver/newton_linear.h"
#include "solver/patches.h"
#include "solver/small_island.h"
#include "solver/solver.h"
#include "solver/sweeps.h"

#include <math.h>
#include <string.h>

/* ---- thresholds: unit, where they come from, and what another value costs (docs/methods/auto.md) ---- */

/* contacts */
enum {
  GRAINS = 60,   /* vectorised sweeps pay from here on spheres: a batch has eight of them */
  BODIES = 2000, /* the same for other bodies, where newton is cheap */
  CROWD = 16     /* contacts per body at most in a pile of bodies: more are few bodies with wide faces */
};

/* iterations; sweeps are nsgs', vectorised ones cost a quarter */
enum {
  SWEEPS = 10,              /* from one look at their rate to the next */
  PILE_SWEEPS = 300,        /* of spheres: with momentum worth thousands */
  BODY_SWEEPS = 60,         /* of other bodies, before newton is compared */
  ROLLING_SWEEPS = 3000,    /* a newton iteration on five rows costs as much as a thousand */
  EXPENSIVE_SWEEPS = 12000, /* of a pile where newton costs hundreds each */
  MENDING_SWEEPS = 3000,    /* spread what patches did */
  ADMM_STEPS = 40,
  SPRING_STEPS = 4,
  WIDE_STEPS = 12,
  WIDE = 12,
  NEWTON_STEPS = 20,
  BRIEF_STEPS = 10,  /* of newton, where it is known not to do, or nearly done */
  PILE_STEPS = 60,   /* of newton on piles, and after the interior point */
  LONG_STEPS = 2000, /* of newton after admm */
  INTERIOR_STEPS = 260,
  RELAXED_STEPS = 50, /* of the interior point under the associated law */
  MLCP_STEPS = 500,
  LONG = 4000,          /* contacts: what slides in a long chain spreads by some rods an iteration of newton */
  PATH = 4000,          /* factorisations of continuation */
  SPRING_PATH = 200,    /* the same over compliant contacts, before the interior point */
  EXPENSIVE_PATH = 600, /* the same where each costs a hundred sweeps */
  MENDINGS = 12,        /* rounds of patches */
  ROUNDS = 5,           /* of admm and newton in turn, each GROWTH times as long as the one before */
  GROWTH = 4,
  ALTERNATING_STEPS = 300 /* of admm in the first of them */
};

/* cost of a newton iteration, in sweeps of nsgs */
enum {
  SPRING_COST = 100, /* at most, for newton on the velocities before any sweep */
  JOINT_COST = 200,  /* joints are newton's, unless it costs more */
  ADMM_LOW = 30,     /* between these admm, which needs one factorisation, comes before newton */
  ADMM_HIGH = 200,
  EXPENSIVE = 100,  /* a pile from here on is expensive */
  APGD_COST = 200,  /* from here on a first-order method has its turn */
  APGD_MOST = 2000, /* cost that its budget follows: 2.5 of its iterations for each sweep */
  APGD_STEPS = 5000 /* beyond */
};

static const double spring_start = 1e-3; /* residual: newton on the velocities converges from there, most often */
static const double near_enough = 1e3;   /* times the tolerance: ten more iterations of newton are most often enough */
static const double left_near = 10;      /* times the tolerance: an island of many waits for the verdict on the whole */
static const double mended = 0.5;        /* of the residual: a round of patches that reached this was worth it */
static const double helped = 0.7, led_on = 0.9; /* the same of newton after patches, and of continuation */

enum { PILE = FX_AUTO_PILE, PILE_TOLERANCE = FX_AUTO_PILE_TOLERANCE, WORK = FX_AUTO_WORK };

static const frix_option_info options[] = {
    [PILE] = {"pile", FRIX_OPTION_INTEGER, BODIES, 1, 1e9, NULL,
              "contacts from which a rigid pile is left at pile_tolerance, where that is set"},
    [PILE_TOLERANCE] = {"pile_tolerance", FRIX_OPTION_REAL, 0, 0, 1, NULL,
                        "residual at which a large rigid pile is left, outcome loose; 0: the tolerance asked for"},
    [WORK] = {"work", FRIX_OPTION_REAL, 2e5, 0, 1e15, NULL,
              "work on an island of rigid contacts that has a start, in sweeps over it; then it is left; 0: no limit"},
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
  bool expensive;       /* a pile where an iteration of newton costs as much as a hundred sweeps */
  bool jointed;         /* several rows with a joint among them, and no hurry */
  bool grains;          /* a rigid pile */
  bool cold;            /* from nothing */
  bool led;             /* loads were followed to all but a few bodies, and newton did not end it from there */
  bool enough_sweeps;   /* the others are newton's */
  double first;         /* residual before the first sweeps */
  double cost;          /* of an iteration of newton, in sweeps */
  double work;          /* left, in sweeps; INFINITY: no limit */
  uint8_t needed;       /* what the island needed the last time */
  fx_exact_sweep packed;
  frix_status status;
} course;

/* An iteration of a method, in sweeps. */
static double unit_of(const course *c, const fx_solver *solver) {
  if (solver == &fx_solver_nsgs) return 1;
  return solver == &fx_solver_sweeps || solver == &fx_solver_apgd ? 0.25 : fmax(c->cost, 1);
}

/* The budget, or what the work that is left allows; 0: nothing. */
static int64_t affordable(const course *c, const fx_solver *solver, int64_t budget) {
  double most = c->work / unit_of(c, solver);
  if ((double)budget <= most) return budget;
  if (most < 1)
    fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: the work of auto.work is done",
           c->call->system->contact_count);
  return (int64_t)most;
}

static bool run(course *c, const fx_solver *solver, frix_law law, int64_t budget) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  if (law == FRIX_LAW_ASSOCIATED && !solver->info.associated) return false;
  int64_t used = monitor->before + monitor->iteration;
  int64_t left = c->whole->max_iterations ? c->whole->max_iterations - used : budget;
  left = affordable(c, solver, left);
  c->part.max_iterations = budget < left ? budget : left;
  if (c->part.max_iterations < 1) {
    if (monitor->outcome == FRIX_OUTCOME_STALLED) monitor->outcome = FRIX_OUTCOME_MAX_ITERATIONS;
    return true;
  }
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
  c->work -= unit_of(c, solver) * (double)monitor->iteration;
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
  c->round = fx_round_sample(s);
  c->pile = c->round || (s->contact_count >= BODIES && s->contact_count <= CROWD * (int64_t)s->mover_count);
}

static bool is_rigid(const fx_system *s) {
  for (int32_t k = 0; s->R && k < s->row_count; k++)
    if (s->R[k] > 0) return false;
  return true;
}

/* ---- structures at rest ---- */

static bool analyse(course *c);

/* All but a few bodies are balanced: what is left around these is newton's. */
static bool finish_loads(course *c) {
  fx_call *call = c->call;
  size_t bytes = (size_t)call->system->row_count * sizeof *call->r;
  bool stop = analyse(c) || run(c, &fx_solver_newton, call->law, BRIEF_STEPS);
  if (!stop) memcpy(call->r, call->monitor->best_r, bytes);
  c->led = !stop;
  return stop;
}

/* Where the loads lead to forces that hold everything, these are the answer, unless w lets something move. */
static bool follow_loads(course *c) {
  fx_call *call = c->call;
  fx_monitor *monitor = call->monitor;
  int32_t left = fx_load_path_rest(call, &c->status);
  if (left < 0 || c->status != FRIX_OK) return c->status != FRIX_OK;
  fx_monitor_begin(monitor, 1);
  bool stop = fx_monitor_check(monitor, 0, call->r);
  if (monitor->best < c->best) c->best = monitor->best;
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: loads followed down, %d bodies left: residual %.2e%s",
         call->system->contact_count, left, monitor->residual, stop ? ", done" : "");
  return stop || (left > 0 && finish_loads(c));
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

static bool is_hurried(const course *c) { return c->call->monitor->limits->hurried; }

/* Under a deadline the answer must not be worse than that of plain sweeps. */
static bool sweep_in_a_hurry(course *c) {
  fx_monitor *monitor = c->call->monitor;
  c->call->hint = FX_NEEDED_SWEEPS;
  if (fx_monitor_time_for(monitor, 45 * monitor->check_cost) && first_sweeps(c)) return true;
  return !time_to_pack(c) && sweep_on(c, "packing");
}

/* Spheres have more vectorised sweeps than other bodies, those with rolling friction the most. */
static bool begin_sweeps(course *c) {
  const fx_system *s = c->call->system;
  int64_t budget = fx_pile_is_wide(s) ? ROLLING_SWEEPS : c->round ? PILE_SWEEPS : BODY_SWEEPS;
  c->first = c->call->monitor->residual;
  c->call->hint = FX_NEEDED_SWEEPS;
  bool stop = c->jointed ? false : c->pile ? run(c, &fx_solver_sweeps, c->call->law, budget) : first_sweeps(c);
  c->swept = c->best;
  return stop;
}

/* What an iteration of newton costs; under a deadline there may be no time for that, or for a factorisation. */
static bool analyse(course *c) {
  fx_call *call = c->call;
  frix_status status;
  if (!fx_monitor_time_for(call->monitor, analysis_seconds(c))) return sweep_on(c, "an analysis");
  if (!call->linear) call->linear = fx_newton_linear_create(call->arena, call->system, &status);
  if (!call->linear) {
    c->status = status;
    return true;
  }
  c->cost = iteration_cost(call->system, call->linear);
  fx_log(call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a newton iteration costs about %.0f sweeps",
         call->system->contact_count, c->cost);
  if (!fx_monitor_time_for(call->monitor, 3 * c->cost * c->sweep_seconds)) return sweep_on(c, "a factorisation");
  c->expensive = c->pile && c->cost > EXPENSIVE;
  c->enough_sweeps = c->jointed ? c->cost <= JOINT_COST : c->pile && c->round && !c->expensive;
  return false;
}

/* Bodies that are no spheres have many contacts each, and newton is cheap there: sweeps go on as long as they promise
 * to be done within the cost of three iterations, a vectorised sweep for a quarter of another. Where they do not, what
 * follows is as for other structures. */
static bool sweep_bodies(course *c) {
  fx_monitor *monitor = c->call->monitor;
  double before = c->first, budget = 12 * c->cost;
  for (double count = BODY_SWEEPS; sweeps_pay(before, monitor->residual, count, c->whole->tolerance, budget);
       budget -= count) {
    before = monitor->residual;
    if (run(c, &fx_solver_sweeps, c->call->law, (int64_t)count)) return true;
  }
  c->pile = false;
  c->enough_sweeps = true;
  return false;
}

/* A factorisation is worth so much more than a solution that alternating directions, which need one, may be done before
 * newton has made its third. Where they are not, they have cost two. */
static bool alternate_once(course *c) {
  return fx_monitor_time_for(c->call->monitor, 8 * c->cost * c->sweep_seconds + analysis_seconds(c)) &&
         run(c, &fx_solver_admm, c->call->law, ADMM_STEPS);
}

/* Sweeps until they stop paying against newton: it needs about eight iterations, and sweeps slow down as they go on, so
 * they must promise to be done within the cost of three. */
static bool sweep_more(course *c) {
  fx_monitor *monitor = c->call->monitor;
  double spent = 0, before;
  do {
    before = monitor->residual;
    if (run(c, &fx_solver_nsgs, c->call->law, SWEEPS)) return true;
    spent += SWEEPS;
  } while (sweeps_pay(before, monitor->residual, SWEEPS, c->whole->tolerance, 3 * c->cost - spent));
  return !fx_monitor_time_for(monitor, 3 * c->cost * c->sweep_seconds) && sweep_on(c, "a factorisation");
}

/* Where one factorisation costs hundreds of sweeps, first-order methods have their turn first. */
static bool sweep_expensive_pile(course *c) { return run(c, &fx_solver_sweeps, c->call->law, EXPENSIVE_SWEEPS); }

static bool descend(course *c) {
  return run(c, &fx_solver_apgd, c->call->law, c->cost > APGD_MOST ? APGD_STEPS : (int64_t)(2.5 * c->cost));
}

/* ---- newton and what brings it nearer ---- */

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
    c->status = fx_patches_solve(&inner, &fx_solver_auto, c->expensive ? 2 : 1, &patches);
    fx_arena_free(&arena);
    if (c->status != FRIX_OK) return true;
    if (patches > 0 && run(c, &fx_solver_sweeps, call->law, MENDING_SWEEPS)) return true;
    if (c->best <= mended * before) {
      failures = 0;
      continue;
    }
    memcpy(call->r, monitor->best_r, bytes);
    if (run(c, &fx_solver_newton, call->law, NEWTON_STEPS)) return true;
    failures = c->best <= helped * before ? 0 : failures + 1;
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
  return run(c, &fx_solver_continuation, call->law, c->expensive ? EXPENSIVE_PATH : PATH);
}

/* continuation over rigid piles, and patches where it ends: each may help the other. From nothing it is no use there.
 */
static bool follow_on(course *c) {
  double before = INFINITY;
  for (int round = 0; round < (c->expensive ? 1 : 3) && c->best <= led_on * before; round++) {
    before = c->best;
    if (follow(c, c->call->monitor->best_r) || mend(c)) return true;
  }
  return true;
}

/* A pile that thousands of sweeps, newton and patches brought less than half of the way is at rest, most often, and its
 * contacts ask for corrections that contradict each other: hundreds of factorisations would gain nothing. */
static bool stands_still(course *c) {
  if (c->best <= 0.5 * c->swept) return false;
  fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: a pile that stands still at %.2e",
         c->call->system->contact_count, c->best);
  c->call->monitor->outcome = FRIX_OUTCOME_STALLED;
  return true;
}

static bool is_coulomb(const course *c) { return c->call->law == FRIX_LAW_COULOMB; }
/* The last time newton alone did not do. */
static bool is_hard(const course *c) { return c->needed == FX_NEEDED_START; }
/* The systems of some methods are too hard for iteration. */
static bool has_factors(const course *c) { return !c->call->linear->by_iteration; }

static bool iterate_newton(course *c, int64_t budget) { return run(c, &fx_solver_newton, c->call->law, budget); }

/* Contacts with compliance that sweeps did not solve, and no few of them. Not where trees take part: the answer that
 * continuation found for a chain of links stood so near the edge of two states that its derivative was wrong. */
static bool springs_jam(const course *c) {
  const fx_system *s = c->call->system;
  return is_coulomb(c) && !s->motion && !is_rigid(s) && has_factors(c) && !is_hurried(c) && fx_spring_newton_fits(s) &&
         s->contact_count > FX_SMALL_ISLAND;
}

static bool first_newton(course *c) {
  c->call->hint = FX_NEEDED_NEWTON;
  c->grains = c->pile && is_rigid(c->call->system);
  if (!c->pile && !c->enough_sweeps && c->needed >= FX_NEEDED_NEWTON)
    fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: needed newton the last time, no more sweeps",
           c->call->system->contact_count);
  if (is_hard(c))
    fx_log(c->call->arena->context, FRIX_LOG_INFO, "auto: %d contacts: newton alone did not do the last time, briefly",
           c->call->system->contact_count);
  if (c->grains && c->expensive) return false;
  bool long_way = c->pile && !springs_jam(c);
  return iterate_newton(c, c->grains || is_hard(c) ? BRIEF_STEPS : long_way ? PILE_STEPS : NEWTON_STEPS);
}

/* Of many islands one that is nearly solved waits for the verdict on the whole. */
static bool leave_near(course *c) {
  fx_call *call = c->call;
  call->left_off = call->of_many && !c->expensive && c->best <= left_near * c->whole->tolerance;
  return call->left_off;
}

/* So near it is most often done before another method has begun. */
static bool finish_near(course *c) {
  bool near = c->best <= near_enough * c->whole->tolerance && !c->pile && !is_hard(c);
  if (near && iterate_newton(c, BRIEF_STEPS)) return true;
  c->call->hint = FX_NEEDED_START;
  return false;
}

static bool solve_mlcp(course *c) {
  memset(c->call->r, 0, (size_t)c->call->system->row_count * sizeof *c->call->r);
  return run(c, &fx_solver_semismooth, c->call->law, MLCP_STEPS);
}

/* From a start of its own it comes near what newton needs hundreds of iterations for, or all the way. Its first check
 * comes after three factorisations. */
static bool interior(course *c) {
  if (!fx_monitor_time_for(c->call->monitor, 4 * c->call->monitor->pace)) {
    c->call->monitor->outcome = FRIX_OUTCOME_TIME_LIMIT;
    return true;
  }
  bool fits = is_coulomb(c) && has_factors(c) && !c->expensive;
  return fits && run(c, &fx_solver_interior_point, c->call->law, INTERIOR_STEPS);
}

/* A structure that can rest is at rest under both laws, and the convex one is easier. */
static bool relax(course *c) {
  if (has_factors(c) && run(c, &fx_solver_interior_point, FRIX_LAW_ASSOCIATED, RELAXED_STEPS)) return true;
  return iterate_newton(c, PILE_STEPS);
}

static bool newton_again(course *c) { return !(c->expensive && has_factors(c)) && iterate_newton(c, PILE_STEPS); }

/* Contacts with compliance and friction that jams: newton stalls at a turning point, which continuation passes. The
 * interior point cannot use a start, takes as long as three such paths, and most often ends where it began. */
static bool follow_springs(course *c) {
  fx_call *call = c->call;
  if (!fx_monitor_time_for(call->monitor, 4 * call->monitor->pace)) return false;
  memcpy(call->r, call->monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
  return run(c, &fx_solver_continuation, call->law, c->expensive ? PILE_STEPS : SPRING_PATH);
}

static bool follow_twice(course *c) { return follow(c, c->call->monitor->best_r) || follow(c, NULL); }

/* Where factors cannot be had, admm brings the best answer nearer. */
static bool alternate(course *c) {
  fx_call *call = c->call;
  double last = INFINITY;
  for (int64_t round = 0, growth = 1; round < (c->pile ? 1 : ROUNDS); round++, growth *= GROWTH) {
    memcpy(call->r, call->monitor->best_r, (size_t)call->system->row_count * sizeof *call->r);
    if (run(c, &fx_solver_admm, call->law, ALTERNATING_STEPS * growth)) return true;
    if (call->monitor->residual == last) return true; /* it stands where it stood, and so would newton */
    last = call->monitor->residual;
    if (iterate_newton(c, c->expensive ? PILE_STEPS : LONG_STEPS)) return true;
  }
  return true;
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

/* Movers of many coordinates, soft bodies: an iteration of newton costs no more than a few sweeps. */
static bool is_wide(const fx_system *s) {
  for (int32_t m = 0; m < s->mover_count; m++)
    if (s->dof[m + 1] - s->dof[m] > WIDE) return true;
  return false;
}

/* Contacts with compliance, where a factorisation costs no more than some sweeps: their forces are unique, and newton
 * on the velocities needs a few steps. */
static bool springs_fit(const course *c) {
  const fx_call *call = c->call;
  const fx_system *s = call->system;
  return is_coulomb(c) && !is_rigid(s) && fx_spring_newton_fits(s) && !is_hurried(c) &&
         call->monitor->best <= spring_start && s->contact_count > FX_SMALL_ISLAND;
}

static bool solve_springs(course *c) {
  if (analyse(c)) return true;
  int64_t steps = is_wide(c->call->system) ? WIDE_STEPS : SPRING_STEPS;
  return c->cost <= SPRING_COST && run(c, &fx_solver_spring_newton, c->call->law, steps);
}

/* ---- the stages ---- */

static bool always(const course *c) {
  (void)c;
  return true;
}
static bool is_hurried_pile(const course *c) { return is_hurried(c) && c->pile; }
static bool is_cold(const course *c) { return c->cold; }
/* The iterations of the interior point do not grow with the length. */
static bool is_long(const course *c) {
  return c->jointed && c->cold && !c->expensive && c->cost <= JOINT_COST && c->call->system->contact_count >= LONG;
}
static bool is_led(const course *c) { return c->led; }
static bool is_untried(const course *c) { return !is_long(c) && !c->led; } /* with the interior point */
static bool is_expensive_joint(const course *c) { return c->jointed && !c->enough_sweeps; }
static bool is_pile_of_bodies(const course *c) { return c->pile && !c->round && !c->expensive && !c->enough_sweeps; }
static bool may_sweep(const course *c) { return !c->enough_sweeps && (c->needed < FX_NEEDED_NEWTON || c->pile); }
static bool may_alternate(const course *c) {
  return may_sweep(c) && !c->pile && c->cost > ADMM_LOW && c->cost < ADMM_HIGH && is_coulomb(c);
}
static bool is_expensive_pile(const course *c) { return !c->enough_sweeps && c->pile; }
static bool is_expensive(const course *c) { return !c->enough_sweeps && !c->pile && c->cost > APGD_COST; }
static bool has_grains(const course *c) { return c->grains; }
static bool is_expensive_at_last(const course *c) { return c->expensive; }
static bool is_complementarity(const course *c) { return is_coulomb(c) && is_mlcp(c->call->system); }
static bool is_structure(const course *c) { return !c->pile; } /* a pile in motion is none at rest */
static bool expensive_springs_jam(const course *c) { return c->expensive && springs_jam(c); }
static bool grains_have_factors(const course *c) { return c->grains && has_factors(c); }

/* In this order, those whose condition holds; a stage that returns true ends it. Starts differ from stage to stage,
 * since a method that failed from one start will fail from it again. What creeps along the edge between stick and slip
 * has turning points, which continuation goes round, at the price of hundreds of factorisations. */
static const struct {
  bool (*when)(const course *c);
  bool (*run)(course *c);
} stages[] = {
    {is_cold, follow_loads},             /* rigid structures of many bodies that stand */
    {springs_fit, solve_springs},        /* spring_newton, where contacts are compliant and the start is near */
    {is_led, interior},                  /* what newton leaves of those that nearly stand */
    {is_hurried_pile, sweep_in_a_hurry}, /* ten plain sweeps under a deadline */
    {always, begin_sweeps},             /* vectorised sweeps over piles, ten exact ones over others, none over joints */
    {always, analyse},                  /* what newton costs: whatever follows depends on it */
    {is_expensive_joint, first_sweeps}, /* joints whose factors are expensive */
    {is_pile_of_bodies, sweep_bodies},  /* as long as they will be done before newton */
    {may_alternate, alternate_once},    /* admm: one factorisation */
    {may_sweep, sweep_more},            /* exact sweeps, as long as they will be done before newton */
    {is_expensive_pile, sweep_expensive_pile}, /* thousands of vectorised sweeps */
    {is_expensive, descend},                   /* apgd */
    {is_long, interior},                       /* long chains from nothing */
    {always, first_newton},
    {has_grains, mend},                      /* patches */
    {expensive_springs_jam, follow_springs}, /* continuation round turning points of compliant contacts */
    {is_expensive_at_last, stands_still},
    {always, leave_near},
    {always, finish_near},
    {is_complementarity, solve_mlcp},
    {springs_jam, follow_springs},
    {is_untried, interior},
    {always, newton_again},
    {is_structure, relax},            /* the associated law, and newton from there */
    {grains_have_factors, follow_on}, /* continuation and patches in turn; the end for rigid piles */
    {has_factors, follow_twice},      /* continuation from the best answer, and from nothing */
    {always, alternate},              /* admm and newton with growing budgets */
};

static frix_status solve(fx_call *call) {
  fx_monitor *monitor = call->monitor;
  const fx_system *s = call->system;
  course c = {.call = call, .whole = monitor->limits, .part = *monitor->limits, .best = monitor->best};
  c.needed = call->hint;
  c.cold = true;
  for (int32_t k = 0; k < s->row_count && c.cold; k++) c.cold = call->r[k] == 0;
  monitor->limits = &c.part;
  c.work = is_rigid(s) && !c.cold && call->option[WORK] > 0 ? call->option[WORK] : INFINITY;
  look_for_pile(&c);
  c.jointed = !c.pile && !monitor->limits->hurried && s->contact_count > 1 && s->joint_first < s->contact_count;
  bool early = leave_early(&c);
  for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
    if (stages[k].when(&c) && stages[k].run(&c)) break;
  monitor->limits = c.whole;
  call->packed = NULL;
  if (early && monitor->outcome == FRIX_OUTCOME_SOLVED && monitor->best > c.whole->tolerance) {
    monitor->outcome = FRIX_OUTCOME_LOOSE;
    fx_log(call->arena->context, FRIX_LOG_INFO,
           "auto: %d contacts: a large rigid pile, left at auto.pile_tolerance %.0e, residual %.2e", s->contact_count,
           c.part.tolerance, monitor->best);
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
