/* Sensors of a robot that look at the world: contacts chosen by what they touch, rays, distances.
 *
 *   contact       contacts of the last step between two geoms, bodies, subtrees, or within a site: their number, force
 * and torque in the frame of the contact (normal from the first to the second; force on the second), distance, place,
 * normal, tangent; or the sum of all forces about the place where they act, in world axes
 *   rangefinder   along z of a site, to the first shape that is not of its body; -1: nothing is there
 *   distance, normal, fromto   between the closest shapes of two geoms or bodies, up to the cutoff
 *
 * Forces are those of the certified answer; shapes are those that contacts see. */
#include <math.h>
#include <string.h>

#include <frix/query.h>

#include "base/sort.h"
#include "collision/gap.h"
#include "sim/coats.h"
#include "sim/mechanism.h"
#include "sim/query_internal.h"

/* ---- contacts ---- */

/* A contact seen from the first of its two sides. */
typedef struct seen_contact {
  frix_vec3 axis[3], pos, force, torque; /* normal, tangents; on the second */
  double dist, order;                    /* order: the smaller stands first */
} seen_contact;

/* A side of a contact as the robot knows it. */
typedef struct side {
  int32_t body, geom; /* -1: not of the robot */
} side;

static side side_of(const frix_sim *sim, const fx_contact *c, bool second) {
  int32_t slot = second ? c->body_a : c->body_b, shape = second ? c->shape_a : c->shape_b;
  const fx_robot_link *link = &sim->model->robot;
  bool known = slot < sim->model->body_count && link->shape_geom && shape >= 0 && shape < sim->model->shape_count;
  int32_t id = known ? sim->model->shape[shape].id : 0;
  return known ? (side){link->shape_body[id], link->shape_geom[id]} : (side){-1, -1};
}

static bool is_meant(const fx_tree *t, side x, fx_tree_object kind, int32_t object) {
  switch (kind) {
    case FX_OBJECT_NONE:
    case FX_OBJECT_CAMERA:
    case FX_OBJECT_SITE: return true; /* its volume was asked before */
    case FX_OBJECT_GEOM: return x.geom == object;
    case FX_OBJECT_BODY: return x.body == object;
    case FX_OBJECT_XBODY: break;
  }
  while (x.body > object) x.body = t->body[x.body].parent;
  return x.body == object;
}

/* 1: the normal points from the first to the second; -1: it is to be turned; 0: another contact. */
static int direction_of(const frix_sim *sim, const fx_tree_sensor *s, const fx_contact *c) {
  const fx_mechanism *x = sim->mechanism;
  frix_vec3 middle = fx_scale(0.5, fx_add(c->point_a, c->point_b));
  if (s->kind1 == FX_OBJECT_SITE && !fx_tree_site_holds(x->state, s->object, middle)) return 0;
  side b = side_of(sim, c, false), a = side_of(sim, c, true);
  bool first_b = is_meant(&x->tree, b, s->kind1, s->object), first_a = is_meant(&x->tree, a, s->kind1, s->object);
  bool second_b = is_meant(&x->tree, b, s->kind2, s->object2), second_a = is_meant(&x->tree, a, s->kind2, s->object2);
  if ((!first_a && !first_b) || (!second_a && !second_b)) return 0;
  bool one = s->kind1 != FX_OBJECT_NONE, two = s->kind2 != FX_OBJECT_NONE;
  if (one && two) return first_b && second_a ? 1 : first_a && second_b ? -1 : 0;
  if (one) return first_b ? 1 : -1;
  return !two || second_a ? 1 : -1;
}

static seen_contact see(const frix_sim *sim, const fx_tree_sensor *s, const fx_touching *t, int direction) {
  const fx_contact *c = &t->contact;
  double rate = direction / sim->state.last_step;
  seen_contact out = {.axis = {fx_scale(direction, c->normal), fx_scale(direction, c->tangent[0]), c->tangent[1]},
                      .pos = fx_scale(0.5, fx_add(c->point_a, c->point_b)),
                      .force = fx_scale(rate, fx_coats_impulse(sim, t)),
                      .torque = fx_scale(rate, t->roll),
                      .dist = c->gap};
  if (s->choice == FX_CHOICE_NEAREST) out.order = c->gap;
  if (s->choice == FX_CHOICE_STRONGEST) out.order = -fx_norm2(out.force);
  return out;
}

/* All of them as one: forces about the mean of the places, weighed by the forces. */
static seen_contact sum_of(const seen_contact *list, int32_t count) {
  seen_contact out = {.axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  double weight = 0.0;
  for (int32_t k = 0; k < count; k++) {
    out.pos = fx_mad(out.pos, fx_norm(list[k].force), list[k].pos);
    weight += fx_norm(list[k].force);
  }
  out.pos = fx_scale(1.0 / fx_max(weight, 1e-15), out.pos);
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 turn = fx_cross(fx_sub(list[k].pos, out.pos), list[k].force);
    out.force = fx_add(out.force, list[k].force);
    out.torque = fx_add(out.torque, fx_add(list[k].torque, turn));
  }
  return out;
}

static double *put(double *out, frix_vec3 v) {
  out[0] = v.x, out[1] = v.y, out[2] = v.z;
  return out + 3;
}

static frix_vec3 in_axes(const frix_vec3 axis[3], frix_vec3 v) {
  return fx_vec(fx_dot(axis[0], v), fx_dot(axis[1], v), fx_dot(axis[2], v));
}

static double *tell(const seen_contact *c, uint32_t fields, int32_t found, double *out) {
  if (fields & 1u << FX_CONTACT_FOUND) *out++ = found;
  if (fields & 1u << FX_CONTACT_FORCE) out = put(out, in_axes(c->axis, c->force));
  if (fields & 1u << FX_CONTACT_TORQUE) out = put(out, in_axes(c->axis, c->torque));
  if (fields & 1u << FX_CONTACT_DIST) *out++ = c->dist;
  if (fields & 1u << FX_CONTACT_POS) out = put(out, c->pos);
  if (fields & 1u << FX_CONTACT_NORMAL) out = put(out, c->axis[0]);
  if (fields & 1u << FX_CONTACT_TANGENT) out = put(out, c->axis[1]);
  return out;
}

static int by_order(int32_t a, int32_t b, const void *user) {
  const seen_contact *c = user;
  return (c[a].order > c[b].order) - (c[a].order < c[b].order);
}

static frix_status sense_contacts(const frix_sim *sim, const fx_tree_sensor *s, fx_arena *arena, double *out) {
  int32_t count = 0, most = sim->state.touching_count;
  seen_contact *list = FX_TAKE(arena, seen_contact, most);
  int32_t *order = FX_TAKE(arena, int32_t, most), *scratch = FX_TAKE(arena, int32_t, most);
  if (!list || !order || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < most; k++) {
    const fx_touching *t = &sim->state.touching[k];
    int direction = t->touches ? direction_of(sim, s, &t->contact) : 0;
    if (!direction) continue;
    order[count] = count;
    list[count++] = see(sim, s, t, direction);
  }
  memset(out, 0, (size_t)s->count * sizeof *out);
  if (s->choice == FX_CHOICE_SUM) {
    seen_contact sum = sum_of(list, count);
    tell(&sum, s->fields, count, out);
    return FRIX_OK;
  }
  fx_sort_by(order, scratch, (size_t)count, by_order, list);
  for (int32_t k = 0; k < count && k < s->slots; k++) out = tell(&list[order[k]], s->fields, count, out);
  return FRIX_OK;
}

/* ---- rays ---- */

typedef struct own_body {
  const fx_robot_link *link;
  int32_t body;
} own_body;

static bool is_other(frix_body_id body, frix_shape_id shape, void *user) {
  const own_body *own = user;
  (void)body;
  return !own->link->shape_body || own->link->shape_body[shape.index - 1] != own->body;
}

static frix_status sense_ray(frix_sim *sim, const fx_tree_sensor *s, double *out) {
  const fx_mechanism *x = sim->mechanism;
  frix_pose pose = fx_tree_site_pose(x->state, s->object);
  own_body own = {&sim->model->robot, x->tree.site[s->object].body};
  frix_query_filter filter = frix_query_filter_default();
  filter.accept = is_other, filter.user = &own;
  frix_ray ray = {pose.p, fx_rotate(pose.q, fx_vec(0.0, 0.0, 1.0)), INFINITY};
  frix_ray_hit hit;
  frix_status status = frix_sim_cast_ray(sim, &ray, &filter, &hit);
  if (status) return status;
  bool met = hit.shape.index != 0;
  const frix_vec3 none = {0.0, 0.0, 0.0};
  double distance = met ? hit.distance : -1.0;
  if (s->cutoff > 0.0) distance = fx_min(distance, s->cutoff);
  if (s->fields & 1u << FX_RAY_DIST) *out++ = distance;
  if (s->fields & 1u << FX_RAY_DIR) out = put(out, met ? ray.direction : none);
  if (s->fields & 1u << FX_RAY_ORIGIN) out = put(out, ray.origin);
  if (s->fields & 1u << FX_RAY_POINT) out = put(out, met ? hit.point : none);
  if (s->fields & 1u << FX_RAY_NORMAL) out = put(out, met ? hit.normal : none);
  if (s->fields & 1u << FX_RAY_DEPTH) *out = distance;
  return FRIX_OK;
}

/* ---- distances ---- */

static bool is_part(const frix_sim *sim, int32_t shape, fx_tree_object kind, int32_t object) {
  const fx_robot_link *link = &sim->model->robot;
  int32_t id = sim->model->shape[shape].id;
  return kind == FX_OBJECT_GEOM ? link->shape_geom[id] == object : link->shape_body[id] == object;
}

static void sense_distance(const frix_sim *sim, const fx_tree_sensor *s, double *out) {
  double nearest = s->cutoff;
  frix_vec3 from = {0.0, 0.0, 0.0}, to = from;
  for (int32_t i = 0; sim->model->robot.shape_geom && i < sim->model->shape_count; i++)
    for (int32_t j = 0; j < sim->model->shape_count && is_part(sim, i, s->kind1, s->object); j++) {
      fx_gap gap;
      if (!is_part(sim, j, s->kind2, s->object2) || !fx_query_gap(sim, i, j, nearest, &gap)) continue;
      if (gap.distance < nearest) nearest = gap.distance, from = gap.point_a, to = gap.point_b;
    }
  frix_vec3 way = fx_sub(to, from);
  if (s->kind == FRIX_SENSOR_DISTANCE) out[0] = s->cutoff > 0.0 ? fx_max(nearest, -s->cutoff) : nearest;
  if (s->kind == FRIX_SENSOR_NORMAL) put(out, fx_norm(way) > 0.0 ? fx_unit(way) : way);
  if (s->kind == FRIX_SENSOR_FROMTO) put(put(out, from), to);
}

frix_status fx_mechanism_look(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < x->tree.sensor_count && !status; k++) {
    const fx_tree_sensor *s = &x->tree.sensor[k];
    double *out = x->state->sensor + s->first;
    fx_arena arena;
    fx_arena_init(&arena, sim->context);
    if (s->kind == FRIX_SENSOR_CONTACT) status = sense_contacts(sim, s, &arena, out);
    if (s->kind == FRIX_SENSOR_TACTILE) status = fx_tactile_sense(sim, s, &arena, out);
    if (s->kind == FRIX_SENSOR_RANGEFINDER) status = sense_ray(sim, s, out);
    if (s->kind >= FRIX_SENSOR_DISTANCE && s->kind <= FRIX_SENSOR_FROMTO) sense_distance(sim, s, out);
    fx_arena_free(&arena);
  }
  return status;
}
