/* Structures of the limit analysis, built twice: as a world of the library, and as a list of bodies and points that
 * touch for the oracle, from coordinates on paper. */
#ifndef FX_TEST_LIMIT_STRUCTURES_H
#define FX_TEST_LIMIT_STRUCTURES_H

#include "limit_oracle.h"
#include "sim_world.h"

typedef struct structure {
  world w;
  oracle o;
  double mu;
  frix_body_id id[ORACLE_BODIES];
} structure;

static const double gravity_g = 9.81;

static inline void structure_begin(structure *s, fx_test *t, bool planar, double mu) {
  memset(&s->o, 0, sizeof s->o);
  s->w = world_new(t, mu, 0);
  s->o.planar = planar;
  s->mu = mu;
  if (planar)
    world_half_plane(&s->w);
  else
    world_plane(&s->w, turned(0, 1, 0, 0));
  MUST(&s->w, frix_builder_set_gravity(s->w.builder, planar ? vec(0, -gravity_g, 0) : vec(0, 0, -gravity_g)));
}

static inline void structure_end(structure *s) { world_end(&s->w); }

/* ---- bodies ---- */

static inline int structure_body(structure *s, frix_vec3 center, double mass, frix_pose pose, frix_shape_config shape) {
  int k = s->o.body_count++;
  oracle_body *b = &s->o.body[k];
  frix_body_config body = body_at(pose);
  *b = (oracle_body){.mass = mass, .center = {center.x, center.y, center.z}};
  b->weight[s->o.planar ? 1 : 2] = -mass * gravity_g;
  body.planar = s->o.planar;
  s->id[k] = world_body(&s->w, body, shape);
  return k;
}

static inline int structure_disc(structure *s, double x, double y, double r) {
  frix_shape_config shape = kind_shape(FRIX_SHAPE_DISC, r, 0);
  shape.density = 1;
  return structure_body(s, vec(x, y, 0), acos(-1.0) * r * r, at(x, y, 0), shape);
}

static inline int structure_rectangle(structure *s, double x, double y, double half_x, double half_y) {
  frix_shape_config shape = kind_shape(FRIX_SHAPE_RECTANGLE, 0, 0);
  shape.half = vec(half_x, half_y, 0);
  shape.density = 1;
  return structure_body(s, vec(x, y, 0), 4 * half_x * half_y, at(x, y, 0), shape);
}

/* Corners counter-clockwise; area and centroid by triangles from the first. */
static inline int structure_polygon(structure *s, const frix_vec3 *corner, int count) {
  double area = 0, x = 0, y = 0;
  for (int k = 1; k + 1 < count; k++) {
    frix_vec3 a = corner[0], b = corner[k], c = corner[k + 1];
    double part = 0.5 * ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
    area += part;
    x += part * (a.x + b.x + c.x) / 3, y += part * (a.y + b.y + c.y) / 3;
  }
  frix_shape_config shape = kind_shape(FRIX_SHAPE_POLYGON, 0, 0);
  frix_geometry_config geometry = frix_geometry_default();
  geometry.kind = FRIX_GEOMETRY_POLYGON, geometry.point_count = count, geometry.point = corner;
  MUST(&s->w, frix_builder_add_geometry(s->w.builder, &geometry, &shape.geometry));
  shape.density = 1;
  return structure_body(s, vec(x / area, y / area, 0), area, at(0, 0, 0), shape);
}

static inline int structure_box(structure *s, frix_vec3 center, frix_vec3 half) {
  frix_shape_config shape = box_shape(half.x, half.y, half.z);
  shape.density = 1;
  return structure_body(s, center, 8 * half.x * half.y * half.z, at(center.x, center.y, center.z), shape);
}

static inline int structure_ball(structure *s, frix_vec3 center, double r) {
  frix_shape_config shape = sphere_shape(r);
  shape.density = 1;
  return structure_body(s, center, 4.0 / 3 * acos(-1.0) * r * r * r, at(center.x, center.y, center.z), shape);
}

/* ---- points that touch, for the oracle alone ---- */

static inline void touch(structure *s, int a, int b, frix_vec3 p, frix_vec3 n) {
  double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
  s->o.contact[s->o.contact_count++] =
      (oracle_contact){a, b, {p.x, p.y, p.z}, {n.x / length, n.y / length, n.z / length}, s->mu};
}

/* Both ends of an edge. */
static inline void touch_edge(structure *s, int a, int b, frix_vec3 p, frix_vec3 q, frix_vec3 n) {
  touch(s, a, b, p, n);
  touch(s, a, b, q, n);
}

/* The corners of a level rectangle. */
static inline void touch_level(structure *s, int a, int b, double x0, double x1, double y0, double y1, double z) {
  double x[4] = {x0, x1, x1, x0}, y[4] = {y0, y0, y1, y1};
  for (int k = 0; k < 4; k++) touch(s, a, b, vec(x[k], y[k], z), vec(0, 0, 1));
}

/* Two round bodies of equal radius, a above or right of b; b < 0: the ground below. */
static inline void touch_round(structure *s, int a, int b, double r) {
  const double *p = s->o.body[a].center, *q = b < 0 ? NULL : s->o.body[b].center;
  if (b < 0) {
    bool planar = s->o.planar;
    touch(s, a, b, vec(p[0], planar ? p[1] - r : p[1], planar ? 0 : p[2] - r), planar ? vec(0, 1, 0) : vec(0, 0, 1));
    return;
  }
  touch(s, a, b, vec((p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2),
        vec(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
}

/* All round bodies that are two radii apart. */
static inline void touch_all_round(structure *s, double r) {
  for (int a = 0; a < s->o.body_count; a++)
    for (int b = 0; b < a; b++) {
      const double *p = s->o.body[a].center, *q = s->o.body[b].center;
      double d = sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
      if (d < 2 * r * (1 + 1e-9)) touch_round(s, a, b, r);
    }
}

#endif
