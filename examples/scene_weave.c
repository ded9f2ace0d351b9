/* A weave of soft strands: it hangs from its warp and holds, creeps or comes apart, by friction and stiffness; or it is
 * thrown at pegs.
 *
 * Strands are bars of square section, bent by half waves. Two that cross at x = z = 0 have the gap
 *
 *   wave (cos(pi x / pitch) + cos(pi z / pitch)) - thick
 *
 * which is least at the corners of the crossing, x = z = thick / 2. There they overlap by the part `pressed` of their
 * thickness, and press on each other when they are put together. Nothing else holds the weft: where mu r_N of its
 * crossings is less than its weight it slides down the warp. */
#include "world.h"

#include <stdio.h>

enum { WARP, WEFT, WEAVE_MU, WEAVE_YOUNG, PRESSED, WEAVE_CELLS, WEAVE_MODES };

#define SHARED_PARAMETERS                                                                                          \
  [WARP] = EX_WHOLE("warp", 4, 2, 12, "strands that hang"), [WEFT] = EX_WHOLE("weft", 4, 2, 12, "strands across"), \
  [WEAVE_MU] = EX_REAL("mu", 0.3, 0, 2, "friction"),                                                               \
  [WEAVE_YOUNG] = EX_REAL("young", 1e6, 1e4, 1e9, "Young's modulus, Pa"),                                          \
  [PRESSED] = EX_REAL("pressed", 0.02, 0, 0.2, "initial overlap of crossing strands over their thickness"),        \
  [WEAVE_CELLS] = EX_WHOLE("cells", 1, 1, 6, "mesh cells across a strand: more give more contacts per crossing"),  \
  [WEAVE_MODES] = EX_WHOLE("modes", 14, 4, 40, "vibration modes of a strand")

/* Points of the surface do not lie on the edges of crossings, where nothing says on which side they are. */
static const double pitch = 0.05, thick = 0.02;

/* A strand that crosses so many others. */
static frix_soft *strand(ex_world *world, const double *value, int32_t crossings) {
  frix_soft_config c = frix_soft_default();
  c.sides = ex_vec3(pitch * crossings, thick, thick), c.damping_ratio = 0.3;
  c.cells = (int32_t)value[WEAVE_CELLS], c.modes = (int32_t)value[WEAVE_MODES];
  double sine, cosine;
  ex_sincos(90.0 * thick / pitch, &sine, &cosine);
  c.young = value[WEAVE_YOUNG], c.waves = crossings, c.wave = 0.5 * thick * (1.0 - value[PRESSED]) / cosine;
  return ex_soft(world, "bar", &c);
}

static frix_quat times(frix_quat a, frix_quat b) {
  return (frix_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* The weave in the plane y = 0, its middle at a place; z of the mesh, along which it is bent, is y here. */
static void weave(ex_world *world, const double *value, frix_vec3 middle, frix_vec3 velocity) {
  int32_t warps = (int32_t)value[WARP], wefts = (int32_t)value[WEFT];
  frix_soft *warp = strand(world, value, wefts), *weft = strand(world, value, warps);
  for (int32_t k = 0; k < warps + wefts; k++) {
    bool hangs = k < warps;
    int32_t number = hangs ? k : k - warps, count = hangs ? warps : wefts;
    double off = pitch * (number - 0.5 * (count - 1));
    char name[32];
    frix_pose pose = ex_at(middle.x + (hangs ? off : 0.0), middle.y, middle.z + (hangs ? 0.0 : off));
    /* z to y, then for the warp x to z; every other strand is turned over, and the weft against the warp */
    frix_quat up = ex_turned(-90.0, 1.0, 0.0, 0.0);
    bool over = (number % 2 == 0) == hangs;
    pose.q = times(up, over ? ex_turned(0.0, 1.0, 0.0, 0.0) : ex_turned(180.0, 1.0, 0.0, 0.0));
    if (hangs) pose.q = times(ex_turned(-90.0, 0.0, 1.0, 0.0), pose.q);
    frix_body_config body = ex_named(hangs ? "warp" : "weft", number, pose, name);
    body.velocity = velocity;
    ex_put_soft(world, hangs ? warp : weft, &body);
  }
  frix_soft_destroy(warp);
  frix_soft_destroy(weft);
}

/* ---- hanging ---- */

static const frix_option_info weave_parameter[] = {SHARED_PARAMETERS};

static double height_of(const double *value) { return 0.3 + 0.5 * pitch * value[WEFT]; }

static frix_status build_weave(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[WEAVE_MU], 0.0, seed);
  ex_add_ground(&world);
  weave(&world, value, ex_vec3(0.0, 0.0, height_of(value)), ex_vec3(0.0, 0.0, 0.0));
  return world.status;
}

static frix_vec3 rotated(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return ex_vec3(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                 v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

/* Points of the upper ends of the warp are pulled to where they were made. */
static frix_status hang(frix_sim *sim, const frix_model *model, const double *value, double h) {
  frix_status status = FRIX_OK;
  (void)h;
  for (int32_t k = 0; k < (int32_t)value[WARP] && status == FRIX_OK; k++) {
    char name[32];
    snprintf(name, sizeof name, "warp_%d", (int)k);
    frix_body_id id = frix_model_find_body(model, name);
    const frix_soft *soft = frix_model_soft(model, id);
    frix_body_config body = frix_body_default();
    if (!soft || frix_model_body(model, id, &body) != FRIX_OK) return FRIX_ERROR_INPUT;
    frix_soft_info info = frix_soft_view(soft);
    for (int32_t p = 0; p < info.point_count && status == FRIX_OK; p++) {
      frix_vec3 x = {info.point[p].x + info.center.x, info.point[p].y + info.center.y, info.point[p].z + info.center.z};
      if (x.x < 0.5 * pitch * value[WEFT] - 1e-9) continue;
      frix_vec3 at = rotated(body.pose.q, x);
      frix_soft_pull pull = {.point = p, .stiffness = 1e4, .damping = 10.0};
      pull.place = ex_vec3(body.pose.p.x + at.x, body.pose.p.y + at.y, body.pose.p.z + at.z);
      status = frix_sim_pull(sim, id, &pull);
    }
  }
  return status;
}

const frix_scene ex_scene_weave = {
    .name = "weave",
    .summary = "a weave of soft strands hangs: it holds, creeps or comes apart, by mu and stiffness",
    EX_PARAMETERS(weave_parameter),
    .step = 0.005,
    .time = 2.0,
    .build = build_weave,
    .drive = hang,
};

/* ---- thrown ---- */

enum { SPEED = WEAVE_MODES + 1 };

static const frix_option_info thrown_parameter[] = {
    SHARED_PARAMETERS,
    [SPEED] = EX_REAL("speed", 4, 0, 20, "initial speed, m/s"),
};

/* Two pegs across its way, at a third of its width. */
static frix_status build_thrown(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[WEAVE_MU], 0.0, seed);
  double high = 0.25 + height_of(value);
  ex_add_ground(&world);
  for (int side = -1; side <= 1; side += 2) {
    frix_shape_config peg = frix_shape_default();
    peg.kind = FRIX_SHAPE_CAPSULE, peg.material = world.material;
    peg.radius = 0.015, peg.half_length = 0.5 * high;
    peg.pose = ex_at(side * pitch * value[WARP] / 6.0, 0.15, 0.5 * high + 0.1);
    ex_add_shape(&world, (frix_body_id){0, 0}, &peg);
  }
  weave(&world, value, ex_vec3(0.0, 0.0, high), ex_vec3(0.0, value[SPEED], 0.0));
  return world.status;
}

const frix_scene ex_scene_weave_thrown = {
    .name = "weave-thrown",
    .summary = "a weave of soft strands is thrown at two pegs",
    EX_PARAMETERS(thrown_parameter),
    .step = 0.002,
    .time = 1.0,
    .build = build_thrown,
};
