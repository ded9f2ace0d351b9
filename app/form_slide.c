/* Closed forms of bodies that slide or lie: slopes, pucks, springs that rub, loads, free fall. */
#include "form_groups.h"

static double friction_of(const fx_form *form) { return form->mu; }

/* ---- a block on a slope; height is half its thickness ---- */

static const double slope_angle = 26.0 * 3.14159265358979323846 / 180, slope_time = 0.5, slope_height = 0.05;

static frix_body_id put_on_slope(fx_lab *lab, double angle, double wide) {
  fx_lab_slope(lab, angle);
  frix_body_config b = fx_body(fx_at(slope_height * sin(angle), 0, slope_height * cos(angle)));
  b.pose.q = frix_quat_turn(fx_xyz(0, 1, 0), angle);
  return fx_lab_put(lab, b, fx_box(wide, wide, slope_height));
}

static bool slope_holds(const fx_form *form, double slope, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id box = put_on_slope(&lab, atan(slope), 0.1);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, 0), false;
  fx_lab_run(&lab, h, 0.1);
  frix_vec3 a = fx_lab_state(&lab, box).center;
  fx_lab_run(&lab, h, 0.5);
  frix_vec3 b = fx_lab_state(&lab, box).center;
  return fx_lab_end(&lab, hypot(b.x - a.x, b.z - a.z)) < 1e-9;
}

static double slope_limit(const fx_form *form, double h, fx_tally *tally) {
  return fx_threshold(form, slope_holds, 0.93 * form->mu, 1.1 * form->mu, 1e-7, h, tally);
}

static double slope_creep(const fx_form *form, double h, fx_tally *tally) {
  double time = 5;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id box = put_on_slope(&lab, slope_angle, 0.1);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.2);
  frix_vec3 a = fx_lab_state(&lab, box).center;
  fx_lab_run(&lab, h, time);
  frix_vec3 b = fx_lab_state(&lab, box).center;
  return fx_lab_end(&lab, hypot(b.x - a.x, hypot(b.y - a.y, b.z - a.z)) / time);
}

static double slope_slides(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id box = put_on_slope(&lab, slope_angle, 0.2);
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, slope_time);
  frix_vec3 c = fx_lab_state(&lab, box).center;
  return fx_lab_end(&lab, c.x * cos(slope_angle) - c.z * sin(slope_angle));
}

static double slope_acceleration(const fx_form *form) {
  return FX_GRAVITY * (sin(slope_angle) - form->mu * cos(slope_angle));
}

static double slope_slides_exact(const fx_form *form) { return slope_acceleration(form) * slope_time * slope_time / 2; }

static double slope_slides_scheme(const fx_form *form, double h) {
  double n = (double)fx_steps_in(slope_time, h);
  return slope_acceleration(form) * h * h * n * (n + 1) / 2;
}

/* ---- a puck; part is the direction it goes ---- */

static const double puck_speed = 2;

static double puck_distance(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, 0.02));
  b.velocity = fx_xyz(puck_speed * cos(form->part), puck_speed * sin(form->part), 0);
  frix_body_id puck = fx_lab_put(&lab, b, fx_box(0.2, 0.2, 0.02));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 1);
  frix_vec3 c = fx_lab_state(&lab, puck).center;
  return fx_lab_end(&lab, c.x * cos(form->part) + c.y * sin(form->part));
}

static double puck_distance_exact(const fx_form *form) { return puck_speed * puck_speed / (2 * form->mu * FX_GRAVITY); }

static double puck_distance_scheme(const fx_form *form, double h) {
  double x = 0;
  for (double v = puck_speed; v > 0;) v = fmax(0, v - form->mu * FX_GRAVITY * h), x += h * v;
  return x;
}

/* A sled on three feet, whose forces are unique. */
static frix_body_id put_sled(fx_lab *lab, double direction) {
  fx_lab_slope(lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, 0.02));
  b.mass = 1, b.inertia = (frix_sym3){0.01, 0.01, 0.02, 0, 0, 0};
  b.velocity = fx_xyz(puck_speed * cos(direction), puck_speed * sin(direction), 0);
  frix_body_id sled = {0, 0};
  for (int f = 0; f < 3; f++) {
    frix_shape_config foot = fx_ball(0.02);
    foot.pose.p = fx_xyz(0.2 * cos(2 * FX_PI * f / 3), 0.2 * sin(2 * FX_PI * f / 3), 0);
    if (f == 0)
      sled = fx_lab_put(lab, b, foot);
    else
      fx_lab_shape(lab, sled, foot);
  }
  return sled;
}

static double puck_time(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_body_id sled = put_sled(&lab, 0.3);
  double moving = 0;
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  for (int64_t k = 0; k < fx_steps_in(0.7, h); k++) {
    fx_lab_step(&lab, h);
    frix_vec3 v = fx_lab_state(&lab, sled).velocity;
    if (hypot(v.x, v.y) > 1e-9) moving = frix_sim_time(lab.sim);
  }
  return fx_lab_end(&lab, moving);
}

static double puck_time_exact(const fx_form *form) { return puck_speed / (form->mu * FX_GRAVITY); }

/* One contact alone, so that friction is unique when it comes to rest: a ball that does not turn. */
static double puck_energy(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, 0.1));
  b.mass = 1, b.inertia = (frix_sym3){1e9, 1e9, 1e9, 0, 0, 0}, b.velocity = fx_xyz(puck_speed, 0, 0);
  fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.7);
  return fx_lab_end(&lab, frix_sim_energy(lab.sim).friction);
}

static double puck_energy_exact(const fx_form *form) {
  (void)form;
  return puck_speed * puck_speed / 2;
}

/* Seven directions: how far the ways differ in length, and leave their lines and the ground. */
static double puck_straight(const fx_form *form, double h, fx_tally *tally) {
  double first = 0, worst = 0;
  for (int n = 0; n < 7; n++) {
    double angle = 0.3 + 0.9 * n;
    fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
    frix_body_id sled = put_sled(&lab, angle);
    if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
    fx_lab_run(&lab, h, 0.7);
    frix_vec3 c = fx_lab_state(&lab, sled).center;
    double way = c.x * cos(angle) + c.y * sin(angle), aside = c.y * cos(angle) - c.x * sin(angle);
    if (n == 0) first = way;
    worst = fmax(worst, fmax(fabs(way - first), fmax(fabs(aside), fabs(c.z - 0.02))));
    fx_lab_end(&lab, 0);
  }
  return worst;
}

/* A floor with grooves along x; part is the direction the block goes. */
static double groove_distance(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, 0.5, 0, tally);
  frix_material_config m = frix_material_default();
  m.mu = 0.3, m.mu2 = 0.6, m.axis = fx_xyz(1, 0, 0);
  frix_material_id floor = fx_lab_material(&lab, m);
  if (!tally->failure[0]) FX_DO(&lab, frix_builder_set_pair(lab.builder, floor, lab.material, &m));
  frix_material_id rubber = lab.material;
  lab.material = floor;
  fx_lab_slope(&lab, 0);
  lab.material = rubber;
  frix_body_config b = fx_body(fx_at(0, 0, 0.02));
  b.velocity = fx_xyz(puck_speed * cos(form->part), puck_speed * sin(form->part), 0);
  frix_body_id puck = fx_lab_put(&lab, b, fx_box(0.2, 0.2, 0.02));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 1);
  frix_vec3 c = fx_lab_state(&lab, puck).center;
  return fx_lab_end(&lab, c.x * cos(form->part) + c.y * sin(form->part));
}

/* ---- a mass on a spring that rubs; part is the stiffness ---- */

static const double spring_start = 0.15;

typedef struct spring {
  frix_body_id body;
  double stiffness;
} spring;

static void pull(frix_sim *sim, double time, void *user) {
  const spring *s = user;
  frix_body_state state;
  (void)time;
  frix_sim_body(sim, s->body, &state);
  frix_sim_add_force(sim, s->body, fx_xyz(-s->stiffness * state.center.x, 0, 0), fx_xyz(0, 0, 0));
}

static bool spring_begin(fx_lab *lab, const fx_form *form, spring *s, double start) {
  s->stiffness = form->part;
  lab->config.force = pull;
  lab->config.user = s;
  fx_lab_slope(lab, 0);
  frix_body_config b = fx_body(fx_at(start, 0, 0.02));
  b.mass = 1;
  s->body = fx_lab_put(lab, b, fx_box(0.2, 0.2, 0.02));
  return fx_lab_start(lab);
}

static double spring_rest(const fx_form *form, double h, fx_tally *tally) {
  spring s;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  if (!spring_begin(&lab, form, &s, spring_start)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 4);
  return fx_lab_end(&lab, fx_lab_state(&lab, s.body).center.x);
}

/* Each half cycle turns at 2 mu g / k less, until that is inside mu g / k. */
static double spring_rest_exact(const fx_form *form) {
  double x = spring_start, dead = form->mu * FX_GRAVITY / form->part;
  while (fabs(x) > dead) x = x > 0 ? 2 * dead - x : -2 * dead - x;
  return x;
}

static double spring_rest_scheme(const fx_form *form, double h) {
  double x = spring_start, v = 0, most = form->mu * FX_GRAVITY * h;
  for (int64_t k = 0; k < fx_steps_in(4, h); k++) {
    v -= h * form->part * x;
    v -= fmax(-most, fmin(most, v));
    x += h * v;
  }
  return x;
}

/* What the first half cycle takes from the amplitude. */
static double spring_drop(const fx_form *form, double h, fx_tally *tally) {
  spring s;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  double far = 0;
  if (!spring_begin(&lab, form, &s, spring_start)) return fx_lab_end(&lab, NAN);
  for (int64_t k = 0; k < fx_steps_in(0.4, h); k++) {
    fx_lab_step(&lab, h);
    far = fmax(far, -fx_lab_state(&lab, s.body).center.x);
  }
  return fx_lab_end(&lab, spring_start - far);
}

static double spring_drop_exact(const fx_form *form) { return 2 * form->mu * FX_GRAVITY / form->part; }

static bool spring_holds(const fx_form *form, double start, double h, fx_tally *tally) {
  spring s;
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  if (!spring_begin(&lab, form, &s, start)) return fx_lab_end(&lab, 0), false;
  fx_lab_run(&lab, h, 0.2);
  return fx_lab_end(&lab, fabs(fx_lab_state(&lab, s.body).center.x - start)) < 1e-10;
}

static double spring_band(const fx_form *form, double h, fx_tally *tally) {
  double exact = form->mu * FX_GRAVITY / form->part;
  return fx_threshold(form, spring_holds, 0.93 * exact, 1.1 * exact, 1e-7, h, tally);
}

static double spring_band_exact(const fx_form *form) { return form->mu * FX_GRAVITY / form->part; }

/* ---- a load on a light block; part is the ratio of the masses ---- */

static double load_sinks(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  fx_lab_slope(&lab, 0);
  frix_body_config below = fx_body(fx_at(0, 0, 0.1)), above = fx_body(fx_at(0.02, 0, 0.3));
  below.mass = 1, above.mass = form->part;
  fx_lab_put(&lab, below, fx_box(0.1, 0.1, 0.1));
  frix_body_id top = fx_lab_put(&lab, above, fx_box(0.1, 0.1, 0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 0.5);
  return fx_lab_end(&lab, fx_lab_state(&lab, top).center.z - 0.3);
}

/* A ball on a contact of stiffness part, laid down at its rest: how far it is pressed in. */
static double soft_sag(const fx_form *form, double h, fx_tally *tally) {
  fx_lab lab = fx_lab_new(form, form->mu, 0, tally);
  frix_material_config m = frix_material_default();
  m.stiffness = 2 * form->part; /* two in series */
  lab.material = fx_lab_material(&lab, m);
  fx_lab_slope(&lab, 0);
  frix_body_config b = fx_body(fx_at(0, 0, 0.1));
  b.mass = 1;
  frix_body_id ball = fx_lab_put(&lab, b, fx_ball(0.1));
  if (!fx_lab_start(&lab)) return fx_lab_end(&lab, NAN);
  fx_lab_run(&lab, h, 2);
  return fx_lab_end(&lab, 0.1 - fx_lab_state(&lab, ball).center.z);
}

static double soft_sag_exact(const fx_form *form) { return FX_GRAVITY / form->part; }

static const fx_form rows[] = {
    {"slope-limit", "a block on a slope rests up to this slope", "tan t = mu", "", slope_limit, friction_of, .mu = 0.5,
     .floor = 1e-7},
    {"slope-creep", "it rests on 26 degrees: its speed over 5 s", "0", "m/s", slope_creep, fx_form_zero, .mu = 0.5,
     .floor = 1e-13},
    {"slope-slides", "it slides down 26 degrees for 0.5 s: distance", "g (sin t - mu cos t) T^2 / 2", "m", slope_slides,
     slope_slides_exact, slope_slides_scheme, .mu = 0.3, .order = 1, .slope = 0.45, .floor = 1e-9},
    {"puck-distance", "a block of 2 m/s slides to rest: distance along x", "v^2 / (2 mu g)", "m", puck_distance,
     puck_distance_exact, puck_distance_scheme, .mu = 0.4, .order = 1, .slope = 1.02, .floor = 1e-9},
    {"puck-oblique", "the same, 126 degrees from x", "v^2 / (2 mu g)", "m", puck_distance, puck_distance_exact,
     puck_distance_scheme, .mu = 0.4, .part = 2.2, .order = 1, .slope = 1.02, .floor = 1e-9},
    {"puck-straight", "a sled in 7 directions: how far distances differ and paths bend or lift", "0", "m",
     puck_straight, fx_form_zero, .mu = 0.4, .floor = 1e-10},
    {"puck-time", "how long the sled slides", "v / (mu g)", "s", puck_time, puck_time_exact, .mu = 0.4, .order = 1,
     .slope = 1, .floor = 1e-9},
    {"puck-energy", "what friction takes from 1 kg that slides on one contact", "m v^2 / 2", "J", puck_energy,
     puck_energy_exact, .mu = 0.4, .floor = 1e-10},
    {"grooves-along", "a floor with mu 0.3 along and 0.6 across: distance along", "v^2 / (2 mu g)", "m",
     groove_distance, puck_distance_exact, puck_distance_scheme, .mu = 0.3, .order = 1, .slope = 1.02, .floor = 1e-9},
    {"grooves-across", "distance across", "v^2 / (2 mu_2 g)", "m", groove_distance, puck_distance_exact,
     puck_distance_scheme, .mu = 0.6, .part = 3.14159265358979323846 / 2, .order = 1, .slope = 1.02, .floor = 1e-9},
    {"spring-drop", "a mass on a spring rubs: half a cycle takes this off the amplitude", "2 mu m g / k", "m",
     spring_drop, spring_drop_exact, .mu = 0.1, .part = 100, .order = 2, .slope = 2, .floor = 1e-9},
    {"spring-rest", "where it comes to rest", "+-(x_0 - 2 n mu m g / k)", "m", spring_rest, spring_rest_exact,
     spring_rest_scheme, .mu = 0.1, .part = 100, .order = 2, .slope = 2.2, .floor = 1e-9},
    {"spring-band", "let go from rest, it stays up to this distance", "mu m g / k", "m", spring_band, spring_band_exact,
     .mu = 0.1, .part = 100, .floor = 1e-8},
    {"load-100", "100 kg on 1 kg: how far they sink in", "0", "m", load_sinks, fx_form_zero, .mu = 0.5, .part = 1e2,
     .floor = 1e-12},
    {"load-1e6", "1e6 kg on 1 kg", "0", "m", load_sinks, fx_form_zero, .mu = 0.5, .part = 1e6, .floor = 1e-12},
    {"soft-sag", "1 kg on a contact of 1e5 N/m: how far it sinks in", "m g / k", "m", soft_sag, soft_sag_exact,
     .mu = 0.5, .part = 1e5, .floor = 1e-10},
};

const fx_form_group fx_forms_slide = {"slide", rows, sizeof rows / sizeof *rows};
