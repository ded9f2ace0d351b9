/* Mass properties by exact integration.
 *
 * A polyhedron is the signed sum of the tetrahedra (o, a, b, c) over its boundary triangles, o a point near it:
 *   volume     V = det(a, b, c) / 6
 *   first      integral x   = V (a + b + c) / 4
 *   second     integral x x'= V / 20 (a a' + b b' + c c' + s s'),   s = a + b + c
 * with coordinates relative to o, which keeps small bodies far from their origin exact (Tonon 2004). */
#include "model/shape.h"

/* Volume, first and second moments about a moving reference. */
typedef struct moments {
  double volume;
  frix_vec3 first;
  frix_sym3 second;
} moments;

static void add_outer(frix_sym3 *s, double w, frix_vec3 v) {
  s->xx += w * v.x * v.x, s->yy += w * v.y * v.y, s->zz += w * v.z * v.z;
  s->xy += w * v.x * v.y, s->xz += w * v.x * v.z, s->yz += w * v.y * v.z;
}

static void add_tetrahedron(moments *m, frix_vec3 a, frix_vec3 b, frix_vec3 c) {
  double volume = fx_dot(a, fx_cross(b, c)) / 6.0;
  frix_vec3 s = fx_add(fx_add(a, b), c);
  m->volume += volume;
  m->first = fx_mad(m->first, volume / 4.0, s);
  add_outer(&m->second, volume / 20.0, a);
  add_outer(&m->second, volume / 20.0, b);
  add_outer(&m->second, volume / 20.0, c);
  add_outer(&m->second, volume / 20.0, s);
}

/* Second moments to inertia about the centre. */
static fx_mass finish(const moments *m, frix_vec3 origin) {
  fx_mass mass = {0};
  if (!(m->volume > 0.0)) return mass;
  frix_vec3 center = fx_scale(1.0 / m->volume, m->first);
  frix_sym3 s = m->second;
  add_outer(&s, -m->volume, center);
  mass.mass = m->volume;
  mass.center = fx_add(origin, center);
  mass.inertia = (frix_sym3){s.yy + s.zz, s.xx + s.zz, s.xx + s.yy, -s.xy, -s.xz, -s.yz};
  return mass;
}

fx_mass fx_mass_triangles(const frix_vec3 *vertex, const int32_t *triangle, int32_t triangle_count) {
  moments m = {0};
  if (triangle_count < 1) return (fx_mass){0};
  frix_vec3 o = vertex[triangle[0]];
  for (int32_t k = 0; k < triangle_count; k++) {
    const int32_t *t = triangle + 3 * k;
    add_tetrahedron(&m, fx_sub(vertex[t[0]], o), fx_sub(vertex[t[1]], o), fx_sub(vertex[t[2]], o));
  }
  return finish(&m, o);
}

fx_mass fx_mass_polyhedron(const fx_polyhedron *p) {
  moments m = {0};
  if (p->vertex_count < 1) return (fx_mass){0};
  frix_vec3 o = p->vertex[0];
  for (int32_t f = 0; f < p->face_count; f++) {
    const int32_t *v = p->face_vertex + p->face_start[f];
    int32_t count = p->face_start[f + 1] - p->face_start[f];
    for (int32_t k = 1; k + 1 < count; k++)
      add_tetrahedron(&m, fx_sub(p->vertex[v[0]], o), fx_sub(p->vertex[v[k]], o), fx_sub(p->vertex[v[k + 1]], o));
  }
  return finish(&m, o);
}

/* The same in the plane: triangles (o, a, b), area det(a, b) / 2, polar second moment A/6 (a.a + a.b + b.b). */
fx_mass fx_mass_polygon(const frix_vec3 *vertex, int32_t count) {
  fx_mass mass = {0};
  if (count < 3) return mass;
  double area = 0.0, x = 0.0, y = 0.0, polar = 0.0;
  for (int32_t k = 1; k + 1 < count; k++) {
    double ax = vertex[k].x - vertex[0].x, ay = vertex[k].y - vertex[0].y;
    double bx = vertex[k + 1].x - vertex[0].x, by = vertex[k + 1].y - vertex[0].y;
    double part = 0.5 * (ax * by - ay * bx);
    area += part;
    x += part * (ax + bx) / 3.0, y += part * (ay + by) / 3.0;
    polar += part / 6.0 * (ax * ax + ay * ay + ax * bx + ay * by + bx * bx + by * by);
  }
  if (!(area > 0.0)) return mass;
  x /= area, y /= area;
  mass.mass = area;
  mass.center = fx_vec(vertex[0].x + x, vertex[0].y + y, 0.0);
  mass.inertia.zz = polar - area * (x * x + y * y);
  return mass;
}

/* Inertia of a point mass at d. */
static void add_point(frix_sym3 *s, double mass, frix_vec3 d) {
  double square = fx_norm2(d);
  s->xx += mass * (square - d.x * d.x), s->yy += mass * (square - d.y * d.y), s->zz += mass * (square - d.z * d.z);
  s->xy -= mass * d.x * d.y, s->xz -= mass * d.x * d.z, s->yz -= mass * d.y * d.z;
}

void fx_mass_add(fx_mass *sum, const fx_mass *part, double density, frix_pose pose, bool flat) {
  double mass = density * part->mass;
  if (mass == 0.0) return;
  frix_vec3 at = fx_pose_point(pose, part->center);
  if (flat) at.z = 0.0;
  frix_sym3 turned = flat ? part->inertia : fx_sym3_turn(pose.q, part->inertia);
  double total = sum->mass + mass;
  frix_vec3 center = fx_mad(sum->center, mass / total, fx_sub(at, sum->center));
  /* parallel axes: both parts move to the new common centre */
  add_point(&sum->inertia, sum->mass, fx_sub(sum->center, center));
  add_point(&sum->inertia, mass, fx_sub(at, center));
  sum->inertia.xx += density * turned.xx, sum->inertia.yy += density * turned.yy;
  sum->inertia.zz += density * turned.zz, sum->inertia.xy += density * turned.xy;
  sum->inertia.xz += density * turned.xz, sum->inertia.yz += density * turned.yz;
  sum->mass = total;
  sum->center = center;
}
