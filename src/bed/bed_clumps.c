/* Clumps: grains of several spheres that are rigidly joined.
 *
 * Mass, centre and inertia are those of the union of the spheres: their sum where no two overlap, else by points of a
 * grid. A contact is one of two spheres, or of a sphere and a wall; its arms lead from the centres of mass to it:
 *
 *   u = v_i + w_i x a - v_j - w_j x b,   W = sum of 1/m - [a] I^-1 [a]
 *
 * so that normal and friction couple. W n and the largest tangential eigenvalue of W are kept with the contact, for the
 * sweeps (bed_arms.c). Beds of spheres alone never come here. */
#include "bed/bed.h"

#include <string.h>

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
  bed->config.clump = NULL;
  for (int32_t k = 0; k < bed->config.radius_count; k++) {
    frix_bed_clump one = {.count = 1, .radius = {bed->config.radius[k]}};
    if (clump && !is_good(&clump[k]))
      return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: clump %d: a count of 0 to %d, finite centres, radii above 0",
                     (int)k, FRIX_BED_PARTS);
    bool several = clump && clump[k].count > 0;
    bed->kind[k] = kind_of(several ? &clump[k] : &one, bed->config.density);
    if (!(bed->kind[k].mass > 0.0) || !isfinite(bed->kind[k].mass))
      return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the mass of grains of kind %d is no number above 0", (int)k);
    bed->config.radius[k] = bed->kind[k].radius;
    bed->clumps = bed->clumps || several;
  }
  return FRIX_OK;
}

/* ---- parts that meet ---- */

typedef struct touch {
  frix_vec3 n, a, b; /* normal, and arms */
  double gap, closing;
  int32_t other, part[2];
} touch;

static frix_vec3 part_arm(const frix_bed *bed, int32_t i, int32_t part) {
  const fx_bed_place *p = &bed->place[i];
  return fx_rotate(p->q, bed->kind[p->size].clump.center[part]);
}

static double part_radius(const frix_bed *bed, int32_t i, int32_t part) {
  return bed->kind[bed->place[i].size].clump.radius[part];
}

/* Velocity of a point of grain i, of the motion m. */
static frix_vec3 at_arm(const frix_bed *bed, int32_t i, frix_vec3 v, frix_vec3 s, frix_vec3 arm) {
  return fx_mad(v, 1.0 / bed->speed[i].radius, fx_cross(s, arm));
}

static void touch_grain(const frix_bed *bed, int32_t i, int32_t j, touch *t) {
  frix_vec3 a = part_arm(bed, i, t->part[0]), b = part_arm(bed, j, t->part[1]);
  frix_vec3 d = fx_bed_apart(bed, fx_add(bed->place[i].p, a), fx_add(bed->place[j].p, b));
  double distance = fx_norm(d), ri = part_radius(bed, i, t->part[0]), rj = part_radius(bed, j, t->part[1]);
  t->n = distance > 0.0 ? fx_scale(1.0 / distance, d) : fx_vec(0.0, 0.0, 1.0);
  t->gap = distance - ri - rj;
  t->a = fx_mad(a, -ri, t->n);
  t->b = fx_mad(b, rj, t->n);
  t->other = j;
}

static void touch_wall(const frix_bed *bed, int32_t i, int32_t wall, touch *t) {
  frix_vec3 a = part_arm(bed, i, t->part[0]);
  double r = part_radius(bed, i, t->part[0]);
  t->gap = fx_bed_wall_gap(&bed->wall[wall], fx_add(bed->place[i].p, a), r, &t->n);
  t->a = fx_mad(a, -r, t->n);
  t->b = fx_vec(0.0, 0.0, 0.0);
  t->other = -1 - wall;
}

/* Normal velocity of the contact by the motions free or before the step. */
static double closing_of(const frix_bed *bed, int32_t i, const touch *t, bool free) {
  int32_t j = t->other;
  frix_vec3 v = free ? at_arm(bed, i, bed->free[i].v, bed->free[i].s, t->a)
                     : at_arm(bed, i, bed->speed[i].v, bed->speed[i].s, t->a);
  frix_vec3 u = j < 0  ? bed->wall[-1 - j].velocity
                : free ? at_arm(bed, j, bed->free[j].v, bed->free[j].s, t->b)
                       : at_arm(bed, j, bed->speed[j].v, bed->speed[j].s, t->b);
  return fx_dot(t->n, fx_sub(v, u));
}

/* ---- contacts ---- */

int64_t fx_bed_key(const frix_bed *bed, int32_t other, const int32_t part[2]) {
  int64_t id = other >= 0 ? bed->place[other].id : other;
  if (!bed->clumps) return id;
  return other >= 0 ? (id * FRIX_BED_PARTS + part[0]) * FRIX_BED_PARTS + part[1]
                    : -1 - ((-1 - id) * FRIX_BED_PARTS + part[0]);
}

int64_t fx_bed_id_of_key(const frix_bed *bed, int64_t key) {
  if (!bed->clumps) return key;
  return key >= 0 ? key / (FRIX_BED_PARTS * FRIX_BED_PARTS) : -1 - (-1 - key) / FRIX_BED_PARTS;
}

/* W of one body, by columns of the unit vectors e: 1/m + (arm x e) I^-1 (arm x f). */
static double weight(const frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 e, frix_vec3 f) {
  frix_vec3 turn = fx_cross(arm, e);
  return bed->speed[k].inverse_mass * fx_dot(e, f) + fx_dot(fx_cross(arm, f), fx_sym3_mul(bed->turn[k], turn));
}

static void weigh_contact(const frix_bed *bed, int32_t i, fx_bed_contact *c, fx_bed_arm *arm) {
  frix_vec3 e[3] = {c->n, fx_across(c->n)};
  e[2] = fx_cross(e[0], e[1]);
  double W[3][3];
  for (int x = 0; x < 3; x++)
    for (int y = 0; y < 3; y++) {
      W[x][y] = weight(bed, i, arm->a, e[x], e[y]);
      if (c->other >= 0) W[x][y] += weight(bed, c->other, arm->b, e[x], e[y]);
    }
  double mean = 0.5 * (W[1][1] + W[2][2]), half = 0.5 * (W[1][1] - W[2][2]);
  arm->Wn = fx_mad(fx_mad(fx_scale(W[0][0], e[0]), W[0][1], e[1]), W[0][2], e[2]);
  arm->W_normal = W[0][0];
  arm->W_across = mean + sqrt(half * half + W[1][2] * W[1][2]);
  arm->W_diagonal[0] = W[1][1], arm->W_diagonal[1] = W[2][2];
}

static void put_contact(frix_bed *bed, int32_t i, const touch *t, int64_t at) {
  fx_bed_contact *c = &bed->contact[at];
  fx_bed_arm *arm = &bed->arm[at];
  *arm = (fx_bed_arm){.a = t->a, .b = t->b, .part = {t->part[0], t->part[1]}};
  fx_bed_begin_contact(bed, c, i, t->other, t->n, t->gap, closing_of(bed, i, t, false),
                       fx_bed_key(bed, t->other, t->part));
  weigh_contact(bed, i, c, arm);
}

/* Contacts of grain i, from number `at` on where it is not below 0; their number. */
int64_t fx_bed_clump_contacts(frix_bed *bed, int32_t i, const fx_bed_runs *near, int64_t at) {
  int64_t count = 0;
  int32_t own = bed->kind[bed->place[i].size].clump.count;
  touch t;
  for (int32_t run = 0; run < near->count; run++)
    for (int32_t j = near->first[run]; j < near->end[run]; j++) {
      if (bed->place[j].id <= bed->place[i].id) continue;
      double most = FX_BED_NEAR * (bed->speed[i].radius + bed->speed[j].radius);
      if (fx_norm2(fx_bed_apart(bed, bed->place[i].p, bed->place[j].p)) > most * most) continue;
      int32_t others = bed->kind[bed->place[j].size].clump.count;
      for (int32_t k = 0; k < own * others; k++) {
        t.part[0] = k / others, t.part[1] = k % others;
        touch_grain(bed, i, j, &t);
        if (!fx_bed_comes_near(bed, t.gap, closing_of(bed, i, &t, true))) continue;
        if (at >= 0) put_contact(bed, i, &t, at + count);
        count++;
      }
    }
  for (int32_t k = 0; k < bed->wall_count * own; k++) {
    t.part[0] = k % own, t.part[1] = 0;
    touch_wall(bed, i, k / own, &t);
    if (!fx_bed_comes_near(bed, t.gap, closing_of(bed, i, &t, true))) continue;
    if (at >= 0) put_contact(bed, i, &t, at + count);
    count++;
  }
  return count;
}

double fx_bed_clump_gap(const frix_bed *bed, int64_t k) {
  const fx_bed_contact *c = &bed->contact[k];
  touch t = {.part = {bed->arm[k].part[0], bed->arm[k].part[1]}};
  if (c->other >= 0)
    touch_grain(bed, c->grain, c->other, &t);
  else
    touch_wall(bed, c->grain, -1 - c->other, &t);
  return t.gap;
}
