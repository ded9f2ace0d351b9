/* soft-scenes: what soft bodies do that stand, hang, jam, pile up, roll and chatter (S5, sections 7.2 and 7.3).
 *
 * Of every scene: steps certified, the deepest overlap over the size of a body, how fast anything moves at the end. A
 * chair on a floor that is inclined: when it slides, and the spectrum of the force that its legs feel. */
#ifdef FRIX_HAVE_EXAMPLES
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"
#include "reproduce_trial.h"

static const double pi = 3.14159265358979323846;

static bool begin(const fx_report *report, fx_trial *t, const char *scene) {
  const fx_reproduce_settings *settings = fx_report_settings(report);
  bool good = fx_trial_new(t, frix_scene_find(scene));
  t->config.contact = FRIX_CONTACT_KIND_STIFF;
  t->config.tolerance = settings->tolerance > 0 ? settings->tolerance : 1e-8;
  if (settings->solver) t->config.solver = settings->solver;
  return good;
}

static void tell_steps(fx_report *report, const fx_trial *t, const char *name, double size) {
  fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)t->certified / (double)t->steps, "%", true},
                    "%s: steps certified to %g, of %lld", name, t->config.tolerance, (long long)t->steps);
  fx_report_compare(report, (fx_compared){NAN, t->penetration / size, "", false},
                    "%s: deepest overlap over the size of a body", name);
}

/* ---- until they rest ---- */

typedef struct fall {
  const char *scene, *name, *parameter;
  double value, size, time, quick;
} fall;

static const fall falls[] = {
    {"soft-stack", "soft-stack, ten cubes", "n", 10, 0.1, 10, 0.05},
    {"cantilever", "cantilever, StVK", "material", 1, 1.0, 60, 0.1},
    {"jam", "jam, mu 0.1", "mu", 0.1, 0.1, 6, 0.02},
    {"jam", "jam, mu 0.6", "mu", 0.6, 0.1, 6, 0.02},
    {"dinosaurs", "dinosaurs", "mu", 0.5, 0.64, 10, 0.05},
    {"bunnies-arch", "bunnies-arch, mu 0.4", "mu", 0.4, 0.14, 20, 0.05},
    {"bunnies-arch", "bunnies-arch, mu 0.1", "mu", 0.1, 0.14, 20, 0.05},
};
enum { FALLS = sizeof falls / sizeof falls[0] };

/* The lowest of some bodies. */
static double lowest(const fx_trial *t, int32_t first, int32_t count) {
  double least = INFINITY;
  for (int32_t k = first; k < first + count; k++) least = fmin(least, fx_trial_body(t, k).center.z);
  return least;
}

static void tell_place(fx_report *report, const fx_trial *t, const fall *f) {
  if (!strcmp(f->scene, "soft-stack"))
    fx_report_compare(report, (fx_compared){NAN, t->home[9].z - fx_trial_body(t, 9).center.z, "m", false},
                      "%s: the top one sank (columns in theory: 0.00489 m)", f->name);
  else if (!strcmp(f->scene, "jam"))
    fx_report_compare(report, (fx_compared){NAN, lowest(t, 0, 3), "m", true},
                      "%s: height of the lowest blob (slot from 0.4 to 0.8 m)", f->name);
  else
    fx_report_compare(report, (fx_compared){NAN, fx_trial_moved(t), "m", false}, "%s: farthest way of a body", f->name);
}

static bool settle(fx_report *report, const fall *f) {
  fx_trial t;
  bool good = begin(report, &t, f->scene) && fx_trial_set(&t, f->parameter, f->value) && fx_trial_start(&t);
  good = good && fx_trial_run(&t, fx_report_settings(report)->quick ? f->quick : f->time);
  if (good) {
    tell_steps(report, &t, f->name, f->size);
    tell_place(report, &t, f);
    fx_report_compare(report, (fx_compared){NAN, fx_trial_speed(&t), "m/s", true}, "%s: largest speed after %.3g s",
                      f->name, (double)t.steps * t.h);
  }
  fx_trial_end(&t);
  return good;
}

/* ---- capstan ---- */

/* How far the heavier weight sinks; negative: it failed. */
static double sink(const fx_report *report, double mu, double ratio, double time, fx_trial *sum) {
  fx_trial t;
  double way = -1.0;
  if (begin(report, &t, "capstan") && fx_trial_set(&t, "mu", mu) && fx_trial_set(&t, "ratio", ratio) &&
      fx_trial_start(&t) && fx_trial_run(&t, time)) {
    frix_body_state s;
    frix_body_id heavy = frix_model_find_body(t.model, "heavy");
    frix_body_config at = frix_body_default();
    if (!frix_sim_body(t.sim, heavy, &s) && !frix_model_body(t.model, heavy, &at))
      way = fmax(at.pose.p.y - s.pose.p.y, 0.0);
    sum->steps += t.steps, sum->certified += t.certified;
    sum->penetration = fmax(sum->penetration, t.penetration);
  }
  fx_trial_end(&t);
  return way;
}

/* The ratio of weights from which on the strand slides, by halving. */
static bool slide_over_drum(fx_report *report, double mu) {
  bool quick = fx_report_settings(report)->quick;
  double law = exp(mu * pi), low = 0.9 * law, high = 1.1 * law;
  fx_trial sum;
  if (!begin(report, &sum, "capstan")) return false;
  for (int k = 0; k < (quick ? 1 : 7); k++) {
    double middle = 0.5 * (low + high), way = sink(report, mu, middle, quick ? 0.02 : 0.3, &sum);
    if (way < 0.0) return false;
    *(way > 1e-6 ? &high : &low) = middle;
  }
  char name[64];
  snprintf(name, sizeof name, "capstan, 100 contacts, mu %g", mu);
  tell_steps(report, &sum, name, 2.0);
  fx_report_compare(report, (fx_compared){NAN, 0.5 * (low + high) / law, "", true},
                    "%s: ratio at which it slides over exp(mu phi)", name);
  return true;
}

/* ---- chairs ---- */

enum { MOST = 8192, LINES = 400 };
static const double slow = 10.0; /* Hz: what is slower follows the floor, not the legs */

/* What a chair does while the floor is inclined and tilted back. */
typedef struct chatter {
  double *force; /* along the slope, over that of the load: r_T / r_N */
  int count;     /* of steps in which it slides */
  double begins, ends;
  int64_t sticking, touching; /* contacts of these steps */
} chatter;

static void look(const fx_trial *t, frix_body_id chair, double angle, chatter *c) {
  frix_body_state s = {0};
  frix_vec3 force = {0, 0, 0};
  frix_sim_body(t->sim, chair, &s);
  frix_sim_pair_force(t->sim, chair, (frix_body_id){0, 0}, &force, NULL);
  if (hypot(s.velocity.x, s.velocity.y) < 1e-2) return;
  if (!c->count) c->begins = angle;
  c->ends = angle;
  if (c->count < MOST && force.z > 0) c->force[c->count++] = hypot(force.x, force.y) / force.z;
  for (int32_t k = 0; k < frix_sim_contact_count(t->sim); k++) {
    frix_contact_report r;
    if (frix_sim_contact(t->sim, k, &r) != FRIX_OK || r.phase == FRIX_CONTACT_END) continue;
    if (r.a.index != chair.index && r.b.index != chair.index) continue;
    c->touching++, c->sticking += r.margin < 1.0 - 1e-6;
  }
}

/* Amplitudes of a signal under a raised cosine, at LINES frequencies up to the half of its own. */
static void find_spectrum(const double *x, int count, double h, double *frequency, double *amplitude) {
  double mean = 0, weights = 0;
  for (int i = 0; i < count; i++) mean += x[i] / count;
  for (int k = 0; k < LINES; k++) {
    double real = 0, imaginary = 0;
    frequency[k] = (k + 1) * 0.5 / h / LINES;
    weights = 0;
    for (int i = 0; i < count; i++) {
      double window = 1 - cos(2 * pi * (i + 0.5) / count), phase = 2 * pi * frequency[k] * h * i;
      real += window * (x[i] - mean) * cos(phase), imaginary += window * (x[i] - mean) * sin(phase);
      weights += window;
    }
    amplitude[k] = 2 * hypot(real, imaginary) / weights;
  }
}

static bool tell_chatter(fx_report *report, const fx_trial *t, frix_body_id chair, const chatter *c) {
  double frequency[LINES], amplitude[LINES];
  int best = 0;
  fx_report_compare(report, (fx_compared){NAN, c->begins, "degrees", true},
                    "chairs, mu 0.4: inclination at which it slides (21.8 by tan = mu)");
  fx_report_compare(report, (fx_compared){NAN, c->ends, "degrees", false},
                    "chairs, mu 0.4: inclination at which it last moves by 1 cm/s, on the way back");
  fx_report_compare(report, (fx_compared){NAN, 100.0 * (double)c->sticking / (double)c->touching, "%", false},
                    "chairs: contacts that stick while the chair slides");
  find_spectrum(c->force, c->count, t->h, frequency, amplitude);
  for (int k = 0; k < LINES; k++)
    if (frequency[best] < slow || (frequency[k] >= slow && amplitude[k] > amplitude[best])) best = k;
  frix_soft_info info = frix_soft_view(frix_model_soft(t->model, chair));
  fx_report_compare(report, (fx_compared){NAN, frequency[best], "Hz", true},
                    "chairs: strongest line of friction over load above 10 Hz, amplitude %.2g (modes of the chair: "
                    "%.3g, %.3g, %.3g Hz)",
                    amplitude[best], info.omega[0] / (2 * pi), info.omega[1] / (2 * pi), info.omega[2] / (2 * pi));
  fx_curve curve = {"friction over load", frequency, amplitude, LINES, FX_CURVE_LINE};
  fx_chart chart = {.title = "Chatter of a chair that slides",
                    .subtitle = "spectrum of the friction of its legs over their load",
                    .x_label = "Hz",
                    .y_label = "amplitude",
                    .log_y = true,
                    .curve = &curve,
                    .curve_count = 1};
  return fx_report_chart(report, "-chairs.svg", &chart);
}

static bool incline(fx_report *report) {
  bool quick = fx_report_settings(report)->quick;
  const double rate = quick ? 90 : 10, stop = 30; /* degrees per second */
  fx_trial t;
  chatter c = {.force = fx_grow(NULL, MOST, sizeof(double))};
  bool good = begin(report, &t, "chairs") && fx_trial_set(&t, "rate", rate) && fx_trial_set(&t, "n", quick ? 1 : 4);
  t.h = 1e-3;
  good = good && fx_trial_start(&t);
  frix_body_id chair = good ? frix_model_find_body(t.model, "chair_0") : (frix_body_id){0, 0};
  int64_t count = (int64_t)((2 * stop / rate + (quick ? 0 : 1)) / t.h);
  for (int64_t k = 0; k < count && good; k++) {
    double tilt = rate * (double)k * t.h;
    if (k % 100 == 0) fx_progress("chairs: %.1f degrees", tilt < stop ? tilt : 2 * stop - tilt);
    good = fx_trial_step(&t);
    if (good) look(&t, chair, tilt < stop ? tilt : 2 * stop - tilt, &c);
  }
  if (good) {
    tell_steps(report, &t, "chairs, mu 0.4", 0.9);
    fx_report_compare(report, (fx_compared){NAN, fx_trial_speed(&t), "m/s", true},
                      "chairs, mu 0.4: largest speed on the level floor, at the end");
  }
  if (good && c.count > 1 && c.touching) good = tell_chatter(report, &t, chair, &c);
  free(c.force);
  fx_trial_end(&t);
  return good;
}

static bool run(fx_report *report) {
  fx_report_text(report, "Soft bodies that stand, hang, jam, pile up, roll into an arch of rigid stones and chatter.");
  for (int k = 0; k < FALLS; k++)
    if (!settle(report, &falls[k])) return false;
  return slide_over_drum(report, 0.3) && slide_over_drum(report, 0.5) && incline(report);
}

const fx_reproduction fx_reproduce_soft_scenes = {
    .name = "soft-scenes",
    .document = "S5",
    .place = "sections 7.2, 7.3",
    .summary = "soft bodies stand, hang, jam, pile up, roll into an arch, chatter",
    .seconds = 60,
    .quick_seconds = 3,
    .run = run,
};
#endif
