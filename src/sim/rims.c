/* Which way the load on a flat round face presses, so that a rim point stands there (collision/rim.c).
 *
 * A cap that rests on its whole rim holds as long as the resultant of its contact forces passes through the disc. Where
 * it passes is known from the last step,
 *
 *   e = sum r_N p / sum r_N - c,   over the contacts of the pair,
 *
 * and, for a body that has only this face to stand on, from its free motion: the impulse P = m v and the angular
 * momentum L = J w, against the other body, that the face must take up cross its plane (normal n, d from c to the
 * centre of mass) at
 *
 *   e = d_T - P_T (n . d) / (n . P) + n x L / (n . P).
 *
 * The eight rim points hold 0.92 R in all directions. So they stay where they are, in the world, while e is within 0.9
 * R; beyond, the first one is put where e points. What rests keeps them, to the bit. Where an answer begins to tilt a
 * cap about other places of its rim than the one e points at, a rim point is put there and the step is solved again: a
 * cap that can stand does, whatever loads it. */
#include "collision/rim.h"
#include "sim/step.h"

static const double safe = 0.9;                      /* of the radius */
static const double aligned = 1e-6;                  /* rad: costs 4e-7 of the radius */
static const double at_rest = 1e-7, rounding = 1e-9; /* speeds of the rim, over what gravity adds in a step */

/* What the contacts of a pair carry. */
typedef struct pressed {
  double load;
  frix_vec3 sum;    /* r_N p */
  frix_vec3 rim[2]; /* of the caps of both sides, zero: none */
  bool top[2];      /* which cap that is */
} pressed;

static void press(pressed *p, const fx_contact *c, double impulse) {
  p->load += impulse;
  p->sum = fx_mad(p->sum, 0.5 * impulse, fx_add(c->point_a, c->point_b));
  if (!(fx_norm2(c->rim) > 0.0)) return;
  int side = fx_rim_side(c->feature);
  p->rim[side] = c->rim;
  p->top[side] = fx_rim_top(c->feature);
}

static int order(const fx_contact *c, const fx_lean *pair) {
  fx_contact like = {.body_a = pair->slot[0],
                     .body_b = pair->slot[1],
                     .shape_a = pair->shape[0],
                     .shape_b = pair->shape[1],
                     .feature = c->feature};
  return fx_contact_order(c, &like);
}

static pressed find_past(const frix_sim *sim, const fx_lean *pair) {
  const fx_state *s = &sim->state;
  pressed p = {0};
  int32_t low = 0, high = s->touching_count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (order(&s->touching[middle].contact, pair) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < s->touching_count && order(&s->touching[low].contact, pair) == 0; low++) {
    const fx_touching *t = &s->touching[low];
    if (t->generation_a == s->generation[pair->slot[0]] && t->generation_b == s->generation[pair->slot[1]])
      press(&p, &t->contact, t->row[0]);
  }
  return p;
}

static frix_vec3 in_plane(frix_vec3 v, frix_vec3 n) { return fx_mad(v, -fx_dot(n, v), n); }

/* Where the resultant passes, seen from a centre; zero where the load is too small to tell. */
static frix_vec3 offset(const pressed *p, frix_vec3 center, frix_vec3 n) {
  frix_vec3 e = in_plane(fx_sub(fx_scale(1.0 / p->load, p->sum), center), n);
  return fx_finite(e) ? e : fx_vec(0.0, 0.0, 0.0);
}

static frix_vec3 velocity_at(const fx_state *s, int32_t slot, frix_vec3 p) {
  if (slot == 0 || s->asleep[slot]) return fx_vec(0.0, 0.0, 0.0);
  return fx_add(s->velocity[slot], fx_cross(s->spin[slot], fx_sub(p, s->pose[slot].p)));
}

/* Where the free motion of a slot would press on a face with its normal n towards that slot; false: it does not. */
static bool free_offset(const frix_sim *sim, int32_t slot, int32_t other, frix_vec3 center, frix_vec3 n,
                        frix_vec3 *out) {
  const fx_state *s = &sim->state;
  if (sim->mover_of[slot] < 0) return false;
  const fx_mover *m = &sim->mover[sim->mover_of[slot]];
  if (m->tree) return false;
  frix_vec3 at = s->pose[slot].p, d = fx_sub(at, center);
  frix_vec3 P = fx_scale(m->mass, fx_sub(m->v_free, velocity_at(s, other, at)));
  frix_vec3 L = fx_sym3_mul(m->J, fx_sub(m->w_free, s->spin[other]));
  double pressure = fx_dot(n, P);
  if (!(pressure < 0.0)) return false;
  *out = in_plane(fx_sub(d, fx_scale(1.0 / pressure, fx_sub(fx_scale(fx_dot(n, d), P), fx_cross(n, L)))), n);
  return fx_finite(*out);
}

/* Whether one of the rim points stands where e points. */
static bool stands_at(frix_vec3 rim, frix_vec3 e, frix_vec3 n) {
  frix_vec3 u = fx_unit(in_plane(rim, n)), v = fx_cross(n, u);
  double x = fx_dot(e, u), y = fx_dot(e, v), length = fx_norm(e);
  for (int k = 0; k < FX_RIM_POINTS; k++) {
    double c = fx_eighth[k][0], s = fx_eighth[k][1];
    if (c * x + s * y > 0.0 && fabs(c * y - s * x) <= aligned * length) return true;
  }
  return false;
}

static bool same_shapes(const fx_contact *a, const fx_contact *b) {
  return a->body_a == b->body_a && a->body_b == b->body_b && a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

/* ---- asked by collision ---- */

static bool same_pair(const fx_lean *a, const fx_lean *b) {
  return a->slot[0] == b->slot[0] && a->slot[1] == b->slot[1] && a->shape[0] == b->shape[0] &&
         a->shape[1] == b->shape[1];
}

frix_vec3 fx_rim_lean(const void *user, const fx_lean *pair, const fx_round_face *face) {
  const frix_sim *sim = user;
  const fx_state *s = &sim->state;
  for (int32_t k = 0; k < sim->turned_count; k++)
    if (sim->turned[k].side == face->side && same_pair(&sim->turned[k].pair, pair)) return sim->turned[k].rim;
  int32_t slot = pair->slot[face->side], other = pair->slot[1 - face->side];
  pressed p = find_past(sim, pair);
  frix_vec3 rim = p.rim[face->side], e = {0.0, 0.0, 0.0}, n = fx_neg(face->outward);
  bool known = fx_norm2(rim) > 0.0;
  double enough = face->radius * (known ? safe : aligned);
  if (known && p.load > 0.0) { /* the face has moved on since */
    frix_vec3 way = fx_scale(s->last_step, velocity_at(s, slot, face->center));
    e = offset(&p, fx_sub(face->center, way), n);
  }
  if (!(fx_norm(e) > enough)) {
    bool presses = free_offset(sim, slot, other, face->center, n, &e) ||
                   free_offset(sim, other, slot, face->center, face->outward, &e);
    if (!presses || !(fx_norm(e) > enough)) return rim;
  }
  return known && stands_at(rim, e, n) ? rim : fx_unit(e);
}

/* ---- after a solve ---- */

static frix_vec3 spin_after(const frix_sim *sim, int32_t slot) {
  frix_vec3 v, w;
  fx_slot_motion(sim, slot, FX_AFTER, &v, &w);
  return w;
}

static void turn(frix_sim *sim, const fx_contact *c, int side, frix_vec3 rim) {
  fx_lean pair = {.slot = {c->body_a, c->body_b}, .shape = {c->shape_a, c->shape_b}};
  int32_t at = 0;
  while (at < sim->turned_count && !(sim->turned[at].side == side && same_pair(&sim->turned[at].pair, &pair))) at++;
  sim->turned[at] = (fx_turned_rim){pair, side, rim};
  if (at == sim->turned_count) sim->turned_count++;
}

/* Whether the answer begins to tilt caps of a pair about a wrong place of their rim; those are turned. */
static bool turn_rims(frix_sim *sim, const fx_contact *c, const pressed *p) {
  const fx_state *s = &sim->state;
  double fall = sim->h * fx_norm(s->gravity);
  frix_vec3 before = fx_sub(s->spin[c->body_a], s->spin[c->body_b]);
  frix_vec3 after = fx_sub(spin_after(sim, c->body_a), spin_after(sim, c->body_b));
  bool any = false;
  for (int side = 0; side < 2 && p->load > 0.0; side++) {
    if (!(fx_norm2(p->rim[side]) > 0.0)) continue;
    const fx_shape *shape = &sim->model->shape[side ? c->shape_b : c->shape_a];
    frix_pose pose = fx_pose_mul(sim->state.pose[side ? c->body_b : c->body_a], shape->local);
    fx_round_face face = fx_cap_of(shape, pose, p->top[side], side);
    frix_vec3 e = offset(p, face.center, face.outward);
    bool begins = face.radius * fx_norm(in_plane(before, face.outward)) <= at_rest * fall &&
                  face.radius * fx_norm(in_plane(after, face.outward)) > rounding * fall;
    if (!begins || !(fx_norm(e) > safe * face.radius) || stands_at(p->rim[side], e, face.outward)) continue;
    turn(sim, c, side, fx_unit(e));
    any = true;
  }
  return any;
}

static int32_t count_rims(const frix_sim *sim) {
  int32_t count = 0;
  for (int32_t i = 0; i < sim->contact_count; i++) count += fx_norm2(sim->contact[i].rim) > 0.0;
  return count;
}

static frix_status reserve_turned(frix_sim *sim, int32_t more) {
  fx_turned_rim *list = FX_TAKE(&sim->arena, fx_turned_rim, sim->turned_count + more);
  if (!list) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->turned_count; k++) list[k] = sim->turned[k];
  sim->turned = list;
  return FRIX_OK;
}

frix_status fx_retry_rims(frix_sim *sim, fx_round round, fx_redo *redo) {
  const fx_assembly *a = &sim->rows;
  bool again = false;
  int32_t rims = sim->integrator->implicit ? 0 : count_rims(sim);
  if (rims == 0 || sim->deadline > 0.0 || !sim->report.certified) return FRIX_OK;
  if (reserve_turned(sim, rims) != FRIX_OK) return FRIX_ERROR_MEMORY;
  pressed p = {0};
  const fx_contact *last = NULL;
  for (int32_t k = 0; k <= a->group_count; k++) {
    const fx_group *g = k < a->group_count ? &a->group[k] : NULL;
    if (g && g->kind != FX_GROUP_CONTACT) continue;
    const fx_contact *c = g ? &sim->contact[g->source] : NULL;
    if (last && (!c || !same_shapes(last, c))) {
      again |= turn_rims(sim, last, &p);
      p = (pressed){0};
    }
    if (c) press(&p, c, a->r[g->row]);
    last = c;
  }
  if (!again) return FRIX_OK;
  *redo = FX_REDO_CONTACTS;
  if (round.last) return FRIX_OK;
  frix_status status = fx_sim_find_contacts(sim, fx_sim_margin(sim));
  return status == FRIX_OK ? fx_sim_describe_contacts(sim) : status;
}
