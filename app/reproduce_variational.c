/* bouncing-particle, oscillator: what the symmetric variational integrator keeps.
 *
 * S5, section 4.8: a particle that bounces without loss under gravity, h = 0.1, 0.01, 0.001 (figure 4.1); a particle in
 *   V(q) = |q|^2 (|q|^2 - 1)^2
 * free, above a frictionless plane, and with mu = 0.5 and 5, from q = (4, 4), h = 0.01, 0.005, 0.001 (figure 4.2). */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>

#include "examples/world.h"
#include "reproduce.h"
#include "reproduce_trial.h"

static const double radius = 0.1; /* of the ball that stands for the particle */

typedef struct path {
  double *time, *value;
  int count;
} path;

static path path_new(int64_t count) {
  return (path){fx_grow(NULL, (size_t)count, sizeof(double)), fx_grow(NULL, (size_t)count, sizeof(double)), 0};
}

static void path_add(path *p, double time, double value) {
  p->time[p->count] = time;
  p->value[p->count++] = value;
}

static void path_free(path *p) {
  free(p->time);
  free(p->value);
}

/* ---- the bouncing particle */

enum { HEIGHT };
static const frix_option_info particle_parameter[] = {EX_REAL("height", 1, 0.01, 100, "m")};

static frix_status build_particle(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, 0.0, 1.0, seed);
  frix_body_config body = ex_body("particle", ex_at(0.0, 0.0, value[HEIGHT] + radius));
  frix_shape_config ball = ex_ball(&world, radius);
  body.mass = 1.0;
  ex_add_ground(&world);
  ex_put(&world, &body, &ball);
  return world.status;
}

static const frix_scene particle = {.name = "particle",
                                    .summary = "",
                                    EX_PARAMETERS(particle_parameter),
                                    .step = 0.01,
                                    .time = 10,
                                    .build = build_particle};

typedef struct bounces {
  double drift; /* largest change of energy, relative */
  int count;
  double least, most; /* restitution: speed after a bounce over speed before */
} bounces;

static bool bounce(const char *integrator, double h, double height, double time, path *out, bounces *b) {
  fx_trial t;
  bool good = fx_trial_new(&t, &particle) && fx_trial_set(&t, "height", height);
  t.h = h;
  t.config.integrator = integrator;
  t.config.restitution_speed = 0;
  good = good && fx_trial_start(&t);
  const double g = 9.81, start = g * height;
  double last = 0;
  *b = (bounces){.least = INFINITY};
  for (int64_t k = 0; k < (int64_t)(time / h + 0.5) && good; k++) {
    good = fx_trial_step(&t);
    frix_body_state s = fx_trial_body(&t, 0);
    double v = s.velocity.z, z = s.center.z - radius, energy = 0.5 * v * v + g * z;
    b->drift = fmax(b->drift, fabs(energy / start - 1));
    if (v > 0 && last < 0) {
      /* speeds at the plane, from the energies of the two flights */
      b->count++;
      double e = sqrt(fmax(energy, 0) / start);
      b->least = fmin(b->least, e), b->most = fmax(b->most, e);
    }
    last = v;
    path_add(out, (double)(k + 1) * h, z);
  }
  fx_trial_end(&t);
  return good;
}

static bool run_particle(fx_report *report) {
  static const double h[3] = {0.1, 0.01, 0.001};
  static const char *const label[3] = {"variational, h = 0.1", "variational, h = 0.01", "variational, h = 0.001"};
  double time = (double)fx_report_size(report, 3, 10);
  path p[5];
  fx_curve curve[5];
  bool good = true;
  bounces b;
  fx_report_text(report,
                 "Dropped from 1 m, restitution 1, %g s. Energy of an exact bounce is constant; the document "
                 "says that it is closely kept for all three steps, in words.",
                 time);
  for (int k = 0; k < 5; k++) p[k] = path_new((int64_t)(time / 0.001) + 2);
  for (int k = 0; k < 3 && good; k++) {
    good = bounce("variational", h[k], 1, time, &p[k], &b);
    curve[k] = (fx_curve){label[k], p[k].time, p[k].value, p[k].count, k == 2 ? FX_CURVE_LINE : FX_CURVE_POINTS};
    fx_report_compare(report, (fx_compared){0, b.drift, "", true},
                      "variational, h = %g: largest change of energy, %d bounces", h[k], b.count);
  }
  for (int k = 0; k < 3 && good; k++) {
    static const double height[3] = {0.99, 1, 1.01};
    path q = path_new((int64_t)(time / 0.001) + 2);
    good = bounce("variational", 0.01, height[k], time, &q, &b);
    fx_report_compare(report, (fx_compared){1, b.least, "", false},
                      "height %g m, h = 0.01: least effective restitution", height[k]);
    path_free(&q);
  }
  static const char *const other[2] = {"moreau", "two_step"};
  for (int k = 0; k < 2 && good; k++) {
    good = bounce(other[k], 0.01, 1, time, &p[3 + k], &b);
    curve[3 + k] = (fx_curve){k ? "two_step, h = 0.01" : "moreau, h = 0.01", p[3 + k].time, p[3 + k].value,
                              p[3 + k].count, FX_CURVE_DASHED};
    fx_report_compare(report, (fx_compared){NAN, b.drift, "", false}, "%s, h = 0.01: largest change of energy",
                      other[k]);
  }
  fx_chart chart = {
      .title = "A particle that bounces without loss",
      .subtitle = "height over the plane; the variational integrator at three steps, two others beside it",
      .x_label = "time, s",
      .y_label = "m",
      .from_zero = true,
      .curve = curve,
      .curve_count = 5};
  good = good && fx_report_chart(report, ".svg", &chart);
  for (int k = 0; k < 5; k++) path_free(&p[k]);
  return good;
}

const fx_reproduction fx_reproduce_particle = {
    .name = "bouncing-particle",
    .document = "S5",
    .place = "figure 4.1",
    .summary = "a particle bounces without loss: energy kept at every step size",
    .size = "seconds simulated",
    .seconds = 0.2,
    .quick_seconds = 0.1,
    .run = run_particle,
};

/* ---- the nonlinear oscillator, in the plane y = 0 */

enum { WELL_MU, WELL_PLANE };
static const frix_option_info well_parameter[] = {
    [WELL_MU] = EX_REAL("mu", 0, 0, 10, "friction"),
    [WELL_PLANE] = EX_WHOLE("plane", 1, 0, 1, "whether there is one"),
};

static frix_status build_well(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[WELL_MU], 1.0, seed);
  frix_body_config body = ex_body("particle", ex_at(4.0, 0.0, 4.0 + radius));
  frix_shape_config ball = ex_ball(&world, radius);
  body.mass = 1.0;
  body.inertia = (frix_sym3){1e6, 1e6, 1e6, 0, 0, 0}; /* a particle does not turn */
  if (world.status == FRIX_OK) world.status = frix_builder_set_gravity(builder, ex_vec3(0.0, 0.0, 0.0));
  if (value[WELL_PLANE] > 0.0) ex_add_ground(&world);
  ex_put(&world, &body, &ball);
  return world.status;
}

static const frix_scene well = {
    .name = "well", .summary = "", EX_PARAMETERS(well_parameter), .step = 0.001, .time = 10, .build = build_well};

static void pull(frix_sim *sim, double time, void *user) {
  (void)time, (void)user;
  frix_body_id id = frix_sim_body_at(sim, 0);
  frix_body_state s = {0};
  frix_sim_body(sim, id, &s);
  double x = s.center.x, z = s.center.z - radius, q = x * x + z * z, slope = 2 * (q - 1) * (3 * q - 1);
  frix_sim_add_force(sim, id, (frix_vec3){-slope * x, 0, -slope * z}, (frix_vec3){0, 0, 0});
}

static double well_energy(const frix_body_state *s) {
  double x = s->center.x, z = s->center.z - radius, q = x * x + z * z;
  return 0.5 * (s->velocity.x * s->velocity.x + s->velocity.z * s->velocity.z) + q * (q - 1) * (q - 1);
}

static bool swing(double mu, bool plane, double h, double time, path *out, double *largest, double *end) {
  fx_trial t;
  bool good = fx_trial_new(&t, &well) && fx_trial_set(&t, "mu", mu) && fx_trial_set(&t, "plane", plane);
  t.h = h;
  t.config.integrator = "variational";
  t.config.restitution_speed = 0;
  t.config.force = pull;
  good = good && fx_trial_start(&t);
  frix_body_state s = good ? fx_trial_body(&t, 0) : (frix_body_state){0};
  double start = well_energy(&s), last = start;
  *largest = 0;
  path_add(out, 0, 1);
  for (int64_t k = 0; k < (int64_t)(time / h + 0.5) && good; k++) {
    good = fx_trial_step(&t);
    s = fx_trial_body(&t, 0);
    last = well_energy(&s);
    *largest = fmax(*largest, fabs(last / start - 1));
    if ((k + 1) % (int64_t)(0.01 / h + 0.5) == 0) path_add(out, (double)(k + 1) * h, last / start);
  }
  *end = last / start;
  fx_trial_end(&t);
  return good;
}

static bool run_oscillator(fx_report *report) {
  static const double h[3] = {0.01, 0.005, 0.001}, mu[4] = {0, 0, 0.5, 5};
  static const char *const label[3] = {"h = 0.01", "h = 0.005", "h = 0.001"};
  static const char *const part[4] = {"free", "frictionless plane", "mu = 0.5", "mu = 5"};
  static const char *const file[4] = {"-a.svg", "-b.svg", "-c.svg", "-d.svg"};
  double time = (double)fx_report_size(report, 1, 10);
  fx_report_text(report,
                 "From q = (4, 4) at rest, %g s, restitution 1. The document shows energies as curves, without "
                 "numbers: kept up to a constant without friction, falling alike for all steps with it. The particle comes "
                 "in at 45 degrees and bounces with twice its normal momentum, so that mu = 0.5 just stops its tangent "
                 "motion and mu = 5 does the same.",
                 time);
  bool good = true;
  for (int m = 0; m < 4 && good; m++) {
    path p[3];
    fx_curve curve[3];
    for (int k = 0; k < 3; k++) p[k] = path_new((int64_t)(time / 0.01) + 4);
    for (int k = 0; k < 3 && good; k++) {
      double largest, end;
      good = swing(mu[m], m > 0, h[k], time, &p[k], &largest, &end);
      curve[k] = (fx_curve){label[k], p[k].time, p[k].value, p[k].count, FX_CURVE_LINE};
      if (m < 2)
        fx_report_compare(report, (fx_compared){0, largest, "", k != 1}, "%s, %s: largest change of energy", part[m],
                          label[k]);
      else
        fx_report_compare(report, (fx_compared){NAN, end, "", k != 1}, "%s, %s: energy left at the end", part[m],
                          label[k]);
    }
    char title[96];
    snprintf(title, sizeof title, "Nonlinear oscillator, %s: energy over its start", part[m]);
    fx_chart chart = {.title = title,
                      .subtitle = "variational integrator, V = |q|^2 (|q|^2 - 1)^2 from q = (4, 4)",
                      .x_label = "time, s",
                      .y_label = "energy / start",
                      .curve = curve,
                      .curve_count = 3};
    good = good && fx_report_chart(report, file[m], &chart);
    for (int k = 0; k < 3; k++) path_free(&p[k]);
  }
  return good;
}

const fx_reproduction fx_reproduce_oscillator = {
    .name = "oscillator",
    .document = "S5",
    .place = "figure 4.2",
    .summary = "a particle in a nonlinear potential: free, over a plane, and with friction",
    .size = "seconds simulated",
    .seconds = 1,
    .quick_seconds = 0.1,
    .run = run_oscillator,
};
#endif
