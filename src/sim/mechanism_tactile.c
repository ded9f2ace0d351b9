/* Touch sensors of many points: the vertices of a mesh, placed at a geom, each of which feels how deep it stands in
 * shapes that touch the geom's body.
 *
 *   depth        the largest distance of the point below the surface of such a shape, 0 outside of all
 *   slip 1, 2    sum over these shapes of the velocity of the body against them at the point, along the two tangents of
 *                the point, without signs; 0 for meshes without tangents (all but built-in wedges and plates)
 *
 * Shapes touch if the last step had a contact of theirs that was closed, or within the gap of its surfaces. Depths are
 * exact below convex shapes and half spaces; triangle meshes and height fields have no inside. This is MuJoCo's
 * definition; the depths differ as much as its soft contacts let shapes overlap. */
#include <math.h>

#include "collision/gap.h"
#include "sim/coats.h"
#include "sim/mechanism.h"

/* A shape where it is. */
typedef struct other {
  int32_t slot, shape;
} other;

static frix_vec3 velocity_of(const frix_sim *sim, int32_t slot, frix_vec3 point) {
  const fx_mechanism *x = sim->mechanism;
  int32_t body = slot < x->slot_count ? x->body_of_slot[slot] : -1;
  if (body >= 0) return fx_tree_point_velocity(x->state, body, point);
  frix_vec3 arm = fx_sub(point, sim->state.pose[slot].p);
  return fx_add(sim->state.velocity[slot], fx_cross(sim->state.spin[slot], arm));
}

/* Shapes that touch the body on a slot, each once. */
static int32_t find_others(const frix_sim *sim, int32_t slot, other *list) {
  int32_t count = 0;
  for (int32_t k = 0; k < sim->state.touching_count; k++) {
    const fx_touching *t = &sim->state.touching[k];
    const fx_contact *c = &t->contact;
    if ((c->body_a != slot && c->body_b != slot) || (!t->touches && !fx_coats_near(sim, c))) continue;
    other o = c->body_a == slot ? (other){c->body_b, c->shape_b} : (other){c->body_a, c->shape_a};
    bool known = o.shape < 0;
    for (int32_t i = 0; i < count && !known; i++) known = list[i].slot == o.slot && list[i].shape == o.shape;
    if (!known) list[count++] = o;
  }
  return count;
}

static double depth_in(const frix_sim *sim, const other *o, frix_vec3 point) {
  const double radius = 1e-6;
  const fx_shape *s = &sim->model->shape[o->shape];
  fx_shape probe = {.kind = FRIX_SHAPE_SPHERE, .radius = radius, .local = fx_pose_one()};
  frix_pose at = {point, {1.0, 0.0, 0.0, 0.0}};
  fx_gap gap;
  if (s->kind == FRIX_SHAPE_MESH || s->kind == FRIX_SHAPE_HEIGHT_FIELD || !fx_gap_known(&probe, s)) return 0.0;
  frix_pose pose = fx_pose_mul(sim->state.pose[o->slot], s->local);
  if (!fx_gap_find(sim->inner, &probe, at, s, pose, radius, &gap)) return 0.0;
  return fx_max(-gap.distance - radius, 0.0);
}

static double cut(const fx_tree_sensor *s, double value) { return s->cutoff > 0.0 ? fx_min(value, s->cutoff) : value; }

frix_status fx_tactile_sense(const frix_sim *sim, const fx_tree_sensor *s, fx_arena *arena, double *out) {
  const fx_mechanism *x = sim->mechanism;
  int32_t body = x->tree.geom[s->object].body, slot = x->slot_of_body[x->tree.body[body].link];
  other *list = FX_TAKE(arena, other, sim->state.touching_count);
  if (!list) return FRIX_ERROR_MEMORY;
  int32_t count = find_others(sim, slot, list), n = s->taxel_count;
  frix_pose pose = fx_tree_geom_pose(x->state, s->object);
  for (int32_t k = 0; k < n; k++) {
    const fx_taxel *taxel = &s->taxel[k];
    frix_vec3 point = fx_pose_point(pose, taxel->at);
    double depth = 0.0, slip[2] = {0.0, 0.0};
    for (int32_t i = 0; i < count; i++) {
      double deep = depth_in(sim, &list[i], point);
      if (!(deep > 0.0)) continue;
      depth = fx_max(depth, deep);
      frix_vec3 v = fx_sub(fx_tree_point_velocity(x->state, body, point), velocity_of(sim, list[i].slot, point));
      for (int t = 0; t < 2; t++) slip[t] += fabs(fx_dot(v, fx_rotate(pose.q, taxel->tangent[t])));
    }
    out[k] = cut(s, depth);
    for (int t = 0; t < 2; t++) out[(t + 1) * n + k] = cut(s, slip[t]);
  }
  return FRIX_OK;
}
