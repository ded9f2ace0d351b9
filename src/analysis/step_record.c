/* Rows of contacts and free motion, transposed in closed form.
 *
 * With multipliers (a, b) of the momenta of a body and m of the rows, the value of a contact's rows is
 *
 *   phi = F . x + T . x_w + G . y + U . y_w + m_N shift,      F, T = sum r_k d_k,   G, U = sum m_k d_k
 *
 * x the velocity at its point of a against b by the multipliers, y that of the answer, x_w, y_w the turns, d_k normal
 * and tangents. These turn with the normal and not about it: the law is the same for all tangents. shift is gap / h, or
 * e times the normal velocity before. The inertia of a body has the value
 *
 *   a . (m (v0 - v1) + h F) + b . (J (w0 - w1) + h T),     dJ = [t] J - J [t]  for a turn t */
#include "analysis/step_record.h"

#include <string.h>

/* ---- taking ---- */

static bool is_plain(const frix_sim *sim) {
  const fx_assembly *a = &sim->rows;
  if (sim->mechanism || sim->softs || sim->hooks || sim->config.force || sim->turned_count) return false;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_sym3 t = m->tension;
    if (m->tree || sim->state.load[m->slot].slope) return false;
    if (t.xx != 0 || t.yy != 0 || t.zz != 0) return false;
  }
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    if (g->kind != FX_GROUP_CONTACT || sim->surface[g->source].stiffness != 0 || a->law[k].cone == FRIX_CONE_ELLIPTIC)
      return false;
  }
  return true;
}

/* The part of the normal velocity before that the row asks for. */
static double bounce_of(const frix_sim *sim, const fx_group *g) {
  fx_normal n = {
      .gap = sim->contact[g->source].gap, .restitution = sim->surface[g->source].restitution, .kept = g->kept};
  if (n.restitution == 0) return 0;
  n.before = fx_group_velocity(sim, &sim->rows, g, 0, FX_BEFORE);
  n.free = fx_group_velocity(sim, &sim->rows, g, 0, FX_FREE);
  double bounce = fx_bounce_of(&n);
  bool bounces = fx_strikes(sim, &n) && (n.gap > 0 || bounce < sim->config.stabilisation * n.gap / sim->h);
  return bounces ? n.kept * n.restitution : 0;
}

static bool take_contact(const fx_sensitivity_step *t, int32_t k, const int32_t *body_of, fx_record_contact *out) {
  const frix_sim *sim = t->s->sim;
  const fx_group *g = &sim->rows.group[k];
  const fx_contact *c = &sim->contact[g->source];
  const fx_shape *shape[2] = {&sim->model->shape[c->shape_a], &sim->model->shape[c->shape_b]};
  frix_pose placed[2];
  *out = (fx_record_contact){.group = k, .row = g->row, .dim = g->dim, .gap = c->gap};
  out->slot[0] = c->body_a, out->slot[1] = c->body_b;
  out->frame[0] = c->normal, out->frame[1] = c->tangent[0], out->frame[2] = c->tangent[1];
  out->point = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  out->bounce = bounce_of(sim, g);
  memcpy(out->r, t->answer.r + g->row, (size_t)g->dim * sizeof *out->r);
  for (int side = 0; side < 2; side++) {
    int32_t slot = out->slot[side];
    frix_pose pose = body_of[slot] >= 0 ? t->s->before[slot].pose : sim->state.pose[slot];
    out->body[side] = body_of[slot];
    placed[side] = fx_pose_mul(pose, shape[side]->local);
  }
  return fx_contact_slope_find(c, shape, placed, &out->slope);
}

static void take_bodies(const fx_sensitivity_step *t, fx_step_record *out, int32_t *body_of) {
  const frix_sensitivity *s = t->s;
  const frix_sim *sim = s->sim;
  for (int32_t slot = 0; slot < s->slots; slot++) {
    int32_t mover = sim->mover_of[slot];
    body_of[slot] = -1;
    if (slot == 0 || sim->state.prototype[slot] <= 0) continue;
    const fx_body *body = fx_slot_body(sim, slot);
    if (mover < 0 && body->kind != FRIX_BODY_KINEMATIC) continue;
    fx_record_body *b = &out->body[out->body_count];
    *b = (fx_record_body){.slot = slot, .mover = mover, .first = -1, .body = body, .pose = s->before[slot].pose};
    body_of[slot] = out->body_count++;
    b->v0 = b->v1 = s->before[slot].velocity, b->w0 = b->w1 = s->before[slot].spin;
    if (mover < 0) continue;
    const fx_mover *m = &sim->mover[mover];
    b->first = m->first, b->dof = m->dof, b->mass = m->mass, b->J = m->J, b->torque = m->torque;
    b->v1 = s->after[slot].velocity, b->w1 = s->after[slot].spin;
  }
}

frix_status fx_record_take(const fx_sensitivity_step *t, fx_arena *arena, fx_step_record *out) {
  const frix_sim *sim = t->s->sim;
  int32_t groups = sim->rows.group_count, *body_of = FX_TAKE(arena, int32_t, t->s->slots);
  *out = (fx_step_record){.h = sim->h, .slots = t->s->slots, .known = is_plain(sim)};
  out->body = FX_TAKE(arena, fx_record_body, t->s->slots);
  out->contact = FX_TAKE(arena, fx_record_contact, groups + 1);
  if (!body_of || !out->body || !out->contact) return FRIX_ERROR_MEMORY;
  if (!out->known) return FRIX_OK;
  take_bodies(t, out, body_of);
  for (int32_t k = 0; t->gradient && k < groups && out->known; k++) {
    if (!fx_carries(&t->answer, &sim->rows.group[k])) continue; /* what opens has no multipliers */
    out->known = take_contact(t, k, body_of, &out->contact[out->contact_count++]);
  }
  return FRIX_OK;
}

/* ---- contacts ---- */

typedef struct twist {
  frix_vec3 v, w;
} twist;

static twist multiplier(const fx_record_body *b, const fx_worth *worth) {
  twist zero = {{0, 0, 0}, {0, 0, 0}};
  if (b->first < 0 || !worth->f) return zero;
  const double *f = worth->f + b->first;
  if (b->dof == 3) return (twist){fx_vec(f[0], f[1], 0), fx_vec(0, 0, f[2])};
  return (twist){fx_vec(f[0], f[1], f[2]), fx_vec(f[3], f[4], f[5])};
}

/* A force F at the point with its multiplying motions: phi = F . (v + w x arm) of a less the same of b. */
typedef struct term {
  frix_vec3 F;
  twist of[2];
} term;

/* Slopes of phi by the point, by the normal where F turns with it, and by the places of the bodies. */
static void add_term(const fx_record_contact *c, const frix_vec3 arm[2], const term *t, frix_vec3 *point,
                     frix_vec3 *normal, frix_sensitivity_motion out[2]) {
  frix_vec3 n = c->frame[0], x = {0, 0, 0};
  for (int side = 0; side < 2; side++) {
    double sign = side ? -1 : 1;
    frix_vec3 by = fx_scale(sign, fx_cross(t->F, t->of[side].w));
    x = fx_mad(x, sign, fx_add(t->of[side].v, fx_cross(t->of[side].w, arm[side])));
    *point = fx_add(*point, by);
    out[side].place = fx_sub(out[side].place, by);
  }
  /* F' = (n x n') x F */
  *normal = fx_add(*normal, fx_sub(fx_scale(fx_dot(n, t->F), x), fx_scale(fx_dot(n, x), t->F)));
}

/* From slopes by point, normal and gap to those by the two poses. */
static void through_shapes(const fx_record_contact *c, const frix_vec3 arm[2], frix_vec3 point, frix_vec3 normal,
                           double gap, frix_sensitivity_motion out[2]) {
  double by[6];
  for (int k = 0; k < 6; k++)
    by[k] = fx_dot(point, c->slope.point[k]) + fx_dot(normal, c->slope.normal[k]) + gap * c->slope.gap[k];
  twist a = {fx_vec(by[0], by[1], by[2]), fx_vec(by[3], by[4], by[5])};
  twist both = {point, fx_cross(c->frame[0], normal)};
  twist of[2] = {a, {fx_sub(both.v, a.v), fx_sub(both.w, a.w)}};
  for (int side = 0; side < 2; side++) {
    out[side].place = fx_add(out[side].place, of[side].v);
    out[side].turn = fx_add(out[side].turn, fx_add(of[side].w, fx_cross(arm[side], of[side].v)));
  }
}

void fx_record_contact_back(const fx_step_record *record, const fx_record_contact *c, const fx_worth *worth,
                            frix_sensitivity_motion out[2]) {
  frix_vec3 zero = {0, 0, 0}, point = zero, normal = zero, arm[2];
  term force = {.F = zero}, rows = {.F = zero}, before = {.F = zero}, roll = {.F = zero}, turns = {.F = zero};
  memset(out, 0, 2 * sizeof *out);
  for (int k = 0; k < c->dim; k++) {
    term *to_r = k < 3 ? &force : &roll, *to_m = k < 3 ? &rows : &turns;
    frix_vec3 d = c->frame[k < 3 ? k : k - 2];
    to_r->F = fx_mad(to_r->F, c->r[k], d), to_m->F = fx_mad(to_m->F, worth->w[c->row + k], d);
  }
  double m_N = worth->w[c->row], gap = c->bounce == 0 ? m_N / record->h : 0;
  before.F = fx_scale(m_N * c->bounce, c->frame[0]);
  for (int side = 0; side < 2; side++) {
    const fx_record_body *b = c->body[side] >= 0 ? &record->body[c->body[side]] : NULL;
    double sign = side ? -1 : 1;
    arm[side] = b ? fx_sub(c->point, b->pose.p) : zero;
    if (!b) continue;
    force.of[side] = multiplier(b, worth);
    rows.of[side] = (twist){b->v1, b->w1}, before.of[side] = (twist){b->v0, b->w0};
    roll.of[side].v = force.of[side].w, turns.of[side].v = b->w1; /* turns count as they are, wherever the point is */
    frix_vec3 F = b->mover < 0 ? fx_add(rows.F, before.F) : before.F;
    out[side].velocity = fx_scale(sign, F);
    out[side].spin = fx_scale(sign, fx_add(fx_cross(arm[side], F), b->mover < 0 ? turns.F : zero));
  }
  const term *all[5] = {&force, &rows, &before, &roll, &turns};
  for (int k = 0; k < 5; k++) add_term(c, arm, all[k], &point, &normal, out);
  through_shapes(c, arm, point, normal, gap, out);
}

/* ---- bodies ---- */

/* b . J y by a turn of J. */
static frix_vec3 turn_slope(frix_sym3 J, frix_vec3 y, frix_vec3 b) {
  return fx_add(fx_cross(fx_sym3_mul(J, y), b), fx_cross(fx_sym3_mul(J, b), y));
}

void fx_record_body_back(const fx_step_record *record, const fx_record_body *b, const fx_worth *worth,
                         frix_sensitivity_motion *out) {
  bool turns = !fx_isotropic(b->body);
  memset(out, 0, sizeof *out);
  if (b->mover < 0) return;
  if (b->first < 0) { /* v_free = v0 + h F / m, w_free = w0 + h J^-1 T */
    const frix_sensitivity_motion *free = &worth->free[b->slot];
    out->velocity = free->velocity, out->spin = free->spin;
    if (turns && !fx_is_zero(b->torque))
      out->turn = fx_scale(record->h, turn_slope(fx_sym3_inverse(b->J), b->torque, free->spin));
    return;
  }
  twist m = multiplier(b, worth);
  out->velocity = fx_scale(b->mass, m.v);
  out->spin = b->dof == 3 ? fx_vec(0, 0, b->J.zz * m.w.z) : fx_sym3_mul(b->J, m.w);
  if (turns) out->turn = turn_slope(b->J, fx_sub(b->w0, b->w1), m.w);
}
