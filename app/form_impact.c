/* Closed forms of impacts: bounces, balls that meet, Painleve's rod, momentum and energy. */
#include "form_groups.h"

static const double radius = 0.1;

static frix_body_config ball_at(double x, double z) {
  frix_body_config b = fx_body(fx_at(x, 0, z));
  double j = 0.4 * radius * radius;
  b.mass = 1, b.inertia = (frix_sym3){j, j, j, 0, 0, 0};
  return b;
}

/* ---- a ball dropped from 1 m; part is the restitution ---- */

static const double drop_height = 1;

static double bounce(const fx_form *form, double h, fx_tally *tally, bool path_wanted) {
  double last = drop_height, path = 0, moving = 0;
  fx_lab lab = fx_lab_new(form, form->mu, form->part, tally);
  fx_lab_slope(&lab, 0);
  frix_body_id ball = fx_lab_put(&lab, ball_at(0, drop_height + radius), fx_ball(radius));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  for (int64_t k = 0; k < fx_steps_in(3, h); k++) {
    fx_lab_step(&lab, h);
    frix_body_state s = fx_lab_state(&lab, ball);
    path += fabs(s.center.z - radius - last), last = s.center.z - radius;
    if (fabs(s.velocity.z) > 1e-9) moving = frix_sim_time(lab.sim);
  }
  return fx_lab_end(&lab, path_wanted ? path : moving);
}

static double bounce_time(const fx_form *form, double h, fx_tally *tally) { return bounce(form, h, tally, false); }
static double bounce_path(const fx_form *form, double h, fx_tally *tally) { return bounce(form, h, tally, true); }

static double bounce_time_exact(const fx_form *form) {
  return sqrt(2 * drop_height / FX_GRAVITY) * (1 + form->part) / (1 - form->part);
}

static double bounce_path_exact(const fx_form *form) {
  return drop_height * (1 + form->part * form->part) / (1 - form->part * form->part);
}

static double bounce_path_scheme(const fx_form *form, double h) {
  double z = drop_height, v = 0, path = 0, noise = 1e-5 * FX_GRAVITY * h * h, e = form->part;
  for (int64_t k = 0; k < fx_steps_in(3, h); k++) {
    double free = v - FX_GRAVITY * h, gap = fabs(z) <= noise ? 0 : z, w = gap > 0 ? gap / h : 0.2 * gap / h;
    if (-v > 2 * FX_GRAVITY * h && gap + h * fmin(v, free) <= 0 && (gap > 0 || e * v < w)) w = e * v;
    v = fmax(free, -w);
    path += fabs(h * v), z += h * v;
  }
  return path;
}

/* ---- an oblique bounce without gravity; part is the restitution ---- */

static const double oblique_n = 2, oblique_t = 3;

/* So that the same part of a step is left at every step size when the gap closes. */
static double oblique_height(double h) { return 0.08 + 0.35 * oblique_n * h; }

static double oblique(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, form->part, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  fx_lab_slope(&lab, 0);
  frix_body_config b = ball_at(0, radius + oblique_height(h));
  b.velocity = fx_xyz(oblique_t * 0.6, oblique_t * 0.8, -oblique_n);
  frix_body_id ball = fx_lab_put(&lab, b, fx_ball(radius));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.2);
  frix_vec3 v = fx_lab_state(&lab, ball).velocity;
  return fx_lab_end(&lab, v.x * 0.6 + v.y * 0.8);
}

static double oblique_exact(const fx_form *form) {
  double impulse = form->mu * (1 + form->part) * oblique_n;
  return impulse >= 2.0 / 7 * oblique_t ? 5.0 / 7 * oblique_t : oblique_t - impulse;
}

/* The step before the gap would close bounces already; friction then acts in the middle of the gap that is left. */
static double oblique_scheme(const fx_form *form, double h) {
  double gap = oblique_height(h);
  while (gap - h * oblique_n > 0) gap -= h * oblique_n;
  double arm = radius + gap / 2, sticks = oblique_t / (1 + arm * arm / (0.4 * radius * radius));
  return oblique_t - fmin(sticks, form->mu * (1 + form->part) * oblique_n);
}

/* ---- a ball meets an equal one head on; part is the restitution ---- */

static double head_on(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, form->part, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  frix_body_config a = ball_at(0, 0), b = ball_at(0.3, 0);
  a.velocity = fx_xyz(1, 0, 0);
  fx_lab_put(&lab, a, fx_ball(radius));
  frix_body_id struck = fx_lab_put(&lab, b, fx_ball(radius));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.2);
  return fx_lab_end(&lab, fx_lab_state(&lab, struck).velocity.x);
}

static double head_on_exact(const fx_form *form) { return (1 + form->part) / 2; }

/* ---- Painleve's rod, tan t = 2: planar, its lower end a disc that touches the ground where the rod ends ---- */

static const double rod_half = 0.5;

static frix_body_id put_rod(fx_lab *lab, double speed) {
  double tip = 1e-3, x = rod_half / sqrt(5.0), y = 2 * rod_half / sqrt(5.0);
  fx_lab_line(lab);
  frix_body_config b = fx_body(fx_at(x, y, 0));
  b.planar = true, b.mass = 1, b.inertia.zz = rod_half * rod_half / 3;
  b.velocity = fx_xyz(-speed, 0, 0); /* the way that jams */
  frix_shape_config s = fx_disc(tip);
  s.pose.p = fx_xyz(-x, tip - y, 0);
  return fx_lab_put(lab, b, s);
}

/* Slip of the tip after one step, over h; it starts with `part` m/s^2 times h. */
static double rod_slip_of(const fx_form *form, double mu, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, mu, 0, tally);
  frix_body_id rod = put_rod(&lab, form->part * h);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_step(&lab, h);
  frix_body_state s = fx_lab_state(&lab, rod);
  return fx_lab_end(&lab, (s.velocity.x + s.spin.z * 2 * rod_half / sqrt(5.0)) / h);
}

static double rod_slip(const fx_form *form, double h, fx_tally *tally) { return rod_slip_of(form, form->mu, h, tally); }

/* Newton's law over the step with friction mu r_N against the slip: no force lets it slide on where nn + mu nt <= 0. */
static double rod_slip_exact(const fx_form *form) {
  double x = -rod_half / sqrt(5.0), y = 2 * x, J = rod_half * rod_half / 3;
  double nn = 1 + x * x / J, nt = -x * y / J, tt = 1 + y * y / J;
  if (nn + form->mu * nt <= 0) return 0;
  return fmin(0, -form->part + FX_GRAVITY / (nn + form->mu * nt) * (nt + form->mu * tt));
}

/* A tip that slides by part h stops within the step only from the critical friction on: at any speed, if sliding is
 * inconsistent. */
static bool rod_slides(const fx_form *form, double mu, double h, fx_tally *tally) {
  return rod_slip_of(form, mu, h, tally) < -1e-9 * form->part;
}

static double rod_critical_exact(const fx_form *form) {
  double c = 1 / sqrt(5.0), s = 2 * c;
  (void)form;
  return (1 + 3 * c * c) / (3 * s * c);
}

static double rod_critical(const fx_form *form, double h, fx_tally *tally) {
  double exact = rod_critical_exact(form);
  return fx_threshold(form, rod_slides, 0.93 * exact, 1.1 * exact, 1e-9, h, tally);
}

/* What the energy ever has above its start, over the start. */
static double rod_gain(const fx_form *form, double h, fx_tally *tally) {
  double most = 0;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  put_rod(&lab, 1);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  double start = frix_sim_energy(lab.sim).start;
  for (int64_t k = 0; k < fx_steps_in(0.25, h); k++) { /* until it has fallen over */
    fx_lab_step(&lab, h);
    frix_energy e = frix_sim_energy(lab.sim);
    most = fmax(most, (e.kinetic + e.potential) / start - 1);
  }
  return fx_lab_end(&lab, most);
}

/* ---- twelve bodies fly into each other; part is the restitution ---- */

enum { BODIES = 12 };

static double noise(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)*seed / 2147483648.0 - 1;
}

static frix_vec3 momentum_of(const fx_lab *lab, const frix_body_id *id) {
  frix_vec3 p = {0, 0, 0};
  for (int n = 0; n < BODIES; n++) {
    frix_body_config c;
    if (frix_model_body(lab->model, id[n], &c) != FRIX_OK) continue;
    frix_vec3 v = fx_lab_state(lab, id[n]).velocity;
    p = fx_xyz(p.x + c.mass * v.x, p.y + c.mass * v.y, p.z + c.mass * v.z);
  }
  return p;
}

static double swarm_momentum(const fx_form *form, double h, fx_tally *tally) {
  uint32_t seed = 1;
  frix_body_id id[BODIES];
  fx_lab lab = fx_lab_new(form, form->mu, form->part, tally);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_gravity(lab.builder, fx_xyz(0, 0, 0)));
  for (int n = 0; n < BODIES; n++) {
    double a = 2 * FX_PI * n / BODIES;
    frix_body_config b = fx_body(fx_at(cos(a), sin(a), 0.05 * noise(&seed)));
    b.velocity = fx_xyz(-cos(a), -sin(a), 0), b.spin = fx_xyz(noise(&seed), noise(&seed), noise(&seed));
    id[n] = fx_lab_put(&lab, b, n % 2 ? fx_ball(0.1) : fx_box(0.1, 0.08, 0.06));
  }
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  frix_vec3 a = momentum_of(&lab, id);
  fx_lab_run(&lab, h, 2);
  frix_vec3 b = momentum_of(&lab, id);
  return fx_lab_end(&lab, hypot(b.x - a.x, hypot(b.y - a.y, b.z - a.z)));
}

static const fx_form rows[] = {
    {"bounce-time", "a ball dropped from H, e = 0.6: when it rests", "sqrt(2 H / g) (1 + e) / (1 - e)", "s",
     bounce_time, bounce_time_exact, .mu = 0.3, .part = 0.6, .order = 1, .slope = 20, .floor = 1e-9},
    {"bounce-path", "its path", "H (1 + e^2) / (1 - e^2)", "m", bounce_path, bounce_path_exact, bounce_path_scheme,
     .mu = 0.3, .part = 0.6, .order = 1, .slope = 5, .floor = 1e-9},
    {"bounce-time-poisson", "when it rests, Poisson's law", "sqrt(2 H / g) (1 + e) / (1 - e)", "s", bounce_time,
     bounce_time_exact, .mu = 0.3, .part = 0.6, .order = 1, .slope = 20, .floor = 1e-9, .poisson = true},
    {"bounce-path-poisson", "its path, Poisson's law", "H (1 + e^2) / (1 - e^2)", "m", bounce_path, bounce_path_exact,
     .mu = 0.3, .part = 0.6, .order = 1, .slope = 5, .floor = 1e-9, .poisson = true},
    {"oblique-slides", "a sphere hits a wall and slips all along: its speed along it", "v_t - mu (1 + e) v_n", "m/s",
     oblique, oblique_exact, oblique_scheme, .mu = 0.2, .part = 0.5, .floor = 1e-9},
    {"oblique-sticks", "mu (1 + e) v_n >= 2/7 v_t: it leaves rolling", "5/7 v_t", "m/s", oblique, oblique_exact,
     oblique_scheme, .mu = 0.4, .part = 0.5, .order = 1, .slope = 15, .floor = 1e-9},
    {"oblique-slides-poisson", "it slips all along, Poisson's law", "v_t - mu (1 + e) v_n", "m/s", oblique,
     oblique_exact, .mu = 0.2, .part = 0.5, .floor = 1e-9, .poisson = true},
    {"oblique-sticks-poisson", "it leaves rolling, Poisson's law", "5/7 v_t", "m/s", oblique, oblique_exact, .mu = 0.4,
     .part = 0.5, .order = 1, .slope = 15, .floor = 1e-9, .poisson = true},
    {"head-on", "a ball of 1 m/s meets an equal one at rest, e = 0.8: the other's speed", "(1 + e) / 2 v", "m/s",
     head_on, head_on_exact, .mu = 0.3, .part = 0.8, .floor = 1e-12},
    {"painleve-slides", "Painleve's rod, tan t = 2, mu = 1.2: change of the slip in a step", "Newton's law", "m/s^2",
     rod_slip, rod_slip_exact, .mu = 1.2, .part = 500, .floor = 1e-6},
    {"painleve-jams", "mu = 1.6: no force lets it slide on, it stops at once", "0", "m/s^2", rod_slip, rod_slip_exact,
     .mu = 1.6, .part = 500, .floor = 1e-6},
    {"painleve-critical", "sliding is inconsistent from this friction on", "(1 + 3 cos^2 t) / (3 sin t cos t)", "",
     rod_critical, rod_critical_exact, .part = 1e7, .floor = 1e-5},
    {"painleve-energy", "energy the rod gains while it jams and falls, over its start", "0", "", rod_gain, fx_form_zero,
     .mu = 1.6, .floor = 1e-12},
    {"swarm-momentum", "twelve bodies fly into each other: change of their momentum", "0", "N s", swarm_momentum,
     fx_form_zero, .mu = 0.4, .part = 0.5, .floor = 1e-9},
};

const fx_form_group fx_forms_impact = {"impact", rows, sizeof rows / sizeof *rows};
