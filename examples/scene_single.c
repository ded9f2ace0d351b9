/* Few bodies; most have an answer on paper.
 *
 *   incline   rests iff tan(angle) <= mu, else slides with g (sin - mu cos)
 *   puck      stops after v^2 / (2 mu g), in a straight line, the same in every direction
 *   painleve  a rod at tan(angle) = 2: sliding towards its lean is inconsistent for mu > 4/3
 *   top       L . (from the contact to the centre of mass) is constant, whatever the friction (Jellett)
 *   grip      holds while 2 mu F >= m g, without creep */
#include "world.h"

#include <math.h>
#include <stdio.h>

/* ---- incline ---- */

enum { INCLINE_MU, ANGLE };

static const frix_option_info incline_parameter[] = {
    [INCLINE_MU] = EX_REAL("mu", 0.5, 0, 2, "friction"),
    [ANGLE] = EX_REAL("angle", 26, 0, 70, "angle of the slope, degrees"),
};

static frix_status build_incline(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[INCLINE_MU], 0.0, seed);
  double s, c, half = 0.05;
  ex_sincos(value[ANGLE], &s, &c);
  frix_shape_config plane = frix_shape_default(), brick = ex_box(0.2, 0.2, half);
  plane.kind = FRIX_SHAPE_PLANE;
  plane.pose.q = ex_turned(value[ANGLE], 0.0, 1.0, 0.0);
  ex_add_shape(&world, (frix_body_id){0, 0}, &plane);
  frix_body_config body = ex_body("block", (frix_pose){{half * s, 0.0, half * c}, plane.pose.q});
  ex_put(&world, &body, &brick);
  return world.status;
}

const frix_scene ex_scene_incline = {
    .name = "incline",
    .summary = "a block on a slope: rests iff tan(angle) <= mu",
    EX_PARAMETERS(incline_parameter),
    .step = 0.01,
    .time = 1.0,
    .stands = true,
    .build = build_incline,
};

/* ---- puck: a sled on three feet ---- */

enum { PUCK_MU, SPEED, DIRECTION };

static const frix_option_info puck_parameter[] = {
    [PUCK_MU] = EX_REAL("mu", 0.4, 0, 2, "friction"),
    [SPEED] = EX_REAL("speed", 2, 0, 100, "m/s"),
    [DIRECTION] = EX_REAL("direction", 30, 0, 360, "degrees from x"),
};

static frix_status build_puck(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[PUCK_MU], 0.0, seed);
  double s, c, radius = 0.02;
  ex_sincos(value[DIRECTION], &s, &c);
  ex_add_ground(&world);
  frix_body_config body = ex_body("puck", ex_at(0.0, 0.0, radius));
  body.mass = 1.0;
  body.inertia = (frix_sym3){0.01, 0.01, 0.02, 0.0, 0.0, 0.0};
  body.velocity = ex_vec3(value[SPEED] * c, value[SPEED] * s, 0.0);
  frix_body_id puck = ex_put(&world, &body, NULL);
  for (int k = 0; k < 3; k++) {
    ex_sincos(120.0 * k, &s, &c);
    frix_shape_config foot = ex_ball(&world, radius);
    foot.pose = ex_at(0.2 * c, 0.2 * s, 0.0);
    ex_add_shape(&world, puck, &foot);
  }
  return world.status;
}

const frix_scene ex_scene_puck = {
    .name = "puck",
    .summary = "a sled on three feet slides and stops, straight in any direction",
    EX_PARAMETERS(puck_parameter),
    .step = 0.005,
    .time = 1.0,
    .build = build_puck,
};

/* ---- ellipse: axes 4 m and 8 m, dropped turning ---- */

enum { ELLIPSE_HEIGHT, ELLIPSE_SPIN, ELLIPSE_MU };

static const frix_option_info ellipse_parameter[] = {
    [ELLIPSE_HEIGHT] = EX_REAL("height", 8, 4, 100, "height of the centre above the table, m"),
    [ELLIPSE_SPIN] = EX_REAL("spin", 3, -50, 50, "rad/s"),
    [ELLIPSE_MU] = EX_REAL("mu", 0.3, 0, 2, "friction"),
};

static frix_status build_ellipse(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[ELLIPSE_MU], 0.0, seed);
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_ELLIPSE, shape.half = ex_vec3(4.0, 2.0, 0.0), shape.density = 1.0;
  frix_body_config body = ex_body("ellipse", ex_at(0.0, value[ELLIPSE_HEIGHT], 0.0));
  body.spin = ex_vec3(0.0, 0.0, value[ELLIPSE_SPIN]);
  ex_add_ground(&world);
  ex_put(&world, &body, &shape);
  return world.status;
}

const frix_scene ex_scene_ellipse = {
    .name = "ellipse",
    .summary = "an ellipse with axes 4 m and 8 m is dropped turning",
    EX_PARAMETERS(ellipse_parameter),
    .step = 0.01,
    .time = 10.0,
    .build = build_ellipse,
};

/* ---- Painleve's rod: 1 m long, 1 kg, its lower end sliding ---- */

enum { ROD_ANGLE, ROD_MU, ROD_SPEED };

static const frix_option_info painleve_parameter[] = {
    [ROD_ANGLE] = EX_REAL("angle", 63.43494882292201, 1, 89, "angle to the table, degrees"),
    [ROD_MU] =
        EX_REAL("mu", 1.6, 0, 5, "friction; sliding is inconsistent above (1 + 3 cos^2)/(3 sin cos) of the angle"),
    [ROD_SPEED] = EX_REAL("speed", -1, -20, 20, "speed of the rod along x, m/s; it leans towards +x"),
};

static frix_status build_painleve(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[ROD_MU], 0.0, seed);
  double s, c, half = 0.5, tip_radius = 1e-3;
  ex_sincos(value[ROD_ANGLE], &s, &c);
  ex_add_ground(&world);
  frix_pose pose = {{half * c, 0.0, half * s + tip_radius}, ex_turned(-value[ROD_ANGLE], 0.0, 1.0, 0.0)};
  frix_body_config body = ex_body("rod", pose);
  body.mass = 1.0;
  body.inertia = (frix_sym3){1e-4, half * half / 3.0, half * half / 3.0, 0.0, 0.0, 0.0};
  body.velocity = ex_vec3(value[ROD_SPEED], 0.0, 0.0);
  frix_body_id rod = ex_put(&world, &body, NULL);
  for (int side = -1; side <= 1; side += 2) {
    frix_shape_config tip = ex_ball(&world, tip_radius);
    tip.pose = ex_at(side * half, 0.0, 0.0);
    ex_add_shape(&world, rod, &tip);
  }
  return world.status;
}

const frix_scene ex_scene_painleve = {
    .name = "painleve",
    .summary = "a rod slides towards the side it leans from: impulses without a collision",
    EX_PARAMETERS(painleve_parameter),
    .step = 0.001,
    .time = 1.0,
    .build = build_painleve,
};

/* ---- top: a ball with its centre of mass below the middle, spinning ----
 *
 * It rises where the ratio of its moments of inertia lies within 1 -+ offset / radius, and as long as it slides: under
 * Coulomb friction at a point it comes to rolling where mu is too large, and then no longer rises. So mu is small. */

enum { TOP_SPIN, TOP_TILT, TOP_OFFSET, TOP_MU };

static const frix_option_info top_parameter[] = {
    [TOP_SPIN] = EX_REAL("spin", 100, 0, 1000, "rad/s about its axis"),
    [TOP_TILT] = EX_REAL("tilt", 10, 0, 90, "tilt of the axis, degrees"),
    [TOP_OFFSET] = EX_REAL("offset", 0.02, 0, 0.03, "distance of the centre of mass below the middle, m"),
    [TOP_MU] = EX_REAL("mu", 0.1, 0, 2, "friction"),
};

static frix_status build_top(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[TOP_MU], 0.0, seed);
  double s, c, radius = 0.05;
  ex_sincos(value[TOP_TILT], &s, &c);
  frix_body_config body = ex_body("top", (frix_pose){{0.0, 0.0, radius}, ex_turned(value[TOP_TILT], 0.0, 1.0, 0.0)});
  body.mass = 0.1;
  body.center = ex_vec3(0.0, 0.0, -value[TOP_OFFSET]);
  body.inertia = (frix_sym3){1.1e-4, 1.1e-4, 1e-4, 0.0, 0.0, 0.0};
  body.spin = ex_vec3(value[TOP_SPIN] * s, 0.0, value[TOP_SPIN] * c);
  frix_shape_config ball = ex_ball(&world, radius);
  ex_add_ground(&world);
  ex_put(&world, &body, &ball);
  return world.status;
}

const frix_scene ex_scene_top = {
    .name = "top",
    .summary = "a tippe top: a ball with its weight below the middle spins and rises",
    EX_PARAMETERS(top_parameter),
    .step = 0.001,
    .time = 10.0,
    .build = build_top,
};

/* ---- grip: a capsule of 45 g between two pads on rails that press ---- */

enum { FORCE, GRIP_MU };

static const frix_option_info grip_parameter[] = {
    [FORCE] = EX_REAL("force", 12, 0, 1000, "force of each pad, N"),
    [GRIP_MU] = EX_REAL("mu", 0.7, 0, 2, "friction"),
};

static frix_status build_grip(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[GRIP_MU], 0.0, seed);
  const double radius = 0.004, thick = 0.01;
  for (int side = -1; side <= 1; side += 2) {
    double x = side * (radius + thick);
    frix_body_config body = ex_body(side < 0 ? "left" : "right", ex_at(x, 0.0, 0.0));
    frix_shape_config pad = ex_box(thick, 0.02, 0.02);
    body.mass = 0.1;
    frix_joint_config rail = frix_joint_default(FRIX_JOINT_SLIDER);
    rail.b = ex_put(&world, &body, &pad);
    rail.axis[0].motor = FRIX_MOTOR_FORCE, rail.axis[0].target = -side * value[FORCE];
    frix_vec3 zero = ex_vec3(0.0, 0.0, 0.0);
    if (world.status == FRIX_OK)
      world.status = frix_joint_place(builder, &rail, ex_vec3(x, 0.0, 0.0), ex_vec3(1.0, 0.0, 0.0), zero, zero);
    if (world.status == FRIX_OK) world.status = frix_builder_add_joint(builder, &rail, NULL);
  }
  frix_body_config body = ex_body("capsule", ex_at(0.0, 0.0, 0.0));
  frix_shape_config capsule = frix_shape_default();
  capsule.kind = FRIX_SHAPE_CAPSULE, capsule.radius = radius, capsule.half_length = 0.01;
  body.mass = 0.045;
  ex_put(&world, &body, &capsule);
  return world.status;
}

const frix_scene ex_scene_grip = {
    .name = "grip",
    .summary = "a capsule held between two pads that press",
    EX_PARAMETERS(grip_parameter),
    .step = 0.002,
    .time = 5.0,
    .stands = true,
    .build = build_grip,
};

/* ---- cradle: steel balls, each on two strings, the first one pulled aside ----
 *
 * Simultaneous impacts have no single answer, so the balls hang a small gap apart and the step is short enough for one
 * impact after the other. */

enum { CRADLE_N, PULL, CRADLE_E, CRADLE_GAP };

static const frix_option_info cradle_parameter[] = {
    [CRADLE_N] = EX_WHOLE("n", 5, 1, 100, "balls of radius 20 mm"),
    [PULL] = EX_REAL("pull", 20, 0, 60, "angle of the first string, degrees"),
    [CRADLE_E] = EX_REAL("e", 1, 0, 1, "restitution"),
    [CRADLE_GAP] = EX_REAL("gap", 0.001, 0.0001, 0.01, "gap between balls at rest, m"),
};

static frix_status build_cradle(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, 0.0, value[CRADLE_E], seed);
  const double radius = 0.02, drop = 0.30, aside = 0.10;
  frix_shape_config ball = ex_ball(&world, radius);
  ball.density = 7800.0;
  for (int32_t k = 0; k < (int32_t)value[CRADLE_N]; k++) {
    char name[32];
    double s = 0.0, c = 1.0, x = k * (2.0 * radius + value[CRADLE_GAP]);
    if (k == 0) ex_sincos(value[PULL], &s, &c);
    snprintf(name, sizeof name, "ball_%d", (int)k);
    frix_body_config body = ex_body(name, ex_at(x - drop * s, 0.0, drop - drop * c));
    frix_body_id id = ex_put(&world, &body, &ball);
    for (int side = -1; side <= 1; side += 2) {
      frix_joint_config string = frix_joint_default(FRIX_JOINT_DISTANCE);
      string.b = id;
      if (world.status == FRIX_OK)
        world.status = frix_joint_place(builder, &string, ex_vec3(x, side * aside, drop), ex_vec3(0.0, 0.0, 1.0),
                                        ex_vec3(0.0, 0.0, 0.0), body.pose.p);
      if (world.status == FRIX_OK) world.status = frix_builder_add_joint(builder, &string, NULL);
    }
  }
  return world.status;
}

const frix_scene ex_scene_cradle = {
    .name = "cradle",
    .summary = "Newton's cradle: balls on strings, the first one pulled aside",
    EX_PARAMETERS(cradle_parameter),
    .step = 0.0005,
    .time = 3.0,
    .build = build_cradle,
};
