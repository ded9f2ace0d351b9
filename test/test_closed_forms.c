/* Closed forms at h = .01 and .001, with the error of the time stepping apart from the error of the solver.
 *
 *   value     what the simulation gave
 *   scheme    what the same steps give on paper: the recurrence of the scheme, a few scalars
 *   exact     what physics says
 *
 * |value - scheme| is the solver's and stays at rounding; |scheme - exact| is the time stepping's and falls with h. */
#include "sim_world.h"

static const double g = 9.81;
static const double pi = 3.14159265358979323846;

typedef struct answer {
  double value, scheme;
} answer;

typedef struct form {
  const char *name;
  answer (*run)(world *w, double h, double mu, double part);
  double (*exact)(double mu, double part);
  double mu, restitution, part; /* part: what tells the row from its neighbours */
  double solver;                /* bound of |value - scheme| */
  double order;                 /* |scheme - exact| <= order * h; 0: none at all */
} form;

static int64_t steps_in(double time, double h) { return (int64_t)(time / h + 0.5); }

/* A ball of radius 0.1 and inertia part * m r^2 on the ground. */
static const double radius = 0.1;

static frix_body_id put_ball(world *w, frix_pose pose, frix_vec3 velocity, frix_vec3 spin, double part) {
  frix_body_config b = body_at(pose);
  double j = part * radius * radius;
  b.mass = 1, b.inertia = (frix_sym3){j, j, j, 0, 0, 0}, b.velocity = velocity, b.spin = spin;
  return world_body(w, b, sphere_shape(radius));
}

/* ---- sliding ---- */

static const double slope = 26.0 * 3.14159265358979323846 / 180, slope_time = 0.5;

static answer slides_down(world *w, double h, double mu, double part) {
  (void)part;
  double d = 0.05, a = g * (sin(slope) - mu * cos(slope)), n = (double)steps_in(slope_time, h);
  frix_quat q = turned(slope, 0, 1, 0);
  world_plane(w, q);
  frix_body_id box =
      world_body(w, body_at((frix_pose){{d * sin(slope), 0, d * cos(slope)}, q}), box_shape(0.2, 0.2, d));
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, slope_time);
  frix_vec3 c = state_of(w, box).center;
  return (answer){c.x * cos(slope) - c.z * sin(slope), a * h * h * n * (n + 1) / 2};
}

static double slides_down_exact(double mu, double part) {
  (void)part;
  return g * (sin(slope) - mu * cos(slope)) * slope_time * slope_time / 2;
}

static const double puck_speed = 2;

static answer slides_out(world *w, double h, double mu, double part) {
  double x = 0;
  for (double v = puck_speed; v > 0;) v = fmax(0, v - mu * g * h), x += h * v;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.02));
  b.velocity = vec(puck_speed * cos(part), puck_speed * sin(part), 0);
  frix_body_id box = world_body(w, b, box_shape(0.2, 0.2, 0.02));
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 1);
  frix_vec3 c = state_of(w, box).center;
  return (answer){c.x * cos(part) + c.y * sin(part), x};
}

static double slides_out_exact(double mu, double part) {
  (void)part;
  return puck_speed * puck_speed / (2 * mu * g);
}

/* ---- rolling: part is the inertia over m r^2 ---- */

static answer skids(world *w, double h, double mu, double part) {
  double v = puck_speed, spin = 0, x = 0;
  for (int64_t k = 0; k < steps_in(1, h); k++) {
    double p = fmin(mu * g * h, (v - radius * spin) / (1 + 1 / part));
    v -= p, spin += p / (part * radius), x += h * v;
  }
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id ball = put_ball(w, at(0, 0, radius), vec(puck_speed, 0, 0), vec(0, 0, 0), part);
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 1);
  return (answer){state_of(w, ball).center.x, x};
}

static double skids_exact(double mu, double part) {
  double end = puck_speed / (1 + part), time = (puck_speed - end) / (mu * g);
  return puck_speed * time - mu * g * time * time / 2 + end * (1 - time);
}

static answer rolls_down(world *w, double h, double mu, double part) {
  double a = g * sin(slope) / (1 + part), n = (double)steps_in(slope_time, h);
  (void)mu;
  world_plane(w, turned(slope, 0, 1, 0));
  frix_body_id ball = put_ball(w, at(radius * sin(slope), 0, radius * cos(slope)), vec(0, 0, 0), vec(0, 0, 0), part);
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, slope_time);
  frix_vec3 c = state_of(w, ball).center;
  return (answer){c.x * cos(slope) - c.z * sin(slope), a * h * h * n * (n + 1) / 2};
}

static double rolls_down_exact(double mu, double part) {
  (void)mu;
  return g * sin(slope) / (1 + part) * slope_time * slope_time / 2;
}

/* Rolling friction d: 7/5 m a = m g d / r; drilling friction d about the normal: 2/5 m r^2 w' = m g d. */
static void rough(world *w, double mu, double rolling, double spinning) {
  frix_material_config m = frix_material_default();
  m.mu = mu, m.rolling = rolling, m.spinning = spinning;
  MUST(w, frix_builder_add_material(w->builder, &m, &w->material));
}

static answer rolls_out(world *w, double h, double mu, double part) {
  double x = 0, speed = 0.5;
  for (double v = speed; v > 0;) v = fmax(0, v - h * g * part / (1.4 * radius)), x += h * v;
  rough(w, mu, part, 0);
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id ball = put_ball(w, at(0, 0, radius), vec(speed, 0, 0), vec(0, speed / radius, 0), 0.4);
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 2);
  return (answer){state_of(w, ball).center.x, x};
}

static double rolls_out_exact(double mu, double part) {
  (void)mu;
  return 0.7 * 0.25 * radius / (g * part);
}

static answer drills(world *w, double h, double mu, double part) {
  double spin = 5, time = 0.5;
  rough(w, mu, 0, part);
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id ball = put_ball(w, at(0, 0, radius), vec(0, 0, 0), vec(0, 0, spin), 0.4);
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, time);
  return (answer){state_of(w, ball).spin.z, spin - time * g * part / (0.4 * radius * radius)};
}

static double drills_exact(double mu, double part) {
  (void)mu;
  return 5 - 0.5 * g * part / (0.4 * radius * radius);
}

/* A disc on feet that press equally: w' = - mu m g mean |p| / J; uniform pressure has mean |p| = 2/3 R, so that it
 * stops after 3 R w / (4 mu g). Feet in pairs, equal parts of the area: their mean is 2/3 R up to 1 / feet. */
enum { FEET = 40 };
static const double disc_radius = 0.2, disc_spin = 10;

static frix_vec3 foot_at(int f) {
  double a = 2.39996322972865332 * (f / 2) + pi * (f % 2), p = disc_radius * sqrt((f / 2 + 0.5) / (FEET / 2));
  return vec(p * cos(a), p * sin(a), 0);
}

static double disc_stop(double mu) {
  double mean = 0;
  for (int f = 0; f < FEET; f++) mean += hypot(foot_at(f).x, foot_at(f).y) / FEET;
  return disc_radius * disc_radius * disc_spin / (2 * mu * g * mean);
}

static answer spins_down(world *w, double h, double mu, double part) {
  double foot = 0.01, stiffness = 5e4, time = 0.3, R2 = disc_radius * disc_radius;
  frix_material_config m = frix_material_default();
  m.mu = mu, m.stiffness = 2 * stiffness; /* two in series */
  (void)part;
  MUST(w, frix_builder_add_material(w->builder, &m, &w->material));
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, foot - g / (FEET * stiffness)));
  b.mass = 1, b.inertia = (frix_sym3){R2 / 4, R2 / 4, R2 / 2, 0, 0, 0}, b.spin = vec(0, 0, disc_spin);
  frix_body_id disc = {0, 0};
  MUST(w, frix_builder_add_body(w->builder, &b, &disc));
  for (int f = 0; f < FEET; f++) {
    frix_shape_config s = sphere_shape(foot);
    s.pose.p = foot_at(f), s.material = w->material;
    MUST(w, frix_builder_add_shape(w->builder, disc, &s, NULL));
  }
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, time);
  return (answer){time * disc_spin / (disc_spin - state_of(w, disc).spin.z), disc_stop(mu)};
}

static double spins_down_exact(double mu, double part) {
  (void)part;
  return disc_stop(mu);
}

/* ---- a mass on a spring that rubs; part is the stiffness ---- */

static const double spring_start = 0.15;

static answer rubs(world *w, double h, double mu, double part) {
  spring s = {.k = part};
  double x = spring_start, v = 0;
  for (int64_t k = 0; k < steps_in(4, h); k++) {
    v -= h * part * x;
    v -= fmax(-mu * g * h, fmin(mu * g * h, v));
    x += h * v;
  }
  w->config.force = spring_force;
  w->config.user = &s;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(spring_start, 0, 0.02));
  b.mass = 1;
  s.body = world_body(w, b, box_shape(0.2, 0.2, 0.02));
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 4);
  return (answer){state_of(w, s.body).center.x, x};
}

/* Each half cycle turns at 2 mu g / k less, until that is inside mu g / k. */
static double rubs_exact(double mu, double part) {
  double x = spring_start, dead = mu * g / part;
  while (fabs(x) > dead) x = x > 0 ? 2 * dead - x : -2 * dead - x;
  return x;
}

/* ---- bouncing: the whole path of a ball dropped from 1 m; part is the restitution ---- */

static double bounce_path(double h, double e) {
  double z = 1, v = 0, path = 0, noise = 1e-5 * g * h * h;
  for (int64_t k = 0; k < steps_in(3, h); k++) {
    double free = v - g * h, gap = fabs(z) <= noise ? 0 : z, w = gap > 0 ? gap / h : 0.2 * gap / h;
    if (-v > 2 * g * h && gap + h * fmin(v, free) <= 0 && (gap > 0 || e * v < w)) w = e * v;
    v = fmax(free, -w);
    path += fabs(h * v), z += h * v;
  }
  return path;
}

static answer bounces(world *w, double h, double mu, double part) {
  double last = 1, path = 0;
  (void)mu;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id ball = put_ball(w, at(0, 0, 1 + radius), vec(0, 0, 0), vec(0, 0, 0), 0.4);
  if (!world_start(w)) return (answer){NAN, 0};
  for (int64_t k = 0; k < steps_in(3, h); k++) {
    world_step(w, h);
    double z = state_of(w, ball).center.z - radius;
    path += fabs(z - last), last = z;
  }
  return (answer){path, bounce_path(h, part)};
}

static double bounces_exact(double mu, double part) {
  (void)mu;
  return (1 + part * part) / (1 - part * part);
}

/* An oblique bounce, no gravity; part is the restitution. */
static const double bounce_n = 2, bounce_t = 3, bounce_height = 0.1007;

static double oblique_exact(double mu, double part) {
  double impulse = mu * (1 + part) * bounce_n;
  return impulse >= 2.0 / 7 * bounce_t ? 5.0 / 7 * bounce_t : bounce_t - impulse;
}

/* The step before the gap would close bounces already; friction then acts in the middle of the gap that is left. */
static double oblique_scheme(double h, double mu, double part) {
  double gap = bounce_height;
  while (gap - h * bounce_n > 0) gap -= h * bounce_n;
  double arm = radius + gap / 2, sticks = bounce_t / (1 + arm * arm / (0.4 * radius * radius));
  return bounce_t - fmin(sticks, mu * (1 + part) * bounce_n);
}

static answer oblique(world *w, double h, double mu, double part) {
  MUST(w, frix_builder_set_gravity(w->builder, vec(0, 0, 0)));
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_id ball =
      put_ball(w, at(0, 0, radius + bounce_height), vec(bounce_t * 0.6, bounce_t * 0.8, -bounce_n), vec(0, 0, 0), 0.4);
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 0.2);
  frix_vec3 v = state_of(w, ball).velocity;
  return (answer){v.x * 0.6 + v.y * 0.8, oblique_scheme(h, mu, part)};
}

/* ---- Painleve's rod, tan t = 2, one step: the slip of the tip over the step; part is the speed over h ---- */

static double painleve_slip(double h, double mu, double speed, double tip) {
  double half = 0.5, x = -half / sqrt(5.0), z = -2 * half / sqrt(5.0) - tip, J = half * half / 3;
  double nn = 1 + x * x / J, nt = -x * z / J, tt = 1 + z * z / J;
  if (nn + mu * nt <= 0) return 0; /* no force lets it slide on: it stops at once */
  double normal = g * h / (nn + mu * nt);
  return fmin(0, -speed + normal * (nt + mu * tt));
}

static answer painleve(world *w, double h, double mu, double part) {
  double half = 0.5, tip = 1e-3, angle = atan(2.0);
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config b = body_at((frix_pose){{half * cos(angle), 0, half * sin(angle) + tip}, turned(-angle, 0, 1, 0)});
  b.mass = 1, b.inertia = (frix_sym3){1e-4, half * half / 3, half * half / 3, 0, 0, 0};
  b.velocity = vec(-part * h, 0, 0); /* the way that jams */
  frix_body_id rod = {0, 0};
  MUST(w, frix_builder_add_body(w->builder, &b, &rod));
  frix_shape_config s = sphere_shape(tip);
  s.pose.p = vec(-half, 0, 0), s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, rod, &s, NULL));
  if (!world_start(w)) return (answer){NAN, 0};
  world_step(w, h);
  frix_contact_report c = {0};
  MUST(w, frix_sim_contact(w->sim, 0, &c));
  return (answer){-c.velocity.x / h, painleve_slip(h, mu, part * h, tip) / h};
}

static double painleve_exact(double mu, double part) { return painleve_slip(1, mu, part, 1e-3); }

/* ---- heavy on light: nothing sinks in; part is the ratio of the masses ---- */

static answer sinks(world *w, double h, double mu, double part) {
  (void)mu;
  world_plane(w, turned(0, 1, 0, 0));
  frix_body_config below = body_at(at(0, 0, 0.1)), above = body_at(at(0.02, 0, 0.3));
  below.mass = 1, above.mass = part;
  world_body(w, below, box_shape(0.1, 0.1, 0.1));
  frix_body_id top = world_body(w, above, box_shape(0.1, 0.1, 0.1));
  if (!world_start(w)) return (answer){NAN, 0};
  world_run(w, h, 0.5);
  return (answer){state_of(w, top).center.z - 0.3, 0};
}

static double sinks_exact(double mu, double part) { return (void)mu, (void)part, 0.0; }

/* ---- the table ---- */

static const form forms[] = {
    {"slope, slides", slides_down, slides_down_exact, 0.3, 0, 0, 1e-9, 1},
    {"puck along x", slides_out, slides_out_exact, 0.4, 0, 0, 1e-9, 2},
    {"puck, other way", slides_out, slides_out_exact, 0.4, 0, 2.2, 1e-9, 2},
    {"sphere skids", skids, skids_exact, 0.3, 0, 0.4, 1e-9, 2},
    {"cylinder skids", skids, skids_exact, 0.3, 0, 0.5, 1e-9, 2},
    {"hoop skids", skids, skids_exact, 0.3, 0, 1, 1e-9, 2},
    {"sphere rolls down", rolls_down, rolls_down_exact, 0.5, 0, 0.4, 1e-9, 2},
    {"cylinder rolls down", rolls_down, rolls_down_exact, 0.5, 0, 0.5, 1e-9, 2},
    {"hoop rolls down", rolls_down, rolls_down_exact, 0.5, 0, 1, 1e-9, 2},
    {"rolling friction", rolls_out, rolls_out_exact, 0.5, 0, 0.02, 1e-9, 1},
    {"drilling friction", drills, drills_exact, 0.5, 0, 0.001, 1e-9, 0},
    {"disc spins down", spins_down, spins_down_exact, 0.3, 0, 0, 1e-6, 0},
    {"spring and friction", rubs, rubs_exact, 0.1, 0, 100, 1e-9, 1},
    {"bounces", bounces, bounces_exact, 0.3, 0.6, 0.6, 1e-9, 12},
    {"oblique, slides", oblique, oblique_exact, 0.2, 0.5, 0.5, 1e-9, 1e-9},
    {"oblique, sticks", oblique, oblique_exact, 0.4, 0.5, 0.5, 1e-9, 15},
    {"Painleve, slides", painleve, painleve_exact, 1.2, 0, 500, 1e-6, 0},
    {"Painleve, jams", painleve, painleve_exact, 1.6, 0, 500, 1e-6, 0},
    {"100 on 1", sinks, sinks_exact, 0.5, 0, 1e2, 1e-12, 0},
    {"1e6 on 1", sinks, sinks_exact, 0.5, 0, 1e6, 1e-12, 0},
};

enum { FORMS = sizeof forms / sizeof *forms };

static void closed_forms(fx_test *t) {
  static const double steps[2] = {0.01, 0.001};
  double worst = 0;
  for (int k = 0; k < FORMS; k++) {
    const form *f = &forms[k];
    double exact = f->exact(f->mu, f->part), scheme[2] = {0}, solver[2] = {0};
    for (int j = 0; j < 2; j++) {
      world w = world_new(t, f->mu, f->restitution);
      answer a = f->run(&w, steps[j], f->mu, f->part);
      solver[j] = fabs(a.value - a.scheme);
      scheme[j] = fabs(a.scheme - exact);
      if (!(solver[j] <= f->solver))
        fx_test_fail(t, __FILE__, __LINE__, "%s, h %g: %.12g, the scheme on paper %.12g", f->name, steps[j], a.value,
                     a.scheme);
      if (!(scheme[j] <= f->order * steps[j] + 1e-12))
        fx_test_fail(t, __FILE__, __LINE__, "%s, h %g: the scheme gives %.12g, exact is %.12g", f->name, steps[j],
                     a.scheme, exact);
      CHECK(t, w.unsolved == 0);
      world_end(&w);
    }
    worst = fmax(worst, fmax(solver[0], solver[1]));
  }
  fx_test_note(t, "%d rows, the solver off by %.0e at most", FORMS, worst);
}

const fx_test_row test_closed_forms[] = {{"closed_forms/table", closed_forms}, {0}};
