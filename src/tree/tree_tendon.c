/* Lengths and moments of tendons.
 *
 *   fixed     L = sum c_i q_i
 *   spatial   L = sum over branches of (straight pieces between sites + arcs about geoms) / divisor
 *
 * The moment dL/dq of a piece from a to b with direction d is d . (J_b - J_a); an arc of least length adds nothing, for a
 * geodesic does not change with its ends' bodies to first order other than at the tangent points. */
#include "tree/tree.h"

/* A piece of a tendon between points of two bodies. */
static double add_piece(frix_robot_state *s, int32_t body_a, frix_vec3 a, int32_t body_b, frix_vec3 b, double share) {
  frix_vec3 way = fx_sub(b, a);
  double length = fx_norm(way);
  if (s->tree->body[body_a].link == s->tree->body[body_b].link || !(length > 1e-15)) return length * share;
  frix_vec3 d = fx_scale(share / length, way);
  fx_tree_add_jacobian(s, body_b, b, d, s->row);
  fx_tree_add_jacobian(s, body_a, a, fx_neg(d), s->row);
  return length * share;
}

/* From one site to the next, about the geom between them where there is one. */
static double add_path(frix_robot_state *s, const fx_tree_wrap *from, const fx_tree_wrap *geom, const fx_tree_wrap *to,
                       double share) {
  const fx_tree *t = s->tree;
  int32_t body_a = t->site[from->object].body, body_b = t->site[to->object].body;
  frix_vec3 a = fx_tree_site_pose(s, from->object).p, b = fx_tree_site_pose(s, to->object).p, touch[2];
  double arc = -1.0;
  if (geom) {
    frix_vec3 side = geom->side >= 0 ? fx_tree_site_pose(s, geom->side).p : fx_vec(0.0, 0.0, 0.0);
    arc = fx_tree_wrap_path(a, b, fx_tree_geom_pose(s, geom->object), t->geom[geom->object].radius,
                            geom->kind == FX_WRAP_SPHERE, geom->side >= 0 ? &side : NULL, touch);
  }
  if (arc < 0.0) return add_piece(s, body_a, a, body_b, b, share);
  int32_t around = t->geom[geom->object].body;
  return add_piece(s, body_a, a, around, touch[0], share) + arc * share +
         add_piece(s, around, touch[1], body_b, b, share);
}

static double spatial_length(frix_robot_state *s, const fx_tree_tendon *x) {
  const fx_tree_wrap *w = s->tree->wrap + x->wrap_first, *end = w + x->wrap_count;
  double share = 1.0, length = 0.0;
  for (; w < end; w++) {
    if (w->kind == FX_WRAP_PULLEY) share = 1.0 / w->value;
    if (w->kind != FX_WRAP_SITE || w + 1 >= end) continue;
    if (w[1].kind == FX_WRAP_SITE) length += add_path(s, w, NULL, w + 1, share);
    if (w[1].kind == FX_WRAP_SPHERE || w[1].kind == FX_WRAP_CYLINDER) length += add_path(s, w, w + 1, w + 2, share);
  }
  return length;
}

static double fixed_length(frix_robot_state *s, const fx_tree_tendon *x) {
  const fx_tree *t = s->tree;
  double length = 0.0;
  for (int32_t k = 0; k < x->wrap_count; k++) {
    const fx_tree_wrap *w = &t->wrap[x->wrap_first + k];
    length += w->value * s->qpos[t->joint[w->object].q];
    s->row[t->joint[w->object].v] += w->value;
  }
  return length;
}

void fx_tree_tendons(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    s->tendon_length[k] = x->spatial ? spatial_length(s, x) : fixed_length(s, x);
    double rate = 0.0;
    for (int32_t n = x->dofs.first; n < x->dofs.first + x->dofs.count; n++) {
      int32_t i = t->list[n];
      s->tendon_moment[n] = s->row[i];
      s->row[i] = 0.0;
      rate += s->tendon_moment[n] * s->qvel[i];
    }
    s->tendon_velocity[k] = rate;
  }
}
