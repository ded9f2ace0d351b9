/* staggered: contact and friction as two convex projections in alternation.
 *
 *   alpha := argmin over alpha >= 0 of 1/2 alpha' W_NN alpha + alpha' (q_N + W_NT f)           contact, joints included
 *   f     := argmin over f in F(alpha) of 1/2 f' W_TT f + f' (q_T + W_TN alpha)                friction, alpha > 0 only
 *
 * F(alpha) is the friction set scaled by the normal impulse: discs, ellipses, polygons, segments, pairs of discs. Both
 * are projections in the kinetic metric; a fixed point of their sequence obeys Coulomb's law. Each answer shown to the
 * monitor ends with a contact projection, so that Signorini's condition holds however early the sequence is cut off.
 * Reference: D. M. Kaufman, S. Sueda, D. L. James, D. K. Pai, Staggered projections for frictional contact in multibody
 * systems, 2008; D. M. Kaufman's thesis, algorithm 1 and equations (5.20) to (5.24). */
#include "base/threads.h"
#include "problem/cone.h"
#include "solver/anderson.h"
#include "solver/conic.h"
#include "solver/scaling.h"
#include "solver/solver.h"
#include "solver/subsystem.h"

#include <math.h>
#include <string.h>

enum { ANDERSON, FRICTION_ERROR };

static const frix_option_info options[] = {
    {"anderson", FRIX_OPTION_INTEGER, 10, 0, FX_ANDERSON_LARGEST, NULL, "differences used to accelerate; 0: plain"},
    {"friction_error", FRIX_OPTION_REAL, 1e-28, 0, 1, NULL, "stop when friction changes less, squared, kinetic metric"},
};

/* What is shown ends with a contact projection, and Signorini's condition must then hold: never looser than this. */
static const double contact_tolerance = 1e-10;

/* One of the two projections. */
typedef struct projection {
  fx_slice *slice;
  fx_system system;
  fx_conic conic;
  bool warm;    /* the last answer is a start */
  bool guessed; /* x is a guess, z is not known yet */
  double floor; /* what it could reach lately, where rounding (an indefinite W) keeps it from more */
} projection;

typedef struct state {
  fx_call *call;
  const fx_system *s;
  projection contact, friction;
  frix_contact *full;              /* the contacts that have friction, whole */
  double *r, *u, *v;               /* the whole: impulses, and workspace */
  double *normal;                  /* their normal impulses */
  double *f, *image, *best, *step; /* friction, scaled: in, out, cached by (5.22), workspace */
  double best_residual;
  fx_anderson anderson;
  double tolerance; /* of the projections */
} state;

/* ---- setup ---- */

static bool has_friction(const frix_contact *c) {
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR:
    case FRIX_CONE_PYRAMID:
    case FRIX_CONE_PLANAR: return c->mu > 0;
    case FRIX_CONE_ELLIPTIC: return c->mu > 0 || c->mu2 > 0;
    case FRIX_CONE_ROLLING: return c->mu > 0 || c->mu_r > 0;
    default: return false;
  }
}

static frix_status slice_contacts(state *t, fx_arena *arena) {
  const fx_system *s = t->s;
  int32_t n = s->contact_count, count = 0;
  t->contact.slice = FX_TAKE(arena, fx_slice, n);
  t->friction.slice = FX_TAKE(arena, fx_slice, n);
  t->full = FX_TAKE(arena, frix_contact, n);
  if (!t->contact.slice || !t->friction.slice || !t->full) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    const frix_contact *c = &s->contact[i];
    bool joint = c->cone == FRIX_CONE_BILATERAL;
    t->contact.slice[i] = (fx_slice){i, 0, joint ? c->dim : 1, joint ? FRIX_CONE_BILATERAL : FRIX_CONE_LIMIT};
    if (!has_friction(c)) continue;
    t->full[count] = *c;
    t->friction.slice[count++] = (fx_slice){i, 1, c->dim - 1, c->cone};
  }
  frix_status status = fx_subsystem(arena, s, n, t->contact.slice, &t->contact.system);
  if (status == FRIX_OK) status = fx_subsystem(arena, s, count, t->friction.slice, &t->friction.system);
  if (status == FRIX_OK) status = fx_conic_setup(arena, &t->contact.system, NULL, NULL, &t->contact.conic);
  if (status == FRIX_OK) status = fx_conic_setup(arena, &t->friction.system, t->full, NULL, &t->friction.conic);
  return status;
}

static frix_status take(state *t, fx_arena *arena) {
  frix_status status = slice_contacts(t, arena);
  if (status != FRIX_OK) return status;
  int32_t rows = t->friction.system.row_count;
  double **whole[] = {&t->r, &t->u}, **tangential[] = {&t->f, &t->image, &t->best, &t->step};
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
    if (!(*whole[k] = FX_TAKE(arena, double, t->s->row_count))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof tangential / sizeof *tangential; k++)
    if (!(*tangential[k] = FX_TAKE(arena, double, rows))) return FRIX_ERROR_MEMORY;
  t->v = FX_TAKE(arena, double, t->s->dof_count);
  t->normal = FX_TAKE(arena, double, t->friction.system.contact_count);
  if (!t->v || !t->normal) return FRIX_ERROR_MEMORY;
  t->best_residual = INFINITY;
  return fx_anderson_init(arena, rows, (int32_t)t->call->option[ANDERSON], &t->anderson);
}

/* ---- the projections ---- */

/* Ends a projection when the whole solve must end. */
static bool out_of_time(fx_conic *conic, void *user) {
  (void)conic;
  const fx_limits *limits = ((state *)user)->call->monitor->limits;
  if (limits->deadline > 0 && fx_seconds() >= limits->deadline) return true;
  return limits->cancel && limits->cancel(limits->user);
}

/* Sets the rows of the projection in r to its minimiser, the others kept. */
static void project(state *t, projection *p, double tolerance) {
  fx_conic *c = &p->conic;
  const fx_system *part = &p->system;
  /* Free velocity of these rows: the whole velocity without their own impulses. */
  for (int32_t k = 0; k < part->contact_count; k++)
    memset(t->r + t->s->row[p->slice[k].contact] + p->slice[k].first, 0, (size_t)p->slice[k].count * sizeof *t->r);
  fx_system_velocity(t->s, t->r, t->u, t->v);
  fx_subsystem_gather(t->s, part, p->slice, t->u, c->q);
  for (int32_t k = 0; k < part->row_count; k++) c->q[k] *= c->S[k];
  if (p->guessed) fx_conic_warm(c);
  fx_conic_run run = {
      .warm = p->warm || p->guessed, .tolerance = tolerance, .max_steps = 80, .stop = out_of_time, .user = t};
  run.accept = 3 * p->floor;
  fx_conic_end end = fx_conic_solve(c, &run);
  p->floor = end == FX_CONIC_STALLED ? c->best : 0.7 * p->floor;
  p->warm = true;
  p->guessed = false;
  for (int32_t k = 0; k < part->row_count; k++) c->dx[k] = c->S[k] * c->x[k];
  fx_subsystem_scatter(t->s, part, p->slice, c->dx, t->r);
}

/* r from friction f (scaled) by a contact projection. */
static void project_contact(state *t, const double *f) {
  const projection *p = &t->friction;
  for (int32_t k = 0; k < p->system.row_count; k++) p->conic.dx[k] = p->conic.S[k] * f[k];
  fx_subsystem_scatter(t->s, &p->system, p->slice, p->conic.dx, t->r);
  project(t, &t->contact, t->tolerance < contact_tolerance ? t->tolerance : contact_tolerance);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    if (t->s->contact[i].cone != FRIX_CONE_BILATERAL && t->r[t->s->row[i]] < 0) t->r[t->s->row[i]] = 0;
}

/* Friction sets from the normal impulses in r, then the projection; image is the new friction, scaled. */
static void project_friction(state *t) {
  projection *p = &t->friction;
  double most = 0;
  for (int32_t k = 0; k < p->system.contact_count; k++) {
    t->normal[k] = t->r[t->s->row[p->slice[k].contact]];
    if (t->normal[k] > most) most = t->normal[k];
  }
  for (int32_t k = 0; k < p->system.contact_count; k++) /* impulses that are only rounding carry no friction */
    fx_conic_impulse(&p->conic, k, t->normal[k] > 1e-14 * most ? t->normal[k] : 0);
  project(t, p, t->tolerance);
  memcpy(t->image, p->conic.x, (size_t)p->system.row_count * sizeof *t->image);
}

/* (5.21): | image - f |^2 / | f |^2 in the kinetic metric */
static double friction_error(state *t) {
  fx_conic *c = &t->friction.conic;
  int32_t n = c->row_count;
  for (int32_t k = 0; k < n; k++) t->step[k] = t->image[k] - t->f[k];
  fx_kkt_multiply(&c->kkt, t->step, c->b);
  double moved = fx_dot(n, t->step, c->b);
  fx_kkt_multiply(&c->kkt, t->f, c->b);
  double size = fx_dot(n, t->f, c->b);
  return moved <= 0 ? 0 : size > 0 ? moved / size : INFINITY;
}

/* (5.22): sum of | alpha u_N |, with the friction just found; keeps the friction that has the least. */
static void cache_best(state *t) {
  double sum = 0;
  fx_system_velocity(t->s, t->r, t->u, t->v);
  for (int32_t i = 0; i < t->s->contact_count; i++)
    if (t->s->contact[i].cone != FRIX_CONE_BILATERAL) sum += fabs(t->r[t->s->row[i]] * t->u[t->s->row[i]]);
  if (!(sum < t->best_residual)) return;
  t->best_residual = sum;
  memcpy(t->best, t->image, (size_t)t->friction.system.row_count * sizeof *t->best);
}

/* ---- the sequence ---- */

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* A start brings friction; normal impulses too, where it has them. */
static void start(state *t) {
  const projection *p = &t->friction;
  fx_conic *c = &t->contact.conic;
  fx_subsystem_gather(t->s, &t->contact.system, t->contact.slice, t->call->r, c->x);
  for (int32_t k = 0; k < c->row_count; k++) c->x[k] /= c->S[k];
  t->contact.guessed = fx_dot(c->row_count, c->x, c->x) > 0;
  fx_subsystem_gather(t->s, &p->system, p->slice, t->call->r, t->f);
  for (int32_t k = 0; k < p->system.row_count; k++) t->f[k] /= p->conic.S[k];
  bool warm = fx_dot(p->system.row_count, t->f, t->f) > 0;
  t->tolerance = warm ? clamp(1e-3 * t->call->monitor->limits->tolerance, 1e-14, 1e-6) : 1e-6;
}

static void end_at_best(state *t) {
  fx_monitor *monitor = t->call->monitor;
  frix_outcome outcome = monitor->outcome;
  if (monitor->finished || !(t->best_residual < INFINITY)) return;
  project_contact(t, t->best);
  if (!fx_monitor_check(monitor, monitor->iteration, t->r) || !monitor->finished) monitor->outcome = outcome;
}

static frix_status solve(fx_call *call) {
  state t = {.call = call, .s = call->system};
  fx_monitor *monitor = call->monitor;
  frix_status status = take(&t, call->arena);
  if (status != FRIX_OK) return status;
  start(&t);
  double best = INFINITY, mark = INFINITY, error = INFINITY, distance = INFINITY;
  double sharpness = 1e-3; /* tolerance of the projections over the residual */
  int64_t steps = 0;
  fx_monitor_begin(monitor, 2000);
  for (int64_t k = 1;; k++) {
    project_contact(&t, t.f);
    if (fx_monitor_check(monitor, k, t.r)) break;
    bool still = error <= call->option[FRICTION_ERROR];
    if (still && t.tolerance > 1e-14) { /* standing still may be the projections' doing: sharper ones first */
      still = false;
      sharpness *= 1e-3;
    }
    t.tolerance = clamp(sharpness * monitor->residual, 1e-14, 1e-6);
    if (k % 100 == 0) {
      still |= !(monitor->best < 0.9 * mark);
      mark = monitor->best;
    }
    if (still) {
      monitor->outcome = FRIX_OUTCOME_STALLED;
      break;
    }
    project_friction(&t);
    steps += t.contact.conic.steps + t.friction.conic.steps;
    error = friction_error(&t);
    cache_best(&t);
    if (distance < best) best = distance;
    if (distance > 2 * best) {
      fx_anderson_reset(&t.anderson);
      best = distance;
    }
    distance = fx_anderson_step(&t.anderson, t.f, t.image, t.f);
  }
  end_at_best(&t);
  fx_log(call->arena->context, FRIX_LOG_INFO,
         "staggered: %d contacts: %lld pairs of projections, %lld factorisations, friction error (5.21) %.2e, "
         "best sum |alpha u_N| (5.22) %.2e, residual %.2e",
         t.s->contact_count, (long long)monitor->iteration, (long long)steps, error, t.best_residual, monitor->best);
  return FRIX_OK;
}

const fx_solver fx_solver_staggered = {
    .info = {.name = "staggered",
             .summary = "contact and friction as convex projections in alternation, Anderson-accelerated",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
