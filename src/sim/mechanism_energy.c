/* Trees in the ledger.
 *
 *   K1 - K0 = v . M (v1 - v0),   v = (v0 + v1) / 2, M at the place of the contacts, v0 what the links come with, after
 *   the velocity products of the step: every force times v is booked; springs, gravity, velocity products and the
 *   turning of M come back in the energies of the new place and go to the scheme until then.
 */
#include "sim/mechanism.h"

#include <string.h>

double fx_mechanism_kinetic(const frix_sim *sim) {
  return sim->mechanism ? fx_tree_rotor_energy(sim->mechanism->state) : 0.0;
}

double fx_mechanism_potential(const frix_sim *sim) {
  return sim->mechanism ? fx_tree_spring_energy(sim->mechanism->state) : 0.0;
}

static double middle(const fx_tree_mover *t, int32_t i) { return 0.5 * (t->came[i] + t->v1[i]); }

/* What implicit slopes add to the forces of the beginning. */
static void book_slopes(const fx_mechanism *x, const fx_tree_mover *t, frix_energy *e, double *booked) {
  for (int32_t i = 0; i < t->count; i++) {
    int32_t at = t->first + i;
    double impulse =
        -(x->spring_slope[at] + x->damper_slope[at]) * (t->v1[i] - t->v0[i]) - x->spring_slope[at] * t->v0[i];
    e->damping -= impulse * middle(t, i);
    *booked += impulse * middle(t, i);
    const fx_hold *h = &x->hold[at];
    if (h->mode != FX_HOLD_STUCK && h->mode != FX_HOLD_SLIDES) continue;
    double held = (h->impulse - h->slope * t->v1[i]) * middle(t, i);
    e->friction -= held;
    *booked += held;
  }
  for (int32_t k = 0; k < x->slope_count; k++) {
    const fx_slope *s = &x->slope[k];
    double before = 0.0, after = 0.0, came = 0.0;
    for (int32_t n = 0; n < s->span.count; n++) {
      int32_t i = x->tree.list[s->span.first + n] - t->first;
      if (i < 0 || i >= t->count) break; /* a chain is of one tree */
      before += s->moment[n] * t->v0[i], after += s->moment[n] * t->v1[i], came += s->moment[n] * t->came[i];
    }
    double power = -((s->stiffness + s->damping) * (after - before) + s->stiffness * before) * 0.5 * (came + after);
    if (s->drives)
      e->work += power;
    else
      e->damping -= power;
    *booked += power;
  }
}

/* -J_w' S J_w v1 of tension. */
static void book_tension(const fx_mechanism *x, const fx_tree_mover *t, frix_energy *e, double *booked) {
  double *after = x->state->row2, *held = x->row, sum = 0.0;
  for (int32_t i = 0; i < x->tree.dof_count; i++) after[i] = 0.0;
  memcpy(after + t->first, t->v1, (size_t)t->count * sizeof *after);
  fx_tension_push(x, after, -1.0, held);
  for (int32_t i = 0; i < t->count; i++) sum += held[t->first + i] * middle(t, i);
  for (int32_t i = 0; i < x->tree.dof_count; i++) held[i] = 0.0;
  e->scheme += sum;
  *booked += sum;
}

/* Impulses of loops, as those of joints. */
static void book_loops(const fx_mechanism *x, const fx_tree_mover *t, frix_energy *e, double *booked) {
  for (int32_t l = 0; l < x->loop_count; l++) {
    const fx_loop *loop = &x->loop[l];
    for (int32_t k = 0; k < loop->rows && &x->part[loop->part] == t->part; k++) {
      double rate = 0.0, r = fx_loop_impulse(x, loop, k, t->v1);
      for (int32_t i = 0; i < t->count; i++) rate += loop->J[k * t->count + i] * middle(t, i);
      e->joint += r * rate;
      *booked += r * rate;
    }
  }
}

double fx_tree_book(const frix_sim *sim, const fx_mover *m, frix_energy *e, double *booked) {
  const fx_tree_mover *t = m->tree;
  const fx_mechanism *x = t->mechanism;
  const frix_robot_state *s = x->state;
  fx_twin change[FX_TREE_MOST], product[FX_TREE_MOST];
  double sum = 0.0;
  for (int32_t i = 0; i < t->count; i++) change[i] = (fx_twin){t->came[i] - t->v0[i], t->v1[i] - t->came[i]};
  fx_tree_mul_pair(&x->tree, s->m, t->first, t->count, change, product); /* the first: - h c, and its rounding */
  for (int32_t i = 0; i < t->count; i++) {
    int32_t at = t->first + i;
    double rest = middle(t, i) * (sim->h * (s->passive[at] - x->damper_force[at] - s->bias[at]) - product[i][0]);
    double damped = sim->h * middle(t, i) * x->damper_force[at];
    double work = sim->h * middle(t, i) * (x->drive_force[at] + s->applied[at] + x->load_force[at]);
    sum += middle(t, i) * product[i][1];
    e->scheme += rest, e->damping -= damped, e->work += work;
    *booked += rest + damped + work;
  }
  book_slopes(x, t, e, booked);
  if (x->tense) book_tension(x, t, e, booked);
  book_loops(x, t, e, booked);
  return sum;
}
