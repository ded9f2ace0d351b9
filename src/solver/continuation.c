/* continuation: path of solutions from a simple problem to the exact law, followed round its turning points.
 *
 *   F(x, s) = G(x) + s (x - a) = 0          from large s to small; a is the start; see normal_map.h for G
 *
 * Where s is large there is one answer, near a. Where it is small the law is off by s (x - a). In between friction
 * makes G fold: on its way to 0, s may have to grow again before it can fall. Newton, which wants every step to come
 * nearer, stalls there, so the path is followed by its length instead. It has one end at large s. Followed in
 * the direction in which sign(det F_x) ds < 0, this path and every other one reach s = 0, as long as impulses stay
 * bounded. G is smooth in pieces, one for each choice of open, slipping and sticking contacts; at the border of
 * two the path may bend back sharply, and the sign tells the way on. Forces need not be unique: s makes them so.
 * Reference: E. L. Allgower, K. Georg, Introduction to numerical continuation methods, chapters 2, 6 and 12. */
#include "solver/normal_map.h"
#include "solver/scaling.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static const double tube = 1e-4;      /* how near the path a point is, relative to what the law is off; */
static const double rounding = 1e-15; /* and relative to |q| + |x| */
static const double least_s = 1e-14;
static const double shortest = 1e-13; /* steps below this part of |x| lead nowhere */
static const double leap_ratio = 30;
enum { CORRECTIONS = 9 };

/* A point on the path. */
typedef struct point {
  double *x, *z, s;
} point;

typedef struct state {
  fx_normal_map map;
  double *a;
  double drive;                          /* |q| */
  double length;                         /* of the next step */
  point now, next;                       /* where it is, and where a step leads */
  double *F, *F_s, *dx, *side;           /* of a correction: F, dF/ds, -F_x^-1 F, -F_x^-1 F_s */
  double *ahead, *bent, ahead_s, bent_s; /* direction at `now`, of length 1 in x; and beyond the border of a piece */
  uint8_t *piece, *other, *beyond;       /* of each contact at `now`, and elsewhere */
  uint8_t *factored;                     /* and at the point factored last */
  int64_t factors;
  int32_t wait, steps_to_leap; /* steps between two leaps, and before the next */
  const fx_monitor *monitor;
} state;

static double norm(const state *t, const double *x) { return sqrt(fx_dot(t->map.s->row_count, x, x)); }

/* Which piece of G holds x: where P is 0, where it is I, and everything between. */
static void pieces(state *t, const double *x, uint8_t *piece) {
  const fx_system *s = t->map.s;
  memcpy(t->dx, x, (size_t)s->row_count * sizeof *x);
  fx_project_all(s, t->dx);
  for (int32_t i = 0; i < s->contact_count; i++) {
    bool open = true, stuck = true;
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      open = open && t->dx[k] == 0;
      stuck = stuck && t->dx[k] == x[k];
    }
    piece[i] = stuck ? 2 : open ? 0 : 1;
  }
}

static int32_t differences(const state *t, const uint8_t *a, const uint8_t *b) {
  int32_t count = 0;
  for (int32_t i = 0; i < t->map.s->contact_count; i++) count += a[i] != b[i];
  return count;
}

/* F and F_s at the next point; returns |F| / |s (x - a)|, beyond rounding. */
static double miss(state *t) {
  const fx_system *s = t->map.s;
  fx_normal_map_evaluate(&t->map, t->next.x, t->next.z, t->F);
  for (int32_t i = 0; i < s->contact_count; i++) {
    double delta = fx_normal_map_delta(&t->map, i, t->next.s);
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) {
      double away = t->next.x[k] - t->a[k];
      t->F[k] += delta * away;
      t->F_s[k] = delta < t->next.s ? 0 : away;
    }
  }
  return norm(t, t->F) / fmax(t->next.s * norm(t, t->F_s), rounding / tube * (t->drive + norm(t, t->next.x)));
}

static bool in_time(const state *t) { return fx_monitor_time_for(t->monitor, 4 * t->monitor->pace); }

/* Factors F_x at the next point, where F_s is known; false also where the time is up. */
static bool factor(state *t) {
  fx_normal_map *m = &t->map;
  if (!in_time(t)) return false;
  fx_normal_map_differentiate(m, t->next.x, t->next.z, t->next.s);
  t->factors++;
  if (!fx_newton_factor(m->linear, m->P, m->B)) return false;
  fx_newton_solve(m->linear, m->P, m->B, t->F_s, t->side);
  pieces(t, t->next.x, t->factored);
  return true;
}

/* The way on, from the last factors. */
static void direct(const state *t, double *ahead, double *ahead_s) {
  *ahead_s = -fx_newton_sign(t->map.linear) / norm(t, t->side);
  for (int32_t k = 0; k < t->map.s->row_count; k++) ahead[k] = *ahead_s * t->side[k];
}

/* From the next point back to the path, across `ahead`, or at the same s where that is NULL; false where it fails. */
static bool correct(state *t, const double *ahead, double longest, int *corrections) {
  int32_t n = t->map.s->row_count;
  double before = INFINITY, moved = 0;
  for (*corrections = 0; *corrections <= CORRECTIONS && t->next.s > 0; ++*corrections) {
    double off = miss(t);
    if (off <= tube) return true;
    if (!(off <= 0.9 * before || *corrections < 4) || !isfinite(off)) return false;
    before = off;
    if (!factor(t)) return false;
    fx_newton_solve(t->map.linear, t->map.P, t->map.B, t->F, t->dx);
    double ds = ahead ? -fx_dot(n, ahead, t->dx) / fx_dot(n, ahead, t->side) : 0;
    for (int32_t k = 0; k < n; k++) t->dx[k] += ds * t->side[k];
    for (int32_t k = 0; k < n; k++) t->next.x[k] += t->dx[k];
    t->next.s += ds;
    moved += norm(t, t->dx);
    if (!(moved <= longest)) return false;
  }
  return false;
}

static void set_next(state *t, double length, const double *ahead, double ahead_s) {
  for (int32_t k = 0; k < t->map.s->row_count; k++) t->next.x[k] = t->now.x[k] + length * ahead[k];
  t->next.s = t->now.s + length * ahead_s;
}

/* Where a straight step of this length leaves its piece through one contact, the path may bend there: a step into the
 * piece beyond, in its own direction. */
static bool bend(state *t, double *length, int *corrections) {
  const fx_system *s = t->map.s;
  double inside = 0, outside = *length;
  set_next(t, outside, t->ahead, t->ahead_s);
  pieces(t, t->next.x, t->beyond);
  if (!differences(t, t->piece, t->beyond)) return false;
  for (int k = 0; k < 50; k++) {
    double middle = 0.5 * (inside + outside);
    set_next(t, middle, t->ahead, t->ahead_s);
    pieces(t, t->next.x, t->beyond);
    *(differences(t, t->piece, t->beyond) ? &outside : &inside) = middle;
  }
  set_next(t, outside, t->ahead, t->ahead_s);
  pieces(t, t->next.x, t->beyond);
  if (differences(t, t->piece, t->beyond) != 1) return false;
  miss(t);
  if (!factor(t)) return false;
  direct(t, t->bent, &t->bent_s);
  for (double part = 0.3; part > 1e-3; part *= 0.1) {
    double step = part * *length;
    set_next(t, outside, t->ahead, t->ahead_s);
    for (int32_t k = 0; k < s->row_count; k++) t->next.x[k] += step * t->bent[k];
    t->next.s += step * t->bent_s;
    if (!correct(t, t->bent, 10 * step, corrections)) continue;
    pieces(t, t->next.x, t->other);
    if (differences(t, t->other, t->beyond)) continue;
    *length = step;
    return true;
  }
  return false;
}

static void arrive(state *t) {
  point old = t->now;
  t->now = t->next;
  t->next = old;
  pieces(t, t->now.x, t->piece);
}

/* One step along the path; false where there is none. */
static bool step(state *t) {
  double least = shortest * norm(t, t->now.x);
  for (; t->length > least; t->length *= 0.3) {
    int corrections;
    double length = fmin(t->length, 0.8 * t->now.s / fabs(t->ahead_s));
    if (!isfinite(length) || t->now.s < least_s || !in_time(t)) return false;
    set_next(t, length, t->ahead, t->ahead_s);
    if (!correct(t, t->ahead, 10 * length, &corrections) && !bend(t, &length, &corrections)) {
      t->length = length;
      continue;
    }
    t->length = length * (corrections <= 2 ? 2 : corrections <= 3 ? 1.3 : corrections > 5 ? 0.6 : 1);
    arrive(t);
    return true;
  }
  return false;
}

/* Direction at the point arrived at; F_s is that of this point. */
static bool look(state *t) {
  const fx_normal_map *m = &t->map;
  if (!differences(t, t->piece, t->factored)) {
    fx_newton_solve(m->linear, m->P, m->B, t->F_s, t->side);
  } else {
    memcpy(t->next.x, t->now.x, (size_t)m->s->row_count * sizeof *t->next.x);
    t->next.s = t->now.s;
    miss(t);
    if (!factor(t)) return false;
  }
  direct(t, t->ahead, &t->ahead_s);
  return true;
}

/* Newton straight to a much smaller s. The point belongs to some path, and every path leads on. Where that fails, again
 * after twice as many steps. */
static bool leap(state *t) {
  int corrections;
  if (--t->steps_to_leap > 0 || t->now.s < least_s) return false;
  memcpy(t->next.x, t->now.x, (size_t)t->map.s->row_count * sizeof *t->next.x);
  t->next.s = t->now.s / leap_ratio;
  bool done = correct(t, NULL, INFINITY, &corrections);
  t->wait = done ? 1 : t->wait < 64 ? 2 * t->wait : 64;
  t->steps_to_leap = t->wait;
  if (done)
    arrive(t);
  else
    memset(t->factored, 255, (size_t)t->map.s->contact_count);
  return done;
}

/* The point of the path at which s is about as large as the start is wrong, or larger where that cannot be reached. */
static bool begin(state *t, const double *r) {
  int32_t n = t->map.s->row_count, corrections;
  t->drive = norm(t, t->map.q);
  double off = fx_normal_map_start(&t->map, r, t->a, t->now.z, t->F) / t->drive;
  memset(t->factored, 255, (size_t)t->map.s->contact_count);
  for (double hold = fmin(1, fmax(off, 1e-6)); hold <= 1e4; hold *= 4) {
    memcpy(t->next.x, t->a, (size_t)n * sizeof *t->a);
    t->next.s = hold;
    if (!correct(t, NULL, INFINITY, &corrections)) continue;
    arrive(t);
    t->length = INFINITY;
    return look(t);
  }
  return false;
}

static frix_status take(state *t, fx_call *call) {
  const fx_system *s = call->system;
  /* Only factors tell the sign of a determinant. */
  fx_linear_choice choice = call->linear && !call->linear->by_iteration ? FX_LINEAR_AUTO : FX_LINEAR_DIRECT;
  frix_status status = fx_normal_map_take(&t->map, call->arena, call->linear, choice);
  double **vectors[] = {&t->a,   &t->now.x, &t->now.z, &t->next.x, &t->next.z, &t->F,
                        &t->F_s, &t->dx,    &t->side,  &t->ahead,  &t->bent};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors && status == FRIX_OK; k++)
    if (!(*vectors[k] = FX_TAKE(call->arena, double, s->row_count))) status = FRIX_ERROR_MEMORY;
  if (status != FRIX_OK) return status;
  t->piece = FX_TAKE(call->arena, uint8_t, s->contact_count);
  t->other = FX_TAKE(call->arena, uint8_t, s->contact_count);
  t->beyond = FX_TAKE(call->arena, uint8_t, s->contact_count);
  t->factored = FX_TAKE(call->arena, uint8_t, s->contact_count);
  return t->piece && t->other && t->beyond && t->factored ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status solve(fx_call *call) {
  state t = {.map = {.s = call->system, .law = call->law}, .wait = 1, .monitor = call->monitor};
  frix_status status = take(&t, call);
  if (status != FRIX_OK) return status;
  fx_monitor_begin(call->monitor, 4000);
  call->monitor->wanders = true;
  for (bool going = begin(&t, call->r); going; going = leap(&t) || (look(&t) && step(&t))) {
    for (int32_t e = 0; e < t.map.s->row_count; e++) call->r[e] = t.map.S[e] * t.now.z[e];
    if (fx_monitor_check(call->monitor, t.factors, call->r)) return FRIX_OK;
  }
  call->monitor->outcome = in_time(&t) ? FRIX_OUTCOME_STALLED : FRIX_OUTCOME_TIME_LIMIT;
  return FRIX_OK;
}

const fx_solver fx_solver_continuation = {
    .info = {.name = "continuation",
             .summary = "a path of answers from a problem made easy, round its turning points, to the law",
             .coulomb = true,
             .associated = true,
             .cones = FX_ALL_CONES},
    .prefers_velocity = true,
    .solve = solve,
};
