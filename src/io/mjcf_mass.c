/* Masses as MuJoCo's compiler finds them.
 *
 * A mesh is a sum of pyramids over its triangles. They first stand on the area centroid of the surface, which gives the
 * centre of mass, then on that, which gives mass and inertia; on a closed surface it is all the same. Kinds: exact,
 * with signs; legacy (MuJoCo's default), all positive, so a mesh that is not star-shaped weighs more than its volume;
 * convex, its hull; shell, the surface itself.
 *   pyramid (o, a, b, c)   V = det/6,  centre 3/4 face centre + 1/4 o,  second moments V/20 (aa' + bb' + cc' + ss')
 *   triangle               A,          centre s/3,                      second moments A/12 (aa' + bb' + cc' + ss')
 * with s = a + b + c. */
#include <string.h>

#include "io/mjcf_internal.h"

typedef struct triangle {
  frix_vec3 a, b, c, sum;
  double area, sign_volume; /* of the pyramid from the origin */
} triangle;

static triangle triangle_at(const fx_mesh *m, int32_t k, frix_vec3 origin) {
  const int32_t *t = m->triangle + 3 * (size_t)k;
  triangle x;
  x.a = fx_sub(m->vertex[t[0]], origin), x.b = fx_sub(m->vertex[t[1]], origin), x.c = fx_sub(m->vertex[t[2]], origin);
  x.sum = fx_add(fx_add(x.a, x.b), x.c);
  x.area = 0.5 * fx_norm(fx_cross(fx_sub(x.b, x.a), fx_sub(x.c, x.a)));
  x.sign_volume = fx_dot(x.a, fx_cross(x.b, x.c)) / 6.0;
  return x;
}

static void add_outer(frix_sym3 *s, double w, frix_vec3 v) {
  s->xx += w * v.x * v.x, s->yy += w * v.y * v.y, s->zz += w * v.z * v.z;
  s->xy += w * v.x * v.y, s->xz += w * v.x * v.z, s->yz += w * v.y * v.z;
}

static frix_vec3 area_center(const fx_mesh *m, double *area) {
  frix_vec3 sum = {0.0, 0.0, 0.0};
  *area = 0.0;
  for (int32_t k = 0; k < m->triangle_count; k++) {
    triangle x = triangle_at(m, k, fx_vec(0.0, 0.0, 0.0));
    *area += x.area;
    sum = fx_mad(sum, x.area / 3.0, x.sum);
  }
  return *area > 0.0 ? fx_scale(1.0 / *area, sum) : sum;
}

/* The weight of a triangle's part, and how its second moments are spread. */
static double weight_of(const triangle *x, fx_mjcf_mesh_inertia kind) {
  if (kind == FX_MESH_SHELL) return x->area;
  return kind == FX_MESH_LEGACY ? fabs(x->sign_volume) : x->sign_volume;
}

fx_mass fx_mjcf_mesh_mass(const fx_mesh *m, fx_mjcf_mesh_inertia kind) {
  double area, volume = 0.0, spread = kind == FX_MESH_SHELL ? 12.0 : 20.0;
  frix_vec3 center = area_center(m, &area), first = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < m->triangle_count && kind != FX_MESH_SHELL; k++) {
    triangle x = triangle_at(m, k, center);
    volume += weight_of(&x, kind);
    first = fx_mad(first, 0.25 * weight_of(&x, kind), x.sum);
  }
  if (kind != FX_MESH_SHELL && !(volume > 0.0)) return (fx_mass){0};
  fx_mass mass = {.center = volume > 0.0 ? fx_mad(center, 1.0 / volume, first) : center};
  frix_sym3 s = {0};
  for (int32_t k = 0; k < m->triangle_count; k++) {
    triangle x = triangle_at(m, k, mass.center);
    double w = weight_of(&x, kind);
    mass.mass += w;
    add_outer(&s, w / spread, x.a), add_outer(&s, w / spread, x.b), add_outer(&s, w / spread, x.c);
    add_outer(&s, w / spread, x.sum);
  }
  mass.inertia = (frix_sym3){s.yy + s.zz, s.xx + s.zz, s.xx + s.yy, -s.xy, -s.xz, -s.yz};
  return mass.mass > 0.0 ? mass : (fx_mass){0};
}

/* ---- bodies ---- */

static frix_sym3 recompose(const double value[3], const frix_vec3 axis[3]) {
  frix_sym3 s = {0};
  for (int k = 0; k < 3; k++) add_outer(&s, value[k], axis[k]);
  return s;
}

static frix_status read_inertial(const fx_mjcf_reader *r, fx_mjcf_body *body) {
  fx_mjcf_item item = {body->inertial, NULL};
  const fx_xml_element *e = body->inertial;
  double mass = 0.0, d[3] = {0}, f[6] = {0};
  bool full = fx_xml_value(e, "fullinertia") != NULL, diagonal = fx_xml_value(e, "diaginertia") != NULL;
  frix_pose pose;
  const char *text;
  frix_status status;
  if ((status = fx_mjcf_need(r, &item, "mass", &text)) || (status = fx_mjcf_real(r, &item, "mass", &mass)) ||
      (status = fx_mjcf_reals(r, &item, "diaginertia", 3, 3, d, NULL)) ||
      (status = fx_mjcf_reals(r, &item, "fullinertia", 6, 6, f, NULL)) || (status = fx_mjcf_pose(r, &item, &pose)))
    return status;
  if (full == diagonal) return fx_mjcf_fail(r, e, "inertial: wants one of diaginertia and fullinertia");
  static const char *const turned[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
  for (size_t k = 0; full && k < sizeof turned / sizeof *turned; k++)
    if (fx_xml_value(e, turned[k]))
      return fx_mjcf_fail(r, e, "inertial: fullinertia is in the body's frame, without %s", turned[k]);
  if (mass < 0.0) return fx_mjcf_fail(r, e, "inertial mass: %g is negative", mass);
  if (diagonal && !(d[0] >= 0.0 && d[1] >= 0.0 && d[2] >= 0.0))
    return fx_mjcf_fail(r, e, "inertial diaginertia: %g %g %g must not be negative", d[0], d[1], d[2]);
  frix_sym3 s = full ? (frix_sym3){f[0], f[1], f[2], f[3], f[4], f[5]} : (frix_sym3){d[0], d[1], d[2], 0.0, 0.0, 0.0};
  pose = fx_pose_mul(body->inertial_frame, pose);
  body->mass = (fx_mass){mass, pose.p, fx_sym3_turn(pose.q, s)};
  body->has_axes = diagonal, body->axes = pose.q;
  return FRIX_OK;
}

static frix_status add_geom(fx_mjcf_reader *r, const fx_mjcf_geom *g) {
  fx_mjcf_body *body = &r->body[g->body];
  const int32_t *group = fx_mjcf_source_of(g->item.element)->inertia_group;
  if (g->type == FX_GEOM_PLANE || g->type == FX_GEOM_HFIELD || g->type == FX_GEOM_LEFT_OUT) return FRIX_OK;
  if (g->group < group[0] || g->group > group[1]) return FRIX_OK;
  fx_mass part;
  if (g->shell) {
    part = fx_mjcf_shell_mass(g);
  } else if (g->type == FX_GEOM_MESH) {
    part = g->asset->mass;
    if (!(part.mass > 1e-15) && (g->mass > 0.0 || (g->mass < 0.0 && g->density > 0.0)))
      return fx_mjcf_fail(r, g->item.element,
                          "mesh '%s' has no volume; give it inertia=\"shell\" or convex, or faces the other way",
                          g->asset->name);
  } else {
    frix_shape_config config;
    frix_status status = fx_mjcf_shape(r, g, true, &config);
    if (status) return status;
    fx_shape shape = {
        .kind = config.kind, .radius = config.radius, .half_length = config.half_length, .half = config.half};
    part = fx_shape_row_of(config.kind)->mass(&shape);
  }
  if (!(part.mass > 0.0)) return FRIX_OK;
  bool weighs = g->mass > 0.0 || (g->mass < 0.0 && g->density > 0.0);
  bool turned = g->type == FX_GEOM_MESH && g->shell; /* its axes are not those of the solid */
  if (weighs) body->has_axes = body->weighed_count++ == 0 && !turned;
  if (weighs) body->axes = g->type == FX_GEOM_MESH ? fx_quat_mul(g->pose.q, g->asset->frame.q) : g->pose.q;
  fx_mass_add(&body->mass, &part, g->mass >= 0.0 ? g->mass / part.mass : g->density, g->pose, false);
  return FRIX_OK;
}

/* Axes of what several geoms or a full inertia make, with the signs that MuJoCo gives them. */
static void set_axes(fx_mjcf_body *body) {
  double moment[3];
  body->axes = fx_mjcf_principal(body->mass.inertia, 1e-15, moment);
  body->has_axes = true;
}

/* A distribution some body can have: no principal moment above the sum of the others. The axes stay those of the
 * inertia as it was given. */
static frix_status bound(fx_mjcf_reader *r, fx_mjcf_body *body) {
  double p[3];
  frix_vec3 axis[3];
  fx_mass *m = &body->mass;
  const fx_mjcf_source *source = fx_mjcf_source_of(body->element);
  if (m->mass < source->bound_mass) m->mass = source->bound_mass;
  fx_sym3_eigen(m->inertia, p, axis);
  if (!(p[0] >= 0.0) && body->inertial)
    return fx_mjcf_fail(r, body->inertial, "inertial: principal moments %g, %g, %g must not be negative", p[0], p[1],
                        p[2]);
  bool changed = p[0] < source->bound_inertia;
  for (int k = 0; k < 3; k++) p[k] = fx_max(p[k], source->bound_inertia);
  if (p[2] > (p[0] + p[1]) * (1.0 + 1e-6) && body->inertial) {
    if (!source->balance_inertia)
      return fx_mjcf_fail(r, body->inertial,
                          "inertial: no body has principal moments %g, %g, %g: the largest exceeds the sum of the "
                          "others; compiler balanceinertia=\"true\" makes them equal",
                          p[0], p[1], p[2]);
    p[0] = p[1] = p[2] = (p[0] + p[1] + p[2]) / 3.0;
    changed = true;
  }
  if (changed) m->inertia = recompose(p, axis);
  return FRIX_OK;
}

static frix_sym3 scaled(double s, frix_sym3 j) {
  return (frix_sym3){s * j.xx, s * j.yy, s * j.zz, s * j.xy, s * j.xz, s * j.yz};
}

/* ---- joints ---- */

/* m for a slide; for a hinge u . J u + m |u x (c - p)|^2 of all that hangs on it, and the armature. */
static double inertia_along(const fx_mjcf_joint *j, const fx_mass *m) {
  if (j->type == FX_JOINT_SLIDE) return m->mass + j->armature;
  double arm = fx_norm2(fx_cross(j->axis, fx_sub(m->center, j->pos)));
  return fx_dot(j->axis, fx_sym3_mul(m->inertia, j->axis)) + m->mass * arm + j->armature;
}

/* Inertias at the reference, and the springs and dampers that are given by the time they take: stiffness J / (T^2 z^2)
 * and damping 2 J / T. */
static frix_status joint_inertias(fx_mjcf_reader *r) {
  fx_mass *all = FX_TAKE(&r->arena, fx_mass, r->body_count);
  if (!all) return FRIX_ERROR_MEMORY;
  for (int32_t k = 1; k < r->body_count; k++) all[k] = r->body[k].mass;
  for (int32_t k = r->body_count - 1; k > 0; k--)
    if (r->body[k].parent > 0) fx_mass_add(&all[r->body[k].parent], &all[k], 1.0, r->body[k].place, false);
  for (int32_t k = 0; k < r->joint_count; k++) {
    fx_mjcf_joint *j = &r->joint[k];
    double time = j->spring_damper[0], ratio = j->spring_damper[1];
    if (j->type != FX_JOINT_SLIDE && j->type != FX_JOINT_HINGE) continue;
    j->inertia = inertia_along(j, &all[j->body]);
    if (!(time > 0.0 && ratio > 0.0)) continue;
    if (!r->no_spring) j->stiffness = j->inertia / (time * time * ratio * ratio);
    if (!r->no_damper) j->damping = 2.0 * j->inertia / time;
  }
  return FRIX_OK;
}

static void scale_to_total(fx_mjcf_reader *r, double total) {
  double wanted = r->source->total_mass;
  for (int32_t k = 1; k < r->body_count && wanted > 0.0 && total > 0.0; k++) {
    r->body[k].mass.mass *= wanted / total;
    r->body[k].mass.inertia = scaled(wanted / total, r->body[k].mass.inertia);
  }
}

frix_status fx_mjcf_masses(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < r->geom_count && !status; k++) {
    const fx_mjcf_body *body = &r->body[r->geom[k].body];
    int rule = fx_mjcf_source_of(body->element)->inertia_from_geom;
    bool from_geoms = rule == 1 || (rule == 2 && !body->inertial);
    if (from_geoms) status = add_geom(r, &r->geom[k]);
  }
  double total = 0.0;
  for (int32_t k = 1; k < r->body_count && !status; k++) {
    fx_mjcf_body *body = &r->body[k];
    if (body->inertial && fx_mjcf_source_of(body->element)->inertia_from_geom != 1) status = read_inertial(r, body);
    if (!status && r->robot && !body->has_axes) set_axes(body);
    if (!status) status = bound(r, body);
    total += body->mass.mass;
  }
  if (!status) scale_to_total(r, total);
  return status ? status : joint_inertias(r);
}
