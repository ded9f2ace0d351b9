/* A weave of soft strands: it hangs from its warp and holds, creeps or comes apart, by friction and stiffness; or it is
 * thrown at pegs.
 *
 * Strands are bars of square section, bent by half waves. Two that cross at x = z = 0 have the gap
 *
 *   wave (c(x) + c(z)) - thick,   c the polygon of the mesh through points of cos(pi x / pitch)
 *
 * which is least at corners of the crossing, |x| = |z| = thick / 2. There undeformed strands would overlap by the part
 * `pressed` of their thickness; before the first step they are bent until they only touch, and press on each other.
 * Nothing else holds the weft: where mu r_N of its crossings is less than its weight it slides down the warp. */
#include "world.h"

#include <math.h>
#include <stdio.h>

enum { WARP, WEFT, WEAVE_MU, WEAVE_YOUNG, PRESSED, WEAVE_CELLS, WEAVE_MODES };

#define SHARED_PARAMETERS                                                                                          \
  [WARP] = EX_WHOLE("warp", 4, 2, 12, "strands that hang"), [WEFT] = EX_WHOLE("weft", 4, 2, 12, "strands across"), \
  [WEAVE_MU] = EX_REAL("mu", 0.3, 0, 2, "friction"),                                                               \
  [WEAVE_YOUNG] = EX_REAL("young", 1e6, 1e4, 1e9, "Young's modulus, Pa"),                                          \
  [PRESSED] = EX_REAL("pressed", 0.1, 0, 0.2, "overlap of crossing strands, undeformed, over their thickness"),    \
  [WEAVE_CELLS] = EX_WHOLE("cells", 1, 1, 6, "mesh cells across a strand: more give more contacts per crossing"),  \
  [WEAVE_MODES] = EX_WHOLE("modes", 14, 4, 40, "vibration modes of a strand")

/* Points of the surface do not lie on the edges of crossings, where nothing says on which side they are. */
static const double pitch = 0.05, thick = 0.02;

/* The least height of a strand of wave 1 where it crosses others. Its mesh is a polygon through `count` + 1 places. */
static double lowest(int32_t crossings, int32_t count) {
  double least = 1.0, side = pitch * crossings;
  for (int32_t k = 0; k < 2 * crossings; k++) {
    double x = pitch * (k / 2 + 0.5) + (k % 2 ? 0.5 : -0.5) * thick, at = x / side * count, s, height[2];
    int32_t place = (int32_t)at < count ? (int32_t)at : count - 1;
    for (int e = 0; e < 2; e++) ex_sincos(180.0 * crossings * (place + e) / count, &height[e], &s);
    double here = height[0] + (at - place) * (height[1] - height[0]);
    least = fmin(least, k / 2 % 2 ? -here : here);
  }
  return least;
}

/* A strand that crosses so many others. */
static frix_soft *strand(ex_world *world, const double *value, int32_t crossings) {
  frix_soft_config c = frix_soft_default();
  c.sides = ex_vec3(pitch * crossings, thick, thick), c.damping_ratio = 0.3;
  c.cells = (int32_t)value[WEAVE_CELLS], c.modes = (int32_t)value[WEAVE_MODES];
  int32_t count = (int32_t)(pitch * crossings / (thick / c.cells) + 0.5);
  c.young = value[WEAVE_YOUNG], c.waves = crossings;
  c.wave = 0.5 * thick * (1.0 - value[PRESSED]) / lowest(crossings, count);
  return ex_soft(world, "bar", &c);
}

static frix_quat times(frix_quat a, frix_quat b) {
  return (frix_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

/* Warps come first; the only soft bodies of the model. */
static frix_body_id strand_id(const frix_model *model, int32_t k) {
  for (int32_t b = 0; b < frix_model_count(model).body_count; b++) {
    frix_body_id id = frix_model_body_at(model, b);
    if (frix_model_soft(model, id) && k-- == 0) return id;
  }
  return (frix_body_id){0, 0};
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

/* ---- the weave is put together ---- */

enum { TIGHTENING = 100 };                           /* steps at most */
static const double touching = 1e-6, gentle = 0.005; /* m: an overlap that is left; h */

/* Where the strands of one simulation are becomes where those of another are. */
static frix_status copy_strands(const frix_sim *from, frix_sim *to, const frix_model *model, int32_t strands) {
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < strands && status == FRIX_OK; k++) {
    frix_body_id id = strand_id(model, k);
    frix_body_state state;
    status = frix_sim_body(from, id, &state);
    if (status == FRIX_OK) status = frix_sim_set_pose(to, id, state.pose);
    if (status == FRIX_OK) status = frix_sim_set_amplitude(to, id, frix_sim_amplitude(from, id), NULL);
  }
  return status;
}

/* Strands are pushed apart in a simulation without gravity; they gain no speed. */
static frix_status push_apart(frix_sim *other, frix_sim *sim, const frix_model *model, int32_t strands) {
  const frix_vec3 none = {0.0, 0.0, 0.0};
  frix_status status = frix_sim_set_gravity(other, none);
  double deepest = INFINITY;
  for (int32_t step = 0; step < TIGHTENING && deepest > touching && status == FRIX_OK; step++) {
    frix_step_report report = {.size = sizeof report};
    for (int32_t k = 0; k < strands && status == FRIX_OK; k++)
      status = frix_sim_set_velocity(other, strand_id(model, k), none, none);
    if (status == FRIX_OK) status = copy_strands(other, sim, model, strands);
    if (status == FRIX_OK) status = frix_sim_step(other, gentle, &report);
    deepest = report.penetration; /* where they are in sim */
  }
  return status;
}

static frix_status put_together(frix_sim *sim, const frix_model *model, const double *value) {
  frix_context *context = NULL;
  frix_sim *other = NULL;
  frix_sim_config config = frix_sim_default();
  config.contact = FRIX_CONTACT_KIND_RIGID, config.stabilisation = 1.0; /* a step takes all of an overlap away */
  frix_status status = frix_context_create(NULL, &context);
  if (status == FRIX_OK) status = frix_sim_create(context, model, &config, &other);
  if (status == FRIX_OK) status = push_apart(other, sim, model, (int32_t)value[WARP] + (int32_t)value[WEFT]);
  frix_sim_destroy(other);
  frix_context_destroy(context);
  return status;
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
  frix_status status = frix_sim_time(sim) == 0.0 ? put_together(sim, model, value) : FRIX_OK;
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
    .step = 0.0025,
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

static frix_status throw(frix_sim * sim, const frix_model *model, const double *value, double h) {
  (void)h;
  return frix_sim_time(sim) == 0.0 ? put_together(sim, model, value) : FRIX_OK;
}

const frix_scene ex_scene_weave_thrown = {
    .name = "weave-thrown",
    .summary = "a weave of soft strands is thrown at two pegs",
    EX_PARAMETERS(thrown_parameter),
    .step = 0.00125,
    .time = 1.0,
    .build = build_thrown,
    .drive = throw,
};
