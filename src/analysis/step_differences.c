/* One step back by differences of the assembly.
 *
 * The value of the rows under their multipliers, phi(x0, p) = m . l(x0, p), is a sum over groups of rows and bodies.
 * Bodies that share no group are moved at once (colours), so that the number of assemblies does not grow with the
 * world; where a drive may make the force on one body depend on another, each is moved alone. */
#include "analysis/step_back.h"

#include <math.h>
#include <string.h>

enum { COORDINATES = 12 }; /* place, turn, velocity, spin */

/* Rows are linear in velocities but for the spin, which enters squared: the wider, the less rounding. */
static double nudge_of(int c) { return c < 6 ? FX_NUDGE : 10 * FX_NUDGE; }

static double *coordinate(frix_sensitivity_motion *m, int c) {
  frix_vec3 *part[4] = {&m->place, &m->turn, &m->velocity, &m->spin};
  frix_vec3 *v = part[c / 3];
  return c % 3 == 0 ? &v->x : c % 3 == 1 ? &v->y : &v->z;
}

/* ---- colours ---- */

/* Bodies of one group differ; bodies that no mover stands for (kinematic ones) have a colour of their own each. */
static void find_colours(fx_back *q) {
  const frix_sim *sim = q->s->sim;
  const fx_assembly *a = &sim->rows;
  for (int32_t k = 0; k < q->s->slots; k++) q->colour[k] = -1;
  q->colours = 0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    uint64_t used = 0;
    for (int32_t g = 0; g < a->group_count; g++) {
      bool within = false;
      for (int32_t b = 0; b < a->group[g].body_count; b++) within |= a->group[g].mover[b] == k;
      for (int32_t b = 0; within && b < a->group[g].body_count; b++) {
        int32_t other = q->colour[sim->mover[a->group[g].mover[b]].slot];
        if (other >= 0 && other < 64) used |= UINT64_C(1) << other;
      }
    }
    int32_t own = 0;
    while (own < 63 && (used >> own & 1)) own++;
    if (used >> own & 1 || q->s->config.drive) own = q->colours; /* one body in the midst of 63; alone */
    q->colour[sim->mover[k].slot] = own;
    if (own >= q->colours) q->colours = own + 1;
  }
  for (int32_t k = 1; k < q->s->slots; k++)
    if (q->colour[k] < 0 && sim->state.prototype[k] > 0 && fx_slot_body(sim, k)->kind == FRIX_BODY_KINEMATIC)
      q->colour[k] = q->colours++;
}

/* ---- through the motion ---- */

/* The end of the step of `sim`, which was looked at from `place`, with these velocities. */
static frix_status finish_from(frix_sim *sim, const fx_place *place, const fx_place *after, fx_place *out) {
  frix_status status = fx_places_set(sim, place);
  if (status == FRIX_OK) fx_places_finish(sim, after, out);
  return status;
}

/* c = (dx1/dv1)' lambda, body by body: one coordinate of all at once. */
static frix_status through_motion(fx_back *q) {
  frix_sensitivity *s = q->s;
  frix_status status = fx_sensitivity_look(s, s->side[0], s->before, -1, 0);
  for (int c = 6; c < COORDINATES && status == FRIX_OK; c++) {
    for (int side = 0; side < 2 && status == FRIX_OK; side++) {
      memset(s->change, 0, (size_t)s->slots * sizeof *s->change);
      memcpy(q->nudged, s->after, (size_t)s->slots * sizeof *q->nudged);
      for (int32_t k = 1; k < s->slots; k++) {
        *coordinate(&s->change[k], c) = side ? nudge_of(c) : -nudge_of(c);
        q->nudged[k].velocity = fx_add(q->nudged[k].velocity, s->change[k].velocity);
        q->nudged[k].spin = fx_add(q->nudged[k].spin, s->change[k].spin);
      }
      status = finish_from(s->side[0], s->before, q->nudged, s->end[side]);
    }
    fx_places_differ(s->end[1], s->end[0], 2 * nudge_of(c), s->slots, s->part);
    for (int32_t k = 0; k < s->sim->mover_count; k++) {
      int32_t slot = s->sim->mover[k].slot;
      *coordinate(&q->velocities[slot], c) = fx_tangent_product(&q->lambda[slot], &s->part[slot]);
    }
  }
  return status;
}

/* ---- through the rows ---- */

typedef struct values {
  double *group, *mover;
} values;

static frix_status look_at(fx_back *q, fx_sensitivity_step *t, frix_sim *sim, const fx_place *place, int32_t parameter,
                           double shift, const fx_worth *worth, values *out) {
  frix_sensitivity *s = q->s;
  frix_status status = fx_sensitivity_look(s, sim, place, parameter, shift);
  if (status != FRIX_OK || fx_worth_find(&t->answer, sim, worth, q->scratch, out->group, out->mover)) return status;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "sensitivity: a contact that carries is lost beside step %lld",
                 (long long)s->sim->state.step_count);
}

enum { LOWER, UPPER, HERE, HALF_LOWER, HALF_UPPER, PLACES };

static bool has_edge(const fx_back *q, const values *v, bool halved) {
  const frix_sim *sim = q->s->sim;
  fx_beside group = {v[LOWER].group, v[HERE].group, v[UPPER].group, NULL, NULL};
  fx_beside mover = {v[LOWER].mover, v[HERE].mover, v[UPPER].mover, NULL, NULL};
  if (halved) group.half_lower = v[HALF_LOWER].group, group.half_upper = v[HALF_UPPER].group;
  if (halved) mover.half_lower = v[HALF_LOWER].mover, mover.half_upper = v[HALF_UPPER].mover;
  return fx_is_edge(sim->rows.group_count, &group, 1e-12 * q->worth) ||
         fx_is_edge(sim->mover_count, &mover, 1e-12 * q->worth);
}

static frix_status bent(const fx_back *q) {
  return fx_fail(q->s->context, FRIX_ERROR_UNSUPPORTED, "no gradient: the shapes of step %lld meet at an edge",
                 (long long)q->s->sim->state.step_count + 1);
}

/* The rows as they are, and the size of what they sum up. */
static frix_status look_here(fx_back *q, fx_sensitivity_step *t, const fx_worth *worth, values *now) {
  frix_status status = look_at(q, t, q->s->side[0], q->s->before, -1, 0, worth, now);
  q->worth = 0;
  for (int32_t k = 0; status == FRIX_OK && k < t->dofs && worth->f; k++)
    q->worth = fx_max(q->worth, t->momentum * fabs(worth->f[k]));
  for (int32_t k = 0; status == FRIX_OK && k < t->rows && worth->w; k++)
    q->worth = fx_max(q->worth, t->speed * fabs(worth->w[k]));
  return status;
}

/* Which coordinates a slot has: bodies in the plane have three of six. */
static bool has_coordinate(const fx_back *q, int32_t slot, int c) {
  const frix_sim *sim = q->s->sim;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].slot == slot) return sim->mover[k].dof != 3 || c % 6 < 2 || c % 6 == 5;
  return true;
}

/* Both worlds beside, the places s->change times e apart from here. */
static frix_status look_aside(fx_back *q, fx_sensitivity_step *t, const fx_worth *worth, double e, values *v) {
  frix_status status = FRIX_OK;
  for (int side = 0; side < 2 && status == FRIX_OK; side++) {
    fx_places_move(q->s->before, q->s->change, side ? e : -e, q->s->slots, q->nudged);
    status = look_at(q, t, q->s->side[side], q->nudged, -1, 0, worth, &v[side]);
  }
  return status;
}

/* One coordinate of all bodies of a colour. */
static frix_status by_coordinate(fx_back *q, fx_sensitivity_step *t, const fx_worth *worth, int32_t colour, int c,
                                 values *v) {
  frix_sensitivity *s = q->s;
  const fx_assembly *a = &s->sim->rows;
  double e = nudge_of(c);
  memset(s->change, 0, (size_t)s->slots * sizeof *s->change);
  for (int32_t k = 1; k < s->slots; k++)
    if (q->colour[k] == colour && has_coordinate(q, k, c)) *coordinate(&s->change[k], c) = 1;
  frix_status status = t->gradient ? look_aside(q, t, worth, 0.5 * e, v + HALF_LOWER) : FRIX_OK;
  if (status == FRIX_OK) status = look_aside(q, t, worth, e, v + LOWER);
  if (status != FRIX_OK) return status;
  if (t->gradient && has_edge(q, v, true)) return bent(q);
  for (int side = 0; side < 2; side++) fx_places_finish(s->side[side], s->after, s->end[side]);
  fx_places_differ(s->end[1], s->end[0], 2 * e, s->slots, s->part);
  double all = 0;
  for (int32_t k = 0; k < a->group_count; k++) {
    double change = (v[1].group[k] - v[0].group[k]) / (2 * e);
    all += change;
    for (int32_t b = 0; b < a->group[k].body_count; b++) {
      int32_t slot = s->sim->mover[a->group[k].mover[b]].slot;
      if (q->colour[slot] == colour) *coordinate(&q->before[slot], c) += change;
    }
  }
  for (int32_t k = 0; k < s->sim->mover_count; k++) {
    int32_t slot = s->sim->mover[k].slot;
    double change = (v[1].mover[k] - v[0].mover[k]) / (2 * e);
    all += change;
    if (q->colour[slot] == colour) *coordinate(&q->before[slot], c) += change;
  }
  for (int32_t k = 1; k < s->slots; k++) {
    if (q->colour[k] != colour) continue;
    bool alone = s->config.drive || fx_slot_body(s->sim, k)->kind == FRIX_BODY_KINEMATIC;
    *coordinate(&q->before[k], c) =
        fx_tangent_product(&q->lambda[k], &s->part[k]) + (alone ? all : *coordinate(&q->before[k], c));
  }
  return FRIX_OK;
}

static frix_status by_parameter(fx_back *q, fx_sensitivity_step *t, const fx_worth *worth, int32_t k, values *v,
                                double *sum) {
  frix_sensitivity *s = q->s;
  double d = s->increment[k], change = 0;
  for (int side = 0; side < 2; side++) {
    frix_sim *sim = s->beside[side][k];
    frix_status status = look_at(q, t, sim, s->before, k, side ? d : -d, worth, &v[side]);
    if (status != FRIX_OK) return status;
    fx_places_finish(sim, s->after, s->end[side]);
  }
  if (t->gradient && has_edge(q, v, false)) return bent(q);
  fx_places_differ(s->end[1], s->end[0], 2 * d, s->slots, s->part);
  for (int32_t e = 0; e < s->sim->rows.group_count; e++) change += (v[1].group[e] - v[0].group[e]) / (2 * d);
  for (int32_t e = 0; e < s->sim->mover_count; e++) change += (v[1].mover[e] - v[0].mover[e]) / (2 * d);
  for (int32_t e = 1; e < s->slots; e++) change += fx_tangent_product(&q->lambda[e], &s->part[e]);
  *sum += change;
  return FRIX_OK;
}

/* The body that is pushed, where it is a mover of the sim. */
static void by_force(const fx_back *q, const fx_worth *worth, int64_t step) {
  const frix_sim *sim = q->s->sim;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    fx_pushed body = {m->first, m->dof, m->A_inverse, m->B_inverse};
    if (m->slot == (int32_t)q->config->pushed.index) fx_back_by_force(q, worth, &body, sim->h, step);
  }
}

frix_status fx_back_by_differences(fx_back *q, int64_t step) {
  frix_sensitivity *s = q->s;
  fx_sensitivity_step t = {.again = true};
  fx_worth worth;
  values v[PLACES];
  memset(q->velocities, 0, (size_t)s->slots * sizeof *q->velocities);
  memset(q->before, 0, (size_t)s->slots * sizeof *q->before);
  frix_status status = fx_sensitivity_open(s, &t);
  if (status == FRIX_OK) status = through_motion(q);
  for (int32_t k = 0; k < s->sim->mover_count && status == FRIX_OK; k++) {
    const fx_mover *m = &s->sim->mover[k];
    fx_back_set_velocity(&t, m->first, m->dof, &q->velocities[m->slot]);
  }
  if (status == FRIX_OK) status = fx_back_through_answer(q, &t, &worth);
  for (int k = 0; k < PLACES && status == FRIX_OK; k++) {
    v[k].group = FX_TAKE(&t.arena, double, s->sim->rows.group_count + 1);
    v[k].mover = FX_TAKE(&t.arena, double, s->sim->mover_count + 1);
    if (!v[k].group || !v[k].mover) status = FRIX_ERROR_MEMORY;
  }
  if (status == FRIX_OK) find_colours(q), by_force(q, &worth, step), status = look_here(q, &t, &worth, &v[HERE]);
  for (int32_t colour = 0; colour < q->colours && status == FRIX_OK; colour++)
    for (int c = 0; c < COORDINATES && status == FRIX_OK; c++) status = by_coordinate(q, &t, &worth, colour, c, v);
  for (int32_t k = 0; k < s->config.parameter_count && q->config->parameter && status == FRIX_OK; k++)
    status = by_parameter(q, &t, &worth, k, v, &q->config->parameter[k]);
  fx_sensitivity_close(&t);
  memcpy(q->lambda, q->before, (size_t)s->slots * sizeof *q->lambda);
  return status;
}
