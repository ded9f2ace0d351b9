/* Convex grains: capsules, boxes, cylinders, ellipsoids and hulls, with the mass, the inertia and the faces of the
 * shape table (model/shape.h). */
#include "bed/bed_internal.h"

/* Points about the centre of mass of their hull. */
static frix_status make_hull(frix_bed *bed, const frix_bed_form *form, fx_geometry **out) {
  frix_geometry_config config = {.size = sizeof config, .kind = FRIX_GEOMETRY_HULL};
  config.point_count = form->point_count, config.point = form->point;
  frix_status status = fx_geometry_create(bed->context, &config, out);
  if (status) return status;
  frix_vec3 center = fx_mass_polyhedron(&(*out)->hull).center;
  frix_vec3 *moved = FX_NEW(bed->context, frix_vec3, form->point_count);
  fx_geometry_release(bed->context, *out);
  *out = NULL;
  if (!moved) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < form->point_count; k++) moved[k] = fx_sub(form->point[k], center);
  config.point = moved;
  status = fx_geometry_create(bed->context, &config, out);
  fx_free(bed->context, moved);
  return status;
}

frix_status fx_bed_shape_kind(frix_bed *bed, const frix_bed_form *form, fx_bed_kind *out) {
  const frix_shape_info *info = frix_shape_table((int32_t)form->kind);
  if (!info || info->flat || !info->massive || !info->convex)
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: a form is a capsule, box, cylinder, ellipsoid or hull");
  bool hull = form->kind == FRIX_SHAPE_HULL;
  if (hull && (form->point_count < 4 || !form->point))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: a hull has 4 points or more");
  fx_geometry *geometry = NULL;
  frix_status status = hull ? make_hull(bed, form, &geometry) : FRIX_OK;
  if (status) return status;
  frix_shape_config config = frix_shape_default();
  config.kind = form->kind, config.radius = form->radius, config.half_length = form->half_length;
  config.half = form->half;
  *out = (fx_bed_kind){.shape = {.kind = form->kind,
                                 .local = fx_pose_one(),
                                 .centred = true,
                                 .radius = form->radius,
                                 .half_length = form->half_length,
                                 .half = form->half,
                                 .geometry = geometry}};
  status = fx_shape_row_of(form->kind)->check(bed->context, &config, geometry);
  if (status) return status;
  fx_mass mass = fx_shape_row_of(form->kind)->mass(&out->shape);
  double density = bed->config.density;
  frix_sym3 I = mass.inertia;
  out->mass = density * mass.mass;
  out->radius = out->shape.bound = fx_shape_bound(&out->shape);
  out->inertia =
      (frix_sym3){density * I.xx, density * I.yy, density * I.zz, density * I.xy, density * I.xz, density * I.yz};
  out->inverse = fx_bed_inverse(out->inertia);
  return FRIX_OK;
}

double fx_bed_thickness(const fx_bed_kind *kind) {
  const fx_shape *s = &kind->shape;
  double least = INFINITY;
  for (int32_t k = 0; k < kind->clump.count; k++) least = fx_min(least, kind->clump.radius[k]);
  if (kind->clump.count > 0) return least;
  if (s->kind == FRIX_SHAPE_CAPSULE) return s->radius;
  if (s->kind == FRIX_SHAPE_CYLINDER) return fx_min(s->radius, s->half_length);
  if (s->kind != FRIX_SHAPE_HULL) return fx_min(fx_min(s->half.x, s->half.y), s->half.z);
  const fx_polyhedron *p = &s->geometry->hull;
  for (int32_t k = 0; k < p->face_count; k++) least = fx_min(least, p->face_offset[k]);
  return least;
}
