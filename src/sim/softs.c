/* Soft bodies of a simulation: which there are, their state, and the parts of a step before and after the answer. */
#include "sim/softs.h"

#include <math.h>
#include <string.h>

#include "model/geometry.h"

int32_t fx_softs_room(const frix_model *model) {
  int32_t count = 0;
  for (int32_t k = 1; k < model->body_count; k++) {
    const frix_soft *soft = fx_soft_of(model, k);
    if (soft) count += 3 * soft->info.coordinates;
  }
  return count;
}

/* Many points share a load: a face with a sixth of all points of the surface is as stiff together as ten contacts of
 * a rigid body. Springs that were each as stiff as one of these would make the problem needlessly hard. */
static const double face_share = 60.0;

/* ---- life ---- */

static frix_status start(frix_sim *sim, fx_softs *s, fx_soft_body *b, int32_t slot, int32_t at) {
  const frix_soft *soft = fx_soft_of(sim->model, slot);
  int32_t k = soft->info.coordinates, n = 6 + k;
  const fx_body *body = &sim->model->body[slot];
  *b = (fx_soft_body){.soft = soft, .slot = slot, .shape = body->shape_start, .at = at, .mover = -1};
  b->size = 2.0 * body->radius;
  b->contact_mass = soft->info.mass * fx_min(1.0, face_share / soft->info.point_count);
  size_t square = (size_t)n * (size_t)n;
  b->part = (fx_part){.count = n, .slot = slot, .mass = soft->info.mass};
  b->part.dense = FX_TAKE(&s->arena, double, square);
  b->part.factor = FX_TAKE(&s->arena, double, square);
  b->part.column = FX_TAKE(&s->arena, int32_t, square);
  b->part.column_count = FX_TAKE(&s->arena, int32_t, square);
  b->mass = FX_TAKE(&s->arena, double, square);
  b->force = FX_TAKE(&s->arena, double, 2 * (size_t)k + 1);
  if (!b->part.dense || !b->part.factor || !b->part.column || !b->part.column_count || !b->mass || !b->force)
    return FRIX_ERROR_MEMORY;
  frix_status status = fx_soft_skin_take(soft, &s->arena, &b->skin);
  if (status == FRIX_OK) status = fx_soft_skin_take(soft, &s->arena, &b->end_skin);
  if (status == FRIX_OK) status = frix_soft_state_create(soft, &b->x);
  return status ? status : frix_soft_state_create(soft, &b->end);
}

frix_status fx_softs_create(frix_sim *sim) {
  const frix_model *m = sim->model;
  int32_t count = 0, room = fx_softs_room(m), at;
  for (int32_t k = 1; k < m->body_count; k++) count += fx_soft_of(m, k) != NULL;
  if (!count) return FRIX_OK;
  fx_softs *s = FX_NEW(sim->context, fx_softs, 1);
  if (!s) return FRIX_ERROR_MEMORY;
  sim->softs = s;
  fx_arena_init(&s->arena, sim->context);
  s->body = FX_TAKE(&s->arena, fx_soft_body, count);
  s->slot_count = m->body_count;
  s->of_slot = FX_TAKE(&s->arena, int32_t, m->body_count);
  if (!sim->mechanism) {
    sim->state.robot_count = room;
    sim->state.robot = FX_NEW(sim->context, double, room);
  }
  if (!s->body || !s->of_slot || !sim->state.robot) return FRIX_ERROR_MEMORY;
  at = sim->state.robot_count - room;
  for (int32_t k = 0; k < m->body_count; k++) {
    const frix_soft *soft = k ? fx_soft_of(m, k) : NULL;
    s->of_slot[k] = -1;
    if (!soft) continue;
    s->of_slot[k] = s->count;
    frix_status status = start(sim, s, &s->body[s->count++], k, at);
    if (status) return status;
    at += 3 * soft->info.coordinates;
    s->widest = s->widest > 6 + soft->info.coordinates ? s->widest : 6 + soft->info.coordinates;
    fx_set_momentum(sim, k);
  }
  s->row = FX_TAKE(&s->arena, double, 3 * (size_t)s->widest);
  return s->row ? fx_softs_find_held(sim) : FRIX_ERROR_MEMORY;
}

void fx_softs_move(frix_sim *sim, int32_t places) {
  for (int32_t k = 0; sim->softs && k < sim->softs->count; k++) sim->softs->body[k].at += places;
}

void fx_softs_destroy(frix_sim *sim) {
  fx_softs *s = sim->softs;
  if (!s) return;
  for (int32_t k = 0; k < s->count; k++) frix_soft_state_destroy(s->body[k].x), frix_soft_state_destroy(s->body[k].end);
  fx_arena_free(&s->arena);
  fx_free(sim->context, s);
  sim->softs = NULL;
}

/* ---- state ---- */

void fx_soft_fetch(const frix_sim *sim, const fx_soft_body *b) {
  const fx_state *s = &sim->state;
  frix_soft_state *x = b->x;
  size_t k = (size_t)b->soft->info.coordinates, bytes = k * sizeof *x->rate;
  const double *numbers = s->robot + b->at;
  x->pose = s->pose[b->slot];
  x->velocity = s->velocity[b->slot];
  x->spin_momentum = s->momentum[b->slot];
  if (!k) return;
  memcpy(x->amplitude, numbers, bytes);
  memcpy(x->rate, numbers + k, bytes);
  memcpy(x->momentum, numbers + 2 * k, bytes);
}

void fx_soft_store(frix_sim *sim, const fx_soft_body *b) {
  fx_state *s = &sim->state;
  const frix_soft_state *x = b->x;
  size_t k = (size_t)b->soft->info.coordinates, bytes = k * sizeof *x->rate;
  double *numbers = s->robot + b->at;
  s->pose[b->slot] = x->pose;
  s->velocity[b->slot] = x->velocity;
  s->spin[b->slot] = fx_rotate(x->pose.q, fx_soft_spin(x));
  s->momentum[b->slot] = x->spin_momentum;
  if (!k) return;
  memcpy(numbers, x->amplitude, bytes);
  memcpy(numbers + k, x->rate, bytes);
  memcpy(numbers + 2 * k, x->momentum, bytes);
}

bool fx_softs_finite(const frix_sim *sim) {
  const fx_softs *s = sim->softs;
  for (int32_t b = 0; b < s->count; b++)
    for (int32_t k = 0; k < 3 * s->body[b].soft->info.coordinates; k++)
      if (!isfinite(sim->state.robot[s->body[b].at + k])) return false;
  return true;
}

/* ---- a step ---- */

/* Velocities of the mover where contacts are seen. */
static void look(frix_sim *sim, const fx_soft_body *b) {
  const frix_soft_state *x = b->x;
  fx_mover *m = &sim->mover[b->mover];
  frix_vec3 w = fx_rotate(x->pose.q, fx_soft_spin(x));
  double *v = m->tree->v0;
  v[0] = x->velocity.x, v[1] = x->velocity.y, v[2] = x->velocity.z;
  v[3] = w.x, v[4] = w.y, v[5] = w.z;
  for (int32_t k = 0; k < b->soft->info.coordinates; k++) v[6 + k] = x->rate[k];
  m->v0 = x->velocity, m->w0 = w;
}

void fx_softs_begin(frix_sim *sim, double part) {
  double h = sim->h, middle = sim->integrator->implicit ? 0.25 * h : 0.0;
  for (int32_t k = 0; k < sim->softs->count; k++) {
    fx_soft_body *b = &sim->softs->body[k];
    if (b->mover < 0) continue;
    /* elastic forces: at the end of the step, or at its middle where the integrator is symmetric */
    b->when = middle > 0.0 ? (fx_soft_when){middle, middle} : (fx_soft_when){(1.0 - part) * h, 0.0};
    sim->state.pose[b->slot] = sim->pose0[b->slot];
    fx_soft_fetch(sim, b);
    if (part > 0.0) fx_soft_drift_to(b->x, part * h);
    sim->state.pose[b->slot] = b->x->pose;
    fx_soft_skin_find(b->x, &b->skin);
    look(sim, b);
  }
}

/* They are kept for fx_softs_pull_alike. */
static void leave_pulls(fx_softs *s) {
  fx_pull *list = s->pulled;
  int32_t room = s->pulled_room;
  s->pulled = s->pull, s->pulled_count = s->pull_count, s->pulled_room = s->pull_room;
  s->pull = list, s->pull_count = 0, s->pull_room = room;
}

bool fx_softs_pull_alike(const fx_softs *s) {
  if (s->pull_count != s->pulled_count) return false;
  return !s->pull_count || !memcmp(s->pull, s->pulled, (size_t)s->pull_count * sizeof *s->pull);
}

/* Every bit of its motion is that of the next step, signs of zeros too. */
static void stop(frix_sim *sim, fx_soft_body *b, fx_tree_mover *t) {
  frix_soft_state *x = b->x;
  size_t bytes = (size_t)b->soft->info.coordinates * sizeof *x->rate;
  memset(t->v1, 0, (size_t)t->count * sizeof *t->v1);
  x->velocity = x->spin_momentum = fx_vec(0.0, 0.0, 0.0);
  if (bytes) memset(x->rate, 0, bytes), memset(x->momentum, 0, bytes);
  fx_soft_store(sim, b);
  sim->state.spin[b->slot] = fx_vec(0.0, 0.0, 0.0);
}

/* Momenta of the frame change by M (v1 - v0). */
void fx_soft_go_on(const frix_sim *sim, const fx_soft_body *b, frix_soft_state *x, double time) {
  const fx_mover *m = &sim->mover[b->mover];
  const fx_tree_mover *t = m->tree;
  int32_t n = t->count;
  double mass = b->soft->info.mass;
  frix_vec3 L = b->momentum;
  double frame[6] = {mass * t->v1[0], mass * t->v1[1], mass * t->v1[2], L.x, L.y, L.z};
  bool alone = m->first < 0 && fx_is_zero(m->torque) && !sim->softs->pull_count &&
               !sim->state.load[b->slot].slope; /* it keeps every bit */
  for (int32_t i = 3; i < 6 && !alone; i++)
    for (int32_t j = 3; j < n; j++) frame[i] += b->mass[(size_t)i * n + j] * (t->v1[j] - t->v0[j]);
  fx_soft_take_velocities(x, t->v1, frame);
  x->velocity = fx_vec(t->v1[0], t->v1[1], t->v1[2]);
  fx_soft_drift(x, time);
}

/* A body at rest has a velocity of rounding alone. */
void fx_softs_finish(frix_sim *sim, double part) {
  for (int32_t k = 0; k < sim->softs->count; k++) {
    fx_soft_body *b = &sim->softs->body[k];
    if (b->mover < 0) continue;
    fx_tree_mover *t = sim->mover[b->mover].tree;
    if (t->stands) {
      stop(sim, b, t);
      continue;
    }
    fx_soft_go_on(sim, b, b->x, part * sim->h);
    fx_soft_store(sim, b);
  }
  leave_pulls(sim->softs);
}
