/* The shape table: check, support function, bounding box and mass properties of every shape, one block each. */
#include "model/shape.h"

#include "base/trig.h"

/* ---- shared pieces ---- */

static frix_status positive(frix_context *context, const char *shape, const char *what, double value) {
  if (value > 0.0 && isfinite(value)) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_INPUT, "%s: %s is %g, must be positive and finite", shape, what, value);
}

static frix_status need_geometry(frix_context *context, const char *shape, const fx_geometry *geometry,
                                 frix_geometry_kind kind) {
  if (geometry && geometry->kind == kind) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_INPUT, geometry ? "%s: its geometry is of another kind" : "%s: has no geometry",
                 shape);
}

/* Box of half widths `half` about a point. */
static void box_about(frix_vec3 center, frix_vec3 half, frix_vec3 *low, frix_vec3 *high) {
  *low = fx_sub(center, half);
  *high = fx_add(center, half);
}

/* Half widths of a turned box. */
static frix_vec3 turned_half(frix_quat q, frix_vec3 half) {
  fx_mat3 r = fx_quat_matrix(q);
  return fx_vec(fabs(r.x.x) * half.x + fabs(r.x.y) * half.y + fabs(r.x.z) * half.z,
                fabs(r.y.x) * half.x + fabs(r.y.y) * half.y + fabs(r.y.z) * half.z,
                fabs(r.z.x) * half.x + fabs(r.z.y) * half.y + fabs(r.z.z) * half.z);
}

static frix_sym3 diagonal(double x, double y, double z) { return (frix_sym3){x, y, z, 0.0, 0.0, 0.0}; }

/* Unbounded below its surface: an infinite box, cut where the plane is parallel to a coordinate plane. */
static void half_space_box(frix_vec3 normal, double offset, frix_vec3 *low, frix_vec3 *high) {
  *low = fx_vec(-INFINITY, -INFINITY, -INFINITY);
  *high = fx_vec(INFINITY, INFINITY, INFINITY);
  if (normal.x == 1.0) high->x = offset;
  if (normal.y == 1.0) high->y = offset;
  if (normal.z == 1.0) high->z = offset;
  if (normal.x == -1.0) low->x = -offset;
  if (normal.y == -1.0) low->y = -offset;
  if (normal.z == -1.0) low->z = -offset;
}

/* ---- sphere, disc ---- */

static frix_status sphere_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)g;
  return positive(context, c->kind == FRIX_SHAPE_DISC ? "disc" : "sphere", "radius", c->radius);
}

static frix_vec3 sphere_support(const fx_shape *s, frix_vec3 d) { return fx_scale(s->radius, fx_unit(d)); }

static void sphere_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  box_about(pose.p, fx_vec(s->radius, s->radius, s->radius), low, high);
}

static fx_mass sphere_mass(const fx_shape *s) {
  double r2 = s->radius * s->radius, m = 4.0 / 3.0 * FX_PI * r2 * s->radius, i = 0.4 * m * r2;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(i, i, i)};
}

static frix_vec3 disc_support(const fx_shape *s, frix_vec3 d) {
  return fx_scale(s->radius, fx_unit_or(fx_vec(d.x, d.y, 0.0), fx_vec(1.0, 0.0, 0.0)));
}

static void disc_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  box_about(fx_vec(pose.p.x, pose.p.y, 0.0), fx_vec(s->radius, s->radius, 0.0), low, high);
}

static fx_mass disc_mass(const fx_shape *s) {
  double r2 = s->radius * s->radius, m = FX_PI * r2;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(0.0, 0.0, 0.5 * m * r2)};
}

/* ---- capsule, cylinder: axis z ---- */

static frix_status rod_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)g;
  const char *name = c->kind == FRIX_SHAPE_CAPSULE ? "capsule" : "cylinder";
  frix_status status = positive(context, name, "radius", c->radius);
  return status ? status : positive(context, name, "half_length", c->half_length);
}

static frix_vec3 capsule_support(const fx_shape *s, frix_vec3 d) {
  frix_vec3 p = sphere_support(s, d);
  p.z += d.z >= 0.0 ? s->half_length : -s->half_length;
  return p;
}

static void capsule_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  frix_vec3 end = fx_rotate(pose.q, fx_vec(0.0, 0.0, s->half_length));
  box_about(pose.p, fx_vec(fabs(end.x) + s->radius, fabs(end.y) + s->radius, fabs(end.z) + s->radius), low, high);
}

static fx_mass capsule_mass(const fx_shape *s) {
  double r = s->radius, h = s->half_length, r2 = r * r;
  double barrel = FX_PI * r2 * 2.0 * h, ball = 4.0 / 3.0 * FX_PI * r2 * r;
  /* half balls: about their common centre 2/5 m r^2, moved out by h with the centroid at 3/8 r */
  double across = barrel * (r2 / 4.0 + h * h / 3.0) + ball * (0.4 * r2 + h * h + 0.75 * h * r);
  return (fx_mass){barrel + ball, {0.0, 0.0, 0.0}, diagonal(across, across, 0.5 * barrel * r2 + 0.4 * ball * r2)};
}

static frix_vec3 cylinder_support(const fx_shape *s, frix_vec3 d) {
  frix_vec3 p = fx_scale(s->radius, fx_unit_or(fx_vec(d.x, d.y, 0.0), fx_vec(1.0, 0.0, 0.0)));
  p.z = d.z >= 0.0 ? s->half_length : -s->half_length;
  return p;
}

static void cylinder_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  frix_vec3 a = fx_rotate(pose.q, fx_vec(0.0, 0.0, 1.0));
  double h = s->half_length, r = s->radius;
  frix_vec3 half = {h * fabs(a.x) + r * sqrt(fx_max(0.0, 1.0 - a.x * a.x)),
                    h * fabs(a.y) + r * sqrt(fx_max(0.0, 1.0 - a.y * a.y)),
                    h * fabs(a.z) + r * sqrt(fx_max(0.0, 1.0 - a.z * a.z))};
  box_about(pose.p, half, low, high);
}

static fx_mass cylinder_mass(const fx_shape *s) {
  double r2 = s->radius * s->radius, h = s->half_length, m = FX_PI * r2 * 2.0 * h,
         across = m * (r2 / 4.0 + h * h / 3.0);
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(across, across, 0.5 * m * r2)};
}

/* ---- box, ellipsoid, rectangle, ellipse: half ---- */

static frix_status half_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)g;
  const char *name = frix_shape_table((int32_t)c->kind)->name;
  frix_status status = positive(context, name, "half.x", c->half.x);
  if (!status) status = positive(context, name, "half.y", c->half.y);
  if (!status && !frix_shape_table((int32_t)c->kind)->flat) status = positive(context, name, "half.z", c->half.z);
  return status;
}

static frix_vec3 box_support(const fx_shape *s, frix_vec3 d) {
  return fx_vec(d.x >= 0.0 ? s->half.x : -s->half.x, d.y >= 0.0 ? s->half.y : -s->half.y,
                d.z >= 0.0 ? s->half.z : -s->half.z);
}

static void box_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  box_about(pose.p, turned_half(pose.q, s->half), low, high);
}

static fx_mass box_mass(const fx_shape *s) {
  double x = s->half.x * s->half.x, y = s->half.y * s->half.y, z = s->half.z * s->half.z;
  double m = 8.0 * s->half.x * s->half.y * s->half.z;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(m * (y + z) / 3.0, m * (x + z) / 3.0, m * (x + y) / 3.0)};
}

static frix_vec3 ellipsoid_support(const fx_shape *s, frix_vec3 d) {
  frix_vec3 w = fx_unit(fx_vec(d.x * s->half.x, d.y * s->half.y, d.z * s->half.z));
  return fx_vec(w.x * s->half.x, w.y * s->half.y, w.z * s->half.z);
}

static void ellipsoid_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  fx_mat3 r = fx_quat_matrix(pose.q);
  frix_vec3 h = s->half, rows[3] = {r.x, r.y, r.z};
  double half[3];
  for (int k = 0; k < 3; k++) half[k] = fx_norm(fx_vec(rows[k].x * h.x, rows[k].y * h.y, rows[k].z * h.z));
  box_about(pose.p, fx_vec(half[0], half[1], half[2]), low, high);
}

static fx_mass ellipsoid_mass(const fx_shape *s) {
  double x = s->half.x * s->half.x, y = s->half.y * s->half.y, z = s->half.z * s->half.z;
  double m = 4.0 / 3.0 * FX_PI * s->half.x * s->half.y * s->half.z;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(m * (y + z) / 5.0, m * (x + z) / 5.0, m * (x + y) / 5.0)};
}

static frix_vec3 rectangle_support(const fx_shape *s, frix_vec3 d) {
  return fx_vec(d.x >= 0.0 ? s->half.x : -s->half.x, d.y >= 0.0 ? s->half.y : -s->half.y, 0.0);
}

static void rectangle_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  frix_vec3 half = turned_half(pose.q, fx_vec(s->half.x, s->half.y, 0.0));
  box_about(fx_vec(pose.p.x, pose.p.y, 0.0), fx_vec(half.x, half.y, 0.0), low, high);
}

static fx_mass rectangle_mass(const fx_shape *s) {
  double m = 4.0 * s->half.x * s->half.y;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(0.0, 0.0, m * (s->half.x * s->half.x + s->half.y * s->half.y) / 3.0)};
}

static frix_vec3 ellipse_support(const fx_shape *s, frix_vec3 d) {
  frix_vec3 w = fx_unit_or(fx_vec(d.x * s->half.x, d.y * s->half.y, 0.0), fx_vec(1.0, 0.0, 0.0));
  return fx_vec(w.x * s->half.x, w.y * s->half.y, 0.0);
}

static void ellipse_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  fx_mat3 r = fx_quat_matrix(pose.q);
  double x = r.x.x * s->half.x, y = r.x.y * s->half.y, u = r.y.x * s->half.x, v = r.y.y * s->half.y;
  box_about(fx_vec(pose.p.x, pose.p.y, 0.0), fx_vec(sqrt(x * x + y * y), sqrt(u * u + v * v), 0.0), low, high);
}

static fx_mass ellipse_mass(const fx_shape *s) {
  double m = FX_PI * s->half.x * s->half.y;
  return (fx_mass){m, {0.0, 0.0, 0.0}, diagonal(0.0, 0.0, m * (s->half.x * s->half.x + s->half.y * s->half.y) / 4.0)};
}

/* ---- plane, half plane ---- */

static frix_status any_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)context, (void)c, (void)g;
  return FRIX_OK;
}

static void plane_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  (void)s;
  frix_vec3 n = fx_rotate(pose.q, fx_vec(0.0, 0.0, 1.0));
  half_space_box(n, fx_dot(n, pose.p), low, high);
}

static void half_plane_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  (void)s;
  frix_vec3 n = fx_rotate(pose.q, fx_vec(0.0, 1.0, 0.0));
  half_space_box(n, fx_dot(n, pose.p), low, high);
  low->z = high->z = 0.0;
}

/* ---- hull, polygon, mesh, height field ---- */

static frix_status hull_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)c;
  return need_geometry(context, "hull", g, FRIX_GEOMETRY_HULL);
}

static frix_status polygon_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)c;
  return need_geometry(context, "polygon", g, FRIX_GEOMETRY_POLYGON);
}

static frix_status mesh_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)c;
  return need_geometry(context, "mesh", g, FRIX_GEOMETRY_MESH);
}

static frix_status height_check(frix_context *context, const frix_shape_config *c, const fx_geometry *g) {
  (void)c;
  return need_geometry(context, "height_field", g, FRIX_GEOMETRY_HEIGHT_FIELD);
}

static frix_vec3 hull_support(const fx_shape *s, frix_vec3 d) {
  const fx_polyhedron *p = &s->geometry->hull;
  return p->vertex[fx_polyhedron_support(p, d, 0)];
}

static void points_box(const frix_vec3 *vertex, int32_t count, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  fx_mat3 r = fx_quat_matrix(pose.q);
  frix_vec3 a = fx_vec(INFINITY, INFINITY, INFINITY), b = fx_neg(a);
  for (int32_t k = 0; k < count; k++) {
    frix_vec3 v = fx_mat3_mul(r, vertex[k]);
    a = fx_vec(fx_min(a.x, v.x), fx_min(a.y, v.y), fx_min(a.z, v.z));
    b = fx_vec(fx_max(b.x, v.x), fx_max(b.y, v.y), fx_max(b.z, v.z));
  }
  *low = fx_add(a, pose.p), *high = fx_add(b, pose.p);
}

/* Small hulls exactly; for large ones the turned bounding box is cheaper and nearly as good. */
static void hull_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  const fx_geometry *g = s->geometry;
  if (g->hull.vertex_count <= 32) {
    points_box(g->hull.vertex, g->hull.vertex_count, pose, low, high);
  } else {
    frix_vec3 center = fx_scale(0.5, fx_add(g->low, g->high)), half = fx_scale(0.5, fx_sub(g->high, g->low));
    box_about(fx_pose_point(pose, center), turned_half(pose.q, half), low, high);
  }
}

static void polygon_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  pose.p.z = 0.0;
  points_box(s->geometry->hull.vertex, s->geometry->hull.vertex_count, pose, low, high);
  low->z = high->z = 0.0;
}

static void mesh_box(const fx_shape *s, frix_pose pose, frix_vec3 *low, frix_vec3 *high) {
  const fx_geometry *g = s->geometry;
  frix_vec3 center = fx_scale(0.5, fx_add(g->low, g->high)), half = fx_scale(0.5, fx_sub(g->high, g->low));
  box_about(fx_pose_point(pose, center), turned_half(pose.q, half), low, high);
}

static fx_mass hull_mass(const fx_shape *s) { return fx_mass_polyhedron(&s->geometry->hull); }

static fx_mass polygon_mass(const fx_shape *s) {
  return fx_mass_polygon(s->geometry->hull.vertex, s->geometry->hull.vertex_count);
}

/* ---- the table, in the order of frix_shape_kind ---- */

/* name, summary, flat, massive, convex */
static const fx_shape_row table[FRIX_SHAPE_COUNT] = {
    {{"sphere", "ball: radius", false, true, true}, sphere_check, sphere_support, sphere_box, sphere_mass},
    {{"capsule", "round rod along z: radius, half_length of its core", false, true, true},
     rod_check,
     capsule_support,
     capsule_box,
     capsule_mass},
    {{"box", "cuboid: half widths", false, true, true}, half_check, box_support, box_box, box_mass},
    {{"cylinder", "along z: radius, half_length", false, true, true},
     rod_check,
     cylinder_support,
     cylinder_box,
     cylinder_mass},
    {{"ellipsoid", "half axes", false, true, true}, half_check, ellipsoid_support, ellipsoid_box, ellipsoid_mass},
    {{"plane", "everything below z = 0", false, false, true}, any_check, NULL, plane_box, NULL},
    {{"hull", "convex hull of points", false, true, true}, hull_check, hull_support, hull_box, hull_mass},
    {{"mesh", "triangles", false, false, false}, mesh_check, NULL, mesh_box, NULL},
    {{"height_field", "heights over a rectangle", false, false, false}, height_check, NULL, mesh_box, NULL},
    {{"disc", "flat: radius", true, true, true}, sphere_check, disc_support, disc_box, disc_mass},
    {{"rectangle", "flat: half widths x, y", true, true, true},
     half_check,
     rectangle_support,
     rectangle_box,
     rectangle_mass},
    {{"ellipse", "flat: half axes x, y", true, true, true}, half_check, ellipse_support, ellipse_box, ellipse_mass},
    {{"polygon", "flat: convex hull of points", true, true, true},
     polygon_check,
     hull_support,
     polygon_box,
     polygon_mass},
    {{"half_plane", "flat: everything below y = 0", true, false, true}, any_check, NULL, half_plane_box, NULL},
};

const fx_shape_row *fx_shape_row_of(frix_shape_kind kind) { return &table[kind]; }

const frix_shape_info *frix_shape_table(int32_t k) { return k >= 0 && k < FRIX_SHAPE_COUNT ? &table[k].info : NULL; }

double fx_shape_bound(const fx_shape *s) {
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE:
    case FRIX_SHAPE_DISC: return s->radius;
    case FRIX_SHAPE_CAPSULE: return s->radius + s->half_length;
    case FRIX_SHAPE_CYLINDER: return sqrt(s->radius * s->radius + s->half_length * s->half_length);
    case FRIX_SHAPE_BOX: return fx_norm(s->half);
    case FRIX_SHAPE_RECTANGLE: return sqrt(s->half.x * s->half.x + s->half.y * s->half.y);
    case FRIX_SHAPE_ELLIPSOID: return fx_max(fx_max(s->half.x, s->half.y), s->half.z);
    case FRIX_SHAPE_ELLIPSE: return fx_max(s->half.x, s->half.y);
    case FRIX_SHAPE_HULL:
    case FRIX_SHAPE_MESH:
    case FRIX_SHAPE_HEIGHT_FIELD:
    case FRIX_SHAPE_POLYGON: return s->geometry->bound;
    default: return INFINITY;
  }
}
