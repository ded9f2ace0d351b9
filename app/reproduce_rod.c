/* painleve-rod: a rod that slides towards the side it leans from.
 *
 * S2 shows frames of Painleve's example. For a uniform rod at the angle a to the table sliding has no solution with
 * finite forces where mu > (1 + 3 cos^2 a) / (3 sin a cos a), 4/3 at tan a = 2: the tip stops at once, by an impulse
 * without a collision. Below, it slides on. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>

#include "reproduce.h"
#include "reproduce_trial.h"

static const double half_length = 0.5, tip_radius = 1e-3; /* of the scene, m */

/* Direction of the rod, from its tip on the table upwards. */
static frix_vec3 axis_of(const frix_body_state *s) {
  frix_quat q = s->pose.q;
  return (frix_vec3){1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)};
}

/* How fast the tip slides, at the lowest point of its rounding, where the rod stood when the step saw its contact. */
static double slip_of(const frix_body_state *seen, const frix_body_state *s) {
  return s->velocity.x - s->spin.y * (half_length * axis_of(seen).z + tip_radius);
}

/* The rod after one step. */
static bool first_step(double mu, double h, double *slip) {
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("painleve")) && fx_trial_set(&t, "mu", mu);
  t.h = h;
  good = good && fx_trial_start(&t);
  frix_body_state seen = good ? fx_trial_body(&t, 0) : (frix_body_state){0}, s = seen;
  good = good && fx_trial_step(&t);
  if (good) s = fx_trial_body(&t, 0);
  *slip = slip_of(&seen, &s);
  fx_trial_end(&t);
  return good;
}

/* The least mu that stops the tip in the first step. */
static bool critical_mu(double h, double *out) {
  double low = 0.5, high = 3;
  for (int k = 0; k < 40; k++) {
    double slip, middle = 0.5 * (low + high);
    if (!first_step(middle, h, &slip)) return false;
    *(fabs(slip) < 1e-6 ? &high : &low) = middle;
  }
  *out = high;
  return true;
}

typedef struct frames {
  double x[10][2], z[10][2];
  int count;
} frames;

/* The whole motion at mu = 1.6, with frames of it: until it lies. */
static bool fall(fx_report *report, double h, frames *out) {
  const double time = 0.9;
  fx_trial t;
  bool good = fx_trial_new(&t, frix_scene_find("painleve"));
  t.h = h;
  good = good && fx_trial_start(&t);
  frix_energy e = good ? frix_sim_energy(t.sim) : (frix_energy){0};
  double start = e.kinetic + e.potential, last = start, growth = 0;
  int64_t steps = (int64_t)(time / h + 0.5);
  for (int64_t k = 0; k <= steps && good; k++) {
    if (k * 9 >= out->count * steps && out->count < 10) {
      frix_body_state s = fx_trial_body(&t, 0);
      frix_vec3 a = axis_of(&s);
      for (int side = 0; side < 2; side++) {
        out->x[out->count][side] = s.center.x + (side ? 1 : -1) * half_length * a.x;
        out->z[out->count][side] = s.center.z + (side ? 1 : -1) * half_length * a.z;
      }
      out->count++;
    }
    if (k == steps) break;
    good = fx_trial_step(&t);
    e = frix_sim_energy(t.sim);
    growth = fmax(growth, (e.kinetic + e.potential - last) / start);
    last = e.kinetic + e.potential;
  }
  if (good) {
    fx_report_compare(report, (fx_compared){0, growth, "", true},
                      "mu 1.6, h = %g: largest growth of energy in a step, of the start", h);
    fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t.certified / (double)t.steps, "%", true},
                      "mu 1.6, h = %g: steps certified to 1e-8, of %lld", h, (long long)t.steps);
  }
  fx_trial_end(&t);
  return good;
}

static bool run(fx_report *report) {
  static const double step[3] = {1e-2, 1e-3, 1e-4};
  bool good = true;
  double slip, mu;
  fx_report_text(report,
                 "A uniform rod of 1 m at tan a = 2 slides at 1 m/s towards the side it leans from. The slides show "
                 "frames without numbers; the first column holds what paper says of the same rod. Sliding has no "
                 "finite forces above mu = 4/3: the tip stops within the first step, however short.");
  for (int k = 0; k < 3 && good; k++) {
    good = critical_mu(step[k], &mu);
    if (good)
      fx_report_compare(report, (fx_compared){4.0 / 3.0, mu, "", k == 2}, "h = %g: least mu that stops the tip",
                        step[k]);
  }
  for (int k = 0; k < 3 && good; k++) {
    good = first_step(1.6, step[k], &slip);
    if (good)
      fx_report_compare(report, (fx_compared){0, fabs(slip), "m/s", k == 2},
                        "mu 1.6, h = %g: slip of the tip after one step", step[k]);
  }
  frames f = {.count = 0};
  good = good && fall(report, 1e-3, &f);
  fx_curve curve[10];
  for (int k = 0; k < f.count; k++)
    curve[k] = (fx_curve){k ? NULL : "the rod, ten moments of 0.9 s", f.x[k], f.z[k], 2, FX_CURVE_LINE};
  fx_chart chart = {.title = "Painleve's rod",
                    .subtitle = "mu = 1.6: the tip jams at once, the rod turns over it",
                    .x_label = "x, m",
                    .y_label = "z, m",
                    .equal = true,
                    .from_zero = true,
                    .curve = curve,
                    .curve_count = f.count};
  return good && fx_report_chart(report, ".svg", &chart);
}

const fx_reproduction fx_reproduce_rod = {
    .name = "painleve-rod",
    .document = "S2",
    .place = "Painleve example",
    .summary = "a sliding rod that jams without a collision, where mu > 4/3",
    .seconds = 0.5,
    .quick_seconds = 0.5,
    .run = run,
};
#endif
