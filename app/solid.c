/* Shapes as triangles, for drawing: round ones as surfaces of revolution with their true normals. */
#include "solid.h"

#include "app.h"

#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct maker {
  fx_solid *solid;
  int32_t room;
} maker;

static void add(maker *m, fx_corner a, fx_corner b, fx_corner c, bool edge) {
  fx_solid *s = m->solid;
  if (s->corner_count + 3 > m->room) {
    m->room = 2 * m->room + 96;
    s->corner = fx_grow(s->corner, (size_t)m->room, sizeof *s->corner);
    s->edge = fx_grow(s->edge, (size_t)m->room / 3 + 1, sizeof *s->edge);
  }
  s->edge[s->corner_count / 3] = edge;
  fx_corner three[3] = {a, b, c};
  memcpy(s->corner + s->corner_count, three, sizeof three);
  for (int k = 0; k < 3; k++) s->radius = fmaxf(s->radius, fx_v3_norm(three[k].place));
  s->corner_count += 3;
}

/* A flat triangle. */
static void add_flat(maker *m, fx_v3 a, fx_v3 b, fx_v3 c) {
  fx_v3 n = fx_v3_unit(fx_v3_cross(fx_v3_sub(b, a), fx_v3_sub(c, a)));
  add(m, (fx_corner){a, n}, (fx_corner){b, n}, (fx_corner){c, n}, false);
}

static void add_box(maker *m, frix_vec3 half) {
  fx_v3 h = fx_v3_of(half.x, half.y, half.z), v[8];
  for (int k = 0; k < 8; k++) v[k] = (fx_v3){k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z};
  static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int f = 0; f < 6; f++) {
    add_flat(m, v[face[f][0]], v[face[f][1]], v[face[f][2]]);
    add_flat(m, v[face[f][0]], v[face[f][2]], v[face[f][3]]);
  }
}

/* ---- surfaces of revolution about z */

typedef struct ring {
  double radius, z;
  double out, up; /* normal */
} ring;

static fx_corner on_ring(const ring *r, double angle) {
  double c = cos(angle), s = sin(angle);
  return (fx_corner){fx_v3_of(r->radius * c, r->radius * s, r->z), fx_v3_of(r->out * c, r->out * s, r->up)};
}

static void add_band(maker *m, const ring *low, const ring *high, int segments) {
  for (int k = 0; k < segments; k++) {
    double from = 2.0 * PI * k / segments, to = 2.0 * PI * (k + 1) / segments;
    fx_corner a = on_ring(low, from), b = on_ring(low, to), c = on_ring(high, to), d = on_ring(high, from);
    if (low->radius > 0.0) add(m, a, b, c, false);
    if (high->radius > 0.0) add(m, a, c, d, false);
  }
}

static void add_cylinder(maker *m, double radius, double half, int segments) {
  ring side[2] = {{radius, -half, 1, 0}, {radius, half, 1, 0}};
  ring bottom[2] = {{0, -half, 0, -1}, {radius, -half, 0, -1}}, top[2] = {{radius, half, 0, 1}, {0, half, 0, 1}};
  add_band(m, &side[0], &side[1], segments);
  add_band(m, &bottom[0], &bottom[1], segments);
  add_band(m, &top[0], &top[1], segments);
}

/* A ball cut at its equator, the halves moved apart by half along z. */
static void add_capsule(maker *m, double radius, double half, int segments) {
  int rings = segments / 2;
  ring last = {0, -half - radius, 0, -1};
  for (int k = 1; k <= rings + 1; k++) {
    int step = k <= rings / 2 ? k : k - 1; /* the equator twice */
    double angle = PI * step / rings - PI / 2, shift = k <= rings / 2 ? -half : half;
    double c = step == 0 || step == rings ? 0.0 : cos(angle), s = sin(angle);
    ring next = {radius * c, radius * s + shift, c, s};
    add_band(m, &last, &next, segments);
    last = next;
  }
}

/* The unit ball stretched; its normals the other way round. */
static void add_ellipsoid(maker *m, frix_vec3 half, int segments) {
  int32_t first = m->solid->corner_count;
  add_capsule(m, 1.0, 0.0, segments);
  m->solid->radius = 0.0f;
  for (int32_t k = first; k < m->solid->corner_count; k++) {
    fx_corner *c = &m->solid->corner[k];
    c->place = fx_v3_of(c->place.x * half.x, c->place.y * half.y, c->place.z * half.z);
    c->normal = fx_v3_unit(fx_v3_of(c->normal.x / half.x, c->normal.y / half.y, c->normal.z / half.z));
    m->solid->radius = fmaxf(m->solid->radius, fx_v3_norm(c->place));
  }
}

/* ---- triangles of the user's */

static fx_v3 face_normal(const frix_geometry_config *g, int32_t t) {
  fx_v3 v[3];
  for (int k = 0; k < 3; k++) {
    frix_vec3 p = g->point[g->triangle[3 * t + k]];
    v[k] = fx_v3_of(p.x, p.y, p.z);
  }
  return fx_v3_cross(fx_v3_sub(v[1], v[0]), fx_v3_sub(v[2], v[0])); /* its length weighs it by area */
}

/* Normals are averaged over neighbours within 40 degrees; sharper edges stay sharp. */
static void add_mesh(maker *m, const frix_geometry_config *g) {
  const float sharp = 0.766f;
  size_t corners = 3 * (size_t)g->triangle_count;
  int32_t *start = calloc((size_t)g->point_count + 2, sizeof *start);
  int32_t *around = fx_grow(NULL, corners + 1, sizeof *around);
  fx_v3 *normal = fx_grow(NULL, (size_t)g->triangle_count + 1, sizeof *normal);
  for (size_t k = 0; start && k < corners; k++) start[g->triangle[k] + 2]++;
  for (int32_t p = 0; start && p < g->point_count; p++) start[p + 2] += start[p + 1];
  for (int32_t t = 0; start && t < g->triangle_count; t++) {
    normal[t] = face_normal(g, t);
    for (int k = 0; k < 3; k++) around[start[g->triangle[3 * t + k] + 1]++] = t;
  }
  for (int32_t t = 0; start && t < g->triangle_count; t++) {
    fx_corner corner[3];
    for (int k = 0; k < 3; k++) {
      int32_t point = g->triangle[3 * t + k];
      frix_vec3 p = g->point[point];
      fx_v3 sum = {0, 0, 0}, mine = fx_v3_unit(normal[t]);
      for (int32_t i = start[point]; i < start[point + 1]; i++)
        if (fx_v3_dot(fx_v3_unit(normal[around[i]]), mine) > sharp) sum = fx_v3_add(sum, normal[around[i]]);
      corner[k] = (fx_corner){fx_v3_of(p.x, p.y, p.z), fx_v3_unit(sum)};
    }
    add(m, corner[0], corner[1], corner[2], false);
  }
  free(start);
  free(around);
  free(normal);
}

/* ---- flat shapes: a dark one, and a bright one inside its rim, a little before it */

static fx_v3 inward(fx_v3 a, fx_v3 b) { return fx_v3_unit((fx_v3){a.y - b.y, b.x - a.x, 0}); }

/* Corners counter-clockwise. The rim is a share of the distance from the middle to the nearest edge. */
static void add_outline(maker *m, const fx_v3 *v, int32_t count, float share) {
  fx_v3 up = {0, 0, 1}, middle = {0, 0, 0};
  float room = INFINITY;
  for (int32_t k = 0; k < count; k++) middle = fx_v3_mad(middle, 1.0f / (float)count, v[k]);
  for (int32_t k = 0; k < count; k++)
    room = fminf(room, fx_v3_dot(fx_v3_sub(middle, v[k]), inward(v[k], v[(k + 1) % count])));
  fx_v3 lift = {0, 0, 0.02f * room}, inner[2];
  for (int32_t k = 0; k < count; k++) {
    for (int32_t i = 0; i < 2; i++) { /* where the two edges of a corner meet when both move in */
      fx_v3 before = v[(k + i + count - 1) % count], at = v[(k + i) % count], after = v[(k + i + 1) % count];
      fx_v3 p = inward(before, at), q = inward(at, after);
      inner[i] = fx_v3_add(fx_v3_mad(at, share * room / (1.0f + fx_v3_dot(p, q)), fx_v3_add(p, q)), lift);
    }
    add(m, (fx_corner){middle, up}, (fx_corner){v[k], up}, (fx_corner){v[(k + 1) % count], up}, true);
    add(m, (fx_corner){fx_v3_add(middle, lift), up}, (fx_corner){inner[0], up}, (fx_corner){inner[1], up}, false);
  }
}

/* A spoke shows how a round shape turns. */
static void add_spoke(maker *m, double x, double y) {
  float w = 0.05f * (float)fmin(x, y), h = 0.02f * (float)fmin(x, y);
  fx_v3 up = {0, 0, 1}, v[4] = {{0, -w, h}, {0.9f * (float)x, -w, h}, {0.9f * (float)x, w, h}, {0, w, h}};
  add(m, (fx_corner){v[0], up}, (fx_corner){v[1], up}, (fx_corner){v[2], up}, true);
  add(m, (fx_corner){v[0], up}, (fx_corner){v[2], up}, (fx_corner){v[3], up}, true);
}

static void add_round(maker *m, double x, double y, int segments) {
  fx_v3 v[256];
  for (int k = 0; k < segments; k++)
    v[k] = fx_v3_of(x * cos(2.0 * PI * k / segments), y * sin(2.0 * PI * k / segments), 0.0);
  add_outline(m, v, segments, 0.09f);
  add_spoke(m, x, y);
}

static void add_rectangle(maker *m, frix_vec3 half) {
  fx_v3 v[4] = {fx_v3_of(-half.x, -half.y, 0), fx_v3_of(half.x, -half.y, 0), fx_v3_of(half.x, half.y, 0),
                fx_v3_of(-half.x, half.y, 0)};
  add_outline(m, v, 4, 0.12f);
}

static void add_polygon(maker *m, const frix_geometry_config *g) {
  fx_v3 *v = fx_grow(NULL, (size_t)g->point_count, sizeof *v);
  for (int32_t k = 0; k < g->point_count; k++) v[k] = fx_v3_of(g->point[k].x, g->point[k].y, 0.0);
  add_outline(m, v, g->point_count, 0.1f);
  free(v);
}

fx_solid fx_solid_of(const frix_model *model, const frix_shape_config *s, int segments) {
  fx_solid solid = {0};
  maker m = {&solid, 0};
  frix_geometry_config g = frix_geometry_default();
  if (s->geometry.index && frix_model_geometry(model, s->geometry, &g) != FRIX_OK) return solid;
  switch (s->kind) {
    case FRIX_SHAPE_CAPSULE: add_capsule(&m, s->radius, s->half_length, segments); break;
    case FRIX_SHAPE_BOX: add_box(&m, s->half); break;
    case FRIX_SHAPE_CYLINDER: add_cylinder(&m, s->radius, s->half_length, segments); break;
    case FRIX_SHAPE_ELLIPSOID: add_ellipsoid(&m, s->half, segments); break;
    case FRIX_SHAPE_HULL:
    case FRIX_SHAPE_MESH:
    case FRIX_SHAPE_HEIGHT_FIELD: add_mesh(&m, &g); break;
    case FRIX_SHAPE_DISC: add_round(&m, s->radius, s->radius, segments); break;
    case FRIX_SHAPE_ELLIPSE: add_round(&m, s->half.x, s->half.y, segments); break;
    case FRIX_SHAPE_RECTANGLE: add_rectangle(&m, s->half); break;
    case FRIX_SHAPE_POLYGON: add_polygon(&m, &g); break;
    case FRIX_SHAPE_SPHERE: solid.radius = (float)s->radius; break;
    case FRIX_SHAPE_PLANE:
    case FRIX_SHAPE_HALF_PLANE:
    case FRIX_SHAPE_COUNT: break;
  }
  return solid;
}

fx_solid fx_solid_of_soft(const frix_soft *soft, const double *amplitude) {
  fx_solid solid = {0};
  maker m = {&solid, 0};
  frix_soft_info info = frix_soft_view(soft);
  frix_vec3 *place = fx_grow(NULL, (size_t)info.point_count + 1, sizeof *place);
  frix_geometry_config g = frix_geometry_default();
  frix_soft_deform(soft, (frix_pose){{0, 0, 0}, {1, 0, 0, 0}}, amplitude, place);
  g.point = place, g.point_count = info.point_count;
  g.triangle = info.triangle, g.triangle_count = info.triangle_count;
  add_mesh(&m, &g);
  free(place);
  return solid;
}

void fx_solid_free(fx_solid *solid) {
  free(solid->corner);
  free(solid->edge);
  *solid = (fx_solid){0};
}
