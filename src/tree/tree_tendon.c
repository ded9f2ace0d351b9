/* Lengths and moments of tendons.
 *
 *   fixed     L = sum c_i q_i
 *   spatial   L = sum over branches of (straight pieces between sites + arcs about geoms) / divisor
 *
 * The moment dL/dq of a piece from a to b with direction d is d . (J_b - J_a); an arc of least length adds nothing, for
 * a geodesic does not change with its ends' bodies to first order other than at the tangent points. The second rate
 * of a piece is |v - (v . d) d|^2 / L + d . a, with the velocity v and the acceleration a of b against a. */
#include "tree/tree.h"

/* Of straight pieces: the moment goes to the row, a tension to the bodies as forces (about the trees' points), or the
 * second rates are added up. */
typedef struct taut {
  frix_robot_state *state;
  fx_spatial *force; /* by body; NULL: the moment */
  double tension;
  double *drift; /* sum of second rates; NULL: none */
} taut;

static void pull(const taut *x, int32_t body, frix_vec3 point, frix_vec3 d) {
  frix_vec3 f = fx_scale(x->tension, d), arm = fx_sub(point, fx_tree_point_of(x->state, body));
  x->force[body] = fx_spatial_add(x->force[body], (fx_spatial){fx_cross(arm, f), f});
}

static frix_vec3 acceleration_of(const frix_robot_state *s, int32_t body, frix_vec3 point) {
  fx_spatial a = s->spatial[s->tree->body[body].link];
  frix_vec3 r = fx_sub(point, fx_tree_point_of(s, body));
  frix_vec3 turning = fx_cross(fx_tree_velocity_of(s, body).w, fx_tree_point_velocity(s, body, point));
  return fx_add(fx_add(a.v, fx_cross(a.w, r)), turning);
}

static double second_rate(const frix_robot_state *s, int32_t body_a, frix_vec3 a, int32_t body_b, frix_vec3 b) {
  frix_vec3 v = fx_sub(fx_tree_point_velocity(s, body_b, b), fx_tree_point_velocity(s, body_a, a)), d = fx_sub(b, a);
  double length = fx_norm(d), along = fx_dot(d, v) / length;
  frix_vec3 change = fx_sub(acceleration_of(s, body_b, b), acceleration_of(s, body_a, a));
  return (fx_norm2(v) - along * along + fx_dot(d, change)) / length;
}

/* A piece of a tendon between points of two bodies. */
static double add_piece(const taut *x, int32_t body_a, frix_vec3 a, int32_t body_b, frix_vec3 b, double share) {
  frix_robot_state *s = x->state;
  frix_vec3 way = fx_sub(b, a);
  double length = fx_norm(way);
  if (!(length > 1e-15)) return length * share;
  frix_vec3 d = fx_scale(share / length, way);
  if (x->drift) {
    bool apart = s->tree->body[body_a].link != s->tree->body[body_b].link;
    if (apart) *x->drift += share * second_rate(s, body_a, a, body_b, b);
  } else if (x->force) {
    if (body_a != body_b) pull(x, body_b, b, d), pull(x, body_a, a, fx_neg(d));
  } else if (s->tree->body[body_a].link != s->tree->body[body_b].link) {
    fx_tree_add_jacobian(s, body_b, b, d, s->row);
    fx_tree_add_jacobian(s, body_a, a, fx_neg(d), s->row);
  }
  return length * share;
}

/* From one site to the next, about the geom between them where there is one. */
static double add_path(const taut *x, const fx_tree_wrap *from, const fx_tree_wrap *geom, const fx_tree_wrap *to,
                       double share) {
  const frix_robot_state *s = x->state;
  const fx_tree *t = s->tree;
  int32_t body_a = t->site[from->object].body, body_b = t->site[to->object].body;
  frix_vec3 a = fx_tree_site_pose(s, from->object).p, b = fx_tree_site_pose(s, to->object).p, touch[2];
  double arc = -1.0;
  if (geom) {
    frix_vec3 side = geom->side >= 0 ? fx_tree_site_pose(s, geom->side).p : fx_vec(0.0, 0.0, 0.0);
    arc = fx_tree_wrap_path(a, b, fx_tree_geom_pose(s, geom->object), t->geom[geom->object].radius,
                            geom->kind == FX_WRAP_SPHERE, geom->side >= 0 ? &side : NULL, touch);
  }
  if (!geom || arc < 0.0) return add_piece(x, body_a, a, body_b, b, share);
  int32_t around = t->geom[geom->object].body;
  return add_piece(x, body_a, a, around, touch[0], share) + arc * share +
         add_piece(x, around, touch[1], body_b, b, share);
}

static double spatial_length(const taut *x, const fx_tree_tendon *t) {
  const fx_tree_wrap *w = x->state->tree->wrap + t->wrap_first, *end = w + t->wrap_count;
  double share = 1.0, length = 0.0;
  for (; w < end; w++) {
    if (w->kind == FX_WRAP_PULLEY) share = 1.0 / w->value;
    if (w->kind != FX_WRAP_SITE || w + 1 >= end) continue;
    if (w[1].kind == FX_WRAP_SITE) length += add_path(x, w, NULL, w + 1, share);
    if (w[1].kind == FX_WRAP_SPHERE || w[1].kind == FX_WRAP_CYLINDER) length += add_path(x, w, w + 1, w + 2, share);
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

void fx_tree_tendon_pull(frix_robot_state *s, int32_t tendon, double tension, fx_spatial *force) {
  const taut x = {s, force, tension, NULL};
  if (s->tree->tendon[tendon].spatial) spatial_length(&x, &s->tree->tendon[tendon]);
}

double fx_tree_tendon_drift(frix_robot_state *s, int32_t tendon) {
  double drift = 0.0;
  const taut x = {s, NULL, 0.0, &drift};
  if (s->tree->tendon[tendon].spatial) spatial_length(&x, &s->tree->tendon[tendon]);
  return drift;
}

void fx_tree_tendons(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  const taut moment = {s, NULL, 0.0, NULL};
  for (int32_t k = 0; k < t->tendon_count; k++) {
    const fx_tree_tendon *x = &t->tendon[k];
    s->tendon_length[k] = x->spatial ? spatial_length(&moment, x) : fixed_length(s, x);
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
