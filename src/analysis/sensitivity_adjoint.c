/* The gradient of one number of a run, backward from its end.
 *
 *   x1 = F(x0, p),   lambda0 = (dF/dx0)' lambda1,   dJ/dp += (dF/dp)' lambda1
 *
 * Within a step: lambda1 goes back through the motion to the velocities (c), the transposed factors of the natural map
 * turn c into multipliers of what the rows leave of the law (frix_gradient_adjoint), and the value of these rows,
 *
 *   phi(x0, p) = m . l(x0, p)
 *
 * a sum over groups of rows and bodies, is differenced. Bodies that share no group are moved at once (colours), so that
 * the number of assemblies does not grow with the world. States come from snapshots every few steps; the steps between
 * are made again, and must come to the same bits. */
#include "analysis/sensitivity.h"

#include "base/abi.h"

#include <math.h>
#include <string.h>

enum { COORDINATES = 12 }; /* place, turn, velocity, spin */

/* Rows are linear in velocities but for the spin, which enters squared: the wider, the less rounding. */
static double nudge_of(int c) { return c < 6 ? FX_NUDGE : 10 * FX_NUDGE; }

frix_status fx_sensitivity_keep(frix_sensitivity *s) {
  if (s->result.step % s->config.apart != 0) return FRIX_OK;
  if (s->kept_count == s->kept_room) {
    int64_t room = 2 * s->kept_room + 16;
    frix_snapshot **more = FX_NEW(s->context, frix_snapshot *, room);
    if (!more) return FRIX_ERROR_MEMORY;
    if (s->kept_count) memcpy(more, s->kept, (size_t)s->kept_count * sizeof *more);
    fx_free(s->context, s->kept);
    s->kept = more, s->kept_room = room;
  }
  frix_status status = frix_sim_save(s->sim, &s->kept[s->kept_count]);
  if (status == FRIX_OK) s->kept_count++;
  return status;
}

/* ---- the state of the way back ---- */

typedef struct back {
  frix_sensitivity *s;
  const frix_sensitivity_adjoint_config *config;
  fx_arena arena;
  frix_sensitivity_motion *lambda, *before; /* by slot, behind and before the step */
  frix_sensitivity_motion *velocities;      /* c by slot */
  double *scratch;                          /* 6 by slot */
  double worth;                             /* of the rows as they are: what rounding is measured by */
  int32_t *colour;                          /* by slot */
  int32_t colours;
  fx_place *nudged;
} back;

static double *coordinate(frix_sensitivity_motion *m, int c) {
  frix_vec3 *part[4] = {&m->place, &m->turn, &m->velocity, &m->spin};
  frix_vec3 *v = part[c / 3];
  return c % 3 == 0 ? &v->x : c % 3 == 1 ? &v->y : &v->z;
}

static double product(const frix_sensitivity_motion *a, const frix_sensitivity_motion *b) {
  return fx_dot(a->place, b->place) + fx_dot(a->turn, b->turn) + fx_dot(a->velocity, b->velocity) +
         fx_dot(a->spin, b->spin);
}

static bool take_back(back *q) {
  size_t n = (size_t)q->s->slots + 1;
  q->lambda = FX_TAKE(&q->arena, frix_sensitivity_motion, n);
  q->before = FX_TAKE(&q->arena, frix_sensitivity_motion, n);
  q->velocities = FX_TAKE(&q->arena, frix_sensitivity_motion, n);
  q->scratch = FX_TAKE(&q->arena, double, 6 * n);
  q->colour = FX_TAKE(&q->arena, int32_t, n);
  q->nudged = FX_TAKE(&q->arena, fx_place, n);
  return q->lambda && q->before && q->velocities && q->scratch && q->colour && q->nudged;
}

/* Weights of J behind step k. */
static void add_weights(back *q, int64_t k) {
  for (int32_t e = 0; e < q->config->weight_count; e++) {
    const frix_sensitivity_weight *w = &q->config->weight[e];
    frix_sensitivity_motion *to = &q->lambda[w->body.index];
    if ((w->step ? w->step : q->s->result.step) != k) continue;
    to->place = fx_add(to->place, w->weight.place), to->turn = fx_add(to->turn, w->weight.turn);
    to->velocity = fx_add(to->velocity, w->weight.velocity), to->spin = fx_add(to->spin, w->weight.spin);
  }
}

/* ---- colours ---- */

/* Bodies of one group differ; bodies that no mover stands for (kinematic ones) have a colour of their own each. */
static void find_colours(back *q) {
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
    if (used >> own & 1) own = q->colours; /* one body in the midst of 63 */
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
static frix_status through_motion(back *q) {
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
      *coordinate(&q->velocities[slot], c) = product(&q->lambda[slot], &s->part[slot]);
    }
  }
  return status;
}

/* ---- through the answer ---- */

static frix_status through_answer(back *q, fx_sensitivity_step *t, fx_worth *worth) {
  static const int flat[3] = {0, 1, 5}, all[6] = {0, 1, 2, 3, 4, 5};
  *worth = (fx_worth){.free = q->velocities, .rows = t->rows};
  if (!t->gradient) return FRIX_OK;
  for (int32_t k = 0; k < q->s->sim->mover_count; k++) {
    const fx_mover *m = &q->s->sim->mover[k];
    for (int32_t c = 0; c < m->dof && m->first >= 0; c++)
      t->dv[m->first + c] = *coordinate(&q->velocities[m->slot], 6 + (m->dof == 3 ? flat : all)[c]);
  }
  frix_gradient_parts parts = {
      .size = sizeof parts, .f = t->f, .w = t->w, .b = t->b, .mu = t->mu, .R = t->R, .r_c = t->r_c};
  frix_status status = frix_gradient_adjoint(t->gradient, t->dv, NULL, &parts);
  worth->f = t->f, worth->w = t->w, worth->b = t->b, worth->mu = t->mu, worth->R = t->R, worth->r_c = t->r_c;
  return status;
}

/* ---- through the rows ---- */

typedef struct values {
  double *group, *mover;
} values;

static frix_status look_at(back *q, fx_sensitivity_step *t, frix_sim *sim, const fx_place *place, int32_t parameter,
                           double shift, const fx_worth *worth, values *out) {
  frix_sensitivity *s = q->s;
  frix_status status = fx_sensitivity_look(s, sim, place, parameter, shift);
  if (status != FRIX_OK || fx_worth_find(&t->answer, sim, worth, q->scratch, out->group, out->mover)) return status;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "sensitivity: a contact that carries is lost beside step %lld",
                 (long long)s->sim->state.step_count);
}

enum { LOWER, UPPER, HERE, HALF_LOWER, HALF_UPPER, PLACES };

static bool has_edge(const back *q, const values *v, bool halved) {
  const frix_sim *sim = q->s->sim;
  fx_beside group = {v[LOWER].group, v[HERE].group, v[UPPER].group, NULL, NULL};
  fx_beside mover = {v[LOWER].mover, v[HERE].mover, v[UPPER].mover, NULL, NULL};
  if (halved) group.half_lower = v[HALF_LOWER].group, group.half_upper = v[HALF_UPPER].group;
  if (halved) mover.half_lower = v[HALF_LOWER].mover, mover.half_upper = v[HALF_UPPER].mover;
  return fx_is_edge(sim->rows.group_count, &group, 1e-12 * q->worth) ||
         fx_is_edge(sim->mover_count, &mover, 1e-12 * q->worth);
}

static frix_status bent(const back *q) {
  return fx_fail(q->s->context, FRIX_ERROR_UNSUPPORTED, "no gradient: the shapes of step %lld meet at an edge",
                 (long long)q->s->sim->state.step_count + 1);
}

/* The rows as they are, and the size of what they sum up. */
static frix_status look_here(back *q, fx_sensitivity_step *t, const fx_worth *worth, values *now) {
  frix_status status = look_at(q, t, q->s->side[0], q->s->before, -1, 0, worth, now);
  q->worth = 0;
  for (int32_t k = 0; status == FRIX_OK && k < t->dofs && worth->f; k++)
    q->worth = fx_max(q->worth, t->momentum * fabs(worth->f[k]));
  for (int32_t k = 0; status == FRIX_OK && k < t->rows && worth->w; k++)
    q->worth = fx_max(q->worth, t->speed * fabs(worth->w[k]));
  return status;
}

/* Which coordinates a slot has: bodies in the plane have three of six. */
static bool has_coordinate(const back *q, int32_t slot, int c) {
  const frix_sim *sim = q->s->sim;
  for (int32_t k = 0; k < sim->mover_count; k++)
    if (sim->mover[k].slot == slot) return sim->mover[k].dof != 3 || c % 6 < 2 || c % 6 == 5;
  return true;
}

/* Both worlds beside, the places s->change times e apart from here. */
static frix_status look_aside(back *q, fx_sensitivity_step *t, const fx_worth *worth, double e, values *v) {
  frix_status status = FRIX_OK;
  for (int side = 0; side < 2 && status == FRIX_OK; side++) {
    fx_places_move(q->s->before, q->s->change, side ? e : -e, q->s->slots, q->nudged);
    status = look_at(q, t, q->s->side[side], q->nudged, -1, 0, worth, &v[side]);
  }
  return status;
}

/* One coordinate of all bodies of a colour. */
static frix_status by_coordinate(back *q, fx_sensitivity_step *t, const fx_worth *worth, int32_t colour, int c,
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
    bool kinematic = fx_slot_body(s->sim, k)->kind == FRIX_BODY_KINEMATIC;
    *coordinate(&q->before[k], c) += product(&q->lambda[k], &s->part[k]) + (kinematic ? all : 0);
  }
  return FRIX_OK;
}

static frix_status by_parameter(back *q, fx_sensitivity_step *t, const fx_worth *worth, int32_t k, values *v,
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
  for (int32_t e = 1; e < s->slots; e++) change += product(&q->lambda[e], &s->part[e]);
  *sum += change;
  return FRIX_OK;
}

/* A force on the body acts for h on its momentum. */
static void by_force(const back *q, const fx_worth *worth, int64_t step) {
  const frix_sim *sim = q->s->sim;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_vec3 force, torque;
    if (m->slot != (int32_t)q->config->pushed.index) continue;
    if (m->first < 0) {
      force = fx_sym3_mul(m->A_inverse, q->velocities[m->slot].velocity);
      torque = fx_sym3_mul(m->B_inverse, q->velocities[m->slot].spin);
    } else if (worth->f) {
      const double *f = worth->f + m->first;
      force = fx_vec(f[0], f[1], m->dof == 3 ? 0 : f[2]);
      torque = m->dof == 3 ? fx_vec(0, 0, f[2]) : fx_vec(f[3], f[4], f[5]);
    } else {
      continue;
    }
    if (q->config->force) q->config->force[step] = fx_scale(sim->h, force);
    if (q->config->torque) q->config->torque[step] = fx_scale(sim->h, torque);
  }
}

/* One step back: lambda behind it becomes lambda before it. The sim stands at the beginning of the step. */
static frix_status step_back(back *q, int64_t step) {
  frix_sensitivity *s = q->s;
  fx_sensitivity_step t = {.again = true};
  fx_worth worth;
  values v[PLACES];
  memset(q->velocities, 0, (size_t)s->slots * sizeof *q->velocities);
  memset(q->before, 0, (size_t)s->slots * sizeof *q->before);
  frix_status status = fx_sensitivity_open(s, &t);
  if (status == FRIX_OK) status = through_motion(q);
  if (status == FRIX_OK) status = through_answer(q, &t, &worth);
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

/* ---- the run ---- */

/* The states of a stretch between two kept ones, made again. */
static frix_status make_stretch(frix_sensitivity *s, int64_t kept, int64_t count, frix_snapshot **state) {
  frix_status status = frix_sim_restore(s->sim, s->kept[kept]);
  for (int64_t k = 0; k < count && status == FRIX_OK; k++) {
    status = frix_sim_save(s->sim, &state[k]);
    if (status == FRIX_OK && k + 1 < count) status = fx_sensitivity_replay(s);
  }
  return status;
}

/* The step leads to where it led before. */
static frix_status check_end(back *q, uint64_t expected, int64_t step) {
  uint64_t now;
  frix_status status = frix_sim_hash(q->s->sim, &now);
  if (status != FRIX_OK || now == expected) return status;
  return fx_fail(q->s->context, FRIX_ERROR_UNSUPPORTED,
                 "sensitivity: step %lld made again is another; drive must depend on state, time and parameters alone",
                 (long long)step);
}

static frix_status go_back(back *q, frix_snapshot **state, uint64_t end) {
  frix_sensitivity *s = q->s;
  frix_status status = FRIX_OK;
  int64_t last = s->result.step;
  for (int64_t kept = s->kept_count - 1; kept >= 0 && status == FRIX_OK; kept--) {
    int64_t first = kept * s->config.apart, count = last - first;
    memset(state, 0, (size_t)s->config.apart * sizeof *state);
    status = make_stretch(s, kept, count, state);
    for (int64_t k = count - 1; k >= 0 && status == FRIX_OK; k--) {
      add_weights(q, first + k + 1);
      status = frix_sim_restore(s->sim, state[k]);
      if (status == FRIX_OK) status = step_back(q, first + k);
      if (status == FRIX_OK) status = check_end(q, end, first + k + 1);
      if (status == FRIX_OK) status = frix_sim_restore(s->sim, state[k]);
      if (status == FRIX_OK) status = frix_sim_hash(s->sim, &end);
    }
    for (int64_t k = 0; k < count; k++) frix_snapshot_destroy(state[k]);
    last = first;
  }
  return status;
}

static frix_status check_config(const frix_sensitivity *s, const frix_sensitivity_adjoint_config *c) {
  bool good = s->config.backward && s->result.step > 0 && c->weight_count > 0 && c->weight;
  for (int32_t k = 0; good && k < c->weight_count; k++)
    good = c->weight[k].body.index && frix_sim_alive(s->sim, c->weight[k].body) && c->weight[k].step >= 0 &&
           c->weight[k].step <= s->result.step;
  if (!good)
    return fx_fail(s->context, FRIX_ERROR_INPUT,
                   "frix_sensitivity_adjoint: a run with config.backward, weights of living bodies at its steps");
  if (s->result.run_verdict == FRIX_GRADIENT_SMOOTH) return FRIX_OK;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "no gradient: step %lld is not smooth",
                 (long long)s->result.first_kink);
}

static frix_status run_back(back *q) {
  frix_sensitivity *s = q->s;
  frix_snapshot *now = NULL, **state = FX_TAKE(&q->arena, frix_snapshot *, s->config.apart);
  uint64_t end = 0;
  if (!state || !take_back(q)) return FRIX_ERROR_MEMORY;
  frix_status status = frix_sim_save(s->sim, &now);
  if (status != FRIX_OK) return status;
  status = frix_sim_hash(s->sim, &end);
  if (status == FRIX_OK) status = go_back(q, state, end);
  for (int32_t k = 0; k < s->config.parameter_count && q->config->parameter && status == FRIX_OK; k++)
    for (int32_t e = 1; e < s->slots; e++)
      q->config->parameter[k] += product(&q->lambda[e], &s->tangent[k][e]); /* of the start */
  frix_status restored = frix_sim_restore(s->sim, now);
  frix_snapshot_destroy(now);
  return status == FRIX_OK ? restored : status;
}

frix_status frix_sensitivity_adjoint(frix_sensitivity *s, const frix_sensitivity_adjoint_config *config) {
  if (!s || !config) return FRIX_ERROR_INPUT;
  frix_sensitivity_adjoint_config none = {.size = sizeof none};
  FX_WHOLE(frix_sensitivity_adjoint_config, config, none);
  if (config != &config_whole)
    return fx_fail(s->context, FRIX_ERROR_INPUT, "frix_sensitivity_adjoint_config: its size is not known");
  frix_status status = check_config(s, config);
  if (status != FRIX_OK) return status;
  size_t steps = (size_t)s->result.step;
  if (config->parameter) memset(config->parameter, 0, (size_t)s->config.parameter_count * sizeof(double));
  if (config->force) memset(config->force, 0, steps * sizeof *config->force);
  if (config->torque) memset(config->torque, 0, steps * sizeof *config->torque);
  back q = {.s = s, .config = config};
  fx_arena_init(&q.arena, s->context);
  status = run_back(&q);
  fx_arena_free(&q.arena);
  return status;
}
