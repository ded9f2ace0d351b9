/* Beds whose grains start packed in a vessel: a reactor, a hopper, a column. */
#include <math.h>

#include "bed_draft.h"
#include "rank_packing.h"
#include "world.h"

/* ---- pebbles: the vessel of the scene of that name, as surfaces of revolution ---- */

static const double pebble = 0.030;
enum { P_COUNT, P_OUTLET, P_MU, P_STIFFNESS };
static const frix_option_info pebble_parameter[] = {
    [P_COUNT] = EX_WHOLE("n", 2000, 1, 20000000, "pebbles of 60 mm"),
    [P_OUTLET] = EX_REAL("outlet", 5, 0, 20, "width of the outlet over the diameter of a pebble; 0: closed"),
    [P_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [P_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
};

typedef struct bed_vessel {
  double radius, outlet, height, top;
} bed_vessel;

/* The bed is about 3 R high where 0.6 of it is filled; the cone has a slope of 30 degrees. */
static bed_vessel vessel_of(const double *value) {
  bed_vessel v;
  double volume = value[P_COUNT] * (4.0 / 3.0) * pebble * pebble * pebble / 0.6 / 3.0;
  v.radius = ex_cube_root(volume);
  if (v.radius < 6.0 * pebble) v.radius = 6.0 * pebble;
  v.outlet = fmin(pebble * value[P_OUTLET], 0.8 * v.radius);
  v.height = (v.radius - v.outlet) / sqrt(3.0);
  v.top = v.height + value[P_COUNT] * (8.0 / 3.0) * pebble * pebble * pebble / (v.radius * v.radius) + 13.0 * pebble;
  return v;
}

static void keep_in_vessel(const void *where, double radius, frix_vec3 *c) {
  const bed_vessel *v = where;
  const double sine = 0.5, cosine = sqrt(0.75);
  double distance = sqrt(c->x * c->x + c->y * c->y), most = v->radius - radius;
  double lift = (distance - v->outlet) * sine + radius - c->z * cosine;
  if (lift > 0.0 && distance > 0.0) {
    c->z += lift * cosine;
    c->x -= lift * sine * c->x / distance;
    c->y -= lift * sine * c->y / distance;
    distance = sqrt(c->x * c->x + c->y * c->y);
  }
  if (distance > most) c->x *= most / distance, c->y *= most / distance;
  if (c->z < radius) c->z = radius;
}

/* Packs spheres of one radius that fall anywhere within `half` of the axis. */
static void fill_round(ex_bed_draft *d, const frix_bed_link *link, double r, double half, double height,
                       void (*keep)(const void *vessel, double radius, frix_vec3 *c), const void *vessel,
                       int64_t count) {
  ex_rank_packing packing = {.link = link, .count = count};
  if (!d->status) d->status = ex_rank_packing_begin(&packing, r, half, height, keep, vessel);
  for (int64_t k = 0; k < count && !d->status;) {
    double most = half - r, x = ex_draft_noise(d, most), y = ex_draft_noise(d, most);
    if (x * x + y * y > most * most) continue;
    ex_draft_grain(d, 0, ex_rank_packing_next(&packing, x, y));
    k++;
  }
  d->status = ex_rank_packing_end(&packing, d->status);
}

static frix_status build_pebbles(frix_context *context, const frix_bed_config *config, const double *value,
                                 uint64_t seed, frix_bed **out) {
  bed_vessel v = vessel_of(value);
  frix_bed_config c = *config;
  c.lower = ex_vec3(-v.radius, -v.radius, -0.5), c.upper = ex_vec3(v.radius, v.radius, v.top + 8.0 * pebble);
  c.radius_count = 1, c.radius[0] = pebble, c.density = 1750.0, c.mu = value[P_MU], c.stiffness = value[P_STIFFNESS];
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_reserve(&d, &c, value[P_COUNT]);
  ex_draft_turned(&d, v.radius, v.height, v.radius, v.top + 1.0, c.mu);
  ex_draft_turned(&d, v.outlet, 0.0, v.radius, v.height, c.mu);
  fill_round(&d, c.link, pebble, v.radius, v.top + 1.0, keep_in_vessel, &v, (int64_t)value[P_COUNT]);
  frix_bed_flow flow = frix_bed_flow_default();
  double half = 0.7 * (v.radius - 2.0 * pebble);
  flow.outlet = -0.4, flow.again = true, flow.velocity = ex_vec3(0.0, 0.0, -1.0);
  flow.lower = ex_vec3(-half, -half, v.top), flow.upper = ex_vec3(half, half, v.top), flow.seed = seed;
  if (!d.status) d.status = frix_bed_set_flow(d.bed, &flow);
  return ex_draft_finish(&d, out);
}

const ex_bed_scene ex_bed_pebbles = {"pebbles",
                                     "a pebble-bed reactor: fuel flows through the vessel and comes back on top",
                                     EX_BED_ROWS(pebble_parameter),
                                     0.005,
                                     5.0,
                                     build_pebbles,
                                     NULL};

/* ---- hopper: grains rain in at the top and leave through a hole ---- */

enum { H_RADIUS, H_WIDTH, H_HOLE, H_RATE, H_MU, H_STIFFNESS, H_COUNT, H_SLOPE };
static const frix_option_info hopper_parameter[] = {
    [H_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "radius of grains, m"),
    [H_WIDTH] = EX_REAL("width", 20, 6, 1000, "width of the hopper over the diameter of a grain"),
    [H_HOLE] = EX_REAL("hole", 6, 0, 500, "width of the outlet over the diameter of a grain"),
    [H_RATE] = EX_REAL("rate", 2000, 0, 1e9, "grains added per second"),
    [H_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [H_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
    [H_COUNT] = EX_WHOLE("n", 0, 0, 20000000, "grains that lie in it at the start"),
    [H_SLOPE] = EX_REAL("slope", 1, 0, 3, "rise of the floor around the outlet over its run; 0: flat"),
};

typedef struct bed_silo {
  double R, hole, slope;
} bed_silo;

static void keep_in_silo(const void *where, double r, frix_vec3 *c) {
  const bed_silo *s = where;
  double distance = sqrt(c->x * c->x + c->y * c->y), most = s->R - r;
  if (distance > most) c->x *= most / distance, c->y *= most / distance;
  double floor = fmax(fmin(distance, most) - s->hole, 0.0) * s->slope + r * sqrt(1.0 + s->slope * s->slope);
  if (c->z < floor) c->z = floor;
}

static frix_status build_hopper(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  double r = value[H_RADIUS], R = value[H_WIDTH] * r, hole = fmin(value[H_HOLE] * r, 0.9 * R);
  double cone = value[H_SLOPE] * (R - hole), filled = value[H_COUNT] * (8.0 / 3.0) * r * r * r / (R * R) + cone;
  double top = fmax(cone + 4.0 * R, filled + 8.0 * r);
  frix_bed_config c = *config;
  c.lower = ex_vec3(-R, -R, -4.0 * r), c.upper = ex_vec3(R, R, top + 4.0 * r);
  ex_set_radii(&c, r, 0.0);
  c.mu = value[H_MU], c.stiffness = value[H_STIFFNESS];
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_turned(&d, hole, 0.0, R, cone, c.mu);
  ex_draft_turned(&d, R, cone, R, top + 10.0 * r, c.mu);
  const bed_silo silo = {R, hole, value[H_SLOPE]};
  if (value[H_COUNT] > 0.0) fill_round(&d, c.link, r, R, top + 8.0 * r, keep_in_silo, &silo, (int64_t)value[H_COUNT]);
  frix_bed_flow flow = frix_bed_flow_default();
  double half = 0.7 * (R - 2.0 * r);
  flow.outlet = -3.0 * r, flow.rate = value[H_RATE], flow.velocity = ex_vec3(0.0, 0.0, -0.5), flow.seed = seed;
  flow.lower = ex_vec3(-half, -half, top - 4.0 * r), flow.upper = ex_vec3(half, half, top - 4.0 * r);
  if (!d.status) d.status = frix_bed_set_flow(d.bed, &flow);
  return ex_draft_finish(&d, out);
}

const ex_bed_scene ex_bed_hopper = {"hopper",
                                    "grains leave a silo through its outlet, and come at its top",
                                    EX_BED_ROWS(hopper_parameter),
                                    0.001,
                                    3.0,
                                    build_hopper,
                                    NULL};

/* ---- column: grains settle in a cylinder or behind a gate, which is then taken away ---- */

enum { C_COUNT, C_RADIUS, C_ASPECT, C_MU, C_STIFFNESS, C_RELEASE, C_CLUMP, C_DEPTH };
static const frix_option_info column_parameter[] = {
    [C_COUNT] = EX_WHOLE("n", 5000, 100, 20000000, "grains"),
    [C_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "radius of grains, m"),
    [C_ASPECT] = EX_REAL("aspect", 1, 0.05, 20, "height over radius when settled; of a slab over its length"),
    [C_MU] = EX_REAL("mu", 0.5, 0, 2, "friction, floor included"),
    [C_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
    [C_RELEASE] = EX_REAL("release", 1, 0, 1e6, "time after which the cylinder or gate is lifted, s"),
    [C_CLUMP] = EX_WHOLE("clump", 1, 1, 4, "touching spheres per grain, with the volume of one sphere of this radius"),
    [C_DEPTH] = EX_REAL("depth", 0, 0, 1000, "0: a cylinder; else a slab, periodic along y, so many diameters deep"),
};

typedef struct bed_column {
  double R, depth; /* radius, or length along x from 0; of a slab its depth along y */
} bed_column;

/* 0.6 pi R^2 (a R) or 0.6 R depth (a R) = n 4/3 pi r^3 */
static bed_column column_of(const double *value, double around) {
  double r = value[C_RADIUS], volume = value[C_COUNT] * (4.0 / 3.0) * r * r * r / 0.6 / value[C_ASPECT];
  if (!(value[C_DEPTH] > 0.0)) return (bed_column){ex_cube_root(volume), 0.0};
  double depth = fmax(2.0 * r * value[C_DEPTH], 2.0 * 2.0 * 1.2 * 2.0 * around); /* two blocks of two cells */
  return (bed_column){sqrt(volume * 3.14159265358979323846 / depth), depth};
}

static void keep_in_column(const void *where, double r, frix_vec3 *c) {
  const bed_column *k = where;
  double distance = sqrt(c->x * c->x + c->y * c->y), most = k->R - r;
  if (k->depth > 0.0)
    c->x = fmin(fmax(c->x, r), most), c->y = fmin(fmax(c->y, r), k->depth - r);
  else if (distance > most)
    c->x *= most / distance, c->y *= most / distance;
  if (c->z < r) c->z = r;
}

/* Clumps start packed like the spheres around them, and settle. */
static void fill_column(ex_bed_draft *d, const frix_bed_link *link, const double *value, const bed_column *k,
                        double around, double height) {
  ex_rank_packing packing = {.link = link, .count = (int64_t)value[C_COUNT]};
  if (!d->status)
    d->status = ex_rank_packing_begin(&packing, around, fmax(k->R, k->depth), 2.0 * height, keep_in_column, k);
  for (int64_t n = 0; n < (int64_t)value[C_COUNT] && !d->status;) {
    double half = k->R - around, x = ex_draft_noise(d, half), y = ex_draft_noise(d, half);
    if (k->depth > 0.0) {
      x = 0.5 * (k->R + x), y = 0.5 * (k->depth + y / half * (k->depth - 2.0 * around));
    } else if (x * x + y * y > half * half) {
      continue;
    }
    frix_vec3 p = ex_rank_packing_next(&packing, x, y);
    if (value[C_CLUMP] > 1.0)
      ex_draft_turned_grain(d, 0, p);
    else
      ex_draft_grain(d, 0, p);
    n++;
  }
  d->status = ex_rank_packing_end(&packing, d->status);
}

static frix_status build_column(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  frix_bed_clump clump;
  double r = value[C_RADIUS], around = ex_clump_of((int32_t)value[C_CLUMP], r, &clump);
  bed_column k = column_of(value, around);
  double loose = around * around * around / (r * r * r), height = 1.4 * loose * value[C_ASPECT] * k.R + 8.0 * around,
         far = k.R + 2.5 * value[C_ASPECT] * k.R;
  const bool slab = k.depth > 0.0;
  frix_bed_config c = *config;
  c.lower = ex_vec3(slab ? 0.0 : -far, slab ? 0.0 : -far, 0.0), c.upper = ex_vec3(far, slab ? k.depth : far, height);
  ex_set_radii(&c, r, 0.0);
  c.clump = &clump;
  c.mu = value[C_MU], c.stiffness = value[C_STIFFNESS];
  if (slab) c.periodic[1] = true, c.block_cells = 2;
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_reserve(&d, &c, value[C_COUNT]);
  ex_draft_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), c.mu);
  if (slab) ex_draft_plane(&d, ex_vec3(k.R, 0, 0), ex_vec3(-1, 0, 0), 0.0);
  if (slab) ex_draft_plane(&d, ex_vec3(0, 0, 0), ex_vec3(1, 0, 0), c.mu);
  if (!slab) ex_draft_turned(&d, k.R, 0.0, k.R, 4.0 * height, 0.0);
  fill_column(&d, c.link, value, &k, around, height);
  return ex_draft_finish(&d, out);
}

/* The side wall is removed at once, faster than any real wall can be lifted. */
static frix_status drive_column(frix_bed *bed, const double *value, double h) {
  const double gone = 1e6;
  frix_bed_wall wall;
  frix_status status = frix_bed_wall_at(bed, 1, &wall);
  if (status || wall.a[1] > 0.0 || wall.point.x == gone || frix_bed_time(bed) + 0.5 * h < value[C_RELEASE])
    return status;
  if (wall.kind == FRIX_BED_PLANE)
    wall.point.x = gone;
  else
    wall.a[1] = wall.b[1] = gone;
  return frix_bed_set_wall(bed, 1, &wall);
}

const ex_bed_scene ex_bed_column = {
    "column",
    "a column or a slab of grains that collapses when its cylinder or gate is taken away",
    EX_BED_ROWS(column_parameter),
    0.001,
    3.0,
    build_column,
    drive_column};
