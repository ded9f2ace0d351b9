/* Joints: they hold, their coordinates mean what they say, and motors, limits, friction, springs do their work. */
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "sim_world.h"

static const double g = 9.81;

static frix_joint_id add_joint(world *w, frix_joint_config *j, frix_vec3 anchor, frix_vec3 axis, frix_vec3 axis2,
                               frix_vec3 anchor_b) {
  frix_joint_id id = {0, 0};
  MUST(w, frix_joint_place(w->builder, j, anchor, axis, axis2, anchor_b));
  MUST(w, frix_builder_add_joint(w->builder, j, &id));
  return id;
}

static frix_joint_state joint_of(world *w, frix_joint_id id) {
  frix_joint_state s = {0};
  MUST(w, frix_sim_joint(w->sim, id, &s));
  return s;
}

/* A rod on a hinge: period 2 pi sqrt(2 l / (3 g)) for small swings, and energy that stays. */
static void pendulum(fx_test *t) {
  double h = 0.001, length = 1, angle = 0.05;
  world w = world_new(t, 0.5, 0);
  frix_body_config b = body_at(at(0.5 * length * sin(angle), 0, -0.5 * length * cos(angle)));
  b.pose.q = turned(-angle, 0, 1, 0);
  frix_body_id rod = world_body(&w, b, box_shape(1e-3, 1e-3, 0.5 * length));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = rod;
  frix_joint_id hinge = add_joint(&w, &j, vec(0, 0, 0), vec(0, 1, 0), vec(0, 0, 0), vec(0, 0, 0));
  REQUIRE(t, world_start(&w));
  double period = 2 * 3.14159265358979 * sqrt(2 * length / (3 * g)), start = frix_sim_energy(w.sim).start;
  double last = 0, crossing[3];
  int count = 0;
  for (int k = 0; k < (int)(3 * period / h) && count < 3; k++) {
    world_step(&w, h);
    double x = state_of(&w, rod).center.x;
    if (last > 0 && x <= 0) crossing[count++] = frix_sim_time(w.sim) + h * x / (last - x);
    last = x;
    CHECK(t, joint_of(&w, hinge).error < 1e-5);
  }
  REQUIRE(t, count >= 2);
  CHECK_NEAR(t, crossing[1] - crossing[0], period, 2e-3 * period);
  frix_energy e = frix_sim_energy(w.sim);
  CHECK_NEAR(t, e.kinetic + e.potential, start, 2e-3 * 0.5 * length * angle * angle * g * 0.004 + 1e-5);
  CHECK(t, ledger_gap(w.sim) < 1e-12);
  CHECK(t, w.unsolved == 0);
  fx_test_note(t, "period error %.1e, residual %.1e", (crossing[1] - crossing[0]) / period - 1, w.worst);
  world_end(&w);
}

/* Every kind, thrown about: bodies stay together for two seconds. */
static void all_hold(fx_test *t) {
  for (int kind = FRIX_JOINT_BALL; kind <= FRIX_JOINT_DISTANCE; kind++) {
    world w = world_new(t, 0.5, 0);
    frix_body_config b = body_at(at(0.3, 0, 0));
    b.spin = vec(0.3, 2, -1);
    frix_body_id first = world_body(&w, b, box_shape(0.2, 0.05, 0.1));
    b = body_at(at(0.8, 0, 0));
    b.velocity = vec(0, 1, 0.5);
    frix_body_id second = world_body(&w, b, box_shape(0.15, 0.1, 0.05));
    frix_joint_config j = frix_joint_default((frix_joint_kind)kind);
    j.b = first;
    frix_joint_id one = add_joint(&w, &j, vec(0, 0, 0), vec(0, 1, 0), vec(1, 0, 0), vec(0.2, 0, 0));
    j = frix_joint_default((frix_joint_kind)kind);
    j.a = first;
    j.b = second;
    frix_joint_id two = add_joint(&w, &j, vec(0.55, 0, 0), vec(0, 0, 1), vec(1, 0, 0), vec(0.7, 0, 0));
    REQUIRE(t, world_start(&w));
    double worst = 0;
    for (int k = 0; k < 400; k++) {
      world_step(&w, 0.005);
      worst = fmax(worst, fmax(joint_of(&w, one).error, joint_of(&w, two).error));
    }
    if (worst > 4e-3 || w.unsolved || ledger_gap(w.sim) > 1e-11)
      fx_test_fail(t, __FILE__, __LINE__, "%s: error %.3g, %d steps not certified, ledger %.2g",
                   frix_joint_table(kind)->name, worst, (int)w.unsolved, ledger_gap(w.sim));
    world_end(&w);
  }
}

/* A hinge motor against gravity, a limit, dry friction and a spring. */
static world arm(fx_test *t, frix_axis_config axis, frix_body_id *body, frix_joint_id *hinge) {
  world w = world_new(t, 0.5, 0);
  frix_body_config b = body_at(at(0.5, 0, 0));
  b.mass = 2;
  *body = world_body(&w, b, box_shape(0.5, 0.01, 0.01));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = *body;
  j.axis[0] = axis;
  *hinge = add_joint(&w, &j, vec(0, 0, 0), vec(0, 1, 0), vec(1, 0, 0), vec(0, 0, 0));
  return w;
}

static void motors(fx_test *t) {
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  frix_axis_config axis = j.axis[0];
  frix_body_id body;
  frix_joint_id hinge;
  double torque = 2 * g * 0.5; /* to hold it level */

  /* limited at 0.3 below the horizon (positive angles about y point down) */
  axis.limited = true, axis.lower = -1, axis.upper = 0.3;
  world w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 2);
  CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], 0.3, 1e-9);
  CHECK_NEAR(t, joint_of(&w, hinge).axis_force[0], -torque * cos(0.3), 1e-6);
  CHECK(t, w.unsolved == 0);
  world_end(&w);

  /* dry friction above the load holds without creep, below it slips */
  for (int slips = 0; slips < 2; slips++) {
    axis = j.axis[0];
    axis.friction = torque * (slips ? 0.9 : 1.1);
    w = arm(t, axis, &body, &hinge);
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.005, 0.5);
    if (slips) {
      CHECK(t, joint_of(&w, hinge).coordinate[0] > 0.05);
      CHECK(t, frix_sim_energy(w.sim).friction > 0);
    } else {
      CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], 0, 1e-12);
    }
    CHECK(t, ledger_gap(w.sim) < 1e-12);
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }

  /* velocity motor, strong and weak */
  axis = j.axis[0];
  axis.motor = FRIX_MOTOR_VELOCITY, axis.target = -0.5, axis.max_force = 10 * torque;
  w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 1);
  CHECK_NEAR(t, joint_of(&w, hinge).rate[0], -0.5, 1e-6);
  CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], -0.5, 1e-3);
  CHECK(t, frix_sim_energy(w.sim).work > 0);
  axis.max_force = 0.5 * torque;
  MUST(&w, frix_sim_set_axis(w.sim, hinge, 0, &axis));
  world_run(&w, 0.005, 0.3);
  CHECK(t, joint_of(&w, hinge).rate[0] > 0); /* falls */
  CHECK_NEAR(t, joint_of(&w, hinge).axis_force[0], -0.5 * torque, 1e-6);
  world_end(&w);

  /* position motor without a bound */
  axis = j.axis[0];
  axis.motor = FRIX_MOTOR_POSITION, axis.target = -0.7, axis.max_speed = 2;
  w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 1);
  CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], -0.7, 1e-6);
  world_end(&w);

  /* force motor that carries the weight */
  axis = j.axis[0];
  axis.motor = FRIX_MOTOR_FORCE, axis.target = -torque;
  w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 0.5);
  CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], 0, 1e-9);
  world_end(&w);

  /* a spring so stiff that an explicit step would explode, damped: settles where k q = torque cos q */
  axis = j.axis[0];
  axis.stiffness = 1e6, axis.damping = 10;
  w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.01, 2);
  CHECK_NEAR(t, joint_of(&w, hinge).coordinate[0], torque / 1e6, 1e-9);
  CHECK(t, ledger_gap(w.sim) < 1e-11);
  world_end(&w);
}

/* A servo is a spring and a damper to its targets until its force is at its bound. */
static void servo(fx_test *t) {
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  frix_axis_config axis = j.axis[0];
  frix_body_id body;
  frix_joint_id hinge;
  double torque = 2 * g * 0.5;
  /* wide bound and none: rests where gain (target - q) carries the weight */
  for (int endless = 0; endless < 2; endless++) {
    axis.motor = FRIX_MOTOR_SERVO, axis.gain = 1e4, axis.rate_gain = 300, axis.target = -0.2;
    axis.max_force = endless ? INFINITY : 2 * torque;
    world w = arm(t, axis, &body, &hinge);
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.005, 3);
    double q = joint_of(&w, hinge).coordinate[0];
    CHECK_NEAR(t, q, -0.2 + torque * cos(q) / 1e4, 1e-7);
    CHECK_NEAR(t, joint_of(&w, hinge).axis_force[0], -torque * cos(q), 1e-4);
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-10 && frix_sim_energy(w.sim).work > 0);
    /* less than the weight: it falls under the full bound */
    axis.max_force = 0.5 * torque;
    MUST(&w, frix_sim_set_axis(w.sim, hinge, 0, &axis));
    world_run(&w, 0.005, 0.2);
    CHECK_NEAR(t, joint_of(&w, hinge).axis_force[0], -0.5 * torque, 1e-6);
    CHECK(t, joint_of(&w, hinge).rate[0] > 0.1 && w.unsolved == 0);
    world_end(&w);
  }
  /* to a speed: rate_gain (target_rate - rate) is the weight's torque while it turns level through q = 0 */
  axis = j.axis[0];
  axis.motor = FRIX_MOTOR_SERVO, axis.rate_gain = 1e5, axis.target_rate = -0.5;
  world w = arm(t, axis, &body, &hinge);
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.005, 1);
  CHECK_NEAR(t, joint_of(&w, hinge).rate[0], -0.5, 2 * torque / 1e5);
  world_end(&w);
}

/* The inertia of a rotor adds to that of the body: torque = (J + A) acceleration, and its energy is in the ledger. */
static void armature(fx_test *t) {
  static const frix_joint_kind kinds[] = {FRIX_JOINT_HINGE, FRIX_JOINT_SLIDER, FRIX_JOINT_BALL};
  const double rotor = 0.7, push = 3, time = 0.5;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    world w = world_new(t, 0.5, 0);
    MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
    frix_body_config b = body_at(at(0, 0, 0));
    b.mass = 2;
    frix_body_id body = world_body(&w, b, sphere_shape(0.5));
    frix_joint_config j = frix_joint_default(kinds[k]);
    j.b = body;
    j.axis[0].armature = rotor;
    bool slides = kinds[k] == FRIX_JOINT_SLIDER;
    if (kinds[k] != FRIX_JOINT_BALL) j.axis[0].motor = FRIX_MOTOR_FORCE, j.axis[0].target = push;
    frix_joint_id joint = add_joint(&w, &j, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0));
    REQUIRE(t, world_start(&w));
    for (int step = 0; step < 100; step++) {
      if (kinds[k] == FRIX_JOINT_BALL) MUST(&w, frix_sim_add_force(w.sim, body, vec(0, 0, 0), vec(0, 0, push)));
      world_step(&w, time / 100);
    }
    double inertia = (slides ? 2 : 0.4 * 2 * 0.25) + rotor, rate = push * time / inertia;
    frix_body_state s = state_of(&w, body);
    CHECK_NEAR(t, slides ? s.velocity.z : s.spin.z, rate, 1e-9);
    if (kinds[k] != FRIX_JOINT_BALL) CHECK_NEAR(t, joint_of(&w, joint).rate[0], rate, 1e-9);
    frix_energy e = frix_sim_energy(w.sim);
    CHECK_NEAR(t, e.kinetic, 0.5 * inertia * rate * rate, 1e-9);
    CHECK_NEAR(t, e.work, e.kinetic, 1e-9);
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-12);
    world_end(&w);
  }
}

/* Two hinged wheels, geared 1 : 3. */
static void gear(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  frix_body_id wheel[2];
  frix_joint_id hinge[2];
  for (int k = 0; k < 2; k++) {
    wheel[k] = world_body(&w, body_at(at(k, 0, 0)), kind_shape(FRIX_SHAPE_CYLINDER, 0.2, 0.05));
    frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
    j.b = wheel[k];
    if (k == 0) j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].target = 3, j.axis[0].max_force = 100;
    hinge[k] = add_joint(&w, &j, vec(k, 0, 0), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0));
  }
  frix_joint_config c = frix_joint_default(FRIX_JOINT_COUPLING);
  c.first = hinge[0], c.second = hinge[1], c.ratio = -3;
  frix_joint_id id;
  MUST(&w, frix_builder_add_joint(w.builder, &c, &id));
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.01, 10);
  double first = joint_of(&w, hinge[0]).coordinate[0], second = joint_of(&w, hinge[1]).coordinate[0];
  fx_test_note(t, "residual %.1e, %d", w.worst, (int)w.unsolved);
  CHECK_NEAR(t, first, 30, 0.1); /* nearly five turns, counted */
  CHECK_NEAR(t, first, -3 * second, 1e-9);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

/* Sliders: travel, limit, friction of a block in its guide. */
static void slider(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  frix_body_config b = body_at(at(0, 0, 0));
  b.mass = 3;
  b.velocity = vec(2, 0, 0);
  frix_body_id block = world_body(&w, b, box_shape(0.1, 0.1, 0.1));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
  j.b = block;
  j.axis[0].friction = 3;
  frix_joint_id rail = add_joint(&w, &j, vec(0, 0, 0), vec(1, 0, 0), vec(0, 0, 0), vec(0, 0, 0));
  REQUIRE(t, world_start(&w));
  world_run(&w, 0.001, 4);
  /* stops after v^2 / (2 F / m) = 2 m, and stays */
  CHECK_NEAR(t, joint_of(&w, rail).coordinate[0], 2, 2e-3);
  CHECK_NEAR(t, joint_of(&w, rail).rate[0], 0, 1e-12);
  CHECK_NEAR(t, state_of(&w, block).center.z, 0, 1e-9);
  CHECK_NEAR(t, frix_sim_energy(w.sim).friction, 6, 1e-2);
  CHECK(t, w.unsolved == 0);
  world_end(&w);
}

/* Drift: without control the joint opens, with it it does not. */
static void drift(fx_test *t) {
  double error[3];
  for (int k = 0; k < 3; k++) {
    world w = world_new(t, 0.5, 0);
    w.config.joint_stabilisation = k == 0 ? 0 : 1;
    w.config.projections = k == 2 ? 2 : 0;
    frix_body_id bob = world_body(&w, body_at(at(1, 0, 0)), sphere_shape(0.1));
    frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
    j.b = bob;
    frix_joint_id joint = add_joint(&w, &j, vec(0, 0, 0), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0));
    REQUIRE(t, world_start(&w));
    world_run(&w, 0.01, 5);
    error[k] = joint_of(&w, joint).error;
    world_end(&w);
  }
  CHECK(t, error[0] > 0.05);
  CHECK(t, error[1] < 5e-3);
  CHECK(t, error[2] < 1e-9);
  fx_test_note(t, "none %.1e, stabilised %.1e, projected %.1e m", error[0], error[1], error[2]);
}

/* Two bodies on a hinge fall freely without turning: all impulses are rounding, which is an answer and not a reason to
 * try every method. */
static void free_flight(fx_test *t) {
  for (int with = 0; with < 2; with++) {
    world w = world_new(t, 0.5, 0);
    frix_body_id id[2];
    for (int k = 0; k < 2; k++) {
      frix_body_config body = body_at(k ? at(0.35, 0.2, 50.1) : at(0.1, 0.2, 50));
      body.mass = 1;
      body.inertia = (frix_sym3){0.01, 0.01, 0.01, 0, 0, 0};
      body.pose.q = k ? frix_quat_turn(vec(3, -2, 1), 0.4) : frix_quat_turn(vec(1, 2, 3), 0.7);
      MUST(&w, frix_builder_add_body(w.builder, &body, &id[k]));
    }
    frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE);
    hinge.a = id[0];
    hinge.b = id[1];
    hinge.axis[0].friction = with ? 0.1 : 0;
    add_joint(&w, &hinge, vec(0.2, 0.2, 50.03), vec(1, 1, 0.3), vec(0, 0, 0), vec(0, 0, 0));
    if (world_start(&w)) {
      enum { STEPS = 200 };
      world_run(&w, 0.005, 0.005 * STEPS);
      CHECK(t, w.unsolved == 0);
      CHECK(t, w.iterations <= 15 * STEPS);
      fx_test_note(t, "%s friction %.1f iterations a step; ", with ? "with" : "without", (double)w.iterations / STEPS);
    }
    world_end(&w);
  }
}

/* ---- joints as coordinates ---- */

static void pendulum_in_trees(fx_test *t) { world_in_trees(t, pendulum); }
static void all_hold_in_trees(fx_test *t) { world_in_trees(t, all_hold); }
static void motors_in_trees(fx_test *t) { world_in_trees(t, motors); }
static void servo_in_trees(fx_test *t) { world_in_trees(t, servo); }
static void armature_in_trees(fx_test *t) { world_in_trees(t, armature); }
static void gear_in_trees(fx_test *t) { world_in_trees(t, gear); }
static void slider_in_trees(fx_test *t) { world_in_trees(t, slider); }
static void free_flight_in_trees(fx_test *t) { world_in_trees(t, free_flight); }

const fx_test_row test_joints[] = {
    {"joints/pendulum", pendulum},
    {"joints/all_hold", all_hold},
    {"joints/motors", motors},
    {"joints/servo", servo},
    {"joints/armature", armature},
    {"joints/gear", gear},
    {"joints/slider", slider},
    {"joints/drift", drift},
    {"joints/free_flight", free_flight},
    {"joints/pendulum_in_trees", pendulum_in_trees},
    {"joints/all_hold_in_trees", all_hold_in_trees},
    {"joints/motors_in_trees", motors_in_trees},
    {"joints/servo_in_trees", servo_in_trees},
    {"joints/armature_in_trees", armature_in_trees},
    {"joints/gear_in_trees", gear_in_trees},
    {"joints/slider_in_trees", slider_in_trees},
    {"joints/free_flight_in_trees", free_flight_in_trees},
    {0},
};
