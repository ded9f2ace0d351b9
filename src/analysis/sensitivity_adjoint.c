/* The gradient of one number of a run, backward from its end.
 *
 *   x1 = F(x0, p),   lambda0 = (dF/dx0)' lambda1,   dJ/dp += (dF/dp)' lambda1
 *
 * Within a step: lambda1 goes back through the motion to the velocities (c), the transposed factors of the natural map
 * turn c into multipliers of what the rows leave of the law (frix_gradient_adjoint), and these go back through the
 * rows: in closed form where that was found to hold (step_record.h), else by differences of phi(x0, p) = m . l(x0, p).
 * States come from snapshots every few steps; the steps between are made again, and must come to the same bits. */
#include "analysis/step_back.h"

#include "base/abi.h"

#include <string.h>

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

static bool take_back(fx_back *q) {
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
static void add_weights(fx_back *q, int64_t k) {
  for (int32_t e = 0; e < q->config->weight_count; e++) {
    const frix_sensitivity_weight *w = &q->config->weight[e];
    frix_sensitivity_motion *to = &q->lambda[w->body.index];
    if ((w->step ? w->step : q->s->result.step) != k) continue;
    fx_tangent_add(to, &w->weight);
  }
}

/* ---- parts of a step ---- */

void fx_back_set_velocity(fx_sensitivity_step *t, int32_t first, int32_t dof, const frix_sensitivity_motion *m) {
  const double flat[3] = {m->velocity.x, m->velocity.y, m->spin.z};
  const double all[6] = {m->velocity.x, m->velocity.y, m->velocity.z, m->spin.x, m->spin.y, m->spin.z};
  if (first >= 0 && t->gradient) memcpy(t->dv + first, dof == 3 ? flat : all, (size_t)dof * sizeof *t->dv);
}

frix_status fx_back_through_answer(const fx_back *q, fx_sensitivity_step *t, fx_worth *worth) {
  *worth = (fx_worth){.free = q->velocities, .rows = t->rows};
  if (!t->gradient) return FRIX_OK;
  frix_gradient_parts parts = {
      .size = sizeof parts, .f = t->f, .w = t->w, .b = t->b, .mu = t->mu, .R = t->R, .r_c = t->r_c};
  frix_status status = frix_gradient_adjoint(t->gradient, t->dv, NULL, &parts);
  worth->f = t->f, worth->w = t->w, worth->b = t->b, worth->mu = t->mu, worth->R = t->R, worth->r_c = t->r_c;
  return status;
}

/* A force on the body acts for h on its momentum. */
void fx_back_by_force(const fx_back *q, const fx_worth *worth, const fx_pushed *body, double h, int64_t step) {
  const frix_sensitivity_motion *free = &q->velocities[q->config->pushed.index];
  frix_vec3 force, torque;
  if (body->first < 0) {
    force = fx_sym3_mul(body->A_inverse, free->velocity), torque = fx_sym3_mul(body->B_inverse, free->spin);
  } else if (worth->f) {
    const double *f = worth->f + body->first;
    force = fx_vec(f[0], f[1], body->dof == 3 ? 0 : f[2]);
    torque = body->dof == 3 ? fx_vec(0, 0, f[2]) : fx_vec(f[3], f[4], f[5]);
  } else {
    return;
  }
  if (q->config->force) q->config->force[step] = fx_scale(h, force);
  if (q->config->torque) q->config->torque[step] = fx_scale(h, torque);
}

/* ---- a step in closed form ---- */

/* Changes of the data by a parameter. */
typedef struct by_data {
  double *f, *w, *mu;
  frix_sensitivity_motion *end, *free; /* by slot: the end of the step, free velocities where no row touches */
} by_data;

/* A step of a stretch, made again: what the way back through it needs. */
typedef struct kept_step {
  frix_snapshot *state; /* the world before, where it has no closed form */
  fx_sensitivity_step t;
  fx_step_record record;
  by_data *parameter;
} kept_step;

frix_status fx_sensitivity_note_closed(fx_sensitivity_step *t) {
  frix_sensitivity *s = t->s;
  fx_step_record record;
  bool agrees = false;
  if (s->result.step > s->closed_room) {
    int64_t room = 2 * s->closed_room + 64;
    uint8_t *more = FX_NEW(s->context, uint8_t, room);
    if (!more) return FRIX_ERROR_MEMORY;
    if (s->closed) memcpy(more, s->closed, (size_t)s->closed_room);
    fx_free(s->context, s->closed);
    s->closed = more, s->closed_room = room;
  }
  frix_status status = FRIX_OK;
  if (s->result.verdict == FRIX_GRADIENT_SMOOTH) {
    status = fx_record_take(t, &t->arena, &record);
    if (status == FRIX_OK && record.known) status = fx_record_check(t, &record, &agrees);
  }
  s->closed[s->result.step - 1] = agrees;
  s->result.closed += agrees;
  return status;
}

static frix_status keep_parameter(fx_sensitivity_step *t, int32_t k, by_data *out) {
  frix_sensitivity *s = t->s;
  frix_status status = fx_sensitivity_by_parameter(t, k);
  if (status != FRIX_OK) return status;
  if (s->result.run_verdict != FRIX_GRADIENT_SMOOTH)
    return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "no gradient: step %lld has an edge in parameter %d",
                   (long long)s->sim->state.step_count + 1, k);
  out->f = FX_TAKE(&t->arena, double, t->dofs + 1), out->w = FX_TAKE(&t->arena, double, t->rows + 1);
  out->mu = FX_TAKE(&t->arena, double, t->contacts + 1);
  out->end = FX_TAKE(&t->arena, frix_sensitivity_motion, s->slots);
  out->free = FX_TAKE(&t->arena, frix_sensitivity_motion, s->slots);
  if (!out->f || !out->w || !out->mu || !out->end || !out->free) return FRIX_ERROR_MEMORY;
  memcpy(out->f, t->f, (size_t)t->dofs * sizeof *t->f), memcpy(out->w, t->w, (size_t)t->rows * sizeof *t->w);
  memcpy(out->mu, t->mu, (size_t)t->contacts * sizeof *t->mu);
  memcpy(out->end, s->part, (size_t)s->slots * sizeof *out->end);
  memcpy(out->free, s->change, (size_t)s->slots * sizeof *out->free);
  return FRIX_OK;
}

/* The step that the sim is at the beginning of, with all that its way back needs; the sim goes on behind it. */
static frix_status make_closed(fx_back *q, kept_step *out) {
  frix_sensitivity *s = q->s;
  int32_t count = q->config->parameter ? s->config.parameter_count : 0;
  out->t = (fx_sensitivity_step){.again = true};
  frix_status status = fx_sensitivity_open(s, &out->t);
  if (status == FRIX_OK) status = fx_record_take(&out->t, &out->t.arena, &out->record);
  out->parameter = FX_TAKE(&out->t.arena, by_data, count + 1);
  if (status == FRIX_OK && !out->parameter) status = FRIX_ERROR_MEMORY;
  if (status == FRIX_OK && count) status = fx_sensitivity_check_rows(&out->t);
  for (int32_t k = 0; k < count && status == FRIX_OK; k++) status = keep_parameter(&out->t, k, &out->parameter[k]);
  if (out->t.opened) s->sim->state.time = out->t.end, s->sim->state.step_count++;
  out->t.opened = false;
  return status;
}

static double parameter_slope(const fx_back *q, const kept_step *step, const fx_worth *worth, const by_data *by) {
  const fx_sensitivity_step *t = &step->t;
  double sum = 0;
  for (int32_t k = 0; worth->f && k < t->dofs; k++) sum += worth->f[k] * by->f[k];
  for (int32_t k = 0; worth->f && k < t->rows; k++) sum += worth->w[k] * by->w[k];
  for (int32_t k = 0; worth->f && k < t->contacts; k++) sum += worth->mu[k] * by->mu[k];
  for (int32_t k = 0; k < step->record.body_count; k++) {
    const fx_record_body *b = &step->record.body[k];
    sum += fx_tangent_product(&q->lambda[b->slot], &by->end[b->slot]);
    if (b->mover >= 0 && b->first < 0) sum += fx_tangent_product(&q->velocities[b->slot], &by->free[b->slot]);
  }
  return sum;
}

static void push_back(const fx_back *q, const fx_worth *worth, const fx_record_body *b, double h, int64_t step) {
  double m = b->mass > 0 ? 1 / b->mass : 0;
  fx_pushed body = {b->first, b->dof, {m, m, m, 0, 0, 0}, fx_sym3_inverse(b->J)};
  if (b->mover >= 0 && b->slot == (int32_t)q->config->pushed.index) fx_back_by_force(q, worth, &body, h, step);
}

static frix_status step_back(fx_back *q, kept_step *step, int64_t number) {
  const fx_step_record *r = &step->record;
  size_t bytes = (size_t)q->s->slots * sizeof *q->before;
  fx_worth worth;
  memset(q->velocities, 0, bytes), memset(q->before, 0, bytes);
  for (int32_t k = 0; k < r->body_count; k++) {
    const fx_record_body *b = &r->body[k];
    fx_record_motion_back(r, b, &q->lambda[b->slot], &q->velocities[b->slot], &q->before[b->slot]);
    fx_back_set_velocity(&step->t, b->first, b->dof, &q->velocities[b->slot]);
  }
  frix_status status = fx_back_through_answer(q, &step->t, &worth);
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < r->contact_count; k++) {
    frix_sensitivity_motion by[2];
    fx_record_contact_back(r, &r->contact[k], &worth, by);
    for (int side = 0; side < 2; side++)
      if (r->contact[k].body[side] >= 0) fx_tangent_add(&q->before[r->contact[k].slot[side]], &by[side]);
  }
  for (int32_t k = 0; k < r->body_count; k++) {
    frix_sensitivity_motion by, *to = &q->before[r->body[k].slot];
    fx_record_body_back(r, &r->body[k], &worth, &by);
    fx_tangent_add(to, &by);
    push_back(q, &worth, &r->body[k], r->h, number);
    if (!r->body[k].body->planar) continue;
    to->place.z = to->velocity.z = 0;
    to->turn.x = to->turn.y = to->spin.x = to->spin.y = 0;
  }
  for (int32_t k = 0; q->config->parameter && k < q->s->config.parameter_count; k++)
    q->config->parameter[k] += parameter_slope(q, step, &worth, &step->parameter[k]);
  memcpy(q->lambda, q->before, bytes);
  return FRIX_OK;
}

/* ---- the run ---- */

/* The steps of a stretch between two kept states, made again. */
static frix_status make_stretch(fx_back *q, int64_t kept, int64_t count, kept_step *step) {
  frix_sensitivity *s = q->s;
  frix_status status = frix_sim_restore(s->sim, s->kept[kept]);
  for (int64_t k = 0; k < count && status == FRIX_OK; k++) {
    if (s->closed[kept * s->config.apart + k]) {
      status = make_closed(q, &step[k]);
      continue;
    }
    status = frix_sim_save(s->sim, &step[k].state);
    if (status == FRIX_OK) status = fx_sensitivity_replay(s);
  }
  return status;
}

/* The stretch leads to where it led before. */
static frix_status check_end(fx_back *q, uint64_t expected, int64_t step) {
  uint64_t now;
  frix_status status = frix_sim_hash(q->s->sim, &now);
  if (status != FRIX_OK || now == expected) return status;
  return fx_fail(q->s->context, FRIX_ERROR_UNSUPPORTED,
                 "sensitivity: step %lld made again is another; drive must depend on state, time and parameters alone",
                 (long long)step);
}

static frix_status stretch_back(fx_back *q, int64_t first, int64_t count, kept_step *step) {
  frix_status status = FRIX_OK;
  for (int64_t k = count - 1; k >= 0 && status == FRIX_OK; k--) {
    add_weights(q, first + k + 1);
    if (!step[k].state) {
      status = step_back(q, &step[k], first + k);
      continue;
    }
    status = frix_sim_restore(q->s->sim, step[k].state);
    if (status == FRIX_OK) status = fx_back_by_differences(q, first + k);
  }
  return status;
}

static void drop_stretch(kept_step *step, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    frix_snapshot_destroy(step[k].state);
    if (step[k].t.s) fx_sensitivity_close(&step[k].t);
  }
}

static frix_status go_back(fx_back *q, kept_step *step, uint64_t end) {
  frix_sensitivity *s = q->s;
  frix_status status = FRIX_OK;
  int64_t last = s->result.step;
  for (int64_t kept = s->kept_count - 1; kept >= 0 && status == FRIX_OK; kept--) {
    int64_t first = kept * s->config.apart, count = last - first;
    memset(step, 0, (size_t)s->config.apart * sizeof *step);
    status = make_stretch(q, kept, count, step);
    if (status == FRIX_OK) status = check_end(q, end, last);
    if (status == FRIX_OK) status = stretch_back(q, first, count, step);
    drop_stretch(step, count);
    if (status == FRIX_OK) status = frix_sim_restore(s->sim, s->kept[kept]);
    if (status == FRIX_OK) status = frix_sim_hash(s->sim, &end);
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

static frix_status run_back(fx_back *q) {
  frix_sensitivity *s = q->s;
  frix_snapshot *now = NULL;
  kept_step *step = FX_TAKE(&q->arena, kept_step, s->config.apart);
  uint64_t end = 0;
  if (!step || !take_back(q)) return FRIX_ERROR_MEMORY;
  frix_status status = frix_sim_save(s->sim, &now);
  if (status != FRIX_OK) return status;
  status = frix_sim_hash(s->sim, &end);
  if (status == FRIX_OK) status = go_back(q, step, end);
  for (int32_t k = 0; k < s->config.parameter_count && q->config->parameter && status == FRIX_OK; k++)
    for (int32_t e = 1; e < s->slots; e++)
      q->config->parameter[k] += fx_tangent_product(&q->lambda[e], &s->tangent[k][e]); /* of the start */
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
  fx_back q = {.s = s, .config = config};
  fx_arena_init(&q.arena, s->context);
  status = run_back(&q);
  fx_arena_free(&q.arena);
  return status;
}
