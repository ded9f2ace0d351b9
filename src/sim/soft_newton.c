/* Newton on the velocities of islands with soft bodies, straight over the rows.
 *
 * Where every row has a compliance R the impulses of a contact follow from the velocities: with a = J v + w - R r_c
 *
 *   r_N = max(0, -a_N) / R,   r_T = projection of -a_T / R on the disc of radius mu r_N
 *   F(v) = A (v - v_free) - J' r = 0,   F' = A + J' D J,   D = -dr/da
 *
 * as in spring_newton.c, but dense and without a problem in between: many contacts act on few coordinates here, and all
 * that goes with contacts is a pass over J. D of a contact stays in the matrix while it changes little, and the factor
 * while steps with it converge.
 *
 * How far along a step dv: to where F . dv = 0. Without friction, or with bounds that stay, F is the gradient of a
 * convex function and that is its least value on the line, so the method converges from anywhere; along a line a moves
 * by J dv, and each trial costs the contacts alone. Friction with the bounds of its normal force has no such function;
 * where a step does not go down, bounds are frozen for one step. Stiff springs make its steps short far from the
 * answer: soft_approach.c comes first, and most of the time nothing is left to do here but to evaluate F. Nothing is
 * certified here: the rows are judged afterwards, and where that fails the solver goes on from the impulses found. */
#include "sim/soft_island.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 60, TRIALS = 12, LOOKS = 6 }; /* LOOKS: at some of the contacts, before all are looked at */
/* Of the sizes of what cancels in F: where it ends, under a deadline, and where no step goes down any more. */
static const double done = 1e-13, done_in_time = 1e-11, rounding = 1e-10;
static const double enough = 0.1;    /* of F . dv at the start of a line: its end */
static const double still = 1e-4;    /* of 1/R: smaller changes of D stay out of the matrix */
static const double chord = 1e-2;    /* of |F|, after a step: the factor serves another one */
static const double short_way = 0.3; /* of a step: the whole of it is tried */
static const double spare = 0.02; /* of the goal: what is left of the approach, which counts errors of impulses less */

/* ---- one contact ---- */

/* Friction: the projection of x, y on the disc; slope: of the bound over a_N. */
static void drag(double bound, double slope, double x, double y, double inverse, double *r, double *D) {
  double size = sqrt(x * x + y * y);
  bool slides = size > bound;
  double part = slides ? bound / size : 1.0;
  r[1] = part * x, r[2] = part * y;
  if (!D) return;
  double ex = slides ? x / size : 0.0, ey = slides ? y / size : 0.0, k = inverse * part;
  D[3] = slope * ex, D[6] = slope * ey;
  D[4] = k * (1.0 - ex * ex), D[8] = k * (1.0 - ey * ey);
  D[5] = D[7] = -k * ex * ey;
}

/* r and, where it is wanted, D at a; row-major D of three rows. */
static void respond(const fx_joined *c, const double *a, double *r, double *D) {
  double inverse = 1.0 / c->R[0], slope = a[0] < 0.0 ? inverse : 0.0;
  if (D) memset(D, 0, 9 * sizeof *D);
  r[0] = -slope * a[0];
  r[1] = r[2] = 0.0;
  if (D) D[0] = slope;
  bool frozen = c->bound >= 0.0; /* frozen bounds also hold where the contact opens */
  double bound = frozen ? c->bound : c->mu * r[0];
  if (c->dim == 1 || !(bound > 0.0)) return;
  inverse = 1.0 / c->R[1];
  drag(bound, frozen ? 0.0 : c->mu * slope, -a[1] * inverse, -a[2] * inverse, inverse, r, D);
}

/* ---- the whole ---- */

/* Impulses, slopes and F of where it is; |F| in the mass. */
static double evaluate(fx_island *t) {
  memcpy(t->F, t->Aoff, (size_t)t->n * sizeof *t->F);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    respond(c, c->at, c->r, c->D);
    if (c->r[0] != 0.0 || c->r[1] != 0.0 || c->r[2] != 0.0) fx_island_push(t, c, c->r, t->F);
  }
  double sum = 0.0;
  for (int32_t i = 0; i < t->n; i++) sum += t->F[i] * t->F[i] * t->scale[i];
  return sqrt(sum);
}

/* ---- along a line ---- */

typedef struct line {
  double start, slope; /* of A (v - v_free) . dv */
} line;

static double climb(const fx_island *t, const line *l, double way) {
  double sum = l->start + way * l->slope;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_joined *c = &t->contact[k];
    double a[3], r[3];
    for (int j = 0; j < 3; j++) a[j] = c->at[j] + way * c->along[j];
    respond(c, a, r, NULL);
    sum -= r[0] * c->along[0] + r[1] * c->along[1] + r[2] * c->along[2];
  }
  return sum;
}

/* How far: F . dv = 0 between 0 and 1 by regula falsi with halved ends (Illinois). 0: dv does not go down. */
static double find_way(const fx_island *t, const line *l) {
  double low = 0.0, high = 1.0, at_low = climb(t, l, 0.0), at_high = climb(t, l, 1.0), goal = enough * fabs(at_low);
  if (!(at_low < 0.0)) return 0.0;
  if (at_high <= goal) return 1.0;
  int side = 0;
  double way = 1.0;
  for (int k = 0; k < TRIALS; k++) {
    way = low - at_low * (high - low) / (at_high - at_low);
    double value = climb(t, l, way);
    if (fabs(value) <= goal) break;
    if (value > 0.0) {
      high = way, at_high = value;
      if (side > 0) at_low *= 0.5;
      side = 1;
    } else {
      low = way, at_low = value;
      if (side < 0) at_high *= 0.5;
      side = -1;
    }
  }
  return way;
}

/* dv, and what goes with it. */
static line aim(fx_island *t) {
  line l = {0.0, 0.0};
  for (int32_t i = 0; i < t->n; i++) t->dv[i] = -t->F[i];
  fx_island_solve(t, t->dv);
  fx_island_multiply(t, t->dv, t->Adv);
  for (int32_t i = 0; i < t->n; i++) l.start += t->Aoff[i] * t->dv[i], l.slope += t->Adv[i] * t->dv[i];
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    memset(c->along, 0, sizeof c->along);
    fx_island_read(t, c, t->dv, c->along);
  }
  return l;
}

static void go(fx_island *t, double way) {
  for (int32_t i = 0; i < t->n; i++) t->v[i] += way * t->dv[i], t->Aoff[i] += way * t->Adv[i];
  for (int32_t k = 0; k < t->count; k++)
    for (int j = 0; j < 3; j++) t->contact[k].at[j] += way * t->contact[k].along[j];
}

static void freeze(fx_island *t, bool frozen) {
  for (int32_t k = 0; k < t->count; k++) t->contact[k].bound = frozen ? t->contact[k].mu * t->contact[k].r[0] : -1.0;
}

/* The size of what F is a sum of: A v_free, and normal impulses of contacts. */
static double size_of(const fx_island *t) {
  double sum = t->carried;
  for (int32_t k = 0; k < t->count; k++) {
    const fx_joined *c = &t->contact[k];
    int32_t at = t->first[t->a->group[c->group].mover[0]];
    for (int32_t i = 0; i < 3; i++) {
      double push = c->J[i] * c->r[0];
      sum += push * push * t->scale[at + i];
    }
  }
  return sqrt(sum);
}

/* From velocities v on. */
static void begin_at(fx_island *t) {
  for (int32_t k = 0; k < t->mover_count; k++) {
    int32_t at = t->first[t->mover[k]];
    const fx_mover *m = &t->sim->mover[t->mover[k]];
    fx_island_free_of(m, t->off + at);
    for (int32_t i = 0; i < m->dof; i++) t->off[at + i] = t->v[at + i] - t->off[at + i];
  }
  fx_island_multiply(t, t->off, t->Aoff);
  for (int32_t k = 0; k < t->count; k++) {
    fx_joined *c = &t->contact[k];
    const fx_group *g = &t->a->group[c->group];
    for (int32_t j = 0; j < g->dim; j++) c->at[j] = t->a->w[g->row + j] - t->a->R[g->row + j] * t->a->r_c[g->row + j];
    fx_island_read(t, c, t->v, c->at);
  }
}

/* A step with frozen bounds, whose direction always goes down; false: it does not, by rounding. */
static bool step_frozen(fx_island *t) {
  freeze(t, true);
  evaluate(t);
  bool good = fx_island_factor(t, still);
  line l = good ? aim(t) : (line){0.0, 0.0};
  double way = good ? find_way(t, &l) : 0.0;
  go(t, way);
  freeze(t, false);
  return way > 0.0;
}

/* A step along the line; the whole of it where that lowers |F| although friction makes F . dv rise before. */
static double move(fx_island *t, double way, double norm) {
  if (way < short_way) {
    go(t, 1.0);
    double whole = evaluate(t);
    if (whole < 0.9 * norm) return whole;
    way -= 1.0;
  }
  go(t, way);
  return evaluate(t);
}

static bool solve(fx_island *t, bool nearby, int64_t *iterations) {
  fx_island_start(t);
  if (nearby) fx_island_follow(t);
  begin_at(t);
  double norm = evaluate(t), size = size_of(t), goal = t->sim->deadline > 0.0 ? done_in_time : done;
  if (norm > goal * size) {
    fx_island_approach(t, spare * goal * size, iterations);
    norm = evaluate(t), size = size_of(t);
  }
  bool again = false; /* the factor serves another step */
  for (int k = 0; k < ROUNDS && norm > goal * size; k++) {
    ++*iterations;
    if (!again && !fx_island_factor(t, still)) return false;
    line l = aim(t);
    double way = find_way(t, &l), before = norm;
    if (way > 0.0) {
      norm = move(t, way, norm);
    } else {
      if (norm <= rounding * size) return true;
      if (!again && !step_frozen(t)) return false;
      norm = evaluate(t);
    }
    size = size_of(t);
    again = way > 0.0 && norm <= chord * before;
  }
  return norm <= rounding * size;
}

/* ---- all islands ---- */

/* Impulses of what was looked at; the others have none. */
static void put(const fx_island *t) {
  for (int32_t k = 0; k < t->count; k++) {
    const fx_group *g = &t->a->group[t->contact[k].group];
    memcpy(t->a->r + g->row, t->contact[k].r, (size_t)g->dim * sizeof *t->a->r);
  }
  for (int32_t k = t->count; k < t->all; k++) {
    const fx_group *g = &t->a->group[t->group[k]];
    memset(t->a->r + g->row, 0, (size_t)g->dim * sizeof *t->a->r);
  }
}

static bool solve_island(fx_island *t, bool nearby, int64_t *iterations) {
  fx_arena arena;
  fx_arena_init(&arena, t->sim->inner);
  bool good = fx_island_choose(t, &arena), more = good;
  for (int round = 0; good && more; round++) {
    if (round == LOOKS) t->count = t->all;
    good = fx_island_take(t, &arena) && solve(t, nearby || round > 0, iterations);
    if (good) put(t);
    more = good && fx_island_add_closed(t, &arena);
  }
  fx_arena_free(&arena);
  return good;
}

frix_status fx_soft_newton(frix_sim *sim, fx_assembly *a, bool nearby, fx_found *found) {
  int32_t n = sim->mover_count;
  fx_island t = {.sim = sim, .a = a, .group = FX_TAKE_RAW(&sim->arena, int32_t, a->group_count)};
  fx_soft_islands all;
  t.mover = FX_TAKE_RAW(&sim->arena, int32_t, n), t.first = FX_TAKE_RAW(&sim->arena, int32_t, n);
  t.place = FX_TAKE_RAW(&sim->arena, int32_t, n);
  if (!t.group || !t.mover || !t.first || !t.place) return FRIX_ERROR_MEMORY;
  frix_status status = fx_soft_islands_find(sim, a, &sim->arena, &all);
  if (status != FRIX_OK) return status;
  int32_t solved = 0, count = 0;
  for (int32_t k = 0; k < a->group_count; k++) count += a->group[k].body_count > 0;
  if (!nearby) memcpy(a->r, a->guess, (size_t)a->row_count * sizeof *a->r);
  for (int32_t k = 0; k < n; k++)
    if (all.root[k] == k && fx_island_gather(&t, &all, k) && solve_island(&t, nearby, &sim->report.iterations))
      solved += t.all;
  *found = solved == 0 ? FX_FOUND_NONE : solved < count ? FX_FOUND_SOME : FX_FOUND_ALL;
  return FRIX_OK;
}
