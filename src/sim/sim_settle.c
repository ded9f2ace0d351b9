/* Coming to rest with stiff contacts.
 *
 * Springs under implicit steps approach rest and never reach it. A rigid step would: where all bodies of an island are
 * slow and the rigid law, started from the springs' own impulses, has the answer v = 0, the springs are set to carry
 * the impulses of that answer (fx_hold_contact) and nothing moves from then on. Rigid stands for R -> 0 with memory,
 *
 *   u = v + TINY R (r - r of the springs),
 *
 * so that the impulses stay as near to those of the springs as rest allows. Large islands whose velocities are next to
 * nothing are balanced instead (balance.c), which costs no factorisation. What rolls or swings freely has no row that
 * stops it: its velocity stays, and so do its springs. */
#include "sim/solving.h"

#include <math.h>
#include <string.h>

#define SLOW 0.04      /* of a step's gravity: what a spring leaves of it, 1 / KAPPA */
#define NEARLY 1e-4    /* of a step's gravity: so slow that impulses need not change by more than their last digits */
#define TINY 1e-6      /* compliance of a rigid contact over that of a stiff one */
#define ROUNDING 1e-13 /* of the terms a velocity is the sum of */

enum { STEPS = 10, LONGEST_WAIT = 15, LARGE_WAIT = 127, LARGE = 1000 }; /* contacts: attempts cost more */

/* Islands that may come to rest, their rows, and what there was before. */
typedef struct attempt {
  fx_step_islands islands; /* connected by contacts that carry something */
  uint8_t *slow;           /* by island */
  uint8_t *mark;           /* by group: it belongs to a slow island */
  fx_assembly rows;        /* of these groups */
  fx_attempt before;
} attempt;

/* ---- which islands ---- */

static double speed_of(const frix_sim *sim, const fx_mover *m) {
  if (m->tree) return INFINITY; /* springs and servos of trees come to rest by themselves */
  double radius = fx_slot_body(sim, m->slot)->radius, arm = isfinite(radius) ? radius : 0.0;
  return fmax(fx_norm(m->v0) + arm * fx_norm(m->w0), fx_norm(m->v1) + arm * fx_norm(m->w1));
}

/* Whether it stood still and, but for rounding, still does. */
static bool stands(const fx_mover *m, const double size[2]) {
  return fx_is_zero(m->v0) && fx_is_zero(m->w0) && fx_norm_careful(m->v1) <= ROUNDING * size[0] &&
         fx_norm_careful(m->w1) <= ROUNDING * size[1];
}

/* Islands that are slow before and after the step; true where there is one. */
static bool find_slow(frix_sim *sim, attempt *t) {
  double slow = SLOW * sim->h * fx_norm(sim->state.gravity);
  bool any = false;
  memset(t->slow, 1, (size_t)t->islands.count);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].first < 0 || speed_of(sim, &sim->mover[k]) > slow) t->slow[t->islands.of_mover[k]] = 0;
  for (int32_t k = 0; k < t->islands.count; k++) any |= t->slow[k];
  return any;
}

/* Of these, the ones that move. */
static frix_status drop_resting(frix_sim *sim, const fx_assembly *a, attempt *t) {
  double(*size)[2] = (double(*)[2])FX_TAKE(&sim->arena, double, 2 * (size_t)sim->mover_count);
  uint8_t *moves = FX_TAKE(&sim->arena, uint8_t, t->islands.count);
  if (!size || !moves) return FRIX_ERROR_MEMORY;
  fx_sum_sizes(sim, a, a->r, size);
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (!stands(&sim->mover[k], size[k])) moves[t->islands.of_mover[k]] = 1;
  for (int32_t k = 0; k < t->islands.count; k++) t->slow[k] &= moves[k];
  return FRIX_OK;
}

bool fx_stirs(const frix_sim *sim) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0 || m->tree || !fx_is_zero(m->v0) || !fx_is_zero(m->w0)) continue;
    if (speed_of(sim, m) > ROUNDING * fx_norm(m->v_free)) return true;
  }
  return false;
}

/* Of these only islands that nearly rest. */
static bool find_nearly_still(const frix_sim *sim, attempt *t) {
  double most = NEARLY * sim->h * fx_norm(sim->state.gravity);
  bool any = false;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (speed_of(sim, &sim->mover[k]) > most) t->slow[t->islands.of_mover[k]] = 0;
  for (int32_t k = 0; k < t->islands.count; k++) any |= t->slow[k];
  return any;
}

static int32_t count_slow(const attempt *t) {
  int32_t count = 0;
  for (int32_t k = 0; k < t->islands.count; k++) count += t->slow[k];
  return count;
}

/* Groups all of whose bodies are in slow islands. */
static void mark_groups(const fx_assembly *a, attempt *t) {
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    t->mark[k] = g->body_count > 0;
    for (int32_t b = 0; b < g->body_count; b++) t->mark[k] &= t->slow[t->islands.of_mover[g->mover[b]]];
  }
}

/* ---- the attempt ---- */

/* Contacts that carry something become nearly rigid, with the impulses of the springs as memory. */
static void stiffen(const frix_sim *sim, fx_assembly *rows, double compliance) {
  for (int32_t k = 0; k < rows->joint_first; k++) {
    const fx_group *g = &rows->group[k];
    if (!fx_is_stiff(sim, g) || g->kind != FX_GROUP_CONTACT || !(rows->r[g->row] > 0.0)) continue;
    rows->w[g->row] = rows->drive[g->row];
    for (int32_t j = g->row; j < g->row + g->dim; j++) {
      rows->R[j] *= compliance;
      rows->r_c[j] = rows->r[j];
    }
  }
}

/* Islands with a body that is faster than `most` of the terms of its velocity are not slow any more. */
static frix_status drop_moving(frix_sim *sim, attempt *t, double most) {
  double(*size)[2] = (double(*)[2])FX_TAKE(&sim->arena, double, 2 * (size_t)sim->mover_count);
  if (!size) return FRIX_ERROR_MEMORY;
  fx_sum_sizes(sim, &t->rows, t->rows.r, size);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    bool still = fx_norm_careful(m->v1) <= most * size[k][0] && fx_norm_careful(m->w1) <= most * size[k][1];
    if (!still) t->slow[t->islands.of_mover[k]] = 0;
  }
  return FRIX_OK;
}

static frix_status stop_once(frix_sim *sim, attempt *t, double most) {
  fx_polisher with = {"newton", 1e-16, STEPS};
  frix_status status = fx_solve_once(sim, &t->rows, true, INFINITY, &with);
  return status == FRIX_OK ? drop_moving(sim, t, most) : status;
}

/* Large islands that hardly move: the springs' own impulses, balanced. */
static frix_status balance_islands(frix_sim *sim, attempt *t) {
  bool rests;
  frix_status status = fx_rows_count(sim, &t->rows);
  if (status == FRIX_OK) status = fx_balance(sim, &t->rows, t->rows.r, &rests);
  return status == FRIX_OK ? drop_moving(sim, t, ROUNDING) : status;
}

/* The rigid answer of the slow islands: the first solve leaves TINY of the velocities, the second, which starts from
 * it, rounding. */
static frix_status stop_islands(frix_sim *sim, attempt *t) {
  stiffen(sim, &t->rows, TINY);
  frix_status status = fx_rows_count(sim, &t->rows);
  if (status == FRIX_OK) status = stop_once(sim, t, SLOW * TINY);
  if (status != FRIX_OK || count_slow(t) == 0) return status;
  stiffen(sim, &t->rows, 1.0);
  return stop_once(sim, t, ROUNDING);
}

/* A contact may lie between an island that stopped and one that goes on. */
static bool stopped(const attempt *t, const fx_group *g) {
  for (int32_t b = 0; b < g->body_count; b++)
    if (!t->slow[t->islands.of_mover[g->mover[b]]]) return false;
  return true;
}

/* Springs of islands that stopped carry the impulses found; true where there is one. */
static bool hold(const frix_sim *sim, fx_assembly *a, const attempt *t) {
  bool any = false;
  for (int32_t k = 0, j = 0; k < a->group_count; k++) {
    if (!t->mark[k]) continue;
    const fx_group *from = &t->rows.group[j++];
    fx_group *g = &a->group[k];
    if (!stopped(t, g)) continue;
    memcpy(a->r + g->row, t->rows.r + from->row, (size_t)g->dim * sizeof *a->r);
    if (fx_is_stiff(sim, g) && a->R[g->row] > 0.0) fx_hold_contact(sim, a, g, a->r + g->row);
    any = true;
  }
  return any;
}

/* The springs' law judges the whole. */
static frix_status judge(frix_sim *sim, fx_assembly *a, bool *good) {
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  frix_status status = fx_rows_judge(sim, a, a->r, a->u, v, &sim->report.certificate);
  *good = status == FRIX_OK && fx_certified(sim);
  if (*good) fx_put_answer(sim, v);
  return status;
}

static bool is_due(const frix_sim *sim, const fx_assembly *a) {
  return sim->config.contact == FRIX_CONTACT_KIND_STIFF && !sim->springs && sim->config.polish > 0.0 &&
         sim->config.law == FRIX_LAW_COULOMB && sim->deadline == 0.0 && a == &sim->rows && a->compliant &&
         sim->state.step_count >= sim->state.polish_at && fx_certified(sim) && !sim->report.approximate &&
         !fx_bounces_later(sim, a);
}

/* One way to stop the slow islands; *good: some stopped, and the whole is certified. Else nothing has happened. */
static frix_status try_to_stop(frix_sim *sim, fx_assembly *a, attempt *t,
                               frix_status (*stop)(frix_sim *sim, attempt *t), bool *good) {
  mark_groups(a, t);
  frix_status status = fx_assembly_select(a, t->mark, &sim->arena, &t->rows);
  if (status != FRIX_OK) return status;
  status = stop(sim, t);
  fx_attempt_restore_answer(sim, a, &t->before);
  if (status == FRIX_OK) status = fx_rows_count(sim, a);
  if (status != FRIX_OK) return status;
  *good = false;
  if (hold(sim, a, t)) status = judge(sim, a, good);
  if (*good) return status;
  fx_attempt_restore_rows(a, &t->before);
  fx_attempt_restore_answer(sim, a, &t->before);
  return status;
}

frix_status fx_settle(frix_sim *sim, fx_assembly *a) {
  fx_state *s = &sim->state;
  if (sim->of_state || !is_due(sim, a)) return FRIX_OK;
  attempt t = {0};
  frix_status status = fx_step_islands_find(sim, a, &t.islands);
  if (status != FRIX_OK) return status;
  t.slow = FX_TAKE(&sim->arena, uint8_t, t.islands.count);
  t.mark = FX_TAKE(&sim->arena, uint8_t, a->group_count);
  if (!t.slow || !t.mark) return FRIX_ERROR_MEMORY;
  if (!find_slow(sim, &t)) return FRIX_OK;
  if ((status = drop_resting(sim, a, &t)) != FRIX_OK) return status;
  int32_t tried = count_slow(&t);
  if (tried == 0) return FRIX_OK;
  uint8_t *slow = FX_TAKE_RAW(&sim->arena, uint8_t, t.islands.count);
  if (!slow) return FRIX_ERROR_MEMORY;
  memcpy(slow, t.slow, (size_t)t.islands.count * sizeof *slow);
  if ((status = fx_attempt_begin(sim, a, &t.before)) != FRIX_OK) return status;
  bool good = false, large = a->joint_first > LARGE;
  if (large && find_nearly_still(sim, &t)) status = try_to_stop(sim, a, &t, balance_islands, &good);
  if (status == FRIX_OK && !good) {
    memcpy(t.slow, slow, (size_t)t.islands.count * sizeof *slow);
    status = try_to_stop(sim, a, &t, stop_islands, &good);
  }
  if (status != FRIX_OK) return status;
  if (good && !a->unset) {
    if (!(a->unset = FX_TAKE(&sim->arena, fx_attempt, 1))) return FRIX_ERROR_MEMORY;
    *a->unset = t.before;
  }
  int64_t longest = large ? LARGE_WAIT : LONGEST_WAIT;
  s->polish_wait = good && count_slow(&t) == tried ? 0 : s->polish_wait < longest ? 2 * s->polish_wait + 1 : longest;
  s->polish_at = s->step_count + 1 + s->polish_wait;
  return status;
}
