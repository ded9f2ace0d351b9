/* Joints and limits: a chain of rods on ball joints, a bridge of planks under a load, a hinged plank on its stop.
 *
 *   chain  dragged: moves iff pull > mu (in weights of the chain), all rods alike, by h g (pull - mu)
 *          hanging: at rest; the joint above rod k carries h g times the mass of the rods from k on
 *   bridge a hanging chain of planks between two banks, on which a block lands
 *   limit  at rest; the stop carries the moment h g (m_plank L/2 + m_block x) about the hinge */
#include "scenes.h"

static const double step = 0.01;
static const ex_vec up = {0.0, 0.0, 1.0};

static const frix_example_parameter chain_parameter[] = {
    {"count", 5.0, 1.0, 20000.0, "rods of 0.2 m and 0.3 kg"},
    {"mu", 0.4, 0.0, 2.0, "friction"},
    {"pull", 0.6, 0.0, 100.0, "force on the last rod along the chain, times the weight of the chain"},
    {"hang", 0.0, 0.0, 1.0, "1: hangs from the ceiling, 1 mm above the ground; 0: lies on the ground"},
    {"ratio", 1.0, 1e-6, 1e6, "mass of the last rod over that of the others"},
};

static const double rod_length = 0.2, rod_radius = 0.01, rod_mass = 0.3;

/* Rod k from `start` along `along`, a slender box, linked to the rod before. */
static int32_t add_rod(ex_scene *scene, ex_vec start, ex_vec along, double mass, int32_t before, bool linked) {
  ex_vec centre = ex_add(start, ex_scale(rod_length / 2.0, along));
  ex_vec size = {2.0 * rod_radius, 2.0 * rod_radius, 2.0 * rod_radius};
  size.x += (rod_length - size.x) * (along.x != 0.0);
  size.z += (rod_length - size.z) * (along.z != 0.0);
  int32_t rod = ex_add_box(scene, centre, size, mass);
  if (linked) ex_add_ball_joint(scene, before, rod, start);
  return rod;
}

/* The rods lie on the ground in a line along x, each on four corners; the axis of the joints is at mid height. */
static void lay_chain(ex_scene *scene, int32_t count, double mu, double pull, double ratio) {
  int32_t before = EX_GROUND;
  for (int32_t k = 0; k < count; k++) {
    ex_vec start = {k * rod_length, 0.0, rod_radius};
    double mass = k + 1 == count ? ratio * rod_mass : rod_mass;
    before = add_rod(scene, start, (ex_vec){1.0, 0.0, 0.0}, mass, before, k > 0);
    ex_touch_edge(scene, EX_GROUND, before, (ex_vec){start.x, 0.0, 0.0}, 2.0 * rod_radius, up, mu);
    ex_touch_edge(scene, EX_GROUND, before, (ex_vec){start.x + rod_length, 0.0, 0.0}, 2.0 * rod_radius, up, mu);
  }
  double weight = (count - 1 + ratio) * rod_mass * scene->gravity;
  ex_set_force(scene, before, (ex_vec){pull * weight, 0.0, 0.0});
}

static void hang_chain(ex_scene *scene, int32_t count, double mu, double ratio) {
  const double clearance = 0.001;
  int32_t before = EX_GROUND;
  for (int32_t k = 0; k < count; k++) {
    ex_vec start = {0.0, 0.0, clearance + (count - k) * rod_length};
    double mass = k + 1 == count ? ratio * rod_mass : rod_mass;
    before = add_rod(scene, start, (ex_vec){0.0, 0.0, -1.0}, mass, before, true);
  }
  ex_link link = ex_link_new(EX_GROUND, before, (ex_vec){0.0, 0.0, 0.0}, up, mu);
  link.gap = clearance;
  ex_add_contact(scene, &link);
}

static frix_status build_chain(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  if (value[3] >= 0.5)
    hang_chain(&scene, (int32_t)value[0], value[1], value[4]);
  else
    lay_chain(&scene, (int32_t)value[0], value[1], value[2], value[4]);
  return ex_scene_build(&scene, context, "chain", out);
}

const frix_example ex_chain =
    EX_ROW("chain", "rods linked by ball joints, dragged on the ground or hanging", chain_parameter, build_chain);

/* ---- bridge: planks along a parabola, two ball joints at every seam, a block on the plank in the middle ---- */

static const frix_example_parameter bridge_parameter[] = {
    {"count", 11.0, 3.0, 1001.0, "planks of about 0.3 m and 2 kg; odd, so that the middle one is level"},
    {"mu", 0.6, 0.0, 2.0, "friction between block and plank"},
    {"ratio", 10.0, 1e-6, 1e6, "mass of the block over that of a plank"},
    {"sag", 0.1, 0.01, 0.5, "of the middle over the span"},
    {"speed", 0.1, 0.0, 10.0, "m/s downwards, of the block as it lands"},
};

/* The seam before plank k of `count`, in the plane y = 0. */
static ex_vec bridge_seam(int32_t k, int32_t count, double span, double sag) {
  double x = (double)k / count;
  return (ex_vec){x * span, 0.0, -4.0 * sag * span * x * (1.0 - x)};
}

static void link_seam(ex_scene *scene, int32_t before, int32_t plank, ex_vec seam, double width) {
  for (int side = -1; side <= 1; side += 2)
    ex_add_ball_joint(scene, before, plank, (ex_vec){seam.x, side * width / 2.0, seam.z});
}

static frix_status build_bridge(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  const double length = 0.3, width = 0.6, thickness = 0.03, block = 0.2, plank_mass = 2.0;
  int32_t count = (int32_t)value[0], before = EX_GROUND;
  double span = count * length, density = plank_mass / (length * width * thickness);
  for (int32_t k = 0; k < count; k++) {
    ex_vec from = bridge_seam(k, count, span, value[3]), to = bridge_seam(k + 1, count, span, value[3]);
    ex_vec along = ex_unit(ex_sub(to, from)), half = ex_scale(thickness / 2.0, (ex_vec){-along.z, 0.0, along.x});
    ex_vec corner[4] = {ex_sub(from, half), ex_sub(to, half), ex_add(to, half), ex_add(from, half)};
    int32_t plank = ex_add_prism(&scene, corner, 4, width, density);
    link_seam(&scene, before, plank, from, width);
    if (k == count / 2) {
      ex_vec top = ex_add(ex_scale(0.5, ex_add(from, to)), half);
      ex_vec centre = {top.x, 0.0, top.z + block / 2.0};
      int32_t load = ex_add_box(&scene, centre, (ex_vec){block, block, block}, value[2] * plank_mass);
      ex_set_motion(&scene, load, (ex_vec){0.0, 0.0, -value[4]}, (ex_vec){0.0, 0.0, 0.0});
      ex_vec normal = ex_scale(2.0 / thickness, half);
      for (int side = -1; side <= 1; side += 2)
        ex_touch_edge(&scene, plank, load, ex_add(top, ex_scale(side * block / 2.0, along)), block, normal, value[1]);
    }
    before = plank;
  }
  link_seam(&scene, before, EX_GROUND, bridge_seam(count, count, span, value[3]), width);
  return ex_scene_build(&scene, context, "bridge", out);
}

const frix_example ex_bridge =
    EX_ROW("bridge", "a hanging bridge of planks, a block lands on the middle", bridge_parameter, build_bridge);

/* ---- limit ---- */

static const frix_example_parameter limit_parameter[] = {
    {"mu", 0.5, 0.0, 2.0, "friction between block and plank"},
    {"mass", 0.5, 1e-3, 1e3, "of the block, kg; the plank has 2 kg"},
    {"angle", 0.0, 0.0, 0.1, "the plank may still fall, radians"},
};

/* A plank of 1 m along x, hinged about y at its left end; the stop ends its fall: 0 <= spin upwards + angle / h. The
 * block lies with its middle 0.8 m from the hinge. */
static frix_status build_limit(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  const double length = 1.0, width = 0.2, thickness = 0.04, block = 0.1, x = 0.8;
  const ex_vec hinge = {0.0, 0.0, 0.0}, about_x = {1.0, 0.0, 0.0}, up_turn = {0.0, -1.0, 0.0};
  int32_t plank = ex_add_box(&scene, (ex_vec){length / 2.0, 0.0, 0.0}, (ex_vec){length, width, thickness}, 2.0);
  ex_add_ball_joint(&scene, EX_GROUND, plank, hinge);
  ex_add_joint_row(&scene, EX_GROUND, plank, hinge, about_x, true);
  ex_add_joint_row(&scene, EX_GROUND, plank, hinge, up, true);
  ex_link stop = {.below = EX_GROUND, .above = plank, .point = hinge, .normal = up_turn, .angular = true};
  stop.gap = value[2];
  stop.law = (frix_contact){.cone = FRIX_CONE_LIMIT, .dim = 1};
  ex_add_contact(&scene, &stop);
  ex_vec centre = {x, 0.0, thickness / 2.0 + block / 2.0};
  int32_t body = ex_add_box(&scene, centre, (ex_vec){block, block, block}, value[1]);
  for (int side = -1; side <= 1; side += 2) {
    ex_vec edge = {x + side * block / 2.0, 0.0, thickness / 2.0};
    ex_touch_edge(&scene, plank, body, edge, block, up, value[0]);
  }
  return ex_scene_build(&scene, context, "limit", out);
}

const frix_example ex_limit =
    EX_ROW("limit", "a hinged plank on its stop, a block on the plank", limit_parameter, build_limit);
