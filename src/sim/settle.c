/* Coming to rest with stiff contacts.
 *
 * Springs under implicit steps approach rest and never reach it. A rigid step would: where all bodies are slow and the
 * rigid law, started from the springs' own impulses, has the answer v = 0, the springs are set to carry the impulses of
 * that answer (fx_hold_contact) and nothing moves from then on. Rigid stands for R -> 0 with memory,
 *
 *   u = v + TINY R (r - r of the springs),
 *
 * so that the impulses stay as near to those of the springs as rest allows. What rolls or swings freely has no row that
 * stops it: its velocity stays, and so do its springs. */
#include "sim/sim.h"

#include <math.h>
#include <string.h>

#define SLOW 1e-3      /* of a step's gravity */
#define TINY 1e-6      /* compliance of a rigid contact over that of a stiff one */
#define ROUNDING 1e-13 /* of the terms a velocity is the sum of */

enum { STEPS = 10, LONGEST_WAIT = 15 };

/* What the attempt changes, for the way back. */
typedef struct before {
  double *w, *R, *r_c, *r;
  fx_mover *mover;
  frix_step_report report;
} before;

static double *copy_rows(frix_sim *sim, const double *rows, int32_t count) {
  double *copy = FX_TAKE_RAW(&sim->arena, double, count);
  if (copy) memcpy(copy, rows, (size_t)count * sizeof *rows);
  return copy;
}

static bool keep(frix_sim *sim, const fx_assembly *a, before *b) {
  b->report = sim->report;
  b->mover = FX_TAKE_RAW(&sim->arena, fx_mover, sim->mover_count);
  b->w = copy_rows(sim, a->w, a->row_count);
  b->R = copy_rows(sim, a->R, a->row_count);
  b->r_c = copy_rows(sim, a->r_c, a->row_count);
  b->r = copy_rows(sim, a->r, a->row_count);
  if (!b->mover || !b->w || !b->R || !b->r_c || !b->r) return false;
  memcpy(b->mover, sim->mover, (size_t)sim->mover_count * sizeof *b->mover);
  return true;
}

static void restore_law(fx_assembly *a, const before *b) {
  size_t bytes = (size_t)a->row_count * sizeof *a->w;
  memcpy(a->w, b->w, bytes);
  memcpy(a->R, b->R, bytes);
  memcpy(a->r_c, b->r_c, bytes);
}

static void take_back(frix_sim *sim, fx_assembly *a, const before *b) {
  restore_law(a, b);
  memcpy(a->r, b->r, (size_t)a->row_count * sizeof *a->r);
  memcpy(sim->mover, b->mover, (size_t)sim->mover_count * sizeof *b->mover);
  int64_t iterations = sim->report.iterations;
  sim->report = b->report;
  sim->report.iterations = iterations;
}

/* Whether a rigid step may bring it to rest: slow before and after, and not at rest already. */
static bool is_slow(const frix_sim *sim) {
  double slow = SLOW * sim->h * fx_norm(sim->state.gravity);
  bool moves = false;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    double radius = fx_slot_body(sim, m->slot)->radius, arm = isfinite(radius) ? radius : 0.0;
    double speed = fmax(fx_norm(m->v0) + arm * fx_norm(m->w0), fx_norm(m->v1) + arm * fx_norm(m->w1));
    if (speed > slow) return false;
    moves |= speed > 0.0;
  }
  return moves;
}

static bool by_rule(const frix_sim *sim, const fx_group *g) {
  return (g->kind == FX_GROUP_CONTACT || g->kind == FX_GROUP_SPINNING) && sim->surface[g->source].by_rule;
}

/* Contacts that carry something become nearly rigid, with the impulses of the springs as memory. */
static void stiffen(const frix_sim *sim, fx_assembly *a) {
  for (int32_t k = 0; k < a->joint_first; k++) {
    const fx_group *g = &a->group[k];
    if (!by_rule(sim, g) || g->kind != FX_GROUP_CONTACT || !(a->r[g->row] > 0.0)) continue;
    a->w[g->row] = a->drive[g->row];
    for (int32_t j = g->row; j < g->row + g->dim; j++) {
      a->R[j] *= TINY;
      a->r_c[j] = a->r[j];
    }
  }
}

static bool is_at_rest(const frix_sim *sim, double (*size)[2]) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->first < 0) continue;
    if (fx_norm(m->v1) > ROUNDING * size[k][0] || fx_norm(m->w1) > ROUNDING * size[k][1]) return false;
  }
  return true;
}

/* Springs carry the impulses found; the law is again that of springs, and judges them. */
static frix_status hold(frix_sim *sim, fx_assembly *a, const before *b, bool *good) {
  double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
  if (!v) return FRIX_ERROR_MEMORY;
  restore_law(a, b);
  for (int32_t k = 0; k < a->joint_first; k++) {
    fx_group *g = &a->group[k];
    if (by_rule(sim, g) && g->kind == FX_GROUP_CONTACT && a->r[g->row] > 0.0) fx_hold_contact(sim, a, g, a->r + g->row);
  }
  frix_status status = fx_rows_judge(sim, a, a->r, a->u, v, &sim->report.certificate);
  *good = status == FRIX_OK && fx_certified(sim);
  if (*good) fx_put_answer(sim, v);
  return status;
}

frix_status fx_settle(frix_sim *sim, fx_assembly *a) {
  fx_state *s = &sim->state;
  bool asked = sim->config.contact == FRIX_CONTACT_LAW_STIFF && !sim->springs && sim->config.polish > 0.0 &&
               sim->config.law == FRIX_LAW_COULOMB && sim->deadline == 0.0 && a == &sim->rows && a->compliant;
  if (!asked || s->step_count < s->polish_at || !fx_certified(sim) || sim->report.approximate || !is_slow(sim))
    return FRIX_OK;
  before b;
  double(*size)[2] = (double(*)[2])FX_TAKE(&sim->arena, double, 2 * (size_t)sim->mover_count);
  if (!size || !keep(sim, a, &b)) return FRIX_ERROR_MEMORY;
  stiffen(sim, a);
  fx_polisher with = {"newton", 1e-16, STEPS};
  bool good = false;
  frix_status status = fx_solve_once(sim, a, true, INFINITY, &with);
  if (status != FRIX_OK) return status;
  fx_sum_sizes(sim, a, a->r, size);
  if (is_at_rest(sim, size)) status = hold(sim, a, &b, &good);
  if (!good) take_back(sim, a, &b);
  s->polish_wait = good ? 0 : s->polish_wait < LONGEST_WAIT ? 2 * s->polish_wait + 1 : LONGEST_WAIT;
  s->polish_at = s->step_count + 1 + s->polish_wait;
  return status;
}
