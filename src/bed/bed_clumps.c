/* Kinds of grains: spheres, and clumps of several spheres that are rigidly joined (convex shapes: bed_shapes.c).
 *
 * Mass, centre and inertia of a clump are those of the union of its spheres: their sum where no two overlap, else by
 * points of a grid. */
#include "bed/bed_internal.h"

enum { POINTS = 96 }; /* of the grid, along the longest side */

/* ---- kinds ---- */

static const double SPHERE = (4.0 / 3.0) * 3.14159265358979323846;

typedef struct moments {
  double volume;
  frix_vec3 first;
  frix_sym3 second; /* of x x' */
} moments;

static void add_moment(moments *m, double volume, frix_vec3 x) {
  m->volume += volume;
  m->first = fx_mad(m->first, volume, x);
  m->second.xx += volume * x.x * x.x, m->second.yy += volume * x.y * x.y, m->second.zz += volume * x.z * x.z;
  m->second.xy += volume * x.x * x.y, m->second.xz += volume * x.x * x.z, m->second.yz += volume * x.y * x.z;
}

static bool overlap(const frix_bed_clump *c) {
  for (int32_t a = 0; a < c->count; a++)
    for (int32_t b = 0; b < a; b++)
      if (fx_norm(fx_sub(c->center[a], c->center[b])) < (1.0 - 1e-12) * (c->radius[a] + c->radius[b])) return true;
  return false;
}

static moments sum_of_spheres(const frix_bed_clump *c) {
  moments m = {0};
  for (int32_t k = 0; k < c->count; k++) {
    double r = c->radius[k], volume = SPHERE * r * r * r, own = 0.2 * volume * r * r;
    add_moment(&m, volume, c->center[k]);
    m.second.xx += own, m.second.yy += own, m.second.zz += own;
  }
  return m;
}

static bool holds(const frix_bed_clump *c, frix_vec3 x) {
  for (int32_t k = 0; k < c->count; k++)
    if (fx_norm2(fx_sub(x, c->center[k])) <= c->radius[k] * c->radius[k]) return true;
  return false;
}

static moments union_by_points(const frix_bed_clump *c) {
  moments m = {0};
  frix_vec3 low = fx_vec(INFINITY, INFINITY, INFINITY), high = fx_neg(low);
  for (int32_t k = 0; k < c->count; k++) {
    double r = c->radius[k];
    frix_vec3 p = c->center[k];
    low = fx_vec(fx_min(low.x, p.x - r), fx_min(low.y, p.y - r), fx_min(low.z, p.z - r));
    high = fx_vec(fx_max(high.x, p.x + r), fx_max(high.y, p.y + r), fx_max(high.z, p.z + r));
  }
  frix_vec3 size = fx_sub(high, low);
  double edge = fx_max(fx_max(size.x, size.y), size.z) / POINTS;
  int32_t n[3] = {(int32_t)ceil(size.x / edge), (int32_t)ceil(size.y / edge), (int32_t)ceil(size.z / edge)};
  for (int32_t z = 0; z < n[2]; z++)
    for (int32_t y = 0; y < n[1]; y++)
      for (int32_t x = 0; x < n[0]; x++) {
        frix_vec3 p = fx_mad(low, edge, fx_vec(x + 0.5, y + 0.5, z + 0.5));
        if (holds(c, p)) add_moment(&m, edge * edge * edge, p);
      }
  return m;
}

frix_sym3 fx_bed_inverse(frix_sym3 s) {
  frix_sym3 c = {.xx = s.yy * s.zz - s.yz * s.yz,
                 .yy = s.xx * s.zz - s.xz * s.xz,
                 .zz = s.xx * s.yy - s.xy * s.xy,
                 .xy = s.xz * s.yz - s.xy * s.zz,
                 .xz = s.xy * s.yz - s.xz * s.yy,
                 .yz = s.xy * s.xz - s.yz * s.xx};
  double scale = 1.0 / (s.xx * c.xx + s.xy * c.xy + s.xz * c.xz);
  return (frix_sym3){.xx = scale * c.xx,
                     .yy = scale * c.yy,
                     .zz = scale * c.zz,
                     .xy = scale * c.xy,
                     .xz = scale * c.xz,
                     .yz = scale * c.yz};
}

static fx_bed_kind kind_of(const frix_bed_clump *c, double density) {
  moments m = overlap(c) ? union_by_points(c) : sum_of_spheres(c);
  frix_vec3 at = fx_scale(1.0 / m.volume, m.first);
  frix_sym3 s = m.second;
  s.xx -= m.volume * at.x * at.x, s.yy -= m.volume * at.y * at.y, s.zz -= m.volume * at.z * at.z;
  s.xy -= m.volume * at.x * at.y, s.xz -= m.volume * at.x * at.z, s.yz -= m.volume * at.y * at.z;
  fx_bed_kind kind = {.mass = density * m.volume, .clump = *c};
  kind.inertia = (frix_sym3){.xx = density * (s.yy + s.zz),
                             .yy = density * (s.xx + s.zz),
                             .zz = density * (s.xx + s.yy),
                             .xy = -density * s.xy,
                             .xz = -density * s.xz,
                             .yz = -density * s.yz};
  kind.inverse = fx_bed_inverse(kind.inertia);
  for (int32_t k = 0; k < c->count; k++) {
    kind.clump.center[k] = fx_sub(c->center[k], at);
    kind.radius = fx_max(kind.radius, fx_norm(kind.clump.center[k]) + c->radius[k]);
  }
  return kind;
}

static bool is_good(const frix_bed_clump *c) {
  bool good = c->count >= 0 && c->count <= FRIX_BED_PARTS;
  for (int32_t k = 0; good && k < c->count; k++)
    good = fx_finite(c->center[k]) && c->radius[k] > 0.0 && isfinite(c->radius[k]);
  return good;
}

frix_status fx_bed_kinds(frix_bed *bed) {
  const frix_bed_clump *clump = bed->config.clump;
  const frix_bed_form *form = bed->config.form;
  bed->config.clump = NULL, bed->config.form = NULL;
  for (int32_t k = 0; k < bed->config.radius_count; k++) {
    frix_bed_clump one = {.count = 1, .radius = {bed->config.radius[k]}};
    if (clump && !is_good(&clump[k]))
      return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: clump %d: a count of 0 to %d, finite centres, radii above 0",
                     (int)k, FRIX_BED_PARTS);
    bool several = clump && clump[k].count > 0, convex = form && form[k].kind != FRIX_SHAPE_SPHERE;
    if (several && convex)
      return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: grains of kind %d are clumps and have a form", (int)k);
    frix_status status = convex ? fx_bed_shape_kind(bed, &form[k], &bed->kind[k]) : FRIX_OK;
    if (status) return status;
    if (!convex) bed->kind[k] = kind_of(several ? &clump[k] : &one, bed->config.density);
    if (!(bed->kind[k].mass > 0.0) || !isfinite(bed->kind[k].mass))
      return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the mass of grains of kind %d is not a positive number",
                     (int)k);
    bed->config.radius[k] = bed->kind[k].radius;
    bed->has_shapes = bed->has_shapes || convex;
    bed->has_arms = bed->has_arms || several || convex;
  }
  return FRIX_OK;
}
