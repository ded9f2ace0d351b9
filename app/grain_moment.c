/* One moment of a granular world: grains with their volumes, and which of them press on each other. */
#include "grains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

static const double pi = 3.14159265358979323846;

double fx_grain_dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
frix_vec3 fx_grain_minus(frix_vec3 a, frix_vec3 b) { return (frix_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

fx_grains *fx_grains_new(void) {
  fx_grains *grains = fx_grow(NULL, 1, sizeof *grains);
  *grains = (fx_grains){0};
  return grains;
}

void fx_grains_free(fx_grains *grains) {
  if (!grains) return;
  free(grains->grain);
  free(grains->touch);
  free(grains->slot);
  free(grains);
}

/* ---- volumes */

static double polygon_area(const frix_geometry_config *g) {
  double area = 0;
  for (int32_t k = 0; k < g->point_count; k++) {
    frix_vec3 p = g->point[k], q = g->point[(k + 1) % g->point_count];
    area += 0.5 * (p.x * q.y - p.y * q.x);
  }
  return fabs(area);
}

/* By the divergence theorem over its triangles. */
static double hull_volume(const frix_geometry_config *g) {
  double volume = 0;
  for (int32_t k = 0; k < g->triangle_count; k++) {
    frix_vec3 a = g->point[g->triangle[3 * k]], b = g->point[g->triangle[3 * k + 1]],
              c = g->point[g->triangle[3 * k + 2]];
    volume += (a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x)) / 6;
  }
  return fabs(volume);
}

static double shape_volume(const frix_model *model, const frix_shape_config *s) {
  double r = s->radius;
  frix_geometry_config g = frix_geometry_default();
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE: return 4.0 / 3.0 * pi * r * r * r;
    case FRIX_SHAPE_CAPSULE: return pi * r * r * (2 * s->half_length + 4.0 / 3.0 * r);
    case FRIX_SHAPE_BOX: return 8 * s->half.x * s->half.y * s->half.z;
    case FRIX_SHAPE_CYLINDER: return 2 * pi * r * r * s->half_length;
    case FRIX_SHAPE_ELLIPSOID: return 4.0 / 3.0 * pi * s->half.x * s->half.y * s->half.z;
    case FRIX_SHAPE_HULL: return frix_model_geometry(model, s->geometry, &g) == FRIX_OK ? hull_volume(&g) : 0;
    case FRIX_SHAPE_DISC: return pi * r * r;
    case FRIX_SHAPE_RECTANGLE: return 4 * s->half.x * s->half.y;
    case FRIX_SHAPE_ELLIPSE: return pi * s->half.x * s->half.y;
    case FRIX_SHAPE_POLYGON: return frix_model_geometry(model, s->geometry, &g) == FRIX_OK ? polygon_area(&g) : 0;
    default: return 0;
  }
}

/* Volumes of the model's bodies by index, and whether a material has friction. */
static double *body_volumes(fx_grains *grains, const frix_model *model) {
  frix_model_counts count = frix_model_count(model);
  double *volume = fx_grow(NULL, (size_t)count.body_count + 1, sizeof *volume);
  memset(volume, 0, ((size_t)count.body_count + 1) * sizeof *volume);
  frix_vec3 gravity = frix_model_gravity(model);
  grains->heavy = fx_grain_dot(gravity, gravity) > 0;
  grains->frictional = false;
  for (int32_t k = 0; k < count.shape_count; k++) {
    frix_shape_config shape = frix_shape_default();
    frix_body_id body = {0, 0};
    if (frix_model_shape(model, frix_model_shape_at(model, k), &shape, &body) != FRIX_OK || !body.index) continue;
    if (body.index > (uint32_t)count.body_count) continue;
    volume[body.index] += shape_volume(model, &shape);
    frix_material_config material = frix_material_default();
    if (!shape.material.index || frix_model_material(model, shape.material, &material) == FRIX_OK)
      grains->frictional = grains->frictional || material.mu > 0;
  }
  return volume;
}

/* ---- grains */

static void begin(fx_grains *g, uint32_t highest) {
  g->count = g->touch_count = 0;
  g->largest = g->mean = 0;
  if ((int32_t)highest >= g->slot_count) {
    g->slot_count = (int32_t)highest + 1;
    g->slot = fx_grow(g->slot, (size_t)g->slot_count, sizeof *g->slot);
  }
  for (int32_t k = 0; k < g->slot_count; k++) g->slot[k] = -1;
}

static void add_grain(fx_grains *g, const frix_model *model, const double *volume, frix_body_id id,
                      frix_body_id pattern, const frix_body_state *state) {
  frix_body_config body = frix_body_default();
  if (frix_model_body(model, pattern, &body) != FRIX_OK || body.kind != FRIX_BODY_DYNAMIC) return;
  if (g->count == g->room) {
    g->room = 2 * g->room + 256;
    g->grain = fx_grow(g->grain, (size_t)g->room, sizeof *g->grain);
  }
  g->dim = body.planar ? 2 : 3;
  double v = volume[pattern.index], radius = body.planar ? sqrt(v / pi) : cbrt(0.75 * v / pi);
  g->slot[id.index] = g->count;
  g->grain[g->count++] = (fx_grain){.id = id,
                                    .center = state->center,
                                    .velocity = state->velocity,
                                    .spin = state->spin,
                                    .radius = radius,
                                    .volume = v,
                                    .mass = body.mass};
  g->largest = fmax(g->largest, radius);
  g->mean += radius;
}

/* ---- contacts */

static int32_t grain_of(const fx_grains *g, frix_body_id id) {
  return id.index && (int32_t)id.index < g->slot_count ? g->slot[id.index] : -1;
}

static void add_point(fx_grains *g, const frix_contact_report *c) {
  if (c->phase == FRIX_CONTACT_END) return;
  int32_t a = grain_of(g, c->a), b = grain_of(g, c->b);
  double push = fx_grain_dot(c->force, c->normal), sign = 1;
  if (push <= 0 || (a < 0 && b < 0)) return;
  if (a < 0 || (b >= 0 && b < a)) {
    int32_t swap = a;
    a = b, b = swap, sign = -1;
  }
  if (g->touch_count == g->touch_room) {
    g->touch_room = 2 * g->touch_room + 256;
    g->touch = fx_grow(g->touch, (size_t)g->touch_room, sizeof *g->touch);
  }
  g->touch[g->touch_count++] = (fx_touch){.a = a,
                                          .b = b,
                                          .point = c->point,
                                          .normal = {sign * c->normal.x, sign * c->normal.y, sign * c->normal.z},
                                          .force = {sign * c->force.x, sign * c->force.y, sign * c->force.z},
                                          .push = push,
                                          .points = 1,
                                          .slips = c->state == FRIX_CONTACT_SLIP};
}

/* Walls that touch a grain at different places stay apart: same normal, same wall. */
static int compare_touches(const void *left, const void *right) {
  const fx_touch *a = left, *b = right;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  if (a->b != b->b) return a->b < b->b ? -1 : 1;
  return a->push > b->push ? -1 : a->push < b->push;
}

static void blend(frix_vec3 *p, frix_vec3 q, double weight) {
  p->x += weight * (q.x - p->x), p->y += weight * (q.y - p->y), p->z += weight * (q.z - p->z);
}

static bool same_pair(const fx_touch *a, const fx_touch *b) {
  return a->a == b->a && a->b == b->b && (a->b >= 0 || fx_grain_dot(a->normal, b->normal) > 0.999);
}

static void join_points(fx_grains *g) {
  int32_t count = 0;
  if (g->touch_count > 1) qsort(g->touch, (size_t)g->touch_count, sizeof *g->touch, compare_touches);
  for (int32_t k = 0; k < g->touch_count; k++) {
    fx_touch *now = &g->touch[k], *last = count ? &g->touch[count - 1] : NULL;
    if (!last || !same_pair(last, now)) {
      g->touch[count++] = *now;
      continue;
    }
    double weight = now->push / (last->push + now->push);
    blend(&last->point, now->point, weight);
    blend(&last->normal, now->normal, weight);
    double length = sqrt(fx_grain_dot(last->normal, last->normal));
    if (length > 0) last->normal.x /= length, last->normal.y /= length, last->normal.z /= length;
    last->force.x += now->force.x, last->force.y += now->force.y, last->force.z += now->force.z;
    last->push += now->push;
    last->points++;
    last->slips = last->slips && now->slips;
  }
  g->touch_count = count;
}

static void finish(fx_grains *g) {
  if (g->count) g->mean /= g->count;
  join_points(g);
  fx_grains_rattlers(g, 0);
}

void fx_grains_frame(fx_grains *g, const frix_model *model, const frix_frame *frame) {
  uint32_t highest = 0;
  for (int32_t k = 0; k < frame->body_count; k++)
    highest = frame->body[k].id.index > highest ? frame->body[k].id.index : highest;
  double *volume = body_volumes(g, model);
  begin(g, highest);
  g->time = frame->time;
  for (int32_t k = 0; k < frame->body_count; k++)
    add_grain(g, model, volume, frame->body[k].id, frame->body[k].pattern, &frame->body[k].state);
  for (int32_t k = 0; k < frame->contact_count; k++) add_point(g, &frame->contact[k]);
  free(volume);
  finish(g);
}

void fx_grains_sim(fx_grains *g, const frix_model *model, const frix_sim *sim, double h) {
  const frix_body_id none = {0, 0};
  uint32_t highest = 0;
  for (frix_body_id id = frix_sim_body_next(sim, none); id.index; id = frix_sim_body_next(sim, id))
    highest = id.index > highest ? id.index : highest;
  double *volume = body_volumes(g, model);
  begin(g, highest);
  g->time = frix_sim_time(sim);
  for (frix_body_id id = frix_sim_body_next(sim, none); id.index; id = frix_sim_body_next(sim, id)) {
    frix_body_state state;
    frix_body_id pattern;
    if (frix_sim_body(sim, id, &state) == FRIX_OK && frix_sim_pattern(sim, id, &pattern) == FRIX_OK)
      add_grain(g, model, volume, id, pattern, &state);
  }
  for (int32_t k = 0; h > 0 && k < frix_sim_contact_count(sim); k++) {
    frix_contact_report report;
    if (frix_sim_contact(sim, k, &report) == FRIX_OK) add_point(g, &report);
  }
  free(volume);
  finish(g);
}

/* ---- rattlers */

void fx_grains_rattlers(fx_grains *g, int32_t least) {
  if (least <= 0) least = g->frictional ? 2 : g->dim + !g->heavy;
  for (int32_t k = 0; k < g->count; k++) g->grain[k].rattler = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t k = 0; k < g->count; k++) g->grain[k].neighbours = 0;
    for (int32_t k = 0; k < g->touch_count; k++) {
      fx_grain *a = &g->grain[g->touch[k].a], *b = g->touch[k].b >= 0 ? &g->grain[g->touch[k].b] : NULL;
      if (a->rattler || (b && b->rattler)) continue;
      a->neighbours++;
      if (b) b->neighbours++;
    }
    for (int32_t k = 0; k < g->count; k++) {
      if (g->grain[k].rattler || g->grain[k].neighbours >= least) continue;
      g->grain[k].rattler = changed = true;
    }
  }
}
