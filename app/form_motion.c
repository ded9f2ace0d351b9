/* Closed forms of flight, joints and the integrators. */
#include "form_groups.h"

/* ---- thrown up, with each integrator ---- */

static const double throw_time = 0.5, throw_speed = 5;

static double throw_height(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_body_config b = fx_body(fx_at(0, 0, 0));
  b.velocity = fx_xyz(1, 2, throw_speed);
  frix_body_id ball = fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, throw_time);
  return fx_lab_end(&lab, fx_lab_state(&lab, ball).center.z);
}

static double throw_height_exact(const fx_form *form) {
  (void)form;
  return throw_speed * throw_time - FX_GRAVITY * throw_time * throw_time / 2;
}

static double throw_height_moreau(const fx_form *form, double h) {
  return throw_height_exact(form) - FX_GRAVITY * throw_time * h / 2;
}

/* A box dropped from 0.4 m: how far from the ground its face rests. */
static double lands(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  fx_lab_slope(&lab, 0);
  frix_body_id box = fx_lab_put(&lab, fx_body(fx_at(0, 0, 0.7)), fx_box(0.1, 0.2, 0.3));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 1.5);
  return fx_lab_end(&lab, fabs(fx_lab_state(&lab, box).center.z - 0.3));
}

/* ---- a brick in free flight, about its middle axis: it tumbles ---- */

static frix_vec3 turn_by(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return fx_xyz(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

static frix_vec3 spin_momentum(const frix_body_state *s, frix_sym3 inertia) {
  frix_quat q = s->pose.q, back = {q.w, -q.x, -q.y, -q.z};
  frix_vec3 w = turn_by(back, s->spin);
  return turn_by(q, fx_xyz(inertia.xx * w.x, inertia.yy * w.y, inertia.zz * w.z));
}

/* part 0: change of the velocity; 1: of the angular momentum; 2: of the energy; the last two over their start. */
static double tumble(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.3, 0, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  frix_body_config b = fx_body(fx_at(1, 2, 3));
  b.pose.q = frix_quat_turn(fx_xyz(0.6, 0.8, 0), 0.7);
  b.velocity = fx_xyz(0.1, -0.2, 0.3), b.spin = fx_xyz(0.1, 5, 0.2);
  frix_body_id brick = fx_lab_put(&lab, b, fx_box(0.1, 0.2, 0.3));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  double start = frix_sim_energy(lab.sim).kinetic, worst[3] = {0};
  FX_DO(&lab, frix_model_body(lab.model, brick, &b));
  frix_body_state s = fx_lab_state(&lab, brick);
  frix_vec3 v = s.velocity, L = spin_momentum(&s, b.inertia);
  for (int64_t k = 0; k < fx_steps_in(10, h); k++) {
    fx_lab_step(&lab, h);
    s = fx_lab_state(&lab, brick);
    frix_vec3 M = spin_momentum(&s, b.inertia);
    worst[0] = fmax(worst[0], hypot(s.velocity.x - v.x, hypot(s.velocity.y - v.y, s.velocity.z - v.z)));
    worst[1] = fmax(worst[1], hypot(M.x - L.x, hypot(M.y - L.y, M.z - L.z)) / hypot(L.x, hypot(L.y, L.z)));
    worst[2] = fmax(worst[2], fabs(frix_sim_energy(lab.sim).kinetic / start - 1));
  }
  return fx_lab_end(&lab, worst[(int)form->part]);
}

/* ---- a free symmetric top: its axis goes round the angular momentum at |L| / J ---- */

static const double top_across = 0.01, top_along = 0.016, top_time = 2;
static const frix_vec3 top_spin = {1, 0, 3};

static double precession_rate(void) { return hypot(top_across * top_spin.x, top_along * top_spin.z) / top_across; }

/* The angle the axis has gone round L, plus the turns that are known to have passed. */
static double precession(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.3, 0, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  frix_body_config b = fx_body(fx_at(0, 0, 0));
  b.mass = 1, b.inertia = (frix_sym3){top_across, top_across, top_along, 0, 0, 0}, b.spin = top_spin;
  frix_body_id top = fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, top_time);
  frix_vec3 n = {top_across * top_spin.x, 0, top_along * top_spin.z};
  double length = hypot(n.x, n.z), turns = floor(precession_rate() * top_time / (2 * FX_PI));
  n = fx_xyz(n.x / length, 0, n.z / length);
  /* u: from L to the axis at the start; w = n x u */
  frix_vec3 axis = turn_by(fx_lab_state(&lab, top).pose.q, fx_xyz(0, 0, 1)), u = {-n.z, 0, n.x};
  double along = u.x * axis.x + u.z * axis.z, across = axis.y * (n.z * u.x - n.x * u.z);
  double angle = atan2(across, along);
  return fx_lab_end(&lab, (angle < 0 ? angle + 2 * FX_PI : angle) + 2 * FX_PI * turns);
}

static double precession_exact(const fx_form *form) {
  (void)form;
  return precession_rate() * top_time;
}

/* ---- a rod on a hinge: the time between the first and the third passage downwards ---- */

static const double swing = 0.05;

static double pendulum_period(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_body_config b = fx_body(fx_at(0.5 * sin(swing), 0, -0.5 * cos(swing)));
  b.pose.q = frix_quat_turn(fx_xyz(0, 1, 0), -swing);
  b.mass = 1, b.inertia = (frix_sym3){1.0 / 12, 1.0 / 12, 1e-4, 0, 0, 0};
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = fx_lab_put(&lab, b, fx_box(1e-3, 1e-3, 0.5));
  fx_lab_joint(&lab, j, fx_xyz(0, 0, 0), fx_xyz(0, 1, 0));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  double last = 0, first = NAN, second = NAN;
  for (int64_t k = 0; k < fx_steps_in(4, h) && isnan(second); k++) {
    fx_lab_step(&lab, h);
    double x = fx_lab_state(&lab, j.b).center.x;
    if (last > 0 && x <= 0) {
      double crossing = frix_sim_time(lab.sim) + h * x / (last - x);
      *(isnan(first) ? &first : &second) = crossing;
    }
    last = x;
  }
  return fx_lab_end(&lab, second - first);
}

static double pendulum_period_exact(const fx_form *form) {
  double a2 = swing * swing;
  (void)form;
  return 2 * FX_PI * sqrt(2 / (3 * FX_GRAVITY)) * (1 + a2 / 16 + 11 * a2 * a2 / 3072);
}

/* ---- what acts along joints ---- */

static const double slider_speed = 2, slider_mass = 3, slider_friction = 3;

static double slider_way(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_body_config b = fx_body(fx_at(0, 0, 0));
  b.mass = slider_mass, b.velocity = fx_xyz(slider_speed, 0, 0);
  frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
  j.b = fx_lab_put(&lab, b, fx_box(0.1, 0.1, 0.1));
  j.axis[0].friction = slider_friction;
  fx_lab_joint(&lab, j, fx_xyz(0, 0, 0), fx_xyz(1, 0, 0));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 3);
  return fx_lab_end(&lab, fx_lab_state(&lab, j.b).center.x);
}

static double slider_way_exact(const fx_form *form) {
  (void)form;
  return slider_mass * slider_speed * slider_speed / (2 * slider_friction);
}

static double slider_way_scheme(const fx_form *form, double h) {
  double x = 0;
  (void)form;
  for (double v = slider_speed; v > 0;) v = fmax(0, v - h * slider_friction / slider_mass), x += h * v;
  return x;
}

/* A level arm of 2 kg and 1 m on a hinge. */
static const double arm_mass = 2, arm_half = 0.5;

static frix_joint_id put_arm(fx_lab *lab, frix_axis_config axis) {
  frix_body_config b = fx_body(fx_at(arm_half, 0, 0));
  b.mass = arm_mass;
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  j.b = fx_lab_put(lab, b, fx_box(arm_half, 0.01, 0.01));
  j.axis[0] = axis;
  return fx_lab_joint(lab, j, fx_xyz(0, 0, 0), fx_xyz(0, 1, 0));
}

static double arm_angle(const fx_lab *lab, frix_joint_id hinge) {
  frix_joint_state s = {0};
  frix_sim_joint(lab->sim, hinge, &s);
  return s.coordinate[0];
}

/* x: 1 / friction; more friction holds. */
static bool arm_holds(const fx_form *form, double x, double h, fx_tally *tally) {
  frix_axis_config axis = frix_joint_default(FRIX_JOINT_HINGE).axis[0];
  axis.friction = 1 / x;
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_joint_id hinge = put_arm(&lab, axis);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, 0), false;
  fx_lab_run(&lab, h, 0.2);
  return fx_lab_end(&lab, fabs(arm_angle(&lab, hinge))) < 1e-9;
}

static double arm_torque(const fx_form *form) {
  (void)form;
  return arm_mass * FX_GRAVITY * arm_half;
}

static double arm_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = 1 / arm_torque(form);
  return 1 / fx_threshold(form, arm_holds, 0.93 * exact, 1.1 * exact, 1e-7, h, tally);
}

/* A spring of stiffness part, damped: k q = m g l cos q. */
static double arm_sag(const fx_form *form, double h, fx_tally *tally) {
  frix_axis_config axis = frix_joint_default(FRIX_JOINT_HINGE).axis[0];
  axis.stiffness = form->part, axis.damping = form->part / 10;
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_joint_id hinge = put_arm(&lab, axis);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 5);
  return fx_lab_end(&lab, arm_angle(&lab, hinge));
}

static double arm_sag_exact(const fx_form *form) {
  double q = 0;
  for (int k = 0; k < 100; k++) q = arm_torque(form) * cos(q) / form->part;
  return q;
}

/* ---- energy of the variational scheme: a particle that bounces without loss ---- */

static double bounce_energy(const fx_form *form, double h, fx_tally *tally) {
  double worst = 0;
  fx_lab lab = fx_lab_new(form, 0, 1, tally);
  lab.config.restitution_speed = 0;
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, 1.1));
  b.mass = 1;
  fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  double start = frix_sim_energy(lab.sim).start;
  for (int64_t k = 0; k < fx_steps_in(5, h); k++) {
    fx_lab_step(&lab, h);
    frix_energy e = frix_sim_energy(lab.sim);
    worst = fmax(worst, fabs(e.kinetic + e.potential - start) / FX_GRAVITY); /* over m g 1 m */
  }
  return fx_lab_end(&lab, worst);
}

/* ---- the nonlinear oscillator V = |q|^2 (|q|^2 - 1)^2 above a plane; from rest it falls straight to the origin and
 * hits the plane at 45 degrees ---- */

static void fall_in(frix_sim *sim, double time, void *user) {
  frix_body_state s;
  frix_body_id body = *(const frix_body_id *)user;
  (void)time;
  frix_sim_body(sim, body, &s);
  double x = s.center.x, z = s.center.z - 0.1, q = x * x + z * z, slope = 2 * (q - 1) * (3 * q - 1);
  frix_sim_add_force(sim, body, fx_xyz(-slope * x, 0, -slope * z), fx_xyz(0, 0, 0));
}

static double well_energy(const frix_body_state *s) {
  double x = s->center.x, z = s->center.z - 0.1, q = x * x + z * z;
  return 0.5 * (s->velocity.x * s->velocity.x + s->velocity.z * s->velocity.z) + q * (q - 1) * (q - 1);
}

static double well_left(const fx_form *form, double h, fx_tally *tally) {
  frix_body_id body = {0, 0};
  fx_lab lab = fx_lab_new(form, form->mu, 1, tally);
  lab.config.restitution_speed = 0, lab.config.force = fall_in, lab.config.user = &body;
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(1.2, 0, 1.3));
  b.mass = 1, b.inertia = (frix_sym3){1e6, 1e6, 1e6, 0, 0, 0}; /* a particle: it does not turn */
  body = fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  frix_body_state s = fx_lab_state(&lab, body);
  double start = well_energy(&s);
  fx_lab_run(&lab, h, 5);
  s = fx_lab_state(&lab, body);
  return fx_lab_end(&lab, well_energy(&s) / start);
}

static double well_left_exact(const fx_form *form) { return form->mu > 0 ? 0.5 : 1; }

static const fx_form rows[] = {
    {"throw", "a ball thrown up at 5 m/s: its height after 0.5 s, moreau", "v T - g T^2 / 2", "m", throw_height,
     throw_height_exact, throw_height_moreau, .order = 1, .slope = 2.5, .floor = 1e-12},
    {"throw-two-step", "two_step", "v T - g T^2 / 2", "m", throw_height, throw_height_exact, .floor = 1e-12,
     .integrator = "two_step"},
    {"throw-variational", "variational", "v T - g T^2 / 2", "m", throw_height, throw_height_exact, .floor = 1e-12,
     .integrator = "variational"},
    {"lands", "a box falls 0.4 m and rests: how far its face is from the ground", "0", "m", lands, fx_form_zero,
     .floor = 1e-12},
    {"flight-velocity", "a brick tumbles for 10 s: change of its velocity", "0", "m/s", tumble, fx_form_zero,
     .part = 0},
    {"flight-momentum", "change of its angular momentum, over the start", "0", "", tumble, fx_form_zero, .part = 1,
     .floor = 1e-12},
    {"flight-energy", "change of its energy, over the start", "0", "", tumble, fx_form_zero, .part = 2, .order = 2,
     .slope = 0.6, .floor = 1e-12},
    {"precession", "a free symmetric top: the angle its axis goes round L in 2 s", "|L| T / J", "rad", precession,
     precession_exact, .order = 2, .slope = 6, .floor = 1e-9},
    {"pendulum", "a rod of 1 m on a hinge, 0.05 rad: its period", "2 pi sqrt(2 l / (3 g)) (1 + a^2/16 + ...)", "s",
     pendulum_period, pendulum_period_exact, .order = 2, .slope = 1.3, .floor = 1e-9},
    {"slider-friction", "3 kg of 2 m/s on a slider with 3 N of dry friction: distance", "m v^2 / (2 F)", "m",
     slider_way, slider_way_exact, slider_way_scheme, .order = 1, .slope = 1.02, .floor = 1e-9},
    {"hinge-friction", "dry friction of a hinge holds a level arm from this torque on", "m g l", "N m", arm_limit,
     arm_torque, .floor = 1e-5},
    {"hinge-spring", "a spring of 100 N m holds the arm at", "k q = m g l cos q", "rad", arm_sag, arm_sag_exact,
     .part = 100, .floor = 1e-9},
    {"bounce-energy", "a particle bounces without loss, variational: error of its energy", "0", "", bounce_energy,
     fx_form_zero, .floor = 1e-9, .integrator = "variational"},
    {"well-smooth", "V = q^2 (q^2 - 1)^2 above a smooth plane, variational: energy left after 5 s", "1", "", well_left,
     well_left_exact, .mu = 0, .order = 2, .slope = 12, .floor = 1e-6, .integrator = "variational"},
    {"well-rough", "with mu (1 + e) >= 1 the slip of the 45 degree impact stops: half is left", "1/2", "", well_left,
     well_left_exact, .mu = 0.5, .order = 2, .slope = 20, .floor = 1e-6, .integrator = "variational"},
};

const fx_form_group fx_forms_motion = {"motion", rows, sizeof rows / sizeof *rows};
