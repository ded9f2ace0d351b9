/* Beds of grains by name: boxes full of spheres, clumps, convex shapes or chains, and test cells; the table of all. */
#include "beds.h"

#include <math.h>
#include <string.h>

#include "bed_draft.h"
#include "world.h"

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
  double around = ex_clump_of((int32_t)value[B_CLUMP], r, &clump[1]) / r;
  double half = across * r, pitch = 2.2 * r * around * (1.0 + value[B_SPREAD]), layer = floor(2.0 * half / pitch);
  double height = (count / (layer * layer) + 2.0) * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0.0), c.upper = ex_vec3(half, half, height);
  ex_set_radii(&c, r, value[B_SPREAD]);
  for (int k = 0; k < c.radius_count; k++) ex_clump_of((int32_t)value[B_CLUMP], c.radius[k], &clump[k]);
  c.clump = clump;
  c.mu = value[B_MU], c.stiffness = value[B_STIFFNESS], c.restitution = value[B_RESTITUTION];
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_reserve(&d, &c, count);
  ex_draft_box(&d, half, c.mu);
  ex_draft_lattice(&d, c.lower, c.upper, pitch, (int64_t)count, c.radius_count, value[B_CLUMP] > 1.0);
  return ex_draft_finish(&d, out);
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
  if (across <= 0.0) across = fmax(ceil(0.7 * ex_cube_root(value[K_COUNT])), 3.0);
  double half = across * a, layer = fmax(floor(2.0 * half / pitch), 1.0);
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0.0), c.upper = ex_vec3(half, half, (value[K_COUNT] / (layer * layer) + 2.0) * pitch);
  set_forms(a, (int)value[K_FORM], point, form, &c);
  c.mu = value[K_MU], c.stiffness = value[K_STIFFNESS], c.restitution = value[K_RESTITUTION], c.block_cells = 3;
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_reserve(&d, &c, value[K_COUNT]);
  ex_draft_box(&d, half, c.mu);
  ex_draft_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[K_COUNT], c.radius_count, true);
  return ex_draft_finish(&d, out);
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
static void add_chain(ex_bed_draft *d, const double *value, frix_vec3 from, bool along_y, double reach) {
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
  ex_set_radii(&c, r, 0.0);
  c.form = &form, c.mu = value[L_MU], c.stiffness = value[L_STIFFNESS], c.block_cells = 3;
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_reserve(&d, &c, value[L_COUNT] * value[L_LINKS]);
  ex_draft_box(&d, half, c.mu);
  for (int64_t k = 0; k < count && !d.status; k++) {
    bool along_y = k / row % 2;
    double begin = reach - 0.5 * length + ex_draft_noise(&d, r),
           side = ((double)(k % row) + 1.0) * pitch - half + ex_draft_noise(&d, 0.1 * r);
    double z = ((double)(k / row) + 0.6) * pitch;
    add_chain(&d, value, along_y ? ex_vec3(side, begin, z) : ex_vec3(begin, side, z), along_y, reach);
  }
  return ex_draft_finish(&d, out);
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
  double across = fmax(ceil(ex_cube_root(value[S_COUNT])), 12.0), length = across * pitch;
  double height = (ceil(value[S_COUNT] / (across * across)) + 1.0) * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(0, 0, 0), c.upper = ex_vec3(length, length, height);
  c.periodic[0] = c.periodic[1] = true;
  c.gravity = ex_vec3(0, 0, 0);
  if (across < 30.0) c.block_cells = 3;
  ex_set_radii(&c, r, value[S_SPREAD]);
  c.mu = value[S_MU], c.stiffness = value[S_STIFFNESS];
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), 1.0);
  frix_bed_wall lid = {.kind = FRIX_BED_PLANE, .point = {0, 0, height}, .normal = {0, 0, -1}, .mu = 1.0, .servo = true};
  lid.velocity.x = value[S_SPEED];
  lid.load = value[S_PRESSURE] * length * length, lid.servo_speed = 0.5;
  if (!d.status) d.status = frix_bed_add_wall(d.bed, &lid, NULL);
  ex_draft_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[S_COUNT], c.radius_count, false);
  return ex_draft_finish(&d, out);
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
  double r = value[T_RADIUS], pitch = 2.2 * r * (1.0 + value[T_SPREAD]), across = ceil(ex_cube_root(value[T_COUNT])),
         half = 0.5 * across * pitch;
  frix_bed_config c = *config;
  c.lower = ex_vec3(-half, -half, 0), c.upper = ex_vec3(half, half, 2.0 * half);
  c.gravity = ex_vec3(0, 0, 0);
  ex_set_radii(&c, r, value[T_SPREAD]);
  c.mu = value[T_MU], c.stiffness = value[T_STIFFNESS];
  ex_bed_draft d = ex_draft_begin(context, &c, seed);
  ex_draft_plane(&d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), 0.0);
  frix_bed_wall wall = {
      .kind = FRIX_BED_PLANE, .servo = true, .load = value[T_PRESSURE] * 4.0 * half * half, .servo_speed = 0.5};
  frix_vec3 outward[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int k = 0; k < 5 && !d.status; k++) {
    frix_vec3 o = outward[k];
    wall.point = ex_vec3(half * o.x, half * o.y, k == 0 ? 2.0 * half : half);
    wall.normal = ex_vec3(-o.x, -o.y, -o.z);
    d.status = frix_bed_add_wall(d.bed, &wall, NULL);
  }
  ex_draft_lattice(&d, c.lower, c.upper, pitch, (int64_t)value[T_COUNT], c.radius_count, false);
  return ex_draft_finish(&d, out);
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

/* ---- the table ---- */

static const ex_bed_scene box = {"box", "grains rain into a box", EX_BED_ROWS(box_parameter), 0.001, 1.0, build_box,
                                 NULL};
static const ex_bed_scene bricks = {
    "bricks", "boxes or other convex grains rain into a box", EX_BED_ROWS(brick_parameter), 0.001, 1.0, build_bricks,
    NULL};
static const ex_bed_scene chains = {"chains",
                                    "chains of spheres or capsules with ball joints fall into a box",
                                    EX_BED_ROWS(chain_parameter),
                                    0.001,
                                    1.0,
                                    build_chains,
                                    NULL};
static const ex_bed_scene shear = {"shear",
                                   "a shear cell, periodic along x and y, under a plane that keeps a pressure",
                                   EX_BED_ROWS(shear_parameter),
                                   0.001,
                                   2.0,
                                   build_shear,
                                   NULL};
static const ex_bed_scene triaxial = {"triaxial",
                                      "a box of planes that keep a pressure; its lid may come down",
                                      EX_BED_ROWS(triaxial_parameter),
                                      0.0005,
                                      1.0,
                                      build_triaxial,
                                      drive_triaxial};

static const ex_bed_scene *const table[] = {&ex_bed_pebbles, &box,      &bricks,        &chains,
                                            &shear,          &triaxial, &ex_bed_hopper, &ex_bed_column};

const ex_bed_scene *ex_bed_table(int32_t k) {
  return k >= 0 && k < (int32_t)(sizeof table / sizeof *table) ? table[k] : NULL;
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
