/* Joints under tension: inertia for swings that a step cannot follow.
 *
 *   a force f that pulls at arm r holds its body like a spring against turning, energy -f . R r:
 *   K = (f . r) 1 - (f r' + r f') / 2,   summed over the joints of a body, f from the last step
 *
 * A step takes the direction of this force where it begins. It follows a swing of frequency omega up to h omega = 2;
 * beyond, a chain in equilibrium would shake itself apart. The part of K that is too stiff is taken at the end of the
 * step instead, linearly implicit as other stiff forces are:
 *
 *   J (w1 - w0) = angular impulse - S w1,   S = (h^2 K - FOLLOWED J)^+,   (.)^+ the positive part
 *
 * The bodies of a tree have the same K and S, with the forces that its joints transmit (mechanism_forces.c): S is
 * inertia of the body against turning, J_w' S J_w in M~ (mechanism_load.c).
 *
 * A rod (distance joint) under tension T also holds its ends against moving across it, stiffness T / length: rows with
 * r = -S u1 and S = h^2 T / length - FOLLOWED / (J M^-1 J'), where that is positive.
 *
 * B = J + S is rounded to S. Where S is larger than J by many orders, the momentum about an axis that nothing holds is
 * lost in that, which the certificate, whose B is the same, does not see. So the momentum is looked at by itself: what
 * tension takes must act against the spin.
 *
 * A swing that is followed has S = 0: order and bits are those without. One that is not is damped, never driven, and
 * what rests feels nothing of it. Reference: M. Tournier, M. Nesme, B. Gilles, F. Faure, Stable constrained dynamics,
 * 2015 (geometric stiffness). */
#include "sim/joints.h"
#include "sim/mechanism.h"

#include <math.h>

#define FOLLOWED 1.0     /* (h omega)^2 */
#define MOMENTUM 10.0    /* times the tolerance: of a body's momentum, what may be missing along its spin */
#define MOST_INERTIA 1e6 /* times the moments of inertia: S of a tree; beyond, its momentum would be rounding */
#define ROUNDING 1e-12   /* of the moments that act on it */

static void add_arm(frix_sym3 *K, frix_vec3 f, frix_vec3 r) {
  double along = fx_dot(f, r);
  K->xx += along - f.x * r.x;
  K->yy += along - f.y * r.y;
  K->zz += along - f.z * r.z;
  K->xy -= 0.5 * (f.x * r.y + f.y * r.x);
  K->xz -= 0.5 * (f.x * r.z + f.z * r.x);
  K->yz -= 0.5 * (f.y * r.z + f.z * r.y);
}

/* On b in the last step; a rope (a distance with limits) pulls by its limit. */
static frix_vec3 force_of(const frix_sim *sim, int32_t j, const fx_joint_view *v) {
  const fx_joint_memory *m = &sim->state.joint[j];
  if (sim->model->joint[j].config.kind != FRIX_JOINT_DISTANCE || !(sim->state.last_step > 0.0)) return m->force;
  double push = m->part[0][FX_AXIS_LOWER][0] - m->part[0][FX_AXIS_UPPER][0];
  return fx_mad(m->force, push / sim->state.last_step, v->direction);
}

/* K of a body of a tree that joints of the model made; NULL: it is none. */
static frix_sym3 *tree_tension(const frix_sim *sim, int32_t slot) {
  fx_mechanism *x = sim->mechanism;
  return x && x->own && fx_is_link(sim, slot) ? &x->tension[x->body_of_slot[slot]] : NULL;
}

/* K of the movers, into tension. */
static void sum_arms(frix_sim *sim) {
  for (int32_t j = 0; j < sim->state.joint_count; j++) {
    frix_joint_kind kind = sim->model->joint[j].config.kind;
    if (kind == FRIX_JOINT_COUPLING || !fx_joint_active(sim, j)) continue;
    fx_joint_view v = fx_joint_look(sim, j);
    frix_vec3 f = force_of(sim, j, &v);
    if (fx_is_zero(f)) continue;
    frix_vec3 at[2] = {kind == FRIX_JOINT_SLIDER ? v.point[1] : v.point[0], v.point[1]};
    for (int side = 0; side < 2; side++) {
      int32_t m = sim->mover_of[v.slot[side]];
      frix_vec3 pull = side ? f : fx_neg(f), center = v.center[side];
      if (m >= 0 && !sim->mover[m].tree) add_arm(&sim->mover[m].tension, pull, fx_sub(at[side], center));
      frix_sym3 *K = m >= 0 ? tree_tension(sim, v.slot[side]) : NULL;
      frix_vec3 own = sim->state.joint[j].force; /* without the limits of ropes */
      if (K) add_arm(K, side ? own : fx_neg(own), fx_sub(at[side], center));
    }
  }
}

static frix_sym3 positive_part(frix_sym3 s) {
  double value[3];
  frix_vec3 axis[3];
  frix_sym3 sum = {0};
  fx_sym3_eigen(s, value, axis);
  for (int k = 0; k < 3; k++) {
    if (!(value[k] > 0.0)) continue;
    frix_vec3 a = axis[k], b = fx_scale(value[k], a);
    sum.xx += a.x * b.x, sum.yy += a.y * b.y, sum.zz += a.z * b.z;
    sum.xy += a.x * b.y, sum.xz += a.x * b.z, sum.yz += a.y * b.z;
  }
  return sum;
}

/* S of what has the inertia J. */
static frix_sym3 not_followed(frix_sym3 K, frix_sym3 J, double h2) {
  if (!(K.xx + K.yy + K.zz != 0.0 || K.xy != 0.0 || K.xz != 0.0 || K.yz != 0.0)) return (frix_sym3){0};
  return positive_part((frix_sym3){h2 * K.xx - FOLLOWED * J.xx, h2 * K.yy - FOLLOWED * J.yy,
                                   h2 * K.zz - FOLLOWED * J.zz, h2 * K.xy - FOLLOWED * J.xy,
                                   h2 * K.xz - FOLLOWED * J.xz, h2 * K.yz - FOLLOWED * J.yz});
}

/* What is fixed to a link turns with it: S of the link is that of all. */
static void find_of_trees(const frix_sim *sim, fx_mechanism *x) {
  for (int32_t b = 1; b < x->tree.body_count; b++) {
    int32_t link = x->tree.body[b].link;
    frix_sym3 J = fx_sym3_turn(x->state->pose[b].q, x->tree.body[b].mass.inertia);
    frix_sym3 S = not_followed(x->tension[b], J, sim->h * sim->h);
    double most = MOST_INERTIA * (J.xx + J.yy + J.zz), trace = S.xx + S.yy + S.zz, scale = most / trace;
    if (trace > most)
      S = (frix_sym3){scale * S.xx, scale * S.yy, scale * S.zz, scale * S.xy, scale * S.xz, scale * S.yz};
    x->tension[b] = S;
    if (link != b) x->tension[link] = fx_sym3_add(x->tension[link], S);
    x->tense |= S.xx + S.yy + S.zz > 0.0;
  }
}

void fx_tension_find(frix_sim *sim) {
  double h2 = sim->h * sim->h;
  fx_mechanism *x = sim->mechanism && sim->mechanism->own ? sim->mechanism : NULL;
  for (int32_t k = 0; k < sim->mover_count; k++) sim->mover[k].tension = (frix_sym3){0};
  for (int32_t b = 0; x && b < x->tree.body_count; b++) x->tension[b] = (frix_sym3){0};
  if (x) x->tense = false;
  if (sim->state.joint_count == 0) return;
  sum_arms(sim);
  if (x) find_of_trees(sim, x);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    frix_sym3 K = m->tension, J = m->J;
    m->tension = (frix_sym3){0};
    if (m->dof == 3)
      m->tension.zz = fx_max(0.0, h2 * K.zz - FOLLOWED * J.zz);
    else
      m->tension = not_followed(K, J, h2);
  }
}

/* Moments of the impulses on the movers under tension; trees are under none. */
static void sum_moments(frix_sim *sim, frix_vec3 *moment, double *size) {
  const fx_assembly *a = &sim->rows;
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &sim->mover[g->mover[b]];
      for (int32_t i = 0; i < g->dim; i++, J += m->dof) {
        if (m->tree || !fx_is_tense(m)) continue;
        frix_vec3 ang = m->dof == 3 ? fx_vec(0.0, 0.0, J[2]) : fx_vec(J[3], J[4], J[5]);
        moment[g->mover[b]] = fx_mad(moment[g->mover[b]], a->r[g->row + i], ang);
        size[g->mover[b]] += fabs(a->r[g->row + i]) * fx_norm(ang);
      }
    }
  }
}

frix_status fx_tension_judge(frix_sim *sim) {
  bool any = false;
  for (int32_t k = 0; k < sim->mover_count; k++) any |= fx_is_tense(&sim->mover[k]);
  if (!any || !sim->report.certified) return FRIX_OK;
  frix_vec3 *moment = FX_TAKE(&sim->arena, frix_vec3, sim->mover_count);
  double *size = FX_TAKE(&sim->arena, double, sim->mover_count), most = MOMENTUM * sim->config.tolerance;
  if (!moment || !size) return FRIX_ERROR_MEMORY;
  sum_moments(sim, moment, size);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (!fx_is_tense(m) || m->dof == 3 || sim->state.load[m->slot].slope) continue;
    frix_vec3 before = fx_sym3_mul(m->J, m->w0), after = fx_sym3_mul(m->J, m->w1), push = fx_scale(sim->h, m->torque);
    frix_vec3 missing = fx_sub(fx_sub(fx_sub(after, before), push), moment[k]);
    double own = fx_norm(before) + fx_norm(after) + fx_norm(push), speed = fx_norm(m->w1);
    if (speed > 0.0 && fx_dot(missing, m->w1) > speed * (most * own + ROUNDING * size[k]))
      fx_fail_phase(sim, "tension", FRIX_OUTCOME_STALLED);
  }
  return FRIX_OK;
}

void fx_tension_rows(frix_sim *sim, fx_assembly *a, int32_t j, const fx_joint_view *v) {
  double pull = -fx_dot(force_of(sim, j, v), v->direction), h2 = sim->h * sim->h;
  if (!(pull > 0.0) || !(v->length > 0.0)) return;
  bool flat = sim->model->joint[j].planar;
  frix_vec3 across[2] = {fx_across(v->direction)};
  if (flat) across[0] = fx_vec(-v->direction.y, v->direction.x, 0.0);
  across[1] = fx_cross(v->direction, across[0]);
  int32_t n = flat ? 1 : 2, slot[2] = {v->slot[0], v->slot[1]};
  fx_assembly before = *a;
  fx_group *g =
      fx_group_add(sim, a, FX_GROUP_TENSION, j, (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = n}, 2, slot);
  double most = 0.0, S[2];
  for (int32_t k = 0; k < n; k++) {
    for (int side = 0; side < 2; side++) {
      frix_vec3 d = side ? across[k] : fx_neg(across[k]);
      fx_group_term(sim, a, g, k, v->slot[side], d, fx_cross(fx_sub(v->point[side], v->center[side]), d));
      fx_group_bend(sim, a, g, k, v->slot[side], v->held[side], d);
    }
    S[k] = h2 * pull / v->length - FOLLOWED / fx_group_weight(sim, a, g, k);
    most = fx_max(most, S[k]);
  }
  if (!(most > 0.0)) { /* it is followed: as if nothing had been added */
    for (int32_t k = 0; k < n; k++) a->drive[g->row + k] = 0.0;
    *a = before;
    return;
  }
  a->compliant = true;
  for (int32_t k = 0; k < n; k++) {
    a->R[g->row + k] = 1.0 / fx_max(S[k], 1e-3 * most);
    a->w[g->row + k] = a->drive[g->row + k];
  }
}
