/* Beds of grains: a reactor, boxes full of spheres, clumps, convex shapes or chains, test cells, a hopper, a column. */
#include "beds.h"

#include <math.h>
#include <string.h>

#include "rank_packing.h"
#include "world.h"

#define EX_BED_ROWS(rows) rows, (int32_t)(sizeof(rows) / sizeof(rows)[0])

/* ---- shorthand: the first failure stays ---- */

typedef struct bed_draft {
  frix_bed *bed;
  frix_status status;
  uint64_t random;
} bed_draft;

static bed_draft begin(frix_context *context, const frix_bed_config *config, uint64_t seed) {
  bed_draft d = {.random = seed};
  d.status = frix_bed_create(context, config, &d.bed);
  return d;
}

static frix_status finish(bed_draft *d, frix_bed **out) {
  if (d->status) frix_bed_destroy(d->bed);
  *out = d->status ? NULL : d->bed;
  return d->status;
}

static void add_plane(bed_draft *d, frix_vec3 point, frix_vec3 normal, double mu) {
  frix_bed_wall wall = {.kind = FRIX_BED_PLANE, .point = point, .normal = normal, .mu = mu};
  if (!d->status) d->status = frix_bed_add_wall(d->bed, &wall, NULL);
}

static void add_turned(bed_draft *d, double a0, double a1, double b0, double b1, double mu) {
  frix_bed_wall wall = {.kind = FRIX_BED_TURNED, .a = {a0, a1}, .b = {b0, b1}, .mu = mu};
  if (!d->status) d->status = frix_bed_add_wall(d->bed, &wall, NULL);
}

/* A floor and four sides. */
static void add_box(bed_draft *d, double half, double mu) {
  add_plane(d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), mu);
  for (int s = -1; s <= 1; s += 2) {
    add_plane(d, ex_vec3(s * half, 0, 0), ex_vec3(-s, 0, 0), mu);
    add_plane(d, ex_vec3(0, s * half, 0), ex_vec3(0, -s, 0), mu);
  }
}

static void add_grain(bed_draft *d, int32_t size, frix_vec3 p) {
  if (!d->status) d->status = frix_bed_add(d->bed, size, p, ex_vec3(0.0, 0.0, 0.0), NULL);
}

/* A grain that lies at random. */
static void add_turned_grain(bed_draft *d, int32_t size, frix_vec3 p) {
  frix_pose pose = {p, {ex_random(&d->random), ex_random(&d->random), ex_random(&d->random), ex_random(&d->random)}};
  frix_vec3 rest = {0.0, 0.0, 0.0};
  if (!d->status) d->status = frix_bed_add_turned(d->bed, size, pose, rest, rest, NULL);
}

static double noise(bed_draft *d, double scale) { return scale * ex_random(&d->random); }

/* Without libm, so that worlds have the same bits everywhere. */
static double cube_root(double x) {
  double y = 1.0;
  for (int k = 0; k < 200; k++) y -= (y * y * y - x) / (3.0 * y * y);
  return y;
}

/* Room for the grains of this rank: all alone, else about its share. */
static void reserve(bed_draft *d, const frix_bed_config *c, double count) {
  int32_t ranks = c->link ? c->link->rank_count : 1;
  if (!d->status) d->status = frix_bed_reserve(d->bed, (int64_t)(ranks > 1 ? 1.2 * count / ranks : count));
}

/* Clumps of 2 to 4 touching spheres (pair, triangle, tetrahedron) with the volume of a sphere of radius r; the radius
 * of the sphere around. Corners of a cube that are two steps apart are equally far from each other. */
static double clump_of(int32_t spheres, double r, frix_bed_clump *out) {
  static const frix_vec3 corner[4] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
  double part = r / cube_root(spheres), scale = part / sqrt(2.0), most = r;
  *out = (frix_bed_clump){.count = spheres > 1 ? spheres : 0};
  frix_vec3 mean = {0, 0, 0};
  for (int32_t k = 0; k < out->count; k++) {
    out->center[k] = ex_vec3(scale * corner[k].x, scale * corner[k].y, scale * corner[k].z), out->radius[k] = part;
    mean.x += out->center[k].x / spheres, mean.y += out->center[k].y / spheres, mean.z += out->center[k].z / spheres;
  }
  if (out->count) {
    frix_vec3 c = out->center[0];
    most = part +
           sqrt((c.x - mean.x) * (c.x - mean.x) + (c.y - mean.y) * (c.y - mean.y) + (c.z - mean.z) * (c.z - mean.z));
  }
  return most;
}

/* A loose lattice of `count` grains above `lower`, as wide as the space from lower to upper; radii in turn. */
static void fill_lattice(bed_draft *d, frix_vec3 lower, frix_vec3 upper, double pitch, int64_t count, int32_t radii,
                         bool turned) {
  int64_t nx = (int64_t)((upper.x - lower.x) / pitch), ny = (int64_t)((upper.y - lower.y) / pitch);
  double free = 0.04 * pitch;
  if (nx < 1) nx = 1;
  if (ny < 1) ny = 1;
  for (int64_t k = 0; k < count && !d->status; k++) {
    double x = lower.x + ((double)(k % nx) + 0.5) * ((upper.x - lower.x) / (double)nx) + noise(d, free);
    double y = lower.y + ((double)(k / nx % ny) + 0.5) * ((upper.y - lower.y) / (double)ny) + noise(d, free);
    double z = lower.z + ((double)(k / nx / ny) + 0.5) * pitch + noise(d, free);
    if (turned)
      add_turned_grain(d, (int32_t)(k % radii), ex_vec3(x, y, z));
    else
      add_grain(d, (int32_t)(k % radii), ex_vec3(x, y, z));
  }
}

/* Three radii about the mean: 1 - spread, 1, 1 + spread. */
static void set_radii(frix_bed_config *c, double mean, double spread) {
  c->radius_count = spread > 0.0 ? 3 : 1;
  for (int k = 0; k < c->radius_count; k++) c->radius[k] = mean * (c->radius_count == 1 ? 1.0 : 1.0 + spread * (k - 1));
}

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
  v.radius = cube_root(volume);
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

static void fill_vessel(bed_draft *d, const frix_bed_link *link, const bed_vessel *v, int64_t count) {
  ex_rank_packing packing = {.link = link, .count = count};
  if (!d->status) d->status = ex_rank_packing_begin(&packing, pebble, v->radius, v->top + 1.0, keep_in_vessel, v);
  for (int64_t k = 0; k < count && !d->status;) {
    double half = v->radius - pebble, x = noise(d, half), y = noise(d, half);
    if (x * x + y * y > half * half) continue;
    add_grain(d, 0, ex_rank_packing_next(&packing, x, y));
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
  bed_draft d = begin(context, &c, seed);
  reserve(&d, &c, value[P_COUNT]);
  add_turned(&d, v.radius, v.height, v.radius, v.top + 1.0, c.mu);
  add_turned(&d, v.outlet, 0.0, v.radius, v.height, c.mu);
  fill_vessel(&d, c.link, &v, (int64_t)value[P_COUNT]);
  frix_bed_flow flow = frix_bed_flow_default();
  double half = 0.7 * (v.radius - 2.0 * pebble);
  flow.outlet = -0.4, flow.again = true, flow.velocity = ex_vec3(0.0, 0.0, -1.0);
  flow.lower = ex_vec3(-half, -half, v.top), flow.upper = ex_vec3(half, half, v.top), flow.seed = seed;
  if (!d.status) d.status = frix_bed_set_flow(d.bed, &flow);
  return finish(&d, out);
}

/* ---- box: a box filled by rain from a lattice ---- */

enum { B_COUNT, B_RADIUS, B_WIDTH, B_SPREAD, B_MU, B_STIFFNESS, B_RESTITUTION, B_CLUMP };
static const frix_option_info box_parameter[] = {
    [B_COUNT] = EX_WHOLE("n", 2000, 1, 20000000, "grains"),
    [B_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "m"),
    [B_WIDTH] = EX_REAL("width", 0, 0, 1e6, "width of the box over the diameter; 0: as wide as the filling is high"),
    [B_SPREAD] = EX_REAL("spread", 0, 0, 0.5, "three radii: mean (1 - spread), mean, mean (1 + spread)"),
    [B_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [B_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
    [B_RESTITUTION] = EX_REAL("restitution", 0, 0, 1, "restitution of rigid contacts"),
    [B_CLUMP] = EX_WHOLE("clump", 1, 1, 4, "touching spheres per grain, with the volume of one sphere of this radius"),
};

static frix_status build_box(frix_context *context, const frix_bed_config *config, const double *value, uint64_t seed,
                             frix_bed **out) {
  double r = value[B_RADIUS], count = value[B_COUNT], across = value[B_WIDTH];
  for (double a = 4.0; across <= 0.0; a += 1.0)
    if (a * a * a * 0.6 / 0.5236 >= count) across = a;
  frix_bed_clump clump[3];
  double around = clump_of((int32_t)value[B_CLUMP], r, &clump[1]) / r;
  double half = across * r, pitch = 2.2 * r * around * (1.0 + value[B_SPREAD]), layer = floor(2.0 * half / pitch);
  double height = (count / (layer * layer) + 2.0) * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0.0), c.upper = ex_vec3(half, half, height);
  set_radii(&c, r, value[B_SPREAD]);
  for (int k = 0; k < c.radius_count; k++) clump_of((int32_t)value[B_CLUMP], c.radius[k], &clump[k]);
  c.clump = clump;
  c.mu = value[B_MU], c.stiffness = value[B_STIFFNESS], c.restitution = value[B_RESTITUTION];
  bed_draft d = begin(context, &c, seed);
  reserve(&d, &c, count);
  add_box(&d, half, c.mu);
  fill_lattice(&d, c.lower, c.upper, pitch, (int64_t)count, c.radius_count, value[B_CLUMP] > 1.0);
  return finish(&d, out);
}

/* ---- bricks: convex shapes rain into a box ---- */

enum { K_COUNT, K_SIZE, K_WIDTH, K_FORM, K_MU, K_STIFFNESS, K_RESTITUTION };
static const frix_option_info brick_parameter[] = {
    [K_COUNT] = EX_WHOLE("n", 500, 1, 20000000, "grains"),
    [K_SIZE] = EX_REAL("size", 0.01, 1e-6, 10, "half of the longest edge, m"),
    [K_WIDTH] =
        EX_REAL("width", 0, 0, 1e6, "width of the box over the longest edge; 0: as wide as the filling is high"),
    [K_FORM] = EX_WHOLE("form", 0, 0, 5, "0 box, 1 capsule, 2 cylinder, 3 ellipsoid, 4 hull, 5: 0 to 3 and a sphere"),
    [K_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [K_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a point of contact, N/m; 0: rigid"),
    [K_RESTITUTION] = EX_REAL("restitution", 0, 0, 1, "restitution of rigid contacts"),
};

enum { FORMS = 5, CORNERS = 8 };

static void set_forms(double a, int form, frix_vec3 *point, frix_bed_form *out, frix_bed_config *c) {
  static const frix_vec3 corner[CORNERS] = {{1, 0, 0},  {-1, 0.1, 0},  {0, 0.7, 0.1},    {0, -0.7, 0},
                                            {0, 0, .6}, {0, 0.1, -.5}, {0.4, 0.4, -0.4}, {-0.4, -0.3, 0.4}};
  for (int k = 0; k < CORNERS; k++) point[k] = ex_vec3(a * corner[k].x, a * corner[k].y, a * corner[k].z);
  const frix_vec3 half = {a, 0.7 * a, 0.5 * a};
  const frix_bed_form all[FORMS] = {
      {.kind = FRIX_SHAPE_BOX, .half = half},
      {.kind = FRIX_SHAPE_CAPSULE, .radius = 0.45 * a, .half_length = 0.55 * a},
      {.kind = FRIX_SHAPE_CYLINDER, .radius = 0.6 * a, .half_length = 0.7 * a},
      {.kind = FRIX_SHAPE_ELLIPSOID, .half = half},
      {.kind = FRIX_SHAPE_HULL, .point_count = CORNERS, .point = point},
  };
  memcpy(out, all, sizeof all);
  c->radius_count = form == FORMS ? FORMS : 1;
  if (form == FORMS) out[FORMS - 1] = (frix_bed_form){.kind = FRIX_SHAPE_SPHERE}, c->radius[FORMS - 1] = 0.6 * a;
  if (form < FORMS) out[0] = all[form];
  c->form = out;
}

static frix_status build_bricks(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  frix_vec3 point[CORNERS];
  frix_bed_form form[FORMS];
  double a = value[K_SIZE], across = value[K_WIDTH], pitch = 2.7 * a; /* the sphere around a box: 1.32 a */
  if (across <= 0.0) across = fmax(ceil(0.7 * cube_root(value[K_COUNT])), 3.0);
  double half = across * a, layer = fmax(floor(2.0 * half / pitch), 1.0);
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0.0), c.upper = ex_vec3(half, half, (value[K_COUNT] / (layer * layer) + 2.0) * pitch);
  set_forms(a, (int)value[K_FORM], point, form, &c);
  c.mu = value[K_MU], c.stiffness = value[K_STIFFNESS], c.restitution = value[K_RESTITUTION], c.block_cells = 3;
  bed_draft d = begin(context, &c, seed);
  reserve(&d, &c, value[K_COUNT]);
  add_box(&d, half, c.mu);
  fill_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[K_COUNT], c.radius_count, true);
  return finish(&d, out);
}

/* ---- chains: spheres or capsules that hang together fall into a box ---- */

enum { L_COUNT, L_LINKS, L_CAPSULES, L_RADIUS, L_MU, L_STIFFNESS };
static const frix_option_info chain_parameter[] = {
    [L_COUNT] = EX_WHOLE("n", 60, 1, 1000000, "chains"),
    [L_LINKS] = EX_WHOLE("links", 8, 2, 1000, "links of a chain, with ball joints between them"),
    [L_CAPSULES] = EX_WHOLE("capsules", 0, 0, 1, "1: links are capsules, three times as long as wide; 0: spheres"),
    [L_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "radius of a link, m"),
    [L_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [L_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
};

/* Along x, or along y; the axis of a link is x of a sphere, z of a capsule. reach: from its centre to its ends. */
static void add_chain(bed_draft *d, const double *value, frix_vec3 from, bool along_y, double reach) {
  const double s = sqrt(0.5);
  const bool capsule = value[L_CAPSULES] > 0.0;
  const frix_quat one = {1, 0, 0, 0}, x_to_y = {s, 0, 0, s}, z_to_x = {s, 0, s, 0}, z_to_y = {s, -s, 0, 0};
  frix_pose pose = {from, capsule ? along_y ? z_to_y : z_to_x : along_y ? x_to_y : one};
  frix_bed_joint joint = {.kind = FRIX_JOINT_BALL, .a = -1, .frame_a.q = one, .frame_b.q = one};
  joint.frame_a.p = capsule ? ex_vec3(0, 0, reach) : ex_vec3(reach, 0, 0);
  joint.frame_b.p = capsule ? ex_vec3(0, 0, -reach) : ex_vec3(-reach, 0, 0);
  for (int64_t k = 0; k < (int64_t)value[L_LINKS] && !d->status; k++) {
    frix_vec3 rest = {0.0, 0.0, 0.0};
    d->status = frix_bed_add_turned(d->bed, 0, pose, rest, rest, &joint.b);
    if (!d->status && k > 0) d->status = frix_bed_add_joint(d->bed, &joint);
    joint.a = joint.b;
    *(along_y ? &pose.p.y : &pose.p.x) += 2.0 * reach;
  }
}

static frix_status build_chains(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  double r = value[L_RADIUS], reach = value[L_CAPSULES] > 0.0 ? 3.0 * r : r, pitch = 2.5 * r;
  double length = 2.0 * reach * value[L_LINKS], half = fmax(0.5 * length + 2.0 * r, 3.0 * pitch);
  int64_t row = (int64_t)floor(2.0 * half / pitch) - 1, count = (int64_t)value[L_COUNT];
  const frix_bed_form form = {
      .kind = value[L_CAPSULES] > 0.0 ? FRIX_SHAPE_CAPSULE : FRIX_SHAPE_SPHERE, .radius = r, .half_length = 2.0 * r};
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0.0), c.upper = ex_vec3(half, half, ((double)(count / row) + 3.0) * pitch);
  set_radii(&c, r, 0.0);
  c.form = &form, c.mu = value[L_MU], c.stiffness = value[L_STIFFNESS], c.block_cells = 3;
  bed_draft d = begin(context, &c, seed);
  reserve(&d, &c, value[L_COUNT] * value[L_LINKS]);
  add_box(&d, half, c.mu);
  for (int64_t k = 0; k < count && !d.status; k++) {
    bool along_y = k / row % 2;
    double begin = reach - 0.5 * length + noise(&d, r),
           side = ((double)(k % row) + 1.0) * pitch - half + noise(&d, 0.1 * r);
    double z = ((double)(k / row) + 0.6) * pitch;
    add_chain(&d, value, along_y ? ex_vec3(side, begin, z) : ex_vec3(begin, side, z), along_y, reach);
  }
  return finish(&d, out);
}

/* ---- shear: periodic along x and y between a resting and a dragged plane that keeps a pressure ---- */

enum { S_COUNT, S_RADIUS, S_SPREAD, S_MU, S_PRESSURE, S_SPEED, S_STIFFNESS };
static const frix_option_info shear_parameter[] = {
    [S_COUNT] = EX_WHOLE("n", 2000, 100, 20000000, "grains"),
    [S_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "mean of three radii, m"),
    [S_SPREAD] = EX_REAL("spread", 0.2, 0, 0.5, "three radii: mean (1 - spread), mean, mean (1 + spread)"),
    [S_MU] = EX_REAL("mu", 0.5, 0, 2, "friction between grains; planes have 1"),
    [S_PRESSURE] = EX_REAL("pressure", 1e4, 1e-6, 1e9, "pressure on the upper plane, Pa"),
    [S_SPEED] = EX_REAL("speed", 0.1, -1000, 1000, "speed of the upper plane along x, m/s"),
    [S_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
};

static frix_status build_shear(frix_context *context, const frix_bed_config *config, const double *value, uint64_t seed,
                               frix_bed **out) {
  double r = value[S_RADIUS], pitch = 2.2 * r * (1.0 + value[S_SPREAD]);
  double across = fmax(ceil(cube_root(value[S_COUNT])), 12.0), length = across * pitch;
  double height = (ceil(value[S_COUNT] / (across * across)) + 1.0) * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(0, 0, 0), c.upper = ex_vec3(length, length, height);
  c.periodic[0] = c.periodic[1] = true;
  c.gravity = ex_vec3(0, 0, 0);
  if (across < 30.0) c.block_cells = 3;
  set_radii(&c, r, value[S_SPREAD]);
  c.mu = value[S_MU], c.stiffness = value[S_STIFFNESS];
  bed_draft d = begin(context, &c, seed);
  add_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), 1.0);
  frix_bed_wall lid = {.kind = FRIX_BED_PLANE, .point = {0, 0, height}, .normal = {0, 0, -1}, .mu = 1.0, .servo = true};
  lid.velocity.x = value[S_SPEED];
  lid.load = value[S_PRESSURE] * length * length, lid.servo_speed = 0.5;
  if (!d.status) d.status = frix_bed_add_wall(d.bed, &lid, NULL);
  fill_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[S_COUNT], c.radius_count, false);
  return finish(&d, out);
}

/* ---- triaxial: six planes; those at the sides keep a pressure, the upper one does too or comes down ---- */

enum { T_COUNT, T_RADIUS, T_SPREAD, T_MU, T_PRESSURE, T_RATE, T_STIFFNESS, T_DELAY };
static const frix_option_info triaxial_parameter[] = {
    [T_COUNT] = EX_WHOLE("n", 2000, 27, 20000000, "grains"),
    [T_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "mean of three radii, m"),
    [T_SPREAD] = EX_REAL("spread", 0.2, 0, 0.5, "three radii: mean (1 - spread), mean, mean (1 + spread)"),
    [T_MU] = EX_REAL("mu", 0.5, 0, 2, "friction between grains; planes have none"),
    [T_PRESSURE] = EX_REAL("pressure", 1e4, 1e-6, 1e9, "pressure on the sides, and on the lid until it comes down, Pa"),
    [T_RATE] = EX_REAL("rate", 0, 0, 100, "rate of axial strain, 1/s; 0: isotropic pressure throughout"),
    [T_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
    [T_DELAY] = EX_REAL("delay", 0.5, 0, 1e6, "time before the lid comes down, s"),
};

enum { T_FLOOR, T_LID, T_SIDE };

static frix_status build_triaxial(frix_context *context, const frix_bed_config *config, const double *value,
                                  uint64_t seed, frix_bed **out) {
  double r = value[T_RADIUS], pitch = 2.2 * r * (1.0 + value[T_SPREAD]), across = ceil(cube_root(value[T_COUNT])),
         half = 0.5 * across * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0), c.upper = ex_vec3(half, half, 2.0 * half);
  c.gravity = ex_vec3(0, 0, 0);
  set_radii(&c, r, value[T_SPREAD]);
  c.mu = value[T_MU], c.stiffness = value[T_STIFFNESS];
  bed_draft d = begin(context, &c, seed);
  add_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), 0.0);
  frix_bed_wall wall = {
      .kind = FRIX_BED_PLANE, .servo = true, .load = value[T_PRESSURE] * 4.0 * half * half, .servo_speed = 0.5};
  frix_vec3 outward[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int k = 0; k < 5 && !d.status; k++) {
    frix_vec3 o = outward[k];
    wall.point = ex_vec3(half * o.x, half * o.y, k == 0 ? 2.0 * half : half);
    wall.normal = ex_vec3(-o.x, -o.y, -o.z);
    d.status = frix_bed_add_wall(d.bed, &wall, NULL);
  }
  fill_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[T_COUNT], c.radius_count, false);
  return finish(&d, out);
}

/* Loads follow the areas; after the delay the lid comes down. */
static frix_status drive_triaxial(frix_bed *bed, const double *value, double h) {
  frix_bed_wall wall[T_SIDE + 4];
  (void)h;
  for (int32_t k = 0; k < T_SIDE + 4; k++) {
    frix_status status = frix_bed_wall_at(bed, k, &wall[k]);
    if (status) return status;
  }
  double x = wall[T_SIDE].point.x - wall[T_SIDE + 1].point.x, y = wall[T_SIDE + 2].point.y - wall[T_SIDE + 3].point.y;
  double z = wall[T_LID].point.z - wall[T_FLOOR].point.z, p = value[T_PRESSURE];
  double area[T_SIDE + 4] = {0, x * y, y * z, y * z, x * z, x * z};
  for (int32_t k = T_LID; k < T_SIDE + 4; k++) {
    wall[k].load = p * area[k];
    if (k == T_LID && value[T_RATE] > 0.0 && frix_bed_time(bed) >= value[T_DELAY])
      wall[k].servo = false, wall[k].velocity = ex_vec3(0, 0, -value[T_RATE] * z);
    frix_status status = frix_bed_set_wall(bed, k, &wall[k]);
    if (status) return status;
  }
  return FRIX_OK;
}

/* ---- hopper: grains rain in at the top and leave through a hole ---- */

enum { H_RADIUS, H_WIDTH, H_HOLE, H_RATE, H_MU, H_STIFFNESS };
static const frix_option_info hopper_parameter[] = {
    [H_RADIUS] = EX_REAL("radius", 0.005, 1e-6, 10, "radius of grains, m"),
    [H_WIDTH] = EX_REAL("width", 20, 6, 1000, "width of the hopper over the diameter of a grain"),
    [H_HOLE] = EX_REAL("hole", 6, 0, 500, "width of the outlet over the diameter of a grain"),
    [H_RATE] = EX_REAL("rate", 2000, 0, 1e9, "grains added per second"),
    [H_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [H_STIFFNESS] = EX_REAL("stiffness", 1e5, 0, 1e12, "stiffness of a contact, N/m; 0: rigid"),
};

static frix_status build_hopper(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  double r = value[H_RADIUS], R = value[H_WIDTH] * r, hole = fmin(value[H_HOLE] * r, 0.9 * R), cone = R - hole;
  double top = cone + 4.0 * R;
  frix_bed_config c = *config;
  c.lower = ex_vec3(-R, -R, -4.0 * r), c.upper = ex_vec3(R, R, top + 4.0 * r);
  set_radii(&c, r, 0.0);
  c.mu = value[H_MU], c.stiffness = value[H_STIFFNESS];
  bed_draft d = begin(context, &c, seed);
  add_turned(&d, hole, 0.0, R, cone, c.mu);
  add_turned(&d, R, cone, R, top + 10.0 * r, c.mu);
  frix_bed_flow flow = frix_bed_flow_default();
  double half = 0.7 * (R - 2.0 * r);
  flow.outlet = -3.0 * r, flow.rate = value[H_RATE], flow.velocity = ex_vec3(0.0, 0.0, -0.5), flow.seed = seed;
  flow.lower = ex_vec3(-half, -half, top - 4.0 * r), flow.upper = ex_vec3(half, half, top - 4.0 * r);
  if (!d.status) d.status = frix_bed_set_flow(d.bed, &flow);
  return finish(&d, out);
}

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
  if (!(value[C_DEPTH] > 0.0)) return (bed_column){cube_root(volume), 0.0};
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
static void fill_column(bed_draft *d, const frix_bed_link *link, const double *value, const bed_column *k,
                        double around, double height) {
  ex_rank_packing packing = {.link = link, .count = (int64_t)value[C_COUNT]};
  if (!d->status)
    d->status = ex_rank_packing_begin(&packing, around, fmax(k->R, k->depth), 2.0 * height, keep_in_column, k);
  for (int64_t n = 0; n < (int64_t)value[C_COUNT] && !d->status;) {
    double half = k->R - around, x = noise(d, half), y = noise(d, half);
    if (k->depth > 0.0) {
      x = 0.5 * (k->R + x), y = 0.5 * (k->depth + y / half * (k->depth - 2.0 * around));
    } else if (x * x + y * y > half * half) {
      continue;
    }
    frix_vec3 p = ex_rank_packing_next(&packing, x, y);
    if (value[C_CLUMP] > 1.0)
      add_turned_grain(d, 0, p);
    else
      add_grain(d, 0, p);
    n++;
  }
  d->status = ex_rank_packing_end(&packing, d->status);
}

static frix_status build_column(frix_context *context, const frix_bed_config *config, const double *value,
                                uint64_t seed, frix_bed **out) {
  frix_bed_clump clump;
  double r = value[C_RADIUS], around = clump_of((int32_t)value[C_CLUMP], r, &clump);
  bed_column k = column_of(value, around);
  double loose = around * around * around / (r * r * r), height = 1.4 * loose * value[C_ASPECT] * k.R + 8.0 * around,
         far = k.R + 2.5 * value[C_ASPECT] * k.R;
  const bool slab = k.depth > 0.0;
  frix_bed_config c = *config;
  c.lower = ex_vec3(slab ? 0.0 : -far, slab ? 0.0 : -far, 0.0), c.upper = ex_vec3(far, slab ? k.depth : far, height);
  set_radii(&c, r, 0.0);
  c.clump = &clump;
  c.mu = value[C_MU], c.stiffness = value[C_STIFFNESS];
  if (slab) c.periodic[1] = true, c.block_cells = 2;
  bed_draft d = begin(context, &c, seed);
  reserve(&d, &c, value[C_COUNT]);
  add_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), c.mu);
  if (slab) add_plane(&d, ex_vec3(k.R, 0, 0), ex_vec3(-1, 0, 0), 0.0);
  if (slab) add_plane(&d, ex_vec3(0, 0, 0), ex_vec3(1, 0, 0), c.mu);
  if (!slab) add_turned(&d, k.R, 0.0, k.R, 4.0 * height, 0.0);
  fill_column(&d, c.link, value, &k, around, height);
  return finish(&d, out);
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

/* ---- the table ---- */

static const ex_bed_scene table[] = {
    {"pebbles", "a pebble-bed reactor: fuel flows through the vessel and comes back on top",
     EX_BED_ROWS(pebble_parameter), 0.005, 5.0, build_pebbles, NULL},
    {"box", "grains rain into a box", EX_BED_ROWS(box_parameter), 0.001, 1.0, build_box, NULL},
    {"bricks", "boxes or other convex grains rain into a box", EX_BED_ROWS(brick_parameter), 0.001, 1.0, build_bricks,
     NULL},
    {"chains", "chains of spheres or capsules with ball joints fall into a box", EX_BED_ROWS(chain_parameter), 0.001,
     1.0, build_chains, NULL},
    {"shear", "a shear cell, periodic along x and y, under a plane that keeps a pressure", EX_BED_ROWS(shear_parameter),
     0.001, 2.0, build_shear, NULL},
    {"triaxial", "a box of planes that keep a pressure; its lid may come down", EX_BED_ROWS(triaxial_parameter), 0.0005,
     1.0, build_triaxial, drive_triaxial},
    {"hopper", "grains come at the top of a silo and leave through its outlet", EX_BED_ROWS(hopper_parameter), 0.001,
     3.0, build_hopper, NULL},
    {"column", "a column or a slab of grains that collapses when its cylinder or gate is taken away",
     EX_BED_ROWS(column_parameter), 0.001, 3.0, build_column, drive_column},
};

const ex_bed_scene *ex_bed_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof table / sizeof *table) ? &table[k] : NULL;
}

const ex_bed_scene *ex_bed_find(const char *name) {
  for (int32_t k = 0; ex_bed_table(k); k++)
    if (name && !strcmp(ex_bed_table(k)->name, name)) return ex_bed_table(k);
  return NULL;
}

int32_t ex_bed_parameter(const ex_bed_scene *scene, const char *name) {
  for (int32_t k = 0; k < scene->parameter_count; k++)
    if (!strcmp(scene->parameter[k].name, name)) return k;
  return -1;
}

void ex_bed_values(const ex_bed_scene *scene, double *value) {
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
}
