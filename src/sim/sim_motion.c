/* Motion of free bodies: SE(3), and momenta that are kept.
 *
 *   d(m v)/dt = F,  dL/dt = T  with L = J(q) w, all in the world frame; the gyroscopic term is the turning of J.
 *
 * A step changes L by the impulses alone, so free flight keeps both momenta to round-off. The turn over a step uses the
 * spin at the middle, w = J(q_mid)^-1 L (implicit midpoint, a few fixed-point steps): second order, no energy drift.
 * Reference: E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, ch. VII.5. */
#include "base/trig.h"
#include "sim/coats.h"
#include "sim/softs.h"

#define MOST_TURN 0.1 /* rad */
enum { MOST_PARTS = 100 };

frix_quat fx_turn(frix_quat q, frix_vec3 spin, double h) {
  double speed = fx_norm(spin);
  if (!(speed > 0.0)) return q;
  double s, c;
  fx_sincos(0.5 * h * speed, &s, &c);
  s /= speed;
  return fx_quat_unit(fx_quat_mul((frix_quat){c, s * spin.x, s * spin.y, s * spin.z}, q));
}

frix_sym3 fx_sym3_inverse(frix_sym3 s) {
  double a = s.yy * s.zz - s.yz * s.yz, b = s.xz * s.yz - s.xy * s.zz, c = s.xy * s.yz - s.xz * s.yy;
  double d = 1.0 / (s.xx * a + s.xy * b + s.xz * c);
  return (frix_sym3){d * a, d * (s.xx * s.zz - s.xz * s.xz), d * (s.xx * s.yy - s.xy * s.xy), d * b,
                     d * c, d * (s.xy * s.xz - s.xx * s.yz)};
}

/* L D L' x = b. */
static frix_vec3 solve_sym3(frix_sym3 s, frix_vec3 b) {
  double y = s.xy / s.xx, z = s.xz / s.xx, yy = s.yy - y * s.xy, yz = s.yz - y * s.xz, l = yz / yy;
  b.y -= y * b.x;
  b.z -= z * b.x + l * b.y;
  b.z /= s.zz - z * s.xz - l * yz;
  b.y = b.y / yy - l * b.z;
  b.x = b.x / s.xx - y * b.y - z * b.z;
  return b;
}

frix_vec3 fx_spin_change(const fx_mover *m, frix_vec3 L) {
  if (m->dof == 3) return fx_vec(0.0, 0.0, m->B_inverse.zz * L.z);
  return fx_is_tense(m) ? solve_sym3(m->B, L) : fx_sym3_mul(m->B_inverse, L);
}

bool fx_isotropic(const fx_body *body) {
  frix_sym3 j = body->inertia;
  return body->planar || (j.xx == j.yy && j.yy == j.zz && j.xy == 0.0 && j.xz == 0.0 && j.yz == 0.0);
}

frix_sym3 fx_world_inertia(const fx_body *body, frix_pose pose) {
  return fx_isotropic(body) ? body->inertia : fx_sym3_turn(pose.q, body->inertia);
}

/* w = R J^-1 R' L */
static frix_vec3 spin_at(frix_sym3 inverse, frix_quat q, frix_vec3 L) {
  return fx_rotate(q, fx_sym3_mul(inverse, fx_unrotate(q, L)));
}

frix_vec3 fx_spin_of(const fx_body *body, frix_pose pose, frix_vec3 L, frix_vec3 w) {
  return fx_isotropic(body) ? w : spin_at(fx_sym3_inverse(body->inertia), pose.q, L);
}

frix_vec3 fx_momentum_after(const fx_mover *m) {
  if (fx_is_zero(m->w1)) return fx_vec(0.0, 0.0, 0.0);
  return fx_add(m->L0, fx_sym3_mul(m->J, fx_sub(m->w1, m->w0)));
}

/* The spin at the middle of time h. */
static frix_vec3 middle_spin(frix_sym3 inverse, frix_quat q, frix_vec3 L, frix_vec3 w, double h) {
  for (int k = 0; k < 12; k++) {
    frix_vec3 next = spin_at(inverse, fx_turn(q, w, 0.5 * h), L);
    double change = fx_norm2(fx_sub(next, w));
    w = next;
    if (change <= 1e-32 * fx_norm2(w)) break;
  }
  return w;
}

frix_pose fx_advance(const fx_body *body, frix_pose pose, frix_vec3 v, frix_vec3 L, frix_vec3 w, double h) {
  frix_pose end = {fx_mad(pose.p, h, v), pose.q};
  if (fx_isotropic(body) || !(fx_norm2(w) > 0.0)) {
    end.q = fx_turn(pose.q, w, h);
    return end;
  }
  /* a turn of more than a few degrees at once would not keep the energy */
  double parts = floor(fx_norm(w) * h / MOST_TURN);
  int n = parts < MOST_PARTS ? 1 + (int)parts : MOST_PARTS;
  frix_sym3 inverse = fx_sym3_inverse(body->inertia);
  for (int k = 0; k < n; k++) {
    w = middle_spin(inverse, end.q, L, w, h / n);
    end.q = fx_turn(end.q, w, h / n);
  }
  return end;
}

void fx_set_momentum(frix_sim *sim, int32_t slot) {
  fx_state *s = &sim->state;
  const fx_body *body = fx_slot_body(sim, slot);
  const fx_soft_body *soft = fx_soft_at(sim, slot);
  if (soft) {
    fx_soft_fetch(sim, soft);
    fx_soft_set_momenta(soft->x, fx_unrotate(s->pose[slot].q, s->spin[slot]));
    fx_soft_store(sim, soft);
    return;
  }
  s->momentum[slot] = fx_sym3_mul(fx_world_inertia(body, s->pose[slot]), s->spin[slot]);
}

/* ---- the movers of a step ---- */

/* A tree, when the first of its slots is met; false without memory. */
static bool collect_tree(frix_sim *sim, int32_t slot) {
  fx_mechanism *x = sim->mechanism;
  int32_t part = x->part_of_body[x->body_of_slot[slot]];
  const fx_part *p = &x->part[part];
  if (x->mover[part] < 0) {
    fx_tree_mover *t = FX_TAKE(&sim->arena, fx_tree_mover, 1);
    double *numbers = FX_TAKE(&sim->arena, double, 4 * (size_t)p->count);
    if (!t || !numbers) return false;
    *t = (fx_tree_mover){.mechanism = x, .part = p, .first = p->first, .count = p->count};
    t->v0 = numbers, t->v_free = numbers + p->count, t->v1 = numbers + 2 * (size_t)p->count;
    t->came = numbers + 3 * (size_t)p->count;
    for (int32_t i = 0; i < p->count; i++) t->came[i] = t->v0[i] = x->state->qvel[p->first + i];
    frix_sym3 unit = {p->mass, p->mass, p->mass, 0.0, 0.0, 0.0};
    x->mover[part] = sim->mover_count;
    sim->mover[sim->mover_count++] = (fx_mover){.slot = p->slot,
                                                .dof = p->count,
                                                .first = -1,
                                                .mass = p->mass,
                                                .A = unit,
                                                .B = unit,
                                                .J = unit,
                                                .pose0 = sim->state.pose[p->slot],
                                                .tree = t};
  }
  sim->mover_of[slot] = x->mover[part];
  return true;
}

frix_status fx_movers_collect(frix_sim *sim) {
  const fx_state *s = &sim->state;
  sim->mover_count = 0;
  sim->mover_of = FX_TAKE_RAW(&sim->arena, int32_t, s->count);
  sim->mover = FX_TAKE_RAW(&sim->arena, fx_mover, s->count);
  sim->reach = FX_TAKE(&sim->arena, double, s->count);
  sim->tree_reach = sim->mechanism ? FX_TAKE(&sim->arena, double, s->count) : NULL;
  if (!sim->mover_of || !sim->mover || !sim->reach || (sim->mechanism && !sim->tree_reach)) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; sim->mechanism && k < sim->mechanism->part_count; k++) sim->mechanism->mover[k] = -1;
  for (int32_t k = 0; sim->softs && k < sim->softs->count; k++) sim->softs->body[k].mover = -1;
  for (int32_t k = 0; k < s->count; k++) {
    sim->mover_of[k] = -1;
    if (!fx_is_mover(sim, k)) continue;
    if (fx_is_link(sim, k)) {
      if (!collect_tree(sim, k)) return FRIX_ERROR_MEMORY;
      continue;
    }
    if (fx_soft_at(sim, k)) {
      if (!fx_soft_collect(sim, k)) return FRIX_ERROR_MEMORY;
      continue;
    }
    const fx_body *body = fx_slot_body(sim, k);
    sim->mover_of[k] = sim->mover_count;
    sim->mover[sim->mover_count++] = (fx_mover){.slot = k,
                                                .dof = body->dof,
                                                .first = -1,
                                                .mass = body->mass,
                                                .J = fx_world_inertia(body, s->pose[k]),
                                                .pose0 = s->pose[k],
                                                .v0 = s->velocity[k],
                                                .w0 = s->spin[k],
                                                .L0 = s->momentum[k]};
  }
  return FRIX_OK;
}

static frix_sym3 add_scaled(frix_sym3 a, double s, frix_sym3 b) {
  return (frix_sym3){a.xx + s * b.xx, a.yy + s * b.yy, a.zz + s * b.zz,
                     a.xy + s * b.xy, a.xz + s * b.xz, a.yz + s * b.yz};
}

static void load_forces(const frix_sim *sim, fx_mover *m) {
  if (m->tree) return;
  const fx_load *load = &sim->state.load[m->slot];
  m->force = fx_mad(load->force, m->mass * fx_slot_body(sim, m->slot)->gravity_scale, sim->state.gravity);
  m->torque = load->torque;
}

/* A = m + h D + h^2 K, and A v_free = m v0 + h F + h D v0; for the spin B = J + h D + S,
 * B w_free = J w0 + h T + h D w0, S of tension. */
static void free_motion(const frix_sim *sim, fx_mover *m) {
  if (m->tree) return;
  const fx_load *load = &sim->state.load[m->slot];
  const fx_body *body = fx_slot_body(sim, m->slot);
  double h = sim->h;
  m->A = (frix_sym3){m->mass, m->mass, m->mass, 0.0, 0.0, 0.0};
  m->B = add_scaled(m->J, 1.0, m->tension);
  if (body->planar) m->B.xx = m->B.yy = 1.0; /* unused */
  if (load->slope) {
    m->A = add_scaled(add_scaled(m->A, h, load->damping), h * h, load->stiffness);
    m->B = add_scaled(m->B, h, load->torque_damping);
  }
  m->A_inverse = (frix_sym3){1.0 / m->mass, 1.0 / m->mass, 1.0 / m->mass, 0.0, 0.0, 0.0};
  if (load->slope) m->A_inverse = fx_sym3_inverse(m->A);
  m->B_inverse = fx_sym3_inverse(m->B);
  /* as a change, so that a body without forces keeps every bit: A dv = h F - h^2 K v0, B dw = h T - S w0 */
  m->spring = load->slope ? fx_scale(h * h, fx_sym3_mul(load->stiffness, m->v0)) : fx_vec(0.0, 0.0, 0.0);
  frix_vec3 push = fx_sub(fx_scale(h, m->force), m->spring);
  m->v_free = fx_add(m->v0, fx_sym3_mul(m->A_inverse, push));
  frix_vec3 turn = fx_sub(fx_scale(h, m->torque), fx_sym3_mul(m->tension, m->w0));
  m->w_free = fx_add(m->w0, fx_spin_change(m, turn));
  if (body->planar) {
    m->v_free.z = 0.0;
    m->w_free.x = m->w_free.y = 0.0;
  }
  m->v1 = m->v_free;
  m->w1 = m->w_free;
}

static void free_some(int32_t part, int32_t first, int32_t end, void *user) {
  frix_sim *sim = user;
  (void)part;
  for (int32_t k = first; k < end; k++) free_motion(sim, &sim->mover[k]);
}

frix_status fx_movers_load(frix_sim *sim) {
  fx_state *s = &sim->state;
  fx_load *kept = NULL;
  if (sim->config.force) { /* what the callback adds is for this evaluation; applied forces stay */
    kept = FX_TAKE(&sim->arena, fx_load, s->count);
    if (!kept) return FRIX_ERROR_MEMORY;
    for (int32_t k = 0; k < s->count; k++) kept[k] = s->load[k];
    sim->in_force = true;
    sim->config.force(sim, s->time, sim->config.user);
    sim->in_force = false;
  }
  for (int32_t k = 0; k < sim->mover_count; k++) load_forces(sim, &sim->mover[k]);
  fx_joints_push(sim);
  if (sim->mechanism) fx_mechanism_adhere(sim);
  fx_coats_pull(sim);
  fx_tension_find(sim);
  fx_parallel_range(fx_sim_threads(sim), sim->mover_count, FX_LEAST_MOVERS, free_some, sim);
  if (sim->mechanism) fx_mechanism_load(sim);
  if (sim->softs) fx_softs_load(sim);
  for (int32_t k = 0; kept && k < s->count; k++) s->load[k] = kept[k];
  return FRIX_OK;
}
