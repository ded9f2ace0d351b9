/* Closed forms of bodies that roll and spin. */
#include "form_groups.h"

/* A ball of 1 kg, radius 0.1 and inertia part m r^2: sphere 2/5, cylinder 1/2, hoop 1. */
static const double radius = 0.1;

static frix_body_id put_ball(fx_lab *lab, double angle, frix_vec3 velocity, frix_vec3 spin, double part) {
  fx_lab_slope(lab, angle);
  frix_body_config b = fx_body(fx_at(radius * sin(angle), 0, radius * cos(angle)));
  double j = part * radius * radius;
  b.mass = 1, b.inertia = (frix_sym3){j, j, j, 0, 0, 0}, b.velocity = velocity, b.spin = spin;
  return fx_lab_put(lab, b, fx_ball(radius));
}

/* ---- skids, then rolls ---- */

static const double skid_speed = 2;

static double skid(const fx_form *form, double h, fx_tally *tally, bool speed) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id ball = put_ball(&lab, 0, fx_xyz(skid_speed, 0, 0), fx_xyz(0, 0, 0), form->part);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 1);
  frix_body_state s = fx_lab_state(&lab, ball);
  return fx_lab_end(&lab, speed ? s.velocity.x : s.center.x);
}

static double skid_end(const fx_form *form, double h, fx_tally *tally) { return skid(form, h, tally, true); }
static double skid_end_exact(const fx_form *form) { return skid_speed / (1 + form->part); }
static double skid_way(const fx_form *form, double h, fx_tally *tally) { return skid(form, h, tally, false); }

/* Rolls from t = (v - v_end) / (mu g) on. */
static double skid_way_exact(const fx_form *form) {
  double end = skid_end_exact(form), time = (skid_speed - end) / (form->mu * FX_GRAVITY);
  return skid_speed * time - form->mu * FX_GRAVITY * time * time / 2 + end * (1 - time);
}

static double skid_way_scheme(const fx_form *form, double h) {
  double v = skid_speed, spin = 0, x = 0;
  for (int64_t k = 0; k < fx_steps_in(1, h); k++) {
    double p = fmin(form->mu * FX_GRAVITY * h, (v - radius * spin) / (1 + 1 / form->part));
    v -= p, spin += p / (form->part * radius), x += h * v;
  }
  return x;
}

/* ---- down a slope ---- */

static const double slope_angle = 26.0 * 3.14159265358979323846 / 180, slope_time = 0.5;

static bool roll_holds(const fx_form *form, double slope, double h, fx_tally *tally) {
  double angle = atan(slope);
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id ball = put_ball(&lab, angle, fx_xyz(0, 0, 0), fx_xyz(0, 0, 0), form->part);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, 0), false;
  fx_lab_run(&lab, h, 0.2);
  frix_body_state s = fx_lab_state(&lab, ball);
  double v = s.velocity.x * cos(angle) - s.velocity.z * sin(angle);
  return fx_lab_end(&lab, fabs(v - radius * s.spin.y)) < 1e-9;
}

static double roll_limit_exact(const fx_form *form) { return form->mu * (1 + 1 / form->part); }

static double roll_limit(const fx_form *form, double h, fx_tally *tally) {
  double exact = roll_limit_exact(form);
  return fx_threshold(form, roll_holds, 0.93 * exact, 1.1 * exact, 1e-7, h, tally);
}

static double roll_down(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id ball = put_ball(&lab, slope_angle, fx_xyz(0, 0, 0), fx_xyz(0, 0, 0), form->part);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, slope_time);
  frix_vec3 c = fx_lab_state(&lab, ball).center;
  return fx_lab_end(&lab, c.x * cos(slope_angle) - c.z * sin(slope_angle));
}

static double roll_acceleration(const fx_form *form) { return FX_GRAVITY * sin(slope_angle) / (1 + form->part); }
static double roll_down_exact(const fx_form *form) { return roll_acceleration(form) * slope_time * slope_time / 2; }

static double roll_down_scheme(const fx_form *form, double h) {
  double n = (double)fx_steps_in(slope_time, h);
  return roll_acceleration(form) * h * h * n * (n + 1) / 2;
}

/* ---- rolling and drilling friction; part is their length d ---- */

static void rough(fx_lab *lab, double mu, double rolling, double spinning) {
  frix_material_config m = frix_material_default();
  m.mu = mu, m.rolling = rolling, m.spinning = spinning;
  lab->material = fx_lab_material(lab, m);
}

static const double roll_speed = 0.5;

/* 7/5 m a = m g d / r */
static double roll_out(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  rough(&lab, form->mu, form->part, 0);
  frix_body_id ball = put_ball(&lab, 0, fx_xyz(roll_speed, 0, 0), fx_xyz(0, roll_speed / radius, 0), 0.4);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 2);
  return fx_lab_end(&lab, fx_lab_state(&lab, ball).center.x);
}

static double roll_out_exact(const fx_form *form) {
  return 0.7 * roll_speed * roll_speed * radius / (FX_GRAVITY * form->part);
}

static double roll_out_scheme(const fx_form *form, double h) {
  double x = 0;
  for (double v = roll_speed; v > 0;) v = fmax(0, v - h * FX_GRAVITY * form->part / (1.4 * radius)), x += h * v;
  return x;
}

static const double drill_spin = 5, drill_time = 0.5;

/* 2/5 m r^2 w' = m g d */
static double drill(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  rough(&lab, form->mu, 0, form->part);
  frix_body_id ball = put_ball(&lab, 0, fx_xyz(0, 0, 0), fx_xyz(0, 0, drill_spin), 0.4);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, drill_time);
  return fx_lab_end(&lab, fx_lab_state(&lab, ball).spin.z);
}

static double drill_exact(const fx_form *form) {
  return drill_spin - drill_time * FX_GRAVITY * form->part / (0.4 * radius * radius);
}

/* ---- a disc that spins down on feet of equal pressure ---- */

enum { FEET = 40 };
static const double disc_radius = 0.2, disc_spin = 10, disc_time = 0.3;

/* In pairs on opposite sides, equal parts of the area each, then stretched so that their mean distance from the axis is
 * that of uniform pressure, 2/3 R: the torque mu m g 2/3 R is then the same. */
static frix_vec3 foot_at(int f) {
  double mean = 0, a = 2.39996322972865332 * (f / 2) + FX_PI * (f % 2);
  for (int k = 0; k < FEET / 2; k++) mean += sqrt((k + 0.5) / (FEET / 2)) / (FEET / 2);
  double p = disc_radius * sqrt((f / 2 + 0.5) / (FEET / 2)) * (2.0 / 3 / mean);
  return fx_xyz(p * cos(a), p * sin(a), 0);
}

/* The time it would spin at the rate it lost in the first 0.3 s. */
static double disc_spins(const fx_form *form, double h, fx_tally *tally) {
  double foot = 0.01, stiffness = 5e4, square = disc_radius * disc_radius;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_material_config m = frix_material_default();
  m.mu = form->mu, m.stiffness = 2 * stiffness; /* two in series */
  lab.material = fx_lab_material(&lab, m);
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, foot - FX_GRAVITY / (FEET * stiffness)));
  b.mass = 1, b.inertia = (frix_sym3){square / 4, square / 4, square / 2, 0, 0, 0}, b.spin = fx_xyz(0, 0, disc_spin);
  frix_body_id disc = {0, 0};
  for (int f = 0; f < FEET; f++) {
    frix_shape_config s = fx_ball(foot);
    s.pose.p = foot_at(f);
    if (f == 0)
      disc = fx_lab_put(&lab, b, s);
    else
      fx_lab_shape(&lab, disc, s);
  }
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, disc_time);
  return fx_lab_end(&lab, disc_time * disc_spin / (disc_spin - fx_lab_state(&lab, disc).spin.z));
}

static double disc_spins_exact(const fx_form *form) {
  return 3 * disc_radius * disc_spin / (4 * form->mu * FX_GRAVITY);
}

/* ---- a loaded ball: J is L . (from the contact to the centre of mass) ---- */

static const double top_radius = 0.05, top_off = 0.01, top_inertia[2] = {8e-5, 1e-4}; /* across and along its axis */

static double jellett_of(const frix_body_state *s) {
  frix_quat q = s->pose.q;
  frix_vec3 w = s->spin,
            axis = {2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)};
  frix_vec3 arm = {s->center.x - s->pose.p.x, s->center.y - s->pose.p.y, s->center.z - s->pose.p.z + top_radius};
  double along = (w.x * axis.x + w.y * axis.y + w.z * axis.z) * (top_inertia[1] - top_inertia[0]);
  return (top_inertia[0] * w.x + along * axis.x) * arm.x + (top_inertia[0] * w.y + along * axis.y) * arm.y +
         (top_inertia[0] * w.z + along * axis.z) * arm.z;
}

static double jellett_drift(const fx_form *form, double h, fx_tally *tally) {
  double worst = 0, first = 0;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, top_radius));
  b.pose.q = frix_quat_turn(fx_xyz(0, 1, 0), 0.2);
  b.mass = 0.1, b.center = fx_xyz(0, 0, -top_off);
  b.inertia = (frix_sym3){top_inertia[0], top_inertia[0], top_inertia[1], 0, 0, 0};
  b.spin = fx_xyz(100 * sin(0.2), 0, 100 * cos(0.2));
  frix_body_id top = fx_lab_put(&lab, b, fx_ball(top_radius));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  for (int64_t k = 0; k <= fx_steps_in(0.5, h); k++) {
    frix_body_state s = fx_lab_state(&lab, top);
    if (k == 0) first = jellett_of(&s);
    worst = fmax(worst, fabs(jellett_of(&s) / first - 1));
    fx_lab_step(&lab, h);
  }
  return fx_lab_end(&lab, worst);
}

static const fx_form rows[] = {
    {"skid-sphere", "a sphere of 2 m/s skids, then rolls: its speed", "5/7 v", "m/s", skid_end, skid_end_exact,
     .mu = 0.3, .part = 0.4, .floor = 1e-9},
    {"skid-cylinder", "a cylinder", "2/3 v", "m/s", skid_end, skid_end_exact, .mu = 0.3, .part = 0.5, .floor = 1e-9},
    {"skid-hoop", "a hoop", "1/2 v", "m/s", skid_end, skid_end_exact, .mu = 0.3, .part = 1, .floor = 1e-9},
    {"skid-sphere-distance", "the sphere: distance in 1 s; it rolls from t = 2 v / (7 mu g) on",
     "12 v^2 / (49 mu g) + 5/7 v (T - t)", "m", skid_way, skid_way_exact, skid_way_scheme, .mu = 0.3, .part = 0.4,
     .order = 1, .slope = 0.55, .floor = 1e-9},
    {"skid-cylinder-distance", "the cylinder; from t = v / (3 mu g) on", "5 v^2 / (18 mu g) + 2/3 v (T - t)", "m",
     skid_way, skid_way_exact, skid_way_scheme, .mu = 0.3, .part = 0.5, .order = 1, .slope = 0.55, .floor = 1e-9},
    {"skid-hoop-distance", "the hoop; from t = v / (2 mu g) on", "3 v^2 / (8 mu g) + 1/2 v (T - t)", "m", skid_way,
     skid_way_exact, skid_way_scheme, .mu = 0.3, .part = 1, .order = 1, .slope = 0.55, .floor = 1e-9},
    {"roll-limit-sphere", "a sphere rolls without slip up to this slope", "tan t = 7/2 mu", "", roll_limit,
     roll_limit_exact, .mu = 0.2, .part = 0.4, .floor = 1e-6},
    {"roll-limit-cylinder", "a cylinder", "tan t = 3 mu", "", roll_limit, roll_limit_exact, .mu = 0.2, .part = 0.5,
     .floor = 1e-6},
    {"roll-limit-hoop", "a hoop", "tan t = 2 mu", "", roll_limit, roll_limit_exact, .mu = 0.2, .part = 1,
     .floor = 1e-6},
    {"roll-down-sphere", "a sphere rolls down 26 degrees for 0.5 s: distance", "5/7 g sin t T^2 / 2", "m", roll_down,
     roll_down_exact, roll_down_scheme, .mu = 0.5, .part = 0.4, .order = 1, .slope = 0.8, .floor = 1e-9},
    {"roll-down-cylinder", "a cylinder", "2/3 g sin t T^2 / 2", "m", roll_down, roll_down_exact, roll_down_scheme,
     .mu = 0.5, .part = 0.5, .order = 1, .slope = 0.8, .floor = 1e-9},
    {"roll-down-hoop", "a hoop", "1/2 g sin t T^2 / 2", "m", roll_down, roll_down_exact, roll_down_scheme, .mu = 0.5,
     .part = 1, .order = 1, .slope = 0.8, .floor = 1e-9},
    {"rolling-friction", "a sphere of 0.5 m/s rolls out with rolling friction d: distance", "7 v^2 r / (10 g d)", "m",
     roll_out, roll_out_exact, roll_out_scheme, .mu = 0.5, .part = 0.02, .order = 1, .slope = 0.27, .floor = 1e-9},
    {"drilling-friction", "a sphere of 5 rad/s about the normal, friction d: its spin after 0.5 s",
     "w - 5 g d T / (2 r^2)", "rad/s", drill, drill_exact, .mu = 0.5, .part = 0.001, .floor = 1e-9},
    {"disc-spins", "a flat disc spins down under uniform pressure: how long", "3 R w / (4 mu g)", "s", disc_spins,
     disc_spins_exact, .mu = 0.3, .floor = 1e-6},
    {"jellett", "a loaded ball of 100 rad/s: drift of Jellett's integral over 0.5 s", "0", "", jellett_drift,
     fx_form_zero, .mu = 0.3, .order = 1, .slope = 1.6e-5, .floor = 1e-9},
};

const fx_form_group fx_forms_roll = {"roll", rows, sizeof rows / sizeof *rows};
